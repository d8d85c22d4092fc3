/* SPDX-License-Identifier: MIT */
/*
 * redis_age.c - keys of a shared filter that are forgotten, and filters that
 * end.
 *
 *   newest                      oldest
 *   NAME        NAME:old1  ...  NAME:old4    n + 1 strings, n generations
 *
 * As filter/kinds/aged.c, with strings that are renamed one place on when a new
 * one begins. The client that adds the first key after it is due makes it; the
 * others' calls are stale then, as with a rebuild, so no key is written to a
 * generation that is closed. An older one is removed by the server itself when
 * it is over. Until the next key is added the newest stays; questions pass it
 * over if its time is over.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "filter/redis/redis_impl.h"

enum status redis_age(struct redis_bloom *b)
{
    struct bytes args[2] = {bytes_of_str(b->record.epoch),
                            bytes_of_str(b->record.generation)};
    enum status st =
        redis_step_with_room(b, &redis_script_age, b->record.now.bits,
                             REDIS_NAMES, args, 2);

    return st == STATUS_AGAIN ? redis_reload(b) : st; /* another was first */
}

enum status redis_catch_up(struct redis_bloom *b, enum status st)
{
    if (st != STATUS_AGAIN && st != STATUS_LIMIT)
        return st;
    st = st == STATUS_AGAIN ? redis_reload(b) : redis_age(b);
    return st == STATUS_OK ? STATUS_AGAIN : st;
}

enum status redis_bloom_set_ttl(struct redis_bloom *b, int64_t ttl_ms)
{
    struct redis_tries t = redis_tries_begin(b);
    char ttl[24];
    enum status st;

    if (b->record.ttl_ms == 0 || ttl_ms < 1000 ||
        ttl_ms / 1000 > FILTER_TTL_MOST)
        return STATUS_ARG;
    snprintf(ttl, sizeof ttl, "%" PRId64, ttl_ms);
    do {
        struct bytes args[3] = {bytes_of_str(b->record.epoch),
                                bytes_of_str(b->record.generation),
                                bytes_of_str(ttl)};

        st = redis_step(b, &redis_script_ttl, REDIS_NAMES, args, 3);
        st = redis_catch_up(b, st);
    } while (redis_try_again(&t, st));
    return st == STATUS_AGAIN ? STATUS_CLOSED : st;
}

enum status redis_bloom_renew(struct redis_bloom *b)
{
    char epoch[REDIS_TOKEN_SIZE];
    struct bytes args[1];

    if (b->record.ttl_ms == 0 || b->record.generations > 0)
        return STATUS_NOT_FOUND;
    redis_token(epoch);
    args[0] = bytes_of_str(epoch);
    return redis_step_with_room(b, &redis_script_renew, b->record.now.bits, 4,
                                args, 1);
}

/* ---- what all generations have together; by our own clock, so for people ----
 */

static bool is_over(const struct redis_record *m, uint64_t last)
{
    return m->generations > 0 && last + m->ttl_ms <= (uint64_t)clock_wall_ms();
}

uint64_t redis_count_now(const struct redis_record *m)
{
    uint64_t sum = is_over(m, m->last) ? 0 : m->count;

    for (unsigned i = 0; i < m->olds; i++)
        if (!is_over(m, m->old[i].last))
            sum += m->old[i].count;
    return sum;
}

double redis_rate_now(const struct redis_record *m)
{
    double wrong =
        is_over(m, m->last) ? 0 : redis_geometry_rate_now(&m->now, m->set);

    for (unsigned i = 0; i < m->olds; i++)
        if (!is_over(m, m->old[i].last))
            wrong +=
                (1 - wrong) * redis_geometry_rate_now(&m->now, m->old[i].set);
    return wrong;
}
