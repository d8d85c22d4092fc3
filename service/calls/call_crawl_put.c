/* SPDX-License-Identifier: MIT */
/*
 * call_crawl_put.c - URLs that other programs found or fetched, put into a
 * crawl of our own.
 *
 *   discovered ─► canonical ─► in scope? ─► seen? ─► queued
 *   known      ─► canonical ─► known here? ─── no ─► in scope? ─► admitted
 *                                  │ yes                            │
 *                                  └──────► done, or due later ◄────┘
 *
 * Adjacent discovered URLs pass the seen check together; a known one between
 * them is handled in its turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crawler/html/link_values.h"
#include "frontier/url/queue_key.h"
#include "service/calls/call_crawl_impl.h"
#include "service/net/proto.h"
#include "service/urlfrontier.pb-c.h"

/* ---- the metadata of URLs that are leased and put back ----
 *
 * Out: depth, kind, via. In: depth, and the status that StormCrawler keeps
 * under fetch.statusCode (stormcrawler.net, "Metadata"). The crawl does not
 * keep any other entry: it has rows, not metadata.
 */

#define ENTRIES 3

struct entry {
    Urlfrontier__URLInfo__MetadataEntry entry;
    Urlfrontier__StringList list;
    ProtobufCBinaryData value;
};

static void set(Urlfrontier__URLInfo *info, struct entry *e, const char *name,
                struct bytes value)
{
    if (value.len == 0)
        return;
    urlfrontier__urlinfo__metadata_entry__init(&e->entry);
    urlfrontier__string_list__init(&e->list);
    e->value = proto_data(value);
    e->list.values = &e->value;
    e->list.n_values = 1;
    e->entry.key = proto_data(bytes_of_str(name));
    e->entry.value = &e->list;
    info->metadata[info->n_metadata++] = &e->entry;
}

void call_metadata_make(struct buf *out, uint32_t depth, uint8_t kind,
                        struct bytes via)
{
    Urlfrontier__URLInfo info = URLFRONTIER__URLINFO__INIT;
    Urlfrontier__URLInfo__MetadataEntry *list[ENTRIES];
    struct entry entries[ENTRIES];
    char number[16];
    char *at;
    size_t len;

    info.metadata = list;
    snprintf(number, sizeof number, "%u", (unsigned)depth);
    set(&info, &entries[0], "depth", bytes_of_str(number));
    set(&info, &entries[1], "kind",
        bytes_of_str(link_kind_name((enum link_kind)kind)));
    set(&info, &entries[2], "via", via);
    len = urlfrontier__urlinfo__get_packed_size(&info);
    buf_clear(out);
    at = buf_room(out, len);
    if (at == NULL)
        return; /* `via` is too long: leave it out */
    urlfrontier__urlinfo__pack(&info, (uint8_t *)at);
    buf_grew(out, len);
}

static bool put_read_number(struct bytes text, uint32_t *out)
{
    uint32_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9' || n > 99999999)
            return false;
        n = n * 10 + (uint32_t)(text.at[i] - '0');
    }
    *out = n;
    return text.len > 0;
}

/* The first value of `name` as a number; false if it has none. */
static bool call_metadata_number(struct bytes metadata, const char *name,
                                 struct arena *a, uint32_t *out)
{
    const Urlfrontier__URLInfo *info;

    if (metadata.len == 0)
        return false;
    info = (const Urlfrontier__URLInfo *)
        proto_unpack(&urlfrontier__urlinfo__descriptor, a, metadata);
    for (size_t i = 0; info != NULL && i < info->n_metadata; i++) {
        const Urlfrontier__URLInfo__MetadataEntry *e = info->metadata[i];

        if (bytes_is(proto_bytes(e->key), name))
            return e->value != NULL && e->value->n_values > 0 &&
                   put_read_number(proto_bytes(e->value->values[0]), out);
    }
    return false;
}

uint16_t call_metadata_http_status(struct bytes metadata, struct arena *a)
{
    uint32_t n;

    return call_metadata_number(metadata, "fetch.statusCode", a, &n) &&
                   n >= 100 && n < 600
               ? (uint16_t)n
               : 0;
}

/* ---- puts ---- */

#define MEMORY_MOST ((size_t)128 << 20) /* texts and metadata of a slice */

struct putting {
    struct call_crawl *c;
    const struct candidate_rules *rules;
    struct arena *arena;
    struct url url;
    /* discovered, not yet put */
    struct url_item *items;
    struct frontier_item **from; /* the item of each */
    size_t count;
    struct url_drop *drops;
    size_t drop_count;
    uint64_t *ids;
};

/* ---- one URL ---- */

/* At least 1: only seeds have depth 0, and a person gives those. */
static uint32_t depth_of(struct putting *p, const struct frontier_item *item)
{
    uint32_t depth = 1;

    return call_metadata_number(item->metadata, "depth", p->arena, &depth) &&
                   depth > 0
               ? depth
               : 1;
}

/* Sets p->url to the form that the URL has in a crawl of our own. */
static bool to_canonical(struct putting *p, struct bytes url)
{
    return candidate_read(p->rules, &p->url, url, NULL) == URL_OK;
}

static void add_drop(struct putting *p, enum outcome_reason reason,
                     const struct url_item *like)
{
    struct bytes text = url_text(&p->url), host = url_host(&p->url);
    char *at = arena_try_copy(p->arena, text.at, text.len);
    char *host_at = arena_try_copy(p->arena, host.at, host.len);

    if (at != NULL && host_at != NULL)
        p->drops[p->drop_count++] =
            (struct url_drop){.reason = reason,
                              .host = bytes_of(host_at, host.len),
                              .url = bytes_of(at, text.len),
                              .whole = true,
                              .kind = like->kind,
                              .depth = like->depth};
}

/* Turns p->url into an item if it is in scope; otherwise drops it. */
static bool to_item(struct putting *p, const struct frontier_item *item,
                    struct url_item *out)
{
    enum outcome_reason no;
    char *at;

    *out = (struct url_item){.depth = depth_of(p, item), .kind = LINK_A};
    no = candidate_take(p->rules, &p->url, out);
    if (no != REASON_NONE) {
        add_drop(p, no, out);
        return false;
    }
    at = arena_try_copy(p->arena, out->url.at, out->url.len);
    if (at != NULL)
        candidate_moved(out, at);
    return at != NULL;
}

/* ---- discovered ---- */

static enum status put_discovered(struct putting *p)
{
    enum status st;

    if (p->count + p->drop_count == 0)
        return STATUS_OK;
    st = external_discover(p->c->frontier, p->items, p->count, p->drops,
                           p->drop_count, p->c->now, p->c->wall_ms, p->ids);
    for (size_t i = 0; st == STATUS_OK && i < p->count; i++)
        p->from[i]->ack =
            p->ids[i] != 0 ? FRONTIER_ACK_OK : FRONTIER_ACK_SKIPPED;
    p->count = p->drop_count = 0;
    return st;
}

/* A crawl of our own decides when a new URL is due: one with a date is skipped
 * rather than served at another time. */
static void take_discovered(struct putting *p, struct frontier_item *item)
{
    item->ack = FRONTIER_ACK_SKIPPED;
    if (item->refetch_s > 0 || !to_canonical(p, item->url) ||
        !to_item(p, item, &p->items[p->count]))
        return;
    item->ack = FRONTIER_ACK_FAIL; /* until it is put */
    p->from[p->count++] = item;
}

/* ---- known ---- */

/* Adds a row for a URL that the crawl has not seen; *id is 0 if it is out of
 * scope. */
static enum status admit(struct putting *p, const struct frontier_item *item,
                         uint64_t *id)
{
    struct url_item e;
    bool wanted = to_item(p, item, &e);
    enum status st =
        external_discover(p->c->frontier, &e, wanted ? 1 : 0, p->drops,
                          p->drop_count, p->c->now, p->c->wall_ms, p->ids);

    *id = wanted && st == STATUS_OK ? p->ids[0] : 0;
    p->drop_count = 0;
    return st;
}

static enum status take_known(struct putting *p, struct frontier_item *item)
{
    struct call_crawl *c = p->c;
    const struct external_report word = {
        .final = item->refetch_s == 0,
        .due_ms = wire_ms(item->refetch_s),
        .http_status = call_metadata_http_status(item->metadata, p->arena),
    };
    enum external_result said = EXTERNAL_SETTLED;
    uint64_t id = 0;
    enum status st = put_discovered(p); /* keeps the order */

    item->ack = FRONTIER_ACK_SKIPPED;
    if (st != STATUS_OK || !to_canonical(p, item->url))
        return st;
    st = frontier_identify(c->frontier, queue_key_of(&p->url),
                           url_text(&p->url), &id);
    if (st == STATUS_OK && id == 0)
        st = admit(p, item, &id);
    if (st != STATUS_OK || id == 0)
        return st;
    st = external_settle(c->frontier, id, &word, c->now, c->wall_ms, &said);
    if (st == STATUS_OK && (said != EXTERNAL_WAS_DONE || word.final))
        item->ack = FRONTIER_ACK_OK;
    return st;
}

/* ---- a slice ---- */

static struct putting *putting_new(struct call_crawl *c, size_t n)
{
    struct putting *p = xcalloc(1, sizeof *p);

    p->c = c;
    p->rules = &crawl_fetching(c->crawl)->rules;
    p->arena = arena_new(MEMORY_MOST);
    url_init(&p->url);
    p->items = xcalloc(n, sizeof *p->items);
    p->from = xcalloc(n, sizeof(struct frontier_item *));
    p->drops = xcalloc(n, sizeof *p->drops);
    p->ids = xcalloc(n, sizeof *p->ids);
    return p;
}

static void putting_free(struct putting *p)
{
    url_fini(&p->url);
    arena_free(p->arena);
    free(p->items);
    free(p->from);
    free(p->drops);
    free(p->ids);
    free(p);
}

enum status call_crawl_put(void *of, struct frontier_item *const *items,
                           size_t n)
{
    struct call_crawl *c = of;
    struct putting *p = putting_new(c, n);
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        if (items[i]->kind == FRONTIER_ITEM_DISCOVERED)
            take_discovered(p, items[i]);
        else
            st = take_known(p, items[i]);
    }
    if (st == STATUS_OK)
        st = put_discovered(p);
    putting_free(p);
    c->task.durable = true;
    return st;
}
