/*
 * judge_rig.h - a frontier whose drops are judged again: a scope that the test
 * changes, and pages that report drops. Header only.
 */
#ifndef URLWEIR_TESTS_FRONTIER_CRAWL_JUDGE_RIG_H
#define URLWEIR_TESTS_FRONTIER_CRAWL_JUDGE_RIG_H

#include "frontier/url/url_form.h"
#include "tests/unit/frontier/frontier_rig.h"

#define BIT(reason) (UINT64_C(1) << (reason))

static const struct outcome judge_fetched = {OUTCOME_FETCHED, REASON_NONE, 200};

/* Any URL up to this depth (-1: any), except those that match `exclude`; NULL:
 * none. */
static inline void judge_terms(struct rig *r, int64_t depth,
                               const char *exclude)
{
    const struct scope_options o = {.mode = SCOPE_ANY,
                                    .depth = depth,
                                    .max_url_length = 2048,
                                    .exclude = &exclude,
                                    .exclude_count = exclude != NULL,
                                    .listings = LINK_BIT(LINK_SITEMAP)};
    struct scope *s = NULL;

    ck_ok(scope_new(&s, &o, NULL));
    if (r->o.judge.scope == NULL)
        r->o.judge.scope = s;
    else
        scope_become(r->o.judge.scope, s);
}

/* The caller may change options before rig_create. */
static inline void judge_init(struct rig *r)
{
    rig_init(r);
    r->o.keep_dropped = UINT64_C(1) << 30;
    r->o.listings = LINK_BIT(LINK_SITEMAP);
    r->o.judge.kinds = UINT32_MAX & ~LINK_BIT(LINK_MEDIA);
    judge_terms(r, -1, NULL);
}

static inline void judge_fini(struct rig *r)
{
    rig_fini(r);
    scope_free(r->o.judge.scope);
}

/* The form without this parameter; the caller frees it. */
static inline struct url_form *judge_form_without(const char *parameter)
{
    const struct url_form_options o = {.drop = {&parameter, 1}};
    struct url_form *f = NULL;

    ck_ok(url_form_new(&f, &o, NULL));
    return f;
}

/* The settings behind these reasons have changed. */
static inline void judge_again(struct rig *r, uint64_t reasons)
{
    ck_ok(frontier_rejudge(r->e, reasons, r->now));
}

/* Turns until no drop is left to judge. */
static inline void judge_all(struct rig *r)
{
    for (int i = 0; rig_stats(r).rejudging; i++) {
        ck_assert_int_lt(i, 1000);
        rig_commit(r);
    }
    rig_commit(r);
}

static inline struct url_drop judge_drop(const char *url,
                                         enum outcome_reason reason)
{
    return (struct url_drop){.reason = reason,
                             .host = bytes_of_str("a.test"),
                             .url = bytes_of_str(url),
                             .whole = true,
                             .kind = LINK_A,
                             .depth = 1};
}

/* Reports the leased URL `id` as a page with these drops. */
static inline void judge_ack(struct rig *r, uint64_t id,
                             const struct url_drop *drops, size_t n)
{
    struct url_done d = {
        .id = id,
        .outcome = judge_fetched,
        .row = {.at_ms = RIG_WALL},
        .drops = drops,
        .drop_count = n,
        .host = {.ended = r->now, .retry_after_ms = -1},
    };

    ck_ok(frontier_ack(r->e, &d, 1, r->now, RIG_WALL));
}

/* A seed whose page has these drops; returns its id. */
static inline uint64_t judge_page(struct rig *r, const char *url,
                                  const struct url_drop *drops, size_t n)
{
    uint64_t id;

    rig_seed(r, url);
    id = rig_lease(r);
    ck_assert_uint_ne(id, 0);
    judge_ack(r, id, drops, n);
    return id;
}

/* The row of the URL `id`; its text is copied to text[256]. */
static inline struct url_row judge_row(struct rig *r, uint64_t id, char *text)
{
    struct url_row row;
    struct buf buf;

    buf_init(&buf, 4096);
    ck_ok(frontier_url(r->e, id, &row, &buf));
    ck_assert_uint_lt(row.url.len, 256);
    memcpy(text, row.url.at, row.url.len);
    text[row.url.len] = '\0';
    row.url = bytes_of_str(text);
    buf_fini(&buf);
    return row;
}

/* The newest row is that of this URL. */
static inline struct url_row judge_newest(struct rig *r, const char *url)
{
    static char text[256];
    struct url_row row =
        judge_row(r, frontier_store_last_id(r->e->store), text);

    ck_assert_str_eq(text, url);
    return row;
}

#endif
