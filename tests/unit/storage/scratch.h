/*
 * scratch.h - a directory for one test, with a store in it.
 *
 * Used by the storage tests; header only, so that each test file stands alone.
 */
#ifndef URLWEIR_TESTS_STORAGE_SCRATCH_H
#define URLWEIR_TESTS_STORAGE_SCRATCH_H

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "storage/db/db.h"
#include "tests/unit/unit.h"

/* Like ck_assert_*_eq, for loops: check writes a note to a file for each
 * assertion, which dominates the time of a test that makes a million of
 * them. */
#define SAME(a, b)                                                             \
    do {                                                                       \
        if ((a) != (b))                                                        \
            ck_abort_msg("%s is %lld, %s is %lld", #a, (long long)(a), #b,     \
                         (long long)(b));                                      \
    } while (0)

struct scratch {
    char dir[64];
    char db[96];
    char other[96];
};

/* If set, fsync and fdatasync fail with EIO in the whole process (main.c). */
extern bool scratch_no_sync;
/* Syncs of files and of directories since the start that succeeded. */
extern atomic_uint scratch_syncs, scratch_dir_syncs;
/* Counts down with each statement that this thread prepares or runs, and with
 * each first and second row it reads; the one that takes it to 0 does nothing
 * and fails, as if the disk had failed (main.c). 0: none fails. */
extern _Thread_local uint64_t scratch_steps_left;
extern _Thread_local bool scratch_step_failed;

/* Expected error messages would hide the others. */
static inline void scratch_quiet(void)
{
    if (getenv("TEST_LOG") == NULL) {
        int null = open("/dev/null", O_WRONLY);

        dup2(null, STDERR_FILENO);
        close(null);
    }
}

/* Returns a directory in memory if there is room: these tests commit thousands
 * of times and learn nothing from a disk. A container may have only 64 MiB
 * there. */
static inline const char *scratch_root(void)
{
    struct statvfs at;

    return access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &at) == 0 &&
                   at.f_bavail >= ((uint64_t)1 << 30) / at.f_frsize
               ? "/dev/shm"
               : "/tmp";
}

static inline struct scratch scratch_make(void)
{
    struct scratch s;

    snprintf(s.dir, sizeof s.dir, "%s/urlweir-store-XXXXXX", scratch_root());
    ck_assert_ptr_nonnull(mkdtemp(s.dir));
    snprintf(s.db, sizeof s.db, "%s/frontier.db", s.dir);
    snprintf(s.other, sizeof s.other, "%s/other.db", s.dir);
    scratch_quiet();
    return s;
}

static inline void scratch_remove(const struct scratch *s)
{
    DIR *d = opendir(s->dir);
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL) {
        char path[512];

        snprintf(path, sizeof path, "%s/%s", s->dir, e->d_name);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    if (d != NULL)
        closedir(d);
    rmdir(s->dir);
}

/* Counts this process's open descriptors: a closed module leaves none. */
static inline unsigned scratch_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static inline void scratch_copy_file(const char *from, const char *to)
{
    struct buf b;

    buf_init(&b, (size_t)1 << 30);
    if (file_read(from, &b) == STATUS_OK) {
        FILE *f = fopen(to, "wb");

        ck_assert_ptr_nonnull(f);
        ck_assert_uint_eq(fwrite(buf_str(&b), 1, b.len, f), b.len);
        fclose(f);
    } else {
        unlink(to);
    }
    buf_fini(&b);
}

/* Copies database and log, while the store is open, into s->other: what
 * the machine would find after losing its power now. */
static inline void scratch_crash_copy(const struct scratch *s)
{
    char from[128], to[128];

    snprintf(to, sizeof to, "%s-shm", s->other);
    unlink(to);
    scratch_copy_file(s->db, s->other);
    snprintf(from, sizeof from, "%s-wal", s->db);
    snprintf(to, sizeof to, "%s-wal", s->other);
    scratch_copy_file(from, to);
}

static inline struct db *scratch_open(const char *path, enum db_mode mode)
{
    const struct db_options o = {.cache_bytes = 4 << 20};
    struct db *d = NULL;

    ck_ok(db_open(&d, path, mode, &o));
    return d;
}

static inline void scratch_sql(const char *path, const char *sql)
{
    sqlite3 *h = NULL;
    char *why = NULL;

    ck_assert_int_eq(sqlite3_open(path, &h), SQLITE_OK);
    sqlite3_exec(h, sql, NULL, NULL, &why);
    ck_assert_msg(why == NULL, "%s: %s", sql, why);
    sqlite3_close(h);
}

/* Lets no file of this process grow past `bytes`, like a disk that is full for
 * this process alone. Writing more fails with EFBIG. */
static inline void scratch_limit_files(uint64_t bytes)
{
    struct rlimit l = {bytes, bytes};

    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &l);
}

/* Numbers that look random and are the same in every run (SplitMix64, Steele,
 * Lea and Flood, 2014). */
static inline uint64_t scratch_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t scratch_below(uint64_t *state, uint64_t n)
{
    return scratch_random(state) % n;
}

static inline struct digest scratch_digest(uint64_t i)
{
    uint64_t state = i * 2 + 1;
    uint64_t hi = scratch_random(&state);

    return (struct digest){hi, scratch_random(&state)};
}

/* Returns the size to use: `large` with LONG=1, otherwise `small`. */
static inline uint64_t scratch_size(uint64_t small, uint64_t large)
{
    const char *l = getenv("LONG");

    return l != NULL && l[0] != '\0' ? large : small;
}

#endif
