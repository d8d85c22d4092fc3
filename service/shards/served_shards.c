/* SPDX-License-Identifier: MIT */
/*
 * served_shards.c - the shards of this process, and the way to all others.
 *
 *   member thread    group: who has what; until when this process has it
 *   keeper, a shard  open: fence, restore, say whose it is ─► serve ─► close
 *   frontier, a shard  calls, one Kafka transaction a commit
 *   forwarder        calls on all other shards
 *
 * Whether a shard is here is decided under its mutex, together with the submit
 * of the call, so that no call comes after the close. What fails to commit,
 * since another process has fenced this one, goes to the forwarder, which finds
 * the new owner.
 */
#include "service/shards/served_shards.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/kafka/kafka.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "cluster/cluster_topics.h"
#include "cluster/served_control.h"
#include "cluster/shard_rows.h"
#include "job/dir_kind.h"
#include "service/calls/call.h"
#include "service/shards/call_split.h"
#include "service/shards/forwarder.h"

#define MEMORY       ((uint64_t)256 << 20)
#define MEMORY_LEAST ((uint64_t)8 << 20)
#define MOST_WAITING 65536
#define MARGIN       (2 * NS_PER_S)    /* before the group gives a member up */
#define TICK_MS      100               /* of the member's thread */
#define LOOK_NS      (200 * NS_PER_MS) /* of a keeper, at its frontier */
#define AGAIN        (2 * NS_PER_S)  /* until a shard that failed is reopened */
#define DEATHS       5               /* in a row, until that is no use */
#define LONG_ENOUGH  (60 * NS_PER_S) /* for a term that breaks the row */
#define HANDOVER     (20 * NS_PER_S) /* for a shard that is given up */
#define PATIENCE     (20 * NS_PER_S) /* of a call, for an owner */
#define GET_PATIENCE (NS_PER_S / 4)  /* the same of a GET that asks all */

/* A shard, which may be here. */
struct own {
    struct served_shards *all;
    uint32_t number;
    pthread_t keeper;
    bool has_keeper;

    pthread_mutex_t mtx; /* guards these */
    pthread_cond_t changed;
    bool wanted, ending;
    bool busy; /* it is open, or is being opened or closed */
    struct frontier_service *service; /* NULL: it is not here */
};

struct served_shards {
    struct served_shards_options o;
    struct frontier_place place;
    struct call_sender sender;
    struct served_control *control; /* until the forwarder has it */
    struct forwarder *forwarder;
    char http[SERVED_ADDRESS_SIZE], grpc[SERVED_ADDRESS_SIZE];
    struct own *own; /* by number */
    uint32_t count;
    _Atomic int64_t owned_until; /* CLOCK_BOOTTIME, ns */
    _Atomic unsigned turn;
    struct kafka_member *member;
    pthread_t member_thread;
    bool has_member;
    _Atomic bool leaving;
    void (*failed)(void *ctx);
    void *failed_ctx;
    atomic_bool has_failed;

    pthread_mutex_t mtx; /* guards these */
    pthread_cond_t none; /* no call is under way */
    bool stopping, refused;
    size_t calls, items; /* under way */
    void (*room)(void *ctx);
    void *room_ctx;
    uint64_t done_calls, done_puts, done_urls;
    struct histogram times[FRONTIER_VIAS_][FRONTIER_VERBS_];
    uint64_t acks[FRONTIER_ACKS_];
};

static void shards_fail(struct served_shards *s)
{
    if (!atomic_exchange(&s->has_failed, true) && s->failed != NULL)
        s->failed(s->failed_ctx);
}

/* ---- a part of a call ---- */

static bool is_answer(enum status st)
{
    return st == STATUS_OK || st == STATUS_NOT_FOUND || st == STATUS_ARG ||
           st == STATUS_LIMIT || st == STATUS_REFUSED;
}

static void done_here(struct frontier_call *call)
{
    struct call_part *p = (struct call_part *)call;
    struct served_shards *s = call->ctx;

    if (is_answer(call->status))
        p->finish(p);
    else /* the shard is not ours any more, or its store failed */
        forwarder_again(s->forwarder, p, true);
}

/* Has the shard take the call; false: it is not here. */
static bool submit_here(struct served_shards *s, uint32_t shard,
                        struct frontier_call *call)
{
    struct own *w = &s->own[shard];
    bool taken;

    pthread_mutex_lock(&w->mtx);
    taken = w->service != NULL && clock_boot() < atomic_load(&s->owned_until) &&
            frontier_service_submit(w->service, call) == STATUS_OK;
    pthread_mutex_unlock(&w->mtx);
    return taken;
}

static bool shards_take_part(void *ctx, struct call_part *p)
{
    struct served_shards *s = ctx;

    p->call.done = done_here;
    p->call.ctx = s;
    return submit_here(s, p->shard, &p->call);
}

/* A GET that asks all shards has others to go on with. */
static int64_t patience(const struct frontier_call *call)
{
    return call->verb == FRONTIER_GET && call->in.key.len == 0 ? GET_PATIENCE
                                                               : PATIENCE;
}

static void send_part(void *ctx, struct call_part *p)
{
    struct served_shards *s = ctx;

    p->give_up = clock_mono() + patience(&p->call);
    if ((p->call.verb == FRONTIER_PUT &&
         forwarder_has_puts(s->forwarder, p->shard)) ||
        !shards_take_part(s, p))
        forwarder_add(s->forwarder, p);
}

/* ---- a call ---- */

static void count_call(struct served_shards *s,
                       const struct frontier_call *call)
{
    histogram_note(&s->times[call->via][call->verb],
                   clock_mono() - call->submitted);
    s->done_calls++;
    s->done_urls += call->verb == FRONTIER_GET ? call->url_count : 0;
    if (call->verb != FRONTIER_PUT)
        return;
    s->done_puts += call->in.put.n;
    for (size_t i = 0; i < call->in.put.n; i++)
        s->acks[call->in.put.items[i].ack]++;
}

static size_t items_of(const struct frontier_call *call)
{
    return call->verb == FRONTIER_PUT ? call->in.put.n : 1;
}

static void call_ended(void *ctx, struct frontier_call *call)
{
    struct served_shards *s = ctx;
    bool room;

    pthread_mutex_lock(&s->mtx);
    count_call(s, call);
    s->items -= items_of(call);
    room = s->refused && s->items <= s->o.most_waiting / 2;
    if (room)
        s->refused = false;
    pthread_mutex_unlock(&s->mtx);
    call->done(call); /* no longer ours */
    if (room && s->room != NULL)
        s->room(s->room_ctx);
    pthread_mutex_lock(&s->mtx); /* `s` may be freed once there are none */
    if (--s->calls == 0)
        pthread_cond_broadcast(&s->none);
    pthread_mutex_unlock(&s->mtx);
}

/* A call that another process has sent is carried out here, or not at all. */
static enum status submit_sent(struct served_shards *s,
                               struct frontier_call *call)
{
    uint32_t shard = call->shard - 1;

    return shard < s->count && submit_here(s, shard, call) ? STATUS_OK
                                                           : STATUS_BUSY;
}

static enum status shards_submit(void *of, struct frontier_call *call)
{
    struct served_shards *s = of;
    enum status st = STATUS_OK;

    if (call->shard > 0)
        return submit_sent(s, call);
    pthread_mutex_lock(&s->mtx);
    if (s->stopping) {
        st = STATUS_CLOSED;
    } else if (s->items >= s->o.most_waiting) {
        st = STATUS_AGAIN;
        s->refused = true;
    } else {
        s->calls++;
        s->items += items_of(call);
    }
    pthread_mutex_unlock(&s->mtx);
    if (st == STATUS_OK)
        call_split(&s->sender, call, atomic_fetch_add(&s->turn, 1));
    return st;
}

/* ---- stats ---- */

static void add_stats(struct frontier_service_stats *to,
                      const struct frontier_service_stats *of)
{
    to->all.active += of->all.active;
    to->all.leased += of->all.leased;
    to->all.completed += of->all.completed;
    to->all.queues += of->all.queues;
    to->all.active_queues += of->all.active_queues;
    to->dated += of->dated;
    to->overdue += of->overdue;
    if (of->overdue_seconds > to->overdue_seconds)
        to->overdue_seconds = of->overdue_seconds;
    if (of->crawls > to->crawls)
        to->crawls = of->crawls;
    to->urls += of->urls;
    to->memory += of->memory;
    to->active &= of->active;
}

/* Of the shards that are here; calls are those of our own clients. */
static void shards_stats(void *of, struct frontier_service_stats *out)
{
    struct served_shards *s = of;

    *out = (struct frontier_service_stats){.active = true};
    for (uint32_t i = 0; i < s->count; i++) {
        struct own *w = &s->own[i];
        struct frontier_service_stats one;

        pthread_mutex_lock(&w->mtx);
        if (w->service != NULL) {
            frontier_service_get_stats(w->service, &one);
            add_stats(out, &one);
        }
        pthread_mutex_unlock(&w->mtx);
    }
    pthread_mutex_lock(&s->mtx);
    out->waiting = s->items;
    out->calls = s->done_calls;
    out->puts = s->done_puts;
    out->gets_urls = s->done_urls;
    pthread_mutex_unlock(&s->mtx);
}

static void details(void *of, struct frontier_service_details *out)
{
    struct served_shards *s = of;

    pthread_mutex_lock(&s->mtx);
    for (unsigned via = 0; via < FRONTIER_VIAS_; via++)
        for (unsigned verb = 0; verb < FRONTIER_VERBS_; verb++)
            histogram_add_to(&s->times[via][verb], &out->calls[via][verb]);
    for (unsigned i = 0; i < FRONTIER_ACKS_; i++)
        out->acks[i] = s->acks[i];
    pthread_mutex_unlock(&s->mtx);
}

/* ---- a shard's keeper ---- */

/* NAME.control says who has the shard; `http` NULL: nobody. */
static enum status say_owner(struct own *w, struct shard_rows *rows,
                             const char *http, struct buf *why)
{
    const struct served_shards *s = w->all;
    struct buf topic, key, value;
    enum status st;

    buf_init(&topic, 512);
    buf_init(&key, 64);
    buf_init(&value, 2048);
    cluster_topic(&topic, s->o.name, "control");
    served_owner_write(&key, &value, w->number, http, s->grpc);
    st = shard_rows_say(rows, &topic, 0, buf_bytes(&key), buf_bytes(&value),
                        why);
    buf_fini(&topic);
    buf_fini(&key);
    buf_fini(&value);
    return st;
}

static enum status open_store(struct own *w, struct shard_rows *rows,
                              struct frontier_service **out, struct buf *why)
{
    const struct served_shards *s = w->all;
    struct frontier_service_options o = {
        .memory = s->o.memory,
        .most_waiting = SIZE_MAX, /* bounded where calls come in */
        .checkpoint_ms = s->o.checkpoint_ms,
        .node = bytes_of_str(s->grpc),
        .follower = shard_rows_follower(rows),
        .shard = w->number};
    struct buf dir, note;
    bool there;
    enum status st;

    buf_init(&dir, 4096);
    buf_init(&note, 4096);
    buf_addf(&dir, "%s/shards/%" PRIu32, s->o.dir, w->number);
    st = file_make_dir(buf_str(&dir));
    if (st == STATUS_OK)
        st = shard_rows_restore(rows, buf_str(&dir), &there, &note, why);
    o.dir = buf_str(&dir);
    if (st == STATUS_OK)
        st = frontier_service_open(out, &o);
    buf_fini(&dir);
    buf_fini(&note);
    return st;
}

/* Waits until the shard is given up, or its store fails. */
static void shards_serve(struct own *w)
{
    struct frontier_service_stats now = {.broken = false};

    pthread_mutex_lock(&w->mtx);
    while (w->wanted && !w->ending && !now.broken) {
        (void)cond_wait_until(&w->changed, &w->mtx, clock_mono() + LOOK_NS);
        frontier_service_get_stats(w->service, &now);
    }
    w->service = NULL; /* takes no calls from here on */
    pthread_mutex_unlock(&w->mtx);
}

/* What marks the store as a shard, which nothing else may change. */
struct marking {
    struct shard_rows *rows;
    bool marked;
};

static enum status shards_mark(void *ctx)
{
    struct marking *m = ctx;
    bool was = m->marked;

    m->marked = true;
    return was ? STATUS_OK : shard_rows_note(m->rows, "{}");
}

/* One term of ownership. False: the shard could not be opened, or failed. */
static bool shards_keep(struct own *w)
{
    const struct served_shards *s = w->all;
    struct marking marking = {.rows = NULL};
    const struct shard_rows_options o = {.access = s->o.access,
                                         .name = s->o.name,
                                         .number = {w->number, s->count},
                                         .before = shards_mark,
                                         .ctx = &marking};
    struct frontier_service *service = NULL;
    struct shard_rows *rows = NULL;
    struct buf why;
    enum status st;

    buf_init(&why, 4096);
    st = shard_rows_open(&rows, &o, &why);
    marking.rows = rows;
    if (st == STATUS_OK)
        st = say_owner(w, rows, s->http, &why);
    if (st == STATUS_OK)
        st = open_store(w, rows, &service, &why);
    if (st == STATUS_OK) {
        log_info("this process has a shard", "shard=%" PRIu32, w->number);
        pthread_mutex_lock(&w->mtx);
        w->service = service;
        pthread_mutex_unlock(&w->mtx);
        shards_serve(w);
        st = frontier_service_close(service);
        if (st == STATUS_OK)
            st = say_owner(w, rows, NULL, &why);
    }
    if (st != STATUS_OK)
        log_error("a shard cannot be served here",
                  "shard=%" PRIu32 " why=\"%s\"", w->number,
                  why.len > 0 ? buf_str(&why) : status_text(st));
    shard_rows_close(rows);
    buf_fini(&why);
    return st == STATUS_OK;
}

static void *keeper(void *arg)
{
    struct own *w = arg;
    unsigned deaths = 0;

    pthread_mutex_lock(&w->mtx);
    while (!w->ending) {
        int64_t since;
        bool good;

        if (!w->wanted) {
            deaths = 0;
            pthread_cond_wait(&w->changed, &w->mtx);
            continue;
        }
        w->busy = true;
        pthread_mutex_unlock(&w->mtx);
        since = clock_mono();
        good = shards_keep(w);
        deaths = good ? 0 : clock_mono() - since > LONG_ENOUGH ? 1 : deaths + 1;
        pthread_mutex_lock(&w->mtx);
        w->busy = false;
        pthread_cond_broadcast(&w->changed);
        if (w->wanted && deaths >= DEATHS)
            shards_fail(w->all);
        for (int64_t until = clock_mono() + AGAIN;
             deaths > 0 && w->wanted && !w->ending && clock_mono() < until;)
            (void)cond_wait_until(&w->changed, &w->mtx, until);
    }
    pthread_mutex_unlock(&w->mtx);
    return NULL;
}

/* ---- the group ---- */

static void gained(void *ctx, int partition)
{
    struct served_shards *s = ctx;
    struct own *w;

    if (partition < 0 || (uint32_t)partition >= s->count)
        return;
    w = &s->own[partition];
    pthread_mutex_lock(&w->mtx);
    w->wanted = true;
    if (!w->has_keeper) {
        w->has_keeper = pthread_create(&w->keeper, NULL, keeper, w) == 0;
        if (!w->has_keeper)
            shards_fail(s);
    }
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mtx);
}

/* The next owner fences this one, so a shard that is slow to close does no
 * harm; but what is closed in order is opened sooner. */
static void gives_up(void *ctx, int partition, bool lost)
{
    struct served_shards *s = ctx;
    int64_t until = clock_mono() + (lost ? 0 : HANDOVER);
    struct own *w;

    if (partition < 0 || (uint32_t)partition >= s->count)
        return;
    if (lost)
        atomic_store(&s->owned_until, 0);
    w = &s->own[partition];
    pthread_mutex_lock(&w->mtx);
    w->wanted = false;
    pthread_cond_broadcast(&w->changed);
    while (w->busy && clock_mono() < until)
        (void)cond_wait_until(&w->changed, &w->mtx, until);
    pthread_mutex_unlock(&w->mtx);
}

static void *member(void *arg)
{
    struct served_shards *s = arg;
    struct buf why;

    buf_init(&why, 4096);
    while (!atomic_load(&s->leaving)) {
        enum status st = kafka_member_poll(s->member, TICK_MS, &why);

        if (st == STATUS_OK) {
            atomic_store(&s->owned_until,
                         clock_boot() + KAFKA_SESSION_MS * NS_PER_MS - MARGIN);
        } else if (st != STATUS_AGAIN) {
            log_error("this process cannot have shards any more", "why=\"%s\"",
                      buf_str(&why));
            shards_fail(s);
            break;
        }
    }
    kafka_member_close(s->member);
    buf_fini(&why);
    return NULL;
}

/* ---- the directory ---- */

/* A directory is of one service: rows of two would be mixed. */
static enum status check_dir(const struct served_shards *s, struct buf *why)
{
    const char *id = served_control_id(s->control);
    struct buf path, text;
    enum status st;

    buf_init(&path, 4096);
    buf_init(&text, 256);
    buf_addf(&path, "%s/shards", s->o.dir);
    st = file_make_dir(buf_str(&path));
    buf_clear(&path);
    buf_addf(&path, "%s/" DIR_SHARDS_NAME, s->o.dir);
    if (st == STATUS_OK) {
        st = file_read(buf_str(&path), &text);
        if (st == STATUS_NOT_FOUND) {
            buf_add_str(&text, id);
            st = file_replace(buf_str(&path), buf_bytes(&text));
        }
    }
    if (st == STATUS_OK && !bytes_is(buf_bytes(&text), id)) {
        buf_addf(why,
                 "%s has shards of another service; give another directory",
                 s->o.dir);
        st = STATUS_EXISTS;
    }
    buf_fini(&path);
    buf_fini(&text);
    return st;
}

/* ---- opening and closing ---- */

static enum status find_service(struct served_shards *s, struct buf *why)
{
    const struct served_shards_options *o = &s->o;
    enum status st =
        served_control_open(&s->control, &o->access, o->name, o->shards, why);

    if (st != STATUS_OK)
        return st;
    s->count = served_control_shards(s->control);
    if (s->count == 0) {
        buf_addf(why, "%s has no shards", o->name);
        return STATUS_DAMAGED;
    }
    if (!o->shards_given || s->count == o->shards)
        return STATUS_OK;
    buf_addf(why, "%s has %" PRIu32 " shards, which cannot be changed", o->name,
             s->count);
    return STATUS_ARG;
}

static void make_own(struct served_shards *s)
{
    s->own = xcalloc(s->count, sizeof *s->own);
    for (uint32_t i = 0; i < s->count; i++) {
        struct own *w = &s->own[i];

        w->all = s;
        w->number = i;
        pthread_mutex_init(&w->mtx, NULL);
        cond_init(&w->changed);
    }
    s->o.memory /= s->count;
    if (s->o.memory < MEMORY_LEAST)
        s->o.memory = MEMORY_LEAST;
}

static enum status place_close(void *of)
{
    return served_shards_close(of);
}

enum status served_shards_open(struct served_shards **out,
                               const struct served_shards_options *o,
                               struct buf *why)
{
    struct served_shards *s = xcalloc(1, sizeof *s);
    struct forwarder_options f = {.token_file = o->token_file,
                                  .tls = o->tls,
                                  .take = shards_take_part,
                                  .ctx = s};
    enum status st;

    s->o = *o;
    if (s->o.memory == 0)
        s->o.memory = MEMORY;
    if (s->o.most_waiting == 0)
        s->o.most_waiting = MOST_WAITING;
    s->place = (struct frontier_place){s, shards_submit, shards_stats, details,
                                       place_close};
    pthread_mutex_init(&s->mtx, NULL);
    cond_init(&s->none);
    st = find_service(s, why);
    if (st == STATUS_OK)
        st = check_dir(s, why);
    if (st == STATUS_OK) {
        make_own(s);
        f.control = s->control;
        s->control = NULL;
        st = forwarder_open(&s->forwarder, &f);
    }
    s->sender = (struct call_sender){s, s->count, send_part, call_ended};
    if (st == STATUS_OK)
        *out = s;
    else
        (void)served_shards_close(s);
    return st;
}

const struct frontier_place *served_shards_place(struct served_shards *s)
{
    return &s->place;
}

void served_shards_on_room(struct served_shards *s, void (*room)(void *ctx),
                           void *ctx)
{
    s->room = room;
    s->room_ctx = ctx;
}

enum status served_shards_join(struct served_shards *s, const char *http,
                               const char *grpc, void (*failed)(void *ctx),
                               void *ctx, struct buf *why)
{
    const struct kafka_owner owner = {s, gained, gives_up};
    struct buf topic;
    enum status st;

    snprintf(s->http, sizeof s->http, "%s", http);
    snprintf(s->grpc, sizeof s->grpc, "%s", grpc);
    forwarder_set_self(s->forwarder, s->http);
    s->failed = failed;
    s->failed_ctx = ctx;
    buf_init(&topic, 512);
    cluster_topic(&topic, s->o.name, "state");
    st = kafka_member_open(&s->member, &s->o.access, buf_str(&topic),
                           buf_str(&topic), &owner, why);
    buf_fini(&topic);
    if (st != STATUS_OK)
        return st;
    s->has_member = pthread_create(&s->member_thread, NULL, member, s) == 0;
    return s->has_member ? STATUS_OK : STATUS_NOMEM;
}

/* Gives all shards up: the group calls gives_up for each. */
static void shards_leave(struct served_shards *s)
{
    atomic_store(&s->leaving, true);
    if (s->has_member)
        pthread_join(s->member_thread, NULL);
    else
        kafka_member_close(s->member);
    for (uint32_t i = 0; i < s->count; i++) {
        struct own *w = &s->own[i];

        pthread_mutex_lock(&w->mtx);
        w->ending = true;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->mtx);
        if (w->has_keeper)
            pthread_join(w->keeper, NULL);
    }
}

enum status served_shards_close(struct served_shards *s)
{
    bool failed;

    if (s == NULL)
        return STATUS_OK;
    pthread_mutex_lock(&s->mtx);
    s->stopping = true;
    pthread_mutex_unlock(&s->mtx);
    if (s->forwarder != NULL) {
        forwarder_stop(s->forwarder);
        shards_leave(s);
        pthread_mutex_lock(&s->mtx);
        while (s->calls > 0)
            pthread_cond_wait(&s->none, &s->mtx);
        pthread_mutex_unlock(&s->mtx);
    }
    forwarder_close(s->forwarder);
    served_control_close(s->control);
    for (uint32_t i = 0; s->own != NULL && i < s->count; i++) {
        pthread_mutex_destroy(&s->own[i].mtx);
        pthread_cond_destroy(&s->own[i].changed);
    }
    failed = atomic_load(&s->has_failed);
    pthread_mutex_destroy(&s->mtx);
    pthread_cond_destroy(&s->none);
    free(s->own);
    free(s);
    return failed ? STATUS_IO : STATUS_OK;
}
