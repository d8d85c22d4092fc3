/* SPDX-License-Identifier: MIT */
/* host_table.c - the hosts of a crawl, and those that rest. */
#include "frontier/hosts/host_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PLACES 1016 /* so that a part takes a page */

/* Places in the order of the line. */
struct host_line_part {
    struct host_line_part *next;
    struct host_turn turn; /* of the first; the others come later, or nearly */
    uint32_t count;
    uint32_t queues[PLACES];
};

/* What a resting host leaves: the last id that was read from its queue, then
 * these bits. */
#define RESTS      1U
#define HANDED_OUT 2U /* a URL of it was leased in this run */
#define ANSWERED   4U
#define STATE_BITS 3

void host_table_init(struct host_table *t)
{
    *t = (struct host_table){0};
}

static void line_fini(struct host_line *l)
{
    while (l->first != NULL) {
        struct host_line_part *p = l->first;

        l->first = p->next;
        free(p);
    }
}

void host_table_fini(struct host_table *t)
{
    for (uint32_t q = 0; q < t->room; q++)
        host_queue_free(host_table_get(t, q));
    free(t->at);
    line_fini(&t->at_once);
    line_fini(&t->rested);
}

static uintptr_t *entry_of(struct host_table *t, uint32_t queue)
{
    if (queue >= t->room) {
        size_t room = t->room > 0 ? t->room : 64;

        while (room <= queue)
            room *= 2;
        t->at = xrealloc(t->at, room * sizeof *t->at);
        memset(t->at + t->room, 0, (room - t->room) * sizeof *t->at);
        t->room = room;
    }
    return &t->at[queue];
}

struct host_queue *host_table_make(struct host_table *t, uint32_t queue)
{
    uintptr_t *at = entry_of(t, queue);
    struct host_queue *h = host_queue_new(queue);

    assert(host_table_get(t, queue) == NULL);
    if ((*at & RESTS) != 0) {
        h->cursor = *at >> STATE_BITS;
        h->handed_out = (*at & HANDED_OUT) != 0;
        h->answers = (*at & ANSWERED) != 0;
        h->active = true;
        t->resting--;
    }
    *at = (uintptr_t)h;
    t->awake++;
    return h;
}

void host_table_forget(struct host_table *t, uint32_t queue)
{
    host_queue_free(host_table_get(t, queue));
    t->at[queue] = 0;
    t->awake--;
}

/* ---- lines ---- */

static void line_up(struct host_table *t, struct host_line *l, uint32_t queue,
                    struct host_turn turn)
{
    if (l->last == NULL || l->last->count == PLACES) {
        struct host_line_part *p = xmalloc(sizeof *p);

        p->next = NULL;
        p->turn = turn;
        p->count = 0;
        if (l->last != NULL)
            l->last->next = p;
        else
            l->first = p;
        l->last = p;
        t->parts++;
    }
    l->last->queues[l->last->count++] = queue;
}

/* Removes the first part once all its places were taken. */
static void drop_taken(struct host_table *t, struct host_line *l)
{
    struct host_line_part *p = l->first;

    if (p == NULL || l->taken < p->count)
        return;
    l->first = p->next;
    l->taken = 0;
    if (l->first == NULL)
        l->last = NULL;
    free(p);
    t->parts--;
}

static void line_pass(struct host_table *t, struct host_line *l)
{
    l->taken++;
    drop_taken(t, l);
}

/* 0: it is empty. */
static uint32_t line_first(struct host_table *t, struct host_line *l)
{
    while (l->first != NULL) {
        uint32_t queue = l->first->queues[l->taken];

        if (host_table_rests(t, queue))
            return queue;
        line_pass(t, l);
    }
    return 0;
}

void host_table_rest_unasked(struct host_table *t, uint32_t queue,
                             uint64_t order)
{
    uintptr_t *at = entry_of(t, queue);

    assert(*at == 0);
    *at = RESTS;
    t->resting++;
    line_up(t, &t->at_once, queue, (struct host_turn){.order = order});
}

void host_table_rest(struct host_table *t, struct host_queue *h,
                     struct host_turn turn)
{
    uint32_t queue = h->queue;
    uintptr_t left = (uintptr_t)host_queue_read_upto(h) << STATE_BITS | RESTS;

    if (h->handed_out)
        left |= HANDED_OUT;
    if (h->answers > 0)
        left |= ANSWERED;
    line_up(t, turn.due > 0 ? &t->rested : &t->at_once, queue, turn);
    host_table_forget(t, queue);
    t->at[queue] = left;
    t->resting++;
}

/* The line that goes first. */
static struct host_line *line_of(struct host_table *t)
{
    return line_first(t, &t->at_once) != 0 ? &t->at_once : &t->rested;
}

uint32_t host_table_first(struct host_table *t, struct host_turn *turn)
{
    struct host_line *l = line_of(t);
    uint32_t queue = line_first(t, l);

    if (queue != 0)
        *turn = l->first->turn;
    return queue;
}

void host_table_pass(struct host_table *t)
{
    line_pass(t, line_of(t));
}

uint64_t host_table_memory(const struct host_table *t)
{
    return t->room * sizeof *t->at + t->parts * sizeof(struct host_line_part);
}
