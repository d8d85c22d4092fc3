/* SPDX-License-Identifier: MIT */
/*
 * test_crawl_job.c - the life of a service's crawls: made, paused, stopped,
 * deleted, and their state after a restart, a crash or damage.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "service/calls/router.h"
#include "tests/unit/job/crawl_jobs/crawl_job_rig.h"

TIMEOUT(120);
FIXTURE(setup, teardown);

TEST(names_are_those_of_files)
{
    ck_assert(crawls_name_is_valid(bytes_of_str("a-B_1.x")));
    ck_assert(!crawls_name_is_valid(bytes_of_str("")));
    ck_assert(!crawls_name_is_valid(bytes_of_str(".a")));
    ck_assert(!crawls_name_is_valid(bytes_of_str("-a"))); /* an option */
    ck_assert(!crawls_name_is_valid(bytes_of_str("a/b")));
    ck_assert(!crawls_name_is_valid(bytes_of_str("a b")));
    refuses(STATUS_ARG, "a name", CRAWLS_CREATE, "..", "{}");
}

/* Returns `field` of the answer's result for seed `i`. */
static const char *result(size_t i, const char *field)
{
    return json_string_value(
        json_object_get(json_array_get(json_object_get(answer, "results"), i),
                        field));
}

TEST(a_crawl_is_made_waits_and_goes_on_with_seeds)
{
    create("a");
    becomes("a", CRAWLS_WAITING);
    ck_assert_uint_eq(look("a").stats.counts.skipped, 1);
    does(CRAWLS_SEED, "a",
         "{'urls': ['" SEED "x', '" SEED "', 'mailto:x', '" SEED "x#y']}");
    ck_assert_str_eq(result(0, "status"), "ok");
    ck_assert_str_eq(result(1, "status"), "skipped");
    ck_assert_str_eq(result(2, "status"), "failed");
    ck_assert_str_eq(result(2, "reason"), "only http and https are crawled");
    ck_assert_str_eq(result(3, "status"), "skipped");
    becomes("a", CRAWLS_WAITING);
    ck_assert_uint_eq(look("a").stats.counts.skipped, 2);
    refuses(STATUS_EXISTS, "of this name", CRAWLS_CREATE, "a", "{}");
    refuses(STATUS_NOT_FOUND, "no such crawl", CRAWLS_PAUSE, "b", NULL);
}

TEST(several_run_side_by_side)
{
    struct crawls_view *all;

    create("b");
    create("a");
    create("a.2");
    ck_assert_uint_eq(crawls_each(crawls, &all), 3);
    ck_assert_str_eq(all[0].name, "a");
    ck_assert_str_eq(all[1].name, "a.2");
    ck_assert_str_eq(all[2].name, "b");
    free(all);
    becomes("a", CRAWLS_WAITING);
    becomes("b", CRAWLS_WAITING);
    becomes("a.2", CRAWLS_WAITING);
}

/* Promise (The service): the crawls of a service together stay within its
 * memory and threads, and a caller who asks for more is told both sums; a
 * client cannot name a Redis server, nor a proxy that its crawl may not connect
 * to, also not by a name that leads to a private address
 * (`tests/cli/guard-proxy.sh`). See also
 * `crawl_job_settings/clients_name_no_server_that_their_crawl_may_not_ask`. */
/* Each with 256 MiB, unless it says otherwise. A start opens what is there. */
TEST(all_together_have_so_much_memory_and_so_many_threads)
{
    memory_of_all = (uint64_t)600 << 20;
    threads_of_all = 6;
    restart();
    create("a");
    refuses(STATUS_BUSY,
            "would have 900 GiB of memory, and they may have 600 MiB",
            CRAWLS_CREATE, "b", "{'settings': {" QUICK ", 'memory': '900G'}}");
    refuses(STATUS_BUSY, "(`serve --crawl-memory`)", CRAWLS_CREATE, "b",
            "{'settings': {" QUICK ", 'memory': '345M'}}");
    ck_assert_int_ne(access(in_dir("crawls/b"), F_OK), 0);
    does(CRAWLS_CREATE, "b",
         "{'settings': {'min-disk': 0, 'memory': '96M', 'threads': 4}}");
    refuses(STATUS_BUSY,
            "would have 7 threads, and they may have 6 (`serve "
            "--crawl-threads`)",
            CRAWLS_CREATE, "c",
            "{'settings': {'min-disk': 0, 'memory': '96M', 'threads': 2}}");
    does(CRAWLS_STOP, "b", NULL);
    create("c");
    refuses(STATUS_BUSY, "608 MiB", CRAWLS_RESUME, "b", NULL);
    ck_assert_int_eq(look("b").state, CRAWLS_STOPPED);
    does(CRAWLS_DELETE, "c", NULL);
    does(CRAWLS_RESUME, "b", NULL);
    memory_of_all = 1;
    restart();
    ck_assert_int_ne(look("a").state, CRAWLS_FAILED);
    ck_assert_int_ne(look("b").state, CRAWLS_FAILED);
    refuses(STATUS_BUSY, "memory", CRAWLS_CREATE, "c",
            "{'settings': {" QUICK "}}");
}

struct deleting {
    pthread_mutex_t mtx;
    pthread_cond_t cond;
    bool done;
    enum status status;
    uint64_t gone;
};

static void was_deleted(struct frontier_call *call)
{
    struct deleting *d = call->ctx;

    pthread_mutex_lock(&d->mtx);
    d->status = call->status;
    d->gone = call->number;
    d->done = true;
    pthread_cond_signal(&d->cond);
    pthread_mutex_unlock(&d->mtx);
}

/* Deletes through the frontier's API, as other programs do. */
static enum status delete_by_api(struct router *router, const char *name,
                                 uint64_t *gone)
{
    struct deleting d = {.done = false};
    struct frontier_call c;

    pthread_mutex_init(&d.mtx, NULL);
    pthread_cond_init(&d.cond, NULL);
    frontier_call_init(&c, FRONTIER_DELETE_CRAWL, was_deleted, &d);
    c.in.crawl = bytes_of_str(name);
    ck_ok(router_submit(router, &c));
    pthread_mutex_lock(&d.mtx);
    while (!d.done)
        pthread_cond_wait(&d.cond, &d.mtx);
    pthread_mutex_unlock(&d.mtx);
    *gone = d.gone;
    frontier_call_fini(&c);
    return d.status;
}

/* Promise (The service): DeleteCrawl deletes a crawl of the service's own, with
 * its directory, like HTTP does. See also
 * `router/a_crawl_that_a_process_was_started_for_is_not_deleted_by_others`,
 * `tests/interop/grpc_client.py`. */
TEST(deleted_by_the_frontiers_api_it_is_gone_in_the_same_way)
{
    struct router *router = router_new(NULL, crawls);
    uint64_t gone;

    create("a");
    create("b");
    does(CRAWLS_STOP, "b", NULL);
    ck_ok(delete_by_api(router, "never", &gone));
    ck_assert_uint_eq(gone, 0);
    ck_ok(delete_by_api(router, "a", &gone));
    ck_assert_uint_eq(gone, 1);
    ck_ok(delete_by_api(router, "b", &gone));
    ck_assert_uint_eq(gone, 1);
    ck_assert(!crawls_has(crawls, bytes_of_str("a")));
    ck_assert_int_ne(access(in_dir("crawls/a"), F_OK), 0);
    ck_assert_int_ne(access(in_dir("crawls/b"), F_OK), 0);
    ck_ok(delete_by_api(router, "a", &gone));
    ck_assert_uint_eq(gone, 0);
    router_free(router);
}

TEST(what_a_crash_left_of_a_deletion_is_removed)
{
    char from[128], to[128];

    create("a");
    close_them();
    snprintf(from, sizeof from, "%s/crawls/a", dir);
    snprintf(to, sizeof to, "%s/crawls/.a.gone", dir);
    ck_assert_int_eq(rename(from, to), 0);
    open_them();
    ck_assert(!crawls_has(crawls, bytes_of_str("a")));
    ck_assert_int_ne(access(in_dir("crawls/.a.gone"), F_OK), 0);
}

/* Promise (The service): a crawl whose store is damaged stops, and no other
 * with it. */
TEST(one_that_is_damaged_stops_alone)
{
    create("a");
    create("b");
    close_them();
    ck_ok(file_replace(in_dir("crawls/a/frontier.db"),
                       bytes_of_str("no database")));
    open_them();
    ck_assert_int_eq(look("a").state, CRAWLS_FAILED);
    ck_assert_str_ne(look("a").why, "");
    becomes("b", CRAWLS_WAITING);
    does(CRAWLS_DELETE, "a", NULL);
}

TEST(a_directory_in_use_by_another_is_left_alone)
{
    struct file_lock *lock = NULL;
    pid_t other;
    int ready[2];
    char c;

    create("a");
    does(CRAWLS_STOP, "a", NULL);
    ck_assert_int_eq(pipe(ready), 0);
    other = fork();
    if (other == 0) {
        if (file_lock_take(&lock, in_dir("crawls/a/lock"), "resume", NULL) ==
            STATUS_OK)
            (void)!write(ready[1], "x", 1);
        pause();
    }
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    refuses(STATUS_BUSY, "in use by process", CRAWLS_RESUME, "a", NULL);
    ck_assert_int_eq(look("a").state, CRAWLS_STOPPED);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    restart();
    ck_assert_int_eq(look("a").state, CRAWLS_STOPPED);
    does(CRAWLS_RESUME, "a", NULL);
}
