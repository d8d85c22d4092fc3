/* SPDX-License-Identifier: MIT */
/*
 * sandbox_landlock.c - restricts which files can be read and written.
 *
 * Uses system calls directly: Debian 12 has no library for Landlock, and its
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
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process/sandbox_impl.h"

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

int sandbox_landlock(const struct sandbox_options *o, int *version)
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
