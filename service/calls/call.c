/* SPDX-License-Identifier: MIT */
/* call.c - starts and ends a call, names the verbs, builds its answer. */
#include "service/calls/call.h"

void frontier_call_init(struct frontier_call *call, enum frontier_verb verb,
                        void (*done)(struct frontier_call *call), void *ctx)
{
    *call = (struct frontier_call){.verb = verb, .done = done, .ctx = ctx};
}

void frontier_call_fini(struct frontier_call *call)
{
    if (call->joint != NULL)
        call->joint_free(call->joint);
    call->joint = NULL;
    arena_free(call->memory);
    call->memory = NULL;
}

const char *frontier_verb_name(enum frontier_verb v)
{
    static const char *const names[FRONTIER_VERBS_] = {
        [FRONTIER_PUT] = "put",
        [FRONTIER_GET] = "get",
        [FRONTIER_URL_STATUS] = "url_status",
        [FRONTIER_LIST_URLS] = "list_urls",
        [FRONTIER_COUNT_URLS] = "count_urls",
        [FRONTIER_PURGE_URLS] = "purge_urls",
        [FRONTIER_LIST_QUEUES] = "list_queues",
        [FRONTIER_DELETE_QUEUE] = "delete_queue",
        [FRONTIER_BLOCK_QUEUE] = "block_queue",
        [FRONTIER_SET_DELAY] = "set_delay",
        [FRONTIER_SET_LIMIT] = "set_limit",
        [FRONTIER_STATS] = "stats",
        [FRONTIER_LIST_CRAWLS] = "list_crawls",
        [FRONTIER_DELETE_CRAWL] = "delete_crawl",
        [FRONTIER_SET_ACTIVE] = "set_active",
        [FRONTIER_GET_ACTIVE] = "get_active",
        [FRONTIER_SET_LOG_LEVEL] = "set_log_level",
        [FRONTIER_LIST_NODES] = "list_nodes",
        [FRONTIER_SETTLE] = "settle",
    };

    return names[v];
}

/* ---- builds the answer of a call ---- */

#define PART_BYTES  ((size_t)1 << 20) /* a part with so many is sent */

#define MEMORY_MOST ((size_t)64 << 20) /* for one part of an answer */

void answer_begin(struct frontier_call *call)
{
    if (call->memory == NULL)
        call->memory = arena_new(MEMORY_MOST);
    else
        arena_reset(call->memory);
    call->status = STATUS_OK;
    call->why = NULL;
    call->urls = NULL;
    call->names = NULL;
    call->url_count = call->name_count = 0;
    call->number = 0;
    call->more = call->flag = call->under_way = false;
}

struct bytes answer_keep(struct frontier_call *call, struct bytes b)
{
    char *at = b.len > 0 ? arena_try_copy(call->memory, b.at, b.len) : NULL;

    if (b.len > 0 && at == NULL)
        call->status = STATUS_LIMIT;
    return at != NULL ? bytes_of(at, b.len) : (struct bytes){NULL, 0};
}

void *answer_room(struct frontier_call *call, size_t most, size_t size)
{
    void *at = arena_try(call->memory, most * size);

    if (at == NULL)
        call->status = STATUS_LIMIT;
    return at;
}

void answer_name(void *ctx, struct bytes name)
{
    struct frontier_call *call = ctx;

    call->names[call->name_count++] = answer_keep(call, name);
}

bool answer_is_full(const struct frontier_call *call)
{
    return call->url_count >= ANSWER_PART_URLS ||
           arena_used(call->memory) >= PART_BYTES;
}

void answer_refuse(struct frontier_call *call, const char *why)
{
    answer_fail(call, STATUS_REFUSED);
    call->why = why;
}

void answer_fail(struct frontier_call *call, enum status st)
{
    call->status = st;
    call->url_count = call->name_count = 0;
    call->more = call->under_way = false;
    for (size_t i = 0; call->verb == FRONTIER_PUT && i < call->in.put.n; i++)
        call->in.put.items[i].ack = FRONTIER_ACK_FAIL;
}

/* ---- time ---- */

int64_t wire_ms(uint64_t seconds)
{
    const uint64_t most = UINT64_C(300000000000);

    return (int64_t)(seconds < most ? seconds : most) * 1000;
}

uint64_t wire_seconds(int64_t ms)
{
    return ms > 0 ? (uint64_t)ms / 1000 : 0;
}

int64_t wire_end_of_block(uint64_t until_s)
{
    return until_s > 0 ? wire_ms(until_s) + 1000 : 0;
}
