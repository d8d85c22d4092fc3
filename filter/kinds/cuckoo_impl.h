/*
 * cuckoo_impl.h - the cuckoo filter's own struct, shared by its files.
 *
 *   cuckoo.c        making, adding, asking, removing, merging
 *   cuckoo_grow.c   sizes, and building the table anew
 *   cuckoo_file.c   saving and loading
 *
 * Nobody else includes this.
 */
#ifndef URLWEIR_FILTER_KINDS_CUCKOO_IMPL_H
#define URLWEIR_FILTER_KINDS_CUCKOO_IMPL_H

#include <pthread.h>

#include "filter/key_store.h"
#include "filter/kind.h"
#include "filter/kinds/buckets.h"

#define CUCKOO_LOAD   0.95 /* of the slots; Fan et al., section 4, for b = 4 */
#define CUCKOO_LEAST  8    /* buckets: fewer cannot be filled as far */
#define CUCKOO_LISTED 64

/* Fingerprints outside the table, or known to stick in it. */
struct cuckoo_list {
    struct bucket_place of[CUCKOO_LISTED];
    uint32_t count;
};

struct cuckoo {
    struct filter base;
    struct buckets table;
    struct cuckoo_list homeless, stuck;
    bool flooded;   /* some key has no place: all is "maybe" */
    bool all_stuck; /* too many stick to list them: nothing is removed */
    struct key_store
        *key_store; /* NULL: the caller's source has the keys, or nobody */
    struct filter_source source;
    pthread_mutex_t moving; /* the table and the lists, while saved */
    uint64_t count, rebuilds, lost;
    bool starving, reduced;
};

bool cuckoo_list_has(const struct cuckoo_list *l, const struct bucket_place *p);
/* False: the list is full. */
bool cuckoo_list_add(struct cuckoo_list *l, const struct bucket_place *p);

/* An empty filter without a table. `keep`: its keys; `whole`: they are
 * complete as they are. NULL: no memory. */
struct cuckoo *cuckoo_new_empty(const struct filter_options *o, bool keep,
                                bool whole);
void cuckoo_free(struct filter *f);

/* ---- cuckoo_grow.c ---- */

/* Buckets for so many keys. */
uint64_t cuckoo_buckets(uint64_t keys);
/* `count` buckets, or as many as most_bytes allows. */
uint64_t cuckoo_within_share(struct cuckoo *c, uint64_t count, unsigned bits);
/* Keys the table has room for. */
uint64_t cuckoo_room(const struct cuckoo *c);
/* Build the table anew with `count` buckets, or as many more as it turns out
 * to need. `keys` are those of the running call so far, which a source may not
 * have. On failure nothing is changed. */
MUST_CHECK enum status cuckoo_rebuild(struct cuckoo *c, uint64_t count,
                                      const uint64_t *keys, size_t n);
/* Make the table larger. On failure it goes on filling, and does not try again
 * at every key. */
void cuckoo_grow(struct cuckoo *c, const uint64_t *keys, size_t n);

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
