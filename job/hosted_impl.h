/*
 * hosted_impl.h - what the files of the maker share.
 *
 *   hosted.c           the maker's table, files of the operator, adoption
 *   hosted_make.c      a crawl that was not there
 *   hosted_open.c      one that is there, opened or looked at
 *   hosted_member.c    its parts, taken, begun and given back
 *   hosted_options.c   the options of a hosted crawl
 *   hosted_json.c      settings as JSON, in and out
 *   hosted_path.c      paths that clients name
 *   hosted_scope.c     what of the settings makes the scope, kept in the store
 *   hosted_change.c    seeds and settings of one that runs
 *   hosted_confine.c   the paths that crawls name
 *   hosted_report.c    explain, audit, export, status of a crawl
 *
 * Nobody else includes this.
 */
#ifndef URLWEIR_JOB_HOSTED_IMPL_H
#define URLWEIR_JOB_HOSTED_IMPL_H

#include <jansson.h>

#include "base/file.h"
#include "job/hosted.h"
#include "job/jsonl.h"

/* A YAML file of the operator. */
struct hosted_file {
    char name[CRAWLS_NAME_MOST + 1];
    char *path;
};

struct hosted {
    struct hosted_options o;
    char *dir; /* absolute; NULL: none */
    struct hosted_file *files;
    size_t file_count;
    /* registry's thread */
    struct ip_limit *ip_limit;     /* of all */
    struct crawls_member *members; /* all that are open */
};

struct crawls_member {
    struct hosted *host; /* NULL: adopted */
    struct crawls_member *next;
    struct crawl_settings settings; /* fetchers borrow from them */
    struct crawl_settings now;      /* with what was changed since */
    struct crawl_setup *setup;
    struct engine *engine;
    struct crawl *crawl;
    struct file_lock *lock;
    struct jsonl *lines;
};

/* ---- hosted_options.c ---- */

/* Why option `o` of a hosted crawl cannot be `text`, and what to do; NULL: it
 * can. */
const char *hosted_refuse(const struct option_spec *o, struct bytes text);
/* Settings of the file `path` with the text `yaml`, checked. Not STATUS_OK:
 * `why` names the file, and the line and option where it is one's. */
MUST_CHECK enum status hosted_read(struct crawl_settings *s, const char *path,
                                   struct bytes yaml, enum option_source from,
                                   struct buf *why);
/* Its text; its ceiling is CONFIG_CEILING. */
MUST_CHECK enum status hosted_read_text(const char *path, struct buf *text,
                                        struct buf *why);

/* ---- hosted_make.c; registry's thread ---- */

/* A new crawl in `s->output`, which is its directory; `s` is taken on
 * STATUS_OK. `file`: what its settings were read from, or nothing. */
enum status hosted_make(struct hosted *h, const char *name,
                        struct crawl_settings *s, struct bytes file,
                        struct crawls_member **out, struct buf *why);

/* ---- hosted_open.c; registry's thread ---- */

enum status hosted_open(void *ctx, const char *name, const char *dir,
                        bool paused, struct crawls_member **out,
                        struct buf *why);
void hosted_look(void *ctx, const char *dir, struct crawl_sample *out);
/* DIR/crawl.yaml into settings, which are made; output is `dir`. */
enum status hosted_load(struct crawl_settings *s, const char *dir,
                        struct buf *why);
/* The file of the operator for a crawl, NULL: none. */
const struct hosted_file *hosted_file_of(const struct hosted *h,
                                         const char *name);

/* ---- hosted_member.c; registry's thread ---- */

/* Takes `s`. What nobody said is what suits a crawl among others that nobody
 * waits for. */
struct crawls_member *hosted_member_new(struct hosted *h,
                                        struct crawl_settings *s);
/* Everything but the crawl itself, which has ended or was never begun. */
void hosted_member_free(struct crawls_member *m);
MUST_CHECK enum status hosted_member_lock(struct crawls_member *m,
                                          struct buf *why);
/* Its setup, from its settings. */
MUST_CHECK enum status hosted_member_prepare(struct crawls_member *m,
                                             struct buf *why);
/* Its threads, with an engine that is open. */
MUST_CHECK enum status hosted_member_start(struct crawls_member *m, bool paused,
                                           struct buf *why);
enum status hosted_close(struct crawls_member *m);
bool hosted_tick(struct crawls_member *m, struct buf *why);
/* Words for what the store says, where there are none yet. Returns `st`. */
enum status hosted_store_failed(enum status st, const char *dir,
                                struct buf *why);

/* A copy of the operator's file, in the crawl's directory. */
#define HOSTED_FILE_COPY "settings-file.yaml"
MUST_CHECK enum status hosted_keep_copy(const char *dir, struct bytes file);
bool hosted_has(const char *dir, const char *name);

/* ---- hosted_scope.c ---- */

/* Keeps what of the settings makes the scope in the store. *changed: it is, or
 * was once, another than what the crawl began with. Committed by the caller. */
enum status hosted_note_scope(struct engine *e, const struct crawl_settings *s,
                              bool *changed);

/* ---- hosted_json.c ---- */

/* {"delay": "2s"} onto settings, as said by a command line. `base`: see
 * hosted_path. STATUS_ARG: `why`, with the option's name. */
MUST_CHECK enum status hosted_apply(struct crawl_settings *s, const json_t *in,
                                    const char *base, struct buf *why);
/* Seeds of a creation. */
MUST_CHECK enum status hosted_take_seeds(struct crawl_settings *s,
                                         const json_t *seeds, struct buf *why);
/* All but those of a run, and secrets. */
json_t *hosted_settings_json(const struct crawl_settings *s);
/* What differs: name, before, after. */
json_t *hosted_changed_json(const struct crawl_settings *a,
                            const struct crawl_settings *b);

/* ---- hosted_path.c ---- */

/* The absolute path of a client's `path`, in `out`: below `base`, without `..`
 * and without symbolic links. `is_new`: it may be missing. STATUS_ARG: `why`.
 */
MUST_CHECK enum status hosted_path(const char *base, const char *path,
                                   bool is_new, struct buf *out,
                                   struct buf *why);

/* ---- hosted_change.c ---- */

enum status hosted_seed(struct crawls_member *m, json_t *in, json_t **out,
                        struct buf *why);
enum status hosted_settings(void *ctx, struct crawls_member *m, const char *dir,
                            json_t **out, struct buf *why);
enum status hosted_set_settings(void *ctx, struct crawls_member *m,
                                const char *dir, json_t *in, json_t **out,
                                struct buf *why);

/* ---- hosted_report.c ---- */

enum status hosted_report(void *ctx, const char *dir,
                          const struct crawls_report *r, int fd);

#endif
