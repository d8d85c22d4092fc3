/*
 * served_name.h - names in the URLFrontier API: crawl IDs and queue keys.
 *
 * Names that clients give are bytes: they are not normalised, and only the
 * blank crawl ID has a special meaning. Any thread.
 */
#ifndef URLWEIR_FRONTIER_SERVED_SERVED_NAME_H
#define URLWEIR_FRONTIER_SERVED_SERVED_NAME_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"

#define SERVED_KEY_MOST   255   /* UTF-16 code units, like the reference */
#define SERVED_CRAWL_MOST 32768 /* octets */

/* `crawl`, or DEFAULT if it is empty or has only blanks and control
 * characters. */
struct bytes served_crawl_name(struct bytes crawl);

/* The key of a URL put without one: its host, without userinfo and port, an
 * IPv6 address in its brackets. Empty: there is none. It is where the reference
 * service finds it (the text after ://, or all of it without ://, up to the
 * first : / ? &), except for the two cases in which that gives no host. Of an
 * http(s) URL it is the canonical form of that host, so that UP.example and
 * up.example. are one queue. In `url`, or in `room` until its next change. */
struct bytes served_key_of_url(struct bytes url, struct buf *room);

/* Is it at most SERVED_KEY_MOST long? */
bool served_key_fits(struct bytes key);

#endif
