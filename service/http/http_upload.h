/*
 * http_upload.h - a request's body that becomes a file: a filter made
 * elsewhere.
 *
 * It is written beside the named filters under a name of its own, and removed
 * with the request. Only the server's thread calls.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_UPLOAD_H
#define URLWEIR_SERVICE_HTTP_HTTP_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_request;
struct http_upload;

/* Octets such a body may have. */
uint64_t http_upload_most(const struct http_request *r);
/* Makes r->upload, or answers with an error. */
void http_upload_begin(struct http_request *r);
/* False: the body is too long. Errors of the disk are kept until the end. */
bool http_upload_write(struct http_upload *u, const char *data, size_t len);
/* The path of the whole file; NULL: the disk failed, and *why is a phrase. */
const char *http_upload_path(const struct http_upload *u, const char **why);
/* Removes the file. NULL is fine. */
void http_upload_free(struct http_upload *u);

#endif
