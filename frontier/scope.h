/*
 * scope.h - which URLs belong to this crawl, and the rule that said so.
 *
 * Asked before the seen check, so that what is out of scope costs no memory.
 * Many threads ask; seeds, and what seeds redirect to, are added while they do
 * (a read-write lock inside).
 */
#ifndef URLWEIR_FRONTIER_SCOPE_H
#define URLWEIR_FRONTIER_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "frontier/outcome.h"
#include "frontier/url/url.h"

enum scope_mode {
    SCOPE_SEED,   /* the seeds and their redirects only */
    SCOPE_HOST,   /* same host and port; http and https on their default ports
                     count as one */
    SCOPE_DOMAIN, /* same registrable domain */
    SCOPE_PREFIX, /* same host and a path under the seed's directory */
    SCOPE_ANY
};

struct scope;

struct scope_options {
    enum scope_mode mode;
    int64_t depth;              /* deepest admitted, seeds are 0; -1: any */
    size_t max_url_length;      /* of the canonical form */
    const char *const *include; /* PCRE2, unanchored; must match some */
    size_t include_count;
    const char *const *exclude; /* must match none */
    size_t exclude_count;
};

/* STATUS_FORMAT: an expression does not compile; `error` says which and
 * where. Options are copied. */
MUST_CHECK enum status scope_new(struct scope **out,
                                 const struct scope_options *o,
                                 struct buf *error);
void scope_free(struct scope *s); /* NULL is fine */

/* Has `s` the same kind of places as `other`, so that it may keep its own? */
bool scope_has_places_of(struct scope *s, const struct scope *other);
/* From now on `s` asks by the terms of `next`, which is freed; with other
 * places, by those that `next` was given. One thread at a time; others may ask
 * and add seeds meanwhile, but seeds they add may be lost with the old places:
 * they are to be added again. */
void scope_become(struct scope *s, struct scope *next);

/* A seed, or what a seed (depth 0) redirects to; canonical. */
void scope_add_seed(struct scope *s, const struct url *u);

struct scope_verdict {
    bool in;
    enum outcome_reason reason; /* REASON_SCOPE, _DEPTH, _EXCLUDE, ... */
    const char *rule;           /* "scope host", the expression; lives as long
                                   as the scope */
};
/* Do URLs of the host and port of `u` belong to the crawl by SCOPE_* alone,
 * whatever their paths? */
bool scope_has_host(struct scope *s, const struct url *u);

/* `u` is canonical. A URL of depth 0 is in scope by SCOPE_* itself; include,
 * exclude and length still hold. */
struct scope_verdict scope_check(struct scope *s, const struct url *u,
                                 uint32_t depth);

/* The same for a list of URLs, as a sitemap is: what it lists has to be in
 * scope, itself it may stand anywhere, and no include has to match. Depth,
 * length and exclude hold; so does SCOPE_SEED, which has no use for lists. */
struct scope_verdict scope_check_listing(struct scope *s, const struct url *u,
                                         uint32_t depth);

#endif
