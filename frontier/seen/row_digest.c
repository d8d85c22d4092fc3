/* SPDX-License-Identifier: MIT */
/* row_digest.c - the secret that digests of a crawl are made with. */
#include "frontier/seen/row_digest.h"

#include "base/logger.h"

enum status row_digest_read_key(struct digest_key *out,
                                struct frontier_store *store, const char *dir)
{
    struct buf seed;
    enum status st;

    buf_init(&seed, DIGEST_SEED_SIZE);
    st = frontier_store_meta(store, "digest_seed", &seed);
    if (st == STATUS_OK && seed.len == DIGEST_SEED_SIZE) {
        digest_key_init(out, (const unsigned char *)seed.at);
    } else if (st == STATUS_OK || st == STATUS_NOT_FOUND) {
        log_error("the store has no digest seed", "dir=%s", dir);
        st = STATUS_DAMAGED;
    }
    buf_fini(&seed);
    return st;
}
