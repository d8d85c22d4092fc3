/* SPDX-License-Identifier: MIT */
/* test_sitemap_trust.c - which sitemaps may list which hosts' URLs. */
#include "crawler/sitemap_stream.h"

#include "base/mem.h"
#include "crawler/report.h"
#include "frontier/crawl/frontier_open.h"
#include "tests/unit/frontier/frontier_rig.h"

#define SITEMAP "http://a.test/s.xml"

static const char *const dropped[] = {"sid"};
static struct candidate_rules rules;

struct bench {
    struct rig r;
    uint64_t sitemap; /* its row */
};

static uint64_t put_via(struct rig *r, const char *url, uint64_t via,
                        uint8_t kind)
{
    struct url_item item = rig_item(r, url);

    item.kind = kind;
    ck_ok(frontier_put(r->e, via, &item, 1, RIG_WALL, NULL));
    return frontier_store_last_id(r->e->store);
}

static void bench_init(struct bench *b)
{
    const struct url_form_options o = {.drop = {.names = dropped, .count = 1}};
    struct url_form *form;

    ck_ok(url_form_new(&form, &o, NULL));
    rules.form = form;
    rig_init(&b->r);
    rig_create(&b->r);
    b->sitemap = put_via(&b->r, SITEMAP, 0, LINK_SITEMAP);
}

static void set_robots(struct bench *b, const char *origin, uint16_t status,
                       const char *body)
{
    const struct robots_row row = {.origin = bytes_of_str(origin),
                                   .http_status = status,
                                   .body = bytes_of_str(body)};

    ck_ok(robots_store_set(b->r.e->base->db, &row));
}

/* May the sitemap with this row list `url`? */
static bool may_list(struct bench *b, uint64_t sitemap, const char *url)
{
    struct report *r = xcalloc(1, sizeof *r);
    struct url_item item = rig_item(&b->r, url);
    bool may;

    r->kind = REPORT_PART;
    r->id = r->done.id = sitemap;
    r->arena = arena_new(1 << 20);
    r->done.outlinks = &item;
    r->done.outlink_count = r->elsewhere = 1;
    sitemap_trust_sift(r, &rules, b->r.e);
    may = r->done.outlink_count == 1;
    ck_assert_uint_eq(r->done.drop_count, !may);
    if (!may)
        ck_assert_int_eq(r->done.drops[0].reason, REASON_CROSS_HOST);
    report_free(r);
    return may;
}

TEST(sitemaps_org_another_host_counts_where_its_robots_txt_names_it)
{
    struct bench b;

    bench_init(&b);
    ck_assert(!may_list(&b, b.sitemap, "http://b.test/")); /* not asked yet */
    set_robots(&b, "http://b.test", 200, "Sitemap: http://b.test/other.xml");
    ck_assert(!may_list(&b, b.sitemap, "http://b.test/"));
    set_robots(&b, "http://b.test", 200,
               "User-agent: nobody\nDisallow: /\nsitemap: HTTP://A.test:80/"
               "%73.xml?sid=1#x\n");
    ck_assert(may_list(&b, b.sitemap, "http://b.test/"));
    ck_assert(may_list(&b, b.sitemap, "https://b.test/"));
    ck_assert(!may_list(&b, b.sitemap, "http://b.test:81/"));
    ck_assert(!may_list(&b, b.sitemap, "http://c.test/"));
    set_robots(&b, "http://b.test", 404, "Sitemap: " SITEMAP);
    ck_assert(!may_list(&b, b.sitemap, "http://b.test/"));
    rig_fini(&b.r);
}

TEST(ours_what_led_to_a_sitemap_speaks_for_it)
{
    struct bench b;
    uint64_t part, page, by_page;

    bench_init(&b);
    part = put_via(&b.r, "http://cdn.test/1.xml", b.sitemap, LINK_SITEMAP_PART);
    /* the index's host, and the host whose robots.txt names the index */
    ck_assert(may_list(&b, part, "http://a.test/x"));
    set_robots(&b, "http://b.test", 200, "Sitemap: " SITEMAP);
    ck_assert(may_list(&b, part, "http://b.test/x"));
    /* a page that links to a sitemap does not vouch for it */
    page = put_via(&b.r, "http://p.test/", b.sitemap, LINK_A);
    by_page = put_via(&b.r, "http://cdn.test/2.xml", page, LINK_SITEMAP);
    ck_assert(!may_list(&b, by_page, "http://p.test/x"));
    ck_assert(!may_list(&b, by_page, "http://a.test/x"));
    rig_fini(&b.r);
}

TEST(ours_a_sitemap_of_the_whole_web_costs_a_bounded_number_of_look_ups)
{
    enum { HOSTS = 1000 };
    static struct url_item items[HOSTS];
    static char urls[HOSTS][40];
    struct report *r = xcalloc(1, sizeof *r);
    struct bench b;

    bench_init(&b);
    for (int i = 0; i < HOSTS; i++) {
        char origin[40];

        snprintf(origin, sizeof origin, "http://h%d.test", i);
        snprintf(urls[i], sizeof urls[i], "%.37s/", origin);
        items[i] = rig_item(&b.r, urls[i]);
        set_robots(&b, origin, 200, "Sitemap: " SITEMAP);
    }
    r->id = b.sitemap;
    r->arena = arena_new(1 << 20);
    r->done.outlinks = items;
    r->done.outlink_count = r->elsewhere = HOSTS;
    sitemap_trust_sift(r, &rules, b.r.e);
    ck_assert_uint_eq(r->done.outlink_count, 256);
    ck_assert_uint_eq(r->done.drop_count, HOSTS - 256);
    report_free(r);
    rig_fini(&b.r);
}
