/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "service/net/places.h"
#include "tests/unit/storage/scratch.h"

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
static bool take(int i, const char *from)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    const struct sockaddr unix_socket = {.sa_family = AF_UNIX};

    if (from == NULL)
        return places_take(&p, &at[i], &unix_socket, 1, &gone);
    if (inet_pton(AF_INET, from, &v4.sin_addr) == 1)
        return places_take(&p, &at[i], (struct sockaddr *)&v4, 1, &gone);
    ck_assert_int_eq(inet_pton(AF_INET6, from, &v6.sin6_addr), 1);
    return places_take(&p, &at[i], (struct sockaddr *)&v6, 1, &gone);
}

/* Comes from a different address for each number. */
static bool take_from_anywhere(int i)
{
    char from[32];

    snprintf(from, sizeof from, "192.0.2.%d", i);
    return take(i, from);
}

START_TEST(the_oldest_stranger_makes_room_for_the_newest)
{
    start(8, 0); /* 6 of them for strangers */
    for (int i = 0; i < 6; i++) {
        ck_assert(take_from_anywhere(i));
        ck_assert_ptr_null(gone);
    }
    ck_assert(take_from_anywhere(6));
    ck_assert_ptr_eq(gone, &at[0]);
    places_know(&p, &at[1]);
    ck_assert(take_from_anywhere(7)); /* five strangers, one is known */
    ck_assert_ptr_null(gone);
    ck_assert(take_from_anywhere(8));
    ck_assert_ptr_eq(gone, &at[2]);
    places_leave(&p, &at[3]);
    places_leave(&p, &at[0]); /* it no longer has a place */
    ck_assert(take_from_anywhere(9));
    ck_assert_ptr_null(gone);
    ck_assert_uint_eq(places_counted(&p, PLACE_CROWDED), 2);
}
END_TEST

START_TEST(who_is_known_keeps_its_place)
{
    start(4, 0);
    for (int i = 0; i < 3; i++) {
        ck_assert(take_from_anywhere(i));
        places_know(&p, &at[i]);
    }
    for (int i = 3; i < 20; i++) {
        ck_assert(take_from_anywhere(i));
        ck_assert_ptr_eq(gone, i > 3 ? &at[i - 1] : NULL);
    }
    places_know(&p, &at[19]);
    places_know(&p, &at[19]);
    ck_assert(!take_from_anywhere(20)); /* no stranger is left */
    ck_assert_ptr_null(gone);
    ck_assert_uint_eq(places_counted(&p, PLACE_FULL), 1);
    places_leave(&p, &at[20]);
    places_leave(&p, &at[0]);
    ck_assert(take_from_anywhere(20));
    ck_assert_uint_eq(p.count, 4);
}
END_TEST

START_TEST(strangers_of_one_address_are_limited)
{
    start(64, 3);
    ck_assert(take_from_anywhere(0));
    for (int i = 1; i < 4; i++)
        ck_assert(take(i, "198.51.100.1"));
    ck_assert_ptr_null(gone);
    ck_assert(take(4, "::ffff:198.51.100.1"));
    ck_assert_ptr_eq(gone, &at[1]);
    places_know(&p, &at[2]); /* so its address holds no stranger's place */
    ck_assert(take(5, "198.51.100.1"));
    ck_assert_ptr_null(gone);
    ck_assert(take(6, "198.51.100.2"));
    ck_assert_ptr_null(gone);
    ck_assert_uint_eq(places_counted(&p, PLACE_ADDRESS), 1);
}
END_TEST

START_TEST(a_network_of_ipv6_is_one_address)
{
    start(64, 2);
    ck_assert(take(0, "2001:db8::1"));
    ck_assert(take(1, "2001:db8:0:1::1"));
    ck_assert(take(2, "2001:db8::2"));
    ck_assert_ptr_null(gone);
    ck_assert(take(3, "2001:db8::ffff:1:1:1"));
    ck_assert_ptr_eq(gone, &at[0]);
}
END_TEST

START_TEST(loopback_and_unix_sockets_speak_for_many)
{
    static const char *const from[] = {"127.0.0.1", "::1", "127.3.4.5",
                                       "::ffff:127.0.0.1", NULL};

    start(64, 2);
    for (int i = 0; i < 20; i++) {
        ck_assert(take(i, from[i % 5]));
        ck_assert_ptr_null(gone);
    }
}
END_TEST

/* Against a plain record of who is connected. */
START_TEST(random_comings_and_goings_keep_the_limits)
{
    unsigned known = 0, strangers = 0;

    start(16, 0);
    srand(7);
    for (int i = 0; i < 20000; i++) {
        struct place *one = &at[rand() % 64];

        if (one->is == PLACE_NONE) {
            if (places_take(&p, one, NULL, 1, &gone))
                strangers += gone == NULL;
            else
                ck_assert_uint_eq(known, 16);
        } else if (rand() % 2 == 0) {
            known += one->is == PLACE_STRANGER;
            strangers -= one->is == PLACE_STRANGER;
            places_know(&p, one);
        } else {
            known -= one->is == PLACE_KNOWN;
            strangers -= one->is == PLACE_STRANGER;
            places_leave(&p, one);
        }
        ck_assert_uint_eq(p.count, known + strangers);
        ck_assert_uint_eq(p.stranger_count, strangers);
        ck_assert_uint_le(p.count, 16);
        ck_assert_uint_le(strangers, 12);
    }
}
END_TEST

Suite *suite_places(void)
{
    Suite *s = suite_create("places");
    TCase *t = tcase_create("places");

    tcase_add_test(t, the_oldest_stranger_makes_room_for_the_newest);
    tcase_add_test(t, who_is_known_keeps_its_place);
    tcase_add_test(t, strangers_of_one_address_are_limited);
    tcase_add_test(t, a_network_of_ipv6_is_one_address);
    tcase_add_test(t, loopback_and_unix_sockets_speak_for_many);
    tcase_add_test(t, random_comings_and_goings_keep_the_limits);
    suite_add_tcase(s, t);
    return s;
}
