/*
 * explain_trap.h - which trap a URL belongs to, for `urlweir explain`.
 */
#ifndef URLWEIR_CLI_EXPLAIN_EXPLAIN_TRAP_H
#define URLWEIR_CLI_EXPLAIN_EXPLAIN_TRAP_H

#include <jansson.h>

#include "frontier/reader.h"
#include "job/settings/settings.h"

/* Sets trap_rule, trap_pattern and trap_pages in `out` if the URL is of a
 * trap, or if `via`, the page it was found on (0: none), is one of a trap that
 * is told by its body. True: it is. */
bool explain_trap(struct reader *r, const struct crawl_settings *s,
                  const struct url *u, uint64_t via, json_t *out);

#endif
