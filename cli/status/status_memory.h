/*
 * status_memory.h - how --memory is divided and used, as `urlweir status` shows
 * it.
 */
#ifndef URLWEIR_CLI_STATUS_STATUS_MEMORY_H
#define URLWEIR_CLI_STATUS_STATUS_MEMORY_H

#include <jansson.h>

#include "frontier/reader.h"

/* Sets "memory" of `o`. `live` is what the process says that runs the crawl
 * (live_state.h), NULL if none does. Leaves it out if the settings cannot be
 * read. */
void status_set_memory(json_t *o, struct reader *r, const json_t *live);
void status_print_memory(const json_t *memory); /* NULL is fine */

#endif
