/*
 * cluster_move.h - a whole crawl into a cluster, and out of it.
 *
 * In: while the crawl's record says "new", nobody leases. What came to be there
 * by an attempt that was cut off is cleared, so the crawl may be moved in again
 * by the same directory.
 *
 * Out: shards are held, so that no lease begins, and what they have waiting is
 * read when the last lease is over. A hold ends by itself, so an attempt that
 * was cut off leaves the crawl as it was.
 *
 * Each function waits for the servers, and has a bounded number of calls under
 * way. Statuses as cluster_store.h says. Threads: one.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_MOVE_H
#define URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_MOVE_H

#include "frontier/cluster_store/cluster_steer.h"

/* ---- in ---- */

struct cluster_moved {
    bool done;        /* it does not wait; it has no item then */
    int64_t delay_ms; /* that it waits by itself; -1: none */
    int64_t wait_ms;  /* that its host has to wait; 0: it may be asked now */
};
/* As cluster_store_put(), for URLs of which moved[i] says more. */
MUST_CHECK enum status cluster_store_move(struct cluster_store *s,
                                          const struct cluster_url *urls,
                                          const struct cluster_moved *moved,
                                          size_t n, cluster_put_end *end,
                                          void *ctx);
/* Remove what shards have of these hosts. */
MUST_CHECK enum status cluster_move_clear_hosts(struct cluster_store *s,
                                                const struct bytes *hosts,
                                                size_t n);
/* Remove all else that shards have. */
MUST_CHECK enum status cluster_move_clear_shards(struct cluster_store *s);

/* ---- out ---- */

/* As cluster_store_put(), but nothing is put: fresh[i]: URL i is not there. An
 * item is not used. */
MUST_CHECK enum status cluster_store_seek(struct cluster_store *s,
                                          const struct cluster_url *urls,
                                          size_t n, cluster_put_end *end,
                                          void *ctx);
/* No shard gives out anything for `ms`; -1: for good. *left: ms until the last
 * lease is over; 0: there is none. */
MUST_CHECK enum status cluster_move_hold(struct cluster_store *s, int64_t ms,
                                         int64_t *left);

struct cluster_waiting {
    struct bytes host, item;
    int64_t delay_ms, wait_ms; /* as in struct cluster_moved */
};
/* Called for each URL that waits in a shard, or whose lease was lost, at least
 * once. Anything but STATUS_OK ends it. Its bytes are valid during the call. */
typedef enum status cluster_waiting_visit(void *ctx,
                                          const struct cluster_waiting *w);
MUST_CHECK enum status cluster_move_read(struct cluster_store *s,
                                         unsigned shard,
                                         cluster_waiting_visit *visit,
                                         void *ctx);
/* What a person has set for a host. */
struct cluster_host_set {
    struct bytes host;
    enum cluster_host_setting what;
    int64_t value; /* as cluster_store_set_host() takes it; of BLOCK what is
                      left */
    uint64_t done; /* URLs of the host */
};
typedef enum status cluster_host_visit(void *ctx,
                                       const struct cluster_host_set *h);
/* As cluster_move_read(), for each setting of a host. */
MUST_CHECK enum status cluster_move_read_hosts(struct cluster_store *s,
                                               unsigned shard,
                                               cluster_host_visit *visit,
                                               void *ctx);
/* Note that the crawl is elsewhere now, where `mark` is kept, too.
 * STATUS_EXISTS: it went where there is another mark. */
MUST_CHECK enum status cluster_store_end_move(struct cluster_store *s,
                                              struct bytes mark);
bool cluster_store_is_moved(const struct cluster_store *s);

#endif
