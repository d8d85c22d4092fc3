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
#include <stdatomic.h>
#include <stdio.h>

#include "frontier/crawl/frontier_fetched.h"
#include "frontier/crawl/frontier_links.h"
#include "frontier/past_crawl.h"
#include "frontier/recorded.h"
#include "frontier/seen/row_digest.h"
#include "storage/index/near_index.h"

/*
 * Pages whose links are known from an earlier page.
 *
 * With --dup-content skip its body is the same, with --near-dup skip its text
 * is nearly the same. A page that was cut tells what its text begins with, not
 * what it links to, so no other is like it. A page that is fetched again is not
 * known from itself.
 */

/* Is URL `other` the same as `id`, under its own id or, if it has come back,
 * under an earlier one? Rows that came back are few, so only those are compared
 * by their text. */
static enum status is_own(struct frontier *f, uint64_t id, uint64_t other,
                          bool *own)
{
    struct url_row row, before;
    struct buf text;
    enum status st;

    *own = id == other;
    if (*own || frontier_store_counter(f->store, "readmitted") == 0)
        return STATUS_OK;
    st = frontier_store_get(f->store, id, &row, &f->text);
    if (st != STATUS_OK || (row.flags & URL_ROW_AGAIN) == 0)
        return st;
    buf_init(&text, URL_LENGTH_CEILING);
    st = frontier_store_get(f->store, other, &before, &text);
    *own = st == STATUS_OK && row.queue == before.queue &&
           bytes_equal(row.url, before.url);
    buf_fini(&text);
    return st;
}

enum status frontier_had_before(struct frontier *f, const struct fetch_row *row,
                                bool *yes)
{
    uint64_t first = row->same_as != 0 ? row->same_as : row->near_dup_of;

    *yes = false;
    return first != 0
               ? is_own(f, row->url, page_store_url_of(f->pages, first), yes)
               : STATUS_OK;
}

/* Were the links of a page with this outcome read? */
static bool had_links_read(struct outcome o)
{
    return o.status == OUTCOME_FETCHED ||
           (o.status == OUTCOME_SKIPPED && o.reason == REASON_NOINDEX);
}

static enum status is_of_another(struct frontier *f, uint64_t id,
                                 uint64_t other, bool *yes)
{
    bool own = false;
    enum status st = is_own(f, id, other, &own);

    *yes = st == STATUS_OK && !own;
    return st;
}

/* --dup-content skip: was this body fetched before, in an earlier call or by
 * an earlier page of this one? Then its links are known too. */
static enum status has_known_body(struct frontier *f,
                                  const struct url_done *done, size_t i,
                                  bool *known)
{
    const struct fetch_row *row = &done[i].row;
    struct first_body first;
    enum status st;

    *known = false;
    if (!f->o.skip_same_content ||
        (row->body_digest.hi | row->body_digest.lo) == 0 ||
        !had_links_read(done[i].outcome))
        return STATUS_OK;
    for (size_t k = 0; k < i && !*known; k++)
        *known = digest_equal(done[k].row.body_digest, row->body_digest) &&
                 had_links_read(done[k].outcome);
    if (*known)
        return STATUS_OK;
    st = page_store_first_with_body(f->pages, row->body_digest, &first);
    return st == STATUS_OK && first.seq != 0 &&
                   had_links_read(
                       (struct outcome){first.status, first.reason, 0})
               ? is_of_another(f, done[i].id, first.url, known)
               : st;
}

static bool is_near(uint64_t a, uint64_t b)
{
    return a != 0 && b != 0 && __builtin_popcountll(a ^ b) <= NEAR_INDEX_BITS;
}

/* Was the whole text read? */
static bool had_text_read(struct outcome o)
{
    return had_links_read(o) && o.reason != REASON_TRUNCATED_LENGTH &&
           o.reason != REASON_TRUNCATED_TIME;
}

/* --near-dup skip: has_known_body for the text. */
static enum status has_known_text(struct frontier *f,
                                  const struct url_done *done, size_t i,
                                  bool *known)
{
    const struct fetch_row *row = &done[i].row;
    struct first_body first;
    enum status st;

    *known = false;
    if (!f->o.skip_near_dup || row->simhash == 0 ||
        !had_links_read(done[i].outcome))
        return STATUS_OK;
    for (size_t k = 0; k < i && !*known; k++)
        *known = is_near(done[k].row.simhash, row->simhash) &&
                 had_text_read(done[k].outcome);
    if (*known)
        return STATUS_OK;
    st = page_store_first_near(f->pages, row->simhash, &first);
    return st == STATUS_OK && first.seq != 0 &&
                   had_text_read(
                       (struct outcome){first.status, first.reason, 0})
               ? is_of_another(f, done[i].id, first.url, known)
               : st;
}

enum status frontier_why_known(struct frontier *f, const struct url_done *done,
                               size_t i, enum outcome_reason *why)
{
    bool body = false, text = false;
    enum status st = has_known_body(f, done, i, &body);

    if (st == STATUS_OK && !body)
        st = has_known_text(f, done, i, &text);
    *why = body ? REASON_SAME_CONTENT : text ? REASON_NEAR_DUP : REASON_NONE;
    return st;
}

/*
 * --keep-history: passes over the fetches of the crawl,
 * some rows a turn (storage/rows/history.h).
 */

#define KIB  1024u
#define MIB  (1024u * KIB)
#define STEP 256 /* rows in a turn */

enum status frontier_history_open(struct frontier *f)
{
    return history_open(&f->history, f->base->db, f->pages, f->links,
                        seen_store_share(f->base, 1, 256 * KIB, 256 * MIB));
}

bool frontier_history_is_due(const struct frontier *f)
{
    return f->o.refresh.keep_history != 0 &&
           (history_is_running(f->history) ||
            history_is_due(f->history, f->o.refresh.keep_history));
}

static uint64_t first_unread(const struct frontier *f)
{
    return f->o.lines_upto != NULL ? atomic_load(f->o.lines_upto) : UINT64_MAX;
}

enum status frontier_history_step(struct frontier *f, int64_t now)
{
    const unsigned keep = f->o.refresh.keep_history;
    uint64_t removed = 0;
    enum status st;

    if (!frontier_history_is_due(f)) {
        history_stop(f->history);
        return STATUS_OK;
    }
    st = frontier_touch(f, now);
    if (st == STATUS_OK && !history_is_running(f->history))
        st = history_begin(f->history, keep, frontier_store_last_id(f->store),
                           first_unread(f));
    if (st == STATUS_OK)
        st = history_step(f->history, STEP, &removed);
    if (removed > 0)
        frontier_store_add(f->store, "history_removed", removed);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

enum status frontier_add_fetch(struct frontier *f, struct fetch_row *row,
                               uint64_t *seq)
{
    enum status st = page_store_add(f->pages, row, seq);

    if (st == STATUS_OK)
        history_add(f->history, row);
    return st;
}

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
    struct url_last *out;
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
    struct url_last *out = v->out;

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
                               const struct url_last *last, bool *outdated)
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
                               struct url_last *out)
{
    struct buf text;
    struct last_visit v = {.f = f, .out = out, .text = &text};
    bool outdated = false;
    enum status st;

    *out = (struct url_last){.seq = 0};
    arena_reset(f->last_texts);
    buf_init(&text, RECORD_URL_MOST);
    st = read_last(f, row, &v);
    buf_fini(&text);
    if (st == STATUS_NOT_FOUND) {
        *out = (struct url_last){.seq = 0};
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

enum status frontier_take_last(struct frontier *f, const struct url_lease *l,
                               struct fetch_row *row)
{
    struct last_visit v = {.f = f, .row = row};

    arena_reset(f->last_texts);
    return l->last.past_url != 0
               ? past_crawl_last(f->o.past, l->last.past_url, take_facts, &v)
               : page_store_last(f->pages, l->id, take_facts, &v);
}

bool frontier_has_same_text(const struct frontier *f, const struct url_lease *l,
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
static enum status share_links(struct frontier *f, const struct url_lease *l,
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
                                    const struct url_lease *l,
                                    const struct fetch_row *row, bool has_rows)
{
    enum status st = has_rows ? STATUS_OK : share_links(f, l, row);

    if (st == STATUS_OK && l->last.record.url.len > 0 && row->warc_file.len > 0)
        st = revisit_store_set(f->revisits, row->seq, &l->last.record);
    return st;
}
