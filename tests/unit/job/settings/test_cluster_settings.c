/* SPDX-License-Identifier: MIT */
/* test_cluster_settings.c - the settings of crawls in clusters. */
#include "job/settings/settings.h"
#include "tests/unit/unit.h"

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
    set(s, "cluster", "kafka://h/name");
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
    static const char *const bad[][2] = {{"jsonl", "-"},
                                         {"since", "dir"},
                                         {"queue-key", "ip"},
                                         {"cluster", "kafka://h"},
                                         {"cluster", "redis://h/name"}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(check_with(bad[i][0], bad[i][1]) == STATUS_ARG, "%s",
                      bad[i][0]);
    ck_ok(check_with("delay", "3s"));
    ck_ok(check_with("depth", "3"));
    ck_ok(check_with("since", "kafka://h/earlier"));
}

TEST(a_worker_has_its_own_memory_and_the_crawls_delay)
{
    struct crawl_settings a, b;

    init(&a);
    init(&b);
    set(&a, "memory", "200M");
    ck_assert_ptr_null(cluster_settings_foreign(&a));
    ck_assert_ptr_null(cluster_settings_changed(&a, &b));
    set(&a, "delay", "3s");
    ck_assert_str_eq(cluster_settings_foreign(&a), "delay");
    ck_assert_str_eq(cluster_settings_changed(&a, &b), "delay");
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
