/*
 * due_count.h - how many URLs are past their dates, and since when the oldest
 * is: dates counted by minute, in memory.
 *
 * The calendar on disk is in order of queue, so it cannot tell. 6 KiB for each
 * day that has dates. Dates 10 years away, or more, count as 10 years away.
 */
#ifndef URLWEIR_FRONTIER_REFRESH_DUE_COUNT_H
#define URLWEIR_FRONTIER_REFRESH_DUE_COUNT_H

#include <stdint.h>

#define DUE_COUNT_DAYS 7300 /* 10 years to either side */

struct due_count {
    uint32_t *days[DUE_COUNT_DAYS]; /* by minute; NULL: no dates */
    int64_t base;                   /* first minute of days[0], since 1970 */
    int64_t first; /* no minute before it has a date; minutes since base */
    int64_t upto;  /* the minutes before it are in `passed` */
    uint64_t passed, allocated;
};

/* `now_ms`: wall clock, as all times here. */
void due_count_init(struct due_count *c, int64_t now_ms);
void due_count_fini(struct due_count *c);

void due_count_add(struct due_count *c, int64_t due_ms);
/* It was added before. */
void due_count_remove(struct due_count *c, int64_t due_ms);

/* The dates in minutes that have passed. *oldest_ms: the first of them, to the
 * minute; `now_ms` if there are none. */
uint64_t due_count_passed(struct due_count *c, int64_t now_ms,
                          int64_t *oldest_ms);
uint64_t due_count_memory(const struct due_count *c);

#endif
