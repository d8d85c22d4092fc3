/* SPDX-License-Identifier: MIT */
/*
 * doc_tables.c - prints the program's tables for its documents.
 *
 * usage: doc_tables counters    Markdown: each counter of a crawl
 *        doc_tables sums        the equations between them
 *        doc_tables columns     each column of a URL's row
 *        doc_tables views       the columns of each view of it
 *        doc_tables host-columns, host-views    the same of a host
 *        doc_tables reasons     each reason that a setting may lift
 *        doc_tables names       NAME KIND METRIC LABEL=VALUE, "-" for none, a
 *                               counter a line
 *
 * tools/doc-tables.sh puts all but the last into the documents, and checks that
 * they are up to date.
 */
#include <stdio.h>
#include <string.h>

#include "crawler/crawl_stats.h"
#include "crawler/url_columns.h"
#include "frontier/host_columns.h"
#include "frontier/outcome.h"
#include "frontier/served/served_columns.h"
#include "job/settings_applied.h"

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

static void print_sums(void)
{
    puts("| since | sum |\n|---|---|");
    for (size_t i = 0; i < CRAWL_SUMS; i++)
        printf("| %s | `%s` |\n", crawl_sums[i].why, crawl_sums[i].sum);
}

/* ---- columns of a URL ---- */

static void print_table(const struct column *table, size_t columns)
{
    puts("| column | unit | meaning |\n|---|---|---|");
    for (size_t i = 0; i < columns; i++)
        printf("| `%s` | %s | %s |\n", table[i].name, table[i].unit,
               table[i].help);
}

static void print_orders(const struct column_view *views, size_t count)
{
    puts("| where | columns, in this order |\n|---|---|");
    for (size_t v = 0; v < count; v++) {
        printf("| `%s` | ", views[v].name);
        for (size_t i = 0; i < views[v].count; i++)
            printf("%s%s", i > 0 ? ", " : "", column_of(&views[v], i)->name);
        puts(" |");
    }
}

static void print_columns(void)
{
    print_table(url_columns, URL_COLUMNS);
}

static void print_views(void)
{
    print_orders(row_views, ROW_VIEWS);
}

static void print_host_columns(void)
{
    print_table(host_columns, HOST_COLUMNS);
}

static void print_host_views(void)
{
    print_orders(host_views, HOST_VIEWS);
}

static void print_served_columns(void)
{
    print_table(served_columns, SERVED_COLUMNS);
}

static void print_served_views(void)
{
    print_orders(served_views, SERVED_VIEWS);
}

/* Prints "`--mime`, `--warc`". */
static void print_settings(const struct buf *text)
{
    char name[64];
    int n = 0;

    for (const char *at = buf_str(text); sscanf(at, "%63[^,]%n", name, &n) == 1;
         at += n) {
        printf("%s`%s`", at == buf_str(text) ? "" : ", ", name);
        n += (int)strspn(at + n, ", ");
    }
}

static void print_reasons(void)
{
    struct buf text;

    puts("| reason | settings |\n|---|---|");
    buf_init(&text, 4096);
    for (unsigned i = REASON_NONE + 1; i < REASON_COUNT_; i++) {
        buf_truncate(&text, 0);
        settings_that_lift((enum outcome_reason)i, &text);
        if (text.len == 0)
            continue;
        printf("| `%s` | ", outcome_reason_name((enum outcome_reason)i));
        print_settings(&text);
        puts(" |");
    }
    buf_fini(&text);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *what;
        void (*print)(void);
    } all[] = {
        {"counters", print_counters},
        {"sums", print_sums},
        {"columns", print_columns},
        {"views", print_views},
        {"served-columns", print_served_columns},
        {"served-views", print_served_views},
        {"host-columns", print_host_columns},
        {"host-views", print_host_views},
        {"reasons", print_reasons},
        {"names", print_names},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (argc == 2 && strcmp(argv[1], all[i].what) == 0) {
            all[i].print();
            return 0;
        }
    fprintf(stderr, "usage: doc_tables "
                    "counters|sums|columns|views|served-columns|"
                    "served-views|host-columns|host-views|reasons|names\n");
    return 2;
}
