/* SPDX-License-Identifier: MIT */
/* Where the URLFrontier API's reference service is wrong and ours is right, by
 * number of the defect (docs/decisions/service-store.md). */
#include "tests/unit/service/service_rig.h"

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

/* Promise (Served frontier): a store that fails is told to every call, no
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
