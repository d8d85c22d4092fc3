/* SPDX-License-Identifier: MIT */
/*
 * sitemap_stream.c - reads a sitemap while it arrives.
 *
 * The alternative, to spool the body to disk and read it at its end, would need
 * 50 MiB of disk per transfer and stall the fetcher's other transfers while it
 * is parsed. In parts, at most a report's worth is parsed between two reads of
 * the socket. Parts are separate reports, sent before the sitemap's own, so its
 * entries are in the store before the sitemap is done.
 */
#include "crawler/sitemap_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crawler/html/links.h"
#include "crawler/outlinks.h"
#include "crawler/report.h"
#include "crawler/robots/robots_tag.h"
#include "crawler/sitemap/sitemap.h"
#include "crawler/sitemap/sitemap_hint.h"
#include "crawler/sitemap_trust.h"

#define PART_ENTRIES ((size_t)1024)
#define PART_TEXT    ((size_t)128 << 10) /* a larger part is sent */
#define PART_MOST    ((size_t)1 << 20)
#define LEVELS_MOST  2 /* of indexes above an index that is followed */

struct sitemap_stream {
    const struct fetcher_options *o;
    struct queue *reports;
    const struct engine_lease *lease;
    struct url page;
    struct sitemap_parser *parser; /* NULL: no octets yet */
    enum status status;
    bool nofollow;           /* X-Robots-Tag */
    uint64_t entries, links; /* `links`: with those to other languages */
    /* the current part */
    struct arena *arena;            /* NULL: it is empty */
    struct outlinks own, elsewhere; /* on the sitemap's host; on others */
};

struct sitemap_stream *sitemap_stream_new(const struct fetcher_options *o,
                                          struct queue *reports,
                                          const struct engine_lease *l)
{
    struct sitemap_stream *s = xcalloc(1, sizeof *s);

    s->o = o;
    s->reports = reports;
    s->lease = l;
    url_init(&s->page);
    if (url_parse(&s->page, l->url, NULL, NULL) != URL_OK)
        s->status = STATUS_FORMAT; /* only a damaged store has such a row */
    return s;
}

void sitemap_stream_free(struct sitemap_stream *s)
{
    if (s == NULL)
        return;
    sitemap_parser_free(s->parser);
    outlinks_fini(&s->own);
    outlinks_fini(&s->elsewhere);
    arena_free(s->arena);
    url_fini(&s->page);
    free(s);
}

/* ---- parts --------------------------------------------------------------- */

static size_t part_count(const struct sitemap_stream *s)
{
    return s->own.item_count + s->own.drop_count + s->elsewhere.item_count;
}

static void begin_part(struct sitemap_stream *s)
{
    s->arena = arena_new(2 * PART_MOST);
    outlinks_begin(&s->own, s->lease, s->arena, PART_MOST);
    outlinks_begin(&s->elsewhere, s->lease, s->arena, PART_MOST);
}

static int by_hint(const struct engine_item *a, const struct engine_item *b)
{
    return sitemap_hint_order(a->hint, b->hint);
}

static void send_part(struct sitemap_stream *s)
{
    struct report *r;

    if (s->arena == NULL)
        return;
    r = report_part(s->lease, s->arena);
    r->elsewhere = s->elsewhere.item_count;
    outlinks_sort(&s->own, by_hint);
    outlinks_sort(&s->elsewhere, by_hint);
    outlinks_append(&s->own, &s->elsewhere);
    outlinks_hand_over(&s->own, &r->done);
    s->arena = NULL;
    queue_send(s->reports, r, report_octets(r));
}

/* ---- entries ------------------------------------------------------------- */

/* The depth of the sitemap, but at least 1: its entries are not seeds. */
static uint32_t entry_depth(const struct sitemap_stream *s)
{
    return s->lease->depth > 0 ? s->lease->depth : 1;
}

/* How many indexes are above the one that names the sitemap of `e`. They are
 * counted as redirects are, and with them. */
static uint16_t levels_above(const struct sitemap_stream *s,
                             const struct sitemap_entry *e)
{
    return e->kind == SITEMAP_SITEMAP && s->lease->kind == LINK_SITEMAP_PART
               ? (uint16_t)(s->lease->hops + 1)
               : 0;
}

/* REASON_NONE: *item is filled in. Otherwise the reason to drop the entry. */
static enum outcome_reason judge_entry(const struct sitemap_stream *s,
                                       const struct url *u,
                                       struct engine_item *item)
{
    if (item->kind == LINK_ALTERNATE &&
        (s->o->kinds & LINK_BIT(LINK_ALTERNATE)) == 0)
        return REASON_KIND;
    if (s->nofollow && !s->o->follow_nofollow)
        return REASON_NOFOLLOW;
    if (item->hops > LEVELS_MOST)
        return REASON_NESTED_INDEX;
    return candidate_take(&s->o->rules, u, item);
}

static void take_entry(void *ctx, const struct sitemap_entry *e)
{
    struct sitemap_stream *s = ctx;
    struct engine_item like = {
        .depth = entry_depth(s),
        .hops = levels_above(s, e),
        .kind = (uint8_t)link_kind_of_entry(e->kind),
    };
    enum outcome_reason no;
    struct url_hint hint;

    s->links++;
    s->entries += e->kind != SITEMAP_ALTERNATE;
    if (s->arena != NULL &&
        (part_count(s) >= PART_ENTRIES || arena_used(s->arena) >= PART_TEXT))
        send_part(s);
    if (s->arena == NULL)
        begin_part(s);
    candidate_form(&s->o->rules, e->url);
    no = judge_entry(s, e->url, &like);
    if (no != REASON_NONE) {
        outlinks_drop(&s->own, no, e->url, &like, 0);
        return;
    }
    if (sitemap_hint(e, &hint))
        like.hint = &hint;
    outlinks_add(sitemap_needs_trust(&s->page, e) ? &s->elsewhere : &s->own,
                 &like);
}

/* ---- octets -------------------------------------------------------------- */

static void take_robots_tag(void *ctx, struct bytes value)
{
    struct sitemap_stream *s = ctx;
    bool noindex = false;

    robots_tag_header(value, bytes_of_str(s->o->product_token), &noindex,
                      &s->nofollow);
}

static void begin(struct sitemap_stream *s, const struct response *a)
{
    const struct sitemap_options so = {
        .base = &s->page,
        .content_type = response_get(a, RESPONSE_CONTENT_TYPE),
        .entries_most = SITEMAP_COUNT_MOST,
        .alternates = true,
    };

    response_each(a, RESPONSE_X_ROBOTS_TAG, take_robots_tag, s);
    s->parser = sitemap_parser_new(&so, take_entry, s);
}

bool sitemap_stream_take(void *stream, const struct response *a,
                         struct bytes octets)
{
    struct sitemap_stream *s = stream;

    if (s->status != STATUS_OK)
        return false;
    if (s->parser == NULL)
        begin(s, a);
    s->status = sitemap_parser_push(s->parser, octets);
    return s->status == STATUS_OK;
}

/* Plain text without any URL is not a list of URLs. */
static bool is_sitemap(const struct sitemap_stream *s)
{
    enum sitemap_format format = sitemap_parser_format(s->parser);

    return format > SITEMAP_TEXT || (format == SITEMAP_TEXT && s->links > 0);
}

struct sitemap_end sitemap_stream_end(struct sitemap_stream *s)
{
    struct sitemap_end end = {.status = s->status};
    enum status st;

    if (s->parser == NULL)
        return end;
    st = sitemap_parser_finish(s->parser);
    send_part(s);
    end.status = end.status == STATUS_OK ? st : end.status;
    end.is_sitemap = is_sitemap(s);
    end.too_many =
        end.status == STATUS_LIMIT && s->entries >= SITEMAP_COUNT_MOST;
    end.links = s->links;
    return end;
}
