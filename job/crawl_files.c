/* SPDX-License-Identifier: MIT */
/* crawl_files.c - removes the files of a crawl that did not start. */
#include "job/crawl_files.h"

#include <stdio.h>
#include <unistd.h>

#include "job/crawl_credentials.h"
#include "job/settings/settings.h"

void crawl_remove_files(const char *dir)
{
    static const char *const names[] = {"manifest",        "frontier.db",
                                        "frontier.db-wal", "frontier.db-shm",
                                        "frontier.runs",   "filter.ckpt",
                                        SETTINGS_FILE,     "block-exact",
                                        SETTINGS_SECRETS,  CRAWL_COOKIES};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        (void)unlink(path);
    }
}
