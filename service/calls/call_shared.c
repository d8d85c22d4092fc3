/* SPDX-License-Identifier: MIT */
/*
 * call_shared.c - struct call_ops for URLs that programs put into a cluster
 * (frontier/shared/shared.h).
 *
 * Operations that cannot say that they failed leave the status with the hand.
 */

#include "frontier/served/served_name.h"
#include "service/calls/frontier_hands.h"

#define LIST_BUDGET 20000 /* URLs looked at before an answer may go out */

/* Names that are too long are of no queue. Neither is a blank one of a crawl:
 * it stands for them. */
static void fit_names(struct bytes *crawl, struct bytes *key)
{
    if (crawl->len <= SERVED_CRAWL_MOST && key->len <= 4 * SERVED_KEY_MOST)
        return;
    *crawl = bytes_of(" ", 1);
    if (key->len > 0)
        *key = *crawl;
}

/* ---- put ---- */

/* What servers did not answer is FRONTIER_ACK_FAIL, and the rest stands.
 * Returns the last failure. */
static enum status put(void *of, struct frontier_item *const *items, size_t n)
{
    struct frontier_hand *hand = of;
    size_t count = call_puts_fill(&hand->puts, items, n, SHARED_URL_MOST),
           at = 0;
    enum status st = STATUS_OK;

    if (count > 0)
        shared_put(hand->shared, hand->puts.list, count);
    for (size_t i = 0; i < n && at < count; i++) {
        const struct url_put *p = &hand->puts.list[at];

        if (items[i]->ack == FRONTIER_ACK_SKIPPED)
            continue;
        if (p->status == STATUS_OK)
            items[i]->ack = p->fresh ? FRONTIER_ACK_OK : FRONTIER_ACK_SKIPPED;
        else
            st = p->status;
        at++;
    }
    return st;
}

/* ---- lease ---- */

static enum status lease(void *of, struct url_ask *a, url_visit visit,
                         void *ctx, bool *more)
{
    struct frontier_hand *hand = of;

    fit_names(&a->crawl, &a->key);
    return shared_get(hand->shared, a, ANSWER_PART_URLS, ANSWER_PART_BYTES,
                      visit, ctx, more);
}

static enum status settle(void *of, uint64_t lease_id, enum url_settle how,
                          int64_t due_ms, const struct bytes *metadata)
{
    struct frontier_hand *hand = of;

    return shared_settle(hand->shared, lease_id, how, due_ms, metadata);
}

/* ---- read ---- */

static enum status find(void *of, struct bytes crawl, struct bytes key,
                        struct bytes url, struct url_facts *facts,
                        url_visit visit, void *ctx)
{
    struct frontier_hand *hand = of;
    enum status st = STATUS_ARG;
    struct buf room;

    buf_init(&room, SERVED_BYTES_MOST + 16);
    if (key.len == 0)
        key = served_key_of_url(url, &room);
    fit_names(&crawl, &key);
    if (key.len > 0)
        st = shared_find(hand->shared, crawl, key, url, facts, visit, ctx);
    buf_fini(&room);
    return st;
}

static enum status list(void *of, struct url_list *l, url_visit visit,
                        void *ctx, bool *more)
{
    struct frontier_hand *hand = of;

    fit_names(&l->crawl, &l->key);
    l->budget = LIST_BUDGET;
    return shared_list(hand->shared, l, visit, ctx, more);
}

static bool count(void *of, struct bytes crawl, struct bytes key, uint64_t *n)
{
    struct frontier_hand *hand = of;
    struct url_counts c = {0};

    fit_names(&crawl, &key);
    hand->trouble = shared_counts(hand->shared, crawl, key, &c);
    *n = c.active + c.completed;
    return true;
}

static enum status stats(void *of, struct bytes crawl, struct bytes key,
                         struct url_counts *out, bool *more)
{
    struct frontier_hand *hand = of;

    (void)more;
    fit_names(&crawl, &key);
    return shared_counts(hand->shared, crawl, key, out);
}

static void each_queue(void *of, struct bytes crawl, bool inactive,
                       uint64_t skip, uint64_t most,
                       void (*visit)(void *ctx, struct bytes key), void *ctx)
{
    struct frontier_hand *hand = of;
    struct bytes any = {NULL, 0};

    fit_names(&crawl, &any);
    hand->trouble = shared_each_queue(hand->shared, crawl, inactive, skip, most,
                                      visit, ctx);
}

/* A call asks twice, and is to hear the same names. */
static void each_crawl(void *of, void (*visit)(void *ctx, struct bytes crawl),
                       void *ctx)
{
    struct frontier_hand *hand = of;

    if (hand->names == NULL)
        hand->trouble =
            shared_crawls(hand->shared, &hand->names, &hand->name_count);
    for (size_t i = 0; i < hand->name_count; i++)
        visit(ctx, hand->names[i]);
}

static struct bytes node(void *of)
{
    const struct frontier_hand *hand = of;

    return hand->s->o.node;
}

/* ---- control ---- */

static enum status remove_queue(void *of, struct bytes crawl, struct bytes key,
                                uint64_t *gone, bool *more)
{
    struct frontier_hand *hand = of;

    (void)more;
    fit_names(&crawl, &key);
    return shared_remove_queue(hand->shared, crawl, key, gone);
}

static enum status remove_crawl(void *of, struct bytes crawl, uint64_t *gone)
{
    struct frontier_hand *hand = of;
    struct bytes any = {NULL, 0};

    fit_names(&crawl, &any);
    return shared_remove_crawl(hand->shared, crawl, gone);
}

static enum status purge(void *of, struct bytes crawl, struct bytes key,
                         int64_t before_ms, uint64_t *gone, bool *more)
{
    struct frontier_hand *hand = of;

    (void)more;
    fit_names(&crawl, &key);
    return shared_purge(hand->shared, crawl, key, before_ms, gone);
}

static enum status block(void *of, struct bytes crawl, struct bytes key,
                         int64_t until_ms)
{
    struct frontier_hand *hand = of;

    fit_names(&crawl, &key);
    return shared_set(hand->shared, crawl, key, SHARED_BLOCKED, until_ms);
}

static enum status delay(void *of, struct bytes crawl, struct bytes key,
                         int64_t delay_ms)
{
    struct frontier_hand *hand = of;

    fit_names(&crawl, &key);
    return shared_set(hand->shared, crawl, key, SHARED_DELAY, delay_ms);
}

static enum status default_delay(void *of, int64_t delay_ms)
{
    struct frontier_hand *hand = of;

    return shared_set_default_delay(hand->shared, delay_ms);
}

static enum status limit(void *of, struct bytes crawl, struct bytes key,
                         uint32_t most, bool *more)
{
    struct frontier_hand *hand = of;

    (void)more;
    fit_names(&crawl, &key);
    return shared_set(hand->shared, crawl, key, SHARED_LIMIT, most);
}

static enum status set_active(void *of, bool is_active)
{
    struct frontier_hand *hand = of;

    return shared_set_active(hand->shared, is_active);
}

static bool active(void *of)
{
    struct frontier_hand *hand = of;
    bool is_active = true;

    hand->trouble = shared_active(hand->shared, &is_active);
    return is_active;
}

const struct call_ops call_shared_ops = {
    .put = put,
    .lease = lease,
    .settle = settle,
    .find = find,
    .list = list,
    .count = count,
    .stats = stats,
    .each_queue = each_queue,
    .remove_queue = remove_queue,
    .purge = purge,
    .block = block,
    .delay = delay,
    .limit = limit,
    .default_delay = default_delay,
    .each_crawl = each_crawl,
    .remove_crawl = remove_crawl,
    .set_active = set_active,
    .active = active,
    .node = node,
};
