/*
 * crawl_jobs.h - crawls that a process runs for others to see and steer: the
 * factory behind job/crawls.h.
 *
 * A crawl job is a directory as `urlweir crawl` makes it, with a lock, a
 * settings file, threads and memory of its own; it stays open when nothing is
 * left to fetch. All jobs share one limit of connections to an address: the
 * least that any of them asks for.
 *
 * Settings come from a file of the operator (`serve --crawl FILE.yaml`), who
 * may name any path, or from a client, whose paths are relative and stay inside
 * the service's directory, with no symbolic link on the way.
 */
#ifndef URLWEIR_JOB_CRAWL_JOBS_H
#define URLWEIR_JOB_CRAWL_JOBS_H

#include "base/buf.h"
#include "base/status.h"
#include "job/confine.h"
#include "job/crawl_setup.h"
#include "job/crawls.h"
#include "job/options.h"

#define CRAWL_JOB_MEMORY                                                       \
    ((uint64_t)256 << 20) /* of each, unless it says more */

struct crawl_jobs;

struct crawl_jobs_options {
    const char *dir;  /* the service's; NULL: none, and no crawls are made */
    bool quiet;       /* what becomes of crawls is not said on stderr */
    int64_t patience; /* see crawl_factory */
    /* A fetcher of a crawl does not come back; that crawl is being stopped, and
     * the process should end. Once, on the registry's thread. May be NULL. */
    void (*on_stuck)(void *ctx);
    void *ctx;
};

struct crawl_jobs *crawl_jobs_new(const struct crawl_jobs_options *o);
/* After crawls_close. Frees nothing that a stuck fetcher may use. NULL is fine.
 */
void crawl_jobs_free(struct crawl_jobs *h);
/* Is there a crawl whose fetcher does not come back? After crawls_close. */
bool crawl_jobs_are_stuck(const struct crawl_jobs *h);
/* Lives as long as `h`. */
struct crawl_factory crawl_jobs_factory(struct crawl_jobs *h);

/* Before all else: the paths that these files, and the crawls in DIR/crawls,
 * name. */
void crawl_job_confine(struct confine *c, const char *dir,
                       const struct option_list *files);

/* Before crawls_open: the crawl of a YAML file, named as the file without its
 * directory and ".yaml". STATUS_ARG: `why`. */
MUST_CHECK enum status crawl_jobs_add_file(struct crawl_jobs *h,
                                           const char *path, struct buf *why);
/* After crawls_open: makes the crawls of files that are not there yet. Those
 * that cannot be made are named in `why`, one a line, and STATUS_ARG. */
MUST_CHECK enum status crawl_jobs_start_files(struct crawl_jobs *h,
                                              struct crawls *c,
                                              struct buf *why);

/* The one that `urlweir crawl` or `resume` runs, for crawls_attach; all of it
 * is the caller's, and outlives it. Freed after crawls_close. */
struct crawl_job *crawl_job_attach(struct crawl_setup *setup,
                                   const struct crawl_settings *s,
                                   struct engine *engine, struct crawl *crawl);
void crawl_job_release(struct crawl_job *m); /* NULL is fine */

/* The report of crawls_report, by this process: it starts a program. */
MUST_CHECK enum status crawl_job_report_run(const char *dir,
                                            const struct crawls_report *r,
                                            int fd);

#endif
