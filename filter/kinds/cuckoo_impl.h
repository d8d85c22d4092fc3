/*
 * cuckoo_impl.h - the cuckoo filter's own struct, shared by its files.
 *
 *   cuckoo.c        making, adding, asking, removing, growing, merging
 *   cuckoo_file.c   saving and loading
 *
 * No other file includes this.
 */
#ifndef URLWEIR_FILTER_KINDS_CUCKOO_IMPL_H
#define URLWEIR_FILTER_KINDS_CUCKOO_IMPL_H

#include <pthread.h>

#include "filter/key_store.h"
#include "filter/kind.h"
#include "filter/kinds/buckets.h"
#include "filter/kinds/copies.h"

#define CUCKOO_LEAST  8 /* buckets: smaller tables fill up earlier */
#define CUCKOO_LISTED 64

/* Fingerprints that have no place in the table. */
struct cuckoo_list {
    struct bucket_place of[CUCKOO_LISTED];
    uint32_t count;
};

struct cuckoo {
    struct filter base;
    struct buckets table;
    struct cuckoo_list homeless;
    struct copies more; /* copies beyond those in the table */
    bool flooded;   /* a key has no place anywhere: every answer is "maybe" */
    bool all_stuck; /* too many to count them: nothing is removed any more */
    struct key_store
        *key_store; /* NULL: keys come from the caller's source, if any */
    struct filter_source source;
    pthread_mutex_t moving; /* guards table and lists while they are saved */
    uint64_t count, rebuilds, lost;
    bool starving, reduced;
};

bool cuckoo_list_has(const struct cuckoo_list *l, const struct bucket_place *p);
/* False: the list is full. */
bool cuckoo_list_add(struct cuckoo_list *l, const struct bucket_place *p);

/* Make an empty filter without a table. `keep`: it stores its keys; `whole`:
 * its key store is complete while empty. NULL: no memory. */
struct cuckoo *cuckoo_new_empty(const struct filter_options *o, bool keep,
                                bool whole);
void cuckoo_free(struct filter *f);

/* ---- cuckoo.c ---- */

/* Fingerprints that are counted beyond their slots, at most. */
uint64_t cuckoo_most_copies(const struct cuckoo *c);
/* Build the table anew with `count` buckets, or as many more as it turns out to
 * need. `keys` are those of the current call so far, which a source may not
 * have. On failure nothing is changed. */
MUST_CHECK enum status cuckoo_rebuild(struct cuckoo *c, uint64_t count,
                                      const uint64_t *keys, size_t n);

/* ---- cuckoo_file.c: as filter/kind.h says ---- */

void cuckoo_hold(struct filter *f, bool on);
uint64_t cuckoo_shape(const struct filter *f, uint64_t shape[FILTER_SHAPE]);
enum status cuckoo_get_unit(struct filter *f, uint64_t i, struct buf *to,
                            uint64_t meta[FILTER_META]);
enum status cuckoo_make_shaped(struct filter **out,
                               const struct filter_options *o,
                               const uint64_t shape[FILTER_SHAPE],
                               uint64_t units, uint64_t most);
enum status cuckoo_put_unit(struct filter *f, uint64_t i, struct bytes from,
                            const uint64_t meta[FILTER_META]);
enum status cuckoo_mend_unit(struct filter *f, uint64_t i);
enum status cuckoo_loaded(struct filter *f);

#endif
