/*
 * turn_pace.h - how long a turn of the frontier thread waits for its reports.
 *
 * A turn costs much the same for one report and for several, and so does going
 * to sleep and being woken. How long reports may wait depends on when their
 * hosts may be asked again. Knows no clock and no queue; crawl_turn.c owns one.
 */
#ifndef URLWEIR_CRAWLER_TURN_PACE_H
#define URLWEIR_CRAWLER_TURN_PACE_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed: no URL was leased yet. */
struct turn_pace {
    int64_t hurried; /* when the last URL of a hurried host was leased */
};

/* A URL was leased whose host may be asked again `pause` ns after its
 * response. */
void turn_pace_leased(struct turn_pace *p, int64_t pause, int64_t now);

/* What queue_gather is told, times in ns. */
struct turn_wait {
    int64_t first; /* for the first report */
    size_t enough; /* reports that begin a turn at once; 0: any */
    int64_t more;  /* after the first, until there are enough */
};

/* `out` URLs are with fetchers, of which at most `most` reports make a turn; a
 * host is due in `until_due`, 0 or later. */
struct turn_wait turn_pace_wait(const struct turn_pace *p, size_t out,
                                size_t most, int64_t until_due, int64_t now);

#endif
