/* SPDX-License-Identifier: MIT */
/*
 * crawls_calls.c - carries out the calls of the registry.
 *
 *              pause ──►                        stop ──► (stopping)
 *      running        paused         any of these               stopped
 *              ◄── unpause                              ◄── resume
 *
 * A command to a crawl is on disk before it is carried out, so that after a
 * crash in between the next start carries it out.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "job/registry/crawls_impl.h"

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
    crawls_view_of(c, e, &v);
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
    enum status st = e->told == what ? STATUS_OK : crawls_told_save(e, what);

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

bool crawls_end_waiting(struct crawls *c, struct crawls_entry *e)
{
    struct crawls_call *calls = e->waiting;
    struct crawls_call *deletes = first_delete(calls);
    enum status st = STATUS_OK;

    e->waiting = NULL;
    if (deletes != NULL) {
        st = crawls_remove(c, e->name);
        if (st == STATUS_OK) {
            deletes->out =
                json_pack("{s:I}", "deleted", (json_int_t)e->stats.engine.urls);
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

void crawls_carry_out(struct crawls *c, struct crawls_call *call)
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
