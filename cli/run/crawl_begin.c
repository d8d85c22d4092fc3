/* SPDX-License-Identifier: MIT */
/* crawl_begin.c - a new crawl in a directory: its place, and its seeds. */
#include "cli/run/crawl_begin.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "cli/open_crawl.h"
#include "cli/stop_signals.h"
#include "frontier/reader.h"
#include "job/crawl_credentials.h"
#include "job/crawl_files.h"
#include "job/exit_code.h"
#include "job/seed_sink.h"
#include "job/settings_applied.h"

enum status crawl_begin_seeds(struct engine *e, struct crawl_setup *c,
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
bool crawl_begin_may(const char *dir, const char *command)
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
                "urlweir %s: the crawl in %s had not stored all of "
                "its seeds and is started over\n",
                command, dir);
        crawl_remove_files(dir);
        return true;
    }
    if (there && !dir_is_service(dir, command))
        fprintf(stderr,
                "urlweir %s: %s holds a crawl already; continue it with "
                "`urlweir resume %s`, or choose another directory\n",
                command, dir, dir);
    return !there;
}
