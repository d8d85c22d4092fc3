/* SPDX-License-Identifier: MIT */
/*
 * sandbox.c - restricts which files can be read and written (Landlock), and
 * which system calls are made (seccomp); root becomes another user.
 *
 * Landlock is used by system calls: Debian 12 has no library for it, and its
 * <linux/landlock.h> is of the first version. We ask the kernel for its version
 * and use only rights of that version; it accepts a struct longer than it knows
 * if the rest is zero.
 *
 * The process cannot make links anywhere: a link in DIR must have been made by
 * the user, so the next start can safely follow it (a WARC directory on another
 * disk). It cannot make device files either. A rule covers a directory and all
 * below it, by inode: a file that is replaced by renaming needs a rule for its
 * directory.
 *
 * Source: landlock(7), landlock_create_ruleset(2).
 */
#include "base/process/sandbox.h"

#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/logger.h"

#ifndef SYS_landlock_create_ruleset /* the same on all architectures */
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

enum { ASK_VERSION = 1, PATH_BENEATH = 1, VERSION_KNOWN = 7 };

/* struct landlock_ruleset_attr, landlock_path_beneath_attr */
struct ruleset {
    uint64_t files, network, scoped;
};
struct beneath {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

#define BIT(n) (UINT64_C(1) << (n))
enum { EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE };
enum { MAKE_DIR = 7, MAKE_REG, MAKE_SOCK, REFER = 13, TRUNCATE, IOCTL_DEV };

#define OF_READ (BIT(READ_FILE) | BIT(READ_DIR))
#define OF_WRITE                                                               \
    (OF_READ | BIT(WRITE_FILE) | BIT(REMOVE_DIR) | BIT(REMOVE_FILE) |          \
     BIT(MAKE_DIR) | BIT(MAKE_REG) | BIT(MAKE_SOCK) | BIT(REFER) |             \
     BIT(TRUNCATE) | BIT(IOCTL_DEV))
#define OF_PROGRAM (OF_READ | BIT(EXECUTE))
/* Rights that apply to a file that is not a directory. */
#define OF_FILE                                                                \
    (BIT(EXECUTE) | BIT(WRITE_FILE) | BIT(READ_FILE) | BIT(TRUNCATE) |         \
     BIT(IOCTL_DEV))

/* Other processes' abstract sockets, and signals to them. */
#define SCOPES (BIT(0) | BIT(1))

static const struct sandbox_path everywhere[] = {
    {"/etc", SANDBOX_READ}, /* as a whole, since resolv.conf is replaced */
    {"/usr", SANDBOX_READ},
    {"/lib", SANDBOX_READ},
    {"/lib32", SANDBOX_READ},
    {"/lib64", SANDBOX_READ},
    {"/nix/store", SANDBOX_READ},
    {"/gnu/store", SANDBOX_READ},
    {"/proc", SANDBOX_READ},
    {"/sys", SANDBOX_READ},
    {"/run/systemd/resolve", SANDBOX_READ},
    {"/run/NetworkManager", SANDBOX_READ},
    {"/run/resolvconf", SANDBOX_READ},
    {"/run/nscd", SANDBOX_READ},
    {"/var/lib/ca-certificates", SANDBOX_READ},
    {"/dev/null", SANDBOX_WRITE},
    {"/dev/zero", SANDBOX_READ},
    {"/dev/random", SANDBOX_READ},
    {"/dev/urandom", SANDBOX_READ},
};

/* Environment variables with paths that libraries read. */
static const char *const named[] = {
    "SSL_CERT_FILE",   "SSL_CERT_DIR", "OPENSSL_CONF",
    "OPENSSL_MODULES", "ICU_DATA",     "LOCPATH",
    "GCONV_PATH",      "HOSTALIASES",  "TZDIR",
};

static long ask_version(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);
}

/* Rights that a kernel of this version knows. */
static uint64_t known(long version)
{
    unsigned bits = 13;

    if (version >= 2)
        bits = REFER + 1;
    if (version >= 3)
        bits = TRUNCATE + 1;
    if (version >= 5)
        bits = IOCTL_DEV + 1;
    return BIT(bits) - 1;
}

static uint64_t rights_of(enum sandbox_use use)
{
    static const uint64_t rights[] = {
        [SANDBOX_READ] = OF_READ,
        [SANDBOX_WRITE] = OF_WRITE,
        [SANDBOX_PROGRAM] = OF_PROGRAM,
    };

    return rights[use];
}

static int allow(int set, const char *path, uint64_t rights)
{
    struct beneath rule = {rights, open(path, O_PATH | O_CLOEXEC)};
    struct stat sb;
    int err = 0;

    if (rule.fd < 0)
        return 0; /* a missing path needs no rule */
    if (fstat(rule.fd, &sb) != 0)
        err = errno;
    else if (!S_ISDIR(sb.st_mode))
        rule.allowed &= OF_FILE;
    if (err == 0 &&
        syscall(SYS_landlock_add_rule, set, PATH_BENEATH, &rule, 0) != 0)
        err = errno;
    close(rule.fd);
    /* A pipe, such as a shell's <(...), has no rule and may be opened. */
    return err == EBADFD ? 0 : err;
}

static int allow_all(int set, const struct sandbox_options *o, uint64_t all)
{
    int err = 0;

    for (size_t i = 0; err == 0 && i < sizeof everywhere / sizeof *everywhere;
         i++)
        err =
            allow(set, everywhere[i].path, rights_of(everywhere[i].use) & all);
    for (size_t i = 0; err == 0 && i < sizeof named / sizeof *named; i++) {
        const char *path = getenv(named[i]);

        if (path != NULL)
            err = allow(set, path, OF_READ);
    }
    for (size_t i = 0; err == 0 && i < o->path_count; i++)
        err = allow(set, o->paths[i].path, rights_of(o->paths[i].use) & all);
    return err;
}

/* Returns 0 and the version of the interface in use, or an errno value. */
static int sandbox_landlock(const struct sandbox_options *o, int *version)
{
    long v = ask_version();
    struct ruleset rules = {.files = 0};
    int set, err;

    if (v < 1)
        return v < 0 ? errno : ENOSYS;
    rules.files = known(v);
    if (SANDBOX_SANITIZED)
        rules.files &= ~BIT(EXECUTE);
    if (v >= 6)
        rules.scoped = SCOPES;
    set = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (set < 0)
        return errno;
    err = allow_all(set, o, rules.files);
    if (err == 0 && syscall(SYS_landlock_restrict_self, set, 0) != 0)
        err = errno;
    close(set);
    *version = v < VERSION_KNOWN ? (int)v : VERSION_KNOWN;
    return err;
}

/* ---- refuses system calls ----
 *
 * The list has refused calls, not allowed ones: what libraries call differs
 * between releases of Debian, architectures and kernels, and a forgotten call
 * would end a crawl of weeks. A refused call gets EPERM and does not end the
 * process, since libraries try things that they can do without: a resolver
 * tries nscd's socket, SQLite a file's owner. clone3(2) gets ENOSYS, since a
 * filter cannot see its flags; the C library then uses clone.
 */

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define LOW32    UINT64_C(0xffffffff)

#if defined(__s390__)
#define CLONE_FLAGS 1
#else
#define CLONE_FLAGS 0
#endif

/* Calls that none of our processes needs. */
/* clang-format off */
static const char *const nobodys[] = {
    /* other processes' memory and descriptors */
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
    "process_mrelease", "pidfd_getfd", "kcmp", "userfaultfd",
    /* mounts */
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount",
    "open_tree", "open_tree_attr", "fsopen", "fsconfig", "fsmount", "fspick",
    "mount_setattr", "setns", "unshare", "swapon", "swapoff", "quotactl",
    "quotactl_fd",
    /* the kernel and the machine */
    "kexec_load", "kexec_file_load", "reboot", "init_module", "finit_module",
    "delete_module", "create_module", "bpf", "perf_event_open", "syslog",
    "iopl", "ioperm", "modify_ldt", "vm86", "vm86old", "acct", "settimeofday",
    "stime", "clock_settime", "clock_settime64", "clock_adjtime",
    "clock_adjtime64", "adjtimex", "sethostname", "setdomainname", "vhangup",
    "nfsservctl", "lookup_dcookie", "uselib",
    /* other processes: their pages, messages, semaphores, shared memory */
    "migrate_pages", "move_pages", "set_mempolicy_home_node", "msgget", "msgsnd",
    "msgrcv", "msgctl", "semget", "semop", "semtimedop", "semtimedop_time64",
    "semctl", "shmget", "shmat", "shmctl", "shmdt", "ipc", "mq_open",
    "mq_unlink", "ioprio_set",
    /* much kernel code, and ways around the rest of the sandbox */
    "io_uring_setup", "io_uring_enter", "io_uring_register", "add_key",
    "request_key", "keyctl", "personality", "fanotify_init", "fanotify_mark",
    "name_to_handle_at", "open_by_handle_at", "memfd_secret",
    /* owners, modes and users; fchmod(2) is for files of our own */
    "mknod", "mknodat", "chmod", "fchmodat", "fchmodat2", "chown", "chown32",
    "lchown", "lchown32", "fchown", "fchown32", "fchownat", "setxattr",
    "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr",
    "fremovexattr", "removexattrat", "utime", "utimes", "futimesat", "utimensat",
    "utimensat_time64", "setuid", "setuid32", "setgid", "setgid32",
    "setreuid", "setreuid32", "setregid", "setregid32", "setresuid",
    "setresuid32", "setresgid", "setresgid32", "setgroups", "setgroups32",
    "setfsuid", "setfsuid32", "setfsgid", "setfsgid32", "capset",
};
/* clang-format on */

/* Their first argument is a process or a thread, 0 for the caller. */
static const char *const of_caller[] = {
    "prlimit64",      "sched_setaffinity",  "sched_setattr",
    "sched_setparam", "sched_setscheduler", "setpgid",
};

/* Refused if the process starts no programs. */
static const char *const of_programs[] = {
    "execve",     "execveat",          "fork",  "vfork",
    "pidfd_open", "pidfd_send_signal", "tkill",
};

static struct scmp_arg_cmp sandbox_compare(unsigned n, enum scmp_compare how,
                                           scmp_datum_t a, scmp_datum_t b)
{
    return (struct scmp_arg_cmp){n, how, a, b};
}

/* Argument `n`, an int, is `v`; argument `n` is not `v`. */
static struct scmp_arg_cmp is(unsigned n, int v)
{
    return sandbox_compare(n, SCMP_CMP_MASKED_EQ, LOW32, (scmp_datum_t)v);
}

static struct scmp_arg_cmp is_not(unsigned n, int v)
{
    return sandbox_compare(n, SCMP_CMP_NE, (scmp_datum_t)v, 0);
}

static int deny(scmp_filter_ctx c, const char *name, unsigned n,
                const struct scmp_arg_cmp *args)
{
    int call = seccomp_syscall_resolve_name(name), rc;

    if (call == __NR_SCMP_ERROR)
        return 0; /* unknown to the library */
    rc = seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EPERM), call, n, args);
    return rc == -EDOM || rc == -EFAULT ? 0 : rc; /* not on this machine */
}

static int deny_all(scmp_filter_ctx c, const char *const *names, size_t n)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = deny(c, names[i], 0, NULL);
    return rc;
}

static int deny_if(scmp_filter_ctx c, const char *name, struct scmp_arg_cmp arg)
{
    return deny(c, name, 1, &arg);
}

/* Refuses all socket families except IP, Unix sockets, and NETLINK_ROUTE, which
 * a resolver uses. A pair of Unix sockets that are not streams could send
 * elsewhere. */
static int deny_families(scmp_filter_ctx c)
{
    const struct scmp_arg_cmp netlink[] = {is(0, AF_NETLINK), is_not(2, 0)};
    int rc = deny(c, "socket", 2, netlink);

    for (int f = 0; rc == 0 && f < AF_NETLINK; f++)
        if (f != AF_UNIX && f != AF_INET && f != AF_INET6)
            rc = deny_if(c, "socket", is(0, f));
    if (rc == 0)
        rc = deny_if(c, "socket",
                     sandbox_compare(0, SCMP_CMP_GT, AF_NETLINK, 0));
    for (int type = 2; rc == 0 && type < 16; type++)
        rc = deny_if(c, "socketpair",
                     sandbox_compare(1, SCMP_CMP_MASKED_EQ, 0xf,
                                     (scmp_datum_t)type));
    return rc;
}

/* Refuses new processes, and signals to others. */
static int deny_processes(scmp_filter_ctx c)
{
    const pid_t self = getpid();
    int rc = deny_all(c, of_programs, COUNT(of_programs));

    if (rc == 0)
        rc = deny_if(c, "clone",
                     sandbox_compare(CLONE_FLAGS, SCMP_CMP_MASKED_EQ,
                                     CLONE_THREAD, 0));
    if (rc == 0)
        rc = deny_if(c, "kill", is_not(0, self));
    if (rc == 0)
        rc = deny_if(c, "tgkill", is_not(0, self));
    if (rc == 0)
        rc = deny_if(c, "rt_sigqueueinfo", is_not(0, self));
    return rc == 0 ? deny_if(c, "rt_tgsigqueueinfo", is_not(0, self)) : rc;
}

/* Refuses calls that change other processes. A filter compares an argument
 * once, so the caller must be named by 0, as the C library and all others do.
 * Nobody owns the signals of a descriptor, which could be sent to any process.
 */
static int deny_others(scmp_filter_ctx c)
{
    static const int by_fcntl[] = {F_SETOWN, 15 /* F_SETOWN_EX */,
                                   10 /* F_SETSIG */};
    static const int by_ioctl[] = {FIOSETOWN, SIOCSPGRP};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < COUNT(of_caller); i++)
        rc = deny_if(c, of_caller[i], is_not(0, 0));
    if (rc == 0)
        rc = deny_if(c, "setpriority", is_not(0, PRIO_PROCESS));
    if (rc == 0)
        rc = deny_if(c, "setpriority", is_not(1, 0));
    for (size_t i = 0; rc == 0 && i < COUNT(by_fcntl); i++) {
        rc = deny_if(c, "fcntl", is(1, by_fcntl[i]));
        if (rc == 0)
            rc = deny_if(c, "fcntl64", is(1, by_fcntl[i]));
    }
    for (size_t i = 0; rc == 0 && i < COUNT(by_ioctl); i++)
        rc = deny_if(c, "ioctl", is(1, by_ioctl[i]));
    return rc;
}

/* Refuses input into a terminal, and calls that make the process readable again
 * to others of its user. */
static int deny_words(scmp_filter_ctx c)
{
    static const int calls[] = {PR_SET_MM, PR_SET_PTRACER, PR_SET_SECUREBITS,
                                PR_SET_KEEPCAPS, PR_CAP_AMBIENT};
    const struct scmp_arg_cmp dump[] = {is(0, PR_SET_DUMPABLE), is_not(1, 0)};
    int rc = deny(c, "prctl", 2, dump);

    for (size_t i = 0; rc == 0 && i < COUNT(calls); i++)
        rc = deny_if(c, "prctl", is(0, calls[i]));
    if (rc == 0)
        rc = deny_if(c, "ioctl", is(1, TIOCSTI));
    return rc == 0 ? deny_if(c, "ioctl", is(1, 0x541c /* TIOCLINUX */)) : rc;
}

static int sandbox_fill(scmp_filter_ctx c, bool programs)
{
    int rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);

    if (rc == 0)
        rc = deny_all(c, nobodys, COUNT(nobodys));
    if (rc == 0)
        rc = deny_families(c);
    if (rc == 0)
        rc = deny_others(c);
    if (rc == 0)
        rc = deny_words(c);
    return rc == 0 && !programs ? deny_processes(c) : rc;
}

/* Other architectures, such as 32-bit ones, number their calls differently. */
static scmp_filter_ctx sandbox_begin(void)
{
    scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);

    if (c == NULL)
        return NULL;
    (void)seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
    (void)seccomp_attr_set(c, SCMP_FLTATR_CTL_TSYNC, 1);
    (void)seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    (void)seccomp_attr_set(c, SCMP_FLTATR_CTL_SSB, 1);
    return c;
}

static int sandbox_load(scmp_filter_ctx c, int rc)
{
    if (rc == 0)
        rc = seccomp_load(c);
    seccomp_release(c);
    return -rc;
}

/* 0, or an errno value. */
static int sandbox_seccomp_enter(bool programs)
{
    scmp_filter_ctx c = SANDBOX_SANITIZED ? NULL : sandbox_begin();

    return c != NULL ? sandbox_load(c, sandbox_fill(c, programs)) : ENOTSUP;
}

static int sandbox_seccomp_seal(bool unix_sockets)
{
    scmp_filter_ctx c = sandbox_begin();
    int rc;

    if (c == NULL)
        return ENOMEM;
    rc = deny(c, "listen", 0, NULL);
    if (rc == 0 && !unix_sockets)
        rc = deny_if(c, "socket", is(0, AF_UNIX));
    return sandbox_load(c, rc);
}

/* ---- the parts in turn, and what is in effect ---- */

static char text[160] = "off";

const char *sandbox_text(void)
{
    return text;
}

static void log_state(int landlock, int version, int seccomp)
{
    char first[64], second[64];

    if (landlock == 0)
        snprintf(first, sizeof first, "landlock %d", version);
    else
        snprintf(first, sizeof first, "no landlock (%s)", strerror(landlock));
    if (seccomp == 0)
        snprintf(second, sizeof second, "seccomp");
    else if (SANDBOX_SANITIZED)
        snprintf(second, sizeof second, "no seccomp (AddressSanitizer)");
    else
        snprintf(second, sizeof second, "no seccomp (%s)", strerror(seccomp));
    snprintf(text, sizeof text, "%s, %s", first, second);
}

/* Of a sanitizer's runtime; NULL in other builds. */
void __sanitizer_set_report_path(const char *path) __attribute__((weak));

void sandbox_enter(const struct sandbox_options *o)
{
    int landlock, seccomp, version = 0;

    /* A file that the options name could not be opened when it is needed. */
    if (__sanitizer_set_report_path != NULL)
        __sanitizer_set_report_path("stderr");
    /* Both Landlock and seccomp need it; if it fails, so do they. */
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    landlock = sandbox_landlock(o, &version);
    seccomp = sandbox_seccomp_enter(o->programs);
    log_state(landlock, version, seccomp);
}

void sandbox_seal(bool unix_sockets)
{
    int err = strstr(text, ", seccomp") != NULL
                  ? sandbox_seccomp_seal(unix_sockets)
                  : 0;

    if (err != 0)
        log_warn("sockets can still be listened on", "error=\"%s\"",
                 strerror(err));
}

/* ---- secrets: PR_SET_DUMPABLE and the limit of core files ----
 *
 * The limit alone is not enough: it does not apply to a core that the kernel
 * pipes to a program. From then on, files in /proc/PID about memory and
 * descriptors belong to root; a process can still read its own. Not under
 * AddressSanitizer, whose leak check traces the process from another one.
 */

void secret_held(void)
{
    const struct rlimit none = {0, 0};

    if (SANDBOX_SANITIZED)
        return;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
        setrlimit(RLIMIT_CORE, &none) != 0)
        log_warn("a core file might hold secrets", "%s", "");
}
