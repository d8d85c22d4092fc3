/* SPDX-License-Identifier: MIT */
/*
 * cluster_desk.c - the desk's thread, and the state that it publishes.
 *
 * A worker has a desk, too, and a crawl may have hundreds of workers: so theirs
 * ask the servers only while somebody looks.
 */
#include "job/cluster_crawl/cluster_desk.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "job/cluster_crawl/cluster_desk_impl.h"
#include "job/cluster_crawl/cluster_state.h"
#include "job/cluster_part.h"
#include "job/settings/cluster_settings.h"
#include "job/settings/settings.h"

#define EVERY      (2 * NS_PER_S)
#define EVERY_SOME (5 * NS_PER_S)   /* of a worker's */
#define LOOKS      (300 * NS_PER_S) /* so long after the last look */
#define STOPPING   (NS_PER_S / 2)
#define CALLS_MOST 1000

/* ---- the state ---- */

/* Takes over `now`. */
static void publish(struct cluster_desk *d, json_t *now)
{
    json_t *was;

    pthread_mutex_lock(&d->mtx);
    was = d->state;
    d->state = now;
    pthread_mutex_unlock(&d->mtx);
    json_decref(was);
}

/* The last that was known, and why there is no newer one. */
static void publish_failure(struct cluster_desk *d, const char *why)
{
    json_t *o; /* only this thread changes the state */

    pthread_mutex_lock(&d->mtx);
    o = d->state != NULL ? json_deep_copy(d->state) : json_object();
    pthread_mutex_unlock(&d->mtx);
    json_object_set_new(o, "state", json_string("unreachable"));
    json_object_set_new(o, "why", json_string(why));
    publish(d, o);
}

static void end_stops(struct cluster_desk *d, enum status st)
{
    struct crawls_call *call = d->stopping, *next;

    d->stopping = NULL;
    for (; call != NULL; call = next) {
        next = call->next;
        call->status = st;
        call->done(call);
    }
}

static void tend_stops(struct cluster_desk *d, const json_t *state)
{
    if (d->stopping == NULL)
        return;
    if (cluster_state_number(state, "workers_alive") == 0)
        end_stops(d, STATUS_OK);
    else if (clock_mono() >= d->stop_by)
        end_stops(d, STATUS_AGAIN);
}

static void look(struct cluster_desk *d)
{
    struct cluster_store *store = NULL;
    json_t *o = json_object();
    struct crawl_settings s;
    struct buf why;
    enum status st;

    settings_init(&s);
    buf_init(&why, 8192);
    st = cluster_part_look(&store, d->url, &s, &why);
    if (st == STATUS_OK)
        st = cluster_state_gather(o, store, &s);
    cluster_store_close(store);
    settings_fini(&s);
    if (st == STATUS_OK) {
        tend_stops(d, o);
        publish(d, json_incref(o));
    } else {
        publish_failure(d, why.len > 0 ? buf_str(&why) : status_text(st));
        if (clock_mono() >= d->stop_by)
            end_stops(d, st);
    }
    json_decref(o);
    buf_fini(&why);
}

json_t *cluster_desk_state(struct cluster_desk *d)
{
    json_t *state;

    pthread_mutex_lock(&d->mtx);
    if (d->wanted == 0)
        pthread_cond_signal(&d->work);
    d->wanted = clock_mono();
    state = json_deep_copy(d->state);
    pthread_mutex_unlock(&d->mtx);
    return state;
}

const char *cluster_desk_name(const struct cluster_desk *d)
{
    return d->name;
}

/* ---- the thread ---- */

/* Under the mutex. Is the state to be asked for at all? */
static bool is_wanted(const struct cluster_desk *d, int64_t now)
{
    return d->always || d->stopping != NULL ||
           (d->wanted != 0 && now - d->wanted < LOOKS);
}

/* The next call, or NULL when the state is due, or at the end. */
static struct crawls_call *next_call(struct cluster_desk *d, int64_t due,
                                     bool *closing)
{
    struct crawls_call *call;

    pthread_mutex_lock(&d->mtx);
    while (d->first == NULL && !d->closing) {
        int64_t now = clock_mono();

        if (!is_wanted(d, now)) {
            d->wanted = 0;
            pthread_cond_wait(&d->work, &d->mtx);
        } else if (now >= due || !cond_wait_until(&d->work, &d->mtx, due)) {
            break;
        }
    }
    call = d->first;
    if (call != NULL) {
        d->first = call->next;
        d->calls--;
        if (d->first == NULL)
            d->end = &d->first;
    }
    *closing = d->closing;
    pthread_mutex_unlock(&d->mtx);
    return call;
}

/* An answer shows what the call has changed. */
static bool shows_change(const struct crawls_call *call)
{
    return call->verb != CRAWLS_WHERE && call->verb != CRAWLS_SETTINGS;
}

static void *desk_thread(void *arg)
{
    struct cluster_desk *d = arg;
    int64_t due = 0;

    for (;;) {
        bool closing, should_look;
        struct crawls_call *call = next_call(d, due, &closing);

        if (closing && call == NULL)
            break;
        should_look = !closing && (call == NULL || shows_change(call));
        if (closing)
            call->status = STATUS_CLOSED;
        else if (call != NULL && !cluster_desk_carry_out(d, call))
            call = NULL; /* it waits */
        if (should_look || (!closing && clock_mono() >= due)) {
            look(d);
            due = clock_mono() + (d->stopping != NULL ? STOPPING
                                  : d->always         ? EVERY
                                                      : EVERY_SOME);
        }
        if (call != NULL)
            call->done(call);
    }
    end_stops(d, STATUS_CLOSED);
    return NULL;
}

enum status cluster_desk_submit(struct cluster_desk *d,
                                struct crawls_call *call)
{
    enum status st = STATUS_OK;

    call->next = NULL;
    call->status = STATUS_OK;
    call->why[0] = '\0';
    call->out = NULL;
    pthread_mutex_lock(&d->mtx);
    if (d->closing) {
        st = STATUS_CLOSED;
    } else if (d->calls >= CALLS_MOST) {
        st = STATUS_AGAIN;
    } else {
        *d->end = call;
        d->end = &call->next;
        d->calls++;
        pthread_cond_signal(&d->work);
    }
    pthread_mutex_unlock(&d->mtx);
    return st;
}

/* ---- opening and closing ---- */

static enum status read_name(struct cluster_desk *d, const char *url)
{
    struct cluster_url_parts parts;
    struct buf why;
    enum status st;

    buf_init(&why, 1024);
    st = cluster_url_read(&parts, url, &why);
    if (st == STATUS_OK)
        d->name = xstrdup(parts.name);
    buf_fini(&why);
    return st;
}

enum status cluster_desk_open(struct cluster_desk **out, const char *url,
                              bool always)
{
    struct cluster_desk *d = xcalloc(1, sizeof *d);
    enum status st = read_name(d, url);

    d->url = xstrdup(url);
    d->always = always;
    d->end = &d->first;
    pthread_mutex_init(&d->mtx, NULL);
    cond_init(&d->work);
    if (st == STATUS_OK &&
        pthread_create(&d->thread, NULL, desk_thread, d) != 0)
        st = STATUS_NOMEM;
    if (st != STATUS_OK) {
        d->thread = 0;
        cluster_desk_close(d);
        return st;
    }
    *out = d;
    return STATUS_OK;
}

void cluster_desk_close(struct cluster_desk *d)
{
    if (d == NULL)
        return;
    pthread_mutex_lock(&d->mtx);
    d->closing = true;
    pthread_cond_signal(&d->work);
    pthread_mutex_unlock(&d->mtx);
    if (d->thread != 0)
        pthread_join(d->thread, NULL);
    pthread_mutex_destroy(&d->mtx);
    pthread_cond_destroy(&d->work);
    json_decref(d->state);
    free(d->url);
    free(d->name);
    free(d);
}
