/*
 * frontier_impl.h - the frontier's own struct, and what its files call of each
 * other, a section for each:
 *
 *   frontier.c           a new crawl, or one found on disk; put, turn,
 *                        checkpoints, stats, queries, close
 *   frontier_admit.c     new URLs: seen check, row, host queue; imports; drops
 *                        before admission, counted and kept; traps
 *   rejudge.c            kept drops and done URLs that come back, retries; how
 *                        far URLs are from a seed, by the shortest path
 *   frontier_hosts.c     hosts in memory: those that rest, counts, lists
 *   frontier_schedule.c  which host is due first, or does not respond;
 *                        politeness groups, requests to another host
 *   frontier_lease.c     which URL of it goes out: its order, its end
 *   frontier_ack.c       the outcome of a URL, and links found on its page
 *   frontier_settle.c    what becomes of the URL and its host by it; log lines
 *   frontier_past.c      what is known of pages that were fetched before, in
 *                        this crawl or in an earlier one (past_crawl.h)
 *   frontier_refresh.c   done URLs that are fetched again at their dates
 *   refresh_dates.c      dates given anew, counted, and what sitemaps say
 *   frontier_budget.c    budgets, limits that people set, changed options
 *   external.c           URLs that other programs fetch; removal
 *
 * Besides these files, only tests and benchmarks of the frontier include it.
 */
#ifndef URLWEIR_FRONTIER_CRAWL_FRONTIER_IMPL_H
#define URLWEIR_FRONTIER_CRAWL_FRONTIER_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/digest.h"
#include "base/heap.h"
#include "base/map.h"
#include "frontier/candidate.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/crawl/host_queue.h"
#include "frontier/seen/blocklist.h"
#include "frontier/seen/seen_store.h"
#include "frontier/stats.h"
#include "frontier/traps/trap_table.h"
#include "storage/frontier_store.h"
#include "storage/rows/drop_log.h"
#include "storage/rows/history.h"
#include "storage/rows/link_store.h"
#include "storage/rows/page_store.h"
#include "storage/rows/path_log.h"
#include "storage/rows/served_log.h"
#include "storage/rows/side_tables.h"

/*
 * Hosts in memory: the hosts of a crawl by queue number, and those that rest.
 *
 * A host with URLs has a struct host_queue of some 250 to 400 octets, which
 * matters with ten million of them. One that waits for nothing but its turn,
 * and of which nothing is known that a new struct would lack, can rest: eight
 * octets of the table say how far its queue was read, and four more stand in a
 * line, first in, first out. Those that have been due from the beginning, since
 * they were never asked or need no delay, have a line of their own, which goes
 * first.
 *
 * A host that is woken out of its turn leaves its place in the line behind;
 * that place is passed over, or wakes the host early if it rests again.
 *
 * Frontier thread only.
 */
struct host_line_part; /* frontier_hosts.c */

/* A place in the schedule's heap (base/heap.h). */
struct host_turn {
    int64_t due;
    uint64_t order;
};

struct host_line {
    struct host_line_part *first, *last;
    uint32_t taken; /* places of `first` */
};

struct host_table {
    /* By queue: the address of its struct, which is even; an odd number if it
     * rests; 0: nothing is known. */
    uintptr_t *at;
    size_t room;
    uint64_t awake, resting; /* hosts */
    struct host_line at_once, rested;
    uint64_t parts; /* of both lines */
};

void host_table_init(struct host_table *t);
/* Frees the hosts as well. */
void host_table_fini(struct host_table *t);

/* NULL: none, or it rests. */
static inline struct host_queue *host_table_get(const struct host_table *t,
                                                uint32_t queue)
{
    uintptr_t p = queue < t->room ? t->at[queue] : 0;

    return (p & 1) == 0 ? (struct host_queue *)p : NULL;
}

static inline bool host_table_rests(const struct host_table *t, uint32_t queue)
{
    return queue < t->room && (t->at[queue] & 1) != 0;
}

/* Fetches the memory of an entry that will soon be asked for. */
static inline void host_table_prefetch(const struct host_table *t,
                                       uint32_t queue)
{
    if (queue < t->room)
        __builtin_prefetch(&t->at[queue]);
}

/*
 * Groups of hosts: hosts that politeness treats as one, and when they may
 * be asked.
 *
 * With --queue-key ip all hosts that share an address form a group: one of them
 * is asked at a time, with the delay between, and what one says of delays
 * (Crawl-delay, Retry-After, back-off) holds for all. With --queue-key domain
 * the hosts of a registrable domain form a group. Queues, digests and
 * everything a reader sees belong to hosts: a host's group may change, its name
 * never does.
 *
 * A host without an address is a group of its own, with its own name. Threads:
 * the frontier thread only.
 */
struct politeness_group {
    struct heap_item place; /* in the schedule, by due time */
    struct heap hosts;      /* of struct host_queue by place */
    uint32_t members;       /* hosts in memory in this group */
    uint32_t leased;        /* their leased URLs */
    int64_t next_due;       /* politeness: not before */
    int64_t blocked_until;  /* Retry-After, back-off */
    int64_t expects_until;  /* a request to one of its hosts waits: nothing else
                               is leased before */
    uint32_t name_len;
    char name[]; /* its address, as in a URL; a domain */
};

void politeness_group_free(void *group);

/* Removes `h`, which is in no heap, from its group. Returns the group, or NULL
 * if it had none, or if the group was empty and without state at `now`, and was
 * freed. */
struct politeness_group *politeness_group_leave(struct map *groups,
                                                struct host_queue *h,
                                                int64_t now);

/* One URL more, or one less, of `h` is leased. */
void politeness_group_lease(struct host_queue *h);
void politeness_group_give_back(struct host_queue *h);

/*
 * Counts of dates: how many URLs are past their dates, and since when the oldest
 * is: dates counted by minute, in memory.
 *
 * The calendar on disk is in order of queue, so it cannot tell. 6 KiB for each
 * day that has dates. Dates 10 years away, or more, count as 10 years away.
 */
#define DUE_COUNT_DAYS 7300 /* 10 years to either side */

struct due_count {
    uint32_t *days[DUE_COUNT_DAYS]; /* by minute; NULL: no dates */
    int64_t base;                   /* first minute of days[0], since 1970 */
    int64_t first; /* no minute before it has a date; minutes since base */
    int64_t upto;  /* the minutes before it are in `passed` */
    uint64_t passed, allocated;
};

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

/* The order of URLs (frontier_lease.c). */
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
    struct drop_log *drop_log;
    struct path_log *path_log;
    struct trap_table *traps;    /* NULL: --traps off */
    char trap_text[TRAP_DETAIL]; /* why the last URL was a trap's */
    struct schedule_random random;

    struct heap due; /* of struct host_queue by place: all of them; if grouped,
                        those without a group */
    struct heap beside; /* the same, of hosts without a delay that have leases
                           and may have more; by how many they have */
    struct heap groups_due; /* of struct politeness_group by place */
    struct map *
        groups; /* of struct politeness_group by name; NULL: hosts are not grouped */
    struct host_queue *aside; /* due, but without an address; a list */
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
    struct map *leases;     /* of struct lease_record by id */
    struct map *tries;      /* id -> struct tries_entry */
    struct external_leases *external; /* NULL: no other program has used it */
    uint64_t hosts_active;
    uint64_t withheld; /* URLs beyond the limits of their queues */
    uint64_t given_up; /* URLs of hosts that did not respond for too long */
    uint64_t barred;   /* URLs of hosts that a person has blocked */

    struct recent_drop *recent_drops; /* frontier_admit.c; NULL: none */
    struct rejudge rejudge;
    struct ordering ordering;
    struct map *domains; /* registrable domain -> struct domain */
    struct refreshing refresh;
    struct history *history;
    bool keeps_paths;      /* there is, or was, a limit to the depth */
    struct levels *levels; /* rejudge.c; NULL: nobody wants to know */

    bool links_noted;     /* link_store_note was called in this run */
    int64_t dirty_since;  /* `now` of the first change since the commit */
    uint64_t uncommitted; /* acks since then */
    bool urgent;          /* news of a host is not durable yet */
    uint64_t old_urls;    /* highest id when it was opened */
    struct frontier_census census;
    struct blocklist_counts blocks_counted; /* included in the counters */

    struct admit_scratch scratch;
    struct buf text; /* a URL read from the store */

    struct arena *last_texts;        /* of a fetch row (frontier_past.c) */
    struct known_links *known_links; /* frontier_past.c; NULL: none */
    uint64_t other_seq;  /* fetches up to this one had another identity */
    bool identity_noted; /* the store has this run's */
};

/* ---- frontier.c ---- */

/* Starts the transaction when none is open. */
MUST_CHECK enum status frontier_touch(struct frontier *f, int64_t now);
/* Marks the frontier broken and returns `st`. */
enum status frontier_broke(struct frontier *f, enum status st);
/* Why a host is held back, where a person said so: static, to be compared. */
extern const char frontier_by_person[];

/* ---- frontier_admit.c ---- */

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
    bool is_kept; /* its page had it before: neither drop nor path is kept */
};
/* Admits the new ones of list[0..n). */
MUST_CHECK enum status frontier_admit(struct frontier *f,
                                      struct admission *list, size_t n,
                                      bool all_ids, int64_t wall_ms);
/* If the URL is a seed, notes where a resume stops searching for seeds. */
MUST_CHECK enum status frontier_note_root(struct frontier *f, uint32_t depth,
                                          uint64_t id);
/* Counts the drops of `done` by reason, and keeps examples and those that may
 * come back. */
MUST_CHECK enum status frontier_take_drops(struct frontier *f,
                                           const struct url_done *done,
                                           int64_t wall_ms);
/* Keeps the URL of a final outcome likewise, if it may come back. */
MUST_CHECK enum status frontier_keep_row(struct frontier *f,
                                         const struct fetch_row *row,
                                         struct outcome o, uint8_t kind);
/* The same for a page that was fetched, and has links of kinds that were not
 * looked for. */
MUST_CHECK enum status frontier_keep_page(struct frontier *f,
                                          const struct url_done *d);
/* A sitemap that a seed stands for, guessed or given, whose robots.txt was not
 * asked for with --robots off: it is asked for again with another one, and the
 * robots.txt before it, for the sitemaps that this names. */
MUST_CHECK enum status frontier_keep_guess(struct frontier *f,
                                           const struct url_done *d,
                                           const struct lease_record *l);
/* Can a change of settings lift the reason? */
bool frontier_may_return(enum outcome_reason r);
/* Seeds that were dropped, as rows of URL and kind alone: they have no row. */
MUST_CHECK enum status frontier_each_dropped_seed(struct frontier *f,
                                                  url_row_visit visit,
                                                  void *ctx);
/* Forgets which drops were kept recently. */
void frontier_forget_drops(struct frontier *f);
/* Opens the table of suspicious families, unless --traps is off. */
MUST_CHECK enum status frontier_trap_open(struct frontier *f);
/* Must a queued URL be skipped as a trap's? f->trap_text says which trap. */
bool frontier_trap_has(struct frontier *f, struct bytes host,
                       const struct url_row *row);
/* The links of a page are those of a trap that is told by the page's body. */
bool frontier_trap_has_body(struct frontier *f, const struct url_done *done);
/* A page was fetched: takes it as evidence, with the links it revealed. */
void frontier_trap_page(struct frontier *f, const struct url_lease *page,
                        const struct url_done *done,
                        const struct fetch_row *row,
                        const struct admission *links, size_t n);

/* ---- rejudge.c ---- */

/* URL `id` is this near now, while depths are being found. */
void levels_come_nearer(struct frontier *f, uint64_t id, uint32_t depth);
void levels_free(struct frontier *f);
/* Of a link that is as far from a seed as its page, or farther. Only redirects
 * count as hops. */
static inline enum path_step frontier_step(bool on_level, uint16_t hops)
{
    return !on_level ? PATH_LINK : hops > 0 ? PATH_SAME : PATH_ENTRY;
}
/* A URL that is done with outcome `o` gets a new row and stands in its queue
 * again, and `o` is taken back from the counters. *back: false if it is not
 * done, or came back already. `row` is valid until then. */
MUST_CHECK enum status frontier_readmit(struct frontier *f,
                                        const struct url_row *row,
                                        struct outcome o, int64_t now,
                                        int64_t wall_ms, bool *back);
/* What URLs are asked now; o.judge.scope is not NULL. */
struct candidate_rules frontier_rules(const struct frontier *f);
/* Reads how far an earlier run had come. */
MUST_CHECK enum status rejudge_restore(struct frontier *f);
/* Is there any drop to judge now? */
bool rejudge_is_due(const struct frontier *f);
/* Drops of these reasons are judged again when nothing is queued, in this run
 * or a later one. */
MUST_CHECK enum status rejudge_later(struct frontier *f, uint64_t reasons);
/* A depth has changed, or what was found may have another than its row says:
 * when nothing is queued, what --depth kept out is judged again, and what other
 * shards know. */
MUST_CHECK enum status rejudge_depths(struct frontier *f);
/* Judges some of what is due. */
MUST_CHECK enum status rejudge_step(struct frontier *f, int64_t now,
                                    int64_t wall_ms);

/* ---- frontier_hosts.c ---- */

/* The host of a queue, made if missing, woken if it rests. */
struct host_queue *frontier_host(struct frontier *f, uint32_t queue);
/* As frontier_pause, without chance; `h` may be NULL: of a host of which nothing
 * is known. */
int64_t frontier_usual_pause(const struct frontier *f,
                             const struct host_queue *h);
/* The queue has URLs, or more than before: puts its host in the schedule. */
void frontier_queue_grew(struct frontier *f, uint32_t queue);
/* Wakes hosts whose turn comes before all others'. */
void frontier_wake(struct frontier *f);
/* After a commit: forgets hosts that are finished, lets others rest. */
void frontier_tend_hosts(struct frontier *f, int64_t now);
/* Tells the store what hosts take of memory. */
void frontier_weigh_hosts(struct frontier *f);
uint64_t frontier_host_memory(const struct frontier *f); /* octets */
/* For a host of an earlier run whose last request is not known: assumes that it
 * was at the end of that run. */
void frontier_wait_once(struct frontier *f, struct host_queue *h);

/* ---- frontier_schedule.c ---- */

/* What the schedule goes by. */
struct schedule_host frontier_schedule_host(const struct host_queue *h);
/* Takes the host, and its group, out of the schedule; frontier_reschedule
 * brings both back. */
void frontier_unschedule(struct frontier *f, struct host_queue *h);
/* Puts the host in its place in the schedule. */
void frontier_reschedule(struct frontier *f, struct host_queue *h);
/* The host that is due first, and when; NULL: there is none. */
struct host_queue *frontier_first_host(struct frontier *f, int64_t now,
                                       int64_t *due);
/* Must its politeness group be found before it is asked? */
bool frontier_stands_nowhere(const struct frontier *f,
                             const struct host_queue *h);
/* May it be asked again at once? */
bool frontier_has_no_delay(const struct frontier *f,
                           const struct host_queue *h);
/* Its URLs get their outcomes without a request. */
bool frontier_is_draining(const struct host_queue *h);
/* How many of its URLs may be leased at once. */
uint64_t frontier_most_leases(const struct frontier *f,
                              const struct host_queue *h);
/* When one of its done URLs may be fetched again. */
int64_t frontier_dated_due(const struct frontier *f,
                           const struct host_queue *h);
/* The options for one host: a person may have set its delay. */
struct schedule_options frontier_schedule(const struct frontier *f,
                                          const struct host_queue *h);
/* The pause of a host after a response. */
int64_t frontier_pause(struct frontier *f, const struct host_queue *h);
/* Adds the host to its group if that is known, else sets it aside. */
MUST_CHECK enum status frontier_find_place(struct frontier *f,
                                           struct host_queue *h);
/* Adds the host to its group if that needs no look-up. */
MUST_CHECK enum status frontier_recall_place(struct frontier *f,
                                             struct host_queue *h);
/* Its last response came from `ip`, as text: moves it to that group. */
MUST_CHECK enum status frontier_answered_from(struct frontier *f,
                                              struct host_queue *h,
                                              struct bytes ip, int64_t now);
/* What a request says of whether its host can be reached; `how` it ended.
 * True: frontier_remember has something new to keep. */
bool frontier_note_reach(struct frontier *f, struct host_queue *h,
                         const struct host_news *news, struct outcome how);
/* A host that was given up may be asked again. */
void frontier_reach_again(struct host_queue *h);
/* It did not respond for so long that this run asks it no more. */
bool frontier_is_given_up(const struct host_queue *h);
/* What stands in queue_state.reason of a host that does not respond; NULL: it
 * does. `size` >= 32. */
const char *frontier_reach_reason(const struct host_queue *h, char *out,
                                  size_t size);
/* URL `id` of `h` wants its next request to go to the host of queue `key`. */
MUST_CHECK enum status frontier_cross_host_ask(struct frontier *f,
                                               struct host_queue *h,
                                               uint64_t id, struct bytes key);
/* As frontier_lease_from, for a host with a cross-host request; none if the
 * other host may not be asked yet. */
MUST_CHECK enum status frontier_cross_host_lease(struct frontier *f,
                                                 struct host_queue *h,
                                                 int64_t now, int64_t wall_ms,
                                                 struct lease_record **out);
/* If the ending lease is a cross-host request, applies `news` to the host that
 * was asked, and removes that part from it. */
MUST_CHECK enum status frontier_cross_host_end(struct frontier *f,
                                               struct lease_record *l,
                                               struct host_news *news,
                                               int64_t now, int64_t wall_ms);
/* Call it when due times of hosts have changed other than by responses. */
void frontier_cross_hosts_again(struct frontier *f);

/* ---- frontier_lease.c ---- */

/* Leases the host's next URL; *out = NULL if it had none. */
MUST_CHECK enum status frontier_lease_from(struct frontier *f,
                                           struct host_queue *h, int64_t now,
                                           int64_t wall_ms,
                                           struct lease_record **out);
/* The same for URL `id` of this host, which must be in no queue and not
 * leased. */
MUST_CHECK enum status frontier_lease_id(struct frontier *f,
                                         struct host_queue *h, uint64_t id,
                                         int64_t now, int64_t wall_ms,
                                         struct lease_record **out);
/* Leases the URL of the row, and lets its host's delay begin. */
struct lease_record *frontier_begin_lease(
    struct frontier *f, struct host_queue *h, const struct url_row *row,
    struct bytes key, uint32_t tries, const struct url_last *last, int64_t now);
/* Do scope, traps and people still let the URL be fetched? */
bool frontier_is_wanted_again(struct frontier *f, const struct host_queue *h,
                              struct bytes key, const struct url_row *row);
/* How many of `most` URLs may be leased within the limit of pages. */
size_t frontier_pages_left(const struct frontier *f, size_t most);
/* Opens what the order of URLs keeps, and recalls the classes of queued ones. */
MUST_CHECK enum status frontier_order_open(struct frontier *f);
void frontier_order_close(struct frontier *f);
/* Counts these links, puts new URLs in their classes, and raises those that
 * have become more important. */
MUST_CHECK enum status frontier_order_links(struct frontier *f,
                                            const struct admission *list,
                                            size_t n);
/* Puts a queued URL in its class. */
MUST_CHECK enum status frontier_order_row(struct frontier *f,
                                          const struct url_row *row);
/* Gives some queued URLs their classes anew, if the rules have changed. */
MUST_CHECK enum status frontier_order_step(struct frontier *f, int64_t now);
struct link_sketch;
uint64_t link_sketch_memory(const struct link_sketch *s); /* NULL: 0 */

/* ---- frontier_settle.c ---- */

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
/* The last word on a URL. */
void frontier_log_done(struct bytes url, const struct fetch_row *row,
                       struct outcome o);
/* Links of a page that were not admitted. */
void frontier_log_drops(struct bytes page, const struct url_done *done);
/* Applies what a response said about its host: delays, back-off, robots. */
MUST_CHECK enum status frontier_host_news(struct frontier *f,
                                          struct host_queue *h,
                                          const struct host_news *news,
                                          int64_t now, int64_t wall_ms);
/* What has to survive a restart is written when it changes. */
MUST_CHECK enum status frontier_remember(struct frontier *f,
                                         const struct host_queue *h,
                                         int64_t now, int64_t wall_ms);
/* What a response, or the lack of one, says of its host. */
MUST_CHECK enum status frontier_settle_reach(struct frontier *f,
                                             struct host_queue *h,
                                             const struct host_news *news,
                                             struct outcome how, int64_t now,
                                             int64_t wall_ms);

/* ---- frontier_past.c ---- */

/* Had the URL of the row this body, or nearly this text, when it was fetched
 * before, maybe under an earlier id? */
MUST_CHECK enum status frontier_had_before(struct frontier *f,
                                           const struct fetch_row *row,
                                           bool *yes);
/* Why the links of done[i] are not admitted; REASON_NONE: they are. */
MUST_CHECK enum status frontier_why_known(struct frontier *f,
                                          const struct url_done *done, size_t i,
                                          enum outcome_reason *why);
/* Opens the index of whole fetches. */
MUST_CHECK enum status frontier_open_last(struct frontier *f, uint64_t memory);
/* Stores the identity of this run, if it is new. Inside a transaction. */
MUST_CHECK enum status frontier_note_identity(struct frontier *f);
/* What is known of the last whole response of a URL; its bytes are in
 * f->last_texts, until the next call. Validators that may not be used now are
 * left out. */
MUST_CHECK enum status frontier_find_last(struct frontier *f,
                                          const struct url_row *row,
                                          struct url_last *out);
/* Completes the row of a response that said "not modified" with what that last
 * response was; its texts are in f->last_texts. */
MUST_CHECK enum status frontier_take_last(struct frontier *f,
                                          const struct url_lease *l,
                                          struct fetch_row *row);
/* Did a whole response bring the text of the last one, in another body? */
bool frontier_has_same_text(const struct frontier *f, const struct url_lease *l,
                            const struct fetch_row *row, struct outcome o);
/* Stores what follows from the row of a page that is unchanged: its links are
 * those of the last response, unless it has rows of its own, and its record
 * refers to that one's. */
MUST_CHECK enum status frontier_note_unchanged(struct frontier *f,
                                               const struct url_lease *l,
                                               const struct fetch_row *row,
                                               bool has_rows);
/* A link of the page there, or one whose URL this run knows already, by its id
 * here. Texts are in the arena of the page. */
struct past_link {
    uint64_t to; /* 0: it was dropped there, and has a URL */
    uint8_t kind;
    uint8_t reason; /* if it was dropped */
    const struct link_label *label;
    struct bytes url;
};
/* Of one page that is unchanged since the earlier crawl: its links there. */
struct past_page {
    uint64_t *there; /* ids of the outlinks of its url_done */
    struct past_link *known;
    size_t known_count;
    struct url_item *items;
    struct url_drop *drops;
    struct arena *texts; /* NULL: it is no such page */
};
/* The kinds of links that only heads have and `done` brings. On a 304 they
 * replace links of their kind that the page had before. */
uint32_t frontier_head_kinds_of(const struct frontier *f,
                                const struct url_done *done);
/* If `done` says that its page is unchanged since the earlier crawl, puts the
 * links that the page had then into it, before those that its head has now. */
MUST_CHECK enum status frontier_past_begin(struct frontier *f,
                                           struct url_done *done,
                                           struct past_page *page);
/* Its outlinks were admitted as links[0..n). */
void frontier_past_admitted(struct frontier *f, const struct past_page *page,
                            const struct admission *links, size_t n);
void frontier_past_end(struct past_page *page);
MUST_CHECK enum status frontier_history_open(struct frontier *f);
/* Is there a pass under way, or due? */
bool frontier_history_is_due(const struct frontier *f);
/* A turn's part of it. */
MUST_CHECK enum status frontier_history_step(struct frontier *f, int64_t now);
/* Stores a fetch: page_store_add. */
MUST_CHECK enum status frontier_add_fetch(struct frontier *f,
                                          struct fetch_row *row, uint64_t *seq);

/* ---- frontier_refresh.c ---- */

void frontier_refresh_open(struct frontier *f, int64_t wall_ms);
/* Reads the first date of each queue; call it after frontier_refresh_open and
 * before the first lease. */
MUST_CHECK enum status frontier_refresh_restore(struct frontier *f);
void frontier_refresh_close(struct frontier *f);
uint64_t frontier_refresh_memory(const struct frontier *f);
/* A URL was fetched for the first time: gives it a date if its outcome, and the
 * rules, say so. `fresh_ms`: as in url_done. */
MUST_CHECK enum status frontier_refresh_date(struct frontier *f, uint32_t queue,
                                             uint8_t kind,
                                             const struct fetch_row *row,
                                             struct outcome o,
                                             int64_t fresh_ms);
/* Gives a URL that has none a date, takes it away, or changes it. */
MUST_CHECK enum status frontier_refresh_add(struct frontier *f,
                                            const struct refresh_row *row);
MUST_CHECK enum status frontier_refresh_drop(struct frontier *f,
                                             const struct refresh_row *row);
MUST_CHECK enum status frontier_refresh_move(struct frontier *f,
                                             const struct refresh_row *row,
                                             const struct refresh_row *to);
/* Wakes hosts with dates that have come. */
void frontier_refresh_wake(struct frontier *f, int64_t now, int64_t wall_ms);
/* When the next host is to be woken; INT64_MAX: none is. */
int64_t frontier_refresh_due(const struct frontier *f, int64_t now);
/* Do all dates belong to hosts that are not asked again in this run? */
bool frontier_refresh_is_given_up(const struct frontier *f);
/* Hosts with dates that have come, as far as known: 0 only if there is none. */
uint64_t frontier_refresh_waiting(const struct frontier *f);
/* Has the URL come back under another id, as one that was tried again? The
 * row's text must be there. */
MUST_CHECK enum status frontier_refresh_replaced(struct frontier *f,
                                                 const struct url_row *row,
                                                 bool *replaced);
/* What the URL is, which has a date. */
enum url_life frontier_refresh_life(const struct frontier *f, uint64_t url);
/* This run does not ask the host any more, for now: it is given up, or over the
 * limit that a person has set. */
bool frontier_refresh_is_held(const struct host_queue *h);
/* The limit of the host was raised or lifted. */
void frontier_refresh_unhold(struct frontier *f, struct host_queue *h);
/* Leases the host's URL that is due first, or URL `id` if it is not 0;
 * *out = NULL: none is due, or it is not wanted any more. */
MUST_CHECK enum status frontier_refresh_lease(struct frontier *f,
                                              struct host_queue *h, uint64_t id,
                                              int64_t now, int64_t wall_ms,
                                              struct lease_record **out);
/* Records the final outcome of a refresh, and gives the URL its next date. */
MUST_CHECK enum status frontier_refresh_settle(struct frontier *f,
                                               struct lease_record *l,
                                               struct fetch_row *row,
                                               struct outcome o);
/* It failed for now: it is due again at `due_ms`, with `tries` used up. */
MUST_CHECK enum status frontier_refresh_later(struct frontier *f,
                                              struct lease_record *l,
                                              uint32_t tries, int64_t due_ms);
/* It was not asked: it is due again `wait` ns from now. */
MUST_CHECK enum status frontier_refresh_release(struct frontier *f,
                                                struct lease_record *l,
                                                int64_t wait, int64_t wall_ms);
/* The URL, which was given back, waits among the host's retries for another
 * host's robots.txt. It stays due. */
void frontier_refresh_begin_cross(struct frontier *f, struct host_queue *h,
                                  uint64_t id);
/* The URL that waited for another host's robots.txt
 * (host_orders(h)->cross_refresh), if there is one, is among the retries no
 * more. */
void frontier_refresh_end_cross(struct frontier *f, struct host_queue *h);
/* Goes on reading the calendar after a start. */
MUST_CHECK enum status frontier_refresh_count_step(struct frontier *f);
void frontier_refresh_stats(struct frontier *f, struct frontier_counts *out);

/* ---- refresh_dates.c ---- */

/* What a sitemap says of how often the URL changes, or else its response, as in
 * url_done; 0: nothing. */
MUST_CHECK enum status frontier_refresh_guess(struct frontier *f, uint64_t id,
                                              int64_t fresh_ms,
                                              uint64_t *known);
/* A sitemap says this of a URL, and it is not stored yet. */
MUST_CHECK enum status frontier_refresh_hint(struct frontier *f, uint64_t id,
                                             const struct url_hint *hint);
/* Goes on making URLs due that have changed, as sitemaps say. */
MUST_CHECK enum status frontier_refresh_hints_step(struct frontier *f,
                                                   int64_t now,
                                                   int64_t wall_ms);
/* All dates are by the --refresh in force: notes it. */
MUST_CHECK enum status frontier_redate_note(struct frontier *f);
/* Begins a pass if the dates are not by the rules in force. */
MUST_CHECK enum status frontier_redate_restore(struct frontier *f);
bool frontier_redate_is_due(const struct frontier *f);
MUST_CHECK enum status frontier_redate_step(struct frontier *f, int64_t now,
                                            int64_t wall_ms);

/* ---- frontier_budget.c ---- */

/* A URL of the host is done; counted only if the host has a limit. */
MUST_CHECK enum status frontier_count_done(struct frontier *f,
                                           struct host_queue *h);
/* How many more of its URLs may be done within the limit set by a person. */
uint64_t frontier_limit_left(const struct host_queue *h);
void frontier_budget_open(struct frontier *f);
void frontier_budget_close(struct frontier *f);
/* Is what hosts spend counted? */
bool frontier_budget_counts(const struct frontier *f);
/* How many URLs of the host may be leased or become pages now, with those that
 * are leased. *which (or NULL): see budget.h; "limit" is a person's. */
uint64_t frontier_budget_left(const struct frontier *f,
                              const struct host_queue *h, const char **which);
/* Makes the host one of its domain's, and no longer. */
void frontier_budget_join(struct frontier *f, struct host_queue *h);
void frontier_budget_leave(struct host_queue *h);
/* What an earlier run spent. */
void frontier_budget_restore(struct frontier *f, struct host_queue *h,
                             const struct queue_state *s);
void frontier_budget_spend(struct frontier *f, struct host_queue *h,
                           uint64_t pages, uint64_t octets);
/* A page is none any more (rejudge.c). */
MUST_CHECK enum status frontier_budget_return(struct frontier *f,
                                              struct host_queue *h, int64_t now,
                                              int64_t wall_ms);
/* The page links to these hosts. */
MUST_CHECK enum status frontier_budget_links(struct frontier *f,
                                             const struct url_done *done,
                                             int64_t now, int64_t wall_ms);
/* The host is scheduled anew, as after each lease that begins or ends:
 * reschedules those of its domain if that has room again. */
void frontier_budget_look(struct frontier *f, struct host_queue *h);

/* ---- external.c ---- */

/* Writes the final outcome of a removed URL. */
extern const struct outcome frontier_removed;
#define REMOVED_TEXT "removed by the operator"
/* Was it removed? It may still be leased, or be put back. */
bool frontier_is_removed(const struct host_queue *h, uint64_t id);
/* Counts more removed URLs; the mark is stored already. */
MUST_CHECK enum status frontier_count_removed(struct frontier *f,
                                              struct host_queue *h, uint64_t n);
/* Loads external leases of an earlier run, and delays that people have set, if
 * there are any. Call it before hosts are scheduled. */
MUST_CHECK enum status external_restore(struct frontier *f, int64_t now,
                                        int64_t wall_ms);
void external_free(struct external_leases *l); /* NULL is fine */
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

#endif
