/* SPDX-License-Identifier: MIT */
/* host_columns.c - the columns of a host of a crawl. */
#include "frontier/host_columns.h"

#define AT(x)    offsetof(struct host_record, x)
#define COUNT(a) (sizeof(a) / sizeof *(a))

static void get_duration(const void *member, struct record_value *out)
{
    int64_t ms = *(const int64_t *)member;

    column_number(out, RECORD_SECONDS, ms >= 0, (uint64_t)ms);
}

static void get_count(const void *member, struct record_value *out)
{
    int64_t n = *(const int64_t *)member;

    column_number(out, RECORD_UINT, n >= 0, (uint64_t)n);
}

/* clang-format off */
enum {
    HOST, ADDRESS, STATE, WHY, DUE_AT, QUEUED, FETCHED, FAILURES, DELAY,
    DELAY_WHY, CRAWL_DELAY, SET_DELAY, LATENCY, LIMIT, COMPLETED, PAGES, ERRORS,
    WIRE_BYTES, CONNECTIONS, HANDSHAKES, KEPT
};
_Static_assert(KEPT + 1 == HOST_COLUMNS, "each column has its line");

const struct column host_columns[HOST_COLUMNS] = {
    [HOST] = {"host", "text", "its name", column_get_any_text, AT(host)},
    [ADDRESS] = {"address", "text", "with `--queue-key ip`: the address it was "
     "last known at", column_get_text, AT(address)},
    [STATE] = {"state", "text", "`ready`, `busy` (as many requests as allowed "
     "are under way), `waiting` (for its delay), `blocked`, `dead` (given up in "
     "this run)", column_get_text, AT(state)},
    [WHY] = {"why", "text", "why it is blocked or dead: `retry_after`, "
     "`back_off`, `operator` (a person), a reason of failed URLs (`connect`); "
     "or the budget that it is over (`per-host`, `per-host-bytes`, "
     "`per-domain`, or `limit`, set by a person)", column_get_text, AT(why)},
    [DUE_AT] = {"due_at", "time", "when it is asked again, as far as that is "
     "known", column_get_time, AT(due_ms)},
    [QUEUED] = {"queued", "URLs", "its URLs that are not done",
     column_get_uint64, AT(queued)},
    [FETCHED] = {"fetched", "responses", "its responses in this run, as far as "
     "remembered", column_get_uint64, AT(fetched)},
    [FAILURES] = {"failures", "requests", "failures in a row",
     column_get_uint64, AT(failures)},
    [DELAY] = {"delay_seconds", "seconds", "delay in force between two "
     "requests; what response times and failures add to it, only a running "
     "crawl knows", get_duration, AT(delay_ms)},
    [DELAY_WHY] = {"delay_why", "text", "what makes that delay: `delay` "
     "(`--delay`), `operator` (`urlweir delay`), `crawl_delay` (its "
     "robots.txt), `max_crawl_delay` (its robots.txt asks for more, and is "
     "cut), `adaptive` (its response times), `failures` (several URLs in a "
     "row)", column_get_text, AT(delay_why)},
    [CRAWL_DELAY] = {"crawl_delay_seconds", "seconds", "what its robots.txt "
     "asks for", get_duration, AT(crawl_delay_ms)},
    [SET_DELAY] = {"set_delay_seconds", "seconds", "set by a person in place "
     "of `--delay`", get_duration, AT(set_delay_ms)},
    [LATENCY] = {"latency_seconds", "seconds", "moving average of its response "
     "times", get_duration, AT(latency_ms)},
    [LIMIT] = {"limit", "URLs", "set by a person: no more of its URLs are "
     "fetched once so many are done", column_get_some, AT(limit)},
    [COMPLETED] = {"completed", "URLs", "how many of that limit are done",
     column_get_some, AT(completed)},
    [PAGES] = {"pages", "pages", "its pages, as `export --what pages` lists "
     "them", column_get_uint64, AT(pages)},
    [ERRORS] = {"errors", "URLs", "its URLs that failed, were denied or "
     "skipped, as `export --what errors` lists them", column_get_uint64,
     AT(errors)},
    [WIRE_BYTES] = {"wire_bytes", "octets", "octets received of it, heads "
     "included, with tries that were repeated; of fetches that are still kept "
     "(`--keep-history`)", column_get_uint64, AT(wire_bytes)},
    [CONNECTIONS] = {"connections", "connections", "opened to it and ready for "
     "a request: in the run of a crawl that runs, for robots.txt, too; in "
     "exports for its fetches that are still kept, one each at most, which "
     "also counts for a robots.txt before it", get_count, AT(connections)},
    [HANDSHAKES] = {"handshakes", "handshakes", "of these with TLS",
     get_count, AT(handshakes)},
    [KEPT] = {"kept", "responses", "that came over a connection which an "
     "earlier request had left open", get_count, AT(kept)},
};

static const uint8_t stored[] = {
    HOST, ADDRESS, QUEUED, WHY, DUE_AT, FAILURES, DELAY, DELAY_WHY,
    CRAWL_DELAY, SET_DELAY, LIMIT, COMPLETED, CONNECTIONS, HANDSHAKES, KEPT,
};
static const uint8_t exported[] = {
    HOST, ADDRESS, QUEUED, WHY, DUE_AT, FAILURES, DELAY, DELAY_WHY,
    CRAWL_DELAY, SET_DELAY, LIMIT, COMPLETED, PAGES, ERRORS, WIRE_BYTES,
    CONNECTIONS, HANDSHAKES, KEPT,
};
static const uint8_t live[] = {
    HOST, STATE, WHY, QUEUED, FETCHED, FAILURES, DELAY, DELAY_WHY, CRAWL_DELAY,
    SET_DELAY, LIMIT, LATENCY, DUE_AT, CONNECTIONS, HANDSHAKES, KEPT,
};
/* clang-format on */

const struct column_view host_views[HOST_VIEWS] = {
    [HOST_VIEW_STORED] = {"hosts", host_columns, stored, COUNT(stored)},
    [HOST_VIEW_EXPORT] = {"hosts_export", host_columns, exported,
                          COUNT(exported)},
    [HOST_VIEW_LIVE] = {"hosts_live", host_columns, live, COUNT(live)},
};
