/*
 * filter_shelf.h - filters by name, for other programs.
 *
 * They live in memory and in DIR/NAME.filter (filter/checkpoint.h), with one
 * log of what was added and removed since (filter_shelf_impl.h). A call that changes
 * something is done once that is on disk. So a kill at any moment costs nothing
 * that was answered. A file that `urlweir filter` made may be put there, also
 * while the shelf is open, and answers from the first call that names it; LOAD
 * puts one in place of a filter that is there.
 *
 * A filter may stand for a source, such as the keys of a database. Until it was
 * built from there once, it calls every key "maybe": a guard that lets all pass
 * is slow, one that lets none pass is wrong. A build is single flight: one
 * caller gets a token and adds the source's keys with it, to a new filter
 * beside the one that answers; all others wait for it, or go on with the old
 * answers. What others add meanwhile is added to both. FINISH puts the new
 * filter in place, unless it has no keys or less than half of those that the
 * old one has: a source that failed must not turn every key into a new one. A
 * builder that adds nothing for `lease_s` has lost the build to the next that
 * asks.
 *
 * CHECK may lock keys for a caller that goes on to fetch what they stand for,
 * so that many callers that miss the same key in a cache do not all ask the
 * database for it. The first gets a token for each key that may exist, and
 * unlocks it; a lock also ends by itself. Locks are in memory alone: after a
 * restart a key may have a second owner.
 *
 * Threads: calls come from any thread and belong to the shelf from a submit
 * that returned STATUS_OK until `done`, which its thread calls.
 */
#ifndef URLWEIR_SERVICE_FILTERS_FILTER_SHELF_H
#define URLWEIR_SERVICE_FILTERS_FILTER_SHELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "filter/filter.h"

#define SHELF_NAME_MOST  64   /* letters, digits, '_'; '-', '.' not first */
#define SHELF_MOST       1000 /* filters */
#define SHELF_KEYS_MOST  16384
#define SHELF_CALLS_MOST 4096 /* that wait, for their turn or for a build */
#define SHELF_LOCKS_MOST 1000000
#define SHELF_UPLOAD     ".upload." /* files for LOAD begin so */

struct filter_shelf;

enum shelf_verb {
    SHELF_CREATE,
    SHELF_DELETE,
    SHELF_LIST,
    SHELF_SHOW,
    SHELF_CHECK,
    SHELF_ADD,
    SHELF_REMOVE,
    SHELF_BUILD, /* become the builder, or wait for the one that is */
    SHELF_FINISH,
    SHELF_LOAD,   /* a filter that was made elsewhere */
    SHELF_UNLOCK, /* keys that CHECK locked */
    SHELF_SET_TTL
};

struct shelf_view {
    char name[SHELF_NAME_MOST + 1];
    struct filter_stats stats;
    bool ready;      /* not one that waits for its first build */
    bool building;   /* by somebody */
    int64_t built_s; /* wall clock, seconds: when it was made or built */
};

struct shelf_call {
    enum shelf_verb verb;
    struct bytes name;
    struct bytes set; /* CHECK, ADD, REMOVE: the keys belong to this name in the
                         filter, a user or tenant; empty: to none */
    const char *kind; /* CREATE */
    uint64_t capacity; /* CREATE; BUILD: 0: as before */
    double fpr;        /* CREATE; BUILD: 0: as before */
    bool from_source;  /* CREATE: it answers "maybe" until it was built */
    bool fixed;        /* CREATE: it keeps no keys, and stays at its size */
    int64_t ttl_s;     /* CREATE, SET_TTL: 0: keys stay */
    const struct bytes *keys; /* CHECK, ADD, REMOVE: n of them */
    size_t n;                 /* at most SHELF_KEYS_MOST */
    uint64_t token;           /* ADD: of a build, 0: none; FINISH; out: BUILD,
                                 0: there is nothing to build, see `view` */
    bool allow_smaller; /* FINISH, LOAD: whatever keys the new filter has */
    const char *path;   /* LOAD: a filter's file; it stays as it is */
    uint32_t lock_s;    /* CHECK: how long its locks last, at most; 0: none */
    uint64_t *locks;    /* CHECK, out: for each key the token of its lock, which
                           is the caller's, 0: none; UNLOCK: the tokens */
    uint32_t wait_s;    /* CHECK, BUILD: for a build of somebody, at most */
    uint32_t lease_s;   /* BUILD: between two ADDs of the builder, at most */
    uint32_t max_age_s; /* BUILD: only if it is older; 0: in any case */
    void (*done)(struct shelf_call *c);
    void *ctx;

    /* ---- the answer ---- */

    /* STATUS_NOT_FOUND, STATUS_EXISTS; STATUS_ARG: no filter of that size and
     * rate; STATUS_FORMAT: no filter's file; STATUS_REFUSED: `why`;
     * STATUS_LIMIT: the shelf's memory or number of filters; STATUS_IO,
     * STATUS_FULL: the disk; the change may be there, but was not confirmed. */
    enum status status;
    const char *why; /* static */
    bool *answers;   /* CHECK "maybe", ADD new, REMOVE removed, UNLOCK that it
                        was locked; the caller's */
    bool *stuck;     /* REMOVE: not taken out, and may be there all the same, of
                        a filter that keeps no keys; the caller's */
    bool *locked;    /* CHECK with lock_s: by another caller; the caller's */
    struct shelf_view view; /* SHOW, CREATE, CHECK, BUILD, FINISH, LOAD */
    bool too_small;         /* FINISH, LOAD: refused; `view` has the old keys */
    uint64_t build_count;   /* FINISH, LOAD: keys of the new filter */
    struct shelf_view *views; /* LIST: by name; from malloc */
    size_t view_count;

    /* ---- private; zero before the submit ---- */
    struct shelf_call *next;
    int64_t wait_until;
    uint64_t seen; /* BUILD: builds when the call came */
    bool changed;  /* it waits for the log */
};

struct filter_shelf_stats {
    uint64_t filters, bytes;
    uint64_t checked_new, checked_maybe, added, removed, builds;
};

/* Opens the filters in `dir`, made if missing; they may take `memory` bytes.
 * Damaged ones are logged and left out; where the log is damaged, each filter
 * waits for a build. STATUS_FORMAT, STATUS_VERSION, STATUS_IO: of the log. */
MUST_CHECK enum status filter_shelf_open(struct filter_shelf **out,
                                         const char *dir, uint64_t memory);
/* Answers what waits (STATUS_CLOSED), saves all. Returns the status of the
 * saving. NULL is fine. */
enum status filter_shelf_close(struct filter_shelf *s);
/* STATUS_AGAIN: too many calls wait; STATUS_CLOSED. */
MUST_CHECK enum status filter_shelf_submit(struct filter_shelf *s,
                                           struct shelf_call *c);
/* Answers waiting builds and checks at once, from now on. Any thread. */
void filter_shelf_stop(struct filter_shelf *s);
/* As of the thread's last turn. Any thread. */
void filter_shelf_get_stats(struct filter_shelf *s,
                            struct filter_shelf_stats *out);
bool filter_shelf_name_is_valid(struct bytes name);
/* Where files for LOAD may be written: the shelf's directory. */
const char *filter_shelf_dir(const struct filter_shelf *s);
uint64_t filter_shelf_memory(const struct filter_shelf *s);

#endif
