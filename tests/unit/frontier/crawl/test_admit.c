/* SPDX-License-Identifier: MIT */
/*
 * test_admit.c - what happens when two URLs share a digest, and which links are
 * recorded.
 *
 * Nobody can find two URLs with the same 128-bit digest, so the tests give
 * items the digest of another URL.
 */
#include "filter/checkpoint.h"
#include "frontier/seen/blocklist.h"
#include "tests/unit/frontier/frontier_rig.h"

/* `url` with the digest of `other`. */
static struct url_item forged(struct rig *r, const char *url, const char *other)
{
    struct url_item item = rig_item(r, url);

    item.digest = rig_item(r, other).digest;
    return item;
}

#define A "http://a.test/1"
#define B "http://b.test/2"
#define C "http://a.test/3"

/* ---- colliding digests ---- */

TEST(a_url_whose_digest_is_taken_is_admitted_under_a_salted_one)
{
    struct rig r;

    rig_init(&r);
    r.o.compare_text = true;
    rig_create(&r);
    ck_assert_int_eq(rig_put(&r, rig_item(&r, A)), PUT_NEW);
    ck_assert_int_eq(rig_put(&r, forged(&r, B, A)), PUT_NEW);
    ck_assert_int_eq(rig_put(&r, forged(&r, C, A)), PUT_NEW);
    ck_assert_uint_eq(rig_counter(&r, "digest_collisions"), 2);
    /* each only once */
    ck_assert_int_eq(rig_put(&r, rig_item(&r, A)), PUT_SEEN);
    ck_assert_int_eq(rig_put(&r, forged(&r, B, A)), PUT_SEEN);
    ck_assert_int_eq(rig_put(&r, forged(&r, C, A)), PUT_SEEN);
    rig_fini(&r);
}

/* Promise (Seen check and store): with --compare-text, URLs whose digests
 * collide are told apart. See also
 * `admit/salted_urls_are_known_again_after_a_crash_and_a_clean_stop`. */
TEST(collisions_inside_one_batch_are_told_apart)
{
    struct rig r;
    struct url_item items[5];
    enum put_answer answers[5];

    rig_init(&r);
    r.o.compare_text = true;
    rig_create(&r);
    items[0] = rig_item(&r, A);
    items[1] = forged(&r, B, A);
    items[2] = rig_item(&r, A);
    items[3] = forged(&r, B, A);
    items[4] = forged(&r, C, A);
    ck_ok(frontier_put(r.e, 0, items, 5, RIG_WALL, answers));
    ck_assert_int_eq(answers[0], PUT_NEW);
    ck_assert_int_eq(answers[1], PUT_NEW);
    ck_assert_int_eq(answers[2], PUT_SEEN);
    ck_assert_int_eq(answers[3], PUT_SEEN);
    ck_assert_int_eq(answers[4], PUT_NEW);
    rig_fini(&r);
}

TEST(salted_urls_are_known_again_after_a_crash_and_a_clean_stop)
{
    struct rig r;
    struct reader reader;

    rig_init(&r);
    r.o.compare_text = true;
    rig_create(&r);
    rig_seed(&r, A);
    rig_put(&r, forged(&r, B, A));
    rig_commit(&r);
    rig_reopen(&r); /* the frontier replays the digests from the rows */
    ck_assert_int_eq(rig_put(&r, forged(&r, B, A)), PUT_SEEN);
    rig_stop(&r);
    rig_reopen(&r); /* and reads the filter from its file */
    ck_assert_int_eq(rig_put(&r, forged(&r, B, A)), PUT_SEEN);
    ck_assert_int_eq(rig_put(&r, rig_item(&r, A)), PUT_SEEN);
    rig_stop(&r);
    ck_ok(reader_open(&reader, r.at.dir));
    ck_assert_uint_eq(rig_find(&reader, A), 1);
    reader_close(&reader);
    rig_fini(&r);
}

/* A reader computes true digests, so the test tells it that A has B's
 * digest. */
TEST(a_reader_finds_a_url_whose_digest_another_one_took)
{
    struct rig r;
    struct reader reader;
    struct digest taken;

    rig_init(&r);
    r.o.compare_text = true;
    rig_create(&r);
    ck_assert_int_eq(rig_put(&r, rig_item(&r, A)), PUT_NEW);
    ck_assert_int_eq(rig_put(&r, forged(&r, B, A)), PUT_NEW);
    taken = rig_item(&r, B).digest;
    rig_stop(&r);
    ck_ok(reader_open(&reader, r.at.dir));
    ck_assert_uint_eq(rig_find(&reader, B), 0); /* nothing stands before it */
    exact_set_add(reader.exact, taken, 1);
    ck_assert_uint_eq(rig_find(&reader, B), 2);
    ck_assert_uint_eq(rig_find(&reader, A), 1);
    ck_assert_uint_eq(rig_find(&reader, C), 0);
    reader_close(&reader);
    rig_fini(&r);
}

TEST(a_redirect_to_a_url_with_a_taken_digest_names_the_right_row)
{
    struct rig r;
    struct url_item to;
    uint64_t id;

    rig_init(&r);
    r.o.compare_text = true;
    rig_create(&r);
    rig_seed(&r, A);
    ck_assert_int_eq(rig_put(&r, forged(&r, B, A)), PUT_NEW);
    id = rig_lease(&r);
    ck_assert_uint_eq(id, 1);
    to = forged(&r, B, A); /* would be a loop if B were taken for A */
    rig_ack(&r, id, (struct outcome){OUTCOME_REDIRECT, REASON_NONE, 302}, &to,
            1);
    ck_assert_uint_eq(rig_counter(&r, "redirect.redirect_loop"), 0);
    rig_fini(&r);
}

/* ---- blocklists ---- */

/* Makes a blocklist that holds only A, in the rig's directory. */
static struct blocklist *block_a(struct rig *r)
{
    struct filter_options o = {.kind = "bloom", .expect = 10, .fpr = 1e-9};
    struct checkpoint_id id = {.has_seed = true};
    struct blocklist_options bo = {0};
    struct digest_key key;
    struct blocklist *b = NULL;
    struct filter *f = NULL;
    struct buf error;
    char path[256];
    uint64_t k;

    snprintf(path, sizeof path, "%s/block", r->at.dir);
    digest_key_init(&key, id.seed);
    id.seed_print = checkpoint_seed_print(&key);
    k = digest_bytes(&key, bytes_of_str(A)).hi;
    ck_ok(filter_new(&f, &o));
    ck_ok(filter_add(f, &k, 1, NULL));
    ck_ok(checkpoint_save(path, f, &id));
    filter_free(f);
    bo.filter = path;
    buf_init(&error, 1000);
    ck_ok(blocklist_open(&b, &bo, &error));
    buf_fini(&error);
    return b;
}

/* A blocked URL has no row and no id; callers that want ids must cope. */
TEST(a_blocked_url_is_dropped_each_time_and_has_no_row)
{
    struct rig r;
    struct blocklist *b;
    struct url_item items[4];
    enum put_answer answers[4];

    rig_init(&r);
    r.o.compare_text = true;
    r.o.record_links = true;
    b = block_a(&r);
    r.o.blocklist = b;
    rig_create(&r);
    items[0] = rig_item(&r, A);
    items[1] = rig_item(&r, B);
    items[2] = rig_item(&r, A); /* again, in the same batch */
    items[3] = rig_item(&r, C);
    ck_ok(frontier_put(r.e, 0, items, 4, RIG_WALL, answers));
    ck_assert_int_eq(answers[0], PUT_SEEN);
    ck_assert_int_eq(answers[1], PUT_NEW);
    ck_assert_int_eq(answers[2], PUT_SEEN);
    ck_assert_int_eq(answers[3], PUT_NEW);
    ck_assert_uint_eq(rig_counter(&r, "dropped.blocklist"), 1);
    (void)rig_page(&r, items, 4);
    (void)rig_page(&r, items, 4);
    ck_assert_uint_eq(rig_counter(&r, "dropped.blocklist"), 3);
    ck_assert_uint_eq(frontier_store_last_id(r.e->store), 2);
    rig_commit(&r);
    rig_reopen(&r);
    rig_fini(&r);
    blocklist_close(b);
}

/* Fetches a page and lets the frontier decide; returns how many are durable. */
static uint64_t page_and_turn(struct rig *r)
{
    uint64_t durable;

    rig_page(r, NULL, 0);
    ck_ok(frontier_turn(r->e, false, r->now, RIG_WALL, &durable));
    return durable;
}

/* Promise (Fetching): by default each host that is due has a transfer, as far
 * as memory, descriptors (by the hard limit) and cores allow, and status shows
 * how many; after a kill at most twice as many pages are fetched again as were
 * in flight, or 32. See also `tests/cli/concurrency.sh`, `connection_budget`,
 * `make bench-wide`. */
/* So a crash repeats few pages, however many there might have been. */
TEST(as_many_pages_wait_for_a_commit_as_are_under_way_but_thirty_two)
{
    struct rig r;
    char url[64];
    unsigned n;

    rig_init(&r);
    r.o.in_flight = 10000;
    r.o.commit_interval = 3600 * NS_PER_S;
    rig_create(&r);
    for (unsigned i = 0; i < 200; i++) {
        snprintf(url, sizeof url, "http://h%u.test/", i);
        rig_seed(&r, url);
    }
    rig_commit(&r);
    for (n = 1; page_and_turn(&r) == 0; n++)
        ck_assert_uint_lt(n, 32);
    ck_assert_uint_eq(n, 32);
    for (unsigned i = 0; i < 60; i++)
        ck_assert_uint_ne(rig_lease(&r), 0);
    for (n = 1; page_and_turn(&r) == 0; n++)
        ck_assert_uint_lt(n, 60);
    ck_assert_uint_eq(n, 60);
    rig_fini(&r);
}
