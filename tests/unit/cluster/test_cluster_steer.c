/* SPDX-License-Identifier: MIT */
/* test_cluster_steer.c - commands to workers, and a worker whose answer fails. */
#include "cluster/cluster_steer.h"

#include <stdatomic.h>

#include "tests/unit/base/kafka/kafka_mock.h"

#define REQUEST_PRODUCE 0
#define SHARDS          2

static struct kafka_mock mock;
static struct cluster_steering *steering;
static struct buf why;
static atomic_uint performed, fails;

static bool has_shard(void *ctx, uint32_t shard)
{
    (void)ctx;
    return shard < SHARDS;
}

/* While it is at it, the brokers give its transaction up, as they do to a
 * process that stands still for a minute. Its next message is its answer: that
 * of the command is there, as it was read. */
static enum status perform(void *ctx, uint32_t shard, const char *method,
                           const char *path, json_t *body, json_t **out,
                           struct buf *reason)
{
    (void)ctx;
    (void)shard;
    (void)method;
    (void)path;
    (void)body;
    (void)reason;
    if (atomic_exchange(&fails, 0) > 0)
        rd_kafka_mock_push_request_errors(
            mock.cluster, REQUEST_PRODUCE, 1,
            RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH);
    atomic_fetch_add(&performed, 1);
    *out = json_pack("{s:i}", "dated", 1);
    return STATUS_OK;
}

static void begin(void)
{
    static const struct cluster_performer p = {.has = has_shard,
                                               .perform = perform};
    struct kafka_producer *producer;

    kafka_mock_begin(&mock, "n.control", 1);
    producer = kafka_mock_producer(&mock);
    kafka_mock_send(producer, "n.control", "shards", "2");
    kafka_mock_send(producer, "n.control", "seeds", "3");
    kafka_mock_send(producer, "n.control", "settings", "delay: 1s\n");
    kafka_mock_commit(producer);
    kafka_producer_close(producer);
    buf_init(&why, 2000);
    atomic_store(&performed, 0);
    atomic_store(&fails, 0);
    ck_ok(cluster_steering_start(&steering, &mock.at, "n", SHARDS, &p, &why));
}

static void end(void)
{
    cluster_steering_end(steering);
    kafka_mock_end(&mock);
    buf_fini(&why);
}

FIXTURE(begin, end);
TIMEOUT(120);

static enum status ask(int timeout_ms)
{
    const struct cluster_command c = {.method = "POST",
                                      .path = "/v1/crawls/crawl/refresh",
                                      .timeout_ms = timeout_ms};
    json_t *out = NULL;
    enum status st = cluster_steer_ask(&mock.at, "n", &c, &out, &why);

    if (st == STATUS_OK)
        ck_assert_int_eq(json_integer_value(json_object_get(out, "dated")),
                         SHARDS);
    json_decref(out);
    return st;
}

TEST(the_answers_of_all_shards_are_one)
{
    ck_ok(ask(WAIT_MS));
    ck_assert_uint_eq(atomic_load(&performed), SHARDS);
}

/* Its sender sends nothing any more; another one does. */
TEST(a_worker_whose_transaction_was_given_up_answers_the_next_command)
{
    ck_ok(ask(WAIT_MS));
    atomic_store(&fails, 1);
    ck_assert_int_eq(ask(3000), STATUS_AGAIN);
    ck_assert_ptr_nonnull(strstr(buf_str(&why), "no worker answers"));
    buf_clear(&why);
    ck_ok(ask(WAIT_MS));
}
