/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_calls.c - the calls of the URLFrontier API that change the
 * frontier, answered as its reference service does (`contract_2_...`;
 * docs/decisions/service-store.md). `ours_` tests cover what the contract
 * leaves open.
 */
#include "tests/unit/service/service_rig.h"

#define NOW_S ((uint64_t)(RIG_NOW / 1000))

/* ---- put ---- */

TEST(contract_2_a_discovered_url_is_ok_once_and_skipped_ever_after)
{
    struct service_rig r;

    service_make(&r);
    SAME(discover(&r, "c", "k", "http://h/1"), FRONTIER_ACK_OK);
    SAME(discover(&r, "c", "k", "http://h/1"), FRONTIER_ACK_SKIPPED);
    SAME(know(&r, "c", "k", "http://h/1", 0), FRONTIER_ACK_OK);
    SAME(discover(&r, "c", "k", "http://h/1"), FRONTIER_ACK_SKIPPED);
    ck_assert_str_eq(get_urls(&r, "c", "k", 10, 10, 30), "");
    service_fini(&r);
}

TEST(contract_2_a_known_url_replaces_date_and_metadata_and_may_be_new)
{
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_URL_STATUS);
    struct frontier_item item = {.kind = FRONTIER_ITEM_KNOWN,
                                 .crawl = text("c"),
                                 .key = text("k"),
                                 .url = text("http://h/1"),
                                 .metadata = text("old"),
                                 .refetch_s = NOW_S + 100};

    service_make(&r);
    SAME(put_item(&r, item), FRONTIER_ACK_OK);
    ck_assert_str_eq(get_urls(&r, "c", "k", 1, 1, 30), "");
    pass(&r, 5000);
    item.metadata = text("new");
    item.refetch_s = NOW_S - 1000; /* in the past: due at once */
    SAME(put_item(&r, item), FRONTIER_ACK_OK);
    call.in.crawl = item.crawl;
    call.in.key = item.key;
    call.in.url = item.url;
    service_call(&r, &call);
    SAME(call.status, STATUS_OK);
    ck_assert(bytes_is(call.urls[0].metadata, "new"));
    SAME(call.urls[0].refetch_s, NOW_S - 1000);
    SAME(call.urls[0].created_s, NOW_S); /* updates keep it */
    ck_assert_str_eq(get_urls(&r, "c", "k", 1, 1, 30), "http://h/1");
    item.refetch_s = 0;
    SAME(put_item(&r, item), FRONTIER_ACK_OK);
    service_call(&r, &call);
    SAME(call.urls[0].refetch_s, 0);
    SAME(call.urls[0].metadata.len, 0); /* completed: none */
    SAME(call.facts.state, URL_STATE_COMPLETED);
    frontier_call_fini(&call);
    service_fini(&r);
}

/* Its holder says when the URL is worth another fetch. */
TEST(ours_completed_with_a_date_it_is_served_again_at_that_date)
{
    struct service_rig r;

    service_make(&r);
    SAME(discover(&r, "c", "k", "http://h/1"), FRONTIER_ACK_OK);
    for (unsigned i = 1; i <= 3; i++) {
        ck_assert_str_eq(get_urls(&r, "c", "k", 1, 1, 30), "http://h/1");
        SAME(know(&r, "c", "k", "http://h/1", NOW_S + 100 * i),
             FRONTIER_ACK_OK);
        SAME(get_counts(&r, "c", "k").leased, 0);
        pass(&r, 99999);
        ck_assert_str_eq(get_urls(&r, "c", "k", 1, 1, 30), "");
        if (i == 2)
            service_restart(&r);
        ck_assert_str_eq(get_urls(&r, "c", "k", 1, 1, 30), "");
        pass(&r, 1);
    }
    ck_assert_str_eq(get_urls(&r, "c", "k", 1, 1, 30), "http://h/1");
    SAME(know(&r, "c", "k", "http://h/1", 0), FRONTIER_ACK_OK);
    pass(&r, 1000000);
    ck_assert_str_eq(get_urls(&r, "c", "k", 1, 1, 30), "");
    service_fini(&r);
}

TEST(contract_2_identity_is_crawl_key_and_url_byte_by_byte)
{
    struct service_rig r;

    service_make(&r);
    SAME(discover(&r, "c", "k", "http://h/"), FRONTIER_ACK_OK);
    SAME(discover(&r, "c", "k2", "http://h/"), FRONTIER_ACK_OK);
    SAME(discover(&r, "c2", "k", "http://h/"), FRONTIER_ACK_OK);
    SAME(discover(&r, "c", "k", "HTTP://h/"), FRONTIER_ACK_OK);
    SAME(discover(&r, "c", "k", "http://h/#"), FRONTIER_ACK_OK);
    SAME(discover(&r, "c", "k", "http://h:80/"), FRONTIER_ACK_OK);
    SAME(discover(&r, "c", "k", "http://h/"), FRONTIER_ACK_SKIPPED);
    service_fini(&r);
}

TEST(contract_2_items_that_say_nothing_or_have_no_key_are_skipped)
{
    struct service_rig r;
    struct frontier_item neither = {.url = text("http://h/"), .key = text("k")};
    char key[257];

    service_make(&r);
    SAME(put_item(&r, neither), FRONTIER_ACK_SKIPPED);
    SAME(discover(&r, "c", "", "/no/host"), FRONTIER_ACK_SKIPPED);
    SAME(discover(&r, "c", "", "http:///path"), FRONTIER_ACK_SKIPPED);
    SAME(discover(&r, "c", "", ""), FRONTIER_ACK_SKIPPED);
    memset(key, 'k', 256);
    key[256] = '\0';
    SAME(discover(&r, "c", key, "http://h/"), FRONTIER_ACK_SKIPPED);
    key[255] = '\0'; /* 255 octets are accepted */
    SAME(discover(&r, "c", key, "http://h/"), FRONTIER_ACK_OK);
    SAME(get_counts(&r, "c", "").active, 1);
    service_fini(&r);
}

TEST(contract_2_an_empty_url_with_a_key_is_taken_and_served)
{
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_GET);

    service_make(&r);
    SAME(discover(&r, "c", "k", ""), FRONTIER_ACK_OK);
    call.in.get = (struct frontier_get){.any_crawl = true};
    service_call(&r, &call);
    SAME(call.url_count, 1);
    SAME(call.urls[0].url.len, 0);
    ck_assert(bytes_is(call.urls[0].key, "k"));
    frontier_call_fini(&call);
    service_fini(&r);
}

/* Only the message limits its length, whatever its form. */
TEST(contract_2_a_url_may_be_as_long_as_a_message)
{
    enum { LENGTH = 4 << 20 };
    static const char *const fronts[] = {"http://h/", "http://", "x"};
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_GET);
    char *url = malloc(LENGTH + 1);
    size_t n = 0;

    service_make(&r);
    for (int i = 0; i < 3; i++) {
        memset(url, 'a', LENGTH);
        memcpy(url, fronts[i], strlen(fronts[i]));
        url[LENGTH] = '\0';
        SAME(discover(&r, "c", "k", url), FRONTIER_ACK_OK);
    }
    service_restart(&r);
    SAME(discover(&r, "c", "k", url), FRONTIER_ACK_SKIPPED);
    call.in.get = (struct frontier_get){.any_crawl = true};
    do {
        service_call(&r, &call);
        SAME(call.status, STATUS_OK);
        for (size_t i = 0; i < call.url_count; i++, n++)
            SAME(call.urls[i].url.len, LENGTH);
    } while (call.more);
    SAME(n, 3);
    frontier_call_fini(&call);
    service_fini(&r);
    free(url);
}

TEST(contract_2_a_batch_is_answered_in_its_order_repeats_are_skipped)
{
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_PUT);
    struct frontier_item items[4];
    static const char *const urls[] = {"http://h/1", "http://h/2", "http://h/1",
                                       "http://h/3"};

    service_make(&r);
    for (int i = 0; i < 4; i++)
        items[i] = (struct frontier_item){.kind = FRONTIER_ITEM_DISCOVERED,
                                          .key = text("k"),
                                          .url = text(urls[i])};
    call.in.put = (struct frontier_put){items, 4};
    service_call(&r, &call);
    SAME(items[0].ack, FRONTIER_ACK_OK);
    SAME(items[1].ack, FRONTIER_ACK_OK);
    SAME(items[2].ack, FRONTIER_ACK_SKIPPED);
    SAME(items[3].ack, FRONTIER_ACK_OK);
    frontier_call_fini(&call);
    service_fini(&r);
}

/* ---- get ---- */

TEST(contract_2_queues_take_turns_over_all_crawls_and_urls_go_by_date)
{
    struct service_rig r;

    service_make(&r);
    SAME(control(&r, FRONTIER_SET_DELAY, "", "", 0, NULL), STATUS_OK);
    know(&r, "a", "x", "x-late", NOW_S - 10);
    know(&r, "a", "x", "x-early", NOW_S - 20);
    discover(&r, "b", "y", "y-2nd");
    discover(&r, "b", "y", "y-1st"); /* equal dates: in order of arrival */
    discover(&r, "a", "z", "z-1");
    ck_assert_str_eq(get_urls(&r, NULL, "", 1, 2, 30), "x-early y-2nd");
    ck_assert_str_eq(get_urls(&r, NULL, "", 2, 2, 30), "z-1 x-late");
    ck_assert_str_eq(get_urls(&r, "a", "", 9, 9, 30), "");
    ck_assert_str_eq(get_urls(&r, "b", "", 9, 9, 30), "y-1st");
    service_fini(&r);
}

/* The queue is served again no sooner than d and no later than d + 1 s. */
TEST(contract_2_a_queue_waits_its_delay_and_no_longer)
{
    struct service_rig r;

    service_make(&r);
    for (int i = 0; i < 5; i++) {
        char url[16];

        snprintf(url, sizeof url, "u%d", i);
        discover(&r, "c", "k", url);
    }
    ck_assert_str_eq(get_urls(&r, "c", "", 1, 1, 900), "u0");
    pass(&r, 999); /* the default is one second */
    ck_assert_str_eq(get_urls(&r, "c", "", 2, 1, 900), "");
    pass(&r, 1);
    ck_assert_str_eq(get_urls(&r, "c", "", 2, 1, 900), "u1 u2");
    SAME(control(&r, FRONTIER_SET_DELAY, "c", "k", 7, NULL), STATUS_OK);
    pass(&r, 6999);
    ck_assert_str_eq(get_urls(&r, "c", "k", 9, 1, 900), "");
    SAME(get_counts(&r, "c", "k").leased, 3);
    pass(&r, 1);
    ck_assert_str_eq(get_urls(&r, "c", "k", 9, 1, 900), "u3 u4");
    service_fini(&r);
}

TEST(ours_a_clock_set_back_makes_nothing_wait_longer_than_its_delay)
{
    struct service_rig r;

    service_make(&r);
    discover(&r, "c", "k", "u0");
    discover(&r, "c", "k", "u1");
    ck_assert_str_eq(get_urls(&r, "c", "", 1, 1, 900), "u0");
    pass(&r, -3600000);
    SAME(discover(&r, "c", "k2", "u2"), FRONTIER_ACK_OK);
    ck_assert_str_eq(get_urls(&r, "c", "", 9, 0, 900), "u2"); /* due at once */
    pass(&r, 1000);
    ck_assert_str_eq(get_urls(&r, "c", "", 9, 0, 900), "u1");
    service_fini(&r);
}

TEST(contract_2_a_cap_of_two_with_two_leased_serves_nothing_of_three_three)
{
    struct service_rig r;

    service_make(&r);
    SAME(control(&r, FRONTIER_SET_DELAY, "", "", 0, NULL), STATUS_OK);
    for (int i = 0; i < 6; i++) {
        char url[16];

        snprintf(url, sizeof url, "u%d", i);
        discover(&r, "c", "k", url);
    }
    ck_assert_str_eq(get_urls(&r, "c", "", 2, 0, 30), "u0 u1");
    ck_assert_str_eq(get_urls(&r, "c", "", 2, 0, 30), "");
    ck_assert_str_eq(get_urls(&r, "c", "", 3, 0, 30), "u2 u3 u4");
    service_fini(&r);
}

TEST(contract_2_a_hold_ends_with_a_known_update_or_at_its_date)
{
    struct service_rig r;

    service_make(&r);
    SAME(control(&r, FRONTIER_SET_DELAY, "", "", 0, NULL), STATUS_OK);
    discover(&r, "c", "k", "u");
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 0), "u"); /* 0: 30 s */
    pass(&r, 29999);
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 0), "");
    pass(&r, 1);
    SAME(get_counts(&r, "c", "").leased, 0);
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 900), "u");
    SAME(know(&r, "c", "k", "u", NOW_S), FRONTIER_ACK_OK);
    SAME(get_counts(&r, "c", "").leased, 0);
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 0), "u");
    service_fini(&r);
}

TEST(contract_2_names_that_are_none_get_an_empty_answer)
{
    struct service_rig r;

    service_make(&r);
    discover(&r, "", "k", "u");
    ck_assert_str_eq(get_urls(&r, NULL, "k", 0, 0, 0), ""); /* key, no crawl */
    ck_assert_str_eq(get_urls(&r, "", "", 0, 0, 0), "");    /* "", no key */
    ck_assert_str_eq(get_urls(&r, "nobody", "", 0, 0, 0), "");
    ck_assert_str_eq(get_urls(&r, "DEFAULT", "nobody", 0, 0, 0), "");
    ck_assert_str_eq(get_urls(&r, "", "k", 0, 0, 0), "u"); /* "" and a key */
    service_fini(&r);
}

TEST(contract_2_a_node_that_is_not_active_serves_nothing)
{
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_GET_ACTIVE);

    service_make(&r);
    discover(&r, "c", "k", "u");
    SAME(control(&r, FRONTIER_SET_ACTIVE, "", "", 0, NULL), STATUS_OK);
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 0), "");
    SAME(discover(&r, "c", "k", "u2"), FRONTIER_ACK_OK); /* puts go on */
    service_call(&r, &call);
    ck_assert(!call.flag);
    SAME(control(&r, FRONTIER_SET_ACTIVE, "", "", 1, NULL), STATUS_OK);
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 0), "u u2");
    frontier_call_fini(&call);
    service_fini(&r);
}

/* The answer is larger than one part of it may be: a thousand URLs, a
 * mebibyte. */
TEST(ours_a_long_answer_comes_in_parts_and_each_url_once)
{
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_PUT);
    struct frontier_item *items = calloc(5000, sizeof *items);
    char(*urls)[16] = calloc(5000, sizeof *urls), seen[5000] = {0};
    size_t n = 0, parts = 0;

    service_make(&r);
    for (int i = 0; i < 5000; i++) {
        snprintf(urls[i], sizeof urls[i], "u%d", i);
        items[i] = (struct frontier_item){.kind = FRONTIER_ITEM_DISCOVERED,
                                          .key = text(i % 2 ? "odd" : "even"),
                                          .url = text(urls[i])};
    }
    call.in.put = (struct frontier_put){items, 5000};
    service_call(&r, &call);
    frontier_call_fini(&call);
    call = service_new(FRONTIER_GET);
    call.in.get =
        (struct frontier_get){.any_crawl = true, .max_urls_per_queue = 2400};
    do {
        service_call(&r, &call);
        parts++;
        for (size_t i = 0; i < call.url_count; i++, n++)
            SAME(seen[atoi(call.urls[i].url.at + 1)]++, 0);
    } while (call.more);
    SAME(n, 4800);
    ck_assert_uint_ge(parts, 5);
    SAME(get_counts(&r, "", "").leased, 4800);
    frontier_call_fini(&call);
    service_fini(&r);
    free(items);
    free(urls);
}

/* ---- control ---- */

TEST(contract_2_control_of_an_unknown_queue_does_nothing_but_limits_fail)
{
    struct service_rig r;
    uint64_t gone = 7;

    service_make(&r);
    SAME(control(&r, FRONTIER_SET_DELAY, "c", "k", 9, NULL), STATUS_OK);
    SAME(control(&r, FRONTIER_BLOCK_QUEUE, "c", "k", NOW_S + 9, NULL),
         STATUS_OK);
    SAME(control(&r, FRONTIER_SET_LIMIT, "c", "k", 9, NULL), STATUS_NOT_FOUND);
    SAME(control(&r, FRONTIER_DELETE_QUEUE, "c", "k", 0, &gone), STATUS_OK);
    SAME(gone, 0);
    SAME(control(&r, FRONTIER_DELETE_CRAWL, "c", "", 0, &gone), STATUS_OK);
    SAME(gone, 0);
    SAME(get_counts(&r, "c", "").queues, 0);
    service_fini(&r);
}

TEST(contract_2_a_queue_blocked_until_t_is_served_again_at_t_plus_one)
{
    struct service_rig r;

    service_make(&r);
    discover(&r, "c", "k", "u");
    SAME(control(&r, FRONTIER_BLOCK_QUEUE, "c", "k", NOW_S + 5, NULL),
         STATUS_OK);
    SAME(discover(&r, "c", "k", "u2"), FRONTIER_ACK_OK);
    pass(&r, 5999);
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 0), "");
    pass(&r, 1);
    ck_assert_str_eq(get_urls(&r, "c", "", 1, 0, 900), "u");
    SAME(control(&r, FRONTIER_BLOCK_QUEUE, "c", "k", NOW_S + 500, NULL),
         STATUS_OK);
    pass(&r, 2000);
    ck_assert_str_eq(get_urls(&r, "c", "", 9, 0, 0), "");
    SAME(control(&r, FRONTIER_BLOCK_QUEUE, "c", "k", 0, NULL), STATUS_OK);
    ck_assert_str_eq(get_urls(&r, "c", "", 9, 0, 0), "u2");
    service_fini(&r);
}

TEST(contract_2_a_limit_of_n_ends_a_queue_when_n_are_completed)
{
    struct service_rig r;

    service_make(&r);
    SAME(control(&r, FRONTIER_SET_DELAY, "", "", 0, NULL), STATUS_OK);
    discover(&r, "c", "k", "a");
    discover(&r, "c", "k", "b");
    SAME(control(&r, FRONTIER_SET_LIMIT, "c", "k", 1, NULL), STATUS_OK);
    ck_assert_str_eq(get_urls(&r, "c", "", 1, 0, 0), "a");
    know(&r, "c", "k", "a", 0);
    ck_assert_str_eq(get_urls(&r, "c", "", 1, 0, 0), "");
    SAME(control(&r, FRONTIER_SET_LIMIT, "c", "k", 0, NULL), STATUS_OK);
    ck_assert_str_eq(get_urls(&r, "c", "", 1, 0, 0), "b");
    service_fini(&r);
}

TEST(contract_2_purge_drops_what_was_created_days_ago_or_before_this_second)
{
    struct service_rig r;
    uint64_t gone;

    service_make(&r);
    discover(&r, "c", "k", "old");
    know(&r, "c", "k", "old-done", 0);
    pass(&r, 3 * 86400000);
    discover(&r, "c", "k", "new");
    SAME(control(&r, FRONTIER_PURGE_URLS, "c", "k", 4, &gone), STATUS_OK);
    SAME(gone, 0);
    SAME(control(&r, FRONTIER_PURGE_URLS, "c", "k", 2, &gone), STATUS_OK);
    SAME(gone, 2);
    SAME(control(&r, FRONTIER_PURGE_URLS, "c", "k", 0, &gone), STATUS_OK);
    SAME(gone, 0);                                        /* this very second */
    SAME(discover(&r, "c", "k", "old"), FRONTIER_ACK_OK); /* unknown again */
    pass(&r, 1000);
    SAME(control(&r, FRONTIER_PURGE_URLS, "c", "", 0, &gone), STATUS_OK);
    SAME(gone, 2);
    SAME(get_counts(&r, "c", "").active, 0);
    service_fini(&r);
}
