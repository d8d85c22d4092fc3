/* SPDX-License-Identifier: MIT */
/*
 * test_kafka_client.c - transactions, reading, and what errors mean, on the
 * brokers that librdkafka brings for tests. They know no settings of topics
 * and no isolation; tests/interop/kafka_lines.py has real ones.
 */
#include "base/kafka/kafka.h"

#include <string.h>

#include "tests/unit/base/kafka/kafka_mock.h"

enum { REQUEST_PRODUCE = 0, REQUEST_INIT = 22, REQUEST_END_TXN = 26 };

static struct kafka_mock mock;
static struct kafka_access at;
static struct kafka_producer *producer;
static struct buf why, got;

static void begin(void)
{
    kafka_mock_begin(&mock, "t", 1);
    at = mock.at;
    buf_init(&why, 2000);
    buf_init(&got, 10000);
    ck_ok(kafka_producer_open(&producer, &at, "id", &why));
}

static void end(void)
{
    kafka_producer_close(producer);
    kafka_mock_end(&mock);
    buf_fini(&why);
    buf_fini(&got);
}

static void fails_with(int request, rd_kafka_resp_err_t err)
{
    rd_kafka_mock_push_request_errors(mock.cluster, (int16_t)request, 1, err);
}

static enum status sends(const char *key, const char *value)
{
    return kafka_producer_send(producer, "t", 0, bytes_of_str(key),
                               bytes_of_str(value), &why);
}

static void starts(void)
{
    ck_ok(kafka_producer_init(producer, WAIT_MS, &why));
    ck_ok(kafka_producer_begin(producer, &why));
}

static enum status add(void *ctx, const struct kafka_message *m)
{
    (void)ctx;
    buf_add_bytes(&got, m->key);
    buf_add_char(&got, '=');
    buf_add_bytes(&got, m->value);
    buf_add_char(&got, ' ');
    return STATUS_OK;
}

static enum status read_all(int timeout_ms)
{
    struct kafka_reader *r = NULL;
    enum status st;

    ck_ok(kafka_reader_open(&r, &at, "t", 0, KAFKA_BEGINNING, &why));
    st = kafka_reader_read_all(r, KAFKA_END_HIGH, timeout_ms, add, NULL, &why);
    kafka_reader_close(r);
    return st;
}

static void reads(const char *want)
{
    buf_clear(&got);
    ck_ok(read_all(WAIT_MS));
    ck_assert_str_eq(buf_str(&got), want);
}

FIXTURE(begin, end);
TIMEOUT(120);

TEST(what_was_committed_is_read_to_the_end)
{
    reads("");
    starts();
    ck_ok(sends("k", "1"));
    ck_ok(sends("l", "2"));
    ck_ok(kafka_producer_commit(producer, WAIT_MS, &why));
    ck_ok(kafka_producer_begin(producer, &why));
    ck_ok(sends("k", ""));
    ck_ok(kafka_producer_commit(producer, WAIT_MS, &why));
    reads("k=1 l=2 k= ");
}

TEST(a_transaction_may_be_given_up_and_another_begun)
{
    starts();
    ck_ok(sends("k", "1"));
    ck_ok(kafka_producer_abort(producer, WAIT_MS, &why));
    ck_ok(kafka_producer_begin(producer, &why));
    ck_ok(sends("k", "2"));
    ck_ok(kafka_producer_commit(producer, WAIT_MS, &why));
}

TEST(a_producer_that_another_has_replaced_is_fenced)
{
    starts();
    ck_ok(sends("k", "1"));
    fails_with(REQUEST_END_TXN, RD_KAFKA_RESP_ERR_PRODUCER_FENCED);
    ck_assert_int_eq(kafka_producer_commit(producer, WAIT_MS, &why),
                     STATUS_BUSY);
    ck_assert_uint_gt(why.len, 0);
    ck_assert_int_eq(sends("k", "2"), STATUS_BUSY);
}

TEST(brokers_that_are_away_are_waited_for)
{
    enum status st;

    starts();
    ck_ok(sends("k", "1"));
    rd_kafka_mock_broker_set_down(mock.cluster, 1);
    ck_assert_int_eq(kafka_producer_commit(producer, 100, &why), STATUS_AGAIN);
    ck_assert_uint_gt(why.len, 0);
    rd_kafka_mock_broker_set_up(mock.cluster, 1);
    do
        st = kafka_producer_commit(producer, 100, &why);
    while (st == STATUS_AGAIN);
    ck_assert_int_eq(st, STATUS_OK);
}

TEST(where_nobody_listens_the_reason_is_told)
{
    struct kafka_producer *p;
    enum status st;

    at.brokers = "127.0.0.1:1";
    ck_ok(kafka_producer_open(&p, &at, "id", &why));
    do
        st = kafka_producer_init(p, 200, &why);
    while (st == STATUS_AGAIN && strstr(buf_str(&why), "refused") == NULL);
    ck_assert_int_eq(st, STATUS_AGAIN);
    kafka_producer_close(p);
    ck_assert_int_eq(read_all(300), STATUS_AGAIN);
}

TEST(a_missing_right_is_refused)
{
    fails_with(REQUEST_INIT,
               RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
    ck_assert_int_eq(kafka_producer_init(producer, WAIT_MS, &why),
                     STATUS_REFUSED);
    ck_assert_uint_gt(why.len, 0);
}

TEST(a_message_that_the_topic_does_not_take_is_refused)
{
    starts();
    fails_with(REQUEST_PRODUCE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
    ck_ok(sends("k", "1"));
    ck_assert_int_eq(kafka_producer_commit(producer, WAIT_MS, &why),
                     STATUS_REFUSED);
}

TEST(an_error_that_ends_the_producer_asks_for_another)
{
    starts();
    ck_ok(sends("k", "1"));
    fails_with(REQUEST_END_TXN, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE);
    ck_assert_int_eq(kafka_producer_commit(producer, WAIT_MS, &why),
                     STATUS_CLOSED);
    kafka_producer_close(producer);
    ck_ok(kafka_producer_open(&producer, &at, "id", &why));
    starts();
    ck_ok(sends("k", "1"));
    ck_ok(kafka_producer_commit(producer, WAIT_MS, &why));
}

static const struct {
    const char *property, *why;
} wrong[] = {
    {"compression.type=none such", "'compression.type': librdkafka"},
    {"ssl.ca.location=/nonexistent/x", "ssl.ca.location"},
    {"plugin.library.paths=x", "'plugin.library.paths': only"},
};

TEST_EACH(a_property_that_librdkafka_refuses_is_refused, wrong)
{
    const char *item[] = {wrong[_i].property, "security.protocol=ssl"};
    struct kafka_producer *p;

    at.properties = (struct kafka_properties){item, 2};
    ck_assert_int_eq(kafka_producer_open(&p, &at, "id", &why), STATUS_REFUSED);
    ck_assert_msg(strstr(buf_str(&why), wrong[_i].why) != NULL, "%s",
                  buf_str(&why));
}
