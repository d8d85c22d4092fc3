/* SPDX-License-Identifier: MIT */
/*
 * files.c - the calls of libc on files and directories.
 *
 * Below DISK_ROOT they act on the simulated disk. Of the rest of the system a
 * process sees devices only, so that nothing of the machine that the simulator
 * runs on changes what a seed does.
 */
#include "tests/sim/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/sim/disk.h"
#include "tests/sim/life.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/world.h"

#define DEVICE 77

static struct handle handles[FILES_MOST];

int handle_new(enum handle_kind kind)
{
    for (int i = 0; i < FILES_MOST; i++)
        if (handles[i].kind == HANDLE_FREE) {
            handles[i] = (struct handle){.kind = kind};
            return FILES_FIRST + i;
        }
    world_fault("too many descriptors");
}

struct handle *handle_of(int fd)
{
    struct handle *h;

    if (fd < FILES_FIRST || fd >= FILES_FIRST + FILES_MOST)
        return NULL;
    h = &handles[fd - FILES_FIRST];
    return h->kind != HANDLE_FREE ? h : NULL;
}

bool handle_wait(int64_t until, bool idle)
{
    return idle ? scheduler_idle(handles, until)
                : scheduler_wait(handles, until);
}

void handle_wake(void)
{
    scheduler_wake(handles, true);
}

static int result(int64_t err)
{
    if (err >= 0)
        return (int)err;
    errno = (int)-err;
    return -1;
}

static bool is_ours(const char *path)
{
    size_t n = strlen(DISK_ROOT);

    return strncmp(path, DISK_ROOT, n) == 0 &&
           (path[n] == '/' || path[n] == '\0');
}

static bool is_device(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0;
}

/* Where is `path`, relative to the directory `dir` if it is no whole one? The
 * process works in DISK_ROOT. */
static int find_at(int dir, const char *path, struct inode **parent,
                   char name[256], struct inode **out)
{
    const struct handle *h = handle_of(dir);

    if (path[0] != '/' && h != NULL) {
        struct inode *root = world->disk->root;
        char whole[PATH_MAX];
        int err;

        snprintf(whole, sizeof whole, DISK_ROOT "/%s", path);
        world->disk->root = h->inode;
        err = disk_find(whole, parent, name, out);
        world->disk->root = root;
        return err;
    }
    if (path[0] != '/') {
        char whole[PATH_MAX];

        snprintf(whole, sizeof whole, DISK_ROOT "/%s", path);
        return disk_find(whole, parent, name, out);
    }
    if (strcmp(path, "/var/tmp") == 0)
        path = DISK_TMP;
    if (!is_ours(path))
        return -ENOENT;
    return disk_find(path, parent, name, out);
}

static bool exists(const char *path, struct inode **out)
{
    struct inode *parent;
    char name[256];
    int err = find_at(AT_FDCWD, path, &parent, name, out);

    if (err == 0 && *out == NULL)
        err = -ENOENT;
    return result(err) == 0;
}

/* ---- open and close ---- */

static int open_at(int dir, const char *path, int flags, unsigned mode)
{
    struct inode *parent, *i;
    char name[256];
    int fd, err = find_at(dir, path, &parent, name, &i);

    if (err == 0 && i == NULL && !(flags & O_CREAT))
        err = -ENOENT;
    if (err == 0 && i != NULL && (flags & O_CREAT) && (flags & O_EXCL))
        err = -EEXIST;
    if (err == 0 && i != NULL && !i->is_dir && (flags & O_DIRECTORY))
        err = -ENOTDIR;
    if (err == 0 && i != NULL && i->is_dir && (flags & O_ACCMODE) != O_RDONLY)
        err = -EISDIR;
    if (err == 0)
        err = disk_step("open");
    if (err == 0 && i == NULL)
        err = disk_make(parent, name, false, mode & 07777, &i);
    if (err == 0 && (flags & O_TRUNC) && i->now.len > 0)
        err = disk_truncate(i, 0);
    if (err < 0)
        return result(err);
    fd = handle_new(i->is_dir ? HANDLE_DIR : HANDLE_FILE);
    handle_of(fd)->inode = i;
    disk_open(i);
    handle_of(fd)->flags = flags;
    return fd;
}

int sim_open64(const char *path, int flags, ...)
{
    unsigned mode = 0;
    va_list args;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = va_arg(args, unsigned);
    va_end(args);
    return is_device(path) ? open(path, flags)
                           : open_at(AT_FDCWD, path, flags, mode);
}

int sim_openat64(int dir, const char *path, int flags, ...)
{
    unsigned mode = 0;
    va_list args;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = va_arg(args, unsigned);
    va_end(args);
    return open_at(dir, path, flags, mode);
}

/* As _FORTIFY_SOURCE has it, if the flags are not known to the compiler. */
int sim___open64_2(const char *path, int flags)
{
    return sim_open64(path, flags);
}

/* Closing any descriptor of a file ends the locks of its process, fcntl(2). */
int sim_close(int fd)
{
    struct handle *h = handle_of(fd);

    if (h == NULL)
        return fd < FILES_FIRST ? close(fd) : result(-EBADF);
    if (h->inode != NULL) {
        if (h->inode->lock_life == life_number())
            h->inode->lock_life = 0;
        if (h->kind == HANDLE_DIR && h->inode->flock_life == life_number())
            h->inode->flock_life = 0;
        disk_close(h->inode);
    }
    handle_unwatch(fd);
    *h = (struct handle){0};
    return 0;
}

int sim_mkdir(const char *path, mode_t mode)
{
    struct inode *parent, *i;
    char name[256];
    int err = find_at(AT_FDCWD, path, &parent, name, &i);

    if (err == 0 && i != NULL)
        err = -EEXIST;
    if (err == 0)
        err = disk_make(parent, name, true, mode & 07777, &i);
    return result(err);
}

/* The six Xs before the suffix become letters. */
static int made(char *path, size_t suffix, bool is_dir)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    char *x = path + strlen(path) - suffix - 6;

    for (int i = 0; i < 6; i++)
        x[i] = letters[life_random() % (sizeof letters - 1)];
    if (is_dir)
        return sim_mkdir(path, 0700);
    return open_at(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, 0600);
}

int sim_mkstemp64(char *path)
{
    return made(path, 0, false);
}

int sim_mkostemp64(char *path, int flags)
{
    (void)flags;
    return made(path, 0, false);
}

char *sim_mkdtemp(char *path)
{
    return made(path, 0, true) == 0 ? path : NULL;
}

/* ---- content ---- */

ssize_t sim_pread64(int fd, void *to, size_t len, off_t at)
{
    struct handle *h = handle_of(fd);

    return h == NULL ? pread(fd, to, len, at)
                     : result(disk_read(h->inode, (uint64_t)at, to, len));
}

ssize_t sim_pwrite64(int fd, const void *from, size_t len, off_t at)
{
    struct handle *h = handle_of(fd);

    return h == NULL ? pwrite(fd, from, len, at)
                     : result(disk_write(h->inode, (uint64_t)at, from, len));
}

ssize_t sim_pwritev64(int fd, const struct iovec *parts, int n, off_t at)
{
    ssize_t sum = 0;

    for (int i = 0; i < n; i++) {
        ssize_t got =
            sim_pwrite64(fd, parts[i].iov_base, parts[i].iov_len, at + sum);

        if (got < 0)
            return sum > 0 ? sum : got;
        sum += got;
    }
    return sum;
}

static ssize_t read_event(struct handle *h, void *to, size_t len)
{
    if (len < 8)
        return result(-EINVAL);
    while (h->at == 0) {
        if (h->flags & O_NONBLOCK)
            return result(-EAGAIN);
        (void)scheduler_wait(h, SCHEDULER_NEVER);
    }
    memcpy(to, &h->at, 8);
    h->at = 0;
    return 8;
}

ssize_t sim_read(int fd, void *to, size_t len)
{
    struct handle *h = handle_of(fd);
    ssize_t n;

    if (h == NULL)
        return fd < FILES_FIRST ? read(fd, to, len) : result(-EBADF);
    if (h->kind == HANDLE_EVENT)
        return read_event(h, to, len);
    n = result(disk_read(h->inode, h->at, to, len));
    if (n > 0)
        h->at += (uint64_t)n;
    return n;
}

ssize_t sim_write(int fd, const void *from, size_t len)
{
    struct handle *h = handle_of(fd);
    ssize_t n;

    if (h == NULL)
        return fd < FILES_FIRST ? write(fd, from, len) : result(-EBADF);
    if (h->kind == HANDLE_EVENT) {
        uint64_t more;

        memcpy(&more, from, sizeof more);
        h->at += more;
        scheduler_wake(h, true);
        handle_wake();
        return 8;
    }
    if (h->flags & O_APPEND)
        h->at = h->inode->now.len;
    n = result(disk_write(h->inode, h->at, from, len));
    if (n > 0)
        h->at += (uint64_t)n;
    return n;
}

off_t sim_lseek64(int fd, off_t by, int whence)
{
    struct handle *h = handle_of(fd);

    if (h == NULL)
        return lseek(fd, by, whence);
    if (whence == SEEK_SET)
        h->at = (uint64_t)by;
    else if (whence == SEEK_CUR)
        h->at += (uint64_t)by;
    else
        h->at = h->inode->now.len + (uint64_t)by;
    return (off_t)h->at;
}

int sim_ftruncate64(int fd, off_t len)
{
    struct handle *h = handle_of(fd);

    return h == NULL ? ftruncate(fd, len)
                     : result(disk_truncate(h->inode, (uint64_t)len));
}

int sim_fsync(int fd)
{
    struct handle *h = handle_of(fd);

    if (h == NULL)
        return fsync(fd);
    scheduler_sleep(1000000 * (int64_t)(life_random() % 8));
    return result(h->kind == HANDLE_DIR ? disk_sync_dir(h->inode)
                                        : disk_sync(h->inode));
}

int sim_fdatasync(int fd)
{
    return sim_fsync(fd);
}

/* Returns the error itself. */
int sim_posix_fallocate64(int fd, off_t at, off_t len)
{
    struct handle *h = handle_of(fd);

    if (h->inode->now.len >= (uint64_t)(at + len))
        return 0;
    return -disk_truncate(h->inode, (uint64_t)(at + len));
}

int sim_posix_fadvise64(int fd, off_t at, off_t len, int advice)
{
    struct handle *h = handle_of(fd);

    (void)at, (void)len;
    if (h != NULL && advice == POSIX_FADV_DONTNEED)
        disk_drop_cache(h->inode);
    return 0;
}

void *sim_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t at)
{
    struct handle *h = handle_of(fd);

    if (h == NULL)
        return mmap(addr, len, prot, flags, fd, at);
    if (at != 0 || h->inode->now.len < len)
        world_fault("no such mapping is expected");
    return disk_map(h->inode, len);
}

static struct inode *mapped_at(const void *p)
{
    for (struct inode *i = world->disk->all; i != NULL; i = i->next)
        if (i->mapped && i->now.at == p)
            return i;
    return NULL;
}

int sim_munmap(void *p, size_t len)
{
    return mapped_at(p) != NULL ? 0 : munmap(p, len);
}

int sim_msync(void *p, size_t len, int flags)
{
    struct inode *i = mapped_at(p);

    return i != NULL ? result(disk_sync(i)) : msync(p, len, flags);
}

/* ---- what is known of a file ---- */

static void fill(const struct inode *i, struct stat *s)
{
    *s = (struct stat){0};
    s->st_dev = DEVICE;
    s->st_ino = i->number;
    s->st_mode = i->mode | (i->is_dir                 ? S_IFDIR
                            : (i->mode & S_IFMT) == 0 ? S_IFREG
                                                      : 0);
    s->st_nlink = i->names;
    s->st_uid = geteuid();
    s->st_gid = getegid();
    s->st_size = i->is_dir ? 4096 : (off_t)i->now.len;
    s->st_blksize = 4096;
    s->st_blocks = (s->st_size + 511) / 512;
    s->st_mtim.tv_sec = i->changed_ms / 1000;
    s->st_mtim.tv_nsec = i->changed_ms % 1000 * 1000000;
    s->st_ctim = s->st_atim = s->st_mtim;
}

int sim_stat64(const char *path, struct stat *s)
{
    struct inode *i;

    if (is_device(path))
        return stat(path, s);
    if (!exists(path, &i))
        return -1;
    fill(i, s);
    return 0;
}

int sim_lstat64(const char *path, struct stat *s)
{
    return sim_stat64(path, s);
}

int sim_fstat64(int fd, struct stat *s)
{
    struct handle *h = handle_of(fd);

    if (h == NULL)
        return fstat(fd, s);
    fill(h->inode, s);
    return 0;
}

int sim_fstatat64(int dir, const char *path, struct stat *s, int flags)
{
    struct inode *parent, *i;
    char name[256];
    int err = find_at(dir, path, &parent, name, &i);

    (void)flags;
    if (err == 0 && i == NULL)
        err = -ENOENT;
    if (err == 0)
        fill(i, s);
    return result(err);
}

int sim_access(const char *path, int how)
{
    struct inode *i;

    if (is_device(path))
        return access(path, how);
    return exists(path, &i) ? 0 : -1;
}

int sim_faccessat(int dir, const char *path, int how, int flags)
{
    struct stat s;

    (void)how;
    return sim_fstatat64(dir, path, &s, flags);
}

int sim_statvfs64(const char *path, struct statvfs *v)
{
    struct inode *i;
    const struct disk *d = world->disk;
    bool full = d->ops >= d->full_from && d->ops < d->full_to;

    if (!exists(path, &i))
        return -1;
    *v = (struct statvfs){.f_bsize = 4096, .f_frsize = 4096};
    v->f_blocks = 1 << 24;
    v->f_bfree = v->f_bavail = full ? 0 : (fsblkcnt_t)d->room / 4096;
    return 0;
}

int sim_fchmod(int fd, mode_t mode)
{
    struct handle *h = handle_of(fd);

    if (h == NULL)
        return fchmod(fd, mode);
    h->inode->mode = mode & 07777;
    return 0;
}

int sim_chown(const char *path, uid_t uid, gid_t gid)
{
    struct inode *i;

    (void)uid, (void)gid;
    return exists(path, &i) ? 0 : -1;
}

char *sim_realpath(const char *path, char *to)
{
    struct inode *i;
    char *copy;

    if (!exists(path, &i))
        return NULL;
    copy = malloc(PATH_MAX);
    snprintf(copy, PATH_MAX, "%s%s", path[0] == '/' ? "" : DISK_ROOT "/", path);
    while (strlen(copy) > 1 && copy[strlen(copy) - 1] == '/')
        copy[strlen(copy) - 1] = '\0';
    if (to == NULL)
        return copy;
    snprintf(to, PATH_MAX, "%s", copy);
    free(copy);
    return to;
}

/* ---- names ---- */

int sim_unlinkat(int dir, const char *path, int flags)
{
    struct inode *parent, *i;
    char name[256];
    int err = find_at(dir, path, &parent, name, &i);

    if (err == 0 && i == NULL)
        err = -ENOENT;
    if (err == 0 && i->is_dir != !!(flags & AT_REMOVEDIR))
        err = i->is_dir ? -EISDIR : -ENOTDIR;
    if (err == 0)
        err = disk_remove(parent, name);
    return result(err);
}

int sim_unlink(const char *path)
{
    return sim_unlinkat(AT_FDCWD, path, 0);
}

int sim_rmdir(const char *path)
{
    return sim_unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int sim_rename(const char *old, const char *new)
{
    struct inode *from, *to, *is, *was;
    char old_name[256], new_name[256];
    int err = find_at(AT_FDCWD, old, &from, old_name, &is);

    if (err == 0 && is == NULL)
        err = -ENOENT;
    if (err == 0)
        err = find_at(AT_FDCWD, new, &to, new_name, &was);
    if (err == 0)
        err = disk_rename(from, old_name, to, new_name);
    return result(err);
}

/* ---- directories ---- */

struct listing {
    struct inode *dir;
    int fd; /* -1: of opendir */
    size_t next;
    struct dirent entry;
};

static DIR *list(struct inode *dir, int fd)
{
    struct listing *l = calloc(1, sizeof *l);

    l->dir = dir;
    l->fd = fd;
    return (DIR *)(void *)l;
}

DIR *sim_opendir(const char *path)
{
    struct inode *i;

    if (!exists(path, &i))
        return NULL;
    if (!i->is_dir) {
        errno = ENOTDIR;
        return NULL;
    }
    return list(i, -1);
}

DIR *sim_fdopendir(int fd)
{
    struct handle *h = handle_of(fd);

    return list(h->inode, fd);
}

/* From the last to the first: one that is removed meanwhile moves none that is
 * still to come. */
struct dirent *sim_readdir64(DIR *d)
{
    struct listing *l = (struct listing *)(void *)d;
    struct inode *dir = l->dir;
    struct disk_name *n;

    if (l->next == 0)
        l->next = dir->entries.count + 1;
    if (l->next - 1 > dir->entries.count)
        l->next = dir->entries.count + 1;
    if (l->next == 1)
        return NULL;
    n = &dir->entries.at[--l->next - 1];
    snprintf(l->entry.d_name, sizeof l->entry.d_name, "%s", n->name);
    l->entry.d_ino = n->of->number;
    l->entry.d_type = n->of->is_dir ? DT_DIR : DT_REG;
    return &l->entry;
}

int sim_dirfd(DIR *d)
{
    return ((struct listing *)(void *)d)->fd;
}

int sim_closedir(DIR *d)
{
    struct listing *l = (struct listing *)(void *)d;

    if (l->fd >= 0)
        sim_close(l->fd);
    free(l);
    return 0;
}

/* ---- locks ---- */

int sim_flock(int fd, int how)
{
    struct handle *h = handle_of(fd);

    if (h == NULL)
        return flock(fd, how);
    if (how & LOCK_UN) {
        h->inode->flock_life = 0;
        return 0;
    }
    if (h->inode->flock_life != 0)
        return result(-EWOULDBLOCK);
    h->inode->flock_life = life_number();
    return 0;
}

int sim_fcntl64(int fd, int what, ...)
{
    struct handle *h = handle_of(fd);
    struct flock *l;
    va_list args;
    void *arg;

    va_start(args, what);
    arg = va_arg(args, void *);
    va_end(args);
    if (h == NULL)
        return fcntl(fd, what, arg);
    l = arg;
    switch (what) {
    case F_SETLK:
        if (h->inode->lock_life != 0 && h->inode->lock_life != life_number())
            return result(-EAGAIN);
        h->inode->lock_life = l->l_type == F_UNLCK ? 0 : life_number();
        return 0;
    case F_GETLK:
        if (h->inode->lock_life == 0 || h->inode->lock_life == life_number())
            l->l_type = F_UNLCK;
        else
            l->l_pid = (pid_t)h->inode->lock_life;
        return 0;
    default:
        return 0;
    }
}

/* ---- stdio ---- */

static ssize_t cookie_read(void *cookie, char *to, size_t len)
{
    return sim_read((int)(intptr_t)cookie, to, len);
}

static ssize_t cookie_write(void *cookie, const char *from, size_t len)
{
    return sim_write((int)(intptr_t)cookie, from, len);
}

static int cookie_seek(void *cookie, off64_t *by, int whence)
{
    *by = sim_lseek64((int)(intptr_t)cookie, *by, whence);
    return 0;
}

static int cookie_close(void *cookie)
{
    return sim_close((int)(intptr_t)cookie);
}

FILE *sim_fdopen(int fd, const char *mode)
{
    static const cookie_io_functions_t io = {cookie_read, cookie_write,
                                             cookie_seek, cookie_close};

    return handle_of(fd) != NULL ? fopencookie((void *)(intptr_t)fd, mode, io)
                                 : fdopen(fd, mode);
}

FILE *sim_fopen64(const char *path, const char *mode)
{
    int flags = mode[0] == 'r' ? O_RDONLY
                               : O_WRONLY | O_CREAT |
                                     (mode[0] == 'a' ? O_APPEND : O_TRUNC);
    int fd = sim_open64(path, flags, 0644u);

    return fd >= 0 ? sim_fdopen(fd, mode) : NULL;
}

/* ---- waiting for descriptors ---- */

static short ready_of(int fd, short events)
{
    struct handle *h = handle_of(fd);

    if (h == NULL) { /* it ends with the process's own input */
        struct pollfd p = {.fd = fd, .events = events};

        return poll(&p, 1, 0) > 0 ? p.revents : 0;
    }
    if (h->kind == HANDLE_EVENT)
        return h->at > 0 ? events & POLLIN : 0;
    return events & (POLLIN | POLLOUT);
}

int sim_poll(struct pollfd *p, nfds_t n, int timeout_ms)
{
    int64_t until = timeout_ms < 0
                        ? SCHEDULER_NEVER
                        : scheduler_mono() + timeout_ms * INT64_C(1000000);

    for (;;) {
        int count = 0;

        for (nfds_t i = 0; i < n; i++) {
            p[i].revents = p[i].fd < 0 ? 0 : ready_of(p[i].fd, p[i].events);
            count += p[i].revents != 0;
        }
        if (count > 0 || world->mono_ns >= until)
            return count;
        (void)handle_wait(until, true);
    }
}
