/*
 * in_hand.h - which URL each fetcher has in hand, readable after a crash.
 *
 * A server can send bytes that end this process, or keep a thread for ever, in
 * a library that reads them. Each fetcher therefore has a slot in the file
 * DIR/in-hand: while it runs code that reads what a server sent, the slot
 * holds the id of the URL. The file is mapped into memory, so a slot costs one
 * store to write and survives the process, however it ends. (It does not
 * survive the machine, which no server can end.) The next start counts a try
 * of each URL that it finds there, see `blame` in engine.h.
 *
 * A slot is written by its fetcher alone; any thread may look. A thread whose
 * slot holds the same id after the same number of steps has not come back in
 * between (watchdog.h); in_hand_mark_stuck notes that, and then the next start
 * fails the URL.
 */
#ifndef URLWEIR_CRAWLER_FETCH_IN_HAND_H
#define URLWEIR_CRAWLER_FETCH_IN_HAND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define IN_HAND_SLOTS_MOST 1023

struct in_hand;

/* What is being done with the URL in hand. */
enum in_hand_doing {
    IN_HAND_BEGIN,    /* asking robots.txt, sending a request */
    IN_HAND_TRANSFER, /* libcurl reads from its connection */
    IN_HAND_HEAD,
    IN_HAND_BODY, /* content codings, sitemaps as they come */
    IN_HAND_PARSE /* the whole response */
};
const char *in_hand_doing_text(enum in_hand_doing doing); /* "parsing ..." */

struct in_hand_slot {
    _Atomic uint64_t id;    /* of a URL; 0: nothing is in hand */
    _Atomic uint64_t steps; /* grows with each in_hand_take */
    _Atomic uint64_t stuck; /* the step that did not come back; 0: none */
    _Atomic uint32_t doing; /* enum in_hand_doing */
    uint32_t unused[9];     /* a cache line of its own */
};

/* What an earlier process left in one slot. */
struct in_hand_left {
    uint64_t id;
    bool stuck;
};

/* What the last process in `dir` left, at most `most` entries; ids may be any
 * number, as the file may hold anything. No file, or one that is not of this
 * format: *n = 0. */
void in_hand_read(const char *dir, struct in_hand_left *out, size_t most,
                  size_t *n);

/* Makes the file anew with so many empty slots, at most IN_HAND_SLOTS_MOST. If
 * no file can be made there, which is logged, the slots are in memory alone. */
struct in_hand *in_hand_open(const char *dir, unsigned slots);
/* No thread uses a slot any longer. Removes the file unless a slot still holds
 * an id. NULL is fine. */
void in_hand_close(struct in_hand *h);

/* Lives as long as `h`. */
struct in_hand_slot *in_hand_slot(struct in_hand *h, unsigned i);

/* Any thread: the URL that slot `i` holds since its step `steps` does not come
 * back. On disk when it returns; no longer true as soon as the slot's fetcher
 * takes another step. */
void in_hand_mark_stuck(struct in_hand *h, unsigned i, uint64_t steps);

/* `s` NULL: does nothing. */
static inline void in_hand_take(struct in_hand_slot *s, uint64_t id,
                                enum in_hand_doing doing)
{
    if (s == NULL)
        return;
    atomic_store_explicit(&s->id, id, memory_order_relaxed);
    atomic_store_explicit(&s->doing, (uint32_t)doing, memory_order_relaxed);
    atomic_store_explicit(
        &s->steps, atomic_load_explicit(&s->steps, memory_order_relaxed) + 1,
        memory_order_relaxed);
}

static inline void in_hand_drop(struct in_hand_slot *s)
{
    if (s != NULL)
        atomic_store_explicit(&s->id, 0, memory_order_relaxed);
}

#endif
