/*
 * parse_box.h - a parser process: pages in, links out, through shared memory.
 *
 * The process finds the links of each page with link_parser_html, under a
 * seccomp filter that allows only memory, futexes and exit. Pages and links
 * pass through a ring of slots in a sealed memfd. The owner does not trust its
 * content: each length and offset is copied out and bounded before use.
 *
 * Built for measurement; the crawler does not use it. Each box belongs to one
 * thread; start boxes before other threads.
 */
#ifndef URLWEIR_BENCH_PARSE_BOX_H
#define URLWEIR_BENCH_PARSE_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "crawler/html/links.h"

struct parse_box;

struct parse_box_options {
    unsigned slots;       /* pages that may be in flight, a power of two */
    size_t body_most;     /* octets of a body */
    bool parse_url_again; /* check each URL by parsing it, not by its offsets */
};

/* STATUS_IO: no process, or no seccomp here. */
MUST_CHECK enum status parse_box_start(struct parse_box **out,
                                       const struct parse_box_options *o);
void parse_box_stop(struct parse_box *b); /* NULL is fine */

/* Copies a page into the next slot; does not wake the process. `page`
 * identifies it to the owner. STATUS_AGAIN: every slot is in use. STATUS_LIMIT:
 * it is larger than a slot. */
MUST_CHECK enum status parse_box_put(struct parse_box *b, size_t page,
                                     const struct url *url, struct bytes body,
                                     uint32_t kinds);
/* Makes the process try a forbidden system call, as an exploit would. */
void parse_box_put_break_out(struct parse_box *b);
/* Wakes the process if it sleeps; parse_box_take does so before it waits. */
void parse_box_wake(struct parse_box *b);

typedef void parse_box_visit(void *ctx, size_t page,
                             const struct found_link *link);

/* Wait until `least` pages are ready, then visit the links of all that are, in
 * the order in which they were put. STATUS_CLOSED: the process has died.
 * STATUS_FORMAT: the content of the ring is not valid. After either the box can
 * only be stopped. */
MUST_CHECK enum status parse_box_take(struct parse_box *b, unsigned least,
                                      parse_box_visit *visit, void *ctx);

unsigned parse_box_in_flight(const struct parse_box *b);
/* CPU time of the process so far, in nanoseconds. */
int64_t parse_box_cpu(const struct parse_box *b);

#endif
