/* SPDX-License-Identifier: MIT */
/*
 * redis_open.c - makes a filter, or finds the one that is there; its record; a
 * rebuild to another size.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "filter/redis/redis_impl.h"

#define FOREIGN_SAMPLE (1024 * 1024) /* octets of another program's bitmap */
#define FOREIGN_CHANCE 1e-9          /* that one of its size is refused */

struct record_text {
    char bits[24], bytes[24], k[12], expect[24], fpr[32], ttl[24], n[12];
    char epoch[REDIS_TOKEN_SIZE], seed[2 * DIGEST_SEED_SIZE + 1];
};

/* Make the filter, or find that it exists. */
static enum status make(struct redis_bloom *b, const struct redis_geometry *g)
{
    struct record_text t;
    char known[REDIS_TOKEN_SIZE];
    enum status st;

    memcpy(known, b->record.epoch, sizeof known);
    snprintf(t.bits, sizeof t.bits, "%" PRIu64, g->bits);
    snprintf(t.bytes, sizeof t.bytes, "%" PRIu64, (g->bits + 7) / 8);
    snprintf(t.k, sizeof t.k, "%u", g->k);
    snprintf(t.expect, sizeof t.expect, "%" PRIu64, b->expect);
    snprintf(t.fpr, sizeof t.fpr, "%.9g", b->fpr);
    snprintf(t.ttl, sizeof t.ttl, "%" PRIu64, b->ttl_ms);
    snprintf(t.n, sizeof t.n, "%u", b->generations);
    redis_token(t.epoch);
    t.seed[0] = '\0';
    if (b->has_seed)
        redis_hex(t.seed, b->seed, DIGEST_SEED_SIZE);
    const char *const args[] = {b->mode == REDIS_BLOOM_NEW ? "new"
                                : known[0] != '\0'         ? "again"
                                                           : "make",
                                t.bits,
                                t.ttl,
                                t.n,
                                "v",
                                "1",
                                "layout",
                                g->layout == REDIS_PLAIN ? "plain" : "blocked",
                                "hash",
                                redis_hash_name(g->hash),
                                "bits",
                                t.bits,
                                "bytes",
                                t.bytes,
                                "k",
                                t.k,
                                "expect",
                                t.expect,
                                "fpr",
                                t.fpr,
                                "seed",
                                t.seed,
                                "epoch",
                                t.epoch,
                                "gen",
                                "1",
                                "adds",
                                "0",
                                "count",
                                "0",
                                "set",
                                "0"};
    struct bytes list[sizeof args / sizeof *args];

    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        list[i] = bytes_of_str(args[i]);
    b->record.epoch[0] = '\0'; /* accept whatever filter is there from now on */
    st = redis_step_with_room(b, &redis_script_open, g->bits, REDIS_NAMES, list,
                              sizeof args / sizeof *args);
    if (st != STATUS_OK)
        memcpy(b->record.epoch, known, sizeof known);
    return st;
}

/* The string of another program is as long as its highest bit that was set, so
 * its length shows most wrong sizes. A size too small is certain; one too large
 * is told by the last MiB of the string: with so many bits set there, some of
 * those beyond would be, too. */
static enum status judge_length(struct redis_bloom *b, struct buf *error)
{
    const struct redis_geometry *g = &b->record.now;
    uint64_t set = 0, len = 0, reach = g->bits;
    double share;
    enum status st = redis_count(b, -FOREIGN_SAMPLE, -1, &set, &len);

    if (st != STATUS_OK)
        return st;
    if (g->hash == REDIS_DOUBLE32 && reach > UINT64_C(1) << 31)
        reach = UINT64_C(1) << 31;
    share = (double)set /
            (8 * (double)(len < FOREIGN_SAMPLE ? len : FOREIGN_SAMPLE));
    if (len > (g->bits + 7) / 8) {
        buf_addf(error,
                 "%s has %" PRIu64 " octets, so its filter has from %" PRIu64
                 " to %" PRIu64 " bits or more, and not bits=%" PRIu64,
                 b->place.key, len, 8 * len - 7, 8 * len, g->bits);
        return STATUS_ARG;
    }
    if (8 * len < reach &&
        log1p(-share) * (double)(reach - 8 * len) < log(FOREIGN_CHANCE)) {
        buf_addf(error,
                 "%s ends after %" PRIu64 " octets, although %.3g of its bits "
                 "are set there: its filter has some %" PRIu64
                 " bits, and not bits=%" PRIu64,
                 b->place.key, len, share, 8 * len, g->bits);
        return STATUS_ARG;
    }
    return STATUS_OK;
}

/* Use a bitmap of another program: it has no record, so the place must give the
 * whole geometry. */
static enum status take_foreign(struct redis_bloom *b, struct buf *error)
{
    const struct redis_place *p = &b->place;
    struct buf ignored;
    enum status st;

    if (p->layout != REDIS_PLAIN || p->bits == 0)
        return STATUS_ARG;
    b->record = (struct redis_record){
        .now = {p->layout, p->hash, p->k != 0 ? p->k : 14, p->bits}};
    buf_init(&ignored, 1024);
    st = judge_length(b, error != NULL ? error : &ignored);
    buf_fini(&ignored);
    return st;
}

/* There is no filter, but maybe the record of one. */
static enum status open_left(struct redis_bloom *b)
{
    enum status st = redis_read_record(b, true, &b->record);

    return st == STATUS_OK && b->mode == REDIS_BLOOM_RENEW
               ? redis_bloom_renew(b)
               : st;
}

static enum status redis_open_there(struct redis_bloom *b, struct buf *error)
{
    struct redis_tries t = redis_tries_begin(b);
    enum status st;

    do {
        st = redis_meet(b);
        if (st == STATUS_CLOSED)
            return st;
        if (st == STATUS_OK)
            st = redis_read_record(b, false, &b->record);
        if (st == STATUS_NOT_FOUND && b->mode != REDIS_BLOOM_OPEN)
            st = open_left(b);
    } while (redis_try_again(&t, st));
    return st == STATUS_ARG && redis_connection_is_open(b->link)
               ? take_foreign(b, error)
               : st;
}

/* The settings in the place apply when a filter is made; they must not
 * contradict one that exists. */
static enum status agrees(const struct redis_bloom *b, struct buf *error)
{
    const struct redis_place *p = &b->place;
    const struct redis_geometry *g = &b->record.now;

    if ((!p->layout_given || p->layout == g->layout) &&
        (p->bits == 0 || p->bits == g->bits) && (p->k == 0 || p->k == g->k) &&
        (!p->hash_given || p->hash == g->hash))
        return STATUS_OK;
    if (error != NULL)
        buf_addf(error,
                 "%s is a filter of layout=%s&bits=%" PRIu64 "&k=%u%s%s, which "
                 "is not what was asked for",
                 p->key, g->layout == REDIS_PLAIN ? "plain" : "blocked",
                 g->bits, g->k, g->layout == REDIS_BLOCKED ? "" : "&hash=",
                 g->layout == REDIS_BLOCKED ? "" : redis_hash_name(g->hash));
    return STATUS_ARG;
}

/* Say what `expect` keys take: more than a string holds, or more than the place
 * gives. */
static void say_limit(const struct redis_bloom *b,
                      const struct redis_geometry *g, struct buf *error)
{
    buf_addf(error, "%" PRIu64 " keys at a rate of %g take %" PRIu64 " bits",
             b->expect, b->fpr, g->bits);
    if (g->bits > REDIS_MOST_BITS)
        buf_add_str(error, ", and a Redis string ends at offset 2^32-1");
    else
        buf_addf(error,
                 " and k=%u; with bits=%" PRIu64 " as given it errs %.2g of "
                 "the time",
                 g->k, b->place.bits,
                 redis_geometry_rate(&(struct redis_geometry){g->layout,
                                                              g->hash,
                                                              b->place.k != 0
                                                                  ? b->place.k
                                                                  : g->k,
                                                              b->place.bits},
                                     b->expect));
}

static void warn_of_loss(struct redis_bloom *b)
{
    struct buf where;

    if (b->told_evicts || !redis_connection_may_evict(b->link))
        return;
    b->told_evicts = true;
    buf_init(&where, 1024);
    redis_url_show(&b->place, &where);
    log_warn("the Redis server may throw the filter away when its memory is "
             "full",
             "redis=%s hint=\"set maxmemory-policy noeviction\"",
             buf_str(&where));
    buf_fini(&where);
}

/* Each generation has the keys of its time, and its share of the rate. */
static enum status fit(const struct redis_bloom *b, struct redis_geometry *g)
{
    unsigned n = b->generations;
    double fpr = b->fpr / (n + 1);

    return n == 0 ? redis_geometry_fit(g, b->expect, b->fpr)
                  : redis_geometry_fit(g, b->expect / n + 1,
                                       fpr < 1e-9 ? 1e-9 : fpr);
}

enum status redis_bloom_start(struct redis_bloom *b, struct buf *error)
{
    struct redis_geometry g = {b->place.layout, b->place.hash, b->place.k,
                               b->place.bits};
    enum status st = STATUS_OK;

    if (b->mode <= REDIS_BLOOM_LEFT) {
        st = redis_open_there(b, error);
    } else {
        st = fit(b, &g);
        if (st == STATUS_OK)
            st = make(b, &g);
        else if (st == STATUS_LIMIT && error != NULL)
            say_limit(b, &g, error);
    }
    if (st == STATUS_OK)
        st = agrees(b, error);
    if (st == STATUS_OK) /* known from now on: another run is a restart */
        snprintf(b->run_id, sizeof b->run_id, "%s",
                 redis_connection_run_id(b->link));
    if (st == STATUS_OK)
        warn_of_loss(b);
    else if (error != NULL && error->len == 0)
        redis_bloom_why(b, st, error);
    return st;
}

enum status redis_bloom_open(struct redis_bloom **out,
                             const struct redis_bloom_options *o,
                             struct buf *error)
{
    struct redis_bloom *b = redis_bloom_new(o);
    enum status st = redis_bloom_start(b, error);

    *out = st == STATUS_OK ? b : NULL;
    if (st != STATUS_OK)
        redis_bloom_free(b);
    return st;
}

void redis_bloom_why(const struct redis_bloom *b, enum status st,
                     struct buf *out)
{
    const char *said = redis_connection_error(b->link);

    redis_url_show(&b->place, out);
    if (st == STATUS_NOT_FOUND)
        buf_add_str(out, ": no such filter there (never made, expired, "
                         "deleted or flushed)");
    else if (st == STATUS_EXISTS)
        buf_add_str(out, ": that key exists already");
    else if (st == STATUS_DAMAGED)
        buf_add_str(out, ": the server was restarted and has lost what it had "
                         "confirmed; add the keys again (and see appendfsync)");
    else if (st == STATUS_FORMAT)
        buf_add_str(out, ": what is there is not a filter of urlweir, or is "
                         "not complete");
    else if (st == STATUS_VERSION)
        buf_add_str(out, ": written by a newer release");
    else if (st == STATUS_ARG && said[0] == '\0')
        buf_add_str(out, ": a bitmap without urlweir's record: say "
                         "layout=plain&bits=N&k=N&hash=...");
    else
        buf_addf(out, ": %s", said[0] != '\0' ? said : status_text(st));
}

/* ---- the record beside the bits, as a server tells it ----
 *
 * Anyone with write access to the server may have written it: every number is
 * bounded, and an impossible geometry is refused.
 */

/* The value of `name` in a list of fields and values; empty if there is
 * none. */
static struct bytes redis_field(const redisReply *r, const char *name)
{
    for (size_t i = 0; i + 1 < r->elements; i += 2) {
        const redisReply *f = r->element[i], *v = r->element[i + 1];

        if (f->type == REDIS_REPLY_STRING && v->type == REDIS_REPLY_STRING &&
            bytes_is(bytes_of(f->str, (size_t)f->len), name))
            return bytes_of(v->str, (size_t)v->len);
    }
    return bytes_of("", 0);
}

static bool redis_take_number(const redisReply *r, const char *name,
                              uint64_t most, uint64_t *out)
{
    return bytes_number(redis_field(r, name), most, out);
}

static bool take_rate(const redisReply *r, const char *name, double *out)
{
    struct bytes b = redis_field(r, name);
    char text[32], *end;

    if (b.len == 0 || b.len >= sizeof text)
        return false;
    memcpy(text, b.at, b.len);
    text[b.len] = '\0';
    *out = strtod(text, &end);
    return *end == '\0' && *out >= 1e-9 && *out <= 0.5;
}

static bool take_word(const redisReply *r, const char *name, size_t len,
                      char *out)
{
    struct bytes b = redis_field(r, name);

    if (b.len != len || memchr(b.at, '\0', len) != NULL)
        return false;
    memcpy(out, b.at, len);
    out[len] = '\0';
    return true;
}

static bool redis_take_seed(const redisReply *r, struct redis_record *out)
{
    struct bytes b = redis_field(r, "seed");

    out->has_seed = b.len > 0;
    if (!out->has_seed)
        return true;
    return bytes_from_hex(b, out->seed, DIGEST_SEED_SIZE);
}

static bool take_geometry(const redisReply *r, const char *bits, const char *k,
                          struct redis_geometry *g)
{
    uint64_t n;

    if (!redis_take_number(r, bits, REDIS_MOST_BITS, &g->bits) ||
        !redis_take_number(r, k, REDIS_MOST_K, &n))
        return false;
    g->k = (unsigned)n;
    return redis_geometry_is_valid(g);
}

static bool take_old(const redisReply *r, unsigned i,
                     const struct redis_record *m, struct redis_old *out)
{
    char last[8], count[8], set[8];

    snprintf(last, sizeof last, "last%u", i);
    snprintf(count, sizeof count, "count%u", i);
    snprintf(set, sizeof set, "set%u", i);
    return redis_take_number(r, last, INT64_MAX / 2, &out->last) &&
           redis_take_number(r, count, INT64_MAX / 8, &out->count) &&
           redis_take_number(r, set, m->now.bits, &out->set);
}

static bool take_ages(const redisReply *r, struct redis_record *m)
{
    uint64_t n, olds;

    if (redis_field(r, "ttl").len == 0)
        return true;
    if (!redis_take_number(r, "ttl", INT64_MAX / 2, &m->ttl_ms) ||
        !redis_take_number(r, "generations", FILTER_GENERATIONS_MOST, &n) ||
        !redis_take_number(r, "olds", n, &olds) ||
        !redis_take_number(r, "last", INT64_MAX / 2, &m->last))
        return false;
    m->generations = (unsigned)n;
    for (m->olds = 0; m->olds < olds; m->olds++)
        if (!take_old(r, m->olds + 1, m, &m->old[m->olds]))
            return false;
    return true;
}

enum status redis_record_read(struct redis_record *out, const redisReply *r)
{
    struct redis_record n = {.adds = 0};
    uint64_t version, bytes, generation;
    struct bytes layout, hash;

    if (r->type != REDIS_REPLY_ARRAY || r->elements % 2 != 0)
        return STATUS_FORMAT;
    if (!redis_take_number(r, "v", UINT64_MAX, &version))
        return STATUS_FORMAT;
    if (version != 1)
        return STATUS_VERSION;
    layout = redis_field(r, "layout");
    hash = redis_field(r, "hash");
    n.now.layout = bytes_is(layout, "plain") ? REDIS_PLAIN : REDIS_BLOCKED;
    if ((n.now.layout == REDIS_BLOCKED && !bytes_is(layout, "blocked")) ||
        !redis_hash_named(hash, &n.now.hash) ||
        !take_geometry(r, "bits", "k", &n.now) ||
        !redis_take_number(r, "bytes", REDIS_MOST_BITS, &bytes) ||
        bytes != (n.now.bits + 7) / 8 ||
        !take_word(r, "epoch", REDIS_TOKEN_SIZE - 1, n.epoch) ||
        !redis_take_number(r, "gen", INT64_MAX, &generation) ||
        !redis_take_number(r, "adds", INT64_MAX, &n.adds) ||
        !redis_take_number(r, "count", INT64_MAX, &n.count) ||
        !redis_take_number(r, "set", n.now.bits, &n.set) ||
        !redis_take_number(r, "expect", UINT64_C(1) << 40, &n.expect) ||
        !take_rate(r, "fpr", &n.fpr) || !redis_take_seed(r, &n))
        return STATUS_FORMAT;
    (void)take_word(r, "built", REDIS_TOKEN_SIZE - 1, n.built);
    memcpy(n.generation, redis_field(r, "gen").at, redis_field(r, "gen").len);
    if (redis_field(r, "next_token").len > 0) {
        n.next = n.now;
        if (!take_word(r, "next_token", REDIS_TOKEN_SIZE - 1, n.next_token) ||
            !take_geometry(r, "next_bits", "next_k", &n.next) ||
            !redis_take_number(r, "next_count", INT64_MAX, &n.next_count))
            return STATUS_FORMAT;
    }
    if (!take_ages(r, &n))
        return STATUS_FORMAT;
    *out = n;
    return STATUS_OK;
}

/* ---- another size for a shared filter while other clients go on ----
 *
 *   begin   new bits, a token, generation + 1: clients notice
 *   fill    keys from before the beginning, into the new bits alone
 *   swap    RENAME over the old bits, generation + 1
 *
 * A key added before `begin` must be given by the client that rebuilds; a key
 * added later is set in both by the client that adds it. The token identifies a
 * rebuild: when a second one begins, the next step of the first is refused. A
 * rebuild that is given no keys for an hour is dropped by the server.
 */

enum status redis_bloom_rebuild(struct redis_bloom *b, uint64_t expect,
                                double fpr)
{
    struct redis_geometry g = {.layout = b->record.now.layout,
                               .hash = b->record.now.hash};
    char token[REDIS_TOKEN_SIZE], bits[24], bytes[24], k[12], want[24],
        rate[32];
    enum status st;

    if (b->record.epoch[0] == '\0' || b->record.generations > 0)
        return STATUS_ARG;
    st = redis_geometry_fit(&g, expect, fpr);
    if (st != STATUS_OK)
        return st;
    redis_token(token);
    snprintf(bits, sizeof bits, "%" PRIu64, g.bits);
    snprintf(bytes, sizeof bytes, "%" PRIu64, (g.bits + 7) / 8);
    snprintf(k, sizeof k, "%u", g.k);
    snprintf(want, sizeof want, "%" PRIu64, expect);
    snprintf(rate, sizeof rate, "%.9g", fpr);
    const char *const args[] = {
        b->record.epoch, token, bits,       "next_bytes", bytes, "next_k", k,
        "next_expect",   want,  "next_fpr", rate};
    struct bytes list[sizeof args / sizeof *args];

    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        list[i] = bytes_of_str(args[i]);
    st = redis_step_with_room(b, &redis_script_begin, g.bits, 4, list,
                              sizeof args / sizeof *args);
    if (st == STATUS_OK)
        memcpy(b->token, token, sizeof token);
    return st;
}

enum status redis_bloom_refill(struct redis_bloom *b, struct redis_keys keys,
                               size_t n)
{
    const struct redis_geometry *g = &b->record.next;
    enum status st = STATUS_OK;
    char k[12];

    if (b->token[0] == '\0' || g->k == 0 ||
        (keys.digest == NULL && g->layout == REDIS_BLOCKED))
        return STATUS_ARG;
    snprintf(k, sizeof k, "%u", g->k);
    for (size_t at = 0; st == STATUS_OK && at < n; at += REDIS_BATCH) {
        size_t m = n - at < REDIS_BATCH ? n - at : REDIS_BATCH;
        redisReply *r = NULL;

        buf_clear(&b->packed);
        redis_bits_pack(g, keys, at, m, &b->packed);
        struct bytes args[4] = {bytes_of_str(b->record.epoch),
                                bytes_of_str(b->token), bytes_of_str(k),
                                buf_bytes(&b->packed)};
        st = redis_call(b, &redis_script_fill, 3, args, 4, &r);
        if (st == STATUS_OK)
            freeReplyObject(r);
    }
    return st;
}

/* If the answer to a swap was lost, the repeated swap answers GONE. */
static enum status redis_end(struct redis_bloom *b,
                             const struct redis_script *s, const char *allow)
{
    struct bytes args[3] = {bytes_of_str(b->record.epoch),
                            bytes_of_str(b->token), bytes_of_str(allow)};
    enum status st =
        b->token[0] != '\0' ? redis_step(b, s, 3, args, 3) : STATUS_ARG;

    if (st == STATUS_NOT_FOUND && redis_reload(b) == STATUS_OK &&
        strcmp(b->record.built, b->token) == 0)
        st = STATUS_OK;
    if (st == STATUS_OK || st == STATUS_NOT_FOUND)
        b->token[0] = '\0';
    return st;
}

enum status redis_bloom_swap(struct redis_bloom *b, bool allow_smaller)
{
    enum status st =
        redis_end(b, &redis_script_swap, allow_smaller ? "1" : "0");

    if (st == STATUS_REFUSED) { /* with the counts of this moment */
        enum status read = redis_reload(b);

        if (read != STATUS_OK)
            st = read;
    }
    return st;
}

enum status redis_bloom_abort(struct redis_bloom *b)
{
    return redis_end(b, &redis_script_abort, "");
}
