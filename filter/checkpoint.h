/*
 * checkpoint.h - the on-disk form of any filter.
 *
 * A header, the filter's units, a directory with a checksum for each of them,
 * and the header again (docs/formats/filter.md; the drawing is in
 * checkpoint.c). Numbers are little-endian, so any machine reads any other's.
 * The file at a path is always a whole one, old or new (base/file.h).
 *
 * What does not verify is never believed: a damaged unit is built anew from
 * keys, or answers "maybe" to all. One flipped bit costs at most one unit.
 *
 * What a file covers is the caller's: take `covers` before saving begins;
 * whatever was added to the filter by then is in the image, and what came
 * later is to be added again after loading, which does no harm (a key then
 * stands twice in a counting filter, until its removal is seen as "maybe").
 */
#ifndef URLWEIR_FILTER_CHECKPOINT_H
#define URLWEIR_FILTER_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/status.h"
#include "filter/filter.h"

struct checkpoint_id {
    uint64_t seed_print; /* whose keys these are: checkpoint_seed_print() */
    uint64_t generation; /* the caller's, as in the manifest */
    uint64_t covers;     /* the caller's: all up to this is in the image */
    /* The seed itself, for files that are to be used without a crawl beside
     * them. A crawl's seed is a secret and stays away: has_seed is false. */
    bool has_seed;
    unsigned char seed[DIGEST_SEED_SIZE];
};

#define CHECKPOINT_LISTED 16

struct checkpoint_info {
    struct checkpoint_id id;
    uint64_t bytes; /* of the file */
    uint64_t units;
    uint64_t damaged; /* units that did not verify */
    uint64_t lost;    /* of those, not rebuilt: they answer "maybe" to all */
    uint64_t listed[CHECKPOINT_LISTED]; /* the first damaged ones */
};

/* Tells crawls apart without telling their secret. */
uint64_t checkpoint_seed_print(const struct digest_key *k);

/* Write `f` to `path`. May run beside the thread that owns the filter
 * (filter.h says what that means). STATUS_IO, STATUS_FULL, STATUS_NOMEM: the
 * old file, if any, still stands. STATUS_ARG: the kind is remote. */
MUST_CHECK enum status checkpoint_save(const char *path, struct filter *f,
                                       const struct checkpoint_id *id);

/*
 * Read the filter in `path`; the caller owns *out. `source` (NULL: none) gives
 * the keys of damaged units, and of segments that grow later; without it the
 * keys a filter kept for itself serve. `most_bytes` as in filter_options.
 *
 * STATUS_NOT_FOUND; STATUS_FORMAT: no filter file, or of another seed or hash;
 * STATUS_VERSION: of a newer release; STATUS_DAMAGED: nothing in it can be
 * used; STATUS_NOMEM, STATUS_LIMIT. Each with one line in the log. Damaged
 * units are one line too, and told in *info, which may be NULL.
 */
MUST_CHECK enum status checkpoint_load(struct filter **out, const char *path,
                                       uint64_t seed_print,
                                       const struct filter_source *source,
                                       uint64_t most_bytes,
                                       struct checkpoint_info *info);

/* Only who wrote it and when; errors as above. */
MUST_CHECK enum status checkpoint_peek(const char *path,
                                       struct checkpoint_info *info);

#endif
