/* SPDX-License-Identifier: MIT */
/*
 * frontier_last.c - what is known of a URL that was fetched before.
 *
 * Validators are withheld where a 304 could not be believed or would be of no
 * use: they belong to a response to another user agent, or one that was read by
 * other rules; a sitemap says that the page has changed since; or its record is
 * wanted and there is none. The
 * response has a body then, and the body's digest says whether it has changed.
 */
#include <stdio.h>

#include "frontier/embedded/frontier_fetched.h"
#include "frontier/past_crawl.h"
#include "frontier/recorded.h"
#include "frontier/seen/row_digest.h"

#define IDENTITY        "identity"
#define IDENTITY_SEQ    "identity_seq"
#define IDENTITY_MOST   ((size_t)64 << 10)
#define RECORD_URL_MOST ((size_t)16 << 20)

/* ---- identity ---- */

enum status frontier_open_last(struct frontier *f, uint64_t memory)
{
    struct buf was;
    int64_t seq = 0;
    enum status st = page_store_watch_last(f->pages, memory);

    if (st == STATUS_OK)
        st = revisit_store_open(&f->revisits, f->base->db);
    buf_init(&was, IDENTITY_MOST);
    if (st == STATUS_OK)
        st = frontier_store_meta_time(f->store, IDENTITY_SEQ, &seq);
    if (st == STATUS_OK)
        st = frontier_store_meta(f->store, IDENTITY, &was);
    f->other_seq = seq > 0 ? (uint64_t)seq : 0;
    if (st == STATUS_OK && !bytes_equal(buf_bytes(&was), f->o.identity))
        f->other_seq = page_store_last_seq(f->pages);
    /* A store of before identities were kept is taken for one of this one. */
    f->identity_noted =
        st == STATUS_OK && bytes_equal(buf_bytes(&was), f->o.identity);
    buf_fini(&was);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status frontier_note_identity(struct frontier *f)
{
    char digits[24];
    enum status st;

    if (f->identity_noted)
        return STATUS_OK;
    f->identity_noted = true;
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)f->other_seq);
    st = frontier_store_set_meta(f->store, IDENTITY_SEQ, bytes_of_str(digits));
    return st == STATUS_OK
               ? frontier_store_set_meta(f->store, IDENTITY, f->o.identity)
               : st;
}

/* ---- leases ---- */

static struct bytes kept(struct frontier *f, struct bytes text)
{
    const char *at = arena_try_copy(f->last_texts, text.at, text.len);

    return at != NULL ? bytes_of(at, text.len) : bytes_of("", 0);
}

struct last_visit {
    struct frontier *f;
    struct engine_last *out;
    struct fetch_row *row;
    struct buf *text;
    bool may_ask;
    enum status st;
};

/* The record that one of this row would refer to. */
static enum status find_record(struct last_visit *v,
                               const struct fetch_row *row)
{
    struct frontier *f = v->f;
    const struct recorded own = {f->store, f->pages, f->revisits};

    if (!f->o.keeps_records)
        return STATUS_OK;
    return v->out->past_url != 0
               ? past_crawl_record(f->o.past, row, &v->out->record, v->text)
               : recorded_find(&own, row, &v->out->record, v->text);
}

static void take_validators(void *ctx, const struct fetch_row *row)
{
    struct last_visit *v = ctx;
    struct engine_last *out = v->out;

    out->seq = row->seq;
    out->at_ms = row->at_ms;
    out->body_digest = row->body_digest;
    out->text_digest = row->text_digest;
    out->no_numbers = (row->flags & FETCH_ROW_NO_NUMBERS) != 0;
    out->etag = kept(v->f, row->etag);
    out->last_modified = kept(v->f, row->last_modified);
    v->st = find_record(v, row);
    out->record.url = kept(v->f, out->record.url);
    if (v->st == STATUS_OK && out->past_url != 0)
        v->st = past_crawl_may_ask(v->f->o.past, row, &v->may_ask);
    else
        v->may_ask = row->seq > v->f->other_seq;
}

/* Does a sitemap say that the page has changed since? */
static enum status is_outdated(struct frontier *f, uint64_t id,
                               const struct engine_last *last, bool *outdated)
{
    struct url_hint hint;
    enum status st = hint_store_get(f->hints, id, &hint);

    *outdated = st == STATUS_OK && hint.lastmod_ms != HINT_NO_LASTMOD &&
                hint.lastmod_ms > last->at_ms;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* Are responses to URLs that were found by these kinds of links read by the
 * same parser, as a page, a feed or a sitemap? */
static bool reads_alike(const struct frontier *f, unsigned a, unsigned b)
{
    return (f->o.listings >> a & 1) == (f->o.listings >> b & 1) &&
           (f->o.refresh.lists >> a & 1) == (f->o.refresh.lists >> b & 1);
}

/* The row is read from the store of the crawl that has it. */
static enum status read_last(struct frontier *f, const struct url_row *row,
                             struct last_visit *v)
{
    enum status st = page_store_last(f->pages, row->id, take_validators, v);
    struct url_row there;
    struct digest d;

    if (st != STATUS_NOT_FOUND || f->o.past == NULL)
        return st;
    d = row_digest(&f->base->key, f->store, row);
    st = past_crawl_find(f->o.past, d, row->url, &there);
    if (st != STATUS_OK || there.id == 0)
        return st == STATUS_OK ? STATUS_NOT_FOUND : st;
    v->out->past_url = there.id;
    st = past_crawl_last(f->o.past, there.id, take_validators, v);
    v->may_ask = v->may_ask && reads_alike(f, row->kind, there.kind);
    return st;
}

enum status frontier_find_last(struct frontier *f, const struct url_row *row,
                               struct engine_last *out)
{
    struct buf text;
    struct last_visit v = {.f = f, .out = out, .text = &text};
    bool outdated = false;
    enum status st;

    *out = (struct engine_last){.seq = 0};
    arena_reset(f->last_texts);
    buf_init(&text, RECORD_URL_MOST);
    st = read_last(f, row, &v);
    buf_fini(&text);
    if (st == STATUS_NOT_FOUND) {
        *out = (struct engine_last){.seq = 0};
        return STATUS_OK;
    }
    if (st == STATUS_OK)
        st = v.st;
    if (st == STATUS_OK)
        st = is_outdated(f, row->id, out, &outdated);
    if (outdated || !v.may_ask ||
        (f->o.keeps_records && out->record.url.len == 0))
        out->etag = out->last_modified = bytes_of("", 0);
    return st;
}

/* ---- not modified ---- */

static void take_facts(void *ctx, const struct fetch_row *last)
{
    struct last_visit *v = ctx;
    struct fetch_row *row = v->row;

    row->body_bytes = last->body_bytes;
    row->body_digest = last->body_digest;
    row->links = last->links;
    row->simhash = last->simhash;
    row->text_digest = last->text_digest;
    row->body_print = last->body_print;
    row->flags |= last->flags & FETCH_ROW_OF_PAGE;
    row->mime = kept(v->f, last->mime);
    row->charset = kept(v->f, last->charset);
    row->lang = kept(v->f, last->lang);
    row->title = kept(v->f, last->title);
    if (row->meta.len == 0)
        row->meta = kept(v->f, last->meta);
    /* RFC 9110 section 15.4.5: a 304 has those that a 200 would have had. */
    if (row->etag.len == 0)
        row->etag = kept(v->f, last->etag);
    if (row->last_modified.len == 0)
        row->last_modified = kept(v->f, last->last_modified);
}

enum status frontier_take_last(struct frontier *f, const struct engine_lease *l,
                               struct fetch_row *row)
{
    struct last_visit v = {.f = f, .row = row};

    arena_reset(f->last_texts);
    return l->last.past_url != 0
               ? past_crawl_last(f->o.past, l->last.past_url, take_facts, &v)
               : page_store_last(f->pages, l->id, take_facts, &v);
}

bool frontier_has_same_text(const struct frontier *f,
                            const struct engine_lease *l,
                            const struct fetch_row *row, struct outcome o)
{
    const struct fetch_row was = {.text_digest = l->last.text_digest,
                                  .flags = l->last.no_numbers
                                               ? FETCH_ROW_NO_NUMBERS
                                               : 0};

    return f->o.changed_by != CHANGED_BY_BODY && o.status == OUTCOME_FETCHED &&
           o.reason == REASON_NONE && l->last.seq != 0 &&
           page_same_text(&was, row);
}

/* A 304 of this crawl's own page: the links are those rows still. */
static enum status share_links(struct frontier *f, const struct engine_lease *l,
                               const struct fetch_row *row)
{
    struct link_range rows;
    enum status st;

    if (l->last.past_url != 0 || row->http_status != 304)
        return STATUS_OK;
    st = link_store_page(f->links, l->last.seq, &rows);
    if (st == STATUS_OK)
        st = link_store_set_page(f->links, row->seq, &rows);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status frontier_note_unchanged(struct frontier *f,
                                    const struct engine_lease *l,
                                    const struct fetch_row *row, bool has_rows)
{
    enum status st = has_rows ? STATUS_OK : share_links(f, l, row);

    if (st == STATUS_OK && l->last.record.url.len > 0 && row->warc_file.len > 0)
        st = revisit_store_set(f->revisits, row->seq, &l->last.record);
    return st;
}
