/*
 * cluster_orders.h - what people want of all workers of a crawl in a cluster,
 * on its way through a worker: its frontier thread hears it from the cluster,
 * another thread carries it out.
 *
 * Any thread.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_CLUSTER_ORDERS_H
#define URLWEIR_FRONTIER_CLUSTER_CLUSTER_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

struct cluster_orders;

struct cluster_orders *cluster_orders_new(void);
void cluster_orders_free(struct cluster_orders *o); /* NULL is fine */

/* ---- who hears ---- */

void cluster_orders_hear(struct cluster_orders *o, bool paused, bool stopped);
void cluster_orders_hear_settings(struct cluster_orders *o, uint64_t version,
                                  struct bytes text);
/* The version that the worker goes by; 0: none yet. */
uint64_t cluster_orders_in_force(struct cluster_orders *o);

/* ---- who carries out ---- */

struct cluster_order {
    bool paused, stopped;
    uint64_t version; /* of settings that are not in force yet; 0: there are
                         none */
};
/* `settings` gets the text of that version. */
void cluster_orders_look(struct cluster_orders *o, struct cluster_order *out,
                         struct buf *settings);
void cluster_orders_done(struct cluster_orders *o, uint64_t version);

#endif
