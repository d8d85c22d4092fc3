/*
 * http_lost.h - gives back leases whose answer was not delivered.
 *
 * A caller that leaves between asking for URLs and getting them does not know
 * what it has leased, and no other caller would get those URLs until the leases
 * end. We cannot know whether an answer was read (RFC 9112 has no
 * acknowledgement), only that it was not sent in full, or that the caller had
 * closed its side before. Such a caller gets no URLs, though it might still
 * read: a URL that is given back must not be delivered as well.
 *
 * Threads: the server's.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_LOST_H
#define URLWEIR_SERVICE_HTTP_HTTP_LOST_H

#include <stdbool.h>

#include "service/http/http_request.h"

/* Did the request lease URLs? */
bool http_holds_leases(const struct http_request *r);
/* Has the caller closed the connection, or its side of it? */
bool http_caller_has_left(const struct http_request *r);
/* Submits calls to the frontier that give the leases back; they outlive the
 * request, and the server waits for them. Leases that the frontier cannot take
 * now last until they end. */
void http_give_back(struct http_request *r);

#endif
