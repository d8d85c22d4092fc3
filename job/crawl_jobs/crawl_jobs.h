/*
 * crawl_jobs.h - crawls that clients can watch and control: the factory behind
 * job/registry/crawls.h.
 *
 * A crawl job has a directory like that of `urlweir crawl`, with its own lock,
 * settings file, threads and memory; it stays open when nothing is left to
 * fetch. All jobs share one limit of connections per address: the lowest that
 * any of them sets.
 *
 * Settings come from the operator's file (`serve --crawl FILE.yaml`), which may
 * name any path, or from a client, whose paths are relative and stay inside the
 * service's directory, without symbolic links.
 */
#ifndef URLWEIR_JOB_CRAWL_JOBS_CRAWL_JOBS_H
#define URLWEIR_JOB_CRAWL_JOBS_CRAWL_JOBS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/status.h"
#include "job/crawl_jobs/confine.h"
#include "job/crawl_setup.h"
#include "job/registry/crawls.h"
#include "job/settings/options.h"

/* of each, unless its settings say more */
#define CRAWL_JOB_MEMORY   ((uint64_t)256 << 20)

#define CRAWL_JOBS_THREADS 64

struct crawl_jobs;

struct crawl_jobs_options {
    const char *dir; /* of the service; NULL: crawls cannot be created */
    bool quiet;      /* do not report states of crawls on stderr */
    /* What all open crawls may have together, `memory` and fetchers; a client's
     * call that would open one more is refused. 0: the memory of the machine;
     * CRAWL_JOBS_THREADS a core. */
    uint64_t memory;
    unsigned threads;
    int64_t patience; /* see crawl_factory */
    /* Called once, on the registry's thread, when a fetcher hangs: its crawl is
     * being stopped, and the process should end. May be NULL. */
    void (*on_stuck)(void *ctx);
    void *ctx;
};

struct crawl_jobs *crawl_jobs_new(const struct crawl_jobs_options *o);
/* Call it after crawls_close. Does not free what a hanging fetcher may use.
 * NULL is fine.
 */
void crawl_jobs_free(struct crawl_jobs *h);
/* Does a crawl have a fetcher that hangs? Call it after crawls_close. */
bool crawl_jobs_are_stuck(const struct crawl_jobs *h);
/* The factory lives as long as `h`. */
struct crawl_factory crawl_jobs_factory(struct crawl_jobs *h);

/* Allows the paths that these files and the crawls in DIR/crawls name; call it
 * first. */
void crawl_job_confine(struct confine *c, const char *dir,
                       const struct option_list *files);

/* Adds the crawl of a YAML file, before crawls_open. Its name is the file's,
 * without directory and ".yaml". STATUS_ARG: see `why`. */
MUST_CHECK enum status crawl_jobs_add_file(struct crawl_jobs *h,
                                           const char *path, struct buf *why);
/* Creates the missing crawls of the files, after crawls_open. STATUS_ARG: `why`
 * lists those that cannot be created, one per line. From then on the limits of
 * the options hold; what has been opened by then stays open. */
MUST_CHECK enum status crawl_jobs_start_files(struct crawl_jobs *h,
                                              struct crawls *c,
                                              struct buf *why);

/* May clients set this option of a crawl? */
bool crawl_jobs_takes(const struct option_spec *o);

/* A job for crawls_attach, from the crawl that `urlweir crawl` or `resume`
 * runs; the arguments belong to the caller and outlive the job. Free it after
 * crawls_close. */
struct crawl_job *crawl_job_attach(struct crawl_setup *setup,
                                   const struct crawl_settings *s,
                                   struct frontier *frontier,
                                   struct crawl *crawl);
void crawl_job_release(struct crawl_job *m); /* NULL is fine */

#endif
