/* SPDX-License-Identifier: MIT */
/*
 * crawl_job_make.c - creates a crawl job.
 *
 * Its seeds are stored before its mark: after a crash in between there is no
 * mark, and the next creation starts again.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/logger.h"
#include "frontier/embedded/frontier.h"
#include "frontier/reader.h"
#include "job/crawl_credentials.h"
#include "job/crawl_files.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/dir_kind.h"
#include "job/seed_sink.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

static void remove_files(const char *dir)
{
    static const char *const names[] = {"service", CRAWL_JOB_FILE_COPY};

    crawl_remove_files(dir);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        (void)unlink(path);
    }
}

static enum status put_seeds(struct crawl_job *m)
{
    struct engine *e = m->engine;
    enum status st = seed_sink_given(e, m->setup, &m->settings);

    if (st == STATUS_OK)
        st = e->ops->turn(e, true, clock_mono(), clock_wall_ms(), NULL);
    if (st == STATUS_OK)
        st = crawl_credentials_keep_logins(m->setup, &m->settings);
    settings_fini(&m->now);
    option_copy(&crawl_options, &m->now, &m->settings, sizeof m->now);
    fault_point("service-crawl-begun"); /* seeds are stored, but no mark */
    if (st == STATUS_OK)
        st = settings_note_first(e, &m->settings, m->setup->form);
    if (st == STATUS_OK)
        st = e->ops->set_meta(e, "seeds_complete", bytes_of_str("1"));
    return st == STATUS_OK
               ? e->ops->checkpoint_now(e, "running", false, clock_mono(),
                                        clock_wall_ms())
               : st;
}

static enum status make_in(struct crawl_job *m, struct bytes file,
                           struct buf *why)
{
    const char *dir = m->settings.output;
    const struct jsonl_options lines = jsonl_options_of(&m->settings);
    enum status st = crawl_job_prepare(m, file, why);

    if (st == STATUS_OK && !jsonl_may_begin(&lines)) {
        buf_addf(why, "jsonl: %s %s", lines.path,
                 kafka_address_is_url(lines.path) ? "cannot be used"
                                                  : "is not empty");
        st = STATUS_ARG;
    }
    if (st == STATUS_OK)
        st = settings_save(&m->settings);
    if (st == STATUS_OK)
        st = crawl_job_keep_copy(dir, file);
    if (st == STATUS_OK)
        st = frontier_create(&m->engine, dir, &m->setup->frontier,
                             clock_wall_ms());
    if (st != STATUS_OK)
        return st;
    m->setup->fetch.rules.digest_key = m->engine->ops->digest_key(m->engine);
    st = put_seeds(m);
    if (st == STATUS_NOT_FOUND && m->settings.input != NULL)
        buf_addf(why, "input: %s cannot be read", m->settings.input);
    return st == STATUS_OK ? crawl_job_start(m, false, why) : st;
}

enum status crawl_job_make(struct crawl_jobs *h, const char *name,
                           struct crawl_settings *s, struct bytes file,
                           struct crawl_job **out, struct buf *why)
{
    struct crawl_job *m;
    const char *dir = s->output;
    bool begun =
        crawl_job_has(dir, "frontier.db") || crawl_job_has(dir, "manifest");
    bool is_new = !crawl_job_has(dir, ".");
    enum status st;

    if (begun && !reader_is_unbegun(dir)) {
        buf_addf(why, "a crawl named %s exists already", name);
        return STATUS_EXISTS;
    }
    if (!dir_kind_fits(dir, DIR_CRAWL, why))
        return STATUS_EXISTS;
    st = file_make_dir(dir);
    if (st != STATUS_OK)
        return st;
    m = crawl_job_new(h, s);
    dir = m->settings.output;
    st = crawl_job_find_room(m, why);
    if (st == STATUS_OK)
        st = crawl_job_lock(m, why);
    if (st == STATUS_OK) {
        if (begun)
            remove_files(dir); /* of an interrupted creation */
        st = make_in(m, file, why);
        if (st != STATUS_OK) {
            crawl_job_store_failed(st, dir, why);
            remove_files(dir);
        }
    }
    if (st == STATUS_OK) {
        *out = m;
        return STATUS_OK;
    }
    if (is_new && file_remove_tree(dir) != STATUS_OK)
        log_warn("cannot remove what is left of a crawl that could not be made",
                 "dir=%s", dir);
    crawl_job_free(m);
    return st;
}
