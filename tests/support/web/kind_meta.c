/* SPDX-License-Identifier: MIT */
/*
 * kind_meta.c - pages with robots meta, X-Robots-Tag and rel=nofollow.
 *
 * Each page has a link to a hidden page of its own. It is to be followed
 * unless the page says nofollow (or none), to all or to our agent, in its
 * markup or in its header; noindex alone hides nothing. The page itself is
 * fetched in any case.
 */
#include <stdio.h>

#include "tests/support/web/web.h"
#include "tests/support/web/web_page.h"
#include "tests/support/web/web_robots.h"

enum where { IN_HEAD, IN_FIELD, IN_LINK };

/* %s in the text: the agent. */
static const struct {
    enum where where;
    bool follows;
    const char *text;
} WORDS[] = {
    {IN_HEAD, false, "<meta name=\"robots\" content=\"nofollow\">\n"},
    {IN_HEAD, true, "<meta name=\"robots\" content=\"noindex\">\n"},
    {IN_HEAD, false, "<META content='NoIndex, NoFollow' name=ROBOTS>\n"},
    {IN_HEAD, true, "<meta name=\"robots\" content=\"index, follow\">\n"},
    {IN_HEAD, false, "<meta name=\"robots\" content=\"none\">\n"},
    {IN_HEAD, true, "<meta name=\"otherbot\" content=\"nofollow\">\n"},
    {IN_HEAD, false, "<meta name=\"%s\" content=\"nofollow\">\n"},
    {IN_HEAD, true, "<!-- <meta name=\"robots\" content=\"nofollow\"> -->\n"},
    {IN_FIELD, false, "X-Robots-Tag: nofollow\r\n"},
    {IN_FIELD, true, "X-Robots-Tag: noindex, noarchive\r\n"},
    {IN_FIELD, false,
     "X-Robots-Tag: noarchive\r\n"
     "x-robots-tag: noindex, NOFOLLOW\r\n"},
    {IN_FIELD, true, "X-Robots-Tag: otherbot: nofollow\r\n"},
    {IN_FIELD, false, "X-Robots-Tag: %s: none\r\n"},
    {IN_LINK, false, NULL},
};
#define WORD_COUNT (sizeof WORDS / sizeof *WORDS)

static uint32_t meta_count(const struct web *w)
{
    if (!web_has(w, PROFILE_ROBOTS))
        return 0;
    return (w->spec.pages / 500 + 1) * (uint32_t)WORD_COUNT;
}

static uint32_t meta_host(const struct web *w, uint32_t n)
{
    return robots_open_host(w, web_dice(w, n, 50));
}

static void meta_path(const struct web *w, uint32_t n, struct buf *out)
{
    uint64_t d = web_dice(w, n, 51);

    buf_addf(out, "/%s/%s-m%u.html", web_word(d), web_word(d >> 6),
             (unsigned)n);
}

static void meta_links(const struct web *w, uint32_t n, struct links *out)
{
    const size_t i = n % WORD_COUNT;

    links_add(out, (struct link){.to = web_hidden(w, KIND_META, n),
                                 .nofollow = !WORDS[i].follows,
                                 .rel = WORDS[i].where == IN_LINK});
}

static void meta_answer(const struct web *w, uint32_t n,
                        const struct request *rq, struct answer *an)
{
    enum where where = WORDS[n % WORD_COUNT].where;
    struct page_options o = {0};
    char text[256] = "";

    /* The formats are the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (where != IN_LINK)
        snprintf(text, sizeof text, WORDS[n % WORD_COUNT].text, w->spec.agent);
#pragma GCC diagnostic pop
    o.head = where == IN_HEAD ? text : NULL;
    o.field = where == IN_FIELD ? text : NULL;
    answer_page_with(w, web_id(w, KIND_META, n), &o, rq, an);
}

static struct expect meta_expect(const struct web *w, uint32_t n)
{
    (void)w;
    (void)n;
    return (struct expect){FATE_FETCH, 200, 1, 1};
}

const struct kind_ops kind_meta = {
    .letter = 'm',
    .shares = 1,
    .stride = 1,
    .hides = 1,
    .count = meta_count,
    .host = meta_host,
    .path = meta_path,
    .links = meta_links,
    .answer = meta_answer,
    .expect = meta_expect,
};
