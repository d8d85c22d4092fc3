/* SPDX-License-Identifier: MIT */
/*
 * scope.c - which URLs belong to this crawl, and the rule that said so.
 *
 * The places that seeds open are strings in one map: "host", "host:port",
 * "domain" or, for the prefix scope, a host whose value lists directories. All
 * are parts of a URL's text, so a look-up copies nothing and takes the read
 * lock for one map probe. http and https on their default ports share a place,
 * since sites move between them without becoming other sites.
 *
 * The terms of a scope may change while other threads check: one pointer is
 * swapped, and the old terms are kept until the end, since verdicts borrow
 * their rules.
 */
#include "frontier/scope.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "frontier/url/host.h"
#include "frontier/url/url_form.h"

struct rule {
    struct url_pattern *pattern;
    char *text; /* "exclude: RE" */
};

struct rules {
    struct rule *at;
    size_t count;
};

struct directories { /* directories of one host, for the prefix scope */
    char **at;
    size_t count;
};

/* Shared by terms with the same kind of places. */
struct places {
    pthread_rwlock_t lock;
    struct map *map; /* under lock; value: struct directories */
    struct places *before;
};

/* The rules at one time; they never change, except for places. */
struct terms {
    enum scope_mode mode;
    int64_t depth;
    size_t max_url_length;
    struct rules include, exclude;
    uint32_t listings, embedded, checked;
    struct shard_number shard;
    struct places *places;
    struct terms *before;
};

struct scope {
    _Atomic(struct terms *) terms;
    struct places *places; /* all that there were, the latest first */
};

static enum status rules_init(struct rules *r, const char *kind,
                              const char *const *text, size_t count,
                              struct buf *error)
{
    enum status st = STATUS_OK;
    struct buf why;

    buf_init(&why, 1024);
    r->at = xcalloc(count, sizeof *r->at);
    for (size_t i = 0; st == STATUS_OK && i < count; i++) {
        struct rule *rule = &r->at[i];
        size_t size = strlen(kind) + strlen(text[i]) + 3;

        st = url_pattern_new(&rule->pattern, bytes_of_str(text[i]), &why);
        if (st != STATUS_OK) {
            buf_addf(error, "--%s '%s': %s", kind, text[i], buf_str(&why));
            break;
        }
        rule->text = xmalloc(size);
        snprintf(rule->text, size, "%s: %s", kind, text[i]);
        r->count++;
    }
    buf_fini(&why);
    return st;
}

static void rules_fini(struct rules *r)
{
    for (size_t i = 0; i < r->count; i++) {
        url_pattern_free(r->at[i].pattern);
        free(r->at[i].text);
    }
    free(r->at);
}

static void directories_free(void *value)
{
    struct directories *d = value;

    for (size_t i = 0; i < d->count; i++)
        free(d->at[i]);
    free(d->at);
    free(d);
}

static struct places *places_new(void)
{
    struct places *p = xcalloc(1, sizeof *p);

    p->map = map_new();
    pthread_rwlock_init(&p->lock, NULL);
    return p;
}

static void places_free(struct places *p)
{
    while (p != NULL) {
        struct places *before = p->before;

        map_free(p->map, directories_free);
        pthread_rwlock_destroy(&p->lock);
        free(p);
        p = before;
    }
}

static void terms_free(struct terms *t)
{
    while (t != NULL) {
        struct terms *before = t->before;

        rules_fini(&t->include);
        rules_fini(&t->exclude);
        free(t);
        t = before;
    }
}

static enum status terms_new(struct terms **out, const struct scope_options *o,
                             struct buf *error)
{
    struct terms *t = xcalloc(1, sizeof *t);
    enum status st;

    t->mode = o->mode;
    t->depth = o->depth;
    t->max_url_length = o->max_url_length;
    t->listings = o->listings;
    t->embedded = o->embedded;
    t->checked = o->checked;
    t->shard = o->shard;
    st =
        rules_init(&t->include, "include", o->include, o->include_count, error);
    if (st == STATUS_OK)
        st = rules_init(&t->exclude, "exclude", o->exclude, o->exclude_count,
                        error);
    if (st != STATUS_OK) {
        terms_free(t);
        return st;
    }
    *out = t;
    return STATUS_OK;
}

enum status scope_new(struct scope **out, const struct scope_options *o,
                      struct buf *error)
{
    struct terms *t = NULL;
    enum status st = terms_new(&t, o, error);
    struct scope *s;

    if (st != STATUS_OK)
        return st;
    s = xcalloc(1, sizeof *s);
    s->places = t->places = places_new();
    atomic_init(&s->terms, t);
    *out = s;
    return STATUS_OK;
}

void scope_free(struct scope *s)
{
    if (s == NULL)
        return;
    terms_free(atomic_load(&s->terms));
    places_free(s->places);
    free(s);
}

static const struct terms *terms_of(struct scope *s)
{
    return atomic_load_explicit(&s->terms, memory_order_acquire);
}

bool scope_has_places_of(struct scope *s, const struct scope *other)
{
    return terms_of(s)->mode == atomic_load(&other->terms)->mode;
}

bool scope_limits_depth(struct scope *s)
{
    return terms_of(s)->depth >= 0;
}

void scope_become(struct scope *s, struct scope *next)
{
    struct terms *now = atomic_load(&s->terms);
    struct terms *then = atomic_load(&next->terms);

    assert(then->before == NULL && next->places->before == NULL);
    if (then->mode == now->mode) {
        then->places = now->places;
    } else {
        next->places->before = s->places;
        s->places = next->places;
        next->places = NULL;
    }
    then->before = now; /* other threads may still use it */
    atomic_store_explicit(&s->terms, then, memory_order_release);
    atomic_store(&next->terms, NULL);
    scope_free(next);
}

/* The name of the place of `u` in this scope, borrowed from `u`. Empty: the
 * scope has no places. */
static struct bytes place_of(const struct terms *t, const struct url *u)
{
    struct bytes host = url_host(u), origin = url_origin(u);

    switch (t->mode) {
    case SCOPE_DOMAIN:
        return host_registrable(host);
    case SCOPE_HOST:
    case SCOPE_PREFIX: /* with its port, unless that is the default */
        return bytes_of(host.at, (size_t)(origin.at + origin.len - host.at));
    case SCOPE_SEED:
    case SCOPE_ANY:
        break;
    }
    return bytes_of("", 0);
}

/* "/a/b/" of "/a/b/c.html?q". */
static struct bytes directory_of(const struct url *u)
{
    struct bytes path = url_path(u);

    while (path.len > 1 && path.at[path.len - 1] != '/')
        path.len--;
    return path;
}

static void add_directory(struct directories *d, struct bytes dir)
{
    for (size_t i = 0; i < d->count; i++)
        if (bytes_is(dir, d->at[i]))
            return;
    d->at = xrealloc(d->at, (d->count + 1) * sizeof *d->at);
    d->at[d->count++] = xstrndup(dir.at, dir.len);
}

void scope_add_seed(struct scope *s, const struct url *u)
{
    const struct terms *t = terms_of(s);
    struct bytes place = place_of(t, u);
    struct directories *d;

    if (place.len == 0)
        return;
    pthread_rwlock_wrlock(&t->places->lock);
    d = map_get(t->places->map, place);
    if (d == NULL) {
        d = xcalloc(1, sizeof *d);
        map_put(t->places->map, place, d);
    }
    if (t->mode == SCOPE_PREFIX)
        add_directory(d, directory_of(u));
    pthread_rwlock_unlock(&t->places->lock);
}

static bool under_some(const struct directories *d, struct bytes path)
{
    for (size_t i = 0; i < d->count; i++)
        if (bytes_starts_with(path, d->at[i]))
            return true;
    return false;
}

static bool place_is_in(const struct terms *t, const struct url *u)
{
    struct bytes place = place_of(t, u);
    const struct directories *d;
    bool in;

    pthread_rwlock_rdlock(&t->places->lock);
    d = map_get(t->places->map, place);
    in = d != NULL && (t->mode != SCOPE_PREFIX || under_some(d, url_path(u)));
    pthread_rwlock_unlock(&t->places->lock);
    return in;
}

/* Is `u` in none of the places? */
static bool is_outside(const struct terms *t, const struct url *u,
                       uint32_t depth)
{
    return depth > 0 && t->mode != SCOPE_ANY &&
           (t->mode == SCOPE_SEED ||
            (!shard_is_other(t->shard, url_host(u)) && !place_is_in(t, u)));
}

static const char *mode_rule(enum scope_mode mode)
{
    static const char *const names[] = {"scope: seed", "scope: host",
                                        "scope: domain", "scope: prefix",
                                        "scope: any"};

    return names[mode];
}

/* The first rule that matches, or NULL. */
static const struct rule *first_match(const struct rules *r, struct bytes text)
{
    for (size_t i = 0; i < r->count; i++)
        if (url_pattern_matches(r->at[i].pattern, text))
            return &r->at[i];
    return NULL;
}

static struct scope_verdict out_because(enum outcome_reason reason,
                                        const char *rule)
{
    return (struct scope_verdict){false, reason, rule};
}

static struct scope_verdict in_because(const char *rule)
{
    return (struct scope_verdict){true, REASON_NONE, rule};
}

static struct scope_verdict check_length(const struct terms *t,
                                         const struct url *u)
{
    if (url_text(u).len > t->max_url_length)
        return out_because(REASON_URL_LENGTH, "max-url-len");
    return in_because(mode_rule(t->mode));
}

static struct scope_verdict check_bounds(const struct terms *t,
                                         const struct url *u, uint32_t depth)
{
    struct scope_verdict v = check_length(t, u);

    if (!v.in)
        return v;
    if (t->depth >= 0 && depth > t->depth)
        return out_because(REASON_DEPTH, "depth");
    return in_because(mode_rule(t->mode));
}

static struct scope_verdict check_exclude(const struct terms *t,
                                          const struct url *u)
{
    const struct rule *rule = first_match(&t->exclude, url_text(u));

    return rule != NULL ? out_because(REASON_EXCLUDE, rule->text)
                        : in_because(mode_rule(t->mode));
}

static struct scope_verdict check_include(const struct terms *t,
                                          const struct url *u)
{
    const struct rule *rule = first_match(&t->include, url_text(u));

    if (rule == NULL && t->include.count > 0)
        return out_because(REASON_INCLUDE, "include: none matches");
    return in_because(rule != NULL ? rule->text : mode_rule(t->mode));
}

struct scope_verdict scope_check(struct scope *s, const struct url *u,
                                 uint32_t depth)
{
    const struct terms *t = terms_of(s);
    struct scope_verdict v = check_bounds(t, u, depth);

    if (!v.in)
        return v;
    if (is_outside(t, u, depth))
        return out_because(REASON_SCOPE, mode_rule(t->mode));
    v = check_exclude(t, u);
    return v.in ? check_include(t, u) : v;
}

static struct scope_verdict check_listing(const struct terms *t,
                                          const struct url *u, uint32_t depth)
{
    struct scope_verdict v = check_bounds(t, u, depth);

    if (v.in && t->mode == SCOPE_SEED)
        return out_because(REASON_SCOPE, mode_rule(t->mode));
    return v.in ? check_exclude(t, u) : v;
}

static bool has_kind(uint32_t set, unsigned kind)
{
    return kind < 32 && (set >> kind & 1) != 0;
}

bool scope_embeds(struct scope *s, unsigned kind)
{
    return has_kind(terms_of(s)->embedded, kind);
}

static bool checks(const struct terms *t, const struct url *u, uint32_t depth,
                   unsigned kind)
{
    return has_kind(t->checked, kind) && is_outside(t, u, depth);
}

bool scope_has_checks(struct scope *s)
{
    return terms_of(s)->checked != 0;
}

bool scope_checks(struct scope *s, const struct url *u, uint32_t depth,
                  unsigned kind)
{
    return checks(terms_of(s), u, depth, kind);
}

struct scope_verdict scope_check_kind(struct scope *s, const struct url *u,
                                      uint32_t depth, unsigned kind)
{
    const struct terms *t = terms_of(s);
    struct scope_verdict v;

    if (has_kind(t->listings, kind))
        return check_listing(t, u, depth);
    if (!has_kind(t->embedded, kind) && !checks(t, u, depth, kind))
        return scope_check(s, u, depth);
    v = check_length(t, u);
    return v.in ? check_exclude(t, u) : v;
}

bool scope_has_host(struct scope *s, const struct url *u)
{
    const struct terms *t = terms_of(s);
    struct bytes place = place_of(t, u);
    bool in;

    if (t->mode == SCOPE_SEED || t->mode == SCOPE_ANY)
        return t->mode == SCOPE_ANY;
    pthread_rwlock_rdlock(&t->places->lock);
    in = map_get(t->places->map, place) != NULL;
    pthread_rwlock_unlock(&t->places->lock);
    return in;
}
