/*
 * frontier_impl.h - the embedded engine's own struct, shared by its files.
 *
 *   frontier_ops.c      the engine's table, and what is read from its store
 *   frontier.c          put, turn, checkpoints, stats, close
 *   frontier_admit.c    new URLs: seen check, row, host queue
 *   frontier_ack.c      the outcome of a URL, and links found on its page
 *   frontier_drop.c     links dropped before admission: counted, and kept
 *   frontier_trap.c     endless families of URLs: evidence, drops
 *   rejudge.c           kept drops go through the pipeline again
 *   levels.c            how far URLs are from a seed, by the shortest path

 *   readmit.c           a URL that is done is queued again
 *   retry_failed.c      failed URLs that a person wants tried again
 *   frontier_import.c   URLs as another crawler had them
 *   frontier_lease.c    which URL goes out next
 *   frontier_order.c    which URLs of a host go before their turn, or later
 *   frontier_settle.c   what becomes of the URL and its host by it
 *   frontier_last.c     what is known of a URL that was fetched before
 *   frontier_refresh.c  done URLs that are fetched again at their dates
 *   refresh_counts.c    how many are overdue, or up to date
 *   refresh_hints.c     what sitemaps say of when they change
 *   redate.c            dates given anew, by a setting or a person
 *   frontier_history.c  how many fetches of each URL stay
 *   frontier_cross_host.c    requests of a URL to another host than its own
 *   frontier_change.c   options that change while it is open
 *   frontier_limit.c    limits that people set for single queues
 *   frontier_budget.c   how much of a host or registrable domain is fetched
 *   frontier_reach.c    hosts that do not respond
 *   frontier_hosts.c    lists of hosts for display
 *   frontier_place.c    finds the politeness group of a host
 *   external.c, external_settle.c  URLs that other programs fetch
 *   removal.c           removes URLs from their queues
 *   frontier_open.c     a new crawl, or one found on disk
 *   frontier_stats.c    stats for monitoring
 *
 * No other file includes this.
 */
#ifndef URLWEIR_FRONTIER_EMBEDDED_FRONTIER_IMPL_H
#define URLWEIR_FRONTIER_EMBEDDED_FRONTIER_IMPL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/heap.h"
#include "base/map.h"
#include "frontier/candidate.h"
#include "frontier/embedded/external.h"
#include "frontier/embedded/frontier.h"
#include "frontier/hosts/host_queue.h"
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
    size_t at; /* in f->hosts */
    struct host_stats counting, last;
};

/* Kept drops that are judged again (rejudge.c). */
struct rejudge {
    bool ready;        /* frontier_rejudge was called */
    uint64_t reasons;  /* 1 << reason; 0: none */
    uint64_t at, upto; /* blocks: the last one done, the last of all */
    uint64_t later;    /* reasons to judge when nothing is queued */
    uint64_t levels; /* the last path that was known to a judgement by depth */
};

#define TRAP_DETAIL (TRAP_FORM_MOST + 32)
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
    int64_t wall_ms, skew_ms; /* at the last lease; wall less monotonic */
    int64_t since_ms;         /* wall clock at the first one of this run; 0:
                                 there was none */
    struct due_count counts;  /* of dates, by time (refresh_counts.c) */
    bool reading; /* the calendar, for these: since the start of this run */
    unsigned read;
    struct refresh_row read_upto;
    uint32_t hinted_queues[REFRESH_HINTED_MOST]; /* refresh_hints.c */
    unsigned hinted;
    struct refresh_row hints_at; /* in the first of them; url 0: not begun */
    bool redates;                /* --refresh has changed: `walk` goes on */
    struct refresh_walk walk;
};

struct admission;
struct levels;

struct recent_drop;
extern const struct engine_ops frontier_ops;

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
    struct engine engine; /* first: see engine.h */
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
    uint64_t aside_count;             /* these, and those being looked up */
    struct host_queue **hosts;        /* by queue number; NULL: nothing known */
    size_t host_room, host_count;     /* entries; hosts among them */
    size_t host_looked;               /* where to go on forgetting idle ones */
    uint64_t hosts_seen, octets_seen; /* since host_looked was 0 */
    uint64_t host_octets; /* of one on average, when last all were seen; 0: not
                             yet */
    uint64_t octets_told; /* that the store knows hosts to hold */
    uint32_t queues_before; /* queues when the crawl was opened */
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

/* ---- the table's functions, each in its file: see engine.h ---- */

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
/* Inside of an engine that is an embedded one. */
struct frontier_store *frontier_store_of(struct engine *e);
struct page_store *frontier_pages_of(struct engine *e);

/* The options for one host: a person may have set its delay. */
struct schedule_options frontier_schedule(const struct frontier *f,
                                          const struct host_queue *h);
/* The pause of a host after a response. */
int64_t frontier_pause(struct frontier *f, const struct host_queue *h);
/* The same without chance; `h` may be NULL: of a host of which nothing is
 * known. */
int64_t frontier_usual_pause(const struct frontier *f,
                             const struct host_queue *h);
/* The host that is due first, and when; NULL: there is none. */
struct host_queue *frontier_first_host(struct frontier *f, int64_t now,
                                       int64_t *due);
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
struct lease_record *frontier_begin_lease(struct frontier *f,
                                          struct host_queue *h,
                                          const struct url_row *row,
                                          struct bytes key, uint32_t tries,
                                          const struct engine_last *last,
                                          int64_t now);
/* Do scope, traps and people still let the URL be fetched? */
bool frontier_is_wanted_again(struct frontier *f, const struct host_queue *h,
                              struct bytes key, const struct url_row *row);

/* ---- of frontier_refresh.c ---- */

MUST_CHECK enum status frontier_refresh_open(struct frontier *f,
                                             int64_t wall_ms);
/* Reads the first date of each queue; call it after frontier_refresh_open and
 * before the first lease. */
MUST_CHECK enum status frontier_refresh_restore(struct frontier *f);
void frontier_refresh_close(struct frontier *f);
uint64_t frontier_refresh_memory(const struct frontier *f);
/* A URL was fetched for the first time: gives it a date if its outcome, and the
 * rules, say so. `fresh_ms`: as in engine_done. */
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
/* Hosts with dates that have come, as far as known: 0 only if there is none. */
uint64_t frontier_refresh_waiting(const struct frontier *f);
/* Has the URL come back under another id, as one that was tried again? The
 * row's text must be there. */
MUST_CHECK enum status frontier_refresh_replaced(struct frontier *f,
                                                 const struct url_row *row,
                                                 bool *replaced);
/* What the URL is, which has a date. */
enum url_life frontier_refresh_life(const struct frontier *f, uint64_t url);
/* This run does not ask the host any more, for now. */
bool frontier_refresh_is_held(const struct host_queue *h);
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
/* The URL that waited for another host's robots.txt
 * (host_orders(h)->cross_refresh), if there is one, is among the retries no
 * more. */
void frontier_refresh_end_cross(struct frontier *f, struct host_queue *h);

/* ---- of refresh_hints.c ---- */

/* What a sitemap says of how often the URL changes, or else its response, as in
 * engine_done; 0: nothing. */
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

/* ---- of refresh_counts.c ---- */

/* A row is about to come into the calendar, or to leave it. */
void frontier_refresh_count(struct frontier *f, const struct refresh_row *row,
                            bool added);
/* Goes on reading the calendar after a start. */
MUST_CHECK enum status frontier_refresh_count_step(struct frontier *f);
void frontier_refresh_stats(struct frontier *f, struct engine_stats *out);

/* ---- of redate.c ---- */

/* All dates are by the --refresh in force: notes it. */
MUST_CHECK enum status frontier_redate_note(struct frontier *f);
/* Begins a pass if the dates are not by the rules in force. */
MUST_CHECK enum status frontier_redate_restore(struct frontier *f);
bool frontier_redate_is_due(const struct frontier *f);
MUST_CHECK enum status frontier_redate_step(struct frontier *f, int64_t now,
                                            int64_t wall_ms);

/* ---- of frontier_history.c ---- */

MUST_CHECK enum status frontier_history_open(struct frontier *f);
/* Is there a pass under way, or due? */
bool frontier_history_is_due(const struct frontier *f);
/* A turn's part of it. */
MUST_CHECK enum status frontier_history_step(struct frontier *f, int64_t now);
/* Stores a fetch: page_store_add. */
MUST_CHECK enum status frontier_add_fetch(struct frontier *f,
                                          struct fetch_row *row, uint64_t *seq);

/* ---- of frontier_cross_host.c ---- */

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
                                               struct engine_host_news *news,
                                               int64_t now, int64_t wall_ms);
/* Call it when due times of hosts have changed other than by responses. */
void frontier_cross_hosts_again(struct frontier *f);

/* Must its politeness group be found before it is asked? */
bool frontier_stands_nowhere(const struct frontier *f,
                             const struct host_queue *h);
/* How many of `most` URLs may be leased within the limit of pages. */
size_t frontier_pages_left(const struct frontier *f, size_t most);

/* ---- of frontier_last.c ---- */

/* Opens the index of whole fetches. */
MUST_CHECK enum status frontier_open_last(struct frontier *f, uint64_t memory);
/* Stores the identity of this run, if it is new. Inside a transaction. */
MUST_CHECK enum status frontier_note_identity(struct frontier *f);
/* What is known of the last whole response of a URL; its bytes are in
 * f->last_texts, until the next call. Validators that may not be used now are
 * left out. */
MUST_CHECK enum status frontier_find_last(struct frontier *f,
                                          const struct url_row *row,
                                          struct engine_last *out);
/* Completes the row of a response that said "not modified" with what that last
 * response was; its texts are in f->last_texts. */
MUST_CHECK enum status frontier_take_last(struct frontier *f,
                                          const struct engine_lease *l,
                                          struct fetch_row *row);
/* Did a whole response bring the text of the last one, in another body? */
bool frontier_has_same_text(const struct frontier *f,
                            const struct engine_lease *l,
                            const struct fetch_row *row, struct outcome o);
/* Stores what follows from the row of a page that is unchanged: its links are
 * those of the last response, and its record refers to that one's. */
MUST_CHECK enum status frontier_note_unchanged(struct frontier *f,
                                               const struct engine_lease *l,
                                               const struct fetch_row *row);

/* ---- of frontier_past.c ---- */

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
    uint64_t *there; /* ids of the outlinks of its engine_done */
    struct past_link *known;
    size_t known_count;
    struct engine_item *items;
    struct engine_drop *drops;
    struct arena *texts; /* NULL: it is no such page */
};
/* If `done` says that its page is unchanged since the earlier crawl, puts the
 * links that the page had then into it. */
MUST_CHECK enum status frontier_past_begin(struct frontier *f,
                                           struct engine_done *done,
                                           struct past_page *page);
/* Its outlinks were admitted as links[0..n). */
void frontier_past_admitted(struct frontier *f, const struct past_page *page,
                            const struct admission *links, size_t n);
void frontier_past_end(struct past_page *page);

/* ---- of removal.c ---- */

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
/* Marks the engine broken and returns `st`. */
enum status frontier_broke(struct frontier *f, enum status st);
/* A URL to be admitted. */
struct admission {
    const struct engine_item *item;
    uint64_t via; /* id of the page that has it, 0: none */
    uint64_t id;  /* out: its row; 0 if it was seen before, unless `all_ids` */
    uint32_t queue; /* out: of a new row */
    bool fresh;     /* out: the row is new */
    bool blocked;   /* out: on the blocklist, or a trap's: it has no row */
    bool dropped; /* out: and counted as a drop; a repeat in its call is not */
    bool spiral;  /* its page is one of a trap that is told by its body */
};
/* Admits the new ones of list[0..n). */
MUST_CHECK enum status frontier_admit(struct frontier *f, struct bytes crawl,
                                      struct admission *list, size_t n,
                                      bool all_ids, int64_t wall_ms);
/* The host of a queue, made if missing. */
struct host_queue *frontier_host(struct frontier *f, uint32_t queue);
/* For a host of an earlier run whose last request is not known: assumes that it
 * was at the end of that run. */
void frontier_wait_once(struct frontier *f, struct host_queue *h);
/* A URL of the host is done; counted only if the host has a limit. */
MUST_CHECK enum status frontier_count_done(struct frontier *f,
                                           struct host_queue *h);
/* How many more of its URLs may be done within the limit set by a person. */
uint64_t frontier_limit_left(const struct host_queue *h);
/* Takes the host, and its group, out of the schedule; frontier_reschedule
 * brings both back. */
void frontier_unschedule(struct frontier *f, struct host_queue *h);
/* Puts the host in its place in the schedule. */
void frontier_reschedule(struct frontier *f, struct host_queue *h);
void frontier_reschedule_group(struct frontier *f, struct politeness_group *m);
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
/* Applies what a response said about its host: delays, back-off, robots. */
MUST_CHECK enum status frontier_host_news(struct frontier *f,
                                          struct host_queue *h,
                                          const struct engine_host_news *news,
                                          int64_t now, int64_t wall_ms);
/* What a request says of whether its host can be reached; `how` it ended.
 * True: frontier_remember has something new to keep. */
bool frontier_note_reach(struct frontier *f, struct host_queue *h,
                         const struct engine_host_news *news,
                         struct outcome how);
/* A host that was given up may be asked again. */
void frontier_reach_again(struct host_queue *h);
/* It did not respond for so long that this run asks it no more. */
bool frontier_is_given_up(const struct host_queue *h);
void frontier_get_reach(const struct host_queue *h, struct external_reach *out);
void frontier_set_reach(struct engine *e, uint32_t queue,
                        const struct external_reach *reach, int64_t now);
/* What stands in queue_state.reason of a host that does not respond; NULL: it
 * does. `size` >= 32. */
const char *frontier_reach_reason(const struct host_queue *h, char *out,
                                  size_t size);
/* What has to survive a restart is written when it changes. */
MUST_CHECK enum status frontier_remember(struct frontier *f,
                                         const struct host_queue *h,
                                         int64_t now, int64_t wall_ms);
/* Why a host is held back, where a person said so: static, to be compared. */
extern const char frontier_by_person[];
/* What the schedule goes by. */
struct schedule_host frontier_schedule_host(const struct host_queue *h);
/* Does the outcome of a URL of this kind count as a page? */
bool frontier_counts_as_page(const struct frontier *f, struct outcome o,
                             uint8_t kind);
/* Counts the outcome of a URL of this kind; `back`: takes it from the counters
 * again. */
void frontier_count_outcome(struct frontier *f, struct outcome o, uint8_t kind,
                            bool back);
/* If the URL is a seed, notes where a resume stops searching for seeds. */
MUST_CHECK enum status frontier_note_root(struct frontier *f, uint32_t depth,
                                          uint64_t id);

/* ---- of frontier_drop.c ---- */

/* Counts the drops of `done` by reason, and keeps examples and those that may
 * come back. */
MUST_CHECK enum status frontier_take_drops(struct frontier *f,
                                           const struct engine_done *done,
                                           int64_t wall_ms);
/* Keeps a drop, if a setting can lift its reason and there is room. */
MUST_CHECK enum status frontier_keep_drop(struct frontier *f,
                                          const struct kept_drop *k);
/* The same for a URL whose final outcome is skipped. */
MUST_CHECK enum status frontier_keep_row(struct frontier *f,
                                         const struct fetch_row *row,
                                         struct outcome o, uint8_t kind);
bool frontier_may_return(enum outcome_reason r);
/* Forgets which drops were kept recently. */
void frontier_forget_drops(struct frontier *f);

/* ---- of frontier_trap.c ---- */

/* Opens the table of suspicious families, unless --traps is off. */
MUST_CHECK enum status frontier_trap_open(struct frontier *f);
void frontier_set_traps(struct engine *e, const uint32_t threshold[]);
/* Drops those of the `n` open URLs (admit_scratch) that are new, and a trap's;
 * they count as not new. */
MUST_CHECK enum status frontier_trap_keep_out(struct frontier *f,
                                              struct admission *list, size_t n,
                                              int64_t wall_ms);
/* Must a queued URL be skipped as a trap's? f->trap_text says which trap. */
bool frontier_trap_has(struct frontier *f, struct bytes host,
                       const struct url_row *row);
/* The links of a page are those of a trap that is told by the page's body. */
bool frontier_trap_has_body(struct frontier *f, const struct engine_done *done);
/* A page was fetched: takes it as evidence, with the links it revealed. */
void frontier_trap_page(struct frontier *f, const struct engine_lease *page,
                        const struct engine_done *done,
                        const struct fetch_row *row,
                        const struct admission *links, size_t n);
/* ---- of frontier_budget.c ---- */

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
/* A page is none any more (readmit.c). */
MUST_CHECK enum status frontier_budget_return(struct frontier *f,
                                              struct host_queue *h, int64_t now,
                                              int64_t wall_ms);
/* The page links to these hosts. */
MUST_CHECK enum status frontier_budget_links(struct frontier *f,
                                             const struct engine_done *done,
                                             int64_t now, int64_t wall_ms);
/* The host is scheduled anew, as after each lease that begins or ends:
 * reschedules those of its domain if that has room again. */
void frontier_budget_look(struct frontier *f, struct host_queue *h);

/* ---- of frontier_order.c ---- */

/* Opens what it keeps, and recalls the classes of queued URLs. */
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
/* Reads ahead which URLs of the host go before their turn. */
MUST_CHECK enum status frontier_order_front(struct frontier *f,
                                            struct host_queue *h, int64_t now);
/* *later: the URL, whose turn it is, waits until the host has no other. */
MUST_CHECK enum status frontier_order_defers(struct frontier *f,
                                             struct host_queue *h,
                                             const struct url_row *row,
                                             bool *later);
/* Is the URL leased, to be tried again, or done? Of one read ahead: it was then
 * taken out of turn meanwhile. */
bool frontier_is_taken(const struct frontier *f, const struct host_queue *h,
                       uint64_t id);
/* Do queued URLs wait for classes by changed rules? */
bool frontier_order_is_due(const struct frontier *f);
/* Gives some of them theirs. */
MUST_CHECK enum status frontier_order_step(struct frontier *f, int64_t now);

/* ---- of levels.c ---- */

/* From now on, and in later runs, which URLs each page led to is kept. */
MUST_CHECK enum status frontier_keep_paths(struct frontier *f);
MUST_CHECK enum status levels_restore(struct frontier *f);
/* Some more of the work, when nothing is queued. */
MUST_CHECK enum status levels_step(struct frontier *f, bool *done);
void levels_free(struct frontier *f);
/* The least depth at which URL `id` is known, if that is less; when the work is
 * done. */
uint32_t levels_of(const struct frontier *f, uint64_t id, uint32_t otherwise);

/* ---- of readmit.c ---- */

/* A URL that is done with outcome `o` gets a new row and stands in its queue
 * again, and `o` is taken back from the counters. *back: false if it is not
 * done, or came back already. `row` is valid until then. */
MUST_CHECK enum status frontier_readmit(struct frontier *f,
                                        const struct url_row *row,
                                        struct outcome o, int64_t now,
                                        int64_t wall_ms, bool *back);

/* ---- of rejudge.c ---- */

/* What URLs are asked now; o.judge.scope is not NULL. */
struct candidate_rules frontier_rules(const struct frontier *f);

/* Reads how far an earlier run had come. */
MUST_CHECK enum status rejudge_restore(struct frontier *f);
/* Is there any drop to judge now? */
bool rejudge_is_due(const struct frontier *f);
/* Drops of these reasons are judged again when nothing is queued, in this run
 * or a later one. */
MUST_CHECK enum status rejudge_later(struct frontier *f, uint64_t reasons);
/* Judges some of them. */
MUST_CHECK enum status rejudge_step(struct frontier *f, int64_t now,
                                    int64_t wall_ms);

/* Sets the outcome in the row of a try. */
void frontier_fill_outcome(struct fetch_row *row, struct outcome o, bool final);
/* The whole outcome of a leased URL, and the end of its lease. links[0..n) are
 * those of `d`, admitted. */
MUST_CHECK enum status frontier_settle_page(
    struct frontier *f, struct engine_done *d, const struct admission *links,
    size_t n, const struct link_range *rows, int64_t now, int64_t wall_ms);
/* Records a URL's final outcome: its row, done bit and counters. */
MUST_CHECK enum status frontier_settle(struct frontier *f, uint64_t id,
                                       bool seed, uint8_t kind,
                                       struct fetch_row *row, struct outcome o);

/* What a response, or the lack of one, says of its host. */
MUST_CHECK enum status frontier_settle_reach(
    struct frontier *f, struct host_queue *h,
    const struct engine_host_news *news, struct outcome how, int64_t now,
    int64_t wall_ms);

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
void frontier_log_drops(struct bytes page, const struct engine_done *done);
/* A host that is left alone. */
void frontier_log_delay(const struct frontier *f, const struct host_queue *h,
                        int64_t now);

/* ---- frontier_known.c ---- */

/* Why the links of done[i] are not admitted; REASON_NONE: they are. */
MUST_CHECK enum status frontier_why_known(struct frontier *f,
                                          const struct engine_done *done,
                                          size_t i, enum outcome_reason *why);

#endif
