/*
 * frontier_ops.h - the functions of the embedded engine's table, each in its
 * file. engine.h says what they do.
 */
#ifndef URLWEIR_FRONTIER_EMBEDDED_FRONTIER_OPS_H
#define URLWEIR_FRONTIER_EMBEDDED_FRONTIER_OPS_H

#include "frontier/embedded/frontier_impl.h"

extern const struct engine_ops frontier_ops;

enum status frontier_put(struct engine *e, struct bytes crawl, uint64_t via,
                         const struct engine_item *items, size_t n,
                         int64_t wall_ms, enum engine_answer *answers);
enum status frontier_lease(struct engine *e, size_t most, int64_t now,
                           int64_t wall_ms, struct engine_lease *out,
                           size_t *n);
enum status frontier_ack(struct engine *e, struct engine_done *done, size_t n,
                         int64_t now, int64_t wall_ms);
enum status frontier_release(struct engine *e, uint64_t id, int64_t not_before,
                             const struct engine_host_news *host, int64_t now,
                             int64_t wall_ms);
struct bytes frontier_leased_url(struct engine *e, uint64_t id);
enum status frontier_blame(struct engine *e, uint64_t id, enum blame why,
                           int64_t now, int64_t wall_ms);
enum status frontier_turn(struct engine *e, bool force, int64_t now,
                          int64_t wall_ms, uint64_t *durable);
int64_t frontier_next_due(struct engine *e, int64_t now, struct bytes *why);
enum status frontier_checkpoint(struct engine *e, int64_t now, int64_t wall_ms);
enum status frontier_checkpoint_now(struct engine *e, const char *state,
                                    bool clean, int64_t now, int64_t wall_ms);
void frontier_close(struct engine *e);
enum status frontier_block(struct engine *e, struct bytes crawl,
                           struct bytes key, int64_t until, int64_t now,
                           int64_t wall_ms);
enum status frontier_delay(struct engine *e, struct bytes crawl,
                           struct bytes key, int64_t delay_ms, int64_t now);
enum status frontier_limit_queue(struct engine *e, uint32_t queue,
                                 uint32_t most, uint64_t done, int64_t now);
size_t frontier_hosts(struct engine *e, enum engine_host_order by, size_t most,
                      int64_t now, struct engine_host_row *out, bool *all);
uint32_t frontier_next_unplaced(struct engine *e, struct bytes *host);
enum status frontier_place(struct engine *e, uint32_t queue,
                           const struct ip *address, int64_t now);
void frontier_recheck(struct engine *e, struct scope *scope);
enum status frontier_rejudge(struct engine *e, uint64_t reasons, int64_t now);
void frontier_set_schedule(struct engine *e, const struct schedule_options *o,
                           int64_t now);
void frontier_set_limits(struct engine *e, uint64_t limit_pages,
                         const struct budgets *b);
void frontier_set_refresh(struct engine *e, const struct refresh_rules *r);
enum status frontier_refresh_urls(struct engine *e, struct refresh_request *q,
                                  size_t most, int64_t now, int64_t wall_ms,
                                  bool *over);
enum status frontier_set_order(struct engine *e, const struct order *order);
enum status frontier_import(struct engine *e, const struct engine_item *items,
                            const struct import_fact *facts, size_t n,
                            int64_t now, int64_t wall_ms,
                            enum import_answer *answers);
enum status frontier_identify(struct engine *e, struct bytes key,
                              struct bytes url, uint64_t *id);
void frontier_engine_stats(struct engine *e, struct engine_stats *out);
struct engine_memory frontier_memory(struct engine *e);
void frontier_get_stats(struct engine *e, int64_t now,
                        struct frontier_stats *out);
void frontier_set_traps(struct engine *e, const uint32_t threshold[]);
/* Inside of an engine that is an embedded one. */
struct frontier_store *frontier_store_of(struct engine *e);
struct page_store *frontier_pages_of(struct engine *e);

#endif
