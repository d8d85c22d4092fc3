/*
 * utf8.h - reading UTF-8 that may not be UTF-8.
 *
 * Follows the Encoding Standard's UTF-8 decoder: each longest run of octets
 * that began like a sequence and went wrong is one U+FFFD. Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_UTF8_H
#define URLWEIR_FRONTIER_URL_UTF8_H

#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/* The code point at *at, which stands before `end`; moves *at behind it. */
uint32_t utf8_next(const char **at, const char *end);

/* Appends `in` as well-formed UTF-8; a byte order mark is kept. */
void utf8_add_clean(struct buf *out, struct bytes in);

#endif
