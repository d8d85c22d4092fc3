/*
 * kafka_address.h - which Kafka cluster, which topic, and how to sign in there.
 *
 *   kafka://HOST[:PORT][,HOST[:PORT]...]/TOPIC
 *
 * The hosts are those that are asked first; they name all others. How to sign
 * in is said by properties under librdkafka's own names, as
 * "security.protocol=SASL_SSL". Only those that tell of security and of the
 * network are taken: others would change what we promise, start programs
 * (sasl.kerberos.kinit.cmd) or load code (plugin.library.paths).
 *
 * Needs no librdkafka. Pure, any thread.
 */
#ifndef URLWEIR_BASE_KAFKA_KAFKA_ADDRESS_H
#define URLWEIR_BASE_KAFKA_KAFKA_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"

#define KAFKA_TOPIC_MOST   249 /* octets of a topic's name, Kafka's own limit */
#define KAFKA_BROKERS_MOST 1024

struct kafka_address {
    char brokers[KAFKA_BROKERS_MOST]; /* HOST:PORT,HOST:PORT */
    char topic[KAFKA_TOPIC_MOST + 1];
};

/* Properties, "NAME=VALUE" each; the caller keeps them. */
struct kafka_properties {
    const char *const *item;
    size_t count;
};

/* Is it meant as a Kafka URL: does it begin with kafka:// ? */
bool kafka_address_is_url(const char *text);
/* STATUS_FORMAT: `why` says what was expected. */
MUST_CHECK enum status kafka_address_read(struct kafka_address *out,
                                          const char *text, struct buf *why);

/* STATUS_ARG: `why` says which property cannot be taken, without its value. */
MUST_CHECK enum status kafka_properties_check(const struct kafka_properties *p,
                                              struct buf *why);
/* The file that a property names, or NULL if it names none. */
const char *kafka_property_file(const char *property);

#endif
