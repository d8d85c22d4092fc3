/* SPDX-License-Identifier: MIT */
/*
 * file.c - replace a file whole or not at all; read one. file_lock.c has locks.
 */
#include "base/file/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
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

/* Never STATUS_OK, whatever errno holds. */
static enum status io_error(const char *what, const char *path)
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
        enum status st = io_error("cannot create file", w->tmp);

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
            w->st = io_error("cannot write file", w->tmp);
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
        st = io_error("cannot sync directory", dir);
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
        return w->st = io_error("cannot sync file", w->tmp);
    fault_point("file-synced");
    if (rename(w->tmp, w->path) != 0)
        return w->st = io_error("cannot rename file", w->tmp);
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
                               : io_error("cannot read file", path);
    for (;;) {
        char chunk[65536];
        ssize_t n = read(fd, chunk, sizeof chunk);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            st = io_error("cannot read file", path);
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
        return io_error("cannot make directory", path);
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
        return io_error("cannot remove directory", path);
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
