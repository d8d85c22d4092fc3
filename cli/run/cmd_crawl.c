/* SPDX-License-Identifier: MIT */
/*
 * cmd_crawl.c - `urlweir crawl`: a new crawl in a directory.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/crawl_command_line.h"
#include "cli/run/cluster_worker.h"
#include "cli/run/crawl_begin.h"
#include "cli/run/crawl_run.h"
#include "cli/run/passing_crawl.h"
#include "cli/secret_args.h"
#include "cli/stop_signals.h"
#include "frontier/embedded/frontier.h"
#include "job/crawl_block.h"
#include "job/crawl_credentials.h"
#include "job/crawl_files.h"
#include "job/crawl_jobs/confine.h"
#include "job/crawl_setup.h"
#include "job/dir_kind.h"
#include "job/jsonl.h"
#include "job/settings/settings.h"

static int crawl_in(struct crawl_settings *s, struct crawl_setup *c,
                    struct file_lock *lock)
{
    const struct jsonl_options lines = jsonl_options_of(s);
    struct crawl_control *control = NULL;
    struct engine *e = NULL;
    int code = EXIT_CANNOT;
    enum status st;

    if (!crawl_begin_may(s->output, "crawl") || !jsonl_may_begin(&lines))
        return EXIT_CANNOT;
    st = settings_save(s); /* marks DIR as a crawl's */
    if (st == STATUS_OK && (!crawl_block_start(c, s, &code) ||
                            !crawl_credentials_start(c, s, &code))) {
        crawl_remove_files(s->output);
        return code;
    }
    if (st == STATUS_OK &&
        !crawl_control_open(&control, "crawl", s, lock, &code)) {
        crawl_remove_files(s->output);
        return code;
    }
    if (st == STATUS_OK)
        st = frontier_create(&e, s->output, &c->frontier, clock_wall_ms());
    if (st != STATUS_OK) {
        crawl_control_close(control);
        return crawl_open_failed(st, s->output);
    }
    c->fetch.rules.digest_key = e->ops->digest_key(e);
    st = crawl_begin_seeds(e, c, s, &code);
    if (st == STATUS_OK)
        code = crawl_run(c, e, s, control);
    crawl_control_close(control);
    e->ops->close(e);
    if (st != STATUS_OK)
        crawl_remove_files(s->output); /* nothing was fetched */
    return code;
}

static int crawl(struct crawl_settings *s)
{
    struct crawl_setup c;
    struct file_lock *lock = NULL;
    int code = EXIT_DONE;

    if (crawl_setup_init(&c, s, &code) && confine_crawl("crawl", s, &code) &&
        crawl_lock(s->output, "crawl", &lock, &code))
        code = crawl_in(s, &c, lock);
    file_lock_free(lock);
    crawl_setup_fini(&c);
    return code;
}

int cmd_crawl(int argc, char **argv)
{
    struct crawl_settings s;
    int code = EXIT_DONE;

    if (!settings_of_crawl(&s, argc, argv, &code))
        return code;
    secret_args_hide(argc, argv, &s);
    stop_signals_block();
    if (s.cluster != NULL)
        code = dir_kind_check(s.output, DIR_CRAWL, "crawl")
                   ? cluster_worker_run("crawl", CLUSTER_CREATE, &s)
                   : EXIT_CANNOT;
    else if (s.output == NULL)
        code = passing_crawl(&s, crawl);
    else
        code = dir_kind_check(s.output, DIR_CRAWL, "crawl") ? crawl(&s)
                                                            : EXIT_CANNOT;
    settings_fini(&s);
    return code;
}
