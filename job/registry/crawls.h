/*
 * crawls.h - the crawls that this process runs with its own fetchers.
 *
 * `urlweir serve` has any number of them, each in DIR/crawls/NAME, a directory
 * like that of `urlweir crawl`; `urlweir crawl` and `resume` have the one they
 * run. Other modules use the calls and views below, and reach a struct crawl
 * only through crawls_use.
 *
 * The registry does not know how to make a crawl: whoever opens it passes a
 * struct crawl_factory, which opens and closes crawls, reads and changes their
 * settings, and writes their reports.
 *
 * The registry's thread carries out calls one after the other, as some of them
 * wait (a stop for transfers in flight, an open for the disk). Meanwhile any
 * thread may use views, crawls_use and crawls_report.
 */
#ifndef URLWEIR_JOB_REGISTRY_CRAWLS_H
#define URLWEIR_JOB_REGISTRY_CRAWLS_H

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
    CRAWLS_PAUSED,   /* leases nothing; transfers in flight end */
    CRAWLS_WAITING,  /* runs, but nothing is left until seeds come */
    CRAWLS_STOPPING, /* finishing transfers in flight */
    CRAWLS_STOPPED,  /* by a call or a limit, see `end`; can be resumed */
    CRAWLS_FAILED    /* its store failed, or did not open */
};
const char *crawls_state_name(enum crawls_state s); /* "running" ... */

/* ---- views ---- */

/* a name: letters, digits, '-', '_', '.' that is not first */
#define CRAWLS_NAME_MOST 64

struct crawls_view {
    char name[CRAWLS_NAME_MOST + 1];
    enum crawls_state state;
    enum crawl_end end;       /* if STOPPED or FAILED */
    char why[256];            /* if FAILED */
    int64_t started_ms;       /* wall clock; start of this run */
    struct crawl_stats stats; /* the last ones if STOPPED */
};
bool crawls_name_is_valid(struct bytes name);
/* Views of all crawls, sorted by name; the caller frees the array with
 * free(). */
size_t crawls_each(struct crawls *c, struct crawls_view **out);
/* STATUS_NOT_FOUND. */
MUST_CHECK enum status crawls_find_view(struct crawls *c, struct bytes name,
                                        struct crawls_view *out);
/* Does a crawl of this name exist? Cheap, for routing calls. */
bool crawls_has(struct crawls *c, struct bytes name);
/* Calls `use` with the crawl, which stays open meanwhile. `use` must be short,
 * since a stop waits for it; it may post a task (crawl_post). STATUS_NOT_FOUND:
 * no such crawl; STATUS_CLOSED: it is stopped; otherwise what `use`
 * returned. */
MUST_CHECK enum status crawls_use(struct crawls *c, struct bytes name,
                                  enum status (*use)(struct crawl *crawl,
                                                     void *ctx),
                                  void *ctx);

/* ---- calls ---- */

/* Input and output are JSON, see docs/formats/http-api.md. */
#define CRAWLS_SEEDS_MOST 16384 /* of one CRAWLS_SEED */

enum crawls_verb {
    CRAWLS_CREATE, /* in: {"name", "seeds", "settings"} */
    CRAWLS_PAUSE,  /* these four: in NULL, out NULL */
    CRAWLS_UNPAUSE,
    CRAWLS_STOP, /* waits until it has stopped */
    CRAWLS_RESUME,
    CRAWLS_DELETE,       /* stops it, and removes its directory; out
                            {"deleted": N} */
    CRAWLS_SEED,         /* in: {"urls": [...]}; out {"results": [...]} */
    CRAWLS_RETRY,        /* in: {"host", "reasons": [...]}, both may be missing;
                            out {"queued": N} */
    CRAWLS_REFRESH,      /* in: {"host", "match", "now"}, all may be missing;
                            out {"dated": N} */
    CRAWLS_SETTINGS,     /* out: {"settings": {...}}, all of them */
    CRAWLS_SET_SETTINGS, /* in: {"delay": "2s", ...}; out {"changed": [...]} */
    CRAWLS_HOSTS,        /* in: {"sort", "size"}; out {"hosts": [...]} */
    CRAWLS_RECENT        /* in: {"size"}; out {"recent": [...]} */
};

struct crawls_call {
    enum crawls_verb verb;
    struct bytes crawl; /* its name, also for CREATE */
    json_t *in;         /* borrowed */
    /* Called on the registry's thread; must be short. */
    void (*done)(struct crawls_call *call);
    void *ctx;

    /* ---- the answer, valid from `done` on ---- */

    /* STATUS_NOT_FOUND: no such crawl; STATUS_EXISTS: CREATE of an existing
     * one; STATUS_ARG: `in` is wrong; STATUS_BUSY: not in this state (for a
     * setting: not without a stop); STATUS_CLOSED: the crawl is stopped, or the
     * process is stopping; otherwise the store failed. `why` has the reason in
     * words. */
    enum status status;
    char why[512];
    json_t *out; /* a new reference, or NULL */

    struct crawls_call *next; /* for the registry */
};

/* Never blocks. STATUS_CLOSED: the process is stopping; STATUS_AGAIN: too many
 * calls wait. */
MUST_CHECK enum status crawls_submit(struct crawls *c,
                                     struct crawls_call *call);
/* Submits the call and waits until it is done, with its own `done`. Returns the
 * status of the call, or why it was not accepted. */
enum status crawls_perform(struct crawls *c, struct crawls_call *call);

/* ---- reports: long output ---- */

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
/* Writes a report on a running or stopped crawl to `fd`, like the command of
 * that name with --json. Runs on the caller's thread, perhaps for long. If `fd`
 * is a pipe that loses its reader, it ends at once, even if it has nothing to
 * write: STATUS_CLOSED. STATUS_NOT_FOUND: no such crawl; STATUS_ARG: no such
 * rows or format, or not a URL.
 */
MUST_CHECK enum status crawls_report(struct crawls *c, struct bytes name,
                                     const struct crawls_report *r, int fd);

/* ---- opening and closing ---- */

/* The factory's object for a crawl. */
struct crawl_job;

struct crawl_factory {
    void *ctx;
    /* Creates a crawl in `dir`, which does not exist yet, or is left from a
     * creation that was interrupted. `in` is that of CREATE. `why` gets the
     * error in words. */
    enum status (*create)(void *ctx, const char *name, const char *dir,
                          json_t *in, struct crawl_job **out, struct buf *why);
    /* Opens an existing, stopped crawl and starts it, paused if asked. */
    enum status (*open)(void *ctx, const char *name, const char *dir,
                        bool paused, struct crawl_job **out, struct buf *why);
    struct crawl *(*crawl)(struct crawl_job *m);
    /* Called after crawl_wait said that the crawl has ended. */
    enum status (*close)(struct crawl_job *m);
    enum status (*seed)(struct crawl_job *m, json_t *in, json_t **out,
                        struct buf *why);
    enum status (*retry)(struct crawl_job *m, json_t *in, json_t **out,
                         struct buf *why);
    enum status (*refresh)(struct crawl_job *m, json_t *in, json_t **out,
                           struct buf *why);
    /* `m` NULL: the crawl is stopped; its settings in `dir` are read or
     * changed. */
    enum status (*settings)(void *ctx, struct crawl_job *m, const char *dir,
                            json_t **out, struct buf *why);
    enum status (*set_settings)(void *ctx, struct crawl_job *m, const char *dir,
                                json_t *in, json_t **out, struct buf *why);
    /* Reports on the crawl in `dir`, open or not; see crawls_report. Any
     * thread. */
    enum status (*report)(void *ctx, const char *dir,
                          const struct crawls_report *r, int fd);

    /* These may be NULL. */

    /* Reads the stats of a stopped crawl for its view; `out` is zeroed. */
    void (*read_stats)(void *ctx, const char *dir, struct crawl_stats *out);
    /* Called a few times a second while the crawl is open, unless it is
     * attached. True: it must stop, see `why`. */
    bool (*tick)(struct crawl_job *m, struct buf *why);
    /* Called when a crawl was opened or its state has changed. */
    void (*tell)(void *ctx, const struct crawls_view *v);
    int64_t patience; /* ns that transfers in flight get to finish when the
                         process stops; 0: 5 s */
};

/* `dir` is where crawls are created; NULL: none can be. Existing crawls there
 * are opened, paused or stopped as they were left; one that cannot be opened
 * becomes CRAWLS_FAILED and does not affect others. A file `service` in each
 * crawl's directory has the last command in one word. STATUS_IO: `dir` cannot
 * be read. */
MUST_CHECK enum status crawls_open(struct crawls **out, const char *dir,
                                   const struct crawl_factory *factory);
/* CREATE refuses a name with STATUS_EXISTS if `taken` returns true, which the
 * registry's thread calls. Set it before the first call. */
void crawls_mind_names(struct crawls *c,
                       bool (*taken)(void *ctx, struct bytes name), void *ctx);
/* Adds a crawl in `crawl_dir` that the caller runs and ends. Pause, seeds,
 * settings and reports work, stop ends it, resume and delete are STATUS_BUSY.
 * It is detached by crawls_close at the latest. */
void crawls_attach(struct crawls *c, const char *name, const char *crawl_dir,
                   struct crawl_job *m);
/* Has a call stopped the attached crawl? */
bool crawls_attached_stopped(struct crawls *c);
/* Begins to stop all crawls but an attached one, for crawls_close. Any thread,
 * but not a signal handler. A second call aborts transfers in flight. */
void crawls_stop(struct crawls *c);
/* Stops all crawls but an attached one; waiting calls end with STATUS_CLOSED.
 * The next crawls_open opens the crawls again in the state they were in. */
enum status crawls_close(struct crawls *c);

#endif
