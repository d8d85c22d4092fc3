/* SPDX-License-Identifier: MIT */
/*
 * frontier_past.c - pages that were fetched before, in this crawl or an earlier
 * one: what is known of them, and their links if they are unchanged.
 *
 * A 304 brings no links, so those that the page had in the earlier crawl go the
 * way of new ones: form, scope, seen check. A page mostly links to what other
 * pages link to as well, so a table of the links last admitted, by their ids
 * there, spares that way: one place for each id modulo its size, 16 octets.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/past_crawl.h"
#include "frontier/reader.h"
#include "frontier/seen/seen_store.h"
#include "storage/index/fetch_index.h"

struct recorded {
    struct db *db;
    struct frontier_store *store;
    struct page_store *pages;
};

/* ---- the WARC record that holds the body of a fetch ---- */

/* The fetch `seq` of URL `url` has a record: what that refers to, or itself. */
static enum status name_record(const struct recorded *r, uint64_t seq,
                               uint64_t url, int64_t at_ms,
                               struct record_name *out, struct buf *text)
{
    struct url_row row;
    enum status st = revisit_store_get(r->db, seq, out, text);

    if (st != STATUS_NOT_FOUND)
        return st;
    st = frontier_store_get(r->store, url, &row, text);
    if (st == STATUS_OK)
        *out = (struct record_name){row.url, at_ms};
    return st;
}

/* The record for `row`; out->url is empty if there is none, and points into
 * `text`.
 *
 * As archive.c does: a row refers to the first one with its body if that is
 * recorded and was not requested later. */
static enum status recorded_find(const struct recorded *r,
                                 const struct fetch_row *row,
                                 struct record_name *out, struct buf *text)
{
    struct first_body first = {.seq = 0};
    enum status st = STATUS_OK;

    *out = (struct record_name){{"", 0}, 0};
    if (row->warc_file.len == 0)
        return STATUS_OK;
    if (row->same_as != 0)
        st = page_store_brief(r->pages, row->same_as, &first);
    if (st != STATUS_OK)
        return st;
    if (first.recorded && first.at_ms <= row->at_ms)
        return name_record(r, first.seq, first.url, first.at_ms, out, text);
    return name_record(r, row->seq, row->url, row->at_ms, out, text);
}

/*
 * An earlier crawl, which a new one knows, is read where it is rather than
 * imported: an import would copy rows of every URL before the first request, and
 * sort them, for what are two look-ups a page. The price: OLD must stay where it is until NEW is finished. Without
 * it, NEW goes on as a crawl that knows nothing.
 */
#define TEXT_MOST ((size_t)16 << 20)

struct past_crawl {
    struct reader r;
    unsigned char seed[DIGEST_SEED_SIZE];
    bool links_fit;
    uint64_t other_seq; /* fetches up to this one had another identity */
    struct buf text;
};

/* ---- opening ---- */

static enum status read_seed(struct past_crawl *p)
{
    struct buf seed;
    enum status st;

    buf_init(&seed, DIGEST_SEED_SIZE);
    st = frontier_store_meta(p->r.store, "digest_seed", &seed);
    if (st == STATUS_OK && seed.len == sizeof p->seed)
        memcpy(p->seed, seed.at, sizeof p->seed);
    else
        st = STATUS_DAMAGED;
    buf_fini(&seed);
    return st;
}

/* As frontier_open_last does for the crawl's own fetches. */
static enum status read_identity(struct past_crawl *p, struct bytes identity)
{
    int64_t seq = 0;
    enum status st = frontier_store_meta_time(p->r.store, "identity_seq", &seq);

    if (st == STATUS_OK)
        st = frontier_store_meta(p->r.store, "identity", &p->text);
    p->other_seq =
        st == STATUS_OK && !bytes_equal(buf_bytes(&p->text), identity)
            ? UINT64_MAX
            : (uint64_t)seq;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status check(struct past_crawl *p, const char *dir, struct buf *why)
{
    if (p->r.holder != 0) {
        buf_addf(why, "%s is being crawled now, by process %ld", dir,
                 p->r.holder);
        return STATUS_AGAIN;
    }
    return STATUS_OK;
}

enum status past_crawl_open(struct past_crawl **out, const char *dir,
                            struct bytes identity, uint64_t memory,
                            struct buf *why)
{
    struct past_crawl *p = xcalloc(1, sizeof *p);
    enum status st = reader_open_within(&p->r, dir, memory);

    buf_init(&p->text, TEXT_MOST);
    if (st == STATUS_OK)
        st = check(p, dir, why);
    if (st == STATUS_OK)
        st = page_store_watch_last(p->r.pages, 0);
    if (st == STATUS_OK)
        st = read_seed(p);
    if (st == STATUS_OK)
        st = read_identity(p, identity);
    p->links_fit = true;
    if (st == STATUS_OK) {
        *out = p;
        return STATUS_OK;
    }
    if (why->len == 0)
        buf_addf(why, "%s: %s", dir,
                 st == STATUS_NOT_FOUND ? "no crawl there" : status_text(st));
    past_crawl_close(p);
    return st;
}

void past_crawl_close(struct past_crawl *p)
{
    if (p == NULL)
        return;
    reader_close(&p->r);
    buf_fini(&p->text);
    free(p);
}

/* ---- the crawl as a whole ---- */

struct past_facts past_crawl_facts(const struct past_crawl *p)
{
    return (struct past_facts){
        .urls = frontier_store_last_id(p->r.store),
        .seed = p->seed,
        .has_links = link_store_recorded(p->r.links) != LINK_RECORD_NONE,
        .is_of_another = p->other_seq == UINT64_MAX,
    };
}

enum status past_crawl_meta(struct past_crawl *p, const char *name,
                            struct buf *out)
{
    return frontier_store_meta(p->r.store, name, out);
}

void past_crawl_set_links(struct past_crawl *p, bool may_use)
{
    p->links_fit = may_use;
}

/* ---- its URLs ---- */

/* The row of a canonical URL, valid until the next call; id 0: it was never
 * admitted. */
static enum status past_crawl_find(struct past_crawl *p, struct digest digest,
                                   struct bytes url, struct url_row *row)
{
    uint64_t id = 0;
    enum status st = exact_set_find(p->r.exact, &digest, 1, &id);

    if (st == STATUS_OK && id != 0)
        st = frontier_store_get(p->r.store, id, row, &p->text);
    if (st != STATUS_OK || id == 0 || !bytes_equal(row->url, url))
        row->id = 0;
    return st;
}

/* The URL of a row, which is there, in `text`. */
static enum status past_crawl_url(struct past_crawl *p, uint64_t id,
                                  struct buf *text)
{
    int64_t found_at_ms;

    buf_clear(text);
    return frontier_store_get_url(p->r.store, id, text, &found_at_ms);
}

enum status past_crawl_root(struct past_crawl *p, struct digest digest,
                            struct bytes url)
{
    struct url_row row;
    enum status st = past_crawl_find(p, digest, url, &row);

    if (st == STATUS_OK && (row.id == 0 || row.depth != 0))
        p->links_fit = false;
    return st;
}

enum status past_crawl_last(struct past_crawl *p, uint64_t id,
                            void (*visit)(void *ctx,
                                          const struct fetch_row *row),
                            void *ctx)
{
    return page_store_last(p->r.pages, id, visit, ctx);
}

enum status past_crawl_may_ask(struct past_crawl *p,
                               const struct fetch_row *row, bool *may)
{
    struct link_range rows = {.partial = false};
    enum status st = STATUS_OK;

    *may = row->seq > p->other_seq &&
           (row->links == 0 ||
            (p->links_fit && (row->flags & FETCH_ROW_LIST) == 0));
    if (*may && row->links > 0)
        st = link_store_page(p->r.links, row->seq, &rows);
    if (st == STATUS_NOT_FOUND || (st == STATUS_OK && rows.partial))
        *may = false;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status past_crawl_record(struct past_crawl *p, const struct fetch_row *row,
                              struct record_name *out, struct buf *text)
{
    const struct recorded r = {p->r.db, p->r.store, p->r.pages};

    return recorded_find(&r, row, out, text);
}

/* The links of fetch `seq`, dropped ones included. Nothing if it had none. */
static enum status past_crawl_links(struct past_crawl *p, uint64_t seq,
                                    void (*visit)(void *ctx,
                                                  const struct link_row *row),
                                    void *ctx)
{
    struct link_range rows;
    enum status st = link_store_page(p->r.links, seq, &rows);

    if (st == STATUS_NOT_FOUND || (st == STATUS_OK && rows.partial))
        return STATUS_OK;
    return st == STATUS_OK ? link_store_each_in(p->r.links, &rows, visit, ctx)
                           : st;
}

/*
 * What is known of a URL that was fetched before.
 *
 * Validators are withheld where a 304 could not be believed or would be of no
 * use: they belong to a response to another user agent, or one that was read by
 * other rules; a sitemap says that the page has changed since; or its record is
 * wanted and there is none. The
 * response has a body then, and the body's digest says whether it has changed.
 */
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
    const struct recorded own = {f->base->db, f->store, f->pages};

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
    enum status st = hint_store_get(f->base->db, id, &hint);

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
        st = revisit_store_set(f->base->db, row->seq, &l->last.record);
    return st;
}

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
