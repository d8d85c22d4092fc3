/* SPDX-License-Identifier: MIT */
/*
 * in_links.c - how many pages link to each URL of a crawl.
 *
 * The links of a page are together, so remembering the last page that counted
 * is enough to count each once.
 */
#include "cli/export/in_links.h"

#include <stdlib.h>

#include "base/mem.h"
#include "crawler/html/link_kinds.h"
#include "storage/db/db_row.h"

#define COUNT_MOST ((UINT64_C(1) << 24) - 1)

struct counted {
    uint64_t from : 40, pages : 24; /* stays at COUNT_MOST */
};

struct in_links {
    uint64_t last;
    struct counted *at; /* by id */
};

static bool take_link(void *ctx, const struct link_row *row)
{
    struct in_links *l = ctx;
    struct counted *c = &l->at[row->to <= l->last ? row->to : 0];

    if (row->kind == LINK_REDIRECT || row->from == row->to ||
        row->from == c->from)
        return true;
    c->from = row->from & DB_ID_MOST;
    if (c->pages < COUNT_MOST)
        c->pages++;
    return true;
}

enum status in_links_load(struct in_links **out, struct reader *r)
{
    struct in_links *l;
    enum status st;

    *out = NULL;
    if (link_store_recorded(r->links) == LINK_RECORD_NONE)
        return STATUS_OK;
    l = xcalloc(1, sizeof *l);
    l->last = frontier_store_last_id(r->store);
    l->at = try_calloc(l->last + 1, sizeof *l->at);
    st = l->at != NULL ? link_store_each(r->links, take_link, l) : STATUS_NOMEM;
    if (st == STATUS_OK)
        *out = l;
    else
        in_links_free(l);
    return st;
}

void in_links_free(struct in_links *l)
{
    if (l == NULL)
        return;
    free(l->at);
    free(l);
}

int64_t in_links_of(const struct in_links *l, uint64_t id)
{
    return l != NULL && id <= l->last ? (int64_t)l->at[id].pages : -1;
}
