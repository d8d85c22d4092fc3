/* SPDX-License-Identifier: MIT */
/*
 * cluster_verify.c - passes over shards, counts, buckets.
 *
 * A pass only looks, or mends what is in a wrong place, or mends counts: these
 * are right only when all else is. A check is one pass; if URLs are nowhere,
 * all keys of the servers are searched for queues that no host has, and there
 * is a second pass. A repair looks, mends places, mends counts, and looks
 * again.
 */
#include "frontier/cluster_check/cluster_verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "frontier/cluster_check/cluster_verify_impl.h"

#define BUCKETS_AT_ONCE  64
#define MISPLACED_MOST   1000
#define INTSET_MOST      512
#define BUCKETS_BELIEVED (UINT32_C(1) << 24)

static const char *const texts[CLUSTER_FINDINGS] = {
    [CLUSTER_ADRIFT] = "hosts with waiting URLs, neither due nor leased",
    [CLUSTER_IDLE] = "hosts that are due and have no URL",
    [CLUSTER_IN_BOTH] = "hosts that are due and leased",
    [CLUSTER_ENDLESS] = "leased URLs whose lease never ends",
    [CLUSTER_EMPTY] = "leases without a URL",
    [CLUSTER_UNREAD] = "items that are no URL of this crawl",
    [CLUSTER_UNSEEN] = "URLs that wait or are leased, but were not seen",
    [CLUSTER_REPEATED] = "URLs in two places",
    [CLUSTER_MISPLACED] = "fingerprints in a bucket of others",
    [CLUSTER_SEEN] = "shards with a wrong count of URLs seen",
    [CLUSTER_NOWHERE] = "URLs that were seen, are not done and in no place",
    [CLUSTER_DONE] = "URLs too many that count as done",
};

const char *cluster_finding_text(enum cluster_finding f)
{
    return texts[f];
}

enum status verify_correct(struct verify *v, const char *what, const char *a,
                           struct bytes after_a, const char *b,
                           struct bytes after_b, struct bytes value)
{
    const struct bytes args[] = {bytes_of_str(what), value};
    struct cluster_answer answer;
    struct key_list k;
    enum status st;

    cluster_answer_init(&answer);
    key_list_init(&k);
    key_list_add(&k, v->s, v->shard, a, after_a);
    if (b != NULL)
        key_list_add(&k, v->s, v->shard, b, after_b);
    st = cluster_ask(v->s, v->shard, &cluster_script_correct, &k, args, 2, true,
                     &answer);
    cluster_answer_fini(&answer);
    return st;
}

/* ---- buckets ---- */

static struct bytes hex(char text[24], uint64_t n)
{
    return bytes_of(text, (size_t)snprintf(text, 24, "%" PRIx64, n));
}

static enum status move(struct verify *v, uint64_t from, struct bytes fp)
{
    char to[24], at[24], digits[24];
    char *end;
    uint64_t n;

    if (fp.len >= sizeof digits)
        return STATUS_OK; /* not ours; it disturbs nothing */
    snprintf(digits, sizeof digits, "%.*s", (int)fp.len, fp.at);
    n = strtoull(digits, &end, 10);
    if (*end != '\0')
        return STATUS_OK;
    return verify_correct(v, "move", "s:", hex(at, from),
                          "s:", hex(to, cluster_bucket_of(n, v->buckets)), fp);
}

/* Buckets from `first` on. *seen gets their sizes. */
static enum status check_some(struct verify *v, uint64_t first, uint64_t n,
                              struct cluster_answer *a, uint64_t *seen)
{
    char text[3][24];
    const struct bytes args[] = {
        bytes_of(text[0],
                 (size_t)snprintf(text[0], 24, "%" PRIu32, v->buckets)),
        bytes_of(text[1], (size_t)snprintf(text[1], 24, "%" PRIu64, first)),
        bytes_of(text[2], (size_t)snprintf(text[2], 24, "%d", MISPLACED_MOST))};
    char name[24];
    struct key_list k;
    enum status st;

    key_list_init(&k);
    for (uint64_t i = 0; i < n; i++)
        key_list_add(&k, v->s, v->shard, "s:", hex(name, first + i));
    st = cluster_ask(v->s, v->shard, &cluster_script_buckets, &k, args, 3,
                     false, a);
    if (st == STATUS_OK && (a->count < n || (a->count - n) % 2 != 0))
        st = STATUS_FORMAT;
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        *seen += (uint64_t)cluster_answer_number(a, i);
        v->now.large += cluster_answer_number(a, i) > INTSET_MOST;
    }
    for (size_t i = n; st == STATUS_OK && i < a->count; i += 2) {
        v->now.found[CLUSTER_MISPLACED]++;
        if (v->pass == VERIFY_PLACES)
            st = move(v, (uint64_t)cluster_answer_number(a, i),
                      cluster_answer_text(a, i + 1));
    }
    return st;
}

/* The one that a split makes next is looked at, too. */
static enum status check_buckets(struct verify *v, struct cluster_answer *a,
                                 uint64_t *seen)
{
    enum status st = STATUS_OK;

    for (uint64_t i = 0; st == STATUS_OK && i <= v->buckets;
         i += BUCKETS_AT_ONCE) {
        uint64_t left = v->buckets + 1 - i;

        st = check_some(v, i, left < BUCKETS_AT_ONCE ? left : BUCKETS_AT_ONCE,
                        a, seen);
    }
    return st;
}

/* ---- counts ---- */

static enum status set_count(struct verify *v, const char *what, uint64_t n)
{
    char text[24];

    if (v->pass != VERIFY_COUNTS)
        return STATUS_OK;
    snprintf(text, sizeof text, "%" PRIu64, n);
    return verify_correct(v, what, "m", bytes_of("", 0), NULL, bytes_of("", 0),
                          bytes_of_str(text));
}

static enum status check_counts(struct verify *v, uint64_t seen,
                                uint64_t said_seen, uint64_t said_done)
{
    uint64_t done = seen > v->places ? seen - v->places : 0;
    enum status st = STATUS_OK;

    v->now.seen += seen;
    v->now.done += done < said_done ? done : said_done;
    if (seen != said_seen) {
        v->now.found[CLUSTER_SEEN]++;
        st = set_count(v, "seen count", seen);
    }
    if (done > said_done)
        v->now.found[CLUSTER_NOWHERE] += done - said_done;
    if (done < said_done)
        v->now.found[CLUSTER_DONE] += said_done - done;
    if (st == STATUS_OK && done != said_done)
        st = set_count(v, "done count", done);
    return st;
}

static enum status check_shard(struct verify *v, struct cluster_answer *a)
{
    uint64_t seen = 0, said_seen, said_done;
    struct key_list k;
    enum status st;

    key_list_init(&k);
    key_list_add(&k, v->s, v->shard, "m", bytes_of("", 0));
    key_list_add(&k, v->s, v->shard, "l", bytes_of("", 0));
    st = cluster_ask(v->s, v->shard, &cluster_script_count, &k, NULL, 0, false,
                     a);
    if (st != STATUS_OK)
        return st;
    said_seen = (uint64_t)cluster_answer_number(a, 0);
    said_done = (uint64_t)cluster_answer_number(a, 1);
    if (cluster_answer_number(a, 4) < 1 ||
        cluster_answer_number(a, 4) > BUCKETS_BELIEVED)
        return STATUS_FORMAT;
    v->buckets = (uint32_t)cluster_answer_number(a, 4);
    v->now.buckets += v->buckets;
    v->places = 0;
    v->unchecked = false;
    st = check_buckets(v, a, &seen);
    if (st == STATUS_OK)
        st = verify_hosts(v);
    v->now.unchecked += v->unchecked;
    return st == STATUS_OK ? check_counts(v, seen, said_seen, said_done) : st;
}

/* ---- passes ---- */

static enum status run_pass(struct verify *v, enum verify_pass pass)
{
    struct cluster_answer a;
    enum status st = STATUS_OK;

    v->pass = pass;
    v->now = (struct cluster_verdict){.seen = 0};
    cluster_answer_init(&a);
    for (v->shard = 0; st == STATUS_OK && v->shard < v->s->shard_count;
         v->shard++)
        st = check_shard(v, &a);
    cluster_answer_fini(&a);
    return st;
}

static enum status look(struct verify *v, struct cluster_verdict *out)
{
    enum status st = run_pass(v, VERIFY_LOOK);

    if (st == STATUS_OK && v->now.found[CLUSTER_NOWHERE] > 0) {
        st = verify_sweep(v);
        if (st == STATUS_OK && v->adrift_count > 0)
            st = run_pass(v, VERIFY_LOOK);
    }
    *out = v->now;
    return st;
}

enum status cluster_verify(struct cluster_store *s, struct bytes crawl,
                           bool repair, struct cluster_verdict *out)
{
    struct verify v = {.s = s, .crawl = crawl};
    struct cluster_verdict first;
    enum status st = look(&v, &first);

    *out = first;
    if (st == STATUS_OK && repair) {
        st = run_pass(&v, VERIFY_PLACES);
        if (st == STATUS_OK)
            st = run_pass(&v, VERIFY_COUNTS);
        if (st == STATUS_OK)
            st = run_pass(&v, VERIFY_LOOK);
        *out = v.now;
        for (size_t i = 0; i < CLUSTER_FINDINGS; i++) {
            uint64_t left = v.now.found[i];

            out->found[i] = first.found[i] > left ? first.found[i] : left;
            out->mended[i] = out->found[i] - left;
        }
    }
    for (size_t i = 0; i < v.adrift_count; i++)
        free(v.adrift[i]);
    free(v.adrift);
    return st;
}
