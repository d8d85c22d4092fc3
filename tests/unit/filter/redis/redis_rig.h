/*
 * redis_rig.h - a redis-server for each test of a suite: the fixture rig_begin
 * and rig_end, and NEEDS_SERVER in each test. Header only.
 */
#ifndef URLWEIR_TESTS_FILTER_REDIS_REDIS_RIG_H
#define URLWEIR_TESTS_FILTER_REDIS_REDIS_RIG_H

#include "tests/unit/filter/redis/redis_server.h"

static struct redis_server server;
static bool has_server;

#define NEEDS_SERVER                                                           \
    if (!has_server)                                                           \
    return

static inline void rig_begin(void)
{
    has_server = !redis_server_missing();
    if (has_server)
        redis_server_start(&server, false);
}

static inline void rig_end(void)
{
    if (has_server)
        redis_server_end(&server);
}

#endif
