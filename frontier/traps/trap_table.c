/* SPDX-License-Identifier: MIT */
/*
 * trap_table.c - which families of URLs are traps, by what their pages bring.
 *
 * The score of a family is counted in 32nds of a page. A page that leads only
 * to more of its family counts 32 if a page of the family had its text before,
 * and 1 if its text is new: a page may hold a token, or a quotation of the day,
 * that makes it new each time. Digests of texts are compared; a distance of
 * texts (near-duplicates) would be asked where trap_family_has_text() is.
 */
#include "frontier/traps/trap_table.h"

#include <inttypes.h>
#include <stdio.h>

#include "frontier/traps/trap_families.h"

static uint32_t tag_of(const struct trap_page *p)
{
    return (uint32_t)((p->text != 0 ? p->text : p->body.hi) >> 32);
}

/* ---- evidence ---- */

/* Are all new URLs of the page of its own family? */
static bool brings_only(enum trap_rule r, const struct trap_form *form,
                        const struct trap_page *p)
{
    struct trap_form other;

    for (size_t i = 0; i < p->fresh_count; i++)
        if (!trap_form(r, p->fresh[i].host, p->fresh[i].url, &other) ||
            !trap_form_equal(form, &other))
            return false;
    return true;
}

/* A page of a family that may be endless. */
static void judge_links(struct trap_table *t, enum trap_rule r,
                        const struct trap_page *p)
{
    struct trap_form form;
    struct trap_owner *o;
    struct trap_family *f;
    struct bytes name;
    bool known;

    if (!trap_form(r, p->host, p->url, &form))
        return;
    name = bytes_of(form.at, form.len);
    o = trap_owner_find(t, form.owner);
    f = trap_family_find(o, r, name);
    known = trap_family_has_text(f, tag_of(p));
    if (!brings_only(r, &form, p) || (p->fresh_count == 0 && !known)) {
        trap_family_clear(t, o, f);
        return;
    }
    if (p->fresh_count == 0)
        return; /* it feeds nothing, and says nothing new */
    o = trap_owner_make(t, form.owner);
    if (f == NULL)
        f = trap_family_make(t, o, r, name);
    if (f == NULL)
        return;
    if (!known)
        trap_family_add_text(t, f, tag_of(p));
    trap_family_count(t, o, f, known ? WHOLE : 1);
}

/* A page of a pattern whose bodies may be all the same. */
static void judge_body(struct trap_table *t, const struct trap_page *p)
{
    struct trap_form form;
    struct trap_owner *o;
    struct trap_family *f;
    struct bytes name;

    if (!trap_form(TRAP_SAME_BODY, p->host, p->url, &form))
        return;
    name = bytes_of(form.at, form.len);
    o = trap_owner_find(t, form.owner);
    f = trap_family_find(o, TRAP_SAME_BODY, name);
    if (f != NULL && f->body != p->body.hi) {
        trap_family_clear(t, o, f);
        return;
    }
    if (f == NULL && !p->known_body)
        return;
    o = trap_owner_make(t, form.owner);
    if (f == NULL)
        f = trap_family_make(t, o, TRAP_SAME_BODY, name);
    if (f == NULL)
        return;
    f->body = p->body.hi;
    trap_family_count(t, o, f, WHOLE);
}

/* A page that may be another one under another spelling. */
static void judge_spelling(struct trap_table *t, enum trap_rule r,
                           const struct trap_page *p)
{
    struct trap_form form;
    struct trap_owner *o;
    struct trap_family *f;
    struct bytes name;
    uint32_t tag = tag_of(p);
    bool known;

    if (!trap_form(r, p->host, p->url, &form))
        return;
    name = bytes_of(form.at, form.len);
    o = trap_owner_make(t, form.owner);
    f = trap_family_find(o, r, name);
    known =
        p->known_body || (r == TRAP_SESSION && trap_family_has_text(f, tag));
    if (f == NULL)
        f = trap_family_make(t, o, r, name);
    if (f == NULL)
        return;
    if (!known) {
        trap_family_add_text(t, f, tag);
        trap_family_restart(t, f);
    } else {
        trap_family_count(t, o, f, WHOLE);
    }
}

#define BODY_FORM 32

/* As in export's body_digest, which begins so. */
static struct bytes body_form(struct digest body, char out[BODY_FORM])
{
    int n = snprintf(out, BODY_FORM, "body %016" PRIx64, body.hi);

    return bytes_of(out, (size_t)n);
}

/* A page whose body others of its host had: it may lead to new URLs only by
 * relative links, and those URLs to the same body again. */
static void judge_spiral(struct trap_table *t, const struct trap_page *p)
{
    char text[BODY_FORM];
    struct bytes form = body_form(p->body, text);
    struct trap_owner *o;
    struct trap_family *f;

    if (!p->known_body || p->fresh_count == 0)
        return;
    o = trap_owner_make(t, p->host);
    f = trap_family_find(o, TRAP_SPIRAL, form);
    if (f == NULL)
        f = trap_family_make(t, o, TRAP_SPIRAL, form);
    if (f != NULL)
        trap_family_count(t, o, f, WHOLE);
}

void trap_table_page(struct trap_table *t, const struct trap_page *p)
{
    static const enum trap_rule by_links[] = {TRAP_COUNTER, TRAP_REPEAT,
                                              TRAP_GROWTH, TRAP_SUBDOMAIN};

    if ((p->body.hi | p->body.lo) == 0)
        return;
    for (size_t i = 0; i < sizeof by_links / sizeof *by_links; i++)
        if (t->o.threshold[by_links[i]] > 0)
            judge_links(t, by_links[i], p);
    if (t->o.threshold[TRAP_ORDER] > 0)
        judge_spelling(t, TRAP_ORDER, p);
    if (t->o.threshold[TRAP_SESSION] > 0)
        judge_spelling(t, TRAP_SESSION, p);
    if (t->o.threshold[TRAP_SAME_BODY] > 0)
        judge_body(t, p);
    if (t->o.threshold[TRAP_SPIRAL] > 0)
        judge_spiral(t, p);
}

/* ---- questions ---- */

bool trap_table_any(const struct trap_table *t)
{
    return t->traps > 0;
}

static const struct trap_family *trap_of(const struct trap_table *t,
                                         enum trap_rule r, struct bytes host,
                                         struct bytes url,
                                         struct trap_view *out)
{
    struct trap_form form;
    const struct trap_owner *o;
    const struct trap_family *f;

    if (t->o.threshold[r] == 0 || !trap_form(r, host, url, &form))
        return NULL;
    o = trap_owner_find(t, form.owner);
    if (o == NULL || o->traps == 0)
        return NULL;
    f = trap_family_find(o, r, bytes_of(form.at, form.len));
    if (f == NULL || !trap_family_is_trap(t, f))
        return NULL;
    *out = trap_family_view(o, f);
    return f;
}

bool trap_table_has(const struct trap_table *t, struct bytes host,
                    struct bytes url, struct trap_view *out)
{
    for (unsigned r = 0; t->traps > 0 && r < TRAP_SPIRAL; r++)
        if (trap_of(t, (enum trap_rule)r, host, url, out) != NULL)
            return true;
    return false;
}

static bool has_spelling(struct trap_table *t, enum trap_rule r,
                         struct bytes host, struct bytes url,
                         struct trap_view *out)
{
    struct buf text;
    bool known;

    if (trap_of(t, r, host, url, out) == NULL)
        return false;
    buf_init(&text, url.len + 64);
    trap_spelling(r, url, &text);
    known = trap_spelling_known(t, digest_bytes(t->o.key, buf_bytes(&text)).hi);
    buf_fini(&text);
    return known;
}

bool trap_table_has_new(struct trap_table *t, struct bytes host,
                        struct bytes url, bool known_host,
                        struct trap_view *out)
{
    if (t->traps == 0)
        return false;
    return trap_table_has(t, host, url, out) ||
           (!known_host &&
            trap_of(t, TRAP_SUBDOMAIN, host, url, out) != NULL) ||
           has_spelling(t, TRAP_ORDER, host, url, out) ||
           has_spelling(t, TRAP_SESSION, host, url, out);
}

bool trap_table_has_body(const struct trap_table *t, struct bytes host,
                         struct digest body, struct trap_view *out)
{
    const struct trap_owner *o = trap_owner_find(t, host);
    const struct trap_family *f;
    char text[BODY_FORM];

    if (o == NULL || o->traps == 0 || t->o.threshold[TRAP_SPIRAL] == 0)
        return false;
    f = trap_family_find(o, TRAP_SPIRAL, body_form(body, text));
    if (f == NULL || !trap_family_is_trap(t, f))
        return false;
    *out = trap_family_view(o, f);
    return true;
}

uint64_t trap_table_memory(const struct trap_table *t)
{
    return t->memory;
}
