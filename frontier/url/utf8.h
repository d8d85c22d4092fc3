/*
 * utf8.h - decoding text that should be UTF-8 but may not be.
 *
 * Follows the Encoding Standard's UTF-8 decoder: each longest run of octets
 * that began like a sequence and went wrong is one U+FFFD. Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_UTF8_H
#define URLWEIR_FRONTIER_URL_UTF8_H

#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/* The code point at *at, which must be before `end`; moves *at past it. */
uint32_t utf8_next(const char **at, const char *end);

/* Appends `in` as well-formed UTF-8; a byte order mark is kept. */
void utf8_add_clean(struct buf *out, struct bytes in);

#endif
