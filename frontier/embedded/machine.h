/*
 * machine.h - hosts that politeness takes for one, and when they may be asked.
 *
 * With --queue-key ip politeness counts machines: of all hosts that share an
 * address one is asked at a time, with the delay between, and what one of them
 * says of delays (Crawl-delay, Retry-After, back-off) holds for all. With
 * --queue-key domain the hosts of a registrable domain are taken for one
 * machine. Queues, digests and everything a reader sees stay those of hosts: a
 * machine is where a host stands for now, never what it is.
 *
 * A host that has no address stands alone, under its own name. Frontier thread
 * only.
 */
#ifndef URLWEIR_FRONTIER_EMBEDDED_MACHINE_H
#define URLWEIR_FRONTIER_EMBEDDED_MACHINE_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/heap.h"
#include "frontier/embedded/host_queue.h"

struct machine {
    struct heap_item place; /* in the schedule, by the moment it is due */
    struct heap hosts;      /* of struct host_queue by place */
    uint32_t members;       /* hosts in memory that stand here */
    uint32_t leased;        /* URLs of theirs that are out */
    int64_t next_due;       /* politeness: not before */
    int64_t blocked_until;  /* Retry-After, back-off */
    int64_t expects_until;  /* a request to one of its hosts waits for a place:
                               nothing else goes out before */
    uint32_t name_len;
    char name[]; /* its address, as in a URL; a domain */
};

struct machines; /* all of them, by name */

struct machines *machines_new(void);
void machines_free(struct machines *t); /* NULL is fine */

/* The one of that name, made when missing; *made, when not NULL, says so. */
struct machine *machines_get(struct machines *t, struct bytes name, bool *made);
struct bytes machine_name(const struct machine *m);

/* `h` stands nowhere and is in no heap. Its machine waits no less than it. */
void machine_join(struct machine *m, struct host_queue *h);
/* `h` is in no heap. What is left: its machine, or NULL where it stood on none
 * or was the last there, with nothing to remember at `now`: that is freed. */
struct machine *machine_leave(struct machines *t, struct host_queue *h,
                              int64_t now);

/* One more URL of `h`, or one less, is out. */
void machine_lease(struct host_queue *h);
void machine_give_back(struct host_queue *h);

/* The moment at which one of its hosts may be asked, with at most `most` URLs
 * out. INT64_MAX: none has anything; INT64_MIN: one is to be drained. */
int64_t machine_due(const struct machine *m, uint32_t most);

#endif
