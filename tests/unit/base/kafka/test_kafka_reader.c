/* SPDX-License-Identifier: MIT */
/*
 * test_kafka_reader.c - the messages of a partition, from an offset on. The
 * brokers for tests do not isolate transactions; tests/interop/kafka_lines.py
 * and tests/support/cluster_shards.py have real ones.
 */
#include "base/kafka/kafka.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/base/kafka/kafka_mock.h"

enum { REQUEST_FETCH = 1 };

static struct kafka_mock mock;
static struct kafka_producer *producer;
static struct kafka_reader *reader;
static struct buf why;

static void begin(void)
{
    kafka_mock_begin(&mock, "t", 1);
    producer = kafka_mock_producer(&mock);
    reader = NULL;
    buf_init(&why, 2000);
}

static void end(void)
{
    kafka_reader_close(reader);
    kafka_producer_close(producer);
    kafka_mock_end(&mock);
    buf_fini(&why);
}

FIXTURE(begin, end);
TIMEOUT(120);

static void write_numbers(int from, int to)
{
    char text[16];

    for (int i = from; i < to; i++) {
        snprintf(text, sizeof text, "%d", i);
        kafka_mock_send(producer, "t", "k", text);
    }
    kafka_mock_commit(producer);
}

/* Waits for the next message, which is number `want`. */
static void reads(int want)
{
    struct kafka_message m;
    enum status st;

    do
        st = kafka_reader_next(reader, 100, &m, &why);
    while (st == STATUS_NOT_FOUND);
    ck_assert_msg(st == STATUS_OK, "%s", buf_str(&why));
    ck_assert_int_eq(atoi(m.value.at), want);
    ck_assert_int_eq(kafka_reader_offset(reader), m.offset + 1);
}

static void reads_to_the_end(void)
{
    struct kafka_message m;

    while (!kafka_reader_is_at_end(reader))
        ck_assert_int_eq(kafka_reader_next(reader, 100, &m, &why),
                         STATUS_NOT_FOUND);
}

TEST(it_begins_at_its_offset_and_goes_on_as_messages_come)
{
    write_numbers(0, 5);
    ck_ok(kafka_reader_open(&reader, &mock.at, "t", 0, 3, &why));
    ck_assert(!kafka_reader_is_at_end(reader));
    reads(3);
    reads(4);
    reads_to_the_end();
    ck_assert_int_eq(kafka_reader_offset(reader), 5);
    write_numbers(5, 6);
    reads(5);
}

static enum status count(void *ctx, const struct kafka_message *m)
{
    int *n = ctx;

    ck_assert_int_eq(m->offset, *n);
    return ++*n == 700 ? STATUS_LIMIT : STATUS_OK;
}

TEST(all_are_visited_unless_the_visitor_ends_it)
{
    int n = 0;

    write_numbers(0, 500);
    ck_ok(kafka_reader_open(&reader, &mock.at, "t", 0, KAFKA_BEGINNING, &why));
    ck_ok(kafka_reader_read_all(reader, KAFKA_END_HIGH, WAIT_MS, count, &n,
                                &why));
    ck_assert_int_eq(n, 500);
    write_numbers(500, 1000);
    reads(500);
    n++;
    ck_assert_int_eq(kafka_reader_read_all(reader, KAFKA_END_COMMITTED, WAIT_MS,
                                           count, &n, &why),
                     STATUS_LIMIT);
}

TEST(a_silence_that_is_over_is_no_reason)
{
    int n = 0;

    write_numbers(0, 2);
    ck_assert_int_eq(rd_kafka_mock_broker_set_rtt(mock.cluster, 1, 300),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    ck_ok(kafka_reader_open(&reader, &mock.at, "t", 0, KAFKA_BEGINNING, &why));
    ck_ok(kafka_reader_read_all(reader, KAFKA_END_COMMITTED, WAIT_MS, count, &n,
                                &why));
    ck_assert_int_eq(n, 2);
    ck_assert_str_eq(buf_str(&why), "");
}

/* Messages that were deleted are lost, which has to be known. */
TEST(an_offset_that_is_not_there_is_refused)
{
    struct kafka_message m;
    enum status st;

    write_numbers(0, 3);
    ck_ok(kafka_reader_open(&reader, &mock.at, "t", 0, 17, &why));
    do
        st = kafka_reader_next(reader, 100, &m, &why);
    while (st == STATUS_NOT_FOUND && !kafka_reader_is_at_end(reader));
    ck_assert_int_eq(st, STATUS_REFUSED);
    ck_assert_ptr_nonnull(strstr(buf_str(&why), "topic t"));
}

/* It is the only one, since the mock keeps 5 MiB of a partition. */
TEST(a_message_that_is_too_long_is_skipped)
{
    char *text = xmalloc(KAFKA_MESSAGE_MOST + 1);

    memset(text, 'x', KAFKA_MESSAGE_MOST);
    text[KAFKA_MESSAGE_MOST] = '\0';
    kafka_mock_send(producer, "t", "k", text);
    kafka_mock_commit(producer);
    free(text);
    ck_ok(kafka_reader_open(&reader, &mock.at, "t", 0, 0, &why));
    reads_to_the_end();
    ck_assert_int_eq(kafka_reader_offset(reader), 1);
}

TEST(a_missing_right_is_told_at_once)
{
    int n = 0;

    write_numbers(0, 1);
    rd_kafka_mock_push_request_errors(
        mock.cluster, REQUEST_FETCH, 1,
        RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    ck_ok(kafka_reader_open(&reader, &mock.at, "t", 0, 0, &why));
    ck_assert_int_eq(kafka_reader_read_all(reader, KAFKA_END_COMMITTED, WAIT_MS,
                                           count, &n, &why),
                     STATUS_REFUSED);
    ck_assert_ptr_nonnull(strstr(buf_str(&why), "uthoriz"));
}

/* Promise (Cluster): a cluster is read from anywhere, though all workers are
 * lost with their disks: export, explain and verify give what a crawl on one
 * machine would, and a shard cannot be changed alone; a missing right, or a
 * crawl that does not exist, is reported in seconds; a copy that a kill left is
 * removed. See also `make check-cluster T=anywhere`. */
/* The brokers do not tell a reader that it may not know of a topic. What they
 * say of one that it may not read has no partitions; librdkafka 2.8 reads beyond
 * what the mock says of one that has. */
TEST(a_topic_that_is_not_there_or_hidden_is_told_before_the_wait_is_over)
{
    const struct {
        rd_kafka_resp_err_t err;
        enum status st;
        const char *says;
    } all[] = {
        {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, STATUS_REFUSED,
         "authorization"},
        {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, STATUS_NOT_FOUND,
         "there is no such topic"},
    };

    ck_assert_int_eq(rd_kafka_mock_topic_create(mock.cluster, "hidden", 0, 1),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int n = 0;

        rd_kafka_mock_topic_set_error(mock.cluster, "hidden", all[i].err);
        ck_ok(kafka_reader_open(&reader, &mock.at, "hidden", 0, KAFKA_BEGINNING,
                                &why));
        ck_assert_int_eq(kafka_reader_read_all(reader, KAFKA_END_COMMITTED,
                                               WAIT_MS, count, &n, &why),
                         all[i].st);
        ck_assert_msg(strstr(buf_str(&why), all[i].says) != NULL, "%s",
                      buf_str(&why));
        kafka_reader_close(reader);
        reader = NULL;
    }
}

TEST(brokers_that_are_away_are_waited_for)
{
    struct kafka_message m;

    write_numbers(0, 2);
    ck_ok(kafka_reader_open(&reader, &mock.at, "t", 0, 0, &why));
    reads(0);
    reads(1);
    rd_kafka_mock_broker_set_down(mock.cluster, 1);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(kafka_reader_next(reader, 50, &m, &why),
                         STATUS_NOT_FOUND);
    rd_kafka_mock_broker_set_up(mock.cluster, 1);
    write_numbers(2, 3);
    reads(2);
}

/* librdkafka keeps 100,000 at most. */
TEST(a_transaction_may_have_more_messages_than_wait_to_be_sent)
{
    int64_t found = 0;

    for (int i = 0; i < 120000; i++)
        ck_ok(kafka_producer_send(producer, "t", 0, bytes_of("", 0),
                                  bytes_of_str("x"), &why));
    kafka_mock_commit(producer);
    ck_ok(kafka_producer_find_end(producer, "t", 0, WAIT_MS, &found, &why));
    ck_assert_int_eq(found, 120000);
}
