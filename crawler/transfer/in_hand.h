/*
 * in_hand.h - records which URL each fetcher is working on, readable after a
 * crash.
 *
 * A server can send bytes that crash this process, or hang a thread, in a
 * library that parses them. Therefore each fetcher has a slot in the file
 * DIR/in-hand: while it runs code that reads what a server sent, the slot holds
 * the id of the URL. The file is mapped into memory, so a slot costs one store
 * to write and survives the process, however it ends. (It does not survive a
 * crash of the machine, which no server can cause.) The next start counts a try
 * of each URL that it finds there, see `blame` in engine.h.
 *
 * Only its fetcher writes a slot; any thread may read it. If a slot still has
 * the same id and number of steps, its thread has not returned in between
 * (watchdog.h); in_hand_mark_stuck records that, and then the next start fails
 * the URL.
 */
#ifndef URLWEIR_CRAWLER_TRANSFER_IN_HAND_H
#define URLWEIR_CRAWLER_TRANSFER_IN_HAND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define IN_HAND_SLOTS_MOST 1023

struct in_hand;

/* What the fetcher is doing with the URL. */
enum in_hand_doing {
    IN_HAND_BEGIN,    /* checking robots.txt, sending a request */
    IN_HAND_TRANSFER, /* libcurl reads from its connection */
    IN_HAND_HEAD,
    IN_HAND_BODY, /* content codings, sitemaps as they arrive */
    IN_HAND_PARSE /* the whole response */
};
const char *in_hand_doing_text(enum in_hand_doing doing); /* "parsing ..." */

struct in_hand_slot {
    _Atomic uint64_t id;    /* of a URL; 0: none */
    _Atomic uint64_t steps; /* grows with each in_hand_take */
    _Atomic uint64_t stuck; /* the step that hung; 0: none */
    _Atomic uint32_t doing; /* enum in_hand_doing */
    uint32_t unused[9];     /* a cache line of its own */
};

/* What an earlier process left in one slot. */
struct in_hand_left {
    uint64_t id;
    bool stuck;
};

/* Reads what the last process in `dir` left, at most `most` entries; the ids
 * are not trusted. *n = 0: there is no file of this format. */
void in_hand_read(const char *dir, struct in_hand_left *out, size_t most,
                  size_t *n);

/* Makes a new file with `slots` empty slots, at most IN_HAND_SLOTS_MOST. If
 * that fails, which is logged, the slots are in memory only. */
struct in_hand *in_hand_open(const char *dir, unsigned slots);
/* Call it when no thread uses a slot. Removes the file unless a slot still has
 * an id. NULL is fine. */
void in_hand_close(struct in_hand *h);

/* Lives as long as `h`. */
struct in_hand_slot *in_hand_slot(struct in_hand *h, unsigned i);

/* Records that the URL in slot `i` has hung since step `steps`. Any thread. It
 * is on disk when this returns, and void as soon as the fetcher takes another
 * step. */
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
