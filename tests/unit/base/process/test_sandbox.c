/* SPDX-License-Identifier: MIT */
#include "base/process/sandbox.h"

#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

/* Two directories: the process may write `in`; `out` belongs to somebody
 * else. */
static char base_dir[64], in[96], out[96];
static int listener = -1;

static const char *at(const char *dir, const char *name)
{
    static char path[2][160];
    static unsigned turn;
    char *p = path[turn++ % 2];

    snprintf(p, sizeof path[0], "%s/%s", dir, name);
    return p;
}

static void make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0644);

    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void address(struct sockaddr_un *a)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(a->sun_path, sizeof a->sun_path, "%s/socket", out);
}

static void make_dirs(void)
{
    struct sockaddr_un a;

    snprintf(base_dir, sizeof base_dir, "/tmp/urlweir-sandbox-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(base_dir));
    snprintf(in, sizeof in, "%s/in", base_dir);
    snprintf(out, sizeof out, "%s/out", base_dir);
    ck_assert_int_eq(mkdir(in, 0755), 0);
    ck_assert_int_eq(mkdir(out, 0755), 0);
    make_file(at(in, "file"));
    make_file(at(out, "file"));
    address(&a);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&a, sizeof a), 0);
    ck_assert_int_eq(listen(listener, 8), 0);
}

static void remove_dirs(void)
{
    static const char *const names[] = {"file", "new", "moved", "link",
                                        "socket"};

    close(listener);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unlink(at(in, names[i]));
        unlink(at(out, names[i]));
    }
    rmdir(in);
    rmdir(out);
    rmdir(base_dir);
}

/* ---- attempts; true: it worked ---- */

static bool opens(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}
static bool read_outside(void)
{
    return opens(at(out, "file"), O_RDONLY);
}
static bool write_outside(void)
{
    return opens(at(out, "file"), O_WRONLY);
}
static bool create_outside(void)
{
    return opens(at(out, "new"), O_WRONLY | O_CREAT);
}
static bool cut_outside(void)
{
    return truncate(at(out, "file"), 0) == 0;
}
static bool remove_outside(void)
{
    return unlink(at(out, "file")) == 0;
}
static bool move_outside(void)
{
    return rename(at(in, "file"), at(out, "moved")) == 0;
}
static bool link_inside(void)
{
    return symlink("/etc", at(in, "link")) == 0;
}
static bool write_of_the_system(void)
{
    return opens("/etc/passwd", O_WRONLY);
}
static bool list_outside(void)
{
    return opens(out, O_RDONLY | O_DIRECTORY);
}
static bool signal_parent(void)
{
    return kill(getppid(), 0) == 0;
}
static bool start_a_program(void)
{
    execl("/bin/true", "true", (char *)NULL);
    return false; /* reaching this line means it was refused */
}
static bool start_a_process(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    return pid > 0 && waitpid(pid, NULL, 0) == pid;
}
static bool be_traced(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}
static bool leave_the_name_space(void)
{
    return unshare(CLONE_FS) == 0;
}
static bool change_a_mode(void)
{
    return chmod(at(out, "file"), 0600) == 0;
}
/* Of our own parent, which a child may change like itself. */
static bool limit_another(void)
{
    struct rlimit now;

    return prlimit(getppid(), RLIMIT_CORE, NULL, &now) == 0 &&
           prlimit(getppid(), RLIMIT_CORE, &now, NULL) == 0;
}
static bool slow_another(void)
{
    return setpriority(PRIO_PROCESS, (id_t)getppid(),
                       getpriority(PRIO_PROCESS, (id_t)getppid())) == 0;
}
static bool slow_all_of_a_user(void)
{
    return setpriority(PRIO_USER, 0, getpriority(PRIO_USER, 0)) == 0;
}
static bool slow_another_at_disks(void)
{
    return syscall(SYS_ioprio_set, 1, getppid(), 2 << 13 | 4) == 0;
}
static bool pin_another(void)
{
    cpu_set_t set;

    return sched_getaffinity(getppid(), sizeof set, &set) == 0 &&
           sched_setaffinity(getppid(), sizeof set, &set) == 0;
}
static bool reschedule_another(void)
{
    const struct sched_param none = {.sched_priority = 0};

    return sched_setscheduler(getppid(), SCHED_OTHER, &none) == 0;
}
static bool have_another_signalled(void)
{
    int fds[2];

    return pipe(fds) == 0 && fcntl(fds[0], F_SETOWN, getppid()) == 0;
}
static bool choose_the_signal(void)
{
    int fds[2];

    return pipe(fds) == 0 && fcntl(fds[0], F_SETSIG, SIGKILL) == 0;
}
static bool have_another_signalled_by_a_socket(void)
{
    int pid = getppid(), fd = socket(AF_INET, SOCK_STREAM, 0);

    return fd >= 0 && ioctl(fd, SIOCSPGRP, &pid) == 0;
}
static bool share_memory_with_others(void)
{
    return shmget(IPC_PRIVATE, 4096, 0600) >= 0;
}
static bool date_a_file_outside(void)
{
    static const struct timespec times[2] = {{1, 0}, {1, 0}};

    return utimensat(AT_FDCWD, at(out, "file"), times, 0) == 0;
}
static bool date_a_file_of_the_system(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    return fd >= 0 && futimens(fd, NULL) == 0;
}
static bool pair_of_datagrams(void)
{
    int fds[2];

    return socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) == 0;
}
static bool other_netlink(void)
{
    return socket(AF_NETLINK, SOCK_RAW, 15 /* NETLINK_KOBJECT_UEVENT */) >= 0;
}
static bool connect_a_unix_socket(void)
{
    struct sockaddr_un a;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    address(&a);
    return fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0;
}
static bool listen_anew(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    return fd >= 0 && listen(fd, 1) == 0;
}

/* What must still work. */
static bool work_inside(void)
{
    bool good = opens(at(in, "new"), O_RDWR | O_CREAT) &&
                rename(at(in, "new"), at(in, "moved")) == 0 &&
                truncate(at(in, "moved"), 3) == 0 &&
                mkdir(at(in, "new"), 0755) == 0 &&
                rename(at(in, "moved"), at(in, "new/moved")) == 0 &&
                unlink(at(in, "new/moved")) == 0;

    return rmdir(at(in, "new")) == 0 && good;
}
static void *nothing(void *ctx)
{
    return ctx;
}
static bool start_a_thread(void)
{
    pthread_t t;

    return pthread_create(&t, NULL, nothing, NULL) == 0 &&
           pthread_join(t, NULL) == 0;
}
static bool look_up_a_name(void)
{
    struct addrinfo *a = NULL;

    return getaddrinfo("localhost", "80", NULL, &a) == 0 && a != NULL;
}
static bool decode_a_charset(void)
{
    return iconv_open("UTF-8", "EUC-JP") != (iconv_t)-1;
}
static bool make_an_internet_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}
static bool read_of_the_system(void)
{
    return opens("/etc/passwd", O_RDONLY) &&
           opens("/proc/self/stat", O_RDONLY) &&
           opens("/dev/urandom", O_RDONLY) && opens("/dev/null", O_RDWR);
}
static bool signal_itself(void)
{
    return kill(getpid(), 0) == 0;
}
static bool limit_itself(void)
{
    struct rlimit now;
    cpu_set_t set;

    return getrlimit(RLIMIT_NOFILE, &now) == 0 &&
           setrlimit(RLIMIT_NOFILE, &now) == 0 &&
           sched_getaffinity(0, sizeof set, &set) == 0 &&
           sched_setaffinity(0, sizeof set, &set) == 0 &&
           setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0)) == 0;
}
static bool be_known_as_ended(void)
{
    signal(SIGABRT, SIG_IGN);
    return raise(SIGABRT) == 0;
}

/* ---- one attempt in a child, with or without the walls ---- */

enum walls { NONE, ENTERED, SEALED };

static void enter(enum walls w)
{
    const struct sandbox_path paths[] = {{in, SANDBOX_WRITE},
                                         {"/not/there", SANDBOX_WRITE}};
    const struct sandbox_options o = {paths, 2, false};

    if (w >= ENTERED)
        sandbox_enter(&o);
    if (w >= SEALED)
        sandbox_seal(false);
}

static bool works(bool (*attempt)(void), enum walls w)
{
    pid_t pid = fork();
    int code;

    if (pid == 0) {
        enter(w);
        _exit(attempt() ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &code, 0), pid);
    ck_assert_msg(WIFEXITED(code), "ended by signal %d", WTERMSIG(code));
    return WEXITSTATUS(code) == 0;
}

/* Does this kernel, in this container, have the wall? */
static bool text_has(const char *wall)
{
    int ends[2], code;
    char text[160] = "";
    pid_t pid;

    ck_assert_int_eq(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        enter(ENTERED);
        _exit(write(ends[1], sandbox_text(), strlen(sandbox_text())) < 0);
    }
    close(ends[1]);
    ck_assert_int_ge(read(ends[0], text, sizeof text - 1), 0);
    close(ends[0]);
    waitpid(pid, &code, 0);
    return strstr(text, wall) == text ||
           (strstr(text, ", ") != NULL &&
            strcmp(strstr(text, ", ") + 2, wall) == 0);
}

struct attempt {
    bool (*it)(void);
    const char *name;
};
#define A(f)                                                                   \
    {                                                                          \
        f, #f                                                                  \
    }

/* Checks that each attempt fails with the wall, and only because of it. */
static void all_refused(const struct attempt *a, size_t n, enum walls w)
{
    for (size_t i = 0; i < n; i++) {
        ck_assert_msg(!works(a[i].it, w), "not refused: %s", a[i].name);
        ck_assert_msg(works(a[i].it, NONE), "never works: %s", a[i].name);
        make_file(at(in, "file"));
        make_file(at(out, "file"));
        unlink(at(in, "link"));
    }
}

FIXTURE(make_dirs, remove_dirs);

TEST(landlock_leaves_nothing_outside_to_be_read_or_changed)
{
    static const struct attempt all[] = {
        A(read_outside), A(list_outside), A(write_outside), A(create_outside),
        A(cut_outside),  A(move_outside), A(link_inside),   A(remove_outside),
    };

    if (!text_has("landlock"))
        return;
    all_refused(all, sizeof all / sizeof *all, ENTERED);
    ck_assert(!works(write_of_the_system, ENTERED));
}

TEST(seccomp_refuses_what_no_thread_needs)
{
    static const struct attempt all[] = {
        A(start_a_program),
        A(start_a_process),
        A(be_traced),
        A(leave_the_name_space),
        A(pair_of_datagrams),
        A(other_netlink),
        A(signal_parent),
        A(change_a_mode),
        A(limit_another),
        A(slow_another),
        A(slow_all_of_a_user),
        A(slow_another_at_disks),
        A(pin_another),
        A(reschedule_another),
        A(have_another_signalled),
        A(choose_the_signal),
        A(have_another_signalled_by_a_socket),
        A(share_memory_with_others),
        A(date_a_file_outside),
        A(date_a_file_of_the_system),
    };

    if (!text_has("seccomp"))
        return;
    all_refused(all, sizeof all / sizeof *all, ENTERED);
}

TEST(once_all_listens_no_unix_socket_is_made_and_none_listens)
{
    static const struct attempt all[] = {A(connect_a_unix_socket),
                                         A(listen_anew)};

    if (!text_has("seccomp"))
        return;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ck_assert_msg(works(all[i].it, ENTERED), "before: %s", all[i].name);
    all_refused(all, sizeof all / sizeof *all, SEALED);
}

TEST(what_a_crawl_needs_works_inside)
{
    static const struct attempt all[] = {
        A(work_inside),      A(start_a_thread),          A(look_up_a_name),
        A(decode_a_charset), A(make_an_internet_socket), A(read_of_the_system),
        A(signal_itself),    A(be_known_as_ended),       A(limit_itself),
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ck_assert_msg(works(all[i].it, SEALED), "refused: %s", all[i].name);
}

/* Threads that already run when the sockets are sealed lose them too. */
static int go[2];
static void *try_later(void *ctx)
{
    char c;

    *(bool *)ctx = read(go[0], &c, 1) == 1 && connect_a_unix_socket();
    return NULL;
}
static bool connect_from_an_older_thread(void)
{
    bool worked = false;
    pthread_t t;

    ck_assert_int_eq(pipe(go), 0);
    ck_assert_int_eq(pthread_create(&t, NULL, try_later, &worked), 0);
    sandbox_seal(false);
    ck_assert_int_eq(write(go[1], "x", 1), 1);
    pthread_join(t, NULL);
    return worked;
}
TEST(sealing_holds_for_threads_that_run_already)
{
    if (!text_has("seccomp"))
        return;
    ck_assert(!works(connect_from_an_older_thread, ENTERED));
    ck_assert(works(connect_from_an_older_thread, NONE));
}

/* As in a container whose rules allow none of these calls. */
static bool goes_on_without(void)
{
    static const char *const calls[] = {"landlock_create_ruleset", "seccomp"};
    scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);

    for (size_t i = 0; i < 2; i++) {
        int call = seccomp_syscall_resolve_name(calls[i]);

        if (call == __NR_SCMP_ERROR)
            call = 444;
        if (seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), call, 0) != 0)
            return false;
    }
    if (seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1,
                         SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP)) != 0 ||
        seccomp_load(c) != 0)
        return false;
    enter(SEALED);
    return strncmp(sandbox_text(),
                   "no landlock (Operation not permitted), no "
                   "seccomp (",
                   51) == 0 &&
           write_outside() && start_a_process();
}
TEST(without_the_right_to_walls_it_goes_on_and_says_so)
{
    if (!SANDBOX_SANITIZED)
        ck_assert(works(goes_on_without, NONE));
}

/* ---- sanitizers ---- */

void __sanitizer_set_report_path(const char *path) __attribute__((weak));

static int to_stderr[2];

/* Ends with a report, in a process whose options name a file for it that it may
 * not write. */
static bool reads_freed_memory(void)
{
    char *volatile p = malloc(8);

    __sanitizer_set_report_path(at(out, "report"));
    enter(ENTERED);
    if (dup2(to_stderr[1], STDERR_FILENO) < 0)
        return false;
    free(p);
    return *p == 1;
}
TEST(a_sanitizer_reports_on_standard_error_and_by_its_status)
{
    char said[4096] = "";
    size_t len = 0;
    ssize_t n = 1;
    pid_t pid;
    int code;

    if (!SANDBOX_SANITIZED)
        return;
    ck_assert_int_eq(pipe(to_stderr), 0);
    pid = fork();
    if (pid == 0)
        _exit(reads_freed_memory());
    close(to_stderr[1]);
    while (n > 0 && len < sizeof said - 1) {
        n = read(to_stderr[0], said + len, sizeof said - 1 - len);
        len += n > 0 ? (size_t)n : 0;
    }
    close(to_stderr[0]);
    ck_assert_int_eq(waitpid(pid, &code, 0), pid);
    ck_assert_msg(strstr(said, "AddressSanitizer: heap-use-after-free") != NULL,
                  "said: %s", said);
    ck_assert_int_eq(WEXITSTATUS(code), 99); /* the Makefile's */
}

/* ---- secrets ---- */

static bool has_no_core(void)
{
    struct rlimit most;

    secret_held();
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 &&
           getrlimit(RLIMIT_CORE, &most) == 0 && most.rlim_max == 0 &&
           opens("/proc/self/fd", O_RDONLY) &&
           opens("/proc/self/statm", O_RDONLY);
}
static bool asks_to_be_dumped_again(void)
{
    secret_held();
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}
/* Promise (Installing and checks): a process that holds a token, key or
 * cookie dumps no core. See also `tests/cli/sandbox.sh`. */
TEST(a_process_with_a_secret_leaves_no_core)
{
    static const struct attempt undo[] = {A(asks_to_be_dumped_again)};

    if (SANDBOX_SANITIZED)
        return;
    ck_assert(works(has_no_core, NONE));
    ck_assert(works(has_no_core, ENTERED));
    if (text_has("seccomp"))
        all_refused(undo, 1, ENTERED);
}
