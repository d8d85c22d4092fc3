/* SPDX-License-Identifier: MIT */
/* unsynced.c - files of which a sync failed. */
#include "base/file/unsynced.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/logger.h"
#include "base/mem.h"

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
    int err = errno;
    enum status st = status_of_errno(err);

    log_error(what, "path=%s error=\"%s\"", path, strerror(err));
    unsynced_note(path);
    return st != STATUS_OK ? st : STATUS_IO;
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
