/*
 * kafka_client.h - a handle of librdkafka, and what its errors mean.
 *
 * For the other files of this module, and their tests.
 */
#ifndef URLWEIR_BASE_KAFKA_KAFKA_CLIENT_H
#define URLWEIR_BASE_KAFKA_KAFKA_CLIENT_H

#include <librdkafka/rdkafka.h>

#include "base/kafka/kafka.h"

/* Stays where it is while it is open; zeroed before. */
struct kafka_client {
    rd_kafka_t *rk;
    /* Set before it is opened, or NULL: a consumer's, called with the client. */
    void (*rebalance)(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                      rd_kafka_topic_partition_list_t *list, void *client);
    bool admitted; /* brokers have let us in, so that trouble will pass */
    /* why the last connection failed, which calls that time out do not tell */
    rd_kafka_resp_err_t trouble;
    char trouble_text[256];
};

/* `set`: name, value, ..., NULL; these win over the caller's properties. */
MUST_CHECK enum status kafka_client_open(struct kafka_client *c,
                                         const struct kafka_access *a,
                                         rd_kafka_type_t type,
                                         const char *const *set,
                                         struct buf *why);
void kafka_client_close(struct kafka_client *c); /* zeroed is fine */

/* What an error means for who gets it. An error that no line of the table
 * names will pass: STATUS_AGAIN. */
enum status kafka_error_sort(rd_kafka_resp_err_t err);
/* Puts the error's text into `why`. For a call that timed out it is why no
 * broker could be reached; if none has been yet, that may be a matter of a
 * password. */
MUST_CHECK enum status kafka_client_judge(struct kafka_client *c,
                                          rd_kafka_resp_err_t err,
                                          const char *text, struct buf *why);
/* What the brokers say of a topic now; without an error, how many partitions it
 * has. */
rd_kafka_resp_err_t kafka_client_ask_topic(struct kafka_client *c,
                                           rd_kafka_topic_t *topic,
                                           int timeout_ms, int *partitions);

#endif
