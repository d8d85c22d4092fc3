/* SPDX-License-Identifier: MIT */
/*
 * hosted_report.c - explain, audit, export, status of a hosted crawl.
 *
 * Each is this program again, in a process of its own: what it takes of memory
 * and time is not the service's, what it says of errors does not get into
 * another's output, and a reader who leaves ends it with SIGPIPE.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/hosted_impl.h"

#define SELF "/proc/self/exe" /* also when the file was replaced since */

static enum status run(char *const argv[], int fd)
{
    extern char **environ;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, pipe;
    pid_t pid;
    int code, err;

    sigemptyset(&none);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, fd, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &pipe);
    err = posix_spawn(&pid, SELF, &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    if (err != 0)
        return STATUS_IO;
    while (waitpid(pid, &code, 0) < 0)
        if (errno != EINTR)
            return STATUS_IO;
    if (WIFSIGNALED(code))
        return WTERMSIG(code) == SIGPIPE ? STATUS_CLOSED : STATUS_IO;
    switch (WEXITSTATUS(code)) {
    case EXIT_DONE:
        return STATUS_OK;
    case EXIT_SEEDS: /* of audit: a false negative was found, and told */
        return STATUS_OK;
    case EXIT_USAGE:
        return STATUS_ARG;
    case EXIT_DAMAGED:
        return STATUS_DAMAGED;
    default:
        return STATUS_IO;
    }
}

/* Operands come behind "--": a URL of a client is never an option. */
enum status hosted_report(void *ctx, const char *dir,
                          const struct crawls_report *r, int fd)
{
    char *url, *argv[9] = {(char *)"urlweir"};
    size_t n = 1;
    enum status st;

    (void)ctx;
    switch (r->what) {
    case CRAWLS_EXPLAIN:
        argv[n++] = (char *)"explain";
        argv[n++] = (char *)"--json";
        break;
    case CRAWLS_AUDIT:
        argv[n++] = (char *)"audit";
        argv[n++] = (char *)"--json";
        break;
    case CRAWLS_STATUS:
        argv[n++] = (char *)"status";
        argv[n++] = (char *)"--json";
        break;
    case CRAWLS_EXPORT:
        argv[n++] = (char *)"export";
        argv[n++] = (char *)"--what";
        argv[n++] = (char *)r->rows;
        argv[n++] = (char *)"--format";
        argv[n++] = (char *)r->format;
        break;
    }
    url = xstrndup(r->url.at != NULL ? r->url.at : "", r->url.len);
    argv[n++] = (char *)"--";
    argv[n++] = (char *)dir;
    if (r->what == CRAWLS_EXPLAIN)
        argv[n++] = url;
    argv[n] = NULL;
    st = run(argv, fd);
    free(url);
    return st;
}
