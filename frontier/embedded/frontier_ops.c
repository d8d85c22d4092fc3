/* SPDX-License-Identifier: MIT */
/*
 * frontier_ops.c - the embedded engine's table, and its queries of the store.
 */
#include "frontier/embedded/frontier_ops.h"
#include "frontier/embedded/external.h"
#include "frontier/embedded/removal.h"
#include "frontier/embedded/retry_failed.h"

struct frontier_store *frontier_store_of(struct engine *e)
{
    return ((struct frontier *)e)->store;
}

struct page_store *frontier_pages_of(struct engine *e)
{
    return ((struct frontier *)e)->pages;
}

/* ---- queries ---- */

static const struct digest_key *get_digest_key(struct engine *e)
{
    return &((struct frontier *)e)->base->key;
}

static enum status get_url(struct engine *e, uint64_t id, struct url_row *row,
                           struct buf *text)
{
    return frontier_store_get(frontier_store_of(e), id, row, text);
}

static enum status each_url(struct engine *e, uint64_t first, uint64_t last,
                            url_row_visit visit, void *ctx)
{
    return frontier_store_each(frontier_store_of(e), first, last, visit, ctx);
}

static enum status each_seed(struct engine *e, url_row_visit visit, void *ctx)
{
    return frontier_store_each_root(frontier_store_of(e), visit, ctx);
}

static uint32_t find_queue(struct engine *e, struct bytes crawl,
                           struct bytes key)
{
    return frontier_store_find_queue(frontier_store_of(e), crawl, key);
}

static struct bytes get_queue_key(struct engine *e, uint32_t queue)
{
    struct bytes crawl, key;

    frontier_store_queue_name(frontier_store_of(e), queue, &crawl, &key);
    return key;
}

static enum status get_robots(struct engine *e, struct bytes origin,
                              struct robots_row *row, struct buf *text)
{
    return page_store_robots(frontier_pages_of(e), origin, row, text);
}

static enum status get_first_body(struct engine *e, struct digest body,
                                  struct first_body *out)
{
    return page_store_first_with_body(frontier_pages_of(e), body, out);
}

static enum status get_meta(struct engine *e, const char *name, struct buf *out)
{
    return frontier_store_meta(frontier_store_of(e), name, out);
}

static enum status set_meta(struct engine *e, const char *name,
                            struct bytes value)
{
    return frontier_store_set_meta(frontier_store_of(e), name, value);
}

/* ---- the table ---- */

const struct engine_ops frontier_ops = {
    .put = frontier_put,
    .lease = frontier_lease,
    .ack = frontier_ack,
    .release = frontier_release,
    .leased_url = frontier_leased_url,
    .blame = frontier_blame,
    .turn = frontier_turn,
    .next_due = frontier_next_due,
    .checkpoint = frontier_checkpoint,
    .checkpoint_now = frontier_checkpoint_now,
    .close = frontier_close,
    .block = frontier_block,
    .delay = frontier_delay,
    .limit_queue = frontier_limit_queue,
    .hosts = frontier_hosts,
    .next_unplaced = frontier_next_unplaced,
    .place = frontier_place,
    .recheck = frontier_recheck,
    .rejudge = frontier_rejudge,
    .set_schedule = frontier_set_schedule,
    .set_limits = frontier_set_limits,
    .set_refresh = frontier_set_refresh,
    .set_order = frontier_set_order,
    .set_traps = frontier_set_traps,
    .external_grant = external_grant,
    .external_find = external_find,
    .external_extend = external_extend,
    .external_settle = external_settle,
    .external_discover = external_discover,
    .external_get_facts = external_get_facts,
    .external_get_queue = external_get_queue,
    .removal_begin = removal_begin,
    .removal_step = removal_step,
    .removal_count = removal_count,
    .retry_failed = retry_failed,
    .import = frontier_import,
    .refresh_urls = frontier_refresh_urls,
    .digest_key = get_digest_key,
    .identify = frontier_identify,
    .url = get_url,
    .each_url = each_url,
    .each_seed = each_seed,
    .find_queue = find_queue,
    .queue_key = get_queue_key,
    .robots = get_robots,
    .first_body = get_first_body,
    .meta = get_meta,
    .set_meta = set_meta,
    .stats = frontier_engine_stats,
    .memory = frontier_memory,
    .get_stats = frontier_get_stats,
};
