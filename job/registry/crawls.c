/* SPDX-License-Identifier: MIT */
/*
 * crawls.c - the crawls of this process: opening, closing, the thread.
 *
 * One thread does everything that may wait, one call after the other, and
 * checks ten times a second which crawls have ended. A stop does not block it:
 * the call waits in the crawl's entry until the crawl has ended.
 */
#include "job/registry/crawls.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "job/registry/crawls_entry.h"

/* One more verb, for crawls_attach. */
#define CRAWLS_ADOPT ((enum crawls_verb)(CRAWLS_RECENT + 1))

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

/* ---- the list of crawls by name, and its users ----
 *
 * Only the registry's thread changes the list, under the mutex, which other
 * threads hold to read it; so that thread reads it without the mutex.
 */
/* The index of `name`, or where it belongs. */
static size_t place_of(const struct crawls *c, struct bytes name)
{
    size_t low = 0, high = c->count;

    while (low < high) {
        size_t mid = (low + high) / 2;
        struct bytes at = bytes_of_str(c->at[mid]->name);
        size_t n = at.len < name.len ? at.len : name.len;
        int order = n > 0 ? memcmp(at.at, name.at, n) : 0;

        if (order < 0 || (order == 0 && at.len < name.len))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The entry of that name, or NULL. Other threads hold mtx. */
static struct crawls_entry *crawls_find(const struct crawls *c,
                                        struct bytes name)
{
    size_t i = place_of(c, name);

    return i < c->count && bytes_is(name, c->at[i]->name) ? c->at[i] : NULL;
}

/* Adds a closed entry of that name, in `dir`, in order of names. */
static struct crawls_entry *crawls_add(struct crawls *c, const char *name,
                                       const char *dir)
{
    struct crawls_entry *e = xcalloc(1, sizeof *e);
    size_t i = place_of(c, bytes_of_str(name));

    snprintf(e->name, sizeof e->name, "%s", name);
    e->dir = xstrdup(dir);
    e->state = CRAWLS_STOPPED;
    e->end = CRAWL_INTERRUPTED;
    buf_init(&e->cannot, sizeof e->why);
    pthread_mutex_lock(&c->mtx);
    c->at = xrealloc(c->at, (c->count + 1) * sizeof(struct crawls_entry *));
    memmove(c->at + i + 1, c->at + i,
            (c->count - i) * sizeof(struct crawls_entry *));
    c->at[i] = e;
    c->count++;
    pthread_mutex_unlock(&c->mtx);
    return e;
}

/* Frees an entry that is not in the list any more. */
static void crawls_entry_free(struct crawls_entry *e)
{
    buf_fini(&e->cannot);
    free(e->dir);
    free(e);
}

static void crawls_drop(struct crawls *c, struct crawls_entry *e)
{
    size_t i = place_of(c, bytes_of_str(e->name));

    pthread_mutex_lock(&c->mtx);
    memmove(c->at + i, c->at + i + 1,
            (c->count - i - 1) * sizeof(struct crawls_entry *));
    c->count--;
    pthread_mutex_unlock(&c->mtx);
    crawls_entry_free(e);
}

/* ---- views ---- */

static bool has_nothing_left(const struct crawl_stats *s)
{
    return s->counts.queued == s->counts.withheld && s->active == 0;
}

static enum crawls_state live_state(const struct crawls_entry *e,
                                    const struct crawl_stats *s)
{
    if (e->stopping || s->draining)
        return CRAWLS_STOPPING;
    if (s->paused)
        return CRAWLS_PAUSED;
    return has_nothing_left(s) ? CRAWLS_WAITING : CRAWLS_RUNNING;
}

/* Under mtx. */
static void crawls_view_of(const struct crawls_entry *e,
                           struct crawls_view *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out->name, e->name, sizeof out->name);
    memcpy(out->why, e->why, sizeof out->why);
    out->end = e->end;
    out->started_ms = e->started_ms;
    if (e->crawl != NULL) {
        crawl_get_stats(e->crawl, &out->stats);
        out->end = CRAWL_RUNNING;
        out->state = live_state(e, &out->stats);
    } else {
        out->stats = e->stats;
        out->state = e->state;
    }
}

size_t crawls_each(struct crawls *c, struct crawls_view **out)
{
    size_t n;

    pthread_mutex_lock(&c->mtx);
    n = c->count;
    *out = xcalloc(n, sizeof **out);
    for (size_t i = 0; i < n; i++)
        crawls_view_of(c->at[i], &(*out)[i]);
    pthread_mutex_unlock(&c->mtx);
    return n;
}

enum status crawls_find_view(struct crawls *c, struct bytes name,
                             struct crawls_view *out)
{
    const struct crawls_entry *e;

    pthread_mutex_lock(&c->mtx);
    e = crawls_find(c, name);
    if (e != NULL)
        crawls_view_of(e, out);
    pthread_mutex_unlock(&c->mtx);
    return e != NULL ? STATUS_OK : STATUS_NOT_FOUND;
}

bool crawls_has(struct crawls *c, struct bytes name)
{
    bool has;

    pthread_mutex_lock(&c->mtx);
    has = crawls_find(c, name) != NULL;
    pthread_mutex_unlock(&c->mtx);
    return has;
}

enum status crawls_use(struct crawls *c, struct bytes name,
                       enum status (*use)(struct crawl *crawl, void *ctx),
                       void *ctx)
{
    struct crawls_entry *e;
    struct crawl *crawl = NULL;
    enum status st = STATUS_NOT_FOUND;

    pthread_mutex_lock(&c->mtx);
    e = crawls_find(c, name);
    if (e != NULL) {
        crawl = e->crawl;
        e->users += crawl != NULL;
        st = STATUS_CLOSED;
    }
    pthread_mutex_unlock(&c->mtx);
    if (crawl == NULL)
        return st;
    st = use(crawl, ctx);
    pthread_mutex_lock(&c->mtx);
    if (--e->users == 0)
        pthread_cond_broadcast(&c->used);
    pthread_mutex_unlock(&c->mtx);
    return st;
}

enum status crawls_report(struct crawls *c, struct bytes name,
                          const struct crawls_report *r, int fd)
{
    const struct crawls_entry *e;
    char *dir = NULL;
    enum status st = STATUS_NOT_FOUND;

    pthread_mutex_lock(&c->mtx);
    e = crawls_find(c, name);
    if (e != NULL)
        dir = xstrdup(e->dir);
    pthread_mutex_unlock(&c->mtx);
    if (dir != NULL)
        st = c->factory.report(c->factory.ctx, dir, r, fd);
    free(dir);
    return st;
}

/* ---- opened and closed ---- */

/* A crawl that fetches its pages again works and waits by turns for ever; only
 * the first time that it waits is news, or the log would grow for ever too. */
static bool is_told(const struct crawls_entry *e, const struct crawls_view *v)
{
    return e->tell_known &&
           (v->state == e->tell_state ||
            (v->state == CRAWLS_RUNNING && e->tell_state == CRAWLS_WAITING &&
             v->stats.counts.dated > 0));
}

/* Tells the factory if the state has changed. */
static void notify(struct crawls *c, struct crawls_entry *e)
{
    struct crawls_view v;

    if (c->factory.tell == NULL || e->attached)
        return;
    pthread_mutex_lock(&c->mtx);
    crawls_view_of(e, &v);
    pthread_mutex_unlock(&c->mtx);
    if (is_told(e, &v))
        return;
    e->tell_known = true;
    e->tell_state = v.state;
    c->factory.tell(c->factory.ctx, &v);
}

/* Marks the entry as open. */
static void crawls_entry_opened(struct crawls *c, struct crawls_entry *e,
                                struct crawl_job *m)
{
    pthread_mutex_lock(&c->mtx);
    e->job = m;
    e->crawl = c->factory.crawl(m);
    e->stopping = false;
    e->end = CRAWL_RUNNING;
    e->why[0] = '\0';
    e->started_ms = clock_wall_ms();
    pthread_mutex_unlock(&c->mtx);
    buf_clear(&e->cannot);
    e->tell_known = false;
    notify(c, e);
}

static void crawls_entry_failed(struct crawls *c, struct crawls_entry *e,
                                const char *why)
{
    pthread_mutex_lock(&c->mtx);
    e->state = CRAWLS_FAILED;
    e->end = CRAWL_BROKEN;
    snprintf(e->why, sizeof e->why, "%s", why);
    pthread_mutex_unlock(&c->mtx);
    e->tell_known = false;
    notify(c, e);
}

/* Opens the existing crawl. On failure sets `why` and the state of the
 * entry. */
static enum status crawls_entry_open(struct crawls *c, struct crawls_entry *e,
                                     struct buf *why)
{
    struct crawl_job *m = NULL;
    enum status st = c->factory.open(c->factory.ctx, e->name, e->dir,
                                     e->told == CRAWLS_TOLD_PAUSE, &m, why);

    if (st == STATUS_OK)
        crawls_entry_opened(c, e, m);
    else if (st != STATUS_NOT_FOUND)
        crawls_entry_failed(c, e,
                            why->len > 0 ? buf_str(why) : status_text(st));
    return st;
}

/* Stops the crawl; with `now`, without finishing transfers in flight. */
static void crawls_entry_stop(struct crawls *c, struct crawls_entry *e,
                              bool now)
{
    struct crawl *crawl;
    bool first;

    if (e->attached)
        return;
    pthread_mutex_lock(&c->mtx);
    crawl = e->crawl;
    first = !e->stopping;
    e->stopping = crawl != NULL;
    pthread_mutex_unlock(&c->mtx);
    if (crawl == NULL)
        return;
    if (first)
        crawl_stop(crawl);
    if (now)
        crawl_stop(crawl);
}

/* Notes in the entry how the crawl ended. */
static void note_end(struct crawls *c, struct crawls_entry *e,
                     const struct crawl_result *r, enum status closed)
{
    const char *why = NULL;

    if (r->end == CRAWL_BROKEN)
        why = status_text(r->status);
    else if (closed != STATUS_OK)
        why = status_text(closed);
    else if (e->cannot.len > 0 && r->end != CRAWL_STUCK)
        why = buf_str(&e->cannot);
    if (why != NULL && c->stops_done > 0 && c->last_status == STATUS_OK)
        c->last_status = closed != STATUS_OK ? closed : STATUS_IO;
    if (why == NULL && r->end == CRAWL_STUCK)
        why = crawl_end_text(r->end); /* everything is on disk */
    pthread_mutex_lock(&c->mtx);
    e->stopping = false;
    e->end = r->end;
    e->state = why != NULL ? CRAWLS_FAILED : CRAWLS_STOPPED;
    snprintf(e->why, sizeof e->why, "%s", why != NULL ? why : "");
    pthread_mutex_unlock(&c->mtx);
}

static void close_ended(struct crawls *c, struct crawls_entry *e,
                        const struct crawl_result *r)
{
    struct crawl_job *m = e->job;
    enum status st;

    pthread_mutex_lock(&c->mtx);
    crawl_get_stats(e->crawl, &e->stats);
    e->stats.active = 0;
    e->state = CRAWLS_STOPPING;
    e->crawl = NULL;
    while (e->users > 0)
        pthread_cond_wait(&c->used, &c->mtx);
    pthread_mutex_unlock(&c->mtx);
    st = c->factory.close(m);
    pthread_mutex_lock(&c->mtx);
    e->job = NULL;
    pthread_mutex_unlock(&c->mtx);
    note_end(c, e, r, st);
}

/* Closes the crawl if it has ended. */
static void crawls_entry_tend(struct crawls *c, struct crawls_entry *e)
{
    struct crawl_result r;

    if (e->job != NULL && !e->attached) {
        if (e->cannot.len == 0 && c->factory.tick != NULL &&
            c->factory.tick(e->job, &e->cannot))
            crawls_entry_stop(c, e, false);
        if (crawl_wait(e->crawl, 0, &r))
            close_ended(c, e, &r);
    }
    notify(c, e);
}

static bool crawls_end_waiting(struct crawls *c, struct crawls_entry *e);
static void crawls_take_in(struct crawls *c, struct crawls_call *call);

/* ---- carries out the calls of the registry ----
 *
 *              pause ──►                        stop ──► (stopping)
 *      running        paused         any of these               stopped
 *              ◄── unpause                              ◄── resume
 *
 * A command to a crawl is on disk before it is carried out, so that after a
 * crash in between the next start carries it out.
 */

#define CRAWLS_MOST 1000 /* each has threads, memory and open files */

void crawls_fail(struct crawls_call *call, enum status st, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(call->why, sizeof call->why, fmt, args);
    va_end(args);
    call->status = st;
}

/* Fails with the status and reason of a factory's function. */
static void fail_with(struct crawls_call *call, enum status st,
                      const struct buf *why)
{
    if (st != STATUS_OK)
        crawls_fail(call, st, "%s",
                    why->len > 0 ? buf_str(why) : status_text(st));
}

/* ---- states ---- */

static enum crawls_state state_of(struct crawls *c,
                                  const struct crawls_entry *e)
{
    struct crawls_view v;

    pthread_mutex_lock(&c->mtx);
    crawls_view_of(e, &v);
    pthread_mutex_unlock(&c->mtx);
    return v.state;
}

/* Is the crawl open? Otherwise fails the call. */
static bool is_open(struct crawls *c, const struct crawls_entry *e,
                    struct crawls_call *call)
{
    enum crawls_state s = state_of(c, e);

    if (s == CRAWLS_STOPPING)
        crawls_fail(call, STATUS_BUSY, "the crawl is stopping");
    else if (e->crawl == NULL)
        crawls_fail(call, STATUS_CLOSED, "the crawl is %s; resume it first",
                    crawls_state_name(s));
    else
        return true;
    return false;
}

/* Saves the command on disk first. */
static bool told(struct crawls_entry *e, enum crawls_told what,
                 struct crawls_call *call)
{
    enum status st = e->told == what || e->attached
                         ? STATUS_OK
                         : crawls_told_save(e->dir, what);

    if (st != STATUS_OK)
        crawls_fail(call, st, "cannot write %s/service: %s", e->dir,
                    status_text(st));
    else
        e->told = what;
    return st == STATUS_OK;
}

static bool pause_it(struct crawls *c, struct crawls_entry *e,
                     struct crawls_call *call)
{
    bool pause = call->verb == CRAWLS_PAUSE;

    if (is_open(c, e, call) &&
        told(e, pause ? CRAWLS_TOLD_PAUSE : CRAWLS_TOLD_RUN, call)) {
        crawl_pause(e->crawl, pause);
    }
    return true;
}

static void stay_stopped(struct crawls *c, struct crawls_entry *e)
{
    pthread_mutex_lock(&c->mtx);
    e->state = CRAWLS_STOPPED;
    e->why[0] = '\0';
    pthread_mutex_unlock(&c->mtx);
}

/* True: the call is done; false: it waits. */
static bool stop_it(struct crawls *c, struct crawls_entry *e,
                    struct crawls_call *call)
{
    if (e->attached) {
        atomic_store(&c->attached_stopped, true);
        return true;
    }
    if (!told(e, CRAWLS_TOLD_STOP, call))
        return true;
    if (e->job == NULL) {
        stay_stopped(c, e); /* it failed, or a limit ended it */
        return true;
    }
    crawls_entry_stop(c, e, false);
    call->next = e->waiting;
    e->waiting = call;
    return false;
}

static bool resume_it(struct crawls *c, struct crawls_entry *e,
                      struct crawls_call *call)
{
    enum status st;
    struct buf why;

    if (e->attached || e->job != NULL) {
        crawls_fail(call, STATUS_BUSY, "the crawl is %s",
                    crawls_state_name(state_of(c, e)));
        return true;
    }
    if (!told(e, CRAWLS_TOLD_RUN, call))
        return true;
    buf_init(&why, sizeof call->why);
    st = crawls_entry_open(c, e, &why);
    fail_with(call, st, &why);
    if (st == STATUS_BUSY) { /* another process runs it */
        struct crawls_call undo = {.status = STATUS_OK};

        stay_stopped(c, e);
        (void)told(e, CRAWLS_TOLD_STOP, &undo);
    }
    buf_fini(&why);
    return true;
}

/* ---- create and delete ---- */

static void create(struct crawls *c, struct crawls_call *call)
{
    struct crawl_job *m = NULL;
    char name[CRAWLS_NAME_MOST + 1];
    struct buf dir, why;
    enum status st;

    if (!crawls_name_is_valid(call->crawl)) {
        crawls_fail(call, STATUS_ARG,
                    "a name has at most %d letters, digits, '-', '_' and '.', "
                    "and does not begin with '.' or '-'",
                    CRAWLS_NAME_MOST);
        return;
    }
    if (c->dir == NULL || c->count >= CRAWLS_MOST) {
        crawls_fail(call, STATUS_BUSY,
                    c->dir == NULL ? "this process makes no crawls"
                                   : "there is no room for another crawl");
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)call->crawl.len, call->crawl.at);
    buf_init(&dir, 4096);
    buf_init(&why, sizeof call->why);
    buf_addf(&dir, "%s/%s", c->dir, name);
    if (crawls_find(c, call->crawl) != NULL) {
        crawls_fail(call, STATUS_EXISTS, "a crawl of this name exists already");
    } else if (c->taken != NULL && c->taken(c->taken_ctx, call->crawl)) {
        crawls_fail(call, STATUS_EXISTS,
                    "other programs have put URLs into a crawl of this name");
    } else {
        st = c->factory.create(c->factory.ctx, name, buf_str(&dir), call->in,
                               &m, &why);
        if (st == STATUS_OK)
            crawls_entry_opened(c, crawls_add(c, name, buf_str(&dir)), m);
        fail_with(call, st, &why);
    }
    buf_fini(&dir);
    buf_fini(&why);
}

static bool delete_it(struct crawls *c, struct crawls_entry *e,
                      struct crawls_call *call)
{
    if (e->attached) {
        crawls_fail(call, STATUS_BUSY,
                    "it is the crawl that this process was started for");
        return true;
    }
    crawls_entry_stop(c, e, true);
    call->next = e->waiting;
    e->waiting = call;
    return false; /* crawls_end_waiting() ends the call */
}

static struct crawls_call *first_delete(struct crawls_call *calls)
{
    while (calls != NULL && calls->verb != CRAWLS_DELETE)
        calls = calls->next;
    return calls;
}

/* Ends the calls that waited for the entry to stop. True: the entry is gone. */
static bool crawls_end_waiting(struct crawls *c, struct crawls_entry *e)
{
    struct crawls_call *calls = e->waiting;
    struct crawls_call *deletes = first_delete(calls);
    enum status st = STATUS_OK;

    e->waiting = NULL;
    if (deletes != NULL) {
        st = crawls_remove(c->dir, e->name);
        if (st == STATUS_OK) {
            deletes->out =
                json_pack("{s:I}", "deleted", (json_int_t)e->stats.counts.urls);
            crawls_drop(c, e); /* before the caller hears that it is gone */
        }
    }
    for (struct crawls_call *call = calls, *next; call != NULL; call = next) {
        next = call->next;
        if (call->verb == CRAWLS_DELETE && st != STATUS_OK)
            crawls_fail(call, st, "its directory cannot be removed: %s",
                        status_text(st));
        else if (call->verb == CRAWLS_DELETE && call != deletes)
            crawls_fail(call, STATUS_NOT_FOUND, "there is no such crawl");
        call->done(call);
    }
    return deletes != NULL && st == STATUS_OK;
}

/* ---- the rest ---- */

/* Calls the factory for a crawl, open or not. */
static bool ask_maker(struct crawls *c, struct crawls_entry *e,
                      struct crawls_call *call)
{
    const struct crawl_factory *m = &c->factory;
    struct buf why;
    enum status st = STATUS_OK;

    buf_init(&why, sizeof call->why);
    if (call->verb == CRAWLS_SEED) {
        if (is_open(c, e, call))
            st = m->seed(e->job, call->in, &call->out, &why);
    } else if (call->verb == CRAWLS_RETRY) {
        if (is_open(c, e, call))
            st = m->retry(e->job, call->in, &call->out, &why);
    } else if (call->verb == CRAWLS_REFRESH) {
        if (is_open(c, e, call))
            st = m->refresh(e->job, call->in, &call->out, &why);
    } else if (call->verb == CRAWLS_SETTINGS) {
        st = m->settings(m->ctx, e->job, e->dir, &call->out, &why);
    } else {
        st =
            m->set_settings(m->ctx, e->job, e->dir, call->in, &call->out, &why);
    }
    fail_with(call, st, &why);
    buf_fini(&why);
    return true;
}

static bool look_into(struct crawls *c, struct crawls_entry *e,
                      struct crawls_call *call)
{
    if (!is_open(c, e, call))
        return true;
    if (call->verb == CRAWLS_HOSTS)
        crawls_call_hosts(e->crawl, call);
    else
        crawls_call_recent(e->crawl, call);
    return true;
}

/* Carries a call out; calls `done`, or lets the call wait with its entry. */
static void crawls_carry_out(struct crawls *c, struct crawls_call *call)
{
    static bool (*const verbs[])(struct crawls *, struct crawls_entry *,
                                 struct crawls_call *) = {
        [CRAWLS_PAUSE] = pause_it,     [CRAWLS_UNPAUSE] = pause_it,
        [CRAWLS_STOP] = stop_it,       [CRAWLS_RESUME] = resume_it,
        [CRAWLS_DELETE] = delete_it,   [CRAWLS_SEED] = ask_maker,
        [CRAWLS_RETRY] = ask_maker,    [CRAWLS_REFRESH] = ask_maker,
        [CRAWLS_SETTINGS] = ask_maker, [CRAWLS_SET_SETTINGS] = ask_maker,
        [CRAWLS_HOSTS] = look_into,    [CRAWLS_RECENT] = look_into,
    };
    struct crawls_entry *e = crawls_find(c, call->crawl);
    bool done = true;

    if (call->verb == CRAWLS_ADOPT)
        crawls_take_in(c, call);
    else if (call->verb == CRAWLS_CREATE)
        create(c, call);
    else if (e == NULL)
        crawls_fail(call, STATUS_NOT_FOUND, "there is no such crawl");
    else
        done = verbs[call->verb](c, e, call);
    if (done)
        call->done(call);
}

#define TICK       (100 * NS_PER_MS)
#define CALLS_MOST 1000 /* most that wait */
#define PATIENCE   (5 * NS_PER_S)

/* ---- calls on their way ---- */

enum status crawls_submit(struct crawls *c, struct crawls_call *call)
{
    enum status st = STATUS_OK;

    call->next = NULL;
    call->status = STATUS_OK;
    call->why[0] = '\0';
    call->out = NULL;
    pthread_mutex_lock(&c->mtx);
    if (c->closing || c->stops > 0) {
        st = STATUS_CLOSED;
    } else if (c->calls >= CALLS_MOST) {
        st = STATUS_AGAIN;
    } else {
        *c->end = call;
        c->end = &call->next;
        c->calls++;
        pthread_cond_signal(&c->work);
    }
    pthread_mutex_unlock(&c->mtx);
    return st;
}

static void performed(struct crawls_call *call)
{
    latch_open(call->ctx);
}

enum status crawls_perform(struct crawls *c, struct crawls_call *call)
{
    struct latch done;
    enum status st;

    latch_init(&done);
    /* cppcheck-suppress autoVariables */
    call->ctx = &done; /* lives until it opens, which we wait for */
    call->done = performed;
    st = crawls_submit(c, call);
    if (st == STATUS_OK) {
        latch_wait(&done);
        st = call->status;
    }
    call->ctx = NULL;
    latch_fini(&done);
    return st;
}

/* Takes the waiting calls, or none after a tick. `open`: crawls were open when
 * it looked last. */
static struct crawls_call *take_calls(struct crawls *c, bool open, int *stops,
                                      bool *closing)
{
    int64_t until = clock_mono() + TICK;
    struct crawls_call *calls;

    pthread_mutex_lock(&c->mtx);
    while (c->first == NULL && c->stops <= c->stops_done && !c->closing &&
           cond_wait_until(&c->work, &c->mtx, until))
        ;
    if (c->closing && open && c->first == NULL)
        (void)cond_wait_until(&c->work, &c->mtx, until);
    calls = c->first;
    c->first = NULL;
    c->end = &c->first;
    c->calls = 0;
    *stops = c->stops;
    *closing = c->closing;
    pthread_mutex_unlock(&c->mtx);
    return calls;
}

static void carry_out_all(struct crawls *c, struct crawls_call *calls,
                          bool stopping)
{
    for (struct crawls_call *call = calls, *next; call != NULL; call = next) {
        next = call->next;
        if (stopping) {
            crawls_fail(call, STATUS_CLOSED, "the process is stopping");
            call->done(call);
        } else {
            crawls_carry_out(c, call);
        }
    }
}

/* ---- the thread ---- */

/* Passes on the first stop, and the second, or one when patience has run
 * out. */
static void pass_on_stops(struct crawls *c, int stops)
{
    int64_t patience = c->factory.patience > 0 ? c->factory.patience : PATIENCE;
    int64_t now = clock_mono();

    if (stops == 0)
        return;
    if (c->stops_done == 0)
        c->stopped_at = now;
    else if (now - c->stopped_at >= patience)
        stops = 2;
    if (stops <= c->stops_done)
        return;
    c->stops_done = stops;
    for (size_t i = 0; i < c->count; i++)
        crawls_entry_stop(c, c->at[i], stops > 1);
}

/* True: some crawls are still open. */
static bool tend_all(struct crawls *c)
{
    bool open = false;

    for (size_t i = c->count; i-- > 0;) {
        struct crawls_entry *e = c->at[i];

        crawls_entry_tend(c, e);
        if (e->job == NULL && crawls_end_waiting(c, e))
            continue;
        open |= e->job != NULL && !e->attached;
    }
    return open;
}

static void *crawls_thread(void *arg)
{
    struct crawls *c = arg;
    bool closing = false, open = false;

    while (!closing || open) {
        int stops = 0;
        struct crawls_call *calls = take_calls(c, open, &stops, &closing);

        carry_out_all(c, calls, stops > 0 || closing);
        pass_on_stops(c, stops);
        open = tend_all(c);
    }
    return NULL;
}

/* ---- opening and closing ---- */

static void open_as_left(struct crawls *c, const char *name)
{
    struct buf dir, why;
    struct crawls_entry *e;
    enum status st;

    buf_init(&dir, 4096);
    buf_init(&why, 4096);
    buf_addf(&dir, "%s/%s", c->dir, name);
    e = crawls_add(c, name, buf_str(&dir));
    e->told = crawls_told_load(e->dir);
    if (e->told == CRAWLS_TOLD_STOP) {
        if (c->factory.read_stats != NULL)
            c->factory.read_stats(c->factory.ctx, e->dir, &e->stats);
        crawls_entry_tend(c, e);
    } else {
        st = crawls_entry_open(c, e, &why);
        if (st == STATUS_NOT_FOUND) {
            log_warn("no crawl in this directory, or one whose seeds were not "
                     "all stored",
                     "dir=%s", e->dir);
            crawls_drop(c, e);
        }
    }
    buf_fini(&why);
    buf_fini(&dir);
}

/* Order by name, so that every start opens crawls in the same order. */
static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum status open_all(struct crawls *c)
{
    DIR *d = opendir(c->dir);
    struct dirent *e;
    char **names = NULL;
    size_t n = 0;

    if (d == NULL)
        return errno == ENOENT ? STATUS_OK : STATUS_IO;
    while ((e = readdir(d)) != NULL) {
        if (crawls_name_is_valid(bytes_of_str(e->d_name))) {
            names = xrealloc(names, (n + 1) * sizeof(char *));
            names[n++] = xstrdup(e->d_name);
        } else {
            crawls_remove_rest(c->dir, e->d_name);
        }
    }
    closedir(d);
    if (n > 0)
        qsort(names, n, sizeof(char *), by_name);
    for (size_t i = 0; i < n; i++) {
        open_as_left(c, names[i]);
        free(names[i]);
    }
    free(names);
    return STATUS_OK;
}

enum status crawls_open(struct crawls **out, const char *dir,
                        const struct crawl_factory *factory)
{
    struct crawls *c = xcalloc(1, sizeof *c);
    enum status st = STATUS_OK;

    c->factory = *factory;
    c->dir = dir != NULL ? xstrdup(dir) : NULL;
    c->end = &c->first;
    pthread_mutex_init(&c->mtx, NULL);
    cond_init(&c->work);
    cond_init(&c->used);
    if (c->dir != NULL)
        st = open_all(c);
    if (st != STATUS_OK)
        log_error("cannot read the directory of crawls", "dir=%s error=\"%s\"",
                  c->dir, strerror(errno));
    if (st == STATUS_OK &&
        pthread_create(&c->thread, NULL, crawls_thread, c) != 0)
        st = STATUS_NOMEM;
    if (st != STATUS_OK) {
        c->thread = 0;
        (void)crawls_close(c);
        return st;
    }
    *out = c;
    return STATUS_OK;
}

/* Runs on the registry's thread, like all changes of the list. */
struct attaching {
    struct crawls_call call; /* first */
    const char *name, *dir;
    struct crawl_job *job;
};

static void crawls_take_in(struct crawls *c, struct crawls_call *call)
{
    struct attaching *a = (struct attaching *)call;
    struct crawls_entry *e = crawls_add(c, a->name, a->dir);

    e->attached = true;
    crawls_entry_opened(c, e, a->job);
}

void crawls_attach(struct crawls *c, const char *name, const char *crawl_dir,
                   struct crawl_job *m)
{
    struct attaching a = {.call = {.verb = CRAWLS_ADOPT},
                          .name = name,
                          .dir = crawl_dir,
                          .job = m};

    (void)crawls_perform(c, &a.call);
}

void crawls_mind_names(struct crawls *c,
                       bool (*taken)(void *ctx, struct bytes name), void *ctx)
{
    c->taken_ctx = ctx;
    c->taken = taken;
}

bool crawls_attached_stopped(struct crawls *c)
{
    return atomic_load(&c->attached_stopped);
}

void crawls_stop(struct crawls *c)
{
    pthread_mutex_lock(&c->mtx);
    if (c->stops < 2)
        c->stops++;
    pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->mtx);
}

enum status crawls_close(struct crawls *c)
{
    enum status st;

    if (c == NULL)
        return STATUS_OK;
    pthread_mutex_lock(&c->mtx);
    c->closing = true;
    if (c->stops == 0)
        c->stops = 1;
    pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->mtx);
    if (c->thread != 0)
        pthread_join(c->thread, NULL);
    else
        (void)crawls_thread(c); /* the thread did not start */
    st = c->last_status;
    for (size_t i = 0; i < c->count; i++)
        crawls_entry_free(c->at[i]);
    pthread_mutex_destroy(&c->mtx);
    pthread_cond_destroy(&c->work);
    pthread_cond_destroy(&c->used);
    free(c->at);
    free(c->dir);
    free(c);
    return st;
}
