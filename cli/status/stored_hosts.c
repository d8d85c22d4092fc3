/* SPDX-License-Identifier: MIT */
/* stored_hosts.c - the hosts of a crawl, as its store has them. */
#include "cli/status/stored_hosts.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/control/control_place.h"
#include "frontier/crawl/schedule.h"
#include "frontier/url/host.h"
#include "job/crawl_setup.h"
#include "job/settings/settings.h"
#include "storage/rows/served_log.h"

/* ---- ask a running crawl for its state ---- */

#define PATIENCE_MS 1000

static bool is_meant(const json_t *crawl, const char *name)
{
    const char *kind = json_string_value(json_object_get(crawl, "kind"));
    const char *its = json_string_value(json_object_get(crawl, "name"));

    return kind != NULL && strcmp(kind, "own") == 0 && its != NULL &&
           (name == NULL || strcmp(its, name) == 0);
}

/* Accepts only these states. */
static bool is_alive(const json_t *crawl)
{
    static const char *const words[] = {"running", "paused", "waiting",
                                        "stopping"};
    const char *state = json_string_value(json_object_get(crawl, "state"));

    for (size_t i = 0; state != NULL && i < sizeof words / sizeof *words; i++)
        if (strcmp(state, words[i]) == 0)
            return true;
    return false;
}

/* A service runs several crawls; its own directory belongs to none of them. */
static json_t *ask(struct control_client *c, struct buf *why)
{
    const struct control_place *place = control_client_place(c);
    json_t *answer = NULL, *one, *found = NULL;
    size_t i;

    if (place->service && place->crawl == NULL)
        return NULL;
    if (control_client_ask(c, "GET", "/v1/crawls", NULL, &answer, why) !=
        STATUS_OK)
        return NULL;
    json_array_foreach(json_object_get(answer, "crawls"), i, one)
    {
        if (found == NULL && is_meant(one, place->crawl) && is_alive(one))
            found = json_incref(one);
    }
    json_decref(answer);
    return found;
}

static json_t *ask_hosts(struct control_client *c, struct buf *why)
{
    json_t *crawl = ask(c, why), *answer = NULL, *hosts = NULL;
    struct buf path;

    if (crawl == NULL)
        return NULL;
    buf_init(&path, (size_t)64 << 10);
    control_crawl_path(&path, json_string_value(json_object_get(crawl, "name")),
                       "hosts?sort=biggest&size=1000");
    if (control_client_ask(c, "GET", buf_str(&path), NULL, &answer, why) ==
        STATUS_OK)
        hosts = json_incref(json_object_get(answer, "hosts"));
    json_decref(answer);
    json_decref(crawl);
    buf_fini(&path);
    return hosts;
}

static json_t *ask_process(const char *dir,
                           json_t *(*what)(struct control_client *c,
                                           struct buf *why))
{
    const struct control_options o = {.timeout_ms = PATIENCE_MS};
    struct control_client *c = NULL;
    json_t *found = NULL;
    struct buf why;

    buf_init(&why, (size_t)64 << 10);
    if (control_client_open(&c, dir, &o, &why) == STATUS_OK)
        found = what(c, &why);
    control_client_free(c);
    buf_fini(&why);
    /* cppcheck-suppress returnDanglingLifetime ; JSON points at no buffer */
    return found;
}

json_t *live_state(const char *dir)
{
    return ask_process(dir, ask);
}

/* The hosts with the most URLs left, as `GET /v1/crawls/NAME/hosts` shows them;
 * free them with json_decref(). NULL as above. */
static json_t *live_hosts(const char *dir)
{
    return ask_process(dir, ask_hosts);
}

/* ---- which hosts of a stored crawl are over a budget ---- */

struct domain {
    uint64_t pages;
    struct source_bits sources;
};

struct host {
    uint64_t pages, octets, limit, completed;
    uint32_t sources;
    struct domain *domain; /* NULL without --per-domain */
};

struct stored_budgets {
    struct budgets budgets;
    struct reader *reader;
    struct map *domains; /* registrable domain -> struct domain */
    struct host *hosts;  /* by queue - 1 */
    uint32_t count;
};

static struct domain *domain_of(struct stored_budgets *s, uint32_t queue)
{
    struct bytes crawl, key, name;
    struct domain *d;

    frontier_store_queue_name(s->reader->store, queue, &crawl, &key);
    name = host_registrable(key);
    d = map_get(s->domains, name);
    if (d == NULL) {
        d = xcalloc(1, sizeof *d);
        (void)map_put(s->domains, name, d);
    }
    return d;
}

static void take_state(void *ctx, uint32_t queue, const struct queue_state *q)
{
    struct stored_budgets *s = ctx;
    struct source_bits sources;
    struct host *h;

    if (queue < 1 || queue > s->count)
        return;
    memcpy(sources.octet, q->sources, sizeof sources.octet);
    h = &s->hosts[queue - 1];
    h->pages = q->fetched;
    h->octets = q->octets;
    h->sources = q->linked ? source_bits_count(&sources) : 0;
    if (h->domain == NULL)
        return;
    h->domain->pages += q->fetched;
    if (q->linked)
        (void)source_bits_join(&h->domain->sources, &sources);
}

static void take_limit(void *ctx, uint32_t queue,
                       const struct served_queue_row *row)
{
    struct stored_budgets *s = ctx;

    if (queue < 1 || queue > s->count)
        return;
    s->hosts[queue - 1].limit = row->completed_most;
    s->hosts[queue - 1].completed = row->completed;
}

enum status stored_budgets_load(struct stored_budgets **out, struct reader *r,
                                const struct budgets *b)
{
    struct stored_budgets *s = xcalloc(1, sizeof *s);
    struct served_log *log = NULL;
    enum status st;

    s->budgets = *b;
    s->reader = r;
    s->domains = map_new();
    s->count = frontier_store_queue_count(r->store);
    s->hosts = xcalloc(s->count, sizeof *s->hosts);
    for (uint32_t i = 0; b->domain_pages > 0 && i < s->count; i++)
        s->hosts[i].domain = domain_of(s, i + 1);
    st = frontier_store_each_queue_state(r->store, take_state, s);
    if (st == STATUS_OK)
        st = served_log_open(&log, r->db);
    if (st == STATUS_OK)
        st = served_log_each_queue(log, take_limit, s);
    served_log_close(log);
    *out = s;
    if (st != STATUS_OK) {
        stored_budgets_free(s);
        *out = NULL;
    }
    return st;
}

void stored_budgets_free(struct stored_budgets *s)
{
    if (s == NULL)
        return;
    map_free(s->domains, free);
    free(s->hosts);
    free(s);
}

const char *stored_budgets_over(const struct stored_budgets *s, uint32_t queue)
{
    const struct host *h = &s->hosts[queue - 1];
    struct budget_spent spent = {
        .host_pages = h->pages,
        .host_octets = h->octets,
        .host_sources = h->sources,
    };
    const char *which;

    if (h->domain != NULL) {
        spent.domain_pages = h->domain->pages;
        spent.domain_sources = source_bits_count(&h->domain->sources);
    }
    if (budget_left(&s->budgets, &spent, &which) == 0)
        return which;
    return h->limit > 0 && h->completed >= h->limit ? "limit" : NULL;
}

#define LINE 65536

struct stored_host {
    struct queue_state state;
    char address[IP_TEXT];
    int64_t set_delay_ms;
    uint32_t limit;
    uint64_t completed;
    int64_t connections, handshakes, kept; /* of this run; -1: not known */
};

struct stored_hosts {
    struct reader *reader;
    struct stored_host *at; /* by queue - 1 */
    uint32_t count;
    struct stored_budgets *budgets;
    struct schedule_options schedule;
};

/* ---- from the store ---- */

static struct stored_host *host_of(struct stored_hosts *h, uint32_t queue)
{
    return queue >= 1 && queue <= h->count ? &h->at[queue - 1] : NULL;
}

static void hosts_take_state(void *ctx, uint32_t queue,
                             const struct queue_state *s)
{
    struct stored_host *host = host_of(ctx, queue);

    if (host != NULL)
        host->state = *s;
}

static void take_place(void *ctx, uint32_t queue, struct bytes address)
{
    struct stored_host *host = host_of(ctx, queue);

    if (host != NULL && address.len < IP_TEXT)
        memcpy(host->address, address.at, address.len);
}

static void take_set(void *ctx, uint32_t queue,
                     const struct served_queue_row *row)
{
    struct stored_host *host = host_of(ctx, queue);

    if (host == NULL)
        return;
    host->set_delay_ms = row->delay_ms;
    host->limit = row->completed_most;
    host->completed = row->completed;
}

/* Loads the delays and limits that people set for single queues. */
static enum status load_set(struct stored_hosts *h)
{
    struct served_log *log = NULL;
    enum status st = served_log_open(&log, h->reader->db);

    if (st == STATUS_OK)
        st = served_log_each_queue(log, take_set, h);
    served_log_close(log);
    return st;
}

static enum status load_settings(struct stored_hosts *h)
{
    struct crawl_settings s;
    struct budgets budgets;
    struct buf error;
    enum status st;

    buf_init(&error, 4096);
    settings_init(&s);
    if (settings_load(&s, h->reader->dir, &error) != STATUS_OK) {
        settings_fini(&s); /* no delays are known, but the queues are */
        settings_init(&s);
    }
    h->schedule = crawl_setup_schedule(&s);
    budgets = crawl_setup_budgets(&s);
    st = stored_budgets_load(&h->budgets, h->reader, &budgets);
    settings_fini(&s);
    buf_fini(&error);
    return st;
}

enum status stored_hosts_load(struct stored_hosts **out, struct reader *r)
{
    struct stored_hosts *h = xcalloc(1, sizeof *h);
    enum status st;

    h->reader = r;
    h->count = frontier_store_queue_count(r->store);
    h->at = xcalloc(h->count, sizeof *h->at);
    for (uint32_t i = 0; i < h->count; i++)
        h->at[i] = (struct stored_host){.state.delay_ms = -1,
                                        .set_delay_ms = -1,
                                        .connections = -1,
                                        .handshakes = -1,
                                        .kept = -1};
    st = frontier_store_each_queue_state(r->store, hosts_take_state, h);
    if (st == STATUS_OK)
        st = frontier_store_each_place(r->store, take_place, h);
    if (st == STATUS_OK)
        st = load_set(h);
    if (st == STATUS_OK)
        st = load_settings(h);
    *out = h;
    if (st != STATUS_OK) {
        stored_hosts_free(h);
        *out = NULL;
    }
    return st;
}

void stored_hosts_free(struct stored_hosts *h)
{
    if (h == NULL)
        return;
    stored_budgets_free(h->budgets);
    free(h->at);
    free(h);
}

/* ---- from the process that runs the crawl ---- */

static int64_t count_in(const json_t *row, const char *name)
{
    const json_t *n = json_object_get(row, name);

    return json_is_integer(n) ? (int64_t)json_integer_value(n) : -1;
}

void stored_hosts_ask(struct stored_hosts *h)
{
    json_t *rows = h->reader->holder > 0 ? live_hosts(h->reader->dir) : NULL;
    struct map *by_name = map_new();
    struct bytes crawl, name;
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const json_t *host = json_object_get(row, "host");

        if (json_is_string(host))
            (void)map_put(by_name,
                          bytes_of(json_string_value(host),
                                   json_string_length(host)),
                          (void *)(uintptr_t)(i + 1));
    }
    for (uint32_t q = 1; map_count(by_name) > 0 && q <= h->count; q++) {
        frontier_store_queue_name(h->reader->store, q, &crawl, &name);
        i = (uintptr_t)map_get(by_name, name);
        row = i > 0 ? json_array_get(rows, i - 1) : NULL;
        h->at[q - 1].connections = count_in(row, "connections");
        h->at[q - 1].handshakes = count_in(row, "handshakes");
        h->at[q - 1].kept = count_in(row, "kept");
    }
    map_free(by_name, NULL);
    json_decref(rows);
}

/* ---- as records ---- */

/* Sets why no URL of the host is fetched now, and until when. */
static void set_why(const struct stored_hosts *h, uint32_t queue,
                    struct host_record *out)
{
    const struct queue_state *s = &h->at[queue - 1].state;
    const char *over = stored_budgets_over(h->budgets, queue);
    const char *colon = strchr(s->reason, ':');

    if (over != NULL && out->queued > 0) {
        out->why = bytes_of_str(over);
    } else if (colon != NULL) { /* "no_response:connect" */
        out->why = bytes_of_str(colon + 1);
    } else if (s->blocked_until_ms > clock_wall_ms()) {
        out->why = bytes_of_str(strcmp(s->reason, "blocked") == 0 ? "operator"
                                                                  : s->reason);
        out->due_ms = s->blocked_until_ms;
    }
}

static void set_delay(const struct stored_hosts *h,
                      const struct stored_host *host, struct host_record *out)
{
    struct schedule_options o = h->schedule;
    const struct schedule_host s = {
        .own =
            host->state.delay_ms >= 0 ? host->state.delay_ms * NS_PER_MS : -1,
    };
    struct schedule_random none = {.state = 1};
    const char *why;

    o.random_delay = false;
    if (host->set_delay_ms >= 0)
        o.delay = host->set_delay_ms * NS_PER_MS;
    why = schedule_why(&o, &s);
    if (host->set_delay_ms >= 0 && strcmp(why, "delay") == 0)
        why = "operator";
    out->delay_ms = schedule_pause(&o, &s, &none) / NS_PER_MS;
    out->delay_why = bytes_of_str(why);
}

static struct host_record record_of(const struct stored_hosts *h,
                                    uint32_t queue)
{
    const struct stored_host *host = &h->at[queue - 1];
    struct host_record out = {
        .queue = queue,
        .address = bytes_of_str(host->address),
        .queued = frontier_store_pending(h->reader->store, queue),
        .failures = host->state.failures,
        .crawl_delay_ms = host->state.delay_ms,
        .set_delay_ms = host->set_delay_ms,
        .latency_ms = -1,
        .limit = host->limit,
        .completed = host->completed,
        .connections = host->connections,
        .handshakes = host->handshakes,
        .kept = host->kept,
    };
    struct bytes crawl;

    frontier_store_queue_name(h->reader->store, queue, &crawl, &out.host);
    set_why(h, queue, &out);
    set_delay(h, host, &out);
    return out;
}

struct place {
    uint64_t pending;
    uint32_t queue;
};

static int by_pending(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->pending != y->pending)
        return x->pending > y->pending ? -1 : 1;
    return x->queue < y->queue ? -1 : 1;
}

void stored_hosts_each(const struct stored_hosts *h, bool most_first,
                       bool (*visit)(void *ctx, const struct host_record *host),
                       void *ctx)
{
    struct place *order = xcalloc(h->count, sizeof *order);
    bool more = true;

    for (uint32_t i = 0; i < h->count; i++)
        order[i] =
            (struct place){frontier_store_pending(h->reader->store, i + 1),
                           i + 1};
    if (most_first)
        qsort(order, h->count, sizeof *order, by_pending);
    for (uint32_t i = 0; more && i < h->count; i++) {
        struct host_record record = record_of(h, order[i].queue);

        more = visit(ctx, &record);
    }
    free(order);
}
