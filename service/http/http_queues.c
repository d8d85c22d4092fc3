/* SPDX-License-Identifier: MIT */
/*
 * http_queues.c - paths to list, delete, block, delay and limit queues, and the
 * counts of a queue or a crawl. docs/formats/http-api.md specifies them.
 */
#include "service/http/http_route.h"
#include "service/http/http_server.h"

#define NAMES_MOST 10000
#define DELAY_MOST 4294967295.0 /* seconds */
#define COUNT(a)   (sizeof(a) / sizeof *(a))

/* ---- listing and deleting ---- */

static void ask_queues(struct http_request *r)
{
    uint64_t start = 0, size = 100;
    struct bytes crawl = {NULL, 0};
    struct frontier_list_queues in = {0};
    struct frontier_call *call;
    const struct http_member members[] = {
        {.name = "crawl", .type = HTTP_TEXT, .to = &crawl},
        {.name = "start",
         .type = HTTP_NUMBER,
         .to = &start,
         .most = UINT32_MAX},
        {.name = "size",
         .type = HTTP_NUMBER,
         .to = &size,
         .least = 1,
         .most = NAMES_MOST},
        {.name = "include_inactive",
         .type = HTTP_FLAG,
         .to = &in.include_inactive},
    };

    if (!http_members(r, r->in, -1, members, COUNT(members)))
        return;
    in.start = (uint32_t)start;
    in.size = (uint32_t)size;
    call = http_calls(r, FRONTIER_LIST_QUEUES, 1);
    call->in.crawl = crawl;
    call->in.queues = in;
}

static void reply_queues(struct http_request *r)
{
    const struct frontier_call *call = &r->calls[0];
    json_t *o, *names;

    if (http_failed(r, call->status))
        return;
    o = json_object();
    names = json_array();
    for (size_t i = 0; i < call->name_count; i++)
        json_array_append_new(names, http_bytes_json(call->names[i]));
    json_object_set_new(o, "crawl", http_bytes_json(call->crawl_id));
    json_object_set_new(o, "queues", names);
    http_answer(r, 200, o);
}

static struct frontier_call *new_call(struct http_request *r,
                                      enum frontier_verb verb,
                                      struct bytes crawl, struct bytes key)
{
    struct frontier_call *call = http_calls(r, verb, 1);

    call->in.crawl = crawl;
    call->in.key = key;
    return call;
}

static void ask_delete_queue(struct http_request *r)
{
    struct bytes crawl = {NULL, 0}, key = {NULL, 0};
    const struct http_member members[] = {
        {.name = "crawl", .type = HTTP_TEXT, .to = &crawl},
        {.name = "key",
         .type = HTTP_TEXT,
         .to = &key,
         .needed = true,
         .least = 1},
    };

    if (http_members(r, r->in, -1, members, COUNT(members)))
        (void)new_call(r, FRONTIER_DELETE_QUEUE, crawl, key);
}

void http_reply_deleted(struct http_request *r)
{
    json_t *o;

    if (http_failed(r, r->calls[0].status))
        return;
    o = json_object();
    json_object_set_new(o, "deleted",
                        json_integer((json_int_t)r->calls[0].number));
    http_answer(r, 200, o);
}

/* ---- settings of a queue ---- */

/* Takes out "delay_seconds": a number, or null for the default. False: the
 * request has been answered. */
static bool read_delay(struct http_request *r, struct frontier_setting *in)
{
    const json_t *v = json_object_get(r->in, "delay_seconds");
    double seconds = json_number_value(v);
    uint64_t ms;

    in->standard = json_is_null(v);
    if (!in->standard &&
        (!json_is_number(v) || seconds < 0 || seconds > DELAY_MOST)) {
        http_problem(r, 400,
                     "'delay_seconds' must be a number of seconds, or null");
        return false;
    }
    ms = (uint64_t)(seconds * 1000 + 0.5);
    in->value = ms / 1000;
    in->ms = (uint16_t)(ms % 1000);
    json_object_del(r->in, "delay_seconds");
    return true;
}

/* block, delay, limit: one value each. */
static void ask_queue(struct http_request *r)
{
    enum frontier_verb verb = (enum frontier_verb)r->route->how;
    struct bytes crawl = {NULL, 0}, key = {NULL, 0};
    struct frontier_setting in = {0};
    size_t n = verb == FRONTIER_SET_DELAY ? 2 : 3;
    struct http_member members[] = {
        {.name = "crawl", .type = HTTP_TEXT, .to = &crawl},
        {.name = "key", .type = HTTP_TEXT, .to = &key},
        {.name = "until", .type = HTTP_TIME, .to = &in.value, .needed = true},
    };

    if (verb == FRONTIER_SET_LIMIT) {
        members[2].name = "limit";
        members[2].type = HTTP_NUMBER;
        members[2].most = UINT32_MAX;
    }
    if (verb == FRONTIER_SET_DELAY && !read_delay(r, &in))
        return;
    if (!http_members(r, r->in, -1, members, n))
        return;
    new_call(r, verb, crawl, key)->in.setting = in;
}

static void reply_empty(struct http_request *r)
{
    if (!http_failed(r, r->calls[0].status))
        http_answer(r, 200, json_object());
}

/* ---- GET /v1/stats ---- */

static void ask_stats(struct http_request *r)
{
    struct bytes crawl = {NULL, 0}, key = {NULL, 0};
    const struct http_member members[] = {
        {.name = "crawl", .type = HTTP_TEXT, .to = &crawl},
        {.name = "key", .type = HTTP_TEXT, .to = &key},
    };

    if (http_members(r, r->in, -1, members, COUNT(members)))
        (void)new_call(r, FRONTIER_STATS, crawl, key);
}

static void set_number(json_t *o, const char *name, uint64_t n)
{
    json_object_set_new(o, name, json_integer((json_int_t)n));
}

static void reply_stats(struct http_request *r)
{
    const struct url_counts *n = &r->calls[0].counts;
    json_t *o;

    if (http_failed(r, r->calls[0].status))
        return;
    o = json_object();
    json_object_set_new(o, "crawl", http_bytes_json(r->calls[0].crawl_id));
    set_number(o, "size", n->active);
    set_number(o, "in_process", n->leased);
    set_number(o, "completed", n->completed);
    set_number(o, "queues", n->queues);
    set_number(o, "active_queues", n->active_queues);
    http_answer(r, 200, o);
}

/* ---- the paths ---- */

#define POST .method = "POST", .body = true
#define GET  .method = "GET", .role = AUTH_READ
#define DEL  .method = "DELETE", .role = AUTH_ADMIN

/* clang-format off */
const struct http_route http_queue_routes[] = {
    {GET, .path = "/v1/queues", .ask = ask_queues, .reply = reply_queues},
    {DEL, .path = "/v1/queues", .ask = ask_delete_queue,
     .reply = http_reply_deleted},
    {POST, .path = "/v1/queues/block", .role = AUTH_WRITE,
     .ask = ask_queue, .reply = reply_empty, .how = FRONTIER_BLOCK_QUEUE},
    {POST, .path = "/v1/queues/delay", .role = AUTH_WRITE,
     .ask = ask_queue, .reply = reply_empty, .how = FRONTIER_SET_DELAY},
    {POST, .path = "/v1/queues/limit", .role = AUTH_ADMIN,
     .ask = ask_queue, .reply = reply_empty, .how = FRONTIER_SET_LIMIT},
    {GET, .path = "/v1/stats", .ask = ask_stats, .reply = reply_stats},
    {.path = NULL},
};
/* clang-format on */
