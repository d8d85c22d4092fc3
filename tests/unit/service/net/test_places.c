/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "service/net/listener.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

static struct places p;
static struct place at[64];
static struct place *gone;

static void start(unsigned most, unsigned address_most)
{
    scratch_quiet();
    places_init(&p, most, address_most);
    memset(at, 0, sizeof at);
}

/* `from` NULL: a Unix socket. */
static void take(int i, const char *from)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    const struct sockaddr unix_socket = {.sa_family = AF_UNIX};

    if (from == NULL) {
        gone = places_take(&p, &at[i], &unix_socket, 1);
    } else if (inet_pton(AF_INET, from, &v4.sin_addr) == 1) {
        gone = places_take(&p, &at[i], (struct sockaddr *)&v4, 1);
    } else {
        ck_assert_int_eq(inet_pton(AF_INET6, from, &v6.sin6_addr), 1);
        gone = places_take(&p, &at[i], (struct sockaddr *)&v6, 1);
    }
}

static void know(int i)
{
    gone = places_know(&p, &at[i], 1);
}

/* Comes from a different address for each number. */
static void take_from_anywhere(int i)
{
    char from[32];

    snprintf(from, sizeof from, "192.0.2.%d", i);
    take(i, from);
}

TEST(the_oldest_stranger_makes_room_for_the_newest)
{
    start(8, 0); /* 6 of them for strangers */
    for (int i = 0; i < 6; i++) {
        take_from_anywhere(i);
        ck_assert_ptr_null(gone);
    }
    take_from_anywhere(6);
    ck_assert_ptr_eq(gone, &at[0]);
    know(1);
    take_from_anywhere(7); /* five strangers, one is known */
    ck_assert_ptr_null(gone);
    take_from_anywhere(8);
    ck_assert_ptr_eq(gone, &at[2]);
    places_leave(&p, &at[3]);
    places_leave(&p, &at[0]); /* it no longer has a place */
    take_from_anywhere(9);
    ck_assert_ptr_null(gone);
    ck_assert_uint_eq(places_counted(&p, PLACE_CROWDED), 2);
}

/* Promise (The service): callers without a token, and those that say nothing or
 * send slowly or without end, keep no others out. See also
 * `tests/cli/serve-strangers.sh`,
 * `places/of_more_than_three_quarters_known_the_one_longest_idle_goes`,
 * `http_conns/half_sent_requests_and_event_streams_lock_nobody_out`,
 * `http_events/two_hundred_watch_and_one_more_ends_the_oldest`,
 * `places/strangers_of_one_address_are_limited`,
 * `grpc_peers/a_caller_keeps_its_connection_among_those_who_make_none`,
 * `grpc_peers/header_fields_without_an_end_are_cut_off`,
 * `http2_session/floods_of_frames_that_say_nothing_are_ended`,
 * `http2_session/a_flood_of_continuations_is_ended`,
 * `grpc_peers/a_connection_without_a_stream_is_closed_whatever_it_pings`,
 * `http_conns`. */
TEST(strangers_take_no_place_of_a_known_one)
{
    start(4, 0);
    for (int i = 0; i < 3; i++) {
        take_from_anywhere(i);
        know(i);
    }
    for (int i = 3; i < 20; i++) {
        take_from_anywhere(i);
        ck_assert_ptr_eq(gone, i > 3 ? &at[i - 1] : NULL);
    }
    ck_assert_uint_eq(p.count, 4);
}

/* Without tokens anybody can be known, and stay. */
TEST(of_more_than_three_quarters_known_the_one_longest_idle_goes)
{
    start(8, 0); /* 6 of them for known ones */
    for (int i = 0; i < 6; i++) {
        take_from_anywhere(i);
        know(i);
        ck_assert_ptr_null(gone);
    }
    know(5);                /* again: it is one */
    places_use(&p, &at[0]); /* carried out */
    places_use(&p, &at[1]);
    places_rest(&at[1]); /* and answered */
    take_from_anywhere(6);
    ck_assert_ptr_null(gone);
    know(6);
    ck_assert_ptr_eq(gone, &at[2]);
    for (int i = 0; i < 6; i++)
        if (i != 2)
            places_use(&p, &at[i]);
    take_from_anywhere(7);
    know(7);
    ck_assert_ptr_eq(gone, &at[6]); /* the only idle one */
    places_use(&p, &at[7]);
    take_from_anywhere(8);
    know(8);
    ck_assert_ptr_eq(gone, &at[0]); /* all are busy */
    ck_assert_uint_eq(p.count, 6);
    ck_assert_uint_eq(places_counted(&p, PLACE_FULL), 3);
}

TEST(strangers_of_one_address_are_limited)
{
    start(64, 3);
    take_from_anywhere(0);
    for (int i = 1; i < 4; i++)
        take(i, "198.51.100.1");
    ck_assert_ptr_null(gone);
    take(4, "::ffff:198.51.100.1");
    ck_assert_ptr_eq(gone, &at[1]);
    know(2); /* so its address holds no stranger's place */
    take(5, "198.51.100.1");
    ck_assert_ptr_null(gone);
    take(6, "198.51.100.2");
    ck_assert_ptr_null(gone);
    ck_assert_uint_eq(places_counted(&p, PLACE_ADDRESS), 1);
}

TEST(a_network_of_ipv6_is_one_address)
{
    start(64, 2);
    take(0, "2001:db8::1");
    take(1, "2001:db8:0:1::1");
    take(2, "2001:db8::2");
    ck_assert_ptr_null(gone);
    take(3, "2001:db8::ffff:1:1:1");
    ck_assert_ptr_eq(gone, &at[0]);
}

/* Against a plain record of who is connected. */
TEST(random_comings_and_goings_keep_the_limits)
{
    enum { AWAY, STRANGER, KNOWN } is[64] = {AWAY};

    start(16, 0);
    srand(7);
    for (int i = 0; i < 20000; i++) {
        unsigned n = (unsigned)rand() % 64, count[3] = {0};

        gone = NULL;
        if (is[n] == AWAY) {
            take((int)n, NULL);
            is[n] = STRANGER;
        } else if (rand() % 2 == 0) {
            know((int)n);
            is[n] = KNOWN;
            if (rand() % 2 == 0)
                places_use(&p, &at[n]);
        } else {
            places_leave(&p, &at[n]);
            is[n] = AWAY;
        }
        places_rest(&at[rand() % 64]);
        if (gone != NULL) {
            ck_assert_ptr_ne(gone, &at[n]);
            ck_assert_int_eq(is[gone - at], is[n]); /* of the same kind */
            is[gone - at] = AWAY;
        }
        for (size_t k = 0; k < 64; k++)
            count[is[k]]++;
        ck_assert_uint_eq(p.count, count[STRANGER] + count[KNOWN]);
        ck_assert_uint_eq(p.stranger_count, count[STRANGER]);
        ck_assert_uint_le(p.count, 16);
        ck_assert_uint_le(count[STRANGER], 12);
        ck_assert_uint_le(count[KNOWN], 12);
    }
}
