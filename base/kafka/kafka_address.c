/* SPDX-License-Identifier: MIT */
/* kafka_address.c - which Kafka cluster, which topic, how to sign in there. */
#include "base/kafka/kafka_address.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"

#define SCHEME "kafka://"

bool kafka_address_is_url(const char *text)
{
    return strncmp(text, SCHEME, sizeof SCHEME - 1) == 0;
}

/* ---- the URL ---- */

static bool is_port(struct bytes text)
{
    uint64_t n;

    return bytes_number(text, UINT16_MAX, &n) && n > 0;
}

static bool is_name(struct bytes text, const char *also)
{
    for (size_t i = 0; i < text.len; i++)
        if (!ascii_is_alnum(text.at[i]) &&
            (text.at[i] == '\0' || strchr(also, text.at[i]) == NULL))
            return false;
    return text.len > 0;
}

/* Adds HOST[:PORT]; an IPv6 address is in brackets. */
static bool add_broker(struct bytes one, struct buf *out)
{
    bool v6 = one.len > 0 && one.at[0] == '[';
    const char *end =
        one.len == 0 ? NULL : memchr(one.at, v6 ? ']' : ':', one.len);
    struct bytes host = one, port = bytes_of_str("9092");

    if (v6 && end == NULL)
        return false;
    if (end != NULL)
        host.len = (size_t)(end - one.at) + v6;
    if (host.len < one.len) {
        if (one.at[host.len] != ':')
            return false;
        port = bytes_skip(one, host.len + 1);
    }
    if (!is_port(port) ||
        !(v6 ? is_name(bytes_of(host.at + 1, host.len - 2), ":.%")
             : is_name(host, "-._")))
        return false;
    if (out->len > 0)
        buf_add_char(out, ',');
    buf_add_bytes(out, host);
    buf_add_char(out, ':');
    buf_add_bytes(out, port);
    return true;
}

static bool read_brokers(char *out, struct bytes list)
{
    struct buf brokers;
    bool good = true;

    buf_init(&brokers, KAFKA_BROKERS_MOST - 1);
    while (good) {
        const char *comma =
            list.len == 0 ? NULL : memchr(list.at, ',', list.len);
        size_t n = comma != NULL ? (size_t)(comma - list.at) : list.len;

        good = add_broker(bytes_of(list.at, n), &brokers);
        if (comma == NULL)
            break;
        list = bytes_skip(list, n + 1);
    }
    good &= buf_failed(&brokers) == STATUS_OK;
    if (good)
        memcpy(out, buf_str(&brokers), brokers.len + 1);
    buf_fini(&brokers);
    return good;
}

static bool read_topic(char *out, const char *text)
{
    struct bytes name = bytes_of_str(text);

    if (!is_name(name, "._-") || name.len > KAFKA_TOPIC_MOST ||
        bytes_is(name, ".") || bytes_is(name, ".."))
        return false;
    memcpy(out, name.at, name.len + 1);
    return true;
}

enum status kafka_address_read(struct kafka_address *out, const char *text,
                               struct buf *why)
{
    const char *hosts = text + sizeof SCHEME - 1, *slash;
    struct kafka_address a = {.topic = ""};

    if (!kafka_address_is_url(text) || (slash = strchr(hosts, '/')) == NULL)
        buf_add_str(why, "it takes kafka://HOST[:PORT][,HOST[:PORT]...]/TOPIC");
    else if (memchr(hosts, '@', (size_t)(slash - hosts)) != NULL)
        buf_add_str(why, "a login is given by --kafka-property, as "
                         "sasl.username=NAME and sasl.password=PASSWORD");
    else if (!read_brokers(a.brokers, bytes_of(hosts, (size_t)(slash - hosts))))
        buf_add_str(why, "its brokers are not HOST[:PORT][,HOST[:PORT]...]");
    else if (!read_topic(a.topic, slash + 1))
        buf_add_str(why, "the name of a topic takes at most 249 letters, "
                         "digits, '.', '_' and '-'");
    else {
        *out = a;
        return STATUS_OK;
    }
    return STATUS_FORMAT;
}

/* ---- properties ---- */

static const struct {
    const char *name;
    bool is_file;
} taken[] = {
    {"security.protocol", false},
    {"sasl.mechanism", false},
    {"sasl.mechanisms", false},
    {"sasl.username", false},
    {"sasl.password", false},
    {"enable.ssl.certificate.verification", false},
    {"ssl.endpoint.identification.algorithm", false},
    {"ssl.ca.location", true},
    {"ssl.ca.pem", false},
    {"ssl.certificate.location", true},
    {"ssl.certificate.pem", false},
    {"ssl.key.location", true},
    {"ssl.key.pem", false},
    {"ssl.key.password", false},
    {"ssl.keystore.location", true},
    {"ssl.keystore.password", false},
    {"ssl.crl.location", true},
    {"ssl.cipher.suites", false},
    {"ssl.curves.list", false},
    {"ssl.sigalgs.list", false},
    {"broker.address.family", false},
    {"client.id", false},
    {"client.rack", false},
    {"compression.type", false},
};
#define TAKEN (sizeof taken / sizeof *taken)

/* The row of taken[], or TAKEN; *value is behind the '='. */
static size_t find(const char *property, const char **value)
{
    size_t n = strcspn(property, "="), i = 0;

    *value = property[n] == '=' ? property + n + 1 : NULL;
    while (i < TAKEN && !bytes_is(bytes_of(property, n), taken[i].name))
        i++;
    return i;
}

const char *kafka_property_file(const char *property)
{
    const char *value;
    size_t i = find(property, &value);

    return i < TAKEN && taken[i].is_file ? value : NULL;
}

/* GSSAPI, librdkafka's default, starts a program, kinit. */
static bool is_known_mechanism(const char *value)
{
    return strcmp(value, "PLAIN") == 0 || strcmp(value, "SCRAM-SHA-256") == 0 ||
           strcmp(value, "SCRAM-SHA-512") == 0;
}

enum status kafka_properties_check(const struct kafka_properties *p,
                                   struct buf *why)
{
    bool sasl = false, mechanism = false;

    for (size_t i = 0; i < p->count; i++) {
        const char *value;
        size_t row = find(p->item[i], &value);

        if (row == TAKEN || value == NULL) {
            buf_addf(why, "'%.*s': %s", (int)strcspn(p->item[i], "="),
                     p->item[i],
                     row == TAKEN ? "only properties of librdkafka that tell "
                                    "of security and addresses are taken, see "
                                    "the manual"
                                  : "it takes NAME=VALUE");
            return STATUS_ARG;
        }
        if (strcmp(taken[row].name, "security.protocol") == 0)
            sasl = strncasecmp(value, "sasl", 4) == 0;
        if (strncmp(taken[row].name, "sasl.mechanism", 14) != 0)
            continue;
        mechanism = is_known_mechanism(value);
        if (!mechanism) {
            buf_addf(why,
                     "'%s': it takes PLAIN, SCRAM-SHA-256 or "
                     "SCRAM-SHA-512",
                     taken[row].name);
            return STATUS_ARG;
        }
    }
    if (sasl && !mechanism) {
        buf_add_str(why, "'security.protocol': with SASL, sasl.mechanism is "
                         "needed as well");
        return STATUS_ARG;
    }
    return STATUS_OK;
}
