/*
 * crawls_impl.h - the registry's own struct, shared by its files.
 *
 *   crawls.c         opening and closing, the thread
 *   crawls_list.c    the list, and what others see of it
 *   crawls_calls.c   what calls do
 *   crawls_entry.c   one crawl: opened, closed, what was told to it
 *   crawls_stats.c    its hosts and recent answers, as JSON
 *
 * Nobody else includes this.
 */
#ifndef URLWEIR_JOB_CRAWLS_IMPL_H
#define URLWEIR_JOB_CRAWLS_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "job/crawls.h"

/* What a person wants of a crawl; survives restarts, unlike what becomes of it:
 * one that a limit ended is told to run. */
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
    struct crawls_call *waiting; /* STOP and DELETE, until it has stopped */
    bool tell_known;
    enum crawls_state tell_state; /* the factory was told of */
    struct buf cannot;            /* why factory->tick stopped it */

    /* shared, under mtx */
    struct crawl_job *job; /* NULL: it is not open */
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
    char *dir; /* NULL: none can be made */
    pthread_t thread;
    atomic_bool attached_stopped;
    bool (*taken)(void *ctx, struct bytes name); /* NULL: none is */
    void *taken_ctx;

    /* registry's thread */
    int stops_done;
    int64_t stopped_at;
    enum status last_status; /* the first failure since the process stops */

    /* shared, under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t work;      /* there are calls, or stops */
    pthread_cond_t used;      /* an entry has no users any more */
    struct crawls_entry **at; /* by name; changed by the registry's thread */
    size_t count;
    struct crawls_call *first, **end;
    size_t calls;
    int stops; /* asked for: 1 finish, 2 at once */
    bool closing;
};

/* ---- entries; on the registry's thread ---- */

/* NULL: there is none. Under mtx elsewhere. */
struct crawls_entry *crawls_find(const struct crawls *c, struct bytes name);
/* Of that name, in `dir`, closed; kept in order. */
struct crawls_entry *crawls_add(struct crawls *c, const char *name,
                                const char *dir);
void crawls_drop(struct crawls *c, struct crawls_entry *e);
/* Of one that is in no list any more. */
void crawls_entry_free(struct crawls_entry *e);
/* Opens what is there. Else `why`, and the entry says so. */
enum status crawls_entry_open(struct crawls *c, struct crawls_entry *e,
                              struct buf *why);
/* It is open from now on. */
void crawls_entry_opened(struct crawls *c, struct crawls_entry *e,
                         struct crawl_job *m);
/* Lets it finish what is under way, or not (`now`). */
void crawls_entry_stop(struct crawls *c, struct crawls_entry *e, bool now);
/* Has it ended? Then closes it. */
void crawls_entry_tend(struct crawls *c, struct crawls_entry *e);
/* What was told to it, in its directory. */
MUST_CHECK enum status crawls_told_save(const struct crawls_entry *e,
                                        enum crawls_told told);
enum crawls_told crawls_told_load(const char *dir);
/* Takes the directory away, first from sight. */
MUST_CHECK enum status crawls_remove(struct crawls *c, const char *name);
/* What crashes left of such. */
void crawls_remove_rest(struct crawls *c, const char *file);
void crawls_view_of(struct crawls *c, const struct crawls_entry *e,
                    struct crawls_view *out); /* under mtx */

/* ---- calls; on the registry's thread ---- */

/* Carries it out; `done` is called, or the call waits with an entry. */
void crawls_carry_out(struct crawls *c, struct crawls_call *call);
/* Ends those that waited for the entry to stop. True: it is gone. */
bool crawls_end_waiting(struct crawls *c, struct crawls_entry *e);
/* One more verb, of crawls_attach. */
#define CRAWLS_ADOPT ((enum crawls_verb)(CRAWLS_RECENT + 1))
void crawls_take_in(struct crawls *c, struct crawls_call *call);
void crawls_fail(struct crawls_call *call, enum status st, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* (crawls_stats.c) `crawl` is open. */
void crawls_call_hosts(struct crawl *crawl, struct crawls_call *call);
void crawls_call_recent(struct crawl *crawl, struct crawls_call *call);

#endif
