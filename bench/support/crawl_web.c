/* SPDX-License-Identifier: MIT */
/*
 * crawl_web.c - the test web as a child of a benchmark.
 *
 * The child's standard input is a pipe nobody writes to: the kernel closes it
 * with this process, and --stdin-guard ends the server then; its own limit of
 * time would end a large benchmark in the middle.
 */
#include "bench/support/crawl_web.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

extern char **environ;

struct site {
    char program[PATH_MAX];
    char *web[SITE_OPTIONS_MOST + 1];
    size_t web_count;
    pid_t pid;
    int guard; /* our end of the child's standard input */
    uint16_t port;
    char seed[64];
};

static void find_program(char out[PATH_MAX])
{
    const char *named = getenv("SITE");
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *dir;

    self[n > 0 ? n : 0] = '\0';
    dir = strstr(self, "/bench/");
    if (dir != NULL)
        *dir = '\0';
    if (named != NULL)
        snprintf(out, PATH_MAX, "%s", named);
    else
        snprintf(out, PATH_MAX, "%.*s/tests/support/site", PATH_MAX - 32, self);
}

/* Starts `argv` with its output on *from and, if `guard` is not NULL, its input
 * on *guard. */
static enum status spawn(char *const *argv, pid_t *pid, int *from, int *guard)
{
    posix_spawn_file_actions_t actions;
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err = 0;

    if (pipe2(out, O_CLOEXEC) < 0 ||
        (guard != NULL && pipe2(in, O_CLOEXEC) < 0))
        err = errno;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (guard != NULL)
        posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    if (err == 0)
        err = posix_spawn(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    if (guard != NULL)
        close(in[0]);
    if (err != 0) {
        fprintf(stderr, "bench: %s: %s\n", argv[0], strerror(err));
        close(out[0]);
        if (guard != NULL)
            close(in[1]);
        return STATUS_IO;
    }
    *from = out[0];
    if (guard != NULL)
        *guard = in[1];
    return STATUS_OK;
}

static enum status read_all(int fd, struct buf *out)
{
    for (;;) {
        char *room = buf_room(out, 65536);
        ssize_t n = room != NULL ? read(fd, room, 65536) : 0;

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? STATUS_IO : buf_failed(out);
        buf_grew(out, (size_t)n);
    }
}

/* Reads the line `port N`, the child's only output. */
static enum status read_port(int fd, uint16_t *port)
{
    char line[32];
    size_t len = 0;
    unsigned n = 0;

    while (len < sizeof line - 1 && read(fd, line + len, 1) == 1)
        if (line[len++] == '\n')
            break;
    line[len] = '\0';
    if (sscanf(line, "port %u", &n) != 1 || n > UINT16_MAX)
        return STATUS_IO; /* the child reported why on stderr */
    *port = (uint16_t)n;
    return STATUS_OK;
}

static enum status start(struct site **out, char *verb, const char *const *web,
                         const char *const *server)
{
    static char guard[] = "--stdin-guard", most[] = "--max-time",
                seconds[] = "86400";
    struct site *s = xcalloc(1, sizeof *s);
    char *argv[2 * SITE_OPTIONS_MOST + 6] = {s->program, verb, guard, most,
                                             seconds};
    size_t n = 5;
    enum status st;
    int from = -1;

    s->guard = -1;
    find_program(s->program);
    for (; web != NULL && web[s->web_count] != NULL &&
           s->web_count < SITE_OPTIONS_MOST;
         s->web_count++)
        argv[n++] = s->web[s->web_count] = xstrdup(web[s->web_count]);
    for (; server != NULL && *server != NULL && n < 2 * SITE_OPTIONS_MOST + 5;
         server++)
        argv[n++] = (char *)(uintptr_t)*server;
    st = spawn(argv, &s->pid, &from, &s->guard);
    if (st == STATUS_OK)
        st = read_port(from, &s->port);
    if (from >= 0)
        close(from);
    if (st != STATUS_OK) {
        site_stop(s);
        return st;
    }
    snprintf(s->seed, sizeof s->seed, "http://127.0.0.1:%u/",
             (unsigned)s->port);
    *out = s;
    return STATUS_OK;
}

enum status site_start(struct site **out, const char *const *web,
                       const char *const *server)
{
    static char verb[] = "serve";

    return start(out, verb, web, server);
}

enum status site_start_files(struct site **out, const char *const *dirs)
{
    static char verb[] = "files";

    return start(out, verb, dirs, NULL);
}

void site_stop(struct site *s)
{
    if (s == NULL)
        return;
    if (s->pid > 0) {
        kill(s->pid, SIGTERM);
        while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (s->guard >= 0)
        close(s->guard);
    for (size_t i = 0; i < s->web_count; i++)
        free(s->web[i]);
    free(s);
}

uint16_t site_port(const struct site *s)
{
    return s->port;
}

const char *site_seed(const struct site *s)
{
    return s->seed;
}

enum status site_urls(const struct site *s, struct buf *out)
{
    static char urls[] = "urls", option[] = "--port";
    char program[PATH_MAX], port[8];
    char *argv[SITE_OPTIONS_MOST + 5] = {program, urls, option, port};
    pid_t pid = 0;
    int from = -1, code = -1;
    enum status st;

    memcpy(program, s->program, sizeof program);
    snprintf(port, sizeof port, "%u", (unsigned)s->port);
    for (size_t i = 0; i < s->web_count; i++)
        argv[4 + i] = s->web[i];
    st = spawn(argv, &pid, &from, NULL);
    if (st != STATUS_OK)
        return st;
    st = read_all(from, out);
    close(from);
    while (waitpid(pid, &code, 0) < 0 && errno == EINTR)
        continue;
    return st == STATUS_OK && code != 0 ? STATUS_IO : st;
}
