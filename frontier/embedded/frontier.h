/*
 * frontier.h - the embedded engine: the whole, put together.
 *
 * Seen check, store, host queues, schedule, leases and budgets behind the
 * engine interface, in one directory: frontier.db, filter.ckpt, manifest.
 * frontier_create and frontier_open make it, engine->ops->close ends it; in
 * between everything goes through engine.h, but for what only an embedded
 * engine has, below. Frontier thread only.
 */
#ifndef URLWEIR_FRONTIER_EMBEDDED_FRONTIER_H
#define URLWEIR_FRONTIER_EMBEDDED_FRONTIER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "frontier/embedded/schedule.h"
#include "frontier/engine.h"
#include "frontier/scope.h"
#include "frontier/seen/seen_store.h"
#include "frontier/url/ip.h"
#include "frontier/url/queue_key.h"
#include "storage/frontier_store.h"

struct blocklist;

struct frontier_options {
    struct bytes crawl; /* crawl ID */
    struct schedule_options schedule;
    uint32_t tries; /* of one URL, in all */
    uint32_t conns_per_host;
    enum queue_key_mode group; /* which hosts politeness takes for one */
    size_t in_flight;          /* URLs leased or not yet durable, at most */
    uint64_t limit_pages;      /* 0: none */
    uint64_t per_host;         /* pages of one queue; 0: none */
    struct seen_store_options store;
    struct blocklist *blocklist; /* borrowed; URLs in it are dropped ahead of
                                    admission. NULL: none */
    bool compare_text; /* a digest that matches is not proof enough: the
                          stored URL is compared too */
    bool record_links; /* keep the whole link graph (storage/rows/link_store.h)
                        */
    bool skip_same_content;  /* links of a body seen before: not admitted */
    int64_t commit_interval; /* ns, at most 200 ms for our crawler */
    uint64_t random_seed;    /* of jitter; 0: from the system */
    /* Queued URLs are asked about again when they are leased: scope was
     * changed by a resume. NULL: they are not. */
    struct scope *recheck;
    uint32_t listings; /* kinds that are lists of URLs, 1 << kind: asked by
                          scope_check_listing, and no pages where pages are
                          counted */
};

/* STATUS_EXISTS: a crawl is in `dir` already. The directory is there. */
MUST_CHECK enum status frontier_create(struct engine **out, const char *dir,
                                       const struct frontier_options *o,
                                       int64_t wall_ms);
/* STATUS_NOT_FOUND: no crawl there. STATUS_DAMAGED: store and manifest do not
 * agree, or one cannot be read; a log line says which. STATUS_VERSION.
 * A filter file that does not verify is rebuilt, with one line. */
MUST_CHECK enum status frontier_open(struct engine **out, const char *dir,
                                     const struct frontier_options *o,
                                     int64_t now, int64_t wall_ms);

/* Commits, then writes the filter file and the manifest on a thread of its
 * own. STATUS_AGAIN: the last one is still being written. */
MUST_CHECK enum status frontier_checkpoint(struct engine *e, int64_t now,
                                           int64_t wall_ms);
/* As above, but done when it returns; `state` goes into the manifest:
 * "running", "stopped" or "finished". */
MUST_CHECK enum status frontier_checkpoint_now(struct engine *e,
                                               const char *state, bool clean,
                                               int64_t now, int64_t wall_ms);

/* The secret that digests of this crawl are made with; lives as long as e. */
const struct digest_key *frontier_digest_key(struct engine *e);
/* The parts, for robots rows, meta and seeds; on the frontier thread only. */
struct frontier_store *frontier_store_of(struct engine *e);
struct page_store *frontier_pages_of(struct engine *e);
/* QUEUE_KEY_IP: a host that is due and whose address nobody knows; its queue,
 * and its name, which lives as long as `e`. It is handed out by no lease until
 * frontier_place is told where it stands. 0: there is none. */
uint32_t frontier_next_unplaced(struct engine *e, struct bytes *host);
/* `address` NULL: it has none, and stands alone under its name. */
MUST_CHECK enum status frontier_place(struct engine *e, uint32_t queue,
                                      const struct ip *address, int64_t now);
/* Hosts that have URLs left, or something to remember; at most the first
 * 200,000 of the crawl are looked at (*all: there are no more). */
enum frontier_host_order {
    FRONTIER_HOSTS_BIGGEST, /* most URLs left first */
    FRONTIER_HOSTS_SLOWEST, /* those that answer last; answered ones alone */
    FRONTIER_HOSTS_BLOCKED  /* blocked or dead alone, most URLs left first */
};
enum frontier_host_state {
    FRONTIER_HOST_READY,
    FRONTIER_HOST_BUSY,    /* as many URLs are out as may be */
    FRONTIER_HOST_WAITING, /* its delay */
    FRONTIER_HOST_BLOCKED,
    FRONTIER_HOST_DEAD /* given up for this run */
};
struct frontier_host_row {
    struct bytes host; /* lives as long as `e` */
    enum frontier_host_state state;
    const char *why;     /* static: why it is blocked or dead; or "" */
    uint64_t queued;     /* URLs not done */
    uint64_t fetched;    /* answers in this run, as far as it is remembered */
    uint32_t failures;   /* in a row */
    uint32_t latency_us; /* moving mean of its answers' times; 0: none yet */
    int64_t delay;       /* ns between two requests, as it stands */
    uint32_t limit;      /* most URLs done, by a person; 0: none */
    int64_t due;         /* moment at which it may be asked; INT64_MAX: not
                            before something comes back */
};
/* Up to `most` into `out`, in that order; how many. */
size_t frontier_hosts(struct engine *e, enum frontier_host_order by,
                      size_t most, int64_t now, struct frontier_host_row *out,
                      bool *all);
/* ---- options that may change while it is open ---- */

/* `scope` is, or has become, another than what queued URLs were admitted by. */
void frontier_recheck(struct engine *e, struct scope *scope);
/* Hosts that wait now wait by the new delays. */
void frontier_set_schedule(struct engine *e, const struct schedule_options *o,
                           int64_t now);
/* As in frontier_options. Pages of a host are counted while there is a limit
 * to them. */
void frontier_set_limits(struct engine *e, uint64_t limit_pages,
                         uint64_t per_host);

/* No URL of the queue goes out while `most` of it are done or out; the rest
 * waits until more is allowed. `done`: how many are done by now, but for those
 * that were removed (removal.h). most 0: there
 * is no such limit. Kept over restarts. `queue` is one of the store's; of a
 * crawl with fetchers of its own. */
MUST_CHECK enum status frontier_limit_queue(struct engine *e, uint32_t queue,
                                            uint32_t most, uint64_t done,
                                            int64_t now);

/* An earlier process ended while it read a response for the URL `id`, which may
 * be why: counts a try of it, to be committed with the next turn. The URL is
 * failed, REASON_STUCK, if that was its last try, or if it is known that the
 * process could not get on (`stuck`); but its first death alone is no proof, so
 * it always has a second try. One log line names it. Does nothing to an id that
 * does not exist or is done. Before the first lease. */
MUST_CHECK enum status frontier_blame(struct engine *e, uint64_t id, bool stuck,
                                      int64_t now, int64_t wall_ms);

/* The URL of a lease that is out, valid until it ends; empty: there is none. */
struct bytes frontier_leased_url(struct engine *e, uint64_t id);
/* First time in this run that a queue is handed out? Answers true once. */
bool frontier_first_lease(struct engine *e, uint32_t queue);

#endif
