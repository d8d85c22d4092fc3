/* SPDX-License-Identifier: MIT */
/*
 * kind_asset.c - the style sheet of each host. Every page names it, but a
 * crawler asks for it only with --assets.
 */
#include "tests/support/web/answer.h"
#include "tests/support/web/web.h"

static uint32_t asset_count(const struct web *w)
{
    return w->spec.hosts;
}

static uint32_t asset_host(const struct web *w, uint32_t n)
{
    (void)w;
    return n;
}

static void asset_path(const struct web *w, uint32_t n, struct buf *out)
{
    (void)w;
    buf_add_str(out, "/static/site-a");
    buf_add_uint(out, n);
    buf_add_str(out, ".css");
}

static void asset_links(const struct web *w, uint32_t n, struct links *out)
{
    (void)w;
    (void)n;
    (void)out;
}

static void asset_answer(const struct web *w, uint32_t n,
                         const struct request *rq, struct answer *an)
{
    (void)w;
    (void)n;
    (void)rq;
    answer_text(an, 200, "text/css", "body { margin: 1em }\n");
}

static struct expect asset_expect(const struct web *w, uint32_t n)
{
    (void)w;
    (void)n;
    return (struct expect){FATE_ASSET, 200, 0, 1};
}

const struct kind_ops kind_asset = {
    .letter = 'a',
    .shares = 1,
    .count = asset_count,
    .host = asset_host,
    .path = asset_path,
    .links = asset_links,
    .answer = asset_answer,
    .expect = asset_expect,
};
