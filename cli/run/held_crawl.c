/* SPDX-License-Identifier: MIT */
/* held_crawl.c - a crawl that nobody runs, opened to be changed. */
#include "cli/run/held_crawl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/format.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "cli/command.h"
#include "cli/crawl_command_line.h"
#include "cli/open_crawl.h"
#include "cli/run/crawl_run.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/reader.h"
#include "job/crawl_setup.h"
#include "job/settings/settings.h"
#include "service/calls/call_crawl.h"

struct held_crawl {
    struct crawl_control *control;
    struct crawl *crawl; /* NULL: not started */
    /* by held_crawl_open */
    struct crawl_settings s;
    struct crawl_setup setup;
    struct file_lock *lock;
    struct frontier *frontier; /* NULL: not opened here */
};

/* ---- over an open frontier ---- */

static enum status start(struct held_crawl *c, struct crawl_setup *setup,
                         const struct crawl_settings *s, struct frontier *f)
{
    const struct crawl_options o = {.dir = setup->crawl.dir,
                                    .threads = 1,
                                    .concurrency = 1,
                                    .stay = true,
                                    .paused = true,
                                    .fetch = &setup->fetch};
    enum status st = crawl_control_new(&c->control, "hold");

    if (st == STATUS_OK)
        st = crawl_start(&c->crawl, f, &o);
    if (st == STATUS_OK)
        crawl_control_attach(c->control, setup, s, f, c->crawl);
    return st;
}

/* Ends the crawl, which writes its last checkpoint. */
static enum status stop(struct held_crawl *c, uint64_t *left)
{
    struct crawl_result end = {.status = STATUS_OK};
    struct crawl_stats stats = {.active = 0};

    if (c->crawl != NULL) {
        crawl_stop(c->crawl);
        while (!crawl_wait(c->crawl, NS_PER_S, &end))
            ;
        crawl_get_stats(c->crawl, &stats);
    }
    *left = stats.counts.queued;
    crawl_control_close(c->control);
    crawl_free(c->crawl);
    return end.status;
}

static enum status end(struct held_crawl *c, uint64_t *left)
{
    enum status st = stop(c, left);

    if (c->frontier != NULL)
        frontier_close(c->frontier);
    file_lock_free(c->lock);
    crawl_setup_fini(&c->setup);
    settings_fini(&c->s);
    free(c);
    return st;
}

enum status held_crawl_close(struct held_crawl *c, uint64_t *left)
{
    return end(c, left);
}

enum status held_crawl_start(struct held_crawl **out, struct crawl_setup *setup,
                             const struct crawl_settings *s, struct frontier *f)
{
    struct held_crawl *c = xcalloc(1, sizeof *c);
    enum status st = start(c, setup, s, f);
    uint64_t left;

    if (st == STATUS_OK)
        *out = c;
    else
        (void)end(c, &left);
    return st;
}

/* ---- in a directory ---- */

/* Reads the settings of the last run, as a resume that changes nothing does. */
static bool read_settings(struct crawl_settings *s, const char *dir, int *code)
{
    char *where = xstrdup(dir), command[] = "resume", operands[] = "--";
    char *argv[] = {command, operands, where, NULL};
    struct crawl_settings before;
    bool ok = settings_of_resume(s, &before, 3, argv, code);

    if (ok)
        settings_fini(&before);
    free(where);
    return ok;
}

static bool open_frontier(struct held_crawl *c, int *code)
{
    enum status st;

    if (!crawl_block_start(&c->setup, &c->s, code))
        return false;
    st = frontier_open(&c->frontier, c->s.output, &c->setup.frontier,
                       clock_mono(), clock_wall_ms());
    if (st == STATUS_OK)
        st = start(c, &c->setup, &c->s, c->frontier);
    if (st != STATUS_OK)
        *code = crawl_open_failed(st, c->s.output);
    return st == STATUS_OK;
}

bool held_crawl_open(struct held_crawl **out, const char *command,
                     const char *dir, int *code)
{
    struct held_crawl *c = xcalloc(1, sizeof *c);
    uint64_t left;

    *code = EXIT_CANNOT;
    if (!read_settings(&c->s, dir, code)) {
        free(c);
        return false;
    }
    if (crawl_setup_init(&c->setup, &c->s, code) &&
        crawl_lock(dir, command, &c->lock, code) &&
        !crawl_is_unbegun(dir, command) && open_frontier(c, code)) {
        *out = c;
        return true;
    }
    (void)end(c, &left);
    return false;
}

/* ---- calls ---- */

enum status held_crawl_perform(struct held_crawl *c, struct crawls_call *call)
{
    call->crawl = bytes_of_str(CRAWL_ID);
    return crawls_perform(crawl_control_crawls(c->control), call);
}

static void asked(struct frontier_call *call)
{
    latch_open(call->ctx);
}

enum status held_crawl_ask(struct held_crawl *c, struct frontier_call *call)
{
    struct latch done;
    enum status st;

    latch_init(&done);
    /* cppcheck-suppress autoVariables */
    call->ctx = &done; /* lives until it opens, which we wait for */
    call->done = asked;
    st = call_crawl_submit(crawl_control_crawls(c->control),
                           bytes_of_str(CRAWL_ID), call);
    if (st == STATUS_OK) {
        latch_wait(&done);
        st = call->status;
    }
    call->ctx = NULL;
    latch_fini(&done);
    return st;
}

void held_crawl_say_left(const char *command, const char *dir, const char *what,
                         uint64_t left)
{
    struct buf line;

    if (left == 0)
        return;
    buf_init(&line, 65536);
    format_terminal(&line, bytes_of_str(dir));
    fprintf(stderr,
            "urlweir %s: nobody runs that crawl; `urlweir resume %s` fetches "
            "what is %s, %" PRIu64 " URL%s\n",
            command, buf_str(&line), what, left, left == 1 ? "" : "s");
    buf_fini(&line);
}
