/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_calls.c - the calls of the URLFrontier API that change the
 * frontier, answered as its reference service does (`contract_2_...`;
 * docs/decisions/service-store.md). `ours_` tests cover what the contract
 * leaves open.
 */
/* Promise (Served frontier): every call means what it means in the reference
 * service; each of its defects is not ours. See also `frontier_calls_read`,
 * `frontier_calls_better`, `served_name`. */
#include "tests/unit/service/service_rig.h"

/* ---- put ---- */

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

/* ---- get ---- */

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
