/* SPDX-License-Identifier: MIT */
/*
 * frontier_service.c - the way to the frontier thread: lists of calls, submits
 * and stats, opening and closing. frontier_service_turn.c carries out calls.
 */
#include "service/calls/frontier_service.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "service/calls/frontier_service_impl.h"

#define MEMORY        (UINT64_C(256) << 20)
#define MOST_WAITING  65536
#define FPR           0.001
#define CHECKPOINT_MS 60000

/* ---- lists of calls ---- */

void call_list_add(struct call_list *l, struct frontier_call *call)
{
    call->next = NULL;
    if (l->tail != NULL)
        l->tail->next = call;
    else
        l->head = call;
    l->tail = call;
}

struct frontier_call *call_list_take(struct call_list *l)
{
    struct frontier_call *call = l->head;

    if (call != NULL) {
        l->head = call->next;
        if (l->head == NULL)
            l->tail = NULL;
    }
    return call;
}

size_t call_items(const struct frontier_call *call)
{
    return call->verb == FRONTIER_PUT ? call->in.put.n : 1;
}

/* ---- calls and stats ---- */

enum status frontier_service_submit(struct frontier_service *s,
                                    struct frontier_call *call)
{
    size_t items = call_items(call);
    enum status st = STATUS_OK;

    if (call->verb >= FRONTIER_VERBS_ || items == 0 ||
        items > FRONTIER_PUT_MOST)
        return STATUS_ARG;
    call->submitted = clock_mono();
    if (s->o.place != NULL)
        return s->o.place->submit(s->o.place->of, call);
    pthread_mutex_lock(&s->mtx);
    if (s->stopping) {
        st = STATUS_CLOSED;
    } else if (s->waiting_items >= s->o.most_waiting) {
        st = STATUS_AGAIN;
        s->refused = true;
    } else {
        s->waiting_items += items;
        call_list_add(&s->waiting, call);
        if (s->asleep)
            pthread_cond_signal(&s->arrived);
        s->asleep = false;
    }
    pthread_mutex_unlock(&s->mtx);
    return st;
}

void frontier_service_get_stats(struct frontier_service *s,
                                struct frontier_service_stats *out)
{
    if (s->o.place != NULL) {
        s->o.place->stats(s->o.place->of, out);
        return;
    }
    pthread_mutex_lock(&s->mtx);
    *out = s->stats;
    out->waiting = s->waiting_items;
    pthread_mutex_unlock(&s->mtx);
}

void frontier_service_get_details(struct frontier_service *s,
                                  struct frontier_service_details *out)
{
    memset(out, 0, sizeof *out);
    if (s->o.place != NULL) {
        s->o.place->details(s->o.place->of, out);
        return;
    }
    for (unsigned via = 0; via < FRONTIER_VIAS_; via++)
        for (unsigned verb = 0; verb < FRONTIER_VERBS_; verb++)
            histogram_add_to(&s->calls[via][verb], &out->calls[via][verb]);
    for (unsigned i = 0; i < FRONTIER_ACKS_; i++)
        out->acks[i] = atomic_load_explicit(&s->acks[i], memory_order_relaxed);
    pthread_mutex_lock(&s->mtx);
    out->engine = s->frontier;
    pthread_mutex_unlock(&s->mtx);
}

/* ---- opening and closing ---- */

static void set_defaults(struct frontier_service_options *o)
{
    if (o->memory == 0)
        o->memory = MEMORY;
    if (o->most_waiting == 0)
        o->most_waiting = MOST_WAITING;
    if (o->fpr <= 0)
        o->fpr = FPR;
    if (o->checkpoint_ms <= 0)
        o->checkpoint_ms = CHECKPOINT_MS;
}

static void service_free(struct frontier_service *s)
{
    served_close(s->served);
    pthread_cond_destroy(&s->arrived);
    pthread_mutex_destroy(&s->mtx);
    arena_free(s->puts.keys);
    free(s->puts.list);
    call_batch_fini(&s->batch);
    free(s->node);
    free((void *)(uintptr_t)s->o.dir);
    free(s);
}

static struct frontier_service *service_alloc(
    const struct frontier_service_options *o)
{
    struct frontier_service *s = xcalloc(1, sizeof *s);

    s->o = *o;
    set_defaults(&s->o);
    s->o.dir = xstrdup(o->dir);
    s->node = xstrndup(o->node.at != NULL ? o->node.at : "", o->node.len);
    s->o.node = bytes_of(s->node, o->node.len);
    pthread_mutex_init(&s->mtx, NULL);
    cond_init(&s->arrived);
    s->next_checkpoint = clock_mono() + s->o.checkpoint_ms * NS_PER_MS;
    return s;
}

enum status frontier_service_open(struct frontier_service **out,
                                  const struct frontier_service_options *o)
{
    struct frontier_service *s = service_alloc(o);
    const struct served_options so = {.fpr = s->o.fpr,
                                      .memory = s->o.memory,
                                      .sweep_from = s->o.sweep_from,
                                      .follower = s->o.follower,
                                      .shard = s->o.shard};
    enum status st;
    int err;

    if (o->place != NULL) {
        *out = s;
        return STATUS_OK;
    }
    st = served_open(&s->served, s->o.dir, &so, frontier_wall_ms(s));
    if (st == STATUS_OK) {
        frontier_take_stats(s);
        err = pthread_create(&s->thread, NULL, frontier_thread, s);
        st = err == 0 ? STATUS_OK : status_of_errno(err);
    }
    if (st != STATUS_OK) {
        service_free(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

enum status frontier_service_close(struct frontier_service *s)
{
    enum status st;

    if (s == NULL)
        return STATUS_OK;
    if (s->o.place != NULL) {
        st = s->o.place->close(s->o.place->of);
        service_free(s);
        return st;
    }
    pthread_mutex_lock(&s->mtx);
    s->stopping = true;
    pthread_cond_signal(&s->arrived);
    pthread_mutex_unlock(&s->mtx);
    pthread_join(s->thread, NULL);
    st = s->stopped;
    service_free(s);
    return st;
}
