/* SPDX-License-Identifier: MIT */
/* served_clients.c - clients, and the judge of what they are answered. */
#include "tests/sim/served_clients.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/sim/life.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/served_impl.h"
#include "tests/sim/world.h"

static struct served_world *w; /* in memory that outlives the process */
static struct router *router;
static bool stopping;
static unsigned threads[SERVED_CLIENTS + 1];
static struct dice dice[SERVED_CLIENTS];

void served_clients_prepare(void)
{
    w = world_get(sizeof *w);
    plain_init(&w->m);
}

void served_clients_use(const struct served_use *use)
{
    w->use = *use;
}

bool served_clients_have_begun(void)
{
    return w->begun;
}

const struct plain *served_clients_know(void)
{
    return w->unsettled || served_open_calls(w) > 0 ? NULL : &w->m;
}

/* ---- the frontier's clock, which it reads as a turn begins ---- */

void served_clients_open(void)
{
    if (!w->unsettled)
        w->now_before = w->now;
    w->opening = w->unsettled = true;
    w->opened_back = false;
    w->broken_turn = 0;
    router = NULL;
}

uint64_t served_clients_sweep_from(void)
{
    return w->use.swept ? 10 : 0;
}

int64_t served_clients_clock(void *ctx)
{
    int64_t now = clock_wall_ms();

    (void)ctx;
    if (w->opening)
        w->opened = now;
    else if (w->unsettled)
        w->opened_back = w->opened_back || now < w->now;
    else
        plain_tick(&w->m, now);
    w->opening = false;
    w->now = now;
    w->turn++;
    return now;
}

/* ---- a call ---- */

struct sending {
    struct served_slot *slot;
    struct frontier_call call;
    struct frontier_item *items;
    char *text; /* of the items */
    bool over;
    /* of LIST_URLS */
    uint64_t changes;
    size_t listed;
    struct served_place list[SERVED_ALL];
};

static void fill_items(struct sending *s)
{
    const struct plain_op *op = &s->slot->op;
    static const char long_key[1100];
    size_t each = 64 + (op->big || op->given ? SERVED_META_MOST : 64);
    char *at;

    s->items = calloc(op->count, sizeof *s->items);
    s->text = at = malloc(op->count * each);
    for (unsigned n = 0; n < op->count; n++) {
        struct plain_item i = plain_item(op, n);
        struct frontier_item *item = &s->items[n];

        *item = (struct frontier_item){
            .kind = i.kind,
            .crawl = served_crawl_text(i.at.crawl),
            .key = i.bad_key ? bytes_of(long_key, sizeof long_key)
                   : i.bare  ? bytes_of(NULL, 0)
                             : served_key_text(i.at.key),
            .url = served_url_text(at, i.at.key, i.at.url),
            .metadata = served_meta_text(at + 64, i.meta),
            .refetch_s = i.refetch_s};
        if (i.at.crawl == 0 && n % 3 > 0)
            item->crawl = bytes_of_str(n % 3 == 1 ? "" : "  ");
        at += each;
    }
    s->call.in.put = (struct frontier_put){s->items, op->count};
}

static void fill(struct sending *s)
{
    const struct plain_op *op = &s->slot->op;
    struct frontier_call *c = &s->call;

    c->in.crawl =
        op->nameless ? bytes_of(NULL, 0) : served_crawl_text(op->crawl);
    c->in.key = served_key_text(op->key);
    switch (op->verb) {
    case FRONTIER_PUT:
        fill_items(s);
        break;
    case FRONTIER_GET:
        c->in.get = (struct frontier_get){op->any, op->most_urls,
                                          op->most_queues, op->seconds};
        break;
    case FRONTIER_URL_STATUS:
        s->text = malloc(64);
        c->in.url = served_url_text(s->text, op->key, op->url);
        break;
    case FRONTIER_LIST_URLS:
    case FRONTIER_COUNT_URLS:
        c->in.list = (struct frontier_list){op->start, op->size, op->flag, true,
                                            bytes_of_str(SERVED_FILTER)};
        break;
    case FRONTIER_PURGE_URLS:
        c->in.days = (uint32_t)op->value;
        break;
    case FRONTIER_LIST_QUEUES:
        c->in.queues =
            (struct frontier_list_queues){op->start, op->size, op->flag};
        break;
    case FRONTIER_SET_ACTIVE:
        c->in.active = op->flag;
        break;
    case FRONTIER_SETTLE:
        s->text = malloc(SERVED_META_MOST);
        c->in.settle =
            (struct frontier_settle){.lease = op->lease,
                                     .how = op->how,
                                     .refetch_s = op->refetch_s,
                                     .keep_metadata = op->keep,
                                     .metadata =
                                         served_meta_text(s->text, op->meta),
                                     .seconds = op->seconds};
        break;
    default:
        c->in.setting =
            (struct frontier_setting){op->value, op->ms, op->standard};
    }
}

/* ---- what is answered ---- */

_Noreturn static void wrong(const struct plain_op *op, const char *what)
{
    char text[200];

    served_op_text(op, text);
    life_end_badly("%s: %s", text, what);
}

static void judge_change(const struct plain_op *op,
                         const struct frontier_call *c)
{
    struct plain_result r;

    plain_apply(&w->m, op, w->now, &r);
    if (c->status != r.status)
        wrong(op, status_text(c->status));
    if (r.number != c->number)
        wrong(op, "another number of URLs is gone");
    for (unsigned n = 0; op->verb == FRONTIER_PUT && n < op->count; n++)
        if (c->in.put.items[n].ack != r.acks[n])
            wrong(op, "an item is acknowledged as something else");
}

static void remember(struct served_client *client, const struct frontier_url *u,
                     const struct plain_op *op)
{
    struct served_held *h = &client->held[client->next++ % SERVED_HELD];

    (void)served_place_of(u, &h->at);
    h->lease = u->lease;
    h->until = w->now + (int64_t)op->seconds * 1000;
}

static void judge_get(struct served_slot *slot, const struct frontier_call *c)
{
    const char *why;

    /* There was no memory for the answer: it is leased all the same. */
    if (c->status == STATUS_LIMIT && world->no_memory)
        (void)plain_get(&w->m, &slot->op, w->now, NULL, 0, false, &why);
    else if (c->status != STATUS_OK)
        wrong(&slot->op, status_text(c->status));
    else if (!plain_get(&w->m, &slot->op, w->now,
                        c->url_count > 0 ? c->urls : (const void *)"",
                        c->url_count, c->more, &why))
        wrong(&slot->op, why);
    for (size_t i = 0; c->status == STATUS_OK && i < c->url_count; i++)
        remember(&w->clients[slot - w->slots], &c->urls[i], &slot->op);
}

static void judge(struct sending *s)
{
    struct served_slot *slot = s->slot;
    struct frontier_call *c = &s->call;

    if (plain_changes(slot->op.verb)) {
        if (slot->op.verb == FRONTIER_GET)
            judge_get(slot, c);
        else
            judge_change(&slot->op, c);
    } else if (!(c->status == STATUS_LIMIT && world->no_memory)) {
        const char *why = served_judge_read(&w->m, &slot->op, c, w->now);

        if (why != NULL)
            wrong(&slot->op, why);
    }
}

/* The parts of a list, unless something changed in between. */
static void judge_list(struct sending *s)
{
    const struct plain_op *op = &s->slot->op;
    struct served_place want[SERVED_ALL];
    size_t n = served_listed(&w->m, op, want);

    if (s->listed == 0)
        s->changes = w->m.changes;
    for (size_t i = 0; i < s->call.url_count; i++)
        if (s->listed == SERVED_ALL ||
            !served_place_of(&s->call.urls[i], &s->list[s->listed++]))
            wrong(op, "a URL that nobody put is listed");
    if (s->call.more || s->changes != w->m.changes)
        return;
    if (s->listed != n || memcmp(want, s->list, n * sizeof *want) != 0)
        wrong(op, "other URLs are listed, or in another order");
}

static bool has_failed(enum status st)
{
    return st == STATUS_IO || st == STATUS_FULL || st == STATUS_DAMAGED ||
           st == STATUS_NOMEM || st == STATUS_CLOSED;
}

/* On the frontier's thread, after the commit. */
static void answered(struct frontier_call *c)
{
    struct sending *s = c->ctx;
    struct served_slot *slot = s->slot;

    if (has_failed(c->status)) {
        if (w->broken_turn == 0 && c->status != STATUS_CLOSED)
            w->broken_turn = w->turn;
        TELL("client %d: %s", (int)(slot - w->slots), status_text(c->status));
        for (unsigned n = 0;
             slot->op.verb == FRONTIER_PUT && n < slot->op.count; n++)
            if (c->in.put.items[n].ack != FRONTIER_ACK_FAIL)
                wrong(&slot->op, "an item of a call that failed is "
                                 "acknowledged as something else");
        slot->at = w->now;
        slot->state = w->turn == w->broken_turn && c->status != STATUS_CLOSED
                          ? SLOT_FAILED
                          : SLOT_FREE;
    } else {
        if (w->broken_turn != 0)
            wrong(&slot->op, "it is answered although the store has failed");
        judge(s);
        if (slot->op.verb == FRONTIER_LIST_URLS && c->status == STATUS_OK)
            judge_list(s);
        slot->state = SLOT_FREE;
        if (w->use.kill_at > 0 && --w->use.kill_at == 0)
            life_kill("word to a client");
    }
    s->over = true;
    scheduler_wake(s, true);
}

/* Carries out the slot's call; false: it failed, or the process ends. */
static bool ask(struct served_slot *slot, unsigned patience)
{
    struct sending *s = calloc(1, sizeof *s);
    char text[200];
    bool good = true, more;
    enum status st;

    s->slot = slot;
    frontier_call_init(&s->call, slot->op.verb, answered, s);
    s->call.via = FRONTIER_VIA_GRPC;
    fill(s);
    served_op_text(&slot->op, text);
    TELL("client %d: %s", (int)(slot - w->slots), text);
    do {
        s->over = false;
        slot->state = SLOT_OUT;
        st = router_submit(router, &s->call);
        if (st != STATUS_OK)
            slot->state = SLOT_FREE;
        while (st == STATUS_OK && !s->over)
            (void)scheduler_wait(s, SCHEDULER_NEVER);
        good = st == STATUS_OK && !has_failed(s->call.status);
        more = good && s->call.more && patience-- > 0;
        if (good)
            TELL("client %d: %s, %zu URLs, number %llu", (int)(slot - w->slots),
                 status_text(s->call.status), s->call.url_count,
                 (unsigned long long)s->call.number);
    } while (more);
    frontier_call_fini(&s->call);
    free(s->items);
    free(s->text);
    free(s);
    return good;
}

/* ---- all there is, after a start ---- */

static void looked(struct frontier_call *c)
{
    struct served_looks *l = c->ctx;

    if (c->status != STATUS_OK && c->status != STATUS_NOT_FOUND)
        l->failed = true;
    if (c->verb == FRONTIER_URL_STATUS)
        (&l->urls[0][0][0])[c - l->calls].now = w->now;
    if (--l->open == 0)
        scheduler_wake(l, true);
}

static void look_one(struct served_looks *l, struct frontier_call *c)
{
    l->open++;
    if (!l->failed && router_submit(router, c) == STATUS_OK)
        return;
    l->failed = true;
    l->open--;
}

/* False: the frontier has failed, or ends. */
static bool look(struct served_looks *l)
{
    struct frontier_call *calls = calloc(SERVED_ALL, sizeof *calls);
    char(*text)[64] = calloc(SERVED_ALL, 64);
    struct frontier_call queues[SERVED_CRAWLS], active;

    l->open = 1;
    l->calls = calls;
    for (unsigned i = 0; i < SERVED_ALL; i++) {
        unsigned key = i / SERVED_URLS % SERVED_KEYS;

        frontier_call_init(&calls[i], FRONTIER_URL_STATUS, looked, l);
        calls[i].in.crawl = served_crawl_text(i / SERVED_URLS / SERVED_KEYS);
        calls[i].in.key = served_key_text(key);
        calls[i].in.url = served_url_text(text[i], key, i % SERVED_URLS);
        look_one(l, &calls[i]);
    }
    for (unsigned c = 0; c < SERVED_CRAWLS; c++) {
        frontier_call_init(&queues[c], FRONTIER_LIST_QUEUES, looked, l);
        queues[c].in.crawl = served_crawl_text(c);
        queues[c].in.queues = (struct frontier_list_queues){0, 0, true};
        look_one(l, &queues[c]);
    }
    frontier_call_init(&active, FRONTIER_GET_ACTIVE, looked, l);
    look_one(l, &active);
    for (l->open--; l->open > 0;)
        (void)scheduler_wait(l, SCHEDULER_NEVER);
    for (unsigned i = 0; !l->failed && i < SERVED_ALL; i++)
        served_look_take(&(&l->urls[0][0][0])[i], &calls[i]);
    for (unsigned c = 0; !l->failed && c < SERVED_CRAWLS; c++)
        served_look_queues(l, c, &queues[c]);
    l->active = active.flag;
    for (unsigned i = 0; i < SERVED_ALL; i++)
        frontier_call_fini(&calls[i]);
    for (unsigned c = 0; c < SERVED_CRAWLS; c++)
        frontier_call_fini(&queues[c]);
    frontier_call_fini(&active);
    free(calls);
    free(text);
    return !l->failed;
}

/* ---- a client ---- */

static void *run_client(void *arg)
{
    struct served_slot *slot = arg;
    unsigned i = (unsigned)(slot - w->slots);
    struct dice *d = &dice[i];
    bool good = true;

    for (unsigned n = w->use.calls; n > 0 && good && !stopping; n--) {
        int64_t most =
            dice_chance(d, 70) ? w->use.pause_ms / 50 + 2 : w->use.pause_ms;

        scheduler_sleep(dice_between(d, 0, most) * NS_PER_MS);
        if (stopping)
            break;
        served_throw(w, i, d, &slot->op);
        good = ask(slot, dice_chance(d, 80) ? 1000 : 0);
    }
    if (!good && w->broken_turn != 0 && !stopping) { /* it stays so */
        slot->op =
            (struct plain_op){.verb = FRONTIER_STATS, .key = SERVED_KEYS};
        if (slot->state == SLOT_FREE)
            (void)ask(slot, 0);
    }
    return NULL;
}

static void *run_all(void *arg)
{
    struct served_looks *l = calloc(1, sizeof *l);
    char why[300];

    (void)arg;
    if (look(l)) {
        if (!served_settle_open(w, l, why))
            life_end_badly("after a start %s", why);
        w->begun = true;
        TELL("all is there: %llu URLs were put",
             (unsigned long long)w->m.arrivals);
        for (unsigned i = 0; i < w->use.clients; i++) {
            dice[i] = dice_of(life_random(), "client");
            threads[i] = scheduler_spawn(run_client, &w->slots[i]);
            scheduler_name(threads[i], "client");
        }
        for (unsigned i = 0; i < w->use.clients; i++)
            (void)scheduler_join(threads[i]);
    }
    free(l);
    stopping = true;
    return NULL;
}

void served_clients_begin(struct router *r)
{
    router = r;
    stopping = false;
    threads[SERVED_CLIENTS] = scheduler_spawn(run_all, NULL);
    scheduler_name(threads[SERVED_CLIENTS], "clients");
}

void served_clients_stop(void)
{
    stopping = true;
}

bool served_clients_are_over(void)
{
    return stopping && served_open_calls(w) == 0;
}

void served_clients_end(void)
{
    stopping = true;
    (void)scheduler_join(threads[SERVED_CLIENTS]);
}
