/* SPDX-License-Identifier: MIT */
/*
 * test_rejudge.c - drops that a changed setting lets in: which are kept, which
 * are judged again, and what becomes of them.
 */
#include "frontier/order.h"
#include "tests/unit/frontier/crawl/judge_rig.h"
#include "tests/unit/storage/step_fault.h"

/* ---- what is kept ---- */

TIMEOUT(120);

TEST(what_has_no_room_is_counted_as_lost)
{
    struct url_drop d[3] = {judge_drop("http://b.test/", REASON_SCOPE),
                            judge_drop("http://c.test/", REASON_SCOPE),
                            judge_drop("http://d.test/", REASON_SCOPE)};
    struct rig r;

    judge_init(&r);
    r.o.keep_dropped = 1;
    rig_create(&r);
    (void)judge_page(&r, "http://a.test/", d, 3);
    rig_commit(&r);
    ck_assert_uint_eq(rig_stats(&r).drops_kept, 1);
    ck_assert_uint_eq(rig_stats(&r).drops_lost, 2);
    judge_again(&r, BIT(REASON_SCOPE));
    judge_all(&r);
    ck_assert_uint_eq(rig_stats(&r).urls, 2);
    judge_fini(&r);
}

/* ---- while fetchers work, and over crashes ---- */

#define MANY 4000

/* Some hundred drops are judged in a turn; a crash goes on where it was. */
TEST(a_long_log_is_judged_in_turns_and_goes_on_after_a_crash)
{
    static char urls[MANY][64];
    struct url_drop *d = calloc(MANY, sizeof *d);
    uint64_t before, after;
    unsigned turns = 0;
    struct rig r;

    judge_init(&r);
    rig_create(&r);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(urls[i], sizeof urls[i], "http://h%u.test/%010u%010u", i % 7,
                 i * 2654435761U, i * 40503U + i);
        d[i] = judge_drop(urls[i], REASON_SCOPE);
    }
    (void)judge_page(&r, "http://a.test/", d, MANY);
    rig_commit(&r);
    ck_assert_uint_eq(rig_stats(&r).drops_kept, MANY);
    judge_again(&r, BIT(REASON_SCOPE));
    rig_commit(&r);
    before = rig_stats(&r).urls;
    ck_assert_uint_gt(before, 100);
    ck_assert_uint_lt(before, MANY);
    rig_crash(&r);
    ck_assert_uint_eq(rig_stats(&r).urls, before);
    rig_commit(&r); /* not before the scope has its places */
    ck_assert_uint_eq(rig_stats(&r).urls, before);
    judge_again(&r, 0);
    for (; rig_stats(&r).rejudging; turns++)
        rig_commit(&r);
    after = rig_stats(&r).urls;
    ck_assert_uint_eq(after, MANY + 1);
    ck_assert_uint_ge(turns, 2);
    ck_assert_uint_eq(rig_stats(&r).returned, MANY);
    rig_stop(&r);
    rig_verify(&r);
    free(d);
    judge_fini(&r);
}

TEST(a_mark_that_makes_no_sense_is_damage)
{
    struct frontier *e = NULL;
    struct rig r;

    judge_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    ck_ok(frontier_set_meta(r.e, "rejudge", bytes_of_str("1 2 3 4")));
    rig_stop(&r);
    ck_assert_int_eq(frontier_open(&e, r.at.dir, &r.o, r.now, RIG_WALL),
                     STATUS_DAMAGED);
    judge_fini(&r);
}

TEST(kept_drops_that_make_no_sense_are_damage)
{
    struct url_drop d = judge_drop("http://b.test/x", REASON_SCOPE);
    struct rig r;

    scratch_quiet();
    judge_init(&r);
    rig_create(&r);
    (void)judge_page(&r, "http://a.test/", &d, 1);
    rig_stop(&r);
    scratch_sql(r.at.db, "UPDATE kept_drop SET entries = x'ff'");
    rig_reopen(&r);
    judge_again(&r, BIT(REASON_SCOPE));
    ck_assert_int_eq(frontier_turn(r.e, true, r.now, RIG_WALL, NULL),
                     STATUS_DAMAGED);
    judge_fini(&r);
}

/* ---- URLs that were admitted, and skipped when their turn came ---- */

static void skip(struct rig *r, uint64_t id, enum outcome_reason reason,
                 const char *mime)
{
    struct url_done d = {
        .id = id,
        .outcome = {OUTCOME_SKIPPED, reason, 200},
        .row = {.at_ms = RIG_WALL, .mime = bytes_of_str(mime)},
        .host = {.ended = r->now, .retry_after_ms = -1},
    };

    ck_ok(frontier_ack(r->e, &d, 1, r->now, RIG_WALL));
}

static bool takes_text(const void *ctx, struct bytes mime)
{
    ck_assert_ptr_nonnull(ctx);
    return bytes_equal(mime, bytes_of_str("text/plain"));
}

static uint64_t *timeout_of(struct rig *r)
{
    return &r->o.judge.timeout_ms;
}

static uint64_t *redirects_of(struct rig *r)
{
    return &r->o.judge.redirects_most;
}

/* Each outcome, and the limit that made it final if there is one. */
static const struct final_outcome {
    struct outcome is;
    uint8_t flags;                    /* of its row */
    enum outcome_reason lifted;       /* if another one; else 0 */
    uint64_t *(*limit)(struct rig *); /* NULL: none */
} finals[] = {
    {.is = {OUTCOME_SKIPPED, REASON_ADDRESS, 0}},
    {.is = {OUTCOME_SKIPPED, REASON_PORT, 0}},
    {.is = {OUTCOME_SKIPPED, REASON_NOINDEX, 0}},
    {.is = {OUTCOME_SKIPPED, REASON_BLOCKLIST, 0}},
    {.is = {OUTCOME_DENIED, REASON_ROBOTS, 0}},
    {.is = {OUTCOME_DENIED, REASON_ROBOTS_UNREACHABLE, 0}},
    {.is = {OUTCOME_FAILED, REASON_RESET, 0},
     .flags = FETCH_ROW_AT_ROBOTS,
     .lifted = REASON_ROBOTS_UNREACHABLE},
    {.is = {OUTCOME_FAILED, REASON_TLS, 0}},
    {.is = {OUTCOME_FAILED, REASON_DNS, 0}},
    {.is = {OUTCOME_FAILED, REASON_CONNECT, 0}},
    {.is = {OUTCOME_FAILED, REASON_TIMEOUT, 0}, .limit = timeout_of},
    {.is = {OUTCOME_FETCHED, REASON_TRUNCATED_TIME, 0}, .limit = timeout_of},
    {.is = {OUTCOME_REDIRECT, REASON_REDIRECT_LIMIT, 0}, .limit = redirects_of},
};

/* Is it counted nowhere any more? */
static bool is_taken_back(struct rig *r, struct outcome o)
{
    char name[64];

    snprintf(name, sizeof name, "%s.%s", outcome_status_name(o.status),
             outcome_reason_name(o.reason));
    return rig_counter(r, name) == 0 &&
           rig_counter(r, outcome_status_name(o.status)) == 0 &&
           rig_stats(r).seeds_failed == 0 && rig_stats(r).pages == 0;
}

/* Promise (Politeness): a URL that a setting made final comes back when that
 * setting is widened, whichever setting it is. See also `tests/cli/docs.sh`,
 * `make sim`. */
TEST_EACH(an_outcome_that_a_setting_lifts_comes_back_once, finals)
{
    const struct final_outcome *x = &finals[_i];
    const uint64_t lifted =
        BIT(x->lifted != REASON_NONE ? x->lifted : x->is.reason);
    struct url_done d = {
        .outcome = x->is,
        .row = {.at_ms = RIG_WALL, .flags = x->flags},
        .host = {.ended = 1, .retry_after_ms = -1},
    };
    struct rig r;

    judge_init(&r);
    r.o.judge.timeout_ms = 1000;
    r.o.judge.redirects_most = 1;
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    d.id = rig_lease(&r);
    ck_ok(frontier_ack(r.e, &d, 1, r.now, RIG_WALL));
    rig_commit(&r);
    judge_again(&r, REASONS_MAY_RETURN & ~lifted);
    judge_all(&r);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    rig_stop(&r);
    for (int wider = 0; wider < 2; wider++) {
        if (x->limit != NULL && wider)
            ++*x->limit(&r);
        rig_reopen(&r);
        judge_again(&r, lifted);
        judge_all(&r);
        if (x->limit == NULL || wider)
            break;
        ck_assert_uint_eq(rig_stats(&r).queued, 0);
        rig_stop(&r);
    }
    (void)judge_newest(&r, "http://a.test/");
    ck_assert(is_taken_back(&r, x->is));
    judge_again(&r, lifted);
    judge_all(&r);
    ck_assert_uint_eq(rig_stats(&r).queued, 1);
    judge_ack(&r, rig_lease(&r), NULL, 0);
    ck_assert_uint_eq(rig_stats(&r).pages, 1);
    rig_stop(&r);
    rig_verify(&r);
    judge_fini(&r);
}

/* It has a video, maybe a link, and always this body. */
static void read_page_as(struct rig *r, uint64_t id, struct outcome o,
                         struct url_item *link)
{
    struct url_done d = {
        .id = id,
        .outcome = o,
        .row = {.at_ms = RIG_WALL,
                .body_digest = scratch_digest(1),
                .simhash = 12345},
        .outlinks = link,
        .outlink_count = link != NULL,
        .kinds_left = LINK_BIT(LINK_MEDIA) & ~r->o.judge.kinds,
        .host = {.ended = 1, .retry_after_ms = -1},
    };

    ck_ok(frontier_ack(r->e, &d, 1, r->now, RIG_WALL));
}

static void read_page(struct rig *r, uint64_t id, struct url_item *link)
{
    read_page_as(r, id, judge_fetched, link);
}

TEST(links_of_repeated_pages_come_back_when_these_are_only_reported)
{
    struct url_item link;
    struct rig r;

    judge_init(&r);
    r.o.skip_same_content = true;
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    rig_seed(&r, "http://a.test/2");
    read_page(&r, rig_lease(&r), NULL);
    link = rig_item(&r, "http://a.test/of-2");
    link.depth = 1;
    read_page(&r, rig_lease(&r), &link);
    rig_commit(&r);
    judge_again(&r, BIT(REASON_SAME_CONTENT));
    judge_all(&r);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    rig_stop(&r);
    r.o.skip_same_content = false;
    rig_reopen(&r);
    judge_again(&r, BIT(REASON_SAME_CONTENT));
    judge_all(&r);
    ck_assert_uint_eq(judge_newest(&r, "http://a.test/of-2").depth, 1);
    judge_fini(&r);
}

/* A URL that --drop-params gives another form comes back under that form; under
 * its own it comes back when the parameter counts again. */
TEST(a_url_whose_form_has_changed_comes_back_under_the_new_one)
{
    struct url_form *form = judge_form_without("sid");
    struct url_row row;
    struct rig r;

    judge_init(&r);
    r.o.judge.takes_type = takes_text;
    r.o.judge.ctx = &r;
    rig_create(&r);
    rig_seed(&r, "http://a.test/?a=1&sid=2");
    skip(&r, rig_lease(&r), REASON_MIME, "text/plain");
    rig_stop(&r);
    r.o.judge.form = form;
    rig_reopen(&r);
    judge_again(&r, BIT(REASON_MIME));
    judge_all(&r);
    row = judge_newest(&r, "http://a.test/?a=1");
    ck_assert_uint_eq(row.flags & URL_ROW_AGAIN, 0);
    ck_assert_uint_ne(row.flags & URL_ROW_SEED, 0);
    ck_assert_uint_eq(rig_stats(&r).skipped, 1);
    ck_assert_uint_eq(rig_stats(&r).drops_kept, 0);
    judge_fini(&r);
    url_form_free(form);
}

/* ---- the shortest path ---- */

/* The page on which a link was too deep turns out to be nearer to a seed, by a
 * path that was found later. */
TEST(a_shorter_path_found_later_brings_a_link_back)
{
    struct url_drop d = judge_drop("http://a.test/deep", REASON_DEPTH);
    struct url_item far, near;
    struct url_row row;
    uint64_t seed, page;
    struct rig r;

    judge_init(&r);
    judge_terms(&r, 2, NULL);
    rig_create(&r);
    judge_again(&r, 0);
    rig_seed(&r, "http://a.test/");
    seed = rig_lease(&r);
    far = rig_item(&r, "http://a.test/page");
    far.depth = 2; /* a longer way to it was found first */
    ck_assert_int_eq(rig_put(&r, far), PUT_NEW);
    page = rig_lease(&r);
    d.depth = 3;
    judge_ack(&r, page, &d, 1);
    rig_commit(&r);
    ck_assert(!rig_stats(&r).rejudging); /* the seed is out */
    near = rig_item(&r, "http://a.test/page");
    near.depth = 1;
    rig_ack(&r, seed, judge_fetched, &near, 1);
    ck_assert(rig_stats(&r).rejudging);
    judge_all(&r);
    row = judge_newest(&r, "http://a.test/deep");
    ck_assert_uint_eq(row.depth, 2);
    ck_assert_uint_eq(row.via, page);
    judge_ack(&r, rig_lease(&r), NULL, 0);
    judge_all(&r);
    ck_assert_uint_eq(rig_stats(&r).urls, 3);
    rig_stop(&r);
    rig_verify(&r);
    judge_fini(&r);
}

/* What a sitemap lists is as far from a seed as it, but is no seed when the
 * sitemap becomes one, whether it was admitted before or is only now. */
TEST(what_a_list_has_is_no_seed_when_the_list_becomes_one)
{
    struct url_drop out = judge_drop("http://a.test/out", REASON_SCOPE);
    struct url_drop deep = judge_drop("http://a.test/deep", REASON_DEPTH);
    struct url_item list, entry;
    struct url_done read = {.outcome = judge_fetched,
                            .outlinks = &entry,
                            .outlink_count = 1,
                            .drops = &out,
                            .drop_count = 1};
    uint32_t depths[4];
    char text[256];
    struct rig r;

    judge_init(&r);
    judge_terms(&r, 2, NULL);
    rig_create(&r);
    judge_again(&r, 0);
    list = rig_item(&r, "http://a.test/list");
    list.depth = 2;
    ck_assert_int_eq(rig_put(&r, list), PUT_NEW);
    read.id = rig_lease(&r);
    entry = rig_item(&r, "http://a.test/entry");
    entry.depth = out.depth = 2;
    ck_ok(frontier_ack(r.e, &read, 1, r.now, RIG_WALL));
    deep.depth = 3;
    judge_ack(&r, rig_lease(&r), &deep, 1);
    rig_commit(&r);
    list.depth = 0;
    list.seed = true;
    list.kind = LINK_SEED;
    ck_assert_int_ne(rig_put(&r, list), PUT_NEW);
    judge_all(&r);
    for (uint64_t id = 1; id <= 4; id++)
        depths[id - 1] = judge_row(&r, id, text).depth;
    ck_assert_uint_eq(depths[0], 0);
    ck_assert_uint_eq(depths[2], 1); /* what was out of scope */
    ck_assert_uint_eq(depths[3], 2); /* what was too deep */
    judge_fini(&r);
}

/* ---- the shortest path across shards ---- */

static struct {
    unsigned count;
    uint32_t depth; /* of the last one */
    char url[64];
} sent;

static void note_sent(void *ctx, const struct url_item *item, uint64_t via)
{
    (void)ctx;
    (void)via;
    sent.count++;
    sent.depth = item->depth;
    snprintf(sent.url, sizeof sent.url, "%.*s", (int)item->url.len,
             item->url.at);
}

/* A rig that is the shard of a.test, and some host of the other shard. */
static void begin_shard(struct rig *r, char url[64])
{
    uint32_t own = shard_of_host(bytes_of_str("a.test"), 2);
    char host[32];

    for (int i = 0;; i++) {
        snprintf(host, sizeof host, "other%d.test", i);
        if (shard_of_host(bytes_of_str(host), 2) != own)
            break;
    }
    snprintf(url, 64, "http://%s/", host);
    memset(&sent, 0, sizeof sent);
    judge_init(r);
    judge_terms(r, 3, NULL);
    r->o.shard = (struct shard_number){own, 2};
    r->o.send = note_sent;
    rig_create(r);
    judge_again(r, 0);
}

static void come_from_shard(struct rig *r, const char *url, uint32_t depth)
{
    struct url_item item = rig_item(r, url);
    uint64_t id;

    item.depth = depth;
    ck_ok(external_discover(r->e, &item, 1, NULL, 0, r->now, RIG_WALL, &id));
}

/* Promise (Installing and checks): with --depth the shortest path to a page
 * counts also if it leads through other shards and is found last. See also
 * `make sim`, `rejudge/a_shorter_way_from_another_shard_goes_on`. */
/* seed > page > the other shard, where a longer way to the page was found
 * first: what was sent is sent again, once. */
TEST(another_shard_is_told_of_a_shorter_way)
{
    struct url_item page, far;
    uint64_t seed;
    char other[64];
    struct rig r;

    begin_shard(&r, other);
    rig_seed(&r, "http://a.test/");
    seed = rig_lease(&r);
    page = rig_item(&r, "http://a.test/page");
    page.depth = 2;
    ck_assert_int_eq(rig_put(&r, page), PUT_NEW);
    far = rig_item(&r, other);
    far.depth = 3;
    rig_ack(&r, rig_lease(&r), judge_fetched, &far, 1);
    ck_assert_uint_eq(sent.count, 1);
    ck_assert_uint_eq(sent.depth, 3);
    page.depth = 1;
    rig_ack(&r, seed, judge_fetched, &page, 1);
    judge_all(&r);
    ck_assert_uint_eq(sent.count, 2);
    ck_assert_uint_eq(sent.depth, 2);
    ck_assert_str_eq(sent.url, other);
    ck_assert_uint_eq(rig_counter(&r, "returned"), 0);
    rig_stop(&r);
    rig_reopen(&r);
    judge_again(&r, BIT(REASON_DEPTH));
    judge_all(&r);
    ck_assert_uint_eq(sent.count, 2);
    rig_stop(&r);
    rig_verify(&r);
    judge_fini(&r);
}

/* A known page comes nearer by what another shard found: its row says so, also
 * after a crash, what it links to here comes back, and the other shard is told.
 * A longer way changes nothing. */
TEST(a_shorter_way_from_another_shard_goes_on)
{
    struct url_drop deep = judge_drop("http://a.test/deep", REASON_DEPTH);
    struct url_item far;
    uint64_t page;
    char other[64], text[256];
    struct rig r;

    begin_shard(&r, other);
    come_from_shard(&r, "http://a.test/page", 3);
    page = rig_lease(&r);
    far = rig_item(&r, other);
    far.depth = 3; /* by its redirect */
    deep.depth = 4;
    rig_ack(&r, page, judge_fetched, &far, 1);
    judge_all(&r);
    come_from_shard(&r, "http://a.test/second", 3);
    judge_ack(&r, rig_lease(&r), &deep, 1);
    judge_all(&r);
    come_from_shard(&r, "http://a.test/page", 3);
    ck_assert(!rig_stats(&r).rejudging);
    come_from_shard(&r, "http://a.test/page", 1);
    come_from_shard(&r, "http://a.test/second", 2);
    come_from_shard(&r, "http://a.test/second", 3);
    rig_commit(&r);
    rig_crash(&r);
    judge_again(&r, 0);
    ck_assert(rig_stats(&r).rejudging);
    judge_all(&r);
    ck_assert_uint_eq(judge_row(&r, page, text).depth, 1);
    ck_assert_uint_eq(sent.count, 2);
    ck_assert_uint_eq(sent.depth, 1);
    ck_assert_uint_eq(judge_newest(&r, "http://a.test/deep").depth, 3);
    judge_fini(&r);
}

/* Its kind is what gives it a seed's secrets at the next start; so also to the
 * target of a seed's redirect, which is as near. */
TEST(a_known_url_that_is_given_as_a_seed_is_of_that_kind)
{
    static const char *const known[] = {"http://b.test/", "http://c.test/"};
    struct rig r;
    char text[256];

    judge_init(&r);
    rig_create(&r);
    judge_again(&r, 0);
    for (size_t i = 0; i < 2; i++) {
        struct url_item item = rig_item(&r, known[i]);
        uint64_t id;

        item.depth = i == 0 ? 2 : 0;
        item.kind = i == 0 ? LINK_A : LINK_REDIRECT;
        ck_assert_int_eq(rig_put(&r, item), PUT_NEW);
        id = rig_lease(&r);
        item.seed = true;
        item.depth = 0;
        item.kind = LINK_SEED;
        ck_assert_int_ne(rig_put(&r, item), PUT_NEW);
        rig_commit(&r);
        ck_assert_uint_eq(judge_row(&r, id, text).kind, LINK_SEED);
    }
    judge_fini(&r);
}

/* ---- each statement fails in turn ---- */

/* A limit of depth begins the log of paths. */
static void begin_paths(void *rig)
{
    struct rig *r = rig;

    TELLS(frontier_rejudge(r->e, 0, r->now));
    TELLS(frontier_turn(r->e, true, r->now, RIG_WALL, NULL));
}

TEST(a_log_of_paths_that_cannot_begin_is_told)
{
    struct rig r;
    uint64_t n = 0;
    bool failed = true;

    judge_init(&r);
    judge_terms(&r, 2, NULL);
    rig_create(&r);
    while (failed) {
        rig_stop(&r);
        rig_reopen(&r);
        failed = step_fault_at(++n, begin_paths, &r);
        if (failed)
            rig_crash(&r);
    }
    ck_assert_uint_gt(n, 2);
    judge_fini(&r);
}
