/*
 * http_export.h - answers that are written at length: explain, audit, status
 * and export of a crawl.
 *
 * A report runs on a thread of its own and writes into a pipe, from which the
 * answer is taken as the client reads it; so neither holds up others, and a
 * report of any size takes the memory of a pipe. When the client goes, or only
 * ends its side of the connection, the pipe is closed, which ends the report,
 * whether it writes or not. At most HTTP_REPORTS_MOST run at once.
 *
 * A report that fails before its first octet is a problem; later, the answer
 * is cut off without its end, which a client sees.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_EXPORT_H
#define URLWEIR_SERVICE_HTTP_HTTP_EXPORT_H

#include "service/http/http_request.h"

#define HTTP_REPORTS_MOST 4

struct http_export;
struct MHD_Response;

/* Of routes whose `how` is what to report (crawls.h). */
void http_export_ask(struct http_request *r);
void http_export_reply(struct http_request *r);

/* The request sleeps until there is something to reply with. False: it is not
 * to sleep any more, but to reply. */
bool http_export_wait(struct http_export *e);
/* The answer that takes it over; NULL: there is no memory for it. */
struct MHD_Response *http_export_response(struct http_export *e);
void http_export_free(struct http_export *e); /* NULL is fine */

#endif
