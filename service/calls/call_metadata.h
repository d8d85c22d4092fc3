/*
 * call_metadata.h - the metadata that other programs receive and send for URLs
 * of a crawl of our own: encoded URLInfo messages (frontier_item.metadata).
 */
#ifndef URLWEIR_SERVICE_CALLS_CALL_METADATA_H
#define URLWEIR_SERVICE_CALLS_CALL_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

/* Replaces the contents of `out` with what a program needs to know about a URL
 * before it fetches it; `via` may be empty. */
void call_metadata_make(struct buf *out, uint32_t depth, uint8_t kind,
                        struct bytes via);
/* The first value of `name` as a number; false if it has none. */
bool call_metadata_number(struct bytes metadata, const char *name,
                          struct arena *a, uint32_t *out);
/* StormCrawler's fetch.statusCode; 0 if it is missing. */
uint16_t call_metadata_http_status(struct bytes metadata, struct arena *a);

#endif
