/* SPDX-License-Identifier: MIT */
/* open_crawl.c - what the commands that only read a crawl begin with. */
#include "cli/open_crawl.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/command.h"

bool crawl_is_unbegun(const char *dir, const char *command)
{
    if (!reader_is_unbegun(dir))
        return false;
    fprintf(stderr,
            "urlweir %s: the crawl in %s was ended before all of its seeds "
            "were stored; give the same `urlweir crawl` command again, nothing "
            "had been fetched\n",
            command, dir);
    return true;
}

static bool is_running(const char *dir)
{
    char path[4096];
    long holder = 0;

    snprintf(path, sizeof path, "%s/lock", dir);
    return file_lock_holder(path, &holder) == STATUS_OK && holder != 0;
}

bool open_crawl(struct reader *r, const char *command, const char *dir,
                int *code)
{
    enum status st;

    if (!is_running(dir) && crawl_is_unbegun(dir, command)) {
        *code = EXIT_CANNOT;
        return false;
    }
    st = reader_open(r, dir);
    switch (st) {
    case STATUS_OK:
        return true;
    case STATUS_NOT_FOUND:
        fprintf(stderr, "urlweir %s: no crawl in %s\n", command, dir);
        *code = EXIT_CANNOT;
        return false;
    case STATUS_VERSION:
        fprintf(stderr,
                "urlweir %s: the crawl in %s was written by a newer urlweir; "
                "use that release\n",
                command, dir);
        *code = EXIT_CANNOT;
        return false;
    case STATUS_DAMAGED:
    case STATUS_FORMAT:
        if (strcmp(command, "verify") == 0)
            fprintf(stderr,
                    "urlweir verify: the store in %s is damaged and cannot be "
                    "repaired: restore the directory from a copy, or start a "
                    "new crawl in another one\n",
                    dir);
        else
            fprintf(stderr,
                    "urlweir %s: the crawl in %s is damaged; `urlweir verify "
                    "%s` says where\n",
                    command, dir, dir);
        *code = EXIT_DAMAGED;
        return false;
    default:
        fprintf(stderr, "urlweir %s: cannot read %s: %s\n", command, dir,
                status_text(st));
        *code = EXIT_CANNOT;
        return false;
    }
}

const char *crawl_state(const struct reader *r)
{
    if (r->holder > 0)
        return "running";
    if (r->manifest_status != STATUS_OK || !r->manifest.clean)
        return "interrupted";
    return strcmp(r->manifest.state, "finished") == 0 ? "finished" : "stopped";
}
