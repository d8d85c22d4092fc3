/*
 * idna.h - domain names that are not ASCII.
 *
 * Unicode's UTS #46 by way of ICU, with the parameters that the URL Standard
 * gives it. Any thread: the one handle is opened at the first use.
 */
#ifndef URLWEIR_FRONTIER_URL_IDNA_H
#define URLWEIR_FRONTIER_URL_IDNA_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"

/* Appends the ASCII form of well-formed UTF-8 `domain`. The caller checks for
 * code points that a URL's host may not have. False: not allowed, or longer
 * than any DNS name can be (4 KiB). */
bool idna_to_ascii(struct bytes domain, struct buf *out);

#endif
