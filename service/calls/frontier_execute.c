/* SPDX-License-Identifier: MIT */
/*
 * frontier_execute.c - what each call means, in terms of
 * frontier/served/items.h.
 *
 * Here the wire's seconds become milliseconds, blank names get their meaning,
 * and what the API calls an answer is put together. The rules are those of the
 * reference service, but where docs/decisions/service-store.md says why not.
 */
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "frontier/served/item_name.h"
#include "service/calls/frontier_answer.h"
#include "service/calls/frontier_state.h"

#define LIST_BUDGET   20000 /* URLs looked at before others get a turn */
#define FILTER_BUDGET 1000  /* of them with their rows read */

/* ---- putting an answer together ---- */

static bool add_url(void *ctx, const struct item_view *v)
{
    struct frontier_call *call = ctx;

    call->urls[call->url_count++] = (struct frontier_url){
        .crawl = answer_keep(call, v->crawl),
        .key = answer_keep(call, v->key),
        .url = answer_keep(call, v->url),
        .metadata = answer_keep(call, v->metadata),
        .refetch_s = wire_seconds(v->due_ms),
        .created_s = wire_seconds(v->created_ms),
        .lease = v->lease,
    };
    return !answer_is_full(call);
}

static struct bytes named(struct frontier_call *call, struct bytes crawl)
{
    call->crawl_id = item_crawl_name(crawl);
    return call->crawl_id;
}

/* ---- put ---- */

/* The key, or the one in the URL; false: the item cannot be taken. */
static bool find_key(const struct frontier_item *item, struct bytes *key)
{
    *key = item->key.len > 0 ? item->key : item_key_of_url(item->url);
    return key->len > 0 && item_key_fits(*key);
}

void frontier_gather(struct frontier_service *s, struct frontier_call *call)
{
    struct frontier_put *in = &call->in.put;

    call->status = STATUS_OK;
    if (s->put_count + in->n > s->put_room) {
        s->put_room = s->put_count + in->n + s->put_room / 2;
        s->puts = xrealloc(s->puts, s->put_room * sizeof *s->puts);
        s->put_items = xrealloc(s->put_items,
                                s->put_room * sizeof(struct frontier_item *));
    }
    for (size_t i = 0; i < in->n; i++) {
        struct frontier_item *item = &in->items[i];
        struct bytes key;

        item->ack = FRONTIER_ACK_SKIPPED;
        if (item->kind == FRONTIER_ITEM_NEITHER || !find_key(item, &key) ||
            item->crawl.len > ITEM_CRAWL_MOST ||
            item->url.len > ITEM_BYTES_MOST ||
            item->metadata.len > ITEM_BYTES_MOST)
            continue;
        item->ack = FRONTIER_ACK_FAIL; /* until it is put */
        s->put_items[s->put_count] = item;
        s->puts[s->put_count++] = (struct item_put){
            .known = item->kind == FRONTIER_ITEM_KNOWN,
            .crawl = item_crawl_name(item->crawl),
            .key = key,
            .url = item->url,
            .metadata = item->metadata,
            .due_ms = wire_ms(item->refetch_s),
        };
    }
}

void frontier_put_group(struct frontier_service *s, int64_t now)
{
    if (s->put_count == 0)
        return;
    if (s->broken == STATUS_OK)
        s->broken = items_put(s->items, s->puts, s->put_count, now);
    for (size_t i = 0; i < s->put_count && s->broken == STATUS_OK; i++)
        s->put_items[i]->ack = s->puts[i].known || s->puts[i].fresh
                                   ? FRONTIER_ACK_OK
                                   : FRONTIER_ACK_SKIPPED;
    s->put_count = 0;
}

/* ---- get ---- */

static bool get(struct frontier_service *s, struct frontier_call *call,
                int64_t now)
{
    const struct frontier_get *in = &call->in.get;
    uint32_t seconds = in->delay_requestable_s;
    struct item_get g = {
        .any_crawl = in->any_crawl,
        .one_queue = in->key.len > 0,
        .key = in->key,
        .most_urls = in->max_urls_per_queue,
        .most_queues = in->max_queues,
        .hold_ms = (int64_t)(seconds > 0 ? seconds : ANSWER_HOLD_S) * 1000,
        .turn = (int64_t)call->cursor.turn,
        .queues = (uint32_t)call->cursor.done,
        .queue = call->cursor.queue,
        .urls = (uint32_t)call->cursor.place,
    };

    if (in->any_crawl)
        call->crawl_id = (struct bytes){NULL, 0};
    else
        g.crawl = named(call, in->crawl);
    /* A key alone names no queue, a blank crawl alone no crawl. */
    if ((in->any_crawl && in->key.len > 0) ||
        (!in->any_crawl && in->crawl.len == 0 && in->key.len == 0))
        return true;
    call->urls = answer_room(call, ANSWER_PART_URLS, sizeof *call->urls);
    if (call->urls == NULL)
        return true;
    call->status = items_get(s->items, &g, now, add_url, call, &call->more);
    call->cursor.turn = call->more ? (uint64_t)g.turn : 0;
    call->cursor.done = call->more ? g.queues : 0;
    call->cursor.queue = call->more ? g.queue : 0;
    call->cursor.place = call->more ? g.urls : 0;
    return true;
}

static void settle(struct frontier_service *s, struct frontier_call *call,
                   int64_t now)
{
    static const enum item_settle how[] = {
        [FRONTIER_SETTLE_ACK] = ITEM_ACK,
        [FRONTIER_SETTLE_FAIL] = ITEM_FAIL,
        [FRONTIER_SETTLE_EXTEND] = ITEM_EXTEND,
    };
    const struct frontier_settle *in = &call->in.settle;
    bool ack = in->how == FRONTIER_SETTLE_ACK;
    int64_t due = ack ? wire_ms(in->refetch_s) : now + wire_ms(in->seconds);

    call->status =
        items_settle(s->items, in->lease, how[in->how], due,
                     ack && !in->keep_metadata ? &in->metadata : NULL, now);
}

/* ---- read ---- */

static void url_status(struct frontier_service *s, struct frontier_call *call,
                       int64_t now)
{
    const struct frontier_url_status *in = &call->in.url;
    struct bytes key = in->key.len > 0 ? in->key : item_key_of_url(in->url);
    struct item_facts facts;

    named(call, in->crawl);
    call->urls = answer_room(call, 1, sizeof *call->urls);
    if (key.len == 0)
        call->status = STATUS_ARG;
    if (call->status != STATUS_OK)
        return;
    call->status = items_find(s->items, call->crawl_id, key, in->url, now,
                              &facts, add_url, call);
    if (call->status != STATUS_OK)
        return;
    call->facts = (struct frontier_url_facts){
        .state = facts.state == ITEM_HELD        ? FRONTIER_URL_HELD
                 : facts.state == ITEM_COMPLETED ? FRONTIER_URL_COMPLETED
                                                 : FRONTIER_URL_QUEUED,
        .due_ms = facts.due_ms,
        .created_ms = facts.created_ms,
        .held_until_ms = facts.held_until_ms,
        .blocked_until_ms = facts.blocked_until_ms,
        .served_ms = facts.served_ms,
        .delay_ms = facts.delay_ms,
        .limit = facts.limit,
    };
}

static void take_cursor(struct item_list *l, const struct frontier_call *call)
{
    l->queue = call->cursor.queue;
    l->id = call->cursor.place;
    l->passed = call->cursor.done;
}

static void leave_cursor(struct frontier_call *call, const struct item_list *l,
                         bool more)
{
    call->cursor.queue = more ? l->queue : 0;
    call->cursor.place = more ? l->id : 0;
    call->cursor.done = more ? l->passed : 0;
}

static bool list_urls(struct frontier_service *s, struct frontier_call *call,
                      int64_t now)
{
    const struct frontier_list_urls *in = &call->in.list;
    struct item_list l = {
        .crawl = named(call, in->crawl),
        .key = in->key,
        .filtered = in->filtered,
        .ignore_case = in->ignore_case,
        .filter = in->filter,
        .skip = in->start,
        .most = in->size > 0 ? in->size : ANSWER_LIST_SIZE,
        .budget = in->filtered ? FILTER_BUDGET : LIST_BUDGET,
    };

    take_cursor(&l, call);
    call->urls = answer_room(call, ANSWER_PART_URLS, sizeof *call->urls);
    if (call->urls == NULL)
        return true;
    call->status = items_list(s->items, &l, now, add_url, call, &call->more);
    leave_cursor(call, &l, call->more);
    return !call->more || call->url_count > 0;
}

static bool count_urls(struct frontier_service *s, struct frontier_call *call,
                       int64_t now)
{
    const struct frontier_count_urls *in = &call->in.count;
    struct item_list l = {.crawl = named(call, in->crawl),
                          .key = in->key,
                          .filtered = true,
                          .ignore_case = in->ignore_case,
                          .filter = in->filter,
                          .budget = FILTER_BUDGET};
    struct item_counts counts;
    bool more = false;

    if (!in->filtered) {
        items_counts(s->items, l.crawl, l.key, now, &counts);
        call->number = counts.active + counts.completed;
        return true;
    }
    take_cursor(&l, call);
    call->status = items_list(s->items, &l, now, NULL, NULL, &more);
    leave_cursor(call, &l, more);
    call->number = l.passed;
    return !more;
}

static void list_queues(struct frontier_service *s, struct frontier_call *call,
                        int64_t now)
{
    const struct frontier_list_queues *in = &call->in.queues;
    struct item_counts counts;
    uint64_t most = in->size > 0 ? in->size : ANSWER_LIST_SIZE;

    items_counts(s->items, named(call, in->crawl), (struct bytes){NULL, 0}, now,
                 &counts);
    if (most > counts.queues)
        most = counts.queues;
    call->names = answer_room(call, most + 1, sizeof *call->names);
    if (call->names != NULL)
        items_each_queue(s->items, call->crawl_id, in->include_inactive,
                         in->start, most, now, answer_name, call);
}

static void stats(struct frontier_service *s, struct frontier_call *call,
                  int64_t now)
{
    struct item_counts c;

    items_counts(s->items, named(call, call->in.queue.crawl),
                 call->in.queue.key, now, &c);
    call->counts = (struct frontier_counts){
        .size = c.active,
        .in_process = c.held,
        .completed = c.completed,
        .queues = c.queues,
        .active_queues = c.active_queues,
    };
}

static void count_crawl(void *ctx, struct bytes crawl)
{
    (void)crawl;
    ++*(size_t *)ctx;
}

static void list_crawls(struct frontier_service *s, struct frontier_call *call)
{
    size_t n = 0;

    items_each_crawl(s->items, count_crawl, &n);
    call->names = answer_room(call, n + 1, sizeof *call->names);
    if (call->names != NULL)
        items_each_crawl(s->items, answer_name, call);
}

static void list_nodes(struct frontier_service *s, struct frontier_call *call)
{
    call->names = answer_room(call, 1, sizeof *call->names);
    if (call->names != NULL)
        answer_name(call, s->o.node);
}

/* ---- control ---- */

/* Drops what was put before this second, less so many days. */
static void purge(struct frontier_service *s, struct frontier_call *call,
                  int64_t now)
{
    const struct frontier_purge *in = &call->in.purge;
    int64_t before = now / 1000 * 1000 - (int64_t)in->days * 86400000;

    call->status = items_purge(s->items, named(call, in->crawl), in->key,
                               before, now, &call->number);
}

#define FIRST_DELAY 1000 /* of all queues, where nobody has set one */

static enum status set_delay(struct frontier_service *s, struct bytes crawl,
                             const struct frontier_queue_call *in, int64_t now)
{
    int64_t ms = wire_ms(in->value) + in->ms;

    if (in->key.len == 0)
        return items_set_default_delay(s->items,
                                       in->standard ? FIRST_DELAY : ms, now);
    return items_set_delay(s->items, crawl, in->key, in->standard ? -1 : ms,
                           now);
}

static void control_queue(struct frontier_service *s,
                          struct frontier_call *call, int64_t now)
{
    const struct frontier_queue_call *in = &call->in.queue;
    struct bytes crawl = named(call, in->crawl);
    uint32_t limit = in->value < UINT32_MAX ? (uint32_t)in->value : UINT32_MAX;

    switch (call->verb) {
    case FRONTIER_DELETE_QUEUE:
        call->status =
            items_remove_queue(s->items, crawl, in->key, now, &call->number);
        break;
    case FRONTIER_BLOCK_QUEUE:
        call->status = items_block(s->items, crawl, in->key,
                                   wire_end_of_block(in->value), now);
        break;
    case FRONTIER_SET_DELAY:
        call->status = set_delay(s, crawl, in, now);
        break;
    default:
        call->status = items_set_limit(s->items, crawl, in->key, limit, now);
        return;
    }
    if (call->status == STATUS_NOT_FOUND)
        call->status = STATUS_OK; /* nothing to block or to slow */
}

static void set_log_level(const struct frontier_call *call)
{
    static const enum log_level levels[] = {LOG_LEVEL_DEBUG, LOG_LEVEL_DEBUG,
                                            LOG_LEVEL_INFO, LOG_LEVEL_WARN,
                                            LOG_LEVEL_ERROR};

    if (call->in.log_level < sizeof levels / sizeof *levels)
        logger_set_level(levels[call->in.log_level]);
}

static bool is_failure(enum status st)
{
    return st != STATUS_OK && st != STATUS_NOT_FOUND && st != STATUS_ARG &&
           st != STATUS_LIMIT;
}

static bool carry_out(struct frontier_service *s, struct frontier_call *call,
                      int64_t now)
{
    switch (call->verb) {
    case FRONTIER_GET:
        return get(s, call, now);
    case FRONTIER_LIST_URLS:
        return list_urls(s, call, now);
    case FRONTIER_COUNT_URLS:
        return count_urls(s, call, now);
    case FRONTIER_URL_STATUS:
        url_status(s, call, now);
        break;
    case FRONTIER_PURGE_URLS:
        purge(s, call, now);
        break;
    case FRONTIER_LIST_QUEUES:
        list_queues(s, call, now);
        break;
    case FRONTIER_DELETE_QUEUE:
    case FRONTIER_BLOCK_QUEUE:
    case FRONTIER_SET_DELAY:
    case FRONTIER_SET_LIMIT:
        control_queue(s, call, now);
        break;
    case FRONTIER_STATS:
        stats(s, call, now);
        break;
    case FRONTIER_LIST_CRAWLS:
        list_crawls(s, call);
        break;
    case FRONTIER_DELETE_CRAWL:
        call->status = items_remove_crawl(s->items, named(call, call->in.crawl),
                                          now, &call->number);
        break;
    case FRONTIER_SET_ACTIVE:
        call->status = items_set_active(s->items, call->in.active);
        break;
    case FRONTIER_GET_ACTIVE:
        call->flag = items_active(s->items);
        break;
    case FRONTIER_SET_LOG_LEVEL:
        set_log_level(call);
        break;
    case FRONTIER_LIST_NODES:
        list_nodes(s, call);
        break;
    case FRONTIER_SETTLE:
        settle(s, call, now);
        break;
    case FRONTIER_PUT: /* gathered, see frontier_gather */
    case FRONTIER_VERBS_:
        break;
    }
    return true;
}

bool frontier_execute(struct frontier_service *s, struct frontier_call *call,
                      int64_t now)
{
    bool whole = true;

    answer_begin(call);
    if (s->broken != STATUS_OK)
        call->status = s->broken;
    else
        whole = carry_out(s, call, now);
    if (is_failure(call->status)) {
        s->broken = call->status;
        whole = true;
    }
    return whole;
}
