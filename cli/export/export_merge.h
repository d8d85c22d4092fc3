/*
 * export_merge.h - `urlweir export --merge`: the directories of the workers of
 * one crawl in a cluster, as if they were one.
 *
 * A URL whose lease was lost may have been fetched by two workers; of its rows
 * those of all directories but the first that has it are marked. What is asked
 * for each URL is one bit of memory and a look into the exact sets of the
 * directories before its own. Threads: one.
 */
#ifndef URLWEIR_CLI_EXPORT_EXPORT_MERGE_H
#define URLWEIR_CLI_EXPORT_EXPORT_MERGE_H

#include "config/option.h"
#include "frontier/reader.h"

#define MERGE_MOST 256 /* directories */

struct merge;

/* Opens them all. NULL: errors were printed, *code is the exit status. */
struct merge *merge_open(const struct option_list *dirs, int *code);
void merge_close(struct merge *m); /* NULL is fine */

size_t merge_count(const struct merge *m);
struct reader *merge_reader(struct merge *m, size_t i);
/* Has a directory before number `i`, which has this row, done the same URL? */
MUST_CHECK enum status merge_is_again(struct merge *m, size_t i,
                                      const struct url_row *row, bool *is);
/* Workers also have URLs that others have done (`skipped`, `removed`), or have
 * yet to do. */
bool merge_is_of_others(unsigned status, unsigned reason);

#endif
