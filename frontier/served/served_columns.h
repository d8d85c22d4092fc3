/*
 * served_columns.h - the columns of a served URL and of its queue: one table.
 *
 * Used by export, explain and status of a service's directory and by the HTTP
 * API. Any thread.
 */
#ifndef URLWEIR_FRONTIER_SERVED_SERVED_COLUMNS_H
#define URLWEIR_FRONTIER_SERVED_SERVED_COLUMNS_H

#include "base/record.h"
#include "frontier/url_view.h"

/* Times are the wall clock in milliseconds, 0: absent. */
struct served_record {
    struct bytes url, crawl, key;
    json_t *metadata; /* borrowed; NULL: absent */
    enum url_state state;
    uint64_t id;
    int64_t due_ms, created_ms, leased_until_ms;
    struct { /* of its queue */
        uint64_t queued, leased, completed;
        int64_t delay_ms; /* in force */
        int64_t blocked_until_ms, served_ms;
        uint64_t limit; /* 0: none */
    } queue;
};

enum served_view_id {
    SERVED_VIEW_URLS,   /* export --what urls */
    SERVED_VIEW_QUEUES, /* export --what queues, status --hosts */
    SERVED_VIEW_FOUND,  /* explain: one URL of one queue */
    SERVED_VIEW_LEASED, /* POST /v1/lease */
    SERVED_VIEW_URL,    /* GET /v1/url */
    SERVED_VIEW_QUEUE,  /* the queue in explain and GET /v1/url */
    SERVED_VIEWS
};
extern const struct column_view served_views[SERVED_VIEWS];

#define SERVED_COLUMNS 16
extern const struct column served_columns[SERVED_COLUMNS];

#endif
