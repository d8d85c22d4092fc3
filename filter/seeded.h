/*
 * seeded.h - filters of keys that are not a crawl's: any octets, hashed with a
 * seed that the checkpoint carries.
 *
 * A crawl's seed is a secret and is not in its checkpoint. These files are used
 * alone, so they hold theirs (checkpoint.h, `has_seed`). The seed is made from
 * a text, by default always the same one, so that files made apart can be
 * merged. Any thread.
 */
#ifndef URLWEIR_FILTER_SEEDED_H
#define URLWEIR_FILTER_SEEDED_H

#include <stdint.h>

#include "base/digest.h"
#include "base/status.h"
#include "filter/checkpoint.h"
#include "filter/filter.h"

/* The seed made from `text`; NULL: the default. DIGEST_SEED_SIZE octets. */
void seeded_from_text(unsigned char *seed, const char *text);

/* The identity and the hash key of a new filter with the seed of `text`. */
void seeded_id(struct checkpoint_id *id, struct digest_key *key,
               const char *text);

/* The key of a text that belongs to `name`, a user or tenant: a key of one name
 * is no key of another, nor of those that belong to none. */
uint64_t seeded_named_key(const struct digest_key *key, struct bytes name,
                          struct bytes text);

/* Reads the filter in `path` as checkpoint_load() does, with its own keys as
 * the source. Also STATUS_REFUSED: its seed is a crawl's secret, and nothing
 * was read. *info and *key are set on success alone. */
MUST_CHECK enum status seeded_load(struct filter **out, const char *path,
                                   uint64_t most_bytes,
                                   struct checkpoint_info *info,
                                   struct digest_key *key);

#endif
