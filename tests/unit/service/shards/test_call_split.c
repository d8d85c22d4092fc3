/* SPDX-License-Identifier: MIT */
/* test_call_split.c - calls on shards, and their answers as one; the shards are
 * a plain model that answers in any order. */
#include "service/shards/call_split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/served/served.h"
#include "service/calls/call.h"
#include "tests/unit/unit.h"

#define SHARDS 5
#define QUEUES 60 /* of all shards */

/* What the shards are asked, until they answer: the last asked first. */
static struct call_part *sent[64];
static size_t sent_count, sent_ever;
static unsigned asked[SHARDS];
static bool away[SHARDS];             /* has no owner */
static unsigned left[SHARDS][QUEUES]; /* URLs of each queue */
static struct frontier_call *ended;

static void put_in(void *ctx, struct call_part *p)
{
    (void)ctx;
    ck_assert_uint_lt(sent_count, 64);
    ck_assert_uint_lt(p->shard, SHARDS);
    asked[p->shard]++;
    sent_ever++;
    sent[sent_count++] = p;
}

static void take_end(void *ctx, struct frontier_call *call)
{
    (void)ctx;
    ck_assert_ptr_null(ended);
    ended = call;
}

static const struct call_sender sender = {NULL, SHARDS, put_in, take_end};

static void begin(void)
{
    sent_count = sent_ever = 0;
    ended = NULL;
    memset(asked, 0, sizeof asked);
    memset(away, 0, sizeof away);
    memset(left, 0, sizeof left);
}

FIXTURE(begin, NULL);

static struct bytes key_of(unsigned queue)
{
    static char keys[QUEUES][8];

    snprintf(keys[queue], sizeof keys[queue], "q%u", queue);
    return bytes_of_str(keys[queue]);
}

static uint32_t shard_of(unsigned queue)
{
    return call_shard_of(bytes_of_str("c"), key_of(queue), SHARDS);
}

static void fill(unsigned urls)
{
    for (unsigned q = 0; q < QUEUES; q++)
        left[shard_of(q)][q] = urls;
}

/* ---- the model of a shard ---- */

static void give(struct frontier_call *call, unsigned queue)
{
    call->urls[call->url_count++] =
        (struct frontier_url){.crawl = bytes_of_str("c"),
                              .key = key_of(queue),
                              .url = key_of(queue)};
}

/* URLs of as many queues as it is asked for, three of a part at most. */
static void answer_get(struct frontier_call *call, uint32_t shard)
{
    const struct frontier_get *in = &call->in.get;
    unsigned most = in->max_urls_per_queue, queues = 0;

    call->urls = answer_room(call, 1000, sizeof *call->urls);
    for (unsigned q = (unsigned)call->cursor.place; q < QUEUES; q++) {
        unsigned n = left[shard][q] < most || most == 0 ? left[shard][q] : most;

        if (n == 0 || (in->max_queues > 0 &&
                       call->cursor.done + queues == in->max_queues))
            continue;
        if (most == 0 && call->url_count + n > 3 && call->url_count > 0) {
            call->more = true;
            call->cursor.place = q;
            call->cursor.done += queues;
            return;
        }
        queues++;
        left[shard][q] -= n;
        for (unsigned i = 0; i < n; i++)
            give(call, q);
    }
    memset(&call->cursor, 0, sizeof call->cursor);
}

/* The URLs of the shard's queues, two of a part. */
static void answer_list(struct frontier_call *call, uint32_t shard)
{
    uint64_t passed = call->cursor.done, at = 0,
             end = (uint64_t)call->in.list.start + call->in.list.size;

    call->urls = answer_room(call, 2, sizeof *call->urls);
    for (unsigned q = 0; q < QUEUES; q++)
        for (unsigned i = 0; i < left[shard][q] && passed < end; i++) {
            if (at++ < passed)
                continue;
            if (call->url_count == 2) {
                call->more = true;
                call->cursor.done = passed;
                return;
            }
            if (passed++ >= call->in.list.start)
                give(call, q);
        }
    call->cursor.done = 0;
    call->number = passed;
}

static void answer_queues(struct frontier_call *call, uint32_t shard)
{
    uint64_t passed = 0,
             end = (uint64_t)call->in.queues.start + call->in.queues.size;

    call->names = answer_room(call, QUEUES, sizeof *call->names);
    for (unsigned q = 0; q < QUEUES && passed < end; q++)
        if (left[shard][q] > 0 && passed++ >= call->in.queues.start)
            answer_name(call, key_of(q));
    call->number = passed;
}

static void answer(struct call_part *p)
{
    struct frontier_call *call = &p->call;

    answer_begin(call);
    if (away[p->shard]) {
        answer_fail(call, STATUS_CLOSED);
        call->why = "away";
    } else if (call->verb == FRONTIER_GET) {
        answer_get(call, p->shard);
    } else if (call->verb == FRONTIER_LIST_URLS) {
        answer_list(call, p->shard);
    } else if (call->verb == FRONTIER_LIST_QUEUES) {
        answer_queues(call, p->shard);
    } else if (call->verb == FRONTIER_LIST_CRAWLS) {
        call->names = answer_room(call, 2, sizeof *call->names);
        answer_name(call, bytes_of_str("everywhere"));
        answer_name(call, key_of(p->shard / 2));
    } else if (call->verb == FRONTIER_PUT) {
        for (size_t i = 0; i < call->in.put.n; i++)
            call->in.put.items[i].ack = call->in.put.items[i].refetch_s > 0
                                            ? FRONTIER_ACK_SKIPPED
                                            : FRONTIER_ACK_OK;
    } else {
        call->number = 1 + p->shard;
        call->flag = p->shard != 2;
        call->counts = (struct url_counts){1, 2, 3, 4, p->shard};
    }
    p->finish(p);
}

/* Submits the call, has all answered, and returns at its end. */
static void carry_out(struct frontier_call *call, unsigned turn)
{
    ended = NULL;
    call_split(&sender, call, turn);
    while (sent_count > 0)
        answer(sent[--sent_count]);
    ck_assert_ptr_eq(ended, call);
}

static struct frontier_call call_of(enum frontier_verb verb)
{
    struct frontier_call call;

    frontier_call_init(&call, verb, NULL, NULL);
    call.in.crawl = bytes_of_str("c");
    return call;
}

/* ---- puts ---- */

TEST(an_item_goes_to_the_shard_of_its_queue_and_gets_its_own_ack)
{
    struct frontier_item items[QUEUES];
    struct frontier_call call = call_of(FRONTIER_PUT);
    unsigned shards = 0;

    for (unsigned q = 0; q < QUEUES; q++)
        items[q] = (struct frontier_item){.kind = FRONTIER_ITEM_KNOWN,
                                          .crawl = bytes_of_str("c"),
                                          .key = key_of(q),
                                          .url = key_of(q),
                                          .refetch_s = q % 3};
    call.in.put = (struct frontier_put){items, QUEUES};
    call_split(&sender, &call, 0);
    for (size_t i = 0; i < sent_count; i++) {
        const struct frontier_put *in = &sent[i]->call.in.put;

        for (size_t k = 0; k < in->n; k++) {
            ck_assert_uint_eq(sent[i]->shard,
                              call_shard_of(bytes_of_str("c"), in->items[k].key,
                                            SHARDS));
            ck_assert(k == 0 || atoi(in->items[k].key.at + 1) >
                                    atoi(in->items[k - 1].key.at + 1));
        }
    }
    while (sent_count > 0)
        answer(sent[--sent_count]);
    ck_ok(call.status);
    for (unsigned q = 0; q < QUEUES; q++)
        ck_assert_int_eq(items[q].ack,
                         q % 3 > 0 ? FRONTIER_ACK_SKIPPED : FRONTIER_ACK_OK);
    for (uint32_t i = 0; i < SHARDS; i++)
        shards += asked[i] == 1;
    ck_assert_uint_eq(shards, SHARDS);
    frontier_call_fini(&call);
}

TEST(items_of_a_shard_without_owner_fail_and_others_do_not)
{
    struct frontier_item items[QUEUES];
    struct frontier_call call = call_of(FRONTIER_PUT);

    for (unsigned q = 0; q < QUEUES; q++)
        items[q] = (struct frontier_item){.kind = FRONTIER_ITEM_DISCOVERED,
                                          .crawl = bytes_of_str("c"),
                                          .key = key_of(q)};
    call.in.put = (struct frontier_put){items, QUEUES};
    away[3] = true;
    carry_out(&call, 0);
    ck_ok(call.status);
    for (unsigned q = 0; q < QUEUES; q++)
        ck_assert_int_eq(items[q].ack, shard_of(q) == 3 ? FRONTIER_ACK_FAIL
                                                        : FRONTIER_ACK_OK);
    memset(away, true, sizeof away);
    carry_out(&call, 0);
    ck_assert_int_eq(call.status, STATUS_CLOSED);
    ck_assert_str_eq(call.why, "away");
    for (unsigned q = 0; q < QUEUES; q++)
        ck_assert_int_eq(items[q].ack, FRONTIER_ACK_FAIL);
    frontier_call_fini(&call);
}

/* A blank crawl is DEFAULT, and a missing key that of the URL. */
TEST(a_url_has_one_shard_however_it_is_named)
{
    struct frontier_item item = {.url = bytes_of_str("http://a.example/1")};
    struct frontier_call call = call_of(FRONTIER_PUT);
    uint32_t shard = call_shard_of(bytes_of_str("DEFAULT"),
                                   bytes_of_str("a.example"), SHARDS);

    call.in.put = (struct frontier_put){&item, 1};
    carry_out(&call, 0);
    ck_assert_uint_eq(asked[shard], 1);
    frontier_call_fini(&call);
    call = call_of(FRONTIER_URL_STATUS);
    call.in.crawl = bytes_of_str(" ");
    call.in.url = item.url;
    carry_out(&call, 0);
    ck_assert_uint_eq(asked[shard], 2);
    frontier_call_fini(&call);
}

/* ---- GET ---- */

static struct frontier_call get_of(uint32_t urls, uint32_t queues)
{
    struct frontier_call call = call_of(FRONTIER_GET);

    call.in.get = (struct frontier_get){true, urls, queues, 30};
    return call;
}

/* All parts of a GET; the number of URLs, and of queues in *queues. */
static size_t get(uint32_t urls, uint32_t most, unsigned turn, size_t *queues)
{
    struct frontier_call call = get_of(urls, most);
    char last[8] = "";
    size_t n = 0;

    *queues = 0;
    do {
        carry_out(&call, turn);
        ck_ok(call.status);
        for (size_t i = 0; i < call.url_count; i++) {
            *queues += !bytes_is(call.urls[i].key, last);
            snprintf(last, sizeof last, "%.*s", (int)call.urls[i].key.len,
                     call.urls[i].key.at);
        }
        n += call.url_count;
    } while (call.more);
    frontier_call_fini(&call);
    return n;
}

TEST(a_get_goes_on_without_a_shard_that_has_no_owner)
{
    struct frontier_call call = get_of(1, 100);
    size_t queues, there = 0;

    fill(1);
    away[1] = true;
    for (unsigned q = 0; q < QUEUES; q++)
        there += shard_of(q) != 1;
    ck_assert_uint_eq(get(1, 100, 0, &queues), there);
    carry_out(&call, 0); /* only that shard has any left */
    ck_assert_int_eq(call.status, STATUS_CLOSED);
    ck_assert_str_eq(call.why, "away");
    away[1] = false;
    carry_out(&call, 0);
    ck_ok(call.status);
    ck_assert_uint_eq(call.url_count, QUEUES - there);
    frontier_call_fini(&call);
}

TEST(a_queue_is_asked_for_at_its_shard_alone)
{
    struct frontier_call call = get_of(1, 1);

    call.in.get.any_crawl = false;
    call.in.key = key_of(4);
    left[shard_of(4)][4] = 1;
    carry_out(&call, 0);
    ck_assert_uint_eq(call.url_count, 1);
    ck_assert_uint_eq(sent_ever, 1);
    frontier_call_fini(&call);
}

/* ---- lists ---- */

/* The keys of all URLs listed, one after the other. */
static void list(struct buf *to, uint32_t start, uint32_t size)
{
    struct frontier_call call = call_of(FRONTIER_LIST_URLS);

    buf_clear(to);
    call.in.list = (struct frontier_list){.start = start, .size = size};
    do {
        carry_out(&call, 0);
        ck_ok(call.status);
        for (size_t i = 0; i < call.url_count; i++) {
            buf_add_bytes(to, call.urls[i].key);
            buf_add_char(to, ' ');
        }
    } while (call.more);
    frontier_call_fini(&call);
}

TEST(pages_of_a_list_are_the_list)
{
    struct buf all, pages, page;

    buf_init(&all, 65536);
    buf_init(&pages, 65536);
    buf_init(&page, 65536);
    for (unsigned q = 0; q < QUEUES; q += 4)
        left[shard_of(q)][q] = 1 + q % 3;
    list(&all, 0, 10000);
    for (uint32_t size = 1; size < 12; size++) {
        buf_clear(&pages);
        for (uint32_t start = 0;; start += size) {
            list(&page, start, size);
            if (page.len == 0)
                break;
            buf_add_bytes(&pages, buf_bytes(&page));
        }
        ck_assert_str_eq(buf_str(&pages), buf_str(&all));
    }
    buf_fini(&all);
    buf_fini(&pages);
    buf_fini(&page);
}

/* ---- of all shards ---- */

TEST(numbers_are_added_up_and_a_flag_holds_if_it_does_everywhere)
{
    struct frontier_call call = call_of(FRONTIER_STATS);

    carry_out(&call, 0);
    ck_ok(call.status);
    ck_assert_uint_eq(call.number, 1 + 2 + 3 + 4 + 5);
    ck_assert_uint_eq(call.counts.active, SHARDS);
    ck_assert_uint_eq(call.counts.queues, 4 * SHARDS);
    ck_assert_uint_eq(call.counts.active_queues, 0 + 1 + 2 + 3 + 4);
    ck_assert(!call.flag);
    away[4] = true;
    carry_out(&call, 0);
    ck_assert_int_eq(call.status, STATUS_CLOSED);
    frontier_call_fini(&call);
}
