/*
 * frontier_open.h - makes the frontier of a crawl, or opens one.
 *
 * Seen check, store, host queues, schedule, leases and budgets are behind
 * frontier/frontier.h, in one directory: frontier.db, filter.ckpt, manifest.
 */
#ifndef URLWEIR_FRONTIER_CRAWL_FRONTIER_OPEN_H
#define URLWEIR_FRONTIER_CRAWL_FRONTIER_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "frontier/crawl/refresh_rule.h"
#include "frontier/crawl/schedule.h"
#include "frontier/frontier.h"
#include "frontier/scope.h"
#include "frontier/seen/seen_store.h"
#include "frontier/traps/trap_form.h"
#include "frontier/url/host.h"
#include "storage/frontier_store.h"
#include "storage/rows/page_store.h"

struct blocklist;
struct past_crawl;
struct url_form;
struct order;

/* The checks for URLs whose drops are judged again. All of it must outlive the
 * frontier. */
struct frontier_judge {
    struct scope *scope;         /* thread-safe */
    const struct url_form *form; /* NULL: the canonical form */
    uint32_t kinds;              /* kinds of links that are followed, 1 << kind,
                                    and of URLs that no page links to */
    uint64_t links_most;         /* of a page; 0: all */
    uint64_t body_most;          /* octets of a body that are read */
    uint64_t redirects_most;     /* in a row */
    uint64_t timeout_ms;         /* of a response */
    /* Is this media type accepted? NULL: all are. */
    bool (*takes_type)(const void *ctx, struct bytes mime);
    const void *ctx;
};

struct frontier_traps {
    enum trap_policy policy;
    uint32_t threshold[TRAP_RULES_]; /* see trap_table.h */
    uint32_t exempt; /* kinds of links that are never a trap's, 1 << kind */
};

struct frontier_options {
    struct bytes crawl; /* crawl ID */
    /* URLs of other shards are sent there instead of being admitted. `via`: the
     * page that led to it, 0: none. */
    struct shard_number shard;
    void (*send)(void *ctx, const struct url_item *item, uint64_t via);
    void *send_ctx;
    int64_t taken_at; /* until when another process may have had the crawl,
                         though it left no row; 0: nobody had it */
    struct schedule_options schedule;
    uint32_t tries; /* of one URL, in all */
    uint32_t conns_per_host;
    enum queue_key_mode group; /* which hosts politeness treats as one */
    size_t in_flight;          /* most URLs leased or not yet durable */
    size_t commit_least;  /* acks that are worth a commit before its time */
    uint64_t limit_pages; /* 0: none */
    struct budgets budgets;
    struct seen_store_options store;
    uint64_t host_memory; /* octets that queues and hosts take before hosts
                             rest; 0: their part of store.memory */
    struct blocklist *blocklist; /* borrowed; URLs on it are dropped before
                                    admission. NULL: none */
    bool compare_text; /* if digests are equal, compare the stored URL too */
    /* What a server may choose a representation by, the same in every request,
     * and what is read of it. Validators of responses to others are not used:
     * their 304 would stand for what this run has not read. */
    struct bytes identity;
    bool keeps_records; /* --warc: what it has no record of is fetched again */
    struct past_crawl *past; /* borrowed; NULL: none (past_crawl.h) */
    bool record_links; /* keep the whole link graph (storage/rows/link_store.h)
                        */
    uint32_t head_kinds; /* kinds of links that only heads of responses have, as
                            1 << kind */
    bool skip_same_content;  /* do not admit links of a body seen before */
    bool watch_near;         /* recognize near duplicates by row.simhash */
    bool skip_near_dup;      /* do not admit links of near duplicates */
    int64_t commit_interval; /* ns, at most 200 ms for our crawler */
    uint64_t random_seed;    /* of jitter; 0: from the system */
    /* Queued URLs are checked against this when they are leased, since a resume
     * changed the scope. NULL: they are not. */
    struct scope *recheck;
    struct frontier_traps traps;
    struct refresh_rules refresh; /* when done URLs are fetched again */
    enum changed_by changed_by;   /* what makes a page another one */
    /* Fetches from this one on are not removed, since another thread reads them
     * in order and has come that far. NULL: nobody does. */
    const _Atomic uint64_t *lines_upto;
    const struct order *order;   /* borrowed; NULL: breadth first */
    uint64_t keep_dropped;       /* octets of drops that may be judged again */
    struct frontier_judge judge; /* scope NULL: none is judged */
    uint32_t listings; /* kinds that are lists of URLs, 1 << kind: not counted
                          as pages */
};

/* Creates a crawl in the existing directory `dir`. STATUS_EXISTS: there is one
 * already. */
MUST_CHECK enum status frontier_create(struct frontier **out, const char *dir,
                                       const struct frontier_options *o,
                                       int64_t wall_ms);
/* Opens the crawl in `dir`. STATUS_NOT_FOUND: no crawl there. STATUS_DAMAGED:
 * store and manifest do not agree, or one cannot be read; a log line says
 * which. STATUS_VERSION. A filter file that does not verify is rebuilt, and
 * logged. */
MUST_CHECK enum status frontier_open(struct frontier **out, const char *dir,
                                     const struct frontier_options *o,
                                     int64_t now, int64_t wall_ms);

#endif
