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
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/mem.h"
#include "frontier/traps/trap_table.h"
#include "storage/db/db_row.h"
#include "storage/db/packed.h"

#define WHOLE        32 /* what a page without new text counts */
#define TRAP_CHAINS_ 8  /* of an owner; a family is in one by its hash */

struct trap_family {
    struct trap_family *next;    /* of its owner */
    struct trap_family *chained; /* of its owner, whose hashes are alike */
    uint64_t id;                 /* of its row; 0: not stored */
    uint64_t pages, score, body;
    uint32_t *tags;
    uint16_t tag_count, tag_room;
    uint8_t rule;
    bool dirty;
    uint32_t hash; /* of the form */
    size_t form_len;
    char form[];
};

struct trap_owner {
    struct trap_owner *older, *newer; /* by last use */
    struct trap_family *first;
    struct trap_family *chains[TRAP_CHAINS_];
    unsigned count, traps;
    bool touched; /* since the last flush */
    size_t name_len;
    char name[];
};

struct trap_table {
    struct trap_options o;
    struct db *db;
    struct map *owners; /* name -> struct trap_owner */
    struct trap_owner *oldest, *newest;
    uint64_t memory, last_id;
    size_t traps;
    struct buf removed; /* ids of rows to delete, uint64_t */
    struct trap_memory *shown;
};

/*
 * The families under suspicion, in memory and on disk.
 *
 * Families are in lists by owner, and there in chains by hash: to walk a list
 * takes as many cache misses as it has families. Owners are in a map and in a
 * list by their last use. A family is stored once it has STORE_LEAST pages,
 * since on most sites some pages of a pattern lead to more of it before one
 * leads elsewhere.
 */

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

/*
 * A cache from 64-bit digests to 32-bit values: which text the page of a
 * spelling had, which URL stands for it, which pieces of text and which
 * parameters a space has shown. An entry may be replaced by another at any
 * time, and nothing of it is on disk: what is forgotten looks new again, which
 * costs requests and no URL. One thread.
 */
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

static uint64_t trap_memory_octets(const struct trap_memory *m)
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

/* False: `key` is not known (any more). */
static bool trap_memory_get(const struct trap_memory *m, uint64_t key,
                            uint32_t *out)
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

/* False: `key` is not known (any more). */
static void trap_memory_set(struct trap_memory *m, uint64_t key, uint32_t value)
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

/* Was `key` known? It is then. */
static bool trap_memory_note(struct trap_memory *m, uint64_t key)
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

/* Finds or makes it; it becomes the newest, and is looked at by the next
 * flush. */
static struct trap_owner *trap_owner_make(struct trap_table *t,
                                          struct bytes name)
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

static struct trap_owner *trap_owner_find(const struct trap_table *t,
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

static bool trap_family_is_trap(const struct trap_table *t,
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

/* `o` may be NULL. */
static struct trap_family *trap_family_find(const struct trap_owner *o,
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
static struct trap_family *trap_family_make(struct trap_table *t,
                                            struct trap_owner *o,
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

/* NULL: there is no room. */
static struct trap_view trap_family_view(const struct trap_owner *o,
                                         const struct trap_family *f)
{
    return (struct trap_view){(enum trap_rule)f->rule, trap_owner_name(o),
                              bytes_of(f->form, f->form_len), f->pages};
}

/* Counts a page that brought nothing new. */
static void trap_family_count(struct trap_table *t, struct trap_owner *o,
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

/* A page brought something new: forgets `f`, which may be NULL. A trap stays
 * one: what it still brings was under way. */
static void trap_family_clear(struct trap_table *t, struct trap_owner *o,
                              struct trap_family *f)
{
    if (f == NULL || trap_family_is_trap(t, f))
        return;
    family_drop(t, o, f);
    if (o->count == 0)
        owner_drop(t, o);
}

/* A page brought something new: counts from 0 again, and keeps the texts. */
static void trap_family_restart(struct trap_table *t, struct trap_family *f)
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

/* Did one of the latest pages of the family have this text? */
static bool trap_family_has_text(const struct trap_family *f, uint32_t tag)
{
    for (unsigned i = 0; f != NULL && i < f->tag_count; i++)
        if (f->tags[i] == tag)
            return true;
    return false;
}

/* Keeps the texts of the latest TRAP_TAGS_MOST pages. */
static void trap_family_add_text(struct trap_table *t, struct trap_family *f,
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

/* A row is written in the transaction of the page that changed it, and deleted
 * when a page of the family brings something new. */
#define TRAP_TEXT_MOST  ((size_t)512) /* octets of owner or form */
#define TRAP_TAG_SIZE   ((size_t)4)   /* octets, big-endian */
#define TRAP_SCORE_MOST (INT64_C(1) << 48)

struct trap_row {
    uint64_t id;
    uint8_t rule; /* enum trap_rule */
    struct bytes owner, form;
    uint64_t pages;    /* in a row that brought nothing new */
    uint64_t score;    /* what they count */
    uint64_t body;     /* of the last of them */
    struct bytes tags; /* of their texts, four octets each */
};

static enum status trap_row_set(struct db *d, const struct trap_row *row)
{
    sqlite3_stmt *q = db_statement(d, "INSERT OR REPLACE INTO trap"
                                      " VALUES(?, ?, ?, ?, ?, ?, ?, ?)");

    sqlite3_bind_int64(q, 1, (int64_t)row->id);
    sqlite3_bind_int(q, 2, row->rule);
    db_bind_text(q, 3, row->owner);
    db_bind_text(q, 4, row->form);
    sqlite3_bind_int64(q, 5, (int64_t)row->pages);
    sqlite3_bind_int64(q, 6, (int64_t)row->score);
    sqlite3_bind_int64(q, 7, (int64_t)row->body);
    db_bind_blob(q, 8, row->tags);
    return db_run(d, q);
}

static enum status trap_row_remove(struct db *d, uint64_t id)
{
    sqlite3_stmt *q = db_statement(d, "DELETE FROM trap WHERE id = ?");

    sqlite3_bind_int64(q, 1, (int64_t)id);
    return db_run(d, q);
}

static enum status trap_row_take(sqlite3_stmt *q, struct trap_row *row)
{
    struct db_row r = db_row(q);

    *row = (struct trap_row){
        .id = db_row_count(&r, 0, DB_ID_MOST),
        .rule = (uint8_t)db_row_count(&r, 1, UINT8_MAX),
        .owner = db_column(q, 2),
        .form = db_column(q, 3),
        .pages = db_row_count(&r, 4, DB_ID_MOST),
        .score = db_row_count(&r, 5, TRAP_SCORE_MOST),
        .body = (uint64_t)db_row_number(&r, 6, INT64_MIN, INT64_MAX),
        .tags = db_column(q, 7),
    };
    if (row->owner.len > TRAP_TEXT_MOST || row->form.len > TRAP_TEXT_MOST ||
        row->tags.len > TRAP_TAGS_MOST * TRAP_TAG_SIZE ||
        row->tags.len % TRAP_TAG_SIZE != 0)
        return db_damaged("trap", (int64_t)row->id, "makes no sense");
    return db_row_check(&r, "trap");
}

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
    return trap_row_set(
        t->db, &(struct trap_row){.id = f->id,
                                  .rule = f->rule,
                                  .owner = trap_owner_name(o),
                                  .form = bytes_of(f->form, f->form_len),
                                  .pages = f->pages,
                                  .score = f->score,
                                  .body = f->body,
                                  .tags = bytes_of(tags, f->tag_count *
                                                             TRAP_TAG_SIZE)});
}

static enum status delete_removed(struct trap_table *t)
{
    enum status st = buf_failed(&t->removed);
    struct bytes ids = buf_bytes(&t->removed);

    for (; st == STATUS_OK && ids.len > 0;
         ids = bytes_skip(ids, sizeof(uint64_t))) {
        uint64_t id;

        memcpy(&id, ids.at, sizeof id);
        st = trap_row_remove(t->db, id);
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

static void recall_family(struct trap_table *t, const struct trap_row *row)
{
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
        (void)trap_memory_note(t->shown,
                               shown_key(row->owner, row->form, f->tags[i]));
    f->tag_count = f->tag_room = (uint16_t)tags;
    t->memory += memory_of(f);
    o->traps += trap_family_is_trap(t, f);
    t->traps += trap_family_is_trap(t, f);
}

/* There are few rows: what a crawl holds of them in memory is bounded. */
static enum status read_families(struct trap_table *t)
{
    sqlite3_stmt *q =
        db_statement(t->db,
                     "SELECT id, rule, owner, form, pages, score, body, tags"
                     " FROM trap ORDER BY id");
    struct trap_row row;
    enum status st = STATUS_OK;

    while (st == STATUS_OK && (st = db_step(t->db, q)) == STATUS_OK) {
        st = trap_row_take(q, &row);
        if (st == STATUS_OK)
            recall_family(t, &row);
    }
    return db_end(q, st);
}

enum status trap_table_open(struct trap_table **out, struct db *db,
                            const struct trap_options *o)
{
    struct trap_table *t = xcalloc(1, sizeof *t);
    enum status st;

    t->o = *o;
    t->db = db;
    t->shown = trap_memory_new(o->memory / SHOWN_SHARE);
    t->o.memory -= o->memory / SHOWN_SHARE;
    t->owners = map_new();
    buf_init(&t->removed, REMOVED_MOST);
    st = read_families(t);
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
    return trap_memory_note(t->shown,
                            shown_key(form->owner,
                                      bytes_of(form->at, form->len), what));
}

/* The family of the form; NULL: it is not under suspicion. */
static struct trap_family *family_of(const struct trap_table *t,
                                     enum trap_rule r,
                                     const struct trap_form *form)
{
    return trap_family_find(trap_owner_find(t, form->owner), r,
                            bytes_of(form->at, form->len));
}

/* The family of the form, made if `f` is NULL; NULL: there is no room. */
static struct trap_family *suspect(struct trap_table *t, enum trap_rule r,
                                   const struct trap_form *form,
                                   struct trap_family *f, struct trap_owner **o)
{
    *o = trap_owner_make(t, form->owner);
    return f != NULL
               ? f
               : trap_family_make(t, *o, r, bytes_of(form->at, form->len));
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
    uint64_t others;
    bool known;

    if (!trap_form(r, p->host, p->url, &form))
        return;
    f = family_of(t, r, &form);
    known = trap_family_has_text(f, tag_of(p));
    if (r == TRAP_COUNTER) {
        known |= was_shown(t, &form, tag_of(p));
        count_alike(t, &form, known);
    }
    if (!brings_only(t, r, &form, p, &others) ||
        (!known && (others > 0 || p->fresh_count == 0))) {
        trap_family_clear(t, trap_owner_find(t, form.owner), f);
        return;
    }
    if (p->fresh_count == 0)
        return; /* it feeds nothing, and says nothing new */
    f = suspect(t, r, &form, f, &o);
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

    if (!trap_form(TRAP_SAME_BODY, p->host, p->url, &form))
        return;
    f = family_of(t, TRAP_SAME_BODY, &form);
    if (f != NULL && f->body != p->body.hi) {
        trap_family_clear(t, trap_owner_find(t, form.owner), f);
        return;
    }
    if (p->fresh_count > 0 || (f == NULL && !known))
        return;
    f = suspect(t, TRAP_SAME_BODY, &form, f, &o);
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
    uint32_t any;

    for (size_t i = 0; i < parts; i++)
        if (!trap_memory_get(t->shown,
                             shown_key(space->owner, space->form, ~part[i]),
                             &any))
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
    f = family_of(t, r, &form);
    if (text != tag_of(p)) {
        if (f != NULL && (is_without_own(p) || r == TRAP_SESSION))
            trap_family_restart(t, f);
        return; /* it may differ in its own address alone */
    }
    f = suspect(t, r, &form, f, &o);
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
    f = family_of(t, TRAP_ORDER, &form);
    if (text != tag_of(p)) {
        if (f != NULL)
            trap_family_restart(t, f);
        return;
    }
    note_filters(t, &form, p->url);
    f = suspect(t, TRAP_ORDER, &form, f, &o);
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
    struct trap_family *f = family_of(t, TRAP_COMBINATION, form);
    bool new = shows_something(t, form, p, f) || leads_elsewhere(t, form, p);
    struct trap_view orders;
    struct trap_owner *o;

    if (new &&f != NULL)
        trap_family_restart(t, f);
    if (new || !is_without_own(p) || !is_trap(t, TRAP_ORDER, form, &orders))
        return;
    f = suspect(t, TRAP_COMBINATION, form, f, &o);
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
