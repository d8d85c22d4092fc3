/*
 * web.h - a whole web as a pure function of a few numbers.
 *
 * Everything in it (its pages, their hosts, their links, the answers of hosts)
 * follows from struct spec alone, without tables, clocks or random sources. The
 * server renders it and the truth walks it with the same functions; so we know
 * exactly what a crawler should have done, for a million URLs as for ten.
 *
 * Each thing is a number, its id. Ids are assigned kind by kind (enum kind):
 * ordinary pages, redirects, pages that fail, and so on, each kind in a file of
 * its own that fills a struct kind_ops. Inside its kind a thing is `n`.
 *
 * Hosts are addresses 127.0.0.1, 127.0.0.2 ... The first spec.hosts carry the
 * pages; those after them belong to things that would disturb others (a page
 * that resets its connection has a host to itself).
 *
 * Read-only once made.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_WEB_H
#define URLWEIR_TESTS_SUPPORT_WEB_WEB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

enum kind {
    KIND_PAGE,   /* ordinary pages: the tree with all pages */
    KIND_LEAF,   /* cheap ends of links: small pages or 404 */
    KIND_HIDDEN, /* pages that only one other thing leads to */
    KIND_TWIN,   /* URLs that look alike and are not */
    KIND_HOP,    /* redirects */
    KIND_RULE,   /* paths that robots.txt rules tell apart */
    KIND_META,   /* pages with robots meta, X-Robots-Tag, rel=nofollow */
    KIND_ERROR,  /* error statuses */
    KIND_FAULT,  /* answers that break HTTP or the connection */
    KIND_SLOW,   /* answers that take their time, or never end */
    KIND_TYPE,   /* content types and encodings */
    KIND_BOMB,   /* pages made to exhaust their reader */
    KIND_TRAP,   /* endless spaces of URLs */
    KIND_ASSET,  /* the style sheet of a host: no page */
    KIND_COUNT_
};

enum profile {
    PROFILE_VARIANTS = 1 << 0,
    PROFILE_REDIRECTS = 1 << 1,
    PROFILE_ROBOTS = 1 << 2,
    PROFILE_ERRORS = 1 << 3,
    PROFILE_SLOW = 1 << 4,
    PROFILE_ENDLESS = 1 << 5, /* the parts of slow that never end */
    PROFILE_BOMBS = 1 << 6,
    PROFILE_COMPRESS = 1 << 7,
    PROFILE_TYPES = 1 << 8,
    PROFILE_TRAP = 1 << 9
};
/* Adds the profiles in `names`, separated by commas. False: no such one. */
bool profile_parse(const char *names, unsigned *profiles);

struct spec {
    uint64_t seed;
    uint32_t hosts;  /* hosts that carry pages */
    uint32_t pages;  /* ordinary pages */
    uint32_t links;  /* links of a page, on average */
    uint32_t fanout; /* children of a page in the tree */
    uint32_t leaves; /* leaf URLs of a page */
    bool leaf_pages; /* they are small pages, else 404 */
    uint32_t size;   /* octets of a page, on average */
    uint16_t port;
    unsigned profiles;      /* enum profile bits */
    uint32_t tries;         /* of the crawler that is tested */
    uint32_t max_redirects; /* of that crawler */
    const char *agent;      /* of that crawler: its product token */
    uint32_t slow_ms;       /* a slow page's time to answer */
    double crawl_delay;     /* seconds, on some hosts; 0 = none */
};

/* What a crawler with default options should do with one URL. */
enum fate {
    FATE_FETCH,       /* exactly one 2xx answer */
    FATE_ERROR,       /* requested; `status` is the final result */
    FATE_REDIRECT,    /* requested once; the target is another URL */
    FATE_TRIES,       /* no usable answer: requested until tries are spent */
    FATE_DENIED,      /* robots: never requested */
    FATE_UNREACHABLE, /* its robots.txt fails: never requested */
    FATE_ASSET,       /* not requested by default, harmless if it is */
    FATE_COUNT_
};
const char *fate_name(enum fate f);

struct expect {
    enum fate fate;
    int status;           /* 0 where none is told */
    uint32_t least, most; /* times asked; for FATE_FETCH: 2xx answers */
};

/* How a link stands in its page. */
enum element {
    ELEMENT_A,
    ELEMENT_AREA,
    ELEMENT_IFRAME,
    ELEMENT_LINK,      /* <link rel=next> */
    ELEMENT_ALTERNATE, /* <link rel=alternate> */
    ELEMENT_REFRESH,   /* <meta http-equiv=refresh> */
    ELEMENT_LOCATION   /* the target of a redirect; in no page */
};

struct link {
    uint32_t to; /* id */
    enum element element;
    bool nofollow; /* a crawler should not follow it */
    bool rel;      /* the link says so; else its page does */
};

struct links {
    struct link *at;
    size_t count, cap;
};
void links_init(struct links *l);
void links_fini(struct links *l);
void links_add(struct links *l, struct link link);

struct request;
struct answer;
struct web;

/* One kind of thing. `n` is below what count() answered. */
struct kind_ops {
    char letter;     /* paths carry letter and number: "-p17" */
    unsigned shares; /* how many consecutive n share one number; >= 1 */
    /* Things that need links: n = e * stride, for each entry e, is linked from
     * two ordinary pages. 0: the kind's own file makes the links. */
    unsigned stride;
    unsigned hides; /* hidden pages each has, 0 or 1: web_hidden() */
    uint32_t (*count)(const struct web *w);
    uint32_t (*host)(const struct web *w, uint32_t n);
    /* Append path and query, in canonical form. */
    void (*path)(const struct web *w, uint32_t n, struct buf *out);
    void (*links)(const struct web *w, uint32_t n, struct links *out);
    void (*answer)(const struct web *w, uint32_t n, const struct request *rq,
                   struct answer *an);
    struct expect (*expect)(const struct web *w, uint32_t n);
};
extern const struct kind_ops kind_page, kind_leaf, kind_hidden, kind_twin,
    kind_hop, kind_rule, kind_meta, kind_error, kind_fault, kind_slow,
    kind_type, kind_bomb, kind_trap, kind_asset;

struct web {
    struct spec spec;
    uint32_t first[KIND_COUNT_ + 1]; /* id of each kind's n = 0 */
    uint32_t hidden[KIND_COUNT_];    /* where each kind's hidden ones begin */
    uint32_t own[KIND_COUNT_];       /* first host of a kind with own hosts */
    uint32_t hosts_all;              /* hosts that listen */
    uint32_t rules_host;             /* host of moved robots.txt files */
    uint32_t dead_host;              /* where nothing listens */
};
/* Clamps the spec's numbers first. */
void web_init(struct web *w, const struct spec *s);

uint32_t web_count(const struct web *w);
enum kind web_kind(const struct web *w, uint32_t id);
const struct kind_ops *web_ops(enum kind k);
static inline uint32_t web_id(const struct web *w, enum kind k, uint32_t n)
{
    return w->first[k] + n;
}
static inline bool web_has(const struct web *w, enum profile p)
{
    return (w->spec.profiles & (unsigned)p) != 0;
}
/* The hidden page that belongs to n of kind k. */
uint32_t web_hidden(const struct web *w, enum kind k, uint32_t n);

uint32_t web_host(const struct web *w, uint32_t id);
void web_path(const struct web *w, uint32_t id, struct buf *out);
/* http://ADDRESS:PORT, and the whole canonical URL. */
void web_origin(const struct web *w, uint32_t host, struct buf *out);
void web_url(const struct web *w, uint32_t id, struct buf *out);
void web_links(const struct web *w, uint32_t id, struct links *out);
struct expect web_expect(const struct web *w, uint32_t id);
/* The thing a request for `target` (path and query) on `host` means; false:
 * there is none. Only the canonical spelling is known. */
bool web_find(const struct web *w, uint32_t host, struct bytes target,
              uint32_t *id);
/* Links of ordinary page n to the things others must lead to. */
void web_attached(const struct web *w, uint32_t n, struct links *out);

/* Pseudorandom numbers from the seed and `a`, `b`. */
uint64_t web_dice(const struct web *w, uint64_t a, uint64_t b);
/* A word of a path, in lower-case ASCII. */
const char *web_word(uint64_t dice);

/* "127.0.K.M" of a host number. */
#define HOST_ADDRESS_SIZE 16
void host_address(uint32_t host, char out[HOST_ADDRESS_SIZE]);
/* The address as a number in host byte order. */
uint32_t host_ipv4(uint32_t host);

#endif
