/* SPDX-License-Identifier: MIT */
/*
 * frontier_service_store.c - the service's store, opened or made.
 *
 * A store is made in several steps (database, first manifest), and a kill
 * between them leaves something that looks damaged. So the last step sets a
 * mark, the one that tells a crawl whose seeds are stored, and nothing is
 * acknowledged before; what has no mark and an empty manifest is made anew.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "frontier/embedded/frontier.h"
#include "frontier/reader.h"
#include "service/calls/frontier_service_impl.h"

/* Half of what crawlers put is there already, each time anywhere in the set, so
 * a put costs the more the less of the set's pages are in memory: 2.6 us of CPU
 * with all of them, 4 us with a third. (A crawl's duplicates are links of its
 * own pages: the hot cache knows most.) Of 256 MiB it is enough for 4.6 million
 * URLs; only what is used is touched. */
#define EXACT_SHARE 24
/* Queues are served side by side, each in order of arrival, so what is handed
 * out between two rows of one page are rows of a stretch of `url`: of 2.5
 * million on 10,000 hosts some 30 MB. With 16 MiB every sixth URL handed out
 * read a page that had been read before. */
#define DB_SHARE 8
/* Enough for what is found on many pages of a site at a time; more made no put
 * cheaper, for the reason above. */
#define HOT_SHARE 1

static void remove_unbegun(const char *dir)
{
    static const char *const names[] = {"manifest", "frontier.db-wal",
                                        "frontier.db-shm", "filter.ckpt",
                                        "frontier.db"};

    if (!reader_is_unbegun(dir))
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        (void)unlink(path);
    }
}

enum status frontier_open_store(struct frontier_service *s, int64_t now)
{
    const struct served_options defaults = {0};
    struct frontier_options o = {
        .crawl = bytes_of_str("DEFAULT"),
        .tries = 1,
        .conns_per_host = 1,
        .in_flight = 1,
        .served = true,
        .use_filter = true,
        .fpr = s->o.fpr,
        .memory = s->o.memory,
        .exact_share = EXACT_SHARE,
        .db_share = DB_SHARE,
        .hot_share = HOT_SHARE,
    };
    bool made = false;
    enum status st;

    remove_unbegun(s->o.dir);
    st = frontier_open(&s->engine, s->o.dir, &o, clock_mono(), now);
    if (st == STATUS_NOT_FOUND) {
        st = frontier_create(&s->engine, s->o.dir, &o, clock_mono(), now);
        made = st == STATUS_OK;
    }
    if (st == STATUS_OK)
        st = served_open(&s->served, s->engine, &defaults, now);
    if (st == STATUS_OK && made)
        st = served_begin(s->served, now);
    if (st == STATUS_OK && made) /* into the database itself: the mark must not
                                    be lost with the log */
        st = frontier_checkpoint_now(s->engine, "running", false, clock_mono(),
                                     now);
    return st;
}
