/* SPDX-License-Identifier: MIT */
/*
 * run_space.c - which pages of a file of runs are free.
 *
 * One bit a page says whether it is in use. Whoever takes pages gets those
 * between two others only where they are many, so that a run lies in few
 * pieces; only when a quarter of the file is free are small gaps filled. So a
 * file is at most that much longer than its runs, and what waits for
 * run_space_reuse().
 */
#include "storage/db/run_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define GAP_LEAST 16 /* pages of a gap that is filled at any time */

struct pages {
    uint32_t *at;
    size_t count, cap;
};

/* What the first `commits` commits have dropped ends at `end`. */
struct mark {
    uint64_t commits;
    size_t end;
};

struct run_space {
    uint64_t *used;              /* bits */
    uint64_t cap;                /* pages that it has room for */
    uint32_t size;               /* pages of the file */
    uint32_t free;               /* of them not in use */
    uint32_t from;               /* where the next search for gaps begins */
    bool barren;                 /* the last one went round and found too few */
    struct pages taken, dropped; /* in this transaction */
    struct pages waiting;        /* dropped by commits, in their order */
    size_t reused;               /* of them free by now */
    struct mark *marks;
    size_t mark_count, mark_cap, mark_first;
    uint64_t commits;
};

struct run_space *run_space_new(void)
{
    return xcalloc(1, sizeof(struct run_space));
}

void run_space_free(struct run_space *s)
{
    if (s == NULL)
        return;
    free(s->used);
    free(s->taken.at);
    free(s->dropped.at);
    free(s->waiting.at);
    free(s->marks);
    free(s);
}

static void add(struct pages *p, const uint32_t *at, size_t n)
{
    if (p->count + n > p->cap) {
        p->cap = (p->count + n) * 2;
        p->at = xrealloc(p->at, p->cap * sizeof *p->at);
    }
    if (n > 0)
        memcpy(p->at + p->count, at, n * sizeof *at);
    p->count += n;
}

/* ---- bits ---- */

static bool is_used(const struct run_space *s, uint32_t page)
{
    return (s->used[page / 64] >> page % 64 & 1) != 0;
}

static void set_used(struct run_space *s, uint32_t page)
{
    s->used[page / 64] |= UINT64_C(1) << page % 64;
}

static void set_free(struct run_space *s, uint32_t page)
{
    s->used[page / 64] &= ~(UINT64_C(1) << page % 64);
    s->free++;
    s->barren = false;
}

static void make_room(struct run_space *s, uint64_t pages)
{
    uint64_t cap = pages + pages / 4 + 64 * 64;

    if (pages <= s->cap)
        return;
    cap = (cap + 63) / 64 * 64;
    s->used = xrealloc(s->used, cap / 8);
    memset(s->used + s->cap / 64, 0, (cap - s->cap) / 8);
    s->cap = cap;
}

/* ---- opening ---- */

void run_space_size(struct run_space *s, uint32_t size)
{
    make_room(s, size);
    s->size = size;
}

bool run_space_claim(struct run_space *s, uint32_t page)
{
    if (page >= s->size || is_used(s, page))
        return false;
    set_used(s, page);
    return true;
}

/* Those that the last mark covers already need none. */
static void note_commit(struct run_space *s)
{
    size_t covered = s->mark_count > s->mark_first
                         ? s->marks[s->mark_count - 1].end
                         : s->reused;

    s->commits++;
    if (covered == s->waiting.count)
        return;
    if (s->mark_count == s->mark_cap) {
        s->mark_cap = s->mark_cap * 2 + 16;
        s->marks = xrealloc(s->marks, s->mark_cap * sizeof *s->marks);
    }
    s->marks[s->mark_count++] =
        (struct mark){.commits = s->commits, .end = s->waiting.count};
}

void run_space_claimed(struct run_space *s)
{
    for (uint32_t page = 0; page < s->size; page++) {
        if (is_used(s, page))
            continue;
        set_used(s, page);
        add(&s->waiting, &page, 1);
    }
    note_commit(s);
}

/* ---- taking ---- */

/* Takes up to `most` pages of the next gap before `end` that has `least`, or
 * `most` if that is less. 0: there is no such gap. */
static uint32_t take_gap(struct run_space *s, uint32_t least, uint32_t most,
                         uint32_t end, uint32_t *at)
{
    uint32_t begin = s->from, n = 0;

    if (least > most)
        least = most;
    while (n < least && begin + n < end) {
        if (n == 0 && begin % 64 == 0 && s->used[begin / 64] == UINT64_MAX) {
            begin += 64;
        } else if (is_used(s, begin + n)) {
            begin += n + 1;
            n = 0;
        } else {
            n++;
        }
    }
    while (n < most && begin + n < end && !is_used(s, begin + n))
        n++;
    s->from = begin + n < end ? begin + n : end;
    if (n < least)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        set_used(s, begin + i);
        at[i] = begin + i;
    }
    s->free -= n;
    return n;
}

static uint32_t take_gaps(struct run_space *s, uint32_t least, uint32_t end,
                          uint32_t *at, uint32_t n)
{
    uint32_t got = 0, more = 1;

    while (got < n && more > 0) {
        more = take_gap(s, least, n - got, end, at + got);
        got += more;
    }
    return got;
}

/* Searches on from where the last search ended, and goes round once. */
static uint32_t take_free(struct run_space *s, uint32_t *at, uint32_t n)
{
    uint32_t least = s->free > s->size / 4 ? 1 : GAP_LEAST;
    uint32_t begin = s->from, got;

    if (s->free == 0 || (least > 1 && s->barren))
        return 0;
    got = take_gaps(s, least, s->size, at, n);
    if (got < n) {
        s->from = 0;
        got += take_gaps(s, least, begin, at + got, n - got);
    }
    s->barren = got < n;
    return got;
}

enum status run_space_take(struct run_space *s, uint32_t *at, uint32_t n)
{
    uint32_t got = take_free(s, at, n);

    if (n - got > RUN_SPACE_MOST - s->size) {
        for (uint32_t i = 0; i < got; i++)
            set_free(s, at[i]);
        return STATUS_LIMIT;
    }
    make_room(s, (uint64_t)s->size + n - got);
    for (; got < n; got++) {
        set_used(s, s->size);
        at[got] = s->size++;
    }
    add(&s->taken, at, n);
    return STATUS_OK;
}

void run_space_drop(struct run_space *s, const uint32_t *at, uint32_t n)
{
    add(&s->dropped, at, n);
}

/* ---- the ends of transactions ---- */

uint64_t run_space_commit(struct run_space *s)
{
    add(&s->waiting, s->dropped.at, s->dropped.count);
    s->dropped.count = 0;
    s->taken.count = 0;
    note_commit(s);
    return s->commits;
}

void run_space_roll_back(struct run_space *s)
{
    for (size_t i = 0; i < s->taken.count; i++)
        set_free(s, s->taken.at[i]);
    s->dropped.count = 0;
    s->taken.count = 0;
}

static void forget_reused(struct run_space *s)
{
    size_t left = s->waiting.count - s->reused;

    if (s->reused < left)
        return;
    if (left > 0)
        memmove(s->waiting.at, s->waiting.at + s->reused,
                left * sizeof *s->waiting.at);
    s->mark_count -= s->mark_first;
    if (s->mark_count > 0)
        memmove(s->marks, s->marks + s->mark_first,
                s->mark_count * sizeof *s->marks);
    for (size_t i = 0; i < s->mark_count; i++)
        s->marks[i].end -= s->reused;
    s->waiting.count = left;
    s->reused = s->mark_first = 0;
}

void run_space_reuse(struct run_space *s, uint64_t commits)
{
    while (s->mark_first < s->mark_count &&
           s->marks[s->mark_first].commits <= commits) {
        for (; s->reused < s->marks[s->mark_first].end; s->reused++)
            set_free(s, s->waiting.at[s->reused]);
        s->mark_first++;
    }
    forget_reused(s);
}

uint32_t run_space_pages(const struct run_space *s)
{
    return s->size;
}

uint64_t run_space_memory(const struct run_space *s)
{
    return sizeof *s + s->cap / 8 +
           (s->taken.cap + s->dropped.cap + s->waiting.cap) *
               sizeof *s->waiting.at +
           s->mark_cap * sizeof *s->marks;
}
