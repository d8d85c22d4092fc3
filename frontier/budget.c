/* SPDX-License-Identifier: MIT */
/* budget.c - how much of a host and of a registrable domain is fetched. */
#include "frontier/budget.h"

#include <math.h>
#include <stddef.h>

static uint64_t grown(const struct budgets *b, uint64_t budget,
                      uint32_t sources)
{
    uint64_t by = b->inlinks ? 1 + (uint64_t)sources : 1;

    return budget <= UINT64_MAX / by ? budget * by : UINT64_MAX;
}

uint64_t budget_left(const struct budgets *b, const struct budget_spent *s,
                     const char **which)
{
    const struct {
        const char *option;
        uint64_t budget, spent;
        uint32_t sources;
        bool pages;
    } all[] = {
        {"per-host", b->host_pages, s->host_pages, s->host_sources, true},
        {"per-host-bytes", b->host_octets, s->host_octets, s->host_sources,
         false},
        {"per-domain", b->domain_pages, s->domain_pages, s->domain_sources,
         true},
    };
    uint64_t least = UINT64_MAX;

    if (which != NULL)
        *which = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint64_t most = grown(b, all[i].budget, all[i].sources), left;

        if (all[i].budget == 0)
            continue;
        left = most > all[i].spent ? most - all[i].spent : 0;
        if (!all[i].pages && left > 0)
            left = UINT64_MAX; /* a page may take any number of octets */
        if (left >= least)
            continue;
        least = left;
        if (which != NULL)
            *which = all[i].option;
    }
    return least;
}

bool source_bits_add(struct source_bits *s, uint64_t hash)
{
    unsigned char *at = &s->octet[hash / 8 % sizeof s->octet], was = *at;

    *at |= (unsigned char)(1U << hash % 8);
    return *at != was;
}

bool source_bits_join(struct source_bits *s, const struct source_bits *other)
{
    bool changed = false;

    for (size_t i = 0; i < sizeof s->octet; i++) {
        changed |= (other->octet[i] & ~s->octet[i]) != 0;
        s->octet[i] |= other->octet[i];
    }
    return changed;
}

uint32_t source_bits_count(const struct source_bits *s)
{
    int zero = SOURCE_BITS;

    for (size_t i = 0; s != NULL && i < sizeof s->octet; i++)
        zero -= __builtin_popcount(s->octet[i]);
    if (zero == 0)
        return SOURCES_MOST;
    return (uint32_t)lround(SOURCE_BITS * log((double)SOURCE_BITS / zero));
}
