/*
 * filter_redis.h - a filter in Redis, for the `filter` commands.
 *
 * Used in place of a file: `filter add redis://host/0?key=NAME`. The seed of
 * its hash is in its record, so keys are as in a file with the same seed; with
 * the plain layout the keys are the lines themselves, as other programs hash
 * them.
 */
#ifndef URLWEIR_CLI_FILTER_FILTER_REDIS_H
#define URLWEIR_CLI_FILTER_FILTER_REDIS_H

#include <stdbool.h>

#include "base/digest.h"
#include "base/status.h"
#include "cli/filter/filter_keys.h"
#include "filter/redis/redis_bloom.h"

struct filter_redis {
    const char *command; /* for messages: "filter add" */
    struct redis_bloom *bloom;
    struct digest_key key;
    bool by_text;
};

/* Makes a new, empty filter. `seed`: DIGEST_SEED_SIZE octets. Returns an exit
 * status; errors were printed. */
int filter_redis_create(const char *command, const char *url, uint64_t capacity,
                        double fpr, const unsigned char *seed);
/* False: *code is the exit status, and the reason was printed. */
bool filter_redis_open(struct filter_redis *f, const char *command,
                       const char *url, int *code);
void filter_redis_close(struct filter_redis *f);
/* fresh[i] and maybe[i] as in redis_bloom.h. */
MUST_CHECK enum status filter_redis_add(struct filter_redis *f,
                                        const struct filter_keys *keys,
                                        bool *fresh);
MUST_CHECK enum status filter_redis_check(struct filter_redis *f,
                                          const struct filter_keys *keys,
                                          bool *maybe);
/* Prints what `st` means for this filter; returns an exit status. */
int filter_redis_failed(const struct filter_redis *f, enum status st);

#endif
