/*
 * filter_shelf_impl.h - the inside of the shelf, shared by its files.
 *
 *   filter_shelf.c        its thread, its images and log, reading them back
 *   filter_shelf_calls.c  what each call does; locks of keys
 *
 * No other file includes this.
 */
#ifndef URLWEIR_SERVICE_FILTERS_FILTER_SHELF_IMPL_H
#define URLWEIR_SERVICE_FILTERS_FILTER_SHELF_IMPL_H

#include <pthread.h>

#include "base/digest.h"
#include "base/map.h"
#include "filter/checkpoint.h"
#include "service/filters/filter_log.h"
#include "service/filters/filter_shelf.h"

/* The generation of a filter that waits for its first build; of the others it
 * is the time when they were made or built. */
#define SHELF_UNBUILT UINT64_MAX

/* One filter; the shelf's thread. */
struct shelf_filter {
    char name[SHELF_NAME_MOST + 1];
    struct filter *filter;
    struct checkpoint_id id; /* generation: built_s, or SHELF_UNBUILT */
    struct digest_key key;
    uint64_t bytes;   /* of `filter`, when it was last measured */
    uint64_t unasked; /* keys added since then */
    bool dirty;       /* not as in its image */
    uint64_t builds;
    struct filter *next; /* NULL, or being built */
    uint64_t next_bytes, token;
    int64_t lease_until, lease_ns;
    struct map *locks; /* by digest, of struct shelf_lock; NULL: none yet */
};

struct filter_shelf {
    char *dir;
    uint64_t memory;
    pthread_t thread;

    /* the shelf's thread */
    struct map *filters; /* by name */
    struct filter_log *log;
    uint64_t number;            /* of the last log record */
    struct shelf_call *waiting; /* for a build */
    size_t locks;               /* of all filters */
    struct filter_shelf_stats own;

    pthread_mutex_t mtx; /* guards what follows */
    pthread_cond_t wake;
    struct shelf_call *first, **last;
    unsigned calls;
    bool stopping, closing;
    struct filter_shelf_stats stats;
};

/* ---- filter_shelf_calls.c ---- */

/* False: it waits for a build. `now`: monotonic; INT64_MAX: it may not wait. */
bool shelf_carry_out(struct filter_shelf *s, struct shelf_call *c, int64_t now);
/* Ends builds whose builder has not been heard of; the next moment to look. */
int64_t shelf_end_leases(struct filter_shelf *s, int64_t now);
void shelf_measure(struct shelf_filter *f);
void shelf_filter_free(void *f);

/* ---- filter_shelf.c ---- */

/* Reads the filter `name` if its file is there and it is not on the shelf. */
MUST_CHECK enum status shelf_load_one(struct filter_shelf *s,
                                      struct bytes name);
/* Reads a filter's file for LOAD: sets filter, id and key of *f. */
MUST_CHECK enum status shelf_read(struct filter_shelf *s, const char *path,
                                  struct shelf_filter *f);

/* Writes the image of `f` with `filter` in it, which becomes its own. */
MUST_CHECK enum status shelf_save(struct filter_shelf *s,
                                  struct shelf_filter *f);
MUST_CHECK enum status shelf_remove_file(struct filter_shelf *s,
                                         const char *name);
void shelf_log(struct filter_shelf *s, struct shelf_filter *f,
               enum filter_log_op op, const uint64_t *keys, size_t n);

#endif
