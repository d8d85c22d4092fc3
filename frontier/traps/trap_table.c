/* SPDX-License-Identifier: MIT */
/*
 * trap_table.c - which families of URLs are traps, by what their pages bring.
 *
 * The score of a family is counted in 32nds of a page. A page that leads only
 * to more of its family counts 32 if a page of the family had its text before,
 * and 1 if its text is new: a page may hold a token, or a quotation of the day,
 * that makes it new each time. If it also leads to pages of another family that
 * repeats itself, such as the days of a month, it counts TOGETHER, and as much
 * for each of these: so an archive by date, whose pages differ in words
 * somewhere, has some 640 pages to show one. Digests of texts are compared; a
 * distance of texts (near-duplicates) would be asked where
 * trap_family_has_text() is.
 */
#include "frontier/traps/trap_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "frontier/traps/trap_families.h"

#define ALIKE_LEAST 20 /* pages */
#define TOGETHER    10 /* of a page of two families that feed each other */

static uint32_t tag_of(const struct trap_page *p)
{
    return (uint32_t)((p->text != NULL && p->text->tag != 0 ? p->text->tag
                                                            : p->body.hi) >>
                      32);
}

static bool is_without_own(const struct trap_page *p)
{
    return p->text != NULL && p->text->without_own;
}

static bool is_trap(const struct trap_table *t, enum trap_rule r,
                    const struct trap_form *form, struct trap_view *out)
{
    const struct trap_owner *o;
    const struct trap_family *f;

    if (t->o.threshold[r] == 0)
        return false;
    o = trap_owner_find(t, form->owner);
    if (o == NULL || o->traps == 0)
        return false;
    f = trap_family_find(o, r, bytes_of(form->at, form->len));
    if (f == NULL || !trap_family_is_trap(t, f))
        return false;
    *out = trap_family_view(o, f);
    return true;
}

static bool is_root(const struct trap_form *form)
{
    return trap_form_is_root(bytes_of(form->at, form->len));
}

/* Has the space `form` shown this before? It has then. */
static bool was_shown(struct trap_table *t, const struct trap_form *form,
                      uint64_t what)
{
    return trap_family_shown(t, form->owner, bytes_of(form->at, form->len),
                             what);
}

/* ---- evidence ---- */

/* How many pages of a family in a row had a text that is known, wherever they
 * lead, is kept with what it has shown: so two families that lead to each other
 * are told. */
static uint64_t alike_key(const struct trap_form *form)
{
    return XXH3_64bits_withSeed(form->at, form->len,
                                ~XXH3_64bits(form->owner.at, form->owner.len));
}

static void count_alike(struct trap_table *t, const struct trap_form *form,
                        bool known)
{
    uint32_t alike = 0;
    bool counted = trap_memory_get(t->shown, alike_key(form), &alike);

    if (known ? alike < ALIKE_LEAST : counted)
        trap_memory_set(t->shown, alike_key(form), known ? alike + 1 : 0);
}

static bool repeats_itself(const struct trap_table *t, enum trap_rule r,
                           const struct trap_form *form)
{
    uint32_t alike;

    return r == TRAP_COUNTER &&
           trap_memory_get(t->shown, alike_key(form), &alike) &&
           alike >= ALIKE_LEAST;
}

/* Are all new URLs of the page of its own family, or of families that repeat
 * themselves? *others: how many are of these. */
static bool brings_only(const struct trap_table *t, enum trap_rule r,
                        const struct trap_form *form, const struct trap_page *p,
                        uint64_t *others)
{
    struct trap_form other;

    *others = 0;
    for (size_t i = 0; i < p->fresh_count; i++) {
        if (!trap_form(r, p->fresh[i].host, p->fresh[i].url, &other))
            return false;
        if (trap_form_equal(form, &other))
            continue;
        if (!repeats_itself(t, r, &other))
            return false;
        (*others)++;
    }
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
    uint64_t others;
    bool known;

    if (!trap_form(r, p->host, p->url, &form))
        return;
    name = bytes_of(form.at, form.len);
    o = trap_owner_find(t, form.owner);
    f = trap_family_find(o, r, name);
    known = trap_family_has_text(f, tag_of(p));
    if (r == TRAP_COUNTER) {
        known |= was_shown(t, &form, tag_of(p));
        count_alike(t, &form, known);
    }
    if (!brings_only(t, r, &form, p, &others) ||
        (!known && (others > 0 || p->fresh_count == 0))) {
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
    if (!trap_family_has_text(f, tag_of(p)))
        trap_family_add_text(t, f, tag_of(p));
    if (others > 0)
        trap_family_count(t, o, f, TOGETHER * (1 + others));
    else
        trap_family_count(t, o, f, known ? WHOLE : 1);
}

/* Had an earlier page of the host this body? */
static bool is_known_body(struct trap_table *t, const struct trap_page *p)
{
    uint64_t key = XXH3_64bits_withSeed(p->host.at, p->host.len, p->body.hi);

    return trap_memory_note(t->shown, key) || p->known_body;
}

/* A page of a pattern whose bodies may be all the same, apart from their own
 * addresses. If it leads to new URLs it says nothing: they may begin with its
 * address too. */
static void judge_body(struct trap_table *t, const struct trap_page *p)
{
    bool known = is_known_body(t, p);
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
    if (p->fresh_count > 0 || (f == NULL && !known))
        return;
    o = trap_owner_make(t, form.owner);
    if (f == NULL)
        f = trap_family_make(t, o, TRAP_SAME_BODY, name);
    if (f == NULL)
        return;
    f->body = p->body.hi;
    trap_family_count(t, o, f, WHOLE);
}

/* ---- spellings ---- */

/* The URL that stands for all spellings of a page is kept beside the text that
 * it had. */
#define OWNER_OF UINT64_C(0x9e3779b97f4a7c15)

static uint32_t owner_tag(struct bytes url)
{
    return (uint32_t)XXH3_64bits(url.at, url.len);
}

/* Does another URL stand for this page? If none does, this one will. */
static bool has_other_owner(struct trap_table *t, uint64_t spelling,
                            struct bytes url)
{
    uint32_t owner, own = owner_tag(url);

    if (trap_memory_get(t->shown, spelling ^ OWNER_OF, &owner))
        return owner != own;
    trap_memory_set(t->shown, spelling ^ OWNER_OF, own);
    return false;
}

/* The segments of a page that leads on to more of them may be filters. Others
 * are none: their order tells pages apart. */
static void note_filters(struct trap_table *t, const struct trap_form *form,
                         struct bytes url)
{
    uint64_t part[TRAP_PARTS_MOST];
    size_t parts = trap_parts(url, is_root(form), part);

    for (size_t i = 0; i < parts; i++)
        (void)was_shown(t, form, ~part[i]);
}

static bool has_only_filters(const struct trap_table *t,
                             const struct trap_view *space, struct bytes url)
{
    uint64_t part[TRAP_PARTS_MOST];
    size_t parts = trap_parts(url, trap_form_is_root(space->form), part);

    for (size_t i = 0; i < parts; i++)
        if (!trap_family_has_shown(t, space->owner, space->form, ~part[i]))
            return false;
    return true;
}

/* A page that may be another one under another spelling: it counts if that one
 * had its text. A page of a spelling that is new says nothing. */
static void judge_spelling(struct trap_table *t, enum trap_rule r,
                           const struct trap_page *p)
{
    struct trap_form form;
    struct trap_owner *o;
    struct trap_family *f;
    struct bytes name;
    uint64_t spelling;
    uint32_t text;

    if (!trap_form(r, p->host, p->url, &form))
        return;
    if (trap_is_path(p->url)) {
        if (!is_without_own(p))
            return; /* it does not lead on */
        note_filters(t, &form, p->url);
    }
    spelling = trap_spelling(r, p->url, false);
    (void)has_other_owner(t, spelling, p->url);
    if (!trap_memory_get(t->shown, spelling, &text)) {
        trap_memory_set(t->shown, spelling, tag_of(p));
        return;
    }
    name = bytes_of(form.at, form.len);
    f = trap_family_find(trap_owner_find(t, form.owner), r, name);
    if (text != tag_of(p)) {
        if (f != NULL && (is_without_own(p) || r == TRAP_SESSION))
            trap_family_restart(t, f);
        return; /* it may differ in its own address alone */
    }
    o = trap_owner_make(t, form.owner);
    if (f == NULL)
        f = trap_family_make(t, o, r, name);
    if (f != NULL)
        trap_family_count(t, o, f, WHOLE);
}

/* Which first segment the page of a spelling had. */
#define FIRST_OF UINT64_C(0xc2b2ae3d27d4eb4f)

/* The same of a path whose first segment may be a filter too. A host has paths
 * of all kinds below its root, so only those segments are filters of which a
 * page with another one at its front had the text. */
static void judge_root(struct trap_table *t, const struct trap_page *p)
{
    uint32_t text, first, own = trap_first(p->url);
    struct trap_form form;
    struct trap_owner *o;
    struct trap_family *f;
    struct bytes name;
    uint64_t spelling;

    if (!is_without_own(p) || !trap_form_root(p->host, p->url, &form))
        return;
    spelling = trap_spelling(TRAP_ORDER, p->url, true);
    (void)has_other_owner(t, spelling, p->url);
    if (!trap_memory_get(t->shown, spelling, &text) ||
        !trap_memory_get(t->shown, spelling ^ FIRST_OF, &first)) {
        trap_memory_set(t->shown, spelling, tag_of(p));
        trap_memory_set(t->shown, spelling ^ FIRST_OF, own);
        return;
    }
    if (first == own)
        return; /* of the family below it */
    name = bytes_of(form.at, form.len);
    f = trap_family_find(trap_owner_find(t, form.owner), TRAP_ORDER, name);
    if (text != tag_of(p)) {
        if (f != NULL)
            trap_family_restart(t, f);
        return;
    }
    note_filters(t, &form, p->url);
    o = trap_owner_make(t, form.owner);
    if (f == NULL)
        f = trap_family_make(t, o, TRAP_ORDER, name);
    if (f != NULL)
        trap_family_count(t, o, f, WHOLE);
}

/* ---- combinations ---- */

/* Has the page a parameter or a piece of text that its space has not shown? */
static bool shows_something(struct trap_table *t, const struct trap_form *form,
                            const struct trap_page *p, struct trap_family *f)
{
    uint64_t part[TRAP_PARTS_MOST];
    size_t parts = trap_parts(p->url, is_root(form), part);
    bool any = false;

    for (size_t i = 0; i < parts; i++)
        any |= !was_shown(t, form, part[i]);
    for (size_t i = 0; p->text != NULL && i < p->text->pieces; i++) {
        if (was_shown(t, form, p->text->piece[i]))
            continue;
        any = true;
        if (f != NULL)
            trap_family_add_text(t, f, p->text->piece[i]);
    }
    return any;
}

/* Has the page a new link out of the space? Of filters in a path, the space is
 * what continues the path. */
static bool leads_elsewhere(const struct trap_table *t,
                            const struct trap_form *form,
                            const struct trap_page *p)
{
    uint64_t others;

    if (!trap_is_path(p->url))
        return !brings_only(t, TRAP_COMBINATION, form, p, &others);
    for (size_t i = 0; i < p->fresh_count; i++)
        if (!trap_continues(p->url, p->fresh[i].url))
            return true;
    return false;
}

/* A page of a path whose parameters have been told to come in any order and
 * number: is this only one combination more of what is known? */
static void judge_space(struct trap_table *t, const struct trap_form *form,
                        const struct trap_page *p)
{
    struct bytes name = bytes_of(form->at, form->len);
    struct trap_family *f = trap_family_find(trap_owner_find(t, form->owner),
                                             TRAP_COMBINATION, name);
    bool new = shows_something(t, form, p, f) || leads_elsewhere(t, form, p);
    struct trap_view orders;
    struct trap_owner *o;

    if (new &&f != NULL)
        trap_family_restart(t, f);
    if (new || !is_without_own(p) || !is_trap(t, TRAP_ORDER, form, &orders))
        return;
    o = trap_owner_make(t, form->owner);
    if (f == NULL)
        f = trap_family_make(t, o, TRAP_COMBINATION, name);
    if (f != NULL)
        trap_family_count(t, o, f, WHOLE);
}

static void judge_combination(struct trap_table *t, const struct trap_page *p)
{
    struct trap_view orders;
    struct trap_form form;

    if (trap_is_path(p->url) && !is_without_own(p))
        return;
    if (trap_form(TRAP_COMBINATION, p->host, p->url, &form))
        judge_space(t, &form, p);
    if (trap_form_root(p->host, p->url, &form) &&
        is_trap(t, TRAP_ORDER, &form, &orders) &&
        has_only_filters(t, &orders, p->url))
        judge_space(t, &form, p);
}

/* ---- bodies ---- */

#define BODY_FORM 32

/* As in export's body_digest, which begins so. */
static struct bytes body_form(struct digest body, char out[BODY_FORM])
{
    int n = snprintf(out, BODY_FORM, "body %016" PRIx64, body.hi);

    return bytes_of(out, (size_t)n);
}

#define ABOVE_MOST 8 /* directories */

/* Had a page in a directory above this body? *own: the key of this one. */
static bool is_body_above(const struct trap_table *t, const struct trap_page *p,
                          uint64_t *own)
{
    const char *path = memmem(p->url.at, p->url.len, "://", 3);
    size_t len = p->url.len;
    size_t begin = path != NULL ? (size_t)(path + 3 - p->url.at) : 0;
    const char *mark = memchr(p->url.at, '?', p->url.len);
    uint32_t value;
    bool above = false;

    if (mark != NULL)
        len = (size_t)(mark - p->url.at);
    for (unsigned up = 0; up <= ABOVE_MOST; up++) {
        uint64_t key;

        while (len > begin && p->url.at[len - 1] != '/')
            len--;
        if (len == begin)
            break;
        key = XXH3_64bits_withSeed(p->url.at, len, p->body.lo);
        if (up == 0)
            *own = key;
        else
            above |= trap_memory_get(t->shown, key, &value);
        len--;
    }
    return above;
}

/* A page that has the body of one above it, apart from its own address: that
 * one's relative links, or such that continue its address, led to it. Pages
 * side by side are none: the months of an archive may differ in the addresses
 * of their days alone. */
static void judge_spiral(struct trap_table *t, const struct trap_page *p)
{
    char text[BODY_FORM];
    struct bytes form = body_form(p->body, text);
    struct trap_owner *o;
    struct trap_family *f;
    uint64_t own = 0;
    bool above;

    if (p->fresh_count == 0)
        return;
    above = is_body_above(t, p, &own);
    (void)trap_memory_note(t->shown, own);
    if (!above)
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
    if (t->o.threshold[TRAP_ORDER] > 0) {
        judge_spelling(t, TRAP_ORDER, p);
        judge_root(t, p);
    }
    if (t->o.threshold[TRAP_SESSION] > 0)
        judge_spelling(t, TRAP_SESSION, p);
    if (t->o.threshold[TRAP_COMBINATION] > 0)
        judge_combination(t, p);
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

static bool is_of_family(const struct trap_table *t, enum trap_rule r,
                         struct bytes host, struct bytes url,
                         struct trap_view *out)
{
    struct trap_form form;

    return t->o.threshold[r] > 0 && trap_form(r, host, url, &form) &&
           is_trap(t, r, &form, out) &&
           ((r != TRAP_ORDER && r != TRAP_COMBINATION) || !trap_is_path(url) ||
            has_only_filters(t, out, url));
}

static bool is_of_root(const struct trap_table *t, enum trap_rule r,
                       struct bytes host, struct bytes url,
                       struct trap_view *out)
{
    struct trap_form form;

    return (r == TRAP_ORDER || r == TRAP_COMBINATION) &&
           trap_form_root(host, url, &form) && is_trap(t, r, &form, out) &&
           has_only_filters(t, out, url);
}

static bool is_of_trap(const struct trap_table *t, enum trap_rule r,
                       struct bytes host, struct bytes url,
                       struct trap_view *out)
{
    return is_of_family(t, r, host, url, out) ||
           is_of_root(t, r, host, url, out);
}

static bool is_spelling(struct trap_table *t, enum trap_rule r,
                        struct bytes host, struct bytes url,
                        struct trap_view *out)
{
    return (is_of_family(t, r, host, url, out) &&
            has_other_owner(t, trap_spelling(r, url, false), url)) ||
           (is_of_root(t, r, host, url, out) &&
            has_other_owner(t, trap_spelling(r, url, true), url));
}

/* Those that keep all URLs of a form out first. */
static const enum trap_rule in_order[] = {TRAP_COUNTER,     TRAP_REPEAT,
                                          TRAP_GROWTH,      TRAP_SAME_BODY,
                                          TRAP_COMBINATION, TRAP_ORDER,
                                          TRAP_SESSION,     TRAP_SUBDOMAIN};

bool trap_table_has(struct trap_table *t, struct bytes host, struct bytes url,
                    struct trap_view *out)
{
    if (t->traps == 0)
        return false;
    for (size_t i = 0; in_order[i] != TRAP_ORDER; i++)
        if (is_of_trap(t, in_order[i], host, url, out))
            return true;
    return is_spelling(t, TRAP_ORDER, host, url, out) ||
           is_spelling(t, TRAP_SESSION, host, url, out);
}

bool trap_table_has_new(struct trap_table *t, struct bytes host,
                        struct bytes url, bool known_host,
                        struct trap_view *out)
{
    return t->traps > 0 &&
           (trap_table_has(t, host, url, out) ||
            (!known_host && is_of_family(t, TRAP_SUBDOMAIN, host, url, out)));
}

bool trap_table_explain(const struct trap_table *t, struct bytes host,
                        struct bytes url, struct trap_view *out)
{
    for (size_t i = 0; t->traps > 0 && i < sizeof in_order / sizeof *in_order;
         i++)
        if (is_of_trap(t, in_order[i], host, url, out))
            return true;
    return false;
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

bool trap_table_has_spiral(const struct trap_table *t, struct bytes host,
                           struct trap_view *out)
{
    const struct trap_owner *o = trap_owner_find(t, host);

    for (const struct trap_family *f = o != NULL ? o->first : NULL; f != NULL;
         f = f->next)
        if (f->rule == TRAP_SPIRAL && trap_family_is_trap(t, f)) {
            *out = trap_family_view(o, f);
            return true;
        }
    return false;
}

uint64_t trap_table_memory(const struct trap_table *t)
{
    return t->memory + trap_memory_octets(t->shown);
}
