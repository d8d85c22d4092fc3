/*
 * web_plan.h - what stands where in the web of a seed, and when.
 *
 * The plan is data: origins with their robots.txt and their bad hours, pages
 * with the states that they go through. web.c makes responses of it, and
 * truth.c reads off it what a response has shown to a crawler, so neither needs
 * to parse what the other wrote. All moments are milliseconds since 1970.
 *
 * URLs of the plan are written in canonical form, and links to them in many
 * spellings, so nobody who reads the plan needs to know how URLs are parsed.
 */
#ifndef URLWEIR_TESTS_SIM_WEB_PLAN_H
#define URLWEIR_TESTS_SIM_WEB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/web.h"

#define PLAN_ORIGINS 10
#define PLAN_PAGES   80
#define PLAN_STATES  3
#define PLAN_LINKS   900 /* of all states together */
#define PLAN_RULES   6
#define PLAN_ROBOTS  3
#define PLAN_OUTAGES 3
#define PLAN_URL     200
/* Of a redirect of a wall of cookies; a page's own may have it, too. */
#define PLAN_WALL_STATUS 302

enum plan_link_kind {
    PLAN_A,
    PLAN_AREA,
    PLAN_IFRAME,
    PLAN_LINK,
    PLAN_CANONICAL,
    PLAN_ALTERNATE,
    PLAN_FEED,
    PLAN_SITEMAP,
    PLAN_META_REFRESH,
    PLAN_IMG,
    PLAN_CSS,
    PLAN_SCRIPT,
    PLAN_MEDIA,
    PLAN_SRCSET,
    PLAN_HEADER, /* Link: <...>; rel=next */
    PLAN_LINK_KINDS
};

/* As --follow knows it. */
const char *plan_link_kind_name(enum plan_link_kind);

struct plan_link {
    uint16_t to; /* page */
    uint8_t kind;
    uint8_t spelling;
    bool nofollow; /* by its rel */
};

enum plan_form {
    FORM_HTML,
    FORM_PLAIN, /* text/plain: its URLs are no links */
    FORM_IMAGE,
    FORM_SHEET,   /* text/css */
    FORM_PDF,     /* application/pdf */
    FORM_SITEMAP, /* links are entries */
    FORM_INDEX,   /* links are sitemaps */
    FORM_FEED,
    FORM_REDIRECT, /* to the page of its only link */
    FORM_STATUS,   /* an error: 404, 410, 403, 500, 503 */
    FORM_RESET,    /* the connection is reset within the body */
    FORM_CUT,      /* the body ends early */
    FORM_MUTE      /* never a response */
};

/* What a page is from a moment on. */
struct plan_state {
    int64_t from_ms;
    uint8_t form;
    uint16_t status;
    uint32_t body; /* responses with the same number have the same octets, and
                      other ones others */
    uint32_t text; /* of its visible words: states with one number differ in a
                      word or in nothing */
    uint32_t size; /* octets that the body has at least */
    uint16_t first_link, link_count;
    bool noindex, nofollow; /* it says so of itself: in a meta element, or */
    bool in_header;         /* in X-Robots-Tag */
};

enum plan_validators {
    VALIDATORS_NONE,
    VALIDATORS_ETAG,
    VALIDATORS_DATE,
    VALIDATORS_BOTH,
    VALIDATORS_STUCK,     /* an ETag that stays when the page changes */
    VALIDATORS_ALWAYS_NEW /* an ETag that never comes again */
};

/* What Content-Encoding says, and what the body is. */
enum plan_coding {
    CODING_NONE,
    CODING_GZIP,
    CODING_FALSE /* it says gzip, and is not */
};

struct plan_page {
    uint8_t origin;
    uint8_t coding; /* of its HTML */
    bool latin;     /* its HTML is in ISO 8859-1 */
    uint8_t validators;
    bool is_list;    /* a sitemap, an index or a feed in its first state */
    uint8_t dir;     /* N of a path below /dN/ */
    char target[96]; /* path and query as in its canonical URL */
    char url[PLAN_URL];
    struct plan_state states[PLAN_STATES];
    uint8_t state_count;
};

struct plan_rule {
    bool allow;
    char path[24];
};

enum plan_robots_form {
    ROBOTS_RULES,
    ROBOTS_STATUS,   /* 404, 403, 429, 500, 503 */
    ROBOTS_REDIRECT, /* to a file of the same origin, or of another */
    ROBOTS_RESET,
    ROBOTS_MUTE
};

struct plan_robots {
    int64_t from_ms;
    uint8_t form;
    uint16_t status;
    struct plan_rule rules[PLAN_RULES];
    uint8_t rule_count;
    bool by_name;            /* the group is for urlweir, and the star's
                                forbids all */
    int32_t crawl_delay_ms;  /* -1: none */
    int32_t max_age_s;       /* -1: none said */
    uint8_t redirect_origin; /* whose /robots-of-N.txt it is */
    uint16_t sitemaps[2];    /* pages */
    uint8_t sitemap_count;
};

/* An hour or a month in which an origin does not work. */
struct plan_outage {
    int64_t from_ms, to_ms;
    enum sim_fate fate;
    uint16_t status;       /* if it answers: 503 or 429 */
    int32_t retry_after_s; /* -1: none; told as a date if as_date */
    bool as_date;
};

struct plan_origin {
    char name[40];
    const char *scheme;
    uint16_t port;
    char prefix[64]; /* "https://a.one.example:8443" */
    uint8_t domain;  /* origins of one registrable domain */
    const char *address;
    bool is_private; /* its address is one of those that are not asked */
    bool bad_port;   /* browsers block its port */
    int32_t first_ms, ms_per_kib;
    struct plan_robots robots[PLAN_ROBOTS];
    uint8_t robots_count;
    struct plan_outage outages[PLAN_OUTAGES];
    uint8_t outage_count;
    uint16_t limit;        /* requests a minute, then 429; 0: none */
    int32_t limit_retry_s; /* its Retry-After; -1: none */
    bool wall; /* each page redirects to itself until a cookie comes back */
    uint16_t months; /* of its calendar, /cal?m=N for each N below */
};

struct plan {
    uint64_t seed;
    struct plan_origin origins[PLAN_ORIGINS];
    size_t origin_count;
    struct plan_page pages[PLAN_PAGES];
    size_t page_count;
    struct plan_link links[PLAN_LINKS];
    size_t link_count;
};

void plan_make(struct plan *, uint64_t seed);
const struct plan *sim_web_plan(const struct sim_web *);

/* What stands at a URL at a moment. */
enum plan_what { PLAN_NOTHING, PLAN_PAGE, PLAN_ROBOTS_TXT, PLAN_CALENDAR };
struct plan_sight {
    enum plan_what what;
    int origin;                       /* -1: no such origin */
    int page;                         /* of PLAN_PAGE */
    const struct plan_state *state;   /* of PLAN_PAGE; NULL: none yet, 404 */
    const struct plan_robots *robots; /* of PLAN_ROBOTS_TXT */
    int robots_of;                    /* the origin whose rules these are */
    unsigned month;                   /* of PLAN_CALENDAR */
};

int plan_origin_of(const struct plan *, const char *scheme, const char *host,
                   unsigned port); /* -1: none */
struct plan_sight plan_look(const struct plan *, int origin, const char *target,
                            int64_t at_ms);
const struct plan_outage *plan_outage_at(const struct plan_origin *,
                                         int64_t at_ms);
const struct plan_robots *plan_robots_at(const struct plan_origin *,
                                         int64_t at_ms);
/* The moment from which the state of a page stands, for Last-Modified. */
int64_t plan_changed_ms(const struct plan_state *);
/* May urlweir ask for `target`, as a robots.txt with these rules has it? The
 * longest rule counts, and of two of one length the one that allows. */
bool plan_robots_allow(const struct plan_robots *, const char *target);

/* A link as it stands on a page, in a list, or in the Location of a redirect.
 */
struct plan_found {
    char url[PLAN_URL];
    enum plan_link_kind kind;
    bool nofollow, redirect, entry; /* entry: of a sitemap or feed */
    uint8_t spelling;
    int page; /* -1: a month of a calendar */
};

/* Does it stand in the head of a response? A Refresh may do so, too. */
bool plan_is_in_head(const struct plan_found *);

/* All links of a whole response to a request at which `s` was seen; at most
 * `room`. */
#define PLAN_FOUND 16
size_t plan_links(const struct plan *, const struct plan_sight *s,
                  struct plan_found *out, size_t room);

#endif
