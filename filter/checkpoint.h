/*
 * checkpoint.h - the on-disk form of any filter.
 *
 * A header, the filter's units, a directory with a checksum for each of them,
 * and the header again (docs/formats/filter.md; the drawing is in
 * checkpoint.c). Numbers are little-endian, so any machine reads any other's.
 * The path always names a whole file, the old one or the new one
 * (base/file/file.h).
 *
 * A unit that does not verify is never used: it is built anew from keys, or
 * answers "maybe" for every key. One flipped bit costs at most one unit.
 *
 * The caller decides what `covers` counts. It takes the number before saving
 * begins: whatever was added to the filter by then is in the image. The caller
 * adds what came later again after loading, which does no harm (in a counting
 * filter such a key is counted twice, so one removal leaves it "maybe").
 */
#ifndef URLWEIR_FILTER_CHECKPOINT_H
#define URLWEIR_FILTER_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/status.h"
#include "filter/filter.h"

/* What the keys are: a blocklist whose keys are no canonical URLs blocks
 * nothing, since a crawl asks for these. An empty filter has no other keys. */
enum checkpoint_keys {
    CHECKPOINT_KEYS_UNKNOWN,
    CHECKPOINT_KEYS_URLS, /* each is a canonical URL */
    CHECKPOINT_KEYS_OTHER /* some are not */
};

/* Of the keys of two filters together. */
static inline enum checkpoint_keys checkpoint_keys_of(enum checkpoint_keys a,
                                                      enum checkpoint_keys b)
{
    if (a == CHECKPOINT_KEYS_OTHER || b == CHECKPOINT_KEYS_OTHER)
        return CHECKPOINT_KEYS_OTHER;
    return a == b ? a : CHECKPOINT_KEYS_UNKNOWN;
}

struct checkpoint_id {
    uint64_t seed_print; /* identifies the crawl whose keys these are:
                          * checkpoint_seed_print() */
    uint64_t generation; /* set by the caller, as in the manifest */
    uint64_t covers;     /* set by the caller: all up to this is in the image */
    /* The seed itself, for files that are used without a crawl beside them. A
     * crawl's seed is a secret and is not stored: has_seed is false. */
    bool has_seed;
    unsigned char seed[DIGEST_SEED_SIZE];
    enum checkpoint_keys keys;
};

#define CHECKPOINT_LISTED 16

struct checkpoint_info {
    struct checkpoint_id id;
    uint64_t bytes; /* of the file */
    uint64_t units;
    uint64_t damaged; /* units that failed verification */
    uint64_t lost;    /* damaged units not rebuilt: "maybe" for every key */
    uint64_t listed[CHECKPOINT_LISTED]; /* the first damaged ones */
};

/* A number that tells crawls apart without revealing their secret seed. */
uint64_t checkpoint_seed_print(const struct digest_key *k);

/* Write `f` to `path`. May run while another thread owns the filter (filter.h
 * has the conditions). STATUS_IO, STATUS_FULL, STATUS_NOMEM: an old file, if
 * any, is unchanged. STATUS_ARG: the kind is remote. */
MUST_CHECK enum status checkpoint_save(const char *path, struct filter *f,
                                       const struct checkpoint_id *id);

/*
 * Read the filter in `path`; the caller owns *out. `source` (NULL: none) gives
 * the keys of damaged units, and of segments that grow later; without it the
 * filter's own stored keys are used. `most_bytes` as in filter_options.
 *
 * STATUS_NOT_FOUND; STATUS_FORMAT: not a filter file, or made with another seed
 * or hash; STATUS_VERSION: written by a newer release; STATUS_DAMAGED: nothing
 * in it can be used; STATUS_NOMEM, STATUS_LIMIT. Each is logged in one line. So
 * are damaged units, which *info lists too; `info` may be NULL.
 */
MUST_CHECK enum status checkpoint_load(struct filter **out, const char *path,
                                       uint64_t seed_print,
                                       const struct filter_source *source,
                                       uint64_t most_bytes,
                                       struct checkpoint_info *info);

/* Read only the header: id, size and number of units. Errors as above. */
MUST_CHECK enum status checkpoint_peek(const char *path,
                                       struct checkpoint_info *info);

/* ---- filters of other keys: any octets, hashed with a seed in the file ----
 *
 * A crawl's seed is a secret and is not in its checkpoint. These files are used
 * alone, so they hold theirs (checkpoint.h, `has_seed`). The seed is made from
 * a text, by default always the same one, so that files made apart can be
 * merged. Any thread.
 */

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
