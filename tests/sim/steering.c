/* SPDX-License-Identifier: MIT */
/* steering.c - a person's calls to the registry of a process. */
#include "tests/sim/steering.h"

#include <stdbool.h>

#include "base/clock.h"
#include "frontier/reader.h"
#include "job/registry/crawls.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/world.h"

static struct crawls *registry;
static bool calls; /* a call runs */

void steering_begin(struct crawls *c)
{
    registry = c;
}

void steering_end(void)
{
    registry = NULL;
    while (calls)
        (void)scheduler_wait(&calls, SCHEDULER_NEVER);
}

static void call(enum crawls_verb verb, const char *word)
{
    struct crawls_call c = {.verb = verb, .crawl = bytes_of_str(CRAWL_ID)};
    enum status st;

    if (registry == NULL) /* the crawl has not begun, or has ended */
        return;
    calls = true;
    st = crawls_perform(registry, &c);
    calls = false;
    scheduler_wake(&calls, true);
    json_decref(c.out);
    TELL("%s: %s", word, status_text(st));
}

static void sleep_until(int64_t at)
{
    if (at > world->mono_ns)
        scheduler_sleep(at - world->mono_ns);
}

void *steering_thread(void *arg)
{
    const struct steering *s = arg;
    int64_t begun = world->mono_ns;

    if (s->pause_ms > 0) {
        sleep_until(begun + s->pause_after_ms * NS_PER_MS);
        call(CRAWLS_PAUSE, "pause");
        scheduler_sleep(s->pause_ms * NS_PER_MS);
        call(CRAWLS_UNPAUSE, "unpause");
    }
    if (s->stop_after_ms > 0) {
        sleep_until(begun + s->stop_after_ms * NS_PER_MS);
        call(CRAWLS_STOP, "stop");
    }
    return NULL;
}
