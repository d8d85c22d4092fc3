/*
 * served_name.h - names in the URLFrontier API: crawl IDs and queue keys.
 *
 * Names are bytes: not folded, not normalised, and none has a meaning of its
 * own but the blank crawl ID. Any thread.
 */
#ifndef URLWEIR_FRONTIER_SERVED_SERVED_NAME_H
#define URLWEIR_FRONTIER_SERVED_SERVED_NAME_H

#include <stdbool.h>

#include "base/bytes.h"

#define SERVED_KEY_MOST   255   /* UTF-16 code units, as the reference counts */
#define SERVED_CRAWL_MOST 32768 /* octets */

/* `crawl`, or DEFAULT where it is empty or nothing but blanks and controls. */
struct bytes served_crawl_name(struct bytes crawl);

/* The key of a URL put without one: its host, without userinfo and port, as it
 * is spelt, an IPv6 address in its brackets. Part of `url`; empty: there is
 * none. Read like the reference service does (the text after ://, or all of it
 * where there is no ://, cut at the first : / ? &), but for the two places
 * where that gives no host. */
struct bytes served_key_of_url(struct bytes url);

/* Not longer than SERVED_KEY_MOST. */
bool served_key_fits(struct bytes key);

#endif
