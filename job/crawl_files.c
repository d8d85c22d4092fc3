/* SPDX-License-Identifier: MIT */
/* crawl_files.c - removes the files of a crawl that did not start. */
#include "job/crawl_files.h"

#include <stdio.h>
#include <unistd.h>

#include "job/crawl_credentials.h"
#include "job/settings/settings.h"

void crawl_remove_files(const char *dir)
{
    /* Those by which the directory is known as ours last: a power cut may keep
     * a part of this. */
    static const char *const names[] = {"manifest",        "manifest.tmp",
                                        "frontier.db-wal", "frontier.db-shm",
                                        "filter.ckpt",     "filter.ckpt.tmp",
                                        "block-exact",     CRAWL_COOKIES,
                                        SETTINGS_SECRETS,  "frontier.db",
                                        SETTINGS_FILE};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        (void)unlink(path);
    }
}
