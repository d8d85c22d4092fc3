/* SPDX-License-Identifier: MIT */
/*
 * report.c - makes the report of a fetched URL for the frontier.
 */
#include "crawler/report.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crawler/archive/archive.h"
#include "crawler/fetch/response.h"
#include "crawler/html/link_values.h"
#include "crawler/html/text_digest.h"
#include "crawler/html/xhtml.h"
#include "crawler/link_finder.h"
#include "crawler/robots/robots.h"
#include "frontier/traps/trap_form.h"
#include "frontier/traps/trap_text.h"
#include "storage/rows/page_store.h"

#define ROW_TEXT_MOST ((size_t)512) /* of a header value in a row */
/* Room for everything but links: the row's texts and a robots.txt. */
#define REPORT_SLACK (2 * ROBOTS_READ_MOST)

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

/* ---- reports without a response ------------------------------------------ */

static struct report *report_new(enum report_kind kind, uint64_t id)
{
    struct report *out = xcalloc(1, sizeof *out);

    out->kind = kind;
    out->id = out->done.id = id;
    out->done.host.crawl_delay_ms = -2;
    out->done.host.retry_after_ms = -1;
    return out;
}

void report_free(struct report *r)
{
    if (r == NULL)
        return;
    arena_free(r->arena);
    warc_capture_free(r->warc);
    warc_capture_free(r->robots_warc);
    free(r);
}

struct arena *report_arena(struct report *r)
{
    if (r->arena == NULL)
        r->arena = arena_new(REPORT_MOST + REPORT_SLACK);
    return r->arena;
}

/* A copy in the report's arena, of at most `most` octets. */
static struct bytes kept(struct report *r, struct bytes s, size_t most)
{
    size_t len = s.len < most ? s.len : most;
    char *at;

    if (len == 0)
        return bytes_of("", 0);
    at = arena_try_copy(report_arena(r), s.at, len);
    return at != NULL ? bytes_of(at, len) : bytes_of("", 0);
}

/* The elapsed time in the type of the row. */
static uint32_t elapsed_ms(const struct fetch_result *result)
{
    int64_t ms = (result->ended - result->started) / NS_PER_MS;

    return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

static void set_outcome(struct url_done *done, enum outcome_status status,
                        enum outcome_reason reason)
{
    done->outcome.status = status;
    done->outcome.reason = reason;
    done->row.status = (uint8_t)status;
    done->row.reason = (uint8_t)reason;
}

void report_set_request(struct report *r, const struct fetch_result *result)
{
    struct host_news *host = &r->done.host;

    host->ended = result->ended;
    host->connections = result->connections;
    host->handshake = result->handshake;
}

void report_set_delay(struct report *r, const struct response *a,
                      int64_t wall_ms)
{
    struct host_news *host = &r->done.host;
    struct bytes said = response_get(a, RESPONSE_RETRY_AFTER);

    host->slow_down = outcome_asks_for_pause(a->status);
    if (a->status != 429 && a->status < 500)
        return;
    host->retry_after_ms = http_retry_after_ms(said, wall_ms);
    host->slow_down |= said.len > 0 && host->retry_after_ms < 0;
}

struct report *report_of(const struct url_lease *l, enum outcome_status status,
                         enum outcome_reason reason, struct bytes detail,
                         int64_t wall_ms)
{
    struct report *out = report_new(REPORT_DONE, l->id);

    set_outcome(&out->done, status, reason);
    out->done.row.at_ms = wall_ms;
    out->done.row.detail = kept(out, detail, ROW_TEXT_MOST);
    return out;
}

struct report *report_release(const struct url_lease *l, int64_t not_before)
{
    struct report *out = report_new(REPORT_RELEASE, l->id);

    out->not_before = not_before;
    return out;
}

struct report *report_part(const struct url_lease *l, struct arena *arena)
{
    struct report *out = report_new(REPORT_PART, l->id);

    out->done.partial = true;
    out->arena = arena;
    return out;
}

size_t report_octets(const struct report *r)
{
    return r->arena != NULL ? arena_used(r->arena) : 0;
}

struct report *report_gone(void)
{
    return report_new(REPORT_GONE, 0);
}

void report_set_robots(struct report *r, const struct robots_row *row)
{
    struct bytes origin = kept(r, row->origin, SIZE_MAX);
    struct bytes body = kept(r, row->body, ROBOTS_READ_MOST);
    struct robots_row *copy = arena_try(r->arena, sizeof *copy);

    if (copy == NULL || origin.len != row->origin.len ||
        body.len != row->body.len)
        return; /* it is only fetched again after a restart */
    *copy = *row;
    copy->origin = origin;
    copy->body = body;
    r->done.host.robots = copy;
}

void report_set_robots_host(struct report *r, struct bytes key)
{
    r->done.host.robots_host = kept(r, key, SIZE_MAX);
}

/* ---- the row ------------------------------------------------------------- */

static struct bytes header(struct draft *d, enum response_field f)
{
    return kept(d->out, response_get(d->result->response, f), ROW_TEXT_MOST);
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
    row->ip = kept(d->out, bytes_of_str(result->ip), ROW_TEXT_MOST);
    row->detail = kept(d->out, bytes_of_str(result->error), ROW_TEXT_MOST);
    row->mime =
        kept(d->out,
             mime_essence(response_get(result->response, RESPONSE_CONTENT_TYPE),
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

bool report_is_unreachable(enum fetch_end end)
{
    return end == FETCH_DNS || end == FETCH_CONNECT || end == FETCH_TLS;
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
    d->done->row.meta = kept(d->out, buf_bytes(&packed), PAGE_META_MOST);
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
    row->title = kept(d->out, info.title, ROW_TEXT_MOST);
    if (info.lang.len > 0)
        row->lang = kept(d->out, info.lang, ROW_TEXT_MOST);
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
        set_outcome(d->done, OUTCOME_FETCHED, reason);
    if (end.is_sitemap)
        d->done->row.flags |= FETCH_ROW_LIST;
    if (end.is_sitemap || !was_guess(d->lease))
        return end.is_sitemap;
    set_outcome(d->done, OUTCOME_SKIPPED, REASON_NO_SITEMAP);
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
        set_outcome(d->done, OUTCOME_SKIPPED, REASON_NOINDEX);
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
    set_outcome(d->done, OUTCOME_FETCHED, cut_reason(d->result->end));
    response_each(d->result->response, RESPONSE_X_ROBOTS_TAG, add_robots_tag,
                  &tags);
    read_document(d, &tags);
    read_head(d);
    if (o->record_meta && d->is_page)
        keep_meta(d, &tags);
    buf_fini(&tags.robots);
    if (d->done->outcome.reason == REASON_NONE &&
        link_finder_is_full(d->r->finder))
        set_outcome(d->done, OUTCOME_FETCHED, REASON_LINK_COUNT);
    take_tags(d, &tags);
    if (!is_accepted(d))
        set_outcome(d->done, OUTCOME_SKIPPED, REASON_MIME);
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
        set_outcome(d->done, OUTCOME_FETCHED, REASON_CHECKED);
        return;
    }
    set_outcome(d->done, OUTCOME_FAILED, REASON_HTTP);
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
    set_outcome(d->done, OUTCOME_REDIRECT, reason);
    d->done->row.redirect_url = kept(d->out, target, SIZE_MAX);
    if (reason == REASON_REDIRECT_INVALID)
        d->done->row.detail = kept(d->out, location, ROW_TEXT_MOST);
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
        set_outcome(d->done, OUTCOME_FAILED, REASON_HTTP);
        return;
    }
    set_outcome(d->done, OUTCOME_FETCHED, REASON_UNCHANGED);
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
        set_outcome(d->done, OUTCOME_FETCHED, REASON_UNCHANGED);
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
        set_outcome(d->done, OUTCOME_SKIPPED, REASON_NO_SITEMAP);
    } else {
        set_outcome(d->done, OUTCOME_FAILED, REASON_HTTP);
        d->done->transient = may_pass(status);
    }
}

enum outcome_reason report_failure_reason(enum fetch_end end)
{
    switch (end) {
    case FETCH_DNS:
        return REASON_DNS;
    case FETCH_CONNECT:
        return REASON_CONNECT;
    case FETCH_TLS:
        return REASON_TLS;
    case FETCH_TIMEOUT:
        return REASON_TIMEOUT;
    case FETCH_RESET:
        return REASON_RESET;
    case FETCH_PROTOCOL:
        return REASON_PROTOCOL;
    default:
        return REASON_NONE;
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
        set_outcome(d->done, OUTCOME_SKIPPED, REASON_MIME);
        break;
    case FETCH_ADDRESS:
        set_outcome(d->done, OUTCOME_SKIPPED, REASON_ADDRESS);
        break;
    case FETCH_PORT:
        set_outcome(d->done, OUTCOME_SKIPPED, REASON_PORT);
        break;
    default:
        set_outcome(d->done, OUTCOME_FAILED,
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
        set_outcome(&out->done, OUTCOME_FAILED, REASON_PROTOCOL);
    }
    if (out->done.row.detail.len == 0)
        out->done.row.detail = kept(out, note, ROW_TEXT_MOST);
    return out;
}
