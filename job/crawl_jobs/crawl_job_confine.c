/* SPDX-License-Identifier: MIT */
/*
 * crawl_job_confine.c - allows the paths that crawls of a service name.
 *
 * If the operator's file names another path later, the kernel refuses that path
 * until the next start of the service.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "config/config.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/settings/settings.h"

/* Ignores a file that cannot be read: opening it later reports the error. Pipes
 * are left out, as they can be read only once. */
static void add_file(struct confine *c, const char *path)
{
    struct crawl_settings s;
    struct buf text, why;
    struct stat sb;

    if (stat(path, &sb) != 0 || !S_ISREG(sb.st_mode))
        return;
    settings_init(&s);
    buf_init(&text, CONFIG_CEILING);
    buf_init(&why, 65536);
    if (crawl_job_read_text(path, &text, &why) == STATUS_OK &&
        crawl_job_read(&s, path, buf_bytes(&text), OPTION_FROM_FILE, &why) ==
            STATUS_OK)
        confine_settings(c, &s);
    buf_fini(&why);
    buf_fini(&text);
    settings_fini(&s);
}

static void add_crawl(struct confine *c, const char *dir)
{
    struct crawl_settings s;
    struct buf why;

    buf_init(&why, 65536);
    if (crawl_job_load(&s, dir, &why) == STATUS_OK) {
        confine_settings(c, &s);
        settings_fini(&s);
    }
    buf_fini(&why);
}

void crawl_job_confine(struct confine *c, const char *dir,
                       const struct option_list *files)
{
    const struct dirent *e;
    char path[4096];
    DIR *d;

    for (size_t i = 0; i < files->count; i++) {
        confine_read_again(c, files->item[i]);
        add_file(c, files->item[i]);
    }
    snprintf(path, sizeof path, "%s/crawls", dir);
    d = opendir(path);
    while (d != NULL && (e = readdir(d)) != NULL) {
        snprintf(path, sizeof path, "%s/crawls/%s", dir, e->d_name);
        if (e->d_name[0] != '.' && settings_are_in(path))
            add_crawl(c, path);
    }
    if (d != NULL)
        closedir(d);
}
