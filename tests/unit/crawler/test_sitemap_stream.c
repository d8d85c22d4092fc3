/* SPDX-License-Identifier: MIT */
/* test_sitemap_stream.c - sitemaps through a fetcher: parts and final
 * report. */
#include "crawler/sitemap_stream.h"

#include "base/mem.h"
#include "tests/unit/crawler/fetcher_rig.h"

#define OK       "HTTP/1.1 200 OK\r\n"
#define XML      OK "Content-Type: application/xml\r\n"
#define LOC(url) "<url><loc>" url "</loc></url>"

/* Asks for "/" as a URL of this kind; holds its parts and its final report. */
struct answers {
    struct report *parts[64], *done;
    size_t count;
};

static struct answers ask_below(struct rig *r, uint8_t kind, uint16_t hops,
                                const char *path)
{
    struct answers a = {.count = 0};

    rig_give_lease(r,
                   (struct url_lease){.kind = kind, .hops = hops, .depth = 1},
                   rig_url(r, "127.0.0.1", path));
    while ((a.done = rig_receive(r))->kind == REPORT_PART) {
        ck_assert(a.done->done.partial);
        a.parts[a.count++] = a.done;
    }
    return a;
}

static struct answers ask(struct rig *r, uint8_t kind, const char *path)
{
    return ask_below(r, kind, 0, path);
}

static void free_answers(struct answers *a)
{
    for (size_t i = 0; i < a->count; i++)
        report_free(a->parts[i]);
    report_free(a->done);
}

static void start(struct rig *r, struct route *route)
{
    rig_init(r, route, 1);
    r->o.kinds |= LINK_BIT(LINK_SITEMAP);
    rig_start(r);
}

TEST(what_a_sitemap_lists_comes_ahead_of_its_last_word)
{
    struct route route = {"/s.xml",
                          XML "\r\n<urlset>" LOC("http://127.0.0.1/%61")
                              LOC("nothing") LOC("http://other.test/b")
                                  LOC("https://127.0.0.1/c") "</urlset>",
                          .after = CLOSE};
    struct rig r;
    struct answers a;
    const struct url_done *part;

    start(&r, &route);
    a = ask(&r, LINK_SITEMAP, "/s.xml");
    assert_outcome(a.done, OUTCOME_FETCHED, REASON_NONE);
    ck_assert_uint_eq(a.done->done.outlink_count, 0);
    ck_assert_uint_eq(a.done->done.row.links, 3);
    ck_assert_uint_eq(a.count, 1);
    part = &a.parts[0]->done;
    ck_assert_uint_eq(part->id, a.done->id);
    ck_assert_uint_eq(part->outlink_count, 3);
    /* the port of the sitemap is not 80: even 127.0.0.1 is another site */
    ck_assert_uint_eq(a.parts[0]->elsewhere, 3);
    assert_bytes(part->outlinks[0].url, "http://127.0.0.1/a");
    assert_bytes(part->outlinks[2].url, "https://127.0.0.1/c");
    ck_assert_uint_eq(part->outlinks[0].depth, 1); /* of its own host */
    ck_assert_uint_eq(part->outlinks[0].kind, LINK_LISTED);
    ck_assert_ptr_null(part->outlinks[0].hint);
    free_answers(&a);
    rig_fini(&r);
}

TEST(an_index_lists_sitemaps_and_indexes_to_three_levels)
{
    struct route route = {
        "/i.xml",
        XML "\r\n<sitemapindex><sitemap><loc>http://x.test/s.xml</loc>"
            "</sitemap></sitemapindex>",
        .after = CLOSE};
    struct rig r;
    struct answers a;

    start(&r, &route);
    a = ask(&r, LINK_SITEMAP, "/i.xml");
    ck_assert_uint_eq(a.parts[0]->done.outlink_count, 1);
    ck_assert_uint_eq(a.parts[0]->done.outlinks[0].kind, LINK_SITEMAP_PART);
    ck_assert_uint_eq(a.parts[0]->done.outlinks[0].depth, 1);
    ck_assert_uint_eq(a.parts[0]->done.outlinks[0].hops, 0);
    free_answers(&a);
    for (uint16_t level = 0; level < 2; level++) {
        a = ask_below(&r, LINK_SITEMAP_PART, level, "/i.xml");
        ck_assert_uint_eq(a.parts[0]->done.outlink_count, 1);
        ck_assert_uint_eq(a.parts[0]->done.outlinks[0].hops, level + 1);
        free_answers(&a);
    }
    a = ask_below(&r, LINK_SITEMAP_PART, 2, "/i.xml");
    assert_outcome(a.done, OUTCOME_FETCHED, REASON_NONE);
    ck_assert_uint_eq(a.parts[0]->done.outlink_count, 0);
    ck_assert_uint_eq(a.parts[0]->done.drop_count, 1);
    ck_assert_int_eq(a.parts[0]->done.drops[0].reason, REASON_NESTED_INDEX);
    free_answers(&a);
    rig_fini(&r);
}

TEST(other_languages_of_a_listed_page_are_alternate_links)
{
    struct route route = {
        "/s.xml",
        XML "\r\n<urlset xmlns:xhtml='http://www.w3.org/1999/xhtml'>"
            "<url><loc>http://a.test/</loc><xhtml:link rel='alternate' "
            "hreflang='de' href='http://b.test/de'/></url></urlset>",
        .after = CLOSE};
    static const uint8_t ways[] = {LINK_SITEMAP, LINK_A}; /* read as it comes,
                                                             and as a page */
    struct rig r;
    struct answers a;

    for (size_t way = 0; way < 2; way++) {
        const struct url_done *d;

        start(&r, &route);
        a = ask(&r, ways[way], "/s.xml");
        ck_assert_uint_eq(a.count, way == 0);
        d = way == 0 ? &a.parts[0]->done : &a.done->done;
        ck_assert_uint_eq(d->outlink_count, 2);
        assert_bytes(d->outlinks[0].url, "http://b.test/de");
        ck_assert_uint_eq(d->outlinks[0].kind, LINK_ALTERNATE);
        ck_assert_ptr_null(d->outlinks[0].hint);
        /* It is a link, not a claim of the sitemap about that host. */
        ck_assert_uint_eq(way == 0 ? a.parts[0]->elsewhere : a.done->elsewhere,
                          1);
        free_answers(&a);
        rig_fini(&r);
        rig_init(&r, &route, 1);
        r.o.kinds |= LINK_BIT(LINK_SITEMAP);
        r.o.kinds &= ~LINK_BIT(LINK_ALTERNATE); /* --ignore alternate */
        rig_start(&r);
        a = ask(&r, ways[way], "/s.xml");
        d = way == 0 ? &a.parts[0]->done : &a.done->done;
        ck_assert_uint_eq(d->outlink_count, 1);
        assert_bytes(d->outlinks[0].url, "http://a.test/");
        ck_assert_int_eq(d->drops[0].reason, REASON_KIND);
        free_answers(&a);
        rig_fini(&r);
    }
}

/* 50,001 entries as text, with 5 octets of overhead each. */
TEST(sitemaps_org_more_than_50000_entries_are_not_read)
{
    struct route route = {"/s.txt", .after = CLOSE};
    struct buf text;
    struct rig r;
    struct answers a;
    size_t found = 0;

    buf_init(&text, SIZE_MAX);
    buf_add_str(&text, OK "Content-Type: text/plain\r\n\r\n");
    for (int i = 0; i <= 50000; i++)
        buf_addf(&text, "http://127.0.0.1/%d\n", i);
    route.response = buf_str(&text);
    start(&r, &route);
    a = ask(&r, LINK_SITEMAP, "/s.txt");
    assert_outcome(a.done, OUTCOME_FETCHED, REASON_LINK_COUNT);
    for (size_t i = 0; i < a.count; i++)
        found += a.parts[i]->done.outlink_count;
    ck_assert_uint_eq(found, 50000);
    ck_assert_uint_gt(a.count, 20);
    free_answers(&a);
    rig_fini(&r);
    buf_fini(&text);
}

TEST(what_is_no_sitemap_is_told_apart)
{
    static const struct {
        const char *path, *response;
        uint8_t kind;
        enum outcome_status status;
        enum outcome_reason reason;
    } cases[] = {
        /* a wrong guess, in three ways */
        {"/sitemap.xml", "HTTP/1.1 404 No\r\n\r\n", LINK_SITEMAP,
         OUTCOME_SKIPPED, REASON_NO_SITEMAP},
        {"/sitemap.xml", OK "Content-Type: text/html\r\n\r\n<p>no",
         LINK_SITEMAP, OUTCOME_SKIPPED, REASON_NO_SITEMAP},
        {"/sitemap.xml", XML "Connection: close\r\nContent-Length: 0\r\n\r\n",
         LINK_SITEMAP, OUTCOME_SKIPPED, REASON_NO_SITEMAP},
        /* an empty sitemap is still a sitemap */
        {"/sitemap.xml", XML "\r\n<urlset/>", LINK_SITEMAP, OUTCOME_FETCHED,
         REASON_NONE},
        {"/sitemap.xml", "HTTP/1.1 503 No\r\n\r\n", LINK_SITEMAP,
         OUTCOME_FAILED, REASON_HTTP},
        /* somebody did name these */
        {"/other.xml", "HTTP/1.1 404 No\r\n\r\n", LINK_SITEMAP, OUTCOME_FAILED,
         REASON_HTTP},
        {"/sitemap.xml", "HTTP/1.1 404 No\r\n\r\n", LINK_A, OUTCOME_FAILED,
         REASON_HTTP},
        {"/other.xml", OK "Content-Type: text/plain\r\n\r\nno URL",
         LINK_SITEMAP, OUTCOME_FETCHED, REASON_NONE},
    };
    struct route route = {.after = CLOSE};
    struct rig r;

    rig_init(&r, &route, 1);
    rig_start(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answers a;

        route.path = cases[i].path;
        tiny_answer(&r.server, &route, cases[i].response);
        a = ask(&r, cases[i].kind, cases[i].path);
        assert_outcome(a.done, cases[i].status, cases[i].reason);
        free_answers(&a);
    }
    rig_fini(&r);
}

TEST(one_that_breaks_off_has_said_what_it_could)
{
    struct route route = {"/s.xml",
                          XML "Content-Length: 9999\r\n\r\n<urlset>" LOC(
                              "http://a.test/1") "<url><loc>http://a.te",
                          .after = STALL};
    struct rig r;
    struct answers a;

    /* Raises the time limit until the response itself arrives in time. */
    for (int64_t limit = 300;; limit *= 8) {
        rig_init(&r, &route, 1);
        r.o.timeout_ms = limit;
        rig_start(&r);
        a = ask(&r, LINK_SITEMAP, "/s.xml");
        if (limit > 10000 ||
            a.done->done.outcome.reason == REASON_TRUNCATED_TIME)
            break;
        free_answers(&a);
        rig_fini(&r);
    }
    assert_outcome(a.done, OUTCOME_FETCHED, REASON_TRUNCATED_TIME);
    ck_assert_uint_eq(a.count, 1);
    ck_assert_uint_eq(a.parts[0]->done.outlink_count, 1);
    free_answers(&a);
    rig_fini(&r);
}

TEST(nofollow_of_a_sitemap_drops_what_it_lists_and_noindex_does_not)
{
    struct route route = {"/s.xml",
                          XML "X-Robots-Tag: nofollow\r\n\r\n<urlset>" LOC(
                              "http://a.test/1") "</urlset>",
                          .after = CLOSE};
    struct rig r;
    struct answers a;

    start(&r, &route);
    a = ask(&r, LINK_SITEMAP, "/s.xml");
    ck_assert_uint_eq(a.parts[0]->done.outlink_count, 0);
    ck_assert_int_eq(a.parts[0]->done.drops[0].reason, REASON_NOFOLLOW);
    free_answers(&a);
    tiny_answer(&r.server, &route,
                XML "X-Robots-Tag: noindex\r\n\r\n<urlset>" LOC(
                    "http://a.test/1") "</urlset>");
    a = ask(&r, LINK_SITEMAP, "/s.xml");
    ck_assert_uint_eq(a.parts[0]->done.outlink_count, 1);
    assert_outcome(a.done, OUTCOME_FETCHED, REASON_NONE);
    free_answers(&a);
    rig_fini(&r);
}

TEST(gzip_is_known_by_its_magic_whatever_the_type_says)
{
    /* "http://a.test/1\n", by gzip(1) */
    static const unsigned char gz[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00,
                                       0x00, 0x00, 0x02, 0x03, 0xcb, 0x28,
                                       0x29, 0x29, 0xb0, 0xd2, 0xd7, 0x4f,
                                       0xd4, 0x2b, 0x49, 0x2d, 0x2e, 0xd1,
                                       0x37, 0xe4, 0x02, 0x00, 0x56, 0x96,
                                       0x9e, 0x9e, 0x10, 0x00, 0x00, 0x00};
    struct route route = {"/s.gz", .after = CLOSE};
    struct buf answer;
    struct rig r;
    struct answers a;

    buf_init(&answer, 1000);
    buf_add_str(&answer, OK "Content-Type: application/gzip\r\n\r\n");
    buf_add(&answer, gz, sizeof gz);
    route.response = buf_str(&answer);
    route.len = answer.len;
    start(&r, &route);
    a = ask(&r, LINK_SITEMAP, "/s.gz");
    ck_assert_uint_eq(a.count, 1);
    ck_assert_uint_eq(a.parts[0]->done.outlink_count, 1);
    free_answers(&a);
    rig_fini(&r);
    buf_fini(&answer);
}
