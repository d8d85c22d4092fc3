/* SPDX-License-Identifier: MIT */
/* own_redis.c - a redis-server of a benchmark's own, on a Unix socket. */
#include "bench/support/own_redis.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void own_redis_stop(struct own_redis *s)
{
    if (s->c != NULL)
        redisFree(s->c);
    if (s->pid > 0) {
        kill(s->pid, SIGTERM);
        waitpid(s->pid, NULL, 0);
    }
    unlink(s->socket);
    rmdir(s->dir);
}

bool own_redis_start(struct own_redis *s)
{
    static const char *const programs[] = {"redis-server", "valkey-server"};

    *s = (struct own_redis){.dir = "/tmp/urlweir-redis.XXXXXX"};
    if (mkdtemp(s->dir) == NULL)
        return false;
    snprintf(s->socket, sizeof s->socket, "%s/socket", s->dir);
    s->pid = fork();
    if (s->pid == 0) {
        if (freopen("/dev/null", "w", stdout) == NULL ||
            freopen("/dev/null", "w", stderr) == NULL)
            _exit(127);
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
            execlp(programs[i], programs[i], "--port", "0", "--unixsocket",
                   s->socket, "--save", "", "--appendonly", "no", "--dir",
                   s->dir, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 100 && s->pid > 0; i++) {
        s->c = redisConnectUnix(s->socket);
        if (s->c != NULL && s->c->err == 0)
            return true;
        if (s->c != NULL)
            redisFree(s->c);
        s->c = NULL;
        if (waitpid(s->pid, NULL, WNOHANG) == s->pid)
            s->pid = 0; /* neither is installed */
        usleep(50000);
    }
    own_redis_stop(s);
    return false;
}

double own_redis_info(struct own_redis *s, const char *section,
                      const char *name)
{
    redisReply *r = redisCommand(s->c, "INFO %s", section);
    const char *at = r != NULL && r->str != NULL ? strstr(r->str, name) : NULL;
    double n = at != NULL ? strtod(at + strlen(name), NULL) : 0;

    freeReplyObject(r);
    return n;
}

double own_redis_cpu(struct own_redis *s)
{
    return 1e9 * (own_redis_info(s, "cpu", "used_cpu_sys:") +
                  own_redis_info(s, "cpu", "used_cpu_user:"));
}
