/* SPDX-License-Identifier: MIT */
/* test_fingerprint_sample.c - how often fingerprints are alike. */
#include <math.h>

#include "frontier/audit/fingerprint_sample.h"
#include "tests/unit/unit.h"

#define SHARDS 4
#define URLS   40000

static const unsigned char seed[DIGEST_SEED_SIZE] = "a secret";

static struct fingerprint_sample *sample_of(uint64_t first, uint64_t n)
{
    struct fingerprint_sample *c = fingerprint_sample_new(SHARDS);
    struct digest_key key;

    digest_key_init(&key, seed);
    for (uint64_t i = first; i < first + n; i++)
        ck_assert(
            fingerprint_sample_add(c, i % SHARDS,
                                   digest_bytes(&key, bytes_of(&i, sizeof i))));
    return c;
}

/* The pairs are about Poisson: within five deviations. */
TEST(as_many_pairs_share_bits_as_expected)
{
    struct fingerprint_sample *c = sample_of(0, URLS);
    struct fingerprint_sample_result r;

    fingerprint_sample_finish(c, &r);
    ck_assert_uint_eq(r.urls, URLS);
    ck_assert_uint_eq(r.collisions, 0);
    ck_assert_double_ge(r.expected, 100);
    ck_assert_double_lt(r.expected, 200);
    ck_assert_double_lt(fabs((double)r.pairs - r.expected),
                        5 * sqrt(r.expected));
    fingerprint_sample_free(c);
}

TEST(a_collision_is_found_and_a_repeat_is_none)
{
    struct fingerprint_sample *c = sample_of(0, 1000);
    struct fingerprint_sample_result r;
    const struct digest one = {.hi = 77, .lo = 1}, two = {.hi = 76, .lo = 2};

    ck_assert(fingerprint_sample_add(c, 1, one));
    ck_assert(fingerprint_sample_add(c, 1, one)); /* of another worker */
    ck_assert(fingerprint_sample_add(c, 2, two)); /* of another shard */
    ck_assert(fingerprint_sample_add(c, 1, two)); /* 63 bits are equal */
    ck_assert(!fingerprint_sample_add(c, SHARDS, one));
    fingerprint_sample_finish(c, &r);
    ck_assert_uint_eq(r.urls, 1003);
    ck_assert_uint_eq(r.collisions, 1);
    fingerprint_sample_free(c);
}

TEST(the_bound_is_that_of_the_birthday_problem)
{
    static const uint64_t seen[] = {1000000, 1000000};

    ck_assert_double_eq_tol(fingerprint_collisions_expected(seen, 2) * 1e7,
                            1.084, 0.001);
    ck_assert_double_eq_tol(fingerprint_collision_chance(seen, 2) * 1e13, 1.084,
                            0.001);
    ck_assert_double_eq(fingerprint_collision_chance(seen, 0), 0);
}
