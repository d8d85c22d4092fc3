/*
 * crawl_jobs_impl.h - what the files of the factory share.
 *
 *   crawl_jobs.c           the factory's table, files of the operator,
 * attaching crawl_job.c            the parts of a job: taken, started, released
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
 * Nobody else includes this.
 */
#ifndef URLWEIR_JOB_CRAWL_JOBS_IMPL_H
#define URLWEIR_JOB_CRAWL_JOBS_IMPL_H

#include <jansson.h>

#include "base/file.h"
#include "job/crawl_jobs.h"
#include "job/jsonl.h"

/* A YAML file of the operator. */
struct crawl_job_file {
    char name[CRAWLS_NAME_MOST + 1];
    char *path;
};

struct crawl_jobs {
    struct crawl_jobs_options o;
    char *dir; /* absolute; NULL: none */
    struct crawl_job_file *files;
    size_t file_count;
    /* registry's thread */
    struct ip_limit *ip_limit; /* of all */
    struct crawl_job *jobs;    /* all that are open */
    bool stuck;                /* a fetcher of some crawl */
};

struct crawl_job {
    struct crawl_jobs *host; /* NULL: attached */
    struct crawl_job *next;
    struct crawl_settings settings; /* fetchers borrow from them */
    struct crawl_settings now;      /* with what was changed since */
    struct crawl_setup *setup;
    struct engine *engine;
    struct crawl *crawl;
    struct file_lock *lock;
    struct jsonl *lines;
};

/* ---- crawl_job_options.c ---- */

/* Why option `o` of a crawl job cannot be `text`, and what to do; NULL:
 * it can. */
const char *crawl_job_refuse(const struct option_spec *o, struct bytes text);
/* Settings of the file `path` with the text `yaml`, checked. Not STATUS_OK:
 * `why` names the file, and the line and option where it is one's. */
MUST_CHECK enum status crawl_job_read(struct crawl_settings *s,
                                      const char *path, struct bytes yaml,
                                      enum option_source from, struct buf *why);
/* Its text; its ceiling is CONFIG_CEILING. */
MUST_CHECK enum status crawl_job_read_text(const char *path, struct buf *text,
                                           struct buf *why);

/* ---- crawl_job_make.c; registry's thread ---- */

/* A new crawl in `s->output`, which is its directory; `s` is taken on
 * STATUS_OK. `file`: what its settings were read from, or nothing. */
enum status crawl_job_make(struct crawl_jobs *h, const char *name,
                           struct crawl_settings *s, struct bytes file,
                           struct crawl_job **out, struct buf *why);

/* ---- crawl_job_open.c; registry's thread ---- */

enum status crawl_job_open(void *ctx, const char *name, const char *dir,
                           bool paused, struct crawl_job **out,
                           struct buf *why);
void crawl_job_read_stats(void *ctx, const char *dir, struct crawl_stats *out);
/* The settings file in DIR into settings, which are made; output is `dir`. */
enum status crawl_job_load(struct crawl_settings *s, const char *dir,
                           struct buf *why);
/* The file of the operator for a crawl, NULL: none. */
const struct crawl_job_file *crawl_job_file_of(const struct crawl_jobs *h,
                                               const char *name);

/* ---- crawl_job_follow.c ---- */

/* What is new in the file of the operator, onto the settings of the crawl, and
 * saved. `text`: the file, empty if it is as it was; to be kept as a copy when
 * all of it is done. `f` NULL: there is none. */
MUST_CHECK enum status crawl_job_follow(struct crawl_settings *s,
                                        const struct crawl_job_file *f,
                                        struct buf *text, struct buf *why);

/* ---- crawl_job.c; registry's thread ---- */

/* Takes `s`. What nobody said is what suits a crawl among others that nobody
 * waits for. */
struct crawl_job *crawl_job_new(struct crawl_jobs *h, struct crawl_settings *s);
/* Everything but the crawl itself, which has ended or was never begun. */
void crawl_job_free(struct crawl_job *m);
MUST_CHECK enum status crawl_job_lock(struct crawl_job *m, struct buf *why);
/* Its setup, from its settings. */
MUST_CHECK enum status crawl_job_prepare(struct crawl_job *m, struct buf *why);
/* Its threads, with an engine that is open. */
MUST_CHECK enum status crawl_job_start(struct crawl_job *m, bool paused,
                                       struct buf *why);
enum status crawl_job_close(struct crawl_job *m);
bool crawl_job_tick(struct crawl_job *m, struct buf *why);
/* Words for what the store says, where there are none yet. Returns `st`. */
enum status crawl_job_store_failed(enum status st, const char *dir,
                                   struct buf *why);

/* A copy of the operator's file, in the crawl's directory. */
#define CRAWL_JOB_FILE_COPY "urlweir-given.yaml"
MUST_CHECK enum status crawl_job_keep_copy(const char *dir, struct bytes file);
bool crawl_job_has(const char *dir, const char *name);

/* ---- crawl_job_json.c ---- */

/* {"delay": "2s"} onto settings, as said by a command line. `base`: see
 * crawl_job_path. STATUS_ARG: `why`, with the option's name. */
MUST_CHECK enum status crawl_job_apply(struct crawl_settings *s,
                                       const json_t *in, const char *base,
                                       struct buf *why);
/* Seeds of a creation. */
MUST_CHECK enum status crawl_job_take_seeds(struct crawl_settings *s,
                                            const json_t *seeds,
                                            struct buf *why);
/* ---- crawl_job_path.c ---- */

/* The absolute path of a client's `path`, in `out`: below `base`, without `..`
 * and without symbolic links. `is_new`: it may be missing. STATUS_ARG: `why`.
 */
MUST_CHECK enum status crawl_job_path(const char *base, const char *path,
                                      bool is_new, struct buf *out,
                                      struct buf *why);

/* ---- crawl_job_change.c ---- */

enum status crawl_job_seed(struct crawl_job *m, json_t *in, json_t **out,
                           struct buf *why);
enum status crawl_job_retry(struct crawl_job *m, json_t *in, json_t **out,
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
