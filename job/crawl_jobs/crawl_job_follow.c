/* SPDX-License-Identifier: MIT */
/*
 * crawl_job_follow.c - applies changes in the operator's file.
 *
 * DIR/crawls/NAME/urlweir-given.yaml is a copy of the file that was applied
 * last. Settings that differ from that copy are applied; all others stay, since
 * they may have been changed through the service meanwhile.
 */
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/settings/settings.h"

/* Does `now` set option `i` to something that `then` does not? */
static bool is_said_anew(size_t i, const struct crawl_settings *now,
                         const struct crawl_settings *then)
{
    return option_given(&crawl_options, i, now) &&
           !(option_given(&crawl_options, i, then) &&
             option_equal(&crawl_options.spec[i], now, then));
}

/* One that cannot be read counts as empty. */
static void read_copy(struct crawl_settings *s, struct bytes copy)
{
    struct buf error;

    settings_init(s);
    buf_init(&error, 4096);
    if (config_read(&crawl_options, s, copy, CRAWL_JOB_FILE_COPY,
                    OPTION_FROM_FILE, &error) != STATUS_OK) {
        settings_fini(s);
        settings_init(s);
    }
    buf_fini(&error);
}

static void take(struct crawl_settings *s, const struct crawl_settings *now,
                 const struct buf *copy)
{
    struct crawl_settings then;

    read_copy(&then, buf_bytes(copy));
    for (size_t i = 0; i < crawl_options.count; i++)
        if (is_said_anew(i, now, &then))
            option_assign(&crawl_options, i, s, now, OPTION_FROM_FILE);
    settings_fini(&then);
}

static enum status check(struct crawl_settings *s, const char *path,
                         const struct crawl_settings *before, struct buf *why)
{
    struct buf error;
    enum status st;

    if (s->queue_key != before->queue_key) {
        buf_addf(why,
                 "%s: queue-key: it is fixed when a crawl starts, and is "
                 "another there",
                 path);
        return STATUS_ARG;
    }
    buf_init(&error, 4096);
    st = settings_check(s, &error);
    if (st != STATUS_OK)
        buf_addf(why, "%s: %s", path, buf_str(&error));
    buf_fini(&error);
    return st;
}

/* Applies what is new in the file to the crawl's settings. */
static enum status apply(struct crawl_settings *s,
                         const struct crawl_job_file *f, const struct buf *text,
                         const struct buf *copy, struct buf *why)
{
    struct crawl_settings before, now;
    enum status st;

    option_copy(&crawl_options, &before, s, sizeof before);
    settings_init(&now);
    st = crawl_job_read(&now, f->path, buf_bytes(text), OPTION_FROM_FILE, why);
    if (st == STATUS_OK) {
        take(s, &now, copy);
        st = check(s, f->path, &before, why);
    }
    if (st == STATUS_OK && settings_diff(stderr, &before, s) > 0)
        fprintf(stderr,
                "urlweir serve: crawl %s: has these settings from now on, "
                "because %s has changed\n",
                f->name, f->path);
    settings_fini(&before);
    settings_fini(&now);
    return st;
}

static enum status read_kept(const char *dir, struct buf *copy)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/" CRAWL_JOB_FILE_COPY, dir);
    return file_read(path, copy);
}

bool crawl_job_has_own_proxy(const struct crawl_settings *s, struct bytes file)
{
    struct crawl_settings given;
    struct buf copy;
    bool own;

    if (s->proxy == NULL)
        return false;
    buf_init(&copy, CONFIG_CEILING);
    if (file.len == 0 && read_kept(s->output, &copy) == STATUS_OK)
        file = buf_bytes(&copy);
    read_copy(&given, file);
    own = given.proxy != NULL && strcmp(given.proxy, s->proxy) == 0;
    settings_fini(&given);
    buf_fini(&copy);
    return own;
}

enum status crawl_job_follow(struct crawl_settings *s,
                             const struct crawl_job_file *f, struct buf *text,
                             struct buf *why)
{
    struct buf copy;
    enum status st;

    if (f == NULL)
        return STATUS_OK;
    buf_init(&copy, CONFIG_CEILING);
    st = crawl_job_read_text(f->path, text, why);
    if (st == STATUS_OK && read_kept(s->output, &copy) == STATUS_OK &&
        bytes_equal(buf_bytes(text), buf_bytes(&copy))) {
        buf_clear(text);
    } else if (st == STATUS_OK) {
        st = apply(s, f, text, &copy, why);
        if (st == STATUS_OK)
            st = settings_save(s);
    }
    buf_fini(&copy);
    return st;
}
