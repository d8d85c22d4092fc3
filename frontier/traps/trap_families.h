/*
 * trap_families.h - the families under suspicion, by owner, in memory and on
 * disk; trap_table.c judges them, and no other file includes this.
 */
#ifndef URLWEIR_FRONTIER_TRAPS_TRAP_FAMILIES_H
#define URLWEIR_FRONTIER_TRAPS_TRAP_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "frontier/traps/trap_table.h"

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
    struct trap_store *store;
    struct map *owners; /* name -> struct trap_owner */
    struct trap_owner *oldest, *newest;
    uint64_t memory, last_id;
    size_t traps;
    struct buf removed; /* ids of rows to delete, uint64_t */
    struct trap_memory *shown;
};

struct trap_owner *trap_owner_find(const struct trap_table *t,
                                   struct bytes name);
/* Finds or makes it; it becomes the newest, and is looked at by the next
 * flush. */
struct trap_owner *trap_owner_make(struct trap_table *t, struct bytes name);

bool trap_family_is_trap(const struct trap_table *t,
                         const struct trap_family *f);
/* `o` may be NULL. */
struct trap_family *trap_family_find(const struct trap_owner *o,
                                     enum trap_rule r, struct bytes form);
/* NULL: there is no room. */
struct trap_family *trap_family_make(struct trap_table *t, struct trap_owner *o,
                                     enum trap_rule r, struct bytes form);
struct trap_view trap_family_view(const struct trap_owner *o,
                                  const struct trap_family *f);
/* Counts a page that brought nothing new. */
void trap_family_count(struct trap_table *t, struct trap_owner *o,
                       struct trap_family *f, uint64_t score);
/* A page brought something new: counts from 0 again, and keeps the texts. */
void trap_family_restart(struct trap_table *t, struct trap_family *f);
/* A page brought something new: forgets `f`, which may be NULL. A trap stays
 * one: what it still brings was under way. */
void trap_family_clear(struct trap_table *t, struct trap_owner *o,
                       struct trap_family *f);

/* Has the space `form` of the owner shown `what` before? It has then. */
bool trap_family_shown(struct trap_table *t, struct bytes owner,
                       struct bytes form, uint64_t what);

bool trap_family_has_shown(const struct trap_table *t, struct bytes owner,
                           struct bytes form, uint64_t what);

/* Did one of the latest pages of the family have this text? */
bool trap_family_has_text(const struct trap_family *f, uint32_t tag);
void trap_family_add_text(struct trap_table *t, struct trap_family *f,
                          uint32_t tag);

/*
 * A cache from 64-bit digests to 32-bit values: which text the page of a
 * spelling had, which URL stands for it, which pieces of text and which
 * parameters a space has shown. An entry may be replaced by another at any
 * time, and nothing of it is on disk: what is forgotten looks new again, which
 * costs requests and no URL. One thread.
 */

struct trap_memory;
uint64_t trap_memory_octets(const struct trap_memory *m);

/* False: `key` is not known (any more). */
bool trap_memory_get(const struct trap_memory *m, uint64_t key, uint32_t *out);
void trap_memory_set(struct trap_memory *m, uint64_t key, uint32_t value);
/* Was `key` known? It is then. */
bool trap_memory_note(struct trap_memory *m, uint64_t key);

#endif
