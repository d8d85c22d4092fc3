/* SPDX-License-Identifier: MIT */
/* call.c - starts and ends a call, and names the verbs. */
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
