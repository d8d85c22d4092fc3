/* SPDX-License-Identifier: MIT */
/* test_kafka_address.c - URLs of topics, and properties of librdkafka. */
#include "base/kafka/kafka_address.h"

#include "tests/unit/unit.h"

static const struct {
    const char *url, *brokers, *topic;
} good[] = {
    {"kafka://h/pages", "h:9092", "pages"},
    {"kafka://h:1,10.0.0.2,[::1]:65535/a.b_c-9",
     "h:1,10.0.0.2:9092,[::1]:65535", "a.b_c-9"},
    {"kafka://[fe80::1%eth0]/t", "[fe80::1%eth0]:9092", "t"},
};

static const struct {
    const char *url, *why;
} bad[] = {
    {"kafka://h", "it takes kafka://HOST"},
    {"kafka://", "it takes kafka://HOST"},
    {"kafka:///t", "its brokers are not"},
    {"kafka://h,/t", "its brokers are not"},
    {"kafka://h:/t", "its brokers are not"},
    {"kafka://h:0/t", "its brokers are not"},
    {"kafka://h:65536/t", "its brokers are not"},
    {"kafka://h:000001/t", "its brokers are not"},
    {"kafka://h h/t", "its brokers are not"},
    {"kafka://[::1/t", "its brokers are not"},
    {"kafka://[::1]9/t", "its brokers are not"},
    {"kafka://u:p@h/t", "a login is given by --kafka-property"},
    {"kafka://h/", "the name of a topic"},
    {"kafka://h/..", "the name of a topic"},
    {"kafka://h/a/b", "the name of a topic"},
    {"kafka://h/a?b", "the name of a topic"},
    {"kafka://h/\303\244", "the name of a topic"},
};

static struct buf why;

static void begin(void)
{
    buf_init(&why, 1000);
}

static void end(void)
{
    buf_fini(&why);
}

FIXTURE(begin, end);

TEST_EACH(a_url_names_brokers_and_a_topic, good)
{
    struct kafka_address a;

    ck_assert(kafka_address_is_url(good[_i].url));
    ck_ok(kafka_address_read(&a, good[_i].url, &why));
    ck_assert_str_eq(a.brokers, good[_i].brokers);
    ck_assert_str_eq(a.topic, good[_i].topic);
}

TEST_EACH(what_is_no_such_url_is_refused_with_a_reason, bad)
{
    struct kafka_address a;

    ck_assert_int_eq(kafka_address_read(&a, bad[_i].url, &why), STATUS_FORMAT);
    ck_assert_msg(strstr(buf_str(&why), bad[_i].why) != NULL, "%s: %s",
                  bad[_i].url, buf_str(&why));
}

TEST(names_may_be_as_long_as_kafka_takes_them)
{
    struct kafka_address a;
    char url[2048] = "kafka://h/";

    memset(url + 10, 't', 249);
    ck_ok(kafka_address_read(&a, url, &why));
    ck_assert_uint_eq(strlen(a.topic), 249);
    url[259] = 't';
    ck_assert_int_eq(kafka_address_read(&a, url, &why), STATUS_FORMAT);
    memset(url + 8, 'h', 1500);
    url[1508] = '/';
    url[1509] = 't';
    buf_clear(&why);
    ck_assert_int_eq(kafka_address_read(&a, url, &why), STATUS_FORMAT);
    ck_assert_ptr_nonnull(strstr(buf_str(&why), "brokers"));
}

static const struct {
    const char *first, *second, *why; /* NULL: both are taken */
} properties[] = {
    {"security.protocol=SASL_SSL", "sasl.mechanism=SCRAM-SHA-512", NULL},
    {"ssl.ca.location=/a=b", "sasl.password==", NULL},
    {"security.protocol=sasl_plaintext", "sasl.username=u",
     "sasl.mechanism is needed"},
    {"client.id=x", "sasl.mechanisms=GSSAPI", "it takes PLAIN"},
    {"client.id", "client.rack=1", "'client.id': it takes NAME=VALUE"},
    {"client.id=x", "transactional.id=y", "'transactional.id': only"},
    {"client.id=x", "plugin.library.paths=/tmp/evil.so", "only properties"},
    {"sasl.password=seen", "nothing=secret", "'nothing': only"},
    {"=x", "", "'': only"},
};

TEST_EACH(properties_that_tell_of_security_alone_are_taken, properties)
{
    const char *item[] = {properties[_i].first, properties[_i].second};
    const struct kafka_properties p = {item, 2};

    if (properties[_i].why == NULL) {
        ck_ok(kafka_properties_check(&p, &why));
        return;
    }
    ck_assert_int_eq(kafka_properties_check(&p, &why), STATUS_ARG);
    ck_assert_msg(strstr(buf_str(&why), properties[_i].why) != NULL, "%s",
                  buf_str(&why));
    ck_assert_ptr_null(strstr(buf_str(&why), "secret"));
}
