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
#include "cli/filter/filter_file.h"
#include "filter/redis/redis_bloom.h"

struct filter_redis {
    const char *command; /* for messages: "filter add" */
    struct redis_bloom *bloom;
    struct digest_key key;
    bool by_text;
};

/* Makes a new, empty filter; of `o` all is taken but place, mode and patience.
 * Returns an exit status; errors were printed. */
int filter_redis_create(const char *command, const char *url,
                        struct redis_bloom_options o);
/* False: *code is the exit status, and the reason was printed. `renew`: a
 * filter whose time is over is begun anew, also later, by adding. */
bool filter_redis_open(struct filter_redis *f, const char *command,
                       const char *url, bool renew, int *code);
void filter_redis_close(struct filter_redis *f);
/* fresh[i] and maybe[i] as in redis_bloom.h. */
MUST_CHECK enum status filter_redis_add(struct filter_redis *f,
                                        const struct filter_keys *keys,
                                        bool *fresh);
MUST_CHECK enum status filter_redis_check(struct filter_redis *f,
                                          const struct filter_keys *keys,
                                          bool *maybe);
/* As redis_bloom_set_ttl(). */
MUST_CHECK enum status filter_redis_set_ttl(struct filter_redis *f,
                                            int64_t ttl_ms);
/* Prints what `st` means for this filter; returns an exit status. */
int filter_redis_failed(const struct filter_redis *f, enum status st);

#endif
