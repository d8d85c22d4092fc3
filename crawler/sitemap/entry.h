/*
 * entry.h - one entry of a sitemap or feed while it is read.
 *
 * Gathers the text of its fields, and hands the entry on when it ends. What a
 * field is called differs by format (sitemap.c, feed.c); what is done with it
 * does not. One thread at a time.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_ENTRY_H
#define URLWEIR_CRAWLER_SITEMAP_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "crawler/sitemap/sitemap.h"
#include "frontier/url/url.h"

/* Where two fields can say the same, the second is used where the first one
 * says nothing. */
enum entry_field {
    ENTRY_LOC,
    ENTRY_LOC_ELSE,
    ENTRY_LASTMOD,
    ENTRY_LASTMOD_ELSE,
    ENTRY_PRIORITY,
    ENTRY_CHANGEFREQ,
    ENTRY_FIELD_COUNT
};
#define ENTRY_NO_FIELD ENTRY_FIELD_COUNT

/* Where entries go. */
struct entry_sink {
    void (*visit)(void *ctx, const struct sitemap_entry *entry);
    void *ctx;
    uint64_t most; /* visited at most; 0: no limit */
    uint64_t visited;
    uint64_t passed_over; /* location is no http(s) URL */
    bool full;            /* one more came */
    struct url url;       /* of the entry at hand */
};

void entry_sink_init(struct entry_sink *s,
                     void (*visit)(void *ctx,
                                   const struct sitemap_entry *entry),
                     void *ctx, uint64_t most);
void entry_sink_fini(struct entry_sink *s);
/* One entry: `entry->url` is filled in here from `loc`, which is relative to
 * `base` unless that is NULL. False: `loc` is no http(s) URL. */
bool entry_sink_give(struct entry_sink *s, struct sitemap_entry *entry,
                     struct bytes loc, const struct url *base);

struct entry {
    struct entry_sink *sink;
    enum sitemap_kind kind;
    struct buf fields[ENTRY_FIELD_COUNT];
    bool lost[ENTRY_FIELD_COUNT]; /* its text cannot be known */
    enum entry_field field;       /* being read, or ENTRY_NO_FIELD */
    size_t depth;                 /* of the entry's element; 0: in none */
    size_t field_depth;           /* of the field's element */
    size_t skip_depth;            /* of an element passed over; 0: none */
};

void entry_init(struct entry *e, struct entry_sink *sink);
void entry_fini(struct entry *e);

static inline bool entry_is_open(const struct entry *e)
{
    return e->depth > 0;
}

/* An entry's element begins; one still open is handed on first. */
void entry_begin(struct entry *e, enum sitemap_kind kind, size_t depth,
                 const struct url *base);
/* An element begins inside the entry. `field`: which one it is, or
 * ENTRY_NO_FIELD for one that is passed over with all it holds. A field is read
 * once; again it counts only if it was empty. A field begun inside another, by
 * a missing end tag, ends that one. */
void entry_element(struct entry *e, enum entry_field field, size_t depth);
/* Sets a field that stands in an attribute, unless it is set. */
void entry_set(struct entry *e, enum entry_field field, struct bytes value);
void entry_text(struct entry *e, struct bytes text, bool lost);
/* The element at `depth` ends; the entry is handed on if it was its own.
 * `closed` false: the document ended, and a field still open is not whole. */
void entry_end(struct entry *e, size_t depth, bool closed,
               const struct url *base);

#endif
