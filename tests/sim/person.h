/*
 * person.h - the person of a seed, who runs a crawl and does not leave it
 * alone.
 *
 * Acts are command lines of urlweir: a crawl that is stopped, killed or meets a
 * power cut, resumed with other settings, given seeds, asked to try again or to
 * refresh, and asked questions in between. The last acts are always the same: a
 * resume that is left to end by itself, and questions about all of it, so that
 * truth.c has something to judge.
 *
 * The caller runs each act, says in the same struct what came of it, and asks
 * for the next one; what the person does may depend on how the last act ended.
 */
#ifndef URLWEIR_TESTS_SIM_PERSON_H
#define URLWEIR_TESTS_SIM_PERSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "tests/sim/life.h"
#include "tests/sim/steering.h"

struct plan;

/* Settings are words, of a few that each option may have here. The first is
 * its default. */
enum person_setting {
    SET_DEPTH,
    SET_SCOPE,
    SET_INCLUDE,
    SET_EXCLUDE,
    SET_MIME,
    SET_MAX_URL_LEN,
    SET_ALLOW_PRIVATE,
    SET_ALLOW_PORT,
    SET_FOLLOW,
    SET_IGNORE,
    SET_ASSETS,
    SET_SITEMAP,
    SET_MAX_REDIRECTS,
    SET_DUP_CONTENT,
    SET_NEAR_DUP,
    SET_TRAPS,
    SET_ORDER,
    SET_LIMIT,
    SET_PER_HOST,
    SET_PER_DOMAIN,
    SET_QUOTA,
    SET_TIME,
    SET_MAX_BODY,
    SET_MAX_LINKS,
    SET_DELAY,
    SET_RANDOM_DELAY,
    SET_ADAPTIVE,
    SET_MAX_DELAY,
    SET_MAX_CRAWL_DELAY,
    SET_CONNS_PER_HOST,
    SET_ROBOTS,
    SET_NOINDEX,
    SET_QUEUE_KEY,
    SET_TRIES,
    SET_RETRY_DELAY,
    SET_TIMEOUT,
    SET_GIVE_UP,
    SET_INSECURE,
    SET_COOKIES,
    SET_FPR,
    SET_EXPECT,
    SET_REFRESH,
    SET_REFRESH_MIN,
    SET_REFRESH_SHARE,
    SET_KEEP_HISTORY,
    SET_CHANGED_BY,
    SET_RECORD,
    SET_FILTER,
    SET_MEMORY,
    SET_CHECKPOINT,
    SET_THREADS,
    SET_WARC,
    SET_JSONL,
    PERSON_SETTINGS
};

struct person_settings {
    uint8_t choice[PERSON_SETTINGS];
};

const char *person_value(const struct person_settings *, enum person_setting);
bool person_is_default(const struct person_settings *, enum person_setting);
bool person_says(const struct person_settings *, enum person_setting,
                 const char *value);
/* A number, a SIZE in octets or a TIME in milliseconds; -1: none, off, auto. */
int64_t person_number(const struct person_settings *, enum person_setting);

enum act_kind {
    ACT_CRAWL,
    ACT_RESUME,
    ACT_SEED,
    ACT_RETRY,
    ACT_REFRESH,
    ACT_BLOCK,
    ACT_STATUS, /* --json */
    ACT_EXPLAIN,
    ACT_EXPORT_URLS, /* JSON Lines, as the next one */
    ACT_EXPORT_PAGES,
    ACT_EXPORT_DROPS,
    ACT_DIFF,
    ACT_AUDIT,
    ACT_VERIFY
};

enum act_end {
    END_BY_ITSELF,
    END_STOP,       /* SIGTERM */
    END_STOP_TWICE, /* again, a second later */
    END_KILL,
    END_POWER_CUT
};

#define ACT_ARGS 120
/* What the file of --jsonl is called, before the number of its crawl. */
#define PERSON_LINES "lines-of-c"
#define ACT_SEEDS    4

struct sim_act {
    /* what the person does */
    int64_t wait_ms; /* that pass before it */
    int64_t jump_ms; /* by which the clock has jumped in this time */
    enum act_kind kind;
    unsigned dir;               /* the crawl: directory "c0" or "c1" */
    int earlier;                /* the crawl of --since or of diff; -1: none */
    const char *args[ACT_ARGS]; /* of urlweir, without its own name, NULL at the
                                   end; good until person_free() */
    unsigned arg_count;
    struct person_settings settings; /* in force in this crawl from now on */
    bool once;                       /* they are for this run only */
    const char *seeds[ACT_SEEDS];    /* given by this act */
    unsigned seed_count;
    const char *reason; /* of ACT_RETRY, or a host that is blocked */
    int64_t block_ms;   /* of ACT_BLOCK */
    bool now;           /* of ACT_REFRESH */
    enum act_end end;
    int64_t end_after_ms; /* of the run, for all but END_BY_ITSELF; the act is
                             over if it ends before */
    /* Instead, of END_KILL and END_POWER_CUT: at such a step of the process, 0:
     * none, or at such a point. */
    uint64_t end_at_step;
    struct kill_point end_at_point;
    struct life_faults faults;
    struct steering steering;      /* while it runs */
    void *(*others)(void *);       /* a thread of other programs, instead */
    struct life_reader reader;     /* the same: another process */
    bool is_set;                   /* a setting is changed then, */
    struct person_settings set_to; /* to these */
    bool last;                     /* the run after which all is judged */

    /* what came of it, said by the caller */
    unsigned life;              /* as in the log of requests */
    unsigned shards;            /* all that are in the log are of this act, by
                                   processes of so many; 0: of one machine */
    int64_t again_ms;           /* of shards: when some ran again last after
                                   none did; as passed_ms */
    int64_t began_ms, ended_ms; /* as passed_ms there */
    int64_t began_at_ms;        /* by the web's clock */
    int64_t jumped_ms;          /* as in the log, when it began */
    int exit_status;            /* -1: it was killed or cut off */
    bool fault_hit;             /* a write or an allocation did fail */
    char *out;                  /* standard output, zero-terminated */
    size_t out_len;
    /* Of the last run, the file of --jsonl, zero-terminated, and all WARC files,
     * one after the other; NULL: there is none. */
    char *lines, *warc;
    size_t warc_len;
};

/* Is the act of this kind, or was one done while it ran? */
bool person_did(const struct sim_act *, enum act_kind);

struct person;
/* The person's first act, as one who divides the crawl into shards. */
void person_cluster(struct person *, struct sim_act *);
struct person *person_new(uint64_t seed, const struct plan *);
void person_free(struct person *);

/* Writes the next act; false: that was all. `done` is the act before, with what
 * came of it; NULL before the first. */
bool person_next(struct person *, const struct sim_act *done,
                 struct sim_act *next);

/* "urlweir resume c0 --depth 3" and how it ends, for people. */
void person_describe(const struct sim_act *, struct buf *out);

#endif
