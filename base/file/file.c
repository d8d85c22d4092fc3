/* SPDX-License-Identifier: MIT */
/*
 * file.c - replace a file whole or not at all; read one; lock a directory; note
 * that a sync failed.
 */
#include "base/file/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"

#define DEPTH_MOST 100 /* of a directory tree to remove */

struct file_writer {
    char *path, *tmp;
    int fd;
    enum status st;
    bool committed;
};

enum status file_failed(const char *what, const char *path)
{
    int err = errno;
    enum status st = status_of_errno(err);

    log_error(what, "path=%s error=\"%s\"", path, strerror(err));
    return st != STATUS_OK ? st : STATUS_IO;
}

/* A file that is replaced keeps its mode: its owner may have closed it to
 * others, or opened it for a group. */
static bool keep_mode(const char *path, int fd)
{
    struct stat sb;

    return stat(path, &sb) != 0 || !S_ISREG(sb.st_mode) ||
           fchmod(fd, sb.st_mode & 0777) == 0;
}

static enum status writer_open(struct file_writer **out, const char *path,
                               bool private)
{
    struct file_writer *w = xcalloc(1, sizeof *w);
    size_t size = strlen(path) + sizeof ".tmp";

    w->path = xstrdup(path);
    w->tmp = xmalloc(size);
    snprintf(w->tmp, size, "%s.tmp", path);
    w->fd = open(w->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                 private ? 0600 : 0644);
    /* A file left by a crash may be readable by all. */
    if (w->fd < 0 ||
        !(private ? fchmod(w->fd, 0600) == 0 : keep_mode(path, w->fd))) {
        enum status st = file_failed("cannot create file", w->tmp);

        file_writer_close(w);
        return st;
    }
    *out = w;
    return STATUS_OK;
}

enum status file_writer_open(struct file_writer **out, const char *path)
{
    return writer_open(out, path, false);
}

enum status file_writer_open_private(struct file_writer **out, const char *path)
{
    return writer_open(out, path, true);
}

enum status file_writer_write(struct file_writer *w, const void *bytes,
                              size_t len)
{
    const char *at = bytes;

    while (w->st == STATUS_OK && len > 0) {
        ssize_t n = write(w->fd, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            w->st = file_failed("cannot write file", w->tmp);
            break;
        }
        at += n;
        len -= (size_t)n;
    }
    return w->st;
}

static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL   ? xstrdup(".")
           : slash == path ? xstrdup("/")
                           : xstrndup(path, (size_t)(slash - path));
}

/* `rights`: it may be one that we may not open. */
static enum status sync_dir(const char *dir, bool rights)
{
    enum status st = STATUS_OK;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 && rights && (errno == EACCES || errno == EPERM))
        return STATUS_OK;
    if (fd < 0 || fsync(fd) != 0)
        st = file_failed("cannot sync directory", dir);
    if (fd >= 0)
        close(fd);
    return st;
}

enum status file_sync_parent(const char *path)
{
    char *dir = parent_of(path);
    enum status st = sync_dir(dir, false);

    free(dir);
    return st;
}

enum status file_writer_commit(struct file_writer *w)
{
    if (w->st != STATUS_OK)
        return w->st;
    fault_point("file-written");
    if (fsync(w->fd) != 0)
        return w->st = file_failed("cannot sync file", w->tmp);
    fault_point("file-synced");
    if (rename(w->tmp, w->path) != 0)
        return w->st = file_failed("cannot rename file", w->tmp);
    fault_point("file-renamed");
    w->committed = true;
    return file_sync_parent(w->path);
}

void file_writer_close(struct file_writer *w)
{
    if (w == NULL)
        return;
    if (w->fd >= 0) {
        close(w->fd);
        if (!w->committed)
            unlink(w->tmp);
    }
    free(w->tmp);
    free(w->path);
    free(w);
}

enum status file_read(const char *path, struct buf *out)
{
    enum status st = STATUS_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT ? STATUS_NOT_FOUND
                               : file_failed("cannot read file", path);
    for (;;) {
        char chunk[65536];
        ssize_t n = read(fd, chunk, sizeof chunk);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            st = file_failed("cannot read file", path);
        if (n <= 0)
            break;
        buf_add(out, chunk, (size_t)n);
        st = buf_failed(out);
        if (st != STATUS_OK)
            break;
    }
    close(fd);
    return st;
}

static enum status replace(const char *path, struct bytes content, bool private)
{
    struct file_writer *w = NULL;
    enum status st = writer_open(&w, path, private);

    if (st == STATUS_OK)
        st = file_writer_write(w, content.at, content.len);
    if (st == STATUS_OK)
        st = file_writer_commit(w);
    file_writer_close(w);
    return st;
}

enum status file_replace(const char *path, struct bytes content)
{
    return replace(path, content, false);
}

enum status file_replace_private(const char *path, struct bytes content)
{
    return replace(path, content, true);
}

/* Makes one, whose parent exists, and has it outlast a power cut. Who made one
 * that exists may have been killed before it did; a sandbox or the owner of its
 * parent may keep us from it. */
static enum status make_one(const char *path)
{
    bool made = mkdir(path, 0755) == 0;
    struct stat sb;
    char *parent;
    enum status st;

    if (!made && errno != EEXIST)
        return file_failed("cannot make directory", path);
    if (!made && (stat(path, &sb) != 0 || !S_ISDIR(sb.st_mode)))
        return STATUS_EXISTS;
    parent = parent_of(path);
    st = sync_dir(parent, !made);
    free(parent);
    return st;
}

enum status file_make_dir(const char *path)
{
    char *p = xstrdup(path);
    size_t len = strlen(p);
    enum status st = STATUS_OK;
    struct stat sb;

    while (len > 1 && p[len - 1] == '/')
        p[--len] = '\0';
    for (char *s = p + 1; st == STATUS_OK && s < p + len; s++) {
        if (*s != '/')
            continue;
        *s = '\0';
        if (stat(p, &sb) != 0)
            st = make_one(p);
        *s = '/';
    }
    if (st == STATUS_OK)
        st = make_one(p);
    free(p);
    return st;
}

/* Removes what is in the open directory `fd`, and closes it; `depth` ends loops
 * that mounts could make. */
static bool empty_dir(int fd, unsigned depth)
{
    DIR *d = fdopendir(fd);
    struct dirent *e;
    bool ok = d != NULL && depth < DEPTH_MOST;

    while (ok && (e = readdir(d)) != NULL) {
        int sub;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        sub = openat(fd, e->d_name,
                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        ok = sub < 0 ? unlinkat(fd, e->d_name, 0) == 0
                     : empty_dir(sub, depth + 1) &&
                           unlinkat(fd, e->d_name, AT_REMOVEDIR) == 0;
    }
    if (d != NULL)
        closedir(d);
    else
        close(fd);
    return ok;
}

enum status file_remove_tree(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return STATUS_OK;
    if (fd < 0 || !empty_dir(fd, 0) || rmdir(path) != 0)
        return file_failed("cannot remove directory", path);
    return file_sync_parent(path);
}

enum status file_disk_free(const char *path, uint64_t *free_bytes)
{
    struct statvfs v;

    if (statvfs(path, &v) != 0)
        return status_of_errno(errno);
    *free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
    return STATUS_OK;
}

enum status file_size(const char *path, uint64_t *size)
{
    struct stat sb;

    if (stat(path, &sb) != 0)
        return status_of_errno(errno);
    *size = (uint64_t)sb.st_size;
    return STATUS_OK;
}

/* ---- lock a directory for one process ----
 *
 * The lock is an fcntl record lock: unlike a file that merely exists it ends
 * with its holder, and unlike with flock(2) the kernel tells who holds it. Its
 * trap: a process that closes any descriptor of a file loses its locks on it
 * (fcntl(2)). So we keep a list of this process's locks and never open a file
 * on it a second time.
 *
 * A lock file can be removed while it is held, and the next process would lock
 * a new one of that name. So the directory is locked as well, by flock(2);
 * /proc/locks tells who holds that. On a file system that cannot lock a
 * directory (NFS) we have only the lock file.
 */

struct file_lock {
    int fd, dir_fd; /* dir_fd -1: the directory is not locked */
    pid_t pid;      /* a child inherits the list but not the locks */
    char *path;
    dev_t dev, dir_dev;
    ino_t ino, dir_ino;
    struct file_lock *next;
};

static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
static struct file_lock *held; /* under mtx */

static struct flock whole_file(short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

static const char *file_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static char *dir_of(const char *path)
{
    const char *name = file_name_of(path);

    if (name == path)
        return xstrdup(".");
    return name == path + 1 ? xstrdup("/")
                            : xstrndup(path, (size_t)(name - path) - 1);
}

/* Compares the file itself or, if it was removed or replaced, its name and
 * directory. */
static bool is_lock_of(const struct file_lock *l, const char *path,
                       const struct stat *file, const struct stat *dir)
{
    if (l->pid != getpid())
        return false;
    if (file != NULL && l->dev == file->st_dev && l->ino == file->st_ino)
        return true;
    return dir != NULL && l->dir_dev == dir->st_dev &&
           l->dir_ino == dir->st_ino &&
           strcmp(file_name_of(l->path), file_name_of(path)) == 0;
}

static bool file_is_ours(const char *path)
{
    struct file_lock *l = held;
    char *name = dir_of(path);
    struct stat file, dir;
    bool has_file = stat(path, &file) == 0, has_dir = stat(name, &dir) == 0;

    free(name);
    while (l != NULL &&
           !is_lock_of(l, path, has_file ? &file : NULL, has_dir ? &dir : NULL))
        l = l->next;
    return l != NULL;
}

/* The kernel gives /proc/locks out a page at a time, and a lock that ends
 * between two pages moves those behind it: a lock held all the while may be
 * missing from one reading, so a list of several pages is read again. */
#define LOCKS_READ_MOST 20

/* Sets *holder if the line is of a lock of this directory. proc(5): "1: FLOCK
 * ADVISORY  WRITE 708 08:02:1234 0 EOF", the device in hexadecimal. */
static void read_lock_line(const char *line, const struct stat *dir,
                           long *holder)
{
    unsigned major_of, minor_of;
    unsigned long ino;
    long pid;

    if (sscanf(line, "%*d: FLOCK %*s WRITE %ld %x:%x:%lu", &pid, &major_of,
               &minor_of, &ino) == 4 &&
        ino == dir->st_ino && major_of == major(dir->st_dev) &&
        minor_of == minor(dir->st_dev))
        *holder = pid;
}

/* Reads the list once; returns the number of its pages. A page has whole
 * lines. */
static unsigned read_locks(const struct stat *dir, long *holder)
{
    int fd = open("/proc/locks", O_RDONLY | O_CLOEXEC);
    char page[65536], *rest, *line;
    unsigned pages = 0;
    ssize_t n;

    while (fd >= 0 && (n = read(fd, page, sizeof page - 1)) > 0) {
        page[n] = '\0';
        for (line = strtok_r(page, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest))
            read_lock_line(line, dir, holder);
        pages++;
    }
    if (fd >= 0)
        close(fd);
    return pages;
}

/* Returns 0 if there is no holder, or it cannot be known. */
static long dir_holder(const char *path)
{
    char *name = dir_of(path);
    struct stat dir;
    long holder = 0;

    if (stat(name, &dir) == 0)
        for (int i = 0; i < LOCKS_READ_MOST && holder == 0; i++)
            if (read_locks(&dir, &holder) <= 1)
                break;
    free(name);
    return holder;
}

static enum status ask_kernel(const char *path, long *holder)
{
    struct flock fl = whole_file(F_WRLCK);
    enum status st = STATUS_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC); /* perhaps we may only read */

    *holder = 0;
    if (fd < 0 && errno != ENOENT)
        return status_of_errno(errno);
    if (fd >= 0 && fcntl(fd, F_GETLK, &fl) != 0)
        st = status_of_errno(errno);
    else if (fd >= 0 && fl.l_type != F_UNLCK)
        *holder = (long)fl.l_pid;
    if (fd >= 0)
        close(fd);
    if (st == STATUS_OK && *holder == 0)
        *holder = dir_holder(path);
    return st;
}

static enum status look_locked(const char *path, long *holder)
{
    if (!file_is_ours(path))
        return ask_kernel(path, holder);
    *holder = (long)getpid();
    return STATUS_OK;
}

enum status file_lock_holder(const char *path, long *holder)
{
    enum status st;

    pthread_mutex_lock(&mtx);
    st = look_locked(path, holder);
    pthread_mutex_unlock(&mtx);
    return st;
}

/* The lock holds even if this fails: the text only tells other processes who
 * holds it. */
static void file_write_note(int fd, const char *note)
{
    char text[1024];
    int n = snprintf(text, sizeof text, "%ld %s\n", (long)getpid(), note);

    if (n < 0 || (size_t)n >= sizeof text || ftruncate(fd, 0) != 0 ||
        pwrite(fd, text, (size_t)n, 0) != n)
        log_warn("cannot write lock note", "note=\"%s\"", note);
}

static enum status lock_fd(int fd, const char *path)
{
    struct flock fl = whole_file(F_WRLCK);

    if (fcntl(fd, F_SETLK, &fl) == 0)
        return STATUS_OK;
    return errno == EACCES || errno == EAGAIN
               ? STATUS_BUSY
               : file_failed("cannot lock", path);
}

/* A process that was forked meanwhile has the directory open too, and only
 * LOCK_UN ends a flock(2) for both. */
static void free_lock(struct file_lock *l)
{
    if (l->fd >= 0)
        close(l->fd);
    if (l->dir_fd >= 0) {
        (void)flock(l->dir_fd, LOCK_UN);
        close(l->dir_fd);
    }
    free(l->path);
    free(l);
}

/* STATUS_BUSY: another process has it. A directory that cannot be locked is no
 * error. */
static enum status lock_dir(struct file_lock *l)
{
    char *name = dir_of(l->path);
    struct stat sb;
    enum status st = STATUS_OK;

    l->dir_fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(name);
    if (l->dir_fd < 0)
        return STATUS_OK; /* making the file will fail, too */
    if (fstat(l->dir_fd, &sb) == 0) {
        l->dir_dev = sb.st_dev;
        l->dir_ino = sb.st_ino;
    }
    if (flock(l->dir_fd, LOCK_EX | LOCK_NB) == 0)
        return STATUS_OK;
    if (errno == EWOULDBLOCK)
        st = STATUS_BUSY;
    close(l->dir_fd);
    l->dir_fd = -1;
    return st;
}

static enum status lock_file(struct file_lock *l)
{
    struct stat sb;
    enum status st;

    l->fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (l->fd < 0)
        return file_failed("cannot open lock", l->path);
    st = lock_fd(l->fd, l->path);
    if (st == STATUS_OK && fstat(l->fd, &sb) != 0)
        st = file_failed("cannot lock", l->path);
    if (st == STATUS_OK) {
        l->dev = sb.st_dev;
        l->ino = sb.st_ino;
    }
    return st;
}

static enum status take_locked(struct file_lock **out, const char *path,
                               const char *note)
{
    struct file_lock *l;
    enum status st;

    if (file_is_ours(path))
        return STATUS_BUSY;
    l = xcalloc(1, sizeof *l);
    l->fd = l->dir_fd = -1;
    l->pid = getpid();
    l->path = xstrdup(path);
    st = lock_dir(l);
    if (st == STATUS_OK)
        st = lock_file(l);
    if (st != STATUS_OK) {
        free_lock(l);
        return st;
    }
    file_write_note(l->fd, note);
    l->next = held;
    held = l;
    *out = l;
    return STATUS_OK;
}

enum status file_lock_take(struct file_lock **out, const char *path,
                           const char *note, long *holder)
{
    enum status st;

    pthread_mutex_lock(&mtx);
    st = take_locked(out, path, note);
    if (st == STATUS_BUSY && holder != NULL &&
        look_locked(path, holder) != STATUS_OK)
        *holder = 0;
    pthread_mutex_unlock(&mtx);
    return st;
}

void file_lock_note(struct file_lock *l, const char *note)
{
    file_write_note(l->fd, note);
}

void file_lock_free(struct file_lock *l)
{
    struct file_lock **at = &held;

    if (l == NULL)
        return;
    pthread_mutex_lock(&mtx);
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    if (ftruncate(l->fd, 0) != 0) {
        /* On failure the file's text is out of date; the lock is released
         * anyway. */
    }
    free_lock(l);
    pthread_mutex_unlock(&mtx);
}

/* ---- files of which a sync failed ---- */

static char *beside(const char *path, const char *suffix)
{
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *name = xmalloc(size);

    snprintf(name, size, "%s%s", path, suffix);
    return name;
}

static char *mark_of(const char *path)
{
    return beside(path, "-unsynced");
}

void unsynced_note(const char *path)
{
    char *mark = mark_of(path);
    int fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 || fsync(fd) != 0)
        log_warn("cannot note for the next start that a sync failed",
                 "path=%s error=\"%s\"", mark, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(mark);
}

enum status unsynced_failed(const char *what, const char *path)
{
    enum status st = file_failed(what, path);

    unsynced_note(path);
    return st;
}

bool unsynced_is_noted(const char *path)
{
    char *mark = mark_of(path);
    bool noted = access(mark, F_OK) == 0;

    free(mark);
    return noted;
}

static void drop_pages(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), failed;

    if (fd < 0)
        return;
    if (fsync(fd) != 0)
        log_warn("cannot sync file", "path=%s error=\"%s\"", path,
                 strerror(errno));
    failed = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (failed != 0)
        log_warn("cannot have a file read anew", "path=%s error=\"%s\"", path,
                 strerror(failed));
    close(fd);
}

bool unsynced_forget_pages(const char *path, const char *log)
{
    if (!unsynced_is_noted(path))
        return false;
    log_warn("a sync of this file had failed: it is read anew from the disk "
             "and checked",
             "path=%s", path);
    drop_pages(path);
    if (log != NULL) {
        char *name = beside(path, log);

        drop_pages(name);
        free(name);
    }
    return true;
}

void unsynced_clear(const char *path)
{
    char *mark = mark_of(path);

    if (unlink(mark) != 0 && errno != ENOENT)
        log_warn("cannot remove file", "path=%s error=\"%s\"", mark,
                 strerror(errno));
    free(mark);
}
