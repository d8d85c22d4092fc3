/* SPDX-License-Identifier: MIT */
/*
 * crawl_job_open.c - a crawl job that is there, opened or looked at.
 *
 * What a file of the operator says is put onto it only when the file is not as
 * it was the last time (DIR/crawls/NAME/urlweir-given.yaml is its copy): else
 * what was changed through the service would be undone by each restart.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "config/config.h"
#include "crawler/crawl_counters.h"
#include "frontier/embedded/frontier.h"
#include "frontier/reader.h"
#include "job/crawl_jobs_impl.h"
#include "job/seed_sink.h"
#include "job/settings.h"
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

/* What the file says onto what the crawl has. *seeds: put those of the file. */
static enum status apply_file(struct crawl_settings *s,
                              const struct crawl_job_file *f, struct buf *text,
                              struct buf *why)
{
    struct crawl_settings before;
    enum status st;

    option_copy(&crawl_options, &before, s, sizeof before);
    st = crawl_job_read(s, f->path, buf_bytes(text), OPTION_FROM_FILE, why);
    if (st == STATUS_OK && s->queue_key != before.queue_key) {
        buf_addf(why,
                 "%s: queue-key: it is fixed when a crawl starts, and is "
                 "another there",
                 f->path);
        st = STATUS_ARG;
    }
    if (st == STATUS_OK && settings_diff(stderr, &before, s) > 0)
        fprintf(stderr,
                "urlweir serve: crawl %s: has these settings from now "
                "on, as %s is another than before\n",
                f->name, f->path);
    settings_fini(&before);
    return st;
}

/* Is the file another than the last time? Then it is applied, and kept. */
static enum status follow_file(struct crawl_settings *s,
                               const struct crawl_job_file *f, bool *followed,
                               struct buf *why)
{
    struct buf text, copy;
    char path[4096];
    enum status st;

    *followed = false;
    if (f == NULL)
        return STATUS_OK;
    buf_init(&text, CONFIG_CEILING);
    buf_init(&copy, CONFIG_CEILING);
    snprintf(path, sizeof path, "%s/" CRAWL_JOB_FILE_COPY, s->output);
    st = crawl_job_read_text(f->path, &text, why);
    if (st == STATUS_OK && (file_read(path, &copy) != STATUS_OK ||
                            !bytes_equal(buf_bytes(&text), buf_bytes(&copy)))) {
        st = apply_file(s, f, &text, why);
        if (st == STATUS_OK)
            st = settings_save(s);
        if (st == STATUS_OK)
            st = crawl_job_keep_copy(s->output, buf_bytes(&text));
        *followed = st == STATUS_OK;
    }
    buf_fini(&text);
    buf_fini(&copy);
    return st;
}

/* A person may have edited the file. */
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

static enum status open_in(struct crawl_job *m, bool paused, bool new_seeds,
                           struct buf *why)
{
    const char *dir = m->settings.output;
    enum status st = crawl_job_prepare(m, why);

    if (st == STATUS_OK)
        st = frontier_open(&m->engine, dir, &m->setup->frontier, clock_mono(),
                           clock_wall_ms());
    if (st == STATUS_OK && !new_seeds)
        st = check_fixed(m, why);
    if (st == STATUS_OK)
        st = settings_put_in_force(m->engine, m->setup, &m->settings);
    /* Those that were there are seen; others came with changed settings. */
    if (st == STATUS_OK)
        st = new_seeds ? seed_sink_given(m->engine, m->setup, &m->settings)
                       : seed_sink_sitemaps(m->engine, m->setup, &m->settings);
    return st == STATUS_OK ? crawl_job_start(m, paused, why) : st;
}

enum status crawl_job_open(void *ctx, const char *name, const char *dir,
                           bool paused, struct crawl_job **out, struct buf *why)
{
    struct crawl_jobs *h = ctx;
    struct crawl_settings s;
    struct crawl_job *m;
    bool followed = false;
    enum status st;

    if (!crawl_job_has(dir, "frontier.db") || reader_is_unbegun(dir))
        return STATUS_NOT_FOUND;
    st = crawl_job_load(&s, dir, why);
    if (st != STATUS_OK)
        return st == STATUS_NOT_FOUND ? STATUS_DAMAGED : st;
    m = crawl_job_new(h, &s);
    st = crawl_job_lock(m, why);
    if (st == STATUS_OK)
        st = follow_file(&m->settings, crawl_job_file_of(h, name), &followed,
                         why);
    if (st == STATUS_OK && followed) {
        settings_fini(&m->now);
        option_copy(&crawl_options, &m->now, &m->settings, sizeof m->now);
    }
    if (st == STATUS_OK)
        st = open_in(m, paused, followed, why);
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
