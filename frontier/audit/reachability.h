/*
 * reachability.h - which URLs can be reached from the seeds without some
 * others.
 *
 * Follows the recorded link graph, redirects included
 * (storage/rows/link_store.h). Memory is the caller's bits alone, whatever the
 * number of links: the table is read from end to end until a pass finds nothing
 * new. Its rows stand in the order in which pages were fetched, so one pass
 * follows every way that the crawl itself took, and a few more the detours.
 */
#ifndef URLWEIR_FRONTIER_AUDIT_REACHABILITY_H
#define URLWEIR_FRONTIER_AUDIT_REACHABILITY_H

#include "base/status.h"
#include "frontier/audit/id_bits.h"
#include "storage/rows/link_store.h"

/* `reached` holds the seeds; all that can be reached from there without passing
 * through, or ending at, one of `without` is added. */
MUST_CHECK enum status reachability_without(struct link_store *links,
                                            const struct id_bits *without,
                                            struct id_bits *reached);

#endif
