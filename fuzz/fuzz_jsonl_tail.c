/* SPDX-License-Identifier: MIT */
/*
 * fuzz_jsonl_tail.c - any file is continued or refused.
 *
 * The kept part is a prefix of the file that ends after one of our lines, or is
 * empty; and a second check of the kept part gives the same result.
 */
#include <assert.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "job/jsonl_tail.h"

#define LAST 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_ours(void *ctx, uint64_t seq, struct bytes line)
{
    uint64_t again = 0;

    (void)ctx;
    assert(seq > 0 && seq <= LAST);
    assert(jsonl_line_seq(line, &again) && again == seq);
    assert(memchr(line.at, '\n', line.len) == NULL);
    return seq % 7 != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("lines", 0);
    uint64_t keep, seq, keep_again, seq_again;

    assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    if (jsonl_tail(fd, LAST, is_ours, NULL, &keep, &seq) == STATUS_OK) {
        assert(keep <= size && (keep == 0) == (seq == 0));
        assert(keep == 0 || data[keep - 1] == '\n');
        assert(ftruncate(fd, (off_t)keep) == 0);
        assert(jsonl_tail(fd, LAST, is_ours, NULL, &keep_again, &seq_again) ==
               STATUS_OK);
        assert(keep_again == keep && seq_again == seq);
    }
    close(fd);
    return 0;
}
