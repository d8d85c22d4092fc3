/* SPDX-License-Identifier: MIT */
/*
 * frontier_settle.c - what becomes of a URL and of its host by an outcome:
 * final, or queued again for another try; the host's delay, back-off and
 * counts. In the open transaction, as frontier_ack.c says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"

/*
 * Lines of the log: what became of each URL, and why, for people who look on.
 *
 *   --verbose    fetched  200                  12.3 KiB    45ms  URL
 *   --decisions  retried  timeout              try 2 of 3 in 1.8s  URL
 *                dropped  scope                URL  (on PAGE)
 *                delayed  back_off             2m43s  HOST
 *
 * Here and not in the fetcher: what is the last word on a URL, and how long a
 * host waits, is decided in this folder.
 */
#define LINE_MOST ((size_t)8192)
#define TEXT_MOST 64

/* "fetched  200", "failed   http_404", "fetched  200 truncated_length" */
static void add_outcome(struct buf *line, const char *word, struct outcome o)
{
    char reason[TEXT_MOST], both[TEXT_MOST + 8];

    outcome_reason_text(o, reason, sizeof reason);
    if (o.http_status == 0 || strncmp(reason, "http_", 5) == 0)
        snprintf(both, sizeof both, "%s", reason[0] != '\0' ? reason : "-");
    else
        snprintf(both, sizeof both, "%u%s%s", (unsigned)o.http_status,
                 reason[0] != '\0' ? " " : "", reason);
    buf_addf(line, "%-8s %-20s ", word, both);
}

static void add_padded(struct buf *line, const struct buf *text, int width)
{
    buf_addf(line, "%*s  ", width, buf_str(text));
}

static void put(enum log_level level, struct buf *line)
{
    logger_line(level, buf_bytes(line));
    buf_fini(line);
}

void frontier_log_done(struct bytes url, const struct fetch_row *row,
                       struct outcome o)
{
    struct buf line, text;

    if (!logger_is_on(LOG_LEVEL_INFO))
        return;
    buf_init(&line, LINE_MOST);
    buf_init(&text, TEXT_MOST);
    add_outcome(&line, outcome_status_name(o.status), o);
    format_size(&text, row->wire_bytes);
    add_padded(&line, &text, 9);
    buf_clear(&text);
    format_duration(&text, row->elapsed_ms);
    add_padded(&line, &text, 6);
    buf_add_bytes(&line, url);
    buf_fini(&text);
    put(LOG_LEVEL_INFO, &line);
}

/* Its Crawl-delay is longer than --max-crawl-delay. */
static void frontier_log_cut(const struct frontier *f,
                             const struct host_queue *h, int64_t delay)
{
    struct bytes crawl, key;

    frontier_store_queue_name(f->store, h->queue, &crawl, &key);
    log_warn("a Crawl-delay is cut to --max-crawl-delay",
             "host=%.*s crawl_delay=%gs max_crawl_delay=%gs", (int)key.len,
             key.at, (double)delay / NS_PER_S,
             (double)f->o.schedule.max_crawl_delay / NS_PER_S);
}

/* `tries` were used up; the next is due in `wait` ns. */
static void frontier_log_retry(const struct frontier *f, struct bytes url,
                               struct outcome o, unsigned tries, int64_t wait)
{
    struct buf line;

    if (!logger_is_on(LOG_LEVEL_DEBUG))
        return;
    buf_init(&line, LINE_MOST);
    add_outcome(&line, "retried", o);
    buf_addf(&line, "try %u of %u in ", tries + 1, (unsigned)f->o.tries);
    format_duration(&line, wait / NS_PER_MS);
    buf_add_str(&line, "  ");
    buf_add_bytes(&line, url);
    put(LOG_LEVEL_DEBUG, &line);
}

void frontier_log_drops(struct bytes page, const struct url_done *done)
{
    if (!logger_is_on(LOG_LEVEL_DEBUG))
        return;
    for (size_t i = 0; i < done->drop_count; i++) {
        const struct url_drop *d = &done->drops[i];
        struct buf line;

        buf_init(&line, LINE_MOST);
        buf_addf(&line, "%-8s %-20s ", "dropped",
                 outcome_reason_name(d->reason));
        buf_add_bytes(&line, d->url);
        if (page.len > 0) {
            buf_add_str(&line, "  (on ");
            buf_add_bytes(&line, page);
            buf_add_char(&line, ')');
        }
        put(LOG_LEVEL_DEBUG, &line);
    }
}

/* A host that is left alone. */
static void frontier_log_delay(const struct frontier *f,
                               const struct host_queue *h, int64_t now)
{
    struct bytes crawl, key;
    struct buf line;

    if (!logger_is_on(LOG_LEVEL_DEBUG) || host_trouble(h)->blocked_until <= now)
        return;
    frontier_store_queue_name(f->store, h->queue, &crawl, &key);
    buf_init(&line, LINE_MOST);
    buf_addf(&line, "%-8s %-20s ", "delayed",
             host_trouble(h)->why_blocked != NULL ? host_trouble(h)->why_blocked
                                                  : "-");
    format_duration(&line, (host_trouble(h)->blocked_until - now) / NS_PER_MS);
    buf_add_str(&line, "  ");
    buf_add_bytes(&line, key);
    put(LOG_LEVEL_DEBUG, &line);
}

/* Stores a host's own delay, how long it is blocked, and whether it does not
 * respond. The last is for readers only: a new run asks the host at once. */
enum status frontier_remember(struct frontier *f, const struct host_queue *h,
                              int64_t now, int64_t wall_ms)
{
    struct queue_state s = {
        .delay_ms = h->own_delay >= 0 ? h->own_delay / NS_PER_MS : -1,
        .backoffs = h->backoffs,
        .failures = host_trouble(h)->failures,
        .fetched = host_spent(h)->pages,
        .octets = host_spent(h)->octets,
    };

    _Static_assert(sizeof s.sources == sizeof(struct source_bits),
                   "the store keeps all of them");
    s.linked = host_spent(h)->sources != NULL;
    if (s.linked)
        memcpy(s.sources, host_spent(h)->sources->octet, sizeof s.sources);
    if (host_trouble(h)->blocked_until >
        now) /* 2: both terms were rounded down */
        s.blocked_until_ms =
            wall_ms + (host_trouble(h)->blocked_until - now) / NS_PER_MS + 2;
    if (host_trouble(h)->why_blocked != NULL &&
        host_trouble(h)->blocked_until > now)
        snprintf(s.reason, sizeof s.reason, "%s", host_trouble(h)->why_blocked);
    else
        (void)frontier_reach_reason(h, s.reason, sizeof s.reason);
    return frontier_store_set_queue_state(f->store, h->queue, &s);
}

static bool take_back_off(struct frontier *f, struct host_queue *h,
                          const struct host_news *news)
{
    int64_t after =
        news->retry_after_ms >= 0 ? news->retry_after_ms * NS_PER_MS : -1;
    bool had = h->backoffs > 0;
    struct host_trouble *x;
    int64_t until;

    if (!news->slow_down && after < 0) {
        if (news->ended != 0 && !news->unreachable && h->errors == 0)
            h->backoffs = 0;
        return had && h->backoffs == 0;
    }
    h->backoffs++;
    until = news->ended +
            schedule_backoff(&f->o.schedule, after, h->backoffs, &f->random);
    x = host_trouble_of(h);
    if (until > x->blocked_until) { /* else a person said more */
        x->blocked_until = until;
        x->why_blocked = after >= 0 ? "retry_after" : "back_off";
    }
    return true;
}

/* The number of its connections is known for this run only, while the rows of
 * fetches stay. robots.txt has no row, so the next one says what it took. */
static void note_request(struct host_queue *h, const struct host_news *news)
{
    h->requests++;
    h->connections += news->connections;
    h->handshakes += news->handshake;
    if (news->connections > 0)
        h->connected |= FETCH_ROW_CONNECTED;
    if (news->handshake)
        h->connected |= FETCH_ROW_HANDSHAKE;
}

/* What the row of a fetch says of its connection. */
static uint8_t connection_flags(struct host_queue *h, const struct url_done *d)
{
    uint8_t flags = h->connected;

    h->connected = 0;
    if (d->outcome.http_status != 0 && d->host.ended != 0 &&
        d->host.connections == 0)
        flags |= FETCH_ROW_KEPT;
    return flags;
}

/* A request of one host of a group applies to all its hosts. */
static void tell_machine(struct host_queue *h, const struct host_news *news)
{
    struct politeness_group *m = h->group;

    if (m == NULL)
        return;
    m->next_due = h->next_due;
    if (news->slow_down || news->retry_after_ms >= 0)
        m->blocked_until =
            clock_later(m->blocked_until, host_trouble(h)->blocked_until);
}

enum status frontier_host_news(struct frontier *f, struct host_queue *h,
                               const struct host_news *news, int64_t now,
                               int64_t wall_ms)
{
    bool changed = news->ended == 0 && !news->robots_read;
    bool longer = false;
    enum status st = STATUS_OK;

    if (news->robots_read) {
        int64_t own =
            news->crawl_delay_ms < 0 ? -1 : news->crawl_delay_ms * NS_PER_MS;

        changed |= own != h->own_delay;
        if (own != h->own_delay && own > f->o.schedule.max_crawl_delay)
            frontier_log_cut(f, h, own);
        longer = own > h->own_delay;
        h->own_delay = own;
    }
    /* Its robots.txt stands at another host, which was asked just now; its own
     * request was before that, by the delay of then. */
    if (longer && news->ended == 0 && h->next_due != 0) {
        h->next_due = clock_later(h->next_due, now + frontier_pause(f, h));
        if (h->group != NULL)
            h->group->next_due = clock_later(h->group->next_due, h->next_due);
    }
    if (news->ended != 0) {
        note_request(h, news);
        changed |= take_back_off(f, h, news);
        if (news->slow_down || news->retry_after_ms >= 0)
            frontier_log_delay(f, h, now);
        if (news->http_status != 0)
            h->http_status = news->http_status;
        h->next_due = news->ended + frontier_pause(f, h);
        tell_machine(h, news);
    }
    if (news->robots != NULL)
        st = robots_store_set(f->base->db, news->robots);
    if (st == STATUS_OK && changed) {
        st = frontier_remember(f, h, now, wall_ms);
        f->urgent = true; /* or a crash now would lose it */
    }
    return st;
}

/* A list of URLs, such as a sitemap, leads to pages but is not one. */
bool frontier_counts_as_page(const struct frontier *f, struct outcome o,
                             uint8_t kind)
{
    return outcome_counts_as_page(o) && (f->o.listings >> kind & 1) == 0;
}

void frontier_count_outcome(struct frontier *f, struct outcome o, uint8_t kind,
                            bool back)
{
    const uint64_t by = back ? UINT64_MAX : 1;
    char reason[24], name[64];

    frontier_store_add(f->store, outcome_status_name(o.status), by);
    outcome_reason_text(o, reason, sizeof reason);
    if (reason[0] != '\0') {
        snprintf(name, sizeof name, "%s.%s", outcome_status_name(o.status),
                 reason);
        frontier_store_add(f->store, name, by);
    }
    if (frontier_counts_as_page(f, o, kind))
        frontier_store_add(f->store, "pages", by);
    else if (outcome_counts_as_page(o))
        frontier_store_add(f->store, "sitemaps", by);
    if (o.status == OUTCOME_FAILED && o.reason == REASON_HTTP)
        frontier_store_add(f->store, "http_errors", by);
}

enum status frontier_count_repeat(struct frontier *f,
                                  const struct fetch_row *row, uint64_t by)
{
    bool own = false;
    enum status st = frontier_had_before(f, row, &own);

    if (st != STATUS_OK || own)
        return st;
    if (row->same_as != 0)
        frontier_store_add(f->store, "same_content", by);
    if (row->near_dup_of != 0)
        frontier_store_add(f->store, "near_dup", by);
    return STATUS_OK;
}

static enum status count_outcome(struct frontier *f, struct outcome o,
                                 uint8_t kind, const struct fetch_row *row)
{
    frontier_count_outcome(f, o, kind, false);
    return o.reason != REASON_UNCHANGED && /* it has its own earlier text */
                   o.status == OUTCOME_FETCHED
               ? frontier_count_repeat(f, row, 1)
               : STATUS_OK;
}

void frontier_fill_outcome(struct fetch_row *row, struct outcome o, bool final)
{
    row->final = final;
    row->status = (uint8_t)o.status;
    row->reason = (uint8_t)o.reason;
    row->http_status = o.http_status;
}

enum status frontier_settle(struct frontier *f, uint64_t id, bool seed,
                            uint8_t kind, struct fetch_row *row,
                            struct outcome o)
{
    uint64_t seq;
    enum status st;

    row->url = id;
    frontier_fill_outcome(row, o, true);
    st = frontier_add_fetch(f, row, &seq);
    if (st == STATUS_OK)
        st = frontier_store_done(f->store, id, seq);
    if (st != STATUS_OK)
        return st;
    row->seq = seq;
    if (map_count(f->tries) > 0)
        free(map_remove(f->tries, bytes_of(&id, sizeof id)));
    if (seed && outcome_fails_seed(o))
        frontier_store_add(f->store, "seeds_failed", 1);
    st = count_outcome(f, o, kind, row);
    return st == STATUS_OK ? frontier_keep_row(f, row, o, kind) : st;
}

/* Not final: queues the URL for another try. */
static enum status try_again(struct frontier *f, struct lease_record *l,
                             struct fetch_row *row, struct outcome o,
                             int64_t now, int64_t wall_ms)
{
    uint64_t id = l->lease.id, seq;
    int64_t wait = schedule_retry(&f->o.schedule, row->tries, &f->random);
    struct tries_entry *t;
    enum status st;

    row->url = id;
    frontier_fill_outcome(row, o, false);
    frontier_log_retry(f, l->lease.url, o, row->tries, wait);
    frontier_store_add(f->store, "retries", 1);
    st = frontier_add_fetch(f, row, &seq);
    if (st == STATUS_OK && url_life_after(l->life, LIFE_RETRY) == LIFE_DUE)
        return frontier_refresh_later(f, l, row->tries,
                                      wall_ms + wait / NS_PER_MS);
    t = xcalloc(1, sizeof *t);
    t->tries = row->tries;
    t->due = now + wait;
    free(map_put(f->tries, bytes_of(&id, sizeof id), t));
    host_queue_retry(l->host, id, t->due);
    if (st == STATUS_OK)
        st = frontier_store_set_tries(f->store, id, row->tries,
                                      wall_ms + wait / NS_PER_MS);
    return st;
}

/* Its request found nobody: it goes behind those that have not, and has used up
 * no try. Of many such requests only some have a row: 1, 2, 4, 8 ... */
static enum status wait_for_host(struct frontier *f, struct lease_record *l,
                                 struct fetch_row *row, struct outcome o,
                                 int64_t wall_ms)
{
    uint32_t n = host_trouble(l->host)->failures;
    uint64_t seq;
    enum status st = STATUS_OK;

    if (url_life_after(l->life, LIFE_GIVE_BACK) == LIFE_DUE)
        st = frontier_refresh_later(f, l, l->refresh.tries, wall_ms);
    else
        host_queue_retry(l->host, l->lease.id,
                         host_trouble(l->host)->silent_until == INT64_MAX
                             ? 0
                             : host_trouble(l->host)->silent_until +
                                   f->o.schedule.retry_delay);
    if (st != STATUS_OK || (n & (n - 1)) != 0)
        return st;
    row->url = l->lease.id;
    frontier_fill_outcome(row, o, false);
    frontier_store_add(f->store, "retries", 1);
    return frontier_add_fetch(f, row, &seq);
}

/* Walks back from a URL over the redirects that led to it. *loop: `target` is
 * one of them. *from_seed: the first of them is a seed. */
static enum status walk_chain(struct frontier *f, const struct lease_record *l,
                              uint64_t target, bool *loop, bool *from_seed)
{
    struct url_row row = {.id = l->lease.id,
                          .hops = l->lease.hops,
                          .via = l->via,
                          .flags = l->lease.seed ? URL_ROW_SEED : 0};
    enum status st = STATUS_OK;

    *loop = row.id == target;
    while (st == STATUS_OK && row.hops > 0 && row.via != 0) {
        st = frontier_store_get(f->store, row.via, &row, &f->text);
        *loop |= st == STATUS_OK && row.id == target;
    }
    *from_seed = (row.flags & URL_ROW_SEED) != 0;
    return st;
}

#define SURE_TRIES  2 /* of a URL whose first one does not tell, at least */
#define REACH_TRIES 3 /* of a URL whose host responds to others, at least */

/* Sets the outcome of a redirect, which depends on its target's id. *again: the
 * target was asked before, and has to be asked once more. A URL that is asked at
 * its date may be led to itself, too, by a wall whose session has ended. */
static enum status follow_redirect(struct frontier *f,
                                   const struct lease_record *l,
                                   const struct url_done *done, uint64_t target,
                                   struct outcome *o, struct fetch_row *row,
                                   bool *again)
{
    bool loop = false, from_seed = false;
    enum status st = STATUS_OK;

    if (done->outlink_count > 0 && target == 0)
        st = exact_set_find(f->base->exact, &done->outlinks[0].digest, 1,
                            &target);
    if (st == STATUS_OK)
        st = walk_chain(f, l, target, &loop, &from_seed);
    if (st != STATUS_OK)
        return st;
    *again = loop && target != 0 && done->anew && o->reason == REASON_NONE &&
             (l->life == LIFE_LEASED ||
              (target == l->lease.id && row->tries < SURE_TRIES));
    if (loop && target != 0 && !*again)
        o->reason = REASON_REDIRECT_LOOP;
    if (from_seed && !l->lease.seed && outcome_fails_seed(*o))
        frontier_store_add(f->store, "seeds_failed", 1);
    row->redirect_to = target;
    return STATUS_OK;
}

/* Queues a URL of the redirect chain that `l` ends again, as the chain's next
 * step, so that --max-redirects ends it. Its own redirect is no end then. */
static enum status ask_again(struct frontier *f, const struct lease_record *l,
                             uint64_t id, int64_t now, int64_t wall_ms)
{
    const struct outcome was = {.status = OUTCOME_REDIRECT};
    struct url_row row;
    bool back;
    enum status st = frontier_store_get(f->store, id, &row, &f->text);

    row.hops = (uint16_t)(l->lease.hops + 1);
    row.via = l->lease.id;
    return st == STATUS_OK ? frontier_readmit(f, &row, was, now, wall_ms, &back)
                           : st;
}

/* Is it an error of the host? Network errors count as well. */
static bool is_error(struct outcome o)
{
    return o.http_status >= 500 ||
           (o.status == OUTCOME_FAILED &&
            (o.reason == REASON_TIMEOUT || o.reason == REASON_RESET));
}

/* A moving average, mostly of the last eight responses. */
static void smooth(uint32_t *mean_us, uint32_t ms)
{
    uint64_t us = (uint64_t)ms * 1000 + 1; /* 0 is "none yet" */

    us = *mean_us == 0 ? us : ((uint64_t)*mean_us * 7 + us) / 8;
    *mean_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

static void note_latency(struct host_queue *h, const struct fetch_row *row)
{
    h->answers++;
    smooth(&h->latency_us, row->elapsed_ms);
    smooth(&h->first_us, row->first_byte_ms);
}

/* A URL that fails again says nothing new of its host: so that one that always
 * fails holds up no other, only first tries are counted. */
static void note_errors(struct host_queue *h, struct outcome o, uint8_t tries)
{
    if (!is_error(o))
        h->errors = 0;
    else if (tries == 1 && h->errors < UINT32_MAX)
        h->errors++;
}

enum status frontier_settle_reach(struct frontier *f, struct host_queue *h,
                                  const struct host_news *news,
                                  struct outcome how, int64_t now,
                                  int64_t wall_ms)
{
    return frontier_note_reach(f, h, news, how)
               ? frontier_remember(f, h, now, wall_ms)
               : STATUS_OK;
}

/* An origin that fails as often in a row as a URL has tries is dead: its first
 * URL has used up all of its own by then. Failures of requests that were out
 * together count once. */
static void note_origin(struct frontier *f, const struct lease_record *l,
                        const struct url_done *d, bool counts)
{
    struct host_queue *h = l->host;

    if (!d->host.unreachable && d->host.ended != 0)
        host_origin_responds(h, l->lease.url);
    else if (counts && host_origin_fails(h, l->lease.url, f->o.tries,
                                         d->outcome, (uint8_t)d->row.flags))
        frontier_reach_again(h); /* for its other origins */
}

static bool redirects(const struct url_done *d)
{
    return d->outcome.status == OUTCOME_REDIRECT && d->outlink_count > 0;
}

/* The URL was never fetched before. */
static enum status end_first_fetch(struct frontier *f, struct lease_record *l,
                                   const struct url_done *d,
                                   struct fetch_row *row,
                                   const struct admission *links, size_t n)
{
    struct outcome o = d->outcome;
    bool known = false;
    enum status st =
        frontier_settle(f, d->id, l->lease.seed, l->lease.kind, row, o);

    if (st == STATUS_OK)
        st = frontier_keep_page(f, d);
    if (st == STATUS_OK)
        st = frontier_keep_guess(f, d, l);
    if (st == STATUS_OK)
        st = frontier_had_before(f, row, &known);
    if (st == STATUS_OK)
        st = frontier_refresh_date(f, l->lease.queue, l->lease.kind, row, o,
                                   d->fresh_ms);
    if (st != STATUS_OK)
        return st;
    if (!known) /* else it was evidence then */
        frontier_trap_page(f, &l->lease, d, row, links, n);
    return frontier_count_done(f, l->host);
}

/* It was fetched before. With --refresh it will be again, and what is followed
 * by then is found. */
static enum status end_refresh(struct frontier *f, struct lease_record *l,
                               const struct url_done *d, struct fetch_row *row)
{
    enum status st = frontier_refresh_settle(f, l, row, d->outcome);

    return st == STATUS_OK && f->o.refresh.every_ms == 0 &&
                   d->outcome.reason != REASON_UNCHANGED
               ? frontier_keep_page(f, d)
               : st;
}

enum status frontier_settle_page(struct frontier *f, struct url_done *d,
                                 const struct admission *links, size_t n,
                                 const struct link_range *rows, int64_t now,
                                 int64_t wall_ms)
{
    struct lease_record *l = lease_find(f->leases, d->id);
    struct host_news news = d->host, reach = d->host;
    struct fetch_row row = d->row;
    struct outcome o = d->outcome;
    struct host_queue *h;
    enum status st = STATUS_OK;
    uint32_t tries = f->o.tries;
    bool silent, last, more, repeats, again = false;
    uint32_t failures;

    if (l == NULL) {
        log_warn("acknowledged a URL that was not leased", "id=%llu",
                 (unsigned long long)d->id);
        return STATUS_OK;
    }
    h = l->host;
    if (l->asked != NULL) /* another host, and its own has said to ask that */
        reach.silent = false;
    silent = reach.unreachable && reach.silent;
    row.tries = (uint8_t)(l->lease.tries + 1 < 255 ? l->lease.tries + 1 : 255);
    if (o.status == OUTCOME_REDIRECT)
        st = follow_redirect(f, l, d, redirects(d) && n > 0 ? links[0].id : 0,
                             &o, &row, &again);
    d->outcome = o;
    if (st == STATUS_OK)
        st = frontier_cross_host_end(f, l, &news, now, wall_ms);
    if (news.ended != 0 && !d->host.unreachable)
        note_errors(h, o, row.tries);
    if (o.http_status != 0)
        note_latency(h, &row);
    politeness_group_give_back(h);
    if (st == STATUS_OK)
        st = frontier_host_news(f, h, &news, now, wall_ms);
    row.flags |= connection_flags(h, d);
    if (st == STATUS_OK && f->o.group == QUEUE_KEY_IP && news.ended != 0)
        st = frontier_answered_from(f, h, row.ip, now);
    failures = host_trouble(h)->failures;
    if (st == STATUS_OK)
        st = frontier_settle_reach(f, h, &reach, o, now, wall_ms);
    if (silent && host_trouble(h)->failures == 1 && h->answers > 0) {
        /* Maybe a port or scheme of its own that nobody answers at, on a host
         * that does: it uses up a try, but has some, as the host may restart.
         */
        silent = false;
        tries = tries > REACH_TRIES ? tries : REACH_TRIES;
    } else if (!silent && !d->unsure) {
        /* What is unsure may have its own port. */
        note_origin(f, l, d, host_trouble(h)->failures > failures);
    }
    if (d->unsure && tries < SURE_TRIES)
        tries = SURE_TRIES;
    more = again && l->life == LIFE_AGAIN;
    last = frontier_is_removed(h, d->id) ||
           (!silent && !more && (!d->transient || row.tries >= tries));
    if (st == STATUS_OK && last && outcome_is_not_modified(o))
        st = frontier_take_last(f, &l->lease, &row);
    repeats = o.reason == REASON_UNCHANGED || outcome_is_not_modified(o);
    if (last && frontier_has_same_text(f, &l->lease, &row, o))
        d->outcome.reason = o.reason = REASON_UNCHANGED;
    if (st == STATUS_OK && last)
        st = l->life == LIFE_AGAIN ? end_refresh(f, l, d, &row)
                                   : end_first_fetch(f, l, d, &row, links, n);
    else if (st == STATUS_OK && silent)
        st = wait_for_host(f, l, &row, o, wall_ms);
    else if (st == STATUS_OK)
        st = try_again(f, l, &row, o, now, wall_ms);
    if (st == STATUS_OK && last)
        row.seq = page_store_last_seq(f->pages);
    if (st == STATUS_OK && last && again)
        st = ask_again(f, l, row.redirect_to, now, wall_ms);
    if (st == STATUS_OK && last && repeats)
        st = frontier_note_unchanged(f, &l->lease, &row, rows->first != 0);
    if (st == STATUS_OK && rows->first != 0) /* the next try brings its own */
        st = last ? link_store_set_page(f->links, row.seq, rows)
                  : link_store_drop(f->links, rows);
    if (st == STATUS_OK && last)
        frontier_log_done(l->lease.url, &row, o);
    if (st == STATUS_OK && l->life == LIFE_LEASED &&
        frontier_budget_counts(f)) {
        bool page = last && frontier_counts_as_page(f, o, l->lease.kind);

        frontier_budget_spend(f, h, page, row.wire_bytes);
        st = frontier_remember(f, h, now, wall_ms);
    }
    frontier_store_add(f->store, "bytes", row.wire_bytes);
    if (st == STATUS_OK)
        st = frontier_take_drops(f, d, wall_ms);
    external_end_lease(f, l);
    h->refreshing -= l->life == LIFE_AGAIN;
    lease_end(f->leases, l);
    frontier_reschedule(f, h);
    f->uncommitted++;
    return st;
}
