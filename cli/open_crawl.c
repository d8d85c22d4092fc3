/* SPDX-License-Identifier: MIT */
/* open_crawl.c - opens a crawl for commands that only read it. */
#include "cli/open_crawl.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "cli/command.h"
#include "job/settings/settings.h"
#include "storage/db/schema.h"

#define MADE_WITHIN (30 * NS_PER_S)

/* The kind of the first URL. An empty store is a service's; -1: it cannot be
 * read. */
static int64_t first_kind(struct db *d)
{
    int64_t kind = URL_KIND_SERVED;
    enum status st =
        db_number(d, "SELECT kind FROM url ORDER BY id LIMIT 1", &kind);

    return st == STATUS_OK || st == STATUS_NOT_FOUND ? kind : -1;
}

bool is_service(struct reader *r)
{
    return !settings_are_in(r->dir) && first_kind(r->db) == URL_KIND_SERVED;
}

/* The same for a directory without settings; -1 if it has settings. */
static int64_t first_kind_in(const char *dir)
{
    struct db_options o = {.cache_bytes = 1 << 20};
    struct db *d = NULL;
    char path[4096];
    int64_t kind = -1;

    snprintf(path, sizeof path, "%s/frontier.db", dir);
    if (!settings_are_in(dir) && access(path, F_OK) == 0 &&
        db_open(&d, path, DB_READ, &o) == STATUS_OK)
        kind = first_kind(d);
    db_close(d);
    return kind;
}

bool dir_is_service(const char *dir, const char *command)
{
    bool is = first_kind_in(dir) == URL_KIND_SERVED;

    if (is)
        fprintf(stderr,
                "urlweir %s: %s holds the frontier of a service; go on with "
                "`urlweir serve %s`, or choose another directory\n",
                command, dir, dir);
    return is;
}

bool dir_is_crawl(const char *dir, const char *command)
{
    int64_t kind = first_kind_in(dir);
    bool is = kind >= 0 && kind != URL_KIND_SERVED;

    if (is)
        fprintf(stderr,
                "urlweir %s: %s holds a crawl, whose " SETTINGS_FILE
                " is missing; `urlweir resume %s` says what to do; a service "
                "needs a directory of its own\n",
                command, dir, dir);
    return is;
}

bool crawl_is_unbegun(const char *dir, const char *command)
{
    if (!reader_is_unbegun(dir))
        return false;
    if (!settings_are_in(dir)) {
        fprintf(stderr,
                "urlweir %s: the store in %s was not finished and holds "
                "nothing; `urlweir serve %s` makes it again\n",
                command, dir, dir);
        return true;
    }
    fprintf(stderr,
            "urlweir %s: the crawl in %s ended before all of its seeds were "
            "stored; nothing was fetched; give the same `urlweir crawl` "
            "command (or `urlweir import`) again\n",
            command, dir);
    return true;
}

const char *no_crawl_hint(const char *dir)
{
    char path[4096];

    if (access(dir, F_OK) != 0)
        return "; there is no such directory";
    snprintf(path, sizeof path, "%s/dedupe.manifest", dir);
    return access(path, F_OK) == 0 ? "; `urlweir dedupe` keeps a set there"
                                   : "";
}

static bool is_running(const char *dir)
{
    char path[4096];
    long holder = 0;

    snprintf(path, sizeof path, "%s/lock", dir);
    return file_lock_holder(path, &holder) == STATUS_OK && holder != 0;
}

/* The manifest is the last file that a new crawl makes; before that, the other
 * files would look damaged. */
static void wait_until_made(const char *dir)
{
    const struct timespec tick = {.tv_nsec = 20 * NS_PER_MS};
    int64_t end = clock_mono() + fault_time("made", MADE_WITHIN);
    char path[4096];

    snprintf(path, sizeof path, "%s/manifest", dir);
    while (access(path, F_OK) != 0 && is_running(dir) && clock_mono() < end)
        nanosleep(&tick, NULL);
}

bool open_crawl(struct reader *r, const char *command, const char *dir,
                int *code)
{
    enum status st;

    wait_until_made(dir);
    if (!is_running(dir) && crawl_is_unbegun(dir, command)) {
        *code = EXIT_CANNOT;
        return false;
    }
    st = reader_open(r, dir);
    switch (st) {
    case STATUS_OK:
        return true;
    case STATUS_NOT_FOUND:
        fprintf(stderr, "urlweir %s: no crawl in %s%s\n", command, dir,
                no_crawl_hint(dir));
        *code = EXIT_CANNOT;
        return false;
    case STATUS_BUSY:
        fprintf(stderr,
                "urlweir %s: the crawl in %s is only being made; try again "
                "later\n",
                command, dir);
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

int cannot_read(const char *command, const char *dir, enum status st)
{
    fprintf(stderr, "urlweir %s: cannot read %s: %s\n", command, dir,
            status_text(st));
    return st == STATUS_DAMAGED ? EXIT_DAMAGED : EXIT_CANNOT;
}

const char *crawl_state(const struct reader *r)
{
    if (r->holder > 0)
        return "running";
    if (r->manifest_status != STATUS_OK || !r->manifest.clean)
        return "interrupted";
    return strcmp(r->manifest.state, "finished") == 0 ? "finished" : "stopped";
}
