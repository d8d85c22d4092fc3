/*
 * seen_store_impl.h - the inside of a seen store, shared by its files.
 *
 *   seen_store.c         changes, their commit, filter file, manifest, stats
 *   seen_store_open.c    a new store, or one found on disk
 *   seen_store_filter.c  its filter: made, loaded, brought up to date
 *
 * No other file includes this.
 */
#ifndef URLWEIR_FRONTIER_SEEN_SEEN_STORE_IMPL_H
#define URLWEIR_FRONTIER_SEEN_SEEN_STORE_IMPL_H

#include "frontier/seen/seen_store.h"

char *seen_store_path(const struct seen_store *s, const char *name);
/* Once the store is open: makes the exact set whole, and if there is to be a
 * filter, sets s->filter to one that knows every admitted URL, from its file,
 * from Redis, or made anew. */
MUST_CHECK enum status seen_store_bring_up(struct seen_store *s);
/* Before the commit of a checkpoint: writes the filter's state for readers of
 * the store, and the mark by which a filter in Redis is recognised. */
MUST_CHECK enum status seen_store_mark_filter(struct seen_store *s);
/* Gives the hot cache what the number of URLs and the filter leave it. */
void seen_store_fit_hot(struct seen_store *s);
/* Waits for a checkpoint in progress and returns its status. */
enum status seen_store_save_wait(struct seen_store *s);

#endif
