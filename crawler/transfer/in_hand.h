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
 * of each URL that it finds there, see `blame` in frontier.h.
 *
 * Only its fetcher writes a slot; any thread may read it. If a slot still has
 * the same id and number of steps, its thread has not returned in between
 * (in_hand.h); in_hand_mark_stuck records that, and then the next start fails
 * the URL.
 */
#ifndef URLWEIR_CRAWLER_TRANSFER_IN_HAND_H
#define URLWEIR_CRAWLER_TRANSFER_IN_HAND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* ---- finds hung fetchers ---- */

/*
 * Checks the slots of in_hand.h periodically. A fetcher is stuck when its slot
 * has had the same URL and number of steps for the given patience; it may still
 * come back. Time counts only while the watching thread ran: at most
 * WATCHDOG_GAP_MOST between two checks, so that a suspended process, or a disk
 * that blocks the watching thread, does not make fetchers look stuck. Threads:
 * one; it reads no clock.
 */

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

unsigned watchdog_stuck(const struct watchdog *w); /* how many are stuck */
/* How long the slot has been unchanged, in ns that count. */
int64_t watchdog_waited(const struct watchdog *w, unsigned i);

#endif
