/* SPDX-License-Identifier: MIT */
/* The calls of the URLFrontier API that read the frontier, answered as its
 * reference service does. */
#include "tests/unit/service/service_rig.h"

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
