/* SPDX-License-Identifier: MIT */
/*
 * cluster_robots.c - robots.txt, shared by the workers of a crawl.
 *
 * A body is stored as an octet that says how, and the rest: r, as it is; z,
 * deflated (RFC 1950), which takes a third of it. A host's robots.txt is a key
 * of its own, with a time to live, so that nobody has to clear it away.
 */
#include "frontier/cluster_store/cluster_robots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"
#include "frontier/cluster_store/cluster_impl.h"

#define DEFLATE_LEAST 128 /* octets */
#define LEVEL         6
#define AGE_MOST_MS   (INT64_C(3650) * CLUSTER_ROBOTS_DAY_MS)

/* ---- bodies ---- */

static bool deflate_to(struct bytes body, struct buf *out)
{
    uLongf len = compressBound((uLong)body.len);
    unsigned char *to = xmalloc(len);
    bool smaller = compress2(to, &len, (const unsigned char *)body.at,
                             (uLong)body.len, LEVEL) == Z_OK &&
                   len < body.len;

    if (smaller) {
        buf_add_char(out, 'z');
        buf_add(out, (const char *)to, len);
    }
    free(to);
    return smaller;
}

bool cluster_robots_pack(struct bytes body, struct buf *out)
{
    if (body.len > CLUSTER_ROBOTS_BODY_MOST)
        return false;
    if (body.len < DEFLATE_LEAST || !deflate_to(body, out)) {
        buf_add_char(out, 'r');
        buf_add_bytes(out, body);
    }
    return buf_failed(out) == STATUS_OK;
}

static bool inflate_to(struct bytes packed, struct buf *out)
{
    uLongf len = CLUSTER_ROBOTS_BODY_MOST;
    unsigned char *to = xmalloc(len);
    bool good = uncompress(to, &len, (const unsigned char *)packed.at,
                           (uLong)packed.len) == Z_OK;

    if (good)
        buf_add(out, (const char *)to, len);
    free(to);
    return good;
}

bool cluster_robots_unpack(struct bytes packed, struct buf *out)
{
    struct bytes rest;

    if (packed.len == 0)
        return false;
    rest = bytes_skip(packed, 1);
    if (packed.at[0] == 'z')
        return inflate_to(rest, out) && buf_failed(out) == STATUS_OK;
    if (packed.at[0] != 'r' || rest.len > CLUSTER_ROBOTS_BODY_MOST)
        return false;
    buf_add_bytes(out, rest);
    return buf_failed(out) == STATUS_OK;
}

/* ---- telling ---- */

static void shared(void *ctx, enum status st, const redisReply *r)
{
    (void)ctx; /* it is fetched again by those who need it */
    (void)st;
    (void)r;
}

void cluster_store_share_robots(struct cluster_store *s, struct bytes host,
                                struct bytes origin,
                                const struct cluster_robots *r)
{
    char number[4][24];
    struct bytes args[6] = {origin};
    struct key_list k;
    struct buf body;

    if (r->expires_in < 1 || r->fetched_ago < 0 || host.len < 1 ||
        host.len > CLUSTER_HOST_MOST || origin.len > 2 * CLUSTER_HOST_MOST)
        return;
    snprintf(number[0], sizeof number[0], "%" PRId64, r->fetched_ago);
    snprintf(number[1], sizeof number[1], "%" PRId64,
             r->expires_in < CLUSTER_ROBOTS_DAY_MS ? r->expires_in
                                                   : CLUSTER_ROBOTS_DAY_MS);
    snprintf(number[2], sizeof number[2], "%" PRId64, r->unreachable_for);
    snprintf(number[3], sizeof number[3], "%u", (unsigned)r->http_status);
    for (size_t i = 0; i < 4; i++)
        args[1 + i] = bytes_of_str(number[i]);
    buf_init(&body, 1 + CLUSTER_ROBOTS_BODY_MOST);
    if (cluster_robots_pack(r->body, &body)) {
        unsigned shard = cluster_shard_of(s, host);

        args[5] = buf_bytes(&body);
        key_list_init(&k);
        key_list_add(&k, s, shard, "b:", host);
        cluster_run(s, shard, &cluster_script_share, &k, args, 6, false, shared,
                    NULL);
        key_list_fini(&k);
    }
    buf_fini(&body);
}

/* ---- asking ---- */

struct robots_call {
    cluster_robots_end *end;
    void *ctx;
};

static bool read_number(const redisReply *r, int64_t least, int64_t most,
                        int64_t *out)
{
    if (r->type != REDIS_REPLY_INTEGER || r->integer < least ||
        r->integer > most)
        return false;
    *out = r->integer;
    return true;
}

static bool read_robots(struct cluster_robots *out, const redisReply *r,
                        struct buf *body)
{
    int64_t status = 0;

    if (r->type != REDIS_REPLY_ARRAY || r->elements != 5 ||
        r->element[4]->type != REDIS_REPLY_STRING ||
        !read_number(r->element[0], 1, CLUSTER_ROBOTS_DAY_MS,
                     &out->expires_in) ||
        !read_number(r->element[1], 0, AGE_MOST_MS, &out->fetched_ago) ||
        !read_number(r->element[2], -1, AGE_MOST_MS, &out->unreachable_for) ||
        !read_number(r->element[3], 0, 999, &status) ||
        !cluster_robots_unpack(bytes_of(r->element[4]->str,
                                        (size_t)r->element[4]->len),
                               body))
        return false;
    out->http_status = (uint16_t)status;
    out->body = buf_bytes(body);
    return true;
}

static void robots_came(void *ctx, enum status st, const redisReply *r)
{
    struct robots_call *c = ctx;
    struct cluster_robots robots = {.expires_in = 0};
    struct buf body;

    buf_init(&body, CLUSTER_ROBOTS_BODY_MOST);
    c->end(c->ctx,
           st == STATUS_OK && read_robots(&robots, r, &body) ? &robots : NULL);
    buf_fini(&body);
    free(c);
}

void cluster_store_ask_robots(struct cluster_store *s, struct bytes host,
                              struct bytes origin, cluster_robots_end *end,
                              void *ctx)
{
    struct robots_call *c = xcalloc(1, sizeof *c);
    unsigned shard = cluster_shard_of(s, host);
    struct key_list k;

    c->end = end;
    c->ctx = ctx;
    key_list_init(&k);
    key_list_add(&k, s, shard, "b:", host);
    cluster_run(s, shard, &cluster_script_robots, &k, &origin, 1, false,
                robots_came, c);
    key_list_fini(&k);
}
