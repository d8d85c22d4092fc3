/* SPDX-License-Identifier: MIT */
/*
 * urlfrontier_stream.c - PutURLs and PutDiscovered, GetURLs and ListURLs.
 *
 * All puts from one read of the socket go to the frontier as one batch: so puts
 * of a busy stream share their seen check and commit, and those of a quiet
 * stream do not wait. Acknowledgements are sent when the frontier has made the
 * batch durable, in the order in which URLs came.
 *
 * A stream that has reached its limit of URLs in progress is paused. It goes on
 * when batches have come back and the caller has read their acknowledgements;
 * so a caller that never reads costs the limits below, its flow-control window,
 * and one answer over the mark of grpc_call_room.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/net/proto.h"
#include "service/urlfrontier.pb-c.h"
#include "service/urlfrontier/urlfrontier_call.h"

/* ---- reads URLs from messages and writes them ----
 *
 * Octets on the wire: a field is its number times eight plus its type (0: a
 * varint, 2: length and octets); numbers are those of urlfrontier.proto.
 * Source: protobuf.dev, "Encoding".
 */

#define VARINT 0
#define OCTETS 2

/* ---- in ---- */

static bool metadata_is_text(const Urlfrontier__URLInfo *info)
{
    for (size_t i = 0; i < info->n_metadata; i++) {
        const Urlfrontier__URLInfo__MetadataEntry *e = info->metadata[i];

        if (!bytes_is_utf8(proto_bytes(e->key)))
            return false;
        for (size_t j = 0; e->value != NULL && j < e->value->n_values; j++)
            if (!bytes_is_utf8(proto_bytes(e->value->values[j])))
                return false;
    }
    return true;
}

/* Encodes only the entries of the metadata again and stores them. */
static enum status take_metadata(struct frontier_item *item,
                                 const Urlfrontier__URLInfo *info,
                                 struct arena *a)
{
    Urlfrontier__URLInfo only = URLFRONTIER__URLINFO__INIT;
    uint8_t *at;
    size_t len;

    only.n_metadata = info->n_metadata;
    only.metadata = info->metadata;
    len = urlfrontier__urlinfo__get_packed_size(&only);
    at = arena_try(a, len);
    if (at == NULL)
        return STATUS_LIMIT;
    urlfrontier__urlinfo__pack(&only, at);
    item->metadata = bytes_of(at, len);
    return STATUS_OK;
}

enum status urlfrontier_url_take(struct frontier_item *item,
                                 const Urlfrontier__URLInfo *info,
                                 struct arena *a)
{
    item->url = proto_bytes(info->url);
    item->key = proto_bytes(info->key);
    item->crawl = proto_bytes(info->crawlid);
    if (!bytes_is_utf8(item->url) || !bytes_is_utf8(item->key) ||
        !bytes_is_utf8(item->crawl) || !metadata_is_text(info))
        return STATUS_FORMAT;
    return info->n_metadata > 0 ? take_metadata(item, info, a) : STATUS_OK;
}

/* ---- out ---- */

static size_t varint_size(uint64_t n)
{
    size_t size = 1;

    while (n >= 0x80) {
        n >>= 7;
        size++;
    }
    return size;
}

static void add_varint(struct buf *out, uint64_t n)
{
    while (n >= 0x80) {
        buf_add_char(out, (char)(unsigned char)(n | 0x80));
        n >>= 7;
    }
    buf_add_char(out, (char)(unsigned char)n);
}

static void add_tag(struct buf *out, unsigned field, unsigned type)
{
    buf_add_char(out, (char)(field << 3 | type)); /* fields up to 15 */
}

/* Empty strings and zeros are not written. */
static size_t octets_size(size_t len)
{
    return len == 0 ? 0 : 1 + varint_size(len) + len;
}

static void add_octets(struct buf *out, unsigned field, struct bytes b)
{
    if (b.len == 0)
        return;
    add_tag(out, field, OCTETS);
    add_varint(out, b.len);
    buf_add_bytes(out, b);
}

static void info_add_number(struct buf *out, unsigned field, uint64_t n)
{
    if (n == 0)
        return;
    add_tag(out, field, VARINT);
    add_varint(out, n);
}

static size_t info_size(const struct frontier_url *u)
{
    return octets_size(u->url.len) + octets_size(u->key.len) +
           octets_size(u->crawl.len) + u->metadata.len;
}

/* Append a message of type URLInfo. */
static void urlfrontier_url_as_info(struct buf *out,
                                    const struct frontier_url *u)
{
    add_octets(out, 1, u->url);
    add_octets(out, 2, u->key);
    buf_add_bytes(out, u->metadata);
    add_octets(out, 4, u->crawl);
}

/* URLItem { 2 known { 1 info, 2 refetchable_from_date }, 4 creation_date } */
void urlfrontier_url_as_item(struct buf *out, const struct frontier_url *u)
{
    size_t info = info_size(u);
    size_t known = 1 + varint_size(info) + info;

    if (u->refetch_s > 0)
        known += 1 + varint_size(u->refetch_s);
    add_tag(out, 2, OCTETS);
    add_varint(out, known);
    add_tag(out, 1, OCTETS);
    add_varint(out, info);
    urlfrontier_url_as_info(out, u);
    info_add_number(out, 2, u->refetch_s);
    info_add_number(out, 4, u->created_s);
}

void urlfrontier_url_answer(struct grpc_call *c, struct buf *out)
{
    char *at;

    if (buf_failed(out) != STATUS_OK)
        grpc_call_finish(c, GRPC_RESOURCE_EXHAUSTED, "the answer is too large");
    at = grpc_call_answer(c, out->len);
    if (at != NULL && out->len > 0)
        memcpy(at, out->at, out->len);
    buf_clear(out);
}

#define PUT_URLS_MOST   8192 /* in progress, of a stream of PutURLs */
#define BATCH_URLS      1024 /* PutURLs: then the batch is sent on */
#define DISCOVERED_MOST 1024 /* the reference service's limits */
#define BATCHES_MOST    16
#define STREAM_OCTETS   (8u << 20)   /* in progress, of one stream */
#define ALL_OCTETS      (128u << 20) /* of all, for more than one batch each */
#define BATCH_MEMORY    (64u << 20)  /* one batch unpacked */
#define BATCH_MARK      (1u << 20)   /* PutURLs: enough for one batch */

struct put_stream {
    struct grpc_call *call;         /* NULL: ended */
    struct put_batch *open;         /* PutURLs: being filled */
    struct put_batch *first, *last; /* sent to the frontier, oldest first */
    size_t urls, octets, batches;   /* in progress, `open` included */
    bool half_closed, stopping;
};

struct put_batch {
    struct api_call base; /* first */
    struct put_stream *stream;
    struct put_batch *next; /* the stream's next batch */
    struct arena *arena;
    struct frontier_item *items;
    struct bytes *ids; /* PutURLs: one for each item; PutDiscovered: one */
    size_t n, cap;
    size_t given; /* items answered so far; large batches go to the frontier in
                     pieces */
    size_t octets;
    bool discovered;
    bool answered; /* acknowledged once those before it are */
};

/* ---- streams ---- */

static void begun(struct grpc_call *c)
{
    struct put_stream *s = xcalloc(1, sizeof *s);

    s->call = c;
    grpc_call_set_user(c, s);
}

static void free_if_over(struct put_stream *s)
{
    if (s->call == NULL && s->batches == 0)
        free(s);
}

static bool has_its_fill(const struct put_stream *s, bool discovered)
{
    size_t all = *api_put_octets(grpc_call_ctx(s->call));

    if (s->octets >= STREAM_OCTETS || (s->octets > 0 && all >= ALL_OCTETS))
        return true;
    if (discovered)
        return s->urls >= DISCOVERED_MOST || s->batches >= BATCHES_MOST;
    return s->urls >= PUT_URLS_MOST;
}

static bool is_discovered(const struct grpc_call *c);

/* After a message: pauses the call if the stream has reached its limit. */
static void pause_if_full(struct put_stream *s)
{
    if (s->stopping || has_its_fill(s, is_discovered(s->call)) ||
        grpc_call_room(s->call) == 0)
        grpc_call_pause(s->call);
}

/* After answers came, or some were read: goes on, or ends the call. A stream
 * that waits for nothing may be ended where there are too many. */
static void stream_go_on(struct grpc_call *c)
{
    struct put_stream *s = grpc_call_user(c);

    if (s->batches == 0 && s->stopping)
        grpc_call_finish(c, GRPC_UNAVAILABLE, "the service is stopping");
    else if (s->batches == 0 && s->half_closed)
        grpc_call_finish(c, GRPC_OK, NULL);
    else if (!s->stopping && !has_its_fill(s, is_discovered(c)) &&
             grpc_call_room(c) > 0)
        grpc_call_resume(c);
    if (!grpc_call_has_ended(c) && s->batches == 0)
        grpc_call_set_idle(c);
}

/* ---- batches ---- */

static void batch_answered(struct api_call *a);

static struct put_batch *new_batch(struct put_stream *s)
{
    struct put_batch *b = xcalloc(1, sizeof *b);

    api_call_init(&b->base, s->call, FRONTIER_PUT, batch_answered);
    b->stream = s;
    b->arena = arena_new(BATCH_MEMORY);
    s->batches++;
    return b;
}

static void count_octets(struct put_batch *b, size_t n)
{
    b->octets += n;
    b->stream->octets += n;
    *api_put_octets(b->base.api) += n;
}

static void free_batch(struct put_batch *b)
{
    struct put_stream *s = b->stream;

    s->batches--;
    s->urls -= b->n;
    s->octets -= b->octets;
    *api_put_octets(b->base.api) -= b->octets;
    arena_free(b->arena);
    free(b->items);
    free(b->ids);
    api_call_fini(&b->base);
    free(b);
}

static struct frontier_item *new_item(struct put_batch *b)
{
    struct frontier_item *item;

    if (b->n == b->cap) {
        b->cap = b->cap > 0 ? 2 * b->cap : 16;
        b->items = xrealloc(b->items, b->cap * sizeof *b->items);
        if (!b->discovered)
            b->ids = xrealloc(b->ids, b->cap * sizeof *b->ids);
    }
    item = &b->items[b->n++];
    *item = (struct frontier_item){0};
    b->stream->urls++;
    return item;
}

/* Appends a batch to the list that gives the order of acknowledgements. */
static void line_up(struct put_batch *b)
{
    struct put_stream *s = b->stream;

    if (s->last != NULL)
        s->last->next = b;
    else
        s->first = b;
    s->last = b;
}

static void stream_submit(struct put_batch *b)
{
    size_t left = b->n - b->given;

    b->base.call.in.put.items = b->items + b->given;
    b->base.call.in.put.n = left < FRONTIER_PUT_MOST ? left : FRONTIER_PUT_MOST;
    api_submit(&b->base);
}

/* ---- PutURLs ---- */

static void send_open(struct grpc_call *c)
{
    struct put_stream *s = grpc_call_user(c);
    struct put_batch *b = s->open;

    s->open = NULL;
    if (b == NULL)
        return;
    line_up(b);
    stream_submit(b);
}

/* STATUS_FORMAT: a string is not UTF-8. */
static enum status stream_take_item(struct put_batch *b,
                                    const Urlfrontier__URLItem *m)
{
    const Urlfrontier__URLInfo *info = NULL;
    struct frontier_item *item = new_item(b);

    if (m->item_case == URLFRONTIER__URLITEM__ITEM_DISCOVERED) {
        item->kind = FRONTIER_ITEM_DISCOVERED;
        info = m->discovered->info;
    } else if (m->item_case == URLFRONTIER__URLITEM__ITEM_KNOWN) {
        item->kind = FRONTIER_ITEM_KNOWN;
        item->refetch_s = m->known->refetchable_from_date;
        info = m->known->info;
    }
    b->ids[b->n - 1] = proto_bytes(m->id);
    if (!bytes_is_utf8(b->ids[b->n - 1]))
        return STATUS_FORMAT;
    if (info == NULL)
        return STATUS_OK;
    if (m->id.len == 0)
        b->ids[b->n - 1] = proto_bytes(info->url);
    return urlfrontier_url_take(item, info, b->arena);
}

static void put_message(struct grpc_call *c, struct bytes m)
{
    struct put_stream *s = grpc_call_user(c);
    const Urlfrontier__URLItem *item;
    struct put_batch *b;

    if (s->open == NULL)
        s->open = new_batch(s);
    b = s->open;
    count_octets(b, m.len);
    item = grpc_unpack(c, &urlfrontier__urlitem__descriptor, b->arena, m);
    if (item == NULL)
        return;
    if (stream_take_item(b, item) != STATUS_OK) {
        grpc_call_finish(c, GRPC_INTERNAL, "a string is not UTF-8");
        return;
    }
    if (b->n == BATCH_URLS || arena_used(b->arena) > BATCH_MARK)
        send_open(c);
    pause_if_full(s);
}

static void acknowledge(struct put_batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        Urlfrontier__AckMessage out = URLFRONTIER__ACK_MESSAGE__INIT;

        out.id = proto_data(b->ids[i]);
        out.status = (Urlfrontier__AckMessage__Status)b->items[i].ack;
        grpc_pack(b->base.grpc, &out.base);
    }
}

/* ---- PutDiscovered ---- */

static void acknowledge_discovered(struct put_batch *b)
{
    Urlfrontier__BatchAck out = URLFRONTIER__BATCH_ACK__INIT;

    out.id = proto_data(b->ids[0]);
    out.n_statuses = b->n;
    out.statuses = xcalloc(b->n > 0 ? b->n : 1, sizeof *out.statuses);
    for (size_t i = 0; i < b->n; i++)
        out.statuses[i] = (Urlfrontier__AckMessage__Status)b->items[i].ack;
    grpc_pack(b->base.grpc, &out.base);
    free(out.statuses);
}

/* `b` is answered: acknowledges it and those that waited for it, unless one
 * before it is not answered yet. */
static void acknowledge_answered(struct put_stream *s, struct put_batch *b)
{
    b->answered = true;
    while ((b = s->first) != NULL && b->answered) {
        s->first = b->next;
        if (s->first == NULL)
            s->last = NULL;
        if (s->call != NULL && !grpc_call_has_ended(s->call)) {
            if (b->discovered)
                acknowledge_discovered(b);
            else
                acknowledge(b);
        }
        free_batch(b);
    }
}

static void discovered_message(struct grpc_call *c, struct bytes m)
{
    struct put_stream *s = grpc_call_user(c);
    struct put_batch *b = new_batch(s);
    enum status st = STATUS_OK;
    const Urlfrontier__DiscoveredBatch *in;

    b->discovered = true;
    count_octets(b, m.len);
    in =
        grpc_unpack(c, &urlfrontier__discovered_batch__descriptor, b->arena, m);
    for (size_t i = 0; in != NULL && st == STATUS_OK && i < in->n_items; i++) {
        struct frontier_item *item = new_item(b);

        item->kind = FRONTIER_ITEM_DISCOVERED;
        st = urlfrontier_url_take(item, in->items[i], b->arena);
    }
    if (in == NULL || st != STATUS_OK || !grpc_is_text(c, in->id)) {
        grpc_call_finish(c, GRPC_INTERNAL, "a string is not UTF-8");
        free_batch(b);
        return;
    }
    b->ids = xmalloc(sizeof *b->ids);
    b->ids[0] = proto_bytes(in->id);
    line_up(b);
    if (b->n > 0)
        stream_submit(b);
    else /* no URLs to put */
        acknowledge_answered(s, b);
    pause_if_full(s);
}

/* ---- answers ---- */

/* A piece is answered. If the frontier failed, all its items are FAIL. */
static void count_given(struct put_batch *b)
{
    const struct frontier_put *in = &b->base.call.in.put;

    if (b->base.call.status != STATUS_OK)
        for (size_t i = 0; i < in->n; i++)
            in->items[i].ack = FRONTIER_ACK_FAIL;
    b->given += in->n;
}

static void batch_answered(struct api_call *a)
{
    struct put_batch *b = (struct put_batch *)a;
    struct put_stream *s = b->stream;

    count_given(b);
    if (b->given < b->n) {
        stream_submit(b);
        return;
    }
    acknowledge_answered(s, b);
    if (s->call == NULL)
        free_if_over(s);
    else if (!grpc_call_has_ended(s->call))
        stream_go_on(s->call);
}

static void half_closed(struct grpc_call *c)
{
    struct put_stream *s = grpc_call_user(c);

    s->half_closed = true;
    send_open(c);
    if (s->batches == 0)
        grpc_call_finish(c, GRPC_OK, NULL);
}

static void stopping(struct grpc_call *c)
{
    struct put_stream *s = grpc_call_user(c);

    s->stopping = true;
    grpc_call_pause(c);
    send_open(c);
    stream_go_on(c);
}

static void ended(struct grpc_call *c)
{
    struct put_stream *s = grpc_call_user(c);

    if (s->open != NULL)
        free_batch(s->open); /* not acknowledged */
    s->open = NULL;
    s->call = NULL;
    free_if_over(s);
}

#define STREAM_OF_PUTS                                                         \
    .kind = GRPC_STREAM, .role = AUTH_WRITE, .begun = begun,                   \
    .half_closed = half_closed, .drained = stream_go_on, .stopping = stopping, \
    .ended = ended

const struct grpc_method urlfrontier_put_methods[] = {
    {STREAM_OF_PUTS, .path = "/urlfrontier.URLFrontier/PutURLs",
     .message = put_message, .turn = send_open},
    {STREAM_OF_PUTS, .path = "/urlfrontier.URLFrontier/PutDiscovered",
     .message = discovered_message},
    {.path = NULL},
};

static bool is_discovered(const struct grpc_call *c)
{
    return grpc_call_method(c) == &urlfrontier_put_methods[1];
}

/* ---- GetURLs and ListURLs: one request, a stream of URLs ----
 *
 * The frontier answers in parts. We ask for the next when the caller has read
 * most of the last, so a caller that stops reading costs one part. If a caller
 * is gone before its leased URLs were written, they are given back, so that a
 * cancelled call does not hold them up.
 */

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

static void stream_ask(struct list *l)
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

static void stream_answered(struct api_call *a)
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
                stream_ask(l);
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
        stream_ask(l);
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

    api_call_init(&l->base, c, verb, stream_answered);
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
    stream_ask(l);
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
        stream_ask(l);
    else
        free_list(l);
}
