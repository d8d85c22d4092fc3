/*
 * mime.h - media types: of a response, against a list, and of unlabelled bytes.
 *
 * No state; any thread.
 */
#ifndef URLWEIR_CRAWLER_FETCH_MIME_H
#define URLWEIR_CRAWLER_FETCH_MIME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

#define MIME_SIZE 128 /* room for type/subtype (RFC 6838 section 4.2: 127) */

/* Writes the type of a Content-Type value, lower case and without parameters,
 * into `out`, and returns it there; empty if the value has none (MIME Sniffing
 * Standard, "parse a MIME type", as far as the essence goes), or one of those
 * that say nothing and are sniffed as if it had none. */
struct bytes mime_essence(struct bytes content_type, char out[MIME_SIZE]);

/* Is `essence` on the list? "text/" matches all types of that family,
 * "text/html" only itself. An empty list accepts everything. */
bool mime_accepted(struct bytes essence, const char *const *list, size_t count);

bool mime_is_html(struct bytes essence);
/* text/xml, application/xml or any +xml (MIME Sniffing Standard, "XML MIME
 * type"). */
bool mime_is_xml(struct bytes essence);

/* The type of a body without one: text/html or text/xml by how it begins, as
 * that is read for links (MIME Sniffing Standard section 7.1, the tables of
 * tags and of <?xml); else empty. Static. */
struct bytes mime_sniff(struct bytes body);

#endif
