/* SPDX-License-Identifier: MIT */
/* run_growth.c - how a file of runs grows. */
#include "storage/db/run_growth.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "storage/db/run_file.h"

#define LEAST     1024 /* pages from which on it grows by more at once */
#define STEP      64   /* pages, at least */
#define STEP_MOST (4 * STEP)

/* One write of zeroes from `at` to `end`, at most STEP_MOST pages. */
static bool write_zeroes(int fd, off_t at, off_t end)
{
    static unsigned char zeroes[STEP * RUN_PAGE];
    struct iovec parts[STEP_MOST / STEP];
    int n = 0;

    for (off_t from = at; from < end; n++) {
        off_t some =
            end - from < STEP * RUN_PAGE ? end - from : STEP * RUN_PAGE;

        parts[n] = (struct iovec){zeroes, (size_t)some};
        from += some;
    }
    return pwritev(fd, parts, n, at) == end - at;
}

off_t run_growth(int fd, off_t pages)
{
    off_t step = STEP, upto;
    struct stat s;

    if (pages < LEAST || fstat(fd, &s) != 0)
        return 0;
    while (step < STEP_MOST && step * 2 <= pages / 16)
        step *= 2;
    upto = (pages + step - 1) / step * step;
    for (off_t at = s.st_size, end; at < upto * RUN_PAGE; at = end) {
        end = (at / (step * RUN_PAGE) + 1) * step * RUN_PAGE;
        if (!write_zeroes(fd, at, end))
            break;
    }
    return upto;
}
