/*
 * crawl_jobs_impl.h - what the files of the factory share.
 *
 *   crawl_jobs.c         the factory's table, files of the operator, attaching;
 *                        what a job that is open is told
 *   crawl_job.c          one job: made, opened, started, freed
 *   crawl_job_json.c     settings and seeds as clients send them
 *   report_helper.c      explain, audit, export, status of a crawl
 *
 * No other file includes this.
 */
#ifndef URLWEIR_JOB_CRAWL_JOBS_CRAWL_JOBS_IMPL_H
#define URLWEIR_JOB_CRAWL_JOBS_CRAWL_JOBS_IMPL_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/file/file.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "job/jsonl.h"

/* A YAML file of the operator. */
struct crawl_job_file {
    char name[CRAWLS_NAME_MOST + 1];
    char *path;
};

struct crawl_jobs {
    struct crawl_jobs_options o;
    char *dir; /* absolute, or NULL */
    struct crawl_job_file *files;
    size_t file_count;
    /* registry's thread */
    struct ip_limit *ip_limit; /* shared by all jobs */
    struct crawl_job *jobs;    /* all open jobs */
    bool stuck;                /* a fetcher of a crawl hangs */
    _Atomic bool limited;      /* the service has started */
};

struct crawl_job {
    struct crawl_jobs *host; /* NULL: attached */
    struct crawl_job *next;
    struct crawl_settings settings; /* fetchers borrow from them */
    struct crawl_settings now;      /* with later changes */
    struct crawl_setup *setup;
    struct frontier *frontier;
    struct crawl *crawl;
    struct file_lock *lock;
    struct jsonl *lines;
};

/* ---- crawl_job_json.c ---- */

/* Reads and checks the settings in `yaml`, the text of the file `path`. On
 * failure `why` names the file, and the line and option if there is one. */
MUST_CHECK enum status crawl_job_read(struct crawl_settings *s,
                                      const char *path, struct bytes yaml,
                                      enum option_source from, struct buf *why);
/* Reads the text of the file; `text` is limited to CONFIG_CEILING. */
MUST_CHECK enum status crawl_job_read_text(const char *path, struct buf *text,
                                           struct buf *why);

/* ---- crawl_job.c; registry's thread ---- */

/* Makes a new crawl in the directory `s->output`; takes `s` on STATUS_OK.
 * `file` is the text its settings were read from, or empty. */
enum status crawl_job_make(struct crawl_jobs *h, const char *name,
                           struct crawl_settings *s, struct bytes file,
                           struct crawl_job **out, struct buf *why);

enum status crawl_job_open(void *ctx, const char *name, const char *dir,
                           bool paused, struct crawl_job **out,
                           struct buf *why);
void crawl_job_read_stats(void *ctx, const char *dir, struct crawl_stats *out);
/* Initialises `s` and reads the settings file in `dir`, which becomes its
 * output. */
enum status crawl_job_load(struct crawl_settings *s, const char *dir,
                           struct buf *why);
enum status crawl_job_close(struct crawl_job *m);
bool crawl_job_tick(struct crawl_job *m, struct buf *why);
/* The operator's file for a crawl, or NULL. (crawl_jobs.c) */
const struct crawl_job_file *crawl_job_file_of(const struct crawl_jobs *h,
                                               const char *name);

/* A copy of the operator's file, in the crawl's directory. */
#define CRAWL_JOB_FILE_COPY "urlweir-given.yaml"

/* Applies {"delay": "2s"} to settings, like a command line. `base`: see
 * crawl_job_path. STATUS_ARG: `why` has the reason and the option's name. */
MUST_CHECK enum status crawl_job_apply(struct crawl_settings *s,
                                       const json_t *in, const char *base,
                                       struct buf *why);
/* Takes the seeds of a new crawl. */
MUST_CHECK enum status crawl_job_take_seeds(struct crawl_settings *s,
                                            const json_t *seeds,
                                            struct buf *why);
/* Puts the absolute path of a client's `path` into `out`: it is below `base`,
 * without `..` and symbolic links. `is_new`: the file may be missing.
 * STATUS_ARG: see `why`.
 */
MUST_CHECK enum status crawl_job_path(const char *base, const char *path,
                                      bool is_new, struct buf *out,
                                      struct buf *why);

/* ---- crawl_jobs.c ---- */

enum status crawl_job_settings(void *ctx, struct crawl_job *m, const char *dir,
                               json_t **out, struct buf *why);

/* ---- report_helper.c ---- */

enum status crawl_job_report(void *ctx, const char *dir,
                             const struct crawls_report *r, int fd);

#endif
