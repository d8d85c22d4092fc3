/*
 * trap_text.h - a tag of what a page says, without its numbers.
 *
 * Pages of an endless calendar differ in their dates. Two bodies have the same
 * tag if they are equal once all words that hold a digit are left out, markup
 * and addresses included. Any thread.
 */
#ifndef URLWEIR_FRONTIER_TRAPS_TRAP_TEXT_H
#define URLWEIR_FRONTIER_TRAPS_TRAP_TEXT_H

#include <stdint.h>

#include "base/digest.h"

/* The tag of the first TRAP_TEXT_READ octets of `body`; 0 if the URL has no
 * number, so that nobody will ask for it. */
#define TRAP_TEXT_READ ((size_t)65536)
uint64_t trap_text_tag(const struct digest_key *k, struct bytes url,
                       struct bytes body);

#endif
