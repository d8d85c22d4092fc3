/* SPDX-License-Identifier: MIT */
/* fetch_stats.c - counts of a fetcher's requests by result. */
#include "crawler/fetch/fetch_stats.h"

#include <assert.h>

#include "crawler/fetch/fetch.h"

static_assert(FETCH_STATS_ENDS == FETCH_PROTOCOL + 1, "one for each end");

const char *fetch_stats_end_name(unsigned end)
{
    static const char *const names[FETCH_STATS_ENDS] = {
        [FETCH_ANSWERED] = "answered",
        [FETCH_CUT_LENGTH] = "truncated_length",
        [FETCH_CUT_TIME] = "truncated_time",
        [FETCH_CUT_ENCODING] = "bad_encoding",
        [FETCH_MIME] = "mime",
        [FETCH_ADDRESS] = "address",
        [FETCH_PORT] = "port",
        [FETCH_CROWDED] = "crowded",
        [FETCH_STARVED] = "no_memory",
        [FETCH_STOPPED] = "stopped",
        [FETCH_DNS] = "dns",
        [FETCH_CONNECT] = "connect",
        [FETCH_TLS] = "tls",
        [FETCH_TIMEOUT] = "timeout",
        [FETCH_RESET] = "reset",
        [FETCH_PROTOCOL] = "protocol",
    };

    return names[end];
}

static void count(_Atomic uint64_t *n)
{
    atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}

/* Did its head, and as much of its body as needed, arrive? */
static bool was_answered(const struct fetch_result *r)
{
    return r->end <= FETCH_MIME && r->response->status != 0;
}

void fetch_stats_note(struct fetch_counters *t, const struct fetch_result *r,
                      bool robots)
{
    int status = r->response->status;

    count(&t->ends[r->end]);
    count(&t->classes[status >= 100 && status < 1000 ? status / 100 : 0]);
    if (r->connect_ns >= 0)
        histogram_note(&t->connect, r->connect_ns);
    if (!was_answered(r))
        return;
    if (robots) {
        histogram_note(&t->robots, r->ended - r->started);
    } else {
        histogram_note(&t->first_byte, r->first_byte_ns);
        histogram_note(&t->response, r->ended - r->started);
    }
}

void fetch_stats_add(const struct fetch_counters *t, struct fetch_stats *into)
{
    for (unsigned i = 0; i < FETCH_STATS_ENDS; i++)
        into->ends[i] +=
            atomic_load_explicit(&t->ends[i], memory_order_relaxed);
    for (unsigned i = 0; i < FETCH_STATS_CLASSES; i++)
        into->classes[i] +=
            atomic_load_explicit(&t->classes[i], memory_order_relaxed);
    histogram_add_to(&t->connect, &into->connect);
    histogram_add_to(&t->first_byte, &into->first_byte);
    histogram_add_to(&t->response, &into->response);
    histogram_add_to(&t->robots, &into->robots);
}
