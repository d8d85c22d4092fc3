/* SPDX-License-Identifier: MIT */
/*
 * bench_order.c - what --order best brings: a fifth of a web is fetched in each
 * order, and the in-links of the pages fetched are added up.
 *
 * usage: bench_order [PAGES [HOSTS]]   200,000 on 1,000 by default
 *
 * Ends with 1 unless best gets at least 1.5 times the weight of breadth on the
 * web with index pages. On the other, where links alone lead to pages, breadth
 * first meets those with many in-links early by itself, as Najork and Wiener
 * (2001) found; the table has the most that any order could get. The weights
 * are counts, which repeat exactly.
 */
#include <unistd.h>

#include "bench/support/order_web.h"

#define LEAST 1.5

static bool crawl(const struct order_web *w, enum order_mode mode,
                  struct order_run *run)
{
    const struct order_options o = {.mode = mode};
    char dir[] = "/tmp/bench-order-XXXXXX", command[64];
    struct order *order = NULL;
    struct buf why;
    enum status st;

    buf_init(&why, 1024);
    st = order_new(&order, &o, &why);
    if (st == STATUS_OK && mkdtemp(dir) != NULL) {
        st = order_web_crawl(w, order, w->size / 5, dir, run);
        snprintf(command, sizeof command, "rm -rf %s", dir);
        if (system(command) != 0)
            st = STATUS_IO;
    }
    order_free(order);
    buf_fini(&why);
    return st == STATUS_OK && run->pages == w->size / 5;
}

/* Prints the table of one web, and returns what best gains over breadth; 0: a
 * crawl failed. */
static double compare(const struct order_web *w, const char *title)
{
    uint64_t most = order_web_most(w, w->size / 5), all = w->first[w->size];
    struct order_run run[3];

    printf("\n%s\n\n| order | in-links | of all | to breadth | CPU us a page "
           "|\n|---|---|---|---|---|\n",
           title);
    for (int m = ORDER_BREADTH; m <= ORDER_BEST; m++) {
        if (!crawl(w, (enum order_mode)m, &run[m]))
            return 0;
        printf("| %s | %llu | %.1f %% | %.2f | %.0f |\n",
               order_mode_name((enum order_mode)m),
               (unsigned long long)run[m].weight,
               100.0 * (double)run[m].weight / (double)all,
               (double)run[m].weight / (double)run[ORDER_BREADTH].weight,
               1e6 * run[m].cpu / (double)run[m].pages);
    }
    printf("| (the most there is) | %llu | %.1f %% | %.2f | |\n",
           (unsigned long long)most, 100.0 * (double)most / (double)all,
           (double)most / (double)run[ORDER_BREADTH].weight);
    return (double)run[ORDER_BEST].weight / (double)run[ORDER_BREADTH].weight;
}

int main(int argc, char **argv)
{
    uint32_t pages = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200000;
    uint32_t hosts = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000;
    double gain = 0;

    printf("%u pages on %u hosts, a fifth of them fetched\n", pages, hosts);
    for (int indexed = 1; indexed >= 0; indexed--) {
        struct order_web w;
        double got;

        order_web_make(&w, pages, hosts, indexed != 0);
        got = compare(&w, indexed ? "with index pages" : "links alone");
        order_web_free(&w);
        if (indexed)
            gain = got;
    }
    printf("\nbest gets %.2f times the in-links of breadth (at least %.1f)\n",
           gain, LEAST);
    return gain >= LEAST ? 0 : 1;
}
