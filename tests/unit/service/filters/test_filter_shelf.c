/* SPDX-License-Identifier: MIT */
/* test_filter_shelf.c - filters by name: what was answered is so, over kills.
 */
#include "service/filters/filter_shelf.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "filter/checkpoint.h"
#include "tests/unit/filter/keys.h"
#include "tests/unit/unit.h"

#define MEMORY ((uint64_t)64 << 20)

static char dir[64];
static struct filter_shelf *shelf;

static void open_with(uint64_t memory)
{
    ck_ok(filter_shelf_open(&shelf, dir, memory));
}

static void set_up(void)
{
    snprintf(dir, sizeof dir, "/tmp/urlweir-shelf-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    open_with(MEMORY);
}

static void tear_down(void)
{
    ck_ok(filter_shelf_close(shelf));
    ck_ok(file_remove_tree(dir));
}

static void reopen(void)
{
    ck_ok(filter_shelf_close(shelf));
    open_with(MEMORY);
}

/* ---- calls ---- */

static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;

static void done(struct shelf_call *c)
{
    pthread_mutex_lock(&mtx);
    *(bool *)c->ctx = true;
    pthread_cond_broadcast(&told);
    pthread_mutex_unlock(&mtx);
}

static void submit(struct shelf_call *c, bool *is_done)
{
    *is_done = false;
    c->done = done;
    c->ctx = is_done;
    ck_ok(filter_shelf_submit(shelf, c));
}

static void await(const bool *is_done)
{
    pthread_mutex_lock(&mtx);
    while (!*is_done)
        pthread_cond_wait(&told, &mtx);
    pthread_mutex_unlock(&mtx);
}

static enum status call(struct shelf_call *c)
{
    bool is_done;

    submit(c, &is_done);
    await(&is_done);
    return c->status;
}

static enum status create(const char *name, const char *kind, uint64_t capacity,
                          bool from_source)
{
    struct shelf_call c = {.verb = SHELF_CREATE,
                           .name = bytes_of_str(name),
                           .kind = kind,
                           .capacity = capacity,
                           .fpr = 0.001,
                           .from_source = from_source};

    return call(&c);
}

/* Texts "K<i>" for i in [first, first + n). */
static struct bytes *texts(uint64_t first, size_t n)
{
    struct bytes *t = xcalloc(n + 1, sizeof *t);

    for (size_t i = 0; i < n; i++) {
        char *s = xcalloc(1, 24);

        snprintf(s, 24, "K%llu", (unsigned long long)(first + i));
        t[i] = bytes_of_str(s);
    }
    return t;
}

static void free_texts(struct bytes *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((char *)(uintptr_t)t[i].at);
    free(t);
}

/* Returns how many answers are true; `st` as the call's. */
static size_t with_keys(enum shelf_verb verb, const char *name, uint64_t first,
                        size_t n, uint64_t token, enum status *st)
{
    struct shelf_call c = {.verb = verb,
                           .name = bytes_of_str(name),
                           .n = n,
                           .token = token,
                           .answers = xcalloc(n + 1, sizeof(bool))};
    struct bytes *keys = texts(first, n);
    size_t yes = 0;

    c.keys = keys;
    *st = call(&c);
    for (size_t i = 0; i < n; i++)
        yes += c.answers[i];
    free(c.answers);
    free_texts(keys, n);
    return yes;
}

static size_t add(const char *name, uint64_t first, size_t n, uint64_t token)
{
    enum status st;
    size_t yes = with_keys(SHELF_ADD, name, first, n, token, &st);

    ck_ok(st);
    return yes;
}

static size_t maybe(const char *name, uint64_t first, size_t n)
{
    enum status st;
    size_t yes = with_keys(SHELF_CHECK, name, first, n, 0, &st);

    ck_ok(st);
    return yes;
}

static size_t take_out(const char *name, uint64_t first, size_t n)
{
    enum status st;
    size_t yes = with_keys(SHELF_REMOVE, name, first, n, 0, &st);

    ck_ok(st);
    return yes;
}

static struct shelf_call building(const char *name, uint32_t lease_s,
                                  uint32_t wait_s)
{
    return (struct shelf_call){.verb = SHELF_BUILD,
                               .name = bytes_of_str(name),
                               .lease_s = lease_s,
                               .wait_s = wait_s};
}

static uint64_t begin(const char *name)
{
    struct shelf_call c = building(name, 3600, 0);

    ck_ok(call(&c));
    return c.token;
}

static enum status finish_as(const char *name, uint64_t token,
                             bool allow_smaller, uint64_t *built)
{
    struct shelf_call c = {.verb = SHELF_FINISH,
                           .name = bytes_of_str(name),
                           .token = token,
                           .allow_smaller = allow_smaller};
    enum status st = call(&c);

    *built = c.build_count;
    return st;
}

static enum status finish(const char *name, uint64_t token)
{
    uint64_t built;

    return finish_as(name, token, false, &built);
}

static struct shelf_view show(const char *name)
{
    struct shelf_call c = {.verb = SHELF_SHOW, .name = bytes_of_str(name)};

    ck_ok(call(&c));
    return c.view;
}

/* ---- keys ---- */

FIXTURE(set_up, tear_down);

TEST(each_kind_keeps_its_keys_over_a_stop)
{
    const struct filter_traits *k;

    for (size_t i = 0; (k = filter_kind(i)) != NULL; i++) {
        ck_ok(create(k->name, k->name, 5000, false));
        ck_assert_uint_gt(add(k->name, 0, 5000, 0), 4950);
        ck_assert_uint_eq(maybe(k->name, 0, 5000), 5000);
        ck_assert_uint_lt(maybe(k->name, 5000, 5000), 50);
    }
    for (int again = 0; again < 2; again++) {
        reopen();
        for (size_t i = 0; (k = filter_kind(i)) != NULL; i++) {
            ck_assert_uint_eq(maybe(k->name, 0, 5000), 5000);
            ck_assert_uint_lt(maybe(k->name, 5000, 5000), 50);
        }
    }
}

/* ---- locks ---- */

static struct shelf_call locking(const struct bytes *keys, size_t n,
                                 bool *answers, uint64_t *locks, bool *locked,
                                 uint32_t lock_s)
{
    return (struct shelf_call){.verb = SHELF_CHECK,
                               .name = bytes_of_str("db"),
                               .keys = keys,
                               .n = n,
                               .answers = answers,
                               .locks = locks,
                               .locked = locked,
                               .lock_s = lock_s};
}

/* Promise (Seen check and store): a filter made by the shell works at once in a
 * service; one caller at a time fetches a key. See also
 * `tests/cli/serve-filters.sh`. */
TEST(a_key_that_may_exist_is_locked_for_the_first_who_asks)
{
    const struct bytes keys[] = {bytes_of_str("K1"), bytes_of_str("nobody"),
                                 bytes_of_str("K1")};
    bool answers[3], locked[3];
    uint64_t locks[3], first;
    struct shelf_call c;

    ck_ok(create("db", "cuckoo", 1000, false));
    add("db", 0, 10, 0);
    c = locking(keys, 3, answers, locks, locked, 3600);
    ck_ok(call(&c));
    ck_assert(answers[0] && !answers[1] && answers[2]);
    ck_assert(!locked[0] && !locked[1] && locked[2]);
    ck_assert(locks[0] != 0 && locks[1] == 0 && locks[2] == 0);
    first = locks[0];
    c = locking(keys, 1, answers, locks, locked, 3600);
    ck_ok(call(&c));
    ck_assert(locked[0] && locks[0] == 0);
    /* Only the token unlocks it. */
    c.verb = SHELF_UNLOCK;
    locks[0] = first + 1;
    ck_ok(call(&c));
    ck_assert(!answers[0]);
    locks[0] = first;
    ck_ok(call(&c));
    ck_assert(answers[0]);
    ck_ok(call(&c));
    ck_assert(!answers[0]);
    /* And a lock ends by itself. */
    c = locking(keys, 1, answers, locks, locked, 1);
    ck_ok(call(&c));
    ck_assert(locks[0] != 0);
    do {
        c = locking(keys, 1, answers, locks, locked, 3600);
        ck_ok(call(&c));
    } while (locked[0]);
    ck_assert(locks[0] != 0);
}

/* ---- builds ---- */

/* Promise (Seen check and store): a build or a file with no keys, or few, does
 * not replace a named filter. See also `tests/cli/serve-filters.sh`. */
/* What a source that failed leaves behind is not put in place: every key would
 * be new to it. */
TEST(a_build_without_keys_or_with_few_replaces_nothing)
{
    uint64_t token, built;

    ck_ok(create("db", "cuckoo", 1000, true));
    token = begin("db");
    ck_assert_int_eq(finish("db", token), STATUS_REFUSED);
    ck_assert(!show("db").ready);
    add("db", 0, 500, token);
    ck_ok(finish("db", token));
    token = begin("db");
    ck_assert_int_eq(finish_as("db", token, false, &built), STATUS_REFUSED);
    ck_assert_uint_eq(built, 0);
    add("db", 0, 249, token);
    ck_assert_int_eq(finish_as("db", token, false, &built), STATUS_REFUSED);
    ck_assert_uint_eq(built, 249);
    ck_assert_uint_eq(maybe("db", 0, 500), 500);
    ck_assert(show("db").building); /* the builder may go on */
    add("db", 249, 1, token);
    ck_ok(finish("db", token));
    token = begin("db");
    ck_ok(finish_as("db", token, true, &built));
    ck_assert_uint_eq(maybe("db", 0, 500), 0);
}

TEST(of_many_that_build_one_does_and_the_others_wait_for_it)
{
    enum { CALLERS = 50 };
    static struct shelf_call c[CALLERS];
    static bool is_done[CALLERS];
    uint64_t token;

    ck_ok(create("db", "cuckoo", 1000, true));
    token = begin("db");
    ck_assert_uint_ne(token, 0);
    ck_assert_uint_eq(begin("db"), 0); /* does not wait: it is being built */
    for (int i = 0; i < CALLERS; i++) {
        c[i] = building("db", 3600, 3600);
        submit(&c[i], &is_done[i]);
    }
    add("db", 0, 1000, token);
    for (int i = 0; i < CALLERS; i++)
        ck_assert(!is_done[i]);
    ck_ok(finish("db", token));
    for (int i = 0; i < CALLERS; i++) {
        await(&is_done[i]);
        ck_ok(c[i].status);
        ck_assert_uint_eq(c[i].token, 0);
        ck_assert(c[i].view.ready && !c[i].view.building);
    }
    ck_assert_int_eq(finish("db", token), STATUS_REFUSED);
}

TEST(while_it_is_built_anew_the_old_one_answers_and_others_add_to_both)
{
    uint64_t token;

    ck_ok(create("db", "cuckoo", 1000, false));
    add("db", 0, 100, 0);
    token = begin("db");
    add("db", 1000, 100, token);
    ck_assert_uint_eq(maybe("db", 0, 100), 100);
    ck_assert_uint_lt(maybe("db", 1000, 100), 5);
    add("db", 5000, 100, 0);
    ck_assert_uint_eq(maybe("db", 5000, 100), 100);
    ck_ok(finish("db", token));
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_lt(maybe("db", 0, 100), 5); /* not in the source now */
        ck_assert_uint_eq(maybe("db", 1000, 100), 100);
        ck_assert_uint_eq(maybe("db", 5000, 100), 100);
        reopen();
    }
}

/* No timing: the lease is over whenever the waiting call is answered. */
TEST(a_builder_that_is_not_heard_of_loses_the_build_to_one_that_waits)
{
    struct shelf_call first = building("db", 1, 0),
                      next = building("db", 9, 60);
    enum status st;

    ck_ok(create("db", "bloom", 1000, true));
    ck_ok(call(&first));
    ck_assert_uint_ne(first.token, 0);
    ck_ok(call(&next));
    ck_assert_uint_ne(next.token, 0);
    ck_assert_uint_ne(next.token, first.token);
    with_keys(SHELF_ADD, "db", 0, 1, first.token, &st);
    ck_assert_int_eq(st, STATUS_REFUSED);
    ck_assert_int_eq(finish("db", first.token), STATUS_REFUSED);
    add("db", 0, 1, next.token);
    ck_ok(finish("db", next.token));
}

TEST(a_stop_answers_what_waits)
{
    struct shelf_call c = building("db", 3600, 3600);
    bool is_done;

    ck_ok(create("db", "bloom", 1000, true));
    ck_assert_uint_ne(begin("db"), 0);
    submit(&c, &is_done);
    filter_shelf_stop(shelf);
    await(&is_done);
    ck_assert_uint_eq(c.token, 0);
    ck_assert(c.view.building);
}

/* ---- limits ---- */

/* One call with a capacity far too large must not shut out all the others. */
TEST(one_too_large_is_refused_and_the_others_go_on)
{
    struct shelf_call c = building("small", 60, 0);
    const struct filter_traits *k;

    ck_ok(create("small", "bloom", 1000, false));
    for (size_t i = 0; (k = filter_kind(i)) != NULL; i++)
        ck_assert_int_ne(create("large", k->name, UINT64_C(1) << 36, false),
                         STATUS_OK);
    c.capacity = UINT64_C(1) << 36;
    ck_assert_int_ne(call(&c), STATUS_OK);
    ck_assert(!show("small").building);
    ck_assert_uint_gt(add("small", 0, 1000, 0), 990);
    ck_ok(create("other", "scalable", 1000, false));
    reopen();
    ck_assert_uint_eq(maybe("small", 0, 1000), 1000);
}

TEST(a_deleted_one_is_gone_and_one_made_anew_is_empty)
{
    struct shelf_call c = {.verb = SHELF_DELETE, .name = bytes_of_str("a")};

    ck_ok(create("a", "bloom", 1000, false));
    add("a", 0, 1000, 0);
    ck_ok(call(&c));
    ck_assert_int_eq(call(&c), STATUS_NOT_FOUND);
    ck_ok(create("a", "bloom", 1000, false));
    ck_assert_uint_eq(maybe("a", 0, 1000), 0);
    reopen();
    ck_assert_uint_eq(maybe("a", 0, 1000), 0);
}

/* ---- kills ---- */

/* Runs in a process of its own: adds and removes until it is killed, and tells
 * after each answer how far it came. */
static void work_until_killed(int tell, const char *at)
{
    setenv("URLWEIR_KILL_AT", at, 1);
    fault_init();
    open_with(MEMORY);
    for (uint64_t i = 0; i < 60; i++) {
        add("a", i * 50, 50, 0);
        ck_assert_int_eq(write(tell, "+", 1), 1);
        ck_assert_uint_eq(take_out("a", i * 50, 10), 10);
        ck_assert_int_eq(write(tell, "-", 1), 1);
    }
    (void)!filter_shelf_close(shelf);
    _exit(0);
}

/* Was the answered part kept, and what was not begun left out? */
static void check_after(size_t answers)
{
    for (uint64_t i = 0; i < 60; i++) {
        size_t low = maybe("a", i * 50, 10), high = maybe("a", i * 50 + 10, 40);

        if (2 * i < answers)
            ck_assert_uint_eq(high, 40);
        else if (2 * i > answers)
            ck_assert_uint_le(high, 1);
        if (2 * i + 1 < answers)
            ck_assert_uint_le(low, 1);
        else if (2 * i + 1 == answers) /* the removal was not answered */
            ck_assert(low == 10 || low <= 1);
    }
}

/* Promise (Seen check and store): filters over HTTP: an answered change
 * survives a kill at any step; one caller builds while the others wait or use
 * the old filter; a guard that was never built lets all keys pass; memory and
 * names are bounded. See also
 * `filter_shelf/killed_before_a_checkpoint_it_takes_no_record_of_an_older_filter`,
 * `filter_shelf/of_many_that_build_one_does_and_the_others_wait_for_it`,
 * `filter_shelf/while_it_is_built_anew_the_old_one_answers_and_others_add_to_both`,
 * `filter_log/each_flipped_bit_is_found_and_costs_one_record`,
 * `tests/cli/serve-filters.sh`. */
TEST(killed_at_any_step_it_has_what_was_answered)
{
    static const char *const points[] = {
        "filter-log-write:1",     "filter-log-write:17",
        "filter-log-synced:1",    "filter-log-synced:40",
        "filter-checkpoint-half", "file-written",
        "file-renamed",           "filter-shelf-saved",
        "filter-shelf-saved:2"};

    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char told_by[256];
        size_t answers = 0;
        int to[2], how;
        ssize_t n;
        pid_t child;

        if (i > 0)
            set_up();
        ck_ok(create("a", "cuckoo", 3000, false));
        add("a", 1000000, 10, 0);
        ck_ok(filter_shelf_close(shelf));
        ck_assert_int_eq(pipe(to), 0);
        child = fork();
        if (child == 0)
            work_until_killed(to[1], points[i]);
        close(to[1]);
        while ((n = read(to[0], told_by, sizeof told_by)) > 0)
            answers += (size_t)n;
        close(to[0]);
        ck_assert_int_eq(waitpid(child, &how, 0), child);
        ck_assert_msg(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL,
                      "%s was not passed", points[i]);
        open_with(MEMORY);
        check_after(answers);
        ck_assert_uint_eq(maybe("a", 1000000, 10), 10);
        if (i + 1 < sizeof points / sizeof *points)
            tear_down();
    }
}

/* The log still has the keys of the one that was deleted, and those that came
 * before the build. */
TEST(killed_before_a_checkpoint_it_takes_no_record_of_an_older_filter)
{
    struct shelf_call c = {.verb = SHELF_DELETE, .name = bytes_of_str("a")};
    uint64_t token;
    pid_t child;
    int how;

    ck_ok(filter_shelf_close(shelf));
    child = fork();
    if (child == 0) {
        open_with(MEMORY);
        ck_ok(create("a", "bloom", 1000, false));
        ck_ok(create("b", "bloom", 1000, false));
        add("a", 0, 500, 0);
        add("b", 0, 500, 0);
        ck_ok(call(&c));
        ck_ok(create("a", "bloom", 1000, false));
        add("a", 700, 100, 0);
        token = begin("b");
        add("b", 700, 100, 0);
        uint64_t built;
        ck_ok(finish_as("b", token, true, &built));
        add("b", 800, 100, 0);
        kill(getpid(), SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    ck_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    open_with(MEMORY);
    ck_assert_uint_lt(maybe("a", 0, 500), 5);
    ck_assert_uint_eq(maybe("a", 700, 100), 100);
    ck_assert_uint_lt(maybe("b", 0, 500), 5);
    ck_assert_uint_eq(maybe("b", 700, 200), 200);
}

#define TTL 1000

/* Puts an image on the shelf of a filter that forgets, which was made and saved
 * 400 s ago. */
static void put_image(void)
{
    int64_t then = clock_wall_ms() / 1000 - 400;
    const struct filter_options o = {.kind = "cuckoo",
                                     .expect = 1000,
                                     .fpr = 0.001,
                                     .ttl_s = TTL,
                                     .born_s = then};
    struct checkpoint_id id = {.covers = 0};
    struct digest_key key;
    struct filter *f;
    char path[100];

    seeded_id(&id, &key, NULL);
    id.generation = (uint64_t)then;
    ck_ok(filter_new(&f, &o));
    snprintf(path, sizeof path, "%s/a.filter", dir);
    ck_ok(checkpoint_save(path, f, &id));
    filter_free(f);
}

/* Reads the image and lets `s` seconds pass. */
static size_t maybe_later(int64_t s, uint64_t first, size_t n)
{
    struct filter *f;
    struct checkpoint_info info;
    struct digest_key key;
    struct bytes *keys = texts(first, n);
    char path[100];
    size_t yes = 0;

    snprintf(path, sizeof path, "%s/a.filter", dir);
    ck_ok(seeded_load(&f, path, 0, &info, &key));
    ck_ok(filter_age(f, clock_wall_ms() / 1000 + s));
    for (size_t i = 0; i < n; i++)
        yes += filter_check_one(f, digest_bytes(&key, keys[i]).hi);
    free_texts(keys, n);
    filter_free(f);
    return yes;
}

/* Promise (Seen check and store): a filter with a time to live keeps each key
 * for that time, and not much longer, in a file and for many users over HTTP;
 * when the time is made longer all present keys are kept, also during a build
 * and after a kill. See also
 * `filter_shelf/a_build_of_a_filter_that_forgets_forgets_too`,
 * `api_sets/the_time_to_live_can_be_changed`,
 * `aged/a_key_is_kept_for_its_time_and_not_much_longer`,
 * `aged/a_longer_time_keeps_all_that_is_there`,
 * `aged/a_file_has_all_generations_and_their_times`, `tests/cli/filter.sh`,
 * `tests/cli/serve-filters.sh`. */
/* They are in the log alone, which has no times: they count from the restart
 * on, and not from the image. */
TEST(keys_that_are_replayed_after_a_kill_keep_their_whole_time)
{
    pid_t child;
    int how;

    ck_ok(filter_shelf_close(shelf));
    put_image();
    child = fork();
    if (child == 0) {
        open_with(MEMORY);
        add("a", 0, 100, 0);
        kill(getpid(), SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    ck_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    open_with(MEMORY);
    ck_ok(filter_shelf_close(shelf));
    ck_assert_uint_eq(maybe_later(TTL - 60, 0, 100), 100);
    ck_assert_uint_le(maybe_later(TTL + TTL / 2 + 1, 0, 100), 1);
    open_with(MEMORY);
}

/* A build goes on for longer than a key is kept: what came first is forgotten,
 * what came last is there. */
TEST(a_build_of_a_filter_that_forgets_forgets_too)
{
    struct shelf_call c = {.verb = SHELF_CREATE,
                           .name = bytes_of_str("a"),
                           .kind = "cuckoo",
                           .capacity = 1000,
                           .fpr = 0.001,
                           .ttl_s = 1};
    struct shelf_call longer = {.verb = SHELF_SET_TTL,
                                .name = bytes_of_str("a"),
                                .ttl_s = TTL};
    int64_t from;
    uint64_t token, built;

    ck_ok(call(&c));
    token = begin("a");
    add("a", 0, 100, token);
    from = clock_wall_ms() / 1000;
    while (clock_wall_ms() / 1000 < from + 3) {
        struct timespec t = {0, 50000000};

        (void)show("a");
        nanosleep(&t, NULL);
    }
    ck_ok(call(&longer));
    add("a", 200, 100, token);
    ck_ok(finish_as("a", token, true, &built));
    ck_assert_uint_le(built, 101);
    ck_assert_uint_eq(maybe("a", 200, 100), 100);
    ck_assert_uint_le(maybe("a", 0, 100), 1);
}

/* Two records were synced and never saved; one of them is damaged. */
TEST(with_a_damaged_log_every_answer_is_maybe_until_it_is_built)
{
    char path[100];
    int fd, how;
    pid_t child;
    uint64_t token;

    ck_ok(create("a", "bloom", 1000, false));
    ck_ok(filter_shelf_close(shelf));
    child = fork();
    if (child == 0) {
        open_with(MEMORY);
        add("a", 0, 10, 0);
        add("a", 10, 10, 0);
        kill(getpid(), SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    snprintf(path, sizeof path, "%s/filters.log", dir);
    fd = open(path, O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pwrite(fd, "x", 1, 60), 1);
    close(fd);
    for (int i = 0; i < 2; i++) {
        open_with(MEMORY);
        ck_assert(!show("a").ready);
        ck_assert_uint_eq(maybe("a", 0, 1000), 1000);
        if (i == 0)
            ck_ok(filter_shelf_close(shelf));
    }
    token = begin("a");
    add("a", 0, 20, token);
    ck_ok(finish("a", token));
    ck_assert_uint_eq(maybe("a", 0, 20), 20);
    ck_assert_uint_lt(maybe("a", 20, 500), 10);
}
