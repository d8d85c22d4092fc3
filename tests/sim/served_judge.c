/* SPDX-License-Identifier: MIT */
/* served_judge.c - what may be read, and what a process may have left. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/served_impl.h"
#include "tests/sim/world.h"

/* ---- reads ---- */

static bool same_counts(const struct url_counts *a, const struct url_counts *b)
{
    return a->active == b->active && a->leased == b->leased &&
           a->completed == b->completed && a->queues == b->queues &&
           a->active_queues == b->active_queues;
}

/* What is shown of a URL, by the plainest frontier. */
static const char *judge_url(const struct plain *m,
                             const struct frontier_url *seen)
{
    struct served_place at;
    const struct plain_url *u;

    if (!served_place_of(seen, &at))
        return "a URL that nobody put is shown";
    u = &m->queues[at.crawl][at.key].urls[at.url];
    if (!u->there)
        return "a URL that was removed is shown";
    if (served_meta_of(seen->metadata) != u->meta)
        return "a URL has other metadata";
    if (seen->refetch_s != (uint64_t)u->due / 1000 ||
        seen->created_s != (uint64_t)u->created / 1000)
        return "a URL has another date";
    return NULL;
}

static const char *judge_facts(const struct plain *m, const struct plain_op *op,
                               const struct frontier_call *c)
{
    const struct plain_queue *q =
        op->crawl < SERVED_CRAWLS && op->key < SERVED_KEYS
            ? &m->queues[op->crawl][op->key]
            : NULL;
    const struct plain_url *u = q != NULL ? &q->urls[op->url] : NULL;
    const struct url_facts *f = &c->facts;

    if (u == NULL || !u->there)
        return c->status == STATUS_NOT_FOUND ? NULL : "it should not be there";
    if (c->status != STATUS_OK || c->url_count != 1)
        return "it should be there";
    if (f->state != (u->until > 0  ? URL_STATE_LEASED
                     : u->due == 0 ? URL_STATE_COMPLETED
                                   : URL_STATE_QUEUED))
        return "it is in another state";
    if (f->leased_until_ms != u->until || f->due_ms != u->due)
        return "it has another date";
    if (f->blocked_until_ms != q->blocked || f->limit != q->limit ||
        f->delay_ms != plain_delay(m, q) || f->served_ms != q->served)
        return "its queue is told otherwise";
    return judge_url(m, &c->urls[0]);
}

static bool is_listed(struct served_place at)
{
    char text[64];
    struct bytes url = served_url_text(text, at.key, at.url);

    return strstr(text, "xample/1") != NULL && url.len > 0;
}

size_t served_listed(const struct plain *m, const struct plain_op *op,
                     struct served_place out[SERVED_ALL])
{
    size_t all = plain_list(m, op->crawl, op->key, out), n = 0, passed = 0;
    size_t most = op->size > 0 ? op->size : 100;

    for (size_t i = 0; i < all && n < most; i++)
        if ((!op->flag || is_listed(out[i])) && passed++ >= op->start)
            out[n++] = out[i];
    return n;
}

static const char *judge_queues(const struct plain *m,
                                const struct plain_op *op,
                                const struct frontier_call *c)
{
    unsigned keys[SERVED_KEYS];
    size_t all = plain_queues(m, op->crawl, op->flag, keys), n;

    n = all > op->start ? all - op->start : 0;
    if (op->size > 0 && n > op->size)
        n = op->size;
    if (c->name_count != n)
        return "another number of queues is listed";
    for (size_t i = 0; i < n; i++)
        if (!bytes_equal(c->names[i], served_key_text(keys[op->start + i])))
            return "another queue is listed";
    return NULL;
}

static const char *judge_crawls(const struct plain *m,
                                const struct frontier_call *c)
{
    size_t n = 0;

    for (unsigned i = 0; i < SERVED_CRAWLS; i++) {
        bool there = plain_counts(m, i, SERVED_KEYS).queues > 0, told = false;

        n += there;
        for (size_t k = 0; k < c->name_count; k++)
            told = told || bytes_equal(c->names[k], served_crawl_text(i));
        if (told != there)
            return "another crawl is listed";
    }
    return c->name_count == n ? NULL : "another number of crawls is listed";
}

static uint64_t count_listed(const struct plain *m, const struct plain_op *op)
{
    struct served_place all[SERVED_ALL];
    size_t n = plain_list(m, op->crawl, op->key, all);
    uint64_t passed = 0;

    for (size_t i = 0; i < n; i++)
        passed += !op->flag || is_listed(all[i]);
    return passed;
}

const char *served_judge_read(struct plain *m, const struct plain_op *op,
                              const struct frontier_call *c, int64_t now)
{
    struct url_counts counts;
    const char *why = NULL;

    plain_tick(m, now);
    counts = plain_counts(m, op->crawl, op->key);
    if (op->verb == FRONTIER_URL_STATUS)
        return judge_facts(m, op, c);
    if (c->status != STATUS_OK)
        return status_text(c->status);
    if (!bytes_equal(c->crawl_id, served_crawl_text(op->crawl)) &&
        op->verb != FRONTIER_LIST_CRAWLS && op->verb != FRONTIER_GET_ACTIVE)
        return "it answers for another crawl";
    switch (op->verb) {
    case FRONTIER_STATS:
        return same_counts(&counts, &c->counts) ? NULL : "the counts are wrong";
    case FRONTIER_COUNT_URLS:
        return c->number == count_listed(m, op) ? NULL : "it is miscounted";
    case FRONTIER_LIST_QUEUES:
        return judge_queues(m, op, c);
    case FRONTIER_LIST_CRAWLS:
        return judge_crawls(m, c);
    case FRONTIER_GET_ACTIVE:
        return c->flag == m->active ? NULL : "it is active, or not";
    default:
        for (size_t i = 0; why == NULL && i < c->url_count; i++)
            why = judge_url(m, &c->urls[i]);
        return why;
    }
}

/* ---- what a process left ---- */

void served_look_take(struct served_look *l, const struct frontier_call *c)
{
    *l = (struct served_look){.there = c->status == STATUS_OK, .now = l->now};
    if (!l->there)
        return;
    l->facts = c->facts;
    l->lease = c->urls[0].lease;
    l->meta = served_meta_of(c->urls[0].metadata);
}

void served_look_queues(struct served_looks *l, unsigned crawl,
                        const struct frontier_call *c)
{
    for (size_t i = 0; i < c->name_count && i < SERVED_KEYS; i++) {
        unsigned k = 0;

        while (k < SERVED_KEYS && !bytes_equal(c->names[i], served_key_text(k)))
            k++;
        l->keys[crawl][i] = k;
    }
    l->key_count[crawl] = c->name_count;
}

unsigned served_open_calls(const struct served_world *w)
{
    unsigned n = 0;

    for (unsigned i = 0; i < SERVED_CLIENTS; i++)
        n += w->slots[i].state != SLOT_FREE;
    return n;
}

static const char *compare_lease(const struct plain *m,
                                 const struct plain_url *u,
                                 const struct served_look *l)
{
    int64_t until = u->until > l->now ? u->until : 0;
    int64_t told = l->facts.leased_until_ms;

    /* It may have ended by another clock, or be another one's turn. */
    if (m->jumped && told != until)
        return told == 0 || told <= l->now + m->got_ms ||
                       (u->row_until > 0 &&
                        told <= l->now + u->row_until - u->row_at)
                   ? NULL
                   : "is leased for longer";
    if (told != until)
        return told == 0    ? "is not leased any more"
               : until == 0 ? "is leased"
                            : "is leased until another time";
    if (told != 0 && u->lease != 0 && l->lease != u->lease)
        return "has another lease";
    return NULL;
}

static const char *compare_url(const struct plain *m,
                               const struct plain_queue *q,
                               const struct plain_url *u,
                               const struct served_look *l)
{
    const struct url_facts *f = &l->facts;

    if (l->there != u->there)
        return u->there ? "is lost" : "has come back";
    if (!u->there)
        return NULL;
    if (f->due_ms != u->due)
        return f->due_ms == 0 ? "is completed"
               : u->due == 0  ? "is not completed"
                              : "has another date";
    if (f->created_ms != u->created)
        return "was put at another time";
    if (l->meta != u->meta)
        return "has other metadata";
    if (f->blocked_until_ms != q->blocked)
        return "is of a queue that is blocked until another time";
    if (f->limit != q->limit)
        return "is of a queue with another limit";
    if (f->delay_ms != plain_delay(m, q))
        return "is of a queue with another delay";
    if (m->jumped ? f->served_ms > l->now : f->served_ms != q->served)
        return "is of a queue that was served at another time";
    return compare_lease(m, u, l);
}

/* Why that cannot be what is there; with how much of it is the same. */
static unsigned compare(const struct plain *m, const struct served_looks *l,
                        char *why)
{
    unsigned keys[SERVED_KEYS], same = 0;

    why[0] = '\0';
    if (l->active != m->active)
        snprintf(why, 300, "it is%s active", l->active ? "" : " not");
    for (unsigned c = 0; c < SERVED_CRAWLS; c++) {
        size_t n = plain_queues(m, c, true, keys);

        if (n != l->key_count[c] ||
            memcmp(keys, l->keys[c], n * sizeof *keys) != 0)
            snprintf(why, 300, "%s has other queues", served_crawl_text(c).at);
        for (unsigned i = 0; i < SERVED_KEYS * SERVED_URLS; i++) {
            const struct plain_queue *q = &m->queues[c][i / SERVED_URLS];
            const char *what =
                compare_url(m, q, &q->urls[i % SERVED_URLS],
                            &l->urls[c][i / SERVED_URLS][i % SERVED_URLS]);

            same += what == NULL;
            if (what != NULL && why[0] == '\0')
                snprintf(why, 300, "URL %u of %s/%s %s", i % SERVED_URLS,
                         served_crawl_text(c).at,
                         served_key_text(i / SERVED_URLS).at, what);
        }
    }
    return same;
}

struct search {
    const struct served_world *w;
    const struct served_looks *looks;
    unsigned best;
    char *why; /* of the best */
    struct plain found;
};

static bool search(struct search *s, const struct plain *m, unsigned done);

/* With the call of this slot carried out as well; of a GET perhaps only the
 * first part. */
static bool search_with(struct search *s, const struct plain *m, unsigned done,
                        unsigned i)
{
    const struct served_slot *slot = &s->w->slots[i];
    bool is_get = slot->op.verb == FRONTIER_GET, found = false;
    unsigned parts = is_get && s->w->use.big ? SERVED_ALL : 0;
    struct plain *next = malloc(sizeof *next);

    for (unsigned n = 0; !found && n <= parts; n++) {
        int64_t at = slot->state == SLOT_FAILED ? slot->at : s->w->now_before;
        struct plain_op op = slot->op;
        struct plain_result r;
        const char *why;

        *next = *m;
        if (is_get && (int64_t)op.seconds * 1000 > next->got_ms)
            next->got_ms = (int64_t)op.seconds * 1000;
        if (is_get)
            (void)plain_get(next, &op, at, NULL, n, n > 0, &why);
        else
            plain_apply(next, &op, at, &r);
        found = search(s, next, done | 1u << i);
    }
    free(next);
    return found;
}

static bool search(struct search *s, const struct plain *m, unsigned done)
{
    char *why = malloc(300);
    struct plain *after = malloc(sizeof *after);
    unsigned same;
    bool found;

    *after = *m;
    after->jumped = after->jumped || s->w->opened_back;
    plain_restart(after, s->w->opened);
    same = compare(after, s->looks, why);
    found = why[0] == '\0';
    if (found) {
        s->found = *after;
        s->found.got_ms = 0;
    } else {
        TELL("of all URLs %u are so, and %s", same, why);
    }
    if (!found && same > s->best) {
        s->best = same;
        memcpy(s->why, why, 300);
    }
    free(after);
    free(why);
    for (unsigned i = 0; !found && i < SERVED_CLIENTS; i++)
        if (s->w->slots[i].state != SLOT_FREE && (done & 1u << i) == 0 &&
            plain_changes(s->w->slots[i].op.verb))
            found = search_with(s, m, done, i);
    return found;
}

/* What cannot be known is as it was found. */
static void adopt(struct plain *m, const struct served_looks *l)
{
    for (unsigned i = 0; i < SERVED_ALL; i++) {
        struct plain_queue *q = &(&m->queues[0][0])[i / SERVED_URLS];
        struct plain_url *u = &q->urls[i % SERVED_URLS];
        const struct served_look *seen = &(&l->urls[0][0][0])[i];

        if (!u->there)
            continue;
        q->served = seen->facts.served_ms;
        u->until = seen->facts.leased_until_ms;
        u->lease = seen->lease;
    }
}

bool served_settle_open(struct served_world *w, const struct served_looks *l,
                        char *why)
{
    struct search *s = calloc(1, sizeof *s);
    bool found;

    s->w = w;
    s->looks = l;
    s->why = why;
    found = search(s, &w->m, 0);
    if (found) {
        w->m = s->found;
        adopt(&w->m, l);
        plain_tick(&w->m, w->now);
        for (unsigned i = 0; i < SERVED_CLIENTS; i++)
            w->slots[i].state = SLOT_FREE;
        w->unsettled = false;
    }
    free(s);
    return found;
}
