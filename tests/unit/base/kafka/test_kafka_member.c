/* SPDX-License-Identifier: MIT */
/* test_kafka_member.c - each partition is owned by one member of a group. */
#include "base/kafka/kafka.h"

#include "tests/unit/base/kafka/kafka_mock.h"

enum { PARTS = 4, MEMBERS = 2, REQUEST_HEARTBEAT = 12 };

static struct kafka_mock mock;
static struct buf why;
static int owner_of[PARTS]; /* -1: nobody */
static int lost;

struct one {
    struct kafka_member *m;
    int number;
} members[MEMBERS];

static void gained(void *ctx, int partition)
{
    const struct one *o = ctx;

    ck_assert_int_eq(owner_of[partition], -1); /* never two */
    owner_of[partition] = o->number;
}

static void gives_up(void *ctx, int partition, bool was_lost)
{
    const struct one *o = ctx;

    ck_assert_int_eq(owner_of[partition], o->number);
    owner_of[partition] = -1;
    lost += was_lost;
}

static void begin(void)
{
    kafka_mock_begin(&mock, "t", PARTS);
    buf_init(&why, 2000);
    lost = 0;
    for (int i = 0; i < PARTS; i++)
        owner_of[i] = -1;
}

static void end(void)
{
    for (int i = 0; i < MEMBERS; i++)
        kafka_member_close(members[i].m);
    for (int i = 0; i < PARTS; i++)
        ck_assert_int_eq(owner_of[i], -1); /* given up by closing */
    kafka_mock_end(&mock);
    buf_fini(&why);
}

FIXTURE(begin, end);
TIMEOUT(120);

static void joins(int i)
{
    const struct kafka_owner owner = {&members[i], gained, gives_up};

    members[i].number = i;
    ck_ok(
        kafka_member_open(&members[i].m, &mock.at, "group", "t", &owner, &why));
}

static void poll_all(void)
{
    for (int i = 0; i < MEMBERS; i++) {
        enum status st = members[i].m != NULL
                             ? kafka_member_poll(members[i].m, 50, &why)
                             : STATUS_OK;

        ck_assert(st == STATUS_OK || st == STATUS_AGAIN);
    }
}

static int owned_by(int i)
{
    int n = 0;

    for (int k = 0; k < PARTS; k++)
        n += owner_of[k] == i;
    return n;
}

TEST(a_member_alone_owns_all_and_shares_with_one_that_joins)
{
    joins(0);
    while (owned_by(0) < PARTS)
        poll_all();
    joins(1);
    while (owned_by(0) != PARTS / 2 || owned_by(1) != PARTS / 2)
        poll_all();
    ck_assert_int_eq(lost, 0);
    kafka_member_close(members[0].m);
    members[0].m = NULL;
    while (owned_by(1) < PARTS)
        poll_all();
}

/* Another member may have the partitions already. */
TEST(a_member_that_the_group_has_given_up_on_is_told)
{
    joins(0);
    while (owned_by(0) < PARTS)
        poll_all();
    rd_kafka_mock_push_request_errors(mock.cluster, REQUEST_HEARTBEAT, 1,
                                      RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID);
    while (lost < PARTS)
        poll_all();
    while (owned_by(0) < PARTS)
        poll_all();
}
