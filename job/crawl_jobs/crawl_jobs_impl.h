/*
 * crawl_jobs_impl.h - what the files of the factory share.
 *
 *   crawl_jobs.c           the factory's table, files of the operator,
 * attaching crawl_job.c the parts of a job: made, started, freed
 *   crawl_job_make.c       a crawl that was not there
 *   crawl_job_open.c       one that is there: opened, or looked at
 *   crawl_job_follow.c     a file of the operator that has changed
 *   crawl_job_options.c    the options of a crawl job
 *   crawl_job_json.c       settings and seeds as clients send them
 *   crawl_job_path.c       paths that clients name
 *   crawl_job_change.c     seeds and settings of one that runs
 *   crawl_job_confine.c    the paths that crawls name
 *   crawl_job_report.c     explain, audit, export, status of a crawl
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
    struct engine *engine;
    struct crawl *crawl;
    struct file_lock *lock;
    struct jsonl *lines;
};

/* ---- crawl_job_options.c ---- */

/* Why a crawl job does not accept `text` for option `o`, and what to do; NULL:
 * it accepts it. */
const char *crawl_job_refuse(const struct option_spec *o, struct bytes text);
/* Reads and checks the settings in `yaml`, the text of the file `path`. On
 * failure `why` names the file, and the line and option if there is one. */
MUST_CHECK enum status crawl_job_read(struct crawl_settings *s,
                                      const char *path, struct bytes yaml,
                                      enum option_source from, struct buf *why);
/* Reads the text of the file; `text` is limited to CONFIG_CEILING. */
MUST_CHECK enum status crawl_job_read_text(const char *path, struct buf *text,
                                           struct buf *why);

/* ---- crawl_job_make.c; registry's thread ---- */

/* Makes a new crawl in the directory `s->output`; takes `s` on STATUS_OK.
 * `file` is the text its settings were read from, or empty. */
enum status crawl_job_make(struct crawl_jobs *h, const char *name,
                           struct crawl_settings *s, struct bytes file,
                           struct crawl_job **out, struct buf *why);

/* ---- crawl_job_open.c; registry's thread ---- */

enum status crawl_job_open(void *ctx, const char *name, const char *dir,
                           bool paused, struct crawl_job **out,
                           struct buf *why);
void crawl_job_read_stats(void *ctx, const char *dir, struct crawl_stats *out);
/* Initialises `s` and reads the settings file in `dir`, which becomes its
 * output. */
enum status crawl_job_load(struct crawl_settings *s, const char *dir,
                           struct buf *why);
/* The operator's file for a crawl, or NULL. */
const struct crawl_job_file *crawl_job_file_of(const struct crawl_jobs *h,
                                               const char *name);

/* ---- crawl_job_follow.c ---- */

/* Applies what is new in the operator's file to the settings of the crawl, and
 * saves them. `text` gets the file, or is empty if the file has not changed;
 * the caller keeps it as a copy when everything is done. `f` may be NULL. */
MUST_CHECK enum status crawl_job_follow(struct crawl_settings *s,
                                        const struct crawl_job_file *f,
                                        struct buf *text, struct buf *why);

/* Is the proxy that of the operator's file, `file` or, if that is empty, its
 * copy? Then it is none that a client named. */
bool crawl_job_has_own_proxy(const struct crawl_settings *s, struct bytes file);

/* ---- crawl_job.c; registry's thread ---- */

/* Takes `s`. If nobody set them, the memory limit is CRAWL_JOB_MEMORY and
 * give-up is off. */
struct crawl_job *crawl_job_new(struct crawl_jobs *h, struct crawl_settings *s);
/* Frees everything but the crawl, which has ended or never started. */
void crawl_job_free(struct crawl_job *m);
/* STATUS_BUSY: with it all open crawls would have more than they may; see
 * `why`. */
MUST_CHECK enum status crawl_job_find_room(const struct crawl_job *m,
                                           struct buf *why);
MUST_CHECK enum status crawl_job_lock(struct crawl_job *m, struct buf *why);
/* Makes its setup from its settings. `file` is the operator's file, or empty if
 * it has not changed. */
MUST_CHECK enum status crawl_job_prepare(struct crawl_job *m, struct bytes file,
                                         struct buf *why);
/* Starts its threads, with an open engine. */
MUST_CHECK enum status crawl_job_start(struct crawl_job *m, bool paused,
                                       struct buf *why);
enum status crawl_job_close(struct crawl_job *m);
bool crawl_job_tick(struct crawl_job *m, struct buf *why);
/* Explains a status of the store in `why`, unless that has a text. Returns
 * `st`. */
enum status crawl_job_store_failed(enum status st, const char *dir,
                                   struct buf *why);

/* A copy of the operator's file, in the crawl's directory. */
#define CRAWL_JOB_FILE_COPY "urlweir-given.yaml"
MUST_CHECK enum status crawl_job_keep_copy(const char *dir, struct bytes file);
bool crawl_job_has(const char *dir, const char *name);

/* ---- crawl_job_json.c ---- */

/* Applies {"delay": "2s"} to settings, like a command line. `base`: see
 * crawl_job_path. STATUS_ARG: `why` has the reason and the option's name. */
MUST_CHECK enum status crawl_job_apply(struct crawl_settings *s,
                                       const json_t *in, const char *base,
                                       struct buf *why);
/* Takes the seeds of a new crawl. */
MUST_CHECK enum status crawl_job_take_seeds(struct crawl_settings *s,
                                            const json_t *seeds,
                                            struct buf *why);
/* ---- crawl_job_path.c ---- */

/* Puts the absolute path of a client's `path` into `out`: it is below `base`,
 * without `..` and symbolic links. `is_new`: the file may be missing.
 * STATUS_ARG: see `why`.
 */
MUST_CHECK enum status crawl_job_path(const char *base, const char *path,
                                      bool is_new, struct buf *out,
                                      struct buf *why);

/* ---- crawl_job_change.c ---- */

enum status crawl_job_seed(struct crawl_job *m, json_t *in, json_t **out,
                           struct buf *why);
enum status crawl_job_retry(struct crawl_job *m, json_t *in, json_t **out,
                            struct buf *why);
enum status crawl_job_refresh(struct crawl_job *m, json_t *in, json_t **out,
                              struct buf *why);
enum status crawl_job_settings(void *ctx, struct crawl_job *m, const char *dir,
                               json_t **out, struct buf *why);
enum status crawl_job_set_settings(void *ctx, struct crawl_job *m,
                                   const char *dir, json_t *in, json_t **out,
                                   struct buf *why);

/* ---- crawl_job_report.c ---- */

enum status crawl_job_report(void *ctx, const char *dir,
                             const struct crawls_report *r, int fd);

#endif
