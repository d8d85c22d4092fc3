/* SPDX-License-Identifier: MIT */
/* number_set.c - a set of 64-bit numbers of which many are neighbours. */
#include "base/number_set.h"

#include <stdlib.h>

#include "base/mem.h"

#define ROOM_LEAST ((size_t)1024) /* words, a power of two */

void number_set_init(struct number_set *s, size_t most_octets)
{
    *s = (struct number_set){.most = most_octets / sizeof *s->words};
}

void number_set_fini(struct number_set *s)
{
    free(s->words);
    s->words = NULL;
    s->room = s->count = 0;
}

/* The place of a block: its own, or an empty one (Knuth 6.4). */
static struct number_word *place(const struct number_set *s, uint64_t block)
{
    size_t i = (size_t)((block * UINT64_C(0x9e3779b97f4a7c15)) >> 20);

    for (i &= s->room - 1; s->words[i].block != 0 && s->words[i].block != block;
         i = (i + 1) & (s->room - 1))
        ;
    return &s->words[i];
}

/* False: there is no room left. */
static bool make_room(struct number_set *s)
{
    struct number_set old = *s;

    s->room = s->room > 0 ? s->room * 2 : ROOM_LEAST;
    s->words =
        s->room <= s->most ? try_calloc(s->room, sizeof *s->words) : NULL;
    if (s->words == NULL) {
        number_set_fini(&old);
        number_set_fini(s);
        s->full = true;
        return false;
    }
    for (size_t i = 0; i < old.room; i++)
        if (old.words[i].block != 0)
            *place(s, old.words[i].block) = old.words[i];
    free(old.words);
    return true;
}

void number_set_add(struct number_set *s, uint64_t n)
{
    struct number_word *w;

    if (s->full || (s->count * 2 >= s->room && !make_room(s)))
        return;
    w = place(s, n / 64 + 1);
    s->count += w->block == 0;
    w->block = n / 64 + 1;
    w->bits |= UINT64_C(1) << n % 64;
}

bool number_set_has(const struct number_set *s, uint64_t n)
{
    if (s->full || s->room == 0)
        return s->full;
    return (place(s, n / 64 + 1)->bits >> n % 64 & 1) != 0;
}

size_t number_set_memory(const struct number_set *s)
{
    return s->room * sizeof *s->words;
}
