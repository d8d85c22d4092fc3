/* SPDX-License-Identifier: MIT */
/*
 * crawls_entry.c - one crawl of the registry: open, close, commands.
 *
 * DIR/crawls/NAME/service holds the last command to a crawl in one word;
 * without the file, the crawl runs. The file does not keep how a crawl ended:
 * one that a limit ended is opened by the next start, and ends again unless the
 * limit was raised. A directory is renamed before it is removed, to a name that
 * no crawl can have, so a crash leaves a whole crawl or none.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "crawler/url_columns.h"
#include "frontier/frontier.h"
#include "frontier/host_columns.h"
#include "job/registry/crawls_impl.h"

/*
 * The list of crawls by name, and its users.
 *
 * Only the registry's thread changes the list, under the mutex, which other
 * threads hold to read it; so that thread reads it without the mutex.
 */

const char *crawls_state_name(enum crawls_state s)
{
    static const char *const names[] = {
        [CRAWLS_RUNNING] = "running", [CRAWLS_PAUSED] = "paused",
        [CRAWLS_WAITING] = "waiting", [CRAWLS_STOPPING] = "stopping",
        [CRAWLS_STOPPED] = "stopped", [CRAWLS_FAILED] = "failed",
    };

    return names[s];
}

bool crawls_name_is_valid(struct bytes name)
{
    if (name.len == 0 || name.len > CRAWLS_NAME_MOST || name.at[0] == '.' ||
        name.at[0] == '-')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char ch = name.at[i];

        if ((ch < 'a' || ch > 'z') && (ch < 'A' || ch > 'Z') &&
            (ch < '0' || ch > '9') && ch != '-' && ch != '_' && ch != '.')
            return false;
    }
    return true;
}

/* ---- the list ---- */

/* The index of `name`, or where it belongs. */
static size_t place_of(const struct crawls *c, struct bytes name)
{
    size_t low = 0, high = c->count;

    while (low < high) {
        size_t mid = (low + high) / 2;
        struct bytes at = bytes_of_str(c->at[mid]->name);
        size_t n = at.len < name.len ? at.len : name.len;
        int order = n > 0 ? memcmp(at.at, name.at, n) : 0;

        if (order < 0 || (order == 0 && at.len < name.len))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

struct crawls_entry *crawls_find(const struct crawls *c, struct bytes name)
{
    size_t i = place_of(c, name);

    return i < c->count && bytes_is(name, c->at[i]->name) ? c->at[i] : NULL;
}

struct crawls_entry *crawls_add(struct crawls *c, const char *name,
                                const char *dir)
{
    struct crawls_entry *e = xcalloc(1, sizeof *e);
    size_t i = place_of(c, bytes_of_str(name));

    snprintf(e->name, sizeof e->name, "%s", name);
    e->dir = xstrdup(dir);
    e->state = CRAWLS_STOPPED;
    e->end = CRAWL_INTERRUPTED;
    buf_init(&e->cannot, sizeof e->why);
    pthread_mutex_lock(&c->mtx);
    c->at = xrealloc(c->at, (c->count + 1) * sizeof(struct crawls_entry *));
    memmove(c->at + i + 1, c->at + i,
            (c->count - i) * sizeof(struct crawls_entry *));
    c->at[i] = e;
    c->count++;
    pthread_mutex_unlock(&c->mtx);
    return e;
}

void crawls_entry_free(struct crawls_entry *e)
{
    buf_fini(&e->cannot);
    free(e->dir);
    free(e);
}

void crawls_drop(struct crawls *c, struct crawls_entry *e)
{
    size_t i = place_of(c, bytes_of_str(e->name));

    pthread_mutex_lock(&c->mtx);
    memmove(c->at + i, c->at + i + 1,
            (c->count - i - 1) * sizeof(struct crawls_entry *));
    c->count--;
    pthread_mutex_unlock(&c->mtx);
    crawls_entry_free(e);
}

/* ---- views ---- */

size_t crawls_each(struct crawls *c, struct crawls_view **out)
{
    size_t n;

    pthread_mutex_lock(&c->mtx);
    n = c->count;
    *out = xcalloc(n, sizeof **out);
    for (size_t i = 0; i < n; i++)
        crawls_view_of(c, c->at[i], &(*out)[i]);
    pthread_mutex_unlock(&c->mtx);
    return n;
}

enum status crawls_find_view(struct crawls *c, struct bytes name,
                             struct crawls_view *out)
{
    const struct crawls_entry *e;

    pthread_mutex_lock(&c->mtx);
    e = crawls_find(c, name);
    if (e != NULL)
        crawls_view_of(c, e, out);
    pthread_mutex_unlock(&c->mtx);
    return e != NULL ? STATUS_OK : STATUS_NOT_FOUND;
}

bool crawls_has(struct crawls *c, struct bytes name)
{
    bool has;

    pthread_mutex_lock(&c->mtx);
    has = crawls_find(c, name) != NULL;
    pthread_mutex_unlock(&c->mtx);
    return has;
}

enum status crawls_use(struct crawls *c, struct bytes name,
                       enum status (*use)(struct crawl *crawl, void *ctx),
                       void *ctx)
{
    struct crawls_entry *e;
    struct crawl *crawl = NULL;
    enum status st = STATUS_NOT_FOUND;

    pthread_mutex_lock(&c->mtx);
    e = crawls_find(c, name);
    if (e != NULL) {
        crawl = e->crawl;
        e->users += crawl != NULL;
        st = STATUS_CLOSED;
    }
    pthread_mutex_unlock(&c->mtx);
    if (crawl == NULL)
        return st;
    st = use(crawl, ctx);
    pthread_mutex_lock(&c->mtx);
    if (--e->users == 0)
        pthread_cond_broadcast(&c->used);
    pthread_mutex_unlock(&c->mtx);
    return st;
}

enum status crawls_report(struct crawls *c, struct bytes name,
                          const struct crawls_report *r, int fd)
{
    const struct crawls_entry *e;
    char *dir = NULL;
    enum status st = STATUS_NOT_FOUND;

    pthread_mutex_lock(&c->mtx);
    e = crawls_find(c, name);
    if (e != NULL)
        dir = xstrdup(e->dir);
    pthread_mutex_unlock(&c->mtx);
    if (dir != NULL)
        st = c->factory.report(c->factory.ctx, dir, r, fd);
    free(dir);
    return st;
}

#define GONE ".gone" /* after a dot and the name */

static const char *const words[CRAWLS_TOLD_COUNT_] = {
    [CRAWLS_TOLD_RUN] = "running",
    [CRAWLS_TOLD_PAUSE] = "paused",
    [CRAWLS_TOLD_STOP] = "stopped",
};

/* ---- commands ---- */

enum status crawls_told_save(const struct crawls_entry *e,
                             enum crawls_told told)
{
    struct buf path, word;
    enum status st;

    if (e->attached)
        return STATUS_OK;
    buf_init(&path, 4096);
    buf_init(&word, 64);
    buf_addf(&path, "%s/service", e->dir);
    buf_addf(&word, "%s\n", words[told]);
    st = file_replace_private(buf_str(&path), buf_bytes(&word));
    buf_fini(&path);
    buf_fini(&word);
    return st;
}

enum crawls_told crawls_told_load(const char *dir)
{
    enum crawls_told told = CRAWLS_TOLD_RUN;
    struct buf path, word;

    buf_init(&path, 4096);
    buf_init(&word, 64);
    buf_addf(&path, "%s/service", dir);
    if (file_read(buf_str(&path), &word) == STATUS_OK)
        for (int i = 0; i < CRAWLS_TOLD_COUNT_; i++)
            if (bytes_is(bytes_trim(buf_bytes(&word)), words[i]))
                told = (enum crawls_told)i;
    buf_fini(&path);
    buf_fini(&word);
    return told;
}

/* ---- removal ---- */

enum status crawls_remove(struct crawls *c, const char *name)
{
    struct buf from, to;
    enum status st;

    buf_init(&from, 4096);
    buf_init(&to, 4096);
    buf_addf(&from, "%s/%s", c->dir, name);
    buf_addf(&to, "%s/.%s" GONE, c->dir, name);
    st = file_remove_tree(buf_str(&to)); /* left by a crash */
    if (st == STATUS_OK && rename(buf_str(&from), buf_str(&to)) != 0) {
        st = status_of_errno(errno);
        log_error("cannot rename the crawl's directory", "dir=%s error=\"%s\"",
                  buf_str(&from), strerror(errno));
    }
    if (st == STATUS_OK)
        st = file_sync_parent(buf_str(&to));
    fault_point("service-crawl-gone");
    if (st == STATUS_OK)
        st = file_remove_tree(buf_str(&to));
    buf_fini(&from);
    buf_fini(&to);
    return st;
}

void crawls_remove_rest(struct crawls *c, const char *file)
{
    size_t len = strlen(file), gone = sizeof GONE - 1;
    struct buf path;

    if (file[0] != '.' || len < gone + 2 ||
        strcmp(file + len - gone, GONE) != 0)
        return;
    buf_init(&path, 4096);
    buf_addf(&path, "%s/%s", c->dir, file);
    if (file_remove_tree(buf_str(&path)) != STATUS_OK)
        log_warn("cannot remove what is left of a deleted crawl", "dir=%s",
                 buf_str(&path));
    buf_fini(&path);
}

/* ---- its view ---- */

static bool has_nothing_left(const struct crawl_stats *s)
{
    return s->counts.queued == s->counts.withheld && s->active == 0;
}

static enum crawls_state state_of(const struct crawls_entry *e,
                                  const struct crawl_stats *s)
{
    if (e->stopping || s->draining)
        return CRAWLS_STOPPING;
    if (s->paused)
        return CRAWLS_PAUSED;
    return has_nothing_left(s) ? CRAWLS_WAITING : CRAWLS_RUNNING;
}

void crawls_view_of(struct crawls *c, const struct crawls_entry *e,
                    struct crawls_view *out)
{
    (void)c;
    memset(out, 0, sizeof *out);
    memcpy(out->name, e->name, sizeof out->name);
    memcpy(out->why, e->why, sizeof out->why);
    out->end = e->end;
    out->started_ms = e->started_ms;
    if (e->crawl != NULL) {
        crawl_get_stats(e->crawl, &out->stats);
        out->end = CRAWL_RUNNING;
        out->state = state_of(e, &out->stats);
    } else {
        out->stats = e->stats;
        out->state = e->state;
    }
}

/* A crawl that fetches its pages again works and waits by turns for ever; only
 * the first time that it waits is news, or the log would grow for ever too. */
static bool is_told(const struct crawls_entry *e, const struct crawls_view *v)
{
    return e->tell_known &&
           (v->state == e->tell_state ||
            (v->state == CRAWLS_RUNNING && e->tell_state == CRAWLS_WAITING &&
             v->stats.counts.dated > 0));
}

/* Tells the factory if the state has changed. */
static void notify(struct crawls *c, struct crawls_entry *e)
{
    struct crawls_view v;

    if (c->factory.tell == NULL || e->attached)
        return;
    pthread_mutex_lock(&c->mtx);
    crawls_view_of(c, e, &v);
    pthread_mutex_unlock(&c->mtx);
    if (is_told(e, &v))
        return;
    e->tell_known = true;
    e->tell_state = v.state;
    c->factory.tell(c->factory.ctx, &v);
}

/* ---- opened and closed ---- */

void crawls_entry_opened(struct crawls *c, struct crawls_entry *e,
                         struct crawl_job *m)
{
    pthread_mutex_lock(&c->mtx);
    e->job = m;
    e->crawl = c->factory.crawl(m);
    e->stopping = false;
    e->end = CRAWL_RUNNING;
    e->why[0] = '\0';
    e->started_ms = clock_wall_ms();
    pthread_mutex_unlock(&c->mtx);
    buf_clear(&e->cannot);
    e->tell_known = false;
    notify(c, e);
}

static void crawls_entry_failed(struct crawls *c, struct crawls_entry *e,
                                const char *why)
{
    pthread_mutex_lock(&c->mtx);
    e->state = CRAWLS_FAILED;
    e->end = CRAWL_BROKEN;
    snprintf(e->why, sizeof e->why, "%s", why);
    pthread_mutex_unlock(&c->mtx);
    e->tell_known = false;
    notify(c, e);
}

enum status crawls_entry_open(struct crawls *c, struct crawls_entry *e,
                              struct buf *why)
{
    struct crawl_job *m = NULL;
    enum status st = c->factory.open(c->factory.ctx, e->name, e->dir,
                                     e->told == CRAWLS_TOLD_PAUSE, &m, why);

    if (st == STATUS_OK)
        crawls_entry_opened(c, e, m);
    else if (st != STATUS_NOT_FOUND)
        crawls_entry_failed(c, e,
                            why->len > 0 ? buf_str(why) : status_text(st));
    return st;
}

void crawls_entry_stop(struct crawls *c, struct crawls_entry *e, bool now)
{
    struct crawl *crawl;
    bool first;

    if (e->attached)
        return;
    pthread_mutex_lock(&c->mtx);
    crawl = e->crawl;
    first = !e->stopping;
    e->stopping = crawl != NULL;
    pthread_mutex_unlock(&c->mtx);
    if (crawl == NULL)
        return;
    if (first)
        crawl_stop(crawl);
    if (now)
        crawl_stop(crawl);
}

/* Notes in the entry how the crawl ended. */
static void note_end(struct crawls *c, struct crawls_entry *e,
                     const struct crawl_result *r, enum status closed)
{
    const char *why = NULL;

    if (r->end == CRAWL_BROKEN)
        why = status_text(r->status);
    else if (closed != STATUS_OK)
        why = status_text(closed);
    else if (e->cannot.len > 0 && r->end != CRAWL_STUCK)
        why = buf_str(&e->cannot);
    if (why != NULL && c->stops_done > 0 && c->last_status == STATUS_OK)
        c->last_status = closed != STATUS_OK ? closed : STATUS_IO;
    if (why == NULL && r->end == CRAWL_STUCK)
        why = crawl_end_text(r->end); /* everything is on disk */
    pthread_mutex_lock(&c->mtx);
    e->stopping = false;
    e->end = r->end;
    e->state = why != NULL ? CRAWLS_FAILED : CRAWLS_STOPPED;
    snprintf(e->why, sizeof e->why, "%s", why != NULL ? why : "");
    pthread_mutex_unlock(&c->mtx);
}

static void close_ended(struct crawls *c, struct crawls_entry *e,
                        const struct crawl_result *r)
{
    struct crawl_job *m = e->job;
    enum status st;

    pthread_mutex_lock(&c->mtx);
    crawl_get_stats(e->crawl, &e->stats);
    e->stats.active = 0;
    e->state = CRAWLS_STOPPING;
    e->crawl = NULL;
    while (e->users > 0)
        pthread_cond_wait(&c->used, &c->mtx);
    pthread_mutex_unlock(&c->mtx);
    st = c->factory.close(m);
    pthread_mutex_lock(&c->mtx);
    e->job = NULL;
    pthread_mutex_unlock(&c->mtx);
    note_end(c, e, r, st);
}

void crawls_entry_tend(struct crawls *c, struct crawls_entry *e)
{
    struct crawl_result r;

    if (e->job != NULL && !e->attached) {
        if (e->cannot.len == 0 && c->factory.tick != NULL &&
            c->factory.tick(e->job, &e->cannot))
            crawls_entry_stop(c, e, false);
        if (crawl_wait(e->crawl, 0, &r))
            close_ended(c, e, &r);
    }
    notify(c, e);
}

/*
 * A crawl's hosts and its recent answers, as JSON.
 *
 * A task on the frontier thread looks up the hosts and copies them into JSON,
 * as their names live only as long as the frontier.
 */

#define HOSTS_MOST 1000

/* Reads "size", a number or the text of a query. */
static bool read_size(const struct crawls_call *call, size_t most, size_t *size)
{
    const json_t *v = json_object_get(call->in, "size");
    json_int_t n = 20;

    if (json_is_integer(v)) {
        n = json_integer_value(v);
    } else if (json_is_string(v)) {
        const char *s = json_string_value(v);

        if (s[0] == '\0' || strlen(s) > 6 || s[strspn(s, "0123456789")] != '\0')
            return false;
        for (n = 0; *s != '\0'; s++)
            n = n * 10 + (*s - '0');
    } else if (v != NULL) {
        return false;
    }
    if (n < 1 || (uintmax_t)n > most)
        return false;
    *size = (size_t)n;
    return true;
}

/* ---- hosts ---- */

struct hosts_task {
    struct crawl_task task; /* first */
    enum host_order by;
    size_t size;
    json_t *out;
};

static json_t *host_json(const struct host_report *r, int64_t now,
                         int64_t wall_ms)
{
    static const char *const states[] = {
        [HOST_READY] = "ready",     [HOST_BUSY] = "busy",
        [HOST_WAITING] = "waiting", [HOST_BLOCKED] = "blocked",
        [HOST_DEAD] = "dead",
    };
    int64_t due = r->due > now ? r->due : now;
    const struct host_record record = {
        .host = r->host,
        .state = bytes_of_str(states[r->state]),
        .why = bytes_of_str(r->why),
        .queued = r->queued,
        .fetched = r->fetched,
        .failures = r->failures,
        .connections = r->connections,
        .handshakes = r->handshakes,
        .kept = r->requests > r->connections ? r->requests - r->connections : 0,
        .delay_ms = r->delay / NS_PER_MS,
        .delay_why = bytes_of_str(r->delay_why),
        .crawl_delay_ms = r->crawl_delay >= 0 ? r->crawl_delay / NS_PER_MS : -1,
        .set_delay_ms = r->set_delay >= 0 ? r->set_delay / NS_PER_MS : -1,
        .limit = r->limit,
        .latency_ms =
            r->latency_us > 0 ? ((int64_t)r->latency_us + 999) / 1000 : -1,
        .due_ms = r->due == INT64_MAX ? 0 : wall_ms + (due - now) / NS_PER_MS,
    };
    json_t *o = json_object();

    column_view_set(&host_views[HOST_VIEW_LIVE], &record, o);
    return o;
}

static enum status look_at_hosts(struct crawl_task *t, struct frontier *e,
                                 int64_t now, int64_t wall_ms)
{
    struct hosts_task *h = (struct hosts_task *)t;
    struct host_report *rows = xcalloc(h->size, sizeof *rows);
    bool all;
    size_t n = frontier_hosts(e, h->by, h->size, now, rows, &all);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, host_json(&rows[i], now, wall_ms));
    h->out = json_pack("{s:o, s:b}", "hosts", list, "all", all);
    free(rows);
    return STATUS_OK;
}

static bool read_order(const struct crawls_call *call, enum host_order *by)
{
    static const char *const names[] = {
        [HOSTS_BIGGEST] = "biggest",
        [HOSTS_SLOWEST] = "slowest",
        [HOSTS_BLOCKED] = "blocked",
    };
    const json_t *v = json_object_get(call->in, "sort");

    *by = HOSTS_BIGGEST;
    if (v == NULL)
        return true;
    for (int i = 0; json_is_string(v) && i < 3; i++)
        if (strcmp(json_string_value(v), names[i]) == 0) {
            *by = (enum host_order)i;
            return true;
        }
    return false;
}

void crawls_call_hosts(struct crawl *crawl, struct crawls_call *call)
{
    struct hosts_task h = {.task = {.run = look_at_hosts}};
    enum status st;

    if (!read_order(call, &h.by)) {
        crawls_fail(call, STATUS_ARG, "sort: biggest, slowest or blocked");
        return;
    }
    if (!read_size(call, HOSTS_MOST, &h.size)) {
        crawls_fail(call, STATUS_ARG, "size: 1 to %d", HOSTS_MOST);
        return;
    }
    st = crawl_perform(crawl, &h.task);
    if (st != STATUS_OK)
        crawls_fail(call, st, "the crawl is stopping");
    call->out = h.out;
}

/* ---- recent answers ---- */

static json_t *answer_json(const struct crawl_answer *a)
{
    struct url_record f = url_record_empty();
    json_t *o = json_object();

    f.url.url = bytes_of_str(a->url);
    f.fetch = (struct fetch_row){.at_ms = a->at_ms,
                                 .elapsed_ms = a->elapsed_ms,
                                 .status = (uint8_t)a->outcome.status,
                                 .reason = (uint8_t)a->outcome.reason,
                                 .http_status = a->outcome.http_status,
                                 .wire_bytes = a->bytes,
                                 .title = bytes_of_str(a->title)};
    column_view_set(&row_views[ROW_VIEW_RECENT], &f, o);
    return o;
}

void crawls_call_recent(struct crawl *crawl, struct crawls_call *call)
{
    struct crawl_answer *answers;
    json_t *list;
    size_t size, n;

    if (!read_size(call, CRAWL_RECENT, &size)) {
        crawls_fail(call, STATUS_ARG, "size: 1 to %d", CRAWL_RECENT);
        return;
    }
    answers = xcalloc(size, sizeof *answers);
    n = crawl_recent(crawl, answers, size);
    list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, answer_json(&answers[i]));
    call->out = json_pack("{s:o}", "recent", list);
    free(answers);
}
