/* SPDX-License-Identifier: MIT */
/*
 * cmd_import_crawl.c - `urlweir import-crawl`: moves a crawl out of a cluster.
 *
 *   all is in DIR ──► nobody can take part in the cluster ──► DIR is a crawl of
 *                                                             its own
 *
 * A kill before the second step leaves the crawl in the cluster, whose shards
 * go on when their hold is over; one after it leaves DIR a worker's that cannot
 * go on. The same command then moves the crawl again.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fault.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/run/stopped_crawl.h"
#include "cli/secret_args.h"
#include "frontier/cluster_store/cluster_move.h"
#include "job/cluster_move_out.h"
#include "job/cluster_part.h"
#include "job/dir_kind.h"
#include "job/settings/cluster_settings.h"
#include "job/settings/settings.h"

struct import_crawl_settings {
    struct option_list with;
    bool json;
    uint8_t from[2];
};
#define AT(field) .at = offsetof(struct import_crawl_settings, field)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "with", .type = OPTION_LIST, AT(with), .section = "Input",
     .arg = "DIR",
     .help = "the directory of another worker of the crawl; give each of them"},
    {.name = "json", .type = OPTION_FLAG, AT(json), .section = "Output",
     .help = "print the counts as one JSON object"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct import_crawl_settings);

const struct usage import_crawl_usage = {
    .name = "import-crawl",
    .synopsis = "import-crawl redis://HOST[:PORT][,...]/NAME DIR [--with "
                "DIR]...",
    .about = "Moves crawl NAME, whose workers have stopped, out of a cluster "
             "into DIR, the directory of one of them: what waits in the "
             "cluster waits there, and what the others have done, by their "
             "directories, is done. Then `urlweir resume DIR` goes on without "
             "the cluster. If any URL that the cluster knows would not be "
             "known, nothing is moved. A move that was cut off is done again "
             "by the same command.",
    .table = &table,
    .least = 2,
    .most = 2,
    .operand = "the URL of the cluster and the crawl, and a worker's directory",
};

/* What all steps need. */
struct importing {
    const struct import_crawl_settings *o;
    struct stopped_crawl *crawl;
    struct cluster_store *store;
    struct cluster_move_out *move;
    struct cluster_out_counts counts;
    struct buf why;
};

/* `what` is added unless something more precise was said. */
static enum status because(struct importing *i, enum status st,
                           enum status when, const char *what)
{
    if (st == when && i->why.len == 0)
        buf_add_str(&i->why, what);
    return st;
}

static enum status open_move(struct importing *i, const char *url)
{
    struct crawl_settings *s = stopped_crawl_settings(i->crawl);
    enum status st;

    if (s->cluster == NULL) {
        buf_add_str(&i->why, "the directory is a crawl of its own");
        return STATUS_REFUSED;
    }
    free(s->cluster);
    s->cluster = xstrdup(url);
    st = cluster_part_find(&i->store, s, &i->why);
    if (st == STATUS_OK && !cluster_store_is_begun(i->store) &&
        !cluster_store_is_moved(i->store)) {
        buf_add_str(&i->why, "the seeds of the crawl are not all in the "
                             "cluster");
        st = STATUS_REFUSED;
    }
    if (st == STATUS_OK)
        st =
            because(i,
                    cluster_move_out_new(&i->move, i->store,
                                         stopped_crawl_engine(i->crawl)),
                    STATUS_ARG, "the directory is a worker's of another crawl");
    if (st == STATUS_OK)
        st = because(i, cluster_move_out_may(i->move), STATUS_EXISTS,
                     "the crawl was moved into another directory");
    return st;
}

static enum status read_workers(struct importing *i)
{
    enum status st = STATUS_OK;

    for (size_t k = 0; st == STATUS_OK && k < i->o->with.count; k++) {
        const char *dir = i->o->with.item[k];

        st = cluster_move_out_worker(i->move, dir);
        if (st != STATUS_OK)
            buf_addf(&i->why, "%s: %s", dir,
                     st == STATUS_ARG ? "is not of this crawl"
                                      : status_text(st));
    }
    return st;
}

static enum status move_all(struct importing *i)
{
    struct crawl_settings *s = stopped_crawl_settings(i->crawl);
    enum status st = because(
        i, cluster_move_out_quiet(i->move, cluster_part_lease_ms(s)),
        STATUS_BUSY,
        "the crawl has workers; stop them first (`urlweir status` names them)");

    if (st == STATUS_OK)
        st = read_workers(i);
    if (st == STATUS_OK)
        st = cluster_move_out_waiting(i->move);
    if (st == STATUS_OK)
        st = cluster_move_out_hosts(i->move);
    if (st == STATUS_OK)
        st = cluster_move_out_check(i->move, &i->counts);
    if (st != STATUS_OK || i->counts.unknown == 0)
        return because(i, st, STATUS_BUSY, "a worker began meanwhile");
    buf_addf(&i->why,
             "the cluster knows %" PRIu64 " URLs that other workers have done; "
             "name the directory of each, --with DIR",
             i->counts.unknown);
    return STATUS_REFUSED;
}

/* The directory has the settings of all workers now, and no cluster. */
static enum status end(struct importing *i)
{
    struct crawl_settings *s = stopped_crawl_settings(i->crawl);
    enum status st = cluster_part_settings(i->store, s, &i->why);

    fault_point("move-out-moved");
    if (st == STATUS_OK)
        st = cluster_move_out_end(i->move);
    fault_point("move-out-marked");
    free(s->cluster);
    s->cluster = NULL;
    return st == STATUS_OK ? settings_save(s) : st;
}

static int import_crawl(struct importing *i, const char *url)
{
    enum status st = open_move(i, url);

    if (st == STATUS_OK)
        st = move_all(i);
    if (st == STATUS_OK)
        st = end(i);
    if (st != STATUS_OK) {
        if (i->why.len == 0)
            buf_addf(&i->why, "%s", status_text(st));
        return command_failed("import-crawl", buf_str(&i->why));
    }
    if (i->o->json)
        printf("{\"others\":%" PRIu64 ",\"waiting\":%" PRIu64 "}\n",
               i->counts.others, i->counts.waiting);
    else
        printf("%10" PRIu64 "  URLs were done by other workers\n%10" PRIu64
               "  wait\n",
               i->counts.others, i->counts.waiting);
    return EXIT_DONE;
}

static int open_and_import(const struct import_crawl_settings *o,
                           const char *url, const char *dir)
{
    struct importing i = {.o = o};
    uint64_t left = 0;
    int code = EXIT_CANNOT;

    if (!dir_kind_check(dir, DIR_CRAWL, "import-crawl") ||
        !stopped_crawl_open_part(&i.crawl, "import-crawl", dir, &code))
        return code;
    buf_init(&i.why, 8192);
    code = import_crawl(&i, url);
    cluster_move_out_free(i.move);
    cluster_store_close(i.store);
    buf_fini(&i.why);
    if (stopped_crawl_close(i.crawl, &left) != STATUS_OK && code == EXIT_DONE)
        code = command_failed("import-crawl",
                              "the directory's checkpoint was not written");
    if (code == EXIT_DONE)
        stopped_crawl_say_left("import-crawl", dir, "queued", left);
    return code;
}

int cmd_import_crawl(int argc, char **argv)
{
    struct import_crawl_settings o;
    struct option_list operands = {0};
    struct cluster_url_parts parts;
    struct buf why;
    int code = EXIT_DONE;

    if (!command_line_parse(&import_crawl_usage, argc, argv, &o, &operands,
                            &code))
        return code;
    buf_init(&why, 1024);
    if (cluster_url_read(&parts, operands.item[0], &why) != STATUS_OK) {
        code = usage_error(&import_crawl_usage, "%s", buf_str(&why));
    } else {
        secret_args_hide_logins(argc, argv);
        code = open_and_import(&o, operands.item[0], operands.item[1]);
    }
    buf_fini(&why);
    option_list_free(&operands);
    option_fini(&table, &o);
    return code;
}
