/* SPDX-License-Identifier: MIT */
/*
 * test_served_reader.c - what a reader of a service's directory says of its
 * URLs: records, their history, and damage.
 */
#include "frontier/served/served.h"
#include "frontier/served/served_reader.h"
#include "tests/unit/frontier/frontier_rig.h"
#include "tests/unit/storage/step_fault.h"

#define NOW     RIG_WALL
#define REMOVED "http://b.test/gone"

static struct scratch at;

static void put(struct served *t, const char *key, const char *url,
                const char *metadata, int64_t now)
{
    struct url_put put = {.known = true,
                          .crawl = bytes_of_str("c"),
                          .key = bytes_of_str(key),
                          .url = bytes_of_str(url),
                          .metadata = bytes_of_str(metadata),
                          .due_ms = now};

    ck_ok(served_put(t, &put, 1, now));
}

static bool take(void *ctx, const struct url_view *v)
{
    (void)ctx, (void)v;
    return true;
}

/* Leases one URL of the queue until `until_ms`. */
static void lease(struct served *t, const char *key, int64_t until_ms,
                  int64_t now)
{
    struct url_ask ask = {.crawl = bytes_of_str("c"),
                          .key = bytes_of_str(key),
                          .most_urls = 1,
                          .most_queues = 1,
                          .one_queue = true,
                          .lease_ms = until_ms - now};
    bool more;

    ck_ok(served_get(t, &ask, now, take, NULL, &more));
}

/*
 * Ids in order: a.test has 1 leased, 2 completed, 3 queued and due later, 4
 * queued; b.test has 5, removed, and put again as 6. c.test has 7, removed.
 */
static void make(void)
{
    const struct served_options o = {.fpr = 0.01, .memory = (uint64_t)64 << 20};
    struct url_put again = {.known = true,
                            .crawl = bytes_of_str("c"),
                            .key = bytes_of_str("a.test"),
                            .url = bytes_of_str("http://a.test/2"),
                            .metadata = bytes_of_str("")};
    struct served *t = NULL;
    uint64_t gone = 0;

    scratch_quiet();
    at = scratch_make();
    ck_ok(served_open(&t, at.dir, &o, NOW));
    ck_ok(served_set_default_delay(t, 250, NOW));
    put(t, "a.test", "http://a.test/1", "m1", NOW + 1);
    put(t, "a.test", "http://a.test/2", "", NOW + 2);
    put(t, "a.test", "http://a.test/3", "m3", NOW + 3);
    put(t, "a.test", "http://a.test/4", "", NOW + 4);
    put(t, "b.test", REMOVED, "", NOW + 5);
    ck_ok(served_remove_queue(t, bytes_of_str("c"), bytes_of_str("b.test"),
                              NOW + 6, &gone));
    put(t, "b.test", REMOVED, "", NOW + 7);
    put(t, "c.test", "http://c.test/", "", NOW + 8);
    ck_ok(served_remove_queue(t, bytes_of_str("c"), bytes_of_str("c.test"),
                              NOW + 9, &gone));
    lease(t, "a.test", NOW + 5000, NOW + 1000);
    ck_ok(served_put(t, &again, 1, NOW + 1001));
    again.url = bytes_of_str("http://a.test/3");
    again.metadata = bytes_of_str("m3 new");
    again.due_ms = NOW + 90000;
    ck_ok(served_put(t, &again, 1, NOW + 1002));
    ck_ok(served_set_limit(t, bytes_of_str("c"), bytes_of_str("a.test"), 9,
                           NOW + 1003));
    ck_ok(served_block(t, bytes_of_str("c"), bytes_of_str("b.test"),
                       NOW + 60000, NOW + 1004));
    ck_ok(served_set_delay(t, bytes_of_str("c"), bytes_of_str("b.test"), 0,
                           NOW + 1005));
    ck_ok(served_stop(t, NOW + 1006));
    served_close(t);
}

static void end(void)
{
    scratch_remove(&at);
}

static struct reader r;
static struct served_reader *p;
static struct buf row_text; /* of the record that was read last */

static void open_at(int64_t now)
{
    ck_ok(reader_open(&r, at.dir));
    ck_ok(served_reader_open(&p, &r, now));
    buf_init(&row_text, 4096);
}

static void close_it(void)
{
    buf_fini(&row_text);
    served_reader_close(p);
    reader_close(&r);
}

static struct served_record record(uint64_t id)
{
    struct url_row row;

    buf_clear(&row_text);
    ck_ok(frontier_store_get(r.store, id, &row, &row_text));
    return served_reader_record(p, &row);
}

FIXTURE(make, end);

TEST(a_record_says_what_is_known_of_a_url_and_its_queue)
{
    struct served_record x;

    open_at(NOW + 2000);
    x = record(1);
    ck_assert(bytes_equal(x.url, bytes_of_str("http://a.test/1")));
    ck_assert(bytes_equal(x.crawl, bytes_of_str("c")));
    ck_assert(bytes_equal(x.key, bytes_of_str("a.test")));
    ck_assert_int_eq(x.state, URL_STATE_LEASED);
    ck_assert_uint_eq(x.id, 1);
    ck_assert_int_eq(x.created_ms, NOW + 1);
    ck_assert_int_eq(x.due_ms, NOW + 1);
    ck_assert_int_eq(x.leased_until_ms, NOW + 5000);
    ck_assert_uint_eq(x.queue.queued, 2);
    ck_assert_uint_eq(x.queue.leased, 1);
    ck_assert_uint_eq(x.queue.completed, 1);
    ck_assert_int_eq(x.queue.delay_ms, 250);
    ck_assert_int_eq(x.queue.blocked_until_ms, 0);
    ck_assert_int_eq(x.queue.served_ms, NOW + 1000);
    ck_assert_uint_eq(x.queue.limit, 9);

    x = record(2);
    ck_assert_int_eq(x.state, URL_STATE_COMPLETED);
    ck_assert_int_eq(x.due_ms, 0);
    ck_assert_int_eq(x.leased_until_ms, 0);
    x = record(3);
    ck_assert_int_eq(x.state, URL_STATE_QUEUED);
    ck_assert_int_eq(x.due_ms, NOW + 90000);
    ck_assert_int_eq(x.created_ms, NOW + 3);
    x = record(5);
    ck_assert_int_eq(x.state, URL_STATE_REMOVED);
    ck_assert_int_eq(x.due_ms, 0);
    ck_assert_int_eq(x.created_ms, NOW + 5);
    x = record(6);
    ck_assert_int_eq(x.state, URL_STATE_QUEUED);
    ck_assert_int_eq(x.queue.delay_ms, 0);
    ck_assert_int_eq(x.queue.blocked_until_ms, NOW + 60000);
    ck_assert_int_eq(x.queue.served_ms, 0);
    ck_assert_uint_eq(x.queue.queued, 1);
    ck_assert_uint_eq(x.queue.limit, 0);
    close_it();
}

TEST(the_totals_are_judged_at_one_moment)
{
    const struct served_reader_facts *f;

    open_at(NOW + 2000);
    f = served_reader_facts(p);
    ck_assert_uint_eq(f->urls.queued, 3);
    ck_assert_uint_eq(f->urls.leased, 1);
    ck_assert_uint_eq(f->urls.completed, 1);
    ck_assert_uint_eq(f->urls.removed, 2);
    ck_assert_uint_eq(f->due, 2);
    ck_assert_uint_eq(f->queues, 2);
    ck_assert_uint_eq(f->blocked_queues, 1);
    ck_assert_int_eq(f->default_delay_ms, 250);
    ck_assert(f->active);
    ck_assert_int_eq(served_reader_get(p, 8).state, URL_STATE_NONE);
    ck_assert_int_eq(served_reader_get(p, 0).state, URL_STATE_NONE);
    ck_assert(!served_reader_queue(p, 3).there);
    ck_assert(served_reader_queue(p, 3).gone);
    close_it();

    open_at(NOW + 60000); /* the lease has ended, and so has the block */
    f = served_reader_facts(p);
    ck_assert_uint_eq(f->urls.leased, 0);
    ck_assert_uint_eq(f->urls.queued, 4);
    ck_assert_uint_eq(f->due, 3);
    ck_assert_uint_eq(f->blocked_queues, 0);
    close_it();
    open_at(NOW + 90000);
    ck_assert_uint_eq(served_reader_facts(p)->due, 4);
    close_it();
}

struct story {
    struct served_step steps[8];
    unsigned n;
};

static void add_step(void *ctx, const struct served_step *step)
{
    struct story *s = ctx;

    ck_assert_uint_lt(s->n, 8);
    s->steps[s->n++] = *step;
}

TEST(the_history_of_a_url_has_its_leases_and_updates_in_order)
{
    struct story one = {.n = 0}, three = {.n = 0}, none = {.n = 0};

    open_at(NOW + 2000);
    ck_ok(served_reader_story(p, 1, add_step, &one));
    ck_assert_uint_ge(one.n, 2);
    ck_assert_int_eq(one.steps[0].event, SERVED_EVENT_UPDATE);
    ck_assert_int_eq(one.steps[0].due_ms, NOW + 1);
    ck_assert_int_eq(one.steps[1].event, SERVED_EVENT_LEASE);
    ck_assert_int_eq(one.steps[1].at_ms, NOW + 1000);
    ck_assert_int_eq(one.steps[1].until_ms, NOW + 5000);
    ck_assert_uint_eq(one.n, 2);
    ck_ok(served_reader_story(p, 3, add_step, &three));
    ck_assert_uint_eq(three.n, 2);
    ck_assert_int_eq(three.steps[0].due_ms, NOW + 3);
    ck_assert_int_eq(three.steps[1].due_ms, NOW + 90000);
    ck_ok(served_reader_story(p, 99, add_step, &none));
    ck_assert_uint_eq(none.n, 0);
    close_it();
}

TEST(rows_that_cannot_be_are_damage)
{
    static const struct {
        const char *sql;
        bool damage;
    } all[] = {
        {"SELECT 1", false},
        {"UPDATE url SET at = at - 100 WHERE id = 3", true},
        {"UPDATE url SET at = 0 WHERE id = 1", true},
        {"UPDATE url SET via = 4 WHERE id = 6", true}, /* of another queue */
        {"UPDATE url SET via = 6 WHERE id = 6", true},
        {"UPDATE url SET via = 7 WHERE id = 6", true},
        {"UPDATE url SET via = 1 WHERE id = 2", true}, /* was not removed */
        {"UPDATE url SET via = 5 WHERE id = 6", false},
        {"UPDATE url SET path = '/else' WHERE id = 5", true},
        {"UPDATE item_queue SET gone = 1 WHERE queue = 1", true},
        {"INSERT INTO meta VALUES('items_active', 'x')", true},
    };
    struct scratch made = at;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        enum status st;

        at = scratch_make();
        rig_copy(&made, &at);
        scratch_sql(at.db, all[i].sql);
        ck_ok(reader_open(&r, at.dir));
        p = NULL;
        st = served_reader_open(&p, &r, NOW + 2000);
        if (st == STATUS_OK)
            st = served_reader_verify(p);
        ck_assert_msg(st == (all[i].damage ? STATUS_DAMAGED : STATUS_OK),
                      "%s: %d", all[i].sql, (int)st);
        close_it();
        scratch_remove(&at);
    }
    at = made;
}

/* ---- lists of queues and crawls, of a service that runs ---- */

static void add_name(void *ctx, struct bytes name)
{
    buf_add_bytes(ctx, name);
    buf_add_char(ctx, ' ');
}

static void expect_queues(struct served *t, bool inactive, uint64_t skip,
                          uint64_t most, int64_t now, const char *names)
{
    struct buf text;

    buf_init(&text, 1024);
    buf_add_char(&text, '<');
    served_each_queue(t, bytes_of_str("c"), inactive, skip, most, now, add_name,
                      &text);
    ck_assert_str_eq(buf_str(&text) + 1, names);
    buf_fini(&text);
}

TEST(queues_are_listed_in_pages_with_or_without_inactive_ones)
{
    const struct served_options o = {.fpr = 0.01, .memory = (uint64_t)64 << 20};
    struct url_put done = {.known = true,
                           .crawl = bytes_of_str("c"),
                           .key = bytes_of_str("d.test"),
                           .url = bytes_of_str("http://d.test/")};
    struct served *t = NULL;
    struct buf text;

    buf_init(&text, 1024);
    ck_ok(served_open(&t, at.dir, &o, NOW + 2000));
    ck_ok(served_put(t, &done, 1, NOW + 2000));
    put(t, "e.test", "http://e.test/", "", NOW + 2001);
    done.crawl = bytes_of_str("other");
    ck_ok(served_put(t, &done, 1, NOW + 2002));
    expect_queues(t, true, 0, 99, NOW + 3000, "a.test b.test d.test e.test ");
    expect_queues(t, false, 0, 99, NOW + 3000, "a.test e.test ");
    expect_queues(t, false, 0, 99, NOW + 60000, "a.test b.test e.test ");
    expect_queues(t, true, 1, 2, NOW + 3000, "b.test d.test ");
    expect_queues(t, true, 3, 2, NOW + 3000, "e.test ");
    expect_queues(t, true, 4, 2, NOW + 3000, "");
    expect_queues(t, true, 0, 0, NOW + 3000, "");
    expect_queues(t, false, 1, 1, NOW + 3000, "e.test ");
    served_each_queue(t, bytes_of_str("none"), true, 0, 9, NOW + 3000, add_name,
                      &text);
    ck_assert_uint_eq(text.len, 0);
    served_each_crawl(t, add_name, &text);
    ck_assert_str_eq(buf_str(&text), "c other ");
    buf_fini(&text);
    served_close(t);
}
