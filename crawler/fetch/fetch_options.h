/*
 * fetch_options.h - options of a crawl's fetchers, and the counters of each.
 */
#ifndef URLWEIR_CRAWLER_FETCH_FETCH_OPTIONS_H
#define URLWEIR_CRAWLER_FETCH_FETCH_OPTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "crawler/address/guard.h"
#include "crawler/fetch/cookie_jar.h"
#include "crawler/fetch/credentials.h"
#include "crawler/fetch/fetch_limits.h"
#include "crawler/transfer/connection_limits.h"
#include "crawler/transfer/in_hand.h"
#include "crawler/transfer/tls_sessions.h"
#include "frontier/candidate.h"

struct archive; /* crawler/archive/archive.h */

enum robots_policy { ROBOTS_OBEY, ROBOTS_REPORT, ROBOTS_OFF };

/* Shared by all fetchers of a crawl, and outlives them; read-only unless marked
 * otherwise. Strings are borrowed. */
struct fetcher_options {
    /* identity */
    const char *user_agent;          /* the whole header value */
    const char *product_token;       /* of it, for robots.txt: "urlweir" */
    struct credentials *credentials; /* thread-safe; NULL: none */
    struct cookie_jar *jar;          /* thread-safe; NULL: cookies are off */
    const char *cert, *key; /* client certificate for origins of seeds, and its
                               key if not in the same file; PEM; NULL: none */
    const char *ca;         /* PEM file of authorities; NULL: the system's */
    const char *proxy;      /* NULL: none, even if in the environment */
    bool guards_proxy;      /* it, too, must be at an address that the guard
                               permits: a client of the service named it */
    bool insecure;          /* no TLS verification */
    const char *const *resolve; /* HOST:PORT:ADDR, as curl takes them */
    size_t resolve_count;
    /* limits */
    int64_t timeout_ms, connect_timeout_ms; /* whole response; connecting */
    uint64_t max_body;                      /* decoded octets */
    uint32_t max_redirects;
    uint32_t conns_per_host; /* most transfers of a queue at once by one
                                fetcher; 0: 1 */
    int64_t retry_delay_ms;
    uint32_t tries; /* of one URL, in all */
    /* policy */
    enum robots_policy robots;
    bool skip_noindex;         /* pages with noindex do not count as pages */
    bool follow_nofollow;      /* follow links marked nofollow */
    bool take_simhash;         /* fingerprints of the texts of pages */
    bool text_without_numbers; /* digests of texts leave numbers out */
    bool find_sitemaps;        /* fetch sitemaps that robots.txt names */
    uint32_t kinds;            /* LINK_BIT set of kinds to follow */
    const char *const *mime;   /* accepted types, "text/html", "image/x" or
                                  "text/" for all of a family; none: all */
    size_t mime_count;
    uint64_t links_most;     /* most different links of a page; 0: all */
    bool check;              /* of a URL, ask only whether it is there */
    bool check_external;     /* of those that `rules.scope` checks */
    bool record_links;       /* send every link in scope, with repeats */
    bool record_meta;        /* reports carry row.meta */
    bool tag_texts;          /* reports carry url_done.text */
    bool warc;               /* reports carry records; all bodies are kept */
    struct archive *archive; /* where records go; NULL: not known yet */
    /* shared objects */
    const struct guard *guard;
    struct body_pool *bodies;  /* thread-safe */
    struct ip_limit *ip_limit; /* thread-safe; NULL: no limit */
    const struct connection_budget *connections; /* thread-safe; NULL: none */
    struct tls_sessions *tls_sessions; /* thread-safe; NULL: none are kept */
    struct rate_limit *rate;           /* thread-safe; NULL: no limit */
    /* Until when this process may send requests at all, CLOCK_BOOTTIME in ns.
     * NULL: for ever. */
    const _Atomic int64_t *may_ask_until;
    struct candidate_rules rules;
};

struct fetcher_counters {        /* written by the fetcher, read by any */
    _Atomic uint64_t active;     /* active transfers */
    _Atomic uint64_t requests;   /* sent, robots.txt and retries included */
    _Atomic uint64_t wire_bytes; /* received so far, unfinished ones included */
    struct connection_counts connections;
};

#endif
