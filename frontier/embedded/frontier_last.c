/* SPDX-License-Identifier: MIT */
/*
 * frontier_last.c - what is known of a URL that was fetched before.
 *
 * Validators are withheld where a 304 could not be believed or would be of no
 * use: they belong to a response to another user agent; a sitemap says that the
 * page has changed since; or its record is wanted and there is none. The
 * response has a body then, and the body's digest says whether it has changed.
 */
#include <stdio.h>

#include "frontier/embedded/frontier_impl.h"

#define IDENTITY      "identity"
#define IDENTITY_SEQ  "identity_seq"
#define IDENTITY_MOST ((size_t)64 << 10)

/* ---- identity ---- */

enum status frontier_open_last(struct frontier *f, uint64_t memory)
{
    struct buf was;
    int64_t seq = 0;
    enum status st = page_store_watch_last(f->pages, memory);

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
    bool recorded;
};

static void take_validators(void *ctx, const struct fetch_row *row)
{
    struct last_visit *v = ctx;

    v->recorded = row->warc_file.len > 0;
    *v->out = (struct engine_last){
        .seq = row->seq,
        .at_ms = row->at_ms,
        .body_digest = row->body_digest,
        .etag = kept(v->f, row->etag),
        .last_modified = kept(v->f, row->last_modified),
    };
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

enum status frontier_find_last(struct frontier *f, uint64_t id,
                               struct engine_last *out)
{
    struct last_visit v = {.f = f, .out = out};
    bool outdated = false;
    enum status st;

    *out = (struct engine_last){.seq = 0};
    arena_reset(f->last_texts);
    st = page_store_last(f->pages, id, take_validators, &v);
    if (st == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (st == STATUS_OK)
        st = is_outdated(f, id, out, &outdated);
    if (outdated || out->seq <= f->other_seq ||
        (f->o.keeps_records && !v.recorded))
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
    row->flags |= last->flags;
    row->mime = kept(v->f, last->mime);
    row->charset = kept(v->f, last->charset);
    row->lang = kept(v->f, last->lang);
    row->title = kept(v->f, last->title);
    /* RFC 9110 section 15.4.5: a 304 has those that a 200 would have had. */
    if (row->etag.len == 0)
        row->etag = kept(v->f, last->etag);
    if (row->last_modified.len == 0)
        row->last_modified = kept(v->f, last->last_modified);
}

enum status frontier_take_last(struct frontier *f, uint64_t id,
                               struct fetch_row *row)
{
    struct last_visit v = {.f = f, .row = row};

    arena_reset(f->last_texts);
    return page_store_last(f->pages, id, take_facts, &v);
}
