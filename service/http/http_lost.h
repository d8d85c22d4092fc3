/*
 * http_lost.h - leases whose answer did not get through: given back at once.
 *
 * A caller who leaves between asking for URLs and being told of them does not
 * know what it holds, and nobody else would be given it until the hold is over.
 * Whether an answer was read cannot be known (RFC 9112 has no acknowledgement),
 * only that it was not sent in full, or that the caller had closed its side
 * before. Such a caller gets none, though it might still read: a URL that is
 * given back must not be told as well.
 *
 * On the server's thread.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_LOST_H
#define URLWEIR_SERVICE_HTTP_HTTP_LOST_H

#include <stdbool.h>

#include "service/http/http_request.h"

/* Did it lease URLs? */
bool http_holds_leases(const struct http_request *r);
/* Has the caller closed the connection, or its side of it? */
bool http_caller_has_left(const struct http_request *r);
/* Hands the calls that give back to the frontier; they outlive the request, not
 * the server, which waits for them. What the frontier does not take now stays
 * until the hold is over. */
void http_give_back(struct http_request *r);

#endif
