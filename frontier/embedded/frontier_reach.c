/* SPDX-License-Identifier: MIT */
/*
 * frontier_reach.c - how long we wait for hosts that do not respond.
 *
 *     responds ──unreachable──► waits ──give_up──► given up
 *        ▲                        │                   │
 *        └────────response────────┴─unblocked, new run┘
 *
 * A server that restarts costs nothing: its URLs stay queued, and a request
 * that does not reach it uses up no try of its URL. The pauses grow; the first
 * response ends the wait. A host that is given up keeps its URLs for the next
 * run, and this one ends without them.
 *
 * A host may also respond in a way that does not let us fetch its URLs: 5xx for
 * its robots.txt, a certificate that is not trusted. It is then not `silent`:
 * it waits in the same way, but its URLs use up their tries, and it is dead
 * when one URL has no tries left (frontier_ack.c).
 *
 * None of this survives a restart, since a person who resumes a crawl has a
 * reason to: the row in queue_state is for readers of a crawl that has ended.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/logger.h"
#include "frontier/embedded/frontier_host.h"

#define NEVER INT64_MAX

static bool responds(struct host_queue *h)
{
    struct host_trouble *x = h->trouble;
    bool was_silent;

    if (x == NULL)
        return false;
    was_silent = x->silent.status != OUTCOME_QUEUED;
    x->failures = 0;
    x->silent_since = x->silent_until = 0;
    x->silent = (struct outcome){.status = OUTCOME_QUEUED};
    return was_silent;
}

void frontier_reach_again(struct host_queue *h)
{
    (void)responds(h);
}

static void tell(struct frontier *f, const struct host_queue *h,
                 const char *what)
{
    struct bytes crawl, key;

    frontier_store_queue_name(f->store, h->queue, &crawl, &key);
    log_info(what, "host=%.*s reason=%s urls=%llu", (int)key.len, key.at,
             outcome_reason_name(host_trouble(h)->silent.reason),
             (unsigned long long)frontier_store_pending(f->store, h->queue));
}

/* True: the host's time is over. The last request goes out at its end. */
static bool bound_wait(const struct frontier *f, struct host_trouble *x,
                       int64_t ended)
{
    int64_t most = f->o.schedule.give_up;

    if (most == 0)
        return false;
    if (ended - x->silent_since >= most)
        return true;
    x->silent_until = clock_earlier(x->silent_until, x->silent_since + most);
    return false;
}

static bool waits(struct frontier *f, struct host_queue *h,
                  const struct engine_host_news *news, struct outcome how)
{
    struct host_trouble *x = host_trouble_of(h);
    bool first = x->silent.status == OUTCOME_QUEUED;

    if (news->ended < x->silent_until)
        return false; /* it was under way with one that failed the same way */
    if (x->failures++ == 0)
        x->silent_since = news->ended;
    x->silent_until =
        news->ended + schedule_silence(&f->o.schedule, x->failures, &f->random);
    /* A URL that was given back, for only robots.txt was asked for, does not
     * say why; the request for the page will. */
    if (!news->silent || how.status == OUTCOME_QUEUED)
        return false;
    x->silent = how;
    if (first)
        tell(f, h, "a host does not respond; its URLs wait");
    if (!bound_wait(f, x, news->ended))
        return first;
    x->silent_until = NEVER;
    tell(f, h, "a host did not respond for --give-up; its URLs stay queued");
    return true;
}

bool frontier_note_reach(struct frontier *f, struct host_queue *h,
                         const struct engine_host_news *news,
                         struct outcome how)
{
    if (news->ended == 0)
        return false;
    return news->unreachable ? waits(f, h, news, how) : responds(h);
}

bool frontier_is_given_up(const struct host_queue *h)
{
    return host_trouble(h)->silent_until == NEVER;
}

const char *frontier_reach_reason(const struct host_queue *h, char *out,
                                  size_t size)
{
    if (host_trouble(h)->silent.status == OUTCOME_QUEUED)
        return NULL;
    snprintf(out, size, "%s:%s",
             frontier_is_given_up(h) ? QUEUE_GIVEN_UP : QUEUE_SILENT,
             outcome_reason_name(host_trouble(h)->silent.reason));
    return out;
}
