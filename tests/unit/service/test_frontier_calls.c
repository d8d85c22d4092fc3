/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_calls.c - the calls of the URLFrontier API, as its reference
 * service answers them (`contract_2_...`) and where ours is better
 * (`contract_3_1_...`, by the number of the defect; docs/decisions/
 * service-store.md lists them). `ours_`: what neither says.
 */
#include "base/clock.h"
#include "tests/unit/service/service_rig.h"

#define NOW_S ((uint64_t)(RIG_NOW / 1000))

/* ---- put ---- */

START_TEST(contract_2_a_discovered_url_is_ok_once_and_skipped_ever_after)
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
END_TEST

START_TEST(contract_2_a_known_url_replaces_date_and_metadata_and_may_be_new)
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
    item.refetch_s = NOW_S - 1000; /* past: at once */
    SAME(put_item(&r, item), FRONTIER_ACK_OK);
    call.in.url = (struct frontier_url_status){item.crawl, item.key, item.url};
    service_call(&r, &call);
    SAME(call.status, STATUS_OK);
    ck_assert(bytes_is(call.urls[0].metadata, "new"));
    SAME(call.urls[0].refetch_s, NOW_S - 1000);
    SAME(call.urls[0].created_s, NOW_S); /* kept over updates */
    ck_assert_str_eq(get_urls(&r, "c", "k", 1, 1, 30), "http://h/1");
    item.refetch_s = 0;
    SAME(put_item(&r, item), FRONTIER_ACK_OK);
    service_call(&r, &call);
    SAME(call.urls[0].refetch_s, 0);
    SAME(call.urls[0].metadata.len, 0); /* completed: none */
    SAME(call.facts.state, FRONTIER_URL_COMPLETED);
    frontier_call_fini(&call);
    service_fini(&r);
}
END_TEST

START_TEST(contract_2_identity_is_crawl_key_and_url_byte_by_byte)
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
END_TEST

START_TEST(contract_2_items_that_say_nothing_or_have_no_key_are_skipped)
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
    key[255] = '\0'; /* 255 are taken */
    SAME(discover(&r, "c", key, "http://h/"), FRONTIER_ACK_OK);
    SAME(get_counts(&r, "c", "").size, 1);
    service_fini(&r);
}
END_TEST

START_TEST(contract_2_an_empty_url_with_a_key_is_taken_and_served)
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
END_TEST

/* Its length is bounded by the message only, whatever its shape. */
START_TEST(contract_2_a_url_may_be_as_long_as_a_message)
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
END_TEST

START_TEST(contract_2_a_batch_is_answered_in_its_order_repeats_are_skipped)
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
END_TEST

/* ---- get ---- */

START_TEST(contract_2_queues_take_turns_over_all_crawls_and_urls_go_by_date)
{
    struct service_rig r;

    service_make(&r);
    SAME(control(&r, FRONTIER_SET_DELAY, "", "", 0, NULL), STATUS_OK);
    know(&r, "a", "x", "x-late", NOW_S - 10);
    know(&r, "a", "x", "x-early", NOW_S - 20);
    discover(&r, "b", "y", "y-2nd");
    discover(&r, "b", "y", "y-1st"); /* equal dates: arrival */
    discover(&r, "a", "z", "z-1");
    ck_assert_str_eq(get_urls(&r, NULL, "", 1, 2, 30), "x-early y-2nd");
    ck_assert_str_eq(get_urls(&r, NULL, "", 2, 2, 30), "z-1 x-late");
    ck_assert_str_eq(get_urls(&r, "a", "", 9, 9, 30), "");
    ck_assert_str_eq(get_urls(&r, "b", "", 9, 9, 30), "y-1st");
    service_fini(&r);
}
END_TEST

/* Served again not before d and not after d + 1 s. */
START_TEST(contract_2_a_queue_waits_its_delay_and_no_longer)
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
    SAME(get_counts(&r, "c", "k").in_process, 3);
    pass(&r, 1);
    ck_assert_str_eq(get_urls(&r, "c", "k", 9, 1, 900), "u3 u4");
    service_fini(&r);
}
END_TEST

START_TEST(ours_a_clock_set_back_makes_nothing_wait_longer_than_its_delay)
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
END_TEST

START_TEST(contract_2_a_cap_of_two_with_two_held_serves_nothing_of_three_three)
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
END_TEST

START_TEST(contract_2_a_hold_ends_with_a_known_update_or_at_its_date)
{
    struct service_rig r;

    service_make(&r);
    SAME(control(&r, FRONTIER_SET_DELAY, "", "", 0, NULL), STATUS_OK);
    discover(&r, "c", "k", "u");
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 0), "u"); /* 0: 30 s */
    pass(&r, 29999);
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 0), "");
    pass(&r, 1);
    SAME(get_counts(&r, "c", "").in_process, 0);
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 900), "u");
    SAME(know(&r, "c", "k", "u", NOW_S), FRONTIER_ACK_OK);
    SAME(get_counts(&r, "c", "").in_process, 0);
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 0), "u");
    service_fini(&r);
}
END_TEST

START_TEST(contract_2_names_that_are_none_get_an_empty_answer)
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
END_TEST

START_TEST(contract_2_a_node_that_is_not_active_serves_nothing)
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
END_TEST

/* More than one part of an answer holds: a thousand URLs, a mebibyte. */
START_TEST(ours_a_long_answer_comes_in_parts_and_each_url_once)
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
    SAME(get_counts(&r, "", "").in_process, 4800);
    frontier_call_fini(&call);
    service_fini(&r);
    free(items);
    free(urls);
}
END_TEST

/* ---- control ---- */

START_TEST(contract_2_control_of_an_unknown_queue_does_nothing_but_limits_fail)
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
END_TEST

START_TEST(contract_2_a_queue_blocked_until_t_is_served_again_at_t_plus_one)
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
END_TEST

START_TEST(contract_2_a_limit_of_n_ends_a_queue_when_n_are_completed)
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
END_TEST

START_TEST(
    contract_2_purge_drops_what_was_created_days_ago_or_before_this_second)
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
    SAME(get_counts(&r, "c", "").size, 0);
    service_fini(&r);
}
END_TEST

/* ---- read ---- */

START_TEST(contract_2_status_of_what_is_unknown_is_not_found)
{
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_URL_STATUS);

    service_make(&r);
    discover(&r, "c", "", "http://h/1");
    call.in.url =
        (struct frontier_url_status){text("c"), text(""), text("http://h/1")};
    service_call(&r, &call);
    SAME(call.status, STATUS_OK);
    SAME(call.urls[0].refetch_s, NOW_S); /* the second of its discovery */
    call.in.url.url = text("http://h/2");
    service_call(&r, &call);
    SAME(call.status, STATUS_NOT_FOUND);
    call.in.url.key = text("other");
    service_call(&r, &call);
    SAME(call.status, STATUS_NOT_FOUND);
    call.in.url.crawl = text("other");
    service_call(&r, &call);
    SAME(call.status, STATUS_NOT_FOUND);
    call.in.url.key = text("");
    call.in.url.url = text("/no/key/in/here");
    service_call(&r, &call);
    SAME(call.status, STATUS_ARG);
    frontier_call_fini(&call);
    service_fini(&r);
}
END_TEST

static size_t list_size(struct service_rig *r, struct frontier_list_urls list,
                        const char *first)
{
    struct frontier_call call = service_new(FRONTIER_LIST_URLS);
    size_t n = 0;

    call.in.list = list;
    do {
        service_call(r, &call);
        ck_assert_int_eq(call.status, STATUS_OK);
        if (n == 0 && call.url_count > 0)
            ck_assert_msg(bytes_is(call.urls[0].url, first), "%.*s is not %s",
                          (int)call.urls[0].url.len, call.urls[0].url.at,
                          first);
        n += call.url_count;
    } while (call.more);
    frontier_call_fini(&call);
    return n;
}

static uint64_t count_filtered(struct service_rig *r, const char *filter,
                               bool ignore_case)
{
    struct frontier_call call = service_new(FRONTIER_COUNT_URLS);

    call.in.count = (struct frontier_count_urls){.crawl = text("c"),
                                                 .key = text(""),
                                                 .filtered = filter != NULL,
                                                 .ignore_case = ignore_case,
                                                 .filter = text(filter)};
    service_call(r, &call);
    frontier_call_fini(&call);
    return call.number;
}

START_TEST(
    contract_2_lists_have_a_hundred_start_counts_matches_filters_are_substrings)
{
    struct service_rig r;
    struct frontier_list_urls list = {.crawl = text("c"), .key = text("")};

    service_make(&r);
    for (int i = 0; i < 3000; i++) {
        char url[32], key[16];

        snprintf(url, sizeof url, "http://h/Page-%d", i);
        snprintf(key, sizeof key, "k%d", i % 3);
        discover(&r, "c", key, url);
    }
    SAME(list_size(&r, list, "http://h/Page-0"), 100);
    list.size = 5000;
    SAME(list_size(&r, list, "http://h/Page-0"), 3000);
    list.start = 2990;
    SAME(list_size(&r, list, "http://h/Page-2972"), 10);
    list = (struct frontier_list_urls){.crawl = text("c"),
                                       .key = text("k1"),
                                       .size = 50,
                                       .filtered = true,
                                       .filter = text("Page-299")};
    SAME(list_size(&r, list, "http://h/Page-2992"), 3); /* 2992 2995 2998 */
    list.start = 1;
    SAME(list_size(&r, list, "http://h/Page-2995"), 2);
    list.filter = text("page-299");
    SAME(list_size(&r, list, ""), 0);
    list.ignore_case = true;
    SAME(list_size(&r, list, "http://h/Page-2995"), 2);
    list.crawl = text("nobody");
    SAME(list_size(&r, list, ""), 0);
    SAME(count_filtered(&r, NULL, false), 3000);
    SAME(count_filtered(&r, "Page-299", false), 11);
    SAME(count_filtered(&r, "page-299", false), 0);
    SAME(count_filtered(&r, "pAGE-299", true), 11);
    service_fini(&r);
}
END_TEST

static const char *queue_names(struct service_rig *r, uint32_t start,
                               uint32_t size, bool inactive)
{
    static char out[512];
    struct frontier_call call = service_new(FRONTIER_LIST_QUEUES);

    out[0] = '\0';
    call.in.queues =
        (struct frontier_list_queues){text("c"), start, size, inactive};
    service_call(r, &call);
    for (size_t i = 0; i < call.name_count; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%.*s",
                 i > 0 ? " " : "", (int)call.names[i].len, call.names[i].at);
    frontier_call_fini(&call);
    return out;
}

START_TEST(
    contract_2_queues_listed_are_active_and_not_blocked_unless_all_are_asked_for)
{
    struct service_rig r;

    service_make(&r);
    discover(&r, "c", "a", "u");
    discover(&r, "c", "b", "u");
    know(&r, "c", "done", "u", 0);
    know(&r, "c", "later", "u", NOW_S + 1000); /* not due, but active */
    discover(&r, "other", "x", "u");
    SAME(control(&r, FRONTIER_BLOCK_QUEUE, "c", "b", NOW_S + 9, NULL),
         STATUS_OK);
    ck_assert_str_eq(queue_names(&r, 0, 0, false), "a later");
    ck_assert_str_eq(queue_names(&r, 0, 0, true), "a b done later");
    ck_assert_str_eq(queue_names(&r, 1, 2, true), "b done");
    service_fini(&r);
}
END_TEST

START_TEST(contract_2_stats_count_held_and_future_ones_and_finished_queues)
{
    struct service_rig r;
    struct frontier_counts c;

    service_make(&r);
    discover(&r, "c", "a", "u1");
    discover(&r, "c", "a", "u2");
    know(&r, "c", "b", "later", NOW_S + 1000);
    know(&r, "c", "done", "u", 0);
    get_urls(&r, "c", "a", 1, 1, 30);
    c = get_counts(&r, "c", "");
    SAME(c.size, 3);
    SAME(c.in_process, 1);
    SAME(c.completed, 1);
    SAME(c.queues, 3);
    SAME(c.active_queues, 2);
    c = get_counts(&r, "c", "a");
    SAME(c.size, 2);
    SAME(c.queues, 1);
    c = get_counts(&r, "nobody", "");
    SAME(c.size + c.completed + c.queues, 0);
    service_fini(&r);
}
END_TEST

START_TEST(ours_a_lease_can_be_settled_by_its_number_also_after_a_restart)
{
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_GET);
    uint64_t lease;

    service_make(&r);
    discover(&r, "c", "k", "u");
    call.in.get = (struct frontier_get){.any_crawl = true};
    service_call(&r, &call);
    lease = call.urls[0].lease;
    frontier_call_fini(&call);
    service_restart(&r);
    call = service_new(FRONTIER_SETTLE);
    call.in.settle = (struct frontier_settle){.lease = lease,
                                              .how = FRONTIER_SETTLE_EXTEND,
                                              .seconds = 900};
    service_call(&r, &call);
    SAME(call.status, STATUS_OK);
    pass(&r, 899999);
    SAME(get_counts(&r, "c", "").in_process, 1);
    call.in.settle = (struct frontier_settle){.lease = lease};
    service_call(&r, &call);
    SAME(call.status, STATUS_OK);
    SAME(get_counts(&r, "c", "").completed, 1);
    service_call(&r, &call);
    SAME(call.status, STATUS_NOT_FOUND);
    frontier_call_fini(&call);
    service_fini(&r);
}
END_TEST

/* ---- where ours is better ---- */

START_TEST(contract_3_1_names_are_any_utf8_and_what_is_stored_is_served)
{
    static const char *const names[] = {"_",          "_DEFAULT_",
                                        "with blank", "schl\xc3\xbcssel",
                                        "a_b",        "[::1]"};
    struct service_rig r;

    service_make(&r);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        SAME(discover(&r, names[i], names[i], names[i]), FRONTIER_ACK_OK);
        ck_assert_str_eq(get_urls(&r, names[i], "", 0, 0, 0), names[i]);
    }
    service_fini(&r);
}
END_TEST

START_TEST(contract_3_2_deleting_crawl1_leaves_crawl10_and_later_writes_alone)
{
    struct service_rig r;
    uint64_t gone;

    service_make(&r);
    discover(&r, "crawl1", "k", "u");
    know(&r, "crawl1", "k2", "done", 0);
    discover(&r, "crawl10", "k", "u");
    SAME(control(&r, FRONTIER_DELETE_CRAWL, "crawl1", "", 0, &gone), STATUS_OK);
    SAME(gone, 2);
    SAME(get_counts(&r, "crawl1", "").queues, 0);
    SAME(get_counts(&r, "crawl10", "").size, 1);
    SAME(discover(&r, "crawl1", "k", "u"), FRONTIER_ACK_OK);
    service_restart(&r);
    SAME(get_counts(&r, "crawl1", "").size, 1);
    ck_assert_str_eq(get_urls(&r, "crawl1", "", 0, 0, 0), "u");
    service_fini(&r);
}
END_TEST

/* Also when queues are deleted under it, between two parts of its answer. */
START_TEST(contract_3_3_a_get_ends_whatever_is_deleted_under_it)
{
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_GET);
    size_t n = 0, calls = 0;

    service_make(&r);
    for (int i = 0; i < 2500; i++) {
        char url[16];

        snprintf(url, sizeof url, "u%d", i);
        discover(&r, "c", i < 2000 ? "long" : "other", url);
    }
    call.in.get = (struct frontier_get){.any_crawl = true};
    do {
        service_call(&r, &call);
        n += call.url_count;
        SAME(get_counts(&r, "c", "").in_process, calls == 0 ? n : 0);
        if (calls++ == 0)
            SAME(control(&r, FRONTIER_DELETE_CRAWL, "c", "", 0, NULL),
                 STATUS_OK);
        ck_assert_uint_lt(calls, 10);
    } while (call.more);
    SAME(n, 1000);
    frontier_call_fini(&call);
    service_fini(&r);
}
END_TEST

START_TEST(
    contract_3_4_completing_again_changes_no_count_rescheduling_counts_once)
{
    struct service_rig r;
    struct frontier_counts c;

    service_make(&r);
    for (int i = 0; i < 3; i++)
        know(&r, "c", "k", "u", 0);
    c = get_counts(&r, "c", "k");
    SAME(c.completed, 1);
    SAME(c.size, 0);
    for (int i = 0; i < 3; i++)
        know(&r, "c", "k", "u", NOW_S);
    c = get_counts(&r, "c", "k");
    SAME(c.completed, 0);
    SAME(c.size, 1);
    service_restart(&r);
    c = get_counts(&r, "c", "");
    SAME(c.completed, 0);
    SAME(c.size, 1);
    ck_assert_str_eq(get_urls(&r, "c", "", 0, 0, 0), "u");
    service_fini(&r);
}
END_TEST

START_TEST(contract_3_5_a_blank_crawl_is_called_default_in_every_answer)
{
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_GET);

    service_make(&r);
    SAME(discover(&r, " \t", "k", "u"), FRONTIER_ACK_OK);
    SAME(discover(&r, "DEFAULT", "k", "u"), FRONTIER_ACK_SKIPPED);
    call.in.get = (struct frontier_get){.any_crawl = true};
    service_call(&r, &call);
    ck_assert(bytes_is(call.urls[0].crawl, "DEFAULT"));
    frontier_call_fini(&call);
    call = service_new(FRONTIER_STATS);
    call.in.queue = (struct frontier_queue_call){.crawl = text(" ")};
    service_call(&r, &call);
    ck_assert(bytes_is(call.crawl_id, "DEFAULT"));
    SAME(call.counts.size, 1);
    frontier_call_fini(&call);
    call = service_new(FRONTIER_LIST_CRAWLS);
    service_call(&r, &call);
    SAME(call.name_count, 1);
    ck_assert(bytes_is(call.names[0], "DEFAULT"));
    frontier_call_fini(&call);
    service_fini(&r);
}
END_TEST

/* A disk that is full: FAIL for every item from then on, no silence. */
START_TEST(contract_3_6_an_internal_error_is_an_ack_that_says_fail)
{
    struct service_rig r;
    unsigned failed = 0;
    char url[64];

    service_make(&r);
    SAME(discover(&r, "c", "k", "u"), FRONTIER_ACK_OK);
    scratch_limit_files((uint64_t)1 << 20);
    for (int i = 0; i < 20000 && failed < 3; i++) {
        snprintf(url, sizeof url, "http://h/%d/some-longer-path-behind-it", i);
        failed += discover(&r, "c", "k", url) == FRONTIER_ACK_FAIL;
    }
    SAME(failed, 3);
    SAME(control(&r, FRONTIER_SET_DELAY, "c", "k", 1, NULL) != STATUS_OK, true);
    ck_assert_int_ne(frontier_service_close(r.s), STATUS_OK);
    scratch_remove(&r.at);
}
END_TEST

START_TEST(
    contract_3_7_delays_blocks_limits_the_flag_and_leases_survive_a_restart)
{
    struct service_rig r;

    service_make(&r);
    SAME(control(&r, FRONTIER_SET_DELAY, "", "", 2, NULL), STATUS_OK);
    discover(&r, "c", "delayed", "a1");
    discover(&r, "c", "delayed", "a2");
    discover(&r, "c", "blocked", "b");
    know(&r, "c", "limited", "done", 0);
    discover(&r, "c", "limited", "l");
    SAME(control(&r, FRONTIER_SET_DELAY, "c", "delayed", 10, NULL), STATUS_OK);
    SAME(control(&r, FRONTIER_BLOCK_QUEUE, "c", "blocked", NOW_S + 20, NULL),
         STATUS_OK);
    SAME(control(&r, FRONTIER_SET_LIMIT, "c", "limited", 1, NULL), STATUS_OK);
    ck_assert_str_eq(get_urls(&r, "c", "", 1, 0, 15), "a1");
    SAME(control(&r, FRONTIER_SET_ACTIVE, "", "", 0, NULL), STATUS_OK);
    service_restart(&r);
    ck_assert_str_eq(get_urls(&r, "c", "", 1, 0, 15), "");
    SAME(control(&r, FRONTIER_SET_ACTIVE, "", "", 1, NULL), STATUS_OK);
    SAME(get_counts(&r, "c", "").in_process, 1);
    pass(&r, 9999);
    ck_assert_str_eq(get_urls(&r, "c", "", 9, 0, 15), "");
    pass(&r, 1);
    ck_assert_str_eq(get_urls(&r, "c", "", 9, 0, 15), "a2"); /* a1 is held */
    pass(&r, 11000);
    service_restart(&r);
    ck_assert_str_eq(get_urls(&r, "c", "", 9, 0, 15), "b a1");
    SAME(control(&r, FRONTIER_SET_LIMIT, "c", "limited", 0, NULL), STATUS_OK);
    ck_assert_str_eq(get_urls(&r, "c", "", 9, 0, 15), "l");
    service_fini(&r);
}
END_TEST

START_TEST(contract_3_9_the_key_of_a_url_is_its_host_without_port_and_userinfo)
{
    static const struct {
        const char *url, *key;
    } cases[] = {
        {"http://[::1]:8080/", "[::1]"},
        {"http://user:secret@example.org:81/x", "example.org"},
        {"http://example.org?q=a@b", "example.org"},
        {"http://example.org&x", "example.org"},
        {"http://Example.ORG/a", "Example.ORG"}, /* as it is spelt */
        {"http://a@b@example.org/", "example.org"},
        {"http://[broken/", "[broken"},
    };
    struct service_rig r;

    service_make(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char crawl[8];

        snprintf(crawl, sizeof crawl, "c%zu", i);
        SAME(discover(&r, crawl, "", cases[i].url), FRONTIER_ACK_OK);
        SAME(get_counts(&r, crawl, cases[i].key).size, 1);
    }
    service_fini(&r);
}
END_TEST

/* ---- the queue to the frontier thread ---- */

START_TEST(ours_a_full_queue_says_so_drops_nothing_and_tells_when_there_is_room)
{
    struct service_rig r;
    struct frontier_call calls[64];
    struct frontier_item items[64][100];
    struct service_wait waits[64];
    char urls[64][100][24];
    bool refused = false;

    service_init(&r);
    r.o.most_waiting = 200;
    service_open(&r);
    for (int c = 0; c < 64; c++) {
        calls[c] = service_new(FRONTIER_PUT);
        waits[c] = (struct service_wait){.r = &r};
        calls[c].ctx = &waits[c];
        calls[c].in.put = (struct frontier_put){items[c], 100};
        for (int i = 0; i < 100; i++) {
            snprintf(urls[c][i], sizeof urls[c][i], "%d-%d", c, i);
            items[c][i] =
                (struct frontier_item){.kind = FRONTIER_ITEM_DISCOVERED,
                                       .key = text("k"),
                                       .url = text(urls[c][i])};
        }
    }
    for (int c = 0; c < 64; c++) {
        unsigned rooms = r.rooms;
        enum status st = frontier_service_submit(r.s, &calls[c]);

        if (st == STATUS_OK)
            continue;
        SAME(st, STATUS_AGAIN);
        refused = true;
        pthread_mutex_lock(&r.mtx);
        while (r.rooms == rooms)
            pthread_cond_wait(&r.told, &r.mtx);
        pthread_mutex_unlock(&r.mtx);
        c--; /* once more */
    }
    for (int c = 0; c < 64; c++) {
        service_wait_for(&waits[c]);
        for (int i = 0; i < 100; i++)
            SAME(items[c][i].ack, FRONTIER_ACK_OK);
    }
    ck_assert(refused);
    SAME(get_counts(&r, "", "").size, 6400);
    service_fini(&r);
}
END_TEST

START_TEST(ours_calls_that_are_none_are_refused)
{
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_PUT);

    service_make(&r);
    SAME(frontier_service_submit(r.s, &call), STATUS_ARG);
    call.in.put.n = FRONTIER_PUT_MOST + 1;
    SAME(frontier_service_submit(r.s, &call), STATUS_ARG);
    call.verb = FRONTIER_VERBS_;
    SAME(frontier_service_submit(r.s, &call), STATUS_ARG);
    service_fini(&r);
}
END_TEST

START_TEST(ours_the_node_names_itself_and_any_log_level_is_taken)
{
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_LIST_NODES);

    service_make(&r);
    service_call(&r, &call);
    SAME(call.name_count, 1);
    ck_assert(bytes_is(call.names[0], "127.0.0.1:7071"));
    frontier_call_fini(&call);
    call = service_new(FRONTIER_SET_LOG_LEVEL);
    call.in.log_level = 3;
    service_call(&r, &call);
    SAME(call.status, STATUS_OK);
    frontier_call_fini(&call);
    service_fini(&r);
}
END_TEST

static struct frontier_service_watch look(struct service_rig *r)
{
    struct frontier_service_watch w;

    frontier_service_watch(r->s, &w);
    return w;
}

/* Nobody calls meanwhile: the frontier thread does so of its own accord. */
static void wait_for_new(struct service_rig *r, uint64_t certainly_new)
{
    int64_t until = clock_mono() + 50 * NS_PER_S;

    while (look(r).engine.certainly_new < certainly_new)
        ck_assert_int_lt(clock_mono(), until);
}

START_TEST(ours_a_monitor_is_told_each_call_once_and_soon_how_the_engine_does)
{
    struct frontier_call call = service_new(FRONTIER_GET_ACTIVE);
    const struct histogram_sample *puts;
    struct frontier_service_watch w;
    struct service_rig r;

    service_make(&r);
    SAME(discover(&r, "c", "k", "http://h/1"), FRONTIER_ACK_OK);
    SAME(discover(&r, "c", "k", "http://h/2"), FRONTIER_ACK_OK);
    SAME(discover(&r, "c", "k", "http://h/1"), FRONTIER_ACK_SKIPPED);
    call.via = FRONTIER_VIA_HTTP;
    service_call(&r, &call);
    frontier_call_fini(&call);
    w = look(&r);
    puts = &w.calls[FRONTIER_VIA_SELF][FRONTIER_PUT];
    SAME(histogram_count(puts), 3);
    ck_assert_uint_gt(puts->sum, 0);
    SAME(histogram_count(&w.calls[FRONTIER_VIA_HTTP][FRONTIER_GET_ACTIVE]), 1);
    SAME(histogram_count(&w.calls[FRONTIER_VIA_SELF][FRONTIER_GET_ACTIVE]), 0);
    SAME(w.acks[FRONTIER_ACK_OK], 2);
    SAME(w.acks[FRONTIER_ACK_SKIPPED], 1);
    wait_for_new(&r, 2);
    w = look(&r);
    ck_assert_uint_ge(histogram_count(&w.engine.commits), 2);
    SAME(w.engine.filter.keys, 2);
    service_fini(&r);
}
END_TEST

Suite *suite_frontier_calls(void)
{
    const TTest *const tests[] = {
        contract_2_a_discovered_url_is_ok_once_and_skipped_ever_after,
        contract_2_a_known_url_replaces_date_and_metadata_and_may_be_new,
        contract_2_identity_is_crawl_key_and_url_byte_by_byte,
        contract_2_items_that_say_nothing_or_have_no_key_are_skipped,
        contract_2_an_empty_url_with_a_key_is_taken_and_served,
        contract_2_a_url_may_be_as_long_as_a_message,
        contract_2_a_batch_is_answered_in_its_order_repeats_are_skipped,
        contract_2_queues_take_turns_over_all_crawls_and_urls_go_by_date,
        contract_2_a_queue_waits_its_delay_and_no_longer,
        ours_a_clock_set_back_makes_nothing_wait_longer_than_its_delay,
        contract_2_a_cap_of_two_with_two_held_serves_nothing_of_three_three,
        contract_2_a_hold_ends_with_a_known_update_or_at_its_date,
        contract_2_names_that_are_none_get_an_empty_answer,
        contract_2_a_node_that_is_not_active_serves_nothing,
        ours_a_long_answer_comes_in_parts_and_each_url_once,
        contract_2_control_of_an_unknown_queue_does_nothing_but_limits_fail,
        contract_2_a_queue_blocked_until_t_is_served_again_at_t_plus_one,
        contract_2_a_limit_of_n_ends_a_queue_when_n_are_completed,
        contract_2_purge_drops_what_was_created_days_ago_or_before_this_second,
        contract_2_status_of_what_is_unknown_is_not_found,
        contract_2_lists_have_a_hundred_start_counts_matches_filters_are_substrings,
        contract_2_queues_listed_are_active_and_not_blocked_unless_all_are_asked_for,
        contract_2_stats_count_held_and_future_ones_and_finished_queues,
        ours_a_lease_can_be_settled_by_its_number_also_after_a_restart,
        contract_3_1_names_are_any_utf8_and_what_is_stored_is_served,
        contract_3_2_deleting_crawl1_leaves_crawl10_and_later_writes_alone,
        contract_3_3_a_get_ends_whatever_is_deleted_under_it,
        contract_3_4_completing_again_changes_no_count_rescheduling_counts_once,
        contract_3_5_a_blank_crawl_is_called_default_in_every_answer,
        contract_3_6_an_internal_error_is_an_ack_that_says_fail,
        contract_3_7_delays_blocks_limits_the_flag_and_leases_survive_a_restart,
        contract_3_9_the_key_of_a_url_is_its_host_without_port_and_userinfo,
        ours_a_full_queue_says_so_drops_nothing_and_tells_when_there_is_room,
        ours_calls_that_are_none_are_refused,
        ours_the_node_names_itself_and_any_log_level_is_taken,
        ours_a_monitor_is_told_each_call_once_and_soon_how_the_engine_does,
    };
    Suite *s = suite_create("frontier_calls");
    TCase *t = tcase_create("frontier_calls");

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(t, tests[i]);
    tcase_set_timeout(t, 60);
    suite_add_tcase(s, t);
    return s;
}
