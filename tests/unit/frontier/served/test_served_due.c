/* SPDX-License-Identifier: MIT */
/* test_served_due.c - URLs that are put again and again, each time for another
 * moment, as a crawler does that fetches them again. */
#include "frontier/served/served.h"

#include <malloc.h>

#include "tests/unit/frontier/frontier_rig.h"

#define NOW  RIG_WALL
#define KEY  "a.test"
#define URLS 3

static const struct served_options options = {.fpr = 0.01,
                                              .memory = (uint64_t)64 << 20};

static void put_as(struct served *t, bool known, unsigned u, int64_t due_ms)
{
    char text[32];
    struct url_put p = {.known = known,
                        .crawl = bytes_of_str("c"),
                        .key = bytes_of_str(KEY),
                        .due_ms = due_ms};

    snprintf(text, sizeof text, "http://" KEY "/%u", u);
    p.url = bytes_of_str(text);
    SAME(served_put(t, &p, 1, NOW), STATUS_OK);
}

static void put(struct served *t, unsigned u, int64_t due_ms)
{
    put_as(t, true, u, due_ms);
}

static bool take(void *ctx, const struct url_view *v)
{
    char *got = ctx;

    strncat(got, v->url.at + v->url.len - 1, 1);
    return true;
}

/* The last character of each URL that is leased at `now`. */
static const char *leased_at(struct served *t, int64_t now)
{
    static char got[100];
    struct url_ask ask = {.any_crawl = true, .lease_ms = 1 << 30};
    bool more;

    got[0] = '\0';
    ck_ok(served_get(t, &ask, now, take, got, &more));
    return got;
}

TEST(only_the_last_moment_counts_and_memory_stays_as_it_was)
{
    struct scratch at = scratch_make();
    struct served *t = NULL;
    uint64_t memory = 0;

    ck_ok(served_open(&t, at.dir, &options, NOW));
    ck_ok(served_set_default_delay(t, 0, NOW));
    for (unsigned u = 0; u < URLS; u++)
        put(t, u, NOW + 1000 + u);
    for (unsigned i = 0; i < 40000; i++) {
        put(t, 1, NOW + 2000 + i % 500);
        if (i % 1000 == 999)
            ck_ok(served_commit(t));
        if (i == 1999)
            memory = served_memory(t);
    }
    ck_assert_uint_le(served_memory(t), memory + (256 << 10));
    put(t, 1, NOW + 3000);
    ck_assert_str_eq(leased_at(t, NOW + 999), "");
    ck_assert_str_eq(leased_at(t, NOW + 2999), "02");
    ck_assert_str_eq(leased_at(t, NOW + 3000), "1");
    ck_assert_str_eq(leased_at(t, NOW + 9000), "");
    served_close(t);
    scratch_remove(&at);
}

/* The last character of each URL that is leased for a second at `now`. */
static const char *leased_shortly(struct served *t, int64_t now)
{
    static char got[100];
    struct url_ask ask = {.any_crawl = true, .lease_ms = 1000};
    bool more;

    got[0] = '\0';
    SAME(served_get(t, &ask, now, take, got, &more), STATUS_OK);
    return got;
}

static struct served *restarted(struct served *t, const char *dir, int64_t now)
{
    SAME(served_commit(t), STATUS_OK);
    served_close(t);
    SAME(served_open(&t, dir, &options, now), STATUS_OK);
    return t;
}

static bool note_lease(void *ctx, const struct url_view *v)
{
    *(uint64_t *)ctx = v->lease;
    return true;
}

/* Its row would end before it begins, and a restart find no length. */
TEST(a_lease_is_extended_after_the_clock_was_set_back)
{
    const int64_t back = NOW - 864000000;
    struct scratch at = scratch_make();
    struct served *t = NULL;
    struct url_ask ask = {.any_crawl = true, .lease_ms = 1000};
    uint64_t lease = 0;
    bool more;

    ck_ok(served_open(&t, at.dir, &options, NOW));
    put_as(t, false, 0, 0);
    ck_ok(served_get(t, &ask, NOW, note_lease, &lease, &more));
    ck_ok(served_settle(t, lease, URL_SETTLE_EXTEND, back + 5000, NULL, back));
    t = restarted(t, at.dir, back + 3000);
    ck_assert_str_eq(leased_shortly(t, back + 4999), "");
    ck_assert_str_eq(leased_shortly(t, back + 9000), "0");
    ck_ok(served_stop(t, back + 9000));
    served_close(t);
    SAME(rig_verify_dir(at.dir), 1);
    scratch_remove(&at);
}

static uint64_t seen_asked(struct served *t)
{
    struct frontier_stats w;

    served_get_stats(t, &w);
    return w.in_batch + w.hot + w.certainly_new + w.maybe_seen + w.unsure;
}

/* Promise (The service): a leased URL that comes back is found without filter
 * and exact set, so completing costs what is leased and not what there is. */
/* Filter and exact set grow with all URLs; the leases do not. */
TEST(a_url_that_comes_back_is_found_without_the_seen_check)
{
    struct scratch at = scratch_make();
    struct served *t = NULL;
    uint64_t asked;

    ck_ok(served_open(&t, at.dir, &options, NOW));
    for (unsigned u = 0; u < URLS; u++)
        put_as(t, false, u, 0);
    ck_assert_str_eq(leased_at(t, NOW), "012");
    asked = seen_asked(t);
    for (unsigned u = 0; u < URLS; u++)
        put(t, u, 0);
    SAME(seen_asked(t), asked);
    put(t, 0, 0); /* it is not leased any more */
    SAME(seen_asked(t), asked + 1);
    served_close(t);
    scratch_remove(&at);
}

static uint64_t allocated(void)
{
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

/* Many queues whose URLs wait for their moments. Sanitizers bring an allocator
 * of their own, which tells nothing. */
TEST(what_it_says_to_take_is_what_it_takes)
{
    struct scratch at = scratch_make();
    struct served *t = NULL;
    uint64_t told, taken;

    ck_ok(served_open(&t, at.dir, &options, NOW));
    told = served_memory(t);
    taken = allocated();
    for (unsigned i = 0; i < 15000; i++) {
        char key[32], text[64];
        struct url_put p = {.known = true,
                            .crawl = bytes_of_str("c"),
                            .due_ms = NOW + 1000};

        snprintf(key, sizeof key, "h%u.test", i / 3);
        snprintf(text, sizeof text, "http://%s/%u", key, i);
        p.key = bytes_of_str(key);
        p.url = bytes_of_str(text);
        SAME(served_put(t, &p, 1, NOW), STATUS_OK);
    }
    ck_ok(served_commit(t));
    told = served_memory(t) - told;
    taken = allocated() - taken;
    if (taken > 0)
        ck_assert_msg(told > taken - taken / 8 && told < taken + taken / 8,
                      "%llu octets told, %llu taken", (unsigned long long)told,
                      (unsigned long long)taken);
    served_close(t);
    scratch_remove(&at);
}

static void counted(struct served *t, int64_t now, uint64_t dated,
                    uint64_t overdue, int64_t oldest_ms)
{
    struct served_dates d;

    served_count_dates(t, 40000, now);
    d = served_dates(t);
    SAME(d.dated, dated);
    SAME(d.overdue, overdue);
    if (overdue > 0)
        SAME(d.oldest_ms, oldest_ms);
}

/* Promise (Commands and options): metrics, events and the dashboard show how
 * many served URLs have a date, how many are overdue, and how old the oldest
 * is; counting costs the same with ten million. See also
 * `tests/cli/metrics.sh`. */
TEST(dates_are_counted_as_they_are_given_and_pass)
{
    struct scratch at = scratch_make();
    struct served *t = NULL;
    uint64_t gone;

    SAME(served_open(&t, at.dir, &options, NOW), STATUS_OK);
    SAME(served_set_default_delay(t, 0, NOW), STATUS_OK);
    put_as(t, false, 0, 0);
    counted(t, NOW + 100000, 0, 0, 0); /* it has its turn, not a date */
    put(t, 1, NOW + 1000);
    put(t, 2, NOW + 2000);
    put_as(t, false, 3, NOW + 3000);
    counted(t, NOW, 3, 0, 0);
    counted(t, NOW + 1000 + SERVED_OVERDUE_MS - 1, 3, 0, 0);
    counted(t, NOW + 2000 + SERVED_OVERDUE_MS, 3, 2, NOW + 1000);
    SAME(served_stop(t, NOW), STATUS_OK);
    served_close(t);
    SAME(served_open(&t, at.dir, &options, NOW), STATUS_OK);
    counted(t, NOW + 2000 + SERVED_OVERDUE_MS, 3, 2, NOW + 1000);
    ck_assert_str_eq(leased_at(t, NOW + 1000), "01");
    counted(t, NOW + 2000 + SERVED_OVERDUE_MS, 3, 2, NOW + 1000); /* leased */
    put(t, 1, 0);
    counted(t, NOW + 2000 + SERVED_OVERDUE_MS, 2, 1, NOW + 2000);
    put(t, 0, NOW + 500); /* its holder says when */
    counted(t, NOW + 2000 + SERVED_OVERDUE_MS, 3, 2, NOW + 500);
    SAME(served_remove_queue(t, bytes_of_str("c"), bytes_of_str(KEY), NOW,
                             &gone),
         STATUS_OK);
    SAME(gone, 4);
    counted(t, NOW + 100000, 0, 0, 0);
    ck_assert(!served_dates_go_on(t));
    served_close(t);
    scratch_remove(&at);
}
