/* SPDX-License-Identifier: MIT */
/* Where a fetcher finds more URLs: redirects, links, sitemaps and feeds. */

#include "storage/rows/page_store.h"
#include "tests/unit/crawler/fetcher_rig.h"
#include "tests/unit/unit.h"

/* ---- redirects ----------------------------------------------------------- */

/* No page gives the head an encoding. */
TEST(ours_c8_octets_of_the_head_are_asked_for_as_they_are)
{
    struct route routes[] = {{"/r", MOVED "Location: /caf\xe9\r\n\r\n"},
                             {"/",
                              OK_HTML "Link: </\xe8>; rel=next\r\n"
                                      "Content-Location: /\xe9\r\n"
                                      "Refresh: 5; url=/\xfc?\xfc\r\n" EMPTY}};
    struct rig r;
    struct report *p;

    rig_init(&r, routes, 2);
    r.o.kinds |= LINK_BIT(LINK_HEADER);
    rig_start(&r);
    p = rig_ask(&r, "/r");
    ck_assert_uint_eq(p->done.outlink_count, 1);
    assert_bytes(p->done.outlinks[0].url, rig_url(&r, "127.0.0.1", "/caf%E9"));
    report_free(p);
    p = rig_ask(&r, "/");
    ck_assert_uint_eq(p->done.outlink_count, 3);
    assert_bytes(p->done.outlinks[0].url, rig_url(&r, "127.0.0.1", "/%E8"));
    assert_bytes(p->done.outlinks[1].url, rig_url(&r, "127.0.0.1", "/%E9"));
    assert_bytes(p->done.outlinks[2].url, rig_url(&r, "127.0.0.1", "/%FC?%FC"));
    report_free(p);
    rig_fini(&r);
}

/* Promise (Fetching): redirects are URLs of their own, a 3xx without a target
 * is a page, and a redirect back is a loop unless other cookies go with it. See
 * also
 * `cookie_jar/a_redirected_url_is_asked_anew_if_other_cookies_would_go_with_it`,
 * `frontier_fate/a_way_back_with_other_cookies_is_another_request_and_ends`,
 * `tests/cli/secrets.sh`, `make sim`. */
/* A browser shows it. */
TEST(a_3xx_that_leads_nowhere_is_a_page_with_its_status)
{
    static const char *const heads[] = {
        "300 Choices\r\n",
        "301 Moved\r\nLocation:\r\n",
        "302 Found\r\n",
        "302 Found\r\nLocation: ftp://x/\r\n",
        "303 See\r\nLocation: http://[bad/\r\n",
        "305 Use Proxy\r\nLocation: /p\r\n",
        "306 Unused\r\n",
        "307 Again\r\n",
        "399 What\r\n",
    };
    char answers[COUNT(heads)][200];
    struct route route = {"/a", .after = CLOSE};
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    rig_start(&r);
    for (size_t i = 0; i < COUNT(heads); i++) {
        snprintf(answers[i], sizeof answers[i],
                 "HTTP/1.1 %sContent-Type: text/html\r\n"
                 "Content-Length: 31\r\n\r\n<title>T</title><a href=/x>x</a>",
                 heads[i]);
        tiny_answer(&r.server, &route, answers[i]);
        p = rig_ask(&r, "/a");
        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        ck_assert_int_eq(p->done.outcome.http_status, atoi(heads[i]));
        assert_bytes(p->done.row.title, "T");
        ck_assert_uint_eq(p->done.outlink_count, 1);
        ck_assert_uint_eq(p->done.row.redirect_url.len, 0);
        ck_assert(strstr(heads[i], "ftp:") == NULL ||
                  bytes_is(p->done.row.detail, "ftp://x/"));
        report_free(p);
    }
    rig_fini(&r);
}

TEST(a_redirect_out_of_scope_is_a_drop_unless_a_seed_makes_it)
{
    struct route route = {"/a", MOVED "Location: http://other.test/\r\n\r\n"};
    struct rig r;
    struct report *p;
    struct url seed;

    rig_init(&r, &route, 1);
    r.so.mode = SCOPE_HOST;
    rig_start(&r);
    url_init(&seed);
    ck_assert_int_eq(url_canonical(&seed,
                                   bytes_of_str(rig_url(&r, "127.0.0.1", "/")),
                                   NULL, NULL),
                     URL_OK);
    scope_add_seed(r.o.rules.scope, &seed);
    url_fini(&seed);
    p = rig_ask(&r, "/a");
    assert_outcome(p, OUTCOME_REDIRECT, REASON_REDIRECT_SCOPE);
    ck_assert_uint_eq(p->done.outlink_count, 0);
    ck_assert_uint_eq(p->done.drop_count, 1);
    ck_assert_int_eq(p->done.drops[0].reason, REASON_SCOPE);
    assert_bytes(p->done.drops[0].host, "other.test");
    assert_bytes(p->done.drops[0].url, "http://other.test/");
    report_free(p);
    rig_give_lease(&r, (struct url_lease){.depth = 0},
                   rig_url(&r, "127.0.0.1", "/a"));
    p = rig_receive(&r);
    assert_outcome(p, OUTCOME_REDIRECT, REASON_NONE);
    ck_assert_uint_eq(p->done.outlink_count, 1);
    ck_assert_uint_eq(p->done.outlinks[0].depth, 0);
    report_free(p);
    rig_fini(&r);
}

/* ---- links --------------------------------------------------------------- */

static size_t drops_of(const struct report *p, enum outcome_reason reason)
{
    size_t n = 0;

    for (size_t i = 0; i < p->done.drop_count; i++)
        n += p->done.drops[i].reason == reason;
    return n;
}

TEST(each_link_is_an_item_once_or_a_drop_with_its_reason)
{
    struct route route = {"/",
                          OK_HTML
                          "\r\n"
                          "<a href=/a>1</a><a href='/%61#x'>same</a>"
                          "<a href=/no rel=nofollow>2</a><img src=/i.png>"
                          "<a href=http://out.test/>3</a>"
                          "<a href=/excluded>4</a><a href=mailto:x@y>5</a>"
                          "<form action=/f></form>",
                          .after = CLOSE};
    const char *exclude = "excluded$";
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    r.so.exclude = &exclude;
    r.so.exclude_count = 1;
    r.so.mode = SCOPE_HOST;
    rig_start(&r);
    {
        struct url seed;

        url_init(&seed);
        ck_assert_int_eq(
            url_canonical(&seed, bytes_of_str(rig_url(&r, "127.0.0.1", "/")),
                          NULL, NULL),
            URL_OK);
        scope_add_seed(r.o.rules.scope, &seed);
        url_fini(&seed);
    }
    p = rig_ask(&r, "/");
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    ck_assert_uint_eq(p->done.outlink_count, 1);
    assert_bytes(p->done.outlinks[0].url, rig_url(&r, "127.0.0.1", "/a"));
    ck_assert_uint_eq(drops_of(p, REASON_NOFOLLOW), 1);
    ck_assert_uint_eq(drops_of(p, REASON_KIND), 2); /* img and form */
    ck_assert_uint_eq(drops_of(p, REASON_SCOPE), 1);
    ck_assert_uint_eq(drops_of(p, REASON_EXCLUDE), 1);
    ck_assert_uint_eq(p->done.drop_count, 5);
    ck_assert_uint_eq(p->done.row.links, 7);
    report_free(p);
    rig_fini(&r);
}

/* Promise (Archives): a 304 is believed only if its request had conditions;
 * validators go only to the URL they came from, and not where a 304 would lose
 * a link, a record or a change that a sitemap names. See also `conditions`,
 * `frontier_last`, `whole_index`, `tests/cli/since.sh`. */
/* A 304 has the header fields of now (RFC 9111 section 4.3.4). */
TEST_LOOP(rfc9111_4_3_4_a_304_may_say_noindex_and_nofollow, 0, 2)
{
    static const struct {
        const char *says;
        bool noindex, nofollow;
    } cases[] = {
        {"", false, false},
        {"X-Robots-Tag: noindex\r\n", true, false},
        {"X-Robots-Tag: urlweir: nofollow\r\n", false, true},
        {"X-Robots-Tag: otherbot: none\r\n", false, false},
        {"X-Robots-Tag: none\r\n", true, true},
    };
    struct route route = {.path = "/"};
    struct url_lease l = {.depth = 1,
                          .last = {.seq = 1, .etag = bytes_of_str("\"1\"")}};
    char response[200];
    struct rig r;

    rig_init(&r, &route, 1);
    r.o.skip_noindex = _i != 0;
    rig_start(&r);
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        const bool list = i >= COUNT(cases); /* is not indexed, and followed */
        const size_t c = i % COUNT(cases);
        struct report *p;

        snprintf(response, sizeof response,
                 "HTTP/1.1 304 Not\r\nLink: </a>; rel=next\r\n%s\r\n",
                 cases[c].says);
        tiny_answer(&r.server, &route, response);
        l.kind = list ? LINK_SITEMAP : LINK_A;
        (void)rig_give_lease(&r, l, rig_url(&r, "127.0.0.1", "/"));
        p = rig_receive(&r);
        if (cases[c].noindex && !list && r.o.skip_noindex)
            assert_outcome(p, OUTCOME_SKIPPED, REASON_NOINDEX);
        else
            assert_outcome(p, OUTCOME_FETCHED, REASON_UNCHANGED);
        ck_assert_uint_eq(p->done.row.flags,
                          cases[c].noindex && !list ? FETCH_ROW_NOINDEX : 0);
        ck_assert_int_eq(p->done.nofollow, cases[c].nofollow);
        report_free(p);
    }
    rig_fini(&r);
}

/* Promise (Links): a page in XML is read by XML's rules up to where it is not
 * well formed, then as HTML, and flagged; no DTD, entity, depth or number of
 * attributes costs more than the page's size. See also `links`,
 * `tests/cli/links.sh`. */
TEST(l6b_a_page_in_xml_is_read_as_one_and_flagged_where_it_breaks)
{
    static const struct {
        const char *type, *page;
        size_t found;
        bool broken;
    } cases[] = {
        {"application/xhtml+xml", "<html><script/><a href='/a'/></html>", 1,
         false},
        {"text/xml",
         "<?xml version='1.0'?><html><script/><a href='/a'/></html>", 1, false},
        {"application/xml", "<html><script/><a href='/a'/><p></html>", 1, true},
        {"text/html", "<html><script/><a href='/a'/></html>", 0, false},
        {"text/xml",
         "<rss version='2.0'><channel><item><link>http://x.test/a"
         "</link></item></channel></rss>",
         1, false},
    };
    struct route route = {"/", .after = CLOSE};
    char answer[400];
    struct rig r;

    rig_init(&r, &route, 1);
    rig_start(&r);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct report *p;

        snprintf(answer, sizeof answer,
                 "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n\r\n%s", cases[i].type,
                 cases[i].page);
        tiny_answer(&r.server, &route, answer);
        p = rig_ask(&r, "/");
        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        ck_assert_msg(p->done.outlink_count == cases[i].found, "%s", answer);
        ck_assert_msg(((p->done.row.flags & FETCH_ROW_NOT_WELL_FORMED) != 0) ==
                          cases[i].broken,
                      "%s", answer);
        report_free(p);
    }
    rig_fini(&r);
}

/* A page, and a document that has no markup to say it in. */
TEST(l2_refresh_and_canonical_of_the_head_are_followed_as_those_of_a_page)
{
    static const char *const types[] = {"text/html", "application/pdf"};
    struct route route = {"/"};
    char answer[300];
    struct rig r;

    rig_init(&r, &route, 1);
    r.o.record_meta = true;
    rig_start(&r);
    for (size_t i = 0; i < COUNT(types); i++) {
        struct page_meta meta;
        struct report *p;

        snprintf(answer, sizeof answer,
                 "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n"
                 "Link: </c?b>; rel=\"canonical\", </p>; rel=preload\r\n"
                 "Link: <http://f.test>; rel=preconnect\r\n"
                 "Refresh: 0;URL='/e'\r\n" EMPTY,
                 types[i]);
        tiny_answer(&r.server, &route, answer);
        p = rig_ask(&r, "/");
        ck_assert_uint_eq(p->done.outlink_count, 2);
        assert_bytes(p->done.outlinks[0].url, rig_url(&r, "127.0.0.1", "/c?b"));
        ck_assert_uint_eq(p->done.outlinks[0].kind, LINK_CANONICAL);
        assert_bytes(p->done.outlinks[1].url, rig_url(&r, "127.0.0.1", "/e"));
        ck_assert_uint_eq(p->done.outlinks[1].kind, LINK_META_REFRESH);
        ck_assert(page_meta_get(p->done.row.meta, &meta));
        assert_bytes(meta.canonical, rig_url(&r, "127.0.0.1", "/c?b"));
        report_free(p);
    }
    rig_fini(&r);
}

TEST(types_that_are_not_accepted_are_given_up_at_the_head)
{
    static const char *const mime[] = {"text/html", "image/"};
    struct route routes[] = {
        {"/html", OK_HTML EMPTY},
        {"/png", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n" EMPTY},
        {"/short", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                   "Content-Length: 3\r\n\r\nabc"},
        {"/unnamed", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"},
        {"/404", "HTTP/1.1 404 No\r\nContent-Type: text/plain\r\n" EMPTY},
        {"/long", "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\nmovie",
         .after = STALL},
    };
    static const struct outcome want[] = {
        {OUTCOME_FETCHED, REASON_NONE, 200},
        {OUTCOME_FETCHED, REASON_NONE, 200},
        {OUTCOME_SKIPPED, REASON_MIME, 200},
        {OUTCOME_SKIPPED, REASON_MIME, 200},
        {OUTCOME_FAILED, REASON_HTTP, 404},
        {OUTCOME_SKIPPED, REASON_MIME, 200},
    };
    struct rig r;

    rig_init(&r, routes, COUNT(routes));
    r.o.mime = mime;
    r.o.mime_count = COUNT(mime);
    rig_start(&r);
    for (size_t i = 0; i < COUNT(routes); i++) {
        struct report *p = rig_ask(&r, routes[i].path);

        assert_outcome(p, want[i].status, want[i].reason);
        report_free(p);
    }
    /* Short bodies were read to the end, to keep the connection. */
    ck_assert_uint_eq(r.server.connections, 1);
    rig_fini(&r);
}
