/* SPDX-License-Identifier: MIT */
/*
 * kind_hop.c - redirects.
 *
 * They come in chains of up to HOPS steps; step s of chain c is n = c * HOPS +
 * s and only step 0 is linked from pages. The kind of chain is c %
 * CHAIN_COUNT_, so a web with a few dozen pages has them all.
 */
#include <stdio.h>

#include "tests/support/web/answer.h"
#include "tests/support/web/web.h"
#include "tests/support/web/web_robots.h"

#define HOPS 8

enum chain {
    CHAIN_PAGE,     /* one step to an ordinary page, relative Location */
    CHAIN_FAR,      /* one step to a page of another host, absolute */
    CHAIN_HIDDEN,   /* one step to a page nothing else leads to */
    CHAIN_THREE,    /* three steps to a hidden page, across hosts */
    CHAIN_FIVE,     /* five steps to a hidden page: still allowed */
    CHAIN_EIGHT,    /* eight steps: more than a crawler should follow */
    CHAIN_LOOP,     /* A to B to A */
    CHAIN_SELF,     /* to itself */
    CHAIN_DENIED,   /* to what robots.txt denies, where there is any */
    CHAIN_FRAGMENT, /* to a hidden page with a fragment and white space */
    CHAIN_SCHEME,   /* to a scheme that is not HTTP */
    CHAIN_NOWHERE,  /* 3xx without a Location */
    CHAIN_PORT,     /* to a port that browsers block */
    CHAIN_UP,       /* to a hidden page of its host, by dot segments */
    CHAIN_COUNT_
};

static const unsigned STEPS[CHAIN_COUNT_] = {
    [CHAIN_PAGE] = 1,     [CHAIN_FAR] = 1,    [CHAIN_HIDDEN] = 1,
    [CHAIN_THREE] = 3,    [CHAIN_FIVE] = 5,   [CHAIN_EIGHT] = 8,
    [CHAIN_LOOP] = 2,     [CHAIN_SELF] = 1,   [CHAIN_DENIED] = 1,
    [CHAIN_FRAGMENT] = 1, [CHAIN_SCHEME] = 1, [CHAIN_NOWHERE] = 1,
    [CHAIN_PORT] = 1,     [CHAIN_UP] = 1,
};

static uint32_t hop_count(const struct web *w)
{
    uint32_t chains = w->spec.pages / 50 + CHAIN_COUNT_;

    return web_has(w, PROFILE_REDIRECTS) ? chains * HOPS : 0;
}

static uint32_t hop_host(const struct web *w, uint32_t n)
{
    uint32_t c = n / HOPS;
    bool stays = c % CHAIN_COUNT_ == CHAIN_FIVE;

    if (c % CHAIN_COUNT_ == CHAIN_UP)
        return web_host(w, web_hidden(w, KIND_HOP, n));
    return robots_open_host(w, web_dice(w, stays ? c : n, 40));
}

static void hop_path(const struct web *w, uint32_t n, struct buf *out)
{
    uint64_t d = web_dice(w, n, 41);

    if (n % HOPS >= STEPS[n / HOPS % CHAIN_COUNT_])
        buf_add_str(out, "/none");
    buf_addf(out, "/go/%s/%s-r%u", web_word(d), web_word(d >> 6), (unsigned)n);
}

/* The id that a step leads to; UINT32_MAX: nothing in this web. */
static uint32_t target(const struct web *w, uint32_t n)
{
    uint32_t c = n / HOPS, s = n % HOPS, rules;
    uint32_t here = web_id(w, KIND_HOP, n);
    enum chain chain = (enum chain)(c % CHAIN_COUNT_);

    if (s + 1 < STEPS[chain])
        return here + 1;
    switch (chain) {
    case CHAIN_PAGE:
    case CHAIN_FAR:
        return (uint32_t)(web_dice(w, n, 42) % w->spec.pages);
    case CHAIN_LOOP:
        return here - 1;
    case CHAIN_SELF:
        return here;
    case CHAIN_DENIED: /* every other rule path is denied */
        rules = w->first[KIND_RULE + 1] - w->first[KIND_RULE];
        return rules > 0 ? web_id(w, KIND_RULE, c % rules) : 0;
    case CHAIN_SCHEME:
    case CHAIN_NOWHERE:
    case CHAIN_PORT:
        return UINT32_MAX;
    default:
        return web_hidden(w, KIND_HOP, n);
    }
}

static void hop_links(const struct web *w, uint32_t n, struct links *out)
{
    uint32_t to = target(w, n);

    if (to != UINT32_MAX)
        links_add(out, (struct link){.to = to, .element = ELEMENT_LOCATION});
}

/* The Location of a step that leads to `to`: relative where it can be. */
static void add_location(const struct web *w, uint32_t n, uint32_t to,
                         struct buf *out)
{
    enum chain chain = (enum chain)(n / HOPS % CHAIN_COUNT_);
    bool here = web_host(w, to) == hop_host(w, n);

    if (chain == CHAIN_FRAGMENT)
        buf_add_str(out, "  ");
    if (!here || (web_dice(w, n, 43) & 1 && chain != CHAIN_UP))
        web_origin(w, web_host(w, to), out);
    else if (chain == CHAIN_UP)
        buf_add_str(out, "../../x/../../go/..");
    web_path(w, to, out);
    if (chain == CHAIN_FRAGMENT)
        buf_add_str(out, "#part \t");
}

static void hop_answer(const struct web *w, uint32_t n,
                       const struct request *rq, struct answer *an)
{
    static const int STATUS[] = {301, 302, 303, 307, 308};
    uint32_t to = target(w, n);
    struct buf location;
    char address[HOST_ADDRESS_SIZE];

    (void)rq;
    buf_init(&location, 8192);
    if (to != UINT32_MAX) {
        add_location(w, n, to, &location);
    } else if (n / HOPS % CHAIN_COUNT_ == CHAIN_SCHEME) {
        buf_add_str(&location, "ftp://ftp.example.invalid/file");
    } else if (n / HOPS % CHAIN_COUNT_ == CHAIN_PORT) {
        host_address(w->dead_host, address);
        buf_addf(&location, "http://%s:25/gone", address);
    }
    /* Of a redirect the body does not count; one that leads to no http(s) URL
     * is a page. */
    buf_add_str(&an->body, "<p>Moved.");
    if (location.len > 0 && !bytes_starts_with(buf_bytes(&location), "ftp:"))
        buf_add_str(&an->body, " <a href=\"/decoy/redirect\">here</a>");
    buf_add_char(&an->body, '\n');
    answer_status(an, STATUS[(n / HOPS + n % HOPS) % 5]);
    answer_field(an, "Content-Type", "text/html");
    if (location.len > 0)
        answer_field(an, "Location", buf_str(&location));
    answer_done(an);
    buf_fini(&location);
}

static struct expect hop_expect(const struct web *w, uint32_t n)
{
    static const int STATUS[] = {301, 302, 303, 307, 308};
    struct expect e = {FATE_REDIRECT, STATUS[(n / HOPS + n % HOPS) % 5], 1, 1};

    if (n / HOPS % CHAIN_COUNT_ == CHAIN_NOWHERE)
        e.most = w->spec.tries;
    return e;
}

const struct kind_ops kind_hop = {
    .letter = 'r',
    .shares = 1,
    .stride = HOPS,
    .hides = 1,
    .count = hop_count,
    .host = hop_host,
    .path = hop_path,
    .links = hop_links,
    .answer = hop_answer,
    .expect = hop_expect,
};
