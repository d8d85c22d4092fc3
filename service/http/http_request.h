/*
 * http_request.h - one HTTP request, shared by the server's thread and those
 * that answer it, the frontier's and the registry's; private to the http_*.c
 * files.
 *
 * A route's `ask` reads the request and either makes calls or answers; `reply`
 * answers when all calls are done. Both run on the server's thread.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_REQUEST_H
#define URLWEIR_SERVICE_HTTP_HTTP_REQUEST_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/histogram.h"
#include "job/registry/crawls.h"
#include "service/calls/call.h"
#include "service/filters/filter_shelf.h"
#include "service/http/http_text.h"
#include "service/net/auth.h"
#include "service/net/listener.h"

#define HTTP_NAMES 2 /* in a path, at most */

struct MHD_Connection;
struct http_options;
struct http_page;
struct http_server;
struct http_request;

struct http_route {
    const char *method, *path; /* a '{name}' in it: see http_request.h */
    bool body;  /* has a JSON body; else parameters in the query */
    bool file;  /* besides, its body is a file of any octets */
    bool calls; /* its JSON body is calls of another process, which `ask`
                   reads: call_wire.h */
    enum auth_role role;
    void (*ask)(struct http_request *r);
    void (*reply)(struct http_request *r);
    int how; /* tells routes apart that share functions */
};

struct http_request {
    struct http_server *server;
    struct MHD_Connection *conn;
    const struct http_route *route;
    enum auth_role role; /* of the caller; AUTH_NONE: not checked, or none */
    char *uri;           /* as received */
    const char *target;  /* the library's copy, used only for its address */
    char *path;          /* up to the query, not decoded */
    char *name;          /* in the path, decoded; NULL: the route has none */
    char *second_name;   /* the same */
    json_t *in;          /* the body, or the query as an object of strings */
    struct buf body;
    enum { HTTP_ARRIVED, HTTP_READING, HTTP_WAITING, HTTP_ANSWERED } state;
    bool no_room;               /* the body was dropped */
    struct http_upload *upload; /* NULL, or the file that the body becomes */

    struct arena *arena; /* memory that calls point to */
    struct frontier_item *items;
    struct frontier_call *calls;
    size_t call_count;
    struct crawls_call *crawl_call; /* NULL: none */
    struct shelf_call *shelf_call;  /* NULL: none */
    struct bytes *shelf_keys;       /* its keys */
    atomic_size_t pending;
    struct http_export *export;   /* NULL, or the report that answers */
    struct http_watcher *watcher; /* NULL, or the event stream */

    int64_t began;   /* monotonic */
    unsigned status; /* 0: not answered yet */
    const char *type;
    char allow[64]; /* of 405 */
    char *location; /* of 201 */
    char *out;      /* from malloc */
    size_t out_len;
    struct http_page *page; /* of the dashboard's files (http_pages.h) */
};

/* Makes `n` zeroed calls for `ask` to fill in. */
struct frontier_call *http_calls(struct http_request *r,
                                 enum frontier_verb verb, size_t n);

/* Makes a call about the crawl r->name for `ask` to fill in; takes over `in`,
 * which may be NULL. Without a registry the answer is 404. */
struct crawls_call *http_crawl_call(struct http_request *r,
                                    enum crawls_verb verb, json_t *in);

/* Makes a call about the filter r->name for `ask` to fill in. Without a shelf
 * the answer is 404. */
struct shelf_call *http_shelf_call(struct http_request *r,
                                   enum shelf_verb verb);

/* ---- answers; the first one counts ---- */

/* Options for writing JSON: 0.2, not 0.20000000000000001. */
#define HTTP_JSON (JSON_COMPACT | JSON_REAL_PRECISION(9))

/* Takes over `j`. */
void http_answer(struct http_request *r, unsigned status, json_t *j);
/* Takes over `text`, which is from malloc. */
void http_answer_text(struct http_request *r, const char *type, char *text,
                      size_t len);
void http_problem(struct http_request *r, unsigned status, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* If the frontier returned an error, answers with it and returns true. */
bool http_failed(struct http_request *r, enum status st);
/* Answers a delete by the frontier with {"deleted": N}. */
void http_reply_deleted(struct http_request *r);

/* ---- the server's, for /metrics and /healthz ---- */

struct http_stats {
    unsigned connections;
    uint64_t closed[PLACE_ENDS_]; /* connections, by us */
    bool stopping;
};
void http_server_get_stats(struct http_server *s, struct http_stats *out);
bool http_server_is_stopping(struct http_server *s);
const struct http_counters *http_server_tally(const struct http_server *s);
/* NULL: it has none. */
struct frontier_service *http_server_frontier(struct http_server *s);
const struct http_options *http_server_options(const struct http_server *s);

/* ---- the routes; each table ends with path NULL ---- */

extern const struct http_route http_routes[];        /* (http_api.c) */
extern const struct http_route http_queue_routes[];  /* (http_api.c) */
extern const struct http_route http_crawl_routes[];  /* (http_crawls.c) */
extern const struct http_route http_filter_routes[]; /* (http_filters.c) */
extern const struct http_route http_shard_routes[];  /* (http_api.c) */

/* (http_pages.c) */
void http_ask_metrics(struct http_request *r);
void http_ask_health(struct http_request *r);

/* ---- finds the route of a request and reads its parameters ----
 *
 * A path may have names in it, "/v1/crawls/{crawl}/pause": any text up to the
 * next '/', not empty, percent-decoded. The document at /openapi.json names
 * the same paths (tests/unit/service/http/test_http_pages.c).
 */

/* The tables of all files; ends with NULL. */
extern const struct http_route *const http_route_tables[];

/* Finds r->route; otherwise answers with 404, or with 405 and the methods of
 * the path. */
void http_route_find(struct http_request *r, const char *method);
/* Reads the query into r->in and the name in the path into r->name; answers 400
 * if one cannot be read, or if there is a query and the route takes a body. */
void http_route_read(struct http_request *r);

/* Reads the members of `object`, which is r->in or a part of it. `at`: its
 * index in an array, or -1. False: the request has been answered. */
bool http_members(struct http_request *r, json_t *object, long at,
                  const struct http_member *m, size_t n);

/* ---- counts of requests by group of paths and class of status ----
 *
 * A group is the first name in a path, or the one after /v1/: few enough to be
 * labels, whatever callers request. Requests without a route are in the group
 * "none". Threads: the server's writes, any may read.
 */

struct http_route;

#define HTTP_GROUPS  24
#define HTTP_CLASSES 6 /* first digits of status */

struct http_counters {
    char names[HTTP_GROUPS][24];
    unsigned count;
    _Atomic uint64_t classes[HTTP_GROUPS][HTTP_CLASSES];
    struct histogram took[HTTP_GROUPS];
};

/* Adds a table of routes, whose last route has no path; *t must be zero before
 * the first table. */
void http_counters_init(struct http_counters *t,
                        const struct http_route *routes);

/* ---- a request's body that becomes a file: a filter made elsewhere ----
 *
 * It is written beside the named filters under a name of its own, and removed
 * with the request. Only the server's thread calls.
 */

struct http_request;
struct http_upload;

/* Octets such a body may have. */
uint64_t http_upload_most(const struct http_request *r);
/* Makes r->upload, or answers with an error. */
void http_upload_begin(struct http_request *r);
/* False: the body is too long. Errors of the disk are kept until the end. */
bool http_upload_write(struct http_upload *u, const char *data, size_t len);
/* Removes the file. NULL is fine. */
void http_upload_free(struct http_upload *u);

/* ---- GET /v1/events: stats, once a second ----
 *
 * Server-sent events (WHATWG HTML, section 9.2). All watchers get the same
 * event, which is made once; a watcher that does not read misses events, and
 * holds only the one it began to read.
 */

#define HTTP_WATCHERS_MOST 200

struct http_events;
struct http_watcher;
struct MHD_Response;

struct http_events *http_events_new(struct http_server *s);
/* Call it when there are no watchers any more. NULL is fine. */
void http_events_free(struct http_events *v);
/* Called at each beat of the pump: makes the next event. */
void http_events_beat(void *events);

void http_events_ask(struct http_request *r);
/* A response that takes over the watcher; NULL: no memory. */
struct MHD_Response *http_events_response(struct http_watcher *w);
void http_watcher_free(struct http_watcher *w); /* NULL is fine */

/* ---- long answers: explain, audit, status and export of a crawl ----
 *
 * A report runs on its own thread and writes into a pipe, from which the answer
 * is read as the client reads it; so it does not hold up other requests, and
 * needs only the memory of a pipe. When the client leaves, or shuts down its
 * side of the connection, the pipe is closed, which ends the report, whether it
 * is writing or not. At most HTTP_REPORTS_MOST run at once.
 *
 * A report that fails before its first octet is answered with a problem; one
 * that fails later is cut off, which the client can tell.
 */

#define HTTP_REPORTS_MOST 4

struct http_export;
struct MHD_Response;

/* For routes whose `how` is the kind of report (crawls.h). */
void http_export_ask(struct http_request *r);
void http_export_reply(struct http_request *r);

/* A response that takes over the report; NULL: no memory. */
struct MHD_Response *http_export_response(struct http_export *e);

/* Crawls as JSON: the object of docs/formats/http-api.md, section Crawls.
 * Any thread. */

/* All of these, an array. NULL: there are none. */
json_t *http_crawls_json(struct crawls *crawls);

#endif
