/* SPDX-License-Identifier: MIT */
/* open_crawl.c - what the commands that only read a crawl begin with. */
#include "cli/open_crawl.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"

bool open_crawl(struct reader *r, const char *command, const char *dir,
                int *code)
{
    enum status st = reader_open(r, dir);

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
        fprintf(stderr,
                "urlweir %s: the crawl in %s is damaged; `urlweir verify %s` "
                "says where\n",
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
