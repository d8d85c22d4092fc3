/* SPDX-License-Identifier: MIT */
/*
 * scope.c - which URLs belong to this crawl, and the rule that said so.
 *
 * The places that seeds open are strings in one map: "host", "host:port",
 * "domain" or, for the prefix scope, a host whose value lists directories. A
 * look-up builds the string of the URL asked on the stack and takes the read
 * lock for one map probe. http and https on their default ports share a place,
 * since sites move between them without becoming other sites.
 */
#include "frontier/scope.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "frontier/host.h"

/* Backtracking is bounded, so that no URL can stall the crawl in a regular
 * expression; one that hits the bound counts as no match. */
#define MATCH_LIMIT 100000

struct rule {
    pcre2_code *code;
    char *text; /* "exclude: RE" */
};

struct rules {
    struct rule *at;
    size_t count;
};

struct directories { /* of one host, for the prefix scope */
    char **at;
    size_t count;
};

struct scope {
    enum scope_mode mode;
    int64_t depth;
    size_t max_url_length;
    struct rules include, exclude;
    pcre2_match_context *limits;
    pthread_rwlock_t lock;
    struct map *places; /* under lock; value: struct directories */
};

static enum status rules_init(struct rules *r, const char *kind,
                              const char *const *text, size_t count,
                              struct buf *error)
{
    r->at = xcalloc(count, sizeof *r->at);
    for (size_t i = 0; i < count; i++) {
        int code;
        PCRE2_SIZE where;
        struct rule *rule = &r->at[i];
        size_t size = strlen(kind) + strlen(text[i]) + 3;

        rule->code = pcre2_compile((PCRE2_SPTR)text[i], PCRE2_ZERO_TERMINATED,
                                   0, &code, &where, NULL);
        if (rule->code == NULL) {
            PCRE2_UCHAR why[128];

            pcre2_get_error_message(code, why, sizeof why);
            buf_addf(error, "--%s '%s': %s at character %zu", kind, text[i],
                     (const char *)why, (size_t)where + 1);
            return STATUS_FORMAT;
        }
        (void)pcre2_jit_compile(rule->code, PCRE2_JIT_COMPLETE);
        rule->text = xmalloc(size);
        snprintf(rule->text, size, "%s: %s", kind, text[i]);
        r->count++;
    }
    return STATUS_OK;
}

static void rules_fini(struct rules *r)
{
    for (size_t i = 0; i < r->count; i++) {
        pcre2_code_free(r->at[i].code);
        free(r->at[i].text);
    }
    free(r->at);
}

enum status scope_new(struct scope **out, const struct scope_options *o,
                      struct buf *error)
{
    struct scope *s = xcalloc(1, sizeof *s);
    enum status st;

    s->mode = o->mode;
    s->depth = o->depth;
    s->max_url_length = o->max_url_length;
    s->places = map_new();
    pthread_rwlock_init(&s->lock, NULL);
    s->limits = pcre2_match_context_create(NULL);
    if (s->limits == NULL) {
        scope_free(s);
        return STATUS_NOMEM;
    }
    pcre2_set_match_limit(s->limits, MATCH_LIMIT);
    st =
        rules_init(&s->include, "include", o->include, o->include_count, error);
    if (st == STATUS_OK)
        st = rules_init(&s->exclude, "exclude", o->exclude, o->exclude_count,
                        error);
    if (st != STATUS_OK) {
        scope_free(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

static void directories_free(void *value)
{
    struct directories *d = value;

    for (size_t i = 0; i < d->count; i++)
        free(d->at[i]);
    free(d->at);
    free(d);
}

void scope_free(struct scope *s)
{
    if (s == NULL)
        return;
    rules_fini(&s->include);
    rules_fini(&s->exclude);
    pcre2_match_context_free(s->limits);
    map_free(s->places, directories_free);
    pthread_rwlock_destroy(&s->lock);
    free(s);
}

/* The name under which the place of `u` is known in this scope; in `store` or
 * borrowed from `u`. Empty: the scope has no places. */
static struct bytes place_of(const struct scope *s, const struct url *u,
                             char *store, size_t size)
{
    struct bytes host = url_host(u);

    switch (s->mode) {
    case SCOPE_DOMAIN:
        return host_registrable(host);
    case SCOPE_HOST:
    case SCOPE_PREFIX:
        if (u->port == (u->https ? 443 : 80) || host.len + 8 > size)
            return host;
        memcpy(store, host.at, host.len);
        return bytes_of(store,
                        host.len + (size_t)snprintf(store + host.len, 8, ":%u",
                                                    (unsigned)u->port));
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
    char store[512];
    struct bytes place = place_of(s, u, store, sizeof store);
    struct directories *d;

    if (place.len == 0)
        return;
    pthread_rwlock_wrlock(&s->lock);
    d = map_get(s->places, place);
    if (d == NULL) {
        d = xcalloc(1, sizeof *d);
        map_put(s->places, place, d);
    }
    if (s->mode == SCOPE_PREFIX)
        add_directory(d, directory_of(u));
    pthread_rwlock_unlock(&s->lock);
}

static bool under_some(const struct directories *d, struct bytes path)
{
    for (size_t i = 0; i < d->count; i++)
        if (bytes_starts_with(path, d->at[i]))
            return true;
    return false;
}

static bool place_is_in(struct scope *s, const struct url *u)
{
    char store[512];
    struct bytes place = place_of(s, u, store, sizeof store);
    const struct directories *d;
    bool in;

    pthread_rwlock_rdlock(&s->lock);
    d = map_get(s->places, place);
    in = d != NULL && (s->mode != SCOPE_PREFIX || under_some(d, url_path(u)));
    pthread_rwlock_unlock(&s->lock);
    return in;
}

static const char *mode_rule(enum scope_mode mode)
{
    static const char *const names[] = {"scope: seed", "scope: host",
                                        "scope: domain", "scope: prefix",
                                        "scope: any"};

    return names[mode];
}

/* The first rule that matches, or NULL. */
static const struct rule *first_match(const struct scope *s,
                                      const struct rules *r, struct bytes text)
{
    const struct rule *found = NULL;
    pcre2_match_data *data;

    if (r->count == 0)
        return NULL;
    data = pcre2_match_data_create(1, NULL);
    for (size_t i = 0; data != NULL && i < r->count && found == NULL; i++)
        if (pcre2_match(r->at[i].code, (PCRE2_SPTR)text.at, text.len, 0, 0,
                        data, s->limits) >= 0)
            found = &r->at[i];
    pcre2_match_data_free(data);
    return found;
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

static struct scope_verdict check_bounds(const struct scope *s,
                                         const struct url *u, uint32_t depth)
{
    if (url_text(u).len > s->max_url_length)
        return out_because(REASON_URL_LENGTH, "max-url-len");
    if (s->depth >= 0 && depth > s->depth)
        return out_because(REASON_DEPTH, "depth");
    return in_because(mode_rule(s->mode));
}

static struct scope_verdict check_exclude(const struct scope *s,
                                          const struct url *u)
{
    const struct rule *rule = first_match(s, &s->exclude, url_text(u));

    return rule != NULL ? out_because(REASON_EXCLUDE, rule->text)
                        : in_because(mode_rule(s->mode));
}

static struct scope_verdict check_include(const struct scope *s,
                                          const struct url *u)
{
    const struct rule *rule = first_match(s, &s->include, url_text(u));

    if (rule == NULL && s->include.count > 0)
        return out_because(REASON_INCLUDE, "include: none matches");
    return in_because(rule != NULL ? rule->text : mode_rule(s->mode));
}

struct scope_verdict scope_check(struct scope *s, const struct url *u,
                                 uint32_t depth)
{
    struct scope_verdict v = check_bounds(s, u, depth);

    if (!v.in)
        return v;
    if (depth > 0 && s->mode != SCOPE_ANY &&
        (s->mode == SCOPE_SEED || !place_is_in(s, u)))
        return out_because(REASON_SCOPE, mode_rule(s->mode));
    v = check_exclude(s, u);
    return v.in ? check_include(s, u) : v;
}

struct scope_verdict scope_check_listing(struct scope *s, const struct url *u,
                                         uint32_t depth)
{
    struct scope_verdict v = check_bounds(s, u, depth);

    if (v.in && s->mode == SCOPE_SEED)
        return out_because(REASON_SCOPE, mode_rule(s->mode));
    return v.in ? check_exclude(s, u) : v;
}

bool scope_has_host(struct scope *s, const struct url *u)
{
    char store[512];
    struct bytes place = place_of(s, u, store, sizeof store);
    bool in;

    if (s->mode == SCOPE_SEED || s->mode == SCOPE_ANY)
        return s->mode == SCOPE_ANY;
    pthread_rwlock_rdlock(&s->lock);
    in = map_get(s->places, place) != NULL;
    pthread_rwlock_unlock(&s->lock);
    return in;
}
