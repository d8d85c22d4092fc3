/*
 * shared.h - a filter in memory that many threads use at once.
 *
 * Its keys are dealt to groups of segments, each of them a filter of its own
 * behind a lock: many read a group at once, one writes to it, and who works on
 * another group does not notice. Of threads that add a key at once exactly one
 * is told that it is new; a key whose adding has returned is never called new,
 * by any thread.
 *
 * It cannot be saved; a filter with one owner can (filter/filter.h). Across
 * processes redis_bloom.h does the same.
 *
 * Every function but new and free may be called by any thread at any time.
 */
#ifndef URLWEIR_FILTER_SHARED_H
#define URLWEIR_FILTER_SHARED_H

#include "filter/filter.h"

struct filter_shared;

/* `groups`: a power of two up to 256, some four times the threads that write;
 * 0: 64. `o` as for filter_new(), of the whole: `expect` and `most_bytes` are
 * shared out. STATUS_ARG also: a kind that is remote, or a source, which would
 * be asked by many threads: kinds that need keys keep their own. */
MUST_CHECK enum status filter_shared_new(struct filter_shared **out,
                                         const struct filter_options *o,
                                         unsigned groups);
void filter_shared_free(struct filter_shared *s); /* NULL is fine */

/* As filter_add(), filter_check() and filter_remove(); keys of a batch take
 * their turn group by group, equal ones in their order. */
MUST_CHECK enum status filter_shared_add(struct filter_shared *s,
                                         const uint64_t *keys, size_t n,
                                         bool *fresh);
void filter_shared_check(struct filter_shared *s, const uint64_t *keys,
                         size_t n, bool *maybe);
MUST_CHECK enum status filter_shared_remove(struct filter_shared *s,
                                            const uint64_t *keys, size_t n,
                                            bool *removed);
/* Of all groups together; each at a moment of its own. */
void filter_shared_stats(struct filter_shared *s, struct filter_stats *out);

#endif
