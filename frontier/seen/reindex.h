/*
 * reindex.h - makes the exact set of a crawl anew from its rows.
 *
 * All that the file of runs holds follows from rows of the database, so a crawl
 * whose frontier.runs is gone or damaged has lost nothing.
 */
#ifndef URLWEIR_FRONTIER_SEEN_REINDEX_H
#define URLWEIR_FRONTIER_SEEN_REINDEX_H

#include <stdint.h>

#include "base/status.h"

/* Nobody else may write to `dir`. Removes frontier.runs, and writes another one
 * with the digests of all URLs; *urls: how many rows there are. The indexes of
 * bodies and texts are filled again when the crawl goes on. Within some
 * `memory` octets, but for what a crawl needs for its hosts and two bits for
 * each URL. Killed at any moment, it leaves a store that a crawl opens. */
MUST_CHECK enum status reindex(const char *dir, uint64_t memory,
                               uint64_t *urls);

#endif
