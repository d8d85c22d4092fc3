/* SPDX-License-Identifier: MIT */
/*
 * filter_saved.c - the cost of saving, loading and repairing a filter.
 *
 * A crawl never waits for an image: another thread writes it, the store has the
 * URLs since the last one, and a restart adds those again. So there are three
 * figures instead of one: the delay of the owner while an image is written and
 * 1 % of new keys are added, the time a restart takes to read the image, and
 * the time it takes to add newer keys.
 */
#include "bench/support/filter_saved.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/support/filter_aims.h"
#include "cli/filter/filter_measure.h"
#include "filter/checkpoint.h"

struct saving {
    struct filter *f;
    const char *path;
    int64_t took;
    atomic_bool done;
};

static const struct checkpoint_id id = {.seed_print = 1, .covers = 1};

static void must(enum status st, const char *what)
{
    if (st == STATUS_OK || st == STATUS_LIMIT)
        return;
    fprintf(stderr, "bench_filter: %s: %s\n", what, status_text(st));
    exit(1);
}

static void line(const char *what, double value, const char *unit)
{
    printf("%-62s %10.2f %s\n", what, value, unit);
    fflush(stdout);
}

static double ms_since(int64_t t)
{
    return (double)(clock_mono() - t) / 1e6;
}

static void *save(void *arg)
{
    struct saving *s = arg;
    int64_t t = clock_mono();

    must(checkpoint_save(s->path, s->f, &id), "saving");
    s->took = clock_mono() - t;
    atomic_store(&s->done, true);
    return NULL;
}

/* How often this thread was preempted, which does not include waiting for the
 * saving thread. A batch in which that happened says nothing about the
 * filter. */
static long pushed_aside(void)
{
    struct rusage u;

    if (getrusage(RUSAGE_THREAD, &u) != 0)
        return 0;
    return u.ru_nivcsw;
}

/* Saves while the owner adds one key in a hundred. */
static void save_beside(struct filter_probe *p, const char *path, uint64_t keys)
{
    struct saving s = {.f = filter_probe_filter(p), .path = path};
    uint64_t upto = keys, last = keys + keys / 100;
    double worst = 0, held_up = 0;
    pthread_t thread;

    if (pthread_create(&thread, NULL, save, &s) != 0)
        abort();
    while (upto < last) {
        double ns, ms, wall;
        uint64_t next = upto + 1024 < last ? upto + 1024 : last;
        long pushed = pushed_aside();
        int64_t t = clock_mono();

        must(filter_probe_fill(p, next, &ns, &ms), "adding");
        wall = ms_since(t);
        worst = ms > worst ? ms : worst;
        if (wall > held_up && pushed_aside() == pushed)
            held_up = wall;
        upto = next;
    }
    pthread_join(thread, NULL);
    line("an image, on a thread of its own", (double)s.took / 1e6, "ms");
    line("1 % of the keys added meanwhile: the slowest 1024, CPU", worst, "ms");
    line("    the same by the clock on the wall, waiting included", held_up,
         "ms");
    aim_note("checkpoint, 1 % changed: the crawl is held up at most", held_up,
             AIM_AT_MOST, 10, "ms");
}

/* Adds the keys after the image, as a restart does. */
static double catch_up(struct filter *f, uint64_t from, uint64_t until)
{
    uint64_t batch[1024];
    int64_t t = clock_mono();

    for (uint64_t i = from; i < until;) {
        size_t n = 0;

        while (n < 1024 && i < until)
            batch[n++] = filter_measure_key(i++);
        must(filter_add(f, batch, n, NULL), "adding");
    }
    line("restart: the 1 % of keys newer than the image, added", ms_since(t),
         "ms");
    return ms_since(t);
}

static void load(const char *path, const struct filter_source *source,
                 uint64_t keys)
{
    struct checkpoint_info info;
    struct filter *f = NULL;
    int64_t t = clock_mono();
    double ms;

    must(checkpoint_load(&f, path, id.seed_print, source, 0, &info), "loading");
    ms = ms_since(t);
    line("restart: the image read and checked", ms, "ms");
    line("its size", (double)info.bytes / (1 << 20), "MiB");
    ms += catch_up(f, keys, keys + keys / 100);
    aim_note("restart: the filter's share of 2.5 s to the first fetch", ms,
             AIM_AT_MOST, 2500, "ms");
    filter_free(f);
}

static void flip_a_bit(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    off_t at = lseek(fd, 0, SEEK_END) / 2;
    unsigned char c;

    if (fd < 0 || pread(fd, &c, 1, at) != 1)
        abort();
    c ^= 16;
    if (pwrite(fd, &c, 1, at) != 1)
        abort();
    close(fd);
}

/* The number of added keys that are called new. */
static uint64_t lost_keys(const struct filter *f, uint64_t keys)
{
    uint64_t batch[1024], lost = 0;
    bool maybe[1024];

    for (uint64_t i = 0; i < keys; i += 1024) {
        size_t n = keys - i < 1024 ? (size_t)(keys - i) : 1024;

        for (size_t j = 0; j < n; j++)
            batch[j] = filter_measure_key(i + j);
        filter_check(f, batch, n, maybe);
        for (size_t j = 0; j < n; j++)
            lost += !maybe[j];
    }
    return lost;
}

static void load_damaged(const char *path, const struct filter_source *source,
                         uint64_t keys)
{
    struct checkpoint_info info;
    struct filter *f = NULL;
    uint64_t lost;
    int64_t t;

    flip_a_bit(path);
    t = clock_mono();
    must(checkpoint_load(&f, path, id.seed_print, source, 0, &info), "loading");
    line("one bit flipped: read, the damage built anew", ms_since(t), "ms");
    printf("%-62s %10" PRIu64 " of %" PRIu64 "\n", "    segments damaged",
           info.damaged, info.units);
    printf("%-62s %10" PRIu64 "\n", "    segments that answer maybe to all",
           info.lost);
    lost = lost_keys(f, keys);
    printf("%-62s %10" PRIu64 "\n", "    keys called new although added", lost);
    aim_note("one flipped bit: segments built anew", (double)info.damaged,
             AIM_AT_MOST, 1, "");
    aim_note("keys called new although added", (double)lost, AIM_AT_MOST, 0,
             "");
    filter_free(f);
}

void bench_saved(uint64_t keys, double fpr)
{
    const char *dir = getenv("TMPDIR");
    char path[4096];
    struct filter_probe *p = NULL;
    struct filter_source source;
    double ns, ms;

    snprintf(path, sizeof path, "%s/urlweir-bench-filter.%ld",
             dir != NULL ? dir : "/tmp", (long)getpid());
    printf("Saved and read again: scalable, %" PRIu64 " keys at %g\n\n", keys,
           fpr);
    must(filter_probe_new(&p, "scalable", 100000, 2 * keys, fpr), "making");
    must(filter_probe_fill(p, keys, &ns, &ms), "filling");
    source = filter_probe_source(p);
    save_beside(p, path, keys);
    load(path, &source, keys);
    load_damaged(path, &source, keys);
    printf("\n");
    filter_probe_free(p);
    unlink(path);
}
