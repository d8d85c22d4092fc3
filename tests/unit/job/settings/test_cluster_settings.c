/* SPDX-License-Identifier: MIT */
/* test_cluster_settings.c - URLs of crawls in clusters, and their settings. */
#include <string.h>

#include "job/settings/cluster_settings.h"
#include "job/settings/settings.h"
#include "tests/unit/unit.h"

static enum status read_url(const char *text, struct cluster_url_parts *out)
{
    struct buf why;
    enum status st;

    buf_init(&why, 4096);
    st = cluster_url_read(out, text, &why);
    ck_assert_int_eq(st == STATUS_OK, why.len == 0);
    buf_fini(&why);
    return st;
}

TEST(a_url_names_servers_a_crawl_and_its_durability)
{
    static const char *const bad[] = {"redis://h",
                                      "redis://h/",
                                      "http://h/name",
                                      "redis+unix:///tmp/x",
                                      "redis://h/n?x=1",
                                      "redis://h/n?durability=",
                                      "redis://h/n?durability=safe&x=1"};
    struct cluster_url_parts u;
    struct buf shown;

    ck_ok(read_url("redis://u:secret@h:7,i:8/docs", &u));
    ck_assert_uint_eq(u.redis.host_count, 2);
    ck_assert_str_eq(u.name, "docs");
    ck_assert_uint_eq(u.replicas, 1);
    ck_assert(u.alone_is_fine);
    ck_ok(read_url("rediss://h/n?durability=safe", &u));
    ck_assert(u.replicas == 1 && !u.alone_is_fine && u.redis.hosts[0].tls);
    ck_ok(read_url("redis://h/n?durability=fast", &u));
    ck_assert_uint_eq(u.replicas, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(read_url(bad[i], &u) == STATUS_FORMAT, "%s", bad[i]);
    buf_init(&shown, 4096);
    cluster_url_show("redis://u:secret@h:7,i:8/docs", &shown);
    ck_assert_str_eq(buf_str(&shown), "redis://h:7/docs");
    buf_fini(&shown);
}

static void set(struct crawl_settings *s, const char *name, const char *text)
{
    struct buf error;

    buf_init(&error, 4096);
    ck_ok(option_set(&crawl_options, settings_index(name), s,
                     bytes_of_str(text), OPTION_FROM_LINE, &error));
    buf_fini(&error);
}

static void init(struct crawl_settings *s)
{
    settings_init(s);
    set(s, "cluster", "redis://h/name");
    set(s, "output", "dir");
}

static enum status check_with(const char *name, const char *text)
{
    struct crawl_settings s;
    struct buf error;
    enum status st;

    init(&s);
    set(&s, name, text);
    buf_init(&error, 4096);
    st = cluster_settings_check(&s, &error);
    ck_assert(st == STATUS_OK || error.len > 0);
    buf_fini(&error);
    settings_fini(&s);
    return st;
}

TEST(what_needs_the_whole_crawl_is_refused)
{
    static const char *const bad[][2] = {
        {"depth", "3"},           {"quota", "1M"},
        {"refresh", "1d"},        {"cookie", "a=b"},
        {"record", "links"},      {"near-dup", "skip"},
        {"max-url-len", "40000"}, {"traps", "skip"},
        {"cluster", "redis://h"}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(check_with(bad[i][0], bad[i][1]) == STATUS_ARG, "%s",
                      bad[i][0]);
    ck_ok(check_with("delay", "3s"));
    ck_ok(check_with("traps", "off"));
}

TEST(a_worker_has_its_own_memory_and_the_crawls_delay)
{
    struct crawl_settings a, b;
    struct buf error;

    init(&a);
    init(&b);
    buf_init(&error, 4096);
    ck_ok(cluster_settings_check(&a, &error));
    ck_assert_int_eq(a.traps, TRAPS_OFF);
    ck_ok(cluster_settings_check(&b, &error));
    set(&a, "memory", "200M");
    ck_assert_ptr_null(cluster_settings_foreign(&a));
    ck_assert_ptr_null(cluster_settings_changed(&a, &b));
    set(&a, "delay", "3s");
    ck_assert_str_eq(cluster_settings_foreign(&a), "delay");
    ck_assert_str_eq(cluster_settings_changed(&a, &b), "delay");
    buf_fini(&error);
    settings_fini(&a);
    settings_fini(&b);
}

/* Secrets stay with each worker, so one that joins is told what it lacks. */
TEST(a_worker_that_lacks_secrets_is_told_which)
{
    struct crawl_settings s;
    struct buf names, lacking;

    buf_init(&names, 4096);
    buf_init(&lacking, 4096);
    settings_init(&s);
    set(&s, "auth", "https://h=u:secret");
    set(&s, "cookie", "a=secret");
    cluster_settings_kept(&s, &names);
    ck_assert_str_eq(buf_str(&names), "cookie auth ");
    cluster_settings_lack(&s, buf_bytes(&names), &lacking);
    ck_assert_str_eq(buf_str(&lacking), "");
    settings_fini(&s);
    settings_init(&s);
    set(&s, "cookie", "b=other");
    cluster_settings_lack(&s, buf_bytes(&names), &lacking);
    ck_assert_str_eq(buf_str(&lacking), "--auth ");
    buf_clear(&lacking);
    cluster_settings_lack(&s, bytes_of_str("delay nonsense auth"), &lacking);
    ck_assert_str_eq(buf_str(&lacking), "");
    settings_fini(&s);
    buf_fini(&names);
    buf_fini(&lacking);
}
