/* SPDX-License-Identifier: MIT */
/* test_api.c - the C library's own part: statuses, options, texts, visitors;
 * what it hands on to is tested where it is. */
/* Promise (Installing and checks): the C library: statuses, options of older
 * and newer releases, texts, visitors that stop; impossible arguments are
 * refused, failures are reported, and its log goes to the caller alone. See
 * also `api_sets`. */
#include <stdlib.h>

#include "base/mem.h"
#include "bindings/c/api.h"
#include "filter/checkpoint.h"
#include "tests/unit/storage/scratch.h"

static struct scratch dir;
static char path[128];

static void setup(void)
{
    dir = scratch_make();
    snprintf(path, sizeof path, "%s/file", dir.dir);
}

static void teardown(void)
{
    scratch_remove(&dir);
}

static struct urlweir_bytes of(const char *s)
{
    return (struct urlweir_bytes){s, strlen(s)};
}

static void ck_bytes(struct urlweir_bytes got, const char *want)
{
    ck_assert_ptr_nonnull(got.at);
    ck_assert_uint_eq(got.len, strlen(want));
    ck_assert_mem_eq(got.at, want, got.len);
}

static struct urlweir_url *url_of(const char *text)
{
    struct urlweir_url *u = urlweir_url_new();

    ck_assert_int_eq(urlweir_url_parse(u, of(text), NULL, URLWEIR_CANONICAL),
                     URLWEIR_OK);
    return u;
}

/* ---- what all parts share ---- */

FIXTURE(setup, teardown);

TEST(each_status_of_ours_has_its_number_and_its_phrase)
{
    static const enum urlweir_status numbers[] = {
        URLWEIR_OK,      URLWEIR_ARG,     URLWEIR_NOMEM,   URLWEIR_IO,
        URLWEIR_FULL,    URLWEIR_FORMAT,  URLWEIR_LIMIT,   URLWEIR_NOT_FOUND,
        URLWEIR_EXISTS,  URLWEIR_BUSY,    URLWEIR_DAMAGED, URLWEIR_NEWER,
        URLWEIR_REFUSED, URLWEIR_STOPPED,
    };

    for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++)
        ck_assert_int_eq((int)numbers[i], i); /* ours_: never to change */
    for (int st = 1; st < STATUS_COUNT_; st++) {
        enum urlweir_status given = api_status((enum status)st);

        ck_assert_int_ne(given, URLWEIR_OK);
        ck_assert_str_ne(urlweir_status_text((int)given), "unknown status");
    }
    ck_assert_int_eq(api_status(STATUS_OK), URLWEIR_OK);
    ck_assert_str_eq(urlweir_status_text(URLWEIR_NEWER),
                     status_text(STATUS_VERSION));
    ck_assert_str_eq(urlweir_status_text(-1), "unknown status");
    ck_assert_str_eq(urlweir_status_text(4711), "unknown status");
}

/* A program that was compiled with an older header, or a newer one. */
TEST(options_of_another_release_are_read_as_far_as_both_know_them)
{
    struct {
        struct urlweir_filter_options known;
        uint64_t added;
    } newer = {.known = {.size = sizeof newer, .capacity = 1000}};
    struct urlweir_filter_options o = {.capacity = 1000, .fixed = 1};
    struct urlweir_bytes key = of("key");
    struct urlweir_filter *f = NULL;

    o.size = offsetof(struct urlweir_filter_options, fixed);
    ck_assert_int_eq(urlweir_filter_new(&f, &o), URLWEIR_OK);
    ck_assert_int_eq(urlweir_filter_add(f, &key, 1, NULL), URLWEIR_OK);
    ck_assert_uint_gt(urlweir_filter_stats(f)->key_bits, 0); /* not fixed */
    urlweir_filter_free(f);
    o.size = sizeof o;
    ck_assert_int_eq(urlweir_filter_new(&f, &o), URLWEIR_OK);
    ck_assert_int_eq(urlweir_filter_add(f, &key, 1, NULL), URLWEIR_OK);
    ck_assert_uint_eq(urlweir_filter_stats(f)->key_bits, 0);
    urlweir_filter_free(f);

    f = NULL;
    ck_assert_int_eq(urlweir_filter_new(&f, &newer.known), URLWEIR_OK);
    urlweir_filter_free(f);
    f = NULL;
    newer.added = 1; /* it asks for what we cannot do */
    ck_assert_int_eq(urlweir_filter_new(&f, &newer.known), URLWEIR_ARG);
    o.size = 0; /* never set */
    ck_assert_int_eq(urlweir_filter_new(&f, &o), URLWEIR_ARG);
    o.size = SIZE_MAX;
    ck_assert_int_eq(urlweir_filter_new(&f, &o), URLWEIR_ARG);
    ck_assert_ptr_null(f);
}

static char logged[4096];

static void take_line(void *ctx, int level, const char *line)
{
    ck_assert_ptr_eq(ctx, logged);
    ck_assert_int_eq(level, 0);
    snprintf(logged, sizeof logged, "%s", line);
}

TEST(lines_of_the_log_go_to_the_caller_and_not_to_stderr)
{
    struct urlweir_filter *f = NULL;
    struct buf said;
    char err[128];
    int fd;

    snprintf(err, sizeof err, "%s/err", dir.dir);
    ck_ok(file_replace(path, bytes_of_str("no filter")));
    fd = open(err, O_RDWR | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
    /* Dropped, then passed on. */
    ck_assert_int_eq(urlweir_filter_open(&f, path, 0), URLWEIR_FORMAT);
    urlweir_set_log(take_line, logged);
    ck_assert_int_eq(urlweir_filter_open(&f, path, 0), URLWEIR_FORMAT);
    ck_assert_ptr_nonnull(strstr(logged, "filter file refused path="));
    ck_assert_ptr_null(strchr(logged, '\n'));
    buf_init(&said, 4096);
    ck_ok(file_read(err, &said));
    ck_assert_uint_eq(said.len, 0);
    buf_fini(&said);
    close(fd);
}

/* ---- URLs ---- */

TEST(a_url_is_parsed_and_has_its_parts)
{
    struct urlweir_url *u =
        url_of("HTTP://u@WWW.Example.ORG:8080/%7ea/../b?q#f");
    struct urlweir_url *base = url_of("https://example.org/a/b");

    ck_bytes(urlweir_url_text(u), "http://www.example.org:8080/b?q");
    ck_assert_str_eq(urlweir_url_text(u).at, "http://www.example.org:8080/b?q");
    ck_bytes(urlweir_url_host(u), "www.example.org");
    ck_bytes(urlweir_url_path_query(u), "/b?q");
    ck_bytes(urlweir_url_surt(u), "org,example:8080)/b?q");
    ck_assert_str_eq(urlweir_url_reason(u), "");
    ck_assert_int_eq(urlweir_url_parse(u, of("../%7Ec"), base, URLWEIR_WHATWG),
                     URLWEIR_OK);
    ck_bytes(urlweir_url_text(u), "https://example.org/%7Ec");
    ck_bytes(urlweir_url_surt(u), ""); /* of the canonical form alone */
    urlweir_url_free(u);
    urlweir_url_free(base);
    urlweir_url_free(NULL);
}

TEST(what_is_no_url_has_a_reason_and_no_parts)
{
    struct urlweir_url *u = url_of("http://h/"), *none = urlweir_url_new();

    ck_assert_int_eq(urlweir_url_parse(u, of("mailto:x"), NULL, 0),
                     URLWEIR_FORMAT);
    ck_assert_str_eq(urlweir_url_reason(u), "scheme");
    ck_bytes(urlweir_url_text(u), "");
    ck_bytes(urlweir_url_host(u), "");
    ck_bytes(urlweir_url_path_query(u), "");
    ck_bytes(urlweir_url_surt(u), "");
    ck_assert_int_eq(urlweir_url_parse(u, (struct urlweir_bytes){NULL, 0}, NULL,
                                       0),
                     URLWEIR_FORMAT);
    ck_assert_str_eq(urlweir_url_reason(u), "empty");
    ck_assert_str_eq(urlweir_url_reason(none), "empty");
    ck_bytes(urlweir_url_text(none), "");
    /* A base that is none, or the handle itself; a form that is none. */
    ck_assert_int_eq(urlweir_url_parse(u, of("x"), none, 0), URLWEIR_ARG);
    ck_assert_int_eq(urlweir_url_parse(u, of("x"), u, 0), URLWEIR_ARG);
    ck_assert_int_eq(urlweir_url_parse(u, of("http://h/"), NULL, 2),
                     URLWEIR_ARG);
    urlweir_url_free(u);
    urlweir_url_free(none);
}

/* ---- robots.txt ---- */

TEST(robots_say_yes_or_no_and_by_which_line)
{
    struct urlweir_robots *r = urlweir_robots_new(
        of("Sitemap: http://h/s.xml\nUser-agent: foo\nCrawl-delay: 2.5\n"
           "Disallow: /no\n"),
        of("Foo/1.0"));
    struct urlweir_url *u = url_of("http://h/no/x"), *none = urlweir_url_new();
    struct urlweir_bytes line;

    ck_assert_int_eq(urlweir_robots_allows(r, u, &line), 0);
    ck_bytes(line, "Disallow: /no");
    ck_assert_int_eq(urlweir_robots_allows(r, u, NULL), 0);
    urlweir_url_free(u);
    u = url_of("http://h/yes");
    ck_assert_int_eq(urlweir_robots_allows(r, u, &line), 1);
    ck_bytes(line, "");
    ck_assert_int_eq(urlweir_robots_allows(r, none, &line), 0);
    ck_assert_double_eq(urlweir_robots_crawl_delay(r), 2.5);
    ck_assert_uint_eq(urlweir_robots_sitemap_count(r), 1);
    ck_bytes(urlweir_robots_sitemap(r, 0), "http://h/s.xml");
    ck_bytes(urlweir_robots_sitemap(r, 1), "");
    ck_bytes(urlweir_robots_sitemap(r, SIZE_MAX), "");
    urlweir_robots_free(r);
    urlweir_robots_free(NULL);
    urlweir_url_free(u);
    urlweir_url_free(none);
}

/* ---- links and sitemaps ---- */

struct seen {
    char text[1024];
    int most, count;
};

static int see_link(void *ctx, const struct urlweir_link *link)
{
    struct seen *s = ctx;
    size_t used = strlen(s->text);

    ck_assert_str_eq(link->url.at + link->url.len, "");
    snprintf(s->text + used, sizeof s->text - used, "%s%s %s\n", link->kind,
             link->nofollow ? "!" : "", link->url.at);
    return ++s->count == s->most;
}

static const char page_text[] =
    "<html lang=de><title> A  page </title><meta name=foo content=noindex>"
    "<a href='x?'>1</a><a rel=nofollow href=y>2</a><img src=i.png>"
    "<img data-src=late.png>";

TEST(links_are_visited_in_the_kinds_and_the_form_asked_for)
{
    struct urlweir_links *l = urlweir_links_new(of("foo"));
    struct urlweir_url *at = url_of("http://h/a/"), *none = urlweir_url_new();
    struct urlweir_links_options o = {.size = sizeof o,
                                      .kinds = "a, lazy",
                                      .form = URLWEIR_WHATWG};
    struct seen s = {.most = -1};
    const struct urlweir_page *p = urlweir_links_page(l);

    ck_bytes(p->title, "");
    ck_assert_int_eq(urlweir_links_read(l, of(page_text), at, NULL, see_link,
                                        &s),
                     URLWEIR_OK);
    ck_assert_str_eq(s.text, "a http://h/a/x\na! http://h/a/y\n"
                             "img http://h/a/i.png\n");
    p = urlweir_links_page(l);
    ck_bytes(p->title, "A page");
    ck_bytes(p->lang, "de");
    ck_assert_str_eq(p->charset, "windows-1252");
    ck_assert_int_eq(p->noindex, 1);
    ck_assert_int_eq(p->nofollow, 0);
    ck_assert_uint_eq(p->links, 3);

    s = (struct seen){.most = -1};
    ck_assert_int_eq(urlweir_links_read(l, of(page_text), at, &o, see_link, &s),
                     URLWEIR_OK);
    ck_assert_str_eq(s.text, "a http://h/a/x?\na! http://h/a/y\n"
                             "lazy http://h/a/late.png\n");
    o.content_type = of("text/css; charset=utf-8");
    o.kinds = "all";
    s = (struct seen){.most = -1};
    ck_assert_int_eq(urlweir_links_read(l, of("a{b:url(c)}"), at, &o, see_link,
                                        &s),
                     URLWEIR_OK);
    ck_assert_str_eq(s.text, "style http://h/a/c\n");
    for (int i = 0; i < 3; i++) {
        o.kinds = (const char *[]){"a,nothing", "", "a,"}[i];
        ck_assert_int_eq(urlweir_links_read(l, of(page_text), at, &o, see_link,
                                            &s),
                         URLWEIR_ARG);
    }
    ck_assert_int_eq(urlweir_links_read(l, of(page_text), none, NULL, see_link,
                                        &s),
                     URLWEIR_ARG);
    ck_assert_int_eq(s.count, 1);
    urlweir_links_free(l);
    urlweir_links_free(NULL);
    urlweir_url_free(at);
    urlweir_url_free(none);
}

TEST(a_visitor_that_stops_is_not_called_again)
{
    struct urlweir_links *l = urlweir_links_new(of(""));
    struct urlweir_url *at = url_of("http://h/");
    struct urlweir_links_options o = {.size = sizeof o, .most = 2};
    struct seen s = {.most = 2};

    ck_assert_int_eq(urlweir_links_read(l, of(page_text), at, NULL, see_link,
                                        &s),
                     URLWEIR_STOPPED);
    ck_assert_int_eq(s.count, 2);
    ck_assert_uint_eq(urlweir_links_page(l)->links, 2);
    s = (struct seen){.most = -1};
    ck_assert_int_eq(urlweir_links_read(l, of(page_text), at, &o, see_link, &s),
                     URLWEIR_LIMIT);
    ck_assert_int_eq(s.count, 2);
    urlweir_links_free(l);
    urlweir_url_free(at);
}

static int see_entry(void *ctx, const struct urlweir_entry *e)
{
    struct seen *s = ctx;
    size_t used = strlen(s->text);

    snprintf(s->text + used, sizeof s->text - used, "%d %s %.*s\n", e->kind,
             e->url.at, (int)e->priority.len, e->priority.at);
    return ++s->count == s->most;
}

static const char sitemap_text[] =
    "<urlset><url><loc>http://h/%7ea</loc><priority>0.3</priority></url>"
    "<url><loc>ftp://h/</loc></url><url><loc>http://h/b</loc></url></urlset>";

static enum urlweir_status read_sitemap(const char *text,
                                        const struct urlweir_sitemap_options *o,
                                        struct seen *seen)
{
    struct urlweir_url *at = url_of("http://h/sitemap.xml");
    struct urlweir_sitemap *s = NULL;
    enum urlweir_status pushed = URLWEIR_OK, st;

    ck_assert_int_eq(urlweir_sitemap_new(&s, at, o, see_entry, seen),
                     URLWEIR_OK);
    urlweir_url_free(at); /* it was copied */
    ck_assert_str_eq(urlweir_sitemap_format(s), "unknown");
    for (; *text != '\0' && pushed == URLWEIR_OK; text++)
        pushed = urlweir_sitemap_push(s, (struct urlweir_bytes){text, 1});
    st = urlweir_sitemap_finish(s);
    if (pushed != URLWEIR_OK)
        ck_assert_int_eq(st, pushed);
    else
        ck_assert_uint_eq(urlweir_sitemap_passed_over(s), 1);
    ck_assert_str_eq(urlweir_sitemap_format(s), "urlset");
    ck_assert_int_eq(urlweir_sitemap_push(s, of("x")), URLWEIR_ARG);
    ck_assert_int_eq(urlweir_sitemap_finish(s), URLWEIR_ARG);
    urlweir_sitemap_free(s);
    return st;
}

TEST(sitemaps_arrive_in_pieces_and_their_entries_in_order)
{
    struct urlweir_sitemap_options o = {.size = sizeof o,
                                        .form = URLWEIR_WHATWG};
    struct urlweir_sitemap *never = NULL;
    struct urlweir_url *none = urlweir_url_new();
    struct seen s = {.most = -1};

    ck_assert_int_eq(read_sitemap(sitemap_text, NULL, &s), URLWEIR_OK);
    ck_assert_str_eq(s.text, "0 http://h/~a 0.3\n0 http://h/b \n");
    s = (struct seen){.most = 1};
    ck_assert_int_eq(read_sitemap(sitemap_text, &o, &s), URLWEIR_STOPPED);
    ck_assert_str_eq(s.text, "0 http://h/%7ea 0.3\n");
    s = (struct seen){.most = -1};
    o.entries_most = 1;
    ck_assert_int_eq(read_sitemap(sitemap_text, &o, &s), URLWEIR_LIMIT);
    ck_assert_int_eq(s.count, 1);
    ck_assert_int_eq(urlweir_sitemap_new(&never, none, NULL, see_entry, &s),
                     URLWEIR_ARG);
    ck_assert_ptr_null(never);
    urlweir_url_free(none);
}
