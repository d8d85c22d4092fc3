/* SPDX-License-Identifier: MIT */
/* reachability.c - which URLs can be reached from the seeds without some
 * others. */
#include "frontier/audit/reachability.h"

struct walk {
    const struct id_bits *without;
    struct id_bits *reached;
    bool grew;
};

static bool follow(void *ctx, const struct link_row *l)
{
    struct walk *w = ctx;

    if (id_bits_has(w->reached, l->from) && !id_bits_has(w->reached, l->to) &&
        !id_bits_has(w->without, l->to) && id_bits_add(w->reached, l->to))
        w->grew = true;
    return true;
}

enum status reachability_without(struct link_store *links,
                                 const struct id_bits *without,
                                 struct id_bits *reached)
{
    struct walk w = {.without = without, .reached = reached, .grew = true};
    enum status st = STATUS_OK;

    while (st == STATUS_OK && w.grew) {
        w.grew = false;
        st = link_store_each(links, follow, &w);
    }
    return st;
}
