/* SPDX-License-Identifier: MIT */
/*
 * frontier_known.c - pages whose links are known from an earlier page.
 *
 * With --dup-content skip its body is the same, with --near-dup skip its text
 * is nearly the same. A page that was cut tells what its text begins with, not
 * what it links to, so no other is like it. A page that is fetched again is not
 * known from itself.
 */
#include "frontier/embedded/frontier_links.h"
#include "storage/index/near_index.h"

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
                                  const struct engine_done *done, size_t i,
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
                                  const struct engine_done *done, size_t i,
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

enum status frontier_why_known(struct frontier *f,
                               const struct engine_done *done, size_t i,
                               enum outcome_reason *why)
{
    bool body = false, text = false;
    enum status st = has_known_body(f, done, i, &body);

    if (st == STATUS_OK && !body)
        st = has_known_text(f, done, i, &text);
    *why = body ? REASON_SAME_CONTENT : text ? REASON_NEAR_DUP : REASON_NONE;
    return st;
}
