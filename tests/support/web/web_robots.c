/* SPDX-License-Identifier: MIT */
/*
 * web_robots.c - the robots.txt of each host, and what it denies.
 *
 * Host h has the kind TABLE[h % 16]; kinds that deny everything are only given
 * to hosts that no other host depends on, so that not half the web is lost.
 */
#include "tests/support/web/web_robots.h"

#include <string.h>

#include "tests/support/web/rules.h"

enum robots {
    ROBOTS_NONE,  /* 404 */
    ROBOTS_STAR,  /* the rules, for everyone */
    ROBOTS_OURS,  /* the rules for the crawler, all denied to others */
    ROBOTS_EMPTY, /* no octet */
    ROBOTS_HTML,  /* a page that holds no rule, as text/html */
    ROBOTS_403,   /* no access to it: all allowed (RFC 9309, 2.3.1.3) */
    ROBOTS_NEAR,  /* moved twice on the same host, then the rules */
    ROBOTS_FAR,   /* moved to another host, then the rules */
    ROBOTS_MESSY, /* the rules with BOM, CR LF, comments, odd words */
    ROBOTS_GZIP,  /* the rules, gzip-coded */
    ROBOTS_DELAY, /* a Crawl-delay and the rules */
    ROBOTS_500,   /* server error: all denied, for now (2.3.1.4) */
    ROBOTS_DENY,  /* Disallow: / */
    ROBOTS_COUNT_
};

static const enum robots TABLE[16] = {
    ROBOTS_NONE, ROBOTS_STAR,  ROBOTS_500,   ROBOTS_EMPTY,
    ROBOTS_OURS, ROBOTS_DENY,  ROBOTS_HTML,  ROBOTS_403,
    ROBOTS_NEAR, ROBOTS_FAR,   ROBOTS_MESSY, ROBOTS_NONE,
    ROBOTS_GZIP, ROBOTS_DELAY, ROBOTS_NONE,  ROBOTS_STAR,
};

/* Only the first host of its kind has its file on another host: otherwise two
 * fetches of robots.txt could meet there and look impolite. */
static enum robots robots_of(const struct web *w, uint32_t host)
{
    enum robots r;

    if (!web_has(w, PROFILE_ROBOTS) || host >= w->spec.hosts)
        return ROBOTS_NONE;
    r = TABLE[host % 16];
    if ((r == ROBOTS_500 || r == ROBOTS_DENY) &&
        (uint64_t)host * w->spec.fanout + 1 < w->spec.hosts)
        return ROBOTS_NONE;
    if (r == ROBOTS_FAR && host >= 16)
        return ROBOTS_STAR;
    return r;
}

static bool has_rules(enum robots r)
{
    return r == ROBOTS_STAR || r == ROBOTS_OURS || r == ROBOTS_NEAR ||
           r == ROBOTS_FAR || r == ROBOTS_MESSY || r == ROBOTS_GZIP ||
           r == ROBOTS_DELAY;
}

uint32_t robots_open_host(const struct web *w, uint64_t dice)
{
    uint32_t host = (uint32_t)(dice % w->spec.hosts);

    while (robots_of(w, host) == ROBOTS_500 ||
           robots_of(w, host) == ROBOTS_DENY)
        host--; /* the first host is open */
    return host;
}

bool robots_rule_host(const struct web *w, uint32_t n, uint32_t *host)
{
    if (!web_has(w, PROFILE_ROBOTS) || w->spec.hosts < 2)
        return false;
    for (uint32_t i = 0;; i++) {
        *host = (uint32_t)((n * UINT64_C(7) + i) % w->spec.hosts);
        if (has_rules(robots_of(w, *host)))
            return true;
    }
}

enum fate robots_fate(const struct web *w, uint32_t id)
{
    enum robots r = robots_of(w, web_host(w, id));
    enum kind k = web_kind(w, id);

    if (r == ROBOTS_500)
        return FATE_UNREACHABLE;
    if (r == ROBOTS_DENY)
        return FATE_DENIED;
    if (k == KIND_RULE && has_rules(r) && rules_deny(id - w->first[k]))
        return FATE_DENIED;
    return FATE_FETCH;
}

double robots_delay(const struct web *w, uint32_t host)
{
    return robots_of(w, host) == ROBOTS_DELAY ? w->spec.crawl_delay : 0;
}

/* ---- the files ----------------------------------------------------------- */

#define TEXT "text/plain; charset=utf-8"

static void messy(const char *rules, const char *agent, struct buf *out)
{
    buf_add_str(out, "\xef\xbb\xbf# A file that has seen many hands\r\n\r\n"
                     "USER-AGENT: Nobody-bot\r\nDisallow: /\r\n\r\n");
    buf_addf(out,
             "user-agent:%s/9.9 # us\r\nuser-Agent :   Another-bot\r\n"
             "Host: example.invalid\r\n",
             agent);
    for (const char *p = rules; *p != '\0'; p++) {
        if (*p == '\n')
            buf_add_str(out, " # why\r\n");
        else
            buf_add_char(out, *p);
    }
    buf_add_str(out, "Noise without a colon\r\n: \r\n");
}

static void answer_rules(const struct web *w, enum robots r, struct answer *an)
{
    struct buf rules;

    buf_init(&rules, (size_t)1 << 16);
    rules_text(&rules);
    if (r == ROBOTS_MESSY)
        messy(buf_str(&rules), w->spec.agent, &an->body);
    else if (r == ROBOTS_OURS)
        buf_addf(&an->body,
                 "User-agent: *\nDisallow: /\n\nUser-agent: %s\n%s\n"
                 "User-agent: %s-images\nDisallow: /\n",
                 w->spec.agent, buf_str(&rules), w->spec.agent);
    else if (r == ROBOTS_DELAY && w->spec.crawl_delay > 0)
        buf_addf(&an->body, "User-agent: *\nCrawl-delay: %g\n%s",
                 w->spec.crawl_delay, buf_str(&rules));
    else
        buf_addf(&an->body, "User-agent: *\n%s", buf_str(&rules));
    answer_status(an, 200);
    answer_field(an, "Content-Type", TEXT);
    if (r == ROBOTS_GZIP)
        answer_gzip(an);
    answer_done(an);
    buf_fini(&rules);
}

static void answer_moved(const char *to, struct answer *an)
{
    answer_status(an, 301);
    answer_field(an, "Location", to);
    answer_done(an);
}

static void answer_file(const struct web *w, enum robots r, struct answer *an)
{
    struct buf to;

    switch (r) {
    case ROBOTS_NONE:
    case ROBOTS_COUNT_:
        answer_text(an, 404, "text/html", "<p>No robots.txt here.</p>\n");
        return;
    case ROBOTS_EMPTY:
        answer_text(an, 200, TEXT, "");
        return;
    case ROBOTS_HTML:
        answer_text(an, 200, "text/html",
                    "<!DOCTYPE html><title>Welcome</title>\n"
                    "<p>This host answers\n<b>everything</b> with a page.\n");
        return;
    case ROBOTS_403:
        answer_text(an, 403, "text/plain", "Forbidden.\n");
        return;
    case ROBOTS_500:
        answer_text(an, 500, "text/plain", "User-agent: *\nAllow: /\n");
        return;
    case ROBOTS_DENY:
        answer_text(an, 200, TEXT, "User-agent: *\nDisallow: /\n");
        return;
    case ROBOTS_NEAR:
        answer_moved("/robots-moved-1.txt", an);
        return;
    case ROBOTS_FAR:
        buf_init(&to, 256);
        web_origin(w, w->rules_host, &to);
        buf_add_str(&to, "/robots-shared.txt");
        answer_moved(buf_str(&to), an);
        buf_fini(&to);
        return;
    case ROBOTS_STAR:
    case ROBOTS_OURS:
    case ROBOTS_MESSY:
    case ROBOTS_GZIP:
    case ROBOTS_DELAY:
        answer_rules(w, r, an);
        return;
    }
}

bool robots_is_path(struct bytes target)
{
    return bytes_starts_with(target, "/robots") && target.len > 4 &&
           memcmp(target.at + target.len - 4, ".txt", 4) == 0 &&
           memchr(target.at + 1, '/', target.len - 1) == NULL;
}

bool robots_answer(const struct web *w, const struct request *rq,
                   struct answer *an)
{
    enum robots r = robots_of(w, rq->host);

    if (bytes_is(rq->target, "/robots.txt"))
        answer_file(w, r, an);
    else if (r == ROBOTS_NEAR && bytes_is(rq->target, "/robots-moved-1.txt"))
        answer_moved("/robots-moved-2.txt", an);
    else if ((r == ROBOTS_NEAR &&
              bytes_is(rq->target, "/robots-moved-2.txt")) ||
             (rq->host == w->rules_host &&
              bytes_is(rq->target, "/robots-shared.txt")))
        answer_rules(w, ROBOTS_STAR, an);
    else
        return false;
    return true;
}
