/* SPDX-License-Identifier: MIT */
/*
 * trap_families.c - the families under suspicion, in memory and on disk.
 *
 * Families are in lists by owner, and there in chains by hash: to walk a list
 * takes as many cache misses as it has families. Owners are in a map and in a
 * list by their last use. A family is stored once it has STORE_LEAST pages,
 * since on most sites some pages of a pattern lead to more of it before one
 * leads elsewhere.
 */
#include "frontier/traps/trap_families.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/mem.h"
#include "storage/db/packed.h"

/* ---- what pages have shown, as far as a bounded memory goes ---- */

/*
 * A table without chains: a key has WAYS places side by side, in the order in
 * which their keys were noted or set last, and a new one pushes the last out.
 * So a lookup is one cache miss, and what a space shows on each page stays,
 * whatever passes by. (With two places, three such keys at one pair pushed each
 * other out for ever, and a space looked new without end.)
 */

#define ROOM_LEAST ((size_t)256) /* entries */
#define WAYS       ((size_t)8)   /* of a cache line */

struct entry {
    uint32_t check; /* the low half of the key, never 0; 0: free */
    uint32_t value;
};

struct trap_memory {
    struct entry *at; /* NULL: nothing is known yet */
    size_t room;      /* a power of two */
};

/* Takes at most `octets`, from the first trap_memory_set() on. */
static struct trap_memory *trap_memory_new(uint64_t octets)
{
    struct trap_memory *m = xcalloc(1, sizeof *m);

    m->room = ROOM_LEAST;
    while (2 * m->room * sizeof *m->at <= octets)
        m->room *= 2;
    return m;
}

/* NULL is fine */
static void trap_memory_free(struct trap_memory *m)
{
    if (m == NULL)
        return;
    free(m->at);
    free(m);
}

uint64_t trap_memory_octets(const struct trap_memory *m)
{
    return m->at != NULL ? m->room * sizeof *m->at : 0;
}

static uint32_t check_of(uint64_t key)
{
    uint32_t low = (uint32_t)key;

    return low != 0 ? low : 1;
}

static struct entry *place_of(const struct trap_memory *m, uint64_t key)
{
    return &m->at[(key >> 32 & (m->room - 1)) & ~(WAYS - 1)];
}

/* Which of its places the key has; WAYS: none. */
static size_t find(const struct entry *e, uint32_t check)
{
    size_t i = 0;

    while (i < WAYS && e[i].check != check)
        i++;
    return i;
}

bool trap_memory_get(const struct trap_memory *m, uint64_t key, uint32_t *out)
{
    const uint32_t check = check_of(key);
    const struct entry *e;
    size_t i;

    if (m->at == NULL)
        return false;
    e = place_of(m, key);
    i = find(e, check);
    if (i == WAYS)
        return false;
    *out = e[i].value;
    return true;
}

void trap_memory_set(struct trap_memory *m, uint64_t key, uint32_t value)
{
    const uint32_t check = check_of(key);
    struct entry *e;
    size_t i;

    if (m->at == NULL)
        m->at = xcalloc(m->room, sizeof *m->at);
    e = place_of(m, key);
    i = find(e, check);
    memmove(e + 1, e, (i < WAYS ? i : WAYS - 1) * sizeof *e);
    e[0] = (struct entry){check, value};
}

bool trap_memory_note(struct trap_memory *m, uint64_t key)
{
    uint32_t value = 0;
    bool known = trap_memory_get(m, key, &value);

    trap_memory_set(m, key, value); /* it is the latest now */
    return known;
}

/* ---- trap families ---- */

#define FAMILIES_MOST 64 /* of an owner */
#define STORE_LEAST   4  /* pages */
#define REMOVED_MOST  ((size_t)1 << 30)
#define SHOWN_SHARE   4 /* of the memory, for what pages have shown */

/* ---- owners ---- */

static struct bytes trap_owner_name(const struct trap_owner *o)
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
struct trap_owner *trap_owner_make(struct trap_table *t, struct bytes name)
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
    (void)map_remove(t->owners, trap_owner_name(o));
    t->memory -= sizeof *o + 2 * o->name_len + 64;
    free(o);
}

struct trap_owner *trap_owner_find(const struct trap_table *t,
                                   struct bytes name)
{
    return map_get(t->owners, name);
}

/* ---- families ---- */

static bool reaches(const struct trap_family *f, const uint32_t *threshold)
{
    uint32_t most = threshold[f->rule];

    return most > 0 && f->score >= (uint64_t)most * WHOLE;
}

bool trap_family_is_trap(const struct trap_table *t,
                         const struct trap_family *f)
{
    return reaches(f, t->o.threshold);
}

static uint64_t memory_of(const struct trap_family *f)
{
    return sizeof *f + f->form_len + f->tag_room * sizeof *f->tags + 32;
}

/* The forms of a host are alike to their ends, so few are compared. */
static uint32_t hash_of(struct bytes form)
{
    return (uint32_t)XXH3_64bits(form.at, form.len);
}

struct trap_family *trap_family_find(const struct trap_owner *o,
                                     enum trap_rule r, struct bytes form)
{
    struct trap_family *f;
    uint32_t hash;

    if (o == NULL || o->first == NULL)
        return NULL;
    hash = hash_of(form);
    for (f = o->chains[hash % TRAP_CHAINS_]; f != NULL; f = f->chained)
        if (f->hash == hash && f->rule == r &&
            bytes_equal(bytes_of(f->form, f->form_len), form))
            return f;
    return NULL;
}

/* Takes the family, which is no trap, out of the table. */
static void family_drop(struct trap_table *t, struct trap_owner *o,
                        struct trap_family *f)
{
    struct trap_family **at = &o->first;
    struct trap_family **chain = &o->chains[f->hash % TRAP_CHAINS_];

    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    while (*chain != f)
        chain = &(*chain)->chained;
    *chain = f->chained;
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
        if (!trap_family_is_trap(t, f) &&
            (least == NULL || f->score <= least->score))
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
struct trap_family *trap_family_make(struct trap_table *t, struct trap_owner *o,
                                     enum trap_rule r, struct bytes form)
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
    f->hash = hash_of(form);
    f->form_len = form.len;
    memcpy(f->form, form.at, form.len);
    f->next = o->first;
    o->first = f;
    f->chained = o->chains[f->hash % TRAP_CHAINS_];
    o->chains[f->hash % TRAP_CHAINS_] = f;
    o->count++;
    t->memory += memory_of(f);
    return f;
}

struct trap_view trap_family_view(const struct trap_owner *o,
                                  const struct trap_family *f)
{
    return (struct trap_view){(enum trap_rule)f->rule, trap_owner_name(o),
                              bytes_of(f->form, f->form_len), f->pages};
}

void trap_family_count(struct trap_table *t, struct trap_owner *o,
                       struct trap_family *f, uint64_t score)
{
    bool was = trap_family_is_trap(t, f);
    struct trap_view found;

    f->pages++;
    f->score += score;
    f->dirty = true;
    if (was || !trap_family_is_trap(t, f))
        return;
    o->traps++;
    t->traps++;
    found = trap_family_view(o, f);
    t->o.found(t->o.ctx, &found);
}

static void judge(struct trap_table *t, struct trap_owner *o,
                  struct trap_family *f, const uint32_t *before)
{
    struct trap_view found = trap_family_view(o, f);

    if (!trap_family_is_trap(t, f))
        return;
    o->traps++;
    t->traps++;
    if (!reaches(f, before))
        t->o.found(t->o.ctx, &found);
}

void trap_table_set(struct trap_table *t, const uint32_t threshold[TRAP_RULES_])
{
    const struct trap_options was = t->o;

    memcpy(t->o.threshold, threshold, sizeof t->o.threshold);
    t->traps = 0;
    for (struct trap_owner *o = t->oldest; o != NULL; o = o->newer) {
        o->traps = 0;
        for (struct trap_family *f = o->first; f != NULL; f = f->next)
            judge(t, o, f, was.threshold);
    }
}

/* A page brought something new. A trap stays one: what it still brings was
 * under way. */
void trap_family_clear(struct trap_table *t, struct trap_owner *o,
                       struct trap_family *f)
{
    if (f == NULL || trap_family_is_trap(t, f))
        return;
    family_drop(t, o, f);
    if (o->count == 0)
        owner_drop(t, o);
}

void trap_family_restart(struct trap_table *t, struct trap_family *f)
{
    if (trap_family_is_trap(t, f))
        return;
    f->score = 0;
    f->dirty = true;
}

/* ---- texts ---- */

static uint64_t shown_key(struct bytes owner, struct bytes form, uint64_t what)
{
    what += XXH3_64bits(owner.at, owner.len);
    return XXH3_64bits_withSeed(form.at, form.len, what);
}

bool trap_family_shown(struct trap_table *t, struct bytes owner,
                       struct bytes form, uint64_t what)
{
    return trap_memory_note(t->shown, shown_key(owner, form, what));
}

bool trap_family_has_shown(const struct trap_table *t, struct bytes owner,
                           struct bytes form, uint64_t what)
{
    uint32_t value;

    return trap_memory_get(t->shown, shown_key(owner, form, what), &value);
}

bool trap_family_has_text(const struct trap_family *f, uint32_t tag)
{
    for (unsigned i = 0; f != NULL && i < f->tag_count; i++)
        if (f->tags[i] == tag)
            return true;
    return false;
}

/* The latest TRAP_TAGS_MOST. */
void trap_family_add_text(struct trap_table *t, struct trap_family *f,
                          uint32_t tag)
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
                           .owner = trap_owner_name(o),
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
    o = trap_owner_make(t, row->owner);
    f = trap_family_make(t, o, (enum trap_rule)row->rule, row->form);
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
    for (size_t i = 0; i < tags && f->rule == TRAP_COMBINATION; i++)
        (void)trap_family_shown(t, row->owner, row->form, f->tags[i]);
    f->tag_count = f->tag_room = (uint16_t)tags;
    t->memory += memory_of(f);
    o->traps += trap_family_is_trap(t, f);
    t->traps += trap_family_is_trap(t, f);
}

enum status trap_table_open(struct trap_table **out, struct trap_store *store,
                            const struct trap_options *o)
{
    struct trap_table *t = xcalloc(1, sizeof *t);
    enum status st;

    t->o = *o;
    t->store = store;
    t->shown = trap_memory_new(o->memory / SHOWN_SHARE);
    t->o.memory -= o->memory / SHOWN_SHARE;
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
    trap_memory_free(t->shown);
    buf_fini(&t->removed);
    free(t);
}
