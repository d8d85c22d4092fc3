/*
 * web_robots.h - the robots.txt of each host, and what it denies.
 *
 * We know what is denied by construction (each host has one of a few kinds of
 * file, and the effect of each kind on each path is in the code), not by
 * parsing the file: so a mistake in a crawler's parser is not repeated here.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_WEB_ROBOTS_H
#define URLWEIR_TESTS_SUPPORT_WEB_WEB_ROBOTS_H

#include "tests/support/web/answer.h"
#include "tests/support/web/web.h"

/* Is this request for a robots.txt, or for the target of its redirect? Then
 * answers it. */
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

/* A random host that is not denied as a whole. */
uint32_t robots_open_host(const struct web *w, uint64_t dice);

#endif
