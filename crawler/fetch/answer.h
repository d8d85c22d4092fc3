/*
 * answer.h - the head of one HTTP answer: its status and the fields we act on.
 *
 * Filled line by line as curl hands lines over. Heads of 1xx answers are
 * passed over and trailers after the body are not read (RFC 9110 sections 15.2
 * and 6.5.1: nobody may merge them who does not know them). All heads of one
 * transfer together are bounded by ANSWER_MOST. One thread at a time.
 */
#ifndef URLWEIR_CRAWLER_FETCH_ANSWER_H
#define URLWEIR_CRAWLER_FETCH_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

#define ANSWER_MOST ((size_t)256 << 10)

enum answer_field {
    ANSWER_CACHE_CONTROL,
    ANSWER_CONTENT_ENCODING,
    ANSWER_CONTENT_LANGUAGE,
    ANSWER_CONTENT_LENGTH,
    ANSWER_CONTENT_LOCATION,
    ANSWER_CONTENT_TYPE,
    ANSWER_DATE,
    ANSWER_ETAG,
    ANSWER_EXPIRES,
    ANSWER_LAST_MODIFIED,
    ANSWER_LINK,
    ANSWER_LOCATION,
    ANSWER_REFRESH,
    ANSWER_RETRY_AFTER,
    ANSWER_TRANSFER_ENCODING,
    ANSWER_X_ROBOTS_TAG,
    ANSWER_FIELD_COUNT_
};

struct answer {
    struct buf raw;  /* the head as it came, line ends included, but folded
                        lines made one */
    size_t received; /* octets of all heads, 1xx included */
    uint16_t status; /* 0: no status line yet */
    bool complete;   /* the empty line of a final answer's head was read */
    struct {
        uint32_t at, len; /* the first value, in raw */
        uint32_t count;
    } fields[ANSWER_FIELD_COUNT_];
};

void answer_init(struct answer *a);
void answer_fini(struct answer *a);
/* Ready for the next transfer; small memory is kept. */
void answer_clear(struct answer *a);

/* One line of a head, line end included. False: over ANSWER_MOST, or the
 * status line is none. */
bool answer_line(struct answer *a, struct bytes line);

/* The first value of a field, without white space around it; empty where
 * there is none. Valid until the next line. */
struct bytes answer_get(const struct answer *a, enum answer_field f);
/* Every value of a field, in order. */
void answer_each(const struct answer *a, enum answer_field f,
                 void (*visit)(void *ctx, struct bytes value), void *ctx);

#endif
