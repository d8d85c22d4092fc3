/* SPDX-License-Identifier: MIT */
/*
 * redis_url.c - where a Bloom filter in Redis is, and how it is laid out.
 *
 * It does not use the parser of frontier/url/url.h, which refuses all but
 * http(s) and canonicalises: a password must arrive as it was written.
 */
#include "filter/redis/redis_url.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"

#define PREFIX_TCP  "redis://"
#define PREFIX_UNIX "redis+unix://"
#define PREFIX_TLS  "rediss://"

bool redis_url_is_one(const char *text)
{
    struct bytes b = bytes_of_str(text);

    return bytes_starts_with(b, PREFIX_TCP) ||
           bytes_starts_with(b, PREFIX_UNIX) ||
           bytes_starts_with(b, PREFIX_TLS);
}

static enum status wrong(struct buf *error, const char *why)
{
    buf_addf(error,
             "a Redis URL is "
             "redis://[user:password@]host[:port][/db][?key=NAME&...] "
             "or redis+unix:///path?...; %s",
             why);
    return STATUS_FORMAT;
}

/* ---- pieces ---- */

/* Undo %XX into `out`; false: too long, a broken escape, or a zero octet. */
static bool unescape(struct bytes in, char *out, size_t size)
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

/* Decimal digits only, at most `most`. */
static bool number(struct bytes in, uint64_t most, uint64_t *out)
{
    uint64_t n = 0;

    if (in.len == 0 || in.len > 12)
        return false;
    for (size_t i = 0; i < in.len; i++) {
        if (in.at[i] < '0' || in.at[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(in.at[i] - '0');
    }
    *out = n;
    return n <= most;
}

/* 90, 90s, 15m, 24h, 7d: at most ten years. */
static bool duration(struct bytes in, int64_t *ms)
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
    if (!number(in, UINT64_C(315360000) / each, &n) || n == 0)
        return false;
    *ms = (int64_t)(n * each * 1000);
    return true;
}

/* Cut off the part before the first `c`; *in keeps the part after it. */
static struct bytes cut(struct bytes *in, char c)
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

static enum status take_user(struct redis_place *p, struct bytes *rest,
                             struct buf *error)
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
        return STATUS_OK;
    who = bytes_of(rest->at, (size_t)(at - rest->at));
    *rest = bytes_of(at + 1, rest->len - who.len - 1);
    if (memchr(who.at, ':', who.len) == NULL)
        return wrong(error, "before @ comes user:password, or :password");
    user = cut(&who, ':');
    if (!unescape(user, p->user, sizeof p->user) ||
        !unescape(who, p->password, sizeof p->password) || who.len == 0)
        return wrong(error, "user or password is empty, too long or has a "
                            "broken %XX");
    return STATUS_OK;
}

static enum status take_host(struct redis_place *p, struct bytes host,
                             struct buf *error)
{
    struct bytes name = host, port = bytes_of("", 0);
    uint64_t n = 6379;

    if (host.len > 0 && host.at[0] == '[') { /* an IPv6 address */
        if (memchr(host.at, ']', host.len) == NULL)
            return wrong(error, "after [ come an address and ]");
        name = bytes_of(host.at + 1, host.len - 1);
        port = name;
        name = cut(&port, ']');
        if (port.len > 0 && port.at[0] == ':')
            port = bytes_of(port.at + 1, port.len - 1);
        else if (port.len > 0)
            return wrong(error, "only a :port may follow ]");
    } else if (memchr(host.at, ':', host.len) != NULL) {
        port = host;
        name = cut(&port, ':');
        if (port.len == 0)
            return wrong(error, "the port is missing");
    }
    if (name.len == 0 || !unescape(name, p->host, sizeof p->host))
        return wrong(error, "the host is missing or too long");
    if (port.len > 0 && (!number(port, 65535, &n) || n == 0))
        return wrong(error, "a port is a number up to 65535");
    p->port = (uint16_t)n;
    return STATUS_OK;
}

static enum status take_setting(struct redis_place *p, struct bytes name,
                                struct bytes value, struct buf *error)
{
    uint64_t n;

    if (bytes_is(name, "key")) {
        if (value.len == 0 || !unescape(value, p->key, sizeof p->key))
            return wrong(error, "key= is empty, longer than 255 octets or has "
                                "a broken %XX");
    } else if (bytes_is(name, "layout")) {
        if (!bytes_is(value, "blocked") && !bytes_is(value, "plain"))
            return wrong(error, "layout= is blocked or plain");
        p->layout = bytes_is(value, "plain") ? REDIS_PLAIN : REDIS_BLOCKED;
    } else if (bytes_is(name, "hash")) {
        if (!bytes_is(value, "double") && !bytes_is(value, "salted"))
            return wrong(error, "hash= is double or salted");
        p->hash = bytes_is(value, "salted") ? REDIS_SALTED : REDIS_DOUBLE;
    } else if (bytes_is(name, "bits")) {
        if (!number(value, REDIS_MOST_BITS, &p->bits) || p->bits == 0)
            return wrong(error, "bits= is a number up to 4294967296: a Redis "
                                "string ends at offset 2^32-1");
    } else if (bytes_is(name, "k")) {
        if (!number(value, REDIS_MOST_K, &n) || n == 0)
            return wrong(error, "k= is a number from 1 to 64");
        p->k = (unsigned)n;
    } else if (bytes_is(name, "db")) {
        if (!number(value, 65535, &n))
            return wrong(error, "a database is a number");
        p->db = (unsigned)n;
    } else if (bytes_is(name, "ttl")) {
        if (!duration(value, &p->ttl_ms))
            return wrong(error, "ttl= is a time such as 90s, 15m, 24h or 7d");
    } else if (bytes_is(name, "timeout")) {
        if (!duration(value, &p->timeout_ms) || p->timeout_ms > 3600 * 1000)
            return wrong(error, "timeout= is a time such as 2s, an hour at "
                                "most");
    } else if (bytes_is(name, "retry")) {
        /* The server remembers answers for ten minutes; retries take twice this
         * time at most. */
        if (!duration(value, &p->retry_ms) || p->retry_ms > 3 * 60 * 1000)
            return wrong(error, "retry= is a time such as 30s, 3m at most");
    } else {
        return wrong(error, "settings are key, db, layout, bits, k, hash, ttl, "
                            "timeout and retry");
    }
    return STATUS_OK;
}

static enum status take_settings(struct redis_place *p, struct bytes query,
                                 struct buf *error)
{
    enum status st = STATUS_OK;

    while (st == STATUS_OK && query.len > 0) {
        struct bytes value = cut(&query, '&'), name;

        if (value.len == 0)
            continue;
        name = cut(&value, '=');
        st = take_setting(p, name, value, error);
    }
    return st;
}

/* Check settings against each other. */
static enum status check(const struct redis_place *p, struct buf *error)
{
    if (p->layout == REDIS_BLOCKED && p->hash != REDIS_DOUBLE)
        return wrong(error, "hash= belongs to layout=plain");
    if (p->layout == REDIS_BLOCKED &&
        (p->k % 4 != 0 || p->k > 24 || p->bits % 512 != 0))
        return wrong(error, "with layout=blocked k is a multiple of 4, at "
                            "most 24, and bits is a multiple of 512");
    return STATUS_OK;
}

enum status redis_url_parse(struct redis_place *out, const char *text,
                            struct buf *error)
{
    struct redis_place p = {.port = 6379,
                            .key = "urlweir:filter",
                            .timeout_ms = 2000,
                            .retry_ms = 5000};
    struct bytes rest = bytes_of_str(text), head;
    enum status st;
    uint64_t n;

    if (bytes_starts_with(rest, PREFIX_TLS))
        return wrong(error, "TLS (rediss:) is not supported; use a tunnel, "
                            "such as stunnel, on this machine");
    p.is_unix = bytes_starts_with(rest, PREFIX_UNIX);
    if (!p.is_unix && !bytes_starts_with(rest, PREFIX_TCP))
        return wrong(error, "this one begins differently");
    n = strlen(p.is_unix ? PREFIX_UNIX : PREFIX_TCP);
    rest = bytes_of(rest.at + n, rest.len - n);
    st = take_user(&p, &rest, error);
    if (st != STATUS_OK)
        return st;
    head = cut(&rest, '?');
    if (p.is_unix) {
        if (head.len == 0 || head.at[0] != '/' ||
            !unescape(head, p.path, sizeof p.path))
            return wrong(error, "the path of the socket is missing, not "
                                "absolute, or longer than 107 octets");
    } else {
        struct bytes db = head;

        head = cut(&db, '/');
        st = take_host(&p, head, error);
        if (st == STATUS_OK && db.len > 0) {
            if (!number(db, 65535, &n))
                return wrong(error, "after the host comes the number of a "
                                    "database");
            p.db = (unsigned)n;
        }
    }
    if (st == STATUS_OK)
        st = take_settings(&p, rest, error);
    if (st == STATUS_OK)
        st = check(&p, error);
    if (st == STATUS_OK)
        *out = p;
    return st;
}

void redis_url_show(const struct redis_place *p, struct buf *out)
{
    if (p->is_unix)
        buf_addf(out, PREFIX_UNIX "%s?db=%u&key=%s", p->path, p->db, p->key);
    else if (strchr(p->host, ':') != NULL)
        buf_addf(out, PREFIX_TCP "[%s]:%u/%u?key=%s", p->host, p->port, p->db,
                 p->key);
    else
        buf_addf(out, PREFIX_TCP "%s:%u/%u?key=%s", p->host, p->port, p->db,
                 p->key);
}
