/*
 * options.h - the settings of a crawl.
 *
 * This header describes all settings of `urlweir crawl` and `urlweir resume`.
 * One table (options.c) has the long name of each, which is also its key in
 * YAML, its short form, bounds, default and help. The command line, `--help`,
 * reading and writing YAML, and the changes a resume makes all come from that
 * table (settings.h); tests compare docs/man/urlweir.1 and config/default.yaml
 * with it.
 *
 * The sources of a value, from weakest to strongest, are the default, the
 * settings file of a crawl that is resumed, the file of --config, and the
 * command line. A list from a stronger source replaces that of a weaker one.
 * The settings file keeps what the last two say (settings_applied.h), unless
 * --once is given.
 *
 * Times are milliseconds, sizes bytes. Where a field says "0: none", the user
 * writes the word `none`.
 */
#ifndef URLWEIR_JOB_SETTINGS_OPTIONS_H
#define URLWEIR_JOB_SETTINGS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "config/option.h"
#include "crawler/fetcher.h"
#include "frontier/order.h"
#include "frontier/scope.h"
#include "frontier/traps/trap_form.h"
#include "frontier/url/host.h"
#include "storage/rows/page_store.h"

#define CRAWL_OPTIONS 116 /* rows of the table */

#define MAX_BODY_AUTO 1023 /* max_body_bytes: auto */

enum filter_choice {
    FILTER_SCALABLE,
    FILTER_STACKED,
    FILTER_BLOOM,
    FILTER_COUNTING,
    FILTER_CUCKOO,
    FILTER_REDIS,
    FILTER_NONE
};
enum asset_scope {
    ASSETS_OFF,
    ASSETS_ALL,       /* wherever they are */
    ASSETS_SAME_SCOPE /* if they are in scope */
};
enum noindex_policy { NOINDEX_REPORT, NOINDEX_SKIP };
enum dup_content { DUP_CONTENT_REPORT, DUP_CONTENT_SKIP };
enum near_dup { NEAR_DUP_REPORT, NEAR_DUP_SKIP, NEAR_DUP_OFF };
enum sitemap_choice { SITEMAPS_AUTO, SITEMAPS_ONLY, SITEMAPS_OFF };
enum sandbox_choice { SANDBOX_ON, SANDBOX_OFF };
extern const char *const sandbox_words[]; /* of enum sandbox_choice */
enum budget_growth { BUDGET_FIXED, BUDGET_INLINKS };
enum record_choice { /* bits */
                     RECORD_NONE,
                     RECORD_LINKS,
                     RECORD_META,
                     RECORD_ALL
};
enum progress_choice {
    PROGRESS_AUTO, /* a bar on a terminal, else regular lines */
    PROGRESS_BAR,
    PROGRESS_JSON,
    PROGRESS_NONE
};

struct crawl_settings {
    /* ---- input and output ---- */
    struct option_list seeds; /* operands of crawl, or `seeds:` of a file */
    char *input;              /* file with seeds, "-": stdin; NULL: none */
    char *output;   /* the crawl's directory; never NULL once parsed */
    char *config;   /* the file of --config, or NULL */
    char *cluster;  /* kafka://HOST/NAME, for a worker (settings.h);
                       NULL: the crawl is in the directory alone */
    int64_t shards; /* of a crawl that --cluster makes */
    struct shard_number shard; /* no option: which one this process has */
    bool once;                 /* of a resume: do not keep its changes */
    struct option_list retry;  /* of a resume: reasons, or "all" */

    /* ---- scope: which URLs belong to the crawl ---- */
    int64_t depth; /* deepest admitted, seeds are 0; -1: any */
    enum scope_mode scope;
    struct option_list include; /* PCRE2; a URL must match some, if any */
    struct option_list exclude; /* PCRE2; a URL must match none */
    struct option_list mime;    /* "text/html", "image/x", "text/"; none: all */
    int64_t max_url_length;     /* octets of the canonical form */
    bool allow_private;         /* also private, loopback ... addresses */
    struct option_list allow_net, deny_net; /* CIDR, as in guard_options */
    struct option_list nat64;               /* the same */
    struct option_list allow_port; /* allowed although browsers block them */
    struct option_list follow, ignore; /* see settings_link_kinds() */
    enum asset_scope assets; /* also what a browser needs to show pages */
    bool check_external;     /* see whether targets out of scope are there */
    enum sitemap_choice sitemap;
    struct option_list sitemap_url; /* sitemaps given by a person */

    /* ---- order ---- */
    enum order_mode order;
    struct option_list boost, first; /* as in order_options; ORDER_BEST only */

    /* ---- refresh ---- */
    int64_t refresh_ms;     /* between two fetches of a URL; 0: fetched once;
                               REFRESH_ADAPTIVE (refresh_rule.h) */
    int64_t refresh_min_ms; /* least of these; a host given up is left alone */
    int64_t refresh_max_ms;
    double refresh_share; /* of a host's requests, while it has new URLs */
    int64_t keep_history; /* fetches of each URL that stay; 0: all */
    bool until_idle;      /* of this run: ends when no date has come */

    /* ---- limits ---- */
    int64_t limit_pages;      /* pages fetched; 0: none */
    int64_t limit_per_host;   /* pages of a queue key; 0: none */
    int64_t limit_per_domain; /* of a registrable domain; 0: none */
    uint64_t per_host_bytes;  /* octets received of a queue key; 0: none */
    enum budget_growth budget;
    int64_t limit_time_ms;       /* of this run; 0: none */
    uint64_t quota_bytes;        /* octets received; 0: none */
    uint64_t max_body_bytes;     /* of one response, decoded;
                                    settings_max_body */
    int64_t max_links;           /* different links taken from a page; 0: all */
    uint64_t keep_dropped_bytes; /* of drops that may be admitted later */
    uint64_t memory_bytes;       /* resident, whole process */
    uint64_t min_disk_bytes;     /* to leave free on DIR's file system */
    int64_t give_up_ms; /* stop if everything left waits longer; 0: never */

    /* ---- politeness ---- */
    int64_t delay_ms;     /* from the end of an answer to the next request */
    bool random_delay;    /* times 0.5 to 1.5 */
    bool adaptive;        /* longer delays for slow hosts */
    int64_t max_delay_ms; /* limit of growing delays; >= delay_ms */
    int64_t max_crawl_delay_ms; /* a longer Crawl-delay is cut to it */
    int64_t conns_per_host;     /* of each queue key */
    int64_t conns_per_ip;       /* 0: no limit; else >= conns_per_host */
    uint64_t limit_rate_bytes;  /* per second, whole crawl; 0: none */
    uint64_t limit_rate_per_host_bytes;
    enum robots_policy robots;
    enum noindex_policy noindex;
    enum queue_key_mode queue_key; /* fixed when the crawl starts */

    /* ---- fetch ---- */
    int64_t concurrency;    /* transfers in all; >= conns_per_host; 0: auto */
    int64_t threads;        /* fetchers, <= concurrency; 0: one per core */
    int64_t tries;          /* in all */
    int64_t retry_delay_ms; /* doubling up to max_delay_ms */
    int64_t timeout_ms, connect_timeout_ms; /* whole answer; connecting */
    int64_t max_redirects;
    char *user_agent;               /* NULL: see settings_user_agent() */
    char *contact;                  /* URL or mail address, or NULL */
    struct option_list header;      /* "Name: value", to the origins of seeds */
    struct option_list header_host; /* "ORIGIN=Name: value", "*=..." */
    char *cookie;  /* value of the Cookie header for these, or NULL */
    char *cookies; /* file with the first cookies, or NULL */
    struct option_list auth, bearer; /* "ORIGIN=..."; see credentials.h */
    char *netrc;                     /* file, or NULL */
    char *cert, *key, *cacert;       /* PEM files, or NULL */
    char *proxy;                     /* as curl takes them, or NULL: none */
    bool check;                 /* of each URL, ask only whether it is there */
    bool insecure;              /* TLS certificates are not verified */
    struct option_list resolve; /* HOST:PORT:ADDRESS */

    /* ---- dedupe ---- */
    enum filter_choice filter;
    double fpr;         /* false-positive rate asked of the filter */
    int64_t expect;     /* capacity of a filter that cannot grow */
    char *redis;        /* where the filter is, of FILTER_REDIS; else NULL */
    char *block_filter; /* file or Redis URL: URLs to keep out */
    char *block_exact;  /* file of URLs: keep out only these */
    bool compare_text;  /* stored text as well as the digest */
    struct option_list drop_params; /* left out of queries; "utm_*" */
    bool drop_tracking;             /* and those of url_form.h */
    bool drop_empty_params;         /* and those without a value */
    bool sort_query;                /* parameters by name */
    char *rewrite;                  /* file of rules for URLs, or NULL */
    enum dup_content dup_content;   /* links of a page with a known body */
    enum trap_policy traps;         /* endless families of URLs */
    struct option_list trap;        /* "RULE=N": thresholds of the rules */
    enum near_dup near_dup;         /* and of one with nearly a known text */
    enum changed_by changed_by;     /* what makes a page a changed one */

    /* ---- output ---- */
    char *since; /* directory of an earlier crawl */
    enum record_choice
        record;               /* the link graph; what pages say of themselves */
    bool warc;                /* record answers in DIR/warc */
    uint64_t warc_size_bytes; /* of a WARC file */
    char *warc_prefix;        /* of its name; NULL: "urlweir" */
    bool cdxj;                /* index the WARC files at a stop */
    char *jsonl; /* for lines: a file, "-": stdout, a Kafka topic; or NULL */
    struct option_list kafka_property; /* "NAME=VALUE", see kafka_address.h */
    bool passing; /* the output is temporary: no option, see cmd_crawl.c */
    int64_t checkpoint_ms;         /* between two filter checkpoints */
    bool quiet, verbose;           /* log only errors; log also actions */
    bool decisions;                /* and why */
    enum progress_choice progress; /* PROGRESS_NONE when quiet, unless asked */
    char *metrics;                 /* HOST:PORT where HTTP is served, or NULL */
    bool metrics_open;             /* also to other machines */

    /* ---- rights ---- */
    enum sandbox_choice sandbox; /* see confine.h */
    char *user; /* the user that root becomes; NULL: DIR's owner */

    /* the enum option_source of each, in the order of the table */
    uint8_t from[CRAWL_OPTIONS];
};

/* The table; it has `from` and every field above. */
extern const struct option_table crawl_options;

#endif
