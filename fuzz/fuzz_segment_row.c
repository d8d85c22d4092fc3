/* SPDX-License-Identifier: MIT */
/*
 * fuzz_segment_row.c - any octets are a row of a queue segment or are reported
 * as damaged.
 *
 * Reading ends, no entry is out of range, and skipping to a queue leads to the
 * first entry that reading all of it would find there or later.
 */
#include <assert.h>
#include <stdint.h>

#include "storage/index/segment_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first entry of `queue` or a later one; false: there is none. */
static bool find(struct segment_reader *r, uint32_t queue)
{
    while (segment_reader_next(r)) {
        assert(r->id < UINT64_C(1) << 40);
        if (r->queue >= queue)
            return true;
    }
    return false;
}

/* Reading group by group gives the same entries as one by one, until ids stop
 * rising. */
static void check_groups(const uint8_t *data, size_t size)
{
    struct segment_reader one, groups;
    uint64_t ids[SEGMENT_GROUP_MOST];
    uint32_t n;

    segment_reader_start(&one, data, size, 1);
    segment_reader_start(&groups, data, size, 1);
    while ((n = segment_reader_group(&groups, ids)) > 0) {
        for (uint32_t i = 0; i < n; i++) {
            assert(segment_reader_next(&one));
            assert(one.queue == groups.queue && one.id == ids[i]);
        }
    }
    assert(groups.damaged || !segment_reader_next(&one));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct segment_reader all, skipping;
    uint32_t queue = size > 0 ? data[0] : 0;
    bool found;

    segment_reader_start(&all, data, size, 1);
    found = find(&all, queue);
    segment_reader_start(&skipping, data, size, 1);
    segment_reader_skip_to(&skipping, queue);
    if (found) {
        assert(find(&skipping, queue));
        assert(skipping.queue == all.queue && skipping.id == all.id);
    }
    while (segment_reader_next(&all))
        continue;
    check_groups(data, size);
    return 0;
}
