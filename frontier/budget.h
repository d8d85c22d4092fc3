/*
 * budget.h - how much of a host and of a registrable domain is fetched.
 *
 * With `inlinks` a budget grows with the registrable domains that link there:
 * it is multiplied by one more than their number, since links from many domains
 * are hard to forge (spam tracking and avoidance by reputation, STAR: Lee et
 * al. 2008, IRLbot, section 6). The number is estimated from SOURCE_BITS bits
 * by linear counting (Whang, Vander-Zanden and Taylor 1990), so it costs the
 * same memory for every host; it is nearly exact for few domains, within some
 * ten per cent for a thousand, and at most SOURCES_MOST.
 *
 * Any thread.
 */
#ifndef URLWEIR_FRONTIER_BUDGET_H
#define URLWEIR_FRONTIER_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define SOURCE_BITS  256
#define SOURCES_MOST 1420 /* SOURCE_BITS * ln SOURCE_BITS, rounded */

/* 0: no limit. */
struct budgets {
    uint64_t host_pages, host_octets;
    uint64_t domain_pages;
    bool inlinks;
};

struct source_bits {
    unsigned char octet[SOURCE_BITS / 8];
};

/* Spent so far, and the domains that link there (0 without `inlinks`). */
struct budget_spent {
    uint64_t host_pages, host_octets;
    uint64_t domain_pages;
    uint32_t host_sources, domain_sources;
};

/* How many pages more may be fetched; UINT64_MAX: any number. *which, if not
 * NULL, becomes the option of the budget that has the fewest left, NULL if
 * there is no limit. */
uint64_t budget_left(const struct budgets *b, const struct budget_spent *s,
                     const char **which);

/* Adds a domain by a hash of its name, and returns whether a bit changed. */
bool source_bits_add(struct source_bits *s, uint64_t hash);
/* Adds all of `other`. */
bool source_bits_join(struct source_bits *s, const struct source_bits *other);
uint32_t source_bits_count(const struct source_bits *s); /* NULL: 0 */

#endif
