/* SPDX-License-Identifier: MIT */
/*
 * file_lock.c - lock a directory for one process.
 *
 * The lock is an fcntl record lock: unlike the mere presence of a file it is
 * gone with its holder, and unlike flock(2) the kernel tells who holds it. Its
 * trap: a process that closes any descriptor of a file loses its locks on it
 * (fcntl(2)). So the locks of this process are kept in a list, and a file that
 * is in it is not opened a second time.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/logger.h"
#include "base/mem.h"

struct file_lock {
    int fd;
    pid_t pid; /* a child has the list, and none of the locks */
    dev_t dev;
    ino_t ino;
    struct file_lock *next;
};

static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
static struct file_lock *held; /* under mtx */

static struct flock whole_file(short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

static bool is_ours(const char *path)
{
    struct file_lock *l = held;
    struct stat sb;

    if (stat(path, &sb) != 0)
        return false;
    while (l != NULL &&
           (l->dev != sb.st_dev || l->ino != sb.st_ino || l->pid != getpid()))
        l = l->next;
    return l != NULL;
}

static enum status ask_kernel(const char *path, long *holder)
{
    struct flock fl = whole_file(F_WRLCK);
    enum status st = STATUS_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC); /* others may ask, too */

    *holder = 0;
    if (fd < 0)
        return errno == ENOENT ? STATUS_OK : status_of_errno(errno);
    if (fcntl(fd, F_GETLK, &fl) != 0)
        st = status_of_errno(errno);
    else if (fl.l_type != F_UNLCK)
        *holder = (long)fl.l_pid;
    close(fd);
    return st;
}

static enum status look_locked(const char *path, long *holder)
{
    if (!is_ours(path))
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

static enum status failed(const char *what, const char *path)
{
    int err = errno;
    enum status st = status_of_errno(err);

    log_error(what, "path=%s error=\"%s\"", path, strerror(err));
    return st != STATUS_OK ? st : STATUS_IO;
}

/* The lock holds all the same if this fails: its text is for those who ask who
 * holds it. */
static void write_note(int fd, const char *note)
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
    return errno == EACCES || errno == EAGAIN ? STATUS_BUSY
                                              : failed("cannot lock", path);
}

static enum status take_locked(struct file_lock **out, const char *path,
                               const char *note)
{
    struct file_lock *l;
    struct stat sb;
    enum status st;
    int fd;

    if (is_ours(path))
        return STATUS_BUSY;
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return failed("cannot open lock", path);
    st = lock_fd(fd, path);
    if (st == STATUS_OK && fstat(fd, &sb) != 0)
        st = failed("cannot lock", path);
    if (st != STATUS_OK) {
        close(fd);
        return st;
    }
    write_note(fd, note);
    l = xcalloc(1, sizeof *l);
    *l = (struct file_lock){fd, getpid(), sb.st_dev, sb.st_ino, held};
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
    write_note(l->fd, note);
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
        /* What it says is out of date then; the lock itself still goes. */
    }
    close(l->fd);
    pthread_mutex_unlock(&mtx);
    free(l);
}
