/* SPDX-License-Identifier: MIT */
/*
 * crawl.c - the outer loop of a crawl.
 *
 *      fetchers ── reports ──► frontier thread ── assignments ──► fetchers
 *                                 │  ack, release, lease
 *                                 ▼
 *   resolver ◄── hosts, places ── frontier ──► store (one transaction a turn)
 *
 * The frontier thread waits only for reports: giving an assignment never
 * blocks, since no fetcher gets more than `concurrency`. So a full report queue
 * blocks only the fetchers.
 */

#include "crawler/crawl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/thread/cond.h"
#include "crawler/address/resolver.h"
#include "crawler/archive/archive.h"
#include "crawler/crawl_impl.h"
#include "crawler/fetch/fetch_set.h"
#include "crawler/fetcher.h"
#include "crawler/sitemap_stream.h"
#include "frontier/frontier.h"
#include "frontier/outcome.h"
#include "frontier/stats.h"

/*
 * How long a turn of the frontier thread waits for its reports.
 *
 * A turn costs much the same for one report and for several, and so does going
 * to sleep and being woken. How long reports may wait depends on when their
 * hosts may be asked again. Knows no clock and no queue.
 *
 * In haste, a turn begins when a part of all that is out has come back, or a
 * millisecond after the first report: most fetches are still under way then,
 * and to a host on a network a millisecond is little. If few are out, each host
 * that waits is a good part of the crawl, and nothing is gained.
 *
 * At leisure all hosts have long delays, and neither a report nor a host that
 * is due minds some milliseconds. A turn then takes what comes in that time,
 * however little is out: thousands of hosts, each asked once a second, would
 * otherwise cost a turn and a wake-up for each report, and as much for each
 * lease.
 */

#define PART        8 /* of all that is out */
#define LEAST       32
#define HASTE       NS_PER_MS

#define LEISURE     (2 * NS_PER_MS)
#define UNHURRIED   (250 * NS_PER_MS) /* a pause to which that adds little */
#define HASTE_LASTS NS_PER_S          /* longer than most responses take */

void turn_pace_leased(struct turn_pace *p, int64_t pause, int64_t now)
{
    if (pause < UNHURRIED)
        p->hurried = now;
}

struct turn_wait turn_pace_wait(const struct turn_pace *p, size_t out,
                                size_t most, int64_t until_due, int64_t now)
{
    size_t part = out >= LEAST ? out / PART : 0;

    if (now - p->hurried > HASTE_LASTS)
        return (struct turn_wait){.first = clock_later(until_due, LEISURE),
                                  .enough = most,
                                  .more = LEISURE};
    return (struct turn_wait){.first = until_due,
                              .enough = part < most ? part : most,
                              .more = HASTE};
}

/* ---- lets other threads run work on the frontier thread ---- */

/*
 * A list is enough, without a bound: the posters are few (a request, a
 * command), and each waits for its own task.
 */

static void task_list_init(struct task_list *l)
{
    pthread_mutex_init(&l->mtx, NULL);
    l->first = NULL;
    l->end = &l->first;
    l->closed = false;
}

static void task_list_fini(struct task_list *l)
{
    pthread_mutex_destroy(&l->mtx);
}

/* STATUS_CLOSED: the list is closed, and the caller keeps the task. */
static enum status task_list_add(struct task_list *l, struct crawl_task *t)
{
    enum status st = STATUS_OK;

    t->next = NULL;
    t->status = STATUS_OK;
    pthread_mutex_lock(&l->mtx);
    if (l->closed) {
        st = STATUS_CLOSED;
    } else {
        *l->end = t;
        l->end = &t->next;
    }
    pthread_mutex_unlock(&l->mtx);
    return st;
}

/* Takes all tasks, as a chain by `next`; NULL: there are none. */
static struct crawl_task *task_list_take(struct task_list *l)
{
    struct crawl_task *all;

    pthread_mutex_lock(&l->mtx);
    all = l->first;
    l->first = NULL;
    l->end = &l->first;
    pthread_mutex_unlock(&l->mtx);
    return all;
}

/* Accepts no more tasks; those in the list can still be taken. */
static void task_list_close(struct task_list *l)
{
    pthread_mutex_lock(&l->mtx);
    l->closed = true;
    pthread_mutex_unlock(&l->mtx);
}

/*
 * URLs that an earlier process had in hand at its end.
 *
 * The file that names them is replaced only after their tries are committed: if
 * the process dies in between, the next one finds them again.
 */

static enum status crawl_blame_left(struct crawl *c)
{
    struct in_hand_left left[IN_HAND_SLOTS_MOST];
    enum status st = STATUS_OK;
    size_t n;

    in_hand_read(c->o.dir, left, IN_HAND_SLOTS_MOST, &n);
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = frontier_blame(c->frontier, left[i].id,
                            left[i].stuck ? BLAME_STUCK : BLAME_DIED,
                            clock_mono(), clock_wall_ms());
    if (st == STATUS_OK && n > 0)
        st = frontier_turn(c->frontier, true, clock_mono(), clock_wall_ms(),
                           NULL);
    if (st == STATUS_OK)
        c->in_hand = in_hand_open(c->o.dir, c->o.threads);
    return st;
}

/* ---- hands a URL to a fetcher ---- */

/* Passes on the host's rules of an earlier run, another fetcher or another
 * process, so that a robots.txt that is still fresh is not fetched again. */
static void hand_over_robots(struct crawl *c, struct fetcher *f,
                             const struct url_lease *l)
{
    size_t len = url_origin_length(l->url);
    struct robots_row row;
    struct buf text;

    if (len == 0)
        return;
    buf_init(&text, (size_t)1 << 20);
    if (frontier_robots(c->frontier, bytes_of(l->url.at, len), &row, &text) ==
        STATUS_OK)
        fetcher_know_robots(f, &row);
    buf_fini(&text);
}

/* Hands the URL to a fetcher, with the robots.txt of its host that is stored if
 * the fetcher may not know it. `first`: it is the first of its queue. */
static void crawl_assign(struct crawl *c, struct assignment *a, bool first)
{
    bool fresh;
    unsigned i = crawl_balance_give(c->balance, a->lease.queue, first, &fresh);

    if (fresh)
        hand_over_robots(c, c->fetchers[i], &a->lease);
    fetcher_give(c->fetchers[i], a);
}

/* ---- fetchers that hang ---- */

/*
 * Works around fetchers that hang.
 *
 * A parser or decoder that hangs on a response cannot be interrupted: its
 * thread may hold any lock or half-made object. So the crawl continues without
 * it. Other fetchers get its queues, the next start fails its URL,
 * and the crawl ends when the others have ended or make no
 * more progress. Its other URLs stay leased until then, as only its thread may
 * touch them. They may be all that is left, or hold what others wait for (a
 * host, an address, memory for bodies), which is why only finished work counts
 * as progress.
 *
 * A thread that recovers after all finds everything unchanged.
 */

#define PATIENCE       (30 * NS_PER_S) /* for one step of a fetcher */
#define STATS_INTERVAL (100 * NS_PER_MS)

/* How long one step of a fetcher may take, in ns. */
static int64_t crawl_patience(void)
{
    return fault_time("stuck", PATIENCE);
}

/* ---- the queues of a fetcher that hangs ---- */

static void hand_on(struct crawl *c, unsigned from)
{
    struct assignment **all =
        xcalloc(c->o.concurrency, sizeof(struct assignment *));
    size_t n = fetcher_take_back(c->fetchers[from], all);

    for (size_t i = 0; i < n; i++) {
        crawl_balance_ended(c->balance, all[i]->lease.queue, from,
                            CRAWL_BALANCE_TAKEN_BACK);
        crawl_assign(c, all[i], false);
    }
    free(all);
}

/* ---- one fetcher ---- */

static void got_stuck(struct crawl *c, unsigned i, uint64_t id, uint64_t steps)
{
    struct in_hand_slot *slot = in_hand_slot(c->in_hand, i);
    struct bytes url = frontier_leased_url(c->frontier, id);
    int64_t waited = watchdog_waited(c->watchdog, i);
    char since[CLOCK_ISO_SIZE];

    clock_iso(since, clock_wall_ms() - waited / NS_PER_MS);
    in_hand_mark_stuck(c->in_hand, i, steps);
    log_error(
        "a fetcher is stuck on a URL, which fails as `stuck` at the next start",
        "fetcher=%u since=%s seconds=%lld doing=\"%s\" others=%u url=%.*s", i,
        since, (long long)(waited / NS_PER_S),
        in_hand_doing_text((enum in_hand_doing)atomic_load(&slot->doing)),
        c->o.threads - watchdog_stuck(c->watchdog), (int)url.len, url.at);
    crawl_balance_hangs(c->balance, i, true);
    hand_on(c, i);
    c->got_on = c->watched_time;
}

static void look_at(struct crawl *c, unsigned i)
{
    struct in_hand_slot *slot = in_hand_slot(c->in_hand, i);
    uint64_t id = atomic_load(&slot->id), steps = atomic_load(&slot->steps);

    switch (watchdog_check(c->watchdog, i, id, steps)) {
    case WATCHDOG_NOTHING:
        break;
    case WATCHDOG_STUCK:
        got_stuck(c, i, id, steps);
        break;
    case WATCHDOG_BACK:
        crawl_balance_hangs(c->balance, i, false);
        log_warn("a fetcher is no longer stuck; its URL has not failed",
                 "fetcher=%u", i);
        break;
    }
}

/* ---- all of them ---- */

static void end_without_them(struct crawl *c)
{
    bool alone = c->gone + watchdog_stuck(c->watchdog) >= c->o.threads;

    if (atomic_load(&c->paused) && c->end == CRAWL_RUNNING)
        c->got_on = c->watched_time;
    if (alone && c->end == CRAWL_RUNNING)
        c->end = CRAWL_STUCK;
    else if (c->watched_time - c->got_on >= 2 * crawl_patience() &&
             c->end != CRAWL_BROKEN)
        c->end = CRAWL_STUCK;
}

/* Works around fetchers that hang, and ends the crawl if only they are left. */
static void crawl_look_for_stuck(struct crawl *c, int64_t now)
{
    /* A fetcher that hung and has ended must not be counted twice. */
    if (watchdog_stuck(c->watchdog) == 0 &&
        now - c->watched_at < STATS_INTERVAL)
        return;
    c->watched_at = now;
    c->watched_time = watchdog_round(c->watchdog, now);
    for (unsigned i = 0; i < c->o.threads; i++)
        look_at(c, i);
    if (watchdog_stuck(c->watchdog) > 0)
        end_without_them(c);
}

/* Takes a report as a sign of life of its fetcher. */
static void crawl_heard_of(struct crawl *c, const struct report *r)
{
    if (r->kind == REPORT_PART)
        watchdog_heard_of(c->watchdog, r->id);
    else if (r->kind == REPORT_DONE)
        c->got_on = c->watched_time;
}

/* ---- passes the fetchers' reports to the frontier ---- */

#define LINKS_MOST ((size_t)1 << 14) /* about, per acknowledgement */

/* Takes a status of the store; any but STATUS_OK ends the crawl. */
static void crawl_note_failure(struct crawl *c, enum status st)
{
    if (st == STATUS_OK || c->status != STATUS_OK)
        return;
    if (st == STATUS_NOMEM)
        mem_out(0);
    c->status = st;
    if (st == STATUS_FULL)
        c->end = CRAWL_FULL;
    else /* closed: this process has lost its shard, or its brokers */
        c->end = st == STATUS_CLOSED ? CRAWL_INTERRUPTED : CRAWL_BROKEN;
}

static void has_come_back(struct crawl *c, const struct report *r)
{
    c->out--;
    crawl_balance_ended(c->balance, r->queue, r->fetcher,
                        r->kind == REPORT_DONE ? CRAWL_BALANCE_DONE
                                               : CRAWL_BALANCE_RELEASED);
}

static void take_release(struct crawl *c, const struct report *r, int64_t now)
{
    has_come_back(c, r);
    crawl_note_failure(c,
                       frontier_release(c->frontier, r->id, r->not_before,
                                        &r->done.host, now, clock_wall_ms()));
}

static void record(struct crawl *c, struct report *r)
{
    if (c->o.archive != NULL && c->status == STATUS_OK)
        crawl_note_failure(c, archive_add(c->o.archive, c->frontier, r->warc,
                                          r->robots_warc, &r->done.row,
                                          clock_wall_ms()));
}

/* Sifts the entries of a sitemap on other hosts. */
static void sift(struct crawl *c, struct report *r)
{
    if (c->status == STATUS_OK)
        sitemap_trust_sift(r, &c->o.fetch->rules, c->frontier);
}

/* A URL returns to its queue because its robots.txt was read instead, and that
 * named sitemaps. */
static struct url_done named_by_robots(const struct report *r)
{
    return (struct url_done){.id = r->id,
                             .partial = true,
                             .outlinks = r->done.outlinks,
                             .outlink_count = r->done.outlink_count,
                             .drops = r->done.drops,
                             .drop_count = r->done.drop_count,
                             .over = r->done.over};
}

/* Reports acknowledged together: all that arrived, unless sitemaps bring more
 * links than one turn should take. */
struct done_batch {
    struct url_done at[CRAWL_BATCH];
    size_t count, links;
};

/* The frontier decides the outcome, but the URLs are freed by then: so answers
 * are remembered before the call and corrected after it. */
static void ack_batch(struct crawl *c, struct done_batch *b, int64_t now)
{
    uint64_t nth = c->answers;

    for (size_t i = 0; i < b->count; i++)
        if (!b->at[i].partial)
            crawl_remember(c, &b->at[i]);
    if (b->count > 0 && c->status == STATUS_OK)
        crawl_note_failure(c, frontier_ack(c->frontier, b->at, b->count, now,
                                           clock_wall_ms()));
    for (size_t i = 0; i < b->count; i++)
        if (!b->at[i].partial)
            crawl_set_outcome(c, nth++, b->at[i].outcome);
    b->count = b->links = 0;
}

static void add_done(struct crawl *c, struct done_batch *b,
                     struct url_done done, int64_t now)
{
    if (b->links >= LINKS_MOST)
        ack_batch(c, b, now);
    b->at[b->count++] = done;
    b->links += done.outlink_count;
}

/* Acknowledges, releases and records the reports, and frees them. */
static void crawl_take_reports(struct crawl *c, struct report **reports,
                               size_t n)
{
    struct done_batch done;
    int64_t now = clock_mono();

    done.count = done.links = 0;
    for (size_t i = 0; i < n; i++) {
        record(c, reports[i]);
        crawl_heard_of(c, reports[i]);
        switch (reports[i]->kind) {
        case REPORT_DONE:
            sift(c, reports[i]);
            add_done(c, &done, reports[i]->done, now);
            has_come_back(c, reports[i]);
            break;
        case REPORT_PART:
            sift(c, reports[i]);
            add_done(c, &done, reports[i]->done, now);
            break;
        case REPORT_RELEASE:
            if (reports[i]->done.outlink_count + reports[i]->done.drop_count >
                0)
                add_done(c, &done, named_by_robots(reports[i]), now);
            take_release(c, reports[i], now);
            break;
        case REPORT_GONE:
            c->gone++;
            break;
        }
    }
    ack_batch(c, &done, now);
    for (size_t i = 0; i < n; i++)
        report_free(reports[i]);
}

/* ---- passes the frontier's leases to the fetchers ---- */

/* Only records of the response need to know how the URL was found. */
static struct assignment *assignment_for(struct crawl *c,
                                         const struct url_lease *l)
{
    struct found_by by = {{"", 0}, {"", 0}};

    if (c->hop_path != NULL)
        crawl_note_failure(c, hop_path_of(c->hop_path, l, &by));
    return assignment_of(l, &by);
}

static void lease_once(struct crawl *c)
{
    int64_t now = clock_mono();
    size_t n = 0;
    enum status st;

    if (c->out >= c->in_force)
        return;
    st = frontier_lease(c->frontier, c->in_force - c->out, now, clock_wall_ms(),
                        c->leases, &n);
    for (size_t i = 0; i < n; i++) {
        turn_pace_leased(&c->pace, c->leases[i].pause, now);
        crawl_assign(c, assignment_for(c, &c->leases[i]), c->leases[i].first);
    }
    c->out += n;
    crawl_note_failure(c, st);
}

/* With --queue-key ip the frontier names due hosts whose address, and so whose
 * queue, is unknown. True: some have a queue now. */
static bool place_hosts(struct crawl *c)
{
    int64_t now = clock_mono();
    struct resolver_answer a;
    struct bytes host;
    uint32_t queue;
    bool placed = false;

    if (c->resolver == NULL)
        return false;
    while (resolver_has_room(c->resolver) &&
           (queue = frontier_next_unplaced(c->frontier, &host)) != 0)
        resolver_ask(c->resolver, queue, host, now);
    while (resolver_take(c->resolver, now, &a)) {
        crawl_note_failure(c, frontier_place(c->frontier, a.queue,
                                             a.found ? &a.ip : NULL, now));
        placed = true;
    }
    return placed;
}

/* Hands out what is due, unless the crawl is stopping or paused. */
static void crawl_lease_due(struct crawl *c)
{
    if (c->end != CRAWL_RUNNING || atomic_load(&c->paused))
        return;
    do {
        lease_once(c);
    } while (c->status == STATUS_OK && place_hosts(c));
}

/* ---- hosts with URLs left when a crawl ends ---- */

#define LONG_QUEUES 1000

static bool is_noted(const struct crawl_result *r, struct bytes host)
{
    for (size_t i = 0; i < r->wait_count; i++)
        if (bytes_is(host, r->waits[i].host))
            return true;
    return false;
}

static void crawl_note_wait(struct crawl *c, struct bytes host, const char *why,
                            uint64_t urls, int64_t ns)
{
    struct crawl_result *r = &c->result;
    struct crawl_wait *w = &r->waits[r->wait_count];

    if (r->wait_count == CRAWL_WAITS || is_noted(r, host))
        return;
    *w = (struct crawl_wait){.why = why, .urls = urls, .ns = ns};
    snprintf(w->host, sizeof w->host, "%.*s",
             (int)(host.len < 200 ? host.len : 200), host.at);
    r->wait_count++;
}

/* Of the hosts with the most URLs left, the one whose delays take longest. */
static void note_longest(struct crawl *c, int64_t now)
{
    struct host_report *rows = xcalloc(LONG_QUEUES, sizeof *rows);
    double longest = 0;
    bool all;
    size_t n = frontier_hosts(c->frontier, HOSTS_BIGGEST, LONG_QUEUES, now,
                              rows, &all);

    for (size_t i = 0; i < n; i++) {
        const struct host_report *r = &rows[i];
        double takes = (double)r->queued * (double)r->delay;

        if (takes <= longest || r->over_budget || r->state == HOST_DEAD)
            continue;
        longest = takes;
        c->result.longest = (struct crawl_wait){.why = r->delay_why,
                                                .urls = r->queued,
                                                .ns = r->delay};
        snprintf(c->result.longest.host, sizeof c->result.longest.host, "%.*s",
                 (int)(r->host.len < 200 ? r->host.len : 200), r->host.at);
    }
    free(rows);
}

/* Puts hosts that have URLs left into c->result. */
static void crawl_note_waits(struct crawl *c, int64_t now)
{
    struct host_report rows[CRAWL_WAITS];
    size_t n;
    bool all;

    if (c->end == CRAWL_FINISHED || c->end == CRAWL_IDLE)
        return;
    note_longest(c, now);
    n = frontier_hosts(c->frontier, HOSTS_BLOCKED, CRAWL_WAITS, now, rows,
                       &all);
    for (size_t i = 0; i < n; i++) {
        bool given_up = rows[i].state == HOST_DEAD;
        bool over_budget = rows[i].over_budget;

        /* one that was given up may have dates alone */
        if (rows[i].queued > 0
                ? given_up || over_budget || c->end == CRAWL_GAVE_UP
                : given_up && c->end == CRAWL_GAVE_UP)
            crawl_note_wait(c, rows[i].host, rows[i].why, rows[i].queued,
                            given_up      ? -1
                            : over_budget ? INT64_MAX
                                          : rows[i].due - now);
    }
}

#define DISK_INTERVAL NS_PER_S
#define LONGEST_NAP   (200 * NS_PER_MS)

/* ---- tasks ---- */

/* Ends tasks whose work is committed or need not be. */
static void end_tasks(struct crawl *c, struct crawl_task *all, bool closed)
{
    for (struct crawl_task *t = all, *next; t != NULL; t = next) {
        next = t->next;
        if (closed)
            t->status = STATUS_CLOSED;
        else if (t->status == STATUS_OK && t->durable)
            t->status = c->status;
        t->done(t);
    }
}

/* Runs posted tasks, and commits if one has to be durable. */
static void run_tasks(struct crawl *c)
{
    struct crawl_task *all = task_list_take(&c->tasks);
    int64_t now = clock_mono(), wall = clock_wall_ms();
    bool commit = false;

    if (all == NULL)
        return;
    for (struct crawl_task *t = all; t != NULL; t = t->next) {
        t->status = c->status != STATUS_OK ? c->status
                                           : t->run(t, c->frontier, now, wall);
        commit |= t->durable;
    }
    if (commit && c->status == STATUS_OK)
        crawl_note_failure(c, frontier_turn(c->frontier, true, clock_mono(),
                                            wall, NULL));
    crawl_publish(c, clock_mono(), true); /* for posters that look next */
    end_tasks(c, all, false);
}

/* ---- ends and limits ---- */

static bool disk_is_low(struct crawl *c, int64_t now)
{
    uint64_t left;

    if (c->o.min_disk == 0 || now - c->disk_checked < DISK_INTERVAL)
        return false;
    c->disk_checked = now;
    return file_disk_free(c->o.dir, &left) == STATUS_OK && left < c->o.min_disk;
}

/* Only URLs with dates are left. */
static bool waits_for_dates(const struct crawl *c,
                            const struct frontier_counts *s)
{
    return s->dated > 0 && (!c->o.until_idle || c->o.stay);
}

static enum crawl_end nothing_out(struct crawl *c, int64_t now,
                                  const struct frontier_counts *s)
{
    struct bytes why = {"", 0};
    int64_t due;

    if (atomic_load(&c->paused))
        return CRAWL_RUNNING; /* until it is resumed */
    if (s->rejudging)
        return CRAWL_RUNNING;
    if (s->queued == 0 && s->dated == 0)
        return c->o.stay ? CRAWL_RUNNING : CRAWL_FINISHED;
    if (s->dates_given_up && !c->o.stay &&
        s->queued == s->withheld + s->given_up)
        return CRAWL_GAVE_UP;
    if (waits_for_dates(c, s))
        return CRAWL_RUNNING;
    if (s->queued == 0 && s->due == 0 && !s->retrying)
        return s->due_given_up ? CRAWL_GAVE_UP : CRAWL_IDLE;
    if (s->leased > 0) /* other programs have leases and may add links */
        return CRAWL_RUNNING;
    if (s->blocked > 0) /* by a person, who may unblock them */
        return CRAWL_RUNNING;
    if (s->queued > 0 && s->queued == s->withheld + s->given_up) {
        if (s->given_up > 0)
            return CRAWL_GAVE_UP;
        /* a service may get other limits */
        return c->o.stay ? CRAWL_RUNNING : CRAWL_WITHHELD;
    }
    due = frontier_next_due(c->frontier, now, &why);
    /* INT64_MAX is ambiguous: either nothing is due, or a queue is drained
     * without requests, which is always due. */
    if (c->o.give_up == 0 || due == INT64_MAX || due <= now ||
        due - now <= c->o.give_up)
        return CRAWL_RUNNING;
    if (why.len > 0)
        crawl_note_wait(c, why, "", 0, due - now);
    return CRAWL_GAVE_UP;
}

static enum crawl_end why_stop(struct crawl *c, int64_t now)
{
    struct frontier_counts s;

    if (atomic_load(&c->stops) > 0)
        return CRAWL_INTERRUPTED;
    if (c->o.time_limit > 0 && now - c->started >= c->o.time_limit)
        return CRAWL_TIME;
    if (disk_is_low(c, now))
        return CRAWL_DISK;
    frontier_get_counts(c->frontier, &s);
    if (c->o.quota > 0 && s.bytes >= c->o.quota)
        return CRAWL_QUOTA;
    if (c->o.limit_pages > 0 && s.pages >= c->o.limit_pages)
        return CRAWL_LIMIT;
    return c->out == 0 ? nothing_out(c, now, &s) : CRAWL_RUNNING;
}

/* Tells the fetchers to finish, or to abort: at a second stop, if the store is
 * broken, or if they make no progress. */
static void pass_on_stop(struct crawl *c)
{
    bool at_once = atomic_load(&c->stops) > 1 || c->end == CRAWL_BROKEN ||
                   c->end == CRAWL_STUCK;
    int wanted = at_once ? 2 : 1;

    if (c->end == CRAWL_RUNNING || c->stops_done >= wanted)
        return;
    for (unsigned i = 0; i < c->o.threads; i++) {
        if (wanted == 2)
            fetcher_stop(c->fetchers[i]);
        else
            fetcher_drain(c->fetchers[i]);
    }
    c->stops_done = wanted;
}

/* ---- the loop ---- */

static void checkpoint_if_due(struct crawl *c, int64_t now)
{
    enum status st;

    if (c->o.checkpoint == 0 || now - c->checkpointed < c->o.checkpoint)
        return;
    st = frontier_checkpoint(c->frontier, now, clock_wall_ms());
    if (st == STATUS_AGAIN)
        return;
    c->checkpointed = now;
    crawl_note_failure(c, st);
}

static int64_t nap(struct crawl *c, int64_t now)
{
    int64_t due = frontier_next_due(c->frontier, now, NULL);

    if (c->end != CRAWL_RUNNING || atomic_load(&c->paused) ||
        c->out >= c->in_force || due >= now + LONGEST_NAP)
        return LONGEST_NAP;
    return due <= now ? 0 : due - now;
}

/* Waits for reports, or until a host is due; returns how many there are. */
static size_t gather(struct crawl *c, struct report *batch[CRAWL_BATCH])
{
    int64_t now = clock_mono();
    struct turn_wait w =
        turn_pace_wait(&c->pace, c->out, CRAWL_BATCH, nap(c, now), now);

    return queue_gather(c->reports, (void **)batch, CRAWL_BATCH, w.first,
                        w.enough, w.more);
}

static void frontier_turn_once(struct crawl *c)
{
    struct report *batch[CRAWL_BATCH];
    size_t n = gather(c, batch);
    int64_t now;

    crawl_take_reports(c, batch, n);
    run_tasks(c);
    now = clock_mono();
    if (c->status == STATUS_OK)
        crawl_note_failure(c, frontier_turn(c->frontier, false, now,
                                            clock_wall_ms(), NULL));
    if (c->end == CRAWL_RUNNING)
        c->end = why_stop(c, now);
    crawl_look_for_stuck(c, now);
    crawl_lease_due(c);
    if (c->status == STATUS_OK)
        checkpoint_if_due(c, now);
    pass_on_stop(c);
    crawl_publish(c, now, false);
}

static bool nothing_left(struct crawl *c)
{
    struct frontier_counts s;

    frontier_get_counts(c->frontier, &s);
    return s.queued == 0 && s.dated == 0 && !s.rejudging;
}

static void last_words(struct crawl *c)
{
    int64_t now = clock_mono();

    if (watchdog_stuck(c->watchdog) > 0 && c->status == STATUS_OK)
        c->end = CRAWL_STUCK;
    crawl_note_waits(c, now);
    task_list_close(&c->tasks);
    end_tasks(c, task_list_take(&c->tasks), true);
    if (c->status == STATUS_OK)
        crawl_note_failure(c,
                           frontier_checkpoint_now(c->frontier,
                                                   nothing_left(c) ? "finished"
                                                                   : "stopped",
                                                   true, now, clock_wall_ms()));
    crawl_publish(c, now, true);
    pthread_mutex_lock(&c->mtx);
    c->result.end = c->end;
    c->result.stuck = watchdog_stuck(c->watchdog);
    c->result.status = c->status;
    c->ended = true;
    pthread_cond_broadcast(&c->ended_cond);
    pthread_mutex_unlock(&c->mtx);
}

static void *crawl_frontier_thread(void *arg)
{
    struct crawl *c = arg;

    c->started = c->published = c->checkpointed = clock_mono();
    while (c->gone + watchdog_stuck(c->watchdog) < c->o.threads)
        frontier_turn_once(c);
    last_words(c);
    return NULL;
}

#define REPORTS_WAIT 128

const char *crawl_end_text(enum crawl_end end)
{
    static const char *const texts[] = {
        [CRAWL_RUNNING] = "running",
        [CRAWL_FINISHED] = "finished",
        [CRAWL_IDLE] = "no URL is due before a later date",
        [CRAWL_LIMIT] = "reached --limit",
        [CRAWL_TIME] = "reached --time",
        [CRAWL_QUOTA] = "reached --quota",
        [CRAWL_DISK] = "the disk is nearly full (--min-disk)",
        [CRAWL_FULL] = "the disk is full",
        [CRAWL_GAVE_UP] = "everything that is left waits longer than --give-up",
        [CRAWL_WITHHELD] = "the rest is over a budget or limit of its host",
        [CRAWL_STUCK] = "a fetcher is stuck",
        [CRAWL_INTERRUPTED] = "interrupted",
        [CRAWL_BROKEN] = "the store failed",
    };

    return texts[end];
}

/* ---- starting and ending ---- */

/* Reports hold what pages revealed, so few may wait, however many transfers
 * there are; and of large ones, as parts of sitemaps are, even fewer. */
#define REPORT_OCTETS_WAIT ((size_t)4 << 20)

static size_t report_room(const struct crawl_options *o)
{
    return (o->concurrency < REPORTS_WAIT ? o->concurrency : REPORTS_WAIT) +
           o->threads;
}

enum status crawl_start(struct crawl **out, struct frontier *frontier,
                        const struct crawl_options *o)
{
    struct crawl *c = xcalloc(1, sizeof *c);
    enum status st = STATUS_OK;

    c->frontier = frontier;
    c->o = *o;
    c->paused = o->paused;
    if (o->archive != NULL)
        c->hop_path = hop_path_new(frontier);
    c->in_force = o->concurrency;
    c->reports = queue_new(report_room(o), REPORT_OCTETS_WAIT);
    if (o->resolve != NULL)
        c->resolver = resolver_new(o->resolve, c->reports);
    c->leases = xcalloc(o->concurrency, sizeof *c->leases);
    c->recent = xcalloc(CRAWL_RECENT, sizeof *c->recent);
    c->fetchers = xcalloc(o->threads, sizeof(struct fetcher *));
    c->balance =
        crawl_balance_new(o->threads,
                          o->conns_per_host > 0 ? o->conns_per_host : 1);
    task_list_init(&c->tasks);
    pthread_mutex_init(&c->mtx, NULL);
    cond_init(&c->ended_cond);
    c->watchdog = watchdog_new(o->threads, crawl_patience());
    st = crawl_blame_left(c);
    if (st != STATUS_OK) { /* the store has said why */
        crawl_free(c);
        return st;
    }
    for (unsigned i = 0; st == STATUS_OK && i < o->threads; i++)
        st = fetcher_start(&c->fetchers[i], i, o->fetch, o->concurrency,
                           c->reports, in_hand_slot(c->in_hand, i));
    if (st == STATUS_OK) /* the first stats include earlier runs */
        crawl_publish(c, clock_mono(), true);
    if (st == STATUS_OK &&
        pthread_create(&c->thread, NULL, crawl_frontier_thread, c) != 0)
        st = STATUS_NOMEM;
    if (st != STATUS_OK) {
        log_error("cannot start threads", "threads=%u", o->threads);
        for (unsigned i = 0; i < o->threads; i++)
            if (c->fetchers[i] != NULL)
                fetcher_stop(c->fetchers[i]);
        c->thread = 0;
        crawl_free(c);
        return st;
    }
    *out = c;
    return STATUS_OK;
}

void crawl_stop(struct crawl *c)
{
    atomic_fetch_add(&c->stops, 1);
    queue_wake(c->reports);
}

void crawl_pause(struct crawl *c, bool pause)
{
    atomic_store(&c->paused, pause);
    queue_wake(c->reports);
}

enum status crawl_post(struct crawl *c, struct crawl_task *task)
{
    enum status st = task_list_add(&c->tasks, task);

    if (st == STATUS_OK)
        queue_wake(c->reports);
    return st;
}

void crawl_set_limits(struct crawl *c, const struct crawl_limits *l)
{
    c->o.limit_pages = l->limit_pages;
    c->o.quota = l->quota;
    c->o.time_limit = l->time_limit;
    c->o.give_up = l->give_up;
}

const struct fetcher_options *crawl_fetching(const struct crawl *c)
{
    return c->o.fetch;
}

static void performed(struct crawl_task *t)
{
    latch_open(t->waiter);
}

enum status crawl_perform(struct crawl *c, struct crawl_task *t)
{
    struct latch done;
    enum status st;

    latch_init(&done);
    /* cppcheck-suppress autoVariables */
    t->waiter = &done; /* lives until it opens, which we wait for */
    t->done = performed;
    st = crawl_post(c, t);
    if (st == STATUS_OK) {
        latch_wait(&done);
        st = t->status;
    }
    latch_fini(&done);
    return st;
}

bool crawl_wait(struct crawl *c, int64_t timeout_ns,
                struct crawl_result *result)
{
    int64_t until = clock_mono() + timeout_ns;
    bool ended;

    pthread_mutex_lock(&c->mtx);
    while (!c->ended && cond_wait_until(&c->ended_cond, &c->mtx, until))
        ;
    ended = c->ended;
    if (ended)
        *result = c->result;
    pthread_mutex_unlock(&c->mtx);
    return ended;
}

void crawl_free(struct crawl *c)
{
    if (c == NULL)
        return;
    if (c->thread != 0)
        pthread_join(c->thread, NULL);
    if (watchdog_stuck(c->watchdog) > 0)
        return; /* their threads may use any part of it */
    for (unsigned i = 0; i < c->o.threads; i++)
        fetcher_free(c->fetchers[i]);
    in_hand_close(c->in_hand);
    watchdog_free(c->watchdog);
    resolver_free(c->resolver);
    queue_free(c->reports);
    hop_path_free(c->hop_path);
    pthread_cond_destroy(&c->ended_cond);
    pthread_mutex_destroy(&c->mtx);
    task_list_fini(&c->tasks);
    crawl_balance_free(c->balance);
    free(c->fetchers);
    free(c->leases);
    free(c->recent);
    free(c);
}
