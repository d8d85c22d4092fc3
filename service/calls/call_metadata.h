/*
 * call_metadata.h - metadata of URLs of a crawl of our own, as other programs
 * get and give it: encoded URLInfo messages (frontier_item.metadata).
 */
#ifndef URLWEIR_SERVICE_CALLS_CALL_METADATA_H
#define URLWEIR_SERVICE_CALLS_CALL_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

/* Replaces what is in `out` by what a program needs to know of a URL that it is
 * to fetch; `via` may be empty. */
void call_metadata_make(struct buf *out, uint32_t depth, uint8_t kind,
                        struct bytes via);
/* The first value of `name` as a number; false: there is none. */
bool call_metadata_number(struct bytes metadata, const char *name,
                          struct arena *a, uint32_t *out);
/* What StormCrawler calls fetch.statusCode; 0: not said. */
uint16_t call_metadata_http_status(struct bytes metadata, struct arena *a);

#endif
