/* SPDX-License-Identifier: MIT */
/*
 * queue_delta.c - the ids that are in no queue segment yet, by queue.
 *
 * The entries of a queue form a ring: we store its tail, and the tail's next is
 * the head. An id is an index plus the base, so a cursor that is one of our ids
 * needs no search.
 */
#include "storage/index/queue_delta.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct queue_delta {
    uint64_t base;
    uint32_t *queue_of; /* entry i: id base + i + 1 */
    uint32_t *next;     /* index of the next in the ring */
    uint32_t count, cap;
    uint32_t *tails; /* entry i: queue i + 1; index + 1, 0: empty */
    uint32_t tail_cap;
};

struct queue_delta *queue_delta_new(uint64_t base)
{
    struct queue_delta *t = xcalloc(1, sizeof *t);

    t->base = base;
    return t;
}

void queue_delta_free(struct queue_delta *t)
{
    if (t == NULL)
        return;
    free(t->queue_of);
    free(t->next);
    free(t->tails);
    free(t);
}

static void make_room(struct queue_delta *t, uint32_t queue)
{
    if (t->count == t->cap) {
        t->cap = t->cap > 0 ? t->cap + t->cap / 2 : 4096;
        t->queue_of = xrealloc(t->queue_of, t->cap * sizeof *t->queue_of);
        t->next = xrealloc(t->next, t->cap * sizeof *t->next);
    }
    if (queue > t->tail_cap) {
        uint32_t cap = t->tail_cap + t->tail_cap / 2;

        if (cap < queue + 64)
            cap = queue + 64;
        t->tails = xrealloc(t->tails, cap * sizeof *t->tails);
        memset(t->tails + t->tail_cap, 0,
               (cap - t->tail_cap) * sizeof *t->tails);
        t->tail_cap = cap;
    }
}

void queue_delta_add(struct queue_delta *t, uint32_t queue)
{
    uint32_t i = t->count, tail;

    make_room(t, queue);
    t->count++;
    t->queue_of[i] = queue;
    if (queue == 0)
        return;
    tail = t->tails[queue - 1];
    t->next[i] = tail > 0 ? t->next[tail - 1] : i;
    if (tail > 0)
        t->next[tail - 1] = i;
    t->tails[queue - 1] = i + 1;
}

void queue_delta_prefetch(const struct queue_delta *t, uint32_t queue)
{
    if (queue <= t->tail_cap)
        __builtin_prefetch(&t->tails[queue - 1]);
}

uint64_t queue_delta_base(const struct queue_delta *t)
{
    return t->base;
}

uint64_t queue_delta_count(const struct queue_delta *t)
{
    return t->count;
}

uint32_t queue_delta_queue(const struct queue_delta *t, uint64_t id)
{
    return id > t->base && id - t->base <= t->count
               ? t->queue_of[id - t->base - 1]
               : 0;
}

size_t queue_delta_take(const struct queue_delta *t, uint32_t queue,
                        uint64_t after, const struct done_bits *done,
                        uint64_t *ids, size_t most)
{
    uint32_t tail = queue <= t->tail_cap ? t->tails[queue - 1] : 0, i;
    size_t n = 0;

    if (tail == 0 || most == 0 || after >= t->base + tail)
        return 0;
    i = t->next[tail - 1];
    if (queue_delta_queue(t, after) == queue)
        i = t->next[after - t->base - 1];
    for (;; i = t->next[i]) {
        uint64_t id = t->base + i + 1;

        if (id > after && !done_bits_has(done, id))
            ids[n++] = id;
        if (n == most || i == tail - 1)
            return n;
    }
}

static int compare_queues(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

void queue_delta_each(struct queue_delta *t, const struct done_bits *done,
                      void (*visit)(void *ctx, uint32_t queue, uint64_t id),
                      void *ctx)
{
    uint32_t *queues = xmalloc(t->count * sizeof *queues), n = 0;

    for (uint32_t i = 0; i < t->count; i++) {
        if (t->queue_of[i] > 0 && t->tails[t->queue_of[i] - 1] == i + 1)
            queues[n++] = t->queue_of[i];
    }
    qsort(queues, n, sizeof *queues, compare_queues);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t tail = t->tails[queues[k] - 1] - 1, i = tail;

        do {
            i = t->next[i];
            if (!done_bits_has(done, t->base + i + 1))
                visit(ctx, queues[k], t->base + i + 1);
        } while (i != tail);
    }
    free(queues);
}

void queue_delta_flushed(struct queue_delta *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->queue_of[i] > 0)
            t->tails[t->queue_of[i] - 1] = 0;
    }
    t->base += t->count;
    t->count = 0;
}

uint64_t queue_delta_memory(const struct queue_delta *t)
{
    return sizeof *t + (uint64_t)t->cap * 8 + (uint64_t)t->tail_cap * 4;
}
