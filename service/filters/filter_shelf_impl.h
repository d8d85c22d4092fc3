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
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/map.h"
#include "base/status.h"
#include "filter/checkpoint.h"
#include "service/filters/filter_shelf.h"

/* ---- what was added to named filters and removed from them since they were
 * last saved ----
 *
 *     file    0 "urlweirL"   8 version u32, 1   12 zero u32   16 records
 *
 *     record  0 "FREC"   4 its length u32, a multiple of 8   8 number u64
 *            16 1 added, 2 removed, u8   17 length of the name, u8
 *            18 zero   24 XXH3-64 from 32 on, seeded with that of 0..23
 *            32 name, zeros behind it to a multiple of 8   then keys, u64 each
 *
 * Numbers are little-endian and rise by one. A record that is cut short at the
 * end was never confirmed and is dropped. A damaged one before others is told
 * from that by the ones behind it, which still verify: then keys are missing.
 *
 * One thread at a time.
 */

enum filter_log_op { FILTER_LOG_ADDED = 1, FILTER_LOG_REMOVED = 2 };

struct filter_log_record {
    uint64_t number;
    enum filter_log_op op;
    struct bytes name;
    const uint64_t *keys;
    size_t n; /* at most FILTER_LOG_KEYS */
};
#define FILTER_LOG_KEYS 16384

struct filter_log;

/* Opens the log at `path`, made if missing, and hands each record to `visit`;
 * `number` is the last one, 0 if there is none. STATUS_DAMAGED: records are
 * missing; those that verify were visited, and *out is open. STATUS_FORMAT: it
 * is no log; STATUS_VERSION, STATUS_IO: nothing is open. Logged. */
MUST_CHECK enum status filter_log_open(
    struct filter_log **out, const char *path,
    void (*visit)(void *ctx, const struct filter_log_record *r), void *ctx,
    uint64_t *number);
void filter_log_close(struct filter_log *l); /* NULL is fine */

/* Appends a record in memory; filter_log_sync() makes it durable. */
void filter_log_append(struct filter_log *l, const struct filter_log_record *r);
/* Writes what was appended and waits for the disk. After a failure, which is
 * logged, every later call fails too. */
MUST_CHECK enum status filter_log_sync(struct filter_log *l);
/* Empties the log: all of it is in images that are on disk. */
MUST_CHECK enum status filter_log_clear(struct filter_log *l);
/* Octets of the file. */
uint64_t filter_log_size(const struct filter_log *l);

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
