/* SPDX-License-Identifier: MIT */
/* cluster_present.c - what the worker says of itself, and what it is told. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/rate.h"
#include "frontier/cluster/cluster_engine_impl.h"
#include "frontier/cluster_store/cluster_steer.h"

#define EVERY   (1 * NS_PER_S)
#define GOODBYE (1 * NS_PER_S) /* longest wait */

static void add_text(struct buf *out, const char *name, const char *text)
{
    buf_addf(out, "\"%s\":", name);
    format_json(out, bytes_of_str(text != NULL ? text : ""));
    buf_add_char(out, ',');
}

void cluster_present_begin(struct cluster_engine *e)
{
    struct presence *p = &e->present;
    struct engine_stats s;

    cluster_random_word(p->name);
    cluster_store_set_worker(e->store, p->name);
    buf_init(&p->who, CLUSTER_WORDS_MOST);
    add_text(&p->who, "host", e->o.who.host);
    add_text(&p->who, "dir", e->o.who.dir);
    buf_addf(&p->who, "\"pid\":%ld", e->o.who.process);
    e->o.who = (struct cluster_who){NULL, NULL, 0};
    e->own->ops->stats(e->own, &s);
    p->pages = s.pages;
    p->bytes = s.bytes;
    p->at = e->now;
}

static void settings_came(void *ctx, enum status st, uint64_t version,
                          struct bytes text)
{
    struct cluster_engine *e = ctx;

    e->present.asking = false;
    if (st == STATUS_OK)
        cluster_orders_hear_settings(e->o.orders, version, text);
}

/* Others show when the cluster does not answer. */
static void told(void *ctx, enum status st, const struct cluster_wanted *w)
{
    struct cluster_engine *e = ctx;
    struct presence *p = &e->present;

    p->telling = false;
    if (st != STATUS_OK)
        return;
    cluster_store_set_part(e->store, w->place, w->workers);
    if (e->o.orders == NULL)
        return;
    cluster_orders_hear(e->o.orders, w->paused, w->stopped);
    if (w->version == cluster_orders_in_force(e->o.orders) || p->asking)
        return;
    p->asking = true;
    cluster_store_ask_settings(e->store, settings_came, e);
}

/* What people see when no new URLs are admitted: the server that refuses. */
static void add_full_server(void *ctx, const struct redis_master *m)
{
    struct buf *name = ctx;

    if (m->is_full && name->len == 0)
        buf_add_bytes(name, m->name);
}

/* The texts of `who` are cut when they are too long; the rest is not. */
static void say(struct cluster_engine *e, const struct engine_stats *s,
                struct buf *out)
{
    const struct presence *p = &e->present;
    struct redis_cluster_stats calls;
    struct buf full;

    cluster_store_get_stats(e->store, &calls);
    buf_init(&full, 400);
    cluster_store_each_master(e->store, add_full_server, &full);
    buf_add_char(out, '{');
    if (buf_failed(&p->who) == STATUS_OK)
        buf_add_bytes(out, buf_bytes(&p->who));
    else
        buf_add_str(out, "\"pid\":0");
    if (full.len > 0) {
        buf_add_str(out, ",\"full_server\":");
        format_json(out, buf_bytes(&full));
    }
    buf_fini(&full);
    buf_addf(out,
             ",\"pages\":%" PRIu64 ",\"bytes\":%" PRIu64
             ",\"pages_per_second\":%.3f,\"bytes_per_second\":%.0f"
             ",\"leases\":%zu,\"settings_version\":%" PRIu64
             ",\"repeats\":%" PRIu64 ",\"connections_lost\":%" PRIu64
             ",\"holds\":%" PRIu64 "}",
             s->pages, s->bytes, p->pages_rate, p->bytes_rate,
             e->held + e->endings,
             e->o.orders != NULL ? cluster_orders_in_force(e->o.orders) : 0,
             calls.repeats, calls.lost, cluster_store_holds(e->store));
}

void cluster_present_tend(struct cluster_engine *e)
{
    struct presence *p = &e->present;
    int64_t ms = (e->now - p->at) / NS_PER_MS;
    struct engine_stats s;
    struct buf words;

    if (p->telling || e->now < p->next)
        return;
    e->own->ops->stats(e->own, &s);
    rate_follow(&p->pages_rate, p->pages, s.pages, ms);
    rate_follow(&p->bytes_rate, p->bytes, s.bytes, ms);
    p->pages = s.pages;
    p->bytes = s.bytes;
    p->at = e->now;
    p->next = e->now + EVERY;
    p->telling = true;
    buf_init(&words, 2 * CLUSTER_WORDS_MOST);
    say(e, &s, &words);
    cluster_store_tell(e->store, p->name, buf_bytes(&words), told, e);
    buf_fini(&words);
}

void cluster_present_end(struct cluster_engine *e)
{
    if (e->failed == STATUS_OK && e->present.next != 0)
        cluster_store_leave(e->store, e->present.name, GOODBYE);
    buf_fini(&e->present.who);
}
