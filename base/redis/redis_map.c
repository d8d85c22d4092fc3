/* SPDX-License-Identifier: MIT */
/*
 * redis_map.c - which server has which slot.
 *
 * The map is read at the start, after anything that hints that it changed, and
 * now and then. Servers are asked in turn: the one that knows may be gone. An
 * old map costs a redirection, never a wrong write, since servers check slots.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/redis/redis_cluster_impl.h"

#define MAP_AGE  (10 * NS_PER_S)
#define MAP_SOON (250 * NS_PER_MS) /* while a server is missing */
#define MAP_GAP  (100 * NS_PER_MS) /* between two questions */

struct redis_node *redis_map_node(struct redis_cluster *c,
                                  const struct redis_node *from,
                                  const struct redis_spot *spot)
{
    struct redis_address at = from->at;

    if (spot->host.len > 0) {
        if (spot->host.len >= sizeof at.host)
            return NULL;
        memcpy(at.host, spot->host.at, spot->host.len);
        at.host[spot->host.len] = '\0';
    }
    at.port = spot->port;
    return redis_node_add(c, &at);
}

static void set_owner(struct redis_cluster *c, unsigned slot,
                      struct redis_node *n)
{
    if (c->owner[slot] != NULL)
        c->slots_owned--;
    if (n != NULL)
        c->slots_owned++;
    c->owner[slot] = n;
}

void redis_map_moved(struct redis_cluster *c, uint16_t slot,
                     struct redis_node *n)
{
    set_owner(c, slot, n);
    n->is_master = true;
    redis_map_want(c);
}

static void note_masters(struct redis_cluster *c)
{
    for (size_t i = 0; i < c->node_count; i++)
        c->nodes[i]->is_master = false;
    for (unsigned i = 0; i < REDIS_SLOTS; i++)
        if (c->owner[i] != NULL)
            c->owner[i]->is_master = true;
}

void redis_map_single(struct redis_cluster *c, struct redis_node *n)
{
    for (unsigned i = 0; i < REDIS_SLOTS; i++)
        set_owner(c, i, n);
    note_masters(c);
    c->map_due = INT64_MAX;
    if (c->o.alone_is_fine && redis_link_info(n->link)->replicas == 0)
        c->o.replicas = 0;
}

void redis_map_want(struct redis_cluster *c)
{
    if (c->map_due != INT64_MAX) /* one server needs no map */
        c->map_due = 0;
}

/* Connections to servers that have no slots and owe no reply are closed. */
static void leave_others(struct redis_cluster *c)
{
    for (size_t i = 0; i < c->node_count; i++) {
        struct redis_node *n = c->nodes[i];

        if (n->is_master || n->sent.count > 0 || n->unsafe.count > 0)
            continue;
        redis_link_free(n->link);
        n->link = NULL;
        n->ready = false;
    }
}

/* Does every slot have a server that we reach? */
static bool is_complete(const struct redis_cluster *c)
{
    for (size_t i = 0; i < c->node_count; i++)
        if (c->nodes[i]->is_master && !c->nodes[i]->ready)
            return false;
    return c->slots_owned == REDIS_SLOTS;
}

void redis_map_take(struct redis_cluster *c, struct redis_node *from,
                    const redisReply *r, int64_t now)
{
    struct redis_node **owner = xcalloc(1, sizeof c->owner);
    struct redis_slot_range range;
    bool good = r->type == REDIS_REPLY_ARRAY && r->elements > 0;

    for (size_t i = 0; good && i < r->elements; i++) {
        struct redis_node *n = NULL;

        good = redis_slots_read(r, i, &range) == STATUS_OK;
        if (good)
            n = redis_map_node(c, from, &range.spot);
        for (unsigned s = range.first; n != NULL && s <= range.last; s++)
            owner[s] = n;
    }
    for (unsigned s = 0; good && s < REDIS_SLOTS; s++)
        set_owner(c, s, owner[s]);
    free(owner);
    c->mapping = false;
    c->map_due = now + MAP_SOON;
    if (!good) {
        redis_trouble(c, bytes_of_str("CLUSTER SLOTS has no valid answer"));
        return;
    }
    c->stats.maps++;
    note_masters(c);
    leave_others(c);
    if (is_complete(c))
        c->map_due = now + MAP_AGE;
}

void redis_map_turn(struct redis_cluster *c, int64_t now)
{
    static const struct bytes words[2] = {{"CLUSTER", 7}, {"SLOTS", 5}};

    if (c->mapping || now < c->map_due || now < c->map_last + MAP_GAP)
        return;
    for (size_t i = 0; i < c->node_count; i++) {
        struct redis_node *n = c->nodes[c->map_turn++ % c->node_count];

        if (!n->ready || !redis_link_info(n->link)->is_cluster)
            continue;
        c->mapping = true;
        c->map_last = now;
        redis_node_ask(n, CALL_MAP, words, 2, now);
        return;
    }
}
