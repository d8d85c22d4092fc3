/* SPDX-License-Identifier: MIT */
/* cluster_orders.c - what people want of all workers. */
#include "frontier/cluster/cluster_orders.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "frontier/cluster_store/cluster_store.h"

struct cluster_orders {
    pthread_mutex_t mtx;
    bool paused, stopped;
    uint64_t version, in_force; /* of `settings` */
    struct buf settings;
};

struct cluster_orders *cluster_orders_new(void)
{
    struct cluster_orders *o = xcalloc(1, sizeof *o);

    pthread_mutex_init(&o->mtx, NULL);
    buf_init(&o->settings, CLUSTER_TEXT_MOST);
    return o;
}

void cluster_orders_free(struct cluster_orders *o)
{
    if (o == NULL)
        return;
    pthread_mutex_destroy(&o->mtx);
    buf_fini(&o->settings);
    free(o);
}

void cluster_orders_hear(struct cluster_orders *o, bool paused, bool stopped)
{
    pthread_mutex_lock(&o->mtx);
    o->paused = paused;
    o->stopped |= stopped;
    pthread_mutex_unlock(&o->mtx);
}

void cluster_orders_hear_settings(struct cluster_orders *o, uint64_t version,
                                  struct bytes text)
{
    pthread_mutex_lock(&o->mtx);
    buf_clear(&o->settings);
    buf_add_bytes(&o->settings, text);
    if (buf_failed(&o->settings) == STATUS_OK)
        o->version = version;
    pthread_mutex_unlock(&o->mtx);
}

uint64_t cluster_orders_in_force(struct cluster_orders *o)
{
    uint64_t version;

    pthread_mutex_lock(&o->mtx);
    version = o->in_force;
    pthread_mutex_unlock(&o->mtx);
    return version;
}

void cluster_orders_look(struct cluster_orders *o, struct cluster_order *out,
                         struct buf *settings)
{
    pthread_mutex_lock(&o->mtx);
    *out = (struct cluster_order){.paused = o->paused, .stopped = o->stopped};
    if (o->version != o->in_force) {
        out->version = o->version;
        buf_add_bytes(settings, buf_bytes(&o->settings));
    }
    pthread_mutex_unlock(&o->mtx);
}

void cluster_orders_done(struct cluster_orders *o, uint64_t version)
{
    pthread_mutex_lock(&o->mtx);
    o->in_force = version;
    pthread_mutex_unlock(&o->mtx);
}
