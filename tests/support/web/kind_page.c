/* SPDX-License-Identifier: MIT */
/*
 * kind_page.c - ordinary pages, leaves, hidden pages: the tree.
 *
 * Page n lives on host n % hosts, as its k = n / hosts'th page. The first page
 * of each host, "/", is in a tree of hosts, the others are in a tree on their
 * host; so every page is reached from page 0, and three links of four stay on
 * their host, as on the real web.
 */
#include <stdio.h>

#include "tests/support/web/web.h"
#include "tests/support/web/web_page.h"
#include "tests/support/web/web_robots.h"

/* Purposes of dice. */
enum { DICE_PATH = 1, DICE_COUNT = 2, DICE_EXTRA = 1000 };

/* ---- ordinary pages ------------------------------------------------------ */

static uint32_t page_count(const struct web *w)
{
    return w->spec.pages;
}

static uint32_t page_host(const struct web *w, uint32_t n)
{
    return n % w->spec.hosts;
}

/* About 45 octets: with http://127.0.0.7:12345 a URL has 68 on average. */
static void page_path(const struct web *w, uint32_t n, struct buf *out)
{
    uint64_t d = web_dice(w, n, DICE_PATH);
    const char *one = web_word(d), *two = web_word(d >> 6);
    const char *three = web_word(d >> 12), *four = web_word(d >> 18);
    unsigned shape = (unsigned)(d >> 24 & 15);

    buf_add_char(out, '/');
    if (n < w->spec.hosts)
        return;
    if (shape == 0)
        buf_add_char(out, '~');
    buf_add_str(out, one);
    buf_add_char(out, '/');
    if (shape == 1)
        buf_add_str(out, "caf%C3%A9-");
    buf_add_str(out, two);
    buf_add_char(out, '/');
    if (shape >= 4 && shape < 8) {
        buf_add_uint(out, 1996 + (d >> 28 & 31));
        buf_add_char(out, '/');
    }
    if (shape == 2 || shape == 3) {
        buf_add_str(out, "view.php?section=");
        buf_add_str(out, three);
        buf_add_str(out, "&item=p");
        buf_add_uint(out, n);
        return;
    }
    buf_add_str(out, three);
    buf_add_char(out, '-');
    buf_add_str(out, four);
    buf_add_str(out, "-p");
    buf_add_uint(out, n);
    if (shape < 12)
        buf_add_str(out, ".html");
    else if (shape < 14)
        buf_add_char(out, '/');
}

static void add(struct links *out, uint32_t to)
{
    links_add(out, (struct link){.to = to});
}

/* Children: of a host's first page also the first pages of further hosts. */
static void add_tree(const struct web *w, uint32_t n, struct links *out)
{
    uint64_t hosts = w->spec.hosts, host = n % hosts, k = n / hosts;

    for (uint64_t i = 1; i <= w->spec.fanout; i++) {
        uint64_t other = host * w->spec.fanout + i;
        uint64_t child = (k * w->spec.fanout + i) * hosts + host;

        if (k == 0 && other < hosts)
            add(out, (uint32_t)other);
        if (child < w->spec.pages)
            add(out, (uint32_t)child);
    }
}

/* Links to random pages, three of four on the same host; the first of them is
 * the host's first page. */
static void add_extra(const struct web *w, uint32_t n, struct links *out)
{
    uint64_t hosts = w->spec.hosts, host = n % hosts;
    uint64_t here = (w->spec.pages - host + hosts - 1) / hosts;
    uint64_t want =
        w->spec.links / 2 + web_dice(w, n, DICE_COUNT) % (w->spec.links + 1);

    if (out->count < want && n >= hosts)
        add(out, (uint32_t)host);
    for (uint64_t i = 0; out->count < want; i++) {
        uint64_t d = web_dice(w, n, DICE_EXTRA + i);

        if (d % 4 != 0)
            add(out, (uint32_t)((d >> 8) % here * hosts + host));
        else
            add(out, (uint32_t)((d >> 8) % w->spec.pages));
    }
}

static void page_links(const struct web *w, uint32_t n, struct links *out)
{
    add_tree(w, n, out);
    for (uint32_t i = 0; i < w->spec.leaves; i++)
        add(out, web_id(w, KIND_LEAF, n * w->spec.leaves + i));
    add_extra(w, n, out);
    web_attached(w, n, out);
}

static void page_answer(const struct web *w, uint32_t n,
                        const struct request *rq, struct answer *an)
{
    answer_page(w, web_id(w, KIND_PAGE, n), rq, an);
}

static struct expect fetched(const struct web *w, uint32_t n)
{
    (void)w;
    (void)n;
    return (struct expect){FATE_FETCH, 200, 1, 1};
}

const struct kind_ops kind_page = {
    .letter = 'p',
    .shares = 1,
    .count = page_count,
    .host = page_host,
    .path = page_path,
    .links = page_links,
    .answer = page_answer,
    .expect = fetched,
};

/* ---- leaves -------------------------------------------------------------- */

static uint32_t leaf_count(const struct web *w)
{
    return w->spec.pages * w->spec.leaves;
}

static uint32_t leaf_host(const struct web *w, uint32_t n)
{
    return page_host(w, n / w->spec.leaves);
}

static void leaf_path(const struct web *w, uint32_t n, struct buf *out)
{
    uint64_t d = web_dice(w, n, DICE_PATH + 10);

    buf_addf(out, "/%s/%s/%s-%s-l%u.html", web_word(d), web_word(d >> 6),
             web_word(d >> 12), web_word(d >> 18), (unsigned)n);
}

static void leaf_links(const struct web *w, uint32_t n, struct links *out)
{
    if (w->spec.leaf_pages)
        add(out, leaf_host(w, n));
}

static void leaf_answer(const struct web *w, uint32_t n,
                        const struct request *rq, struct answer *an)
{
    if (w->spec.leaf_pages)
        answer_page(w, web_id(w, KIND_LEAF, n), rq, an);
    else
        answer_text(an, 404, "text/html", "<p>Not here.</p>\n");
}

static struct expect leaf_expect(const struct web *w, uint32_t n)
{
    if (w->spec.leaf_pages)
        return fetched(w, n);
    return (struct expect){FATE_ERROR, 404, 1, 1};
}

const struct kind_ops kind_leaf = {
    .letter = 'l',
    .shares = 1,
    .count = leaf_count,
    .host = leaf_host,
    .path = leaf_path,
    .links = leaf_links,
    .answer = leaf_answer,
    .expect = leaf_expect,
};

/* ---- hidden pages -------------------------------------------------------- */

static uint32_t hidden_count(const struct web *w)
{
    return w->first[KIND_HIDDEN + 1] - w->first[KIND_HIDDEN];
}

static uint32_t hidden_host(const struct web *w, uint32_t n)
{
    return robots_open_host(w, web_dice(w, n, DICE_PATH + 20));
}

static void hidden_path(const struct web *w, uint32_t n, struct buf *out)
{
    uint64_t d = web_dice(w, n, DICE_PATH + 21);

    buf_addf(out, "/%s/%s/%s-h%u.html", web_word(d), web_word(d >> 6),
             web_word(d >> 12), (unsigned)n);
}

static void hidden_links(const struct web *w, uint32_t n, struct links *out)
{
    add(out, hidden_host(w, n));
}

static void hidden_answer(const struct web *w, uint32_t n,
                          const struct request *rq, struct answer *an)
{
    answer_page(w, web_id(w, KIND_HIDDEN, n), rq, an);
}

const struct kind_ops kind_hidden = {
    .letter = 'h',
    .shares = 1,
    .count = hidden_count,
    .host = hidden_host,
    .path = hidden_path,
    .links = hidden_links,
    .answer = hidden_answer,
    .expect = fetched,
};
