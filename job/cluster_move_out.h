/*
 * cluster_move_out.h - moves a crawl out of a cluster, into the directory of
 * one of its workers.
 *
 * The directory gets what waits in the cluster, and learns what the other
 * workers have done from their directories, since the cluster has only
 * fingerprints of it. At the end each URL that the cluster knows is known
 * there: all are looked up. The cluster changes nothing but when its shards
 * give something out again, until cluster_move_out_end(); so it may be done
 * again from the beginning, or the crawl may go on there. Memory: one batch.
 *
 * One thread.
 */
#ifndef URLWEIR_JOB_CLUSTER_MOVE_OUT_H
#define URLWEIR_JOB_CLUSTER_MOVE_OUT_H

#include "base/buf.h"
#include "base/status.h"
#include "frontier/cluster_store/cluster_store.h"
#include "frontier/engine.h"

struct cluster_move_out;

struct cluster_out_counts {
    uint64_t waiting; /* URLs that wait */
    uint64_t others;  /* that other workers have done */
    uint64_t unknown; /* that the cluster knows and the directory does not, or
                    that others have, who did not say what became of them */
};

/* `e`: the engine of the directory, which is made with the digest seed of
 * `store`; STATUS_ARG: with another one. Both are borrowed. */
MUST_CHECK enum status cluster_move_out_new(struct cluster_move_out **out,
                                            struct cluster_store *store,
                                            struct engine *e);
void cluster_move_out_free(struct cluster_move_out *m); /* NULL is fine */

/* STATUS_EXISTS: the crawl went to another directory. */
MUST_CHECK enum status cluster_move_out_may(struct cluster_move_out *m);
/* Holds the shards, and waits until no lease runs and no worker was heard for
 * some seconds. `lease_ms`: length of a lease. STATUS_BUSY: there are workers
 * still. */
MUST_CHECK enum status cluster_move_out_quiet(struct cluster_move_out *m,
                                              int64_t lease_ms);
/* Learns what the worker of `dir` has done. STATUS_ARG: it is of another crawl;
 * others as reader_open(). */
MUST_CHECK enum status cluster_move_out_worker(struct cluster_move_out *m,
                                               const char *dir);
/* Takes what waits. */
MUST_CHECK enum status cluster_move_out_waiting(struct cluster_move_out *m);
/* Takes what people have set for hosts. Call it after all URLs are there. */
MUST_CHECK enum status cluster_move_out_hosts(struct cluster_move_out *m);
/* Is all known? Fills in the counts. */
MUST_CHECK enum status cluster_move_out_check(struct cluster_move_out *m,
                                              struct cluster_out_counts *out);
/* Nobody can take part in the cluster any more, for good. Call it when the
 * directory is on disk. */
MUST_CHECK enum status cluster_move_out_end(struct cluster_move_out *m);

#endif
