/*
 * cluster_steer.h - what people change in a crawl in a cluster: settings,
 * whether its workers pause or stop, hosts that are blocked or have a delay or
 * a limit of their own.
 *
 * It is in the crawl's record, and each worker asks for it with its sign of
 * life (cluster_watch.h). A stop is an event: workers that took part before it
 * end, those that come later go on.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_STEER_H
#define URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_STEER_H

#include "frontier/cluster_store/cluster_store.h"

/* These wait for the server. */

/* Replace the settings, which had `version`; *now is that of the new ones.
 * STATUS_AGAIN: they were changed meanwhile; STATUS_LIMIT: too long. */
MUST_CHECK enum status cluster_store_set(struct cluster_store *s,
                                         uint64_t version, struct bytes text,
                                         uint64_t *now);
/* STATUS_NOT_FOUND: the crawl is not in the cluster any more. */
MUST_CHECK enum status cluster_store_pause(struct cluster_store *s, bool pause);
MUST_CHECK enum status cluster_store_stop(struct cluster_store *s);

/* What a person says of one host (a queue key). */
enum cluster_host_setting {
    CLUSTER_HOST_BLOCK, /* give out no URL of it for so many ms from now; 0:
                           it is blocked no longer */
    CLUSTER_HOST_DELAY, /* ms between two requests, in place of the crawl's; if
                           its robots.txt or its responses ask for more, that
                           applies; -1: the crawl's */
    CLUSTER_HOST_LIMIT  /* most URLs of it that are done; the others wait; -1:
                           none */
};
/* `delay_ms`: of hosts without a delay of their own. */
MUST_CHECK enum status cluster_store_set_host(struct cluster_store *s,
                                              struct bytes host,
                                              enum cluster_host_setting what,
                                              int64_t value, int64_t delay_ms);

/* Was it paused when it was opened? */
bool cluster_store_is_paused(const struct cluster_store *s);

/* `text` is valid during the call. */
typedef void cluster_settings_end(void *ctx, enum status st, uint64_t version,
                                  struct bytes text);
void cluster_store_ask_settings(struct cluster_store *s,
                                cluster_settings_end *end, void *ctx);

#endif
