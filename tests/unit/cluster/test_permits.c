/* SPDX-License-Identifier: MIT */
/*
 * test_permits.c - shards that keep within a limit together: owners that read
 * one log at their own pace, and are lost.
 */
#include "cluster/permits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/unit.h"

enum { SHARDS = 5, RECORDS = 1 << 16 };

/* A record of the log: a claim, what a shard has fetched, or a limit. */
static struct record {
    enum { CLAIM, USED, LIMIT } what;
    uint32_t shard;
    uint64_t number;
    char value[96];
} entries[RECORDS];
static size_t length;

struct owner {
    struct permits *p;
    size_t read;                 /* records of the log */
    uint64_t committed, fetched; /* pages; the second counts those under way */
    uint64_t urls;               /* still to be fetched */
};

static struct owner owners[SHARDS];
static uint64_t last_by, seed;

static uint64_t pick(uint64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % n;
}

static struct record *append(int what, uint32_t shard)
{
    ck_assert_uint_lt(length, RECORDS);
    entries[length].what = what;
    entries[length].shard = shard;
    return &entries[length++];
}

static void limit_to(uint64_t pages)
{
    append(LIMIT, 0)->number = pages;
}

static void take_over(uint32_t shard)
{
    struct owner *o = &owners[shard];

    permits_free(o->p);
    o->p = permits_new(SHARDS);
    permits_own(o->p, shard, ++last_by);
    o->read = 0;
    o->fetched = o->committed;
}

static void begin(void)
{
    length = last_by = 0;
    memset(owners, 0, sizeof owners);
    for (uint32_t i = 0; i < SHARDS; i++) {
        append(USED, i);
        take_over(i);
    }
}

static void end(void)
{
    for (uint32_t i = 0; i < SHARDS; i++)
        permits_free(owners[i].p);
}

FIXTURE(begin, end);

static void read_some(struct owner *o, size_t most)
{
    for (; o->read < length && most > 0; o->read++, most--) {
        const struct record *r = &entries[o->read];

        if (r->what == LIMIT)
            permits_take_limits(o->p, (uint64_t[]){r->number, 0});
        else if (r->what == USED)
            permits_take_used(o->p, r->shard, (uint64_t[]){r->number, 0});
        else
            permits_take_claim(o->p, r->shard, bytes_of_str(r->value));
    }
}

static struct permit_need need_of(const struct owner *o, bool unused)
{
    return (struct permit_need){.used = {o->fetched, 0},
                                .urls = o->urls,
                                .unused = unused || o->urls == 0};
}

/* What a commit of the shard says. */
static void commit(uint32_t shard, bool unused)
{
    struct owner *o = &owners[shard];
    const struct permit_need n = need_of(o, unused);
    struct buf key, value;

    if (permits_want(o->p, &n)) {
        buf_init(&key, 64);
        buf_init(&value, 96);
        permits_claim(o->p, &n, &key, &value);
        snprintf(append(CLAIM, shard)->value, sizeof entries->value, "%s",
                 buf_str(&value));
        buf_fini(&key);
        buf_fini(&value);
    }
    if (o->committed != o->fetched)
        append(USED, shard)->number = o->fetched;
    o->committed = o->fetched;
}

static void fetch(struct owner *o)
{
    if (!permits_are_limited(o->p)) /* an owner has read that at its start */
        return;
    if (o->urls == 0 || permits_left(o->p, PERMIT_PAGES, o->fetched) == 0)
        return;
    o->fetched++;
    o->urls--;
}

static uint64_t all_fetched(void)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < SHARDS; i++)
        all += owners[i].fetched;
    return all;
}

static void step(bool faults)
{
    uint32_t shard = (uint32_t)pick(SHARDS);
    struct owner *o = &owners[shard];

    switch (pick(faults ? 40 : 39)) {
    case 39:
        o->urls += o->fetched - o->committed;
        take_over(shard);
        break;
    case 38:
        commit(shard, true);
        break;
    default:
        read_some(o, pick(12));
        for (uint64_t n = pick(3); n > 0; n--)
            fetch(o);
        if (pick(3) == 0)
            commit(shard, false);
    }
}

/* Promise (Cluster): the shards of a cluster together fetch exactly as many
 * pages as the limit says, whichever worker is lost, and go on when the limit
 * is raised, also if none runs then; a quota counts the octets of all. See also
 * `make check-cluster T="limited quota"`. */
/* However far each has read, and whoever is lost: none beyond the limit, and
 * all of it as long as there is anything to fetch. */
TEST_LOOP(shards_fetch_exactly_the_limit, 0, 30)
{
    enum permit_kind which;
    uint64_t limit;

    seed = (uint64_t)_i;
    limit = 1 + pick(400);
    limit_to(limit);
    for (uint32_t i = 0; i < SHARDS; i++)
        owners[i].urls = i == 0 ? 400 : pick(200);
    for (int i = 0; i < 20000 && all_fetched() < limit; i++) {
        step(i < 10000);
        ck_assert_uint_le(all_fetched(), limit);
    }
    ck_assert_uint_eq(all_fetched(), limit);
    for (uint32_t i = 0; i < SHARDS; i++)
        commit(i, false);
    read_some(&owners[3], SIZE_MAX);
    ck_assert(permits_are_spent(owners[3].p, &which));
    ck_assert_int_eq(which, PERMIT_PAGES);
}

TEST_LOOP(a_wider_limit_lets_them_go_on_to_it, 0, 10)
{
    seed = (uint64_t)_i;
    for (uint64_t limit = 20; limit <= 100; limit += 40) {
        limit_to(limit);
        for (uint32_t i = 0; i < SHARDS; i++)
            owners[i].urls += 100;
        for (int i = 0; i < 20000 && all_fetched() < limit; i++)
            step(i < 10000);
        ck_assert_uint_eq(all_fetched(), limit);
    }
}

/* With one page left, the first in the log gets it. */
TEST(of_two_claims_the_earlier_one_counts)
{
    limit_to(1);
    for (uint32_t i = 0; i < SHARDS; i++) {
        owners[i].urls = 1;
        read_some(&owners[i], SIZE_MAX);
    }
    commit(3, false);
    commit(1, false);
    read_some(&owners[1], SIZE_MAX);
    read_some(&owners[3], SIZE_MAX);
    ck_assert_uint_eq(permits_left(owners[1].p, PERMIT_PAGES, 0), 0);
    ck_assert_uint_eq(permits_left(owners[3].p, PERMIT_PAGES, 0), 1);
}

/* One of them may be of an import, with more pages than any claim says. */
TEST(nothing_is_claimed_before_all_have_said_what_they_have)
{
    struct permit_need n = {.urls = 9};

    limit_to(100);
    owners[0].urls = 9;
    read_some(&owners[0], SHARDS - 1);
    permits_take_limits(owners[0].p, (uint64_t[]){100, 0});
    ck_assert(!permits_want(owners[0].p, &n));
    read_some(&owners[0], SIZE_MAX);
    ck_assert(permits_want(owners[0].p, &n));
}

TEST(a_new_owner_uses_nothing_of_the_one_before)
{
    limit_to(100);
    owners[2].urls = 50;
    read_some(&owners[2], SIZE_MAX);
    commit(2, false);
    read_some(&owners[2], SIZE_MAX);
    ck_assert_uint_eq(permits_left(owners[2].p, PERMIT_PAGES, 0), 5);
    take_over(2);
    read_some(&owners[2], SIZE_MAX);
    ck_assert_uint_eq(permits_left(owners[2].p, PERMIT_PAGES, 0), 0);
}

TEST(a_new_owner_claims_as_much_as_the_one_before_in_its_own_name)
{
    limit_to(10);
    owners[2].urls = 50;
    for (int i = 0; i < 2; i++) {
        read_some(&owners[2], SIZE_MAX);
        commit(2, false);
        read_some(&owners[2], SIZE_MAX);
        ck_assert_uint_eq(permits_left(owners[2].p, PERMIT_PAGES, 0), 1);
        take_over(2);
    }
}

TEST(octets_beyond_a_quota_end_it)
{
    struct permits *p = owners[0].p;
    struct permit_need n = {.urls = 9};
    struct buf key, value;
    enum permit_kind which;

    buf_init(&key, 64);
    buf_init(&value, 96);
    read_some(&owners[0], SIZE_MAX);
    permits_take_limits(p, (uint64_t[]){0, 1000});
    ck_assert_uint_eq(permits_left(p, PERMIT_PAGES, 7), UINT64_MAX);
    ck_assert(permits_want(p, &n));
    permits_claim(p, &n, &key, &value);
    ck_assert_str_eq(buf_str(&key), "permit/0");
    permits_take_claim(p, 0, buf_bytes(&value));
    ck_assert_uint_eq(permits_left(p, PERMIT_BYTES, 0), 50);
    permits_take_used(p, 4, (uint64_t[]){1, 1200});
    ck_assert(permits_are_spent(p, &which));
    ck_assert_int_eq(which, PERMIT_BYTES);
    n.used[PERMIT_BYTES] = 60;
    ck_assert_uint_eq(permits_left(p, PERMIT_BYTES, 60), 0);
    ck_assert(permits_want(p, &n)); /* what came is said */
    buf_fini(&key);
    buf_fini(&value);
}

static const char *const hostile[] = {
    "",
    "{",
    "[]",
    "7",
    "null",
    "{\"pages\":-5}",
    "{\"pages\":1e300}",
    "{\"pages\":9223372036854775807,\"bytes\":9223372036854775807}",
    "{\"pages\":\"5\",\"by\":7}",
    "{\"by\":\"\"}",
    "{\"by\":\"zz\"}",
};

TEST_EACH(a_record_of_others_gives_nothing, hostile)
{
    limit_to(10);
    read_some(&owners[0], SIZE_MAX);
    permits_take_claim(owners[0].p, 0, bytes_of_str(hostile[_i]));
    permits_take_claim(owners[0].p, 1, bytes_of_str(hostile[_i]));
    ck_assert_uint_eq(permits_left(owners[0].p, PERMIT_PAGES, 0), 0);
}
