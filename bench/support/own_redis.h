/*
 * own_redis.h - a redis-server of a benchmark's own, on a Unix socket.
 */
#ifndef URLWEIR_BENCH_OWN_REDIS_H
#define URLWEIR_BENCH_OWN_REDIS_H

#include <stdbool.h>
#include <sys/types.h>

#include <hiredis/hiredis.h>

struct own_redis {
    char dir[64], socket[96];
    pid_t pid;
    redisContext *c;
};

/* False: redis-server is not installed, or does not start. */
bool own_redis_start(struct own_redis *s);
void own_redis_stop(struct own_redis *s);
/* The number behind `name` ("used_memory:") in a section of INFO. */
double own_redis_info(struct own_redis *s, const char *section,
                      const char *name);
/* CPU of the server so far, in ns. */
double own_redis_cpu(struct own_redis *s);

#endif
