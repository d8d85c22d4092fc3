/*
 * trap_text.h - what a page says, apart from its numbers and its own address.
 *
 * Pages of an endless calendar differ in their dates, and pages of a space that
 * grows by a word a step differ in the address that they give as their own. Two
 * bodies have the same tag if they are equal once all words that hold a digit
 * are left out, and, where the URL tells that its pages may differ in such
 * words, those that stand in the URL. Any thread.
 */
#ifndef URLWEIR_FRONTIER_TRAPS_TRAP_TEXT_H
#define URLWEIR_FRONTIER_TRAPS_TRAP_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"

#define TRAP_TEXT_READ   ((size_t)65536) /* octets of a body that count */
#define TRAP_PIECES_MOST 256

/* The pieces are digests of the texts between tags, scripts and styles left
 * out: those with the least digests, so that pages which share their texts
 * share them here. */
struct trap_text {
    uint64_t tag;     /* 0: not made, since no rule will ask for it */
    bool without_own; /* made without the words of its address; there are pieces
                         then */
    unsigned pieces;
    uint32_t piece[TRAP_PIECES_MOST]; /* as many, in ascending order */
};

/* The digest of the body without the page's own address, and without the
 * beginning of addresses below its directory, so that it is that of a page
 * which has relative links. `whole`: the digest of the whole body, which it is
 * if the body does not name that directory, or is too long. */
struct digest trap_text_body(const struct digest_key *k, struct bytes url,
                             struct bytes body, struct digest whole);
/* Fast for a URL that no rule suspects of naming itself: it has a tag if it has
 * a number, and no pieces. `leads_on`: the page has links that continue its
 * path (trap_continues). */
void trap_text_read(const struct digest_key *k, struct bytes url,
                    struct bytes body, bool leads_on, struct trap_text *out);

#endif
