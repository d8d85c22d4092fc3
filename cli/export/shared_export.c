/* SPDX-License-Identifier: MIT */
/* shared_export.c - `urlweir export` of the URLs of `urlweir serve --cluster`.
 */
#include "cli/export/shared_export.h"

#include <jansson.h>
#include <stdio.h>

#include "base/arena.h"
#include "cli/command.h"
#include "cli/status/shared_place.h"
#include "frontier/served/served_columns.h"
#include "service/http/http_text.h"

#define ARENA_MOST ((size_t)64 << 20)
#define BUDGET     100000 /* URLs looked at in one call */

struct export
{
    struct record out;
    struct arena *arena;
    enum status st;
    bool failed; /* stdout is gone */
};

static bool put_url(void *ctx, const struct url_view *v)
{
    struct export *j = ctx;
    struct served_record f = {.url = v->url,
                              .crawl = v->crawl,
                              .key = v->key,
                              .state = v->due_ms == 0 ? URL_STATE_COMPLETED
                                       : v->leased_until_ms != 0
                                           ? URL_STATE_LEASED
                                           : URL_STATE_QUEUED,
                              .due_ms = v->due_ms,
                              .created_ms = v->created_ms,
                              .leased_until_ms = v->leased_until_ms};
    struct bytes row;

    arena_reset(j->arena);
    f.metadata = http_metadata_json(v->metadata, j->arena);
    j->st =
        column_view_write(&served_views[SERVED_VIEW_URL], &f, &j->out, &row);
    json_decref(f.metadata);
    if (j->st == STATUS_OK)
        j->failed |= fwrite(row.at, 1, row.len, stdout) < row.len;
    return j->st == STATUS_OK && !j->failed;
}

static enum status export_crawl(struct export *j, struct shared_hand *h,
                                struct bytes crawl)
{
    struct url_list l = {.crawl = crawl, .budget = BUDGET};
    enum status st = STATUS_OK;
    bool more = true;

    while (st == STATUS_OK && more && !j->failed) {
        st = shared_list(h, &l, put_url, j, &more);
        if (st == STATUS_OK)
            st = j->st;
    }
    return st;
}

static enum status export_all(struct export *j, struct shared_hand *h)
{
    const struct bytes *names;
    size_t n = 0;
    enum status st = shared_crawls(h, &names, &n);

    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = export_crawl(j, h, names[i]);
    return st;
}

int shared_export(const char *url, enum record_format format)
{
    struct export j = {.st = STATUS_OK};
    struct shared_place p;
    struct buf why;
    int code = EXIT_DONE;
    enum status st;

    buf_init(&why, 8192);
    j.arena = arena_new(ARENA_MOST);
    record_init(&j.out, format);
    st = shared_place_open(&p, url, &why);
    if (st == STATUS_ARG || st == STATUS_NOT_FOUND)
        buf_add_str(&why, "; the rows of a crawl in a cluster are in the "
                          "directories of its workers: `urlweir export "
                          "--merge DIR...`");
    if (st == STATUS_OK && (st = export_all(&j, p.hand)) != STATUS_OK)
        buf_addf(&why, "the cluster: %s", status_text(st));
    if (st == STATUS_OK && (fflush(stdout) != 0 || j.failed)) {
        buf_add_str(&why, "cannot write the output");
        st = STATUS_IO;
    }
    if (st != STATUS_OK)
        code = command_failed("export", buf_str(&why));
    shared_place_close(&p);
    record_fini(&j.out);
    arena_free(j.arena);
    buf_fini(&why);
    return code;
}
