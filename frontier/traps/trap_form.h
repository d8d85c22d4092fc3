/*
 * trap_form.h - which family of URLs a URL belongs to, under each trap rule.
 *
 * A rule looks at URLs of one form: those that differ only in their numbers,
 * those whose path repeats a segment, and so on. Its families are the sets of
 * URLs with the same owner (a host, or a domain) and the same form, which is a
 * short text that people can read: /cal/month?y=N&m=N. A form is only a
 * suspicion; trap_table.h collects the evidence. docs/traps.md lists the rules.
 *
 * Pure functions of a canonical URL. Any thread.
 */
#ifndef URLWEIR_FRONTIER_TRAPS_TRAP_FORM_H
#define URLWEIR_FRONTIER_TRAPS_TRAP_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* What is done about traps: their URLs are skipped, or counted, or traps are
 * not looked for. */
enum trap_policy { TRAPS_SKIP, TRAPS_REPORT, TRAPS_OFF };

/* The numbers are stored: only append. */
enum trap_rule {
    TRAP_COUNTER,     /* numbers count on: calendars, page=1, 2, 3 ... */
    TRAP_REPEAT,      /* a path segment again and again */
    TRAP_GROWTH,      /* paths and queries that grow */
    TRAP_SAME_BODY,   /* many URLs of a pattern, one body */
    TRAP_SPIRAL,      /* one body whose relative links lead ever on */
    TRAP_ORDER,       /* the same parameters in any order, again and again */
    TRAP_SESSION,     /* the same URL with another session number */
    TRAP_SUBDOMAIN,   /* a domain that mints hosts */
    TRAP_COMBINATION, /* parameters that are known, combined anew */
    TRAP_RULES_
};

/* "counter"; static. */
const char *trap_rule_name(enum trap_rule r);
/* False: no rule has this name. */
bool trap_rule_find(struct bytes name, enum trap_rule *out);
/* The threshold unless the user sets another: how many pages it takes. */
uint32_t trap_rule_default(enum trap_rule r);

#define TRAP_FORM_MOST 256 /* octets; a longer form is cut */

struct trap_form {
    struct bytes owner; /* borrowed from the host of the URL */
    size_t len;
    char at[TRAP_FORM_MOST];
};

/* Sets *out to the form of `url`, of host `host`, under the rule. False: the
 * rule has nothing to say about such a URL. TRAP_SPIRAL is about bodies, and
 * has no form of a URL. */
bool trap_form(enum trap_rule r, struct bytes host, struct bytes url,
               struct trap_form *out);
/* The form of a path of two segments or more whose first one may be a filter
 * too: /..., which is a second one under TRAP_ORDER and TRAP_COMBINATION. */
bool trap_form_root(struct bytes host, struct bytes url, struct trap_form *out);
bool trap_form_is_root(struct bytes form);
/* What all spellings of `url` have in common, which has a form under TRAP_ORDER
 * or TRAP_SESSION. `root`: this is trap_form_root. */
uint64_t trap_spelling(enum trap_rule r, struct bytes url, bool root);
/* A digest of the first segment. */
uint32_t trap_first(struct bytes url);

#define TRAP_PARTS_MOST 64

/* The parts of a query, as numbers in ascending order, each once: name=value,
 * and one for each value of a list such as color=red,blue. The number in
 * facet[2]=red does not count. Without a query, the segments below the first
 * one; `root`: that one too. Returns how many; 0: there are none, or too many. */
size_t trap_parts(struct bytes url, bool root, uint64_t out[TRAP_PARTS_MOST]);

/* Has it no query? Its parts are segments then, which tell pages apart on most
 * sites; they may be filters if its page leads on to such that continue it. */
bool trap_is_path(struct bytes url);
/* Is `below` the path `url` with a segment more, or with two? */
bool trap_continues(struct bytes url, struct bytes below);

bool trap_form_equal(const struct trap_form *a, const struct trap_form *b);

#endif
