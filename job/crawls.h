/*
 * crawls.h - the crawls that this process runs with its own fetchers.
 *
 * `urlweir serve` has any number of them, each in DIR/crawls/NAME, a directory
 * as `urlweir crawl` makes it; `urlweir crawl` and `resume` have the one they
 * run. Others see them through the calls and views below, and never touch a
 * struct crawl but through crawls_use.
 *
 * What makes a crawl of settings is not known here: a struct crawl_factory,
 * given by whoever opens the registry, opens and closes crawls, reads and
 * changes their settings, and writes their reports.
 *
 * Calls are carried out one after the other on a thread of the registry, as
 * some of them wait (a stop for what is under way, an open for the disk).
 * Views, crawls_use and crawls_report may be had from any thread meanwhile.
 */
#ifndef URLWEIR_JOB_CRAWLS_H
#define URLWEIR_JOB_CRAWLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "crawler/crawl.h"

struct crawls;

enum crawls_state {
    CRAWLS_RUNNING,
    CRAWLS_PAUSED,   /* nothing is leased; what was under way is finished */
    CRAWLS_WAITING,  /* runs, and nothing is left; seeds make it go on */
    CRAWLS_STOPPING, /* finishing what is under way */
    CRAWLS_STOPPED,  /* told to, or by a limit: see `end`; can be resumed */
    CRAWLS_FAILED    /* its store failed, or it could not be opened */
};
const char *crawls_state_name(enum crawls_state s); /* "running" ... */

/* ---- what is seen of one ---- */

#define CRAWLS_NAME_MOST                                                       \
    64 /* a name: letters, digits, '-', '_', '.' that is                       \
          not first */

struct crawls_view {
    char name[CRAWLS_NAME_MOST + 1];
    enum crawls_state state;
    enum crawl_end end;       /* of STOPPED and FAILED */
    char why[256];            /* of FAILED: what is wrong */
    int64_t started_ms;       /* wall clock, of this run */
    struct crawl_stats stats; /* the last one, of STOPPED as well */
};
bool crawls_name_is_valid(struct bytes name);
/* Views of all, by name; free() the array. */
size_t crawls_each(struct crawls *c, struct crawls_view **out);
/* STATUS_NOT_FOUND. */
MUST_CHECK enum status crawls_find_view(struct crawls *c, struct bytes name,
                                        struct crawls_view *out);
/* Is there one of this name? Cheap; what is asked to route a call. */
bool crawls_has(struct crawls *c, struct bytes name);
/* Calls `use` with the crawl, which stays open meanwhile; short, as a stop
 * waits for it: posts a task (crawl_post), say. STATUS_NOT_FOUND: no such
 * crawl; STATUS_CLOSED: it is stopped; else what `use` said. */
MUST_CHECK enum status crawls_use(struct crawls *c, struct bytes name,
                                  enum status (*use)(struct crawl *crawl,
                                                     void *ctx),
                                  void *ctx);

/* ---- calls ---- */

/* What goes in and comes out is JSON, as docs/formats/http-api.md has it. */
enum crawls_verb {
    CRAWLS_CREATE, /* in: {"name", "seeds", "settings"} */
    CRAWLS_PAUSE,  /* these four: in NULL, out NULL */
    CRAWLS_UNPAUSE,
    CRAWLS_STOP, /* waits until it has */
    CRAWLS_RESUME,
    CRAWLS_DELETE,       /* stops it, and removes its directory; out
                            {"deleted": N} */
    CRAWLS_SEED,         /* in: {"urls": [...]}; out {"results": [...]} */
    CRAWLS_RETRY,        /* in: {"host", "reasons": [...]}, both may be missing;
                            out {"queued": N} */
    CRAWLS_SETTINGS,     /* out: {"settings": {...}}, all of them */
    CRAWLS_SET_SETTINGS, /* in: {"delay": "2s", ...}; out {"changed": [...]} */
    CRAWLS_HOSTS,        /* in: {"sort", "size"}; out {"hosts": [...]} */
    CRAWLS_RECENT        /* in: {"size"}; out {"recent": [...]} */
};

struct crawls_call {
    enum crawls_verb verb;
    struct bytes crawl; /* its name; of CREATE too */
    json_t *in;         /* borrowed */
    /* On the registry's thread, soon over. */
    void (*done)(struct crawls_call *call);
    void *ctx;

    /* ---- the answer, valid from `done` on ---- */

    /* STATUS_NOT_FOUND: no such crawl; STATUS_EXISTS: of CREATE; STATUS_ARG:
     * something in `in`; STATUS_BUSY: not in this state (of a setting: not
     * without a stop); STATUS_CLOSED: it is stopped, or the process stops;
     * else the store failed. `why` says it for people. */
    enum status status;
    char why[512];
    json_t *out; /* a new reference, or NULL */

    struct crawls_call *next; /* the registry's */
};

/* Never blocks. STATUS_CLOSED: the process is stopping; STATUS_AGAIN: too many
 * wait. */
MUST_CHECK enum status crawls_submit(struct crawls *c,
                                     struct crawls_call *call);
/* Submits it and waits until it is done, by a `done` of its own. Its status, or
 * why it was not taken. */
enum status crawls_perform(struct crawls *c, struct crawls_call *call);

/* ---- reports: what is written at length ---- */

struct crawls_report {
    enum crawls_what {
        CRAWLS_EXPLAIN,
        CRAWLS_AUDIT,
        CRAWLS_EXPORT,
        CRAWLS_STATUS
    } what;
    struct bytes url;   /* of EXPLAIN */
    const char *rows;   /* of EXPORT: "urls", "pages" ... */
    const char *format; /* of EXPORT: "jsonl", "csv" */
};
/* Writes it to `fd` as the command of that name does with --json, on the
 * caller's thread, which it may hold for long; of a crawl that runs or of one
 * that is stopped. Where `fd` is a pipe that loses its reader, it ends at once,
 * whether it has something to write or not: STATUS_CLOSED.
 * STATUS_NOT_FOUND: no such crawl; STATUS_ARG: no such rows or format, no URL.
 */
MUST_CHECK enum status crawls_report(struct crawls *c, struct bytes name,
                                     const struct crawls_report *r, int fd);

/* ---- opening and closing ---- */

/* One crawl as its factory knows it. */
struct crawl_job;

struct crawl_factory {
    void *ctx;
    /* A new one in `dir`, which is not there yet, or is that of a creation that
     * was cut short. `in` as of CREATE. `why`: what is wrong, for people. */
    enum status (*create)(void *ctx, const char *name, const char *dir,
                          json_t *in, struct crawl_job **out, struct buf *why);
    /* One that is there, stopped: opens it, and starts it paused if asked. */
    enum status (*open)(void *ctx, const char *name, const char *dir,
                        bool paused, struct crawl_job **out, struct buf *why);
    struct crawl *(*crawl)(struct crawl_job *m);
    /* After crawl_wait said that it has ended. */
    enum status (*close)(struct crawl_job *m);
    enum status (*seed)(struct crawl_job *m, json_t *in, json_t **out,
                        struct buf *why);
    enum status (*retry)(struct crawl_job *m, json_t *in, json_t **out,
                         struct buf *why);
    /* `m` NULL: it is stopped, they are read and changed in `dir`. */
    enum status (*settings)(void *ctx, struct crawl_job *m, const char *dir,
                            json_t **out, struct buf *why);
    enum status (*set_settings)(void *ctx, struct crawl_job *m, const char *dir,
                                json_t *in, json_t **out, struct buf *why);
    /* Of `dir`, open or not; see crawls_report. Any thread. */
    enum status (*report)(void *ctx, const char *dir,
                          const struct crawls_report *r, int fd);

    /* These may be NULL. */

    /* Of one that is stopped, for its view; `out` is zeroed. */
    void (*read_stats)(void *ctx, const char *dir, struct crawl_stats *out);
    /* A few times a second while it is open. True: it cannot go on, `why`. */
    bool (*tick)(struct crawl_job *m, struct buf *why);
    /* It was opened, or has another state than it was told of last. */
    void (*tell)(void *ctx, const struct crawls_view *v);
    int64_t patience; /* ns for what is under way when the process stops, then
                         it is given up; 0: 5 s */
};

/* `dir`: where crawls are made; those that are there already are opened,
 * paused or stopped as they were left, and one that cannot be is CRAWLS_FAILED
 * and keeps nobody else. What was told to each is in its directory, in a file
 * `service`: one word. NULL: none can be made. STATUS_IO: not readable. */
MUST_CHECK enum status crawls_open(struct crawls **out, const char *dir,
                                   const struct crawl_factory *factory);
/* A name of which `taken` says so is refused by CREATE, with STATUS_EXISTS;
 * asked on the registry's thread. Before the first call. */
void crawls_mind_names(struct crawls *c,
                       bool (*taken)(void *ctx, struct bytes name), void *ctx);
/* Beside those in `dir`: one that the caller runs and ends himself, in
 * `crawl_dir`. Pause, seeds, settings and reports work, stop ends it, resume
 * and delete are STATUS_BUSY. Not for longer than until crawls_close. */
void crawls_attach(struct crawls *c, const char *name, const char *crawl_dir,
                   struct crawl_job *m);
/* Has somebody stopped the attached one? */
bool crawls_attached_stopped(struct crawls *c);
/* Begins to stop all that is its own, for crawls_close; any thread, but not in
 * a signal handler. A second call gives up what is under way. */
void crawls_stop(struct crawls *c);
/* Stops all that is its own, the calls that wait end with STATUS_CLOSED. They
 * are opened again as they were (not stopped) by the next crawls_open. */
enum status crawls_close(struct crawls *c);

#endif
