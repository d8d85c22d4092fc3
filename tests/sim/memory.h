/*
 * memory.h - allocations of a simulated process, of which one may fail.
 *
 * Those of urlweir, of its libraries that it lends its own, and of SQLite.
 */
#ifndef URLWEIR_TESTS_SIM_MEMORY_H
#define URLWEIR_TESTS_SIM_MEMORY_H

#include <stdint.h>

/* Has SQLite allocate here; called once, before the first life. */
void memory_register(void);
/* Counts from now on, and has the nth fail; 0: none. */
void memory_begin(uint64_t nth);

#endif
