/*
 * truth_impl.h - what the parts of the truth share; for truth*.c only.
 *
 * The log of requests is replayed act by act. Each response adds what it has
 * shown, read off the plan, to the truth_crawl of its crawl; each request is
 * held to what was known and permitted when it was made.
 */
#ifndef URLWEIR_TESTS_SIM_TRUTH_IMPL_H
#define URLWEIR_TESTS_SIM_TRUTH_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/truth.h"

/* A URL of the plan: a page, or a month of a calendar. */
#define TRUTH_MONTHS 300
#define TRUTH_NODES  (PLAN_PAGES + PLAN_ORIGINS * TRUTH_MONTHS)
#define TRUTH_EDGES  40000
#define TRUTH_FAR    1000000

/* A link that a response has shown. */
struct truth_edge {
    uint16_t from, to;
    uint8_t kind; /* of plan_link_kind */
    bool redirect, entry;
};

struct truth_node {
    int depth;     /* of the shortest way known, TRUTH_FAR: not known at all */
    bool as_asset; /* a kind of asset led here, or a redirect from one */
    bool as_list;  /* a robots.txt, a guess or a sitemap has named it as one */
    int hops;      /* redirects on the way with the fewest */
    bool must;     /* be known by the last settings */
    bool given;    /* as a seed */
    bool known_before;  /* when it was given, so that its depth stays */
    bool perhaps_given; /* by an act that was cut off */
    bool seed;          /* or what one redirects to */
    unsigned asked;
    const struct sim_log_entry *last;       /* request */
    const struct sim_log_entry *last_whole; /* with a response to its end */
    size_t last_act;                        /* of last_whole */
    const struct sim_log_entry *last_full;  /* with 200, to its end */
    size_t full_act;                        /* of last_full */
    const struct sim_log_entry *before;     /* the one before last_full */
    size_t before_act;
    size_t last_asked_act;
    bool had_row;
    unsigned tries;      /* requests since the last response that is final */
    size_t tried_since;  /* the act of the first of them */
    unsigned failures;   /* requests in a row that failed for a while */
    size_t failed_since; /* the act of the first of them */
    unsigned missing;    /* responses in a row that were 404 or 410 */
    size_t missing_since;
    bool entry;         /* a sitemap or feed has listed it */
    bool counts;        /* for --limit, as a page that was fetched */
    bool budgeted;      /* by a run that had --per-host or --per-domain */
    int64_t counted_ms; /* passed_ms, the end of its response */
};

/* Whom a host has told, and a person, to be left alone until when; of a host,
 * or what --queue-key makes one. Times are passed_ms. */
struct truth_pace {
    const struct sim_log_entry *last; /* request that reached it */
    const struct sim_log_entry *told; /* the last one to leave it alone */
    int64_t not_before;               /* by that */
    unsigned told_in;                 /* the life that was told so */
    int64_t blocked_from, blocked_until;
    int64_t own_delay_ms; /* the least that a person has set; 0: none */
    int64_t set_delay_ms; /* that holds for sure; 0: none */
    int64_t set_delay_at;
    int64_t told_jumped_ms, blocked_jumped_ms; /* as in the log, then */
};

/* What a robots.txt has said. */
enum truth_robots_say {
    ROBOTS_NOT_ASKED,
    ROBOTS_SAY_RULES,
    ROBOTS_ALLOW_ALL,
    ROBOTS_UNREACHABLE,
    ROBOTS_UNSURE /* it broke off: what holds depends on tries */
};

struct truth_robots {
    enum truth_robots_say say;
    const struct plan_robots *rules, *before; /* the last two read */
    bool redirected;       /* its file stands elsewhere and has not come */
    bool ever_unreachable; /* or unsure */
    int64_t unreachable_since_ms; /* wall clock; 0: it is not */
    bool once_allowed; /* a 404 or the like said that all is allowed, and
                              nobody has said otherwise since */
    const struct plan_robots *all[16]; /* each of them */
    unsigned count;
    int64_t tried_ms, tried_jumped_ms; /* the last request for it */
};

struct truth_crawl {
    struct truth_node nodes[TRUTH_NODES];
    struct truth_edge edges[TRUTH_EDGES];
    size_t edge_count;
    struct truth_robots robots[PLAN_ORIGINS];
    uint32_t kinds;                /* followed at any time so far */
    bool was_deep;                 /* a run had no limit to the depth */
    int redirects_most;            /* --max-redirects, the largest so far */
    const struct sim_act *run;     /* the run that is replayed, or was last */
    size_t run_number;             /* its act */
    bool blocked[PLAN_ORIGINS];    /* by the person, at any time */
    const struct sim_act *made_by; /* the act that made it; NULL: none yet */
    int64_t made_at_ms;
    bool is_kept; /* there is something that must outlive a power cut */
    struct truth_pace pace[PLAN_ORIGINS]; /* by the first origin of a key */
    int64_t octets; /* of bodies, of the runs that are over */
    int64_t limit;  /* the largest --limit so far, INT64_MAX: none */
};

struct truth {
    const struct plan *plan;
    const struct sim_act *acts;
    size_t act_count;
    const struct sim_log *log;
    struct buf *why;
    unsigned faults; /* lines in `why` */
    struct truth_crawl *crawls[2];
};

/* A finding. */
void truth_say(struct truth *, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- truth_scope.c: what settings permit ---- */

uint32_t truth_kinds(const struct person_settings *);
bool truth_in_scope(const struct truth *, const struct truth_crawl *,
                    const struct person_settings *, unsigned node);
/* Surely so: as a page, by the seeds that were given. `placed`: it is in its
 * place, as where a seed leads to is. */
bool truth_surely_in_scope(const struct truth *, const struct truth_crawl *,
                           const struct person_settings *, unsigned node,
                           bool placed);
/* Was there an hour, since the crawl was made, in which the host could not be
 * asked, or not be trusted alone? The log does not have requests that nobody
 * received. */
bool truth_had_outage(const struct truth *, const struct truth_crawl *,
                      int origin, bool of_tls);
const char *truth_url(const struct truth *, unsigned node);
int truth_origin(const struct truth *, unsigned node);
const char *truth_target(const struct truth *, unsigned node);

/* ---- truth_replay.c: the log against what was known ---- */

void truth_replay_act(struct truth *, size_t act);
/* The node that was asked for; -1: a robots.txt; -2: nothing of the plan. */
const struct sim_act *truth_act_of_life(const struct truth *, unsigned life);
int truth_node_of(const struct truth *, const struct sim_log_entry *,
                  struct plan_sight *out);

/* ---- truth_again.c: how often, and how soon again ---- */

/* Called with each request before note is taken of it. */
void truth_judge_again(struct truth *, const struct truth_crawl *,
                       unsigned node, const struct sim_log_entry *);
/* Is act `a` one after which what `e` brought may be lost? */
bool truth_may_be_lost(const struct sim_act *a, const struct sim_log_entry *e);
/* Do settings that have changed from `a` to `b` read what was read anew? */
bool truth_reads_again(const struct person_settings *a,
                       const struct person_settings *b);
/* Every page that a refresh was due for was asked in the last run. */
void truth_judge_due(struct truth *, const struct truth_crawl *);

/* ---- truth_limits.c: how much ---- */

void truth_judge_limits(struct truth *, const struct truth_crawl *,
                        unsigned node, const struct sim_log_entry *);
void truth_note_page(const struct truth *, struct truth_crawl *, unsigned node,
                     const struct sim_log_entry *);
void truth_judge_run(struct truth *, struct truth_crawl *,
                     const struct sim_act *run);

/* May it be that not the page has answered, but the wall before it? */
bool truth_by_wall(const struct truth *, const struct sim_log_entry *);

/* ---- truth_pace.c: when requests may be made ---- */

/* Called with each request, before what it has read is known. */
void truth_judge_pace(struct truth *, struct truth_crawl *,
                      const struct sim_log_entry *, const struct plan_sight *);
void truth_block(struct truth *, struct truth_crawl *, const struct sim_act *);
/* A host is blocked, slowed down or limited while the crawl runs. */
void truth_steer_host(struct truth *, struct truth_crawl *,
                      const struct sim_steer *);

/* ---- truth_rows.c: what urlweir says of it ---- */

void truth_judge_rows(struct truth *, const struct sim_act *export_act);
/* The value of a key of a flat object, without its quotes; "" if it is missing
 * or null. */
void truth_field(const char *line, const char *key, char *out, size_t size);
long truth_number(const char *line, const char *key); /* -1: there is none */

/* ---- truth_answers.c: whether its answers agree ---- */

void truth_judge_sums(struct truth *, const struct sim_act *status);
void truth_judge_state(struct truth *, size_t status_act);
void truth_judge_status(struct truth *, const struct sim_act *status_act,
                        const struct sim_act *export_act);
void truth_judge_drops(struct truth *, const struct sim_act *drops,
                       const struct sim_act *status);
void truth_judge_audit(struct truth *, const struct sim_act *audit,
                       const struct sim_act *status);
void truth_judge_seeds(struct truth *, const struct sim_act *run,
                       const struct sim_act *rows,
                       const struct sim_act *status);
void truth_judge_explain(struct truth *, const struct sim_act *explain,
                         const struct sim_act *rows);
void truth_judge_pages(struct truth *, const struct sim_act *pages);

/* ---- truth_files.c: what its files say ---- */

/* `rows`: the export of its URLs, NULL: it was not asked for. */
void truth_judge_files(struct truth *, const struct sim_act *run,
                       const struct sim_act *rows);

/* ---- truth_diff.c: what it says of two crawls ---- */

void truth_judge_diff(struct truth *, const struct sim_act *diff_act);

/* ---- truth_reach.c: what must have been read ---- */

void truth_judge_reach(struct truth *, unsigned dir);
bool truth_has_excuse(const struct truth *, const struct truth_crawl *,
                      unsigned node);

#endif
