/* SPDX-License-Identifier: MIT */
/*
 * cluster_table.c - the engine's table: what is passed on, what is refused.
 *
 * All that is known of a worker's URLs is in its directory, so queries go
 * there. Requests that would change the queues of this directory alone are
 * refused.
 */
#include "frontier/cluster/cluster_engine_impl.h"

static struct engine *own(struct engine *e)
{
    return ((struct cluster_engine *)e)->own;
}

/* ---- passed on ---- */

static struct bytes pass_leased_url(struct engine *e, uint64_t id)
{
    return own(e)->ops->leased_url(own(e), id);
}

static enum status pass_blame(struct engine *e, uint64_t id, enum blame why,
                              int64_t now, int64_t wall_ms)
{
    return own(e)->ops->blame(own(e), id, why, now, wall_ms);
}

static size_t pass_hosts(struct engine *e, enum engine_host_order by,
                         size_t most, int64_t now, struct engine_host_row *out,
                         bool *all)
{
    return own(e)->ops->hosts(own(e), by, most, now, out, all);
}

static uint32_t pass_next_unplaced(struct engine *e, struct bytes *host)
{
    return own(e)->ops->next_unplaced(own(e), host);
}

static enum status pass_place(struct engine *e, uint32_t queue,
                              const struct ip *address, int64_t now)
{
    return own(e)->ops->place(own(e), queue, address, now);
}

static void pass_recheck(struct engine *e, struct scope *scope)
{
    own(e)->ops->recheck(own(e), scope);
}

/* What this worker has dropped stays so: drops of others are not known here. */
static enum status pass_rejudge(struct engine *e, uint64_t reasons, int64_t now)
{
    (void)reasons;
    return own(e)->ops->rejudge(own(e), 0, now);
}

static void pass_set_schedule(struct engine *e,
                              const struct schedule_options *o, int64_t now)
{
    own(e)->ops->set_schedule(own(e), o, now);
}

static void pass_set_limits(struct engine *e, uint64_t limit_pages,
                            const struct budgets *budgets)
{
    ((struct cluster_engine *)e)->budget.limit = limit_pages;
    own(e)->ops->set_limits(own(e), limit_pages, budgets);
}

static void pass_set_refresh(struct engine *e, const struct refresh_rules *r)
{
    own(e)->ops->set_refresh(own(e), r);
}

static void pass_set_traps(struct engine *e, const uint32_t threshold[])
{
    own(e)->ops->set_traps(own(e), threshold);
}

static enum status pass_set_order(struct engine *e, const struct order *order)
{
    return own(e)->ops->set_order(own(e), order);
}

static void pass_external_get_facts(struct engine *e, uint64_t id, int64_t now,
                                    struct external_facts *out)
{
    own(e)->ops->external_get_facts(own(e), id, now, out);
}

static void pass_external_get_queue(struct engine *e, uint32_t queue,
                                    int64_t now, struct external_queue *out)
{
    own(e)->ops->external_get_queue(own(e), queue, now, out);
}

static void pass_external_set_reach(struct engine *e, uint32_t queue,
                                    const struct external_reach *reach,
                                    int64_t now)
{
    own(e)->ops->external_set_reach(own(e), queue, reach, now);
}

static const struct digest_key *pass_digest_key(struct engine *e)
{
    return own(e)->ops->digest_key(own(e));
}

static enum status pass_identify(struct engine *e, struct bytes key,
                                 struct bytes url, uint64_t *id)
{
    return own(e)->ops->identify(own(e), key, url, id);
}

static enum status pass_url(struct engine *e, uint64_t id, struct url_row *row,
                            struct buf *text)
{
    return own(e)->ops->url(own(e), id, row, text);
}

static enum status pass_each_url(struct engine *e, uint64_t first,
                                 uint64_t last, url_row_visit visit, void *ctx)
{
    return own(e)->ops->each_url(own(e), first, last, visit, ctx);
}

static enum status pass_each_seed(struct engine *e, url_row_visit visit,
                                  void *ctx)
{
    return own(e)->ops->each_seed(own(e), visit, ctx);
}

static uint32_t pass_find_queue(struct engine *e, struct bytes crawl,
                                struct bytes key)
{
    return own(e)->ops->find_queue(own(e), crawl, key);
}

static struct bytes pass_queue_key(struct engine *e, uint32_t queue)
{
    return own(e)->ops->queue_key(own(e), queue);
}

static enum status pass_first_body(struct engine *e, struct digest body,
                                   struct first_body *out)
{
    return own(e)->ops->first_body(own(e), body, out);
}

static enum status pass_meta(struct engine *e, const char *name,
                             struct buf *out)
{
    return own(e)->ops->meta(own(e), name, out);
}

static enum status pass_set_meta(struct engine *e, const char *name,
                                 struct bytes value)
{
    return own(e)->ops->set_meta(own(e), name, value);
}

static struct engine_memory pass_memory(struct engine *e)
{
    return own(e)->ops->memory(own(e));
}

static void pass_get_stats(struct engine *e, int64_t now,
                           struct frontier_stats *out)
{
    own(e)->ops->get_stats(own(e), now, out);
}

/* ---- refused: these are of a whole crawl, and here is a part of one ---- */

/* They look at nothing of what is asked. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

static enum status pass_block(struct engine *e, struct bytes crawl,
                              struct bytes key, int64_t until, int64_t now,
                              int64_t wall_ms)
{
    return STATUS_REFUSED;
}

static enum status pass_delay(struct engine *e, struct bytes crawl,
                              struct bytes key, int64_t delay_ms, int64_t now)
{
    return STATUS_REFUSED;
}

static enum status pass_limit_queue(struct engine *e, uint32_t queue,
                                    uint32_t most, uint64_t done, int64_t now)
{
    return STATUS_REFUSED;
}

static enum status pass_external_grant(struct engine *e,
                                       const struct external_request *a,
                                       int64_t now, int64_t wall_ms,
                                       struct external_url *out, size_t *n)
{
    return STATUS_REFUSED;
}

static uint64_t pass_external_find(struct engine *e, uint64_t number,
                                   int64_t now)
{
    return 0;
}

static enum status pass_external_extend(struct engine *e, uint64_t number,
                                        int64_t length, int64_t now,
                                        int64_t wall_ms)
{
    return STATUS_REFUSED;
}

static enum status pass_external_settle(struct engine *e, uint64_t id,
                                        const struct external_report *word,
                                        int64_t now, int64_t wall_ms,
                                        enum external_result *said)
{
    return STATUS_REFUSED;
}

/* A cluster keeps no drops, so those of its seeds are passed over. */
static enum status pass_external_discover(struct engine *e,
                                          const struct engine_item *items,
                                          size_t n,
                                          const struct engine_drop *drops,
                                          size_t drop_count, int64_t now,
                                          int64_t wall_ms, uint64_t *ids)
{
    return n > 0 ? STATUS_REFUSED : STATUS_OK;
}

static enum status pass_removal_begin(struct engine *e, struct bytes key,
                                      int64_t before_ms, struct removal *out)
{
    return STATUS_REFUSED;
}

static enum status pass_removal_step(struct engine *e, struct removal *r,
                                     size_t most, int64_t now, int64_t wall_ms,
                                     bool *over)
{
    return STATUS_REFUSED;
}

static enum status pass_removal_count(struct engine *e, uint32_t queue,
                                      uint64_t *n)
{
    return STATUS_REFUSED;
}

static enum status pass_retry_failed(struct engine *e, struct failed_retry *r,
                                     size_t most, int64_t now, int64_t wall_ms,
                                     bool *over)
{
    return STATUS_REFUSED;
}

static enum status pass_refresh_urls(struct engine *e,
                                     struct refresh_request *r, size_t most,
                                     int64_t now, int64_t wall_ms, bool *over)
{
    return STATUS_REFUSED;
}

static enum status pass_import(struct engine *e,
                               const struct engine_item *items,
                               const struct import_fact *facts, size_t n,
                               int64_t now, int64_t wall_ms,
                               enum import_answer *answers)
{
    return STATUS_REFUSED;
}

#pragma GCC diagnostic pop

const struct engine_ops cluster_engine_ops = {
    .put = cluster_put,
    .lease = cluster_lease_out,
    .ack = cluster_ack,
    .release = cluster_release,
    .leased_url = pass_leased_url,
    .blame = pass_blame,
    .turn = cluster_turn,
    .next_due = cluster_next_due,
    .checkpoint = cluster_checkpoint,
    .checkpoint_now = cluster_checkpoint_now,
    .close = cluster_close,
    .block = pass_block,
    .delay = pass_delay,
    .limit_queue = pass_limit_queue,
    .hosts = pass_hosts,
    .next_unplaced = pass_next_unplaced,
    .place = pass_place,
    .recheck = pass_recheck,
    .rejudge = pass_rejudge,
    .set_schedule = pass_set_schedule,
    .set_limits = pass_set_limits,
    .set_refresh = pass_set_refresh,
    .set_order = pass_set_order,
    .set_traps = pass_set_traps,
    .external_grant = pass_external_grant,
    .external_find = pass_external_find,
    .external_extend = pass_external_extend,
    .external_settle = pass_external_settle,
    .external_discover = pass_external_discover,
    .external_get_facts = pass_external_get_facts,
    .external_get_queue = pass_external_get_queue,
    .external_set_reach = pass_external_set_reach,
    .removal_begin = pass_removal_begin,
    .removal_step = pass_removal_step,
    .removal_count = pass_removal_count,
    .retry_failed = pass_retry_failed,
    .import = pass_import,
    .refresh_urls = pass_refresh_urls,
    .digest_key = pass_digest_key,
    .identify = pass_identify,
    .url = pass_url,
    .each_url = pass_each_url,
    .each_seed = pass_each_seed,
    .find_queue = pass_find_queue,
    .queue_key = pass_queue_key,
    .robots = cluster_share_robots,
    .first_body = pass_first_body,
    .meta = pass_meta,
    .set_meta = pass_set_meta,
    .stats = cluster_engine_get_stats,
    .memory = pass_memory,
    .get_stats = pass_get_stats,
};
