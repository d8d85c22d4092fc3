/*
 * redis_script.h - a Lua script that servers run.
 */
#ifndef URLWEIR_BASE_REDIS_REDIS_SCRIPT_H
#define URLWEIR_BASE_REDIS_REDIS_SCRIPT_H

/* `text` and `name` are static. */
struct redis_script {
    unsigned number; /* of its table, from 0 */
    const char *name, *text;
};

#endif
