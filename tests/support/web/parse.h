/*
 * parse.h - the head of an HTTP/1.1 request (RFC 9112).
 *
 * Strict: anything that is not a request is refused with a status.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_PARSE_H
#define URLWEIR_TESTS_SUPPORT_WEB_PARSE_H

#include <stdbool.h>

#include "base/bytes.h"
#include "tests/support/web/answer.h"

#define REQUEST_HEAD_MOST ((size_t)64 << 10)

/* Octets of the first head in `in` with its empty line; 0: not complete. */
size_t request_head_length(struct bytes in, size_t scanned);

/* Fills method, target and the fields asked for; they point into `head`. *keep:
 * the client wants the connection to stay. 0: valid; else the status of the
 * refusal, after which the connection must be closed. */
int request_parse(struct bytes head, struct request *rq, bool *keep);

#endif
