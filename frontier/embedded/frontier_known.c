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

/* Were the links of a page with this outcome read? */
static bool had_links_read(struct outcome o)
{
    return o.status == OUTCOME_FETCHED ||
           (o.status == OUTCOME_SKIPPED && o.reason == REASON_NOINDEX);
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
    *known = first.seq != 0 && first.url != done[i].id &&
             had_links_read((struct outcome){first.status, first.reason, 0});
    return st;
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
    *known = first.seq != 0 && first.url != done[i].id &&
             had_text_read((struct outcome){first.status, first.reason, 0});
    return st;
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
