/* SPDX-License-Identifier: MIT */
/*
 * urlfrontier_list.c - GetURLs and ListURLs: one request, a stream of URLs.
 *
 * The frontier answers in parts. We ask for the next when the caller has read
 * most of the last, so a caller that stops reading costs one part. If a caller
 * is gone before its leased URLs were written, they are given back, so that a
 * cancelled call does not hold them up.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "service/urlfrontier.pb-c.h"
#include "service/urlfrontier/urlfrontier_call.h"
#include "service/urlfrontier/urlfrontier_url.h"

#define REQUEST_MOST (32u << 20) /* octets of a request, unpacked */
#define ANSWER_MOST  (32u << 20) /* octets of one URL */

struct list {
    struct api_call base; /* first */
    struct arena *arena;
    void (*write)(struct buf *out, const struct frontier_url *u);
    bool asked; /* the frontier has the call */
};

static void free_list(struct list *l)
{
    grpc_call_set_user(l->base.grpc, NULL);
    arena_free(l->arena);
    api_call_fini(&l->base);
    free(l);
}

/* ---- what could not be delivered ---- */

static void given_back(struct api_call *a)
{
    api_call_fini(a); /* it does no harm if the lease ended meanwhile */
    free(a);
}

static void give_back_part(struct list *l)
{
    const struct frontier_call *call = &l->base.call;

    for (size_t i = 0; i < call->url_count; i++) {
        struct api_call *g = xcalloc(1, sizeof *g);

        /* makes the URL due again at once */
        api_call_init(g, l->base.grpc, FRONTIER_SETTLE, given_back);
        g->call.in.settle = (struct frontier_settle){
            .lease = call->urls[i].lease,
            .how = URL_SETTLE_FAIL,
        };
        api_submit(g);
    }
}

/* ---- parts ---- */

static void ask(struct list *l)
{
    l->asked = true;
    api_submit(&l->base);
}

static void write_part(struct list *l)
{
    const struct frontier_call *call = &l->base.call;
    struct buf out;

    buf_init(&out, ANSWER_MOST);
    for (size_t i = 0; i < call->url_count; i++) {
        l->write(&out, &call->urls[i]);
        urlfrontier_url_answer(l->base.grpc, &out);
    }
    buf_fini(&out);
}

static void answered(struct api_call *a)
{
    struct list *l = (struct list *)a;

    l->asked = false;
    if (grpc_call_has_ended(a->grpc) && a->call.verb == FRONTIER_GET &&
        a->call.status == STATUS_OK)
        give_back_part(l);
    if (!grpc_call_has_ended(a->grpc) && !api_failed(a)) {
        write_part(l);
        if (a->call.more && !grpc_call_has_ended(a->grpc)) {
            if (grpc_call_room(a->grpc) > 0)
                ask(l);
            return; /* `drained` asks later */
        }
        grpc_call_finish(a->grpc, GRPC_OK, NULL);
    }
    free_list(l);
}

void urlfrontier_list_drained(struct grpc_call *c)
{
    struct list *l = grpc_call_user(c);

    if (l != NULL && !l->asked)
        ask(l);
}

void urlfrontier_list_ended(struct grpc_call *c)
{
    struct list *l = grpc_call_user(c);

    if (l != NULL && !l->asked)
        free_list(l);
}

static struct list *new_list(struct grpc_call *c, enum frontier_verb verb)
{
    struct list *l = xcalloc(1, sizeof *l);

    api_call_init(&l->base, c, verb, answered);
    l->arena = arena_new(REQUEST_MOST);
    grpc_call_set_user(c, l);
    return l;
}

void urlfrontier_get_message(struct grpc_call *c, struct bytes m)
{
    struct list *l = new_list(c, FRONTIER_GET);
    struct frontier_get *in = &l->base.call.in.get;
    const Urlfrontier__GetParams *r =
        grpc_unpack(c, &urlfrontier__get_params__descriptor, l->arena, m);

    l->write = urlfrontier_url_as_info;
    if (r == NULL || !grpc_is_text(c, r->key)) {
        free_list(l);
        return;
    }
    l->base.call.in.key = proto_bytes(r->key);
    in->max_urls_per_queue = r->max_urls_per_queue;
    in->max_queues = r->max_queues;
    in->delay_requestable_s = r->delay_requestable;
    in->any_crawl = r->item_case != URLFRONTIER__GET_PARAMS__ITEM_CRAWL_ID;
    if (!in->any_crawl) {
        l->base.call.in.crawl = proto_bytes(r->crawlid);
        if (!grpc_is_text(c, r->crawlid)) {
            free_list(l);
            return;
        }
    }
    ask(l);
}

/* False: the call has been finished. */
static bool read_list_params(struct grpc_call *c, struct frontier_call *call,
                             const Urlfrontier__ListUrlParams *r)
{
    struct frontier_list *in = &call->in.list;

    in->start = r->start;
    in->size = r->size;
    call->in.key = proto_bytes(r->key);
    call->in.crawl = proto_bytes(r->crawlid);
    in->filtered =
        r->has_filter_case == URLFRONTIER__LIST_URL_PARAMS__HAS_FILTER_FILTER;
    in->ignore_case =
        r->has_ignore_case_case ==
            URLFRONTIER__LIST_URL_PARAMS__HAS_IGNORE_CASE_IGNORE_CASE &&
        r->ignorecase;
    if (in->filtered) {
        in->filter = proto_bytes(r->filter);
        if (!grpc_is_text(c, r->filter))
            return false;
    }
    return grpc_is_text(c, r->key) && grpc_is_text(c, r->crawlid);
}

void urlfrontier_list_message(struct grpc_call *c, struct bytes m)
{
    struct list *l = new_list(c, FRONTIER_LIST_URLS);
    const Urlfrontier__ListUrlParams *r =
        grpc_unpack(c, &urlfrontier__list_url_params__descriptor, l->arena, m);

    l->write = urlfrontier_url_as_item;
    if (r != NULL && read_list_params(c, &l->base.call, r))
        ask(l);
    else
        free_list(l);
}
