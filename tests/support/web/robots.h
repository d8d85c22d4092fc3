/*
 * robots.h - the robots.txt of each host, and what it denies.
 *
 * What is denied is known by construction (each host has one of a few kinds of
 * file, each kind's effect on each path is written beside it), not by reading
 * the file: so a mistake in a crawler's reader is not repeated here.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_ROBOTS_H
#define URLWEIR_TESTS_SUPPORT_WEB_ROBOTS_H

#include "tests/support/web/answer.h"
#include "tests/support/web/web.h"

/* Is this request for a robots.txt, or for the place one was moved to? Then
 * it is answered. */
bool robots_answer(const struct web *w, const struct request *rq,
                   struct answer *an);
bool robots_is_path(struct bytes target);

/* FATE_FETCH: the thing may be asked for; FATE_DENIED, FATE_UNREACHABLE. */
enum fate robots_fate(const struct web *w, uint32_t id);

/* Seconds between requests that the host's file asks for; 0: none. */
double robots_delay(const struct web *w, uint32_t host);

/* Hosts whose file has the rules of KIND_RULE: the nth of them, and whether
 * there are any. */
bool robots_rule_host(const struct web *w, uint32_t n, uint32_t *host);

/* Some host that is not denied as a whole. */
uint32_t robots_open_host(const struct web *w, uint64_t dice);

#endif
