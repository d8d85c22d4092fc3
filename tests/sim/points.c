/* SPDX-License-Identifier: MIT */
/* points.c - stands in for base/fault.c, and counts. */
#include "tests/sim/points.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fault.h"
#include "tests/sim/life.h"
#include "tests/sim/world.h"

/* Those that a crawl may pass. Some need more URLs than a seed has: the suite
 * store_crash is killed at these. */
static const char *const names[] = {
    "ack-admitted",
    "checkpoint-begin",
    "checkpoint-end",
    "checkpoint-filter-saved",
    "checkpoint-wal-moved",
    "commit-after",
    "commit-before",
    "commit-begin",
    "exact-merge",
    "exact-merge-old",
    "file-renamed",
    "file-synced",
    "file-written",
    "filter-checkpoint-begin",
    "filter-checkpoint-end",
    "filter-checkpoint-half",
    "page-in-hand",
    "queue-drop",
    "queue-flush",
    "queue-merge",
    "queue-switch",
    "seeds-read",
    "settings-kept",
    "status-sweep",
    "store-made",
    "turn-after-commit",
    "turn-before-commit",
    "wal-checkpoint",
    "wal-checkpointed",
    "warc-appended",
    "warc-synced",
    /* of a served frontier alone */
    "item-sweep",
    "service-commit",
    "service-committed",
};
#define NAMES    (sizeof names / sizeof *names)
#define OF_CRAWL (NAMES - 3)

/* Shared by all lives of all players. */
static struct counts {
    _Atomic uint64_t passed, killed;
} * counts;

static struct kill_point target;

void points_prepare(void)
{
    counts = mmap(NULL, NAMES * sizeof *counts, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counts == MAP_FAILED)
        world_fault("no memory to share");
}

struct kill_point points_throw(struct dice *d)
{
    struct kill_point p = {names[dice_below(d, OF_CRAWL)], 1};

    if (dice_chance(d, 60))
        p.passage += dice_below(d, 12);
    return p;
}

/* Others are too seldom passed, or never. */
struct kill_point points_throw_served(struct dice *d)
{
    static const char *const often[] = {"turn-before-commit",
                                        "turn-after-commit",
                                        "commit-before",
                                        "commit-after",
                                        "checkpoint-begin",
                                        "checkpoint-end",
                                        "checkpoint-filter-saved",
                                        "exact-merge",
                                        "store-made",
                                        "service-commit",
                                        "service-committed",
                                        "file-renamed"};
    const char *name = often[dice_below(d, sizeof often / sizeof *often)];
    size_t i = 0;

    while (strcmp(names[i], name) != 0)
        i++;
    return (struct kill_point){names[i], (unsigned)dice_nth(d, 7)};
}

void points_begin(struct kill_point p)
{
    target = p;
}

void points_report(void)
{
    unsigned met = 0;

    for (size_t i = 0; i < NAMES; i++)
        met += counts[i].killed > 0;
    printf("killed at %u of %zu named points; not at", met, NAMES);
    for (size_t i = 0; i < NAMES; i++)
        if (counts[i].killed == 0)
            printf(" %s (passed %" PRIu64 " times)", names[i],
                   counts[i].passed);
    printf(met < NAMES ? "\n" : " any\n");
}

/* ---- what the program calls ---- */

void fault_init(void)
{
}

void fault_point(const char *name)
{
    size_t i = 0;

    while (i < NAMES && strcmp(names[i], name) != 0)
        i++;
    if (i == NAMES)
        life_end_badly("no kill is ever ordered at the point %s", name);
    counts[i].passed++;
    life_step(name);
    if (target.name == names[i] && --target.passage == 0) {
        counts[i].killed++;
        TELL("killed at the point %s", name);
        kill(getpid(), SIGKILL);
    }
}

int64_t fault_time(const char *name, int64_t usual)
{
    (void)name;
    return usual;
}
