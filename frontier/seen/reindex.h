/*
 * reindex.h - makes the exact set of a crawl anew from its rows.
 *
 * The exact set follows from the rows of URLs, so a crawl whose exact set is
 * damaged has lost nothing.
 */
#ifndef URLWEIR_FRONTIER_SEEN_REINDEX_H
#define URLWEIR_FRONTIER_SEEN_REINDEX_H

#include <stdint.h>

#include "base/status.h"

/* Nobody else may write to `dir`. Empties the exact set, and fills it with the
 * digests of all URLs; *urls: how many rows there are. The indexes of
 * bodies and texts are filled again when the crawl goes on. Within some
 * `memory` octets, but for what a crawl needs for its hosts and two bits for
 * each URL. Killed at any moment, it leaves a store that a crawl opens. */
MUST_CHECK enum status reindex(const char *dir, uint64_t memory,
                               uint64_t *urls);

#endif
