/* SPDX-License-Identifier: MIT */
/*
 * link_finder.c - the links of one answer, made ready for the frontier.
 *
 * The digest is taken before the scope is asked: pages repeat their links (a
 * menu, a logo), and a repeat is found by its digest in 20 ns, where the scope
 * may run regular expressions.
 */
#include "crawler/link_finder.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crawler/sitemap.h"
#include "frontier/url_params.h"

#define SEEN_LEAST     ((size_t)256)
#define SEEN_KEPT      ((size_t)4096)
#define KEPT_COUNT     ((size_t)4096) /* room kept between pages */
#define DROP_TEXT_MOST ((size_t)2048)

/* Digests of the links of this page: open addressing, at most half full. */
struct seen {
    struct digest *slots; /* all zero: free */
    size_t cap, count;
};

struct link_finder {
    const struct fetcher_options *o;
    struct link_parser *parser;
    struct url target; /* of header fields */
    /* this page */
    const struct engine_lease *lease;
    struct url page;
    struct arena *arena;
    size_t most;
    bool full;
    uint64_t found;
    struct engine_item *items;
    size_t item_count, item_cap;
    struct engine_drop *drops;
    size_t drop_count, drop_cap;
    struct seen seen;
};

/* ---- digests seen on this page ------------------------------------------- */

static void seen_reset(struct seen *s)
{
    if (s->cap == 0 || s->cap > SEEN_KEPT) {
        free(s->slots);
        s->cap = SEEN_LEAST;
        s->slots = xmalloc(s->cap * sizeof *s->slots);
    }
    memset(s->slots, 0, s->cap * sizeof *s->slots);
    s->count = 0;
}

static bool is_free(struct digest d)
{
    return d.hi == 0 && d.lo == 0;
}

/* The slot that holds `d`, or the free one where it belongs. */
static struct digest *seen_slot(struct seen *s, struct digest d)
{
    size_t i = (size_t)d.lo & (s->cap - 1);

    while (!is_free(s->slots[i]) && !digest_equal(s->slots[i], d))
        i = (i + 1) & (s->cap - 1);
    return &s->slots[i];
}

static void seen_grow(struct seen *s)
{
    struct seen larger = {.cap = s->cap * 2, .count = s->count};

    larger.slots = xcalloc(larger.cap, sizeof *larger.slots);
    for (size_t i = 0; i < s->cap; i++) {
        if (!is_free(s->slots[i]))
            *seen_slot(&larger, s->slots[i]) = s->slots[i];
    }
    free(s->slots);
    *s = larger;
}

/* True: it was there. */
static bool seen_before(struct seen *s, struct digest d)
{
    struct digest *slot = seen_slot(s, d);

    if (!is_free(*slot))
        return true;
    *slot = d;
    if (++s->count * 2 > s->cap)
        seen_grow(s);
    return false;
}

/* ---- life ---------------------------------------------------------------- */

struct link_finder *link_finder_new(const struct fetcher_options *o)
{
    struct link_finder *f = xcalloc(1, sizeof *f);

    f->o = o;
    f->parser = link_parser_new(o->product_token);
    url_init(&f->page);
    url_init(&f->target);
    return f;
}

void link_finder_free(struct link_finder *f)
{
    if (f == NULL)
        return;
    link_parser_free(f->parser);
    url_fini(&f->page);
    url_fini(&f->target);
    free(f->items);
    free(f->drops);
    free(f->seen.slots);
    free(f);
}

static void trim(struct link_finder *f)
{
    if (f->item_cap > KEPT_COUNT) {
        free(f->items);
        f->items = NULL;
        f->item_cap = 0;
    }
    if (f->drop_cap > KEPT_COUNT) {
        free(f->drops);
        f->drops = NULL;
        f->drop_cap = 0;
    }
}

bool link_finder_begin(struct link_finder *f, const struct engine_lease *lease,
                       struct arena *arena, size_t most)
{
    trim(f);
    f->lease = lease;
    f->arena = arena;
    f->most = most;
    f->full = false;
    f->found = 0;
    f->item_count = f->drop_count = 0;
    seen_reset(&f->seen);
    return url_parse(&f->page, lease->url, NULL, NULL) == URL_OK;
}

/* ---- items and drops ----------------------------------------------------- */

/* Is there room for `len` octets and one more of both arrays? */
static bool has_room(struct link_finder *f, size_t len)
{
    size_t arrays = (f->item_count + 1) * sizeof *f->items +
                    (f->drop_count + 1) * sizeof *f->drops;

    return !f->full && len <= f->most &&
           arena_used(f->arena) + arrays <= f->most - len;
}

static struct engine_drop *new_drop(struct link_finder *f)
{
    if (f->drop_count == f->drop_cap) {
        f->drop_cap = f->drop_cap > 0 ? f->drop_cap * 2 : 64;
        f->drops = xrealloc(f->drops, f->drop_cap * sizeof *f->drops);
    }
    return &f->drops[f->drop_count++];
}

/* All further links of this page, in one drop that names the page. */
static void overflow(struct link_finder *f)
{
    if (f->full)
        return;
    f->full = true;
    *new_drop(f) =
        (struct engine_drop){REASON_LINK_COUNT, f->lease->key, f->lease->url};
}

static void drop(struct link_finder *f, enum outcome_reason reason,
                 const struct url *u)
{
    struct bytes text = url_text(u), host = url_host(u);
    size_t len = text.len < DROP_TEXT_MOST ? text.len : DROP_TEXT_MOST;
    size_t host_at = (size_t)(host.at - text.at);
    char *at = has_room(f, len) ? arena_try_copy(f->arena, text.at, len) : NULL;

    if (at == NULL) {
        overflow(f);
        return;
    }
    if (host_at + host.len > len)
        host = bytes_of("", 0); /* cannot be: hosts are at most 253 octets */
    else
        host.at = at + host_at;
    *new_drop(f) = (struct engine_drop){reason, host, bytes_of(at, len)};
}

static void add_item(struct link_finder *f, const struct engine_item *like,
                     const struct url *u)
{
    struct bytes text = url_text(u);
    size_t key_at = (size_t)(like->key.at - text.at);
    char *at = has_room(f, text.len)
                   ? arena_try_copy(f->arena, text.at, text.len)
                   : NULL;
    struct engine_item *item;

    if (at == NULL) {
        overflow(f);
        return;
    }
    if (f->item_count == f->item_cap) {
        f->item_cap = f->item_cap > 0 ? f->item_cap * 2 : 64;
        f->items = xrealloc(f->items, f->item_cap * sizeof *f->items);
    }
    item = &f->items[f->item_count++];
    *item = *like;
    item->url = bytes_of(at, text.len);
    item->key = bytes_of(at + key_at, like->key.len);
}

/* `like` says how the link was found; `u` is canonical. REASON_NONE: it is an
 * item now, or was one before. */
static enum outcome_reason offer(struct link_finder *f, struct engine_item like,
                                 const struct url *u)
{
    struct scope_verdict verdict;

    like.key = queue_key_of(f->o->key_mode, u);
    like.digest =
        digest_url(f->o->digest_key, f->o->crawl, like.key, url_text(u));
    if (seen_before(&f->seen, like.digest) && !f->o->record_links)
        return REASON_NONE;
    verdict = scope_check(f->o->scope, u, like.depth);
    if (!verdict.in) {
        drop(f, verdict.reason, u);
        return verdict.reason;
    }
    add_item(f, &like, u);
    return REASON_NONE;
}

/* ---- links --------------------------------------------------------------- */

static void visit(void *ctx, const struct found_link *l)
{
    struct link_finder *f = ctx;
    const struct engine_item like = {.depth = f->lease->depth + 1,
                                     .kind = (uint8_t)l->kind};

    f->found++;
    if ((f->o->kinds & LINK_BIT(l->kind)) == 0) {
        drop(f, REASON_KIND, l->url);
        return;
    }
    url_canonicalise(l->url);
    url_drop_params(l->url, f->o->drop_params, f->o->drop_param_count);
    if (l->nofollow && !f->o->follow_nofollow)
        drop(f, REASON_NOFOLLOW, l->url);
    else
        (void)offer(f, like, l->url);
}

static struct link_options options(const struct link_finder *f,
                                   struct bytes content_type)
{
    return (struct link_options){
        .kinds = f->o->kinds | LINK_SET_BASIC, /* the others become drops */
        .content_type = content_type,
        .page_url = &f->page,
        .most = f->o->links_most,
    };
}

void link_finder_html(struct link_finder *f, struct bytes body,
                      struct bytes content_type, struct page_info *info)
{
    const struct link_options lo = options(f, content_type);

    if (link_parser_html(f->parser, body, &lo, visit, f, info) != STATUS_OK)
        overflow(f);
}

void link_finder_css(struct link_finder *f, struct bytes body,
                     struct bytes content_type, struct page_info *info)
{
    const struct link_options lo = options(f, content_type);

    if (link_parser_css(f->parser, body, &lo, visit, f, info) != STATUS_OK)
        overflow(f);
}

static void visit_entry(void *ctx, const struct sitemap_entry *e)
{
    const struct found_link l = {e->kind == SITEMAP_ITEM ? LINK_FEED
                                                         : LINK_SITEMAP,
                                 false, e->url};

    visit(ctx, &l);
}

void link_finder_sitemap(struct link_finder *f, struct bytes body,
                         struct bytes content_type)
{
    const struct sitemap_options so = {.base = &f->page,
                                       .content_type = content_type,
                                       .entries_most = f->o->links_most};
    struct sitemap_parser *p = sitemap_parser_new(&so, visit_entry, f);
    enum status st = sitemap_parser_push(p, body);

    if (st == STATUS_OK)
        st = sitemap_parser_finish(p);
    if (st == STATUS_LIMIT)
        overflow(f);
    sitemap_parser_free(p);
}

void link_finder_add(struct link_finder *f, struct bytes reference,
                     enum link_kind kind, bool nofollow)
{
    const struct found_link l = {kind, nofollow, &f->target};

    if (url_parse(&f->target, reference, &f->page, NULL) == URL_OK)
        visit(f, &l);
}

void link_finder_forbid(struct link_finder *f)
{
    for (size_t i = 0; i < f->item_count; i++)
        *new_drop(f) = (struct engine_drop){REASON_NOFOLLOW, f->items[i].key,
                                            f->items[i].url};
    f->item_count = 0;
}

enum outcome_reason link_finder_redirect(struct link_finder *f,
                                         struct bytes location)
{
    const struct engine_item like = {
        .depth = f->lease->depth,
        .hops = (uint16_t)(f->lease->hops + 1),
        .kind = LINK_REDIRECT,
    };

    if (location.len == 0 ||
        url_canonical(&f->target, location, &f->page, NULL) != URL_OK)
        return REASON_REDIRECT_INVALID;
    url_drop_params(&f->target, f->o->drop_params, f->o->drop_param_count);
    if (bytes_equal(url_text(&f->target), f->lease->url))
        return REASON_REDIRECT_LOOP;
    if (like.hops > f->o->max_redirects)
        return REASON_REDIRECT_LIMIT;
    if (f->lease->depth == 0)
        scope_add_seed(f->o->scope, &f->target);
    if (offer(f, like, &f->target) != REASON_NONE)
        return REASON_REDIRECT_SCOPE;
    return REASON_NONE;
}

/* ---- handing over -------------------------------------------------------- */

static const void *in_arena(struct link_finder *f, const void *at, size_t size)
{
    void *to = size > 0 ? arena_try(f->arena, size) : NULL;

    if (to != NULL)
        memcpy(to, at, size);
    return to;
}

void link_finder_end(struct link_finder *f, struct engine_done *done)
{
    done->found = in_arena(f, f->items, f->item_count * sizeof *f->items);
    done->found_count = done->found != NULL ? f->item_count : 0;
    done->drops = in_arena(f, f->drops, f->drop_count * sizeof *f->drops);
    done->drop_count = done->drops != NULL ? f->drop_count : 0;
    done->row.links = f->found < UINT32_MAX ? (uint32_t)f->found : UINT32_MAX;
}
