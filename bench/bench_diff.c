/* SPDX-License-Identifier: MIT */
/*
 * bench_diff.c - time and memory of comparing two crawls.
 *
 * usage: bench_diff [-n URLS] [-m MEMORY] [-t DIR]   1,000,000; 256M; /var/tmp
 *
 * Each side has N pages; one in ten is new, gone, moved or changed. The lines
 * are those that diff_join.c makes of a store, whose reading is not in it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/diff/diff_join.h"
#include "frontier/outcome.h"

static void fail(const char *what, enum status st)
{
    fprintf(stderr, "bench_diff: %s: %s\n", what, status_text(st));
    exit(1);
}

/* URL `n` on one side; of every forty, one is on the other side only, one has
 * another text there, one is at another URL. */
static void add_page(struct line_sort *s, struct buf *line, uint64_t n,
                     char side)
{
    uint64_t of = n * UINT64_C(0x9e3779b97f4a7c15), text = of | 1;
    struct fetch_row row = {.status = OUTCOME_FETCHED,
                            .http_status = 200,
                            .at_ms = INT64_C(1700000000000) + (int64_t)n,
                            .body_bytes = 9700,
                            .simhash = of ^ n,
                            .title = bytes_of_str("A page of the site")};
    const char *folder = "pages";
    enum status st;

    if ((n % 40 == 1 && side == '0') || (n % 40 == 2 && side == '1'))
        return;
    if (n % 40 == 3 && side == '1')
        folder = "moved";
    if (n % 40 == 4 && side == '1')
        text += 2;
    row.text_digest = (struct digest){text, n};
    row.body_print = text;
    buf_clear(line);
    buf_addf(line, "http://host%" PRIu64 ".example/%s/%016" PRIx64 ".html",
             n % 1000, folder, of);
    buf_addf(line, "\t%c%c\t", DIFF_STATE, side);
    diff_state_put(line, &row);
    st = line_sort_add(s, buf_bytes(line));
    if (st != STATUS_OK)
        fail("cannot sort", st);
}

static enum status ignore(void *ctx, const struct diff_row *row)
{
    (void)ctx;
    (void)row;
    return STATUS_OK;
}

int main(int argc, char **argv)
{
    uint64_t n = 1000000, memory = UINT64_C(256) << 20;
    struct diff_join_options o = {.dir = "/var/tmp",
                                  .changed_by = CHANGED_BY_TEXT};
    struct diff_counts c;
    struct line_sort *s;
    struct rusage use;
    struct buf line;
    int64_t begin = clock_cpu();
    enum status st;

    for (int opt; (opt = getopt(argc, argv, "n:m:t:")) != -1;) {
        if (opt == 'n')
            n = strtoull(optarg, NULL, 10);
        else if (opt == 'm')
            memory = strtoull(optarg, NULL, 10) << 20;
        else if (opt == 't')
            o.dir = optarg;
        else
            return 1;
    }
    o.memory = memory / 2;
    s = line_sort_new(o.dir, memory / 3);
    buf_init(&line, DIFF_LINE_MOST);
    for (uint64_t i = 0; i < 2 * n; i++)
        add_page(s, &line, i / 2 + 5, i % 2 == 0 ? '0' : '1');
    st = diff_join(s, &o, &c, ignore, NULL);
    if (st != STATUS_OK)
        fail("cannot compare", st);
    line_sort_free(s);
    buf_fini(&line);
    getrusage(RUSAGE_SELF, &use);
    printf("%" PRIu64 " URLs a side, %" PRIu64 " MiB to sort in: new %" PRIu64
           ", gone %" PRIu64 ", changed %" PRIu64 ", moved %" PRIu64
           ", same %" PRIu64 "\n%.2f us of CPU a URL of a side, %.0f MiB of "
           "memory at most\n",
           n, memory >> 20, c.kinds[DIFF_NEW], c.kinds[DIFF_GONE],
           c.kinds[DIFF_CHANGED], c.kinds[DIFF_MOVED], c.same,
           (double)(clock_cpu() - begin) / 1e3 / (double)(2 * n),
           (double)use.ru_maxrss / 1024);
    return 0;
}
