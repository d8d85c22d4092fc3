/* SPDX-License-Identifier: MIT */
/*
 * crawl_blame.c - URLs that an earlier process had in hand at its end.
 *
 * The file that names them is replaced only after their tries are committed: if
 * the process dies in between, the next one finds them again.
 */
#include "base/clock.h"
#include "crawler/crawl_impl.h"

enum status crawl_blame_left(struct crawl *c)
{
    struct in_hand_left left[IN_HAND_SLOTS_MOST];
    enum status st = STATUS_OK;
    size_t n;

    in_hand_read(c->o.dir, left, IN_HAND_SLOTS_MOST, &n);
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = c->engine->ops->blame(c->engine, left[i].id,
                                   left[i].stuck ? BLAME_STUCK : BLAME_DIED,
                                   clock_mono(), clock_wall_ms());
    if (st == STATUS_OK && n > 0)
        st = c->engine->ops->turn(c->engine, true, clock_mono(),
                                  clock_wall_ms(), NULL);
    if (st == STATUS_OK)
        c->in_hand = in_hand_open(c->o.dir, c->o.threads);
    return st;
}
