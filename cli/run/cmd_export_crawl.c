/* SPDX-License-Identifier: MIT */
/*
 * cmd_export_crawl.c - `urlweir export-crawl`: moves a crawl into a cluster.
 *
 *   all URLs are there ──► DIR is a worker's ──► others may take part
 *
 * A kill before the second step leaves DIR a crawl of its own, and one after it
 * a worker's that cannot go on yet; the same command then moves it again. So
 * there are never two crawls that go on.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/format.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/run/stopped_crawl.h"
#include "cli/secret_args.h"
#include "job/cluster_move_in.h"
#include "job/dir_kind.h"
#include "job/settings/cluster_settings.h"
#include "job/settings/settings.h"

struct export_crawl_settings {
    bool json;
    uint8_t from[1];
};

static const struct option_spec specs[] = {
    {.name = "json",
     .type = OPTION_FLAG,
     .at = offsetof(struct export_crawl_settings, json),
     .section = "Output",
     .help = "print the counts as one JSON object"},
};

static const struct option_table table =
    OPTION_TABLE(specs, struct export_crawl_settings);

const struct usage export_crawl_usage = {
    .name = "export-crawl",
    .synopsis = "export-crawl DIR redis://HOST[:PORT][,...]/NAME",
    .about = "Moves the crawl in DIR, which nobody runs, into a cluster as "
             "crawl NAME: what is done is done there, what waits waits there. "
             "Then `urlweir resume DIR` takes part in it with DIR, and "
             "`urlweir join` on other machines. A move that was cut off is "
             "done again by the same command.",
    .table = &table,
    .least = 2,
    .most = 2,
    .operand = "a crawl's directory, and the URL of the cluster and the crawl",
};

/* The settings of all workers; *marked: an earlier attempt came that far. */
static bool set_cluster(struct crawl_settings *s, const char *url, bool *marked,
                        int *code)
{
    struct buf error;
    bool ok = false;

    *marked = s->cluster != NULL;
    if (*marked && strcmp(s->cluster, url) != 0) {
        *code = command_failed("export-crawl",
                               "the directory is a worker's of another crawl");
        return false;
    }
    free(s->cluster);
    s->cluster = xstrdup(url);
    buf_init(&error, 4096);
    if (settings_check(s, &error) == STATUS_OK)
        ok = true;
    else
        *code = command_failed("export-crawl", buf_str(&error));
    buf_fini(&error);
    return ok;
}

static void tell(const struct cluster_move_counts *n, const char *url,
                 bool json)
{
    struct buf where, safe;

    if (json) {
        printf("{\"done\":%" PRIu64 ",\"waiting\":%" PRIu64 "}\n", n->done,
               n->waiting);
        return;
    }
    buf_init(&where, 1024);
    buf_init(&safe, 8192);
    cluster_url_show(url, &where);
    format_terminal(&safe, buf_bytes(&where));
    printf("%10" PRIu64 "  URLs are done\n%10" PRIu64 "  wait\n", n->done,
           n->waiting);
    fprintf(stderr,
            "urlweir export-crawl: the crawl is in the cluster; `urlweir "
            "resume` takes part with this directory, `urlweir join %s -o DIR` "
            "on other machines\n",
            buf_str(&safe));
    buf_fini(&where);
    buf_fini(&safe);
}

static enum status move(struct cluster_store *store, struct stopped_crawl *c,
                        struct cluster_move_counts *counts, struct buf *why)
{
    enum status st = cluster_move_in(store, stopped_crawl_engine(c),
                                     stopped_crawl_settings(c), counts, why);

    if (st != STATUS_OK)
        return st;
    fault_point("move-in-moved");
    st = settings_save(stopped_crawl_settings(c));
    fault_point("move-in-marked");
    if (st == STATUS_OK)
        st = cluster_store_begin(store);
    if (st != STATUS_OK)
        buf_addf(why, "%s", status_text(st));
    return st;
}

static int export_crawl(struct stopped_crawl *c, const char *url, bool json)
{
    struct cluster_store *store = NULL;
    struct cluster_move_counts counts = {0};
    bool marked = false, begun = false;
    struct buf why;
    enum status st;
    int code = EXIT_CANNOT;

    if (!set_cluster(stopped_crawl_settings(c), url, &marked, &code))
        return code;
    buf_init(&why, 8192);
    st = cluster_move_in_begin(&store, stopped_crawl_engine(c),
                               stopped_crawl_settings(c), &begun, &why);
    if (st == STATUS_OK && begun) {
        buf_add_str(&why, marked ? "the crawl is in the cluster already"
                                 : "this crawl, or a copy of it, was moved "
                                   "there before");
        st = STATUS_EXISTS;
    }
    if (st == STATUS_OK)
        st = move(store, c, &counts, &why);
    if (st == STATUS_OK)
        tell(&counts, url, json);
    else
        (void)command_failed("export-crawl", buf_str(&why));
    cluster_store_close(store);
    buf_fini(&why);
    return st == STATUS_OK ? EXIT_DONE : EXIT_CANNOT;
}

static int open_and_export(const char *dir, const char *url, bool json)
{
    struct stopped_crawl *c;
    uint64_t left;
    int code = EXIT_DONE;

    if (!dir_kind_check(dir, DIR_CRAWL, "export-crawl") ||
        !stopped_crawl_open_part(&c, "export-crawl", dir, &code))
        return code == EXIT_DONE ? EXIT_CANNOT : code;
    code = export_crawl(c, url, json);
    if (stopped_crawl_close(c, &left) != STATUS_OK && code == EXIT_DONE)
        code = command_failed("export-crawl",
                              "the directory's checkpoint was not written");
    return code;
}

int cmd_export_crawl(int argc, char **argv)
{
    struct export_crawl_settings o;
    struct option_list operands = {0};
    struct cluster_url_parts parts;
    struct buf why;
    int code = EXIT_DONE;

    if (!command_line_parse(&export_crawl_usage, argc, argv, &o, &operands,
                            &code))
        return code;
    buf_init(&why, 1024);
    if (cluster_url_read(&parts, operands.item[1], &why) != STATUS_OK) {
        code = usage_error(&export_crawl_usage, "%s", buf_str(&why));
    } else {
        secret_args_hide_logins(argc, argv);
        code = open_and_export(operands.item[0], operands.item[1], o.json);
    }
    buf_fini(&why);
    option_list_free(&operands);
    option_fini(&table, &o);
    return code;
}
