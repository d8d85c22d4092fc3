/*
 * warc_head.h - HTTP heads in the form for WARC records.
 *
 * Pure functions over the octets of a head; see warc_capture.h for what is
 * changed and why. Any thread.
 */
#ifndef URLWEIR_CRAWLER_ARCHIVE_WARC_HEAD_H
#define URLWEIR_CRAWLER_ARCHIVE_WARC_HEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/* The body that follows the head. */
struct warc_body {
    uint64_t length;
    bool none;    /* the response has no body by its nature: 204, 304 */
    bool decoded; /* it is in no content encoding, whatever the head says */
};

/* Appends the head of a response, corrected, with its empty line. `changed`
 * gets the fields that were removed or altered, as received, separated by ";
 * ". */
void warc_response_head(struct bytes raw, const struct warc_body *body,
                        struct buf *out, struct buf *changed);

/* Appends the head of a request, as HTTP/1.1. */
void warc_request_head(struct bytes raw, struct buf *out);

#endif
