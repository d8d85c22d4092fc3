/* SPDX-License-Identifier: MIT */
/* test_api_sets.c - filters and exact dedupe in the C library. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bindings/c/api.h"
#include "filter/checkpoint.h"
#include "tests/unit/storage/step_fault.h"

#define MANY 5000 /* more than one batch of api_sets.c */

static struct scratch dir;
static char path[128];
static char text[2 * MANY][16];
static struct urlweir_bytes keys[2 * MANY];
static unsigned char told[2 * MANY];

static void setup(void)
{
    dir = scratch_make();
    snprintf(path, sizeof path, "%s/file", dir.dir);
    for (int i = 0; i < 2 * MANY; i++) {
        int len = snprintf(text[i], sizeof text[i], "key %d", i);

        keys[i] = (struct urlweir_bytes){text[i], (size_t)len};
    }
}

static void teardown(void)
{
    scratch_remove(&dir);
}

static size_t count(size_t n, unsigned char what)
{
    size_t c = 0;

    for (size_t i = 0; i < n; i++)
        c += told[i] == what;
    return c;
}

/* ---- filters ---- */

static struct urlweir_filter *filter_of(const char *kind, const char *seed)
{
    struct urlweir_filter_options o = {.size = sizeof o,
                                       .kind = kind,
                                       .capacity = 2 * MANY,
                                       .seed = seed};
    struct urlweir_filter *f = NULL;

    ck_assert_int_eq(urlweir_filter_new(&f, &o), URLWEIR_OK);
    return f;
}

static size_t maybes(struct urlweir_filter *f, size_t from, size_t n)
{
    urlweir_filter_check(f, keys + from, n, told);
    return count(n, 1);
}

static enum urlweir_status name_them(struct urlweir_filter *f, const char *name)
{
    return urlweir_filter_set_name(
        f, (struct urlweir_bytes){name, name != NULL ? strlen(name) : 0});
}

FIXTURE(setup, teardown);

TEST(a_key_of_one_name_is_no_key_of_another)
{
    struct urlweir_filter *f = filter_of("cuckoo", NULL), *g;
    struct filter *read;
    struct checkpoint_info info;
    struct digest_key key;

    ck_assert_int_eq(name_them(f, "alice"), URLWEIR_OK);
    ck_assert_int_eq(urlweir_filter_add(f, keys, 100, NULL), URLWEIR_OK);
    ck_assert_uint_eq(maybes(f, 0, 100), 100);
    ck_assert_int_eq(name_them(f, "bob"), URLWEIR_OK);
    ck_assert_uint_eq(maybes(f, 0, 100), 0);
    ck_assert_int_eq(urlweir_filter_remove(f, keys, 100, told), URLWEIR_OK);
    ck_assert_uint_eq(count(100, 1), 0);
    ck_assert_int_eq(name_them(f, ""), URLWEIR_OK); /* a name, too */
    ck_assert_int_eq(urlweir_filter_add(f, keys, 10, NULL), URLWEIR_OK);
    ck_assert_int_eq(name_them(f, NULL), URLWEIR_OK);
    ck_assert_uint_eq(maybes(f, 0, 100), 0);
    ck_assert_int_eq(urlweir_filter_save(f, path), URLWEIR_OK);
    urlweir_filter_free(f);
    /* A file of the program, that no crawl takes for a list of URLs. */
    ck_ok(seeded_load(&read, path, 0, &info, &key));
    ck_assert_int_eq(info.id.keys, CHECKPOINT_KEYS_OTHER);
    ck_assert(
        filter_check_one(read, seeded_named_key(&key, bytes_of_str("alice"),
                                                bytes_of_str(text[0]))));
    filter_free(read);
    ck_assert_int_eq(urlweir_filter_open(&g, path, 0), URLWEIR_OK);
    ck_assert_int_eq(name_them(g, "alice"), URLWEIR_OK);
    ck_assert_uint_eq(maybes(g, 0, 100), 100);
    ck_assert_int_eq(urlweir_filter_set_ttl(g, 10), URLWEIR_ARG);
    urlweir_filter_free(g);
}

TEST(the_time_to_live_can_be_changed)
{
    struct urlweir_filter_options o = {.size = sizeof o,
                                       .capacity = 100,
                                       .ttl = 1};
    struct urlweir_filter *f = NULL;

    ck_assert_int_eq(urlweir_filter_new(&f, &o), URLWEIR_OK);
    ck_assert_int_eq(urlweir_filter_set_ttl(f, 0), URLWEIR_ARG);
    ck_assert_int_eq(urlweir_filter_set_ttl(f, UINT64_MAX), URLWEIR_ARG);
    ck_assert_int_eq(urlweir_filter_set_ttl(f, 3600), URLWEIR_OK);
    ck_assert_int_eq(urlweir_filter_add(f, keys, 100, NULL), URLWEIR_OK);
    ck_assert_int_eq(urlweir_filter_save(f, path), URLWEIR_OK);
    urlweir_filter_free(f);
    ck_assert_int_eq(urlweir_filter_open(&f, path, 0), URLWEIR_OK);
    ck_assert_uint_eq(maybes(f, 0, 100), 100);
    urlweir_filter_free(f);
}

TEST(every_kind_keeps_all_keys_and_its_rate_over_a_file_too)
{
    const struct filter_traits *kind;

    for (size_t i = 0; (kind = filter_kind(i)) != NULL; i++) {
        struct urlweir_filter *f = filter_of(kind->name, NULL), *g = NULL;

        ck_assert_int_eq(urlweir_filter_add(f, keys, MANY, told), URLWEIR_OK);
        ck_assert_uint_gt(count(MANY, 1), MANY - MANY / 50);
        ck_assert_int_eq(urlweir_filter_add(f, keys, MANY, told), URLWEIR_OK);
        ck_assert_uint_eq(count(MANY, 0), MANY);
        ck_assert_int_eq(urlweir_filter_save(f, path), URLWEIR_OK);
        ck_assert_int_eq(urlweir_filter_open(&g, path, 0), URLWEIR_OK);
        ck_assert_uint_eq(maybes(g, 0, MANY), MANY);
        ck_assert_uint_lt(maybes(g, MANY, MANY), MANY / 50);
        ck_assert_str_eq(urlweir_filter_stats(g)->kind, kind->name);
        ck_assert_uint_eq(urlweir_filter_stats(g)->count,
                          urlweir_filter_stats(f)->count);
        urlweir_filter_free(f);
        urlweir_filter_free(g);
    }
    urlweir_filter_free(NULL);
}

TEST(keys_are_removed_by_the_kinds_that_can)
{
    struct urlweir_filter *f = filter_of("cuckoo", NULL);

    ck_assert_int_eq(urlweir_filter_add(f, keys, MANY, NULL), URLWEIR_OK);
    ck_assert_int_eq(urlweir_filter_remove(f, keys, MANY, told), URLWEIR_OK);
    ck_assert_uint_eq(count(MANY, 1), MANY);
    ck_assert_uint_eq(maybes(f, 0, MANY), 0);
    ck_assert_int_eq(urlweir_filter_remove(f, keys, MANY, NULL), URLWEIR_OK);
    urlweir_filter_free(f);
    f = filter_of("bloom", NULL);
    ck_assert_int_eq(urlweir_filter_remove(f, keys, 0, told), URLWEIR_ARG);
    urlweir_filter_free(f);
}

TEST(an_overfull_filter_takes_all_keys_and_says_so)
{
    struct urlweir_filter_options o = {.size = sizeof o,
                                       .kind = "bloom",
                                       .capacity = 100,
                                       .fpr = 0.001};
    struct urlweir_filter *f = NULL;

    ck_assert_int_eq(urlweir_filter_new(&f, &o), URLWEIR_OK);
    ck_assert_int_eq(urlweir_filter_add(f, keys, MANY, NULL), URLWEIR_LIMIT);
    ck_assert_uint_eq(maybes(f, 0, MANY), MANY);
    ck_assert_int_eq(urlweir_filter_stats(f)->overfull, 1);
    ck_assert_double_eq(urlweir_filter_stats(f)->fpr_promised, 0.001);
    urlweir_filter_free(f);
}

TEST(filters_of_one_seed_merge_and_no_others)
{
    struct urlweir_filter *a = filter_of("bloom", NULL);
    struct urlweir_filter *b = filter_of("bloom", NULL);
    struct urlweir_filter *other = filter_of("bloom", "secret");

    ck_assert_int_eq(urlweir_filter_add(b, keys, MANY, NULL), URLWEIR_OK);
    ck_assert_int_eq(urlweir_filter_merge(a, b), URLWEIR_OK);
    ck_assert_uint_eq(maybes(a, 0, MANY), MANY);
    ck_assert_int_eq(urlweir_filter_merge(a, other), URLWEIR_ARG);
    ck_assert_int_eq(urlweir_filter_merge(a, a), URLWEIR_ARG);
    urlweir_filter_free(b);
    b = filter_of("counting", NULL);
    ck_assert_int_eq(urlweir_filter_merge(a, b), URLWEIR_ARG);
    urlweir_filter_free(a);
    urlweir_filter_free(b);
    urlweir_filter_free(other);
}

static enum urlweir_status made(const char *kind, uint64_t capacity, double fpr)
{
    struct urlweir_filter_options o = {.size = sizeof o,
                                       .kind = kind,
                                       .capacity = capacity,
                                       .fpr = fpr};
    struct urlweir_filter *f = NULL;
    enum urlweir_status st = urlweir_filter_new(&f, &o);

    ck_assert_ptr_null(f);
    return st;
}

TEST(filters_that_cannot_be_are_refused)
{
    ck_assert_int_eq(made("no such", 1, 0), URLWEIR_ARG);
    ck_assert_int_eq(made("redis", 1, 0), URLWEIR_ARG);
    ck_assert_int_eq(made(NULL, 0, 0), URLWEIR_ARG);
    ck_assert_int_eq(made(NULL, UINT64_MAX, 0), URLWEIR_ARG);
    ck_assert_int_eq(made(NULL, 1, 0.6), URLWEIR_ARG);
    ck_assert_int_eq(made(NULL, 1, -1), URLWEIR_ARG);
    mem_fail_after(1);
    ck_assert_int_eq(made("bloom", 1000, 0), URLWEIR_NOMEM);
    mem_fail_after(0);
}

static enum urlweir_status opened(void)
{
    struct urlweir_filter *f = NULL;
    enum urlweir_status st = urlweir_filter_open(&f, path, 0);

    ck_assert_ptr_null(f);
    return st;
}

TEST(files_that_are_not_ours_are_refused)
{
    static const unsigned char secret[DIGEST_SEED_SIZE] = {1};
    struct filter_options o = {.expect = 100, .fpr = 0.01};
    struct checkpoint_id id = {0};
    struct digest_key key;
    struct filter *f = NULL;

    ck_assert_int_eq(opened(), URLWEIR_NOT_FOUND);
    ck_ok(file_replace(path, bytes_of_str("anything")));
    ck_assert_int_eq(opened(), URLWEIR_FORMAT);
    /* A crawl's checkpoint has the print of its seed alone. */
    digest_key_init(&key, secret);
    id.seed_print = checkpoint_seed_print(&key);
    ck_ok(filter_new(&f, &o));
    ck_ok(checkpoint_save(path, f, &id));
    ck_assert_int_eq(opened(), URLWEIR_REFUSED);
    /* A seed that contradicts its print. */
    id.has_seed = true;
    ck_ok(checkpoint_save(path, f, &id));
    ck_assert_int_eq(opened(), URLWEIR_DAMAGED);
    filter_free(f);
    snprintf(path, sizeof path, "%s/missing/file", dir.dir);
    struct urlweir_filter *mine = filter_of(NULL, NULL);
    ck_assert_int_ne(urlweir_filter_save(mine, path), URLWEIR_OK);
    urlweir_filter_free(mine);
}

/* ---- exact dedupe ---- */

static enum urlweir_status open_set(struct urlweir_dedupe **d, int octets)
{
    struct urlweir_dedupe_options o = {.size = sizeof o,
                                       .dir = path,
                                       .octets = octets,
                                       .memory = UINT64_C(32) << 20};

    return urlweir_dedupe_open(d, &o);
}

static size_t take_new(struct urlweir_dedupe *d, size_t from, size_t n)
{
    ck_assert_int_eq(urlweir_dedupe_take(d, keys + from, n, told), URLWEIR_OK);
    return count(n, URLWEIR_NEW);
}

TEST(lines_are_new_once_and_urls_by_their_canonical_form)
{
    static const char *const lines[] = {"http://h/%7ea", "mailto:x",
                                        "HTTP://h/~a#f", "http://h/b", ""};
    static const unsigned char want[] = {URLWEIR_NEW, URLWEIR_NO_URL,
                                         URLWEIR_BEFORE, URLWEIR_NEW,
                                         URLWEIR_NO_URL};
    struct urlweir_dedupe_options o = {.size = sizeof o};
    struct urlweir_bytes in[5];
    struct urlweir_dedupe *d = NULL;

    for (int i = 0; i < 5; i++)
        in[i] = (struct urlweir_bytes){lines[i], strlen(lines[i])};
    ck_assert_int_eq(urlweir_dedupe_open(&d, &o), URLWEIR_OK);
    ck_assert_int_eq(urlweir_dedupe_take(d, in, 5, told), URLWEIR_OK);
    ck_assert_mem_eq(told, want, sizeof want);
    ck_assert_int_eq(urlweir_dedupe_take(d, in + 2, 2, told), URLWEIR_OK);
    ck_assert_uint_eq(count(2, URLWEIR_BEFORE), 2);
    ck_assert_int_eq(urlweir_dedupe_take(d, in, URLWEIR_DEDUPE_BATCH + 1, told),
                     URLWEIR_ARG);
    ck_assert_uint_eq(urlweir_dedupe_stats(d)->count, 2);
    ck_assert_int_eq(urlweir_dedupe_commit(d), URLWEIR_OK);
    ck_assert_int_eq(urlweir_dedupe_close(d, 1), URLWEIR_OK);
    ck_assert_int_eq(urlweir_dedupe_close(NULL, 1), URLWEIR_OK);
}

TEST(a_set_is_kept_as_far_as_it_was_committed)
{
    struct urlweir_dedupe *d = NULL, *second = NULL;

    ck_assert_int_eq(open_set(&d, 1), URLWEIR_OK);
    ck_assert_uint_eq(take_new(d, 0, 1000), 1000);
    ck_assert_int_eq(open_set(&second, 1), URLWEIR_BUSY);
    ck_assert_ptr_null(second);
    ck_assert_int_eq(urlweir_dedupe_commit(d), URLWEIR_OK);
    ck_assert_uint_eq(take_new(d, 500, 1000), 500);
    ck_assert_int_eq(urlweir_dedupe_close(d, 0), URLWEIR_OK); /* forgotten */

    ck_assert_int_eq(open_set(&d, 0), URLWEIR_ARG); /* lines are octets here */
    ck_assert_int_eq(open_set(&d, 1), URLWEIR_OK);
    ck_assert_uint_eq(urlweir_dedupe_stats(d)->before, 1000);
    ck_assert_uint_eq(take_new(d, 0, 2000), 1000);
    ck_assert_int_eq(urlweir_dedupe_close(d, 1), URLWEIR_OK);
    ck_assert_int_eq(open_set(&d, 1), URLWEIR_OK);
    ck_assert_uint_eq(urlweir_dedupe_stats(d)->count, 2000);
    ck_assert_uint_gt(urlweir_dedupe_stats(d)->disk, 0);
    ck_assert_int_eq(urlweir_dedupe_close(d, 1), URLWEIR_OK);
}

TEST(sets_that_cannot_be_are_refused)
{
    struct urlweir_dedupe_options o = {.size = sizeof o, .memory = 1};
    struct urlweir_dedupe *d = NULL;

    ck_assert_int_eq(urlweir_dedupe_open(&d, &o), URLWEIR_ARG);
    ck_ok(file_replace(path, bytes_of_str("a file")));
    ck_assert_int_eq(open_set(&d, 1), URLWEIR_EXISTS);
    ck_assert_ptr_null(d);
}

/* Whatever fails, the set says so until it is closed, and the next run has what
 * was committed. */
TEST(a_set_that_has_failed_takes_no_more)
{
    struct urlweir_dedupe *d = NULL;

    ck_assert_int_eq(open_set(&d, 1), URLWEIR_OK);
    ck_assert_uint_eq(take_new(d, 0, 100), 100);
    ck_assert_int_eq(urlweir_dedupe_commit(d), URLWEIR_OK);
    ck_assert_uint_eq(take_new(d, 100, 100), 100);
    scratch_steps_left = 1;
    ck_assert_int_eq(urlweir_dedupe_commit(d), URLWEIR_IO);
    ck_assert(scratch_step_failed);
    scratch_steps_left = 0;
    ck_assert_int_eq(urlweir_dedupe_take(d, keys, 1, told), URLWEIR_IO);
    ck_assert_int_eq(urlweir_dedupe_commit(d), URLWEIR_IO);
    ck_assert_int_eq(urlweir_dedupe_close(d, 1), URLWEIR_IO);
    ck_assert_int_eq(open_set(&d, 1), URLWEIR_OK);
    ck_assert_uint_eq(take_new(d, 0, 200), 100);
    ck_assert_int_eq(urlweir_dedupe_close(d, 1), URLWEIR_OK);
}

/* The set's threads and locks are the parent's. The child ends when the parent
 * closes its pipe, so it is there while the set is opened again. */
TEST(a_set_is_refused_in_a_child_which_can_close_it)
{
    struct urlweir_dedupe *d = NULL;
    int hold[2], code;
    bool fine;
    pid_t pid;
    char c;

    ck_assert_int_eq(open_set(&d, 1), URLWEIR_OK);
    ck_assert_uint_eq(take_new(d, 0, 100), 100);
    ck_assert_int_eq(pipe(hold), 0);
    pid = fork();
    if (pid == 0) {
        close(hold[1]);
        fine = urlweir_dedupe_take(d, keys, 1, told) == URLWEIR_BUSY &&
               urlweir_dedupe_commit(d) == URLWEIR_BUSY &&
               urlweir_dedupe_stats(d) != NULL &&
               urlweir_dedupe_close(d, 1) == URLWEIR_OK;
        fine = read(hold[0], &c, 1) == 0 && fine;
        _exit(fine ? 0 : 1);
    }
    ck_assert_int_gt(pid, 0);
    ck_assert_uint_eq(take_new(d, 100, 100), 100);
    ck_assert_int_eq(urlweir_dedupe_close(d, 1), URLWEIR_OK);
    ck_assert_int_eq(open_set(&d, 1), URLWEIR_OK);
    close(hold[0]);
    close(hold[1]);
    ck_assert_int_eq(waitpid(pid, &code, 0), pid);
    ck_assert(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    ck_assert_uint_eq(take_new(d, 0, 200), 0);
    ck_assert_int_eq(urlweir_dedupe_close(d, 1), URLWEIR_OK);
}

Suite *suite_api_sets(void);
