/* SPDX-License-Identifier: MIT */
/*
 * link_finder.c - prepares the links of a response for the frontier.
 *
 * The digest is taken before the scope is asked: pages repeat links (a menu, a
 * logo), and a digest finds a repeat in 20 ns, while the scope may run regular
 * expressions.
 */
#include "crawler/link_finder.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crawler/fetcher.h"
#include "crawler/html/text_digest.h"
#include "crawler/sitemap/sitemap.h"
#include "crawler/sitemap_stream.h"
#include "frontier/candidate.h"
#include "storage/rows/link_store.h"
#include "storage/rows/page_store.h"

/* ---- what one response revealed ---- */

/*
 * Links to admit, and links dropped.
 *
 * The arrays grow outside the arena, so that old copies do not fill it, and are
 * kept between pages unless a page made them large.
 */

_Static_assert(ANCHOR_TEXT_MOST <= LINK_TEXT_MOST, "the store takes them");

#define KEPT_COUNT ((size_t)4096) /* room kept between pages */

void outlinks_fini(struct outlinks *f)
{
    free(f->items);
    free(f->drops);
}

static void trim(struct outlinks *f)
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

void outlinks_begin(struct outlinks *f, const struct url_lease *lease,
                    struct arena *arena, size_t most)
{
    trim(f);
    f->lease = lease;
    f->arena = arena;
    f->most = most;
    f->full = f->cut = false;
    f->over = 0;
    f->item_count = f->drop_count = 0;
}

/* ---- room ---------------------------------------------------------------- */

/* Is there room for `len` octets and one more entry in both arrays? */
static bool has_room(const struct outlinks *f, size_t len)
{
    size_t arrays = (f->item_count + 1) * sizeof *f->items +
                    (f->drop_count + 1) * sizeof *f->drops;

    return !f->full && len <= f->most &&
           arena_used(f->arena) + arrays <= f->most - len;
}

static struct url_drop *new_drop(struct outlinks *f)
{
    if (f->drop_count == f->drop_cap) {
        f->drop_cap = f->drop_cap > 0 ? f->drop_cap * 2 : 64;
        f->drops = xrealloc(f->drops, f->drop_cap * sizeof *f->drops);
    }
    return &f->drops[f->drop_count++];
}

static struct url_item *new_item(struct outlinks *f)
{
    if (f->item_count == f->item_cap) {
        f->item_cap = f->item_cap > 0 ? f->item_cap * 2 : 64;
        f->items = xrealloc(f->items, f->item_cap * sizeof *f->items);
    }
    return &f->items[f->item_count++];
}

/* ---- adding -------------------------------------------------------------- */

void outlinks_overflow(struct outlinks *f)
{
    if (f->full) {
        f->over++;
        return;
    }
    f->full = true;
    *new_drop(f) = (struct url_drop){.reason = REASON_LINK_COUNT,
                                     .host = f->lease->key,
                                     .url = f->lease->url};
}

/* The octets that a copy of the label needs in the arena. */
static size_t label_size(const struct link_label *l)
{
    return l != NULL ? sizeof *l + l->rel.len + l->text.len : 0;
}

static struct bytes copied(char **at, struct bytes text)
{
    char *to = *at;

    if (text.len > 0)
        memcpy(to, text.at, text.len);
    *at += text.len;
    return bytes_of(to, text.len);
}

/* A copy, or NULL if there is no label, or no room. */
static const struct link_label *keep_label(struct outlinks *f,
                                           const struct link_label *l)
{
    struct link_label *to = l != NULL ? arena_try(f->arena, sizeof *to) : NULL;
    char *at =
        to != NULL ? arena_try(f->arena, l->rel.len + l->text.len) : NULL;

    if (at == NULL)
        return NULL;
    to->rel = copied(&at, l->rel);
    to->text = copied(&at, l->text);
    return to;
}

void outlinks_drop(struct outlinks *f, enum outcome_reason reason,
                   const struct url *u, const struct url_item *like,
                   size_t place)
{
    struct bytes text = url_text(u), host = url_host(u);
    const struct link_label *label = like != NULL ? like->label : NULL;
    char *at = has_room(f, text.len + label_size(label))
                   ? arena_try_copy(f->arena, text.at, text.len)
                   : NULL;

    if (at == NULL) {
        outlinks_overflow(f);
        return;
    }
    f->cut |= place > 0;
    *new_drop(f) = (struct url_drop){
        .reason = reason,
        .host = bytes_of(at + (host.at - text.at), host.len),
        .url = bytes_of(at, text.len),
        .whole = like != NULL,
        .kind = like != NULL ? like->kind : 0,
        .hops = like != NULL ? like->hops : 0,
        .depth = like != NULL ? like->depth : 0,
        .place = place < UINT32_MAX ? (uint32_t)place : UINT32_MAX,
        .label = keep_label(f, label),
    };
}

void outlinks_add(struct outlinks *f, const struct url_item *like)
{
    struct bytes text = like->url;
    size_t extra = like->hint != NULL ? sizeof *like->hint : 0;
    bool room = has_room(f, text.len + extra + label_size(like->label));
    char *at = room ? arena_try_copy(f->arena, text.at, text.len) : NULL;
    struct url_hint *hint =
        room && extra > 0 ? arena_try(f->arena, extra) : NULL;
    struct url_item *item;

    if (at == NULL) {
        outlinks_overflow(f);
        return;
    }
    if (hint != NULL)
        *hint = *like->hint;
    item = new_item(f);
    *item = *like;
    candidate_moved(item, at);
    item->hint = hint;
    item->label = keep_label(f, like->label);
}

/* What was dropped for its URL must not come back when a setting lets it in. A
 * drop that names the page is none of its links. */
static void forbid_drops(struct outlinks *f, enum outcome_reason reason)
{
    for (size_t i = 0; i < f->drop_count; i++) {
        struct url_drop *d = &f->drops[i];

        if (!d->whole)
            continue;
        d->reason = reason;
        d->whole = false;
        d->place = 0;
    }
}

/* Drops all items, and those for good that were dropped for another reason. */
static void outlinks_forbid(struct outlinks *f, enum outcome_reason reason)
{
    forbid_drops(f, reason);
    for (size_t i = 0; i < f->item_count; i++)
        *new_drop(f) = (struct url_drop){.reason = reason,
                                         .host = f->items[i].key,
                                         .url = f->items[i].url,
                                         .kind = f->items[i].kind,
                                         .label = f->items[i].label};
    f->item_count = 0;
}

/* ---- order --------------------------------------------------------------- */

struct ranked {
    struct url_item item;
    size_t at;
};

struct order {
    int (*compare)(const struct url_item *a, const struct url_item *b);
};

static int compare_ranked(const void *x, const void *y, void *ctx)
{
    const struct ranked *a = x, *b = y;
    int c = ((const struct order *)ctx)->compare(&a->item, &b->item);

    return c != 0 ? c : (a->at > b->at) - (a->at < b->at);
}

void outlinks_sort(struct outlinks *f, int (*compare)(const struct url_item *a,
                                                      const struct url_item *b))
{
    struct order order = {compare};
    struct ranked *list = xmalloc((f->item_count + 1) * sizeof *list);

    for (size_t i = 0; i < f->item_count; i++)
        list[i] = (struct ranked){f->items[i], i};
    qsort_r(list, f->item_count, sizeof *list, compare_ranked, &order);
    for (size_t i = 0; i < f->item_count; i++)
        f->items[i] = list[i].item;
    free(list);
}

void outlinks_append(struct outlinks *to, const struct outlinks *from)
{
    for (size_t i = 0; i < from->item_count; i++)
        *new_item(to) = from->items[i];
    for (size_t i = 0; i < from->drop_count; i++)
        *new_drop(to) = from->drops[i];
    to->full |= from->full;
    to->over += from->over;
}

/* ---- handing over -------------------------------------------------------- */

static const void *in_arena(struct outlinks *f, const void *at, size_t size)
{
    void *to = size > 0 ? arena_try(f->arena, size) : NULL;

    if (to != NULL)
        memcpy(to, at, size);
    return to;
}

void outlinks_hand_over(struct outlinks *f, struct url_done *done)
{
    done->outlinks = in_arena(f, f->items, f->item_count * sizeof *f->items);
    done->outlink_count = done->outlinks != NULL ? f->item_count : 0;
    done->drops = in_arena(f, f->drops, f->drop_count * sizeof *f->drops);
    done->drop_count = done->drops != NULL ? f->drop_count : 0;
    done->over = f->over;
}

/* ---- prepares the links of a response for the frontier ---- */

#define SEEN_LEAST ((size_t)256)
#define SEEN_KEPT  ((size_t)4096)

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
    const struct url_lease *lease;
    struct url page;
    uint64_t count, repeats;
    uint32_t kinds_left;  /* see url_done */
    struct buf canonical; /* what the page names as such; may be empty */
    bool apart;           /* a part of some page, and out of scope itself */
    bool leads_on; /* a style sheet or a redirect, which leads to other parts of
                      that page */
    struct outlinks found;
    struct outlinks elsewhere; /* entries of a sitemap on other hosts */
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

/* True: `d` was seen before. */
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
    buf_init(&f->canonical, PAGE_CANONICAL_MOST);
    return f;
}

void link_finder_free(struct link_finder *f)
{
    if (f == NULL)
        return;
    link_parser_free(f->parser);
    url_fini(&f->page);
    url_fini(&f->target);
    buf_fini(&f->canonical);
    outlinks_fini(&f->found);
    outlinks_fini(&f->elsewhere);
    free(f->seen.slots);
    free(f);
}

/* ---- scope --------------------------------------------------------------- */

/* May what is embedded here be anywhere? Elsewhere in style sheets alone, which
 * do not look as meant without it. Such steps count as redirects do, so that
 * they come to an end. */
static bool may_embed(const struct link_finder *f)
{
    return !f->apart || (f->leads_on && f->lease->hops < f->o->max_redirects);
}

static struct scope_verdict ask_scope(const struct link_finder *f,
                                      const struct url_item *like,
                                      const struct url *u)
{
    struct scope *s = f->o->rules.scope;
    bool strict = link_is_sitemap(like->kind)
                      ? !url_same_site(&f->page, u)
                      : scope_embeds(s, like->kind) && !may_embed(f);

    return strict ? scope_check(s, u, like->depth)
                  : scope_check_kind(s, u, like->depth, like->kind);
}

bool link_finder_begin(struct link_finder *f, const struct url_lease *lease,
                       struct arena *arena, size_t most)
{
    outlinks_begin(&f->found, lease, arena, most);
    outlinks_begin(&f->elsewhere, lease, arena, most);
    f->lease = lease;
    f->count = f->repeats = 0;
    f->kinds_left = 0;
    buf_clear(&f->canonical);
    seen_reset(&f->seen);
    if (url_parse(&f->page, lease->url, NULL, NULL) != URL_OK)
        return false;
    f->leads_on = false;
    f->apart = candidate_is_part(&f->o->rules, lease, &f->page);
    return true;
}

/* Offers the canonical URL `u`; `like` says how it was found. REASON_NONE: it
 * is an item of `to` now, or already was. */
static enum outcome_reason offer(struct link_finder *f, struct outlinks *to,
                                 struct url_item like, const struct url *u)
{
    struct scope_verdict verdict;

    candidate_identify(&f->o->rules, u, &like);
    if (seen_before(&f->seen, like.digest) && !f->o->record_links) {
        f->repeats++;
        return REASON_NONE;
    }
    if (f->o->links_most > 0 && f->seen.count > f->o->links_most) {
        outlinks_drop(&f->found, REASON_LINK_COUNT, u, &like, f->seen.count);
        return REASON_LINK_COUNT;
    }
    verdict = ask_scope(f, &like, u);
    if (!verdict.in) {
        outlinks_drop(&f->found, verdict.reason, u, &like, 0);
        return verdict.reason;
    }
    outlinks_add(to, &like);
    return REASON_NONE;
}

/* ---- links --------------------------------------------------------------- */

/* True: links of this kind are followed, and `u` was made canonical. */
static bool prepare(struct link_finder *f, enum link_kind kind, struct url *u)
{
    f->count++;
    if ((f->o->kinds & LINK_BIT(kind)) == 0) {
        f->kinds_left |= LINK_BIT(kind);
        outlinks_drop(&f->found, REASON_KIND, u, NULL, 0);
        return false;
    }
    candidate_form(&f->o->rules, u);
    return true;
}

/* The first one counts, as far as it has room. */
static void note_canonical(struct link_finder *f, struct url *u)
{
    if (f->canonical.len > 0)
        return;
    candidate_form(&f->o->rules, u);
    buf_add_bytes(&f->canonical, url_text(u));
    if (f->canonical.failed)
        buf_clear(&f->canonical);
}

static void visit(void *ctx, const struct found_link *l)
{
    struct link_finder *f = ctx;
    bool same_page = f->apart && scope_embeds(f->o->rules.scope, l->kind);
    const struct link_label label = {l->rel, l->text};
    bool labelled = f->o->record_links && (l->rel.len | l->text.len) > 0;
    const struct url_item like = {.depth = f->lease->depth + 1,
                                  .hops = same_page
                                              ? (uint16_t)(f->lease->hops + 1)
                                              : 0,
                                  .kind = (uint8_t)l->kind,
                                  .label = labelled ? &label : NULL};

    if (l->kind == LINK_CANONICAL && f->o->record_meta)
        note_canonical(f, l->url);
    if (!prepare(f, l->kind, l->url))
        return;
    if (l->nofollow && !f->o->follow_nofollow)
        outlinks_drop(&f->found, REASON_NOFOLLOW, l->url, &like, 0);
    else
        (void)offer(f, &f->found, like, l->url);
}

static struct link_options options(const struct link_finder *f,
                                   struct bytes content_type)
{
    return (struct link_options){
        .kinds = f->o->kinds | LINK_SET_BASIC, /* the others become drops */
        .content_type = content_type,
        .page_url = &f->page,
        .simhash = f->o->take_simhash,
        .texts = f->o->record_links,
        .about = f->o->record_meta,
        .text_digest = true,
        .no_numbers = f->o->text_without_numbers,
    };
}

void link_finder_html(struct link_finder *f, struct bytes body,
                      struct bytes content_type, struct page_info *info)
{
    const struct link_options lo = options(f, content_type);

    f->kinds_left |= LINK_SET_ALL & ~lo.kinds; /* nobody looks for these */
    if (link_parser_html(f->parser, body, &lo, visit, f, info) != STATUS_OK)
        outlinks_overflow(&f->found);
}

void link_finder_css(struct link_finder *f, struct bytes body,
                     struct bytes content_type, struct page_info *info)
{
    const struct link_options lo = options(f, content_type);

    f->leads_on = true;
    f->kinds_left |= LINK_BIT(LINK_STYLE) & ~lo.kinds;
    if (link_parser_css(f->parser, body, &lo, visit, f, info) != STATUS_OK)
        outlinks_overflow(&f->found);
}

/* Takes an entry of a sitemap or feed that was fetched as a page: the entry is
 * one link deeper. */
static void visit_entry(void *ctx, const struct sitemap_entry *e)
{
    struct link_finder *f = ctx;
    struct url_item like = {
        .depth = f->lease->depth + 1,
        .kind = (uint8_t)link_kind_of_entry(e->kind),
    };
    enum link_kind switched_by = e->kind == SITEMAP_ITEM        ? LINK_FEED
                                 : e->kind == SITEMAP_ALTERNATE ? LINK_ALTERNATE
                                                                : LINK_SITEMAP;
    struct url_hint hint;

    if (!prepare(f, switched_by, e->url))
        return;
    if (sitemap_hint(e, &hint))
        like.hint = &hint;
    (void)offer(f, sitemap_needs_trust(&f->page, e) ? &f->elsewhere : &f->found,
                like, e->url);
}

void link_finder_sitemap(struct link_finder *f, struct bytes body,
                         struct bytes content_type)
{
    const struct sitemap_options so = {.base = &f->page,
                                       .content_type = content_type,
                                       .entries_most = SITEMAP_COUNT_MOST,
                                       .alternates = true};
    struct sitemap_parser *p = sitemap_parser_new(&so, visit_entry, f);
    enum status st = sitemap_parser_push(p, body);

    if (st == STATUS_OK)
        st = sitemap_parser_finish(p);
    if (st == STATUS_LIMIT)
        outlinks_overflow(&f->found);
    sitemap_parser_free(p);
}

void link_finder_add(struct link_finder *f, struct bytes reference,
                     enum link_kind kind, bool nofollow)
{
    const struct found_link l = {.kind = kind,
                                 .nofollow = nofollow,
                                 .url = &f->target};

    if (url_parse(&f->target, reference, &f->page, NULL) == URL_OK)
        visit(f, &l);
}

void link_finder_leave(struct link_finder *f, enum link_kind kind)
{
    f->kinds_left |= LINK_BIT(kind);
}

struct bytes link_finder_canonical(const struct link_finder *f)
{
    return buf_bytes(&f->canonical);
}

void link_finder_count(struct link_finder *f, uint64_t links)
{
    f->count += links;
}

bool link_finder_is_full(const struct link_finder *f)
{
    return f->found.full || f->found.cut;
}

void link_finder_forbid(struct link_finder *f)
{
    outlinks_append(&f->found, &f->elsewhere);
    outlinks_begin(&f->elsewhere, f->lease, f->elsewhere.arena, 0);
    outlinks_forbid(&f->found, REASON_NOFOLLOW);
    f->kinds_left = 0;
}

/* Is what the URL redirects to, too, what the URL was found as? */
static bool keeps_kind(const struct link_finder *f)
{
    return link_is_sitemap(f->lease->kind) ||
           scope_embeds(f->o->rules.scope, f->lease->kind);
}

enum outcome_reason link_finder_redirect(struct link_finder *f,
                                         struct bytes location,
                                         struct bytes *target, bool *anew)
{
    const struct url_item like = {
        .depth = f->lease->depth,
        .hops = (uint16_t)(f->lease->hops + 1),
        .kind = keeps_kind(f) ? f->lease->kind : LINK_REDIRECT,
    };

    if (location.len == 0 ||
        candidate_read(&f->o->rules, &f->target, location, &f->page) != URL_OK)
        return REASON_REDIRECT_INVALID;
    *target = url_text(&f->target);
    *anew = cookie_jar_asks_anew(f->o->jar, *target);
    if (!*anew && bytes_equal(*target, f->lease->url))
        return REASON_REDIRECT_LOOP;
    if (like.hops > f->o->max_redirects)
        return REASON_REDIRECT_LIMIT;
    if (f->lease->seed && f->o->credentials != NULL)
        credentials_note_redirect(f->o->credentials, url_origin(&f->page),
                                  url_origin(&f->target));
    if (f->lease->depth == 0)
        scope_add_seed(f->o->rules.scope, &f->target);
    f->leads_on = true;
    if (offer(f, &f->found, like, &f->target) != REASON_NONE)
        return REASON_REDIRECT_SCOPE;
    return REASON_NONE;
}

/* ---- handing over -------------------------------------------------------- */

size_t link_finder_end(struct link_finder *f, struct url_done *done)
{
    size_t elsewhere = f->elsewhere.item_count;

    outlinks_append(&f->found, &f->elsewhere);
    outlinks_hand_over(&f->found, done);
    done->repeats = f->repeats;
    done->kinds_left = f->kinds_left;
    done->row.links = f->count < UINT32_MAX ? (uint32_t)f->count : UINT32_MAX;
    return elsewhere;
}
