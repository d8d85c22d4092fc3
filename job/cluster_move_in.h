/*
 * cluster_move_in.h - moves a crawl from its directory into a cluster.
 *
 * Every URL that the directory knows is known there, those that are done are
 * done, those that wait do so there, with what is left of the waits of their
 * hosts. The crawl keeps its digest seed, so the directory can be a worker's
 * afterwards. Until cluster_store_begin() nobody can take part there, and it
 * may all be done again. Memory: one step of rows.
 *
 * One thread.
 */
#ifndef URLWEIR_JOB_CLUSTER_MOVE_IN_H
#define URLWEIR_JOB_CLUSTER_MOVE_IN_H

#include "base/buf.h"
#include "base/status.h"
#include "frontier/cluster_store/cluster_store.h"
#include "frontier/engine.h"
#include "job/settings/options.h"

struct cluster_move_counts {
    uint64_t done, waiting;
};

/* Opens the crawl that s->cluster names, for the crawl of `e`, or makes it. `s`
 * has passed cluster_settings_check(). *begun: this crawl was moved there
 * already. STATUS_EXISTS: another one has that name; `why` gets a sentence on
 * any failure. */
MUST_CHECK enum status cluster_move_in_begin(struct cluster_store **out,
                                             struct engine *e,
                                             const struct crawl_settings *s,
                                             bool *begun, struct buf *why);
/* Moves all URLs, and the delays and limits that people have set for hosts; `s`
 * as above. */
MUST_CHECK enum status cluster_move_in(struct cluster_store *store,
                                       struct engine *e,
                                       const struct crawl_settings *s,
                                       struct cluster_move_counts *counts,
                                       struct buf *why);

#endif
