/* SPDX-License-Identifier: MIT */
/*
 * lend_read.c - asking a crawl of our own: one URL, lists, counts, queues.
 *
 * The store has rows in order of arrival and no index by queue or text, so
 * lists and most counts are walks over them, some hundred rows a slice. What
 * the engine counts anyway is answered from there.
 */
#include <ctype.h>
#include <string.h>

#include "base/clock.h"
#include "frontier/embedded/frontier.h"
#include "frontier/url/queue_key.h"
#include "frontier/url/url_params.h"
#include "service/calls/lend_impl.h"

#define SLICE 500 /* rows */

static struct frontier_store *store_of(const struct lend *l)
{
    return frontier_store_of(l->engine);
}

/* ---- one URL ---- */

static struct frontier_url url_of(struct lend *l, const struct url_row *row,
                                  struct bytes via)
{
    struct frontier_call *call = l->call;
    struct lent_facts facts;
    struct bytes crawl, key;

    lent_look(l->engine, row->id, l->now, &facts);
    frontier_store_queue_name(store_of(l), row->queue, &crawl, &key);
    return (struct frontier_url){
        .crawl = call->crawl_id,
        .key = answer_keep(call, key),
        .url = answer_keep(call, row->url),
        .metadata = facts.done
                        ? (struct bytes){NULL, 0}
                        : lend_metadata(call, row->depth, row->kind, via),
        .refetch_s =
            facts.done
                ? 0
                : wire_seconds(facts.due_for > 0
                                   ? l->wall_ms + facts.due_for / NS_PER_MS
                                   : row->found_at_ms),
        .created_s = wire_seconds(row->found_at_ms),
    };
}

static struct frontier_url_facts facts_of(const struct lend *l,
                                          const struct url_row *row)
{
    struct lent_facts f;
    struct lent_queue q;
    struct frontier_url_facts out;

    lent_look(l->engine, row->id, l->now, &f);
    lent_look_queue(l->engine, row->queue, l->now, &q);
    out = (struct frontier_url_facts){
        .state = f.done  ? FRONTIER_URL_COMPLETED
                 : f.out ? FRONTIER_URL_HELD
                         : FRONTIER_URL_QUEUED,
        .due_ms = row->found_at_ms,
        .created_ms = row->found_at_ms,
        .delay_ms = q.delay / NS_PER_MS,
        .limit = q.limit,
    };
    if (f.due_for > 0)
        out.due_ms = l->wall_ms + f.due_for / NS_PER_MS;
    if (f.held_for > 0)
        out.held_until_ms = l->wall_ms + f.held_for / NS_PER_MS;
    if (q.blocked_for > 0)
        out.blocked_until_ms = l->wall_ms + q.blocked_for / NS_PER_MS;
    return out;
}

static enum status tell_url(struct lend *l, uint64_t id)
{
    struct url_row row, from;
    struct buf text, via;
    enum status st;

    buf_init(&text, (size_t)16 << 20);
    buf_init(&via, (size_t)16 << 20);
    st = frontier_store_get(store_of(l), id, &row, &text);
    if (st == STATUS_OK && row.via != 0)
        st = frontier_store_get(store_of(l), row.via, &from, &via);
    if (st == STATUS_OK) {
        l->call->urls[0] = url_of(l, &row, buf_bytes(&via));
        l->call->facts = facts_of(l, &row);
        l->call->url_count = 1;
    }
    buf_fini(&text);
    buf_fini(&via);
    return st;
}

enum status lend_url_status(struct lend *l)
{
    const struct fetcher_options *o = crawl_fetching(l->crawl);
    uint64_t id = 0;
    enum status st = STATUS_OK;
    struct url u;

    l->call->urls = answer_room(l->call, 1, sizeof *l->call->urls);
    if (l->call->urls == NULL)
        return STATUS_OK;
    url_init(&u);
    if (url_canonical(&u, l->call->in.url.url, NULL, NULL) == URL_OK) {
        url_drop_params(&u, o->drop_params, o->drop_param_count);
        st = lent_identify(l->engine, queue_key_of(&u), url_text(&u), &id);
    }
    url_fini(&u);
    if (st == STATUS_OK && id == 0)
        l->call->status = STATUS_NOT_FOUND;
    return st == STATUS_OK && id != 0 ? tell_url(l, id) : st;
}

/* ---- walks ---- */

struct walk {
    struct lend *l;
    struct bytes key; /* empty: all queues */
    uint32_t queue;
    bool filtered, ignore_case;
    struct bytes filter;
    uint64_t start, most; /* of those that match; listed are these */
    bool list;
};

static char folded(char c, bool ignore_case)
{
    return ignore_case && c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool has_text(struct bytes url, struct bytes filter, bool ignore_case)
{
    for (size_t i = 0; i + filter.len <= url.len; i++) {
        size_t k = 0;

        while (k < filter.len && folded(url.at[i + k], ignore_case) ==
                                     folded(filter.at[k], ignore_case))
            k++;
        if (k == filter.len)
            return true;
    }
    return false;
}

static void visit(void *ctx, const struct url_row *row)
{
    struct walk *w = ctx;
    struct frontier_call *call = w->l->call;
    uint64_t *passed = &call->cursor.done;

    if (w->list && (answer_is_full(call) || *passed >= w->start + w->most))
        return; /* not looked at */
    call->cursor.place = row->id;
    if ((w->key.len > 0 && row->queue != w->queue) ||
        (w->filtered && !has_text(row->url, w->filter, w->ignore_case)))
        return;
    ++*passed;
    if (w->list && *passed > w->start)
        call->urls[call->url_count++] =
            url_of(w->l, row, (struct bytes){NULL, 0});
}

/* One slice; *over: there is nothing behind it. */
static enum status walk(struct walk *w, bool *over)
{
    struct lend *l = w->l;
    struct frontier_call *call = l->call;
    uint64_t from = call->cursor.place;
    uint64_t last = frontier_store_last_id(store_of(l));
    enum status st = STATUS_OK;

    if (w->key.len > 0)
        w->queue =
            frontier_store_find_queue(store_of(l), lend_crawl(l), w->key);
    if (w->key.len == 0 || w->queue != 0)
        st = frontier_store_each(store_of(l), from + 1, from + SLICE, visit, w);
    else
        call->cursor.place = last; /* no such queue */
    *over = call->cursor.place >= last ||
            (w->list && call->cursor.done >= w->start + w->most);
    return st;
}

static void forget_cursor(struct frontier_call *call)
{
    call->cursor.place = call->cursor.done = 0;
}

enum status lend_list(struct lend *l)
{
    struct frontier_call *call = l->call;
    const struct frontier_list_urls *in = &call->in.list;
    struct walk w = {.l = l,
                     .list = true,
                     .key = in->key,
                     .filtered = in->filtered,
                     .ignore_case = in->ignore_case,
                     .filter = in->filter,
                     .start = in->start,
                     .most = in->size > 0 ? in->size : ANSWER_LIST_SIZE};
    bool over = true;
    enum status st = STATUS_OK;

    if (call->urls == NULL)
        call->urls = answer_room(call, ANSWER_PART_URLS, sizeof *call->urls);
    if (call->urls != NULL)
        st = walk(&w, &over);
    call->more = !over && answer_is_full(call);
    l->more = !over && !call->more;
    if (over)
        forget_cursor(call);
    return st;
}

/* Counts what `w` matches, over several slices; *n once they are through. */
static enum status count(struct walk *w, uint64_t *n)
{
    struct lend *l = w->l;
    bool over = false;
    enum status st = walk(w, &over);

    l->more = !over;
    if (!over)
        return st;
    *n = l->call->cursor.done;
    forget_cursor(l->call);
    return st;
}

enum status lend_count(struct lend *l)
{
    const struct frontier_count_urls *in = &l->call->in.count;
    struct walk w = {.l = l,
                     .key = in->key,
                     .filtered = in->filtered,
                     .ignore_case = in->ignore_case,
                     .filter = in->filter};

    if (in->key.len > 0 || in->filtered)
        return count(&w, &l->call->number);
    l->call->number = frontier_store_last_id(store_of(l));
    return STATUS_OK;
}

/* ---- counts ---- */

/* What is done of a queue nobody counts: its rows, less what waits and what was
 * removed. */
static enum status completed_of(struct lend *l, uint32_t queue, uint64_t rows,
                                uint64_t *completed)
{
    uint64_t removed;
    enum status st = removal_count(l->engine, queue, &removed);

    *completed = rows - frontier_store_pending(store_of(l), queue) - removed;
    return st;
}

static enum status stats_of_queue(struct lend *l, struct bytes key)
{
    struct walk w = {.l = l, .key = key};
    uint32_t queue = frontier_store_find_queue(store_of(l), lend_crawl(l), key);
    struct lent_queue q;
    uint64_t rows = 0, completed = 0;
    enum status st = count(&w, &rows);

    if (st == STATUS_OK && !l->more && queue != 0)
        st = completed_of(l, queue, rows, &completed);
    if (st != STATUS_OK || l->more || queue == 0)
        return st;
    lent_look_queue(l->engine, queue, l->now, &q);
    l->call->counts = (struct frontier_counts){
        .size = q.pending,
        .in_process = q.out,
        .completed = completed,
        .queues = 1,
        .active_queues = q.pending > 0,
    };
    return STATUS_OK;
}

enum status lend_stats(struct lend *l)
{
    struct engine_stats s;

    l->call->counts = (struct frontier_counts){0};
    if (l->call->in.queue.key.len > 0)
        return stats_of_queue(l, l->call->in.queue.key);
    l->engine->ops->stats(l->engine, &s);
    l->call->counts = (struct frontier_counts){
        .size = s.queued,
        .in_process = s.leased,
        .completed = s.urls - s.queued - s.removed,
        .queues = s.queues,
        .active_queues = s.queues_active,
    };
    return STATUS_OK;
}

/* Done is done, however it ended: a limit goes by what GetStats says. */
enum status lend_limit(struct lend *l)
{
    const struct frontier_queue_call *in = &l->call->in.queue;
    struct walk w = {.l = l, .key = in->key};
    uint32_t queue =
        frontier_store_find_queue(store_of(l), lend_crawl(l), in->key);
    uint64_t rows = 0, completed = 0;
    enum status st = STATUS_OK;

    if (queue == 0) {
        l->call->status = STATUS_NOT_FOUND;
        return STATUS_OK;
    }
    if (in->value > 0)
        st = count(&w, &rows);
    if (st == STATUS_OK && !l->more && in->value > 0)
        st = completed_of(l, queue, rows, &completed);
    if (st != STATUS_OK || l->more)
        return st;
    l->task.durable = true;
    return frontier_limit_queue(l->engine, queue, (uint32_t)in->value,
                                completed, l->now);
}

/* ---- queues ---- */

enum status lend_list_queues(struct lend *l)
{
    struct frontier_call *call = l->call;
    const struct frontier_list_queues *in = &call->in.queues;
    uint32_t queues = frontier_store_queue_count(store_of(l));
    uint64_t most = in->size > 0 ? in->size : ANSWER_LIST_SIZE, passed = 0;

    if (most > queues)
        most = queues;
    call->names = answer_room(call, (size_t)most + 1, sizeof *call->names);
    for (uint32_t q = 1;
         call->names != NULL && q <= queues && call->name_count < most; q++) {
        struct bytes crawl, key;
        struct lent_queue look;

        lent_look_queue(l->engine, q, l->now, &look);
        if (!in->include_inactive &&
            (look.pending == 0 || look.blocked_for > 0))
            continue;
        frontier_store_queue_name(store_of(l), q, &crawl, &key);
        if (passed++ >= in->start)
            answer_name(call, key);
    }
    return STATUS_OK;
}
