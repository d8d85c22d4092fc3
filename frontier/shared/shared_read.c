/* SPDX-License-Identifier: MIT */
/*
 * shared_read.c - counts, lists, names.
 *
 * A list goes through shards, in each through the crawl's queues in order of
 * appearance, in each through its hash of URLs. Its place is a shard (the
 * list's queue, from 1) and
 *
 *   63 ..... 42  41 ........... 14  13 ........ 0
 *   queue        cursor of HSCAN    URLs to pass
 *
 * so that any hand can go on; four million queues of a crawl in a shard, and
 * 268 million URLs of a queue. While queues or URLs come and go, a list may
 * show a URL twice or leave one out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/shared/shared_impl.h"

#define PASS_BITS   14
#define CURSOR_BITS 28
#define PAGE_OCTETS ((size_t)128 << 10)
#define QUEUES      500 /* asked for at a time */
#define NAMES_MOST  ((size_t)256 << 20)

static const struct bytes none = {"", 0};

/* ---- counts ---- */

struct sum {
    enum status st;
    struct url_counts *to;
    bool active;
};

static void sum_came(void *ctx, size_t index, enum status st,
                     const redisReply *r)
{
    struct sum *s = ctx;

    (void)index;
    if (st == STATUS_OK && (r->type != REDIS_REPLY_ARRAY || r->elements < 5))
        st = STATUS_FORMAT;
    for (size_t i = 0; st == STATUS_OK && i < r->elements; i++)
        if (!shared_is_number(r, i))
            st = STATUS_FORMAT;
    if (st != STATUS_OK) {
        s->st = st;
        return;
    }
    s->to->active += (uint64_t)r->element[0]->integer;
    s->to->leased += (uint64_t)r->element[1]->integer;
    s->to->completed += (uint64_t)r->element[2]->integer;
    s->to->queues += (uint64_t)r->element[3]->integer;
    s->to->active_queues += (uint64_t)r->element[4]->integer;
    if (r->elements > 5 && r->element[5]->integer == 0)
        s->active = false;
}

static void count_queue(struct shared_hand *h, struct shared_round *r,
                        struct bytes crawl, struct bytes key)
{
    struct shared_call *c =
        shared_call_new(r, shared_shard_of(h->s, crawl, key),
                        SHARED_COUNT_QUEUE, 0);
    struct buf id;

    buf_init(&id, SHARED_ID_MOST);
    shared_id_write(&id, crawl, key);
    shared_call_key(c, "q", none);
    shared_call_key(c, "h:", buf_bytes(&id));
    shared_call_copy(c, buf_bytes(&id));
    buf_fini(&id);
}

static void count_crawl(struct shared_round *r, unsigned shard,
                        struct bytes crawl)
{
    struct shared_call *c = shared_call_new(r, shard, SHARED_COUNT, shard);

    shared_call_key(c, "c:", crawl);
    shared_call_key(c, "k:", crawl);
    shared_call_key(c, "g:", crawl);
}

static void count_shard(struct shared_round *r, unsigned shard)
{
    struct shared_call *c = shared_call_new(r, shard, SHARED_TOTAL, shard);

    shared_call_key(c, "m", none);
    shared_call_key(c, "q", none);
    shared_call_key(c, "l", none);
}

enum status shared_counts(struct shared_hand *h, struct bytes crawl,
                          struct bytes key, struct url_counts *out)
{
    struct sum sum = {.st = STATUS_OK, .to = out};
    struct shared_round *r = shared_round_new(h, sum_came, &sum);

    *out = (struct url_counts){0};
    if (key.len > 0)
        count_queue(h, r, crawl, key);
    for (unsigned i = 0; key.len == 0 && i < h->s->shards; i++) {
        if (crawl.len > 0)
            count_crawl(r, i, crawl);
        else
            count_shard(r, i);
    }
    (void)shared_round_run(r, INT64_MAX);
    return sum.st;
}

enum status shared_active(struct shared_hand *h, bool *active)
{
    struct url_counts counts = {0};
    struct sum sum = {.st = STATUS_OK, .to = &counts, .active = true};
    struct shared_round *r = shared_round_new(h, sum_came, &sum);

    count_shard(r, 0);
    (void)shared_round_run(r, INT64_MAX);
    *active = sum.active;
    return sum.st;
}

/* ---- queues ---- */

struct keys_state {
    enum status st;
    uint64_t looked;
    struct buf text; /* the keys one after the other */
    size_t len[QUEUES], n;
};

static void keys_came(void *ctx, size_t index, enum status st,
                      const redisReply *r)
{
    struct keys_state *k = ctx;

    (void)index;
    if (st == STATUS_OK &&
        (r->type != REDIS_REPLY_ARRAY || !shared_is_number(r, 0)))
        st = STATUS_FORMAT;
    k->st = st;
    if (st != STATUS_OK)
        return;
    k->looked = (uint64_t)r->element[0]->integer;
    for (size_t i = 1; i < r->elements && k->n < QUEUES; i++) {
        if (!shared_is_text(r, i))
            continue;
        buf_add_bytes(&k->text, shared_text(r, i));
        k->len[k->n++] = (size_t)r->element[i]->len;
    }
    k->st = buf_failed(&k->text);
    if (k->st != STATUS_OK)
        k->n = 0;
}

/* Asks a shard for keys of the crawl's queues from rank `from` on. */
static enum status ask_keys(struct shared_hand *h, struct keys_state *k,
                            unsigned shard, struct bytes crawl, uint64_t from,
                            uint64_t most, bool inactive)
{
    struct shared_round *r = shared_round_new(h, keys_came, k);
    struct shared_call *c = shared_call_new(r, shard, SHARED_QUEUES, 0);
    struct buf prefix;

    buf_clear(&k->text);
    k->n = 0;
    k->st = STATUS_CLOSED;
    buf_init(&prefix, SHARED_ID_MOST);
    shared_id_write(&prefix, crawl, none);
    shared_call_key(c, "q", none);
    shared_call_key(c, "k:", crawl);
    shared_call_copy(c, buf_bytes(&prefix));
    shared_call_number(c, (int64_t)from);
    shared_call_number(c, (int64_t)(most < QUEUES ? most : QUEUES));
    shared_call_arg(c, bytes_of_str(inactive ? "1" : "0"));
    buf_fini(&prefix);
    (void)shared_round_run(r, INT64_MAX);
    return k->st;
}

enum status shared_each_queue(struct shared_hand *h, struct bytes crawl,
                              bool inactive, uint64_t skip, uint64_t most,
                              void (*visit)(void *ctx, struct bytes key),
                              void *ctx)
{
    struct keys_state *k = xcalloc(1, sizeof *k);
    uint64_t passed = 0;
    enum status st = STATUS_OK;

    buf_init(&k->text, (size_t)1 << 20);
    for (unsigned shard = 0;
         st == STATUS_OK && shard < h->s->shards && passed < skip + most;
         shard++) {
        uint64_t from = 0;

        do {
            size_t at = 0;

            st = ask_keys(h, k, shard, crawl, from, QUEUES, inactive);
            from += QUEUES;
            for (size_t i = 0;
                 st == STATUS_OK && i < k->n && passed < skip + most; i++) {
                if (passed++ >= skip)
                    visit(ctx, bytes_of(k->text.at + at, k->len[i]));
                at += k->len[i];
            }
        } while (st == STATUS_OK && k->looked == QUEUES &&
                 passed < skip + most);
    }
    buf_fini(&k->text);
    free(k);
    return st;
}

/* ---- lists ---- */

struct page_state {
    enum status st;
    uint64_t cursor, pass;
    bool ended;
    struct url_list *l;
    uint64_t looked;
    struct bytes key;
    url_visit visit;
    void *ctx;
    bool go_on;
};

static bool page_is_valid(const redisReply *r)
{
    return r->type == REDIS_REPLY_ARRAY && shared_is_text(r, 0) &&
           shared_is_number(r, 1) && shared_is_number(r, 2);
}

/* A page is shown as a whole, unless the list is full: then its place is behind
 * the last URL that was passed. */
static void page_came(void *ctx, size_t index, enum status st,
                      const redisReply *r)
{
    struct page_state *p = ctx;
    size_t i = 3;

    (void)index;
    if (st == STATUS_OK && !page_is_valid(r))
        st = STATUS_FORMAT;
    p->st = st;
    if (st != STATUS_OK)
        return;
    for (; i + 4 < r->elements && p->go_on && !url_list_is_full(p->l); i += 5) {
        struct url_view view = {.crawl = p->l->crawl, .key = p->key};

        p->looked++;
        p->pass++;
        if (!shared_is_text(r, i) || !shared_is_text(r, i + 1) ||
            !shared_is_number(r, i + 2) || !shared_is_number(r, i + 3) ||
            !shared_is_number(r, i + 4) ||
            !url_list_matches(p->l, shared_text(r, i)))
            continue;
        if (p->l->passed++ < p->l->skip || p->visit == NULL)
            continue;
        view.url = shared_text(r, i);
        view.metadata = shared_text(r, i + 1);
        view.due_ms = r->element[i + 2]->integer;
        view.created_ms = r->element[i + 3]->integer;
        view.leased_until_ms = r->element[i + 4]->integer;
        p->go_on = p->visit(p->ctx, &view);
    }
    if (i + 4 < r->elements)
        return; /* the same page, behind what was passed */
    p->cursor = strtoull(r->element[0]->str, NULL, 10);
    p->pass = (uint64_t)r->element[1]->integer;
    p->ended = r->element[2]->integer != 0;
}

static enum status ask_page(struct shared_hand *h, struct page_state *p,
                            unsigned shard)
{
    struct shared_round *r = shared_round_new(h, page_came, p);
    struct shared_call *c = shared_call_new(r, shard, SHARED_LIST, 0);
    struct buf id;

    buf_init(&id, SHARED_ID_MOST);
    shared_id_write(&id, p->l->crawl, p->key);
    shared_call_key(c, "u:", buf_bytes(&id));
    shared_call_key(c, "h:", buf_bytes(&id));
    buf_fini(&id);
    p->st = STATUS_CLOSED;
    buf_init(&id, 24);
    buf_add_uint(&id, p->cursor);
    shared_call_copy(c, buf_bytes(&id));
    buf_fini(&id);
    shared_call_number(c, (int64_t)p->pass);
    shared_call_number(c, PAGE_OCTETS);
    (void)shared_round_run(r, INT64_MAX);
    return p->st;
}

/* Lists a queue from p's place on; p->ended: to its end. */
static enum status list_queue(struct shared_hand *h, struct page_state *p,
                              unsigned shard)
{
    enum status st = STATUS_OK;

    p->ended = false;
    while (st == STATUS_OK && !p->ended && p->go_on &&
           !url_list_is_full(p->l) && p->looked < p->l->budget)
        st = ask_page(h, p, shard);
    return st;
}

/* Its place, in the list. */
static void keep_place(struct url_list *l, const struct page_state *p,
                       uint64_t queue)
{
    l->id = queue << (CURSOR_BITS + PASS_BITS) |
            (p->cursor & ((UINT64_C(1) << CURSOR_BITS) - 1)) << PASS_BITS |
            (p->pass & ((UINT64_C(1) << PASS_BITS) - 1));
}

static bool list_goes_on(const struct page_state *p)
{
    return p->go_on && !url_list_is_full(p->l) && p->looked < p->l->budget;
}

/* Lists the queues of a shard from l's place on. *ended: to its end. */
static enum status list_shard(struct shared_hand *h, struct page_state *p,
                              unsigned shard, bool *ended)
{
    struct url_list *l = p->l;
    struct keys_state *k = xcalloc(1, sizeof *k);
    uint64_t queue = l->id >> (CURSOR_BITS + PASS_BITS);
    enum status st = STATUS_OK;

    *ended = false;
    p->cursor = l->id >> PASS_BITS & ((UINT64_C(1) << CURSOR_BITS) - 1);
    p->pass = l->id & ((UINT64_C(1) << PASS_BITS) - 1);
    buf_init(&k->text, (size_t)1 << 20);
    while (st == STATUS_OK && !*ended && list_goes_on(p)) {
        size_t at = 0;

        st = ask_keys(h, k, shard, l->crawl, queue, QUEUES, true);
        for (size_t i = 0; st == STATUS_OK && i < k->n && list_goes_on(p);
             i++) {
            p->key = bytes_of(k->text.at + at, k->len[i]);
            at += k->len[i];
            st = list_queue(h, p, shard);
            if (p->ended) {
                queue++;
                p->cursor = p->pass = 0;
            }
        }
        *ended = k->looked < QUEUES && list_goes_on(p);
    }
    keep_place(l, p, queue);
    buf_fini(&k->text);
    free(k);
    return st;
}

static enum status list_one_queue(struct shared_hand *h, struct page_state *p,
                                  bool *more)
{
    struct url_list *l = p->l;
    enum status st;

    p->key = l->key;
    p->cursor = l->id >> PASS_BITS & ((UINT64_C(1) << CURSOR_BITS) - 1);
    p->pass = l->id & ((UINT64_C(1) << PASS_BITS) - 1);
    st = list_queue(h, p, shared_shard_of(h->s, l->crawl, l->key));
    keep_place(l, p, 0);
    *more = !p->ended && !url_list_is_full(l);
    return st;
}

enum status shared_list(struct shared_hand *h, struct url_list *l,
                        url_visit visit, void *ctx, bool *more)
{
    struct page_state p = {.l = l, .visit = visit, .ctx = ctx, .go_on = true};
    enum status st = STATUS_OK;

    *more = false;
    if (l->key.len > 0)
        return list_one_queue(h, &p, more);
    while (st == STATUS_OK && l->queue < h->s->shards && list_goes_on(&p)) {
        bool ended;

        st = list_shard(h, &p, l->queue, &ended);
        if (ended) {
            l->queue++;
            l->id = 0;
        }
    }
    *more = l->queue < h->s->shards && !url_list_is_full(l);
    return st;
}

/* ---- crawls ---- */

struct names_state {
    struct shared_hand *h;
    enum status st;
};

static void names_came(void *ctx, size_t index, enum status st,
                       const redisReply *r)
{
    struct names_state *n = ctx;
    struct shared_hand *h = n->h;

    (void)index;
    if (st == STATUS_OK && r->type != REDIS_REPLY_ARRAY)
        st = STATUS_FORMAT;
    for (size_t i = 0; st == STATUS_OK && i < r->elements; i++) {
        struct bytes name;
        char *at;

        if (!shared_is_text(r, i))
            continue;
        name = shared_text(r, i);
        at = arena_try_copy(h->names_memory, name.at, name.len);
        if (at == NULL) {
            st = STATUS_LIMIT;
            break;
        }
        if (h->name_count == h->name_room) {
            h->name_room = h->name_room == 0 ? 64 : 2 * h->name_room;
            h->names = xrealloc(h->names, h->name_room * sizeof *h->names);
        }
        h->names[h->name_count++] = bytes_of(at, name.len);
    }
    if (st != STATUS_OK)
        n->st = st;
}

static int by_name(const void *a, const void *b)
{
    const struct bytes *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int by = n > 0 ? memcmp(x->at, y->at, n) : 0;

    return by != 0 ? by : x->len < y->len ? -1 : x->len > y->len;
}

enum status shared_crawls(struct shared_hand *h, const struct bytes **names,
                          size_t *n)
{
    struct names_state state = {h, STATUS_OK};
    struct shared_round *r = shared_round_new(h, names_came, &state);
    size_t kept = 0;

    if (h->names_memory == NULL)
        h->names_memory = arena_new(NAMES_MOST);
    arena_reset(h->names_memory);
    h->name_count = 0;
    for (unsigned i = 0; i < h->s->shards; i++)
        shared_call_key(shared_call_new(r, i, SHARED_NAMES, i), "n", none);
    (void)shared_round_run(r, INT64_MAX);
    if (h->name_count > 0)
        qsort(h->names, h->name_count, sizeof *h->names, by_name);
    for (size_t i = 0; i < h->name_count; i++)
        if (kept == 0 || !bytes_equal(h->names[kept - 1], h->names[i]))
            h->names[kept++] = h->names[i];
    h->name_count = kept;
    *names = h->names;
    *n = kept;
    return state.st;
}
