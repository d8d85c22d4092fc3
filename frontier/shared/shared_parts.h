/*
 * shared_parts.h - Lua text that scripts of a shared frontier begin with.
 *
 * shared_parts.c says which keys there are and what each part defines.
 */
#ifndef URLWEIR_FRONTIER_SHARED_SHARED_PARTS_H
#define URLWEIR_FRONTIER_SHARED_SHARED_PARTS_H

extern const char shared_head[];    /* names of keys, the time */
extern const char shared_again[];   /* the answer of the first run */
extern const char shared_queues[];  /* crawls and queues of the call */
extern const char shared_changes[]; /* of URLs, and their counts */

#endif
