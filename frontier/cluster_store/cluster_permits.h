/*
 * cluster_permits.h - how many pages a crawl in a cluster may still fetch.
 *
 * A worker asks for a permit for each URL that it has leased, and a URL goes to
 * a fetcher only with one; a page uses it up. What was used and what workers
 * hold is together no more than the limit. So the limit is exact, unless a
 * worker is killed or stands still: what it held is given to others then, and
 * what it was fetching at that moment comes on top.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_PERMITS_H
#define URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_PERMITS_H

#include "frontier/cluster_store/cluster_store.h"

struct cluster_permits {
    uint64_t held;  /* by this worker, beside those that it has used */
    uint64_t pages; /* of the whole crawl, as told */
};
typedef void cluster_permits_end(void *ctx, enum status st,
                                 const struct cluster_permits *p);
/* Tell that worker `name` has used `used` in all, and ask that it hold `want`
 * from now on. `limit`: most pages of the crawl; 0 with `want` 0: only tell. */
void cluster_store_ask_permits(struct cluster_store *s, const char *name,
                               uint64_t used, uint64_t want, uint64_t limit,
                               cluster_permits_end *end, void *ctx);
/* These wait for the server. The pages that workers have told of; and: the
 * crawl has so many, and no worker yet. */
MUST_CHECK enum status cluster_store_get_pages(struct cluster_store *s,
                                               uint64_t *pages);
MUST_CHECK enum status cluster_store_set_pages(struct cluster_store *s,
                                               uint64_t pages);

#endif
