/* SPDX-License-Identifier: MIT */
/*
 * filter_file.c - a filter in a file, for the `filter` commands.
 *
 * The lock is flock(2) on the file itself. The previous holder may have put a
 * new file in its place, so after waiting we check that the path still leads to
 * the locked file. fcntl(2) is not usable: its locks end when any descriptor of
 * the file is closed, and loading opens another.
 */
#include "cli/filter/filter_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "filter/checkpoint.h"

bool filter_file_new(struct filter_file *f, const char *command,
                     const char *path, const struct filter_options *o,
                     const char *seed, int *code)
{
    enum status st;

    *f = (struct filter_file){.command = command, .path = path, .lock = -1};
    seeded_id(&f->info.id, &f->key, seed);
    f->info.id.keys = CHECKPOINT_KEYS_URLS; /* it has no other ones yet */
    st = filter_new(&f->filter, o);
    if (st == STATUS_OK)
        return true;
    fprintf(stderr,
            "urlweir %s: there is no filter of that size and rate: "
            "%s\n",
            command, status_text(st));
    *code = st == STATUS_ARG ? EXIT_USAGE : EXIT_CANNOT;
    return false;
}

static bool same_file(int fd, const char *path)
{
    struct stat a, b;

    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static int lock_file(const char *path)
{
    for (;;) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
            return -1;
        while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
            ;
        if (same_file(fd, path))
            return fd;
        close(fd);
    }
}

static int refused(const struct filter_file *f, enum status st)
{
    fprintf(stderr, "urlweir %s: %s: %s\n", f->command, f->path,
            st == STATUS_NOT_FOUND ? "no such file"
            : st == STATUS_FORMAT  ? "not a filter file"
            : st == STATUS_REFUSED
                ? "this filter belongs to a crawl, and its keys depend on that "
                  "crawl's secret"
            : st == STATUS_VERSION ? "written by a newer release"
            : st == STATUS_DAMAGED ? "damaged beyond use; make it again"
                                   : status_text(st));
    return st == STATUS_DAMAGED ? EXIT_DAMAGED : EXIT_CANNOT;
}

bool filter_file_open(struct filter_file *f, const char *command,
                      const char *path, bool change, int *code)
{
    enum status st;

    *f = (struct filter_file){.command = command, .path = path, .lock = -1};
    if (change)
        f->lock = lock_file(path); /* if it fails, reading reports why */
    st = seeded_load(&f->filter, path, 0, &f->info, &f->key);
    if (st == STATUS_OK)
        st = filter_age(f->filter, clock_wall_ms() / 1000);
    if (st == STATUS_OK)
        return true;
    *code = refused(f, st);
    filter_file_close(f);
    return false;
}

int filter_file_save(struct filter_file *f)
{
    enum status st = checkpoint_save(f->path, f->filter, &f->info.id);

    if (st == STATUS_OK)
        return EXIT_DONE;
    fprintf(stderr, "urlweir %s: cannot write %s: %s\n", f->command, f->path,
            status_text(st));
    return EXIT_CANNOT;
}

int filter_file_verdict(const struct filter_file *f)
{
    struct filter_stats s;

    filter_stats(f->filter, &s);
    if (s.lost == 0)
        return EXIT_DONE;
    fprintf(stderr,
            "urlweir %s: %s: damaged parts answer `maybe` to every key; make "
            "the filter anew from its keys\n",
            f->command, f->path);
    return EXIT_DAMAGED;
}

void filter_file_close(struct filter_file *f)
{
    filter_free(f->filter);
    f->filter = NULL;
    if (f->lock >= 0)
        close(f->lock);
    f->lock = -1;
}
