/* SPDX-License-Identifier: MIT */
/*
 * frontier_cross_host.c - requests of a URL to another host than its own.
 *
 * A robots.txt may be redirected to any host (RFC 9309 section 2.3.1.2), often
 * to one for many. That host has its own URLs, delay and back-off, and to it
 * this is one more request: so it is sent when both hosts may be asked, counts
 * as one of that host's while open, and its response sets that host's delay. It
 * does not use up its own host's delay.
 *
 *     given back,           B may be
 *     robots_host B ──► A waits ──────────► lease with robots_host B
 *                       ▲   │ asked                  │
 *                       └───┘ B is busy: it keeps    └─► B's news
 *                             a place free until A
 *                             asks again
 *
 * A URL that waits for another host holds no host meanwhile, so that two hosts
 * whose robots.txt lead to each other do not wait for ever. A's request is not
 * stored: after a restart its robots.txt is fetched from the beginning.
 */
#include "base/clock.h"
#include "base/logger.h"
#include "frontier/crawl/frontier_host.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/frontier_refresh.h"
#include "frontier/url/host.h"

/*
 * Finds the politeness group of a host.
 *
 * By domain, the host's name tells the group. By address:
 *
 *     due ──► literal address? ──► remembered? ──► set aside ──► looked up
 *                  │                   │                            │
 *                  └───────────────────┴──────────► its group ◄─────┘
 *
 * A host's address is stored, so that a restart knows it without a look-up: if
 * one host of a group said Retry-After before a crash, the others wait after it
 * too. It is the address of its last response; so a host that moves, or has
 * several addresses, counts for the one that was really asked.
 */

/* Adds `h`, which is in no group. A group made after a restart may have been
 * asked just before, through a host that we do not know to be in it. */
static void join(struct frontier *f, struct host_queue *h, struct bytes name)
{
    bool made;
    struct politeness_group *m = politeness_groups_get(f->groups, name, &made);

    if (made && (f->queues_before > 0 || f->cut_off))
        m->next_due =
            f->asked_before + schedule_pause(&f->o.schedule,
                                             &(struct schedule_host){.own = -1},
                                             &f->random);
    frontier_unschedule(f, h);
    politeness_group_join(m, h);
    frontier_reschedule(f, h);
}

static struct bytes host_name(struct frontier *f, const struct host_queue *h)
{
    struct bytes crawl, key;

    frontier_store_queue_name(f->store, h->queue, &crawl, &key);
    return key;
}

static void join_ip(struct frontier *f, struct host_queue *h,
                    const struct ip *ip)
{
    struct buf name;

    buf_init(&name, IP_TEXT);
    ip_add(&name, ip);
    join(f, h, buf_bytes(&name));
    buf_fini(&name);
}

/* Queues of other programs' crawls have names that mean nothing to us. */
static bool is_ours(struct frontier *f, const struct host_queue *h)
{
    struct bytes crawl, key;

    frontier_store_queue_name(f->store, h->queue, &crawl, &key);
    return bytes_equal(crawl, f->o.crawl);
}

static enum status keep_place(struct frontier *f, const struct host_queue *h,
                              int64_t now)
{
    enum status st = frontier_touch(f, now);

    return st == STATUS_OK
               ? frontier_store_set_place(f->store, h->queue,
                                          politeness_group_name(h->group))
               : st;
}

enum status frontier_recall_place(struct frontier *f, struct host_queue *h)
{
    struct bytes name = host_name(f, h);
    enum status st = STATUS_OK;
    struct buf text;
    struct ip ip;

    buf_init(&text, IP_TEXT);
    if (!is_ours(f, h))
        join(f, h, name);
    else if (f->o.group == QUEUE_KEY_DOMAIN)
        join(f, h, host_registrable(name));
    else if (ip_parse(&ip, name))
        join_ip(f, h, &ip);
    else if ((st = frontier_store_place(f->store, h->queue, &text)) ==
                 STATUS_OK &&
             ip_parse(&ip, buf_bytes(&text)))
        join_ip(f, h, &ip);
    buf_fini(&text);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static void set_aside(struct frontier *f, struct host_queue *h)
{
    frontier_unschedule(f, h);
    h->set_aside = true;
    h->after = NULL;
    *f->aside_end = h;
    f->aside_end = &h->after;
    f->aside_count++;
}

enum status frontier_find_place(struct frontier *f, struct host_queue *h)
{
    enum status st = frontier_recall_place(f, h);

    if (st == STATUS_OK && h->group == NULL)
        set_aside(f, h);
    return st;
}

uint32_t frontier_next_unplaced(struct frontier *f, struct bytes *host)
{
    struct host_queue *h = f->aside;

    if (h == NULL)
        return 0;
    f->aside = h->after;
    if (f->aside == NULL)
        f->aside_end = &f->aside;
    *host = host_name(f, h);
    return h->queue;
}

enum status frontier_place(struct frontier *f, uint32_t queue,
                           const struct ip *address, int64_t now)
{
    struct host_queue *h = frontier_host(f, queue);
    enum status st = STATUS_OK;

    if (f->base->broken)
        return db_error(f->base->db);
    if (!h->set_aside)
        return STATUS_NOT_FOUND;
    h->set_aside = false;
    f->aside_count--;
    if (address == NULL) {
        join(f, h, host_name(f, h)); /* not stored: it may get an address */
        return STATUS_OK;
    }
    join_ip(f, h, address);
    st = keep_place(f, h, now);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

enum status frontier_answered_from(struct frontier *f, struct host_queue *h,
                                   struct bytes text, int64_t now)
{
    struct politeness_group *left;
    struct ip was, is;

    if (h->group == NULL || !ip_parse(&is, text) ||
        (ip_parse(&was, politeness_group_name(h->group)) &&
         ip_equal(&was, &is)))
        return STATUS_OK;
    log_info("a host answered from another address", "host=%.*s address=%.*s",
             (int)host_name(f, h).len, host_name(f, h).at, (int)text.len,
             text.at);
    frontier_unschedule(f, h);
    left = politeness_group_leave(f->groups, h, now);
    if (left != NULL)
        frontier_reschedule_group(f, left);
    join_ip(f, h, &is);
    return keep_place(f, h, now);
}

#define LOOK_AGAIN (100 * NS_PER_MS)

enum status frontier_cross_host_ask(struct frontier *f, struct host_queue *h,
                                    uint64_t id, struct bytes key)
{
    struct bytes crawl, own;
    struct host_orders *x;
    uint32_t queue;
    enum status st;

    frontier_store_queue_name(f->store, h->queue, &crawl, &own);
    st = frontier_store_queue(f->store, crawl, key, &queue);
    if (st != STATUS_OK || queue == h->queue)
        return st;
    if (host_orders(h)->cross_refresh) /* it stays due */
        (void)host_queue_drop_retry(h, host_orders(h)->cross_id);
    frontier_refresh_end_cross(f, h);
    x = host_orders_of(h);
    x->cross_to = queue;
    x->cross_id = id;
    x->cross_due = INT64_MIN;
    return STATUS_OK;
}

/* Finds the group if no look-up is needed: a host without a known address is a
 * group of its own. */
static enum status find_machine(struct frontier *f, struct host_queue *h)
{
    return frontier_stands_nowhere(f, h) && !h->set_aside
               ? frontier_recall_place(f, h)
               : STATUS_OK;
}

/* When `h` may be asked, or checked again if too many of its requests are open.
 * Until then it begins none of its own: otherwise a host without a delay would
 * never be idle. */
static int64_t may_be_asked(struct frontier *f, struct host_queue *h,
                            int64_t now)
{
    struct politeness_group *m = h->group;
    bool busy = h->leased + h->guests >= f->o.conns_per_host ||
                (m != NULL && m->leased >= f->o.conns_per_host);
    int64_t due = clock_later(h->next_due, host_trouble(h)->blocked_until);

    if (m != NULL)
        due = clock_later(due, clock_later(m->next_due, m->blocked_until));
    if (!busy)
        return due;
    host_orders_of(h)->expects_until = now + 2 * LOOK_AGAIN;
    if (m != NULL)
        m->expects_until = host_orders(h)->expects_until;
    frontier_reschedule(f, h);
    return clock_later(due, now + LOOK_AGAIN);
}

static void begin(struct frontier *f, struct lease_record *l,
                  struct host_queue *to)
{
    struct bytes crawl;

    frontier_store_queue_name(f->store, to->queue, &crawl,
                              &l->lease.robots_host);
    l->asked = to;
    to->guests++;
    if (to->orders != NULL)
        to->orders->expects_until = 0;
    if (to->group != NULL) {
        to->group->leased++;
        to->group->expects_until = 0;
    }
    frontier_reschedule(f, to);
}

enum status frontier_cross_host_lease(struct frontier *f, struct host_queue *h,
                                      int64_t now, int64_t wall_ms,
                                      struct lease_record **out)
{
    struct host_orders *x = host_orders_of(h);
    struct host_queue *to = frontier_host(f, x->cross_to);
    uint64_t id = x->cross_id;
    enum status st = find_machine(f, to);
    bool again = x->cross_refresh;

    if (st != STATUS_OK)
        return st;
    if (!host_queue_drop_retry(h, id)) {
        x->cross_to = 0; /* leased to another program since, or removed */
        frontier_refresh_end_cross(f, h);
        return STATUS_OK;
    }
    x->cross_due = again && frontier_refresh_is_held(h)
                       ? now /* this run does not ask any more */
                       : may_be_asked(f, to, now);
    if (x->cross_due > now) {
        host_queue_retry(h, id, 0);
        return STATUS_OK;
    }
    x->cross_to = 0;
    frontier_refresh_end_cross(f, h);
    st = again ? frontier_refresh_lease(f, h, id, now, wall_ms, out)
               : frontier_lease_id(f, h, id, now, wall_ms, out);
    if (st == STATUS_OK && *out != NULL)
        begin(f, *out, to);
    return st;
}

enum status frontier_cross_host_end(struct frontier *f, struct lease_record *l,
                                    struct host_news *news, int64_t now,
                                    int64_t wall_ms)
{
    struct host_queue *to = l->asked;
    struct host_news there = {.ended = news->ended,
                              .crawl_delay_ms = -2,
                              .retry_after_ms = news->retry_after_ms,
                              .slow_down = news->slow_down,
                              .connections = news->connections,
                              .handshake = news->handshake};
    enum status st = STATUS_OK;

    if (to == NULL)
        return STATUS_OK;
    l->asked = NULL;
    to->guests--;
    if (to->group != NULL)
        to->group->leased--;
    if (news->ended != 0) {
        st = frontier_host_news(f, to, &there, now, wall_ms);
        news->ended = 0;
        news->retry_after_ms = -1;
        news->slow_down = false;
    }
    frontier_reschedule(f, to);
    return st;
}

void frontier_cross_hosts_again(struct frontier *f)
{
    for (uint32_t q = 0; q < f->hosts.room; q++) {
        struct host_queue *h = host_table_get(&f->hosts, q);

        if (h == NULL || host_orders(h)->cross_to == 0)
            continue;
        host_orders_of(h)->cross_due = INT64_MIN;
        frontier_reschedule(f, h);
    }
}
