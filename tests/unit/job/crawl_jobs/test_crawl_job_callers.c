/* SPDX-License-Identifier: MIT */
/*
 * test_crawl_job_callers.c - what callers may see of a crawl and do with it,
 * several of them at once.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/unit/job/crawl_jobs/crawl_job_rig.h"

TIMEOUT(120);
FIXTURE(setup, teardown);

TEST(hosts_and_recent_answers_are_told)
{
    const json_t *host, *recent;

    create("a");
    becomes("a", CRAWLS_WAITING);
    does(CRAWLS_RECENT, "a", "{}");
    recent = json_array_get(json_object_get(answer, "recent"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(recent, "url")), SEED);
    ck_assert_str_eq(json_string_value(json_object_get(recent, "status")),
                     "skipped");
    ck_assert_str_eq(json_string_value(json_object_get(recent, "reason")),
                     "port");
    does(CRAWLS_PAUSE, "a", NULL);
    does(CRAWLS_SEED, "a",
         "{'urls': ['http://127.0.0.2:1/', 'http://127.0.0.2:1/2', "
         "'http://127.0.0.3:1/']}");
    does(CRAWLS_HOSTS, "a", "{'sort': 'biggest', 'size': '1'}");
    ck_assert_uint_eq(json_array_size(json_object_get(answer, "hosts")), 1);
    host = json_array_get(json_object_get(answer, "hosts"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(host, "host")),
                     "127.0.0.2");
    ck_assert_int_ge(json_integer_value(json_object_get(host, "queued")), 2);
    ck_assert_str_eq(json_string_value(json_object_get(host, "state")),
                     "ready");
    does(CRAWLS_HOSTS, "a", "{'sort': 'blocked'}");
    does(CRAWLS_HOSTS, "a", "{'sort': 'slowest'}");
    refuses(STATUS_ARG, "sort: ", CRAWLS_HOSTS, "a", "{'sort': 'x'}");
    refuses(STATUS_ARG, "size: ", CRAWLS_HOSTS, "a", "{'size': 0}");
    refuses(STATUS_ARG, "size: ", CRAWLS_RECENT, "a", "{'size': 201}");
}

static enum status count_up(struct crawl *c, void *ctx)
{
    ++*(int *)ctx;
    return c != NULL ? STATUS_OK : STATUS_ARG;
}

TEST(others_use_a_crawl_only_while_it_is_open)
{
    int n = 0;

    create("a");
    ck_ok(crawls_use(crawls, bytes_of_str("a"), count_up, &n));
    ck_assert_int_eq(crawls_use(crawls, bytes_of_str("b"), count_up, &n),
                     STATUS_NOT_FOUND);
    does(CRAWLS_STOP, "a", NULL);
    ck_assert_int_eq(crawls_use(crawls, bytes_of_str("a"), count_up, &n),
                     STATUS_CLOSED);
    ck_assert_int_eq(n, 1);
}

static enum status perform_alone(enum crawls_verb verb, const char *name,
                                 const char *text)
{
    struct crawls_call c;

    perform(&c, verb, name, text);
    json_decref(c.out);
    return c.status;
}

/* A caller whose crawls have names of its own. */
static void *live(void *arg)
{
    const char *name = arg;

    for (int i = 0; i < 4; i++) {
        ck_ok(perform_alone(CRAWLS_CREATE, name,
                            "{'seeds': ['" SEED "'], 'settings': {" QUICK
                            "}}"));
        for (int k = 0; k < 5; k++) {
            char seeds[64];

            snprintf(seeds, sizeof seeds, "{'urls': ['" SEED "%d']}", k);
            ck_ok(perform_alone(CRAWLS_SEED, name, seeds));
            ck_ok(perform_alone(CRAWLS_PAUSE, name, NULL));
            ck_ok(perform_alone(CRAWLS_HOSTS, name, "{}"));
            ck_ok(perform_alone(CRAWLS_SET_SETTINGS, name,
                                k % 2 == 0 ? "{'scope': 'any'}"
                                           : "{'scope': 'host'}"));
            ck_ok(perform_alone(CRAWLS_UNPAUSE, name, NULL));
        }
        ck_ok(perform_alone(CRAWLS_STOP, name, NULL));
        ck_ok(perform_alone(CRAWLS_RESUME, name, NULL));
        ck_ok(perform_alone(CRAWLS_DELETE, name, NULL));
    }
    return NULL;
}

static atomic_bool watching;

static void *watch(void *arg)
{
    int n = 0;

    (void)arg;
    while (atomic_load(&watching)) {
        struct crawls_view *all;

        (void)crawls_each(crawls, &all);
        free(all);
        (void)!crawls_use(crawls, bytes_of_str("a"), count_up, &n);
        usleep(1000);
    }
    return NULL;
}

TEST(callers_and_watchers_do_not_get_in_each_others_way)
{
    static const char *const names[] = {"a", "b", "c"};
    pthread_t callers[3], watcher;

    atomic_store(&watching, true);
    ck_assert_int_eq(pthread_create(&watcher, NULL, watch, NULL), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&callers[i], NULL, live,
                                        (void *)names[i]),
                         0);
    for (int i = 0; i < 3; i++)
        pthread_join(callers[i], NULL);
    atomic_store(&watching, false);
    pthread_join(watcher, NULL);
}
