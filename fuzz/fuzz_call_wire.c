/* SPDX-License-Identifier: MIT */
/*
 * fuzz_call_wire.c - any body between the processes of a cluster is read, or
 * refused.
 *
 * The first octet chooses: calls, or the answers of two calls, whose verbs it
 * names. Calls that are read are written and read again: the text is the same.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "service/shards/call_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ARENA ((size_t)1 << 20)

static void write_again(const struct frontier_call *call)
{
    struct frontier_call back = {.verb = FRONTIER_VERBS_};
    struct arena *a = arena_new(ARENA);
    struct frontier_item *items;
    struct buf first, second;
    json_t *asks;

    buf_init(&first, CALL_WIRE_MOST);
    buf_init(&second, CALL_WIRE_MOST);
    buf_add_char(&first, '[');
    call_wire_ask(&first, call);
    buf_add_char(&first, ']');
    asks = call_wire_asks(buf_bytes(&first));
    assert(asks != NULL);
    items = xcalloc(call_wire_items(asks) + 1, sizeof *items);
    {
        struct frontier_item *next = items;

        assert(call_wire_read_ask(json_array_get(asks, 0), &back, &next, a) ==
               STATUS_OK);
    }
    buf_add_char(&second, '[');
    call_wire_ask(&second, &back);
    buf_add_char(&second, ']');
    assert(bytes_equal(buf_bytes(&first), buf_bytes(&second)));
    free(items);
    json_decref(asks);
    arena_free(a);
    buf_fini(&first);
    buf_fini(&second);
}

static void read_calls(struct bytes body)
{
    json_t *asks = call_wire_asks(body);
    struct frontier_item *items =
        xcalloc(call_wire_items(asks) + 1, sizeof *items);
    struct frontier_item *next = items;
    struct arena *a = arena_new(ARENA);

    for (size_t i = 0; i < json_array_size(asks); i++) {
        struct frontier_call call = {.verb = FRONTIER_PUT};

        if (call_wire_read_ask(json_array_get(asks, i), &call, &next, a) !=
            STATUS_OK)
            break;
        write_again(&call);
    }
    arena_free(a);
    free(items);
    json_decref(asks);
}

static void read_answers(struct bytes body, unsigned verb)
{
    struct frontier_item items[3] = {{.ack = FRONTIER_ACK_FAIL}};
    struct frontier_call one = {.verb = (enum frontier_verb)verb}, two = one;
    struct frontier_call *const calls[] = {&one, &two};

    if (verb == FRONTIER_PUT) {
        one.in.put = (struct frontier_put){items, 1};
        two.in.put = (struct frontier_put){items + 1, 2};
    }
    if (call_wire_read_answers(body, calls, 2) == STATUS_OK)
        assert(one.url_count <= 2000 && two.url_count <= 2000);
    frontier_call_fini(&one);
    frontier_call_fini(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] < FRONTIER_VERBS_)
        read_answers(bytes_of(data + 1, size - 1), data[0]);
    else
        read_calls(bytes_of(data + 1, size - 1));
    return 0;
}
