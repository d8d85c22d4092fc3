/*
 * line_topic.h - the lines of --jsonl as messages of a Kafka topic.
 *
 * A message is a line, its key the host of the line's URL. Each line is there
 * exactly once for who reads committed messages, whatever was killed: with
 * each transaction goes its last line a second time, to the compacted topic
 * TOPIC.urlweir, where its key is the id of the crawl's store. So what is
 * committed there always tells how far TOPIC has come, and nothing has to be
 * remembered here.
 *
 * The transactional id is "urlweir-" and the store's id: two processes that run
 * copies of one directory fence each other. Statuses are those of kafka.h.
 * One thread at a time.
 */
#ifndef URLWEIR_JOB_LINE_TOPIC_H
#define URLWEIR_JOB_LINE_TOPIC_H

#include "base/buf.h"
#include "base/kafka/kafka.h"
#include "base/status.h"

struct line_topic;

/* Are the brokers there, and do the topics, made if missing, fit? */
MUST_CHECK enum status line_topic_check(const char *url,
                                        const struct kafka_properties *p,
                                        int timeout_ms, struct buf *why);

/* Connects to nothing yet, and copies what it is given. STATUS_REFUSED: not a Kafka URL. */
MUST_CHECK enum status line_topic_open(struct line_topic **out, const char *url,
                                       const struct kafka_properties *p,
                                       const char *store_id, struct buf *why);
void line_topic_close(struct line_topic *t); /* NULL is fine */

/* Ends what an earlier process left open, and sets `last` to the line that was
 * committed last, empty if there is none. Also the way on after STATUS_CLOSED.
 * STATUS_BUSY: it is a line that this line_topic has not sent. */
MUST_CHECK enum status line_topic_connect(struct line_topic *t, int timeout_ms,
                                          struct buf *last, struct buf *why);
/* Adds a line, without a line end, to the transaction. */
MUST_CHECK enum status line_topic_add(struct line_topic *t, struct bytes host,
                                      struct bytes line, struct buf *why);
/* Commits what was added. STATUS_AGAIN: not known yet, call it again. */
MUST_CHECK enum status line_topic_commit(struct line_topic *t, int timeout_ms,
                                         struct buf *why);

#endif
