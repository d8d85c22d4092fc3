/*
 * seen_store_impl.h - the inside of a seen store, shared by its files.
 *
 *   seen_store.c         changes and their commit; what it knows of itself
 *   seen_store_open.c    a new store, or one found on disk
 *   seen_store_filter.c  its filter: made, loaded, brought up to date
 *   seen_store_save.c    filter file and manifest, beside the database
 *
 * Nobody else includes this.
 */
#ifndef URLWEIR_FRONTIER_SEEN_SEEN_STORE_IMPL_H
#define URLWEIR_FRONTIER_SEEN_SEEN_STORE_IMPL_H

#include "frontier/seen/seen_store.h"

char *seen_store_path(const struct seen_store *s, const char *name);
/* A filter that knows every admitted URL into s->filter, after the store is
 * open: from its file, from Redis, or anew. */
MUST_CHECK enum status seen_store_bring_up_filter(struct seen_store *s);
/* Before the commit of a checkpoint: tells readers of the store how the filter
 * stands, and notes what one in Redis is to be known by. */
MUST_CHECK enum status seen_store_mark_filter(struct seen_store *s);
/* Waits for a checkpoint under way; its status. */
enum status seen_store_save_wait(struct seen_store *s);

#endif
