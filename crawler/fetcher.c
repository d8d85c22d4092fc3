/* SPDX-License-Identifier: MIT */
/*
 * fetcher.c - one thread: its inbox, its lanes, its turn.
 *
 * A lane holds the URLs of one queue that this fetcher has; at most
 * conns_per_host of them have a transfer at once, the others wait in order of
 * arrival. A lane exists as long as it has URLs. There may be thousands, so a
 * turn looks only at those in which URLs wait.
 *
 * The inbox has its own mutex and is emptied in one step; only the first entry
 * into an empty inbox wakes the thread.
 */
#include "crawler/fetcher.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <libxml/parser.h>
#include <libxml/xmlmemory.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/logger.h"
#include "base/map.h"
#include "base/mem.h"
#include "crawler/fetch/fetch_set.h"
#include "crawler/fetch_task.h"
#include "crawler/transfer/multi.h"

/* ---- sets up a process before its first fetcher ---- */

#define DESCRIPTORS_MOST (UINT64_C(1) << 20)

/* Kept connections and transfers each need a descriptor, and the usual soft
 * limit of 1,024 only exists for programs that call select(). */
static void raise_descriptor_limit(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur >= DESCRIPTORS_MOST)
        return;
    r.rlim_cur = r.rlim_max < DESCRIPTORS_MOST ? r.rlim_max : DESCRIPTORS_MOST;
    if (setrlimit(RLIMIT_NOFILE, &r) != 0)
        log_warn("cannot raise the limit of descriptors", "error=%s",
                 strerror(errno));
}

uint64_t fetcher_descriptors(void)
{
    struct rlimit r;

    return getrlimit(RLIMIT_NOFILE, &r) == 0 ? r.rlim_cur : 256;
}

static enum status global_status;

/* glibc keeps large blocks that were freed, and more of them the larger they
 * were (mallopt(3), M_MMAP_THRESHOLD): windows of 8 MiB that bodies were
 * decoded with stayed with the process, above --memory. */
static void give_large_blocks_back(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

/* If memory ran out within a library, the page that it reads would seem faulty;
 * so that ends the process too. */
static void global_init(void)
{
    global_status = STATUS_OK;
    give_large_blocks_back();
    xmlMemSetup(free, xmalloc, xrealloc, xstrdup);
    if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, xmalloc, free, xrealloc,
                             xstrdup, xcalloc) != CURLE_OK) {
        log_error("cannot start libcurl", "%s", "");
        global_status = STATUS_NOMEM;
        return;
    }
    curl_faults_log();
    xmlInitParser();
    raise_descriptor_limit();
}

enum status fetcher_global_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, global_init);
    return global_status;
}

#define ROBOTS_MEMORY ((size_t)16 << 20)

enum mode { MODE_RUN, MODE_DRAIN, MODE_STOP };

/* A robots.txt on its way to the cache. */
struct known {
    struct known *next;
    struct robots_row row;
    char text[];
};

struct lane {
    uint32_t queue;
    uint32_t active;                 /* tasks begun, including held ones */
    struct fetch_task *first, *last; /* tasks that wait their turn */
    bool waiting;                    /* in the fetcher's list of such lanes */
    struct lane *next_waiting;
};

struct fetcher {
    /* read-only once started */
    size_t capacity;
    uint32_t conns_per_host;
    struct in_hand_slot *in_hand;
    pthread_t thread;
    /* fetcher thread */
    struct fetch_task_tools tools;
    struct map *lanes;                   /* by queue */
    struct lane *waiting, *last_waiting; /* in order of arrival */
    struct fetch_task *held;             /* until another task has robots.txt */
    struct fetch_task *free_jobs;
    struct assignment **taken; /* the inbox of this turn */
    enum mode mode;
    /* written by the fetcher thread, read by any */
    struct fetcher_counters counters;
    struct fetch_counters tally;
    /* shared, under mtx */
    pthread_mutex_t mtx;
    struct assignment **inbox;
    size_t inbox_count;
    struct known *known;
    enum mode wanted;
};

/* ---- lanes --------------------------------------------------------------- */

static struct lane *lane_of(struct fetcher *f, uint32_t queue)
{
    struct bytes key = bytes_of(&queue, sizeof queue);
    struct lane *lane = map_get(f->lanes, key);

    if (lane != NULL)
        return lane;
    assert(map_count(f->lanes) < f->capacity);
    lane = xcalloc(1, sizeof *lane);
    lane->queue = queue;
    map_put(f->lanes, key, lane);
    return lane;
}

static void drop_if_idle(struct fetcher *f, struct lane *lane)
{
    if (lane->active > 0 || lane->first != NULL || lane->waiting)
        return;
    map_remove(f->lanes, bytes_of(&lane->queue, sizeof lane->queue));
    free(lane);
}

static void list_waiting(struct fetcher *f, struct lane *lane)
{
    lane->waiting = true;
    lane->next_waiting = NULL;
    if (f->waiting == NULL)
        f->waiting = lane;
    else
        f->last_waiting->next_waiting = lane;
    f->last_waiting = lane;
}

static void lane_add(struct fetcher *f, struct lane *lane,
                     struct fetch_task *task)
{
    if (!lane->waiting)
        list_waiting(f, lane);
    task->next = NULL;
    if (lane->first == NULL)
        lane->first = task;
    else
        lane->last->next = task;
    lane->last = task;
}

/* ---- tasks --------------------------------------------------------------- */

static struct fetch_task *job_take(struct fetcher *f, struct assignment *a)
{
    struct fetch_task *task = f->free_jobs;

    if (task != NULL) {
        f->free_jobs = task->next;
    } else {
        task = xmalloc(sizeof *task);
        fetch_task_init(task);
    }
    fetch_task_set(task, a);
    return task;
}

static void fetch_task_give(struct fetcher *f, struct fetch_task *task)
{
    task->next = f->free_jobs;
    f->free_jobs = task;
}

/* The report of a task was sent. */
static void fetch_task_is_done(struct fetcher *f, struct fetch_task *task)
{
    struct lane *lane = lane_of(f, task->assignment->lease.queue);

    lane->active--;
    drop_if_idle(f, lane);
    fetch_task_give(f, task);
}

static void begin(struct fetcher *f, struct fetch_task *task)
{
    in_hand_take(f->in_hand, task->assignment->lease.id, IN_HAND_BEGIN);
    switch (fetch_task_begin(&f->tools, task, clock_mono())) {
    case FETCH_TASK_BUSY:
        break;
    case FETCH_TASK_WAITS:
        task->next = f->held;
        f->held = task;
        break;
    case FETCH_TASK_DONE:
        fetch_task_is_done(f, task);
        break;
    }
}

/* Releases URLs that waited for robots.txt: the delay of their queue may have
 * changed. */
static void release_others(struct fetcher *f, struct bytes origin,
                           struct lane *lane)
{
    struct fetch_task **at = &f->held;

    while (*at != NULL) {
        struct fetch_task *task = *at;

        if (!bytes_equal(task->origin, origin)) {
            at = &task->next;
            continue;
        }
        *at = task->next;
        (void)fetch_task_release(&f->tools, task);
        fetch_task_is_done(f, task);
    }
    while (lane->first != NULL) {
        struct fetch_task *task = lane->first;

        lane->first = task->next;
        (void)fetch_task_release(&f->tools, task);
        fetch_task_give(f, task);
    }
}

static void end(struct fetcher *f, struct fetch_task *task,
                const struct fetch_result *result)
{
    struct bytes origin = task->origin;
    bool read_robots = task->read_robots;

    fetch_stats_note(&f->tally, result, read_robots);
    if (fetch_task_on_ended(&f->tools, task, result) == FETCH_TASK_BUSY)
        return;
    if (read_robots)
        release_others(f, origin, lane_of(f, task->assignment->lease.queue));
    fetch_task_is_done(f, task);
}

/* ---- the turn ------------------------------------------------------------ */

static void learn_robots(struct fetcher *f, struct known *k)
{
    while (k != NULL) {
        struct known *next = k->next;

        robots_cache_restore(f->tools.robots, &k->row);
        free(k);
        k = next;
    }
}

static void take_inbox(struct fetcher *f)
{
    struct assignment **taken;
    struct known *known;
    size_t count;

    pthread_mutex_lock(&f->mtx);
    taken = f->inbox;
    f->inbox = f->taken;
    f->taken = taken;
    count = f->inbox_count;
    f->inbox_count = 0;
    known = f->known;
    f->known = NULL;
    f->mode = f->wanted;
    pthread_mutex_unlock(&f->mtx);
    learn_robots(f, known);
    for (size_t i = 0; i < count; i++)
        lane_add(f, lane_of(f, taken[i]->lease.queue), job_take(f, taken[i]));
}

static bool may_begin(struct fetcher *f, const struct lane *lane)
{
    return lane->active < f->conns_per_host &&
           fetch_set_may_start(f->tools.fetches, clock_mono());
}

/* Begins tasks of this lane; gives them back if no more may begin. */
static void work_lane(struct fetcher *f, struct lane *lane)
{
    while (lane->first != NULL) {
        struct fetch_task *task = lane->first;

        if (f->mode == MODE_RUN && !may_begin(f, lane))
            return;
        lane->first = task->next;
        lane->active++;
        if (f->mode == MODE_RUN) {
            begin(f, task);
        } else {
            (void)fetch_task_release(&f->tools, task);
            fetch_task_is_done(f, task);
        }
    }
}

static void work_lanes(struct fetcher *f)
{
    struct lane *lane = f->waiting, *next;

    f->waiting = f->last_waiting = NULL;
    for (; lane != NULL; lane = next) {
        next = lane->next_waiting;
        work_lane(f, lane);
        if (lane->first != NULL) {
            list_waiting(f, lane);
        } else {
            lane->waiting = false;
            drop_if_idle(f, lane);
        }
    }
    in_hand_drop(f->in_hand);
}

static void finish_ended(struct fetcher *f)
{
    struct fetch_result result;
    struct fetch *done;

    /* What this turn had in hand is dropped below. */
    while ((done = fetch_set_next_ended(f->tools.fetches, clock_mono(),
                                        &result)) != NULL) {
        struct fetch_task *task = done->ctx;

        in_hand_take(f->in_hand, task->assignment->lease.id, IN_HAND_PARSE);
        fault_point("page-in-hand");
        end(f, task, &result);
        fetch_set_recycle(f->tools.fetches, done);
    }
    in_hand_drop(f->in_hand);
}

static bool is_over(const struct fetcher *f)
{
    return f->mode != MODE_RUN && map_count(f->lanes) == 0;
}

static void fetcher_turn(struct fetcher *f)
{
    take_inbox(f);
    work_lanes(f);
    if (is_over(f))
        return;
    if (f->mode == MODE_STOP)
        fetch_set_abort(f->tools.fetches);
    fetch_set_turn(f->tools.fetches, f->mode == MODE_STOP ? 0 : INT64_MAX);
    finish_ended(f);
}

static void *fetcher_thread(void *arg)
{
    struct fetcher *f = arg;
    struct report *gone = report_gone();
    char name[16];

    snprintf(name, sizeof name, "fetch-%u", f->tools.fetcher);
    pthread_setname_np(pthread_self(), name);
    do {
        fetcher_turn(f);
    } while (!is_over(f));
    queue_send(f->tools.reports, gone, 0);
    return NULL;
}

/* ---- what other threads call --------------------------------------------- */

static void want(struct fetcher *f, enum mode mode)
{
    pthread_mutex_lock(&f->mtx);
    if (mode > f->wanted)
        f->wanted = mode;
    pthread_mutex_unlock(&f->mtx);
    fetch_set_wake(f->tools.fetches);
}

void fetcher_give(struct fetcher *f, struct assignment *a)
{
    bool was_empty;

    pthread_mutex_lock(&f->mtx);
    assert(f->inbox_count < f->capacity);
    was_empty = f->inbox_count == 0;
    f->inbox[f->inbox_count++] = a;
    pthread_mutex_unlock(&f->mtx);
    if (was_empty)
        fetch_set_wake(f->tools.fetches);
}

size_t fetcher_take_back(struct fetcher *f, struct assignment **out)
{
    size_t n;

    pthread_mutex_lock(&f->mtx);
    n = f->inbox_count;
    for (size_t i = 0; i < n; i++)
        out[i] = f->inbox[i];
    f->inbox_count = 0;
    pthread_mutex_unlock(&f->mtx);
    return n;
}

void fetcher_know_robots(struct fetcher *f, const struct robots_row *row)
{
    struct known *k = xmalloc(sizeof *k + row->origin.len + row->body.len);

    k->row = *row;
    k->row.origin = bytes_of(k->text, row->origin.len);
    k->row.body = bytes_of(k->text + row->origin.len, row->body.len);
    memcpy(k->text, row->origin.at, row->origin.len);
    if (row->body.len > 0)
        memcpy(k->text + row->origin.len, row->body.at, row->body.len);
    pthread_mutex_lock(&f->mtx);
    k->next = f->known;
    f->known = k;
    pthread_mutex_unlock(&f->mtx);
}

void fetcher_drain(struct fetcher *f)
{
    want(f, MODE_DRAIN);
}

void fetcher_stop(struct fetcher *f)
{
    want(f, MODE_STOP);
}

const struct fetcher_counters *fetcher_counters(const struct fetcher *f)
{
    return &f->counters;
}

const struct fetch_counters *fetcher_fetch_counters(const struct fetcher *f)
{
    return &f->tally;
}

/* ---- life ---------------------------------------------------------------- */

static void free_parts(struct fetcher *f)
{
    while (f->free_jobs != NULL) {
        struct fetch_task *task = f->free_jobs;

        f->free_jobs = task->next;
        fetch_task_fini(task);
        free(task);
    }
    for (size_t i = 0; i < f->inbox_count; i++)
        assignment_free(f->inbox[i]); /* arrived after its end */
    while (f->known != NULL) {
        struct known *k = f->known;

        f->known = k->next;
        free(k);
    }
    fetch_set_free(f->tools.fetches);
    reporter_free(f->tools.reporter);
    warc_recorder_free(f->tools.recorder);
    robots_cache_free(f->tools.robots);
    map_free(f->tools.hops, robots_hop_free);
    pthread_mutex_destroy(&f->mtx);
    map_free(f->lanes, free);
    free(f->inbox);
    free(f->taken);
    free(f);
}

void fetcher_free(struct fetcher *f)
{
    if (f == NULL)
        return;
    pthread_join(f->thread, NULL);
    free_parts(f);
}

static enum status make_parts(struct fetcher *f,
                              const struct fetcher_options *o)
{
    const struct robots_cache_options ro = {
        .agent = o->product_token,
        .memory = ROBOTS_MEMORY,
        .retry_delay_ms = o->retry_delay_ms > 0 ? o->retry_delay_ms : 1,
        .tries = o->tries,
        .noted_only = o->robots == ROBOTS_REPORT,
    };

    f->tools.o = o;
    f->conns_per_host = o->conns_per_host > 0 ? o->conns_per_host : 1;
    f->lanes = map_new();
    f->inbox = xcalloc(f->capacity, sizeof(struct assignment *));
    f->taken = xcalloc(f->capacity, sizeof(struct assignment *));
    f->tools.robots = robots_cache_new(&ro);
    f->tools.hops = map_new();
    f->tools.reporter = reporter_new(o);
    f->tools.recorder = o->warc ? warc_recorder_new(o) : NULL;
    return fetch_set_new(&f->tools.fetches, o, &f->counters, f->in_hand);
}

/* The main thread handles signals: a fetcher blocks all of them, including
 * SIGPIPE, so that writing to a closed connection is an ordinary error. */
static enum status start_thread(struct fetcher *f)
{
    sigset_t all, before;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&f->thread, NULL, fetcher_thread, f);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err == 0)
        return STATUS_OK;
    log_error("cannot start a fetcher", "error=%s", strerror(err));
    return status_of_errno(err);
}

enum status fetcher_start(struct fetcher **out, unsigned index,
                          const struct fetcher_options *o, size_t capacity,
                          struct queue *reports, struct in_hand_slot *in_hand)
{
    struct fetcher *f = xcalloc(1, sizeof *f);
    enum status st;

    pthread_mutex_init(&f->mtx, NULL);
    f->tools.fetcher = index;
    f->capacity = capacity;
    f->tools.reports = reports;
    f->in_hand = in_hand;
    st = make_parts(f, o);
    if (st == STATUS_OK)
        st = start_thread(f);
    if (st != STATUS_OK)
        free_parts(f);
    else
        *out = f;
    return st;
}
