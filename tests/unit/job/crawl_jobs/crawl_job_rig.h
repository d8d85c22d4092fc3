/*
 * crawl_job_rig.h - crawls of a service, through the calls that others make:
 * the registry (job/registry/crawls.h) with its factory
 * (job/crawl_jobs/crawl_jobs.h), in a directory of their own. Their seeds point
 * to a port where nothing listens, so they fail at once. Header only.
 */
#ifndef URLWEIR_TESTS_JOB_HOSTED_RIG_H
#define URLWEIR_TESTS_JOB_HOSTED_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "tests/unit/unit.h"

static char dir[64], path[256];
static struct crawl_jobs *jobs;
static struct crawls *crawls;
static uint64_t memory_of_all = (uint64_t)1 << 40;
static unsigned threads_of_all = 1000;
static char why[512];
static json_t *answer;

static inline const char *in_dir(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static inline void make_dir(void)
{
    snprintf(dir, sizeof dir, "/tmp/urlweir-crawl-job-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static inline void open_them(void)
{
    const struct crawl_jobs_options o = {.dir = dir,
                                         .quiet = true,
                                         .memory = memory_of_all,
                                         .threads = threads_of_all};
    struct crawl_factory factory;
    struct buf none;
    char at[128];

    jobs = crawl_jobs_new(&o);
    factory = crawl_jobs_factory(jobs);
    snprintf(at, sizeof at, "%s/crawls", dir);
    ck_ok(crawls_open(&crawls, at, &factory));
    buf_init(&none, 100);
    ck_ok(crawl_jobs_start_files(jobs, crawls, &none));
}

static inline void close_them(void)
{
    ck_ok(crawls_close(crawls));
    crawl_jobs_free(jobs);
    json_decref(answer);
    answer = NULL;
}

static inline void setup(void)
{
    make_dir();
    open_them();
}

static inline void teardown(void)
{
    close_them();
    ck_ok(file_remove_tree(dir));
}

static inline void restart(void)
{
    close_them();
    open_them();
}

/* ---- calls ---- */

/* `text`: JSON with ' for ", or NULL; the answer is left in *c. */
static inline void perform(struct crawls_call *c, enum crawls_verb verb,
                           const char *name, const char *text)
{
    char *json = strdup(text != NULL ? text : "null");

    *c = (struct crawls_call){.verb = verb, .crawl = bytes_of_str(name)};
    for (char *p = json; *p != '\0'; p++)
        *p = *p == '\'' ? '"' : *p;
    c->in = json_loads(json, JSON_DECODE_ANY, NULL);
    ck_assert_msg(c->in != NULL, "%s", json);
    free(json);
    ck_assert_int_eq(crawls_perform(crawls, c), c->status);
    json_decref(c->in);
}

/* Leaves the answer in `answer` and `why`. */
static inline enum status call(enum crawls_verb verb, const char *name,
                               const char *text)
{
    struct crawls_call c;

    perform(&c, verb, name, text);
    json_decref(answer);
    answer = c.out;
    snprintf(why, sizeof why, "%s", c.why);
    return c.status;
}

static inline void does(enum crawls_verb verb, const char *name,
                        const char *text)
{
    enum status st = call(verb, name, text);

    ck_assert_msg(st == STATUS_OK, "%s: %s", status_text(st), why);
}

static inline void refuses(enum status st, const char *because,
                           enum crawls_verb verb, const char *name,
                           const char *text)
{
    enum status got = call(verb, name, text);

    ck_assert_msg(got == st, "%s instead of %s: %s", status_text(got),
                  status_text(st), why);
    ck_assert_msg(strstr(why, because) != NULL, "%s", why);
}

/* Browsers block this port: each URL on it fails at once, without a request. */
#define SEED "http://127.0.0.1:1/"
#define QUICK                                                                  \
    "'allow-private': true, 'tries': 1, 'delay': 0, 'min-disk': 0, "           \
    "'threads': 1, 'robots': 'off', 'sitemap': 'off'"

static inline void create(const char *name)
{
    does(CRAWLS_CREATE, name,
         "{'seeds': ['" SEED "'], 'settings': {" QUICK "}}");
}

static inline struct crawls_view look(const char *name)
{
    struct crawls_view v;

    ck_ok(crawls_find_view(crawls, bytes_of_str(name), &v));
    return v;
}

static inline void becomes(const char *name, enum crawls_state s)
{
    int64_t until = clock_mono() + 100 * NS_PER_S;
    struct crawls_view v = look(name);

    while (v.state != s) {
        ck_assert_msg(clock_mono() < until, "%s: %s, not %s", name,
                      crawls_state_name(v.state), crawls_state_name(s));
        usleep(5000);
        v = look(name);
    }
}

static inline const json_t *setting(const char *crawl, const char *name)
{
    does(CRAWLS_SETTINGS, crawl, NULL);
    return json_object_get(json_object_get(answer, "settings"), name);
}

#endif
