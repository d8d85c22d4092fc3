/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/histogram.h"
#include "tests/unit/unit.h"

/* Returns the bucket of a single observation of `ns`. */
static unsigned bucket_of(int64_t ns)
{
    struct histogram h = {0};
    struct histogram_stats s = {{0}, 0};
    unsigned at = 0;

    histogram_note(&h, ns);
    histogram_add_to(&h, &s);
    ck_assert_uint_eq(histogram_count(&s), 1);
    while (s.buckets[at] == 0)
        at++;
    return at;
}

/* Prometheus calls a bucket's label `le`: less than or equal. */
TEST(a_bucket_holds_its_own_bound)
{
    ck_assert_uint_eq(bucket_of(-5), 0);
    ck_assert_uint_eq(bucket_of(0), 0);
    for (unsigned i = 0; i < HISTOGRAM_BOUNDS; i++) {
        ck_assert_uint_eq(bucket_of(histogram_bounds[i]), i);
        ck_assert_uint_eq(bucket_of(histogram_bounds[i] + 1), i + 1);
    }
    ck_assert_uint_eq(bucket_of(INT64_MAX), HISTOGRAM_BOUNDS);
}

#define NOTES 200000

static void *note_many(void *arg)
{
    for (int64_t i = 0; i < NOTES; i++)
        histogram_note(arg, i * 1000);
    return NULL;
}

TEST(who_looks_meanwhile_sees_counts_that_only_rise)
{
    struct histogram h = {0};
    uint64_t last = 0;
    pthread_t writer;

    ck_assert_int_eq(pthread_create(&writer, NULL, note_many, &h), 0);
    while (last < NOTES) {
        struct histogram_stats s = {{0}, 0};

        histogram_add_to(&h, &s);
        ck_assert_uint_ge(histogram_count(&s), last);
        last = histogram_count(&s);
    }
    pthread_join(writer, NULL);
    ck_assert_uint_eq(last, NOTES);
}
