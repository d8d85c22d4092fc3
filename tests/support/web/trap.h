/*
 * trap.h - answers deep inside an endless space of URLs.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_TRAP_H
#define URLWEIR_TESTS_SUPPORT_WEB_TRAP_H

#include "tests/support/web/answer.h"
#include "tests/support/web/web.h"

/* Is this host a trap's? Then answers any request. */
bool trap_answer(const struct web *w, const struct request *rq,
                 struct answer *an);
/* Number of traps; each has the host own[KIND_TRAP] + n to itself, and every
 * URL there but its entry belongs to it. */
uint32_t trap_count(const struct web *w);

#endif
