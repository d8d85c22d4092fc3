/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_last.c - what a lease knows of the last whole response of its
 * URL, when its validators are withheld, and what a 304 leaves in the store.
 */
#include "frontier/crawl/frontier_impl.h"
#include "tests/unit/frontier/frontier_rig.h"

#define ASKED_MS INT64_C(1760000000000)

/* The row of a whole response. */
static struct fetch_row whole(uint64_t id)
{
    return (struct fetch_row){.url = id,
                              .final = true,
                              .status = OUTCOME_FETCHED,
                              .tries = 1,
                              .http_status = 200,
                              .at_ms = ASKED_MS,
                              .body_bytes = 1234,
                              .body_digest = {7, 9},
                              .links = 3,
                              .flags = FETCH_ROW_NOINDEX | FETCH_ROW_CONNECTED,
                              .mime = bytes_of_str("text/html"),
                              .charset = bytes_of_str("UTF-8"),
                              .lang = bytes_of_str("de"),
                              .title = bytes_of_str("A title"),
                              .etag = bytes_of_str("\"1\""),
                              .last_modified = bytes_of_str("long ago"),
                              .simhash = 77};
}

/* A queued URL that had a response in an earlier life. */
static void begin(struct rig *r, struct fetch_row row)
{
    uint64_t seq;

    rig_create(r);
    rig_seed(r, "http://a.test/");
    ck_ok(page_store_add(r->e->pages, &row, &seq));
    rig_commit(r);
}

static struct url_lease lease(struct rig *r)
{
    struct url_lease l = {.id = 0};
    size_t n = 0;

    r->now += NS_PER_S;
    ck_ok(frontier_lease(r->e, 1, r->now, RIG_WALL, &l, &n));
    ck_assert_uint_eq(n, 1);
    return l;
}

static struct url_last find(struct rig *r)
{
    struct frontier *f = r->e;
    struct url_last last;
    struct url_row row;
    struct buf text;

    buf_init(&text, 4096);
    ck_ok(frontier_store_get(f->store, 1, &row, &text));
    ck_ok(frontier_find_last(f, &row, &last));
    buf_fini(&text);
    return last;
}

static bool has_validators(const struct url_last *last)
{
    return last->etag.len > 0 || last->last_modified.len > 0;
}

TEST(validators_of_another_identity_are_withheld)
{
    struct url_last last;
    struct rig r;

    rig_init(&r);
    r.o.identity = bytes_of_str("urlweir/1\ngzip");
    begin(&r, whole(1));
    last = find(&r);
    ck_assert(has_validators(&last));
    rig_stop(&r);
    r.o.identity = bytes_of_str("other/1\ngzip");
    for (int run = 0; run < 2; run++) { /* also when it is no longer new */
        rig_reopen(&r);
        last = find(&r);
        ck_assert(!has_validators(&last));
        ck_assert_uint_eq(last.seq, 1); /* the digest is still compared */
        ck_assert_uint_eq(last.body_digest.hi, 7);
        rig_seed(&r, run == 0 ? "http://b.test/" : "http://c.test/");
        rig_commit(&r);
        rig_stop(&r);
    }
    rig_reopen(&r);
    rig_fini(&r);
}

static struct url_done unchanged(const struct rig *r, uint64_t id,
                                 uint16_t http_status)
{
    return (
        struct url_done){.id = id,
                         .outcome = {OUTCOME_FETCHED, REASON_UNCHANGED,
                                     http_status},
                         .row = {.at_ms = ASKED_MS, .http_status = http_status},
                         .host = {.ended = r->now, .retry_after_ms = -1}};
}

static void add_target(void *ctx, const struct link_row *row)
{
    *(unsigned *)ctx |= 1U << row->to;
}

/* A page with two links, which is asked for again: a 304 says that they are its
 * links still, while a page that came whole has those that came with it. */
TEST(a_304_has_the_links_of_the_page_that_it_confirms)
{
    static const uint16_t answers[] = {304, 200};

    for (int i = 0; i < 2; i++) {
        struct link_range was = {0, 0}, is = {0, 0};
        struct url_item links[2];
        struct url_done d;
        struct reader reader;
        struct rig r;

        rig_init(&r);
        r.o.record_links = true;
        r.o.refresh = (struct refresh_rules){.every_ms = 1, .min_ms = 1};
        rig_create(&r);
        rig_seed(&r, "http://a.test/");
        links[0] = rig_item(&r, "http://a.test/b");
        links[1] = rig_item(&r, "http://a.test/c");
        (void)rig_page(&r, links, 2);
        for (int k = 0; k < 3; k++) {
            struct url_lease l = {.id = 0};
            size_t n = 0;

            r.now += NS_PER_S;
            ck_ok(frontier_lease(r.e, 1, r.now, rig_wall(&r), &l, &n));
            ck_assert_uint_eq(n, 1);
            d = unchanged(&r, l.id, answers[i]);
            if (l.id != 1)
                d.outcome = (struct outcome){OUTCOME_FAILED, REASON_HTTP, 404};
            ck_assert_uint_eq(l.last.seq, l.id == 1 ? 1 : 0);
            ck_ok(frontier_ack(r.e, &d, 1, r.now, rig_wall(&r)));
            if (l.id == 1)
                break;
        }
        rig_stop(&r);
        ck_assert_uint_eq(d.id, 1);
        ck_ok(reader_open(&reader, r.at.dir));
        ck_ok(link_store_page(reader.links, 1, &was));
        ck_assert_uint_eq(was.count, 2);
        ck_ok(link_store_page(reader.links, page_store_last_seq(reader.pages),
                              &is));
        ck_assert_uint_eq(is.count, i == 0 ? 2 : 0);
        if (i == 0)
            ck_assert_uint_eq(is.first, was.first);
        reader_close(&reader);
        rig_fini(&r);
    }
}

/* The header fields of a 304 are those of now (RFC 9111 section 3.2). */
TEST(links_in_the_head_of_a_304_replace_those_of_then)
{
    struct url_item links[2], head;
    struct link_range was, is;
    struct url_lease l;
    struct url_done d;
    struct reader reader;
    struct rig r;
    unsigned to = 0;

    rig_init(&r);
    r.o.record_links = true;
    r.o.head_kinds = UINT32_C(1) << LINK_HEADER;
    r.o.refresh = (struct refresh_rules){.every_ms = 1, .min_ms = 1};
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    links[0] = rig_item(&r, "http://a.test/b");
    links[1] = head = rig_item(&r, "http://a.test/c");
    links[1].kind = LINK_HEADER;
    (void)rig_page(&r, links, 2);
    do {
        size_t n = 0;

        r.now += NS_PER_S;
        ck_ok(frontier_lease(r.e, 1, r.now, rig_wall(&r), &l, &n));
        ck_assert_uint_eq(n, 1);
        d = unchanged(&r, l.id, 304);
        head = rig_item(&r, "http://a.test/d");
        head.kind = LINK_HEADER;
        d.outlinks = &head;
        d.outlink_count = l.id == 1;
        if (l.id != 1)
            d.outcome = (struct outcome){OUTCOME_FAILED, REASON_HTTP, 404};
        ck_ok(frontier_ack(r.e, &d, 1, r.now, rig_wall(&r)));
    } while (l.id != 1);
    rig_stop(&r);
    ck_ok(reader_open(&reader, r.at.dir));
    ck_ok(link_store_page(reader.links, 1, &was));
    ck_ok(
        link_store_page(reader.links, page_store_last_seq(reader.pages), &is));
    ck_assert_uint_ne(is.first, was.first);
    ck_assert_uint_eq(is.count, 2);
    ck_assert(!is.partial);
    ck_ok(link_store_each_in(reader.links, &is, add_target, &to));
    ck_assert_uint_eq(to, 1U << 2 | 1U << 4);
    reader_close(&reader);
    rig_fini(&r);
}

/* ---- lists that come in parts ---- */

/* Acknowledges the part `i` of the leased list, which names two URLs. */
static struct url_done part(struct rig *r, uint64_t id, unsigned i,
                            struct url_item *items)
{
    static const char *const urls[] = {"http://a.test/1", "http://a.test/2",
                                       "http://a.test/3", "http://a.test/4"};

    items[0] = rig_item(r, urls[2 * i]);
    items[1] = rig_item(r, urls[2 * i + 1]);
    items[0].kind = items[1].kind = LINK_LISTED;
    return (struct url_done){.id = id,
                             .partial = true,
                             .outlinks = items,
                             .outlink_count = 2};
}

static void ack_list(struct rig *r, struct url_done *done, size_t n,
                     bool at_once)
{
    for (size_t i = 0; !at_once && i < n; i++)
        ck_ok(frontier_ack(r->e, &done[i], 1, r->now, RIG_WALL));
    if (at_once)
        ck_ok(frontier_ack(r->e, done, n, r->now, RIG_WALL));
}

/* Whether its parts are acknowledged with it or before; of a try that broke
 * off, nothing stays. */
TEST(the_links_of_a_list_in_parts_are_those_of_its_fetch)
{
    for (int at_once = 0; at_once < 2; at_once++) {
        struct url_item items[4];
        struct url_done done[3];
        struct link_range rows;
        struct url_lease l;
        struct reader reader;
        uint64_t count = 0;
        unsigned to = 0;
        struct rig r;

        rig_init(&r);
        r.o.record_links = true;
        r.o.tries = 2;
        rig_create(&r);
        rig_seed(&r, "http://a.test/sitemap.xml");
        l = lease(&r);
        done[0] = part(&r, l.id, 0, items);
        done[1] = unchanged(&r, l.id, 200);
        done[1].outcome = (struct outcome){OUTCOME_FAILED, REASON_RESET, 200};
        done[1].transient = true;
        ack_list(&r, done, 2, at_once != 0);
        do
            l = lease(&r);
        while (l.id != 1);
        done[0] = part(&r, l.id, 0, items);
        done[1] = part(&r, l.id, 1, items + 2);
        done[2] = unchanged(&r, l.id, 200);
        done[2].outcome.reason = REASON_NONE;
        done[2].row.flags = FETCH_ROW_LIST;
        ack_list(&r, done, 3, at_once != 0);
        rig_stop(&r);
        ck_ok(reader_open(&reader, r.at.dir));
        ck_ok(link_store_page(reader.links, 2, &rows));
        ck_assert(!rows.partial);
        ck_assert_uint_eq(rows.count, 4);
        ck_ok(link_store_each_in(reader.links, &rows, add_target, &to));
        ck_assert_uint_eq(to, 0x3c);
        ck_ok(link_store_verify(reader.links, 5, &count));
        ck_assert_uint_eq(count, 4);
        reader_close(&reader);
        rig_fini(&r);
    }
}
