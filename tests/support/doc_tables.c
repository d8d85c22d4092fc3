/* SPDX-License-Identifier: MIT */
/*
 * doc_tables.c - what docs/formats shows of tables that stand in the program.
 *
 * usage: doc_tables counters    Markdown: each counter of a crawl
 *        doc_tables metrics     Markdown: those with a metric family of their
 *                               own
 *        doc_tables names       NAME KIND METRIC LABEL=VALUE, "-" for none, a
 *                               counter a line
 *
 * tools/doc-tables.sh puts the first two into the documents;
 * tests/cli/counters.sh compares them with what is there.
 */
#include <stdio.h>
#include <string.h>

#include "crawler/crawl_counters.h"

static void metric_of(const struct crawl_counter *c, char *out, size_t size)
{
    if (c->label != NULL && c->value != NULL)
        snprintf(out, size, "`%s{%s=\"%s\"}`", c->metric, c->label, c->value);
    else
        snprintf(out, size, "`%s`", c->metric);
}

static void print_counters(void)
{
    puts("| key | of | unit | metric, behind `urlweir_crawl_` | meaning |\n"
         "|---|---|---|---|---|");
    for (size_t i = 0; i < CRAWL_COUNTERS; i++) {
        const struct crawl_counter *c = &crawl_counters[i];
        char metric[128];

        metric_of(c, metric, sizeof metric);
        printf("| `%s` | %s | %s | %s | %s |\n", c->name,
               counter_kind_name(c->kind), c->unit, metric, c->help);
    }
}

static void print_metrics(void)
{
    puts("| name | type | labels | meaning |\n|---|---|---|---|");
    for (size_t i = 0; i < CRAWL_COUNTERS; i++) {
        const struct crawl_counter *c = &crawl_counters[i];

        if (c->label == NULL)
            printf("| `urlweir_crawl_%s` | %s | `crawl` | %s%s |\n", c->metric,
                   strstr(c->metric, "_total") != NULL ? "counter" : "gauge",
                   c->help,
                   c->kind == COUNTER_CRAWL ? ", over all runs"
                   : c->kind == COUNTER_RUN ? ", of this run"
                                            : "");
    }
}

static void print_names(void)
{
    for (size_t i = 0; i < CRAWL_COUNTERS; i++) {
        const struct crawl_counter *c = &crawl_counters[i];
        bool one = c->label != NULL && c->value != NULL;

        printf("%s %s urlweir_crawl_%s %s%s%s\n", c->name,
               counter_kind_name(c->kind), c->metric, one ? c->label : "-",
               one ? "=" : "", one ? c->value : "");
    }
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";

    if (strcmp(what, "counters") == 0)
        print_counters();
    else if (strcmp(what, "metrics") == 0)
        print_metrics();
    else if (strcmp(what, "names") == 0)
        print_names();
    else {
        fprintf(stderr, "usage: doc_tables counters|metrics|names\n");
        return 2;
    }
    return 0;
}
