/* SPDX-License-Identifier: MIT */
/*
 * reporter.c - reads a response and makes its report for the frontier.
 *
 * The digest of a link is taken before the scope is asked: pages repeat links
 * (a menu, a logo), and a digest finds a repeat in 20 ns, while the scope may
 * run regular expressions.
 */
#include "crawler/reporter.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crawler/fetch/response.h"
#include "crawler/html/link_values.h"
#include "crawler/html/links.h"
#include "crawler/html/text_digest.h"
#include "crawler/html/xhtml.h"
#include "crawler/robots/robots.h"
#include "crawler/sitemap/sitemap.h"
#include "frontier/candidate.h"
#include "frontier/traps/trap_form.h"
#include "frontier/traps/trap_text.h"
#include "storage/rows/page_store.h"

/* ---- prepares the links of a response for the frontier ---- */

/*
 * Makes each link canonical, asks the scope, takes its digest, and keeps each
 * link once per page; unwanted links become drops with a reason. The results
 * live in the arena given to link_finder_begin.
 */

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

static struct link_finder *link_finder_new(const struct fetcher_options *o)
{
    struct link_finder *f = xcalloc(1, sizeof *f);

    f->o = o;
    f->parser = link_parser_new(o->product_token);
    url_init(&f->page);
    url_init(&f->target);
    buf_init(&f->canonical, PAGE_CANONICAL_MOST);
    return f;
}

static void link_finder_free(struct link_finder *f)
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

/* Begins the response to the URL of `lease`. Uses at most `most` bytes of
 * `arena`, whose limit must not be lower. False: the URL is not valid, which
 * only a damaged store can cause, and the finder may not be used for it. */
static bool link_finder_begin(struct link_finder *f,
                              const struct url_lease *lease,
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

/* Finds the links of an HTML body. */
static void link_finder_html(struct link_finder *f, struct bytes body,
                             struct bytes content_type, struct page_info *info)
{
    const struct link_options lo = options(f, content_type);

    f->kinds_left |= LINK_SET_ALL & ~lo.kinds; /* nobody looks for these */
    if (link_parser_html(f->parser, body, &lo, visit, f, info) != STATUS_OK)
        outlinks_overflow(&f->found);
}

/* Finds the links of a style sheet. */
static void link_finder_css(struct link_finder *f, struct bytes body,
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

/* Finds the entries of a sitemap or feed; nothing if the body is neither. */
static void link_finder_sitemap(struct link_finder *f, struct bytes body,
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

/* Adds a link of a header field, relative to the URL of the request. */
static void link_finder_add(struct link_finder *f, struct bytes reference,
                            enum link_kind kind, bool nofollow)
{
    const struct found_link l = {.kind = kind,
                                 .nofollow = nofollow,
                                 .url = &f->target};

    if (url_parse(&f->target, reference, &f->page, NULL) == URL_OK)
        visit(f, &l);
}

/* The response has links of this kind, which is not followed, and they are not
 * added. */
static void link_finder_leave(struct link_finder *f, enum link_kind kind)
{
    f->kinds_left |= LINK_BIT(kind);
}

/* What the page names as its canonical URL, if options.record_meta; may be
 * empty. Lives until the next page. */
static struct bytes link_finder_canonical(const struct link_finder *f)
{
    return buf_bytes(&f->canonical);
}

/* Counts links that another module has found and sent (sitemap_stream.h). */
static void link_finder_count(struct link_finder *f, uint64_t links)
{
    f->count += links;
}

/* Did the page have more links than the limit? */
static bool link_finder_is_full(const struct link_finder *f)
{
    return f->found.full || f->found.cut;
}

/* The page forbids following its links. */
static void link_finder_forbid(struct link_finder *f)
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

/* Takes a redirect. REASON_NONE: it is followed. Sets *target to the URL, if it
 * is one; the bytes live until the next link is found. *anew: as in
 * url_done. */
static enum outcome_reason link_finder_redirect(struct link_finder *f,
                                                struct bytes location,
                                                struct bytes *target,
                                                bool *anew)
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

/* Fills in found, drops, kinds_left and row.links of *done. Returns the number
 * for report.elsewhere. */
static size_t link_finder_end(struct link_finder *f, struct url_done *done)
{
    size_t elsewhere = f->elsewhere.item_count;

    outlinks_append(&f->found, &f->elsewhere);
    outlinks_hand_over(&f->found, done);
    done->repeats = f->repeats;
    done->kinds_left = f->kinds_left;
    done->row.links = f->count < UINT32_MAX ? (uint32_t)f->count : UINT32_MAX;
    return elsewhere;
}

/* ---- a report being made ---- */

struct reporter {
    const struct fetcher_options *o;
    struct link_finder *finder;
};

/* One report being made. */
struct draft {
    struct reporter *r;
    const struct url_lease *lease;
    const struct fetch_result *result;
    struct sitemap_stream *list;
    bool is_page; /* not a list of URLs */
    struct report *out;
    struct url_done *done;
};

struct reporter *reporter_new(const struct fetcher_options *o)
{
    struct reporter *r = xcalloc(1, sizeof *r);

    r->o = o;
    r->finder = link_finder_new(o);
    return r;
}

void reporter_free(struct reporter *r)
{
    if (r == NULL)
        return;
    link_finder_free(r->finder);
    free(r);
}

/* The elapsed time in the type of the row. */
static uint32_t elapsed_ms(const struct fetch_result *result)
{
    int64_t ms = (result->ended - result->started) / NS_PER_MS;

    return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

/* ---- the row ------------------------------------------------------------- */

static struct bytes header(struct draft *d, enum response_field f)
{
    return report_keep(d->out, response_get(d->result->response, f),
                       ROW_TEXT_MOST);
}

#define LEADS_ON_LEAST 2 /* links */

/* Are there links that continue its path, as filters do? */
static bool leads_on(const struct draft *d)
{
    unsigned n = 0;

    for (size_t i = 0; n < LEADS_ON_LEAST && i < d->done->outlink_count; i++)
        n += trap_continues(d->lease->url, d->done->outlinks[i].url);
    return n == LEADS_ON_LEAST;
}

/* What the page says, for the rules about traps. */
static void read_trap_text(struct draft *d)
{
    const struct digest_key *key = d->r->o->rules.digest_key;
    struct trap_text text, *kept;
    size_t size;

    if (d->result->body.len == 0 || d->list != NULL || !d->r->o->tag_texts)
        return;

    d->done->own_body = trap_text_body(key, d->lease->url, d->result->body,
                                       d->done->row.body_digest);
    trap_text_read(key, d->lease->url, d->result->body, leads_on(d), &text);
    size = offsetof(struct trap_text, piece) + text.pieces * sizeof *text.piece;
    kept = text.tag != 0 ? arena_try(report_arena(d->out), size) : NULL;
    if (kept != NULL)
        memcpy(kept, &text, size);
    d->done->text = kept;
}

static void fill_row(struct draft *d)
{
    const struct fetch_result *result = d->result;
    struct fetch_row *row = &d->done->row;
    char mime[MIME_SIZE];

    row->at_ms = result->started_wall_ms;
    row->elapsed_ms = elapsed_ms(result);
    row->first_byte_ms = (uint32_t)(result->first_byte_ns / NS_PER_MS);
    row->http_status = result->response->status;
    row->wire_bytes = result->wire_bytes;
    row->body_bytes = result->body_bytes;
    row->ip = report_keep(d->out, bytes_of_str(result->ip), ROW_TEXT_MOST);
    row->detail =
        report_keep(d->out, bytes_of_str(result->error), ROW_TEXT_MOST);
    row->mime = report_keep(d->out,
                            mime_essence(response_get(result->response,
                                                      RESPONSE_CONTENT_TYPE),
                                         mime),
                            MIME_SIZE);
    row->etag = header(d, RESPONSE_ETAG);
    row->last_modified = header(d, RESPONSE_LAST_MODIFIED);
    row->lang = header(d, RESPONSE_CONTENT_LANGUAGE);
    if ((result->unknown_coding || result->mislabelled) &&
        result->body_bytes > 0)
        row->flags |= FETCH_ROW_UNKNOWN_CODING;
    if (result->body.len > 0 && d->list == NULL) { /* a list's is not kept */
        row->body_digest =
            digest_bytes(d->r->o->rules.digest_key, result->body);
        row->text_digest = text_digest_whole(result->body);
        row->body_print = row->text_digest.hi;
    }
    d->done->outcome.http_status = result->response->status;
    d->done->fresh_ms =
        http_fresh_for_ms(response_get(result->response,
                                       RESPONSE_CACHE_CONTROL),
                          response_get(result->response, RESPONSE_EXPIRES),
                          response_get(result->response, RESPONSE_DATE),
                          row->at_ms);
}

static bool is_check(const struct draft *d)
{
    return d->result->want != FETCH_BODY;
}

static void fill_host_news(struct draft *d)
{
    const struct fetch_result *result = d->result;
    struct host_news *host = &d->done->host;
    uint16_t status = result->response->status;

    if (result->end == FETCH_ADDRESS || result->end == FETCH_PORT)
        return; /* nothing was sent; the host is fine */
    report_set_request(d->out, result);
    host->http_status = status;
    host->unreachable = report_is_unreachable(result->end);
    /* Of a check, that nobody responds is the answer. */
    host->silent = host->unreachable && result->transient && !is_check(d);
    report_set_delay(d->out, result->response, clock_wall_ms());
}

/* ---- a page -------------------------------------------------------------- */

struct tags {
    struct bytes agent;
    bool noindex, nofollow;
    struct buf robots;     /* directives of all fields and tags, for ... */
    struct page_meta meta; /* what the page says of itself */
};

static void add_robots_tag(void *ctx, struct bytes value)
{
    struct tags *t = ctx;

    robots_tag_header(value, t->agent, &t->noindex, &t->nofollow);
    text_fold_list(&t->robots, value);
}

static void keep_meta(struct draft *d, struct tags *t)
{
    struct buf packed;

    buf_init(&packed, PAGE_META_MOST);
    t->meta.robots = buf_bytes(&t->robots);
    t->meta.canonical = link_finder_canonical(d->r->finder);
    page_meta_put(&packed, &t->meta);
    d->done->row.meta = report_keep(d->out, buf_bytes(&packed), PAGE_META_MOST);
    buf_fini(&packed);
}

static void read_html(struct draft *d, struct bytes type, struct tags *tags)
{
    struct fetch_row *row = &d->done->row;
    struct page_info info = {0};

    link_finder_html(d->r->finder, d->result->body, type, &info);
    row->charset = bytes_of_str(info.charset);
    if (info.broken_line > 0)
        row->flags |= FETCH_ROW_NOT_WELL_FORMED;
    row->title = report_keep(d->out, info.title, ROW_TEXT_MOST);
    if (info.lang.len > 0)
        row->lang = report_keep(d->out, info.lang, ROW_TEXT_MOST);
    row->simhash = info.simhash;
    if (d->result->body.len > 0) {
        row->text_digest = info.text_digest;
        row->flags |= d->r->o->text_without_numbers ? FETCH_ROW_NO_NUMBERS : 0;
    }
    tags->noindex = tags->noindex || info.noindex;
    tags->nofollow = tags->nofollow || info.nofollow;
    if (info.robots.len > 0)
        text_fold_list(&tags->robots, info.robots);
    tags->meta = (struct page_meta){
        .description = info.description,
        .h1 = info.h1,
        .is_html = true,
        .hreflang = info.hreflang,
        .words = info.words,
    };
}

/* XML may be a sitemap or feed; other types only if a page announced a feed. */
static bool may_be_sitemap(const struct draft *d)
{
    return mime_is_xml(d->done->row.mime) || d->lease->kind == LINK_FEED;
}

/* The reason for which a list ended early, if it did. */
static enum outcome_reason list_reason(const struct sitemap_end *end)
{
    if (end->status == STATUS_OK)
        return REASON_NONE;
    if (end->status == STATUS_FORMAT)
        return REASON_BAD_ENCODING;
    return end->too_many ? REASON_LINK_COUNT : REASON_TRUNCATED_LENGTH;
}

/* Was it requested only because sitemaps are often at this URL? */
static bool was_guess(const struct url_lease *l)
{
    size_t origin = url_origin_length(l->url);
    struct bytes path = bytes_of(l->url.at + origin, l->url.len - origin);

    return l->kind == LINK_SITEMAP && (!l->seed || l->depth == 0) &&
           bytes_is(path, SITEMAP_GUESS);
}

/* Takes the result of a body that was read while it arrived. False: it was not
 * a sitemap, and may be a page. */
static bool read_list(struct draft *d)
{
    struct sitemap_end end = sitemap_stream_end(d->list);
    enum outcome_reason reason = list_reason(&end);

    link_finder_count(d->r->finder, end.links);
    if (reason != REASON_NONE && (d->result->end == FETCH_ANSWERED ||
                                  d->result->end == FETCH_CUT_LENGTH))
        report_set_outcome(d->done, OUTCOME_FETCHED, reason);
    if (end.is_sitemap)
        d->done->row.flags |= FETCH_ROW_LIST;
    if (end.is_sitemap || !was_guess(d->lease))
        return end.is_sitemap;
    report_set_outcome(d->done, OUTCOME_SKIPPED, REASON_NO_SITEMAP);
    return true;
}

/* Reads the document with the parser of its type; one that its head does not
 * name is told by its first octets. */
static void read_document(struct draft *d, struct tags *tags)
{
    struct fetch_row *row = &d->done->row;
    struct bytes type =
        response_get(d->result->response, RESPONSE_CONTENT_TYPE);
    struct page_info info = {0};

    if (row->mime.len == 0) {
        row->mime = mime_sniff(d->result->body);
        type = row->mime.len > 0 ? row->mime : type;
    }
    d->is_page = d->list == NULL || !read_list(d);
    if (!d->is_page)
        return;
    if (mime_is_html(row->mime) || xhtml_is_page(d->result->body, type))
        read_html(d, type, tags);
    else if (bytes_is(row->mime, "text/css"))
        link_finder_css(d->r->finder, d->result->body, type, &info);
    else if (may_be_sitemap(d)) {
        link_finder_sitemap(d->r->finder, d->result->body, type);
        row->flags |= FETCH_ROW_LIST;
    }
}

/* ---- links of the head --------------------------------------------------- */

static void add_head_link(struct draft *d, struct bytes target,
                          enum link_kind kind, bool nofollow)
{
    if (kind != LINK_HEADER || d->r->o->kinds & LINK_BIT(LINK_HEADER))
        link_finder_add(d->r->finder, target, kind, nofollow);
    else
        link_finder_leave(d->r->finder, LINK_HEADER);
}

static void add_link_header(void *ctx, struct bytes value)
{
    struct draft *d = ctx;
    struct header_link link;
    enum link_kind kind;

    while (link_header_next(&value, &link))
        if (link_kind_of_header(&link, d->r->o->kinds, &kind))
            add_head_link(d, link.target, kind,
                          words_have(link.rel, "nofollow"));
}

/* A refresh in the head is what a meta element with it would be (HTML standard,
 * section 7.5.1, "create and initialize a Document object"). */
static void read_head(struct draft *d)
{
    const struct response *a = d->result->response;
    struct bytes place = response_get(a, RESPONSE_CONTENT_LOCATION), target;

    response_each(a, RESPONSE_LINK, add_link_header, d);
    if (place.len > 0)
        add_head_link(d, place, LINK_HEADER, false);
    if (refresh_url(response_get(a, RESPONSE_REFRESH), &target))
        add_head_link(d, target, LINK_META_REFRESH, false);
}

static enum outcome_reason cut_reason(enum fetch_end end)
{
    switch (end) {
    case FETCH_CUT_LENGTH:
        return REASON_TRUNCATED_LENGTH;
    case FETCH_CUT_TIME:
        return REASON_TRUNCATED_TIME;
    case FETCH_CUT_ENCODING:
        return REASON_BAD_ENCODING;
    default:
        return REASON_NONE;
    }
}

/* Checks the document's type, which the head need not have named. A response
 * without body has no type. */
static bool is_accepted(const struct draft *d)
{
    const struct fetcher_options *o = d->r->o;
    struct bytes mime = d->done->row.mime;

    if (d->list != NULL)
        return true; /* --mime is about pages */
    if (mime.len == 0 && d->result->body.len == 0)
        return true;
    return mime_accepted(mime, o->mime, o->mime_count);
}

/* What the document asks of robots. A list is no page that could be indexed. */
static void take_tags(struct draft *d, const struct tags *tags)
{
    if (tags->noindex && d->is_page)
        d->done->row.flags |= FETCH_ROW_NOINDEX;
    if (tags->noindex && d->is_page && d->r->o->skip_noindex)
        report_set_outcome(d->done, OUTCOME_SKIPPED, REASON_NOINDEX);
    if (tags->nofollow && !d->r->o->follow_nofollow) {
        link_finder_forbid(d->r->finder);
        d->done->nofollow = true;
    }
}

static void report_page(struct draft *d)
{
    const struct fetcher_options *o = d->r->o;
    struct tags tags = {.agent = bytes_of_str(o->product_token)};

    buf_init(&tags.robots, PAGE_ROBOTS_MOST);
    report_set_outcome(d->done, OUTCOME_FETCHED, cut_reason(d->result->end));
    response_each(d->result->response, RESPONSE_X_ROBOTS_TAG, add_robots_tag,
                  &tags);
    read_document(d, &tags);
    read_head(d);
    if (o->record_meta && d->is_page)
        keep_meta(d, &tags);
    buf_fini(&tags.robots);
    if (d->done->outcome.reason == REASON_NONE &&
        link_finder_is_full(d->r->finder))
        report_set_outcome(d->done, OUTCOME_FETCHED, REASON_LINK_COUNT);
    take_tags(d, &tags);
    if (!is_accepted(d))
        report_set_outcome(d->done, OUTCOME_SKIPPED, REASON_MIME);
}

/* May a later try succeed? */
static bool may_pass(uint16_t status)
{
    return status == 408 || status == 429 || (status >= 500 && status < 600);
}

/* HEAD alone does not tell that a URL is broken, whatever the status: servers
 * answer 404 and 410 to what they do not know, too. */
static bool is_first_check(const struct draft *d)
{
    return d->result->want == FETCH_HEAD;
}

/* Whether it is there is all that was asked. */
static void report_check(struct draft *d, uint16_t status)
{
    if (status < 400) {
        report_set_outcome(d->done, OUTCOME_FETCHED, REASON_CHECKED);
        return;
    }
    report_set_outcome(d->done, OUTCOME_FAILED, REASON_HTTP);
    d->done->unsure = true;
    d->done->transient = is_first_check(d) || may_pass(status);
}

/* ---- other answers ------------------------------------------------------- */

static void report_redirect(struct draft *d)
{
    struct bytes location =
        response_get(d->result->response, RESPONSE_LOCATION);
    struct bytes target = bytes_of("", 0);
    enum outcome_reason reason;

    reason =
        link_finder_redirect(d->r->finder, location, &target, &d->done->anew);
    report_set_outcome(d->done, OUTCOME_REDIRECT, reason);
    d->done->row.redirect_url = report_keep(d->out, target, SIZE_MAX);
    if (reason == REASON_REDIRECT_INVALID)
        d->done->row.detail = report_keep(d->out, location, ROW_TEXT_MOST);
}

/* What the page was is in its row of then; the frontier completes this one. The
 * fields of the head are newer than those of then, though (RFC 9111
 * sections 3.2 and 4.3.4); what it does not repeat still holds. A 304 to a
 * request that had no conditions says nothing about the page. */
static void report_not_modified(struct draft *d)
{
    const struct conditions asked = conditions_of(&d->lease->last);
    struct tags tags = {.agent = bytes_of_str(d->r->o->product_token)};

    if (!conditions_any(&asked)) {
        report_set_outcome(d->done, OUTCOME_FAILED, REASON_HTTP);
        return;
    }
    report_set_outcome(d->done, OUTCOME_FETCHED, REASON_UNCHANGED);
    d->is_page = d->list == NULL;
    read_head(d);
    response_each(d->result->response, RESPONSE_X_ROBOTS_TAG, add_robots_tag,
                  &tags);
    buf_fini(&tags.robots);
    take_tags(d, &tags);
}

/* A page that came in full, with the body that it had before. */
static bool is_same_body(const struct draft *d)
{
    const struct digest *was = &d->lease->last.body_digest;

    return d->done->outcome.status == OUTCOME_FETCHED &&
           d->done->outcome.reason == REASON_NONE && (was->hi | was->lo) != 0 &&
           digest_equal(*was, d->done->row.body_digest);
}

/* A 3xx that leads nowhere is a page; its Location, if it has one, is noted. */
static void report_found(struct draft *d)
{
    report_page(d);
    if (is_same_body(d))
        report_set_outcome(d->done, OUTCOME_FETCHED, REASON_UNCHANGED);
    if (d->result->response->status >= 300 && d->done->row.detail.len == 0)
        d->done->row.detail = header(d, RESPONSE_LOCATION);
}

static void report_answer(struct draft *d)
{
    uint16_t status = d->result->response->status;

    if (response_redirects(d->result->response, d->lease->url)) {
        report_redirect(d);
    } else if (status == 304) {
        report_not_modified(d);
    } else if (is_check(d)) {
        report_check(d, status);
    } else if (status < 400) {
        report_found(d);
    } else if (was_guess(d->lease) && status < 500 && status != 408 &&
               status != 429) {
        report_set_outcome(d->done, OUTCOME_SKIPPED, REASON_NO_SITEMAP);
    } else {
        report_set_outcome(d->done, OUTCOME_FAILED, REASON_HTTP);
        d->done->transient = may_pass(status);
    }
}

static void report_end(struct draft *d)
{
    switch (d->result->end) {
    case FETCH_ANSWERED:
    case FETCH_CUT_LENGTH:
    case FETCH_CUT_TIME:
    case FETCH_CUT_ENCODING:
        report_answer(d);
        break;
    case FETCH_MIME:
        report_set_outcome(d->done, OUTCOME_SKIPPED, REASON_MIME);
        break;
    case FETCH_ADDRESS:
        report_set_outcome(d->done, OUTCOME_SKIPPED, REASON_ADDRESS);
        break;
    case FETCH_PORT:
        report_set_outcome(d->done, OUTCOME_SKIPPED, REASON_PORT);
        break;
    default:
        report_set_outcome(d->done, OUTCOME_FAILED,
                           report_failure_reason(d->result->end));
        d->done->transient = d->result->transient || is_first_check(d);
        d->done->unsure = is_check(d);
        break;
    }
}

struct report *reporter_done(struct reporter *r, const struct url_lease *l,
                             const struct fetch_result *result,
                             struct sitemap_stream *list, struct bytes note)
{
    struct report *out = report_new(REPORT_DONE, l->id);
    struct draft d = {.r = r,
                      .lease = l,
                      .result = result,
                      .list = list,
                      .out = out,
                      .done = &out->done};

    out->arena = arena_new(REPORT_MOST + REPORT_SLACK);
    fill_row(&d);
    fill_host_news(&d);
    if (link_finder_begin(r->finder, l, out->arena, REPORT_MOST)) {
        report_end(&d);
        out->elsewhere = link_finder_end(r->finder, &out->done);
        read_trap_text(&d);
    } else {
        report_set_outcome(&out->done, OUTCOME_FAILED, REASON_PROTOCOL);
    }
    if (out->done.row.detail.len == 0)
        out->done.row.detail = report_keep(out, note, ROW_TEXT_MOST);
    return out;
}
