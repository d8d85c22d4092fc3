/*
 * call_puts.h - items of a PUT as the frontiers take them (struct url_put).
 */
#ifndef URLWEIR_SERVICE_CALLS_CALL_PUTS_H
#define URLWEIR_SERVICE_CALLS_CALL_PUTS_H

#include "base/arena.h"
#include "frontier/url_view.h"
#include "service/calls/call.h"

struct call_puts { /* all zero: none */
    struct url_put *list;
    size_t room;
    struct arena *keys; /* those that are not spelt so in their URLs */
};

/* Fills the list, which lives until the next time; items that have no key, or
 * more octets than `most` with their metadata, are skipped, and their ack says
 * so. Returns how many are in it. */
size_t call_puts_fill(struct call_puts *p, struct frontier_item *const *items,
                      size_t n, size_t most);
void call_puts_fini(struct call_puts *p);

#endif
