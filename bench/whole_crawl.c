/* SPDX-License-Identifier: MIT */
/* whole_crawl.c - one crawl as a child of a benchmark, and what it cost. */
#include "bench/whole_crawl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

/* build/MODE/urlweir, of build/MODE/bench/bench_NAME. */
static void find_program(char out[PATH_MAX])
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *bench;

    self[n > 0 ? n : 0] = '\0';
    bench = strstr(self, "/bench/bench_");
    if (bench != NULL)
        *bench = '\0';
    snprintf(out, PATH_MAX, "%.*s/urlweir", PATH_MAX - 32, self);
}

bool whole_crawl_init(struct whole_crawl *r)
{
    find_program(r->program);
    snprintf(r->dir, sizeof r->dir, "/tmp/bench_crawl.XXXXXX");
    memcpy(r->warc_dir, r->dir, sizeof r->dir);
    return mkdtemp(r->dir) != NULL && mkdtemp(r->warc_dir) != NULL;
}

void whole_crawl_fini(struct whole_crawl *r)
{
    char command[96];

    snprintf(command, sizeof command, "rm -rf %s %s", r->dir, r->warc_dir);
    if (system(command) != 0)
        fprintf(stderr, "bench: cannot remove %s\n", r->dir);
}

struct crawl_cost crawl_cost_of(pid_t pid, int64_t begun)
{
    struct rusage u = {0};
    struct crawl_cost c = {.status = -1};
    int status = 0;

    if (wait4(pid, &status, 0, &u) == pid && WIFEXITED(status))
        c.status = WEXITSTATUS(status);
    c.seconds = (double)(clock_mono() - begun) / NS_PER_S;
    c.cpu_us = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
               (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    c.rss_kb = u.ru_maxrss;
    return c;
}

static void run_program(const struct whole_crawl *r, const char *scope,
                        char *const *seeds, bool warc)
{
    const char *args[20 + CRAWL_SEEDS_MOST] = {
        "urlweir",   "crawl", "-o", warc ? r->warc_dir : r->dir,
        "--scope",   scope,   "-q", "--allow-private",
        "--delay",   "0",     "-c", "64",
        "--threads", "1"};
    size_t n = 14;

    if (warc)
        args[n++] = "--warc";
    while (*seeds != NULL)
        args[n++] = *seeds++;
    execv(r->program, (char *const *)(uintptr_t)args);
}

struct crawl_cost whole_crawl_measure(const struct whole_crawl *r,
                                      const char *scope, char *const *seeds,
                                      bool warc)
{
    int64_t begun = clock_mono();
    pid_t pid = fork();

    if (pid == 0) {
        run_program(r, scope, seeds, warc);
        _exit(127);
    }
    return crawl_cost_of(pid, begun);
}

void whole_crawl_fetched(const struct whole_crawl *r, struct buf *out)
{
    char command[sizeof r->program + 128], line[4096];
    FILE *f;

    snprintf(command, sizeof command,
             "%s export %s --what pages --format csv | tail -n +2 | cut -d, "
             "-f1",
             r->program, r->dir);
    f = popen(command, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        buf_add_str(out, line);
    if (f != NULL)
        pclose(f);
}
