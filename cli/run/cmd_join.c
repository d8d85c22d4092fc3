/* SPDX-License-Identifier: MIT */
/*
 * cmd_join.c - `urlweir join`: take part in a crawl of a cluster.
 *
 * The settings of the crawl are in the cluster; those of the worker are given
 * here.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/crawl_command_line.h"
#include "cli/run/cluster_worker.h"
#include "cli/secret_args.h"
#include "cli/stop_signals.h"
#include "job/dir_kind.h"
#include "job/settings/cluster_settings.h"
#include "job/settings/settings.h"

const struct usage join_usage = {
    .name = "join",
    .synopsis = "join kafka://HOST[:PORT][,...]/NAME -o DIR [options]",
    .about = "Takes part in crawl NAME, which `urlweir crawl --cluster` made, "
             "and keeps in DIR what this worker fetches. The settings of the "
             "crawl are in the cluster; options here are those of a worker: "
             "memory, concurrency, output. `urlweir resume DIR` takes part "
             "again after a stop.",
    .table = &crawl_options,
    .without = OPTION_ON_RESUME | OPTION_FILE_ONLY,
    .because = "it is not a worker's",
    .least = 1,
    .most = 1,
    .operand = "the URL of the cluster and the crawl",
};

static bool check(struct crawl_settings *s, int *code)
{
    const char *foreign = cluster_settings_foreign(s);
    struct buf error;
    bool ok = false;

    buf_init(&error, 4096);
    if (foreign != NULL)
        *code = usage_error(&join_usage,
                            "--%s is a setting of the crawl, and is in the "
                            "cluster",
                            foreign);
    else if (s->output == NULL)
        *code = usage_error(&join_usage,
                            "-o DIR is missing, where this worker keeps what "
                            "it fetches");
    else if (cluster_settings_check(s, &error) != STATUS_OK)
        *code = usage_error(&join_usage, "%s", buf_str(&error));
    else
        ok = true;
    buf_fini(&error);
    return ok;
}

static bool read_settings(struct crawl_settings *s,
                          const struct command_line *c, int *code)
{
    bool ok = settings_apply(s, &join_usage, c, code);

    if (ok) {
        free(s->cluster);
        s->cluster = xstrdup(c->operands.item[0]);
        ok = check(s, code);
    }
    return ok && settings_accept(s, &join_usage, code);
}

int cmd_join(int argc, char **argv)
{
    struct command_line c;
    struct crawl_settings s;
    int code = EXIT_DONE;

    if (!command_line_read(&c, &join_usage, argc, argv, &code))
        return code;
    settings_init(&s);
    stop_signals_block();
    if (read_settings(&s, &c, &code) &&
        dir_kind_check(s.output, DIR_CRAWL, "join")) {
        secret_args_hide(argc, argv, &s);
        code = cluster_worker_run("join", CLUSTER_JOIN, &s);
    }
    command_line_fini(&c);
    settings_fini(&s);
    return code;
}
