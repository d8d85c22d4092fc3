/*
 * reachability.h - which URLs can be reached from the seeds without some
 * others.
 *
 * Follows the recorded link graph, redirects included
 * (storage/rows/link_store.h). It needs no memory but the caller's bits,
 * whatever the number of links: it reads the table from start to end until a
 * pass finds nothing new. Rows are in the order in which pages were fetched, so
 * one pass follows every path that the crawl itself took, and a few more passes
 * find the others.
 */
#ifndef URLWEIR_FRONTIER_AUDIT_REACHABILITY_H
#define URLWEIR_FRONTIER_AUDIT_REACHABILITY_H

#include "base/status.h"
#include "frontier/audit/id_bits.h"
#include "storage/rows/link_store.h"

/* `reached` holds the seeds. Adds all URLs that can be reached from them
 * without passing through, or ending at, one of `without`. */
MUST_CHECK enum status reachability_without(struct link_store *links,
                                            const struct id_bits *without,
                                            struct id_bits *reached);

#endif
