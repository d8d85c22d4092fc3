/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "config/nearest.h"
#include "tests/unit/unit.h"

static size_t distance(const char *a, const char *b)
{
    return nearest_distance(bytes_of_str(a), bytes_of_str(b));
}

TEST(ours_case_and_underscores_cost_nothing)
{
    ck_assert_uint_eq(distance("Max_Body", "max-body"), 0);
}

TEST(knows_what_may_have_been_meant)
{
    struct bytes word = bytes_of_str("max-redirects");

    ck_assert(nearest_is_alike(bytes_of_str("max-redirect"), word));
    ck_assert(nearest_is_alike(bytes_of_str("max-red"), word));
    ck_assert(!nearest_is_alike(bytes_of_str("warc"), word));
    ck_assert(!nearest_is_alike(bytes_of_str("ma"), word));
}

/* The plain recursive definition, against the table. */
static size_t slow(struct bytes a, struct bytes b)
{
    size_t best, d;

    if (a.len == 0 || b.len == 0)
        return a.len + b.len;
    best = slow(bytes_of(a.at, a.len - 1), b) + 1;
    d = slow(a, bytes_of(b.at, b.len - 1)) + 1;
    best = d < best ? d : best;
    d = slow(bytes_of(a.at, a.len - 1), bytes_of(b.at, b.len - 1)) +
        (a.at[a.len - 1] != b.at[b.len - 1]);
    best = d < best ? d : best;
    if (a.len > 1 && b.len > 1 && a.at[a.len - 1] == b.at[b.len - 2] &&
        a.at[a.len - 2] == b.at[b.len - 1]) {
        d = slow(bytes_of(a.at, a.len - 2), bytes_of(b.at, b.len - 2)) + 1;
        best = d < best ? d : best;
    }
    return best;
}

TEST(agrees_with_the_recursive_definition)
{
    uint32_t random = 1;

    for (int round = 0; round < 300; round++) {
        char a[6], b[6];
        size_t n[2];

        for (int k = 0; k < 2; k++) {
            random = random * 1664525 + 1013904223;
            n[k] = (random >> 16) % 6;
            for (size_t i = 0; i < n[k]; i++) {
                random = random * 1664525 + 1013904223;
                (k == 0 ? a : b)[i] = (char)('a' + (random >> 16) % 3);
            }
        }
        ck_assert_uint_eq(nearest_distance(bytes_of(a, n[0]),
                                           bytes_of(b, n[1])),
                          slow(bytes_of(a, n[0]), bytes_of(b, n[1])));
    }
}
