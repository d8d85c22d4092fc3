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
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "cli/command.h"

static const char fixed_seed[] = "urlweir filter";

/* 32 octets from any text. Part of the format: files merge by it. */
static void seed_of(unsigned char seed[DIGEST_SEED_SIZE], const char *text)
{
    for (unsigned i = 0; i < 2; i++) {
        XXH128_hash_t h = XXH3_128bits_withSeed(text, strlen(text), i);
        XXH128_canonical_t octets;

        XXH128_canonicalFromHash(&octets, h);
        memcpy(seed + i * 16, octets.digest, 16);
    }
}

void filter_file_seed(unsigned char *seed, const char *text)
{
    seed_of(seed, text != NULL ? text : fixed_seed);
}

static void use_seed(struct filter_file *f)
{
    digest_key_init(&f->key, f->info.id.seed);
    f->info.id.seed_print = checkpoint_seed_print(&f->key);
}

bool filter_file_new(struct filter_file *f, const char *command,
                     const char *path, const struct filter_options *o,
                     const char *seed, int *code)
{
    enum status st;

    *f = (struct filter_file){.command = command, .path = path, .lock = -1};
    f->info.id.has_seed = true;
    filter_file_seed(f->info.id.seed, seed);
    use_seed(f);
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
    st = checkpoint_peek(path, &f->info);
    if (st == STATUS_OK && !f->info.id.has_seed) {
        fprintf(stderr,
                "urlweir %s: %s: this filter belongs to a crawl, and its keys "
                "depend on that crawl's secret\n",
                command, path);
        *code = EXIT_CANNOT;
        filter_file_close(f);
        return false;
    }
    if (st == STATUS_OK) {
        uint64_t print = f->info.id.seed_print;

        use_seed(f);
        st = print != f->info.id.seed_print
                 ? STATUS_DAMAGED
                 : checkpoint_load(&f->filter, path, print, NULL, 0, &f->info);
    }
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
