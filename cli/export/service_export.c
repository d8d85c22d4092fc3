/* SPDX-License-Identifier: MIT */
/*
 * service_export.c - `urlweir export` of a directory of `urlweir serve`.
 *
 * The store keeps metadata as the octets that came in, so this decodes it.
 * Looks up the latest row of each URL by number, one after the other.
 */
#include "cli/export/service_export.h"

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

static void put_view(struct export *j, enum served_view_id view,
                     const struct served_record *f)
{
    struct bytes row;

    j->st = column_view_write(&served_views[view], f, &j->out, &row);
    if (j->st == STATUS_OK)
        j->failed |= fwrite(row.at, 1, row.len, stdout) < row.len;
}

static json_t *metadata_of(struct export *j, uint64_t id)
{
    buf_clear(&j->metadata);
    arena_reset(j->arena);
    j->st = served_reader_metadata(j->served, id, &j->metadata);
    return j->st == STATUS_OK
               ? http_metadata_json(buf_bytes(&j->metadata), j->arena)
               : NULL;
}

static void put_url(void *ctx, const struct url_row *row)
{
    struct export *j = ctx;
    enum url_state state = served_reader_get(j->served, row->id).state;
    struct served_record f;

    if (j->failed || j->st != STATUS_OK || state == URL_STATE_NONE ||
        state == URL_STATE_REMOVED)
        return;
    f = served_reader_record(j->served, row);
    f.metadata = metadata_of(j, row->id);
    if (j->st == STATUS_OK)
        put_view(j, SERVED_VIEW_URLS, &f);
    json_decref(f.metadata);
}

static enum status export_urls(struct export *j)
{
    uint64_t last = frontier_store_last_id(j->r->store);

    return last > 0 ? frontier_store_each(j->r->store, 1, last, put_url, j)
                    : STATUS_OK;
}

static void put_one_queue(struct export *j, uint32_t number)
{
    struct served_record f;

    if (!served_reader_queue(j->served, number)->there)
        return;
    f = served_reader_queue_record(j->served, number);
    put_view(j, SERVED_VIEW_QUEUES, &f);
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
