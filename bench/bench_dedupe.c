/* SPDX-License-Identifier: MIT */
/*
 * bench_dedupe.c - `urlweir dedupe` compared with other ways to remove repeated
 * lines.
 *
 * One list of URLs, four of five of them repeats drawn by Zipf's law (exponent
 * 1) over what was there before, goes as a file through
 *
 *   sort -u         LC_ALL=C; order is lost
 *   awk             '!s[$0]++', whichever awk is installed
 *   SQLite          a table seen(url TEXT PRIMARY KEY) WITHOUT ROWID, INSERT OR
 *                   IGNORE, one transaction, neither journal nor sync, 256 MiB
 *                   of cache: no crash would leave it whole
 *   urlweir dedupe  as it comes, and with little memory; a kept set (--state),
 *                   synced every second, and the same list once more over it
 *
 * Outputs are compared octet by octet with awk's, sort's by its size. CPU is
 * user and system time of the process, memory the most it had resident, disk
 * the most its directory of temporary files or its set took up. The file is in
 * the page cache for all. Each runs at nice 10.
 *
 * usage: bench_dedupe [LINES]   2,000,000 by default, or N of the environment
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file/file.h"

static char dir[64], list[128], scratch[128];
static char program[4096]; /* urlweir, from the same build */

static void die(const char *what)
{
    fprintf(stderr, "bench_dedupe: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void run_shell(const char *command)
{
    if (system(command) != 0)
        die(command);
}

/* ---- the list ---- */

static uint64_t random_state = 88172645463325252;

static double unit(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

/* As in bench_seen.c: rank r has a probability proportional to 1/r. */
static uint64_t zipf(uint64_t n)
{
    double r = exp(unit() * (log((double)n) + 0.5772156649)) * 0.5614594836;
    uint64_t rank = (uint64_t)r + 1;

    return rank < n ? rank : n;
}

/* Returns how many are new. */
static uint64_t make_list(uint64_t n)
{
    FILE *f = fopen(list, "w");
    uint64_t known = 0;

    if (f == NULL)
        die(list);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t k = known == 0 || unit() < 0.2 ? ++known : zipf(known);

        fprintf(f,
                "http://www.host%05u.example/articles/2024/%06u/page-%08" PRIu64
                ".html\n",
                (unsigned)(k % 9973), (unsigned)(k % 999983), k);
    }
    if (fclose(f) != 0)
        die(list);
    return known;
}

/* ---- running one ---- */

struct result {
    double wall, cpu;
    uint64_t memory, disk;
};

/* The disk space of a directory's files, without subdirectories. */
static uint64_t disk_used(const char *path)
{
    DIR *d = opendir(path);
    uint64_t sum = 0;
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL) {
        char name[512];
        struct stat s;

        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (lstat(name, &s) == 0 && S_ISREG(s.st_mode))
            sum += (uint64_t)s.st_blocks * 512;
    }
    if (d != NULL)
        closedir(d);
    return sum;
}

static const char *out_path(const char *name)
{
    static char path[192];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void send_to(int fd, const char *path)
{
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (to < 0 || dup2(to, fd) < 0)
        _exit(127);
}

/* Waits, watching the directory; the child's exit status must be 0. */
static void watch(pid_t child, struct result *r)
{
    struct rusage use;
    int64_t start = clock_mono();
    int status = 0;
    pid_t done;

    while ((done = wait4(child, &status, WNOHANG, &use)) == 0) {
        uint64_t now = disk_used(scratch);

        if (now > r->disk)
            r->disk = now;
        usleep(20000);
    }
    if (done < 0 || status != 0)
        die("a program failed");
    r->wall = (double)(clock_mono() - start) / 1e9;
    r->cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
             (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
    r->memory = (uint64_t)use.ru_maxrss * 1024;
}

static void run_program(char *const argv[], const char *out, struct result *r)
{
    pid_t child = fork();

    if (child == 0) {
        send_to(STDOUT_FILENO, out_path(out));
        send_to(STDERR_FILENO, out_path("stderr"));
        setenv("LC_ALL", "C", 1);
        setenv("TMPDIR", scratch, 1);
        if (nice(10) == -1)
            errno = 0;
        execvp(argv[0], argv);
        _exit(127);
    }
    watch(child, r);
}

/* ---- SQLite ---- */

static void sql(sqlite3 *h, const char *text)
{
    if (sqlite3_exec(h, text, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "bench_dedupe: %s: %s\n", text, sqlite3_errmsg(h));
        _exit(1);
    }
}

static void dedupe_by_table(void)
{
    FILE *in = fopen(list, "r");
    sqlite3 *h = NULL;
    sqlite3_stmt *s = NULL;
    char *line = NULL, path[192];
    size_t room = 0;
    ssize_t len;

    snprintf(path, sizeof path, "%s/table.db", scratch);
    if (in == NULL || sqlite3_open(path, &h) != SQLITE_OK)
        _exit(1);
    sql(h, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
           "PRAGMA cache_size=-262144;"
           "CREATE TABLE seen(url TEXT PRIMARY KEY) WITHOUT ROWID; BEGIN");
    sqlite3_prepare_v2(h, "INSERT OR IGNORE INTO seen VALUES(?)", -1, &s, NULL);
    while ((len = getline(&line, &room, in)) > 0) {
        sqlite3_bind_text(s, 1, line, (int)len - 1, SQLITE_STATIC);
        if (sqlite3_step(s) != SQLITE_DONE)
            _exit(1);
        if (sqlite3_changes(h) == 1)
            fwrite(line, 1, (size_t)len, stdout);
        sqlite3_reset(s);
    }
    sql(h, "COMMIT");
    sqlite3_finalize(s);
    sqlite3_close(h);
    fclose(in);
    free(line);
    _exit(fflush(stdout) == 0 ? 0 : 1);
}

static void run_table(const char *out, struct result *r)
{
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        send_to(STDOUT_FILENO, out_path(out));
        if (nice(10) == -1)
            errno = 0;
        dedupe_by_table();
    }
    watch(child, r);
}

/* ---- the table ---- */

static void row(const char *name, const struct result *r, uint64_t n)
{
    printf("| %-34s | %7.1f | %7.1f | %9.0f | %9.1f | %9.1f |\n", name, r->wall,
           r->cpu, (double)n / r->wall, (double)r->memory / 1048576,
           (double)r->disk / 1048576);
    fflush(stdout);
}

static void compare(const char *a, const char *b)
{
    char command[512], first[192];

    snprintf(first, sizeof first, "%s", out_path(a));
    snprintf(command, sizeof command, "cmp '%s' '%s'", first, out_path(b));
    run_shell(command);
}

static void same_size(const char *a, const char *b)
{
    uint64_t x = 0, y = 0;

    if (file_size(out_path(a), &x) != STATUS_OK ||
        file_size(out_path(b), &y) != STATUS_OK || x != y) {
        fprintf(stderr, "bench_dedupe: %s and %s differ\n", a, b);
        exit(1);
    }
}

/* The unnamed file of a set that is not stored is not in the directory: take
 * its size from the summary. */
static void take_disk(struct result *r)
{
    struct buf b;
    const char *at;

    buf_init(&b, 1 << 16);
    if (file_read(out_path("stderr"), &b) == STATUS_OK &&
        (at = strstr(buf_str(&b), "\"disk\": ")) != NULL) {
        uint64_t said = strtoull(at + strlen("\"disk\": "), NULL, 10);

        if (said > r->disk)
            r->disk = said;
    }
    buf_fini(&b);
}

/* `options`: up to four, ended by NULL. */
static void run_ours(const char *name, const char *const *options, uint64_t n,
                     const char *same_as)
{
    char *argv[10] = {program, (char *)"dedupe", (char *)"--json", list};
    struct result r = {0};

    for (size_t i = 0; options[i] != NULL; i++)
        argv[4 + i] = (char *)options[i];
    run_program(argv, "ours", &r);
    take_disk(&r);
    row(name, &r, n);
    if (same_as != NULL)
        compare(same_as, "ours");
}

static void run_peers(uint64_t n)
{
    char *sort[] = {(char *)"sort", (char *)"-u", list, NULL};
    char *awk[] = {(char *)"awk", (char *)"!s[$0]++", list, NULL};
    struct result r = {0};

    run_program(sort, "sort", &r);
    row("sort -u", &r, n);
    r = (struct result){0};
    run_program(awk, "awk", &r);
    row("awk '!s[$0]++'", &r, n);
    same_size("sort", "awk");
    unlink(out_path("sort"));
    r = (struct result){0};
    run_table("table", &r);
    row("SQLite, INSERT OR IGNORE", &r, n);
    compare("awk", "table");
    unlink(out_path("table"));
    unlink(out_path("scratch/table.db"));
}

static void run_all(uint64_t n)
{
    static char kept[160];
    const char *raw[] = {"--raw", NULL};
    const char *canonical[] = {NULL};
    const char *small[] = {"--memory", "32M", NULL};
    const char *state[] = {"--state", kept, NULL};

    run_peers(n);
    run_ours("urlweir dedupe --raw", raw, n, "awk");
    run_ours("urlweir dedupe", canonical, n, "awk");
    run_ours("urlweir dedupe --memory 32M", small, n, "awk");
    snprintf(kept, sizeof kept, "%s", scratch);
    run_ours("urlweir dedupe --state DIR", state, n, "awk");
    run_ours("the same again, nothing new", state, n, NULL);
}

/* build/MODE/bench/bench_dedupe -> build/MODE/urlweir */
static void find_program(const char *self)
{
    const char *bench = strstr(self, "bench/bench_dedupe");

    snprintf(program, sizeof program, "%.*surlweir",
             (int)(bench != NULL ? bench - self : 0), self);
}

int main(int argc, char **argv)
{
    const char *text = argc > 1 ? argv[1] : getenv("N");
    uint64_t n = text != NULL ? strtoull(text, NULL, 10) : 2000000, known;
    const char *tmp = getenv("TMPDIR");
    char awk[4096] = "";
    char command[128];
    uint64_t size = 0;

    find_program(argv[0]);
    snprintf(dir, sizeof dir, "%.40s/urlweir-bench-XXXXXX",
             tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(dir) == NULL)
        die(dir);
    snprintf(list, sizeof list, "%s/list", dir);
    snprintf(scratch, sizeof scratch, "%s/scratch", dir);
    if (mkdir(scratch, 0700) != 0)
        die(scratch);
    known = make_list(n);
    if (file_size(list, &size) != STATUS_OK ||
        realpath("/usr/bin/awk", awk) == NULL)
        awk[0] = '\0';
    printf("%" PRIu64 " URLs, %" PRIu64 " different, %.0f MiB; awk is %s; all "
           "at nice 10\n\n"
           "| what | seconds | CPU s | lines/s | MiB resident | MiB disk |\n"
           "|---|---|---|---|---|---|\n",
           n, known, (double)size / 1048576, awk);
    run_all(n);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    run_shell(command);
    return 0;
}
