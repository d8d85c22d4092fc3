/* SPDX-License-Identifier: MIT */
/*
 * crawls_entry.c - of one crawl of the registry: its last command, its removal,
 * its hosts and recent answers.
 *
 * DIR/crawls/NAME/service holds the last command to a crawl in one word;
 * without the file, the crawl runs. The file does not keep how a crawl ended:
 * one that a limit ended is opened by the next start, and ends again unless the
 * limit was raised. A directory is renamed before it is removed, to a name that
 * no crawl can have, so a crash leaves a whole crawl or none.
 */
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
#include "job/registry/crawls_entry.h"

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

#define GONE ".gone" /* after a dot and the name */

static const char *const words[CRAWLS_TOLD_COUNT_] = {
    [CRAWLS_TOLD_RUN] = "running",
    [CRAWLS_TOLD_PAUSE] = "paused",
    [CRAWLS_TOLD_STOP] = "stopped",
};

/* ---- commands ---- */

enum status crawls_told_save(const char *dir, enum crawls_told told)
{
    struct buf path, word;
    enum status st;

    buf_init(&path, 4096);
    buf_init(&word, 64);
    buf_addf(&path, "%s/service", dir);
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

enum status crawls_remove(const char *dir, const char *name)
{
    struct buf from, to;
    enum status st;

    buf_init(&from, 4096);
    buf_init(&to, 4096);
    buf_addf(&from, "%s/%s", dir, name);
    buf_addf(&to, "%s/.%s" GONE, dir, name);
    st = file_remove_tree(buf_str(&to)); /* left by a crash */
    if (st == STATUS_OK && rename(buf_str(&from), buf_str(&to)) != 0)
        st = file_failed("cannot rename the crawl's directory", buf_str(&from));
    if (st == STATUS_OK)
        st = file_sync_parent(buf_str(&to));
    fault_point("service-crawl-gone");
    if (st == STATUS_OK)
        st = file_remove_tree(buf_str(&to));
    buf_fini(&from);
    buf_fini(&to);
    return st;
}

void crawls_remove_rest(const char *dir, const char *file)
{
    size_t len = strlen(file), gone = sizeof GONE - 1;
    struct buf path;

    if (file[0] != '.' || len < gone + 2 ||
        strcmp(file + len - gone, GONE) != 0)
        return;
    buf_init(&path, 4096);
    buf_addf(&path, "%s/%s", dir, file);
    if (file_remove_tree(buf_str(&path)) != STATUS_OK)
        log_warn("cannot remove what is left of a deleted crawl", "dir=%s",
                 buf_str(&path));
    buf_fini(&path);
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
    uint64_t text;

    if (json_is_integer(v)) {
        n = json_integer_value(v);
    } else if (json_is_string(v)) {
        if (!bytes_number(bytes_of_str(json_string_value(v)), most, &text))
            return false;
        n = (json_int_t)text;
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
