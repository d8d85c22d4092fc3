/*
 * trap_memory.h - what pages have shown, as far as a bounded memory goes.
 *
 * A cache from 64-bit digests to 32-bit values: which text the page of a
 * spelling had, which URL stands for it, which pieces of text and which
 * parameters a space has shown. An entry may be replaced by another at any
 * time, and nothing of it is on disk: what is forgotten looks new again, which
 * costs requests and no URL. One thread.
 */
#ifndef URLWEIR_FRONTIER_TRAPS_TRAP_MEMORY_H
#define URLWEIR_FRONTIER_TRAPS_TRAP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trap_memory;

/* Takes at most `octets`, from the first trap_memory_set() on. */
struct trap_memory *trap_memory_new(uint64_t octets);
void trap_memory_free(struct trap_memory *m); /* NULL is fine */
uint64_t trap_memory_octets(const struct trap_memory *m);

/* False: `key` is not known (any more). */
bool trap_memory_get(const struct trap_memory *m, uint64_t key, uint32_t *out);
void trap_memory_set(struct trap_memory *m, uint64_t key, uint32_t value);
/* Was `key` known? It is then. */
bool trap_memory_note(struct trap_memory *m, uint64_t key);

#endif
