/* SPDX-License-Identifier: MIT */
/*
 * kind_twin.c - URLs that look alike but differ.
 *
 * Each group is one path in many near-variants: the canonical form leaves
 * slashes, case, parameter order, "+", reserved escapes and index names alone
 * (RULES C7), so each is a URL of its own with a page of its own. A crawler
 * that normalises too much misses some.
 */
#include "tests/support/web/web.h"
#include "tests/support/web/web_page.h"
#include "tests/support/web/web_robots.h"

/* %s %s: two words; the number is the group's. */
static const char *const FORMS[] = {
    "/%s/%s-v%u",
    "/%s/%s-v%u/",
    "/%s//%s-v%u",
    "/%s/%s-v%u?a=1&b=2",
    "/%s/%s-v%u?b=2&a=1",
    "/%s/%s-v%u?a=1&b=2&",
    "/%s/%s-v%u?A=1&b=2",
    "/%s/%s-v%u;s=1",
    "/%s/%s-v%u/index.html",
    "/%s/%s-v%u?a=%%2F",
    "/%s/%s-v%u?a=/",
    "/%s%%2F%s-v%u",
    "/%s/%s-v%u?q=a+b",
    "/%s/%s-v%u?q=a%%20b",
    "/%s/%s-v%u?a=1&copy=2&lang=x",
    "/%s/%s-v%u?utm_source=x",
    "/%s/%s-v%u?q=%%2541",
    "/%s/%s-v%u?a=1;b=2",
    "/%s/%s-v%u?a=1&a=1",
    "/%s/%s-V-v%u", /* the next one in capitals */
    "/%s/%s-v-v%u",
    "/%s/%s-v%u/.well.known/",
    "/%s/%s-v%u?url=http://example.invalid/?x=%%23y",
    "/%s/%s-v%u?a=%%C3%%A9",
};
#define FORM_COUNT (sizeof FORMS / sizeof *FORMS)

static uint32_t twin_count(const struct web *w)
{
    uint32_t groups = w->spec.pages / 500 + 2;

    return web_has(w, PROFILE_VARIANTS) ? groups * (uint32_t)FORM_COUNT : 0;
}

static uint32_t twin_host(const struct web *w, uint32_t n)
{
    return robots_open_host(w, web_dice(w, n / FORM_COUNT, 30));
}

static void twin_path(const struct web *w, uint32_t n, struct buf *out)
{
    uint32_t group = n / (uint32_t)FORM_COUNT;
    uint64_t d = web_dice(w, group, 31);

    /* The formats are the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    buf_addf(out, FORMS[n % FORM_COUNT], web_word(d), web_word(d >> 6),
             (unsigned)group);
#pragma GCC diagnostic pop
}

static void twin_links(const struct web *w, uint32_t n, struct links *out)
{
    links_add(out, (struct link){.to = twin_host(w, n)});
}

static void twin_answer(const struct web *w, uint32_t n,
                        const struct request *rq, struct answer *an)
{
    answer_page(w, web_id(w, KIND_TWIN, n), rq, an);
}

static struct expect twin_expect(const struct web *w, uint32_t n)
{
    (void)w;
    (void)n;
    return (struct expect){FATE_FETCH, 200, 1, 1};
}

const struct kind_ops kind_twin = {
    .letter = 'v',
    .shares = FORM_COUNT,
    .stride = 1,
    .count = twin_count,
    .host = twin_host,
    .path = twin_path,
    .links = twin_links,
    .answer = twin_answer,
    .expect = twin_expect,
};
