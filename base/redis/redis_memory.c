/* SPDX-License-Identifier: MIT */
/*
 * redis_memory.c - what each server has of its maxmemory.
 *
 * A server says so when we sign in, and is asked now and then. Near maxmemory
 * it is warned about once, before calls are refused. A refusal (OOM) says more
 * than the numbers, which move around the limit while other calls free memory:
 * so a server is full from a refusal until it has room and has refused nothing
 * for a while.
 */
#include "base/clock.h"
#include "base/logger.h"
#include "base/redis/redis_cluster_impl.h"

#define EVERY      (10 * NS_PER_S)
#define EVERY_FULL (1 * NS_PER_S)
#define REST       (3 * NS_PER_S) /* a refused call is repeated each second */
#define NEAR       85             /* per cent */

static bool has_room(const struct redis_memory *m)
{
    return m->most == 0 || m->used < m->most;
}

static bool is_near(const struct redis_memory *m)
{
    return m->most > 0 && m->used / NEAR >= m->most / 100;
}

static void say(const struct redis_node *n, const char *what)
{
    struct buf where;

    buf_init(&where, 400);
    redis_address_show(&n->at, &where);
    log_warn(what, "server=%s used_memory=%llu maxmemory=%llu", buf_str(&where),
             (unsigned long long)n->memory.used,
             (unsigned long long)n->memory.most);
    buf_fini(&where);
}

void redis_memory_refused(struct redis_node *n, int64_t now)
{
    struct redis_memory *m = &n->memory;

    m->refused_at = now;
    if (m->full)
        return;
    m->full = true;
    m->due = now;
    say(n, "the memory of a Redis server is full: no new URLs until there is "
           "room; raise its maxmemory or add servers");
}

void redis_memory_take(struct redis_node *n, const struct redis_info *info,
                       int64_t now)
{
    struct redis_memory *m = &n->memory;

    m->used = info->memory_used;
    m->most = info->memory_most;
    m->due = now + (m->full ? EVERY_FULL : EVERY);
    if (!has_room(m)) {
        redis_memory_refused(n, now); /* as it would */
    } else if (m->full && now - m->refused_at > REST) {
        m->full = false;
        say(n, "a Redis server has room again");
    } else if (!m->full && is_near(m) && m->told != m->most) {
        m->told = m->most;
        say(n, "the memory of a Redis server is nearly full; raise its "
               "maxmemory or add servers");
    }
}

void redis_memory_turn(struct redis_node *n, int64_t now)
{
    static const struct bytes words[2] = {{"INFO", 4}, {"memory", 6}};

    if (now < n->memory.due)
        return;
    n->memory.due = now + (n->memory.full ? EVERY_FULL : EVERY);
    redis_node_ask(n, CALL_MEMORY, words, 2, now);
}

void redis_cluster_each_master(const struct redis_cluster *c,
                               redis_master_visit *visit, void *ctx)
{
    struct buf where;

    buf_init(&where, 400);
    for (size_t i = 0; i < c->node_count; i++) {
        const struct redis_node *n = c->nodes[i];
        const struct redis_memory *m = &n->memory;

        if (!n->is_master)
            continue;
        buf_clear(&where);
        redis_address_show(&n->at, &where);
        visit(ctx, &(struct redis_master){buf_bytes(&where), m->used, m->most,
                                          m->full});
    }
    buf_fini(&where);
}
