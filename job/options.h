/*
 * options.h - the settings of a crawl, one by one.
 *
 * The manual of all settings of `urlweir crawl` and `urlweir resume`. One table
 * (options.c) describes each: its long name, which is also its key in YAML, its
 * short form, bounds, default and help. The command line, `--help`, reading and
 * writing YAML, and the difference a resume makes, all come from that table
 * (settings.h); tests hold docs/man/urlweir.1 and config/default.yaml to it.
 *
 * A value is the default, unless the settings file of a crawl that is resumed
 * says otherwise, unless the file of --config does, unless the command line
 * does. A list from a later source replaces that of an earlier one. What the
 * last two say is kept in the settings file (settings_applied.h), unless
 * --once.
 *
 * Times are milliseconds, sizes bytes. Where a field says "0: none", people
 * write the word `none`.
 */
#ifndef URLWEIR_JOB_OPTIONS_H
#define URLWEIR_JOB_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "config/option.h"
#include "crawler/fetcher.h"
#include "frontier/scope.h"
#include "frontier/url/queue_key.h"

#define CRAWL_OPTIONS 89 /* rows of the table */

enum filter_choice {
    FILTER_SCALABLE,
    FILTER_STACKED,
    FILTER_BLOOM,
    FILTER_COUNTING,
    FILTER_CUCKOO,
    FILTER_REDIS,
    FILTER_NONE
};
enum noindex_policy { NOINDEX_REPORT, NOINDEX_SKIP };
enum dup_content { DUP_CONTENT_REPORT, DUP_CONTENT_SKIP };
enum sitemap_choice { SITEMAPS_AUTO, SITEMAPS_ONLY, SITEMAPS_OFF };
enum sandbox_choice { SANDBOX_ON, SANDBOX_OFF };
extern const char *const sandbox_words[]; /* of enum sandbox_choice */
enum record_choice { RECORD_NONE, RECORD_LINKS };
enum progress_choice {
    PROGRESS_AUTO, /* a bar on a terminal, else a line now and then */
    PROGRESS_BAR,
    PROGRESS_JSON,
    PROGRESS_NONE
};

struct crawl_settings {
    /* ---- where from, where to ---- */
    struct option_list seeds; /* operands of crawl, or `seeds:` of a file */
    char *input;              /* file with seeds, "-": stdin; NULL: none */
    char *output; /* the crawl's directory; never NULL once parsed */
    char *config; /* the file of --config, or NULL */
    bool once;    /* of a resume: what it changes is not kept */
    struct option_list retry; /* of a resume: reasons, or "all" */

    /* ---- scope: which URLs belong to the crawl ---- */
    int64_t depth; /* deepest admitted, seeds are 0; -1: any */
    enum scope_mode scope;
    struct option_list include; /* PCRE2; a URL must match some, if any */
    struct option_list exclude; /* PCRE2; a URL must match none */
    struct option_list mime;    /* "text/html", "image/x", "text/"; none: all */
    int64_t max_url_length;     /* octets of the canonical form */
    bool allow_private;         /* private, loopback ... addresses too */
    struct option_list allow_net, deny_net; /* CIDR, as in guard_options */
    struct option_list nat64;               /* the same */
    struct option_list allow_port;          /* of those that browsers block */
    struct option_list follow, ignore;      /* see settings_link_kinds() */
    bool assets;                            /* what pages are shown with, too */
    enum sitemap_choice sitemap;
    struct option_list sitemap_url; /* sitemaps given by a person */

    /* ---- limits ---- */
    int64_t limit_pages;         /* pages fetched; 0: none */
    int64_t limit_per_host;      /* the same, of each queue key; 0: none */
    int64_t limit_time_ms;       /* of this run; 0: none */
    uint64_t quota_bytes;        /* octets received; 0: none */
    uint64_t max_body_bytes;     /* of one answer, decoded */
    int64_t max_links;           /* different ones taken of a page; 0: all */
    uint64_t keep_dropped_bytes; /* of drops that may come back */
    uint64_t memory_bytes;       /* resident, whole process */
    uint64_t min_disk_bytes;     /* least left free on DIR's file system */
    int64_t give_up_ms;          /* stop when all that is left waits longer;
                                    0: never */

    /* ---- politeness ---- */
    int64_t delay_ms;     /* from the end of an answer to the next request */
    bool random_delay;    /* times 0.5 to 1.5 */
    bool adaptive;        /* slow hosts have a longer delay */
    int64_t max_delay_ms; /* ceiling of all that grows; >= delay_ms */
    int64_t max_crawl_delay_ms; /* a longer Crawl-delay is cut to it */
    int64_t conns_per_host;     /* of each queue key */
    int64_t conns_per_ip;       /* 0: no limit; else >= conns_per_host */
    uint64_t limit_rate_bytes;  /* a second, whole crawl; 0: none */
    enum robots_policy robots;
    enum noindex_policy noindex;
    enum queue_key_mode queue_key; /* fixed when the crawl starts */

    /* ---- fetch ---- */
    int64_t concurrency;    /* transfers in all; >= conns_per_host */
    int64_t threads;        /* fetchers, <= concurrency; 0: one a core */
    int64_t tries;          /* in all */
    int64_t retry_delay_ms; /* doubling up to max_delay_ms */
    int64_t timeout_ms, connect_timeout_ms; /* whole answer; connecting */
    int64_t max_redirects;
    char *user_agent;               /* NULL: see settings_user_agent() */
    char *contact;                  /* URL or mail address, or NULL */
    struct option_list header;      /* "Name: value", to the origins of seeds */
    struct option_list header_host; /* "ORIGIN=Name: value", "*=..." */
    char *cookie;  /* value of the Cookie header for these, or NULL */
    char *cookies; /* file with those that a crawl begins with; or NULL */
    struct option_list auth, bearer; /* "ORIGIN=..."; see credentials.h */
    char *netrc;                     /* file, or NULL */
    char *cert, *key, *cacert;       /* PEM files, or NULL */
    char *proxy;                     /* as curl takes them, or NULL: none */
    bool insecure;                   /* TLS certificates are not verified */
    struct option_list resolve;      /* HOST:PORT:ADDRESS */

    /* ---- dedupe ---- */
    enum filter_choice filter;
    double fpr;         /* false-positive rate asked of the filter */
    int64_t expect;     /* capacity of a filter that cannot grow */
    char *redis;        /* where the filter is, of FILTER_REDIS; else NULL */
    char *block_filter; /* file or Redis URL: what is in it stays out */
    char *block_exact;  /* file of URLs: only these do */
    bool compare_text;  /* stored text as well as the digest */
    struct option_list drop_params; /* left out of queries; "utm_*" */
    enum dup_content dup_content;   /* links of a page whose body was seen */

    /* ---- output ---- */
    enum record_choice record;     /* keep the link graph */
    bool warc;                     /* record answers in DIR/warc */
    uint64_t warc_size_bytes;      /* of a WARC file */
    char *warc_prefix;             /* of its name; NULL: "urlweir" */
    bool cdxj;                     /* index the WARC files at a stop */
    char *jsonl;                   /* file for lines, "-": stdout; or NULL */
    int64_t checkpoint_ms;         /* between two filter checkpoints */
    bool quiet, verbose;           /* log errors only; log what is done, too */
    bool decisions;                /* and why */
    enum progress_choice progress; /* PROGRESS_NONE when quiet, unless asked */
    char *metrics;                 /* HOST:PORT where HTTP is served, or NULL */
    bool metrics_open;             /* also to others than this machine */

    /* ---- rights ---- */
    enum sandbox_choice sandbox; /* see confine.h */
    char *user;                  /* whom root becomes; NULL: DIR's owner */

    /* who said each, an enum option_source, in the order of the table */
    uint8_t from[CRAWL_OPTIONS];
};

/* The table; `from` and every field above stand in it. */
extern const struct option_table crawl_options;

#endif
