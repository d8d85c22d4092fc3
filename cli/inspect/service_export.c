/* SPDX-License-Identifier: MIT */
/*
 * service_export.c - `urlweir export` of a directory of `urlweir serve`.
 *
 * Metadata is kept as the octets it came in as, and decoded here. The latest
 * row of each URL is looked up by its number, one after the other.
 */
#include "cli/inspect/service_export.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/open_crawl.h"
#include "frontier/served/served.h"
#include "frontier/served/served_reader.h"
#include "service/http/http_text.h"

#define ARENA_MOST ((size_t)64 << 20)

struct export
{
    struct reader *r;
    struct served_reader *served;
    struct record out;
    struct arena *arena;
    struct buf metadata;
    enum status st;
    bool failed; /* stdout is gone */
};

/* Writes the row. */
static void end_row(struct export *j)
{
    struct bytes row;

    j->st = record_end(&j->out, &row);
    if (j->st == STATUS_OK)
        j->failed |= fwrite(row.at, 1, row.len, stdout) < row.len;
}

static void put_metadata(struct export *j, uint64_t id)
{
    json_t *o;
    char *text;

    buf_clear(&j->metadata);
    arena_reset(j->arena);
    j->st = served_reader_metadata(j->served, id, &j->metadata);
    if (j->st != STATUS_OK)
        return;
    o = http_metadata_json(buf_bytes(&j->metadata), j->arena);
    text = json_dumps(o, JSON_ENSURE_ASCII);
    record_json(&j->out, "metadata", bytes_of_str(text != NULL ? text : "{}"));
    free(text);
    json_decref(o);
}

static void put_url(void *ctx, const struct url_row *row)
{
    struct export *j = ctx;
    struct served_reader_url u = served_reader_get(j->served, row->id);
    struct bytes crawl, key;

    if (j->failed || j->st != STATUS_OK || u.state == URL_STATE_NONE ||
        u.state == URL_STATE_REMOVED)
        return;
    frontier_store_queue_name(j->r->store, row->queue, &crawl, &key);
    record_text(&j->out, "url", row->url);
    record_text(&j->out, "crawl", crawl);
    record_text(&j->out, "key", key);
    record_str(&j->out, "state", url_state_name(u.state));
    record_time(&j->out, "due_at", u.due_ms);
    record_time(&j->out, "created_at", row->found_at_ms);
    record_time(&j->out, "leased_until", u.leased_until_ms);
    put_metadata(j, row->id);
    if (j->st != STATUS_OK)
        return;
    record_uint(&j->out, "id", row->id);
    end_row(j);
}

static enum status export_urls(struct export *j)
{
    uint64_t last = frontier_store_last_id(j->r->store);

    return last > 0 ? frontier_store_each(j->r->store, 1, last, put_url, j)
                    : STATUS_OK;
}

static void put_one_queue(struct export *j, uint32_t number)
{
    const struct served_reader_facts *all = served_reader_facts(j->served);
    const struct served_reader_queue *q =
        served_reader_queue(j->served, number);
    struct bytes crawl, key;

    if (!q->there)
        return;
    frontier_store_queue_name(j->r->store, number, &crawl, &key);
    record_text(&j->out, "key", key);
    record_text(&j->out, "crawl", crawl);
    record_uint(&j->out, "queued", q->urls.queued);
    record_uint(&j->out, "leased", q->urls.leased);
    record_uint(&j->out, "completed", q->urls.completed);
    record_seconds(&j->out, "delay",
                   q->delay_ms >= 0 ? q->delay_ms : all->default_delay_ms);
    record_time(&j->out, "blocked_until",
                served_reader_queue_is_blocked(q, all->now)
                    ? q->blocked_until_ms
                    : 0);
    record_time(&j->out, "served_at", q->served_ms);
    record_some(&j->out, "limit", q->limit);
    end_row(j);
}

static enum status export_queues(struct export *j)
{
    uint32_t n = frontier_store_queue_count(j->r->store);

    for (uint32_t q = 1; q <= n && !j->failed && j->st == STATUS_OK; q++)
        put_one_queue(j, q);
    return STATUS_OK;
}

int service_export(struct reader *r, bool queues, enum record_format format)
{
    struct export j = {.r = r, .st = STATUS_OK};
    int code = EXIT_DONE;
    enum status st = served_reader_open(&j.served, r, clock_wall_ms());

    if (st != STATUS_OK)
        return cannot_read("export", r->dir, st);
    buf_init(&j.metadata, SERVED_BYTES_MOST);
    j.arena = arena_new(ARENA_MOST);
    record_init(&j.out, format);
    st = queues ? export_queues(&j) : export_urls(&j);
    if (st == STATUS_OK)
        st = j.st;
    if (st != STATUS_OK) {
        code = cannot_read("export", r->dir, st);
    } else if (fflush(stdout) != 0 || j.failed) {
        fprintf(stderr, "urlweir export: cannot write the output\n");
        code = EXIT_CANNOT;
    }
    record_fini(&j.out);
    arena_free(j.arena);
    buf_fini(&j.metadata);
    served_reader_close(j.served);
    return code;
}
