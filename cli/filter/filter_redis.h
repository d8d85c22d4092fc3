/*
 * filter_redis.h - a filter in Redis, for the `filter` commands.
 *
 * Stands where a file would: `filter add redis://host/0?key=NAME`. The seed of
 * its hash is in its record, so keys are those of a file of the same seed;
 * those of a plain layout are the lines themselves, as other programs hash
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

/* An empty one that was not there. `seed`: DIGEST_SEED_SIZE octets. An exit
 * status; the reason was said. */
int filter_redis_create(const char *command, const char *url, uint64_t capacity,
                        double fpr, const unsigned char *seed);
/* False: *code is the exit status, and the reason was said. */
bool filter_redis_open(struct filter_redis *f, const char *command,
                       const char *url, int *code);
void filter_redis_close(struct filter_redis *f);
/* new[i] of adding, maybe[i] of checking. */
MUST_CHECK enum status filter_redis_add(struct filter_redis *f,
                                        const struct filter_keys *keys,
                                        bool *fresh);
MUST_CHECK enum status filter_redis_check(struct filter_redis *f,
                                          const struct filter_keys *keys,
                                          bool *maybe);
/* Says what `st` means of this filter; an exit status. */
int filter_redis_failed(const struct filter_redis *f, enum status st);

#endif
