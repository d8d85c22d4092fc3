/* SPDX-License-Identifier: MIT */
/*
 * test_blocklist_redis.c - a blocklist whose filter is on a Redis server, which
 * may be out of reach.
 */
#include "frontier/seen/blocklist.h"

#include <stdio.h>

#include "base/file/file.h"
#include "tests/unit/filter/redis/redis_bloom_rig.h"

#define URLS 700 /* more than are asked for at once */

static struct bytes nth_url(char room[64], unsigned i)
{
    return bytes_of(room, (size_t)snprintf(room, 64, "http://h.test/%u", i));
}

/* Adds every third URL under keys of its layout. */
static void fill(const char *settings, const unsigned char *seed)
{
    const struct redis_place p = redis_server_place(&server, settings);
    const struct redis_bloom_options o = {.place = &p,
                                          .mode = REDIS_BLOOM_NEW,
                                          .expect = 1000,
                                          .fpr = 1e-6,
                                          .seed = seed};
    struct redis_bloom *b = NULL;
    struct digest_key key;
    struct buf why;

    buf_init(&why, 4096);
    ck_ok(redis_bloom_open(&b, &o, &why));
    if (seed != NULL)
        digest_key_init(&key, seed);
    for (unsigned i = 0; i < URLS; i += 3) {
        char room[64];
        struct bytes url = nth_url(room, i);
        uint64_t digest = seed != NULL ? digest_bytes(&key, url).hi : i;
        struct redis_keys keys = {.text = &url};

        if (p.layout != REDIS_PLAIN)
            keys = (struct redis_keys){.digest = &digest};
        ck_ok(redis_bloom_add(b, keys, 1, NULL));
    }
    redis_bloom_free(b);
    buf_fini(&why);
}

static enum status open_list(struct blocklist **out, const char *settings,
                             const char *exact, struct buf *why)
{
    char url[256], kept[128];
    struct blocklist_options o = {.filter = url, .exact = exact, .kept = kept};

    snprintf(url, sizeof url, "%s?key=test&timeout=60s%s", server.url,
             settings);
    snprintf(kept, sizeof kept, "%s/kept", server.dir);
    return blocklist_open(out, &o, why);
}

static struct blocklist *opened(const char *settings, const char *exact)
{
    struct blocklist *b = NULL;
    struct buf why;

    buf_init(&why, 4096);
    ck_assert_msg(open_list(&b, settings, exact, &why) == STATUS_OK, "%s",
                  buf_str(&why));
    buf_fini(&why);
    return b;
}

/* Asks for all URLs; every `step`th must be blocked, 0: none. */
static void expect_blocked(struct blocklist *b, unsigned step)
{
    static char rooms[URLS][64];
    struct bytes urls[URLS];
    bool blocked[URLS];

    for (unsigned i = 0; i < URLS; i++)
        urls[i] = nth_url(rooms[i], i);
    memset(blocked, step == 0, sizeof blocked);
    ck_ok(blocklist_check(b, urls, URLS, blocked));
    for (unsigned i = 0; i < URLS; i++)
        SAME(blocked[i], step > 0 && i % step == 0);
}

static void expect_counts(const struct blocklist *b, uint64_t asked,
                          uint64_t blocked, uint64_t wrong, uint64_t unsure)
{
    struct blocklist_counts c = blocklist_counts(b);

    ck_assert_uint_eq(c.asked, asked);
    ck_assert_uint_eq(c.blocked, blocked);
    ck_assert_uint_eq(c.false_positives, wrong);
    ck_assert_uint_eq(c.unsure, unsure);
}

#define BLOCKED ((URLS + 2) / 3)

TIMEOUT(120);
FIXTURE(start, end);

TEST(keys_are_texts_or_digests_as_the_filter_has_them)
{
    static const unsigned char seed[DIGEST_SEED_SIZE] = "open";
    static const struct {
        const char *settings;
        const unsigned char *seed;
    } all[] = {{"", seed}, {"&layout=plain", NULL}};

    NEEDS_SERVER;
    for (size_t i = 0; i < 2; i++) {
        struct blocklist *b;

        fill(all[i].settings + (i == 1), all[i].seed);
        b = opened(all[i].settings, NULL);
        expect_blocked(b, 3);
        expect_counts(b, URLS, BLOCKED, 0, 0);
        ck_assert_uint_eq(blocklist_size(b).keys, BLOCKED);
        ck_assert_uint_eq(blocklist_size(b).exact_keys, 0);
        ck_assert_double_gt(blocklist_size(b).rate, 0);
        ck_assert_double_lt(blocklist_size(b).rate, 1e-6);
        blocklist_close(b);
        (void)redis_server_do(&server, "FLUSHALL");
    }
}

TEST(a_filter_of_crawls_is_refused)
{
    struct blocklist *b = NULL;
    struct buf why;

    NEEDS_SERVER;
    buf_init(&why, 4096);
    ck_assert_int_eq(open_list(&b, "", NULL, &why), STATUS_NOT_FOUND);
    ck_assert_uint_gt(why.len, 0);
    buf_clear(&why);
    fill("", NULL);
    ck_assert_int_eq(open_list(&b, "", NULL, &why), STATUS_ARG);
    ck_assert_str_eq(buf_str(&why),
                     "test: this filter belongs to crawls, and its keys depend "
                     "on their secrets; make one with `urlweir filter create`");
    ck_assert_ptr_null(b);
    buf_fini(&why);
}

/* The list has the even URLs only. */
static const char *write_exact(char path[128])
{
    FILE *f;

    snprintf(path, 128, "%s/exact", server.dir);
    f = fopen(path, "we");
    ck_assert_ptr_nonnull(f);
    for (unsigned i = 0; i < URLS; i += 2)
        fprintf(f, "http://h.test/%u\n", i);
    ck_assert_int_eq(fclose(f), 0);
    return path;
}

#define BOTH ((URLS + 5) / 6)

/* Alone, the list blocks what it has, and nothing is a false positive then; the
 * filter is asked again when its server is back. */
TEST(without_its_server_the_exact_list_alone_decides)
{
    static const unsigned char seed[DIGEST_SEED_SIZE] = "open";
    char path[128];
    struct blocklist *b;
    uint64_t unsure;

    NEEDS_SERVER;
    fill("", seed);
    b = opened("", write_exact(path));
    ck_assert_uint_eq(blocklist_size(b).exact_keys, URLS / 2);
    expect_blocked(b, 6);
    expect_counts(b, URLS, BOTH, BLOCKED - BOTH, 0);
    redis_server_kill(&server);
    expect_blocked(b, 2);
    expect_counts(b, 2 * URLS, BOTH + URLS / 2, BLOCKED - BOTH, URLS);
    redis_server_run(&server);
    do {
        struct bytes url = bytes_of_str("http://h.test/2");
        bool blocked;

        unsure = blocklist_counts(b).unsure;
        ck_ok(blocklist_check(b, &url, 1, &blocked));
        rest_ms(20);
    } while (blocklist_counts(b).unsure > unsure);
    expect_blocked(b, 6);
    blocklist_close(b);
}

TEST(without_server_and_list_nothing_is_blocked)
{
    static const unsigned char seed[DIGEST_SEED_SIZE] = "open";
    struct blocklist *b;

    NEEDS_SERVER;
    fill("", seed);
    b = opened("", NULL);
    redis_server_kill(&server);
    expect_blocked(b, 0);
    expect_counts(b, URLS, 0, 0, URLS);
    ck_assert_uint_eq(blocklist_size(b).keys, BLOCKED); /* as last told */
    blocklist_close(b);
}
