/* SPDX-License-Identifier: MIT */
/*
 * http_shards.c - calls that other processes of a service send, for shards that
 * this one has (docs/formats/shard-calls.md specifies them), and how a crawl on
 * many machines stands.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cluster/cluster_stats.h"
#include "frontier/url/shard.h"
#include "service/http/http_route.h"
#include "service/http/http_server.h"
#include "service/shards/call_wire.h"

/* The number in the path; SHARDS_MOST: there is none. */
static uint32_t shard_of(const struct http_request *r)
{
    char *end = NULL;
    unsigned long n = strtoul(r->name, &end, 10);

    return r->name[0] >= '0' && r->name[0] <= '9' && *end == '\0' &&
                   n < SHARDS_MOST
               ? (uint32_t)n
               : SHARDS_MOST;
}

static void ask_calls(struct http_request *r)
{
    json_t *asks = call_wire_asks(buf_bytes(&r->body));
    struct frontier_item *items;
    uint32_t shard = shard_of(r);
    struct frontier_call *calls;

    json_decref(r->in);
    r->in = asks; /* the calls point into it */
    if (asks == NULL || shard == SHARDS_MOST) {
        http_problem(r, 400, "expected an array of calls on a shard");
        return;
    }
    items = r->items = xcalloc(call_wire_items(asks) + 1, sizeof *items);
    calls = http_calls(r, FRONTIER_PUT, json_array_size(asks));
    for (size_t i = 0; i < r->call_count; i++) {
        enum status st = call_wire_read_ask(json_array_get(asks, i), &calls[i],
                                            &items, r->arena);

        if (st != STATUS_OK) {
            http_problem(r, st == STATUS_LIMIT ? 413 : 400,
                         "call %zu is not valid", i);
            return;
        }
        calls[i].shard = shard + 1;
    }
}

static void reply_calls(struct http_request *r)
{
    struct buf out;
    size_t len;
    char *text;

    buf_init(&out, CALL_WIRE_MOST);
    for (size_t i = 0; i < r->call_count; i++) {
        buf_add_char(&out, i > 0 ? ',' : '[');
        call_wire_answer(&out, &r->calls[i]);
    }
    buf_add_char(&out, ']');
    if (buf_failed(&out) != STATUS_OK) {
        buf_fini(&out);
        http_problem(r, 413, "the answer would be too large");
        return;
    }
    text = buf_take(&out, &len);
    http_answer_text(r, "application/json", text, len);
}

static void ask_cluster(struct http_request *r)
{
    struct cluster_board *b = http_server_options(r->server)->cluster;

    if (!http_members(r, r->in, -1, NULL, 0))
        return;
    if (b != NULL)
        http_answer(r, 200, cluster_board_json(b));
    else
        http_problem(r, 404,
                     "this process is no worker of a crawl on many machines");
}

/* clang-format off */
const struct http_route http_shard_routes[] = {
    {.method = "POST", .path = "/v1/shards/{shard}", .body = true,
     .calls = true, .role = AUTH_ADMIN, .ask = ask_calls,
     .reply = reply_calls},
    {.method = "GET", .path = "/v1/cluster", .role = AUTH_READ,
     .ask = ask_cluster},
    {.path = NULL},
};
/* clang-format on */
