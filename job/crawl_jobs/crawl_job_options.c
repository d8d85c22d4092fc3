/* SPDX-License-Identifier: MIT */
/*
 * crawl_job_options.c - the options of a crawl in a service: those of `urlweir
 * crawl`, except options of the process.
 *
 * Options for the terminal of a process mean nothing in a service, where many
 * crawls share a process. They are refused with a hint at the service's
 * equivalent, never silently ignored.
 */
#include <string.h>

#include "config/config.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/settings/settings.h"

static const struct {
    const char *name, *value; /* NULL: any value */
    const char *why;
} refused[] = {
    {"output", NULL,
     "a service keeps each crawl in a directory of its own; leave this "
     "setting out"},
    {"quiet", NULL, "leave it out; start the service with --quiet instead"},
    {"verbose", NULL, "leave it out; start the service with --verbose instead"},
    {"decisions", NULL,
     "leave it out; start the service with --verbose instead"},
    {"progress", NULL,
     "leave it out; `urlweir status`, the dashboard and /v1/events show the "
     "progress of a crawl in a service"},
    {"until-idle", NULL,
     "leave it out; a crawl in a service waits for dates and for seeds"},
    {"metrics", NULL,
     "leave it out; `urlweir serve --http` serves /metrics of all its crawls"},
    {"metrics-open", NULL,
     "leave it out; options of `urlweir serve` say who may read"},
    {"cluster", NULL,
     "leave it out; `urlweir crawl --cluster` and `urlweir join` are the "
     "workers of a crawl on many machines"},
    {"sandbox", NULL,
     "leave it out; --sandbox is an option of `urlweir serve`"},
    {"user", NULL, "leave it out; --user is an option of `urlweir serve`"},
    {"input", "-",
     "a service has no standard input for a crawl; name a file, or give the "
     "seeds as `seeds`"},
    {"jsonl", "-", "a service has no standard output for a crawl; name a file"},
};

const char *crawl_job_refuse(const struct option_spec *o, struct bytes text)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].name, o->name) == 0 &&
            (refused[i].value == NULL ? text.len > 0
                                      : bytes_is(text, refused[i].value)))
            return refused[i].why;
    return NULL;
}

bool crawl_jobs_takes(const struct option_spec *o)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].name, o->name) == 0 && refused[i].value == NULL)
            return false;
    return (o->flags & (OPTION_LINE_ONLY | OPTION_FILE_ONLY)) == 0;
}

enum status crawl_job_read(struct crawl_settings *s, const char *path,
                           struct bytes yaml, enum option_source from,
                           struct buf *why)
{
    enum status st = config_read_but(&crawl_options, s, yaml, path, from,
                                     crawl_job_refuse, why);
    struct buf error;

    buf_init(&error, 4096);
    if (st == STATUS_OK)
        st = settings_check(s, &error);
    if (error.len > 0)
        buf_addf(why, "%s: %s", path, buf_str(&error));
    buf_fini(&error);
    return st;
}

enum status crawl_job_read_text(const char *path, struct buf *text,
                                struct buf *why)
{
    enum status st = file_read(path, text);

    if (st == STATUS_LIMIT)
        buf_addf(why, "%s: longer than %zu bytes", path, CONFIG_CEILING);
    else if (st != STATUS_OK)
        buf_addf(why, "%s: %s", path,
                 st == STATUS_IO ? "cannot be read" : status_text(st));
    return st;
}
