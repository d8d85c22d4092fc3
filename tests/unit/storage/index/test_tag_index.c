/* SPDX-License-Identifier: MIT */
/* test_tag_index.c - names to small numbers. */
#include "storage/index/tag_index.h"
#include "tests/unit/unit.h"

#include <stdio.h>

#define NAMES 3000 /* many times what it begins with room for */

static char names[NAMES][16];

static struct bytes nth(uint32_t i)
{
    snprintf(names[i], sizeof names[i], "name-%u", i);
    return bytes_of_str(names[i]);
}

TEST(a_name_that_is_loaded_twice_is_found_out)
{
    for (uint32_t n = 2; n < 400; n += 61) {
        struct tag_index *t = tag_index_new();

        for (uint32_t i = 0; i < n; i++)
            (void)tag_index_load(t, 0, nth(i));
        (void)tag_index_load(t, 0, nth(n / 2));
        ck_assert(!tag_index_index(t));
        tag_index_free(t);
    }
}

/* A quarter of the slots at least stays free, and few are more than needed: 12
 * octets a name, half as much again while it grows, and 5 to 11 of table. */
TEST(its_memory_is_what_its_header_says)
{
    struct tag_index *t = tag_index_new();
    uint64_t most = 0, least = UINT64_MAX, empty = tag_index_memory(t);

    for (uint32_t i = 0; i < NAMES; i++) {
        uint64_t each;

        (void)tag_index_add(t, 1, nth(i));
        each = (tag_index_memory(t) - empty + 256) / (i + 1);
        if (i > 500) {
            most = each > most ? each : most;
            least = each < least ? each : least;
        }
    }
    ck_assert_uint_ge(least, 17);
    ck_assert_uint_le(most, 12 * 3 / 2 + 11 + 1);
    tag_index_free(t);
}
