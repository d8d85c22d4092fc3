/* SPDX-License-Identifier: MIT */
/* export_links.c - `urlweir export --what links`. */
#include "cli/export/export_links.h"

#include <stdio.h>

#include "crawler/html/link_kinds.h"
#include "frontier/outcome.h"
#include "job/exit_code.h"

struct link_export {
    struct reader *r;
    struct record *out;
    struct buf text, to_text;
    struct url_row from; /* page of the current links; its URL in `text` */
    bool failed, damaged;
};

static void end_row(struct link_export *j)
{
    struct bytes row;
    enum status st = record_end(j->out, &row);

    j->failed |=
        st != STATUS_OK || fwrite(row.at, 1, row.len, stdout) < row.len;
}

static bool put_link(void *ctx, const struct link_row *l)
{
    struct link_export *j = ctx;
    struct url_row to = {.url = l->said.dropped};
    struct outcome o = {.reason = (enum outcome_reason)l->said.reason};
    char reason[24];
    enum status st = STATUS_OK;

    if (l->from != j->from.id)
        st = frontier_store_get(j->r->store, l->from, &j->from, &j->text);
    if (st == STATUS_OK && l->to != 0)
        st = frontier_store_get(j->r->store, l->to, &to, &j->to_text);
    if (st != STATUS_OK) {
        j->damaged = true;
        return false;
    }
    record_text(j->out, "src", j->from.url);
    record_text(j->out, "dst", to.url);
    record_str(j->out, "kind", link_kind_name(l->kind));
    record_text(j->out, "rel", l->said.rel);
    record_text(j->out, "text", l->said.text);
    outcome_reason_text(o, reason, sizeof reason);
    record_str(j->out, "reason", l->to == 0 ? reason : NULL);
    end_row(j);
    return !j->failed;
}

enum status export_links(struct reader *r, struct record *out)
{
    struct link_export j = {.r = r, .out = out};
    enum status st;

    buf_init(&j.text, URL_LENGTH_CEILING + 64);
    buf_init(&j.to_text, URL_LENGTH_CEILING + 64);
    st = link_store_each_whole(r->links, put_link, &j);
    buf_fini(&j.text);
    buf_fini(&j.to_text);
    if (j.damaged)
        return STATUS_DAMAGED;
    return j.failed ? STATUS_IO : st;
}

bool export_has_links(const struct reader *r, int *code)
{
    switch (link_store_recorded(r->links)) {
    case LINK_RECORD_ALL:
        break;
    case LINK_RECORD_PART:
        fprintf(stderr, "urlweir export: a part of the crawl ran without "
                        "--record links; the links of its pages are missing\n");
        break;
    case LINK_RECORD_NONE:
        fprintf(stderr,
                "urlweir export: the crawl in %s did not record its links; "
                "`urlweir crawl --record links` does\n",
                r->dir);
        *code = EXIT_USAGE;
        return false;
    }
    return true;
}
