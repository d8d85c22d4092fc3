/*
 * parse_box_ring.h - the memory that a parser process shares with its owner.
 *
 *     struct box_ring | slot 0 | slot 1 | ...
 *     slot:  struct box_slot | URL, body | links
 *     link:  struct box_link | text, padded to four octets
 *
 * Both counters only grow; the slot of page n is n modulo the count of slots.
 */
#ifndef URLWEIR_BENCH_PARSE_BOX_RING_H
#define URLWEIR_BENCH_PARSE_BOX_RING_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BOX_URL_MOST ((size_t)8192)

enum box_order { BOX_PARSE, BOX_BREAK_OUT, BOX_STOP };

struct box_ring {
    /* written by the owner */
    _Alignas(64) _Atomic uint32_t put;
    _Atomic uint32_t owner_wants; /* wake me at this value of `ready` */
    _Atomic uint32_t owner_sleeps;
    /* written by the process */
    _Alignas(64) _Atomic uint32_t ready;
    _Atomic uint32_t box_sleeps;
};

struct box_slot {
    uint32_t order, url_len, body_len, kinds; /* written by the owner */
    uint32_t status, links_len;               /* written by the process */
    uint32_t noindex, nofollow;
};

struct box_link {
    uint32_t text_len, userinfo_at, host_at, host_len, path_at, query_at;
    uint16_t port;
    uint8_t kind, nofollow;
};

/* Where things are; each side has its own copy. */
struct box_layout {
    struct box_ring *ring;
    unsigned slots;
    size_t body_most, links_most, slot_size, size;
};

static inline struct box_slot *box_slot_at(const struct box_layout *l,
                                           uint32_t n)
{
    return (void *)((char *)l->ring + sizeof *l->ring +
                    (n & (l->slots - 1)) * l->slot_size);
}

static inline char *box_slot_input(struct box_slot *s)
{
    return (char *)(s + 1);
}

static inline char *box_slot_links(const struct box_layout *l,
                                   struct box_slot *s)
{
    return (char *)(s + 1) + BOX_URL_MOST + l->body_most;
}

static inline size_t box_padded(size_t len)
{
    return (len + 3) & ~(size_t)3;
}

static inline void box_sleep(_Atomic uint32_t *at, uint32_t value,
                             const struct timespec *most)
{
    syscall(SYS_futex, at, FUTEX_WAIT, value, most, NULL, 0);
}

static inline void box_rouse(_Atomic uint32_t *at)
{
    syscall(SYS_futex, at, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The process: never returns. */
_Noreturn void parse_box_main(const struct box_layout *l);

#endif
