/*
 * cluster_seeder.h - puts seeds into a crawl in a cluster, for a command that
 * takes no part in it.
 *
 * An engine of which only put, turn, digest_key and close work: what a
 * seed_sink (job/seed_sink.h) asks for. It fetches nothing and needs no
 * directory.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_CLUSTER_SEEDER_H
#define URLWEIR_FRONTIER_CLUSTER_CLUSTER_SEEDER_H

#include "frontier/cluster_store/cluster_store.h"
#include "frontier/engine.h"

/* Borrows the store. */
struct engine *cluster_seeder_new(struct cluster_store *store);

#endif
