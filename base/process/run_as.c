/* SPDX-License-Identifier: MIT */
/*
 * run_as.c - users and capabilities, with direct system calls.
 *
 * Root that stays root keeps CAP_DAC_OVERRIDE, since it is run as root to use
 * seed lists, outputs and stores of other users. Landlock limits it.
 */
#include "base/process/run_as.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/logger.h"

#define LEVELS     3
#define ENTRIES    10000 /* most entries checked, over all directories */
#define PATH_LIMIT 4096

/* ---- users ---- */

static void take_entry(struct run_as *out, const struct passwd *p)
{
    *out = (struct run_as){p->pw_uid, p->pw_gid, true, ""};
    snprintf(out->name, sizeof out->name, "%s", p->pw_name);
}

void run_as_numbered(struct run_as *out, uid_t uid, gid_t gid)
{
    const struct passwd *p = getpwuid(uid);

    if (p != NULL) {
        take_entry(out, p);
        return;
    }
    *out = (struct run_as){uid, gid, false, ""};
    snprintf(out->name, sizeof out->name, "%lu", (unsigned long)uid);
}

enum status run_as_named(struct run_as *out, const char *name)
{
    const struct passwd *p = getpwnam(name);
    uint64_t n;

    if (p != NULL) {
        take_entry(out, p);
        return STATUS_OK;
    }
    if (!bytes_number(bytes_of_str(name), UINT32_MAX - 1, &n))
        return STATUS_NOT_FOUND;
    run_as_numbered(out, (uid_t)n, (gid_t)n);
    return STATUS_OK;
}

/* ---- capabilities ---- */

static int set_capabilities(uint64_t wanted)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct at[2];

    if (syscall(SYS_capget, &head, at) != 0)
        return errno;
    for (int i = 0; i < 2; i++) {
        at[i].permitted &= (uint32_t)(wanted >> (32 * i));
        at[i].effective = at[i].permitted;
        at[i].inheritable = 0;
    }
    return syscall(SYS_capset, &head, at) == 0 ? 0 : errno;
}

static uint64_t capability_of_ports(bool low_ports)
{
    return low_ports ? UINT64_C(1) << CAP_NET_BIND_SERVICE : 0;
}

/* Drops capabilities from the bounding set, so that programs we start cannot
 * regain them. Without the right to do so, there are none to drop. */
static void bound_capabilities(uint64_t wanted)
{
    for (unsigned long c = 0; c < 64; c++)
        if ((wanted >> c & 1) == 0 && prctl(PR_CAPBSET_DROP, c, 0, 0, 0) != 0)
            return;
}

void run_as_root_with_little(bool low_ports)
{
    uint64_t wanted = capability_of_ports(low_ports) | UINT64_C(1)
                                                           << CAP_DAC_OVERRIDE;
    int err;

    bound_capabilities(wanted);
    err = set_capabilities(wanted);
    if (err != 0)
        log_warn("runs with all capabilities of root", "error=\"%s\"",
                 strerror(err));
}

/* ---- changing users ---- */

static int switch_ids(const struct run_as *who)
{
    if (who->known ? initgroups(who->name, who->gid) : setgroups(0, NULL))
        return errno;
    if (setresgid(who->gid, who->gid, who->gid) != 0 ||
        setresuid(who->uid, who->uid, who->uid) != 0)
        return errno;
    return 0;
}

enum status run_as_become(const struct run_as *who, bool low_ports)
{
    uint64_t wanted = capability_of_ports(low_ports);
    int err;

    bound_capabilities(wanted);
    if (prctl(PR_SET_KEEPCAPS, low_ports ? 1 : 0, 0, 0, 0) != 0)
        return status_of_errno(errno);
    err = switch_ids(who);
    if (err == 0)
        err = set_capabilities(wanted);
    if (err == 0 && who->uid != 0 && setresuid(0, 0, 0) == 0)
        err = EPERM; /* root could be regained */
    (void)prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
    return err == 0 ? STATUS_OK : status_of_errno(err);
}

/* ---- checking what a user may do ---- */

struct look {
    unsigned entries;
    char *culprit; /* PATH_LIMIT */
};

static bool can_write_below(struct look *l, const char *dir, unsigned levels);

static bool can(struct look *l, const char *path, int mode)
{
    if (access(path, mode) == 0 || errno == ENOENT)
        return true;
    snprintf(l->culprit, PATH_LIMIT, "%s", path);
    return false;
}

/* Symbolic links are skipped; their targets are checked under their own
 * names. */
static bool can_write(struct look *l, const char *path, unsigned levels)
{
    struct stat sb;

    if (lstat(path, &sb) != 0 || S_ISLNK(sb.st_mode))
        return true;
    if (!S_ISDIR(sb.st_mode))
        return can(l, path, W_OK);
    return can(l, path, R_OK | W_OK | X_OK) &&
           (levels == 0 || can_write_below(l, path, levels - 1));
}

static bool can_write_below(struct look *l, const char *dir, unsigned levels)
{
    DIR *d = opendir(dir);
    const struct dirent *e;
    bool good = true;

    while (good && d != NULL && (e = readdir(d)) != NULL &&
           ++l->entries < ENTRIES) {
        char path[PATH_LIMIT];

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < PATH_LIMIT)
            good = can_write(l, path, levels);
    }
    if (d != NULL)
        closedir(d);
    return good;
}

static bool can_make(struct look *l, const char *path)
{
    char above[PATH_LIMIT];
    char *slash;

    snprintf(above, sizeof above, "%s", path);
    slash = strrchr(above, '/');
    if (slash == NULL)
        return can(l, ".", W_OK | X_OK);
    slash[slash == above] = '\0';
    return can(l, above, W_OK | X_OK);
}

static bool can_use(struct look *l, const struct sandbox_path *p)
{
    struct stat sb;

    if (p->use != SANDBOX_WRITE) {
        if (stat(p->path, &sb) != 0)
            return errno == ENOENT || can(l, p->path, R_OK);
        return can(l, p->path, S_ISDIR(sb.st_mode) ? X_OK : R_OK);
    }
    if (access(p->path, F_OK) != 0 && errno == ENOENT)
        return can_make(l, p->path);
    if (stat(p->path, &sb) == 0 && S_ISDIR(sb.st_mode))
        return can(l, p->path, R_OK | W_OK | X_OK) &&
               can_write_below(l, p->path, LEVELS - 1);
    return can(l, p->path, W_OK);
}

/* Runs in the child: writes the culprit to the pipe, or nothing. */
static void look_as(const struct run_as *who, const struct sandbox_path *paths,
                    size_t count, int to)
{
    char culprit[PATH_LIMIT] = "";
    struct look l = {.culprit = culprit};
    bool good = switch_ids(who) == 0;

    for (size_t i = 0; good && i < count; i++)
        good = can_use(&l, &paths[i]);
    if (!good && write(to, culprit, strlen(culprit)) < 0)
        _exit(2);
    _exit(good ? 0 : 1);
}

bool run_as_can_use(const struct run_as *who, const struct sandbox_path *paths,
                    size_t count, char *culprit, size_t size)
{
    int ends[2], code = 0;
    ssize_t n;
    pid_t pid;

    culprit[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid = fork();
    if (pid == 0)
        look_as(who, paths, count, ends[1]);
    close(ends[1]);
    n = pid > 0 ? read(ends[0], culprit, size - 1) : 0;
    culprit[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    if (pid < 0)
        return false;
    while (waitpid(pid, &code, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(code) && WEXITSTATUS(code) == 0;
}
