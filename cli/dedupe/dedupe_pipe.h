/*
 * dedupe_pipe.h - batches of lines, read and digested by threads, in order.
 *
 * Parsing a URL costs as much as everything else done for a line, so several
 * threads do it: each locks the input to cut a batch off it, then parses that
 * batch while others read on. The ring between them and the owner is bounded:
 * the faster side waits.
 *
 * The owner is one thread; dedupe_pipe_stop() may be called from any.
 */
#ifndef URLWEIR_CLI_DEDUPE_DEDUPE_PIPE_H
#define URLWEIR_CLI_DEDUPE_DEDUPE_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/file/line_input.h"
#include "frontier/dedupe/dedupe.h"

struct dedupe_pipe;

struct dedupe_batch {
    struct line_batch in;
    bool valid[LINE_BATCH_LINES];            /* has a digest */
    struct digest digests[LINE_BATCH_LINES]; /* of valid lines, in order */
    size_t digest_count;
    /* Canonical forms of valid lines, in order, each with its LF, if asked for;
     * text_end has the end of each in `text`. */
    struct buf text;
    size_t text_end[LINE_BATCH_LINES];
};

struct dedupe_pipe_options {
    unsigned threads; /* at least 1 */
    bool with_text;   /* keep canonical forms */
};

/* Starts reading. `in` and `set` are borrowed and outlive the pipe; of `set`
 * only dedupe_digest() is used. STATUS_LIMIT: no thread could be started. */
MUST_CHECK enum status dedupe_pipe_start(struct dedupe_pipe **out,
                                         struct line_input *in,
                                         const struct dedupe *set,
                                         const struct dedupe_pipe_options *o);
/* Stops, waits for the threads, frees. NULL is fine. */
void dedupe_pipe_free(struct dedupe_pipe *p);

/* The next batch in the order of the input; NULL: none came within
 * `timeout_ns`, or, if *ended, none will. Valid until it is released. */
struct dedupe_batch *dedupe_pipe_next(struct dedupe_pipe *p, int64_t timeout_ns,
                                      bool *ended);
void dedupe_pipe_release(struct dedupe_pipe *p);

/* At the end: STATUS_OK, or the failure of line_input_fill(). */
enum status dedupe_pipe_status(const struct dedupe_pipe *p);

#endif
