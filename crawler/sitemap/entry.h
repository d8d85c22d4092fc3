/*
 * entry.h - an entry of a sitemap or feed while it is being read.
 *
 * Gathers the text of its fields, and passes the entry on when it ends. The
 * names of fields differ by format (sitemap.c); their handling does
 * not. One thread at a time.
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

/* Where two fields have the same meaning, the second is used if the first is
 * empty. */
enum entry_field {
    ENTRY_LOC,
    ENTRY_LOC_ELSE,
    ENTRY_LOC_OTHER, /* as the other dialect writes it: Atom's link in RSS, or
                        the text of a link in Atom; the last to be used */
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
    uint64_t most; /* most entries to visit, alternates aside; 0: no limit */
    uint64_t visited;
    uint64_t passed_over; /* entries whose location is not an http(s) URL */
    bool full;            /* an entry came past `most` */
    struct url url;       /* of the current entry */
};

void entry_sink_init(struct entry_sink *s,
                     void (*visit)(void *ctx,
                                   const struct sitemap_entry *entry),
                     void *ctx, uint64_t most);
void entry_sink_fini(struct entry_sink *s);
/* Passes on one entry; sets `entry->url` from `loc`, which is relative to
 * `base` unless that is NULL. False: `loc` is not an http(s) URL. */
bool entry_sink_give(struct entry_sink *s, struct sitemap_entry *entry,
                     struct bytes loc, const struct url *base);

struct entry {
    struct entry_sink *sink;
    enum sitemap_kind kind;
    struct buf fields[ENTRY_FIELD_COUNT];
    bool lost[ENTRY_FIELD_COUNT]; /* its text cannot be known */
    enum entry_field field;       /* being read, or ENTRY_NO_FIELD */
    size_t depth;                 /* of the entry's element; 0: none is open */
    size_t field_depth;           /* of the field's element */
    size_t skip_depth;            /* of an element being skipped; 0: none */
};

void entry_init(struct entry *e, struct entry_sink *sink);
void entry_fini(struct entry *e);

static inline bool entry_is_open(const struct entry *e)
{
    return e->depth > 0;
}

/* An entry's element begins; an entry still open is passed on first. */
void entry_begin(struct entry *e, enum sitemap_kind kind, size_t depth,
                 const struct url *base);
/* An element begins inside the entry. `field`: the field it is, or
 * ENTRY_NO_FIELD for an element to skip with its content. The first value of a
 * field counts, unless it was empty; of a sitemap's entry every location does,
 * each with what follows it. A field begun inside another, by a missing end
 * tag, ends that one. */
void entry_element(struct entry *e, enum entry_field field, size_t depth);
/* Sets a field from an attribute, unless it is set already. */
void entry_set(struct entry *e, enum entry_field field, struct bytes value);
void entry_text(struct entry *e, struct bytes text, bool lost);
/* The element at `depth` ends; if it is the entry's own, the entry is passed
 * on. `closed` false: the document ended, so a field still open is
 * incomplete. */
void entry_end(struct entry *e, size_t depth, bool closed,
               const struct url *base);

#endif
