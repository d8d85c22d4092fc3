/*
 * http_events.h - GET /v1/events: what happens, once a second.
 *
 * Server-sent events (WHATWG HTML, section 9.2). All watchers are told the same
 * event, made once for all; one that does not read misses events, and holds
 * no more than the one it began to read.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_EVENTS_H
#define URLWEIR_SERVICE_HTTP_HTTP_EVENTS_H

#include "service/http/http_request.h"

#define HTTP_WATCHERS_MOST 200

struct http_events;
struct http_watcher;
struct MHD_Response;

struct http_events *http_events_new(struct http_server *s);
/* When there are no watchers any more. NULL is fine. */
void http_events_free(struct http_events *v);
/* A beat of the pump's: makes the next event. */
void http_events_beat(void *events);

void http_events_ask(struct http_request *r);
/* The answer that takes it over; NULL: there is no memory for it. */
struct MHD_Response *http_events_response(struct http_watcher *w);
void http_watcher_free(struct http_watcher *w); /* NULL is fine */

#endif
