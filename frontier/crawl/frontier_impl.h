/*
 * frontier_impl.h - the frontier's own struct, and what most of its
 * files call. The rest is in one header for each part of the frontier:
 *
 *   frontier_host.h     hosts: when one is asked
 *     frontier_schedule.c    which host is due first, or does not respond
 *     frontier_lease.c       which URL of it goes out, or may end a process
 *     frontier_cross_host.c  politeness groups, requests to another host
 *   frontier_links.h    links on their way into a queue
 *     frontier_drop.c     links dropped before admission: counted, and kept
 *     frontier_trap.c     endless families of URLs: evidence, drops
 *     rejudge.c           kept drops and done URLs that come back, retries
 *     levels.c            how far URLs are from a seed, by the shortest path
 *     frontier_order.c    which URLs of a host go before their turn, or later
 *   frontier_fetched.h  pages that were fetched before
 *     frontier_last.c     what is known of them, how many fetches of them stay
 *     frontier_past.c     links of a page that an earlier crawl has unchanged
 *   frontier_refresh.h  done URLs that are fetched again
 *     frontier_refresh.c  at their dates
 *     refresh_dates.c     dates given anew, counted, and what sitemaps say
 *
 *   frontier.c          put, turn, checkpoints, stats, queries, close
 *   frontier_open.c     a new crawl, or one found on disk
 *   frontier_hosts.c    hosts in memory, listed, and counted
 *   frontier_budget.c   budgets, limits that people set, changed options
 *   frontier_admit.c    new URLs: seen check, row, host queue; imports
 *   frontier_ack.c      the outcome of a URL, and links found on its page
 *   frontier_settle.c   what becomes of the URL and its host by it
 *   frontier_log.c      lines for --verbose and --decisions
 *   external.c, external_settle.c  URLs that other programs fetch; removal
 *
 * Besides these files, only tests and benchmarks of the frontier include it.
 */
#ifndef URLWEIR_FRONTIER_CRAWL_FRONTIER_IMPL_H
#define URLWEIR_FRONTIER_CRAWL_FRONTIER_IMPL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/heap.h"
#include "base/map.h"
#include "frontier/candidate.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/hosts/host_queue.h"
#include "frontier/hosts/host_table.h"
#include "frontier/hosts/lease.h"
#include "frontier/hosts/link_sketch.h"
#include "frontier/hosts/politeness_group.h"
#include "frontier/refresh/due_count.h"
#include "frontier/seen/blocklist.h"
#include "frontier/seen/seen_store.h"
#include "frontier/stats.h"
#include "frontier/traps/trap_table.h"
#include "storage/frontier_store.h"
#include "storage/rows/drop_log.h"
#include "storage/rows/early_store.h"
#include "storage/rows/hint_store.h"
#include "storage/rows/history.h"
#include "storage/rows/link_store.h"
#include "storage/rows/page_store.h"
#include "storage/rows/path_log.h"
#include "storage/rows/refresh_store.h"

/* A URL that failed for now, read from disk at the start. */
struct tries_entry {
    uint32_t tries;
    int64_t due; /* monotonic */
};

/* A lap over all hosts (stats.h). */
struct frontier_census {
    uint32_t at; /* in f->hosts */
    struct host_stats counting, last;
};

/* Depths are to be found again, whichever paths are known. */
#define REJUDGE_ANEW UINT64_MAX

/* Kept drops that are judged again (rejudge.c). */
struct rejudge {
    bool ready;        /* frontier_rejudge was called */
    uint64_t reasons;  /* 1 << reason; 0: none */
    uint64_t at, upto; /* blocks: the last one done, the last of all */
    uint64_t later;    /* reasons to judge when nothing is queued */
    uint64_t levels;   /* the last path that was known to a judgement by depth,
                        or REJUDGE_ANEW */
    uint64_t read_since; /* fetches after this one were by the settings that
                            are in force; UINT64_MAX: not known of any */
};

/* The order of URLs (frontier_order.c). */
struct ordering {
    struct link_sketch *links; /* NULL: in-links do not count */
    bool hints;                /* a sitemap has said something */
    bool changed;              /* the rules are not those in the store */
    uint64_t at, upto; /* ids given a class since the rules changed, of all */
    struct buf text;   /* a URL read from the store */
};

#define REFRESH_HINTED_MOST 256

/* Done URLs that are fetched again (frontier_refresh.c). */
struct refreshing {
    struct refresh_store *store;
    struct heap due; /* of struct refresh_turn by place: queues with dates whose
                        hosts are not awake; key: ms, wall clock */
    struct refresh_turn **turns; /* by queue number, in chunks */
    size_t chunk_count;
    uint32_t awake;           /* hosts */
    uint32_t crossing;        /* hosts with a URL that is due, and waits for
                                 another host's robots.txt */
    uint32_t held;            /* hosts that were given up, and sleep */
    uint32_t silent;          /* of these, those that did not respond */
    int64_t wall_ms, skew_ms; /* at the last lease; wall less monotonic */
    int64_t since_ms;         /* wall clock at the first one of this run; 0:
                                 there was none */
    struct due_count counts;  /* of dates, by time (refresh_dates.c) */
    bool reading; /* the calendar, for these: since the start of this run */
    unsigned read;
    struct refresh_row read_upto;
    uint32_t hinted_queues[REFRESH_HINTED_MOST]; /* refresh_dates.c */
    unsigned hinted;
    struct refresh_row hints_at; /* in the first of them; url 0: not begun */
    bool redates;                /* --refresh has changed: `walk` goes on */
    struct refresh_walk walk;
};

struct levels;
struct recent_drop;

#define TRAP_DETAIL (TRAP_FORM_MOST + 32)

/* Arrays of put and ack, as long as the longest list so far. */
struct admit_scratch {
    struct digest *digests;
    enum seen_answer *answers;
    struct digest *fresh;
    uint64_t *found;
    uint32_t *open;
    struct bytes *asked;
    bool *blocked;
    uint32_t *queues; /* of the new ones; 0: it has none yet */
    size_t room;
};

struct frontier {
    const struct frontier_around *around; /* borrowed; NULL: none */
    struct frontier_options o;
    struct seen_store *base;      /* database, seen check, checkpoints */
    struct frontier_store *store; /* the base's */
    struct page_store *pages;     /* the base's */
    struct link_store *links;
    struct hint_store *hints;
    struct drop_log *drop_log;
    struct path_log *path_log;
    struct trap_store *trap_store;
    struct trap_table *traps;    /* NULL: --traps off */
    char trap_text[TRAP_DETAIL]; /* why the last URL was a trap's */
    struct early_store *early;
    struct schedule_random random;

    struct heap due; /* of struct host_queue by place: all of them; if grouped,
                        those without a group */
    struct heap beside; /* the same, of hosts without a delay that have leases
                           and may have more; by how many they have */
    struct heap groups_due;           /* of struct politeness_group by place */
    struct politeness_groups *groups; /* NULL: hosts are not grouped */
    struct host_queue *aside;         /* due, but without an address; a list */
    struct host_queue **aside_end;
    uint64_t aside_count; /* these, and those being looked up */
    struct host_table hosts;
    uint64_t host_memory; /* octets for these and the store's part of queues */
    bool hosts_beyond;    /* they take more */
    int64_t rested_due;   /* hosts that rest are asked no sooner */
    uint32_t host_looked; /* where to go on forgetting idle ones */
    uint64_t hosts_seen, octets_seen; /* since host_looked was 0 */
    uint64_t host_octets; /* of one on average, when last all were seen; 0: not
                             yet */
    uint64_t octets_told; /* that the store knows hosts to hold */
    uint32_t queues_before; /* queues when the crawl was opened */
    bool cut_off;           /* who had it may have asked hosts without a row */
    int64_t asked_before;   /* when these were asked last, at most */
    struct lease_table *leases;
    struct map *tries;                /* id -> struct tries_entry */
    struct external_leases *external; /* NULL: no other program has used it */
    uint64_t hosts_active;
    uint64_t withheld; /* URLs beyond the limits of their queues */
    uint64_t given_up; /* URLs of hosts that did not respond for too long */
    uint64_t barred;   /* URLs of hosts that a person has blocked */

    struct recent_drop *recent_drops; /* frontier_drop.c; NULL: none */
    struct rejudge rejudge;
    struct ordering ordering;
    struct map *domains; /* registrable domain -> struct domain */
    struct refreshing refresh;
    struct history *history;
    bool keeps_paths;      /* there is, or was, a limit to the depth */
    struct levels *levels; /* levels.c; NULL: nobody wants to know */

    bool links_noted;     /* link_store_note was called in this run */
    int64_t dirty_since;  /* `now` of the first change since the commit */
    uint64_t uncommitted; /* acks since then */
    bool urgent;          /* news of a host is not durable yet */
    uint64_t old_urls;    /* highest id when it was opened */
    struct frontier_census census;
    struct blocklist_counts blocks_counted; /* included in the counters */

    struct admit_scratch scratch;
    struct buf text; /* a URL read from the store */

    struct arena *last_texts; /* of a fetch row (frontier_last.c) */
    struct revisit_store *revisits;
    struct known_links *known_links; /* frontier_past.c; NULL: none */
    uint64_t other_seq;  /* fetches up to this one had another identity */
    bool identity_noted; /* the store has this run's */
};

/* ---- of external.c ---- */

/* Writes the final outcome of a removed URL. */
extern const struct outcome frontier_removed;
#define REMOVED_TEXT "removed by the operator"
/* Was it removed? It may still be leased, or be put back. */
bool frontier_is_removed(const struct host_queue *h, uint64_t id);

/* Counts more removed URLs; the mark is stored already. */
MUST_CHECK enum status frontier_count_removed(struct frontier *f,
                                              struct host_queue *h, uint64_t n);

/* ---- of external.c ---- */

/* Loads external leases of an earlier run, and delays that people have set, if
 * there are any. Call it before hosts are scheduled. */
MUST_CHECK enum status external_restore(struct frontier *f, int64_t now,
                                        int64_t wall_ms);
void external_free(struct external_leases *l); /* NULL is fine */
/* Makes f->external if it is missing. */
MUST_CHECK enum status external_open(struct frontier *f);
/* Ends leases past their deadline. */
void external_tick(struct frontier *f, int64_t now);
/* Before a commit: a step of upkeep. */
MUST_CHECK enum status external_step(struct frontier *f);
size_t external_count(const struct external_leases *l); /* NULL: 0 */
/* Is a URL read from its queue leased since before a restart, or done since it
 * was read? Then it must not be leased. */
bool external_is_elsewhere(const struct frontier *f, uint64_t id);
/* Drops the external part of a lease; the lease itself goes on. */
void external_end_lease(struct frontier *f, struct lease_record *r);
/* Stores the settings of a host's queue. */
MUST_CHECK enum status external_set_queue(struct frontier *f,
                                          const struct host_queue *h);

/* Starts the transaction when none is open. */
MUST_CHECK enum status frontier_touch(struct frontier *f, int64_t now);
/* Marks the frontier broken and returns `st`. */
enum status frontier_broke(struct frontier *f, enum status st);
/* A URL to be admitted. */
struct admission {
    const struct url_item *item;
    uint64_t via;  /* id of the page that has it, 0: none */
    bool on_level; /* as far from a seed as that page: a redirect, a sitemap */
    uint64_t id;   /* out: its row; 0 if it was seen before, unless `all_ids` */
    uint32_t queue; /* out: of a new row */
    bool fresh;     /* out: the row is new */
    bool blocked;   /* out: on the blocklist, a trap's, or another shard's: it
                       has no row */
    bool dropped; /* out: and counted as a drop; a repeat in its call is not */
    bool spiral;  /* its page is one of a trap that is told by its body */
};
/* Admits the new ones of list[0..n). */
MUST_CHECK enum status frontier_admit(struct frontier *f,
                                      struct admission *list, size_t n,
                                      bool all_ids, int64_t wall_ms);
/* The host of a queue, made if missing, woken if it rests. */
struct host_queue *frontier_host(struct frontier *f, uint32_t queue);
/* Does the outcome of a URL of this kind count as a page? */
bool frontier_counts_as_page(const struct frontier *f, struct outcome o,
                             uint8_t kind);
/* Counts the outcome of a URL of this kind; `back`: takes it from the counters
 * again. */
void frontier_count_outcome(struct frontier *f, struct outcome o, uint8_t kind,
                            bool back);
/* Counts a page whose body or text another one had before; `by` UINT64_MAX:
 * takes that back. */
MUST_CHECK enum status frontier_count_repeat(struct frontier *f,
                                             const struct fetch_row *row,
                                             uint64_t by);
/* If the URL is a seed, notes where a resume stops searching for seeds. */
MUST_CHECK enum status frontier_note_root(struct frontier *f, uint32_t depth,
                                          uint64_t id);

/* Sets the outcome in the row of a try. */
void frontier_fill_outcome(struct fetch_row *row, struct outcome o, bool final);
/* The whole outcome of a leased URL, and the end of its lease. links[0..n) are
 * those of `d`, admitted. */
MUST_CHECK enum status frontier_settle_page(
    struct frontier *f, struct url_done *d, const struct admission *links,
    size_t n, const struct link_range *rows, int64_t now, int64_t wall_ms);
/* Records a URL's final outcome: its row, done bit and counters. */
MUST_CHECK enum status frontier_settle(struct frontier *f, uint64_t id,
                                       bool seed, uint8_t kind,
                                       struct fetch_row *row, struct outcome o);

/* ---- frontier_log.c: lines for --verbose and --decisions ---- */

/* The last word on a URL. */
void frontier_log_done(struct bytes url, const struct fetch_row *row,
                       struct outcome o);
/* Its Crawl-delay is longer than --max-crawl-delay. */
void frontier_log_cut(const struct frontier *f, const struct host_queue *h,
                      int64_t delay);
/* `tries` were used up; the next is due in `wait` ns. */
void frontier_log_retry(const struct frontier *f, struct bytes url,
                        struct outcome o, unsigned tries, int64_t wait);
/* Links of a page that were not admitted. */
void frontier_log_drops(struct bytes page, const struct url_done *done);
/* A host that is left alone. */
void frontier_log_delay(const struct frontier *f, const struct host_queue *h,
                        int64_t now);

#endif
