/* SPDX-License-Identifier: MIT */
/* test_outcome_rows.c - outcomes for a reader beside the crawl. */
#include "storage/outcome_rows.h"

#include "tests/unit/frontier/frontier_rig.h"

struct seen {
    char urls[8][64], vias[8][64], to[8][64], same[8][64];
    struct url_record rows[8]; /* numbers only */
    unsigned n;
};

static void copy(char out[64], struct bytes b)
{
    snprintf(out, 64, "%.*s", (int)b.len, b.at);
}

static void take(void *ctx, const struct url_record *row)
{
    struct seen *s = ctx;

    ck_assert_uint_lt(s->n, 8);
    copy(s->urls[s->n], row->url.url);
    copy(s->vias[s->n], row->via);
    copy(s->to[s->n], row->redirect_to);
    copy(s->same[s->n], row->same_as);
    s->rows[s->n++] = *row;
}

static struct outcome_rows *open_rows(const struct rig *r)
{
    struct outcome_rows *o = NULL;

    ck_ok(outcome_rows_open(&o, r->at.db));
    return o;
}

static void ack(struct rig *r, struct outcome o, struct fetch_row row,
                const struct url_item *link)
{
    struct url_done d = {
        .id = rig_lease(r),
        .outcome = o,
        .row = row,
        .outlinks = link,
        .outlink_count = link != NULL,
        .host = {.ended = r->now, .retry_after_ms = -1},
    };

    ck_assert_uint_ne(d.id, 0);
    d.row.at_ms = RIG_WALL;
    ck_ok(frontier_ack(r->e, &d, 1, r->now, RIG_WALL));
}

/* A page, a redirect to it, one to nowhere in the crawl, and a page of the same
 * body; the second had a try that was repeated. */
static void make(struct rig *r)
{
    const struct outcome page = {OUTCOME_FETCHED, REASON_NONE, 200};
    const struct outcome moved = {OUTCOME_REDIRECT, REASON_NONE, 301};
    struct url_item link, back;
    struct url_done d = {
        .outcome = {OUTCOME_FAILED, REASON_TIMEOUT, 0},
        .transient = true,
        .row = {.at_ms = RIG_WALL},
        .host = {.ended = 1, .retry_after_ms = -1},
    };

    rig_init(r);
    r->o.tries = 2;
    r->o.skip_same_content = true;
    rig_create(r);
    rig_seed(r, "http://a.test/");
    link = rig_item(r, "http://a.test/moved");
    link.kind = LINK_AREA;
    ack(r, page,
        (struct fetch_row){.mime = bytes_of_str("text/html"),
                           .body_digest = {1, 2},
                           .wire_bytes = 77},
        &link);
    d.id = rig_lease(r);
    ck_ok(frontier_ack(r->e, &d, 1, r->now, RIG_WALL));
    r->now += 60 * NS_PER_S;
    back = rig_item(r, "http://a.test/");
    ack(r, moved, (struct fetch_row){.flags = 0}, &back);
    rig_seed(r, "http://a.test/away");
    ack(r, (struct outcome){OUTCOME_REDIRECT, REASON_REDIRECT_SCOPE, 302},
        (struct fetch_row){.redirect_url = bytes_of_str("http://b.test/x")},
        NULL);
    rig_seed(r, "http://a.test/same");
    ack(r, page, (struct fetch_row){.body_digest = {1, 2}}, NULL);
    rig_commit(r);
}

TEST(each_url_has_its_last_word_with_the_urls_that_it_names)
{
    static struct seen s;
    struct outcome_rows *o;
    uint64_t last = 0;
    unsigned n = 9;
    struct rig r;

    make(&r);
    o = open_rows(&r);
    ck_ok(outcome_rows_each(o, 0, 8, take, &s, &n));
    ck_assert_uint_eq(n, 4);
    ck_assert_uint_eq(s.n, 4);
    ck_ok(outcome_rows_last(o, &last));
    ck_assert_uint_eq(last, 5);

    ck_assert_str_eq(s.urls[0], "http://a.test/");
    ck_assert_str_eq(s.vias[0], "");
    ck_assert_str_eq(s.to[0], "");
    ck_assert_str_eq(s.same[0], "");
    ck_assert_uint_eq(s.rows[0].url.id, 1);
    ck_assert_uint_eq(s.rows[0].url.depth, 0);
    ck_assert_uint_eq(s.rows[0].url.kind, LINK_SEED);
    ck_assert_uint_eq(s.rows[0].fetch.seq, 1);
    ck_assert_uint_eq(s.rows[0].fetch.wire_bytes, 77);
    ck_assert_uint_eq(s.rows[0].fetch.http_status, 200);

    ck_assert_str_eq(s.urls[1], "http://a.test/moved");
    ck_assert_str_eq(s.vias[1], "http://a.test/");
    ck_assert_str_eq(s.to[1], "http://a.test/");
    ck_assert_uint_eq(s.rows[1].fetch.seq, 3);
    ck_assert_uint_eq(s.rows[1].fetch.tries, 2);
    ck_assert_uint_eq(s.rows[1].url.depth, 1);
    ck_assert_uint_eq(s.rows[1].url.kind, LINK_AREA);

    ck_assert_str_eq(s.to[2], "http://b.test/x");
    ck_assert_str_eq(s.same[3], "http://a.test/");
    outcome_rows_close(o);
    outcome_rows_close(NULL);
    rig_fini(&r);
}

TEST(what_cannot_be_is_damage_and_what_is_not_there_an_error)
{
    static const char *const harms[] = {
        "UPDATE url SET depth = -1 WHERE id = 1",
        "UPDATE url SET depth = 4294967296 WHERE id = 1",
        "UPDATE url SET kind = 1000 WHERE id = 1",
        "UPDATE fetch SET status = 'x' WHERE seq = 1",
    };
    struct outcome_rows *o = NULL;
    struct scratch none = scratch_make();
    struct rig r;

    scratch_quiet();
    make(&r);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        struct scratch copy_of = scratch_make();
        static struct seen s;
        unsigned n;

        s.n = 0;
        if (r.e != NULL)
            rig_stop(&r);
        rig_copy(&r.at, &copy_of);
        scratch_sql(copy_of.db, harms[i]);
        ck_ok(outcome_rows_open(&o, copy_of.db));
        ck_assert_int_eq(outcome_rows_each(o, 0, 8, take, &s, &n),
                         STATUS_DAMAGED);
        ck_assert_uint_eq(n, 0);
        outcome_rows_close(o);
        scratch_remove(&copy_of);
    }
    o = NULL;
    ck_assert_int_ne(outcome_rows_open(&o, none.db), STATUS_OK);
    ck_assert_ptr_null(o);
    scratch_remove(&none);
    rig_fini(&r);
}
