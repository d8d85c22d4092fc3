/* SPDX-License-Identifier: MIT */
/* test_budget.c - budgets, and the estimate of the domains that link to a
 * host. */

#include "frontier/budget.h"
#include "tests/unit/unit.h"

static uint64_t hash(uint64_t i)
{
    uint64_t h = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 27;
}

TEST(the_least_of_the_budgets_counts_and_is_named)
{
    static const struct {
        struct budgets b;
        struct budget_spent s;
        uint64_t left;
        const char *which; /* NULL: no limit */
    } cases[] = {
        {{0}, {.host_pages = 9, .host_octets = 9}, UINT64_MAX, NULL},
        {{.host_pages = 5}, {.host_pages = 2}, 3, "per-host"},
        {{.host_pages = 5}, {.host_pages = 7}, 0, "per-host"},
        {{.host_octets = 10}, {.host_octets = 9}, UINT64_MAX, NULL},
        {{.host_octets = 10}, {.host_octets = 10}, 0, "per-host-bytes"},
        {{.host_pages = 5, .domain_pages = 6},
         {.host_pages = 2, .domain_pages = 4},
         2,
         "per-domain"},
        {{.host_pages = 5, .inlinks = true},
         {.host_pages = 5, .host_sources = 2},
         10,
         "per-host"},
        {{.host_pages = 5},
         {.host_pages = 5, .host_sources = 2},
         0,
         "per-host"},
        {{.domain_pages = 4, .inlinks = true},
         {.domain_pages = 8, .domain_sources = 1},
         0,
         "per-domain"},
        {{.host_pages = UINT64_MAX / 2, .inlinks = true},
         {.host_sources = SOURCES_MOST},
         UINT64_MAX,
         NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *which = "?";

        ck_assert_uint_eq(budget_left(&cases[i].b, &cases[i].s, &which),
                          cases[i].left);
        ck_assert_pstr_eq(which, cases[i].which);
    }
}

/* The deviation of linear counting, Whang et al. 1990, theorem 2: some 11 % at
 * four times as many domains as bits. */
TEST(the_number_of_domains_is_nearly_exact_and_never_shrinks)
{
    struct source_bits s = {{0}};
    uint32_t before = 0;

    ck_assert_uint_eq(source_bits_count(&s), 0);
    ck_assert_uint_eq(source_bits_count(NULL), 0);
    for (uint32_t n = 1; n <= 4 * SOURCE_BITS; n++) {
        uint32_t count;
        double off;

        (void)source_bits_add(&s, hash(n));
        ck_assert(!source_bits_add(&s, hash(n)));
        count = source_bits_count(&s);
        off = (double)count - (double)n;
        ck_assert_uint_ge(count, before);
        ck_assert_double_le(off < 0 ? -off : off, 2 + 0.35 * (double)n);
        before = count;
    }
    for (uint32_t i = 0; i < 100 * SOURCE_BITS; i++)
        (void)source_bits_add(&s, hash(i));
    ck_assert_uint_eq(source_bits_count(&s), SOURCES_MOST);
}

TEST(a_union_has_the_domains_of_both)
{
    struct source_bits a = {{0}}, b = {{0}}, both = {{0}};

    for (uint64_t i = 0; i < 40; i++) {
        (void)source_bits_add(i % 3 == 0 ? &a : &b, hash(i));
        (void)source_bits_add(&both, hash(i));
    }
    ck_assert(source_bits_join(&a, &b));
    ck_assert(!source_bits_join(&a, &b));
    ck_assert_mem_eq(&a, &both, sizeof a);
}
