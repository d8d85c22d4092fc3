/* SPDX-License-Identifier: MIT */
/*
 * http_api.c - paths to put, lease and settle URLs: the frontier calls each
 * makes and its answer. docs/formats/http-api.md specifies them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cluster/cluster_stats.h"
#include "frontier/served/served_columns.h"
#include "frontier/url/host.h"
#include "service/http/http_pages.h"
#include "service/http/http_request.h"
#include "service/http/http_server.h"
#include "service/shards/call_wire.h"

#define SETTLE_MOST 1000 /* most leases in one body */
#define LEASE_MOST  86400
#define COUNT(a)    (sizeof(a) / sizeof *(a))

/* ---- reading ---- */

/* The body as an array; a single object becomes an array of one. Borrowed. */
static bool as_array(struct http_request *r, size_t most)
{
    if (json_is_object(r->in)) {
        json_t *array = json_array();

        json_array_append_new(array, r->in);
        r->in = array;
    }
    if (!json_is_array(r->in) || json_array_size(r->in) == 0)
        http_problem(r, 400, "expected an object or an array of objects");
    else if (json_array_size(r->in) > most)
        http_problem(r, 413, "at most %zu items in one body", most);
    return r->status == 0;
}

/* The names of one URL. */
struct url_name {
    struct bytes crawl, key, url;
};

static bool take_item(struct http_request *r, struct frontier_item *item,
                      const struct url_name *u, json_t *metadata, long at)
{
    enum status st =
        http_item_take(item, u->url, u->key, u->crawl, metadata, r->arena);

    if (st == STATUS_FORMAT)
        http_problem(r, 400,
                     "item %ld: 'metadata' must be an object of arrays of "
                     "strings",
                     at);
    else if (st != STATUS_OK)
        http_problem(r, 413, "the body takes too much memory");
    return st == STATUS_OK;
}

/* ---- POST /v1/urls ---- */

static bool read_put(struct http_request *r, json_t *object, long at,
                     struct frontier_item *item)
{
    struct url_name u = {0};
    struct bytes kind = bytes_of_str("discovered");
    json_t *metadata = NULL;
    const struct http_member members[] = {
        {.name = "url",
         .type = HTTP_TEXT,
         .to = &u.url,
         .needed = true,
         .least = 1},
        {.name = "key", .type = HTTP_TEXT, .to = &u.key},
        {.name = "crawl", .type = HTTP_TEXT, .to = &u.crawl},
        {.name = "kind", .type = HTTP_TEXT, .to = &kind},
        {.name = "refetch_at", .type = HTTP_TIME, .to = &item->refetch_s},
        {.name = "metadata", .type = HTTP_METADATA, .to = &metadata},
    };

    if (!http_members(r, object, at, members, COUNT(members)))
        return false;
    item->kind = bytes_is(kind, "known") ? FRONTIER_ITEM_KNOWN
                                         : FRONTIER_ITEM_DISCOVERED;
    if (!bytes_is(kind, "known") && !bytes_is(kind, "discovered"))
        http_problem(r, 400, "item %ld: 'kind' must be discovered or known",
                     at);
    else
        return take_item(r, item, &u, metadata, at);
    return false;
}

static void ask_put(struct http_request *r)
{
    size_t n;

    if (!as_array(r, FRONTIER_PUT_MOST))
        return;
    n = json_array_size(r->in);
    r->items = xcalloc(n, sizeof *r->items);
    for (size_t i = 0; i < n; i++)
        if (!read_put(r, json_array_get(r->in, i), (long)i, &r->items[i]))
            return;
    http_calls(r, FRONTIER_PUT, 1)->in.put = (struct frontier_put){r->items, n};
}

static void reply_put(struct http_request *r)
{
    static const char *const names[] = {"ok", "skipped", "failed"};
    const struct frontier_put *in = &r->calls[0].in.put;
    json_t *o = json_object(), *results = json_array();

    for (size_t i = 0; i < in->n; i++) {
        json_t *one = json_object();

        json_object_set_new(one, "url", http_bytes_json(in->items[i].url));
        json_object_set_new(one, "status",
                            json_string(names[in->items[i].ack]));
        json_array_append_new(results, one);
    }
    json_object_set_new(o, "results", results);
    if (http_failed(r, r->calls[0].status))
        json_decref(o);
    else
        http_answer(r, 200, o);
}

/* ---- POST /v1/lease ---- */

static void ask_lease(struct http_request *r)
{
    struct bytes crawl = {NULL, 0}, key = {NULL, 0};
    uint64_t per_queue = 1, queues = 100, length = 30;
    bool any;
    struct frontier_call *call;
    const struct http_member members[] = {
        {.name = "crawl", .type = HTTP_TEXT, .to = &crawl},
        {.name = "key", .type = HTTP_TEXT, .to = &key},
        {.name = "max_urls_per_queue",
         .type = HTTP_NUMBER,
         .to = &per_queue,
         .least = 1,
         .most = 1000},
        {.name = "max_queues",
         .type = HTTP_NUMBER,
         .to = &queues,
         .least = 1,
         .most = 1000},
        {.name = "lease_seconds",
         .type = HTTP_NUMBER,
         .to = &length,
         .least = 1,
         .most = LEASE_MOST},
    };

    if (!http_members(r, r->in, -1, members, COUNT(members)))
        return;
    any = json_object_get(r->in, "crawl") == NULL && key.len == 0;
    if (crawl.len == 0)
        crawl = bytes_of_str("DEFAULT"); /* a blank key would match nothing */
    call = http_calls(r, FRONTIER_GET, 1);
    call->in.crawl = crawl;
    call->in.key = key;
    call->in.get = (struct frontier_get){
        .any_crawl = any,
        .max_urls_per_queue = (uint32_t)per_queue,
        .max_queues = (uint32_t)queues,
        .delay_requestable_s = (uint32_t)length,
    };
}

static json_t *url_json(struct http_request *r, const struct frontier_url *u,
                        enum served_view_id view, struct served_record *f)
{
    json_t *o = json_object();

    f->url = u->url;
    f->key = u->key;
    f->crawl = u->crawl;
    f->metadata = http_metadata_json(u->metadata, r->arena);
    column_view_set(&served_views[view], f, o);
    json_decref(f->metadata);
    return o;
}

/* The answer is one part: other URLs are not leased, and the next request can
 * have them. */
static void reply_lease(struct http_request *r)
{
    const struct frontier_call *call = &r->calls[0];
    json_t *o, *urls;

    if (http_failed(r, call->status))
        return;
    o = json_object();
    urls = json_array();
    for (size_t i = 0; i < call->url_count; i++) {
        struct served_record f = {.crawl = {NULL, 0}};
        json_t *one;

        arena_reset(r->arena);
        one = url_json(r, &call->urls[i], SERVED_VIEW_LEASED, &f);
        json_object_set_new(
            one, "lease",
            json_sprintf("%llu", (unsigned long long)call->urls[i].lease));
        json_array_append_new(urls, one);
    }
    json_object_set_new(o, "urls", urls);
    json_object_set_new(o, "more", json_boolean(call->more));
    http_answer(r, 200, o);
}

/* ---- POST /v1/ack, /v1/fail, /v1/extend ---- */

static bool read_settle(struct http_request *r, json_t *object, long at,
                        struct frontier_settle *in)
{
    uint64_t seconds = in->how == URL_SETTLE_EXTEND ? 30 : 0;
    json_t *metadata = NULL;
    const struct http_member ack[] = {
        {.name = "lease", .type = HTTP_LEASE, .to = &in->lease, .needed = true},
        {.name = "refetch_at", .type = HTTP_TIME, .to = &in->refetch_s},
        {.name = "metadata", .type = HTTP_METADATA, .to = &metadata},
    };
    const struct http_member other[] = {
        {.name = "lease", .type = HTTP_LEASE, .to = &in->lease, .needed = true},
        {.name =
             in->how == URL_SETTLE_EXTEND ? "lease_seconds" : "retry_seconds",
         .type = HTTP_NUMBER,
         .to = &seconds,
         .least = in->how == URL_SETTLE_EXTEND,
         .most = in->how == URL_SETTLE_EXTEND ? LEASE_MOST : UINT32_MAX},
    };
    struct frontier_item item = {0};
    struct url_name u = {0};

    if (in->how == URL_SETTLE_ACK) {
        if (!http_members(r, object, at, ack, COUNT(ack)) ||
            !take_item(r, &item, &u, metadata, at))
            return false;
        in->keep_metadata = metadata == NULL;
        in->metadata = item.metadata;
    } else if (!http_members(r, object, at, other, COUNT(other))) {
        return false;
    }
    in->seconds = (uint32_t)seconds;
    return true;
}

static void ask_settle(struct http_request *r)
{
    struct frontier_call *calls;
    size_t n;

    if (!as_array(r, SETTLE_MOST))
        return;
    n = json_array_size(r->in);
    calls = http_calls(r, FRONTIER_SETTLE, n);
    for (size_t i = 0; i < n; i++) {
        calls[i].in.settle.how = (enum url_settle)r->route->how;
        if (!read_settle(r, json_array_get(r->in, i), (long)i,
                         &calls[i].in.settle))
            return;
    }
}

static const char *settle_name(enum status st)
{
    if (st == STATUS_OK)
        return "ok";
    return st == STATUS_NOT_FOUND ? "gone" : "failed";
}

/* In a cluster: the shard of this lease has no owner, but others may have. */
static bool is_without_owner(const struct frontier_call *call)
{
    return call->status == STATUS_CLOSED && call->why != NULL;
}

static bool all_without_owner(const struct http_request *r)
{
    for (size_t i = 0; i < r->call_count; i++)
        if (!is_without_owner(&r->calls[i]))
            return false;
    return true;
}

/* Each lease has its own result; if the store failed, the request fails. */
static void reply_settle(struct http_request *r)
{
    json_t *o = json_object(), *results = json_array();
    bool none = all_without_owner(r);

    json_object_set_new(o, "results", results);
    for (size_t i = 0; i < r->call_count; i++) {
        const struct frontier_call *call = &r->calls[i];
        json_t *one = json_object();

        if (call->status != STATUS_OK && call->status != STATUS_NOT_FOUND &&
            call->status != STATUS_AGAIN && call->status != STATUS_REFUSED &&
            (none || !is_without_owner(call)))
            http_failed(r, call->status);
        json_object_set_new(
            one, "lease",
            json_sprintf("%llu", (unsigned long long)call->in.settle.lease));
        json_object_set_new(one, "status",
                            json_string(settle_name(call->status)));
        json_array_append_new(results, one);
    }
    http_answer(r, 200, o);
}

/* ---- GET /v1/url ---- */

static void ask_url(struct http_request *r)
{
    struct url_name in = {0};
    struct frontier_call *call;
    const struct http_member members[] = {
        {.name = "url",
         .type = HTTP_TEXT,
         .to = &in.url,
         .needed = true,
         .least = 1},
        {.name = "key", .type = HTTP_TEXT, .to = &in.key},
        {.name = "crawl", .type = HTTP_TEXT, .to = &in.crawl},
    };

    if (!http_members(r, r->in, -1, members, COUNT(members)))
        return;
    call = http_calls(r, FRONTIER_URL_STATUS, 1);
    call->in.crawl = in.crawl;
    call->in.key = in.key;
    call->in.url = in.url;
}

static struct served_record record_of(const struct url_facts *f)
{
    return (struct served_record){
        .state = f->state,
        .due_ms = f->state == URL_STATE_COMPLETED ? 0 : f->due_ms,
        .created_ms = f->created_ms,
        .leased_until_ms = f->leased_until_ms,
        .queue = {.delay_ms = f->delay_ms,
                  .blocked_until_ms = f->blocked_until_ms,
                  .served_ms = f->served_ms,
                  .limit = f->limit}};
}

static void reply_url(struct http_request *r)
{
    const struct frontier_call *call = &r->calls[0];
    struct served_record f = record_of(&call->facts);
    json_t *o, *queue;

    if (call->status == STATUS_NOT_FOUND)
        http_problem(r, 404, "this URL was never put into it");
    if (http_failed(r, call->status) || call->url_count != 1)
        return;
    o = url_json(r, &call->urls[0], SERVED_VIEW_URL, &f);
    queue = json_object();
    column_view_set(&served_views[SERVED_VIEW_QUEUE], &f, queue);
    json_object_set_new(o, "queue", queue);
    http_answer(r, 200, o);
}

/* ---- the paths ---- */

#define POST .method = "POST", .body = true
#define GET  .method = "GET", .role = AUTH_READ

/* clang-format off */
const struct http_route http_routes[] = {
    {.method = "GET", .path = "/healthz", .role = AUTH_NONE,
     .ask = http_ask_health},
    {.method = "GET", .path = "/", .role = AUTH_NONE,
     .ask = http_ask_dashboard},
    {.method = "GET", .path = "/dashboard/{file}", .role = AUTH_NONE,
     .ask = http_ask_dashboard},
    {GET, .path = "/metrics", .ask = http_ask_metrics},
    {POST, .path = "/v1/urls", .role = AUTH_WRITE,
     .ask = ask_put, .reply = reply_put},
    {POST, .path = "/v1/lease", .role = AUTH_WRITE,
     .ask = ask_lease, .reply = reply_lease},
    {POST, .path = "/v1/ack", .role = AUTH_WRITE,
     .ask = ask_settle, .reply = reply_settle, .how = URL_SETTLE_ACK},
    {POST, .path = "/v1/fail", .role = AUTH_WRITE,
     .ask = ask_settle, .reply = reply_settle, .how = URL_SETTLE_FAIL},
    {POST, .path = "/v1/extend", .role = AUTH_WRITE,
     .ask = ask_settle, .reply = reply_settle, .how = URL_SETTLE_EXTEND},
    {GET, .path = "/v1/url", .ask = ask_url, .reply = reply_url},
    {.path = NULL},
};
/* clang-format on */

/* ---- queues, and the counts of a queue or a crawl ----
 *
 * docs/formats/http-api.md specifies them.
 */

#define NAMES_MOST 10000
#define DELAY_MOST 4294967295.0 /* seconds */

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

#define DEL .method = "DELETE", .role = AUTH_ADMIN

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

/* ---- calls of other processes, for shards that this one has ---- */

/* The number in the path; SHARDS_MOST: there is none. */
static uint32_t shard_of(const struct http_request *r)
{
    uint64_t n;

    return bytes_number(bytes_of_str(r->name), SHARDS_MOST - 1, &n)
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
