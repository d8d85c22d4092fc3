/* SPDX-License-Identifier: MIT */
/* test_reader.c - a crawl's directory as a reader finds it. */
#include "frontier/reader.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/file.h"
#include "frontier/stats.h"
#include "tests/unit/frontier/frontier_rig.h"
#include "tests/unit/storage/step_fault.h"

static const struct outcome outcomes[] = {
    {OUTCOME_FETCHED, REASON_NONE, 200},
    {OUTCOME_FETCHED, REASON_TRUNCATED_LENGTH, 200},
    {OUTCOME_FAILED, REASON_HTTP, 404},
    {OUTCOME_FAILED, REASON_HTTP, 404},
    {OUTCOME_FAILED, REASON_HTTP, 503},
    {OUTCOME_FAILED, REASON_TIMEOUT, 0},
    {OUTCOME_FAILED, REASON_TIMEOUT, 0},
    {OUTCOME_FAILED, REASON_TIMEOUT, 0},
    {OUTCOME_DENIED, REASON_ROBOTS, 0},
    {OUTCOME_SKIPPED, REASON_MIME, 200},
};
#define OUTCOMES (sizeof outcomes / sizeof *outcomes)

/* A seed of each outcome, a link, drops, and two that stay queued. */
static void make(struct rig *r)
{
    const struct url_drop drop = {.reason = REASON_SCOPE,
                                  .host = bytes_of_str("x.test"),
                                  .url = bytes_of_str("http://x.test/")};
    char url[32];

    rig_init(r);
    r->o.record_links = true;
    rig_create(r);
    for (unsigned i = 0; i < OUTCOMES; i++) {
        snprintf(url, sizeof url, "http://a.test/%u", i);
        rig_seed(r, url);
    }
    for (unsigned i = 0; i < OUTCOMES; i++) {
        struct url_item link = rig_item(r, "http://b.test/link");
        struct url_done d = {
            .id = rig_lease(r),
            .outcome = outcomes[i],
            .row = {.at_ms = RIG_WALL, .wire_bytes = 10},
            .outlinks = &link,
            .outlink_count = i == 0,
            .drops = &drop,
            .drop_count = i == 1,
            .repeats = i == 2 ? 3 : 0,
            .host = {.ended = r->now, .retry_after_ms = -1},
        };

        ck_ok(frontier_ack(r->e, &d, 1, r->now, RIG_WALL));
    }
    rig_seed(r, "https://[2001:db8::1]:8080/x");
    rig_stop(r);
}

TEST(a_directory_without_a_crawl_is_told_from_one_that_lost_its_store)
{
    struct scratch empty = scratch_make();
    struct reader reader;
    struct rig r;

    scratch_quiet();
    ck_assert_int_eq(reader_open(&reader, empty.dir), STATUS_NOT_FOUND);
    ck_assert(!reader_is_unbegun(empty.dir));
    make(&r);
    ck_assert(!reader_is_unbegun(r.at.dir));
    unlink(r.at.db);
    ck_assert_int_eq(reader_open(&reader, r.at.dir), STATUS_DAMAGED);
    ck_assert(!reader_is_unbegun(r.at.dir));
    scratch_remove(&empty);
    rig_fini(&r);
}

/* The child takes the lock, and waits. */
static pid_t hold(const char *path)
{
    struct file_lock *lock = NULL;
    int pipes[2];
    pid_t child;
    char c;

    ck_assert_int_eq(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        if (file_lock_take(&lock, path, "crawl", NULL) == STATUS_OK)
            (void)!write(pipes[1], "x", 1);
        pause();
        _exit(0);
    }
    ck_assert_int_eq(read(pipes[0], &c, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
    return child;
}

/* With nobody at it, or with a manifest, it is damaged. */
TEST(a_store_that_is_only_being_made_is_busy)
{
    char manifest[128], kept[128], lock[128];
    struct reader reader;
    struct rig r;
    pid_t child;

    scratch_quiet();
    make(&r);
    snprintf(manifest, sizeof manifest, "%s/manifest", r.at.dir);
    snprintf(kept, sizeof kept, "%s/kept", r.at.dir);
    snprintf(lock, sizeof lock, "%s/lock", r.at.dir);
    scratch_sql(r.at.db, "DELETE FROM meta WHERE name = 'digest_seed'");
    child = hold(lock);
    ck_assert_int_eq(reader_open(&reader, r.at.dir), STATUS_DAMAGED);
    ck_assert_int_eq(rename(manifest, kept), 0);
    ck_assert_int_eq(reader_open(&reader, r.at.dir), STATUS_BUSY);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ck_assert_int_eq(reader_open(&reader, r.at.dir), STATUS_DAMAGED);
    rig_fini(&r);
}

/* A start that was cut short, before the mark that says that all seeds are
 * stored; with pages or a manifest of some, the mark was lost later. */
TEST(a_crawl_that_never_began_is_known_by_its_missing_mark)
{
    char manifest[128], fresh[128];
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    ck_assert(reader_is_unbegun(r.at.dir));
    rig_seed(&r, "http://a.test/");
    rig_commit(&r);
    ck_assert(reader_is_unbegun(r.at.dir));
    ck_ok(frontier_set_meta(r.e, "seeds_complete", bytes_of_str("1")));
    rig_commit(&r);
    ck_assert(!reader_is_unbegun(r.at.dir));
    rig_fini(&r);

    rig_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    (void)rig_page(&r, NULL, 0);
    rig_commit(&r);
    ck_assert(!reader_is_unbegun(r.at.dir));
    rig_fini(&r);

    rig_init(&r);
    rig_create(&r);
    snprintf(manifest, sizeof manifest, "%s/manifest", r.at.dir);
    snprintf(fresh, sizeof fresh, "%s/fresh.db", r.at.dir);
    scratch_copy_file(r.at.db, fresh);
    rig_seed(&r, "http://a.test/");
    rig_stop(&r); /* its manifest has a URL */
    scratch_copy_file(fresh, r.at.db);
    ck_assert(!reader_is_unbegun(r.at.dir));
    scratch_sql(r.at.db, "SELECT 1");
    unlink(manifest);
    rig_fini(&r);
}

TEST(the_stats_of_a_store_are_those_of_its_frontier)
{
    struct frontier_counts live, stored;
    struct frontier_stats f;
    struct reader reader;
    struct rig r;

    make(&r);
    rig_reopen(&r);
    live = rig_stats(&r);
    ck_ok(reader_open(&reader, r.at.dir));
    frontier_counts_of_store(reader.store, &stored);
    live.leased = live.queues_active = 0;
    live.commits = 0;
    ck_assert_int_eq(memcmp(&live, &stored, sizeof live), 0);
    ck_assert_uint_eq(stored.urls, OUTCOMES + 2);
    ck_assert_uint_eq(stored.links, 5);
    ck_assert_uint_eq(stored.duplicates, 3);
    ck_assert_uint_eq(stored.bytes, 10 * OUTCOMES);

    frontier_stats_of_store(reader.store, &f);
    ck_assert_uint_eq(f.done[OUTCOME_FETCHED][REASON_NONE], 1);
    ck_assert_uint_eq(f.done[OUTCOME_FETCHED][REASON_TRUNCATED_LENGTH], 1);
    ck_assert_uint_eq(f.done[OUTCOME_FAILED][REASON_NONE], 0);
    ck_assert_uint_eq(f.done[OUTCOME_FAILED][REASON_HTTP], 3);
    ck_assert_uint_eq(f.done[OUTCOME_FAILED][REASON_TIMEOUT], 3);
    ck_assert_uint_eq(f.done_http[OUTCOME_FAILED][4], 2);
    ck_assert_uint_eq(f.done_http[OUTCOME_FAILED][5], 1);
    ck_assert_uint_eq(f.done[OUTCOME_SKIPPED][REASON_MIME], 1);
    ck_assert_uint_eq(f.dropped[REASON_SCOPE], 1);
    ck_assert_uint_eq(f.dropped[REASON_DEPTH], 0);
    ck_assert_uint_eq(f.failure_count, 3);
    ck_assert_str_eq(f.failures[0].why, "timeout");
    ck_assert_uint_eq(f.failures[0].count, 3);
    ck_assert_str_eq(f.failures[1].why, "http_404");
    ck_assert_uint_eq(f.failures[1].count, 2);
    ck_assert_str_eq(f.failures[2].why, "http_503");
    reader_close(&reader);
    rig_fini(&r);
}

/* ---- each statement fails in turn ---- */

static struct reader faulty;
static struct audit audited;

static void read_it(void *rig)
{
    const struct audit_options o = {.what_if = NULL};
    const struct rig *r = rig;
    struct url u;
    enum status st;
    uint64_t id = 0;

    TELLS(reader_open(&faulty, r->at.dir));
    url_init(&u);
    ck_assert_int_eq(url_canonical(&u, bytes_of_str("http://a.test/5"), NULL,
                                   NULL),
                     URL_OK);
    st = reader_find(&faulty, &u, &id);
    url_fini(&u);
    TELLS(st);
    ck_assert_uint_eq(id, 6);
    st = audit_crawl(&audited, &faulty, &o);
    if (st != STATUS_OK)
        audited = (struct audit){.what_if = NULL};
    TELLS(st);
}

TEST(a_statement_that_fails_is_told)
{
    unsigned descriptors;
    uint64_t n = 0;
    bool failed = true;
    struct rig r;

    scratch_quiet();
    make(&r);
    descriptors = scratch_descriptors();
    while (failed) {
        failed = step_fault_at(++n, read_it, &r);
        if (faulty.db != NULL)
            reader_close(&faulty);
        ck_assert_uint_eq(scratch_descriptors(), descriptors);
    }
    ck_assert_uint_gt(n, 30);
    ck_assert_uint_eq(audited.fetched, 2);
    ck_assert_uint_eq(audited.missing, 0);
    audit_fini(&audited);
    rig_fini(&r);
}
