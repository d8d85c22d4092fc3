/* SPDX-License-Identifier: MIT */
/*
 * crawl_job_report.c - explain, audit, export, status of a crawl job.
 *
 * Each report runs this program again in a separate process: it does not use
 * the service's memory and time, and its errors do not get into other output.
 *
 * A report ends at once when its reader leaves, even if it has nothing to
 * write: the thread waits for both the end of the process and a broken pipe. A
 * report only reads, so it can be killed without notice.
 *
 * A process in the sandbox cannot start another: there a child of the helper
 * (report_helper.h) runs this code to start the report and wait for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/crawl_jobs/report_helper.h"
#include "job/exit_code.h"

#define SELF    "/proc/self/exe" /* works even if the file was replaced */

#define LOOK_MS 20 /* poll interval without a pidfd */

static bool begin(char *const argv[], int fd, pid_t *pid)
{
    extern char **environ;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, usual;
    int err;

    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
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
    posix_spawnattr_setsigdefault(&attr, &usual);
    err = posix_spawn(pid, SELF, &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return err == 0;
}

/* Returns when the process has ended, or, true, when the pipe `fd` has lost its
 * reader: poll always reports that, as POLLERR. */
static bool wait_for_either(pid_t pid, int fd)
{
    struct pollfd p[] = {
        {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN},
        {.fd = fd},
    };
    siginfo_t ended = {.si_pid = 0};
    int rc = 0;

    while (rc == 0 && ended.si_pid == 0 && p[1].revents == 0) {
        if (poll(p, 2, p[0].fd < 0 ? LOOK_MS : -1) < 0 && errno != EINTR)
            break;
        rc = waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT);
    }
    if (p[0].fd >= 0)
        close(p[0].fd);
    return p[1].revents != 0;
}

static enum status run_program(char *const argv[], int fd)
{
    bool left;
    pid_t pid;
    int code;

    if (!begin(argv, fd, &pid))
        return STATUS_IO;
    left = wait_for_either(pid, fd);
    if (left)
        kill(pid, SIGKILL); /* its id is not reused before we wait */
    while (waitpid(pid, &code, 0) < 0)
        if (errno != EINTR)
            return STATUS_IO;
    if (left)
        return STATUS_CLOSED;
    if (WIFSIGNALED(code))
        return WTERMSIG(code) == SIGPIPE ? STATUS_CLOSED : STATUS_IO;
    switch (WEXITSTATUS(code)) {
    case EXIT_DONE:
        return STATUS_OK;
    case EXIT_SEEDS: /* of audit: it found and reported a false negative */
        return STATUS_OK;
    case EXIT_USAGE:
        return STATUS_ARG;
    case EXIT_DAMAGED:
        return STATUS_DAMAGED;
    default:
        return STATUS_IO;
    }
}

/* Operands follow "--", so that a client's URL is never an option. */
enum status crawl_job_report_run(const char *dir, const struct crawls_report *r,
                                 int fd)
{
    char *url, *argv[9] = {(char *)"urlweir"};
    size_t n = 1;
    enum status st;

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
    st = run_program(argv, fd);
    free(url);
    return st;
}

enum status crawl_job_report(void *ctx, const char *dir,
                             const struct crawls_report *r, int fd)
{
    (void)ctx;
    return report_helper_is_there() ? report_helper_ask(dir, r, fd)
                                    : crawl_job_report_run(dir, r, fd);
}
