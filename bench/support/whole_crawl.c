/* SPDX-License-Identifier: MIT */
/* whole_crawl.c - one crawl as a child of a benchmark, and what it cost. */
#include "bench/support/whole_crawl.h"

#include <dirent.h>
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
    memset(r, 0, sizeof *r);
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

/* Notes the CPU time of a thread if it is a fetcher's, "fetch-0". */
static void look_at_thread(struct crawl_cost *c, pid_t pid, const char *tid)
{
    char path[64], line[512];
    unsigned long user, sys;
    unsigned n;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/task/%.16s/stat", (int)pid, tid);
    f = fopen(path, "r");
    if (f == NULL)
        return;
    if (fgets(line, sizeof line, f) != NULL &&
        sscanf(line,
               "%*d (fetch-%u) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
               "%lu %lu",
               &n, &user, &sys) == 3 &&
        n < FETCHERS_MOST)
        c->fetcher_us[n] =
            (double)(user + sys) * 1e6 / (double)sysconf(_SC_CLK_TCK);
    fclose(f);
}

static void look_at_threads(struct crawl_cost *c, pid_t pid)
{
    char path[32];
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    d = opendir(path);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.')
            look_at_thread(c, pid, e->d_name);
    if (d != NULL)
        closedir(d);
}

struct crawl_cost crawl_cost_of(pid_t pid, int64_t begun)
{
    struct rusage u = {0};
    struct crawl_cost c = {.status = -1};
    int status = 0;
    pid_t ended;

    while ((ended = wait4(pid, &status, WNOHANG, &u)) == 0) {
        look_at_threads(&c, pid);
        usleep(20000);
    }
    if (ended == pid && WIFEXITED(status))
        c.status = WEXITSTATUS(status);
    c.seconds = (double)(clock_mono() - begun) / NS_PER_S;
    c.cpu_us = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
               (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    c.rss_kb = u.ru_maxrss;
    return c;
}

struct crawl_cost whole_crawl_run(const struct whole_crawl *r,
                                  const char *const *args, const char *err)
{
    int64_t begun = clock_mono();
    pid_t pid = fork();

    if (pid == 0) {
        if (err == NULL || freopen(err, "w", stderr) != NULL)
            execv(r->program, (char *const *)(uintptr_t)args);
        _exit(127);
    }
    return crawl_cost_of(pid, begun);
}

void whole_crawl_last_line(const char *path, char *line, size_t room)
{
    FILE *f = fopen(path, "r");

    line[0] = '\0';
    while (f != NULL && fgets(line, (int)room, f) != NULL)
        continue;
    if (f != NULL)
        fclose(f);
}

uint64_t whole_crawl_counter(const char *line, const char *name)
{
    char key[64];
    const char *at;

    snprintf(key, sizeof key, "\"%s\":", name);
    at = strstr(line, key);
    return at != NULL ? strtoull(at + strlen(key), NULL, 10) : 0;
}

struct crawl_cost whole_crawl_measure(const struct whole_crawl *r,
                                      const char *scope, char *const *seeds,
                                      bool warc)
{
    char threads[16], conns[16];
    const char *args[24 + CRAWL_SEEDS_MOST] = {"urlweir",
                                               "crawl",
                                               "-o",
                                               warc ? r->warc_dir : r->dir,
                                               "--scope",
                                               scope,
                                               "-q",
                                               "--allow-private",
                                               "--delay",
                                               "0",
                                               "-c",
                                               "64",
                                               "--conns-per-ip",
                                               "0",
                                               "--conns-per-host",
                                               conns,
                                               "--threads",
                                               threads};
    size_t n = 18;

    snprintf(threads, sizeof threads, "%u", r->threads > 0 ? r->threads : 1);
    snprintf(conns, sizeof conns, "%u", r->conns > 0 ? r->conns : 1);
    if (warc)
        args[n++] = "--warc";
    while (*seeds != NULL)
        args[n++] = *seeds++;
    return whole_crawl_run(r, args, NULL);
}

bool whole_crawl_wget2(const struct whole_crawl *r, bool all_hosts,
                       char *const *seeds, struct crawl_cost *out)
{
    const char *args[16 + CRAWL_SEEDS_MOST] = {"wget2",      "-q",
                                               "-r",         "-l",
                                               "0",          "--delete-after",
                                               "--no-proxy", "-P",
                                               r->dir};
    size_t n = 9;
    int64_t begun = clock_mono();
    pid_t pid;

    if (system("command -v wget2 >/dev/null") != 0)
        return false;
    if (all_hosts)
        args[n++] = "-H";
    while (*seeds != NULL)
        args[n++] = *seeds++;
    pid = fork();
    if (pid == 0) {
        execvp("wget2", (char *const *)(uintptr_t)args);
        _exit(127);
    }
    *out = crawl_cost_of(pid, begun);
    if (out->status == 8) /* some response was an error */
        out->status = 0;
    return true;
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
