/* SPDX-License-Identifier: MIT */
/* served_columns.c - the columns of a served URL and of its queue. */
#include "frontier/served/served_columns.h"

#define AT(x)    offsetof(struct served_record, x)
#define COUNT(a) (sizeof(a) / sizeof *(a))

static void get_state(const void *member, struct record_value *out)
{
    const enum url_state *s = member;

    column_text(out, bytes_of_str(url_state_name(*s)), true);
}

static void get_metadata(const void *member, struct record_value *out)
{
    out->json = *(json_t *const *)member;
    out->type = out->json != NULL ? RECORD_JSON : RECORD_ABSENT;
}

static void get_delay(const void *member, struct record_value *out)
{
    column_number(out, RECORD_SECONDS, true,
                  (uint64_t) * (const int64_t *)member);
}

/* clang-format off */
enum {
    URL, CRAWL, KEY, STATE, ID, DUE_AT, CREATED_AT, LEASED_UNTIL, METADATA,
    QUEUED, LEASED, COMPLETED, DELAY_SECONDS, BLOCKED_UNTIL, SERVED_AT, LIMIT
};
_Static_assert(LIMIT + 1 == SERVED_COLUMNS, "each column has its line");

const struct column served_columns[SERVED_COLUMNS] = {
    [URL] = {"url", "text", "as it was put", column_get_any_text, AT(url)},
    [CRAWL] = {"crawl", "text", "its crawl ID", column_get_any_text,
     AT(crawl)},
    [KEY] = {"key", "text", "key of its queue, in that crawl", column_get_any_text,
     AT(key)},
    [STATE] = {"state", "text", "`queued`, `leased`, `completed` or `removed`",
     get_state, AT(state)},
    [ID] = {"id", "number", "number in order of arrival", column_get_uint64, AT(id)},
    [DUE_AT] = {"due_at", "time",
     "when it can be served, if its queue's turn comes; absent if it is "
     "completed", column_get_time, AT(due_ms)},
    [CREATED_AT] = {"created_at", "time", "when it was first put",
     column_get_time, AT(created_ms)},
    [LEASED_UNTIL] = {"leased_until", "time",
     "when its lease ends unless it is acknowledged; absent if it is not "
     "leased",
     column_get_time, AT(leased_until_ms)},
    [METADATA] = {"metadata", "object",
     "arrays of strings, as they were last put; JSON text in CSV",
     get_metadata, AT(metadata)},
    [QUEUED] = {"queued", "URLs", "URLs that wait in the queue",
     column_get_uint64, AT(queue.queued)},
    [LEASED] = {"leased", "URLs", "URLs of the queue that are leased",
     column_get_uint64, AT(queue.leased)},
    [COMPLETED] = {"completed", "URLs", "URLs of the queue that are completed",
     column_get_uint64, AT(queue.completed)},
    [DELAY_SECONDS] = {"delay_seconds", "seconds",
     "between two times at which the queue is served: its own delay, else the "
     "default", get_delay, AT(queue.delay_ms)},
    [BLOCKED_UNTIL] = {"blocked_until", "time",
     "when the queue is served again; absent if it is not blocked",
     column_get_time, AT(queue.blocked_until_ms)},
    [SERVED_AT] = {"served_at", "time", "when the queue was served last",
     column_get_time, AT(queue.served_ms)},
    [LIMIT] = {"limit", "URLs",
     "no more URLs are handed out once that many are completed; absent: no "
     "limit",
     column_get_some, AT(queue.limit)},
};

static const uint8_t urls[] = {
    URL, CRAWL, KEY, STATE, DUE_AT, CREATED_AT, LEASED_UNTIL, METADATA, ID,
};
static const uint8_t queues[] = {
    KEY, CRAWL, QUEUED, LEASED, COMPLETED, DELAY_SECONDS, BLOCKED_UNTIL,
    SERVED_AT, LIMIT,
};
static const uint8_t found[] = {
    URL, CRAWL, KEY, STATE, ID, DUE_AT, LEASED_UNTIL, METADATA,
};
static const uint8_t leased[] = {URL, KEY, CRAWL, METADATA};
static const uint8_t url[] = {
    URL, KEY, CRAWL, METADATA, STATE, DUE_AT, CREATED_AT, LEASED_UNTIL,
};
static const uint8_t queue[] = {
    BLOCKED_UNTIL, SERVED_AT, DELAY_SECONDS, LIMIT,
};
/* clang-format on */

const struct column_view served_views[SERVED_VIEWS] = {
    [SERVED_VIEW_URLS] = {"urls", served_columns, urls, COUNT(urls)},
    [SERVED_VIEW_QUEUES] = {"queues", served_columns, queues, COUNT(queues)},
    [SERVED_VIEW_FOUND] = {"found", served_columns, found, COUNT(found)},
    [SERVED_VIEW_LEASED] = {"leased", served_columns, leased, COUNT(leased)},
    [SERVED_VIEW_URL] = {"url", served_columns, url, COUNT(url)},
    [SERVED_VIEW_QUEUE] = {"queue", served_columns, queue, COUNT(queue)},
};
