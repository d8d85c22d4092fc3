/* SPDX-License-Identifier: MIT */
/*
 * fuzz_changelog.c - any record is put into a database, or is refused.
 *
 * The first octet is the length of the key. A record that is taken is there
 * once more when the rows are read, with the same key, until it is deleted; a
 * record that is refused breaks nothing.
 */
#include <assert.h>
#include <stdint.h>

#include "storage/db/changelog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum status count(void *ctx, struct bytes key, struct bytes row)
{
    assert(key.len <= CHANGELOG_KEY_MOST && row.at != NULL);
    ++*(unsigned *)ctx;
    return STATUS_OK;
}

static unsigned rows(struct changelog *l)
{
    unsigned n = 0;

    assert(changelog_each(l, count, &n) == STATUS_OK);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct db *d;
    static struct changelog *l;
    const struct db_options o = {.cache_bytes = 1 << 20};
    struct bytes key, row;
    unsigned before;

    if (size == 0 || data[0] > size - 1)
        return 0;
    key = bytes_of(data + 1, data[0]);
    row = bytes_of(data + 1 + data[0], size - 1 - data[0]);
    if (d == NULL) {
        assert(db_open(&d, "rows", DB_SCRATCH, &o) == STATUS_OK);
        assert(changelog_open(&l, d) == STATUS_OK);
    }
    assert(db_begin(d) == STATUS_OK);
    before = rows(l);
    if (changelog_put(l, key, row) == STATUS_OK && row.len > 0) {
        assert(rows(l) <= before + 1);
        assert(changelog_put(l, key, row) == STATUS_OK); /* it does no harm */
        assert(rows(l) <= before + 1);
        assert(changelog_put(l, key, bytes_of(NULL, 0)) == STATUS_OK);
    }
    assert(rows(l) <= before);
    assert(db_commit(d) == STATUS_OK);
    return 0;
}
