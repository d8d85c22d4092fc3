/*
 * item_name.h - names in the URLFrontier API: crawl IDs and queue keys.
 *
 * Names are bytes: not folded, not normalised, and none has a meaning of its
 * own but the blank crawl ID. Any thread.
 */
#ifndef URLWEIR_FRONTIER_SERVED_ITEM_NAME_H
#define URLWEIR_FRONTIER_SERVED_ITEM_NAME_H

#include <stdbool.h>

#include "base/bytes.h"

#define ITEM_KEY_MOST   255   /* UTF-16 code units, as the reference counts */
#define ITEM_CRAWL_MOST 32768 /* octets */

/* `crawl`, or DEFAULT where it is empty or nothing but blanks and controls. */
struct bytes item_crawl_name(struct bytes crawl);

/* The key of a URL put without one: its host, without userinfo and port, as it
 * is spelt, an IPv6 address in its brackets. Part of `url`; empty: there is
 * none. Read like the reference service does (the text after ://, or all of it
 * where there is no ://, cut at the first : / ? &), but for the two places
 * where that gives no host. */
struct bytes item_key_of_url(struct bytes url);

/* Not longer than ITEM_KEY_MOST. */
bool item_key_fits(struct bytes key);

#endif
