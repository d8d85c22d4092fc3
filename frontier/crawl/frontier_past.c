/* SPDX-License-Identifier: MIT */
/*
 * frontier_past.c - links of pages that are unchanged since an earlier crawl.
 *
 * A 304 brings no links, so those that the page had in the earlier crawl go the
 * way of new ones: form, scope, seen check. A page mostly links to what other
 * pages link to as well, so a table of the links last admitted, by their ids
 * there, spares that way: one place for each id modulo its size, 16 octets.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "frontier/crawl/frontier_fetched.h"
#include "frontier/crawl/frontier_links.h"
#include "frontier/past_crawl.h"

#define TEXTS_MOST ((size_t)64 << 20) /* of the links of one page */
#define KNOWN_ROOM 65536

struct known_links {
    struct {
        uint64_t there, here;
    } at[KNOWN_ROOM];
};

struct reading {
    struct frontier *f;
    struct past_page *page;
    struct past_link *links; /* of the page there */
    size_t count, room;
    uint32_t replaced; /* kinds of links that are not taken from there */
};

static struct bytes copied(struct arena *a, struct bytes text)
{
    const char *at = arena_try_copy(a, text.at, text.len);

    return bytes_of(at, at != NULL ? text.len : 0);
}

static const struct link_label *label_of(struct arena *a,
                                         const struct link_row *row)
{
    struct link_label *label = (row->said.rel.len | row->said.text.len) > 0
                                   ? arena_try(a, sizeof *label)
                                   : NULL;

    if (label != NULL)
        *label = (struct link_label){copied(a, row->said.rel),
                                     copied(a, row->said.text)};
    return label;
}

static void take_link(void *ctx, const struct link_row *row)
{
    struct reading *r = ctx;
    struct arena *texts = r->page->texts;

    if ((r->replaced >> row->kind & 1) != 0)
        return;
    if (r->count == r->room) {
        r->room = r->room * 2 + 64;
        r->links = xrealloc(r->links, r->room * sizeof *r->links);
    }
    r->links[r->count++] =
        (struct past_link){.to = row->to,
                           .kind = row->kind,
                           .reason = row->said.reason,
                           .label = r->f->o.record_links ? label_of(texts, row)
                                                         : NULL,
                           .url = copied(texts, row->said.dropped)};
}

/* The id here of a URL that was admitted lately, 0: not known. Links are
 * dropped anew where depth counts. */
static uint64_t known_here(const struct frontier *f, uint64_t there)
{
    const struct known_links *k = f->known_links;

    return there != 0 && !f->keeps_paths && !f->o.compare_text &&
                   k->at[there % KNOWN_ROOM].there == there
               ? k->at[there % KNOWN_ROOM].here
               : 0;
}

/* Where its octets stay while the page is acknowledged. */
static enum status keep_item(struct past_page *page, struct url_item *item)
{
    const char *at = arena_try_copy(page->texts, item->url.at, item->url.len);

    if (at == NULL)
        return STATUS_LIMIT;
    candidate_moved(item, at);
    return STATUS_OK;
}

static enum status keep_drop(struct past_page *page, struct url_drop *drop,
                             const struct url *u)
{
    const char *at =
        arena_try_copy(page->texts, url_text(u).at, url_text(u).len);
    const char *host =
        arena_try_copy(page->texts, url_host(u).at, url_host(u).len);

    if (at == NULL || host == NULL)
        return STATUS_LIMIT;
    drop->url = bytes_of(at, url_text(u).len);
    drop->host = bytes_of(host, url_host(u).len);
    return STATUS_OK;
}

/* Where the links of a page are. */
struct place {
    uint32_t depth;
    uint16_t hops; /* of the page */
    bool apart;    /* candidate_is_part */
};

static uint16_t hops_of(const struct candidate_rules *rules,
                        const struct place *at, unsigned kind)
{
    return at->apart && scope_embeds(rules->scope, kind)
               ? (uint16_t)(at->hops + 1)
               : 0;
}

/* One link that is not known: an item of the page, or a drop. */
static enum status offer(struct frontier *f, struct url_done *done,
                         struct past_page *page, const struct past_link *l,
                         const struct place *at, struct url *u)
{
    const struct candidate_rules rules = frontier_rules(f);
    struct url_item item = {.depth = at->depth,
                            .hops = hops_of(&rules, at, l->kind),
                            .kind = l->kind,
                            .label = l->label};
    enum outcome_reason no;
    enum status st = past_crawl_url(f->o.past, l->to, &f->text);

    if (st != STATUS_OK)
        return st;
    if (candidate_read(&rules, u, buf_bytes(&f->text), NULL) != URL_OK)
        return STATUS_OK; /* rewritten to what is no URL */
    no = candidate_take(&rules, u, &item);
    if (no == REASON_NONE && done->nofollow)
        no = REASON_NOFOLLOW;
    if (no == REASON_NONE) {
        page->there[done->outlink_count] = l->to;
        page->items[done->outlink_count++] = item;
        return keep_item(page, &page->items[done->outlink_count - 1]);
    }
    page->drops[done->drop_count++] =
        (struct url_drop){.reason = no,
                          .whole = no != REASON_NOFOLLOW,
                          .kind = l->kind,
                          .hops = item.hops,
                          .depth = item.depth,
                          .label = l->label};
    return keep_drop(page, &page->drops[done->drop_count - 1], u);
}

/* One that was dropped there, by the rules that this crawl has. */
static enum status drop_again(struct frontier *f, struct url_done *done,
                              struct past_page *page, const struct past_link *l,
                              const struct place *at, struct url *u)
{
    const struct candidate_rules rules = frontier_rules(f);

    if (url_parse(u, l->url, NULL, NULL) != URL_OK)
        return STATUS_OK;
    page->drops[done->drop_count++] =
        (struct url_drop){.reason = (enum outcome_reason)l->reason,
                          .whole = l->reason != REASON_NOFOLLOW,
                          .kind = l->kind,
                          .hops = hops_of(&rules, at, l->kind),
                          .depth = at->depth,
                          .label = l->label};
    return keep_drop(page, &page->drops[done->drop_count - 1], u);
}

static enum status offer_all(struct frontier *f, struct url_done *done,
                             const struct reading *r, const struct url_lease *l)
{
    const struct candidate_rules rules = frontier_rules(f);
    struct past_page *page = r->page;
    struct place place = {.depth = l->depth + 1, .hops = l->hops};
    enum status st = STATUS_OK;
    struct url u;

    url_init(&u);
    if (url_parse(&u, l->url, NULL, NULL) == URL_OK)
        place.apart = candidate_is_part(&rules, l, &u);
    for (size_t i = 0; st == STATUS_OK && i < r->count; i++) {
        uint64_t here = done->nofollow ? 0 : known_here(f, r->links[i].to);

        if (r->links[i].to == 0) {
            st = drop_again(f, done, page, &r->links[i], &place, &u);
            continue;
        }
        if (here == 0) {
            st = offer(f, done, page, &r->links[i], &place, &u);
            continue;
        }
        page->known[page->known_count++] =
            (struct past_link){.to = here,
                               .kind = r->links[i].kind,
                               .label = r->links[i].label};
        done->repeats++;
    }
    url_fini(&u);
    return st;
}

uint32_t frontier_head_kinds_of(const struct frontier *f,
                                const struct url_done *done)
{
    uint32_t kinds = 0;

    for (size_t i = 0; i < done->outlink_count; i++)
        kinds |= UINT32_C(1) << done->outlinks[i].kind;
    for (size_t i = 0; i < done->drop_count; i++)
        if (done->drops[i].whole)
            kinds |= UINT32_C(1) << done->drops[i].kind;
    return kinds & f->o.head_kinds;
}

/* The links of the response's own head go after those of the page. */
static void add_head(struct url_done *done, struct past_page *page,
                     const struct url_done *head)
{
    for (size_t i = 0; i < head->outlink_count; i++)
        page->items[done->outlink_count++] = head->outlinks[i];
    for (size_t i = 0; i < head->drop_count; i++)
        page->drops[done->drop_count++] = head->drops[i];
}

enum status frontier_past_begin(struct frontier *f, struct url_done *done,
                                struct past_page *page)
{
    const struct lease_record *l = lease_find(f->leases, done->id);
    const struct url_done head = *done;
    struct reading r = {.f = f,
                        .page = page,
                        .replaced = frontier_head_kinds_of(f, done)};
    enum status st;

    *page = (struct past_page){.texts = NULL};
    if (l == NULL || l->lease.last.past_url == 0 || done->partial ||
        !outcome_is_not_modified(done->outcome))
        return STATUS_OK;
    if (f->known_links == NULL)
        f->known_links = xcalloc(1, sizeof *f->known_links);
    page->texts = arena_new(TEXTS_MOST);
    st = past_crawl_links(f->o.past, l->lease.last.seq, take_link, &r);
    page->there = xcalloc(r.count + head.outlink_count, sizeof *page->there);
    page->known = xcalloc(r.count, sizeof *page->known);
    page->items = xcalloc(r.count + head.outlink_count, sizeof *page->items);
    page->drops = xcalloc(r.count + head.drop_count, sizeof *page->drops);
    done->outlinks = page->items;
    done->outlink_count = 0;
    done->drops = page->drops;
    done->drop_count = 0;
    if (st == STATUS_OK)
        st = offer_all(f, done, &r, &l->lease);
    add_head(done, page, &head);
    free(r.links);
    return st;
}

void frontier_past_admitted(struct frontier *f, const struct past_page *page,
                            const struct admission *links, size_t n)
{
    if (page->texts == NULL)
        return;
    for (size_t i = 0; i < n; i++) {
        uint64_t there = page->there[i];

        if (links[i].id != 0 && !links[i].blocked) {
            f->known_links->at[there % KNOWN_ROOM].there = there;
            f->known_links->at[there % KNOWN_ROOM].here = links[i].id;
        }
    }
}

void frontier_past_end(struct past_page *page)
{
    if (page->texts == NULL)
        return;
    arena_free(page->texts);
    free(page->there);
    free(page->known);
    free(page->items);
    free(page->drops);
}
