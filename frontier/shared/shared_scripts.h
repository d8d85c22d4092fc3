/*
 * shared_scripts.h - the Lua scripts of a shared frontier: what a call does to
 * one shard is one script there, whole or not at all.
 *
 * shared_parts.c has the keys of a shard, shared_scripts.c what each script
 * takes and answers. Scripts are made for shared_call.c, which declares every
 * key that a script touches; each may run twice (base/redis/redis_cluster.h).
 * Any thread.
 */
#ifndef URLWEIR_FRONTIER_SHARED_SHARED_SCRIPTS_H
#define URLWEIR_FRONTIER_SHARED_SHARED_SCRIPTS_H

#include "base/redis/redis_script.h"

enum shared_script_number {
    SHARED_BEGIN,
    SHARED_PUT,
    SHARED_LOOK,
    SHARED_CLAIM,
    SHARED_WHOSE,
    SHARED_SETTLE,
    SHARED_FIND,
    SHARED_COUNT,
    SHARED_COUNT_QUEUE,
    SHARED_TOTAL,
    SHARED_QUEUES,
    SHARED_LIST,
    SHARED_SET,
    SHARED_REMOVE,
    SHARED_PURGE,
    SHARED_NAMES,
    SHARED_TUNE,
    SHARED_SCAN,
    SHARED_DATES,
    SHARED_SCRIPTS /* how many there are */
};

/* All of them, by number. */
const struct redis_script *const *shared_scripts(void);
/* One of them, after shared_scripts(). */
const struct redis_script *shared_script(enum shared_script_number n);

#endif
