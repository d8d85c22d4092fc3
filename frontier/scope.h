/*
 * scope.h - which URLs belong to this crawl, and the rule that said so.
 *
 * Checked before the seen check, so that URLs out of scope cost no memory.
 * Threads: any may check while seeds and their redirect targets are added (it
 * has a read-write lock).
 */
#ifndef URLWEIR_FRONTIER_SCOPE_H
#define URLWEIR_FRONTIER_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "frontier/outcome.h"
#include "frontier/url/host.h"
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
    int64_t depth;              /* greatest depth, seeds are 0; -1: any */
    size_t max_url_length;      /* of the canonical form */
    const char *const *include; /* PCRE2, unanchored; must match some */
    size_t include_count;
    const char *const *exclude; /* must match none */
    size_t exclude_count;
    /* Kinds of links with rules of their own (scope_check_kind), as sets of
     * 1 << kind. */
    uint32_t listings; /* to lists of URLs, such as sitemaps */
    uint32_t embedded; /* to parts of the page that has the link, such as
                          images */
    uint32_t checked;  /* followed out of the places of this scope, too, but
                          only to see whether the target is there */
    /* Places of hosts of other shards are not known here: their URLs count as
     * in, until their own shard has checked them. */
    struct shard_number shard;
};

/* STATUS_FORMAT: an expression does not compile; `error` says which and
 * where. Options are copied. */
MUST_CHECK enum status scope_new(struct scope **out,
                                 const struct scope_options *o,
                                 struct buf *error);
void scope_free(struct scope *s); /* NULL is fine */

/* Does `s` have the same kind of places as `other`, so that it can keep its
 * own? */
bool scope_has_places_of(struct scope *s, const struct scope *other);
/* `s` takes over the terms of `next`, which is freed, and its places if they
 * are of another kind. One thread at a time; others may check and add seeds
 * meanwhile, but such seeds may be lost with the old places: add them again. */
void scope_become(struct scope *s, struct scope *next);

/* Is there a limit to the depth? */
bool scope_limits_depth(struct scope *s);

/* Adds a seed, or the redirect target of a seed (depth 0); canonical. */
void scope_add_seed(struct scope *s, const struct url *u);

struct scope_verdict {
    bool in;
    enum outcome_reason reason; /* REASON_SCOPE, _DEPTH, _EXCLUDE, ... */
    const char *rule;           /* "scope host", the expression; lives as long
                                   as the scope */
};
/* Do URLs with the host and port of `u` belong to the crawl by SCOPE_* alone,
 * with any path? */
bool scope_has_host(struct scope *s, const struct url *u);

/* `u` is canonical. A URL of depth 0 always passes SCOPE_*; include, exclude
 * and length still apply. */
struct scope_verdict scope_check(struct scope *s, const struct url *u,
                                 uint32_t depth);

/* Is a link of this kind to a part of its page? */
bool scope_embeds(struct scope *s, unsigned kind);
/* Are there links whose targets are only checked? */
bool scope_has_checks(struct scope *s);
/* Is `u`, found in a link of this kind, out of the places of this scope, and
 * only looked for there? */
bool scope_checks(struct scope *s, const struct url *u, uint32_t depth,
                  unsigned kind);
/* The same for a URL found in a link of this kind. A list of URLs may be
 * anywhere and need not match an include, since its entries are checked: depth,
 * length and exclude apply; so does SCOPE_SEED, which has no use for lists. A
 * part of a page in scope may be anywhere, at any depth, and need not match an
 * include, so that the page is whole: length and exclude apply. The same holds
 * for what is only checked. */
struct scope_verdict scope_check_kind(struct scope *s, const struct url *u,
                                      uint32_t depth, unsigned kind);

#endif
