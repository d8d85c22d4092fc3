/*
 * order.h - which URL of a host goes first: pure arithmetic.
 *
 * A URL has a score, the sum of a few small parts, and with it one of 16
 * classes. Within a class URLs go in order of arrival, which is breadth first.
 * The in-links of a page are the cheap stand-in for its PageRank (Cho,
 * Garcia-Molina and Page 1998: "Efficient crawling through URL ordering"), and
 * so count by their logarithm.
 *
 * Threads: any number may use one order.
 */
#ifndef URLWEIR_FRONTIER_ORDER_H
#define URLWEIR_FRONTIER_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

enum order_mode { ORDER_BREADTH, ORDER_DEPTH, ORDER_BEST };

/* Classes, the last first. All above ORDER_IN_TURN go before their turn. */
#define ORDER_LATER   0  /* when the host has no other URL */
#define ORDER_IN_TURN 1  /* in order of arrival */
#define ORDER_FIRST   15 /* a rule of --first matches */
#define ORDER_CLASSES 16

struct order;

struct order_options {
    enum order_mode mode;
    const char *const *boost; /* "REGEX=N": N is added to the score */
    size_t boost_count;
    const char *const *first; /* REGEX: ORDER_FIRST */
    size_t first_count;
};

/* STATUS_FORMAT: an expression does not compile, or a boost has no number;
 * `error` says which. Options are copied. */
MUST_CHECK enum status order_new(struct order **out,
                                 const struct order_options *o,
                                 struct buf *error);
void order_free(struct order *o); /* NULL is fine */

enum order_mode order_mode(const struct order *o); /* NULL: ORDER_BREADTH */
const char *order_mode_name(enum order_mode mode); /* "best"; static */
/* Appends a text that is equal for orders that give equal classes. */
void order_describe(const struct order *o, struct buf *out);

struct order_facts {
    struct bytes url;
    uint32_t depth;
    int16_t priority; /* of a sitemap, in thousandths; HINT_NO_PRIORITY */
    uint32_t links;   /* in-links so far, at least 1 */
};

struct order_score {
    int depth, path, priority, links, rules; /* the parts */
    int sum;
    uint8_t class_;
};

/* ORDER_BREADTH gives ORDER_IN_TURN to all. ORDER_DEPTH goes by the depth
 * alone, down to ORDER_FIRST - ORDER_IN_TURN links from a seed. ORDER_BEST adds
 * up all parts; a sum above 0 goes before its turn, one below 0 later. */
struct order_score order_score(const struct order *o,
                               const struct order_facts *facts);

#endif
