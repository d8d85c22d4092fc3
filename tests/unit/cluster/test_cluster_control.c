/* SPDX-License-Identifier: MIT */
/*
 * test_cluster_control.c - NAME.control, whatever stands there: its records come
 * from outside.
 */
#include "cluster/cluster_control.h"

#include <stdlib.h>
#include <string.h>

#include "cluster/cluster_stats.h"
#include "frontier/url/host.h"
#include "tests/unit/base/kafka/kafka_mock.h"

static struct kafka_mock mock;
static struct kafka_producer *producer;
static struct cluster_control *control;
static struct buf why;

static void begin(void)
{
    kafka_mock_begin(&mock, "n.control", 1);
    producer = kafka_mock_producer(&mock);
    control = NULL;
    buf_init(&why, 2000);
}

static void end(void)
{
    cluster_control_close(control);
    kafka_producer_close(producer);
    kafka_mock_end(&mock);
    buf_fini(&why);
}

FIXTURE(begin, end);
TIMEOUT(120);

static void put(const char *key, const char *value)
{
    kafka_mock_send(producer, "n.control", key, value);
}

static enum status opens(void)
{
    kafka_mock_commit(producer);
    return cluster_control_open(&control, &mock.at, "n", &why);
}

static void make_crawl(void)
{
    put("shards", "2");
    put("seeds", "3");
    put("settings", "limit: 10\n");
    put("kept", "auth ");
}

static const char idle[] = "{\"idle\":true,\"sent\":1,\"received\":%d}";

static void put_idle(const char *key, int received)
{
    char text[100];

    snprintf(text, sizeof text, idle, received);
    put(key, text);
}

TEST(a_crawl_is_what_its_records_say)
{
    struct permits *p;
    enum permit_kind which;

    make_crawl();
    put("shard/1", "{\"pages\":7,\"bytes\":900,\"idle\":false}");
    put("paused", "1");
    ck_ok(opens());
    ck_assert_uint_eq(cluster_control_shards(control), 2);
    ck_assert(cluster_control_is_paused(control));
    ck_assert(bytes_is(cluster_control_settings(control), "limit: 10\n"));
    ck_assert(bytes_is(cluster_control_kept(control), "auth "));
    ck_assert_uint_eq(cluster_control_report(control, 1)->pages, 7);
    ck_assert(!cluster_control_report(control, 0)->known);
    p = cluster_control_permits(control);
    ck_assert(permits_are_limited(p) && !permits_are_spent(p, &which));
}

/* A worker that comes when all is over ends as the others did: what is left
 * may be dates alone, of a host that does not respond. */
TEST(what_hosts_that_were_given_up_leave_is_known_to_late_workers)
{
    const struct shard_report left = {.idle = true,
                                      .given_up = true,
                                      .pages = 7,
                                      .worker = "a"};
    struct buf key, value;

    buf_init(&key, 100);
    buf_init(&value, 1000);
    make_crawl();
    put_idle("shard/0", 2);
    shard_report_write(&key, &value, 1, &left);
    put(buf_str(&key), buf_str(&value));
    ck_ok(opens());
    ck_assert(cluster_stats_sum(control).given_up);
    ck_assert(!cluster_control_report(control, 0)->given_up);
    ck_assert_uint_eq(cluster_stats_sum(control).pages, 7);
    buf_fini(&key);
    buf_fini(&value);
}

TEST(it_is_over_when_all_are_idle_and_nothing_is_on_its_way)
{
    make_crawl();
    put_idle("shard/0", 2);
    put_idle("shard/1", 2);
    ck_ok(opens());
    ck_assert(!cluster_control_is_over(control)); /* 5 sent, 4 received */
    put_idle("shard/1", 3);
    kafka_mock_commit(producer);
    while (!cluster_control_is_over(control))
        ck_ok(cluster_control_poll(control, &why));
    put("paused", "1"); /* a person is about to give it more to do */
    kafka_mock_commit(producer);
    while (cluster_control_is_over(control))
        ck_ok(cluster_control_poll(control, &why));
    put("paused", "0");
    kafka_mock_commit(producer);
    while (!cluster_control_is_over(control))
        ck_ok(cluster_control_poll(control, &why));
    put("seeds/5", "1"); /* a person's */
    kafka_mock_commit(producer);
    while (cluster_control_is_over(control))
        ck_ok(cluster_control_poll(control, &why));
}

/* Promise (Cluster): the hosts of a cluster are divided by one Public Suffix
 * List and one number of partitions: a worker or topics with another are
 * refused. See also `make check-cluster`. */
/* The shard that a URL is sent to would drop it as another one's. */
TEST(hosts_are_divided_by_one_list_alone)
{
    make_crawl();
    put("suffixes", host_suffixes());
    ck_ok(opens());
    ck_ok(cluster_check_suffixes(control, &why));
    cluster_control_close(control);
    control = NULL;
    put("suffixes", "0123456789012345678901234567890123456789");
    ck_ok(opens());
    ck_assert_int_eq(cluster_check_suffixes(control, &why), STATUS_REFUSED);
    ck_assert_ptr_nonnull(strstr(buf_str(&why), "Public Suffix List"));
}

TEST(a_crawl_without_its_records_is_not_there)
{
    put("settings", "delay: 1s\n");
    put("shards", "2");
    ck_assert_int_eq(opens(), STATUS_NOT_FOUND);
}

static const char *const numbers[] = {
    "0", "-1", "4097", "2x", "", "1e3", "99999999999999999999999"};

TEST_EACH(a_number_of_shards_is_bounded, numbers)
{
    make_crawl();
    ck_ok(opens());
    cluster_control_close(control);
    control = NULL;
    put("shards", numbers[_i]);
    ck_ok(opens()); /* the first holds */
    ck_assert_uint_eq(cluster_control_shards(control), 2);
}

static const struct {
    const char *key, *value;
} hostile[] = {
    {"shard/2", "{\"pages\":5}"},
    {"shard/-1", "{\"pages\":5}"},
    {"shard/", "{}"},
    {"shard/4294967296", "{}"},
    {"shard/0", "{"},
    {"shard/0", ""},
    {"shard/0", "[1]"},
    {"shard/0", "{\"pages\":-5,\"sent\":1e99,\"idle\":\"yes\"}"},
    {"permit/2", "{\"pages\":5}"},
    {"permit/x", "{\"pages\":5}"},
    {"permit/0", "{\"pages\":5,"},
    {"seeds", "many"},
    {"seeds/1", "-1"},
    {"seeds/1", "99999999999"},
    {"settings", "]["},
    {"command/x", "{}"},
    {"answer/1/2", "x"},
    {"", "x"},
};

TEST_EACH(hostile_records_do_no_harm, hostile)
{
    put(hostile[_i].key, hostile[_i].value); /* before there is a crawl */
    make_crawl();
    put_idle("shard/0", 2);
    put_idle("shard/1", 3);
    put(hostile[_i].key, hostile[_i].value);
    put("settings", "limit: 10\n");
    put_idle("shard/0", 2);
    ck_ok(opens());
    ck_assert_uint_eq(cluster_control_report(control, 0)->sent, 1);
    ck_assert(cluster_control_is_over(control));
}
