/* SPDX-License-Identifier: MIT */
/*
 * exact_merge.c - moves entries from memory into the sorted pages.
 *
 * Parts are merged in turn, each once per D new digests, D = an eighth of the
 * set but at least 64k and at most delta_most. So a new digest costs writing 1
 * + n/D entries, spread evenly over the commits. Merging everything at once
 * stalled commits for 50 ms and more, growing with the set.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "storage/index/exact_parts.h"

#define DELTA_LEAST UINT64_C(65536)

/* D: new digests between two merges of one part. */
static uint64_t delta_limit(const struct exact_set *s)
{
    uint64_t d = s->last_id / 8;

    if (d < DELTA_LEAST)
        d = DELTA_LEAST;
    return d < s->delta_most ? d : s->delta_most;
}

static void make_room(unsigned char **at, uint64_t *cap, uint64_t want)
{
    if (want <= *cap)
        return;
    *cap = want + want / 4;
    *at = xrealloc(*at, *cap);
}

/* Reads all entries of the part's pages into s->old. */
static enum status read_all(struct exact_set *s, uint32_t part)
{
    const struct exact_part *p = &s->parts[part];

    make_room(&s->old, &s->old_cap, (uint64_t)p->pages * PAGE_CACHE_PAGE);
    for (uint32_t i = 0; i < p->pages; i++) {
        unsigned char *to = s->old + (uint64_t)i * PAGE_ENTRIES * ENTRY_SIZE;
        const unsigned char *from =
            page_cache_peek(s->cache, exact_page_id(part, i));

        if (from != NULL) {
            memcpy(to, from, (size_t)exact_page_entries(p, i) * ENTRY_SIZE);
        } else {
            enum status st = exact_read_page(s, part, i, to);

            if (st != STATUS_OK)
                return st;
        }
    }
    return STATUS_OK;
}

/* The end of `n` entries. If n is 0, `from` may be NULL, and C does not allow
 * adding even 0 to that. */
static const unsigned char *entries_end(const unsigned char *from, uint64_t n)
{
    return n == 0 ? from : from + n * ENTRY_SIZE;
}

/* Merges s->old and the sorted delta into s->merged, in order; *replaced is the
 * number of old entries replaced. STATUS_DAMAGED: a new digest was there
 * already. */
static enum status merge_in_order(struct exact_set *s, uint32_t part,
                                  uint32_t *replaced)
{
    const struct exact_part *p = &s->parts[part];
    const unsigned char *a = s->old, *a_end = entries_end(a, p->count);
    const unsigned char *b = p->delta.entries;
    const unsigned char *b_end = entries_end(b, p->delta.count);
    unsigned char *to;

    *replaced = 0;
    make_room(&s->merged, &s->merged_cap,
              (p->count + p->delta.count) * ENTRY_SIZE);
    to = s->merged;
    for (; b < b_end; b += ENTRY_SIZE) {
        const unsigned char *from = a;

        while (a < a_end && memcmp(a, b, KEY_SIZE) < 0)
            a += ENTRY_SIZE;
        if (a > from)
            memcpy(to, from, (size_t)(a - from));
        to += a - from;
        if (a < a_end && memcmp(a, b, KEY_SIZE) == 0 &&
            *replaced < p->delta.replacing && exact_id(a) < exact_id(b)) {
            a += ENTRY_SIZE;
            ++*replaced;
        }
        if ((a < a_end && memcmp(a, b, KEY_SIZE) == 0) ||
            (to > s->merged && memcmp(to - ENTRY_SIZE, b, KEY_SIZE) == 0)) {
            log_error("exact set is damaged",
                      "part=%u reason=\"a digest was added twice\"", part);
            return STATUS_DAMAGED;
        }
        memcpy(to, b, ENTRY_SIZE);
        to += ENTRY_SIZE;
    }
    if (a < a_end)
        memcpy(to, a, (size_t)(a_end - a));
    return STATUS_OK;
}

static enum status write_page(struct exact_set *s, uint32_t part, uint32_t page,
                              const unsigned char *at, size_t octets)
{
    uint32_t id = exact_page_id(part, page);
    unsigned char *cached = page_cache_put_cheap(s->cache, id);

    if (cached != NULL)
        memcpy(cached, at, octets);
    sqlite3_bind_int64(s->write_page, 1, id);
    sqlite3_bind_blob(s->write_page, 2, at, (int)octets, SQLITE_STATIC);
    return db_run(s->d, s->write_page);
}

/* Writes the pages that changed, and the part's new fences. */
static enum status write_pages(struct exact_set *s, uint32_t part,
                               uint32_t replaced)
{
    struct exact_part *p = &s->parts[part];
    uint64_t before = p->count;
    enum status st = STATUS_OK;

    p->count += p->delta.count - replaced;
    s->memory -= p->pages * sizeof *p->fences;
    p->pages = (uint32_t)((p->count + PAGE_ENTRIES - 1) / PAGE_ENTRIES);
    p->fences = xrealloc(p->fences, p->pages * sizeof *p->fences);
    s->memory += p->pages * sizeof *p->fences;
    for (uint32_t i = 0; i < p->pages && st == STATUS_OK; i++) {
        uint64_t from = (uint64_t)i * PAGE_ENTRIES;
        uint32_t entries = exact_page_entries(p, i);
        const unsigned char *at = s->merged + from * ENTRY_SIZE;
        size_t octets = (size_t)entries * ENTRY_SIZE;

        p->fences[i] = packed_get(at, 8);
        if (from + entries > before ||
            memcmp(at, s->old + from * ENTRY_SIZE, octets) != 0)
            st = write_page(s, part, i, at, octets);
    }
    return st;
}

static enum status write_part(struct exact_set *s, uint32_t part)
{
    struct exact_part *p = &s->parts[part];
    size_t octets = (size_t)p->pages * 8;
    unsigned char *fences = xmalloc(octets);
    enum status st;

    for (uint32_t i = 0; i < p->pages; i++)
        packed_put(fences + 8 * (size_t)i, p->fences[i], 8);
    sqlite3_bind_int64(s->write_part, 1, part);
    sqlite3_bind_int64(s->write_part, 2, (int64_t)p->upto);
    sqlite3_bind_int64(s->write_part, 3, (int64_t)p->count);
    sqlite3_bind_blob(s->write_part, 4, fences, (int)octets, SQLITE_STATIC);
    st = db_run(s->d, s->write_part);
    sqlite3_clear_bindings(s->write_part);
    free(fences);
    return st;
}

static enum status merge_part(struct exact_set *s, uint32_t part)
{
    struct exact_part *p = &s->parts[part];
    uint32_t replaced = 0;
    enum status st = STATUS_OK;

    if (p->count + p->delta.count > (uint64_t)MOST_PAGES * PAGE_ENTRIES)
        return STATUS_LIMIT;
    if (p->delta.count > 0) {
        exact_delta_sort(&p->delta);
        st = read_all(s, part);
        if (st == STATUS_OK)
            st = merge_in_order(s, part, &replaced);
        if (st == STATUS_OK)
            st = write_pages(s, part, replaced);
    }
    /* While rows are replayed, a part may be ahead of them and stays ahead. */
    if (p->upto < s->last_id)
        p->upto = s->last_id;
    if (st == STATUS_OK)
        st = write_part(s, part);
    fault_point("exact-merge");
    s->delta_count -= p->delta.count;
    exact_delta_clear(&p->delta);
    return st;
}

enum status exact_set_merge(struct exact_set *s, unsigned parts)
{
    enum status st = STATUS_OK;

    for (; parts > 0 && st == STATUS_OK; parts--) {
        st = merge_part(s, s->next_part);
        s->next_part = (s->next_part + 1) % PARTS;
    }
    sqlite3_clear_bindings(s->write_page);
    return st;
}

enum status exact_set_step(struct exact_set *s, uint64_t admitted)
{
    uint64_t limit = delta_limit(s);
    unsigned parts = 0;

    s->owed += admitted * PARTS;
    for (; s->owed >= limit; s->owed -= limit)
        parts++;
    return exact_set_merge(s, parts);
}
