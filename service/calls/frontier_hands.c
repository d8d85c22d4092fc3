/* SPDX-License-Identifier: MIT */
/*
 * frontier_hands.c - carries out the calls on URLs that are in a cluster.
 *
 * Puts are gathered as the frontier thread gathers them: what arrives while
 * some are under way is put together next, in one call for each shard.
 */
#include "service/calls/frontier_hands.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/thread/cond.h"

#define PUT_ITEMS  8192 /* put together, about */
#define PUT_OCTETS ((size_t)4 << 20)
#define STOP_NS    (5 * NS_PER_S) /* for calls that wait when it stops */
#define COUNT_NS   (2 * NS_PER_S)
#define DATES      20000           /* URLs whose dates are looked at then */
#define QUIET_NS   (10 * NS_PER_S) /* between two lines about trouble */

static const char too_late[] = "its deadline has passed";
static const char out_of_reach[] =
    "servers of the cluster do not answer; try again";

/* ---- ends of calls ---- */

static void count_call(struct frontier_service *s,
                       const struct frontier_call *call)
{
    uint64_t acks[FRONTIER_ACKS_] = {0};

    for (size_t i = 0; call->verb == FRONTIER_PUT && i < call->in.put.n; i++)
        acks[call->in.put.items[i].ack]++;
    for (unsigned i = 0; i < FRONTIER_ACKS_; i++)
        atomic_fetch_add_explicit(&s->acks[i], acks[i], memory_order_relaxed);
    pthread_mutex_lock(&s->hands->told);
    histogram_note(&s->calls[call->via][call->verb],
                   clock_mono() - call->submitted);
    pthread_mutex_unlock(&s->hands->told);
    pthread_mutex_lock(&s->mtx);
    s->stats.calls++;
    s->stats.puts += call->verb == FRONTIER_PUT ? call->in.put.n : 0;
    s->stats.gets_urls += call->verb == FRONTIER_GET ? call->url_count : 0;
    pthread_mutex_unlock(&s->mtx);
}

static void tell(struct frontier_service *s, struct frontier_call *call)
{
    count_call(s, call);
    call->done(call); /* no longer ours */
}

/* Says what the servers' trouble is, now and then. */
static void log_trouble(struct frontier_hand *hand, enum status st)
{
    struct frontier_service *s = hand->s;
    struct redis_cluster_stats net;
    int64_t now = clock_mono();
    bool say;

    pthread_mutex_lock(&s->mtx);
    say = now >= s->trouble_due;
    if (say)
        s->trouble_due = now + QUIET_NS;
    pthread_mutex_unlock(&s->mtx);
    if (!say)
        return;
    shared_get_stats(s->o.shared, &net);
    log_warn("calls failed: servers of the cluster do not answer",
             "status=\"%s\" masters=%u connected=%u last=\"%s\"",
             status_text(st), net.masters, net.connected, net.trouble);
}

/* ---- calls ---- */

/* A failure of the servers is the caller's to hear, and no reason to stop. */
static void execute(struct frontier_hand *hand, struct frontier_call *call)
{
    bool again;

    if (call->verb == FRONTIER_GET && call->deadline != 0 &&
        clock_mono() >= call->deadline) {
        answer_begin(call);
        answer_fail(call, STATUS_CLOSED);
        call->why = too_late; /* nobody hears it, and nothing was leased */
        return;
    }
    hand->names = NULL;
    hand->name_count = 0;
    do {
        enum status st;

        hand->trouble = STATUS_OK;
        st = call_execute(&call_shared_ops, hand, call,
                          frontier_wall_ms(hand->s), &again);
        if (st == STATUS_OK)
            st = hand->trouble;
        if (st == STATUS_OK)
            continue;
        log_trouble(hand, st);
        answer_fail(call, STATUS_CLOSED);
        call->why = out_of_reach;
        again = false;
    } while (again);
}

/* Under mtx: is it worth to try again what was refused? */
static bool has_room(struct frontier_service *s)
{
    bool room = s->refused && s->waiting_items <= s->o.most_waiting / 2;

    if (room)
        s->refused = false;
    return room;
}

static void tell_room(struct frontier_service *s, bool room)
{
    if (room && s->o.room != NULL)
        s->o.room(s->o.room_ctx);
}

/* NULL: the service stops, and no call is left. */
static struct frontier_call *next_call(struct frontier_service *s,
                                       struct call_line *line)
{
    struct frontier_call *call;
    bool room;

    pthread_mutex_lock(&s->mtx);
    while (line->calls.head == NULL && !s->stopping)
        pthread_cond_wait(&line->arrived, &s->mtx);
    call = call_list_take(&line->calls);
    if (call != NULL)
        s->waiting_items--;
    room = has_room(s);
    pthread_mutex_unlock(&s->mtx);
    tell_room(s, room);
    return call;
}

static void *other_thread(void *arg)
{
    struct frontier_hand *hand = arg;
    struct frontier_call *call;

    while ((call = next_call(hand->s, hand->line)) != NULL) {
        execute(hand, call);
        tell(hand->s, call);
    }
    return NULL;
}

/* ---- puts ---- */

static size_t octets_of(const struct frontier_call *call)
{
    size_t n = 0;

    for (size_t i = 0; i < call->in.put.n; i++)
        n += call->in.put.items[i].url.len + call->in.put.items[i].metadata.len;
    return n;
}

/* The puts that wait, up to about PUT_ITEMS or PUT_OCTETS; none: the service
 * stops. */
static struct call_list next_puts(struct frontier_service *s)
{
    struct call_list to = {NULL, NULL};
    size_t items = 0, octets = 0;
    bool room;

    pthread_mutex_lock(&s->mtx);
    while (s->waiting.head == NULL && !s->stopping)
        pthread_cond_wait(&s->arrived, &s->mtx);
    while (items < PUT_ITEMS && octets < PUT_OCTETS &&
           s->waiting.head != NULL) {
        struct frontier_call *call = call_list_take(&s->waiting);

        items += call_items(call);
        octets += octets_of(call);
        call_list_add(&to, call);
    }
    s->waiting_items -= items;
    room = has_room(s);
    pthread_mutex_unlock(&s->mtx);
    tell_room(s, room);
    return to;
}

static void *put_thread(void *arg)
{
    struct frontier_hand *hand = arg;
    struct frontier_service *s = hand->s;
    struct call_batch batch = {NULL, 0, 0};
    struct call_list calls;
    struct frontier_call *call;
    enum status st;

    while ((calls = next_puts(s)).head != NULL) {
        for (call = calls.head; call != NULL; call = call->next) {
            call->status = STATUS_OK;
            call_batch_add(&batch, call->in.put.items, call->in.put.n);
        }
        st = call_batch_put(&batch, &call_shared_ops, hand);
        if (st != STATUS_OK)
            log_trouble(hand, st);
        while ((call = call_list_take(&calls)) != NULL)
            tell(s, call);
    }
    call_batch_fini(&batch);
    return NULL;
}

/* ---- counts, for monitoring ---- */

static void count_all(struct frontier_hand *hand)
{
    const struct bytes none = bytes_of("", 0);
    struct url_counts all;
    const struct bytes *names;
    size_t crawls = 0;
    bool active = true;

    if (shared_counts(hand->shared, none, none, &all) != STATUS_OK ||
        shared_active(hand->shared, &active) != STATUS_OK ||
        shared_crawls(hand->shared, &names, &crawls) != STATUS_OK)
        return; /* what was counted last stays */
    pthread_mutex_lock(&hand->s->mtx);
    hand->s->stats.all = all;
    hand->s->stats.active = active;
    hand->s->stats.crawls = crawls;
    hand->s->stats.urls = all.active + all.completed;
    pthread_mutex_unlock(&hand->s->mtx);
}

/* Each process counts for itself, so it does not count fast. */
static void count_dates(struct frontier_hand *hand, struct shared_pass *pass)
{
    struct frontier_service *s = hand->s;
    struct shared_dates d;
    bool over;

    if (shared_pass_go_on(pass, DATES, &d, &over) != STATUS_OK || !over)
        return;
    pthread_mutex_lock(&s->mtx);
    s->stats.dated = d.dated;
    s->stats.overdue = d.overdue;
    s->stats.overdue_seconds =
        d.overdue > 0
            ? (uint64_t)clock_later(frontier_wall_ms(s) - d.oldest_ms, 0) / 1000
            : 0;
    pthread_mutex_unlock(&s->mtx);
}

static void *count_thread(void *arg)
{
    struct frontier_hand *hand = arg;
    struct frontier_service *s = hand->s;
    struct shared_pass *pass = shared_pass_new(hand->shared);
    bool go_on = true;

    while (go_on) {
        int64_t due = clock_mono() + COUNT_NS;

        count_all(hand);
        count_dates(hand, pass);
        pthread_mutex_lock(&s->mtx);
        while (!s->stopping && clock_mono() < due)
            (void)cond_wait_until(&s->hands->stop, &s->mtx, due);
        go_on = !s->stopping;
        pthread_mutex_unlock(&s->mtx);
    }
    shared_pass_free(pass);
    return NULL;
}

/* ---- opening and closing ---- */

enum status frontier_hands_open(struct frontier_service *s)
{
    struct frontier_hands *hands = xcalloc(1, sizeof *hands);
    int err = 0;

    s->hands = hands;
    cond_init(&hands->gets.arrived);
    cond_init(&hands->others.arrived);
    cond_init(&hands->stop);
    pthread_mutex_init(&hands->told, NULL);
    for (unsigned i = 0; i < FRONTIER_HANDS; i++) {
        hands->hand[i].s = s;
        hands->hand[i].shared = shared_hand_new(s->o.shared);
        hands->hand[i].line =
            i <= FRONTIER_GETTERS ? &hands->gets : &hands->others;
    }
    s->stats.active = true;
    count_all(&hands->hand[FRONTIER_HANDS - 1]);
    for (unsigned i = 0; err == 0 && i < FRONTIER_HANDS; i++) {
        err = pthread_create(&hands->hand[i].thread, NULL,
                             i == 0                    ? put_thread
                             : i == FRONTIER_HANDS - 1 ? count_thread
                                                       : other_thread,
                             &hands->hand[i]);
        hands->hand[i].has_thread = err == 0;
    }
    return err == 0 ? STATUS_OK : status_of_errno(err);
}

void frontier_hands_add(struct frontier_service *s, struct frontier_call *call)
{
    if (call->verb == FRONTIER_PUT) {
        call_list_add(&s->waiting, call);
        pthread_cond_signal(&s->arrived);
    } else {
        struct call_line *line =
            call->verb == FRONTIER_GET || call->verb == FRONTIER_SETTLE
                ? &s->hands->gets
                : &s->hands->others;

        call_list_add(&line->calls, call);
        pthread_cond_signal(&line->arrived);
    }
}

void frontier_hands_close(struct frontier_service *s)
{
    struct frontier_hands *hands = s->hands;

    pthread_mutex_lock(&s->mtx);
    s->stopping = true;
    pthread_cond_broadcast(&s->arrived);
    pthread_cond_broadcast(&hands->gets.arrived);
    pthread_cond_broadcast(&hands->others.arrived);
    pthread_cond_signal(&hands->stop);
    pthread_mutex_unlock(&s->mtx);
    shared_stop(s->o.shared, STOP_NS);
    for (unsigned i = 0; i < FRONTIER_HANDS; i++) {
        if (hands->hand[i].has_thread)
            pthread_join(hands->hand[i].thread, NULL);
        shared_hand_free(hands->hand[i].shared);
        call_puts_fini(&hands->hand[i].puts);
    }
    pthread_mutex_destroy(&hands->told);
    pthread_cond_destroy(&hands->stop);
    pthread_cond_destroy(&hands->gets.arrived);
    pthread_cond_destroy(&hands->others.arrived);
    free(hands);
    s->hands = NULL;
}
