/* SPDX-License-Identifier: MIT */
/* served_model.c - the plainest frontier. */
#include "tests/sim/served_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/dice.h"

#define DAY_S 86400

/* ---- names ---- */

static const char *const crawl_names[] = {"DEFAULT", "crawl1", "crawl10",
                                          "nobody"};
static const char *const key_names[] = {"a.example", "b.example",
                                        "_DEFAULT_", "schl\xc3\xbcssel 1",
                                        "[::1]",     "",
                                        "nobody"};

struct bytes served_crawl_text(unsigned crawl)
{
    return bytes_of_str(crawl_names[crawl]);
}

struct bytes served_key_text(unsigned key)
{
    return bytes_of_str(key_names[key]);
}

bool served_key_is_in_url(unsigned key)
{
    return key == 0 || key == 1 || key == 4;
}

struct bytes served_url_text(char to[64], unsigned key, unsigned url)
{
    static const char *const before[] = {"http://a.example",
                                         "http://user@b.example:8080",
                                         "http://x.example", "http://x.example",
                                         "http://[::1]:8080"};
    bool loud = key == 0 && url % 2 == 1;

    if (url == 0 && !served_key_is_in_url(key))
        to[0] = '\0';
    else
        snprintf(to, 64, "%s/%u",
                 loud                ? "HTTP://A.Example"
                 : key < SERVED_KEYS ? before[key]
                                     : "http://nobody.example",
                 url);
    return bytes_of_str(to);
}

static char *put_length(char *at, char tag, size_t len)
{
    *at++ = tag;
    for (; len >= 128; len >>= 7)
        *at++ = (char)(len | 128);
    *at++ = (char)len;
    return at;
}

static size_t length_size(size_t len)
{
    return len < 128 ? 2 : len < 128 * 128 ? 3 : 4;
}

/* One entry of the map in a URLInfo: "m" is a list of one text. */
struct bytes served_meta_text(char *to, unsigned meta)
{
    size_t text = (meta & SERVED_META_BIG) != 0 ? SERVED_META_MOST - 100 : 12;
    size_t list = text + length_size(text);
    char *at = to;

    if (meta == 0)
        return bytes_of(to, 0);
    at = put_length(at, 0x1a, 3 + length_size(list) + list);
    at = put_length(at, 0x0a, 1);
    *at++ = 'm';
    at = put_length(at, 0x12, list);
    at = put_length(at, 0x0a, text);
    snprintf(at, 13, "%012u", meta);
    memset(at + 12, 'x', text - 12);
    return bytes_of(to, (size_t)(at - to) + text);
}

/* UINT32_MAX: it is none of ours. */
unsigned served_meta_of(struct bytes b)
{
    static char text[SERVED_META_MOST];
    const char *at = b.len > 0 ? memchr(b.at, '0', b.len) : NULL;
    unsigned meta = at != NULL ? (unsigned)strtoul(at, NULL, 10) : 0;

    return bytes_equal(b, served_meta_text(text, meta)) ? meta : UINT32_MAX;
}

static unsigned index_of(struct bytes text, const char *const *names,
                         unsigned n)
{
    unsigned i = 0;

    while (i < n && !bytes_equal(text, bytes_of_str(names[i])))
        i++;
    return i;
}

bool served_place_of(const struct frontier_url *u, struct served_place *out)
{
    const char *slash =
        u->url.len > 0 ? memrchr(u->url.at, '/', u->url.len) : NULL;
    char text[64];

    *out = (struct served_place){
        .crawl = index_of(u->crawl, crawl_names, SERVED_CRAWLS),
        .key = index_of(u->key, key_names, SERVED_KEYS),
        .url = slash != NULL ? (unsigned)strtoul(slash + 1, NULL, 10) : 0};
    return out->crawl < SERVED_CRAWLS && out->key < SERVED_KEYS &&
           out->url < SERVED_URLS &&
           bytes_equal(u->url, served_url_text(text, out->key, out->url));
}

/* ---- items ---- */

static uint64_t throw_date(struct dice *d, uint64_t base_s)
{
    static const int64_t ahead[] = {-100000, -5,        0,         1,
                                    3,       30,        600,       7200,
                                    DAY_S,   3 * DAY_S, 20 * DAY_S};

    return base_s + (uint64_t)ahead[dice_below(d, 11)];
}

struct plain_item plain_item(const struct plain_op *op, unsigned nth)
{
    struct dice d = dice_of(op->seed + nth, "item");
    struct plain_item i;

    if (op->given)
        return op->item;
    i = (struct plain_item){.kind = dice_chance(&d, 50)
                                        ? FRONTIER_ITEM_KNOWN
                                        : FRONTIER_ITEM_DISCOVERED,
                            .at = {dice_below(&d, SERVED_CRAWLS),
                                   dice_below(&d, SERVED_KEYS),
                                   dice_below(&d, SERVED_URLS)}};
    if (dice_chance(&d, i.kind == FRONTIER_ITEM_KNOWN ? 70 : 20))
        i.refetch_s = throw_date(&d, op->base_s);
    if (dice_chance(&d, 60))
        i.meta = 1 + dice_below(&d, 1000);
    if (op->big && i.meta != 0 && dice_chance(&d, 40))
        i.meta |= SERVED_META_BIG;
    i.bare = served_key_is_in_url(i.at.key) && dice_chance(&d, 30);
    i.bad_key = dice_chance(&d, 2);
    if (dice_chance(&d, 2))
        i.kind = FRONTIER_ITEM_NEITHER;
    return i;
}

bool plain_changes(enum frontier_verb v)
{
    switch (v) {
    case FRONTIER_PUT:
    case FRONTIER_GET:
    case FRONTIER_SETTLE:
    case FRONTIER_PURGE_URLS:
    case FRONTIER_DELETE_QUEUE:
    case FRONTIER_DELETE_CRAWL:
    case FRONTIER_BLOCK_QUEUE:
    case FRONTIER_SET_DELAY:
    case FRONTIER_SET_LIMIT:
    case FRONTIER_SET_ACTIVE:
        return true;
    default:
        return false;
    }
}

/* ---- time ---- */

void plain_init(struct plain *m)
{
    *m = (struct plain){.default_delay = 1000, .active = true};
    for (unsigned c = 0; c < SERVED_CRAWLS; c++)
        for (unsigned k = 0; k < SERVED_KEYS; k++)
            m->queues[c][k].delay = -1;
}

#define EACH_QUEUE(m, q)                                                       \
    for (struct plain_queue *q = &(m)->queues[0][0];                           \
         (q) < &(m)->queues[0][0] + SERVED_CRAWLS * SERVED_KEYS; (q)++)
#define EACH_URL(q, u)                                                         \
    for (struct plain_url *u = (q)->urls; (u) < (q)->urls + SERVED_URLS; (u)++)

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A clock that was set back makes nothing wait longer: no queue than its delay,
 * and no URL than its lease was to last. */
static void set_back(struct plain *m, int64_t now)
{
    m->jumped = true;
    EACH_QUEUE(m, q)
    {
        q->served = least(q->served, now);
        EACH_URL(q, u)
        {
            if (u->until > 0)
                u->until = least(u->until, now + u->row_until - u->row_at);
        }
    }
}

void plain_tick(struct plain *m, int64_t now)
{
    if (now < m->now)
        set_back(m, now);
    m->now = now;
    EACH_QUEUE(m, q)
    {
        EACH_URL(q, u)
        {
            if (u->until <= now)
                u->until = 0;
        }
    }
}

/* Leases are as long as they were to be, at most, and queues are in turn by
 * when they were served. */
void plain_restart(struct plain *m, int64_t now)
{
    bool ranked[SERVED_CRAWLS][SERVED_KEYS] = {{false}};

    for (m->turns = 0;;) {
        struct plain_queue *best = NULL;

        EACH_QUEUE(m, q)
        {
            if (q->there && !(&ranked[0][0])[q - &m->queues[0][0]] &&
                (best == NULL || q->served < best->served ||
                 (q->served == best->served && q->number < best->number)))
                best = q;
        }
        if (best == NULL)
            break;
        (&ranked[0][0])[best - &m->queues[0][0]] = true;
        best->turn = ++m->turns;
    }
    if (now < m->now)
        m->jumped = true;
    m->now = now;
    EACH_QUEUE(m, q)
    {
        q->served = least(q->served, now);
        EACH_URL(q, u)
        {
            u->until = least(u->row_until, now + u->row_until - u->row_at);
            if (u->until <= now)
                u->until = 0;
        }
    }
}

/* ---- put ---- */

static bool put(struct plain *m, const struct plain_item *i, int64_t now)
{
    struct plain_queue *q = &m->queues[i->at.crawl][i->at.key];
    struct plain_url *u = &q->urls[i->at.url];
    bool fresh = !u->there, known = i->kind == FRONTIER_ITEM_KNOWN;
    int64_t due = (int64_t)i->refetch_s * 1000;

    if (fresh) {
        if (m->last_created < now)
            m->last_created = now;
        *u = (struct plain_url){.there = true,
                                .arrival = ++m->arrivals,
                                .created = m->last_created,
                                .due = m->last_created};
        if (q->number == 0)
            q->number = ++m->numbers;
        if (!q->there)
            q->turn = ++m->turns;
        q->there = true;
    }
    if (known || (fresh && due != 0)) {
        u->dated = true;
        u->due = due;
        u->until = u->row_at = u->row_until = 0;
    }
    if (known || fresh)
        u->meta = u->due != 0 ? i->meta : 0;
    return known || fresh;
}

static void put_all(struct plain *m, const struct plain_op *op, int64_t now,
                    struct plain_result *r)
{
    for (unsigned n = 0; n < op->count; n++) {
        struct plain_item i = plain_item(op, n);
        bool can = i.kind != FRONTIER_ITEM_NEITHER && !i.bad_key;

        r->acks[n] =
            can && put(m, &i, now) ? FRONTIER_ACK_OK : FRONTIER_ACK_SKIPPED;
    }
}

/* ---- get ---- */

static int64_t due_of(const struct plain_url *u, int64_t now)
{
    return u->dated ? u->due : least(u->due, now);
}

/* The next URL to hand out; SERVED_URLS: none. */
static unsigned next_of(const struct plain_queue *q, int64_t now)
{
    unsigned best = SERVED_URLS;

    for (unsigned n = 0; n < SERVED_URLS; n++) {
        const struct plain_url *u = &q->urls[n], *b = &q->urls[best % 14];

        if (!u->there || u->due == 0 || u->until > 0 || due_of(u, now) > now)
            continue;
        if (best == SERVED_URLS || due_of(u, now) < due_of(b, now) ||
            (due_of(u, now) == due_of(b, now) && u->arrival < b->arrival))
            best = n;
    }
    return best;
}

static void count(const struct plain_queue *q, struct url_counts *c)
{
    uint64_t active = 0;

    for (const struct plain_url *u = q->urls; u < q->urls + SERVED_URLS; u++) {
        active += u->there && u->due != 0;
        c->completed += u->there && u->due == 0;
        c->leased += u->until > 0;
    }
    c->active += active;
    c->queues += q->there;
    c->active_queues += active > 0;
}

int64_t plain_delay(const struct plain *m, const struct plain_queue *q)
{
    return q->delay >= 0 ? q->delay : m->default_delay;
}

static bool may_serve(const struct plain *m, const struct plain_queue *q,
                      uint32_t cap, int64_t now)
{
    struct url_counts c = {0};

    count(q, &c);
    return q->there && q->blocked <= now &&
           (q->limit == 0 || c.completed < q->limit) &&
           (q->served == 0 || q->served + plain_delay(m, q) <= now) &&
           (cap == 0 || c.leased < cap) && next_of(q, now) < SERVED_URLS;
}

static bool is_asked(const struct plain *m, const struct plain_op *op,
                     const struct plain_queue *q, int64_t now)
{
    size_t i = (size_t)(q - &m->queues[0][0]);

    return (op->any || i / SERVED_KEYS == op->crawl) &&
           (op->key == SERVED_KEYS || i % SERVED_KEYS == op->key) &&
           (q->turn < op->cursor.turn || op->key != SERVED_KEYS) &&
           may_serve(m, q, op->most_urls, now);
}

/* The queue whose turn it is; where turns are not known, that of `seen`. */
static struct plain_queue *next_queue(struct plain *m,
                                      const struct plain_op *op, int64_t now,
                                      const struct frontier_url *seen)
{
    struct plain_queue *best = NULL;
    struct served_place at;

    if ((op->most_queues > 0 && op->cursor.queues >= op->most_queues) ||
        (op->key != SERVED_KEYS && op->cursor.queues > 0))
        return NULL;
    if (m->jumped && seen != NULL && served_place_of(seen, &at) &&
        is_asked(m, op, &m->queues[at.crawl][at.key], now))
        return &m->queues[at.crawl][at.key];
    EACH_QUEUE(m, q)
    {
        if (is_asked(m, op, q, now) && (best == NULL || q->turn < best->turn))
            best = q;
    }
    return best;
}

static bool is_it(const struct plain *m, const struct plain_queue *q,
                  unsigned n, const struct frontier_url *seen, const char **why)
{
    const struct plain_url *u = &q->urls[n];
    static char text[300];
    struct served_place at;

    if (!served_place_of(seen, &at))
        *why = "a URL that nobody put is handed out";
    else if (&m->queues[at.crawl][at.key] != q) {
        snprintf(text, sizeof text,
                 "a URL of %s/%s is handed out before %u, due %lld, dated %d, "
                 "number %llu of the queue whose turn it is",
                 served_crawl_text(at.crawl).at, served_key_text(at.key).at, n,
                 (long long)u->due, u->dated, (unsigned long long)u->arrival);
        *why = text;
    } else if (at.url != n) {
        const struct plain_url *o = &q->urls[at.url];

        snprintf(text, sizeof text,
                 "URL %u, due %lld, dated %d, number %llu is handed out before "
                 "%u, due %lld, dated %d, number %llu",
                 at.url, (long long)o->due, o->dated,
                 (unsigned long long)o->arrival, n, (long long)u->due, u->dated,
                 (unsigned long long)u->arrival);
        *why = text;
    } else if (served_meta_of(seen->metadata) != u->meta)
        *why = "what is handed out has other metadata";
    else if (seen->created_s != (uint64_t)u->created / 1000 ||
             seen->refetch_s != (uint64_t)u->due / 1000)
        *why = "what is handed out has another date";
    return *why == NULL;
}

static bool goes_on(const struct plain_op *op, uint32_t urls)
{
    return op->most_urls == 0 || urls < op->most_urls;
}

bool plain_get(struct plain *m, struct plain_op *op, int64_t now,
               const struct frontier_url *seen, size_t n, bool more,
               const char **why)
{
    struct plain_cursor *at = &op->cursor;
    size_t i = 0;
    bool over = false;
    struct plain_queue *q = NULL;

    *why = NULL;
    plain_tick(m, now);
    m->changes++;
    if (!m->active || (op->any ? op->key != SERVED_KEYS : op->nameless) ||
        (!op->any && op->crawl == SERVED_CRAWLS) || op->key > SERVED_KEYS)
        over = true;
    if (at->turn == 0)
        at->turn = m->turns + 1;
    if (at->within) {
        q = &m->queues[at->crawl][at->key];
        if (!q->there || q->blocked > now) {
            at->within = false;
            at->urls = 0;
        }
    }
    while (!over && (at->within ||
                     (q = next_queue(m, op, now,
                                     seen != NULL && i < n ? &seen[i]
                                                           : NULL)) != NULL)) {
        bool charged = at->within;
        unsigned u;

        while (!over && goes_on(op, at->urls) &&
               (u = next_of(q, now)) < SERVED_URLS) {
            struct plain_url *url = &q->urls[u];

            if (seen != NULL && i == n) {
                *why = "less is handed out than is due";
                return false;
            }
            if (seen != NULL && !is_it(m, q, u, &seen[i], why))
                return false;
            url->row_at = q->served = now;
            url->until = url->row_until = now + (int64_t)op->seconds * 1000;
            url->lease = seen != NULL ? seen[i].lease : 0;
            at->urls++;
            i++;
            over = more && i == n;
        }
        if (!charged && at->urls > 0) {
            q->turn = ++m->turns;
            at->queues++;
        }
        at->within = over;
        at->crawl = (unsigned)(q - &m->queues[0][0]) / SERVED_KEYS;
        at->key = (unsigned)(q - &m->queues[0][0]) % SERVED_KEYS;
        if (!over)
            at->urls = 0;
    }
    if (seen != NULL && i < n)
        *why = "more is handed out than may be";
    return *why == NULL;
}

/* ---- settle ---- */

static void settle(struct plain *m, const struct plain_op *op, int64_t now,
                   struct plain_result *r)
{
    struct plain_url *u = NULL;

    EACH_QUEUE(m, q)
    {
        EACH_URL(q, x)
        {
            if (x->until > 0 && x->lease == op->lease)
                u = x;
        }
    }
    if (u == NULL) {
        r->status = STATUS_NOT_FOUND;
        return;
    }
    if (op->how == URL_SETTLE_EXTEND) {
        u->until = now + (int64_t)op->seconds * 1000;
        u->row_until = u->row_at + u->until - least(u->row_at, now);
        return;
    }
    u->dated = true;
    u->until = u->row_at = u->row_until = 0;
    u->due = op->how == URL_SETTLE_ACK ? (int64_t)op->refetch_s * 1000
                                       : now + (int64_t)op->seconds * 1000;
    if (u->due == 0)
        u->meta = 0;
    else if (op->how == URL_SETTLE_ACK && !op->keep)
        u->meta = op->meta;
}

/* ---- control ---- */

static uint64_t remove_queue(struct plain_queue *q)
{
    struct url_counts c = {0};

    count(q, &c);
    *q = (struct plain_queue){.number = q->number, .delay = -1};
    return c.active + c.completed;
}

static uint64_t purge(struct plain_queue *q, int64_t before)
{
    uint64_t gone = 0;

    EACH_URL(q, u)
    {
        if (!u->there || u->created >= before)
            continue;
        *u = (struct plain_url){0};
        gone++;
    }
    return gone;
}

static bool is_of(const struct plain *m, const struct plain_queue *q,
                  unsigned crawl, unsigned key)
{
    size_t i = (size_t)(q - &m->queues[0][0]);

    return i / SERVED_KEYS == crawl &&
           (key == SERVED_KEYS || i % SERVED_KEYS == key);
}

static void control(struct plain *m, const struct plain_op *op, int64_t now,
                    struct plain_result *r)
{
    bool all = op->key == SERVED_KEYS;
    int64_t before = now / 1000 * 1000 - (int64_t)op->value * DAY_S * 1000;
    int64_t delay = (int64_t)op->value * 1000 + op->ms;

    if (op->verb == FRONTIER_SET_ACTIVE)
        m->active = op->flag;
    if (op->verb == FRONTIER_SET_DELAY && all)
        m->default_delay = op->standard ? 1000 : delay;
    if (op->verb == FRONTIER_SET_LIMIT)
        r->status = STATUS_NOT_FOUND;
    EACH_QUEUE(m, q)
    {
        if (!q->there || !is_of(m, q, op->crawl, op->key))
            continue;
        if (op->verb == FRONTIER_DELETE_CRAWL ||
            (op->verb == FRONTIER_DELETE_QUEUE && !all))
            r->number += remove_queue(q);
        else if (op->verb == FRONTIER_PURGE_URLS)
            r->number += purge(q, before);
        if (all)
            continue;
        if (op->verb == FRONTIER_BLOCK_QUEUE)
            q->blocked = op->value == 0 ? 0 : (int64_t)op->value * 1000 + 1000;
        if (op->verb == FRONTIER_SET_DELAY)
            q->delay = op->standard ? -1 : delay;
        if (op->verb == FRONTIER_SET_LIMIT) {
            q->limit = (uint32_t)op->value;
            r->status = STATUS_OK;
        }
    }
}

void plain_apply(struct plain *m, const struct plain_op *op, int64_t now,
                 struct plain_result *r)
{
    r->status = STATUS_OK;
    r->number = 0;
    plain_tick(m, now);
    m->changes++;
    if (op->verb == FRONTIER_PUT)
        put_all(m, op, now, r);
    else if (op->verb == FRONTIER_SETTLE)
        settle(m, op, now, r);
    else
        control(m, op, now, r);
}

/* ---- questions ---- */

struct url_counts plain_counts(const struct plain *m, unsigned crawl,
                               unsigned key)
{
    struct url_counts c = {0};

    for (unsigned k = 0; crawl < SERVED_CRAWLS && k < SERVED_KEYS; k++)
        if (key == SERVED_KEYS || key == k)
            count(&m->queues[crawl][k], &c);
    return c;
}

size_t plain_queues(const struct plain *m, unsigned crawl, bool inactive,
                    unsigned out[SERVED_KEYS])
{
    size_t n = 0;

    for (unsigned number = 1; number <= m->numbers; number++) {
        for (unsigned k = 0; crawl < SERVED_CRAWLS && k < SERVED_KEYS; k++) {
            const struct plain_queue *q = &m->queues[crawl][k];
            struct url_counts c = {0};

            count(q, &c);
            if (q->there && q->number == number &&
                (inactive || (c.active > 0 && q->blocked <= m->now)))
                out[n++] = k;
        }
    }
    return n;
}

size_t plain_list(const struct plain *m, unsigned crawl, unsigned key,
                  struct served_place out[SERVED_ALL])
{
    unsigned keys[SERVED_KEYS];
    size_t queues = plain_queues(m, crawl, true, keys), n = 0;

    for (size_t i = 0; i < queues; i++) {
        const struct plain_queue *q = &m->queues[crawl][keys[i]];
        size_t first = n;

        for (unsigned u = 0; u < SERVED_URLS; u++) {
            size_t at = n;

            if (!q->urls[u].there || (key != SERVED_KEYS && key != keys[i]))
                continue;
            for (; at > first &&
                   q->urls[out[at - 1].url].arrival > q->urls[u].arrival;
                 at--)
                out[at] = out[at - 1];
            out[at] = (struct served_place){crawl, keys[i], u};
            n++;
        }
    }
    return n;
}
