/*
 * redis_server.h - a real redis-server for a test, on a Unix socket of its own.
 *
 * It is killed with the test, however that ends. It is redis-server, else
 * valkey-server, or what URLWEIR_REDIS names; if there is none,
 * redis_server_missing() says so once and the test is skipped.
 */
#ifndef URLWEIR_TESTS_FILTER_REDIS_REDIS_SERVER_H
#define URLWEIR_TESTS_FILTER_REDIS_REDIS_SERVER_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/logger.h"
#include "filter/redis/redis_bloom.h"
#include "filter/redis/redis_connection.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

struct redis_server {
    char dir[64], socket[96], url[160];
    pid_t pid;
    bool logged;       /* an append-only file, synced with every write */
    const char *delay; /* us to load one key; NULL: none */
};

/* The tests provoke messages that would fill the screen. */
static inline void redis_server_quiet(void)
{
    int out = open("/dev/null", O_WRONLY);

    dup2(out, 2);
    close(out);
}

/* NULL: there is none. */
static inline const char *redis_server_program(void)
{
    static const char *const usual[] = {"/usr/bin/redis-server",
                                        "/usr/bin/valkey-server"};
    const char *named = getenv("URLWEIR_REDIS");

    if (named != NULL && named[0] != '\0')
        return named;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (access(usual[i], X_OK) == 0)
            return usual[i];
    return NULL;
}

static inline bool redis_server_missing(void)
{
    if (redis_server_program() != NULL)
        return false;
    fprintf(stderr, "neither redis-server nor valkey-server: tests with one "
                    "are skipped\n");
    return true;
}

static inline struct redis_place redis_server_place(
    const struct redis_server *s, const char *settings)
{
    struct redis_place p;
    struct buf error;
    char url[512];

    buf_init(&error, 1000);
    /* No test here is about a slow server, but many machines are slow. */
    snprintf(url, sizeof url, "%s?key=test&timeout=60s%s%s", s->url,
             settings[0] != '\0' ? "&" : "", settings);
    ck_assert_msg(redis_url_parse(&p, url, &error) == STATUS_OK, "%s",
                  buf_str(&error));
    buf_fini(&error);
    return p;
}

/* Sends one plain command, given as words; returns its integer, or -1. */
static inline long long redis_server_do(const struct redis_server *s,
                                        const char *command)
{
    redisContext *c = redisConnectUnix(s->socket);
    redisReply *r;
    long long n = -1;

    ck_assert(c != NULL && c->err == 0);
    r = redisCommand(c, command);
    ck_assert_ptr_nonnull(r);
    if (r->type == REDIS_REPLY_INTEGER)
        n = r->integer;
    freeReplyObject(r);
    redisFree(c);
    return n;
}

/* Adds that many keys, whose content does not matter. */
static inline void redis_server_fill(const struct redis_server *s, int n)
{
    redisContext *c = redisConnectUnix(s->socket);
    redisReply *r;

    ck_assert(c != NULL && c->err == 0);
    r = redisCommand(c, "EVAL %s 0 %d",
                     "for i = 1, ARGV[1] do redis.call('SET', 'k' .. i, i) end",
                     n);
    ck_assert(r != NULL && r->type != REDIS_REPLY_ERROR);
    freeReplyObject(r);
    redisFree(c);
}

/* While loading its data the server answers INFO, but refuses this command. */
static inline void redis_server_loaded(const struct redis_server *s)
{
    while (redis_server_do(s, "EXISTS nothing") != 0)
        usleep(1000);
}

/* The server answers clients after each kilobyte that it loads. */
static inline void redis_server_spawn(struct redis_server *s)
{
    s->pid = fork();
    ck_assert_int_ge(s->pid, 0);
    if (s->pid == 0) {
        int out = open("/dev/null", O_WRONLY);

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out, 1);
        dup2(out, 2);
        execl(redis_server_program(), "redis-server", "--port", "0",
              "--unixsocket", s->socket, "--dir", s->dir, "--save", "",
              "--appendonly", s->logged ? "yes" : "no", "--appendfsync",
              "always", "--logfile", "log", "--key-load-delay",
              s->delay != NULL ? s->delay : "0",
              "--loading-process-events-interval-bytes", "1024", (char *)NULL);
        _exit(127);
    }
}

static inline void redis_server_run(struct redis_server *s)
{
    const struct redis_place p = redis_server_place(s, "");
    struct redis_connection *l = redis_connection_new(&p, 120000);

    redis_server_spawn(s);
    ck_ok(redis_connection_ready(l));
    redis_connection_free(l);
    redis_server_loaded(s);
}

/* In memory where possible: its log is synced with every write. */
static inline void redis_server_start(struct redis_server *s, bool logged)
{
    logger_set_level(LOG_LEVEL_ERROR);
    snprintf(s->dir, sizeof s->dir, "%s/urlweir-redis.XXXXXX", scratch_root());
    ck_assert_ptr_nonnull(mkdtemp(s->dir));
    snprintf(s->socket, sizeof s->socket, "%s/socket", s->dir);
    snprintf(s->url, sizeof s->url, "redis+unix://%s", s->socket);
    s->logged = logged;
    redis_server_run(s);
}

static inline void redis_server_kill(struct redis_server *s)
{
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
}

static inline void redis_server_end(struct redis_server *s)
{
    char command[128];

    redis_server_kill(s);
    snprintf(command, sizeof command, "rm -rf %s", s->dir);
    ck_assert_int_eq(system(command), 0);
}

#endif
