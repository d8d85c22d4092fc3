/* SPDX-License-Identifier: MIT */
/*
 * router_delete.c - deletes a crawl of our own for a program that uses only the
 * frontier's API.
 *
 * It does the same as DELETE /v1/crawls/NAME: it stops the crawl at once and
 * deletes its directory with everything in it, pages and WARC files too. The
 * caller has the role that DELETE requires.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/served/served_name.h"
#include "service/calls/call_answer.h"
#include "service/calls/router_impl.h"

struct deletion {
    struct crawls_call base; /* first */
    struct frontier_call *call;
};

/* Copies `why`: call->why must outlive the deletion. */
static void refuse(struct frontier_call *call, const char *why)
{
    struct bytes kept = answer_keep(call, bytes_of(why, strlen(why) + 1));

    answer_refuse(call, kept.len > 0 ? kept.at
                                     : "not in the crawl's present "
                                       "state");
}

static void deleted(struct crawls_call *base)
{
    struct deletion *d = (struct deletion *)base;
    struct frontier_call *call = d->call;
    const json_t *n = json_object_get(base->out, "deleted");

    answer_begin(call);
    if (base->status == STATUS_OK)
        call->number = (uint64_t)json_integer_value(n);
    else if (base->status == STATUS_BUSY)
        refuse(call, base->why);
    else if (base->status != STATUS_NOT_FOUND) /* else already deleted */
        answer_fail(call, base->status);
    json_decref(base->out);
    free(d);
    call->done(call); /* no longer ours */
}

enum status router_delete(struct router *r, struct frontier_call *call)
{
    struct deletion *d = xcalloc(1, sizeof *d);
    enum status st;

    d->base.verb = CRAWLS_DELETE;
    d->base.crawl = served_crawl_name(call->in.crawl);
    d->base.done = deleted;
    d->call = call;
    st = crawls_submit(r->crawls, &d->base);
    if (st != STATUS_OK)
        free(d);
    return st;
}
