/* SPDX-License-Identifier: MIT */
/*
 * report_helper.c - a helper that takes requests on a message socket.
 *
 *   request   what (1 octet), rows NUL format NUL dir NUL url NUL, and two
 *             descriptors: where the report is written, where its status goes
 *   answer    the status (1 octet); nothing where the helper could not
 *
 * Each request gets its own child process, since a report may take long. The
 * helper ends when the other end of its socket is closed, which the kernel does
 * however that process ends; it ignores signals to the process group.
 */
#include "job/crawl_jobs/report_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/logger.h"
#include "base/mem.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/exit_code.h"

static enum status crawl_job_report_run(const char *dir,
                                        const struct crawls_report *r, int fd);

#define MESSAGE_MOST ((size_t)128 << 10)
#define TEXTS        4

enum { TO_REPORT, TO_STATUS, FDS };

static int helper = -1; /* our end */

static bool report_helper_is_there(void)
{
    return helper >= 0;
}

/* ---- messages ---- */

union control {
    char room[CMSG_SPACE(FDS * sizeof(int))];
    struct cmsghdr align;
};

static bool send_request(struct bytes message, const int fds[FDS])
{
    struct iovec text = {(void *)message.at, message.len};
    union control c = {.room = ""};
    struct msghdr m = {.msg_iov = &text,
                       .msg_iovlen = 1,
                       .msg_control = c.room,
                       .msg_controllen = sizeof c.room};
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    ssize_t n;

    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(FDS * sizeof(int));
    memcpy(CMSG_DATA(h), fds, FDS * sizeof(int));
    do
        n = sendmsg(helper, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)message.len;
}

/* Returns the octets of a message; 0: the other end is closed. `fds` are -1 if
 * the message is incomplete. */
static ssize_t receive(int from, char *message, int fds[FDS])
{
    struct iovec text = {message, MESSAGE_MOST};
    union control c;
    struct msghdr m = {.msg_iov = &text,
                       .msg_iovlen = 1,
                       .msg_control = c.room,
                       .msg_controllen = sizeof c.room};
    const struct cmsghdr *h;
    ssize_t n;

    fds[TO_REPORT] = fds[TO_STATUS] = -1;
    do
        n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    h = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (h != NULL && h->cmsg_type == SCM_RIGHTS &&
        h->cmsg_len == CMSG_LEN(FDS * sizeof(int)))
        memcpy(fds, CMSG_DATA(h), FDS * sizeof(int));
    return n;
}

/* ---- in the helper ---- */

/* Splits the texts of a message after its first octet. */
static bool split(const char *message, size_t len, const char *out[TEXTS])
{
    const char *at = message + 1, *end = message + len;

    for (size_t i = 0; i < TEXTS; i++) {
        const char *nul = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;

        if (nul == NULL)
            return false;
        out[i] = at;
        at = nul + 1;
    }
    return at == end;
}

static enum status run_report(const char *message, size_t len, int to)
{
    struct crawls_report r = {.what = CRAWLS_STATUS};
    const char *texts[TEXTS];

    if (len < 1 || message[0] < CRAWLS_EXPLAIN || message[0] > CRAWLS_STATUS ||
        !split(message, len, texts))
        return STATUS_ARG;
    r.what = (enum crawls_what)message[0];
    r.rows = texts[0];
    r.format = texts[1];
    r.url = bytes_of_str(texts[3]);
    return crawl_job_report_run(texts[2], &r, to);
}

static void begin(const char *message, size_t len, const int fds[FDS])
{
    unsigned char status = STATUS_IO;

    if (fds[TO_REPORT] >= 0 && fork() == 0) {
        signal(SIGCHLD, SIG_DFL); /* it waits for the report */
        status = (unsigned char)run_report(message, len, fds[TO_REPORT]);
        _exit(write(fds[TO_STATUS], &status, 1) == 1 ? 0 : 1);
    }
    for (int i = 0; i < FDS; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Replaces the standard files, which are those of the process that started us,
 * by /dev/null: an open one would keep its reader waiting. */
static void let_go_of_files(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; nothing >= 0 && fd < 3; fd++)
        (void)dup2(nothing, fd);
}

static void live(int from)
{
    char *message = xmalloc(MESSAGE_MOST);
    int fds[FDS];
    ssize_t n;

    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* children that run reports end unnoticed */
    let_go_of_files();
    (void)prctl(PR_SET_NAME, "urlweir-reports", 0, 0, 0);
    while ((n = receive(from, message, fds)) > 0)
        begin(message, (size_t)n, fds);
    _exit(0);
}

/* Allows this program and its loader. */
static void enter_sandbox(const struct sandbox_path *paths, size_t count)
{
    static const char *const programs[] = {"/proc/self/exe", "/lib", "/lib64",
                                           "/usr/lib", "/usr/lib64"};
    const size_t more = sizeof programs / sizeof *programs;
    struct sandbox_path *all = xcalloc(count + more, sizeof *all);
    struct sandbox_options o = {all, count + more, true};

    memcpy(all, paths, count * sizeof *all);
    for (size_t i = 0; i < more; i++)
        all[count + i] = (struct sandbox_path){programs[i], SANDBOX_PROGRAM};
    sandbox_enter(&o);
    free(all);
}

void report_helper_start(const struct sandbox_path *paths, size_t count)
{
    int ends[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        log_warn("goes on without reports", "error=\"%s\"", strerror(errno));
        return;
    }
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        enter_sandbox(paths, count);
        live(ends[1]);
    }
    close(ends[1]);
    helper = ends[0];
    if (pid < 0)
        log_warn("goes on without reports", "error=\"%s\"", strerror(errno));
}

/* ---- asking ---- */

static void add_text(struct buf *b, struct bytes text)
{
    buf_add(b, text.at, text.len);
    buf_add_char(b, '\0');
}

static enum status ask(struct bytes message, int fd)
{
    unsigned char status = STATUS_IO;
    int ends[2], fds[FDS] = {[TO_REPORT] = fd};
    ssize_t n;
    bool sent;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return status_of_errno(errno);
    fds[TO_STATUS] = ends[1];
    sent = send_request(message, fds);
    close(ends[1]);
    do
        n = sent ? read(ends[0], &status, 1) : 0;
    while (n < 0 && errno == EINTR);
    close(ends[0]);
    return n == 1 && status < STATUS_COUNT_ ? (enum status)status : STATUS_IO;
}

/* Runs crawl_job_report_run in the helper, waits for the end of the report and
 * returns its status. Any thread. */
static enum status report_helper_ask(const char *dir,
                                     const struct crawls_report *r, int fd)
{
    struct buf message;
    enum status st;

    buf_init(&message, MESSAGE_MOST);
    buf_add_char(&message, (char)r->what);
    add_text(&message, bytes_of_str(r->rows != NULL ? r->rows : ""));
    add_text(&message, bytes_of_str(r->format != NULL ? r->format : ""));
    add_text(&message, bytes_of_str(dir));
    add_text(&message, r->url);
    st = buf_failed(&message);
    if (st == STATUS_OK)
        st = ask(buf_bytes(&message), fd);
    buf_fini(&message);
    return st;
}

/*
 * Explain, audit, export, status of a crawl job.
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

#define SELF    "/proc/self/exe" /* works even if the file was replaced */

#define LOOK_MS 20 /* poll interval without a pidfd */

static bool report_begin(char *const argv[], int fd, pid_t *pid)
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

    if (!report_begin(argv, fd, &pid))
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
static enum status crawl_job_report_run(const char *dir,
                                        const struct crawls_report *r, int fd)
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
