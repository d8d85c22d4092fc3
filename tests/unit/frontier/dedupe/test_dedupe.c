/* SPDX-License-Identifier: MIT */
/*
 * test_dedupe.c - dedupe with and without a kept set, against a bitmap: number
 * k of a universe is new if its bit is not set.
 */
#include <sys/wait.h>

#include "base/mem.h"
#include "frontier/dedupe/dedupe.h"
#include "tests/unit/storage/step_fault.h"
#include "tests/unit/unit.h"

#define UNIVERSE 900000
#define BATCH    4000

static struct scratch dir;
static struct dedupe_refusal why;

static void setup(void)
{
    dir = scratch_make();
}

static void teardown(void)
{
    scratch_remove(&dir);
}

static struct dedupe *open_as(const char *path, enum dedupe_identity identity,
                              uint64_t memory)
{
    struct dedupe_options o = {path, identity, memory};
    struct dedupe *d = NULL;

    ck_ok(dedupe_open(&d, &o, &why));
    return d;
}

static struct dedupe *open_small(const char *path)
{
    return open_as(path, DEDUPE_OCTETS, DEDUPE_MEMORY_LEAST);
}

static void close_clean(struct dedupe *d)
{
    ck_ok(dedupe_close(d, true, NULL));
}

static enum status refused(const char *path, enum dedupe_identity identity)
{
    struct dedupe_options o = {path, identity, DEDUPE_MEMORY_LEAST};
    struct dedupe *d = NULL;
    enum status st = dedupe_open(&d, &o, &why);

    ck_assert_ptr_null(d);
    return st;
}

/* ---- batches of numbers, and the model's answers ---- */

struct model {
    unsigned char seen[UNIVERSE];
    uint64_t state, count;
};

static struct model *model_new(uint64_t seed)
{
    struct model *m = xcalloc(1, sizeof *m);

    m->state = seed;
    return m;
}

/* Prefers small numbers, so that repeats of all ages occur. */
static uint64_t draw(struct model *m)
{
    uint64_t most = scratch_below(&m->state, 2) == 0 ? UNIVERSE : 1000;

    return scratch_below(&m->state, most);
}

/* Runs one batch and compares every answer with the model. */
static void take(struct dedupe *d, struct model *m)
{
    struct digest digests[BATCH];
    uint64_t numbers[BATCH];
    bool fresh[BATCH];

    for (size_t i = 0; i < BATCH; i++) {
        numbers[i] = draw(m);
        digests[i] = scratch_digest(numbers[i]);
    }
    ck_ok(dedupe_take(d, digests, BATCH, fresh));
    for (size_t i = 0; i < BATCH; i++) {
        SAME(fresh[i], !m->seen[numbers[i]]);
        m->count += fresh[i];
        m->seen[numbers[i]] = 1;
    }
}

static void take_some(struct dedupe *d, struct model *m, int batches)
{
    for (int i = 0; i < batches; i++) {
        take(d, m);
        ck_ok(dedupe_settle(d, i % 8 == 7));
    }
}

/* Asks for the numbers from `first` on in one batch; returns how many were
 * new. */
static size_t ask(struct dedupe *d, uint64_t first, size_t n)
{
    struct digest digests[BATCH];
    bool fresh[BATCH];
    size_t sum = 0;

    ck_assert(n > 0 && n <= BATCH);
    for (size_t i = 0; i < n; i++)
        digests[i] = scratch_digest(first + i);
    ck_ok(dedupe_take(d, digests, n, fresh));
    for (size_t i = 0; i < n; i++)
        sum += fresh[i];
    return sum;
}

/* Does `run` in a child process, which then ends as kill -9 would end it. */
static void run_and_die(void (*run)(struct dedupe *d))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        run(open_small(dir.dir));
        kill(getpid(), SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void settle(struct dedupe *d, bool commit)
{
    ck_ok(dedupe_settle(d, commit));
}

static const char *in_dir(const char *name)
{
    static char path[160];

    snprintf(path, sizeof path, "%s/%s", dir.dir, name);
    return path;
}

/* ---- exact ---- */

FIXTURE(setup, teardown);

/* Promise (Seen check and store): dedupe prints each new line once, in order,
 * as awk and a bitmap would, within --memory. See also `tests/cli/dedupe.sh`,
 * `line_input`. */
TEST(answers_as_a_bitmap_does_in_memory_and_past_it)
{
    struct dedupe *d = open_small(NULL);
    struct model *m = model_new(1);
    struct dedupe_stats s;

    take_some(d, m, 20);
    ck_assert(!dedupe_stats(d).on_disk);
    take_some(d, m, 380);
    s = dedupe_stats(d);
    ck_assert(s.on_disk);
    ck_assert_uint_eq(s.count, m->count);
    ck_assert_uint_gt(s.filter_bits, 0); /* all parts were in use */
    ck_assert_uint_gt(s.disk, 20 * s.count);
    ck_ok(dedupe_verify(d));
    close_clean(d);
    free(m);
}

TEST(the_first_of_a_batch_is_new_and_its_repeats_are_not)
{
    struct dedupe *d = open_small(NULL);
    struct digest one = {7, 7}, two = {7, 8};
    struct digest batch[] = {one, two, one, one, two};
    bool fresh[5];

    ck_ok(dedupe_take(d, batch, 5, fresh));
    ck_assert(fresh[0] && fresh[1] && !fresh[2] && !fresh[3] && !fresh[4]);
    ck_ok(dedupe_take(d, batch, 0, fresh));
    settle(d, true);
    close_clean(d);
}

TEST(spellings_of_a_url_are_one_and_octets_are_not)
{
    const char *a = "http://Example.com/%7ex", *b = "http://example.com:80/~x";
    struct dedupe *urls = open_as(NULL, DEDUPE_CANONICAL, DEDUPE_MEMORY_LEAST);
    struct dedupe *octets = open_small(NULL);
    struct digest x, y;
    struct url u;

    url_init(&u);
    ck_assert_int_eq(dedupe_digest(urls, bytes_of_str(a), &u, &x), URL_OK);
    ck_assert(bytes_is(url_text(&u), "http://example.com/~x"));
    ck_assert_int_eq(dedupe_digest(urls, bytes_of_str(b), &u, &y), URL_OK);
    ck_assert(digest_equal(x, y));
    ck_assert_int_eq(dedupe_digest(urls, bytes_of_str("no url"), &u, &y),
                     URL_RELATIVE);
    ck_assert_int_eq(dedupe_digest(octets, bytes_of_str(a), &u, &x), URL_OK);
    ck_assert_int_eq(dedupe_digest(octets, bytes_of_str(b), &u, &y), URL_OK);
    ck_assert(!digest_equal(x, y));
    ck_assert_int_eq(dedupe_digest(octets, bytes_of("a\0b", 3), &u, &x),
                     URL_OK);
    ck_assert_int_eq(dedupe_digest(octets, bytes_of("a\0c", 3), &u, &y),
                     URL_OK);
    ck_assert(!digest_equal(x, y));
    url_fini(&u);
    close_clean(urls);
    close_clean(octets);
}

/* ---- after a crash ---- */

static void commit_a_then_take_b(struct dedupe *d)
{
    ask(d, 0, 1000);
    settle(d, true);
    ask(d, 1000, 1000);
    settle(d, false);
}

TIMEOUT(600);

/* Promise (Seen check and store): after any crash the kept set of dedupe is
 * that of some commit, and no line is lost; a damaged set is refused. See also
 * `tests/cli/dedupe.sh`, `dedupe/a_full_disk_is_said_and_nothing_is_lost`,
 * `dedupe/a_log_that_is_gone_after_a_crash_is_damage`,
 * `dedupe/verify_finds_one_changed_digest`. */
/* The runs die with their parts merged to different ages, so a replay meets
 * parts that are ahead of it. */
TEST(any_number_of_crashes_lose_nothing_committed)
{
    struct model *m = model_new(5);
    int runs = (int)scratch_size(10, 60);

    for (int run = 0; run < runs; run++) {
        int batches = 8 * (1 + (int)scratch_below(&m->state, 12));
        pid_t child = fork();
        struct dedupe *d;
        int status;

        if (child == 0) {
            d = open_small(dir.dir);
            take_some(d, m, batches); /* ends with a commit */
            take(d, m);               /* this one is lost */
            (void)!dedupe_settle(d, false);
            kill(getpid(), SIGKILL);
        }
        waitpid(child, &status, 0);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        d = open_small(NULL); /* the same draws for our copy of the model */
        for (int i = 0; i < batches; i++)
            for (int k = 0; k < BATCH; k++) {
                uint64_t number = draw(m);

                m->count += !m->seen[number];
                m->seen[number] = 1;
            }
        close_clean(d);
        d = open_small(dir.dir);
        ck_assert_uint_eq(dedupe_stats(d).count, m->count);
        ck_ok(dedupe_verify(d));
        if (run % 3 == 2)
            take_some(d, m, 8);
        close_clean(d);
    }
    free(m);
}

/* ---- refusals ---- */

/* Holds the set and says so through `to`. */
static void hold(int to)
{
    (void)open_small(dir.dir);
    (void)!write(to, "", 1);
    for (;;)
        pause();
}

TIMEOUT(0);

TEST(two_processes_do_not_share_a_directory)
{
    int held[2];
    char octet;
    pid_t child;

    ck_assert_int_eq(pipe(held), 0);
    child = fork();
    if (child == 0)
        hold(held[1]);
    close(held[1]);
    ck_assert_int_eq(read(held[0], &octet, 1), 1);
    close(held[0]);
    ck_assert_int_eq(refused(dir.dir, DEDUPE_OCTETS), STATUS_BUSY);
    ck_assert_int_eq(why.holder, child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close_clean(open_small(dir.dir));
}

TEST(a_set_of_the_other_identity_is_refused_and_left_alone)
{
    struct dedupe *d = open_small(dir.dir);

    ask(d, 0, 100);
    close_clean(d);
    ck_assert_int_eq(refused(dir.dir, DEDUPE_CANONICAL), STATUS_ARG);
    ck_assert_str_eq(why.kept, "octets");
    ck_assert_str_eq(why.asked, "canonical/2");
    d = open_small(dir.dir);
    ck_assert_uint_eq(ask(d, 0, 100), 0);
    close_clean(d);
}

static void make_set(uint64_t n)
{
    struct dedupe *d = open_small(dir.dir);

    for (uint64_t i = 0; i < n; i += 1000) {
        ask(d, i, 1000);
        settle(d, false);
    }
    close_clean(d);
}

TEST(a_missing_database_is_damage)
{
    make_set(1000);
    unlink(in_dir("dedupe.db"));
    ck_assert_int_eq(refused(dir.dir, DEDUPE_OCTETS), STATUS_DAMAGED);
}

TEST(a_missing_manifest_is_damage)
{
    make_set(1000);
    unlink(in_dir("dedupe.manifest"));
    ck_assert_int_eq(refused(dir.dir, DEDUPE_OCTETS), STATUS_DAMAGED);
}

TEST(a_manifest_that_cannot_be_read_is_an_error_and_no_new_set)
{
    const struct dedupe_options o = {dir.dir, DEDUPE_OCTETS,
                                     DEDUPE_MEMORY_LEAST};
    struct dedupe *d = open_small(dir.dir);

    ask(d, 0, 1000);
    close_clean(d);
    ck_assert_int_eq(unlink(in_dir("dedupe.manifest")), 0);
    ck_assert_int_eq(mkdir(in_dir("dedupe.manifest"), 0700), 0);
    d = NULL;
    ck_assert_int_eq(dedupe_open(&d, &o, &why), STATUS_IO);
    ck_assert_ptr_null(d);
    ck_assert_int_eq(rmdir(in_dir("dedupe.manifest")), 0);
}

TEST(a_log_that_is_gone_after_a_crash_is_damage)
{
    run_and_die(commit_a_then_take_b);
    unlink(in_dir("dedupe.db-wal"));
    ck_assert_int_eq(refused(dir.dir, DEDUPE_OCTETS), STATUS_DAMAGED);
}

TEST(an_older_copy_of_the_database_is_damage)
{
    make_set(1000);
    scratch_copy_file(in_dir("dedupe.db"), dir.other);
    make_set(2000);
    rename(dir.other, in_dir("dedupe.db"));
    ck_assert_int_eq(refused(dir.dir, DEDUPE_OCTETS), STATUS_DAMAGED);
}

TEST(the_database_of_another_set_is_damage)
{
    make_set(1000);
    unlink(in_dir("dedupe.manifest"));
    rename(in_dir("dedupe.db"), dir.other);
    make_set(1000);
    rename(dir.other, in_dir("dedupe.db"));
    ck_assert_int_eq(refused(dir.dir, DEDUPE_OCTETS), STATUS_DAMAGED);
}

TEST(a_missing_row_of_digests_is_damage)
{
    make_set(3000);
    scratch_sql(in_dir("dedupe.db"), "DELETE FROM batch WHERE first = 1001");
    ck_assert_int_eq(refused(dir.dir, DEDUPE_OCTETS), STATUS_DAMAGED);
}

TEST(rows_of_wrong_length_are_damage)
{
    make_set(3000);
    scratch_sql(in_dir("dedupe.db"),
                "UPDATE batch SET digests = x'00' WHERE first = 1001");
    ck_assert_int_eq(refused(dir.dir, DEDUPE_OCTETS), STATUS_DAMAGED);
}

TEST(facts_that_are_missing_are_damage)
{
    static const char *const names[] = {"identity", "digest_seed", "standing",
                                        "store_id", "format"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char sql[96];

        make_set(1000);
        snprintf(sql, sizeof sql, "DELETE FROM meta WHERE name = '%s'",
                 names[i]);
        scratch_sql(in_dir("dedupe.db"), sql);
        ck_assert_int_eq(refused(dir.dir, DEDUPE_OCTETS), STATUS_DAMAGED);
        unlink(in_dir("dedupe.db"));
        unlink(in_dir("dedupe.manifest"));
    }
}

TEST(verify_finds_one_changed_digest)
{
    struct dedupe *d;

    make_set(3000);
    scratch_sql(in_dir("dedupe.db"),
                "UPDATE batch SET digests = substr(digests, 1, 4000) || x'00'"
                " || substr(digests, 4002) WHERE first = 1001");
    d = open_small(dir.dir);
    ck_assert_int_eq(dedupe_verify(d), STATUS_DAMAGED);
    (void)!dedupe_close(d, false, NULL);
}

TEST(a_newer_format_is_refused_as_such)
{
    make_set(1000);
    scratch_sql(in_dir("dedupe.db"),
                "UPDATE meta SET value = 99 WHERE name = 'format'");
    ck_assert_int_eq(refused(dir.dir, DEDUPE_OCTETS), STATUS_VERSION);
}

TEST(a_crawl_is_not_taken_for_a_set)
{
    struct db *d;

    close_clean(open_small(dir.dir));
    unlink(in_dir("dedupe.db"));
    d = scratch_open(in_dir("dedupe.db"), DB_CREATE);
    db_close(d);
    ck_assert_int_eq(refused(dir.dir, DEDUPE_OCTETS), STATUS_DAMAGED);
}

TEST(too_little_memory_is_refused)
{
    struct dedupe_options o = {NULL, DEDUPE_OCTETS, DEDUPE_MEMORY_LEAST - 1};
    struct dedupe *d = NULL;

    ck_assert_int_eq(dedupe_open(&d, &o, &why), STATUS_LIMIT);
}

TIMEOUT(600);

TEST(a_full_disk_is_said_and_nothing_is_lost)
{
    pid_t child = fork();
    struct dedupe *d;
    int status;

    if (child == 0) {
        enum status st = STATUS_OK;
        uint64_t at = 0;

        d = open_small(dir.dir);
        ask(d, at, 1000);
        settle(d, true);
        scratch_limit_files(400000);
        for (at = 1000; at < 200000 && st == STATUS_OK; at += 1000) {
            struct digest digests[1000];
            bool fresh[1000];

            for (size_t i = 0; i < 1000; i++)
                digests[i] = scratch_digest(at + i);
            st = dedupe_take(d, digests, 1000, fresh);
            if (st == STATUS_OK)
                st = dedupe_settle(d, true);
        }
        (void)!dedupe_close(d, false, NULL);
        _exit(st == STATUS_FULL || st == STATUS_IO ? 0 : 1);
    }
    waitpid(child, &status, 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    d = open_small(dir.dir);
    ck_assert_uint_ge(dedupe_stats(d).before, 1000);
    ck_assert_uint_eq(ask(d, 0, 1000), 0);
    ck_ok(dedupe_verify(d));
    close_clean(d);
}

/* ---- what it says of itself ---- */

TIMEOUT(0);

TEST(its_stats_say_what_it_holds_and_where)
{
    struct dedupe_stats s, last;
    struct dedupe *d = open_small(dir.dir);

    ask(d, 0, 1000);
    ck_assert(dedupe_unsettled(d));
    ck_ok(dedupe_settle(d, false));
    ck_assert(dedupe_unsettled(d));
    ck_ok(dedupe_settle(d, true));
    ck_assert(!dedupe_unsettled(d));
    s = dedupe_stats(d);
    ck_assert_uint_eq(s.count, 1000);
    ck_assert_uint_eq(s.before, 0);
    ck_assert_uint_gt(s.disk, 0);
    ck_assert(!s.on_disk);
    close_clean(d);

    d = open_small(dir.dir);
    s = dedupe_stats(d);
    ck_assert_uint_eq(s.count, 1000);
    ck_assert_uint_eq(s.before, 1000);
    ck_assert(!dedupe_unsettled(d));
    ask(d, 500, 1000);
    ck_ok(dedupe_close(d, true, &last));
    ck_assert_uint_eq(last.count, 1500);
    ck_assert_uint_eq(last.before, 1000);
    ck_assert_uint_gt(last.disk, 0);

    d = open_small(NULL);
    ask(d, 0, 1000);
    ck_ok(dedupe_settle(d, true));
    ck_assert(!dedupe_unsettled(d)); /* nothing is kept */
    s = dedupe_stats(d);
    ck_assert_uint_eq(s.disk, 0);
    ck_assert_uint_eq(s.page_reads, 0);
    ck_ok(dedupe_close(d, false, NULL));
    ck_ok(dedupe_close(NULL, true, NULL));
}

/* What the filter calls new is not looked for in the pages. */
TEST(once_enough_pages_were_read_a_filter_spares_them)
{
    struct model *m = model_new(3);
    struct dedupe *d = open_small(NULL);
    uint64_t before;

    for (int i = 0; i < 500 && dedupe_stats(d).filter_bits == 0; i++)
        take_some(d, m, 1);
    ck_assert_uint_gt(dedupe_stats(d).filter_bits, m->count * 8);
    ck_assert_uint_gt(dedupe_stats(d).page_reads, 512);
    before = dedupe_stats(d).page_reads;
    for (int i = 0; i < 20; i++) {
        ck_assert_uint_eq(ask(d, UNIVERSE + (uint64_t)i * BATCH, BATCH), BATCH);
        settle(d, false);
    }
    ck_assert_uint_lt(dedupe_stats(d).page_reads - before, 100);
    ck_ok(dedupe_close(d, false, NULL));
    free(m);
}

/* ---- each statement fails in turn ---- */

static struct dedupe *faulty;

static void use_it(void *none)
{
    const struct dedupe_options o = {dir.dir, DEDUPE_OCTETS,
                                     DEDUPE_MEMORY_LEAST};
    struct digest digests[100];
    struct dedupe *d;
    bool fresh[100];

    (void)none;
    TELLS(dedupe_open(&faulty, &o, &why));
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 100; i++)
            digests[i] = scratch_digest(2000 + 50 * (unsigned)round + i);
        TELLS(dedupe_take(faulty, digests, 100, fresh));
        TELLS(dedupe_settle(faulty, true));
    }
    TELLS(dedupe_verify(faulty));
    d = faulty;
    faulty = NULL;
    TELLS(dedupe_close(d, true, NULL));
}

TEST(a_statement_that_fails_is_told_and_nothing_is_lost)
{
    unsigned descriptors = scratch_descriptors();
    bool failed = true;

    scratch_quiet();
    for (uint64_t n = 1; failed; n++) {
        struct dedupe *d;

        teardown();
        setup();
        d = open_small(dir.dir);
        ask(d, 0, 300);
        close_clean(d);
        failed = step_fault_at(n, use_it, NULL);
        (void)!dedupe_close(faulty, false, NULL);
        faulty = NULL;
        d = open_small(dir.dir);
        ck_ok(dedupe_verify(d));
        ck_assert_uint_eq(ask(d, 0, 300), 0);
        close_clean(d);
        ck_assert_uint_eq(scratch_descriptors(), descriptors);
        ck_assert(failed || n > 30);
    }
}
