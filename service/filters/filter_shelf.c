/* SPDX-License-Identifier: MIT */
/*
 * filter_shelf.c - the shelf's thread.
 *
 *     take all calls ─► carry each out ─► one sync of the log ─► done
 *          ▲                │ a build is under way                │
 *          │                ▼                                     ▼
 *          └──────────── waiting ◄──────────────────── checkpoint, if it is
 * time
 *
 * One thread for all filters: a batch takes a few milliseconds at most, and the
 * disk's sync, which takes longer, is shared by all that wait for it.
 */
#include "service/filters/filter_shelf_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread/cond.h"

#define LOG_MOST (UINT64_C(32) << 20)

bool filter_shelf_name_is_valid(struct bytes name)
{
    if (name.len == 0 || name.len > SHELF_NAME_MOST || name.at[0] == '.' ||
        name.at[0] == '-')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
            !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.')
            return false;
    }
    return true;
}

/* ---- the thread ---- */

/* Sorts a call that was carried out, or has to wait, into its list. */
static void carry_out(struct filter_shelf *s, struct shelf_call *c, int64_t now,
                      struct shelf_call **done)
{
    struct shelf_call **to = shelf_carry_out(s, c, now) ? done : &s->waiting;

    c->next = *to;
    *to = c;
}

/* In the order in which they came. */
static void answer_all(struct filter_shelf *s, struct shelf_call *done)
{
    enum status st = filter_log_sync(s->log);
    struct shelf_call *in_order = NULL;
    unsigned n = 0;

    for (struct shelf_call *c = done, *next; c != NULL; c = next) {
        next = c->next;
        c->next = in_order;
        in_order = c;
        n++;
    }
    pthread_mutex_lock(&s->mtx);
    s->calls -= n;
    s->stats = s->own;
    pthread_mutex_unlock(&s->mtx);
    for (struct shelf_call *c = in_order, *next; c != NULL; c = next) {
        next = c->next; /* `done` may free the call */
        if (c->changed && c->status == STATUS_OK)
            c->status = st;
        c->done(c);
    }
}

static int64_t next_moment(struct filter_shelf *s, int64_t lease)
{
    for (const struct shelf_call *c = s->waiting; c != NULL; c = c->next)
        lease = clock_earlier(lease, c->wait_until);
    return lease;
}

/* Returns all calls that came, or NULL when it closes. */
static struct shelf_call *take(struct filter_shelf *s, int64_t until,
                               bool *stopping, bool *closing)
{
    struct shelf_call *all;

    pthread_mutex_lock(&s->mtx);
    while (s->first == NULL && !s->closing && s->stopping == *stopping)
        if (until == INT64_MAX)
            pthread_cond_wait(&s->wake, &s->mtx);
        else if (!cond_wait_until(&s->wake, &s->mtx, until))
            break;
    all = s->first;
    s->first = NULL;
    s->last = &s->first;
    *stopping = s->stopping;
    *closing = s->closing;
    pthread_mutex_unlock(&s->mtx);
    return all;
}

static void *run(void *arg)
{
    struct filter_shelf *s = arg;
    bool stopping = false, closing = false;

    while (!closing) {
        int64_t lease = shelf_end_leases(s, clock_mono()), now;
        struct shelf_call *came =
            take(s, next_moment(s, lease), &stopping, &closing);
        struct shelf_call *waited = s->waiting, *done = NULL;

        s->waiting = NULL;
        now = stopping || closing ? INT64_MAX : clock_mono();
        for (struct shelf_call *c = came, *next; c != NULL; c = next) {
            next = c->next;
            carry_out(s, c, now, &done);
        }
        (void)shelf_end_leases(s, clock_mono());
        for (struct shelf_call *c = waited, *next; c != NULL; c = next) {
            next = c->next;
            carry_out(s, c, now, &done);
        }
        answer_all(s, done);
        if (filter_log_size(s->log) > LOG_MOST)
            (void)!shelf_checkpoint(s); /* logged; the log has it all */
    }
    return NULL;
}

/* ---- from any thread ---- */

enum status filter_shelf_submit(struct filter_shelf *s, struct shelf_call *c)
{
    enum status st = STATUS_OK;

    c->next = NULL;
    c->wait_until = clock_mono() + c->wait_s * NS_PER_S;
    c->seen = UINT64_MAX;
    pthread_mutex_lock(&s->mtx);
    if (s->closing) {
        st = STATUS_CLOSED;
    } else if (s->calls == SHELF_CALLS_MOST) {
        st = STATUS_AGAIN;
    } else {
        s->calls++;
        *s->last = c;
        s->last = &c->next;
        pthread_cond_signal(&s->wake);
    }
    pthread_mutex_unlock(&s->mtx);
    return st;
}

void filter_shelf_stop(struct filter_shelf *s)
{
    pthread_mutex_lock(&s->mtx);
    s->stopping = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->mtx);
}

void filter_shelf_get_stats(struct filter_shelf *s,
                            struct filter_shelf_stats *out)
{
    pthread_mutex_lock(&s->mtx);
    *out = s->stats;
    pthread_mutex_unlock(&s->mtx);
}

const char *filter_shelf_dir(const struct filter_shelf *s)
{
    return s->dir;
}

uint64_t filter_shelf_memory(const struct filter_shelf *s)
{
    return s->memory;
}

/* ---- open, close ---- */

static void shelf_free(struct filter_shelf *s)
{
    map_free(s->filters, shelf_filter_free);
    filter_log_close(s->log);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->mtx);
    free(s->dir);
    free(s);
}

enum status filter_shelf_open(struct filter_shelf **out, const char *dir,
                              uint64_t memory)
{
    struct filter_shelf *s = xcalloc(1, sizeof *s);
    enum status st;

    s->dir = xstrdup(dir);
    s->memory = memory;
    s->filters = map_new();
    s->last = &s->first;
    pthread_mutex_init(&s->mtx, NULL);
    cond_init(&s->wake);
    st = shelf_load(s);
    (void)shelf_end_leases(s, 0); /* counts them */
    s->stats = s->own;
    if (st == STATUS_OK && pthread_create(&s->thread, NULL, run, s) != 0)
        st = STATUS_NOMEM;
    if (st != STATUS_OK) {
        shelf_free(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

enum status filter_shelf_close(struct filter_shelf *s)
{
    enum status st;

    if (s == NULL)
        return STATUS_OK;
    pthread_mutex_lock(&s->mtx);
    s->closing = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->mtx);
    pthread_join(s->thread, NULL);
    st = shelf_checkpoint(s);
    shelf_free(s);
    return st;
}
