/*
 * watchdog.h - finds hung fetchers.
 *
 * Checks the slots of in_hand.h periodically. A fetcher is stuck when its slot
 * has had the same URL and number of steps for the given patience; it may still
 * come back. Time counts only while the watching thread ran: at most
 * WATCHDOG_GAP_MOST between two checks, so that a suspended process, or a disk
 * that blocks the watching thread, does not make fetchers look stuck. Threads:
 * one; it reads no clock.
 */
#ifndef URLWEIR_CRAWLER_FETCH_WATCHDOG_H
#define URLWEIR_CRAWLER_FETCH_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#define WATCHDOG_GAP_MOST INT64_C(1000000000) /* ns */

struct watchdog;

enum watchdog_news {
    WATCHDOG_NOTHING, /* nothing new */
    WATCHDOG_STUCK,   /* since this check */
    WATCHDOG_BACK     /* it was stuck until now */
};

/* `patience` in ns. */
struct watchdog *watchdog_new(unsigned slots, int64_t patience);
void watchdog_free(struct watchdog *w); /* NULL is fine */

/* Begins a round of checks, one for each slot; `now` is monotonic. Returns the
 * time that counts, in ns since the first round. */
int64_t watchdog_round(struct watchdog *w, int64_t now);
/* Checks slot `i`, with its content in this round; `id` 0: empty. */
enum watchdog_news watchdog_check(struct watchdog *w, unsigned i, uint64_t id,
                                  uint64_t steps);
/* The fetcher of this URL has shown in another way that it is alive. */
void watchdog_heard_of(struct watchdog *w, uint64_t id);

bool watchdog_is_stuck(const struct watchdog *w, unsigned i);
unsigned watchdog_stuck(const struct watchdog *w); /* how many are stuck */
/* How long the slot has been unchanged, in ns that count. */
int64_t watchdog_waited(const struct watchdog *w, unsigned i);

#endif
