/* SPDX-License-Identifier: MIT */
/*
 * test_seen_store_open.c - how memory is divided, and which directories are
 * refused.
 */
#include "frontier/seen/seen_store.h"

#include "storage/db/schema.h"
#include "tests/unit/storage/scratch.h"

#define WALL INT64_C(1700000000000)
#define MIB  ((uint64_t)1 << 20)

/* ---- memory ---- */

static void divided(struct seen_store_options o, struct seen_store_shares want)
{
    struct seen_store_shares is = seen_store_shares(&o);

    ck_assert_uint_eq(is.filter, want.filter);
    ck_assert_uint_eq(is.hot, want.hot);
    ck_assert_uint_eq(is.exact, want.exact);
    ck_assert_uint_eq(is.delta, want.delta);
    ck_assert_uint_eq(is.database, want.database);
}

FIXTURE(scratch_quiet, NULL);

/* In 64ths, with a least and a most for each part. */
TEST(memory_is_divided_as_the_header_says)
{
    divided((struct seen_store_options){.use_filter = true,
                                        .memory = 640 * MIB},
            (struct seen_store_shares){160 * MIB, 420 * MIB, 10 * MIB, 40 * MIB,
                                       40 * MIB});
    divided((struct seen_store_options){.memory = 640 * MIB,
                                        .exact_share = 5,
                                        .db_share = 6,
                                        .hot_share = 7},
            (struct seen_store_shares){0, 230 * MIB, 50 * MIB, 40 * MIB,
                                       60 * MIB});
    divided((struct seen_store_options){.use_filter = true, .memory = 64},
            (struct seen_store_shares){16, MIB, MIB, MIB, 2 * MIB});
    divided((struct seen_store_options){.use_filter = true,
                                        .memory = 64000000 * MIB},
            (struct seen_store_shares){16000000 * MIB, 16384 * MIB, 2048 * MIB,
                                       64 * MIB, 64 * MIB});
    divided((struct seen_store_options){.memory = 64000000 * MIB,
                                        .db_share = 1},
            (struct seen_store_shares){0, 16384 * MIB, 2048 * MIB, 64 * MIB,
                                       16 * MIB});
}

static struct seen_store *make(const struct scratch *at, uint64_t memory)
{
    const struct seen_store_options o = {.use_filter = true,
                                         .fpr = 0.01,
                                         .memory = memory};
    struct seen_store *s = NULL;

    ck_ok(seen_store_create(&s, at->dir, &o, WALL));
    return s;
}

static void admit(struct seen_store *s, uint64_t n)
{
    struct url_row row = {.kind = URL_KIND_SERVED, .found_at_ms = WALL};
    struct digest d = scratch_digest(n);
    enum seen_answer a = SEEN_BEFORE;
    char url[32];
    uint64_t id = 0;

    snprintf(url, sizeof url, "http://h/%llu", (unsigned long long)n);
    row.url = bytes_of_str(url);
    SAME(seen_store_touch(s), STATUS_OK);
    SAME(seen_check(s->seen, &d, 1, &a), STATUS_OK);
    SAME(frontier_store_queue(s->store, bytes_of_str("c"), bytes_of_str("h"),
                              &row.queue),
         STATUS_OK);
    SAME(frontier_store_admit(s->store, &row, &id), STATUS_OK);
    SAME(seen_store_admit(s, &d, 1, id), STATUS_OK);
}

/* A mebibyte at least; then 32 octets a URL, in steps of half as much again;
 * with the filter never more than its share. */
TEST(the_hot_cache_grows_with_the_crawl_up_to_its_share)
{
    const uint64_t memory = 8 * MIB, share = 5 * MIB;
    struct scratch at = scratch_make();
    struct seen_store *s = make(&at, memory);
    uint64_t least = UINT64_MAX, most = 0;

    for (uint64_t n = 0; n < 150000; n++) {
        uint64_t hot = seen_hot_memory(s->seen);

        admit(s, n);
        if (n % 1000 == 999)
            SAME(seen_store_commit(s), STATUS_OK);
        if (n == 20000)
            ck_assert_uint_eq(hot, MIB);
        if (n >= 40000 && n < 80000) {
            least = hot * 10 / n < least ? hot * 10 / n : least;
            most = hot * 10 / n > most ? hot * 10 / n : most;
        }
        ck_assert_uint_le(hot + seen_store_filter_memory(s),
                          share + share / 16);
    }
    ck_assert_uint_ge(least, 320 * 2 / 3 - 20);
    ck_assert_uint_le(most, 320 + 20);
    ck_assert_uint_gt(seen_hot_memory(s->seen), share * 2 / 3);
    seen_store_close(s);
    scratch_remove(&at);
}

/* What hosts hold beyond their part is taken from the hot cache, but for a
 * half of what it has, and comes back with their end. */
TEST(the_hot_cache_yields_to_hosts)
{
    const uint64_t memory = 64 * MIB;
    struct scratch at = scratch_make();
    struct seen_store *s = make(&at, memory);
    const uint64_t part = seen_store_shares(&s->o).queues;
    uint64_t full;

    for (uint64_t n = 0; n < 900000; n++) {
        admit(s, n);
        if (n % 10000 == 9999)
            SAME(seen_store_commit(s), STATUS_OK);
    }
    full = seen_hot_memory(s->seen);
    ck_assert_uint_gt(full, 20 * MIB);
    seen_store_note_queues(s, part);
    SAME(seen_hot_memory(s->seen), full);
    seen_store_note_queues(s, part + 16 * MIB);
    ck_assert_uint_le(seen_hot_memory(s->seen) + seen_store_filter_memory(s),
                      24 * MIB);
    ck_assert_uint_ge(seen_hot_memory(s->seen), 18 * MIB);
    seen_store_note_queues(s, part + 1024 * MIB);
    ck_assert_uint_le(seen_hot_memory(s->seen), 20 * MIB);
    ck_assert_uint_ge(seen_hot_memory(s->seen), 15 * MIB);
    seen_store_note_queues(s, 0);
    ck_assert_uint_ge(seen_hot_memory(s->seen), full * 2 / 3);
    seen_store_close(s);
    scratch_remove(&at);
}

/* ---- directories ---- */

static void path_in(const struct scratch *at, const char *name, char path[128])
{
    snprintf(path, 128, "%s/%s", at->dir, name);
}

static enum status opened(const struct scratch *at)
{
    const struct seen_store_options o = {.use_filter = true,
                                         .fpr = 0.01,
                                         .memory = 16 * MIB};
    struct seen_store *s = NULL;
    enum status st = seen_store_open(&s, at->dir, &o);

    ck_assert((s != NULL) == (st == STATUS_OK));
    seen_store_close(s);
    return st;
}

static void make_some(const struct scratch *at)
{
    const struct seen_store_checkpoint c = {"stopped", true, true};
    struct seen_store *s = make(at, 16 * MIB);

    for (uint64_t n = 0; n < 100; n++)
        admit(s, n);
    ck_ok(seen_store_prepare(s, &c));
    ck_ok(seen_store_commit(s));
    ck_ok(seen_store_save(s, &c, WALL));
    seen_store_close(s);
}

TEST(a_directory_that_lost_a_file_is_damaged_and_an_empty_one_is_not)
{
    static const char *const lost[] = {"manifest", "frontier.db"};
    char path[128];

    for (int i = 0; i < 2; i++) {
        struct scratch at = scratch_make();

        ck_assert_int_eq(opened(&at), STATUS_NOT_FOUND);
        make_some(&at);
        ck_ok(opened(&at));
        path_in(&at, lost[i], path);
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_int_eq(opened(&at), STATUS_DAMAGED);
        scratch_remove(&at);
    }
}

TEST(a_manifest_that_cannot_be_read_is_damage)
{
    struct scratch at = scratch_make();
    char path[128];
    FILE *f;

    make_some(&at);
    path_in(&at, "manifest", path);
    f = fopen(path, "we");
    fputs("something else\n", f);
    fclose(f);
    ck_assert_int_eq(opened(&at), STATUS_DAMAGED);
    scratch_remove(&at);
}

/* The store may be ahead of its manifest; behind it, it has lost something. */
TEST(a_store_behind_its_manifest_is_damaged)
{
    static const struct {
        const char *sql;
        enum status st;
    } all[] = {
        {"SELECT 1", STATUS_OK},
        {"UPDATE meta SET value = 'another' WHERE name = 'store_id'",
         STATUS_DAMAGED},
        {"DELETE FROM meta WHERE name = 'digest_seed'", STATUS_DAMAGED},
        {"DELETE FROM url WHERE id = 100", STATUS_DAMAGED},
        {"INSERT INTO fetch(seq, url, final, status, tries, at) VALUES(1, 1, 1,"
         " 1, 1, 5)",
         STATUS_OK},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct scratch at = scratch_make();
        enum status st;

        make_some(&at);
        scratch_sql(at.db, all[i].sql);
        st = opened(&at);
        ck_assert_msg(st == all[i].st, "%s: %d", all[i].sql, st);
        scratch_remove(&at);
    }
}

TEST(a_manifest_of_more_than_there_is_says_that_some_is_lost)
{
    static const struct {
        int urls, fetches;
        enum status st;
    } all[] = {{0, 0, STATUS_OK},
               {-1, 0, STATUS_OK},
               {1, 0, STATUS_DAMAGED},
               {0, 1, STATUS_DAMAGED}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct scratch at = scratch_make();
        struct manifest m;
        char path[128];

        make_some(&at);
        path_in(&at, "manifest", path);
        ck_ok(manifest_load(path, &m));
        m.urls += (uint64_t)all[i].urls;
        m.fetches += (uint64_t)all[i].fetches;
        ck_ok(manifest_save(path, &m));
        ck_assert_int_eq(opened(&at), all[i].st);
        scratch_remove(&at);
    }
}
