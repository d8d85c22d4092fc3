/*
 * rules.h - robots.txt rules, and paths they allow and deny.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_RULES_H
#define URLWEIR_TESTS_SUPPORT_WEB_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Append the Allow and Disallow lines. */
void rules_text(struct buf *out);
/* Do they deny the path of thing n of KIND_RULE? */
bool rules_deny(uint32_t n);

#endif
