/* SPDX-License-Identifier: MIT */

#include "filter/redis/redis_place.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"
#include "filter/block.h"
#include "filter/sizing.h"

/* ---- where a Bloom filter in Redis is, and how it is laid out ---- */

/*
 * It does not use the parser of frontier/url/url.h, which refuses all but
 * http(s) and canonicalises: a password must arrive as it was written.
 */

#define PREFIX_TCP  "redis://"
#define PREFIX_TLS  "rediss://"
#define PREFIX_UNIX "redis+unix://"

/* What a URL consists of. `path` and `settings` point into the text, without
 * their / and ?. */
struct redis_url_parts {
    struct redis_address at;
    struct bytes path, settings;
};

bool redis_address_is_url(const char *text)
{
    struct bytes b = bytes_of_str(text);

    return bytes_starts_with(b, PREFIX_TCP) ||
           bytes_starts_with(b, PREFIX_UNIX) ||
           bytes_starts_with(b, PREFIX_TLS);
}

/* ---- pieces ---- */

/* Undo %XX into `out`; false: too long, a broken escape, or a zero octet. */
static bool redis_url_unescape(struct bytes in, char *out, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < in.len; i++) {
        int c = (unsigned char)in.at[i];

        if (c == '%') {
            if (in.len - i < 3 || ascii_hex(in.at[i + 1]) < 0 ||
                ascii_hex(in.at[i + 2]) < 0)
                return false;
            c = ascii_hex(in.at[i + 1]) * 16 + ascii_hex(in.at[i + 2]);
            i += 2;
        }
        if (c == 0 || n + 1 >= size)
            return false;
        out[n++] = (char)c;
    }
    out[n] = '\0';
    return true;
}

/* 90, 90s, 15m, 24h, 7d: at most ten years. */
static bool redis_url_duration(struct bytes in, int64_t *ms)
{
    static const char units[] = "smhd";
    static const uint64_t seconds[] = {1, 60, 3600, 86400};
    const char *unit = NULL;
    uint64_t n, each = 1;

    if (in.len > 0)
        unit = strchr(units, in.at[in.len - 1]);
    if (unit != NULL && *unit != '\0') {
        each = seconds[unit - units];
        in.len--;
    }
    if (!bytes_number(in, UINT64_C(315360000) / each, &n) || n == 0)
        return false;
    *ms = (int64_t)(n * each * 1000);
    return true;
}

/* Cut off the part before the first `c`; *in keeps the part after it. */
static struct bytes redis_url_cut(struct bytes *in, char c)
{
    const char *at = in->len > 0 ? memchr(in->at, c, in->len) : NULL;
    struct bytes head = *in;

    if (at == NULL) {
        *in = bytes_of(in->at + in->len, 0);
        return head;
    }
    head.len = (size_t)(at - in->at);
    *in = bytes_of(at + 1, in->len - head.len - 1);
    return head;
}

/* ---- the parts ---- */

/* Each returns NULL, or what was expected. */

static const char *take_user(struct redis_address *a, struct bytes *rest)
{
    const char *at = NULL;
    struct bytes who, user;

    for (size_t i = 0; i < rest->len; i++) {
        char c = rest->at[i]; /* NOLINT: bytes with a length have an address */

        if (c == '/' || c == '?')
            break;
        if (c == '@')
            at = rest->at + i;
    }
    if (at == NULL)
        return NULL;
    who = bytes_of(rest->at, (size_t)(at - rest->at));
    *rest = bytes_of(at + 1, rest->len - who.len - 1);
    if (memchr(who.at, ':', who.len) == NULL)
        return "before @ comes user:password, or :password";
    user = redis_url_cut(&who, ':');
    if (!redis_url_unescape(user, a->user, sizeof a->user) ||
        !redis_url_unescape(who, a->password, sizeof a->password) ||
        who.len == 0)
        return "user or password is empty, too long or has a broken %XX";
    return NULL;
}

static const char *take_host(struct redis_address *a, struct bytes host)
{
    struct bytes name = host, port = bytes_of("", 0);
    uint64_t n = 6379;

    if (host.len == 0)
        name = bytes_of_str("localhost"); /* as in redis:///0?key=NAME */
    else if (memchr(host.at, ',', host.len) != NULL)
        return "a filter is on one server";
    if (host.len > 0 && host.at[0] == '[') { /* an IPv6 address */
        if (memchr(host.at, ']', host.len) == NULL)
            return "after [ come an address and ]";
        name = bytes_of(host.at + 1, host.len - 1);
        port = name;
        name = redis_url_cut(&port, ']');
        if (port.len > 0 && port.at[0] == ':')
            port = bytes_of(port.at + 1, port.len - 1);
        else if (port.len > 0)
            return "only a :port may follow ]";
    } else if (host.len > 0 && memchr(host.at, ':', host.len) != NULL) {
        port = host;
        name = redis_url_cut(&port, ':');
        if (port.len == 0)
            return "the port is missing";
    }
    if (name.len == 0 || !redis_url_unescape(name, a->host, sizeof a->host))
        return "the host is missing or too long";
    if (port.len > 0 && (!bytes_number(port, 65535, &n) || n == 0))
        return "a port is a number up to 65535";
    a->port = (uint16_t)n;
    return NULL;
}

static const char *take_socket(struct redis_address *a, struct bytes path)
{
    if (path.len == 0 || path.at[0] != '/' ||
        !redis_url_unescape(path, a->path, sizeof a->path))
        return "the path of the socket is missing, not absolute, or longer "
               "than 107 octets";
    return NULL;
}

/* STATUS_FORMAT: *why is a static phrase on what was expected. */
static enum status redis_address_read(struct redis_url_parts *out,
                                      const char *text, const char **why)
{
    struct bytes rest = bytes_of_str(text), head;
    struct redis_address *a = &out->at;

    memset(out, 0, sizeof *out);
    a->port = 6379;
    a->tls = bytes_starts_with(rest, PREFIX_TLS);
    a->is_unix = bytes_starts_with(rest, PREFIX_UNIX);
    if (!redis_address_is_url(text)) {
        *why = "this one begins differently";
        return STATUS_FORMAT;
    }
    rest = bytes_skip(rest, strlen(a->is_unix ? PREFIX_UNIX
                                   : a->tls   ? PREFIX_TLS
                                              : PREFIX_TCP));
    *why = take_user(a, &rest);
    if (*why != NULL)
        return STATUS_FORMAT;
    head = redis_url_cut(&rest, '?');
    out->settings = rest;
    if (a->is_unix) {
        *why = take_socket(a, head);
    } else {
        out->path = head;
        head = redis_url_cut(&out->path, '/');
        *why = take_host(a, head);
    }
    return *why == NULL ? STATUS_OK : STATUS_FORMAT;
}

/* Append scheme and place without user and password: "redis://h:6379". */
static void redis_address_show(const struct redis_address *a, struct buf *out)
{
    if (a->is_unix)
        buf_addf(out, PREFIX_UNIX "%s", a->path);
    else
        buf_addf(out, strchr(a->host, ':') != NULL ? "%s[%s]:%u" : "%s%s:%u",
                 a->tls ? PREFIX_TLS : PREFIX_TCP, a->host, a->port);
}

/* ---- the filter ---- */

static const char *const hash_names[REDIS_HASHES_] = {"double", "salted",
                                                      "double32"};

const char *redis_hash_name(enum redis_hash h)
{
    return hash_names[h];
}

bool redis_hash_named(struct bytes name, enum redis_hash *out)
{
    for (int h = 0; h < REDIS_HASHES_; h++)
        if (bytes_is(name, hash_names[h])) {
            *out = (enum redis_hash)h;
            return true;
        }
    return false;
}

static enum status redis_url_wrong(struct buf *error, const char *why)
{
    buf_addf(error,
             "a Redis URL is "
             "redis://[user:password@][host[:port]][/db][?key=NAME&...], "
             "rediss:// for TLS, or redis+unix:///path?...; %s",
             why);
    return STATUS_FORMAT;
}

static enum status take_setting(struct redis_place *p, struct bytes name,
                                struct bytes value, struct buf *error)
{
    uint64_t n;

    if (bytes_is(name, "key")) {
        if (value.len == 0 || !redis_url_unescape(value, p->key, sizeof p->key))
            return redis_url_wrong(
                error, "key= is empty, longer than 255 octets or has "
                       "a broken %XX");
    } else if (bytes_is(name, "layout")) {
        if (!bytes_is(value, "blocked") && !bytes_is(value, "plain"))
            return redis_url_wrong(error, "layout= is blocked or plain");
        p->layout = bytes_is(value, "plain") ? REDIS_PLAIN : REDIS_BLOCKED;
        p->layout_given = true;
    } else if (bytes_is(name, "hash")) {
        if (!redis_hash_named(value, &p->hash))
            return redis_url_wrong(error,
                                   "hash= is double, double32 or salted");
        p->hash_given = true;
    } else if (bytes_is(name, "bits")) {
        if (!bytes_number(value, REDIS_MOST_BITS, &p->bits) || p->bits == 0)
            return redis_url_wrong(
                error, "bits= is a number up to 4294967296: a Redis "
                       "string ends at offset 2^32-1");
    } else if (bytes_is(name, "k")) {
        if (!bytes_number(value, REDIS_MOST_K, &n) || n == 0)
            return redis_url_wrong(error, "k= is a number from 1 to 64");
        p->k = (unsigned)n;
    } else if (bytes_is(name, "db")) {
        if (!bytes_number(value, 65535, &n))
            return redis_url_wrong(error, "a database is a number");
        p->at.db = (unsigned)n;
    } else if (bytes_is(name, "ttl")) {
        if (!redis_url_duration(value, &p->ttl_ms))
            return redis_url_wrong(
                error, "ttl= is a time such as 90s, 15m, 24h or 7d");
    } else if (bytes_is(name, "timeout")) {
        if (!redis_url_duration(value, &p->timeout_ms) ||
            p->timeout_ms > 3600 * 1000)
            return redis_url_wrong(error,
                                   "timeout= is a time such as 2s, an hour at "
                                   "most");
    } else if (bytes_is(name, "retry")) {
        /* The server remembers answers for ten minutes; retries take twice this
         * time at most. */
        if (!redis_url_duration(value, &p->retry_ms) ||
            p->retry_ms > 3 * 60 * 1000)
            return redis_url_wrong(error,
                                   "retry= is a time such as 30s, 3m at most");
    } else {
        return redis_url_wrong(
            error, "settings are key, db, layout, bits, k, hash, ttl, "
                   "timeout and retry");
    }
    return STATUS_OK;
}

static enum status redis_url_take_settings(struct redis_place *p,
                                           struct bytes query,
                                           struct buf *error)
{
    enum status st = STATUS_OK;

    while (st == STATUS_OK && query.len > 0) {
        struct bytes value = redis_url_cut(&query, '&'), name;

        if (value.len == 0)
            continue;
        name = redis_url_cut(&value, '=');
        st = take_setting(p, name, value, error);
    }
    return st;
}

/* Check settings against each other. */
static enum status redis_url_check(const struct redis_place *p,
                                   struct buf *error)
{
    if (p->layout == REDIS_BLOCKED && p->hash != REDIS_DOUBLE)
        return redis_url_wrong(error, "hash= belongs to layout=plain");
    if (p->layout == REDIS_BLOCKED &&
        (p->k % 4 != 0 || p->k > 24 || p->bits % 512 != 0))
        return redis_url_wrong(error,
                               "with layout=blocked k is a multiple of 4, at "
                               "most 24, and bits is a multiple of 512");
    return STATUS_OK;
}

enum status redis_url_parse(struct redis_place *out, const char *text,
                            struct buf *error)
{
    struct redis_place p = {.key = "urlweir:filter",
                            .timeout_ms = 2000,
                            .retry_ms = 5000};
    struct redis_url_parts parts;
    const char *why;
    enum status st = redis_address_read(&parts, text, &why);
    uint64_t n;

    if (st != STATUS_OK)
        return redis_url_wrong(error, why);
    p.at = parts.at;
    if (parts.path.len > 0) {
        if (!bytes_number(parts.path, 65535, &n))
            return redis_url_wrong(error,
                                   "after the host comes the number of a "
                                   "database");
        p.at.db = (unsigned)n;
    }
    st = redis_url_take_settings(&p, parts.settings, error);
    if (st == STATUS_OK)
        st = redis_url_check(&p, error);
    if (st == STATUS_OK)
        *out = p;
    return st;
}

void redis_url_show(const struct redis_place *p, struct buf *out)
{
    redis_address_show(&p->at, out);
    buf_addf(out, p->at.is_unix ? "?db=%u&key=%s" : "/%u?key=%s", p->at.db,
             p->key);
}

/* ---- which bits of the string belong to a key; private to filter/ ---- */

/*
 * Blocked: the block and the cells are those of block.h, of which lane j is
 * octets 8j to 8j + 7, little-endian. Cell c of it is bit c % 8, counted from
 * the lowest, of octet c / 8; Redis counts from the highest, hence the ^ 7. So
 * the string and the units of a `bloom` filter's file are the same octets.
 *
 * Plain: MurmurHash3_x64_128 with seed 0 of the key's octets, as one of
 *
 *   double    g_i = h1 + i * h2 modulo 2^64
 *             (Kirsch & Mitzenmacher, 2006)
 *   double32  a, b: lower and upper half of h1, as signed numbers of 32 bits;
 *             g_i = a + (i + 1) * b modulo 2^32, or if that is negative, its
 *             complement (Guava's MURMUR128_MITZ_32, in Redis before Redisson)
 *   salted    g_i = h1 of the key with the octet i behind it
 *             (go-zero: k = 14)
 *
 * for i = 0 .. k - 1, each modulo `bits`. A digest is hashed as its eight
 * octets, lowest first.
 */

#define BLOCK_BITS (BLOCK_BYTES * 8)

bool redis_geometry_is_valid(const struct redis_geometry *g)
{
    if (g->bits < 1 || g->bits > REDIS_MOST_BITS || g->k < 1 ||
        g->k > REDIS_MOST_K)
        return false;
    return g->layout == REDIS_PLAIN || (g->bits % BLOCK_BITS == 0 &&
                                        g->k % 4 == 0 && g->k <= SIZING_MOST_K);
}

/* (1 - e^(-kn/m))^k = p, solved for m. */
static uint64_t plain_bits_of_k(unsigned k, uint64_t keys, double fpr)
{
    return (uint64_t)ceil(-(double)k * (double)keys /
                          log1p(-pow(fpr, 1.0 / k)));
}

#define OVERFULL 2 /* times the promised rate */

/* The best bits and k where they are not given. */
static void choose(struct redis_geometry *g, uint64_t expect, double fpr)
{
    double load;

    if (g->layout == REDIS_BLOCKED) {
        unsigned best = sizing_block_best(64, fpr, &load);

        if (g->k == 0)
            g->k = best;
        else
            load = sizing_block_load(g->k, 64, fpr);
        if (g->bits == 0)
            g->bits = sizing_blocks(expect, load) * BLOCK_BITS;
    } else {
        if (g->bits == 0)
            g->bits = g->k == 0 ? sizing_plain_bits(expect, fpr)
                                : plain_bits_of_k(g->k, expect, fpr);
        if (g->k == 0)
            g->k = sizing_plain_hashes(g->bits, expect);
        if (g->k > REDIS_MOST_K)
            g->k = REDIS_MOST_K;
    }
}

enum status redis_geometry_fit(struct redis_geometry *g, uint64_t expect,
                               double fpr)
{
    struct redis_geometry needed = *g;

    choose(g, expect, fpr);
    if (g->bits > REDIS_MOST_BITS)
        return STATUS_LIMIT;
    if (!redis_geometry_is_valid(g))
        return STATUS_ARG;
    if (needed.bits == 0 || redis_geometry_rate(g, expect) < OVERFULL * fpr)
        return STATUS_OK;
    needed.bits = 0;
    choose(&needed, expect, fpr);
    *g = needed;
    return STATUS_LIMIT;
}

double redis_geometry_rate(const struct redis_geometry *g, uint64_t count)
{
    if (g->layout == REDIS_PLAIN)
        return sizing_plain_rate(g->bits, g->k, count);
    return count == 0 ? 0
                      : sizing_block_rate(g->k, 64,
                                          (double)count /
                                              ((double)g->bits / BLOCK_BITS));
}

double redis_geometry_rate_now(const struct redis_geometry *g, uint64_t set)
{
    double fill = (double)set / (double)g->bits;

    if (set == 0)
        return 0; /* also of a filter that is not known yet */
    if (g->layout == REDIS_PLAIN)
        return pow(fill, g->k);
    return sizing_block_rate(g->k, 64,
                             sizing_block_load_of_fill(g->k, 64, fill));
}

bool redis_rate_is_overfull(double rate, double promised)
{
    return rate >= OVERFULL * promised;
}

/* ---- offsets ---- */

static void block_offsets(const struct redis_geometry *g, uint64_t key,
                          uint32_t *offsets)
{
    uint64_t base = block_index(key, g->bits / BLOCK_BITS) * BLOCK_BITS;
    struct block_hashes h = block_hashes(key);
    unsigned n = 0;

    for (unsigned group = 0; n < g->k; group++) {
        bool whole = g->k - group * BLOCK_LANES >= BLOCK_LANES;
        unsigned first = whole ? 0 : block_half(h) * 4;
        unsigned lanes = whole ? BLOCK_LANES : 4;

        for (unsigned lane = first; lane < first + lanes; lane++)
            offsets[n++] =
                (uint32_t)(base + lane * 64 + (block_cell(h, group, lane) ^ 7));
    }
}

static void double_offsets(const struct redis_geometry *g, struct bytes key,
                           uint32_t *offsets)
{
    struct murmur3 h = murmur3_of(key, 0);

    for (unsigned i = 0; i < g->k; i++)
        offsets[i] = (uint32_t)((h.h1 + i * h.h2) % g->bits);
}

static void double32_offsets(const struct redis_geometry *g, struct bytes key,
                             uint32_t *offsets)
{
    uint64_t h1 = murmur3_of(key, 0).h1;
    uint32_t h = (uint32_t)h1, step = (uint32_t)(h1 >> 32);

    for (unsigned i = 0; i < g->k; i++) {
        h += step;
        offsets[i] = (uint32_t)((h >> 31 ? ~h : h) % g->bits);
    }
}

static void salted_offsets(const struct redis_geometry *g, struct bytes key,
                           uint32_t *offsets)
{
    char small[512], *salted = small;

    if (key.len >= sizeof small)
        salted = xmalloc(key.len + 1);
    if (key.len > 0)
        memcpy(salted, key.at, key.len);
    for (unsigned i = 0; i < g->k; i++) {
        salted[key.len] = (char)i;
        offsets[i] =
            (uint32_t)(murmur3_of(bytes_of(salted, key.len + 1), 0).h1 %
                       g->bits);
    }
    if (salted != small)
        free(salted);
}

void redis_bits_of(const struct redis_geometry *g, struct redis_keys keys,
                   size_t i, uint32_t *offsets)
{
    char octets[8];
    struct bytes key = bytes_of(octets, sizeof octets);

    if (g->layout == REDIS_BLOCKED) {
        block_offsets(g, keys.digest[i], offsets);
        return;
    }
    if (keys.digest == NULL)
        key = keys.text[i];
    else
        for (unsigned j = 0; j < 8; j++)
            octets[j] = (char)(keys.digest[i] >> (8 * j) & 255);
    if (g->hash == REDIS_SALTED)
        salted_offsets(g, key, offsets);
    else if (g->hash == REDIS_DOUBLE32)
        double32_offsets(g, key, offsets);
    else
        double_offsets(g, key, offsets);
}

void redis_bits_pack(const struct redis_geometry *g, struct redis_keys keys,
                     size_t first, size_t n, struct buf *out)
{
    uint32_t offsets[REDIS_MOST_K];

    for (size_t i = 0; i < n; i++) {
        redis_bits_of(g, keys, first + i, offsets);
        for (unsigned j = 0; j < g->k; j++)
            for (int shift = 24; shift >= 0; shift -= 8)
                buf_add_char(out, (char)(offsets[j] >> shift & 255));
    }
}

/* ---- MurmurHash3_x64_128 ----
 *
 * Two lanes of 64 bits take 16 octets a round; the tail is one round in which
 * zeros replace the missing octets. Octets are read little-endian by hand, so
 * the numbers are the same on machines of either order.
 */

#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

static uint64_t rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/* At most 8 octets. */
static uint64_t little_endian(const char *at, size_t n)
{
    uint64_t x = 0;

    for (size_t i = n; i-- > 0;)
        x = x << 8 | (unsigned char)at[i];
    return x;
}

static uint64_t mix1(uint64_t k)
{
    return rotate(k * C1, 31) * C2;
}

static uint64_t mix2(uint64_t k)
{
    return rotate(k * C2, 33) * C1;
}

static uint64_t murmur3_finish(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

struct murmur3 murmur3_of(struct bytes b, uint32_t seed)
{
    uint64_t h1 = seed, h2 = seed;
    size_t i, left;

    for (i = 0; b.len - i >= 16; i += 16) {
        h1 = rotate(h1 ^ mix1(little_endian(b.at + i, 8)), 27) + h2;
        h1 = h1 * 5 + 0x52dce729;
        h2 = rotate(h2 ^ mix2(little_endian(b.at + i + 8, 8)), 31) + h1;
        h2 = h2 * 5 + 0x38495ab5;
    }
    left = b.len - i;
    if (left > 8)
        h2 ^= mix2(little_endian(b.at + i + 8, left - 8));
    if (left > 0)
        h1 ^= mix1(little_endian(b.at + i, left < 8 ? left : 8));
    h1 ^= b.len;
    h2 ^= b.len;
    h1 += h2;
    h2 += h1;
    h1 = murmur3_finish(h1);
    h2 = murmur3_finish(h2);
    h1 += h2;
    h2 += h1;
    return (struct murmur3){h1, h2};
}
