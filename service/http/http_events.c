/* SPDX-License-Identifier: MIT */
/*
 * http_events.c - wakes answers that are written over time; stats events, and
 * the watchers that read them.
 *
 * The text of an event is shared and reference-counted: the last watcher that
 * finishes it frees it. A watcher has one event and a position in it; when it
 * has sent that, it goes on with the newest one and skips those in between, or
 * sleeps.
 *
 * First it sends a comment, so that a client knows at once that it is
 * connected. `id` counts events; `retry` is the time after which a disconnected
 * browser connects again. Old events are not kept, so Last-Event-ID is ignored.
 */
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cluster/cluster_stats.h"
#include "service/calls/frontier_service.h"
#include "service/grpc/grpc_server.h"
#include "service/http/http_request.h"
#include "service/http/http_server_impl.h"

/* ---- the pump ----
 *
 * Epoll with two descriptors for each sleeper, and a timer for the beats.
 *
 * Only this thread resumes connections, so none is resumed twice. A sleeping
 * connection cannot end, so a sleeper that was taken off the list still exists
 * when it is resumed after the mutex was released. (If we resumed under the
 * mutex, we would take the library's mutex under ours, which elsewhere happens
 * the other way round.)
 *
 * epoll watches a sleeper's descriptors only while it sleeps, since its owner
 * may be freed once it is awake. Both are one-shot: between the first event and
 * their removal no other comes, except those fetched together with it.
 */

#define BEAT_NS NS_PER_S
#define BATCH   64

LIST_HEAD(sleeper_list, http_sleeper);

struct http_pump {
    struct http_pump_work work;
    int epoll, nudge;
    pthread_t thread;
    bool started;

    pthread_mutex_t mtx; /* guards what follows */
    struct sleeper_list for_beats, for_fds;
    uint64_t beats;
    bool early; /* an extra beat is wanted */
    bool cut, end;
    bool woken; /* all were woken since the cut */
    pthread_cond_t told;
};

/* ---- the thread ---- */

/* Empties a list under the mutex; the first of those that were there. */
static struct http_sleeper *pump_take_all(struct sleeper_list *list)
{
    struct http_sleeper *first = LIST_FIRST(list);

    LIST_INIT(list);
    return first;
}

static void resume_all(struct http_sleeper *s)
{
    while (s != NULL) {
        struct http_sleeper *next = LIST_NEXT(s, others); /* it may be freed */

        MHD_resume_connection(s->conn);
        s = next;
    }
}

static void do_beat(struct http_pump *p)
{
    struct http_sleeper *list;

    p->work.beat(p->work.beat_ctx);
    pthread_mutex_lock(&p->mtx);
    p->beats++;
    list = pump_take_all(&p->for_beats);
    pthread_mutex_unlock(&p->mtx);
    resume_all(list);
}

static void pump_forget(struct http_pump *p, const struct http_sleeper *s)
{
    epoll_ctl(p->epoll, EPOLL_CTL_DEL, s->fd, NULL);
    epoll_ctl(p->epoll, EPOLL_CTL_DEL, s->socket, NULL);
}

/* Only sockets give EPOLLRDHUP: the pipe never does. */
static void wake_one(struct http_pump *p, struct http_sleeper *s,
                     uint32_t events)
{
    pthread_mutex_lock(&p->mtx);
    LIST_REMOVE(s, others);
    pthread_mutex_unlock(&p->mtx);
    pump_forget(p, s);
    s->left = s->left || (events & EPOLLRDHUP) != 0;
    MHD_resume_connection(s->conn);
}

static void wake_cut(struct http_pump *p)
{
    struct http_sleeper *list;

    pthread_mutex_lock(&p->mtx);
    list = pump_take_all(&p->for_fds);
    pthread_mutex_unlock(&p->mtx);
    for (struct http_sleeper *s = list; s != NULL; s = LIST_NEXT(s, others))
        pump_forget(p, s);
    resume_all(list);
}

static void tell_cut(struct http_pump *p)
{
    pthread_mutex_lock(&p->mtx);
    p->woken = true;
    pthread_cond_broadcast(&p->told);
    pthread_mutex_unlock(&p->mtx);
}

/* Milliseconds until the beat at `next`, if a sleeper waits for it, or until
 * `look`; -1: neither. */
static int pump_wait_for(struct http_pump *p, int64_t next, int64_t look)
{
    int64_t now = clock_mono();
    bool wanted;

    pthread_mutex_lock(&p->mtx);
    wanted = !LIST_EMPTY(&p->for_beats);
    pthread_mutex_unlock(&p->mtx);
    if (!wanted || look < next)
        next = look;
    if (next == INT64_MAX)
        return -1;
    return next > now ? (int)((next - now) / NS_PER_MS) + 1 : 0;
}

static void take_nudge(struct http_pump *p)
{
    uint64_t times;

    if (read(p->nudge, &times, sizeof times) < 0 && errno != EAGAIN)
        log_error("cannot read an eventfd", "errno=%d", errno);
}

/* Combines the events of sleeper `of` and clears them. */
static uint32_t take_events(struct epoll_event *e, int n, const void *of)
{
    uint32_t events = 0;

    for (int i = 0; i < n; i++)
        if (e[i].data.ptr == of) {
            events |= e[i].events;
            e[i].data.ptr = NULL;
        }
    return events;
}

static void handle(struct http_pump *p, struct epoll_event *e, int n)
{
    for (int i = 0; i < n; i++) {
        void *of = e[i].data.ptr;

        if (of == p)
            take_nudge(p);
        else if (of != NULL)
            wake_one(p, of, take_events(e + i, n - i, of));
    }
}

/* Does what other threads asked for; they set it and then nudge. */
static bool turn(struct http_pump *p, int64_t *next)
{
    bool end, cut, beat;

    pthread_mutex_lock(&p->mtx);
    end = p->end;
    cut = p->cut;
    beat = p->early || (!LIST_EMPTY(&p->for_beats) && clock_mono() >= *next);
    p->early = false;
    pthread_mutex_unlock(&p->mtx);
    if (cut)
        wake_cut(p);
    if (beat) {
        do_beat(p);
        *next += BEAT_NS;
        if (*next < clock_mono())
            *next = clock_mono() + BEAT_NS;
    }
    if (cut)
        tell_cut(p);
    return !end;
}

static void *pump(void *arg)
{
    struct http_pump *p = arg;
    struct epoll_event events[BATCH];
    int64_t next = clock_mono();

    do {
        int64_t look = p->work.look(p->work.look_ctx);
        int n =
            epoll_wait(p->epoll, events, BATCH, pump_wait_for(p, next, look));

        handle(p, events, n);
    } while (turn(p, &next));
    return NULL;
}

/* ---- other threads ---- */

void http_pump_nudge(void *pump)
{
    struct http_pump *p = pump;
    const uint64_t one = 1;

    if (write(p->nudge, &one, sizeof one) < 0 && errno != EAGAIN)
        log_error("cannot write an eventfd", "errno=%d", errno);
}

/* The number of beats so far. Any thread. */
static uint64_t http_pump_beats(struct http_pump *p)
{
    uint64_t n;

    pthread_mutex_lock(&p->mtx);
    n = p->beats;
    pthread_mutex_unlock(&p->mtx);
    return n;
}

/* Makes epoll watch its descriptors; false: it failed. Called under the mutex,
 * so that events wait until the sleeper is on the list. */
static bool pump_watch(struct http_pump *p, struct http_sleeper *s)
{
    struct epoll_event in = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = s};
    struct epoll_event end = {.events = EPOLLRDHUP | EPOLLONESHOT,
                              .data.ptr = s};

    if (s->fd < 0)
        return true;
    if (epoll_ctl(p->epoll, EPOLL_CTL_ADD, s->fd, &in) == 0 &&
        epoll_ctl(p->epoll, EPOLL_CTL_ADD, s->socket, &end) == 0)
        return true;
    log_error("cannot watch a pipe and its reader", "errno=%d", errno);
    pump_forget(p, s);
    return false;
}

enum http_pump_slept http_pump_sleep(struct http_pump *p,
                                     struct http_sleeper *s, uint64_t beats)
{
    enum http_pump_slept slept = HTTP_ASLEEP;
    bool first = false;

    pthread_mutex_lock(&p->mtx);
    if (s->fd < 0 && p->beats != beats)
        slept = HTTP_AWAKE;
    else if (p->cut || !pump_watch(p, s))
        slept = HTTP_CUT;
    if (slept == HTTP_ASLEEP) {
        MHD_suspend_connection(s->conn);
        first = s->fd < 0 && LIST_EMPTY(&p->for_beats);
        if (s->fd < 0)
            LIST_INSERT_HEAD(&p->for_beats, s, others);
        else
            LIST_INSERT_HEAD(&p->for_fds, s, others);
    }
    pthread_mutex_unlock(&p->mtx);
    if (first)
        http_pump_nudge(p);
    return slept;
}

void http_pump_beat(struct http_pump *p)
{
    pthread_mutex_lock(&p->mtx);
    p->early = true;
    pthread_mutex_unlock(&p->mtx);
    http_pump_nudge(p);
}

void http_pump_cut(struct http_pump *p)
{
    pthread_mutex_lock(&p->mtx);
    p->cut = true;
    p->early = true;
    http_pump_nudge(p);
    while (!p->woken)
        pthread_cond_wait(&p->told, &p->mtx);
    pthread_mutex_unlock(&p->mtx);
}

/* ---- beginning and end ---- */

static enum status pump_start(struct http_pump *p)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = p};
    sigset_t all, before;
    int rc;

    p->epoll = epoll_create1(EPOLL_CLOEXEC);
    p->nudge = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (p->epoll < 0 || p->nudge < 0 ||
        epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->nudge, &e) != 0)
        return status_of_errno(errno);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&p->thread, NULL, pump, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    p->started = rc == 0;
    return rc == 0 ? STATUS_OK : status_of_errno(rc);
}

enum status http_pump_open(struct http_pump **out,
                           const struct http_pump_work *w)
{
    struct http_pump *p = xcalloc(1, sizeof *p);
    enum status st;

    p->work = *w;
    p->epoll = -1;
    p->nudge = -1;
    pthread_mutex_init(&p->mtx, NULL);
    pthread_cond_init(&p->told, NULL);
    st = pump_start(p);
    if (st != STATUS_OK) {
        log_error("cannot start a thread", "why=\"%s\"", status_text(st));
        http_pump_close(p);
        return st;
    }
    *out = p;
    return STATUS_OK;
}

void http_pump_close(struct http_pump *p)
{
    if (p == NULL)
        return;
    if (p->started) {
        pthread_mutex_lock(&p->mtx);
        p->end = true;
        pthread_mutex_unlock(&p->mtx);
        http_pump_nudge(p);
        pthread_join(p->thread, NULL);
    }
    if (p->nudge >= 0)
        close(p->nudge);
    if (p->epoll >= 0)
        close(p->epoll);
    pthread_cond_destroy(&p->told);
    pthread_mutex_destroy(&p->mtx);
    free(p);
}

#define SAMPLE_MOST ((size_t)1 << 20)
#define RETRY_MS    2000
#define BLOCK       ((size_t)4 << 10)

struct stats_event {
    atomic_int holders;
    uint64_t id;
    char *text;
    size_t len;
};

struct http_events {
    struct http_server *server;
    uint64_t id; /* of the last event; the pump's thread */

    pthread_mutex_t mtx;
    struct stats_event *newest; /* under it */

    /* the server's thread */
    unsigned watchers;
    TAILQ_HEAD(http_watchers, http_watcher) all; /* the oldest first */
};

struct http_watcher {
    struct http_events *events;
    struct http_sleeper sleeper;
    struct stats_event *event; /* being sent; NULL: none */
    size_t sent;
    uint64_t seen; /* id of the last one */
    bool over;     /* it is no longer in the list, and ends */
    TAILQ_ENTRY(http_watcher) link;
};

/* ---- samples ---- */

static void events_let_go(struct stats_event *s)
{
    if (s == NULL || atomic_fetch_sub(&s->holders, 1) > 1)
        return;
    free(s->text);
    free(s);
}

static void events_set_count(json_t *o, const char *name, uint64_t n)
{
    json_object_set_new(o, name, json_integer((json_int_t)n));
}

static json_t *frontier_json(struct frontier_service *f)
{
    struct frontier_service_stats v;
    json_t *o;

    if (f == NULL)
        return json_null();
    frontier_service_get_stats(f, &v);
    o = json_object();
    events_set_count(o, "size", v.all.active);
    events_set_count(o, "in_process", v.all.leased);
    events_set_count(o, "completed", v.all.completed);
    events_set_count(o, "dated", v.dated);
    events_set_count(o, "overdue", v.overdue);
    events_set_count(o, "overdue_seconds", v.overdue_seconds);
    events_set_count(o, "queues", v.all.queues);
    events_set_count(o, "active_queues", v.all.active_queues);
    events_set_count(o, "leases", v.gets_urls);
    events_set_count(o, "waiting_items", v.waiting);
    json_object_set_new(o, "active", json_boolean(v.active));
    return o;
}

static json_t *process_json(struct http_server *s)
{
    struct grpc_stats grpc = {.open = 0};
    struct http_stats v;
    json_t *o = json_object();

    if (s->options.grpc != NULL)
        grpc_server_get_stats(s->options.grpc, &grpc);

    http_server_get_stats(s, &v);
    events_set_count(o, "memory_bytes", mem_resident());
    json_object_set_new(o, "cpu_seconds",
                        json_real((double)clock_cpu() / (double)NS_PER_S));
    events_set_count(o, "http_connections", v.connections);
    events_set_count(o, "grpc_connections", grpc.http2.open);
    return o;
}

static char *sample_json(struct http_server *s)
{
    json_t *o = json_object();
    char *text;

    json_object_set_new(o, "at", http_time_json(clock_wall_ms()));
    json_object_set_new(o, "frontier", frontier_json(s->options.frontier));
    json_object_set_new(o, "crawls", http_crawls_json(s->options.crawls));
    if (s->options.cluster != NULL)
        json_object_set_new(o, "cluster",
                            cluster_board_json(s->options.cluster));
    json_object_set_new(o, "process", process_json(s));
    text = json_dumps(o, HTTP_JSON);
    json_decref(o);
    return text;
}

static struct stats_event *new_event(uint64_t id, struct buf *text)
{
    struct stats_event *s = xcalloc(1, sizeof *s);

    atomic_init(&s->holders, 1);
    s->id = id;
    s->text = buf_take(text, &s->len);
    return s;
}

static struct stats_event *greeting(void)
{
    struct buf b;

    buf_init(&b, SAMPLE_MOST);
    buf_addf(&b, ": one event a second\nretry: %d\n\n", RETRY_MS);
    return new_event(0, &b);
}

/* JSON in one line has no line end, so one `data` field holds it. */
static struct stats_event *make_event(struct http_events *v)
{
    char *json = sample_json(v->server);
    struct buf b;

    buf_init(&b, SAMPLE_MOST);
    buf_add_str(&b, "event: stats\nid: ");
    buf_add_uint(&b, ++v->id);
    buf_add_str(&b, "\ndata: ");
    buf_add_str(&b, json != NULL ? json : "{}");
    buf_add_str(&b, "\n\n");
    free(json);
    if (buf_failed(&b) != STATUS_OK) { /* too large: many hundred crawls */
        buf_clear(&b);
        buf_add_str(&b, ": the event is too large\n\n");
    }
    return new_event(v->id, &b);
}

void http_events_beat(void *events)
{
    struct http_events *v = events;
    struct stats_event *made = make_event(v), *old;

    pthread_mutex_lock(&v->mtx);
    old = v->newest;
    v->newest = made;
    pthread_mutex_unlock(&v->mtx);
    events_let_go(old);
}

/* ---- watchers ---- */

/* Takes the newest event if the watcher has not sent it; false: there is none
 * yet. */
static bool take_newest(struct http_watcher *w)
{
    struct http_events *v = w->events;

    pthread_mutex_lock(&v->mtx);
    if (v->newest != NULL && v->newest->id != w->seen) {
        w->event = v->newest;
        w->seen = w->event->id;
        w->sent = 0;
        atomic_fetch_add(&w->event->holders, 1);
    }
    pthread_mutex_unlock(&v->mtx);
    return w->event != NULL;
}

static ssize_t send_sample(struct http_watcher *w, char *to, size_t room)
{
    size_t left = w->event->len - w->sent, n = left < room ? left : room;

    memcpy(to, w->event->text + w->sent, n);
    w->sent += n;
    if (n == left) {
        events_let_go(w->event);
        w->event = NULL;
    }
    return (ssize_t)n;
}

/* Callback of the library: the next part of the answer. */
static ssize_t events_next_part(void *ctx, uint64_t at, char *to, size_t room)
{
    struct http_watcher *w = ctx;
    struct http_server *s = w->events->server;
    enum http_pump_slept slept = HTTP_AWAKE;

    (void)at;
    while (slept == HTTP_AWAKE) {
        uint64_t beats = http_pump_beats(s->pump);

        if (w->event != NULL || (!w->over && take_newest(w)))
            return send_sample(w, to, room);
        if (w->over || http_server_is_stopping(s))
            return MHD_CONTENT_READER_END_OF_STREAM;
        slept = http_pump_sleep(s->pump, &w->sleeper, beats);
    }
    return slept == HTTP_ASLEEP ? 0 : MHD_CONTENT_READER_END_OF_STREAM;
}

/* Takes it off the list; its stream ends with the next event. */
static void end_watcher(struct http_watcher *w)
{
    if (w->over)
        return;
    w->over = true;
    TAILQ_REMOVE(&w->events->all, w, link);
    w->events->watchers--;
}

void http_watcher_free(struct http_watcher *w)
{
    if (w == NULL)
        return;
    end_watcher(w);
    events_let_go(w->event);
    free(w);
}

static void response_ends(void *ctx)
{
    http_watcher_free(ctx);
}

struct MHD_Response *http_events_response(struct http_watcher *w)
{
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK,
                                             events_next_part, w,
                                             response_ends);
}

/* Drops the newest event when no watcher is left: it would be old. */
static void forget_samples(struct http_events *v)
{
    pthread_mutex_lock(&v->mtx);
    events_let_go(v->newest);
    v->newest = NULL;
    pthread_mutex_unlock(&v->mtx);
}

void http_events_ask(struct http_request *r)
{
    struct http_events *v = r->server->events;
    struct http_watcher *w;

    if (!http_members(r, r->in, -1, NULL, 0))
        return;
    if (v->watchers == HTTP_WATCHERS_MOST)
        end_watcher(TAILQ_FIRST(&v->all));
    if (v->watchers++ == 0)
        forget_samples(v);
    w = xcalloc(1, sizeof *w);
    w->events = v;
    TAILQ_INSERT_TAIL(&v->all, w, link);
    w->sleeper = (struct http_sleeper){.conn = r->conn, .fd = -1};
    w->event = greeting();
    r->watcher = w;
    http_answer_text(r, "text/event-stream", NULL, 0);
}

/* ---- beginning and end ---- */

struct http_events *http_events_new(struct http_server *s)
{
    struct http_events *v = xcalloc(1, sizeof *v);

    v->server = s;
    TAILQ_INIT(&v->all);
    pthread_mutex_init(&v->mtx, NULL);
    return v;
}

void http_events_free(struct http_events *v)
{
    if (v == NULL)
        return;
    events_let_go(v->newest);
    pthread_mutex_destroy(&v->mtx);
    free(v);
}
