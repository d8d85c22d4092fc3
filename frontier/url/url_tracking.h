/*
 * url_tracking.h - session and tracking parameters by name (--drop-tracking).
 *
 * Only names that mean nothing else: `sid`, `ref` or `source` may name what a
 * page shows, and stay. Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_URL_TRACKING_H
#define URLWEIR_FRONTIER_URL_URL_TRACKING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

/* Incremented whenever a URL may lose other parameters than before: crawls
 * store it with the other rules for their URLs. */
#define URL_TRACKING_VERSION 1

/* Does a parameter of this name only follow people or sessions? ASCII letters
 * are compared without case. */
bool url_tracking_has(struct bytes name);

/* Removes path parameters of Java sessions, `;jsessionid=...` up to the next
 * slash or semicolon, from the `len` octets of a path at `at`, in place.
 * Returns the new length; dot segments may have come out. */
size_t url_tracking_strip_path(char *at, size_t len);

/* The names of the list, in order; NULL after the last. `x*` stands for all
 * names that begin with x. */
const char *url_tracking_name(size_t i);

#endif
