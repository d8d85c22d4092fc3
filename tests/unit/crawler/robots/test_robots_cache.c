/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crawler/robots/robots_cache.h"
#include "tests/unit/unit.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define T0     INT64_C(1700000000000)

static const char origin_a[] = "http://a.example";
static const char keep_out[] = "User-agent: *\nDisallow: /private\n"
                               "Crawl-delay: 2\nSitemap: http://a/s.xml\n";

static struct robots_cache *cache_of(size_t memory)
{
    const struct robots_cache_options o = {.agent = "urlweir/1.0",
                                           .memory = memory,
                                           .retry_delay_ms = SECOND};

    return robots_cache_new(&o);
}

static struct robots_answer ask(struct robots_cache *c, const char *origin,
                                const char *path, int64_t now)
{
    return robots_cache_ask(c, bytes_of_str(origin), bytes_of_str(path), now);
}

static enum robots_verdict verdict(struct robots_cache *c, const char *path,
                                   int64_t now)
{
    return ask(c, origin_a, path, now).verdict;
}

static bool tell(struct robots_cache *c, const char *origin,
                 const struct robots_fetch *f, int64_t now,
                 struct robots_row *row)
{
    struct robots_row ignored;

    return robots_cache_told(c, bytes_of_str(origin), f, now,
                             row != NULL ? row : &ignored);
}

/* Reports a fetch that ended with `status`; `body` may be NULL. */
static void fetched(struct robots_cache *c, int status, const char *body,
                    int64_t now)
{
    const struct robots_fetch f = {.http_status = status,
                                   .body = bytes_of_str(body)};

    tell(c, origin_a, &f, now, NULL);
}

/* Takes the two verdicts that a fetch leaves (robots_cache.h). */
static void use_up(struct robots_cache *c, int64_t now)
{
    for (int i = 0; i < 2; i++)
        ck_assert_int_lt(verdict(c, "/", now), ROBOTS_FETCH);
}

static void fetched_for(struct robots_cache *c, const char *body,
                        const char *cache_control, int64_t now)
{
    const struct robots_fetch f = {.http_status = 200,
                                   .body = bytes_of_str(body),
                                   .cache_control =
                                       bytes_of_str(cache_control)};

    tell(c, origin_a, &f, now, NULL);
}

/* Returns a cache that knows keep_out of origin_a since T0, for a day. */
static struct robots_cache *cache_with_rules(void)
{
    struct robots_cache *c = cache_of(1 << 20);

    ck_assert_int_eq(verdict(c, "/", T0), ROBOTS_FETCH);
    fetched(c, 200, keep_out, T0);
    use_up(c, T0);
    return c;
}

TEST(one_file_per_scheme_host_and_port)
{
    struct robots_cache *c = cache_with_rules();

    ck_assert_int_eq(ask(c, "https://a.example", "/", T0).verdict,
                     ROBOTS_FETCH);
    ck_assert_int_eq(ask(c, "http://a.example:8080", "/", T0).verdict,
                     ROBOTS_FETCH);
    ck_assert_int_eq(ask(c, "http://b.a.example", "/", T0).verdict,
                     ROBOTS_FETCH);
    ck_assert_int_eq(verdict(c, "/", T0), ROBOTS_ALLOWED);
    robots_cache_free(c);
}

/* Promise (Politeness): a missing, unreachable, stale or redirected
 * robots.txt means what RFC 9309 says. See also
 * `robots_cache/rfc9309_2_3_1_4_after_30_days_unreachable_all_is_allowed`,
 * `fetcher_robots/ours_after_all_tries_whole_groups_of_a_robots_txt_are_obeyed`,
 * `make sim`. */
TEST(rfc9309_2_3_1_what_each_status_means)
{
    static const struct {
        int status;
        enum robots_verdict after; /* for a path that the body disallows */
    } t[] = {
        {200, ROBOTS_DENIED},  {203, ROBOTS_DENIED},  {206, ROBOTS_DENIED},
        {301, ROBOTS_ALLOWED}, {302, ROBOTS_ALLOWED}, {308, ROBOTS_ALLOWED},
        {400, ROBOTS_ALLOWED}, {401, ROBOTS_ALLOWED}, {403, ROBOTS_ALLOWED},
        {404, ROBOTS_ALLOWED}, {410, ROBOTS_ALLOWED}, {499, ROBOTS_ALLOWED},
        {429, ROBOTS_WAIT},    {500, ROBOTS_WAIT},    {503, ROBOTS_WAIT},
        {599, ROBOTS_WAIT},    {0, ROBOTS_WAIT},      {304, ROBOTS_WAIT},
        {100, ROBOTS_WAIT},    {600, ROBOTS_WAIT},    {999, ROBOTS_WAIT},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct robots_cache *c = cache_of(1 << 20);

        verdict(c, "/private", T0);
        fetched(c, t[i].status, keep_out, T0);
        ck_assert_msg(verdict(c, "/private", T0) == t[i].after, "%d",
                      t[i].status);
        robots_cache_free(c);
    }
}

TEST(rfc9309_2_4_a_copy_is_kept_for_a_day_at_most)
{
    static const struct {
        const char *cache_control;
        int64_t fresh;
    } t[] = {
        {"", DAY},
        {"max-age=3600", HOUR},
        {"max-age=1", SECOND},
        {"max-age=86400", DAY},
        {"max-age=31536000", DAY},
        /* ours: asking each time would double our requests. */
        {"max-age=0", MINUTE},
        {"no-cache", MINUTE},
        {"private, no-store", MINUTE},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct robots_cache *c = cache_of(1 << 20);

        verdict(c, "/private", T0);
        fetched_for(c, keep_out, t[i].cache_control, T0);
        use_up(c, T0);
        ck_assert_msg(verdict(c, "/private", T0 + t[i].fresh - 1) ==
                          ROBOTS_DENIED,
                      "%s", t[i].cache_control);
        ck_assert_msg(verdict(c, "/private", T0 + t[i].fresh) == ROBOTS_FETCH,
                      "%s", t[i].cache_control);
        robots_cache_free(c);
    }
}

TEST(a_longer_retry_after_counts_instead_up_to_a_day)
{
    static const struct {
        const char *retry_after;
        int64_t wait;
    } t[] = {{"120", 2 * MINUTE},
             {"0", SECOND / 2},
             {"never", SECOND / 2},
             {"", SECOND / 2},
             {"1000000000", DAY}};

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct robots_cache *c = cache_of(1 << 20);
        const struct robots_fetch f = {.http_status = 429,
                                       .retry_after =
                                           bytes_of_str(t[i].retry_after)};

        verdict(c, "/", T0);
        tell(c, origin_a, &f, T0, NULL);
        ck_assert_int_eq(ask(c, origin_a, "/", T0).until_ms, T0 + t[i].wait);
        robots_cache_free(c);
    }
}

TEST(rfc9309_2_3_1_4_after_30_days_unreachable_all_is_allowed)
{
    struct robots_cache *c = cache_of(1 << 20);
    int64_t now = T0;
    struct robots_answer a = ask(c, origin_a, "/x", now);

    while (a.verdict == ROBOTS_FETCH) {
        fetched(c, 503, NULL, now);
        a = ask(c, origin_a, "/x", now);
        if (a.verdict != ROBOTS_WAIT)
            break;
        ck_assert_int_lt(now, T0 + 30 * DAY);
        now = a.until_ms;
        a = ask(c, origin_a, "/x", now);
    }
    ck_assert_int_eq(a.verdict, ROBOTS_ALLOWED);
    ck_assert(a.stale);
    ck_assert_int_ge(now, T0 + 30 * DAY);
    ck_assert_int_lt(now, T0 + 30 * DAY + 2 * HOUR);
    /* The cache sees that the origin is back. */
    use_up(c, now);
    ck_assert_int_eq(verdict(c, "/x", now + HOUR), ROBOTS_FETCH);
    fetched(c, 200, "User-agent: *\nDisallow: /", now + HOUR);
    ck_assert_int_eq(verdict(c, "/x", now + HOUR), ROBOTS_DENIED);
    robots_cache_free(c);
}

TEST(not_modified_renews_the_copy)
{
    struct robots_cache *c = cache_with_rules();

    ck_assert_int_eq(verdict(c, "/private", T0 + DAY), ROBOTS_FETCH);
    fetched(c, 304, NULL, T0 + DAY);
    ck_assert_int_eq(verdict(c, "/private", T0 + 2 * DAY - 1), ROBOTS_DENIED);
    ck_assert_int_eq(verdict(c, "/private", T0 + 2 * DAY), ROBOTS_FETCH);
    robots_cache_free(c);
}

TEST(ours_a_clock_set_back_makes_a_copy_stale)
{
    struct robots_cache *c = cache_with_rules();

    ck_assert_int_eq(verdict(c, "/private", T0 - 365 * DAY), ROBOTS_FETCH);
    fetched(c, 500, NULL, T0 - 365 * DAY);
    ck_assert_int_eq(verdict(c, "/private", T0 - 365 * DAY), ROBOTS_DENIED);
    ck_assert_int_eq(verdict(c, "/private", T0 - 730 * DAY), ROBOTS_FETCH);
    robots_cache_free(c);
}

TEST(a_file_cut_at_the_limit_loses_only_its_last_line)
{
    struct robots_cache *c = cache_of(1 << 20);
    char *body = xmalloc(ROBOTS_FETCH_MOST);
    const struct robots_fetch f = {.http_status = 200,
                                   .body = bytes_of(body, ROBOTS_FETCH_MOST)};
    struct robots_row row;

    memset(body, '#', ROBOTS_FETCH_MOST);
    memcpy(body, keep_out, strlen(keep_out));
    memcpy(body + ROBOTS_FETCH_MOST - 13, "\nDisallow: /pu", 13);
    verdict(c, "/", T0);
    ck_assert(tell(c, origin_a, &f, T0, &row));
    ck_assert_int_eq(verdict(c, "/pxyz", T0), ROBOTS_ALLOWED);
    ck_assert_int_eq(verdict(c, "/private", T0), ROBOTS_DENIED);
    ck_assert_uint_eq(row.body.len, ROBOTS_FETCH_MOST - 12);
    free(body);
    robots_cache_free(c);
}

TEST(memory_is_bounded_and_the_longest_unasked_go_first)
{
    struct robots_cache *c = cache_of(20000);
    char origin[64];
    unsigned held = 0;

    for (int i = 0; i < 1000; i++) {
        const struct robots_fetch f = {.http_status = 200,
                                       .body = bytes_of_str(keep_out)};

        snprintf(origin, sizeof origin, "http://host%d.example", i);
        ck_assert_int_eq(ask(c, origin, "/", T0).verdict, ROBOTS_FETCH);
        tell(c, origin, &f, T0, NULL);
        /* It is asked about all the time, so it stays. */
        ck_assert_int_eq(ask(c, "http://host0.example", "/", T0).verdict,
                         ROBOTS_ALLOWED);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(origin, sizeof origin, "http://host%d.example", i);
        held += robots_cache_rules(c, bytes_of_str(origin)) != NULL;
    }
    ck_assert_uint_gt(held, 10);
    ck_assert_uint_lt(held, 100);
    ck_assert_int_eq(ask(c, "http://host999.example", "/", T0).verdict,
                     ROBOTS_ALLOWED);
    ck_assert_int_eq(ask(c, "http://host1.example", "/", T0).verdict,
                     ROBOTS_FETCH);
    robots_cache_free(c);
}

/* ---- across a restart -----------------------------------------------------*/

TEST(a_stored_copy_is_not_replaced_by_a_failure)
{
    struct robots_cache *c = cache_with_rules();
    const struct robots_fetch f = {.http_status = 0};
    struct robots_row row;

    verdict(c, "/", T0 + DAY);
    ck_assert(!tell(c, origin_a, &f, T0 + DAY, &row));
    robots_cache_free(c);
}

TEST(a_restored_row_does_not_replace_what_is_known)
{
    struct robots_cache *c = cache_with_rules();
    const struct robots_row row = {.origin = bytes_of_str(origin_a),
                                   .fetched_at_ms = T0,
                                   .expires_at_ms = T0 + DAY,
                                   .http_status = 404};

    robots_cache_restore(c, &row);
    ck_assert_int_eq(verdict(c, "/private", T0), ROBOTS_DENIED);
    robots_cache_free(c);
}

/* ---- against a plain model ------------------------------------------------*/

/* One origin, as the table in robots_cache.h describes it, in the simplest
 * code. */
struct model {
    int owed;
    int64_t told;
    bool known, fetching, unreachable, has_copy, copy_denies;
    int64_t good_until, retry_at, wait, since;
};

static enum robots_verdict model_ask(struct model *m, int64_t now)
{
    bool due = !m->known ||
               (m->unreachable ? now >= m->retry_at : now >= m->good_until);

    if (m->fetching)
        return ROBOTS_FETCHING;
    if (m->has_copy && m->owed > 0 && now < m->told + DAY) {
        m->owed--;
        due = false;
    }
    if (due) {
        m->fetching = true;
        return ROBOTS_FETCH;
    }
    if (m->unreachable && !m->has_copy)
        return ROBOTS_WAIT;
    return m->copy_denies ? ROBOTS_DENIED : ROBOTS_ALLOWED;
}

static void model_told(struct model *m, int status, int64_t now)
{
    m->fetching = false;
    m->known = true;
    m->owed = 2;
    m->told = now;
    if (status >= 500 || status == 0 || status == 429) {
        if (!m->unreachable) {
            m->since = now;
            m->wait = 0;
        }
        m->unreachable = true;
        m->wait = !m->has_copy   ? SECOND / 2
                  : m->wait == 0 ? SECOND
                                 : m->wait * 2;
        if (m->wait > HOUR)
            m->wait = HOUR;
        m->retry_at = now + m->wait;
        if (!m->has_copy && now - m->since >= 30 * DAY) {
            m->has_copy = true;
            m->copy_denies = false;
        }
        return;
    }
    m->unreachable = false;
    m->has_copy = true;
    m->copy_denies = status == 200;
    m->good_until = now + DAY;
}

TEST(answers_as_a_plain_model_does)
{
    static const int statuses[] = {200, 404, 0, 503, 429, 301};
    struct model models[5] = {{0}};
    struct robots_cache *c = cache_of(1 << 20);
    uint64_t x = 4;
    int64_t now = T0;
    size_t seen[ROBOTS_WAIT + 1] = {0};

    for (int round = 0; round < 150000; round++) {
        char origin[16];
        size_t i;

        x = x * 6364136223846793005u + 1442695040888963407u;
        i = (x >> 33) % 5;
        snprintf(origin, sizeof origin, "http://%zu", i);
        /* Origin 0 never responds. */
        if (models[i].fetching && (x >> 40) % 2 == 0) {
            int status = i == 0 ? 503 : statuses[(x >> 45) % 6];
            const struct robots_fetch f = {.http_status = status,
                                           .body = bytes_of_str(
                                               "User-agent: *\nDisallow: /\n")};

            tell(c, origin, &f, now, NULL);
            model_told(&models[i], status, now);
        } else {
            enum robots_verdict got = ask(c, origin, "/x", now).verdict;

            ck_assert_int_eq(got, model_ask(&models[i], now));
            seen[got]++;
        }
        now += (int64_t)((x >> 50) % 1000) * 40;
    }
    for (size_t i = 0; i <= ROBOTS_WAIT; i++)
        ck_assert_uint_gt(seen[i], 20);
    ck_assert(models[0].has_copy); /* thirty days have passed */
    robots_cache_free(c);
}

TEST(the_row_to_store_says_what_came)
{
    static const struct {
        int status;
        bool stored;
        uint16_t in_row;
        int64_t fresh, unreachable;
    } t[] = {
        {200, true, 200, DAY, 0},
        {404, true, 404, DAY, 0},
        {304, false, 0, 0, 0}, /* without a copy: nothing to store */
        {503, true, 503, SECOND / 2, T0},
        {0, true, 0, SECOND / 2, T0},
        {-5, true, 0, SECOND / 2, T0},
        {999, true, 999, SECOND / 2, T0},
        {1000, true, 0, SECOND / 2, T0},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct robots_cache *c = cache_of(1 << 20);
        const struct robots_fetch f = {.http_status = t[i].status,
                                       .body = bytes_of_str(keep_out)};
        struct robots_row row;

        ck_assert_msg(tell(c, origin_a, &f, T0, &row) == t[i].stored, "%d",
                      t[i].status);
        if (t[i].stored) {
            ck_assert(bytes_is(row.origin, origin_a));
            ck_assert_int_eq(row.fetched_at_ms, T0);
            ck_assert_int_eq(row.expires_at_ms, T0 + t[i].fresh);
            ck_assert_int_eq(row.unreachable_since_ms, t[i].unreachable);
            ck_assert_uint_eq(row.http_status, t[i].in_row);
            ck_assert_uint_eq(row.body.len,
                              t[i].status == 200 ? strlen(keep_out) : 0);
        }
        robots_cache_free(c);
    }
}

/* The back-off goes on from what was stored, if that is possible at all. */
TEST(a_stored_wait_goes_on_unless_it_is_nonsense)
{
    static const struct {
        int64_t fetched, retry;
        enum robots_verdict now;
    } t[] = {
        {T0, T0 + MINUTE, ROBOTS_WAIT},   {T0, T0 + DAY, ROBOTS_WAIT},
        {T0, T0, ROBOTS_FETCH},           {T0, T0 - MINUTE, ROBOTS_FETCH},
        {T0, T0 + 2 * DAY, ROBOTS_FETCH},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct robots_cache *c = cache_of(1 << 20);
        const struct robots_row row = {.origin = bytes_of_str(origin_a),
                                       .fetched_at_ms = t[i].fetched,
                                       .expires_at_ms = t[i].retry,
                                       .unreachable_since_ms = T0 - HOUR,
                                       .http_status = 503};

        robots_cache_restore(c, &row);
        ck_assert_uint_eq(ask(c, origin_a, "/", T0).failures, 1);
        robots_cache_gave_up(c, bytes_of_str(origin_a));
        ck_assert_msg(verdict(c, "/", T0) == t[i].now, "%zu", i);
        robots_cache_free(c);
    }
}
