/* SPDX-License-Identifier: MIT */
/* test_call_wire.c - calls between the processes of a cluster: what is written
 * is read again, and nothing else is read. */
#include "service/shards/call_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/calls/call.h"
#include "tests/unit/unit.h"

#define ITEMS 300

static char all_octets[256 * 3];

static struct bytes text(const char *s)
{
    return bytes_of_str(s);
}

/* UTF-8 with all that JSON has to escape, a zero octet among it. */
static const struct bytes odd = {"\"\\/\b\f\n\r\t\x01\x1f \x7f\xc3\xa9\0end",
                                 19};

static void same(struct bytes a, struct bytes b)
{
    ck_assert_msg(bytes_equal(a, b), "'%.*s' is not '%.*s'", (int)a.len,
                  a.len > 0 ? a.at : "", (int)b.len, b.len > 0 ? b.at : "");
}

static struct buf out;
static struct arena *arena;
static json_t *asks;
static struct frontier_item room[ITEMS];

static void begin(void)
{
    buf_init(&out, CALL_WIRE_MOST);
    arena = arena_new((size_t)8 << 20);
    for (size_t i = 0; i < sizeof all_octets; i++)
        all_octets[i] = (char)(i * 7 + i / 256);
}

static void end(void)
{
    json_decref(asks);
    asks = NULL;
    arena_free(arena);
    buf_fini(&out);
}

FIXTURE(begin, end);

/* ---- calls ---- */

/* Writes one call and reads it. */
static struct frontier_call passed_on(const struct frontier_call *call)
{
    struct frontier_call back = {.verb = FRONTIER_VERBS_};
    struct frontier_item *items = room;

    buf_clear(&out);
    buf_add_char(&out, '[');
    call_wire_ask(&out, call);
    buf_add_char(&out, ']');
    ck_ok(buf_failed(&out));
    json_decref(asks);
    asks = call_wire_asks(buf_bytes(&out));
    ck_assert_ptr_nonnull(asks);
    ck_assert_uint_eq(json_array_size(asks), 1);
    ck_assert_uint_le(call_wire_items(asks), ITEMS);
    ck_ok(call_wire_read_ask(json_array_get(asks, 0), &back, &items, arena));
    ck_assert_int_eq(back.verb, call->verb);
    if (call->verb != FRONTIER_PUT) {
        same(back.in.crawl, call->in.crawl);
        same(back.in.key, call->in.key);
        ck_assert_int_eq(memcmp(&back.cursor, &call->cursor,
                                sizeof back.cursor),
                         0);
    }
    return back;
}

static struct frontier_call call_of(enum frontier_verb verb)
{
    struct frontier_call call = {.verb = verb};

    call.in.crawl = odd;
    call.in.key = text("example.org");
    call.cursor.place = UINT64_MAX;
    call.cursor.done = (uint64_t)1 << 63;
    call.cursor.turn = 7;
    call.cursor.queue = UINT32_MAX;
    return call;
}

TEST(a_put_arrives_as_it_was_sent)
{
    struct frontier_item items[ITEMS] = {{.kind = FRONTIER_ITEM_NEITHER}};
    struct frontier_call call = {.verb = FRONTIER_PUT}, back;

    for (size_t i = 1; i < ITEMS; i++)
        items[i] = (struct frontier_item){
            .kind = i % 2 ? FRONTIER_ITEM_KNOWN : FRONTIER_ITEM_DISCOVERED,
            .crawl = i % 3 ? odd : text(""),
            .key = i % 5 ? text("k") : odd,
            .url = bytes_of("http://host/\xe2\x82\xac", i % 15),
            .metadata = bytes_of(all_octets, i),
            .refetch_s = i % 7 ? i : UINT64_MAX};
    /* cut characters are no UTF-8, and no transport passes them on */
    items[13].url = items[14].url = text("");
    for (size_t i = 28; i < ITEMS; i++)
        if (i % 15 > 12)
            items[i].url = odd;
    call.in.put = (struct frontier_put){items, ITEMS};
    back = passed_on(&call);
    ck_assert_uint_eq(back.in.put.n, ITEMS);
    for (size_t i = 0; i < ITEMS; i++) {
        const struct frontier_item *a = &items[i], *b = &back.in.put.items[i];

        ck_assert_int_eq(a->kind, b->kind);
        same(a->crawl, b->crawl);
        same(a->key, b->key);
        same(a->url, b->url);
        same(a->metadata, b->metadata);
        ck_assert_uint_eq(a->refetch_s, b->refetch_s);
        ck_assert_int_eq(b->ack, FRONTIER_ACK_FAIL);
    }
}

TEST(each_call_arrives_as_it_was_sent)
{
    for (unsigned v = 0; v < FRONTIER_VERBS_; v++) {
        struct frontier_call call = call_of((enum frontier_verb)v), back;

        switch (call.verb) {
        case FRONTIER_PUT:
            continue;
        case FRONTIER_GET:
            call.in.get = (struct frontier_get){true, 1, UINT32_MAX, 30};
            back = passed_on(&call);
            ck_assert(back.in.get.any_crawl);
            ck_assert_uint_eq(back.in.get.max_urls_per_queue, 1);
            ck_assert_uint_eq(back.in.get.max_queues, UINT32_MAX);
            ck_assert_uint_eq(back.in.get.delay_requestable_s, 30);
            break;
        case FRONTIER_URL_STATUS:
            call.in.url = odd;
            same(passed_on(&call).in.url, odd);
            break;
        case FRONTIER_LIST_URLS:
        case FRONTIER_COUNT_URLS:
            call.in.list = (struct frontier_list){3, 4, true, true, odd};
            back = passed_on(&call);
            ck_assert_uint_eq(back.in.list.start, 3);
            ck_assert_uint_eq(back.in.list.size, 4);
            ck_assert(back.in.list.filtered && back.in.list.ignore_case);
            same(back.in.list.filter, odd);
            break;
        case FRONTIER_PURGE_URLS:
            call.in.days = UINT32_MAX;
            ck_assert_uint_eq(passed_on(&call).in.days, UINT32_MAX);
            break;
        case FRONTIER_LIST_QUEUES:
            call.in.queues = (struct frontier_list_queues){5, 6, true};
            back = passed_on(&call);
            ck_assert_uint_eq(back.in.queues.start, 5);
            ck_assert_uint_eq(back.in.queues.size, 6);
            ck_assert(back.in.queues.include_inactive);
            break;
        case FRONTIER_BLOCK_QUEUE:
        case FRONTIER_SET_DELAY:
        case FRONTIER_SET_LIMIT:
            call.in.setting = (struct frontier_setting){UINT64_MAX, 999, true};
            back = passed_on(&call);
            ck_assert_uint_eq(back.in.setting.value, UINT64_MAX);
            ck_assert_uint_eq(back.in.setting.ms, 999);
            ck_assert(back.in.setting.standard);
            break;
        case FRONTIER_SET_ACTIVE:
            call.in.active = true;
            ck_assert(passed_on(&call).in.active);
            break;
        case FRONTIER_SET_LOG_LEVEL:
            call.in.log_level = 4;
            ck_assert_uint_eq(passed_on(&call).in.log_level, 4);
            break;
        case FRONTIER_SETTLE:
            call.in.settle = (struct frontier_settle){
                UINT64_MAX - 5, URL_SETTLE_EXTEND,        9,
                true,           bytes_of(all_octets, 77), UINT32_MAX};
            back = passed_on(&call);
            ck_assert_uint_eq(back.in.settle.lease, UINT64_MAX - 5);
            ck_assert_int_eq(back.in.settle.how, URL_SETTLE_EXTEND);
            ck_assert_uint_eq(back.in.settle.refetch_s, 9);
            ck_assert(back.in.settle.keep_metadata);
            same(back.in.settle.metadata, call.in.settle.metadata);
            ck_assert_uint_eq(back.in.settle.seconds, UINT32_MAX);
            break;
        default:
            (void)passed_on(&call);
        }
    }
}

static const char *const bad_calls[] = {
    "[1]",
    "[{}]",
    "[{\"verb\":\"nothing\"}]",
    "[{\"verb\":1}]",
    "[{\"verb\":\"put\"}]",
    "[{\"verb\":\"put\",\"items\":[]}]",
    "[{\"verb\":\"put\",\"items\":[[]]}]",
    "[{\"verb\":\"put\",\"items\":[[3,\"\",\"\",\"\",0,\"\"]]}]",
    "[{\"verb\":\"put\",\"items\":[[-1,\"\",\"\",\"\",0,\"\"]]}]",
    "[{\"verb\":\"put\",\"items\":[[1,\"\",\"\",\"\",0.5,\"\"]]}]",
    "[{\"verb\":\"put\",\"items\":[[1,\"\",\"\",null,0,\"\"]]}]",
    "[{\"verb\":\"put\",\"items\":[[1,\"\",\"\",\"\",0,\"a\"]]}]",
    "[{\"verb\":\"put\",\"items\":[[1,\"\",\"\",\"\",0,\"a===\"]]}]",
    "[{\"verb\":\"put\",\"items\":[[1,\"\",\"\",\"\",0,\"aa=a\"]]}]",
    "[{\"verb\":\"put\",\"items\":[[1,\"\",\"\",\"\",0,\"aa*a\"]]}]",
    "[{\"verb\":\"put\",\"items\":[[1,\"\",\"\",\"\",0,\"\",1]]}]",
    "[{\"verb\":\"get\"}]",
    "[{\"verb\":\"get\",\"crawl\":\"\",\"key\":\"\",\"n\":[0,0,0],"
    "\"cursor\":[0,0,0,0]}]",
    "[{\"verb\":\"get\",\"crawl\":\"\",\"key\":\"\",\"n\":[0,4294967296,0,0],"
    "\"cursor\":[0,0,0,0]}]",
    "[{\"verb\":\"get\",\"crawl\":\"\",\"key\":\"\",\"n\":[0,0,0,0],"
    "\"cursor\":[0,0,0,4294967296]}]",
    "[{\"verb\":\"get\",\"crawl\":\"\",\"key\":\"\",\"n\":[0,0,0,0],"
    "\"cursor\":[0,0,0]}]",
    "[{\"verb\":\"url_status\",\"crawl\":\"\",\"key\":\"\",\"n\":[],"
    "\"cursor\":[0,0,0,0]}]",
    "[{\"verb\":\"settle\",\"crawl\":\"\",\"key\":\"\",\"n\":[1,3,0,0,0],"
    "\"cursor\":[0,0,0,0],\"metadata\":\"\"}]",
    "[{\"verb\":\"set_delay\",\"crawl\":\"\",\"key\":\"\",\"n\":[1,1000,0],"
    "\"cursor\":[0,0,0,0]}]",
};

TEST_EACH(a_call_that_is_not_valid_is_refused, bad_calls)
{
    struct frontier_call call = {.verb = FRONTIER_PUT};
    struct frontier_item *items = room;

    asks = call_wire_asks(text(bad_calls[_i]));
    ck_assert_ptr_nonnull(asks);
    ck_assert_int_eq(call_wire_read_ask(json_array_get(asks, 0), &call, &items,
                                        arena),
                     STATUS_FORMAT);
}

TEST(a_body_has_some_calls_but_not_too_many)
{
    ck_assert_ptr_null(call_wire_asks(text("")));
    ck_assert_ptr_null(call_wire_asks(text("{}")));
    ck_assert_ptr_null(call_wire_asks(text("[]")));
    ck_assert_ptr_null(call_wire_asks(text("[{}")));
    buf_add_char(&out, '[');
    for (int i = 0; i < CALL_WIRE_CALLS; i++)
        buf_add_str(&out, i > 0 ? ",{}" : "{}");
    buf_add_char(&out, ']');
    asks = call_wire_asks(buf_bytes(&out));
    ck_assert_ptr_nonnull(asks);
    buf_truncate(&out, out.len - 1);
    buf_add_str(&out, ",{}]");
    ck_assert_ptr_null(call_wire_asks(buf_bytes(&out)));
}

/* Kafka would not take its row, and the shard would end. */
TEST(an_item_that_no_client_can_send_is_refused)
{
    size_t n = CALL_WIRE_ITEM_MOST + 1;
    char *url = xmalloc(n);
    struct frontier_item item = {.kind = FRONTIER_ITEM_DISCOVERED,
                                 .url = bytes_of(url, n)},
                         *items = room;
    struct frontier_call call = {.verb = FRONTIER_PUT, .in.put = {&item, 1}},
                         back = {.verb = FRONTIER_PUT};

    memset(url, 'u', n);
    buf_add_char(&out, '[');
    call_wire_ask(&out, &call);
    buf_add_char(&out, ']');
    asks = call_wire_asks(buf_bytes(&out));
    ck_assert_int_eq(call_wire_read_ask(json_array_get(asks, 0), &back, &items,
                                        arena),
                     STATUS_FORMAT);
    item.url.len--;
    (void)passed_on(&call);
    free(url);
}

/* ---- answers ---- */

/* Writes the answer of one call, and reads it into another. */
static enum status answer_passed_on(const struct frontier_call *call,
                                    struct frontier_call *back)
{
    struct frontier_call *const calls[] = {back};

    buf_clear(&out);
    buf_add_char(&out, '[');
    call_wire_answer(&out, call);
    buf_add_char(&out, ']');
    ck_ok(buf_failed(&out));
    return call_wire_read_answers(buf_bytes(&out), calls, 1);
}

/* What only the frontier knows to mend is not told in its own words. */
TEST(a_failure_arrives_as_one_that_may_pass)
{
    static const enum status sent[] = {STATUS_NOT_FOUND, STATUS_ARG,
                                       STATUS_LIMIT,     STATUS_BUSY,
                                       STATUS_CLOSED,    STATUS_IO,
                                       STATUS_FULL,      STATUS_DAMAGED};
    static const enum status heard[] = {STATUS_NOT_FOUND, STATUS_ARG,
                                        STATUS_LIMIT,     STATUS_BUSY,
                                        STATUS_CLOSED,    STATUS_CLOSED,
                                        STATUS_CLOSED,    STATUS_CLOSED};

    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
        struct frontier_call call = call_of(FRONTIER_SETTLE),
                             back = {.verb = FRONTIER_SETTLE};

        call.status = sent[i];
        ck_ok(answer_passed_on(&call, &back));
        ck_assert_int_eq(back.status, heard[i]);
        frontier_call_fini(&back);
    }
}

#define REST "\"names\":[],\"n\":[0,0,0],\"cursor\":[0,0,0,0]"
static const char *const bad_answers[] = {
    "",
    "{}",
    "[]",
    "[{},{}]",
    "[{}]",
    "[{\"status\":\"good\"}]",
    "[{\"status\":\"ok\"}]",
    "[{\"status\":\"ok\",\"crawl\":\"c\",\"urls\":1," REST "}]",
    "[{\"status\":\"ok\",\"crawl\":\"c\",\"urls\":[[]]," REST "}]",
    "[{\"status\":\"ok\",\"crawl\":\"c\",\"urls\":[[\"\",\"\",\"\",\"\",0,0]]"
    "," REST "}]",
    "[{\"status\":\"ok\",\"crawl\":\"c\",\"urls\":[[\"\",\"\",\"\",\"*\",0,0,0]"
    "]," REST "}]",
    "[{\"status\":\"ok\",\"crawl\":\"c\",\"urls\":[],\"names\":[1],"
    "\"n\":[0,0,0],\"cursor\":[0,0,0,0]}]",
    "[{\"status\":\"ok\",\"crawl\":\"c\",\"urls\":[],\"names\":[],"
    "\"n\":[0,0],\"cursor\":[0,0,0,0]}]",
    "[{\"status\":\"ok\",\"crawl\":\"c\",\"urls\":[],\"names\":[],"
    "\"n\":[0,0,0]}]",
    /* only GET and LIST_URLS have parts */
    "[{\"status\":\"ok\",\"crawl\":\"c\",\"urls\":[],\"names\":[],"
    "\"n\":[0,0,1],\"cursor\":[0,0,0,0]}]",
};

TEST_EACH(an_answer_that_is_not_valid_is_refused, bad_answers)
{
    struct frontier_call back = {.verb = FRONTIER_LIST_QUEUES};
    struct frontier_call *const calls[] = {&back};

    ck_assert_int_eq(call_wire_read_answers(text(bad_answers[_i]), calls, 1),
                     STATUS_FORMAT);
    frontier_call_fini(&back);
}

TEST(an_answer_has_no_more_urls_than_a_part)
{
    struct frontier_call back = {.verb = FRONTIER_GET};
    struct frontier_call *const calls[] = {&back};

    buf_add_str(&out, "[{\"status\":\"ok\",\"crawl\":\"\",\"urls\":[");
    for (int i = 0; i <= 2 * ANSWER_PART_URLS; i++)
        buf_add_str(&out, i > 0 ? ",[\"\",\"\",\"\",\"\",0,0,0]"
                                : "[\"\",\"\",\"\",\"\",0,0,0]");
    buf_add_str(&out, "]," REST "}]");
    ck_assert_int_eq(call_wire_read_answers(buf_bytes(&out), calls, 1),
                     STATUS_FORMAT);
    frontier_call_fini(&back);
}
