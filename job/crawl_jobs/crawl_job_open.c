/* SPDX-License-Identifier: MIT */
/*
 * crawl_job_open.c - opens an existing crawl job, or reads its stats.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/mem.h"
#include "config/config.h"
#include "crawler/crawl_counters.h"
#include "frontier/embedded/frontier.h"
#include "frontier/reader.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/seed_sink.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

enum status crawl_job_load(struct crawl_settings *s, const char *dir,
                           struct buf *why)
{
    struct buf path, text;
    enum status st;

    settings_init(s);
    buf_init(&path, 8192);
    buf_init(&text, CONFIG_CEILING);
    settings_path(dir, &path);
    st = crawl_job_read_text(buf_str(&path), &text, why);
    if (st == STATUS_OK)
        st = settings_load_secrets(s, dir, why);
    if (st == STATUS_OK)
        st = crawl_job_read(s, buf_str(&path), buf_bytes(&text),
                            OPTION_FROM_CRAWL, why);
    free(s->output);
    s->output = xstrdup(dir);
    buf_fini(&path);
    buf_fini(&text);
    if (st != STATUS_OK)
        settings_fini(s);
    return st;
}

/* The user may have edited the file. */
static enum status check_fixed(struct crawl_job *m, struct buf *why)
{
    const char *fixed = NULL;
    struct crawl_settings was;
    bool known;
    enum status st = settings_applied(m->engine, &m->settings, &was, &known);

    if (st != STATUS_OK)
        return st;
    fixed = settings_fixed_change(&was, &m->settings);
    settings_fini(&was);
    if (fixed == NULL)
        return STATUS_OK;
    buf_addf(why,
             "%s/" SETTINGS_FILE ": %s: it is fixed when a crawl starts, and "
             "is another there",
             m->settings.output, fixed);
    return STATUS_ARG;
}

/* Puts seeds. `file` is the operator's file if it has changed: its new seeds
 * are on disk before it counts as read. */
static enum status put_seeds(struct crawl_job *m, const struct buf *file)
{
    struct engine *e = m->engine;
    enum status st;

    /* Old seeds are seen already; new ones come from changed settings. */
    if (file->len == 0)
        return seed_sink_sitemaps(e, m->setup, &m->settings);
    st = seed_sink_given(e, m->setup, &m->settings);
    if (st == STATUS_OK)
        st = e->ops->turn(e, true, clock_mono(), clock_wall_ms(), NULL);
    fault_point("service-file-applied");
    return st == STATUS_OK
               ? crawl_job_keep_copy(m->settings.output, buf_bytes(file))
               : st;
}

static enum status open_in(struct crawl_job *m, bool paused,
                           const struct buf *file, struct buf *why)
{
    const char *dir = m->settings.output;
    enum status st = crawl_job_prepare(m, buf_bytes(file), why);

    if (st == STATUS_OK)
        st = frontier_open(&m->engine, dir, &m->setup->frontier, clock_mono(),
                           clock_wall_ms());
    if (st == STATUS_OK && file->len == 0)
        st = check_fixed(m, why);
    if (st == STATUS_OK)
        st = settings_put_in_force(m->engine, m->setup, &m->settings);
    if (st == STATUS_OK)
        st = put_seeds(m, file);
    return st == STATUS_OK ? crawl_job_start(m, paused, why) : st;
}

enum status crawl_job_open(void *ctx, const char *name, const char *dir,
                           bool paused, struct crawl_job **out, struct buf *why)
{
    struct crawl_jobs *h = ctx;
    struct crawl_settings s;
    struct crawl_job *m;
    struct buf file;
    enum status st;

    if (!crawl_job_has(dir, "frontier.db") || reader_is_unbegun(dir))
        return STATUS_NOT_FOUND;
    st = crawl_job_load(&s, dir, why);
    if (st != STATUS_OK)
        return st == STATUS_NOT_FOUND ? STATUS_DAMAGED : st;
    m = crawl_job_new(h, &s);
    buf_init(&file, CONFIG_CEILING);
    st = crawl_job_lock(m, why);
    if (st == STATUS_OK)
        st = crawl_job_follow(&m->settings, crawl_job_file_of(h, name), &file,
                              why);
    if (st == STATUS_OK && file.len > 0) {
        settings_fini(&m->now);
        option_copy(&crawl_options, &m->now, &m->settings, sizeof m->now);
    }
    if (st == STATUS_OK)
        st = crawl_job_find_room(m, why);
    if (st == STATUS_OK)
        st = open_in(m, paused, &file, why);
    buf_fini(&file);
    if (st == STATUS_OK) {
        *out = m;
        return STATUS_OK;
    }
    crawl_job_store_failed(st, dir, why);
    crawl_job_free(m);
    return st == STATUS_NOT_FOUND ? STATUS_DAMAGED : st;
}

void crawl_job_read_stats(void *ctx, const char *dir, struct crawl_stats *out)
{
    struct reader r;

    (void)ctx;
    if (reader_open(&r, dir) != STATUS_OK)
        return;
    crawl_stats_of_store(r.store, out);
    reader_close(&r);
}
