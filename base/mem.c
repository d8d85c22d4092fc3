/* SPDX-License-Identifier: MIT */
/*
 * mem.c - allocation that ends the process on failure, and try_ forms that
 * report.
 *
 * Large tables come straight from mmap, aligned so that the kernel can back
 * them with 2 MiB pages: one random cache line then costs 23 ns instead of 59.
 */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)
/* Twice --memory's default, and some for libraries and stacks: RLIM_INFINITY is
 * above it. */
#define LIMIT_LOW ((rlim_t)1280 << 20)

static _Atomic uint64_t fail_countdown;

uint64_t mem_fail_after(uint64_t nth)
{
    return atomic_exchange(&fail_countdown, nth);
}

static bool told_to_fail(void)
{
    uint64_t left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);

    while (left > 0) {
        if (atomic_compare_exchange_weak(&fail_countdown, &left, left - 1))
            return left == 1;
    }
    return false;
}

/* Any thread may call this, with any lock held: so nothing is flushed, no
 * handler runs, and the line is written at once. */
_Noreturn void mem_out(size_t size)
{
    static const char what[] = "urlweir: out of memory";
    char line[128];
    int n = size == 0 ? snprintf(line, sizeof line, "%s\n", what)
                      : snprintf(line, sizeof line,
                                 "%s: could not get %zu bytes\n", what, size);

    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) != n)
        _exit(MEM_OUT_STATUS); /* without stderr the status still tells */
    mem_tell_limit();
    _exit(MEM_OUT_STATUS);
}

static void tell_limit(const struct rlimit *is, const char *option)
{
    char line[160];
    int n;

    if (is->rlim_cur > LIMIT_LOW)
        return;
    n = snprintf(line, sizeof line,
                 "urlweir: hint: memory is limited to %llu KiB (`ulimit %s`); "
                 "if that was too little, raise it, or give a smaller "
                 "--memory\n",
                 (unsigned long long)is->rlim_cur / 1024, option);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) != n)
        return; /* nobody reads it */
}

void mem_tell_limit(void)
{
    struct rlimit is;

    if (getrlimit(RLIMIT_AS, &is) == 0)
        tell_limit(&is, "-v");
    if (getrlimit(RLIMIT_DATA, &is) == 0)
        tell_limit(&is, "-d");
}

static void *or_die(void *p, size_t size)
{
    if (p == NULL)
        mem_out(size);
    return p;
}

void *xmalloc(size_t size)
{
    return or_die(malloc(size > 0 ? size : 1), size);
}

void *xcalloc(size_t count, size_t size)
{
    if (count == 0 || size == 0)
        count = size = 1;
    return or_die(calloc(count, size), size);
}

void *xrealloc(void *p, size_t size)
{
    return or_die(realloc(p, size > 0 ? size : 1), size);
}

char *xstrndup(const void *bytes, size_t len)
{
    char *copy = xmalloc(len + 1);

    if (len > 0)
        memcpy(copy, bytes, len);
    copy[len] = '\0';
    return copy;
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

void *try_malloc(size_t size)
{
    return told_to_fail() ? NULL : malloc(size > 0 ? size : 1);
}

void *try_calloc(size_t count, size_t size)
{
    if (count == 0 || size == 0)
        count = size = 1;
    return told_to_fail() ? NULL : calloc(count, size);
}

void *try_realloc(void *p, size_t size)
{
    return told_to_fail() ? NULL : realloc(p, size > 0 ? size : 1);
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static size_t mapped_size(size_t size)
{
    return round_up(size > 0 ? size : 1, size >= HUGE_PAGE ? HUGE_PAGE : 4096);
}

void *try_pages(size_t size, int *huge)
{
    size_t want = mapped_size(size), align = want >= HUGE_PAGE ? HUGE_PAGE : 0;
    char *p;

    if (huge != NULL)
        *huge = 0;
    if (told_to_fail() || want < size || want + align < want)
        return NULL;
    p = mmap(NULL, want + align, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (align > 0) {
        size_t head = round_up((uintptr_t)p, align) - (uintptr_t)p;

        if (head > 0)
            munmap(p, head);
        if (align - head > 0)
            munmap(p + head + want, align - head);
        p += head;
        if (madvise(p, want, MADV_HUGEPAGE) == 0 && huge != NULL)
            *huge = 1;
    }
    return p;
}

void mem_free_pages(void *p, size_t size)
{
    if (p != NULL)
        munmap(p, mapped_size(size));
}

void mem_clear_pages(void *p, size_t size)
{
    char *from = p, *end = from + size;
    char *first = from + (round_up((uintptr_t)p, 4096) - (uintptr_t)p);
    size_t whole = end > first ? (size_t)(end - first) / 4096 * 4096 : 0;

    if (whole == 0 || madvise(first, whole, MADV_DONTNEED) != 0) {
        memset(from, 0, size);
        return;
    }
    memset(from, 0, (size_t)(first - from));
    memset(first + whole, 0, (size_t)(end - first) - whole);
}

/* "0::/system.slice/urlweir.service" names its file in /sys/fs/cgroup
 * (cgroups(7)); "max" is no limit. */
static uint64_t cgroup_limit(void)
{
    char path[4096] = "", file[4200];
    unsigned long long most = 0;
    FILE *f = fopen("/proc/self/cgroup", "re");

    if (f == NULL)
        return UINT64_MAX;
    while (fgets(path, sizeof path, f) != NULL && strncmp(path, "0::", 3) != 0)
        path[0] = '\0';
    fclose(f);
    path[strcspn(path, "\n")] = '\0';
    if (path[0] == '\0')
        return UINT64_MAX;
    snprintf(file, sizeof file, "/sys/fs/cgroup%s/memory.max", path + 3);
    f = fopen(file, "re");
    if (f == NULL)
        return UINT64_MAX;
    if (fscanf(f, "%llu", &most) != 1)
        most = UINT64_MAX;
    fclose(f);
    return most;
}

uint64_t mem_total(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    uint64_t machine =
        pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    uint64_t group = cgroup_limit();

    return machine == 0      ? (group == UINT64_MAX ? 0 : group)
           : group < machine ? group
                             : machine;
}

uint64_t mem_resident(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long long all = 0, resident = 0;

    if (f == NULL)
        return 0;
    if (fscanf(f, "%llu %llu", &all, &resident) != 2)
        resident = 0;
    fclose(f);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}
