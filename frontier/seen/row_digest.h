/*
 * row_digest.h - the digest under which a crawl knows the URL of a row.
 *
 * It is the digest of the URL, unless another URL had it first
 * (--compare-text); then it is the first free salted one, and the row's flags
 * hold the salt.
 */
#ifndef URLWEIR_FRONTIER_SEEN_ROW_DIGEST_H
#define URLWEIR_FRONTIER_SEEN_ROW_DIGEST_H

#include "base/digest.h"
#include "storage/db/url_kind.h"
#include "storage/frontier_store.h"
#include "storage/index/exact_set.h"

/* Of the store in `dir`. STATUS_DAMAGED with a log line: it has none. */
MUST_CHECK enum status row_digest_read_key(struct digest_key *out,
                                           struct frontier_store *store,
                                           const char *dir);

static inline struct digest row_digest(const struct digest_key *k,
                                       struct frontier_store *store,
                                       const struct url_row *row)
{
    struct bytes crawl, key;

    frontier_store_queue_name(store, row->queue, &crawl, &key);
    return digest_url_salted(k, crawl, key, row->url,
                             row->flags >> URL_ROW_SALT_SHIFT &
                                 URL_ROW_SALT_MOST);
}

/* Whether its digest may be that of an older row, which it replaces in the
 * exact set. */
static inline bool row_replaces(const struct url_row *row)
{
    return (row->kind == URL_KIND_SERVED && row->via != 0) ||
           (row->flags & URL_ROW_AGAIN) != 0;
}

/* Replays row `id`, whose digest may have been in memory only; `replaces`: see
 * row_replaces. */
static inline void row_to_exact_set(struct exact_set *set, struct digest d,
                                    uint64_t id, bool replaces)
{
    if (replaces)
        exact_set_replace(set, d, id);
    else
        exact_set_add(set, d, id);
}

#endif
