/* SPDX-License-Identifier: MIT */
/* entry.c - an entry of a sitemap or feed while it is being read. */
#include "crawler/sitemap/entry.h"

/* A longer location cannot be a page's URL; a longer value is not a date or a
 * number. */
#define LOC_MOST   URL_LENGTH_CEILING
#define VALUE_MOST ((size_t)1024)

/* ---- passing on ---------------------------------------------------------- */

void entry_sink_init(struct entry_sink *s,
                     void (*visit)(void *ctx,
                                   const struct sitemap_entry *entry),
                     void *ctx, uint64_t most)
{
    *s = (struct entry_sink){.visit = visit, .ctx = ctx, .most = most};
    url_init(&s->url);
}

void entry_sink_fini(struct entry_sink *s)
{
    url_fini(&s->url);
}

bool entry_sink_give(struct entry_sink *s, struct sitemap_entry *entry,
                     struct bytes loc, const struct url *base)
{
    if (loc.len == 0 || url_parse(&s->url, loc, base, NULL) != URL_OK)
        return false;
    if (entry->kind != SITEMAP_ALTERNATE && s->most > 0 &&
        s->visited == s->most) {
        s->full = true;
        return true;
    }
    s->visited += entry->kind != SITEMAP_ALTERNATE;
    entry->url = &s->url;
    s->visit(s->ctx, entry);
    return true;
}

/* ---- gathering ------------------------------------------------------------*/

void entry_init(struct entry *e, struct entry_sink *sink)
{
    *e = (struct entry){.sink = sink, .field = ENTRY_NO_FIELD};
    for (size_t i = 0; i < ENTRY_FIELD_COUNT; i++)
        buf_init(&e->fields[i], i <= ENTRY_LOC_OTHER ? LOC_MOST : VALUE_MOST);
}

void entry_fini(struct entry *e)
{
    for (size_t i = 0; i < ENTRY_FIELD_COUNT; i++)
        buf_fini(&e->fields[i]);
}

/* The text of a field; empty also if it is unknown or too long. */
static struct bytes value_of(const struct entry *e, enum entry_field field)
{
    if (e->lost[field] || buf_failed(&e->fields[field]) != STATUS_OK)
        return bytes_of(NULL, 0);
    return bytes_trim_blanks(buf_bytes(&e->fields[field]));
}

static struct bytes first_of(const struct entry *e, enum entry_field a,
                             enum entry_field b)
{
    struct bytes value = value_of(e, a);

    return value.len > 0 ? value : value_of(e, b);
}

static void clear_field(struct entry *e, enum entry_field field)
{
    buf_clear(&e->fields[field]);
    e->lost[field] = false;
}

static void clear_fields(struct entry *e)
{
    for (size_t i = 0; i < ENTRY_FIELD_COUNT; i++)
        clear_field(e, (enum entry_field)i);
}

static void give(struct entry *e, const struct url *base)
{
    struct sitemap_entry out = {.kind = e->kind,
                                .lastmod = first_of(e, ENTRY_LASTMOD,
                                                    ENTRY_LASTMOD_ELSE),
                                .priority = value_of(e, ENTRY_PRIORITY),
                                .changefreq = value_of(e, ENTRY_CHANGEFREQ)};

    if (!entry_sink_give(e->sink, &out, value_of(e, ENTRY_LOC), base) &&
        !entry_sink_give(e->sink, &out, value_of(e, ENTRY_LOC_ELSE), base) &&
        !entry_sink_give(e->sink, &out, value_of(e, ENTRY_LOC_OTHER), base))
        e->sink->passed_over++;
}

static void hand_on(struct entry *e, const struct url *base)
{
    give(e, base);
    e->depth = e->skip_depth = 0;
    e->field = ENTRY_NO_FIELD;
}

void entry_begin(struct entry *e, enum sitemap_kind kind, size_t depth,
                 const struct url *base)
{
    if (entry_is_open(e))
        hand_on(e, base);
    clear_fields(e);
    e->kind = kind;
    e->depth = depth;
    if (kind == SITEMAP_SITEMAP) { /* <sitemap>URL</sitemap> is written too */
        e->field = ENTRY_LOC_ELSE;
        e->field_depth = depth;
    }
}

/* Another location of an entry of a sitemap; each is passed on, with the values
 * that follow it. */
static bool is_next_loc(const struct entry *e, enum entry_field field,
                        size_t depth)
{
    return field == ENTRY_LOC && e->kind != SITEMAP_ITEM &&
           depth == e->depth + 1 && value_of(e, field).len > 0;
}

void entry_element(struct entry *e, enum entry_field field, size_t depth)
{
    if (e->skip_depth > 0)
        return;
    if (is_next_loc(e, field, depth)) {
        give(e, NULL); /* in a sitemap locations are absolute */
        clear_fields(e);
    }
    if (field == ENTRY_NO_FIELD ||
        (e->field == ENTRY_NO_FIELD && depth > e->depth + 1) ||
        value_of(e, field).len > 0 || e->lost[field]) {
        e->skip_depth = depth;
        return;
    }
    clear_field(e, field);
    e->field = field;
    e->field_depth = depth;
}

void entry_set(struct entry *e, enum entry_field field, struct bytes value)
{
    if (value_of(e, field).len > 0)
        return;
    clear_field(e, field);
    buf_add_bytes(&e->fields[field], value);
}

void entry_text(struct entry *e, struct bytes text, bool lost)
{
    if (e->field == ENTRY_NO_FIELD || e->skip_depth > 0)
        return;
    buf_add_bytes(&e->fields[e->field], text);
    e->lost[e->field] |= lost;
}

void entry_end(struct entry *e, size_t depth, bool closed,
               const struct url *base)
{
    if (!entry_is_open(e))
        return;
    if (e->skip_depth >= depth)
        e->skip_depth = 0;
    if (e->field != ENTRY_NO_FIELD && e->field_depth >= depth) {
        if (!closed)
            clear_field(e, e->field);
        e->field = ENTRY_NO_FIELD;
    }
    if (e->depth >= depth)
        hand_on(e, base);
}
