/*
 * host_columns.h - the columns of a host of a crawl: one table.
 *
 * `status --hosts`, `export --what hosts`, the HTTP API and with it the
 * dashboard show a host by this table: what is queued, when and why it waits,
 * and the delay in force with the rule that makes it. Any thread.
 */
#ifndef URLWEIR_FRONTIER_HOST_COLUMNS_H
#define URLWEIR_FRONTIER_HOST_COLUMNS_H

#include "base/record.h"

/* Durations are in milliseconds, -1: absent; times are the wall clock in
 * milliseconds, 0: absent; texts may be empty: absent. */
struct host_record {
    struct bytes host, address, state, why, delay_why;
    uint32_t queue; /* its number in the store, 0: of a process */
    uint64_t queued, fetched, failures;
    int64_t delay_ms;       /* in force */
    int64_t crawl_delay_ms; /* what its robots.txt asks for */
    int64_t set_delay_ms;   /* by a person */
    int64_t latency_ms;
    int64_t due_ms;
    int64_t connections, handshakes, kept; /* -1: absent */
    uint64_t limit, completed;             /* of a limit by a person; 0: none */
    uint64_t pages, errors, wire_bytes;    /* of its kept fetches */
};

enum host_view_id {
    HOST_VIEW_STORED, /* of the store: status --hosts */
    HOST_VIEW_EXPORT, /* of the store, with its fetches: export --what hosts */
    HOST_VIEW_LIVE,   /* of a process: GET /v1/crawls/NAME/hosts */
    HOST_VIEWS
};
extern const struct column_view host_views[HOST_VIEWS];

#define HOST_COLUMNS 21
extern const struct column host_columns[HOST_COLUMNS];

#endif
