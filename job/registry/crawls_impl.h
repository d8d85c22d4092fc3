/*
 * crawls_impl.h - the registry's own struct, shared by its two files.
 *
 *   crawls.c         opening and closing, the thread, what calls do
 *   crawls_entry.c   one crawl: its last command, and what others see of it
 *
 * No other file includes this.
 */
#ifndef URLWEIR_JOB_REGISTRY_CRAWLS_IMPL_H
#define URLWEIR_JOB_REGISTRY_CRAWLS_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "job/registry/crawls.h"

/* The last command to a crawl. It survives restarts, unlike the crawl's state:
 * a crawl that a limit ended still has RUN. */
enum crawls_told {
    CRAWLS_TOLD_RUN,
    CRAWLS_TOLD_PAUSE,
    CRAWLS_TOLD_STOP,
    CRAWLS_TOLD_COUNT_
};

struct crawls_entry {
    char name[CRAWLS_NAME_MOST + 1];
    char *dir;
    bool attached;

    /* registry's thread */
    enum crawls_told told;
    struct crawls_call *waiting; /* STOP and DELETE wait until it stopped */
    bool tell_known;
    enum crawls_state tell_state; /* last told to the factory */
    struct buf cannot;            /* why factory->tick stopped it */

    /* shared, under mtx */
    struct crawl_job *job; /* NULL: not open */
    struct crawl *crawl;   /* of job */
    unsigned users;        /* in crawls_use */
    bool stopping;
    enum crawls_state state; /* while it is not open */
    enum crawl_end end;
    char why[256];
    int64_t started_ms;
    struct crawl_stats stats; /* while it is not open */
};

struct crawls {
    struct crawl_factory factory;
    char *dir; /* NULL: crawls cannot be created */
    pthread_t thread;
    atomic_bool attached_stopped;
    bool (*taken)(void *ctx, struct bytes name); /* NULL: none is */
    void *taken_ctx;

    /* registry's thread */
    int stops_done;
    int64_t stopped_at;
    enum status last_status; /* first failure while stopping */

    /* shared, under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t work;      /* there are calls or stops */
    pthread_cond_t used;      /* an entry lost its last user */
    struct crawls_entry **at; /* by name; the registry's thread changes it */
    size_t count;
    struct crawls_call *first, **end;
    size_t calls;
    int stops; /* requested: 1 finish, 2 at once */
    bool closing;
};

/* ---- entries; on the registry's thread ---- */

/* The entry of that name, or NULL. Other threads hold mtx. */
struct crawls_entry *crawls_find(const struct crawls *c, struct bytes name);
/* Adds a closed entry of that name, in `dir`, in order of names. */
struct crawls_entry *crawls_add(struct crawls *c, const char *name,
                                const char *dir);
void crawls_drop(struct crawls *c, struct crawls_entry *e);
/* Frees an entry that is not in the list any more. */
void crawls_entry_free(struct crawls_entry *e);
/* Opens the existing crawl. On failure sets `why` and the state of the
 * entry. */
enum status crawls_entry_open(struct crawls *c, struct crawls_entry *e,
                              struct buf *why);
/* Marks the entry as open. */
void crawls_entry_opened(struct crawls *c, struct crawls_entry *e,
                         struct crawl_job *m);
/* Stops the crawl; with `now`, without finishing transfers in flight. */
void crawls_entry_stop(struct crawls *c, struct crawls_entry *e, bool now);
/* Closes the crawl if it has ended. */
void crawls_entry_tend(struct crawls *c, struct crawls_entry *e);
/* Saves the last command in the crawl's directory. */
MUST_CHECK enum status crawls_told_save(const struct crawls_entry *e,
                                        enum crawls_told told);
enum crawls_told crawls_told_load(const char *dir);
/* Removes the directory, after renaming it. */
MUST_CHECK enum status crawls_remove(struct crawls *c, const char *name);
/* Removes a renamed directory that a crash left. */
void crawls_remove_rest(struct crawls *c, const char *file);
void crawls_view_of(struct crawls *c, const struct crawls_entry *e,
                    struct crawls_view *out); /* under mtx */

/* ---- calls; on the registry's thread ---- */

/* One more verb, for crawls_attach. */
#define CRAWLS_ADOPT ((enum crawls_verb)(CRAWLS_RECENT + 1))
void crawls_fail(struct crawls_call *call, enum status st, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* (crawls_entry.c) `crawl` is open. */
void crawls_call_hosts(struct crawl *crawl, struct crawls_call *call);
void crawls_call_recent(struct crawl *crawl, struct crawls_call *call);

#endif
