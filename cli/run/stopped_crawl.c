/* SPDX-License-Identifier: MIT */
/* stopped_crawl.c - a crawl that nobody runs, opened to be changed. */
#include "cli/run/stopped_crawl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/format.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/crawl_command_line.h"
#include "cli/open_crawl.h"
#include "cli/run/crawl_run.h"
#include "frontier/embedded/frontier.h"
#include "job/crawl_block.h"
#include "job/refresh.h"
#include "job/retry.h"
#include "job/settings/settings.h"

struct stopped_crawl {
    struct crawl_settings s;
    struct crawl_setup setup;
    struct file_lock *lock;
    struct engine *engine;
};

static bool open_engine(struct stopped_crawl *c, int *code)
{
    enum status st;

    if (!crawl_block_start(&c->setup, &c->s, code))
        return false;
    st = frontier_open(&c->engine, c->s.output, &c->setup.frontier,
                       clock_mono(), clock_wall_ms());
    if (st != STATUS_OK)
        *code = crawl_open_failed(st, c->s.output);
    return st == STATUS_OK;
}

static void stopped_crawl_free(struct stopped_crawl *c)
{
    if (c->engine != NULL)
        c->engine->ops->close(c->engine);
    file_lock_free(c->lock);
    crawl_setup_fini(&c->setup);
    settings_fini(&c->s);
    free(c);
}

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

bool stopped_crawl_open(struct stopped_crawl **out, const char *command,
                        const char *dir, int *code)
{
    struct stopped_crawl *c = xcalloc(1, sizeof *c);

    *code = EXIT_CANNOT;
    if (!read_settings(&c->s, dir, code)) {
        free(c);
        return false;
    }
    if (crawl_setup_init(&c->setup, &c->s, code) &&
        crawl_lock(dir, command, &c->lock, code) &&
        !crawl_is_unbegun(dir, command) && open_engine(c, code)) {
        *out = c;
        return true;
    }
    stopped_crawl_free(c);
    return false;
}

enum status stopped_crawl_seed(struct stopped_crawl *c, struct seed *seeds,
                               size_t n)
{
    struct engine *e = c->engine;
    enum status st = seed_sink_more(e, &c->setup, &c->s, seeds, n);

    return st == STATUS_OK
               ? e->ops->turn(e, true, clock_mono(), clock_wall_ms(), NULL)
               : st;
}

enum status stopped_crawl_block(struct stopped_crawl *c, struct bytes host,
                                int64_t until_ms)
{
    int64_t now = clock_mono(), wall_ms = clock_wall_ms();
    int64_t left_ms = until_ms > wall_ms ? until_ms - wall_ms : 0;

    if (left_ms > SCHEDULE_PUT_OFF_MOST_MS)
        left_ms = SCHEDULE_PUT_OFF_MOST_MS;
    return c->engine->ops->block(c->engine, c->setup.frontier.crawl, host,
                                 left_ms > 0 ? now + left_ms * NS_PER_MS : 0,
                                 now, wall_ms);
}

enum status stopped_crawl_retry(struct stopped_crawl *c, struct bytes host,
                                const struct option_list *reasons,
                                uint64_t *queued)
{
    return retry_all(c->engine, host, reasons, queued);
}

enum status stopped_crawl_refresh(struct stopped_crawl *c, struct bytes host,
                                  const struct url_pattern *match, bool at_once,
                                  uint64_t *dated)
{
    return refresh_all(c->engine, host, match, at_once, dated);
}

enum status stopped_crawl_close(struct stopped_crawl *c, uint64_t *left)
{
    struct engine_stats s;
    enum status st;

    c->engine->ops->stats(c->engine, &s);
    *left = s.queued;
    st = c->engine->ops->checkpoint_now(c->engine,
                                        s.queued + s.dated > 0 ? "stopped"
                                                               : "finished",
                                        true, clock_mono(), clock_wall_ms());
    stopped_crawl_free(c);
    return st;
}

void stopped_crawl_say_left(const char *command, const char *dir,
                            const char *what, uint64_t left)
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
