/*
 * arena.h - memory of one lifetime, freed all at once.
 *
 * What one page needs while it is parsed lives in one arena. The ceiling is
 * named when the arena is made; past it allocations return NULL, so a hostile
 * page is refused instead of growing the process. If memory runs out below the
 * ceiling, that is not the page's fault, and ends the process (mem.h). One
 * thread at a time.
 */
#ifndef URLWEIR_BASE_ARENA_H
#define URLWEIR_BASE_ARENA_H

#include <stddef.h>

struct arena;

/* `ceiling`: most bytes it may hand out between two resets. */
struct arena *arena_new(size_t ceiling);
void arena_free(struct arena *a); /* NULL is fine */

/* `size` bytes aligned for any type, not zeroed; NULL over the ceiling. */
void *arena_try(struct arena *a, size_t size);
/* A copy of `len` bytes with a zero byte after it; NULL over the ceiling. */
char *arena_try_copy(struct arena *a, const void *bytes, size_t len);

/* Forget everything handed out; one block is kept for reuse. */
void arena_reset(struct arena *a);
/* Bytes handed out since the last reset. */
size_t arena_used(const struct arena *a);

#endif
