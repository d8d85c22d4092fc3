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
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "job/registry/crawls_impl.h"

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
            crawls_remove_rest(c, e->d_name);
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

void crawls_take_in(struct crawls *c, struct crawls_call *call)
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
