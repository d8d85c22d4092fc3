/* SPDX-License-Identifier: MIT */
/*
 * fuzz_shared_reply.c - whatever servers reply to the scripts of a shared
 * frontier, each call ends, and what is shown is within its bounds.
 *
 * In place of the router stands that of replies_router.h. If the first octet is
 * even, the record is a good one, else the input's.
 */
#include "frontier/shared/shared.h"
#include "fuzz/replies_router.h"

#define RECORD REPLIES_RECORD("8", "served 1")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- what a service asks ---- */

static unsigned sum;

/* Adds up what it is shown, so that a sanitizer sees it read. */
static void add(struct bytes b)
{
    for (size_t i = 0; i < b.len; i++)
        sum += (unsigned char)b.at[i];
}

static bool show(void *ctx, const struct url_view *v)
{
    size_t *left = ctx;

    if (*left == 0)
        abort(); /* more than there is room for */
    --*left;
    add(v->crawl);
    add(v->key);
    add(v->url);
    add(v->metadata);
    return *left > 0;
}

static void show_key(void *ctx, struct bytes key)
{
    (void)ctx;
    add(key);
}

static const struct bytes crawl = {"c", 1}, key = {"k", 1}, none = {"", 0};

static void ask_one_shard(struct shared_hand *h)
{
    struct url_put put = {.crawl = crawl, .key = key, .url = {"u", 1}};
    struct url_counts counts;
    struct url_facts facts;
    size_t room = 3;
    uint64_t gone;
    bool active;

    if (shared_counts(h, crawl, key, &counts) == STATUS_OK &&
        shared_active(h, &active) == STATUS_OK &&
        shared_settle(h, 1, URL_SETTLE_ACK, 0, &none) == STATUS_OK &&
        shared_find(h, crawl, key, key, &facts, show, &room) == STATUS_OK &&
        shared_set(h, crawl, key, SHARED_LIMIT, 1) == STATUS_OK &&
        shared_purge(h, crawl, key, 1, &gone) == STATUS_OK &&
        shared_remove_queue(h, crawl, key, &gone) == STATUS_OK)
        shared_put(h, &put, 1);
}

static void get(struct shared_hand *h, bool any, struct bytes of)
{
    struct url_ask a = {.any_crawl = any,
                        .crawl = crawl,
                        .one_queue = of.len > 0,
                        .key = of,
                        .most_urls = 3,
                        .lease_ms = 1000};
    bool more = true;

    for (unsigned part = 0; more && part < 4; part++) {
        size_t room = 5;

        if (shared_get(h, &a, room, 1000, show, &room, &more) != STATUS_OK)
            return;
    }
}

static void list(struct shared_hand *h, struct bytes of)
{
    struct url_list l = {.crawl = crawl, .key = of, .most = 9, .budget = 4};
    bool more = true;

    for (unsigned part = 0; more && part < 4; part++) {
        size_t room = 5;

        if (shared_list(h, &l, show, &room, &more) != STATUS_OK)
            return;
    }
}

static void count_dates(struct shared_hand *h)
{
    struct shared_pass *p = shared_pass_new(h);
    struct shared_dates d;
    bool over;

    if (shared_pass_go_on(p, 50, &d, &over) == STATUS_OK && over)
        sum += (unsigned)d.dated;
    shared_pass_free(p);
}

static void ask_all_shards(struct shared_hand *h)
{
    const struct bytes *names;
    struct url_counts counts;
    uint64_t gone;
    size_t n = 0;

    get(h, true, none);
    get(h, false, key);
    list(h, key);
    list(h, none);
    count_dates(h);
    if (shared_crawls(h, &names, &n) == STATUS_OK)
        for (size_t i = 0; i < n; i++)
            add(names[i]);
    if (shared_counts(h, none, none, &counts) == STATUS_OK &&
        shared_each_queue(h, crawl, true, 1, 9, show_key, NULL) == STATUS_OK &&
        shared_remove_crawl(h, crawl, &gone) == STATUS_OK &&
        shared_set_default_delay(h, 1) == STATUS_OK)
        sum++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct shared_options o = {.name = "c"};
    struct shared *s = NULL;
    struct shared_hand *h;
    struct buf error;
    bool opened;

    if (size < 1)
        return 0;
    replies_begin(data, size, bytes_of(RECORD, sizeof RECORD - 1));
    buf_init(&error, 4096);
    opened = shared_open(&s, &o, &error) == STATUS_OK;
    if (opened) {
        h = shared_hand_new(s);
        if (data[0] % 4 < 2)
            ask_one_shard(h);
        ask_all_shards(h);
        shared_hand_free(h);
        shared_close(s);
    }
    replies_end(opened, &error);
    return 0;
}
