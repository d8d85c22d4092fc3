/* SPDX-License-Identifier: MIT */
/* redis_open.c - makes a filter, or finds the one that is there. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
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

static enum status open_there(struct redis_bloom *b, struct buf *error)
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
        st = open_there(b, error);
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
