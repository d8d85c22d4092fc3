/* SPDX-License-Identifier: MIT */
/*
 * trap_table.c - which families of URLs are traps, by what their pages bring.
 *
 * The score of a family is counted in 32nds of a page. A page that leads only
 * to more of its family counts 32 if a page of the family had its text before,
 * and 1 if its text is new: a page may hold a token, or a quotation of the day,
 * that makes it new each time. The table compares digests of texts; a distance
 * of texts (near-duplicates) would be asked in has_text().
 *
 * Families are in lists by owner, owners in a map and in a list by their last
 * use. A family is stored once it has STORE_LEAST pages, since on most sites
 * some pages of a pattern lead to more of it before one leads elsewhere.
 */
#include "frontier/traps/trap_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "storage/db/packed.h"

#define WHOLE         32 /* what a page without new text counts */
#define FAMILIES_MOST 64 /* of an owner */
#define STORE_LEAST   4  /* pages */
#define REMOVED_MOST  ((size_t)1 << 30)

struct trap_family {
    struct trap_family *next; /* of its owner */
    uint64_t id;              /* of its row; 0: not stored */
    uint64_t pages, score, body;
    uint32_t *tags;
    uint16_t tag_count, tag_room;
    uint8_t rule;
    bool dirty;
    size_t form_len;
    char form[];
};

struct trap_owner {
    struct trap_owner *older, *newer; /* by last use */
    struct trap_family *first;
    unsigned count, traps;
    bool touched; /* since the last flush */
    size_t name_len;
    char name[];
};

struct trap_table {
    struct trap_options o;
    struct trap_store *store;
    struct map *owners; /* name -> struct trap_owner */
    struct trap_owner *oldest, *newest;
    uint64_t memory, last_id;
    size_t traps;
    struct buf removed; /* ids of rows to delete, uint64_t */
};

/* ---- owners ---- */

static struct bytes name_of(const struct trap_owner *o)
{
    return bytes_of(o->name, o->name_len);
}

static void unlink_owner(struct trap_table *t, struct trap_owner *o)
{
    *(o->older != NULL ? &o->older->newer : &t->oldest) = o->newer;
    *(o->newer != NULL ? &o->newer->older : &t->newest) = o->older;
}

static void link_newest(struct trap_table *t, struct trap_owner *o)
{
    o->older = t->newest;
    o->newer = NULL;
    *(t->newest != NULL ? &t->newest->newer : &t->oldest) = o;
    t->newest = o;
}

/* The owner becomes the newest, and is looked at by the next flush. */
static struct trap_owner *owner_make(struct trap_table *t, struct bytes name)
{
    struct trap_owner *o = map_get(t->owners, name);

    if (o != NULL) {
        unlink_owner(t, o);
        link_newest(t, o);
        o->touched = true;
        return o;
    }
    o = xcalloc(1, sizeof *o + name.len);
    o->name_len = name.len;
    memcpy(o->name, name.at, name.len);
    (void)map_put(t->owners, name, o);
    t->memory += sizeof *o + 2 * name.len + 64; /* and its place in the map */
    link_newest(t, o);
    o->touched = true;
    return o;
}

static void owner_drop(struct trap_table *t, struct trap_owner *o)
{
    unlink_owner(t, o);
    (void)map_remove(t->owners, name_of(o));
    t->memory -= sizeof *o + 2 * o->name_len + 64;
    free(o);
}

/* ---- families ---- */

static bool is_trap(const struct trap_table *t, const struct trap_family *f)
{
    uint32_t most = t->o.threshold[f->rule];

    return most > 0 && f->score >= (uint64_t)most * WHOLE;
}

static uint64_t memory_of(const struct trap_family *f)
{
    return sizeof *f + f->form_len + f->tag_room * sizeof *f->tags + 32;
}

static struct trap_family *family_find(const struct trap_owner *o,
                                       enum trap_rule r, struct bytes form)
{
    for (struct trap_family *f = o != NULL ? o->first : NULL; f != NULL;
         f = f->next)
        if (f->rule == r && bytes_equal(bytes_of(f->form, f->form_len), form))
            return f;
    return NULL;
}

/* Takes the family, which is no trap, out of the table. */
static void family_drop(struct trap_table *t, struct trap_owner *o,
                        struct trap_family *f)
{
    struct trap_family **at = &o->first;

    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    o->count--;
    if (f->id != 0)
        buf_add(&t->removed, &f->id, sizeof f->id);
    t->memory -= memory_of(f);
    free(f->tags);
    free(f);
}

/* The family of the owner with the least score that is no trap; NULL: all are
 * traps. */
static struct trap_family *least_suspicious(const struct trap_table *t,
                                            const struct trap_owner *o)
{
    struct trap_family *least = NULL;

    for (struct trap_family *f = o->first; f != NULL; f = f->next)
        if (!is_trap(t, f) && (least == NULL || f->score <= least->score))
            least = f;
    return least;
}

/* Forgets the families of owners that were not used for longest. */
static bool make_room(struct trap_table *t, const struct trap_owner *keep)
{
    struct trap_owner *o = t->oldest;

    while (t->memory > t->o.memory && o != NULL) {
        struct trap_owner *next = o->newer;

        if (o != keep && o->traps == 0) {
            while (o->first != NULL)
                family_drop(t, o, o->first);
            owner_drop(t, o);
        }
        o = next;
    }
    return t->memory <= t->o.memory;
}

/* NULL: there is no room. */
static struct trap_family *family_make(struct trap_table *t,
                                       struct trap_owner *o, enum trap_rule r,
                                       struct bytes form)
{
    struct trap_family *f;

    if (!make_room(t, o))
        return NULL;
    if (o->count >= FAMILIES_MOST) {
        f = least_suspicious(t, o);
        if (f == NULL)
            return NULL;
        family_drop(t, o, f);
    }
    f = xcalloc(1, sizeof *f + form.len);
    f->rule = (uint8_t)r;
    f->form_len = form.len;
    memcpy(f->form, form.at, form.len);
    f->next = o->first;
    o->first = f;
    o->count++;
    t->memory += memory_of(f);
    return f;
}

static struct trap_view view_of(const struct trap_owner *o,
                                const struct trap_family *f)
{
    return (struct trap_view){(enum trap_rule)f->rule, name_of(o),
                              bytes_of(f->form, f->form_len), f->pages};
}

static void count(struct trap_table *t, struct trap_owner *o,
                  struct trap_family *f, uint64_t score)
{
    bool was = is_trap(t, f);
    struct trap_view found;

    f->pages++;
    f->score += score;
    f->dirty = true;
    if (was || !is_trap(t, f))
        return;
    o->traps++;
    t->traps++;
    found = view_of(o, f);
    t->o.found(t->o.ctx, &found);
}

/* A page brought something new. A trap stays one: what it still brings was
 * under way. */
static void clear(struct trap_table *t, struct trap_owner *o,
                  struct trap_family *f)
{
    if (f == NULL || is_trap(t, f))
        return;
    family_drop(t, o, f);
    if (o->count == 0)
        owner_drop(t, o);
}

/* ---- texts ---- */

static uint32_t tag_of(const struct trap_page *p)
{
    return (uint32_t)((p->text != 0 ? p->text : p->body.hi) >> 32);
}

static bool has_text(const struct trap_family *f, uint32_t tag)
{
    for (unsigned i = 0; f != NULL && i < f->tag_count; i++)
        if (f->tags[i] == tag)
            return true;
    return false;
}

/* The latest TRAP_TAGS_MOST. */
static void add_text(struct trap_table *t, struct trap_family *f, uint32_t tag)
{
    if (f->tag_count == TRAP_TAGS_MOST) {
        f->tags[f->pages % TRAP_TAGS_MOST] = tag;
        return;
    }
    if (f->tag_count == f->tag_room) {
        t->memory -= memory_of(f);
        f->tag_room = f->tag_room == 0 ? 4 : (uint16_t)(2 * f->tag_room);
        f->tags = xrealloc(f->tags, f->tag_room * sizeof *f->tags);
        t->memory += memory_of(f);
    }
    f->tags[f->tag_count++] = tag;
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
    o = map_get(t->owners, form.owner);
    f = family_find(o, r, name);
    known = has_text(f, tag_of(p));
    if (!brings_only(r, &form, p) || (p->fresh_count == 0 && !known)) {
        clear(t, o, f);
        return;
    }
    if (p->fresh_count == 0)
        return; /* it feeds nothing, and says nothing new */
    o = owner_make(t, form.owner);
    if (f == NULL)
        f = family_make(t, o, r, name);
    if (f == NULL)
        return;
    if (!known)
        add_text(t, f, tag_of(p));
    count(t, o, f, known ? WHOLE : 1);
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
    o = map_get(t->owners, form.owner);
    f = family_find(o, TRAP_SAME_BODY, name);
    if (f != NULL && f->body != p->body.hi) {
        clear(t, o, f);
        return;
    }
    if (f == NULL && !p->known_body)
        return;
    o = owner_make(t, form.owner);
    if (f == NULL)
        f = family_make(t, o, TRAP_SAME_BODY, name);
    if (f == NULL)
        return;
    f->body = p->body.hi;
    count(t, o, f, WHOLE);
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
    o = owner_make(t, p->host);
    f = family_find(o, TRAP_SPIRAL, form);
    if (f == NULL)
        f = family_make(t, o, TRAP_SPIRAL, form);
    if (f != NULL)
        count(t, o, f, WHOLE);
}

void trap_table_page(struct trap_table *t, const struct trap_page *p)
{
    static const enum trap_rule by_links[] = {TRAP_COUNTER, TRAP_REPEAT,
                                              TRAP_GROWTH};

    if ((p->body.hi | p->body.lo) == 0)
        return;
    for (size_t i = 0; i < sizeof by_links / sizeof *by_links; i++)
        if (t->o.threshold[by_links[i]] > 0)
            judge_links(t, by_links[i], p);
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

bool trap_table_has(const struct trap_table *t, struct bytes host,
                    struct bytes url, struct trap_view *out)
{
    struct trap_form form;

    for (unsigned r = 0; t->traps > 0 && r < TRAP_RULES_; r++) {
        const struct trap_owner *o;
        const struct trap_family *f;

        if (t->o.threshold[r] == 0 ||
            !trap_form((enum trap_rule)r, host, url, &form))
            continue;
        o = map_get(t->owners, form.owner);
        if (o == NULL || o->traps == 0)
            continue;
        f = family_find(o, (enum trap_rule)r, bytes_of(form.at, form.len));
        if (f != NULL && is_trap(t, f)) {
            *out = view_of(o, f);
            return true;
        }
    }
    return false;
}

bool trap_table_has_body(const struct trap_table *t, struct bytes host,
                         struct digest body, struct trap_view *out)
{
    const struct trap_owner *o = map_get(t->owners, host);
    const struct trap_family *f;
    char text[BODY_FORM];

    if (o == NULL || o->traps == 0 || t->o.threshold[TRAP_SPIRAL] == 0)
        return false;
    f = family_find(o, TRAP_SPIRAL, body_form(body, text));
    if (f == NULL || !is_trap(t, f))
        return false;
    *out = view_of(o, f);
    return true;
}

uint64_t trap_table_memory(const struct trap_table *t)
{
    return t->memory;
}

/* ---- on disk ---- */

static enum status write_family(struct trap_table *t, struct trap_owner *o,
                                struct trap_family *f)
{
    unsigned char tags[TRAP_TAGS_MOST * TRAP_TAG_SIZE];

    if (!f->dirty || f->pages < STORE_LEAST)
        return STATUS_OK;
    f->dirty = false;
    if (f->id == 0)
        f->id = ++t->last_id;
    for (size_t i = 0; i < f->tag_count; i++)
        packed_put(tags + i * TRAP_TAG_SIZE, f->tags[i], TRAP_TAG_SIZE);
    return trap_store_set(
        t->store,
        &(struct trap_row){.id = f->id,
                           .rule = f->rule,
                           .owner = name_of(o),
                           .form = bytes_of(f->form, f->form_len),
                           .pages = f->pages,
                           .score = f->score,
                           .body = f->body,
                           .tags =
                               bytes_of(tags, f->tag_count * TRAP_TAG_SIZE)});
}

static enum status delete_removed(struct trap_table *t)
{
    enum status st = buf_failed(&t->removed);
    struct bytes ids = buf_bytes(&t->removed);

    for (; st == STATUS_OK && ids.len > 0;
         ids = bytes_skip(ids, sizeof(uint64_t))) {
        uint64_t id;

        memcpy(&id, ids.at, sizeof id);
        st = trap_store_remove(t->store, id);
    }
    buf_clear(&t->removed);
    return st;
}

enum status trap_table_flush(struct trap_table *t)
{
    enum status st = delete_removed(t);

    /* Those that were used since are the newest. */
    for (struct trap_owner *o = t->newest;
         st == STATUS_OK && o != NULL && o->touched; o = o->older) {
        for (struct trap_family *f = o->first; st == STATUS_OK && f != NULL;
             f = f->next)
            st = write_family(t, o, f);
        o->touched = false;
    }
    return st;
}

static void take_row(void *ctx, const struct trap_row *row)
{
    struct trap_table *t = ctx;
    struct trap_owner *o;
    struct trap_family *f;
    size_t tags = row->tags.len / TRAP_TAG_SIZE;

    if (t->last_id < row->id)
        t->last_id = row->id;
    if (row->rule >= TRAP_RULES_)
        return; /* of a later release */
    o = owner_make(t, row->owner);
    f = family_make(t, o, (enum trap_rule)row->rule, row->form);
    if (f == NULL)
        return; /* less memory than before */
    f->id = row->id;
    f->pages = row->pages;
    f->score = row->score;
    f->body = row->body;
    t->memory -= memory_of(f);
    f->tags = xmalloc(tags * sizeof *f->tags + 1);
    for (size_t i = 0; i < tags; i++)
        f->tags[i] = (uint32_t)packed_get((const unsigned char *)row->tags.at +
                                              i * TRAP_TAG_SIZE,
                                          TRAP_TAG_SIZE);
    f->tag_count = f->tag_room = (uint16_t)tags;
    t->memory += memory_of(f);
    o->traps += is_trap(t, f);
    t->traps += is_trap(t, f);
}

enum status trap_table_open(struct trap_table **out, struct trap_store *store,
                            const struct trap_options *o)
{
    struct trap_table *t = xcalloc(1, sizeof *t);
    enum status st;

    t->o = *o;
    t->store = store;
    t->owners = map_new();
    buf_init(&t->removed, REMOVED_MOST);
    st = trap_store_each(store, take_row, t);
    if (st != STATUS_OK) {
        trap_table_close(t);
        return st;
    }
    *out = t;
    return STATUS_OK;
}

void trap_table_close(struct trap_table *t)
{
    if (t == NULL)
        return;
    for (struct trap_owner *o = t->oldest, *next; o != NULL; o = next) {
        for (struct trap_family *f = o->first, *after; f != NULL; f = after) {
            after = f->next;
            free(f->tags);
            free(f);
        }
        next = o->newer;
        free(o);
    }
    map_free(t->owners, NULL);
    buf_fini(&t->removed);
    free(t);
}
