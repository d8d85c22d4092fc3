/* SPDX-License-Identifier: MIT */
/* served_throw.c - which call a client makes next, good ones and bad ones. */
#include <inttypes.h>
#include <stdio.h>

#include "tests/sim/served_impl.h"

#define DAY_S 86400

static uint64_t wall_s(const struct served_world *w)
{
    return (uint64_t)w->now / 1000;
}

static unsigned most_often(struct dice *d, unsigned n, unsigned percent)
{
    return dice_chance(d, percent) ? n : dice_below(d, n);
}

static void throw_put(const struct served_world *w, struct dice *d,
                      struct plain_op *op)
{
    op->verb = FRONTIER_PUT;
    op->seed = dice_next(d);
    op->base_s = wall_s(w);
    op->count = dice_chance(d, 12) && !w->use.big
                    ? (unsigned)dice_between(d, 300, SERVED_PUT_MOST)
                    : 1 + dice_below(d, dice_chance(d, 30) ? 40 : 5);
    op->big = w->use.big && op->count <= 40;
}

static void throw_get(struct dice *d, struct plain_op *op)
{
    static const uint32_t seconds[] = {1, 2, 5, 30, 30, 30, 600, DAY_S};

    op->verb = FRONTIER_GET;
    op->any = dice_chance(d, 60);
    if (!op->any)
        op->crawl = most_often(d, SERVED_CRAWLS + 1, 0);
    op->key = SERVED_KEYS;
    if (dice_chance(d, op->any ? 3 : 40))
        op->key = dice_below(d, SERVED_KEYS);
    op->nameless = !op->any && op->key == SERVED_KEYS && dice_chance(d, 5);
    op->most_urls = dice_chance(d, 30) ? 0 : 1 + dice_below(d, 5);
    op->most_queues = dice_chance(d, 40) ? 0 : 1 + dice_below(d, 5);
    op->seconds = seconds[dice_below(d, 8)];
}

static uint64_t throw_refetch(const struct served_world *w, struct dice *d)
{
    static const unsigned after[] = {0, 0, 0, 1, 60, 3600, DAY_S, 10 * DAY_S};
    unsigned s = after[dice_below(d, 8)];

    return s == 0 ? 0 : wall_s(w) + s;
}

/* One that was given, now and then again, or too late. */
static bool throw_held(struct served_client *c, struct dice *d, int64_t now,
                       struct served_held *out)
{
    for (unsigned tries = 0; tries < 8; tries++) {
        struct served_held *h = &c->held[dice_below(d, SERVED_HELD)];

        if (h->lease == 0 || (h->until <= now && !dice_chance(d, 10)))
            continue;
        *out = *h;
        if (!dice_chance(d, 10))
            h->lease = 0;
        return true;
    }
    return false;
}

static void throw_answer(struct served_world *w, struct served_client *c,
                         struct dice *d, struct plain_op *op)
{
    struct served_held h = {.lease = dice_next(d) >> 1 & ~(UINT64_C(1) << 62)};

    if (!throw_held(c, d, w->now, &h))
        h.at = (struct served_place){dice_below(d, SERVED_CRAWLS),
                                     dice_below(d, SERVED_KEYS),
                                     dice_below(d, SERVED_URLS)};
    if (dice_chance(d, 50)) {
        op->verb = FRONTIER_PUT;
        op->count = 1;
        op->given = true;
        op->item = (struct plain_item){.kind = FRONTIER_ITEM_KNOWN,
                                       .at = h.at,
                                       .refetch_s = throw_refetch(w, d),
                                       .meta = dice_below(d, 3000)};
        return;
    }
    op->verb = FRONTIER_SETTLE;
    op->lease = h.lease;
    op->how = (enum url_settle)(dice_chance(d, 60) ? URL_SETTLE_ACK
                                                   : 1 + dice_below(d, 2));
    op->refetch_s = throw_refetch(w, d);
    op->keep = dice_chance(d, 50);
    op->meta = dice_below(d, 3000);
    op->seconds = dice_chance(d, 20) ? 0 : (uint32_t)dice_nth(d, 14);
}

/* Is there a URL by which one sees the delay of all queues after a start? */
static bool default_delay_shows(const struct plain *m)
{
    for (unsigned i = 0; i < SERVED_ALL; i++) {
        const struct plain_queue *q = &(&m->queues[0][0])[i / SERVED_URLS];

        if (q->delay < 0 && q->urls[i % SERVED_URLS].there)
            return true;
    }
    return false;
}

static void throw_setting(const struct served_world *w, struct dice *d,
                          struct plain_op *op)
{
    switch (dice_below(d, 10)) {
    case 0:
    case 1:
    case 2:
        op->verb = FRONTIER_BLOCK_QUEUE;
        op->value = dice_chance(d, 30) ? 0 : wall_s(w) + dice_nth(d, 17);
        break;
    case 3:
    case 4:
    case 5:
        op->verb = FRONTIER_SET_DELAY;
        op->value = dice_below(d, dice_chance(d, 80) ? 4 : 7200);
        op->ms = (uint16_t)dice_below(d, 1000);
        op->standard = dice_chance(d, 20);
        if (dice_chance(d, 20) && default_delay_shows(&w->m))
            op->key = SERVED_KEYS;
        break;
    case 6:
    case 7:
        op->verb = FRONTIER_SET_LIMIT;
        op->value = dice_chance(d, 50) ? 0 : dice_below(d, SERVED_URLS);
        break;
    case 8:
        op->verb = FRONTIER_SET_ACTIVE;
        op->flag = dice_chance(d, 80);
        break;
    default:
        op->verb = FRONTIER_GET_ACTIVE;
    }
}

static void throw_removal(struct dice *d, struct plain_op *op)
{
    switch (dice_below(d, 5)) {
    case 0:
        op->verb = FRONTIER_DELETE_CRAWL;
        op->key = SERVED_KEYS;
        break;
    case 1:
    case 2:
        op->verb = FRONTIER_DELETE_QUEUE;
        break;
    default:
        op->verb = FRONTIER_PURGE_URLS;
        op->value = dice_chance(d, 40) ? 0 : dice_below(d, 20);
        if (dice_chance(d, 50))
            op->key = SERVED_KEYS;
    }
}

static void throw_question(struct dice *d, struct plain_op *op)
{
    static const enum frontier_verb verbs[] = {
        FRONTIER_URL_STATUS,  FRONTIER_URL_STATUS,  FRONTIER_LIST_URLS,
        FRONTIER_LIST_URLS,   FRONTIER_COUNT_URLS,  FRONTIER_STATS,
        FRONTIER_LIST_QUEUES, FRONTIER_LIST_CRAWLS, FRONTIER_STATS};

    op->verb = verbs[dice_below(d, 9)];
    op->flag = dice_chance(d, 50);
    op->start = dice_chance(d, 60) ? 0 : dice_below(d, 12);
    op->size = dice_chance(d, 50) ? 0 : 1 + dice_below(d, 30);
    if (op->verb != FRONTIER_URL_STATUS && dice_chance(d, 50))
        op->key = SERVED_KEYS;
    if (dice_chance(d, 5))
        op->crawl = SERVED_CRAWLS;
}

void served_throw(struct served_world *w, unsigned client, struct dice *d,
                  struct plain_op *out)
{
    unsigned which = dice_below(d, 100);

    *out = (struct plain_op){.crawl = dice_below(d, SERVED_CRAWLS),
                             .key = dice_below(d, SERVED_KEYS),
                             .url = dice_below(d, SERVED_URLS)};
    if (dice_chance(d, 3))
        out->key = SERVED_KEYS + 1;
    if (which < 28)
        throw_put(w, d, out);
    else if (which < 53)
        throw_get(d, out);
    else if (which < 76)
        throw_answer(w, &w->clients[client], d, out);
    else if (which < 84)
        throw_setting(w, d, out);
    else if (which < 88)
        throw_removal(d, out);
    else
        throw_question(d, out);
}

/* ---- for people ---- */

static const char *key_name(const struct plain_op *op)
{
    return op->key == SERVED_KEYS ? "all" : served_key_text(op->key).at;
}

void served_op_text(const struct plain_op *op, char out[200])
{
    int n = snprintf(out, 200, "%s %s/%s", frontier_verb_name(op->verb),
                     op->any ? "any" : served_crawl_text(op->crawl).at,
                     key_name(op));
    char *at = out + n;
    size_t room = 200 - (size_t)n;

    if (op->verb == FRONTIER_PUT && op->given)
        snprintf(out, 200, "put known %s/%s/%u, refetch %" PRIu64 ", meta %u",
                 served_crawl_text(op->item.at.crawl).at,
                 served_key_text(op->item.at.key).at, op->item.at.url,
                 op->item.refetch_s, op->item.meta);
    else if (op->verb == FRONTIER_PUT)
        snprintf(out, 200, "put %u items%s", op->count, op->big ? ", big" : "");
    else if (op->verb == FRONTIER_GET)
        snprintf(at, room, ", %u URLs of %u queues for %u s", op->most_urls,
                 op->most_queues, op->seconds);
    else if (op->verb == FRONTIER_SETTLE)
        snprintf(out, 200, "settle %" PRIx64 " how %d, %" PRIu64 ", %u s",
                 op->lease, (int)op->how, op->refetch_s, op->seconds);
    else if (op->verb == FRONTIER_URL_STATUS)
        snprintf(at, room, "/%u", op->url);
    else if (op->verb == FRONTIER_SET_ACTIVE)
        snprintf(out, 200, "set active %d", op->flag);
    else
        snprintf(at, room, " %" PRIu64 ".%03u%s (%u, %u%s)", op->value, op->ms,
                 op->standard ? " standard" : "", op->start, op->size,
                 op->flag ? ", flag" : "");
}
