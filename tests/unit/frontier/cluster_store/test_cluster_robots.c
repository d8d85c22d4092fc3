/* SPDX-License-Identifier: MIT */
/* test_cluster_robots.c - robots.txt that workers share through the cluster. */
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "base/mem.h"
#include "frontier/cluster_store/cluster_robots.h"
#include "tests/unit/frontier/cluster_store/cluster_rig.h"

#define DAY_MS CLUSTER_ROBOTS_DAY_MS

/* ---- bodies ---- */

static void check_same(struct bytes body)
{
    struct buf packed, out;

    buf_init(&packed, 1 + CLUSTER_ROBOTS_BODY_MOST);
    buf_init(&out, CLUSTER_ROBOTS_BODY_MOST);
    ck_assert(cluster_robots_pack(body, &packed));
    ck_assert_uint_le(packed.len, body.len + 1);
    ck_assert(cluster_robots_unpack(buf_bytes(&packed), &out));
    ck_assert(bytes_equal(buf_bytes(&out), body));
    buf_fini(&packed);
    buf_fini(&out);
}

TEST(a_body_comes_back_as_it_was)
{
    const size_t most = CLUSTER_ROBOTS_BODY_MOST;
    char *text = xmalloc(most + 1);
    struct buf packed;

    check_same(bytes_of("", 0));
    check_same(bytes_of_str("User-agent: *\nDisallow: /\0x\n"));
    memset(text, 'a', most + 1);
    check_same(bytes_of(text, 1000));
    check_same(bytes_of(text, most));
    for (size_t i = 0; i < most; i++) /* does not get smaller */
        text[i] = (char)(digest_bytes(&(struct digest_key){{0}},
                                      bytes_of(&i, sizeof i))
                             .hi &
                         255);
    check_same(bytes_of(text, most));
    buf_init(&packed, most + 2);
    ck_assert(!cluster_robots_pack(bytes_of(text, most + 1), &packed));
    buf_fini(&packed);
    free(text);
}

TEST(octets_that_are_no_body_are_refused)
{
    static const struct bytes bad[] = {
        {"", 0}, {"z", 1}, {"x", 1}, {"zr", 2}, {"z\x78\x9c\xff", 4}};
    const size_t most = 2 * CLUSTER_ROBOTS_BODY_MOST;
    char *text = xcalloc(1, most);
    struct buf out;
    uLongf len = 10000;
    unsigned char bomb[10000] = "z";

    buf_init(&out, CLUSTER_ROBOTS_BODY_MOST);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert(!cluster_robots_unpack(bad[i], &out));
    len--;
    ck_assert_int_eq(compress2(bomb + 1, &len, (const unsigned char *)text,
                               most, 9),
                     Z_OK);
    ck_assert(!cluster_robots_unpack(bytes_of(bomb, len + 1), &out));
    text[0] = 'r';
    ck_assert(!cluster_robots_unpack(bytes_of(text, most), &out));
    ck_assert_uint_eq(out.len, 0);
    buf_fini(&out);
    free(text);
}

/* ---- in a server ---- */

struct heard {
    bool ended, has;
    struct cluster_robots r;
    char body[64];
};

static void robots_came(void *ctx, const struct cluster_robots *r)
{
    struct heard *h = ctx;

    h->ended = true;
    h->has = r != NULL;
    if (r == NULL)
        return;
    h->r = *r;
    snprintf(h->body, sizeof h->body, "%.*s", (int)r->body.len, r->body.at);
}

static struct heard ask(struct cluster_store *s, const char *origin)
{
    struct heard h = {.ended = false};

    cluster_store_ask_robots(s, bytes_of_str("a.example"), bytes_of_str(origin),
                             robots_came, &h);
    while (!h.ended)
        cluster_store_turn(s, NS_PER_S);
    return h;
}

static void share(struct cluster_store *s, const char *origin,
                  int64_t fetched_ago, int64_t expires_in, const char *body)
{
    const struct cluster_robots r = {.fetched_ago = fetched_ago,
                                     .expires_in = expires_in,
                                     .unreachable_for = -1,
                                     .http_status = 200,
                                     .body = bytes_of_str(body)};

    cluster_store_share_robots(s, bytes_of_str("a.example"),
                               bytes_of_str(origin), &r);
    while (cluster_store_pending(s) > 0)
        cluster_store_turn(s, NS_PER_S);
}

FIXTURE(rig_begin, rig_end);

TEST(what_one_has_read_all_know_until_it_is_stale)
{
    struct cluster_store *s;
    struct heard h;

    NEEDS_SERVER;
    s = rig_create(4);
    ck_assert(!ask(s, "http://a.example").has);
    share(s, "http://a.example", 5000, 60000, "rules");
    h = ask(s, "http://a.example");
    ck_assert(h.has && h.r.http_status == 200 && h.r.unreachable_for == -1);
    ck_assert_str_eq(h.body, "rules");
    ck_assert(h.r.expires_in > 30000 && h.r.expires_in <= 60000);
    ck_assert(h.r.fetched_ago >= 5000 && h.r.fetched_ago < 35000);
    ck_assert(!ask(s, "https://a.example").has);
    share(s, "http://a.example", 0, 50, "newer");
    share(s, "https://a.example", 0, 60000, "other"); /* of the same key */
    while (ask(s, "http://a.example").has)
        continue;
    ck_assert(ask(s, "https://a.example").has);
    cluster_store_close(s);
}

TEST(an_origin_that_is_unreachable_stays_so_for_all)
{
    const struct cluster_robots r = {.expires_in = 60000,
                                     .unreachable_for = 3 * DAY_MS,
                                     .http_status = 503};
    struct cluster_store *s;
    struct heard h;

    NEEDS_SERVER;
    s = rig_create(4);
    cluster_store_share_robots(s, bytes_of_str("a.example"),
                               bytes_of_str("http://a.example"), &r);
    h = ask(s, "http://a.example");
    ck_assert(h.has && h.r.http_status == 503 && h.r.body.len == 0);
    ck_assert(h.r.unreachable_for >= 3 * DAY_MS &&
              h.r.unreachable_for < 3 * DAY_MS + 30000);
    cluster_store_close(s);
}

TEST(an_older_copy_does_not_replace_a_newer_one)
{
    struct cluster_store *s;

    NEEDS_SERVER;
    s = rig_create(4);
    share(s, "http://a.example", 0, 60000, "new");
    share(s, "http://a.example", 50000, 60000, "old");
    ck_assert_str_eq(ask(s, "http://a.example").body, "new");
    cluster_store_close(s);
}

TEST(a_host_has_few_origins_and_the_server_forgets_them)
{
    struct cluster_store *s;
    char origin[40];
    long long ttl;

    NEEDS_SERVER;
    s = rig_create(1);
    for (int i = 0; i <= CLUSTER_ORIGINS_MOST; i++) {
        snprintf(origin, sizeof origin, "http://a.example:%d", 1000 + i);
        share(s, origin, 0, 60000, "rules");
        ck_assert(i == CLUSTER_ORIGINS_MOST || ask(s, origin).has);
    }
    ck_assert(!ask(s, origin).has);
    share(s, "http://a.example:1000", 0, 1, "rules");
    while (ask(s, "http://a.example:1000").has) /* until it makes room */
        continue;
    share(s, origin, 0, 60000, "rules");
    ck_assert(ask(s, origin).has);
    ttl = redis_server_do(&server, "PTTL {crawl:0}b:a.example");
    ck_assert(ttl > 0 && ttl <= 60000);
    cluster_store_close(s);
}

/* Another program may write there. */
TEST(what_is_not_ours_is_as_good_as_nothing)
{
    static const char *const bad[] = {
        "",
        ":1790000000000:0:200",
        ":1790000000000:0:2000:rx", /* no HTTP status */
        ":1790000000000:0:200:",    /* no body */
        ":1790000000000:0:200:zx",  /* not deflated */
        ":99999999999999999999999999:0:-1:rx"};
    struct cluster_store *s;
    char text[200];

    NEEDS_SERVER;
    s = rig_create(1);
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        bool good = i == sizeof bad / sizeof *bad;

        snprintf(text, sizeof text,
                 "HSET {crawl:0}b:a.example http://a.example %lld%s",
                 (long long)(clock_wall_ms() + 60000),
                 good ? ":1790000000000:0:200:rx" : bad[i]);
        (void)redis_server_do(&server, text);
        ck_assert_msg(ask(s, "http://a.example").has == good, "%s", text);
    }
    (void)redis_server_do(
        &server, "HSET {crawl:0}b:a.example "
                 "http://a.example 99999999999999:1790000000000:0:200:rx");
    ck_assert(!ask(s, "http://a.example").has); /* stale in a hundred years */
    cluster_store_close(s);
}
