/*
 * watchdog.h - which fetchers do not come back.
 *
 * Looks at the slots of in_hand.h, again and again. A fetcher is stuck when its
 * slot has held the same URL after the same number of steps for the patience
 * given; it may still come back. Time counts only as far as the watching thread
 * itself ran: of what passes between two looks, WATCHDOG_GAP_MOST at most, so
 * that a process that was suspended, or a disk that held up the watching
 * thread, makes nobody stuck. One thread; it asks no clock.
 */
#ifndef URLWEIR_CRAWLER_FETCH_WATCHDOG_H
#define URLWEIR_CRAWLER_FETCH_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#define WATCHDOG_GAP_MOST INT64_C(1000000000) /* ns */

struct watchdog;

enum watchdog_news {
    WATCHDOG_NOTHING, /* new */
    WATCHDOG_STUCK,   /* since this look */
    WATCHDOG_BACK     /* it was stuck until now */
};

/* `patience` in ns. */
struct watchdog *watchdog_new(unsigned slots, int64_t patience);
void watchdog_free(struct watchdog *w); /* NULL is fine */

/* Begins a round of looks, one at each slot; `now` is monotonic. The time that
 * counts, in ns since the first round. */
int64_t watchdog_round(struct watchdog *w, int64_t now);
/* What slot `i` holds in this round; `id` 0: nothing. */
enum watchdog_news watchdog_check(struct watchdog *w, unsigned i, uint64_t id,
                                  uint64_t steps);
/* Whoever has this URL in hand gave a sign of life in another way. */
void watchdog_heard_of(struct watchdog *w, uint64_t id);

bool watchdog_is_stuck(const struct watchdog *w, unsigned i);
unsigned watchdog_stuck(const struct watchdog *w); /* so many */
/* For how long the slot has been as it is, in ns that count. */
int64_t watchdog_waited(const struct watchdog *w, unsigned i);

#endif
