/*
 * http_export.h - long answers: explain, audit, status and export of a crawl.
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
#ifndef URLWEIR_SERVICE_HTTP_HTTP_EXPORT_H
#define URLWEIR_SERVICE_HTTP_HTTP_EXPORT_H

#include "service/http/http_request.h"

#define HTTP_REPORTS_MOST 4

struct http_export;
struct MHD_Response;

/* For routes whose `how` is the kind of report (crawls.h). */
void http_export_ask(struct http_request *r);
void http_export_reply(struct http_request *r);

/* Lets the request sleep until there is something to reply. False: it must not
 * sleep any more, but reply. */
bool http_export_wait(struct http_export *e);
/* A response that takes over the report; NULL: no memory. */
struct MHD_Response *http_export_response(struct http_export *e);
void http_export_free(struct http_export *e); /* NULL is fine */

#endif
