/* SPDX-License-Identifier: MIT */
/*
 * cluster_places.c - places that open the scope.
 *
 * Seeds, and what they are redirected to, open the scope (frontier/scope.h),
 * and each worker has to judge links as the one did that found the page. So a
 * place is in the cluster before its URL is, each item says how many places
 * there were then, and a lease waits until its worker knows as many.
 */
#include "base/clock.h"
#include "frontier/cluster/cluster_engine_impl.h"
#include "frontier/scope.h"
#include "frontier/url/url.h"

#define EVERY (1 * NS_PER_S)

enum status cluster_places_add(struct cluster_engine *e,
                               const struct engine_item *items, size_t n)
{
    struct bytes place[CLUSTER_PLACES_AT_ONCE];
    uint64_t count = e->places_said;
    enum status st = STATUS_OK;
    size_t k = 0;

    for (size_t i = 0; st == STATUS_OK && i <= n; i++) {
        if (k > 0 && (i == n || k == CLUSTER_PLACES_AT_ONCE)) {
            st = cluster_store_add_places(e->store, place, k, &count);
            k = 0;
        }
        if (i < n && items[i].depth == 0)
            place[k++] = items[i].url;
    }
    if (st == STATUS_OK && count > e->places_said)
        e->places_said = count;
    return st;
}

static void places_came(void *ctx, enum status st, const struct bytes *places,
                        size_t n)
{
    struct cluster_engine *e = ctx;
    struct url u;

    e->asking_places = false;
    e->places_read = st == STATUS_OK && n < CLUSTER_PLACES_AT_ONCE;
    url_init(&u);
    for (size_t i = 0; i < n; i++)
        if (url_parse(&u, places[i], NULL, NULL) == URL_OK)
            scope_add_seed(e->o.scope, &u);
    url_fini(&u);
    e->places += n;
    if (e->places > e->places_said)
        e->places_said = e->places;
    if (n > 0)
        cluster_intake_places_came(e);
}

void cluster_places_tend(struct cluster_engine *e, bool at_once)
{
    if (e->asking_places || (e->now < e->next_places && !at_once))
        return;
    e->asking_places = true;
    e->next_places = e->now + (e->places_read ? EVERY : 0);
    cluster_store_places(e->store, e->places, places_came, e);
}

enum status cluster_places_read_all(struct cluster_engine *e)
{
    int64_t end = clock_mono() + 60 * NS_PER_S;

    do {
        cluster_places_tend(e, true);
        cluster_store_turn(e->store, 50 * NS_PER_MS);
    } while ((e->asking_places || !e->places_read) && clock_mono() < end);
    return e->places_read ? STATUS_OK : STATUS_CLOSED;
}
