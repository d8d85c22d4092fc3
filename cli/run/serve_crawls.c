/* SPDX-License-Identifier: MIT */
/* serve_crawls.c - the crawls of `urlweir serve`. */
#include "cli/run/serve_crawls.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/mem.h"
#include "crawler/fetcher.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "job/exit_code.h"

struct serve_crawls {
    struct crawl_jobs *jobs;
    struct crawls *crawls;
};

/* Escapes the text: a file, or its name, may contain any bytes. */
static void log_reason(const struct buf *why)
{
    struct buf safe;

    buf_init(&safe, SIZE_MAX);
    format_terminal(&safe, buf_bytes(why));
    fprintf(stderr, "urlweir serve: --crawl: %s\n", buf_str(&safe));
    buf_fini(&safe);
}

static enum status add_files(struct serve_crawls *s,
                             const struct option_list *files, struct buf *why)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < files->count; i++)
        st = crawl_jobs_add_file(s->jobs, files->item[i], why);
    return st;
}

/* A crawl would hide what other programs have put under its name. */
static bool is_taken(void *router, struct bytes name)
{
    return router_is_served(router, name);
}

static enum status open_crawls(struct serve_crawls *s, const char *dir,
                               struct router *router, struct buf *why)
{
    struct crawl_factory factory = crawl_jobs_factory(s->jobs);
    struct buf path;
    enum status st;

    buf_init(&path, 4096);
    buf_addf(&path, "%s/crawls", dir);
    st = crawls_open(&s->crawls, buf_str(&path), &factory);
    buf_fini(&path);
    if (st != STATUS_OK)
        return st;
    crawls_mind_names(s->crawls, is_taken, router);
    router_set_crawls(router, s->crawls);
    return crawl_jobs_start_files(s->jobs, s->crawls, why);
}

/* Ends the service when a fetcher is stuck, so that a supervisor restarts it;
 * running on, it would keep whatever that fetcher holds. */
static void end_service(void *service)
{
    service_end(service);
}

bool serve_crawls_open(struct serve_crawls **out, const char *dir,
                       struct service *service,
                       const struct serve_settings *set, int *code)
{
    const struct crawl_jobs_options o = {
        .dir = dir,
        .quiet = set->quiet,
        .memory = set->crawl_memory,
        .threads = (unsigned)set->crawl_threads,
        .patience = set->drain_ms > 0 ? set->drain_ms * NS_PER_MS : 1,
        .on_stuck = end_service,
        .ctx = service};
    struct serve_crawls *s = xcalloc(1, sizeof *s);
    struct buf why;
    bool stuck;
    enum status st = fetcher_global_init();

    *code = EXIT_CANNOT;
    buf_init(&why, 16384);
    s->jobs = crawl_jobs_new(&o);
    if (st == STATUS_OK) {
        st = add_files(s, &set->crawl, &why);
        if (st != STATUS_OK)
            *code = EXIT_USAGE;
    }
    if (st == STATUS_OK)
        st = open_crawls(s, dir, service_router(service), &why);
    if (why.len > 0)
        log_reason(&why);
    buf_fini(&why);
    if (st == STATUS_OK) {
        *out = s;
        return true;
    }
    (void)serve_crawls_close(s, &stuck);
    return false;
}

struct crawls *serve_crawls_of(struct serve_crawls *s)
{
    return s->crawls;
}

void serve_crawls_stop(struct serve_crawls *s)
{
    crawls_stop(s->crawls);
}

bool serve_crawls_are_over(struct serve_crawls *s)
{
    struct crawls_view *views = NULL;
    size_t n = crawls_each(s->crawls, &views), over = 0;

    for (size_t i = 0; i < n; i++)
        over +=
            views[i].state == CRAWLS_STOPPED || views[i].state == CRAWLS_FAILED;
    free(views);
    return over == n;
}

enum status serve_crawls_close(struct serve_crawls *s, bool *stuck)
{
    enum status st;

    *stuck = false;
    if (s == NULL)
        return STATUS_OK;
    st = crawls_close(s->crawls);
    *stuck = crawl_jobs_are_stuck(s->jobs);
    crawl_jobs_free(s->jobs);
    free(s);
    return st;
}
