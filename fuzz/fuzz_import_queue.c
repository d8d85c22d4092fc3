/* SPDX-License-Identifier: MIT */
/*
 * fuzz_import_queue.c - any octets as a file of a disk queue of Scrapy, with
 * pickles or what marshal wrote: the first octet says LIFO or FIFO.
 *
 * Asserts, besides memory safety: the file ends, after no more records than it
 * has octets; a record waits and has a URL that is no longer than the file;
 * what is refused says why.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "job/import/import_queue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned char sum; /* of all octets, so that all are read */

static void check(const struct import_queue *q, enum import_said said,
                  const struct import_record *r, size_t size)
{
    assert(import_queue_at(q) <= size);
    if (said == IMPORT_REFUSED)
        assert(import_queue_why(q)[0] != '\0');
    if (said != IMPORT_RECORD)
        return;
    assert(r->status == OUTCOME_QUEUED && r->line == import_queue_at(q));
    assert(r->url.at != NULL && r->url.len < size);
    for (size_t i = 0; i < r->url.len; i++)
        sum = (unsigned char)(sum + (unsigned char)r->url.at[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct import_queue *q;
    struct import_record r;
    enum import_said said = IMPORT_RECORD;
    int fd;

    if (size == 0)
        return 0;
    fd = memfd_create("queue", MFD_CLOEXEC);
    assert(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)size - 1);
    q = import_queue_new();
    import_queue_open(q, fd,
                      data[0] % 2 ? IMPORT_QUEUE_FIFO : IMPORT_QUEUE_LIFO,
                      data[0] >> 4);
    while (said != IMPORT_NOTHING) {
        said = import_queue_next(q, &r);
        check(q, said, &r, size);
    }
    import_queue_free(q);
    return 0;
}
