/* SPDX-License-Identifier: MIT */
/* crawl_stats.c - the state of a crawl, for progress and monitors. */
#include "crawler/crawl_stats.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/histogram.h"
#include "crawler/crawl_impl.h"
#include "crawler/fetcher.h"
#include "storage/frontier_store.h"

/* ---- the counters of a crawl: one table ---- */

/*
 * Every list of counters has this order. JSON names are bare nouns; metrics
 * follow Prometheus' rules and so end in a unit and, if they are sums, in
 * _total. tests/cli/counters.sh compares all places that show a counter.
 */

#define COUNTS(x)   offsetof(struct crawl_stats, counts.x)
#define FRONTIER(x) offsetof(struct crawl_stats, frontier.x)
#define FETCH(x)    offsetof(struct crawl_stats, x)

/* clang-format off */
const struct crawl_counter crawl_counters[CRAWL_COUNTERS] = {
    {"pages", "pages", "URLs",
     "URLs that count for --limit: fetched, and 4xx and 5xx after all tries",
     COUNTER_CRAWL, false, "pages_total", NULL, NULL, COUNTS(pages)},
    {"sitemaps", "sitemaps", "URLs",
     "sitemaps with a response that would count as a page's: fetched, and 4xx "
     "and 5xx after all tries",
     COUNTER_CRAWL, true, "sitemaps_total", NULL, NULL, COUNTS(sitemaps)},
    {"fetched", "fetched", "URLs", "URLs whose response was read: pages, sitemaps, assets",
     COUNTER_CRAWL, false, "urls_done_total", "status", "fetched",
     COUNTS(fetched)},
    {"checked", "of them only checked", "URLs",
     "fetched URLs that were only asked for, to see whether they are there "
     "(--check, --check-external)",
     COUNTER_CRAWL, true, "checked_total", NULL, NULL, COUNTS(checked)},
    {"redirects", "redirects", "URLs", "URLs that redirect",
     COUNTER_CRAWL, false, "urls_done_total", "status", "redirect",
     COUNTS(redirects)},
    {"failed", "failed", "URLs", "URLs that failed after all tries",
     COUNTER_CRAWL, false, "urls_done_total", "status", "failed",
     COUNTS(failed)},
    {"http_errors", "of them 4xx and 5xx", "URLs",
     "failed URLs that had a response: 4xx and 5xx after all tries",
     COUNTER_CRAWL, true, "http_errors_total", NULL, NULL,
     COUNTS(http_errors)},
    {"denied", "denied", "URLs", "URLs that robots.txt denies",
     COUNTER_CRAWL, false, "urls_done_total", "status", "denied",
     COUNTS(denied)},
    {"skipped", "skipped", "URLs", "URLs that a rule or a person excluded",
     COUNTER_CRAWL, false, "urls_done_total", "status", "skipped",
     COUNTS(skipped)},
    {"retries", "retries", "tries", "tries that were not the last",
     COUNTER_CRAWL, false, "retries_total", NULL, NULL, FRONTIER(retries)},
    {"urls", "URLs admitted", "URLs", "URLs admitted",
     COUNTER_CRAWL, false, "urls_admitted_total", NULL, NULL, COUNTS(urls)},
    {"queued", "queued", "URLs", "URLs not done, leased ones included",
     COUNTER_STATE, false, "queued_urls", NULL, NULL, COUNTS(queued)},
    {"over_budget", "over a budget", "URLs",
     "queued URLs that wait until a limit or budget of their host or registrable "
     "domain is raised", COUNTER_STATE, true, "over_budget_urls", NULL, NULL,
     COUNTS(withheld)},
    {"leased", NULL, "URLs", "URLs leased to fetchers and other programs",
     COUNTER_LIVE, false, "leased_urls", NULL, NULL, COUNTS(leased)},
    {"dated", "URLs with a date", "URLs",
     "done URLs that are fetched again at a date (--refresh)",
     COUNTER_STATE, false, "dated_urls", NULL, NULL, COUNTS(dated)},
    {"overdue", NULL, "URLs",
     "of these, not fetched a minute after their date; after a start, of those "
     "counted so far", COUNTER_LIVE, false, "overdue_urls", NULL, NULL,
     COUNTS(overdue)},
    {"overdue_seconds", NULL, "seconds",
     "since the date of the oldest of these, to the minute", COUNTER_LIVE,
     false, "oldest_overdue_seconds", NULL, NULL, COUNTS(overdue_for)},
    {"rated", "whose changes are known", "URLs",
     "URLs with a date of which fetches have told how often they change",
     COUNTER_STATE, true, "rated_urls", NULL, NULL, COUNTS(rated)},
    {"fresh", "of them up to date", "URLs",
     "of these, as many as are up to date at a moment, estimated from how "
     "often they change and are fetched", COUNTER_STATE, true, "fresh_urls",
     NULL, NULL, COUNTS(fresh)},
    {"refreshed", "refreshed", "fetches",
     "final outcomes of URLs that were fetched again",
     COUNTER_CRAWL, true, "refreshed_total", NULL, NULL, COUNTS(refreshed)},
    {"changed", "changed", "fetches",
     "of these, with another body, status or target than the last one",
     COUNTER_CRAWL, true, "refreshed_changed_total", NULL, NULL,
     COUNTS(changed)},
    {"gone", "gone", "URLs",
     "URLs not asked again: 404 or 410 three times in a row", COUNTER_CRAWL,
     true, "gone_total", NULL, NULL, COUNTS(gone)},
    {"history_removed", "old fetches removed", "fetches",
     "old fetches of pages, tries included, that --keep-history removed",
     COUNTER_CRAWL, true, "history_removed_total", NULL, NULL,
     COUNTS(history_removed)},
    {"hosts", "hosts", "hosts", "hosts known (queue keys, with --queue-key)",
     COUNTER_STATE, false, "hosts", NULL, NULL, COUNTS(queues)},
    {"hosts_active", "hosts active", "hosts", "hosts with URLs that are not done",
     COUNTER_STATE, false, "active_hosts", NULL, NULL, COUNTS(queues_active)},
    {"hosts_ready", NULL, "hosts",
     "hosts that could be asked now; of more than 20,000 hosts, this and the "
     "next two are counted 20,000 a second and shown when all have been",
     COUNTER_LIVE, false, "ready_hosts", NULL, NULL, FRONTIER(hosts.ready)},
    {"hosts_blocked", NULL, "hosts",
     "hosts held back by Retry-After, by back-off, by a person, or because "
     "they do not respond",
     COUNTER_LIVE, false, "blocked_hosts", NULL, NULL, FRONTIER(hosts.blocked)},
    {"hosts_dead", NULL, "hosts",
     "hosts given up in this run: they did not respond for --give-up, or "
     "responded, but not so that its URLs could be fetched, --tries times "
     "in a row",
     COUNTER_LIVE, false, "dead_hosts", NULL, NULL, FRONTIER(hosts.dead)},
    {"given", "URLs given", "URLs",
     "new or blocked URLs that no response revealed: seeds, guessed sitemaps, "
     "URLs put by other programs",
     COUNTER_CRAWL, false, "given_urls_total", NULL, NULL, COUNTS(given)},
    {"returned", "links let in later", "links",
     "links that were dropped, and let in when a setting was widened",
     COUNTER_CRAWL, true, "returned_links_total", NULL, NULL,
     COUNTS(returned)},
    {"links", "links found", "links",
     "links that responses revealed, repeats included: those of pages, "
     "sitemaps, feeds and robots.txt, and where redirects lead",
     COUNTER_CRAWL, false, "links_total", NULL, NULL, COUNTS(links)},
    {"duplicates", "duplicates", "links",
     "links to URLs seen before, on the same page or in the crawl",
     COUNTER_CRAWL, false, "duplicate_links_total", NULL, NULL,
     COUNTS(duplicates)},
    {"dropped", "dropped links", "links", "links dropped before admission",
     COUNTER_CRAWL, false, "dropped_links_total", "reason", NULL,
     COUNTS(dropped)},
    {"drops_kept", NULL, "drops",
     "dropped links, URLs that ended without being read, and pages with links "
     "of kinds that are not followed, as far as a setting may let them in",
     COUNTER_STATE, false, "kept_drops", NULL, NULL, COUNTS(drops_kept)},
    {"drops_lost", "drops without room", "drops",
     "drops of that kind that found no room (--keep-dropped)", COUNTER_CRAWL,
     true, "lost_drops_total", NULL, NULL, COUNTS(drops_lost)},
    {"bytes", "bytes received", "octets",
     "octets of the responses to URLs, heads included",
     COUNTER_CRAWL, false, "response_bytes_total", NULL, NULL, COUNTS(bytes)},
    {"same_content", "same body as before", "URLs",
     "fetched pages whose body had been seen before",
     COUNTER_CRAWL, false, "same_content_total", NULL, NULL,
     FRONTIER(same_content)},
    {"traps", "traps found", "traps",
     "families of URLs that --traps told to be endless",
     COUNTER_CRAWL, true, "traps_total", NULL, NULL, FRONTIER(traps)},
    {"near_dup", "nearly the text of another", "URLs",
     "fetched pages whose text is nearly that of an earlier one (--near-dup)",
     COUNTER_CRAWL, false, "near_dup_total", NULL, NULL, FRONTIER(near_dup)},
    {"seen_in_batch", NULL, "links",
     "answers of the seen check: seen, a repeat in its batch",
     COUNTER_CRAWL, false, "seen_checks_total", "answer", "in_batch",
     FRONTIER(in_batch)},
    {"seen_hot", NULL, "links",
     "answers of the seen check: seen, known from the hot cache",
     COUNTER_CRAWL, false, "seen_checks_total", "answer", "hot", FRONTIER(hot)},
    {"certainly_new", NULL, "links",
     "answers of the seen check: new, as the filter said",
     COUNTER_CRAWL, false, "seen_checks_total", "answer", "certainly_new",
     FRONTIER(certainly_new)},
    {"maybe_seen", NULL, "links",
     "answers of the seen check: the filter said \"maybe\", and it was seen",
     COUNTER_CRAWL, false, "seen_checks_total", "answer", "maybe_seen",
     FRONTIER(maybe_seen)},
    {"false_positives", "false positives caught", "links",
     "answers of the seen check: the filter said \"maybe\", but it was new",
     COUNTER_CRAWL, false, "seen_checks_total", "answer", "false_positive",
     FRONTIER(false_positives)},
    {"filter_unsure", "filter out of reach", "links",
     "answers of the seen check: left to the exact set, because the filter in "
     "Redis was out of reach or being filled",
     COUNTER_CRAWL, true, "seen_checks_total", "answer", "unsure",
     FRONTIER(unsure)},
    {"blocklist_false_positives", "blocklist too strict", "URLs",
     "URLs that --block-filter called blocked and --block-exact let in",
     COUNTER_CRAWL, true, "blocklist_false_positives_total", NULL, NULL,
     FRONTIER(blocklist_false_positives)},
    {"blocklist_unsure", "blocklist out of reach", "URLs",
     "URLs asked while a --block-filter in Redis was out of reach",
     COUNTER_CRAWL, true, "blocklist_unsure_total", NULL, NULL,
     FRONTIER(blocklist_unsure)},
    {"digest_collisions", "digest collisions", "URLs",
     "with --compare-text, URLs whose digest belonged to another URL",
     COUNTER_CRAWL, true, "digest_collisions_total", NULL, NULL,
     FRONTIER(digest_collisions)},
    {"seeds", "seeds", "URLs", "seeds given, each counted once",
     COUNTER_STATE, false, "seeds", NULL, NULL, COUNTS(seeds)},
    {"seeds_failed", "seeds failed", "URLs",
     "seeds that could not be fetched",
     COUNTER_STATE, false, "failed_seeds", NULL, NULL, COUNTS(seeds_failed)},
    {"requests", NULL, "requests",
     "requests sent, each try and each robots.txt; the metric counts them when "
     "they end",
     COUNTER_RUN, false, "requests_total", "result", NULL, FETCH(requests)},
    {"transfers", NULL, "requests", "requests under way",
     COUNTER_LIVE, false, "transfers", NULL, NULL, FETCH(active)},
    {"transfers_most", NULL, "requests",
     "requests that may be under way now: --concurrency, or what auto allows",
     COUNTER_LIVE, false, "transfers_most", NULL, NULL, FETCH(transfers_most)},
    {"connections_open", NULL, "connections",
     "connections open now, idle ones included", COUNTER_LIVE, false,
     "open_connections", NULL, NULL, FETCH(connections_open)},
    {"connections", NULL, "connections", "connections opened",
     COUNTER_RUN, false, "connections_opened_total", NULL, NULL,
     FETCH(connections)},
    {"handshakes", NULL, "handshakes", "TLS handshakes, resumed ones included",
     COUNTER_RUN, false, "tls_handshakes_total", NULL, NULL, FETCH(handshakes)},
    {"handshakes_resumed", NULL, "handshakes",
     "TLS handshakes that resumed a session", COUNTER_RUN, false,
     "tls_handshakes_resumed_total", NULL, NULL, FETCH(handshakes_resumed)},
    {"received_bytes", NULL, "octets",
     "octets received, heads and robots.txt included",
     COUNTER_RUN, false, "received_bytes_total", NULL, NULL,
     FETCH(wire_bytes)},
    {"fetchers_stuck", NULL, "fetchers",
     "fetchers that are stuck on a URL; see docs/operating.md",
     COUNTER_LIVE, false, "stuck_fetchers", NULL, NULL, FETCH(stuck)},
    {"memory_bytes", NULL, "octets",
     "memory that the frontier holds: the next five",
     COUNTER_LIVE, false, "memory_bytes", NULL, NULL, FETCH(memory.all)},
    {"memory_filter", NULL, "octets", "memory of the filter",
     COUNTER_LIVE, false, "memory_filter_bytes", NULL, NULL,
     FETCH(memory.filter)},
    {"memory_hot", NULL, "octets", "memory of the seen check's hot cache",
     COUNTER_LIVE, false, "memory_hot_bytes", NULL, NULL, FETCH(memory.hot)},
    {"memory_exact", NULL, "octets",
     "memory of the exact set and the indexes of bodies and near-duplicates: "
     "fences, cached pages, new digests",
     COUNTER_LIVE, false, "memory_exact_bytes", NULL, NULL,
     FETCH(memory.exact)},
    {"memory_database", NULL, "octets", "memory of SQLite's cache",
     COUNTER_LIVE, false, "memory_database_bytes", NULL, NULL,
     FETCH(memory.database)},
    {"memory_queues", NULL, "octets", "memory of queues and hosts",
     COUNTER_LIVE, false, "memory_queues_bytes", NULL, NULL,
     FETCH(memory.queues)},
    {"memory_bodies", NULL, "octets", "memory of bodies under way",
     COUNTER_LIVE, false, "memory_bodies_bytes", NULL, NULL, FETCH(bodies)},
};

/* What always holds of the numbers of one moment. */
const struct crawl_sum crawl_sums[CRAWL_SUMS] = {
    {"urls = fetched + redirects + failed + denied + skipped + queued",
     "each URL admitted is queued, or is done in one way"},
    {"urls = given + links + returned - duplicates - dropped",
     "each URL admitted was given, or is the first link to it"},
    {"pages + sitemaps + checked = fetched + http_errors",
     "each response that stood is that of a page or of a sitemap, or of a "
     "check"},
};

/* clang-format on */

const char *counter_kind_name(enum counter_kind kind)
{
    static const char *const names[COUNTER_KINDS] = {
        [COUNTER_CRAWL] = "crawl",
        [COUNTER_RUN] = "run",
        [COUNTER_STATE] = "state",
        [COUNTER_LIVE] = "live",
    };

    return names[kind];
}

uint64_t crawl_counter_value(const struct crawl_counter *c,
                             const struct crawl_stats *s)
{
    return *(const uint64_t *)(const void *)((const char *)s + c->at);
}

uint64_t crawl_counter_of_frontier(const struct crawl_counter *c,
                                   const struct frontier_stats *w)
{
    size_t at = c->at - offsetof(struct crawl_stats, frontier);

    assert(at < sizeof *w);
    return *(const uint64_t *)(const void *)((const char *)w + at);
}

bool crawl_counter_is_stored(const struct crawl_counter *c)
{
    return c->kind == COUNTER_CRAWL || c->kind == COUNTER_STATE;
}

void crawl_stats_of_store(const struct frontier_store *store,
                          struct crawl_stats *out)
{
    uint32_t queues = frontier_store_queue_count(store);

    frontier_counts_of_store(store, &out->counts);
    frontier_stats_of_store(store, &out->frontier);
    for (uint32_t q = 1; q <= queues; q++)
        out->counts.queues_active += frontier_store_pending(store, q) > 0;
}

/* ---- the state of a crawl, for progress and monitors ---- */

#define STATS_INTERVAL  (100 * NS_PER_MS)
#define ENGINE_INTERVAL NS_PER_S
#define HOSTS_MOST      32 /* hosts searched for the reason */

/* ---- the latest answers ---- */

/* Copies as many whole UTF-8 characters of `s` as fit. */
static void keep_text(char *to, size_t size, struct bytes s)
{
    size_t n = s.len < size - 1 ? s.len : size - 1;

    while (n > 0 && n < s.len && ((unsigned char)s.at[n] & 0xc0) == 0x80)
        n--;
    if (n > 0)
        memcpy(to, s.at, n);
    to[n] = '\0';
}

void crawl_remember(struct crawl *c, const struct url_done *d)
{
    struct bytes url = frontier_leased_url(c->frontier, d->id);
    struct crawl_answer *a;

    pthread_mutex_lock(&c->mtx);
    a = &c->recent[c->answers++ % CRAWL_RECENT];
    a->at_ms = d->row.at_ms;
    a->outcome = d->outcome;
    a->elapsed_ms = d->row.elapsed_ms;
    a->bytes = d->row.wire_bytes;
    keep_text(a->url, sizeof a->url, url);
    keep_text(a->title, sizeof a->title, d->row.title);
    pthread_mutex_unlock(&c->mtx);
}

void crawl_set_outcome(struct crawl *c, uint64_t nth, struct outcome o)
{
    pthread_mutex_lock(&c->mtx);
    if (c->answers - nth <= CRAWL_RECENT)
        c->recent[nth % CRAWL_RECENT].outcome = o;
    pthread_mutex_unlock(&c->mtx);
}

size_t crawl_recent(struct crawl *c, struct crawl_answer *out, size_t most)
{
    size_t n = 0;

    pthread_mutex_lock(&c->mtx);
    for (; n < most && n < CRAWL_RECENT && n < c->answers; n++)
        out[n] = c->recent[(c->answers - 1 - n) % CRAWL_RECENT];
    pthread_mutex_unlock(&c->mtx);
    return n;
}

/* ---- the stats ---- */

/* Takes the frontier's stats again if they are a second old, when the last URL is
 * done, and at the end, when no fetcher is left. */
static void update_frontier(struct crawl *c, int64_t now, uint64_t queued)
{
    bool last_done = queued == 0 && c->frontier_queued > 0;

    if (c->frontier_at != 0 && c->gone < c->o.threads && !last_done &&
        now - c->frontier_at < ENGINE_INTERVAL)
        return;
    frontier_get_stats(c->frontier, now, &c->frontier_stats);
    c->memory = frontier_get_memory(c->frontier); /* SQLite adds up its own */
    c->frontier_at = now;
    c->frontier_queued = queued;
}

static void update_rates(struct crawl *c, const struct frontier_counts *s,
                         int64_t now)
{
    int64_t ms = (now - c->rated_at) / NS_PER_MS;

    if (c->rated_at != 0 && now - c->rated_at < ENGINE_INTERVAL)
        return;
    if (c->rated_at != 0) {
        rate_follow(&c->pages_rate, frontier_counts_fetches(&c->counted),
                    frontier_counts_fetches(s), ms);
        rate_follow(&c->bytes_rate, c->counted.bytes, s->bytes, ms);
    }
    c->counted = *s;
    c->rated_at = now;
}

/* True: the host is among the first in that order, and *w is filled in. */
static bool find_why(struct crawl *c, enum host_order by,
                     struct crawl_standstill *w, int64_t now)
{
    struct host_report rows[HOSTS_MOST];
    bool all;
    size_t n = frontier_hosts(c->frontier, by, HOSTS_MOST, now, rows, &all);

    for (size_t i = 0; i < n; i++)
        if (bytes_is(rows[i].host, w->host)) {
            w->why = rows[i].why;
            w->http_status = rows[i].http_status;
            return true;
        }
    return false;
}

/* Finds out why the host that the crawl waits for is not asked. The frontier
 * searches all hosts, so this runs at most once a second. */
static void ask_why(struct crawl *c, struct crawl_standstill *w, int64_t now)
{
    if (strcmp(c->standstill.host, w->host) == 0 &&
        now - c->asked_why_at < ENGINE_INTERVAL) {
        w->why = c->standstill.why;
        w->http_status = c->standstill.http_status;
        return;
    }
    c->asked_why_at = now;
    if (!find_why(c, HOSTS_BLOCKED, w, now))
        (void)find_why(c, HOSTS_BIGGEST, w, now);
}

static void update_standstill(struct crawl *c, const struct frontier_counts *s,
                              int64_t now)
{
    struct crawl_standstill w = {.why = ""};
    struct bytes host = {"", 0};
    int64_t due = now;

    if (c->end != CRAWL_RUNNING)
        return; /* what it waited for last is worth knowing */
    if (c->out == 0 && s->queued > 0 && !atomic_load(&c->paused))
        due = frontier_next_due(c->frontier, now, &host);
    if (due != INT64_MAX && due - now >= NS_PER_S && host.len > 0) {
        keep_text(w.host, sizeof w.host, host);
        w.ns = due - now;
        ask_why(c, &w, now);
    }
    c->standstill = w;
}

/* Adds up what the fetchers count; returns their open connections. */
static struct open_connections {
    uint64_t tls, plain;
} count_fetchers(struct crawl *c, struct crawl_stats *s)
{
    struct open_connections open = {0, 0};

    for (unsigned i = 0; i < c->o.threads; i++) {
        const struct fetcher_counters *k = fetcher_counters(c->fetchers[i]);

        s->active += atomic_load(&k->active);
        s->requests += atomic_load(&k->requests);
        s->wire_bytes += atomic_load(&k->wire_bytes);
        s->connections += atomic_load(&k->connections.opened);
        s->handshakes_resumed += atomic_load(&k->connections.resumed);
        s->handshakes += atomic_load(&k->connections.full);
        open.tls += atomic_load(&k->connections.tls);
        open.plain += atomic_load(&k->connections.plain);
        fetch_stats_add(fetcher_fetch_counters(c->fetchers[i]), &s->fetches);
    }
    s->handshakes += s->handshakes_resumed;
    s->connections_open = open.tls + open.plain;
    return open;
}

/* Divides memory between transfers and bodies, for as many connections as there
 * are now. */
static void divide_memory(struct crawl *c, const struct crawl_stats *s,
                          struct open_connections open)
{
    struct body_pool *bodies = c->o.fetch->bodies;
    uint64_t excess;
    size_t most;

    if (c->o.connections == NULL)
        return;
    connection_budget_update(c->o.connections, s->memory.all);
    if (!c->o.auto_concurrency)
        return;
    most = connection_budget_transfers(c->o.connections, open.tls, open.plain,
                                       body_pool_size(bodies));
    c->in_force = most < c->o.concurrency ? most : c->o.concurrency;
    excess = connection_budget_excess(c->o.connections, open.tls, open.plain,
                                      s->active);
    if (excess > c->charged)
        body_pool_hold(bodies, excess - c->charged);
    else if (excess < c->charged)
        body_pool_give(bodies, NULL, c->charged - excess);
    c->charged = excess;
}

void crawl_publish(struct crawl *c, int64_t now, bool force)
{
    struct crawl_stats s = {.draining = c->end != CRAWL_RUNNING,
                            .paused = atomic_load(&c->paused)};

    if (!force && now - c->published < STATS_INTERVAL)
        return;
    c->published = now;
    frontier_get_counts(c->frontier, &s.counts);
    update_frontier(c, now, s.counts.queued);
    s.memory = c->memory;
    divide_memory(c, &s, count_fetchers(c, &s));
    s.frontier = c->frontier_stats;
    update_rates(c, &s.counts, now);
    update_standstill(c, &s.counts, now);
    s.pages_rate = c->pages_rate;
    s.bytes_rate = c->bytes_rate;
    s.standstill = c->standstill;
    if (c->o.fetch->bodies != NULL)
        s.bodies = body_pool_used(c->o.fetch->bodies);
    s.stuck = watchdog_stuck(c->watchdog);
    s.transfers_most = c->in_force;
    pthread_mutex_lock(&c->mtx);
    c->stats = s;
    pthread_mutex_unlock(&c->mtx);
}

void crawl_get_stats(struct crawl *c, struct crawl_stats *out)
{
    pthread_mutex_lock(&c->mtx);
    *out = c->stats;
    pthread_mutex_unlock(&c->mtx);
    out->paused = atomic_load(&c->paused); /* seen at once after a pause */
}
