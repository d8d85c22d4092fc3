/*
 * http_events.h - GET /v1/events: stats, once a second.
 *
 * Server-sent events (WHATWG HTML, section 9.2). All watchers get the same
 * event, which is made once; a watcher that does not read misses events, and
 * holds only the one it began to read.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_EVENTS_H
#define URLWEIR_SERVICE_HTTP_HTTP_EVENTS_H

#include "service/http/http_request.h"

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

#endif
