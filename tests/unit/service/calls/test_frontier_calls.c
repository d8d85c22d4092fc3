/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_calls.c - the calls of the URLFrontier API on the
 * frontier, answered as its reference service does (`contract_2_...`;
 * docs/decisions/service-store.md). `ours_` tests cover what the contract
 * leaves open.
 */
/* Promise (Served frontier): every call means what it means in the reference
 * service, without that service's defects. See also `served_name`. */
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

/* ---- read ---- */

#define NOW_S ((uint64_t)(RIG_NOW / 1000))

TEST(contract_2_status_of_what_is_unknown_is_not_found)
{
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_URL_STATUS);

    service_make(&r);
    discover(&r, "c", "", "http://h/1");
    call.in.crawl = text("c");
    call.in.url = text("http://h/1");
    service_call(&r, &call);
    SAME(call.status, STATUS_OK);
    SAME(call.urls[0].refetch_s, NOW_S); /* the second of its discovery */
    call.in.url = text("http://h/2");
    service_call(&r, &call);
    SAME(call.status, STATUS_NOT_FOUND);
    call.in.key = text("other");
    service_call(&r, &call);
    SAME(call.status, STATUS_NOT_FOUND);
    call.in.crawl = text("other");
    service_call(&r, &call);
    SAME(call.status, STATUS_NOT_FOUND);
    call.in.key = text("");
    call.in.url = text("/no/key/in/here");
    service_call(&r, &call);
    SAME(call.status, STATUS_ARG);
    frontier_call_fini(&call);
    service_fini(&r);
}

static size_t list_size(struct service_rig *r, const char *crawl,
                        const char *key, struct frontier_list list,
                        const char *first)
{
    struct frontier_call call = service_new(FRONTIER_LIST_URLS);
    size_t n = 0;

    call.in.crawl = text(crawl);
    call.in.key = text(key);
    call.in.list = list;
    do {
        service_call(r, &call);
        ck_ok(call.status);
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

    call.in.crawl = text("c");
    call.in.list = (struct frontier_list){.filtered = filter != NULL,
                                          .ignore_case = ignore_case,
                                          .filter = text(filter)};
    service_call(r, &call);
    frontier_call_fini(&call);
    return call.number;
}

TEST(
    contract_2_lists_have_a_hundred_start_counts_matches_filters_are_substrings)
{
    struct service_rig r;
    struct frontier_list list = {.size = 0};

    service_make(&r);
    for (int i = 0; i < 3000; i++) {
        char url[32], key[16];

        snprintf(url, sizeof url, "http://h/Page-%d", i);
        snprintf(key, sizeof key, "k%d", i % 3);
        discover(&r, "c", key, url);
    }
    SAME(list_size(&r, "c", "", list, "http://h/Page-0"), 100);
    list.size = 5000;
    SAME(list_size(&r, "c", "", list, "http://h/Page-0"), 3000);
    list.start = 2990;
    SAME(list_size(&r, "c", "", list, "http://h/Page-2972"), 10);
    list = (struct frontier_list){.size = 50,
                                  .filtered = true,
                                  .filter = text("Page-299")};
    SAME(list_size(&r, "c", "k1", list, "http://h/Page-2992"),
         3); /* 2992 2995 2998 */
    list.start = 1;
    SAME(list_size(&r, "c", "k1", list, "http://h/Page-2995"), 2);
    list.filter = text("page-299");
    SAME(list_size(&r, "c", "k1", list, ""), 0);
    list.ignore_case = true;
    SAME(list_size(&r, "c", "k1", list, "http://h/Page-2995"), 2);
    SAME(list_size(&r, "nobody", "k1", list, ""), 0);
    SAME(count_filtered(&r, NULL, false), 3000);
    SAME(count_filtered(&r, "Page-299", false), 11);
    SAME(count_filtered(&r, "page-299", false), 0);
    SAME(count_filtered(&r, "pAGE-299", true), 11);
    service_fini(&r);
}

static const char *queue_names(struct service_rig *r, uint32_t start,
                               uint32_t size, bool inactive)
{
    static char out[512];
    struct frontier_call call = service_new(FRONTIER_LIST_QUEUES);

    out[0] = '\0';
    call.in.crawl = text("c");
    call.in.queues = (struct frontier_list_queues){start, size, inactive};
    service_call(r, &call);
    for (size_t i = 0; i < call.name_count; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%.*s",
                 i > 0 ? " " : "", (int)call.names[i].len, call.names[i].at);
    frontier_call_fini(&call);
    return out;
}

TEST(
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

/* ---- better ----
 *
 * Where the URLFrontier API's reference service is wrong and ours is right, by
 * number of the defect (docs/decisions/service-store.md).
 */

TEST(contract_3_1_names_are_any_utf8_and_what_is_stored_is_served)
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

/* Also if queues are deleted between two parts of its answer. */
TEST(contract_3_3_a_get_ends_whatever_is_deleted_under_it)
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
        SAME(get_counts(&r, "c", "").leased, calls == 0 ? n : 0);
        if (calls++ == 0)
            SAME(control(&r, FRONTIER_DELETE_CRAWL, "c", "", 0, NULL),
                 STATUS_OK);
        ck_assert_uint_lt(calls, 10);
    } while (call.more);
    SAME(n, 1000);
    frontier_call_fini(&call);
    service_fini(&r);
}

TEST(contract_3_5_a_blank_crawl_is_called_default_in_every_answer)
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
    call.in.crawl = text(" ");
    service_call(&r, &call);
    ck_assert(bytes_is(call.crawl_id, "DEFAULT"));
    SAME(call.counts.active, 1);
    frontier_call_fini(&call);
    call = service_new(FRONTIER_LIST_CRAWLS);
    service_call(&r, &call);
    SAME(call.name_count, 1);
    ck_assert(bytes_is(call.names[0], "DEFAULT"));
    frontier_call_fini(&call);
    service_fini(&r);
}

/* Promise (Served frontier): when a store fails every call is told so, and no
 * item is left without an answer. */
/* On a full disk, every item from then on gets FAIL; none goes unanswered. */
TEST(contract_3_6_an_internal_error_is_an_ack_that_says_fail)
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

TEST(contract_3_9_the_key_of_a_url_is_its_host_without_port_and_userinfo)
{
    static const struct {
        const char *url, *key;
    } cases[] = {
        {"http://[::1]:8080/", "[::1]"},
        {"http://user:secret@example.org:81/x", "example.org"},
        {"http://example.org?q=a@b", "example.org"},
        {"http://example.org&x", "example.org"},
        {"http://a@b@example.org/", "example.org"},
        {"http://[broken/", "[broken"},
    };
    struct service_rig r;

    service_make(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char crawl[8];

        snprintf(crawl, sizeof crawl, "c%zu", i);
        SAME(discover(&r, crawl, "", cases[i].url), FRONTIER_ACK_OK);
        SAME(get_counts(&r, crawl, cases[i].key).active, 1);
    }
    service_fini(&r);
}

/* Also where the client asks for one of these URLs without a key. */
TEST(ours_a_host_in_any_spelling_is_one_queue_and_given_keys_are_bytes)
{
    static const char *const urls[] = {
        "http://b\u00fccher.example/1",
        "https://B\u00dcCHER.example./2",
        "http://xn--bcher-kva.example:8080/3",
        "http://u:p@Xn--Bcher-KVA.example/4",
    };
    struct frontier_call call = service_new(FRONTIER_URL_STATUS);
    struct service_rig r;

    service_make(&r);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        SAME(discover(&r, "c", "", urls[i]), FRONTIER_ACK_OK);
    SAME(get_counts(&r, "c", "").queues, 1);
    SAME(get_counts(&r, "c", "xn--bcher-kva.example").active, 4);
    call.in.crawl = text("c");
    call.in.url = text(urls[1]);
    service_call(&r, &call);
    SAME(call.status, STATUS_OK);
    frontier_call_fini(&call);
    SAME(discover(&r, "c", "B\u00fccher.example", urls[0]), FRONTIER_ACK_OK);
    SAME(get_counts(&r, "c", "B\u00fccher.example").active, 1);
    SAME(get_counts(&r, "c", "").queues, 2);
    service_fini(&r);
}
