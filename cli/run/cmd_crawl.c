/* SPDX-License-Identifier: MIT */
/*
 * cmd_crawl.c - `urlweir crawl`: a new crawl in a directory.
 *
 * Fetches nothing before every seed is stored. A crash while seeds are being
 * read leaves a crawl without the mark "seeds_complete"; the same command
 * starts such a crawl over, and `resume` refuses it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "cli/command.h"
#include "cli/crawl_command_line.h"
#include "cli/open_crawl.h"
#include "cli/run/crawl_run.h"
#include "cli/run/passing_crawl.h"
#include "cli/secret_args.h"
#include "cli/stop_signals.h"
#include "frontier/embedded/frontier.h"
#include "frontier/reader.h"
#include "job/crawl_block.h"
#include "job/crawl_credentials.h"
#include "job/crawl_files.h"
#include "job/crawl_jobs/confine.h"
#include "job/crawl_setup.h"
#include "job/dir_kind.h"
#include "job/jsonl.h"
#include "job/seed_sink.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

static enum status read_seeds(struct engine *e, struct crawl_setup *c,
                              struct crawl_settings *s, int *code)
{
    enum status st;

    stop_signals_unblock(); /* a pipe may have no end */
    st = seed_sink_all(e, c, s);
    stop_signals_block();
    *code = EXIT_CANNOT;
    if (st == STATUS_NOT_FOUND || st == STATUS_IO)
        return st;
    fault_point("seeds-read");
    if (st == STATUS_OK)
        st = crawl_credentials_keep_logins(c, s);
    if (st == STATUS_OK)
        st = settings_note_first(e, s, c->form);
    if (st == STATUS_OK)
        st = e->ops->set_meta(e, "seeds_complete", bytes_of_str("1"));
    if (st == STATUS_OK)
        st = e->ops->checkpoint_now(e, "running", false, clock_mono(),
                                    clock_wall_ms());
    if (st != STATUS_OK)
        fprintf(stderr, "urlweir crawl: cannot store the seeds: %s\n",
                status_text(st));
    return st;
}

/* A crawl that has not stored all of its seeds has fetched nothing and is
 * started over. */
static bool may_start_in(const char *dir)
{
    static const char *const names[] = {"frontier.db", "manifest"};
    bool there = false;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        there |= access(path, F_OK) == 0;
    }
    if (there && reader_is_unbegun(dir)) {
        fprintf(stderr,
                "urlweir crawl: the crawl in %s had not stored all of "
                "its seeds and is started over\n",
                dir);
        crawl_remove_files(dir);
        return true;
    }
    if (there && !dir_is_service(dir, "crawl"))
        fprintf(stderr,
                "urlweir crawl: %s holds a crawl already; continue it with "
                "`urlweir resume %s`, or choose another directory\n",
                dir, dir);
    return !there;
}

static int crawl_in(struct crawl_settings *s, struct crawl_setup *c,
                    struct file_lock *lock)
{
    struct crawl_control *control = NULL;
    struct engine *e = NULL;
    int code = EXIT_CANNOT;
    enum status st;

    if (!may_start_in(s->output) ||
        (s->jsonl != NULL && !jsonl_may_begin(s->jsonl)))
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
    st = read_seeds(e, c, s, &code);
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
    if (s.output == NULL)
        code = passing_crawl(&s, crawl);
    else
        code = dir_kind_check(s.output, DIR_CRAWL, "crawl") ? crawl(&s)
                                                            : EXIT_CANNOT;
    settings_fini(&s);
    return code;
}
