/* SPDX-License-Identifier: MIT */
/*
 * frontier_place.c - finds the politeness group of a host.
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
#include "base/logger.h"
#include "frontier/embedded/frontier_host.h"
#include "frontier/embedded/frontier_ops.h"
#include "frontier/url/host.h"

/* Adds `h`, which is in no group. A group made after a restart may have been
 * asked just before, through a host that we do not know to be in it. */
static void join(struct frontier *f, struct host_queue *h, struct bytes name)
{
    bool made;
    struct politeness_group *m = politeness_groups_get(f->groups, name, &made);

    if (made && f->queues_before > 0)
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

uint32_t frontier_next_unplaced(struct engine *e, struct bytes *host)
{
    struct frontier *f = (struct frontier *)e;
    struct host_queue *h = f->aside;

    if (h == NULL)
        return 0;
    f->aside = h->after;
    if (f->aside == NULL)
        f->aside_end = &f->aside;
    *host = host_name(f, h);
    return h->queue;
}

enum status frontier_place(struct engine *e, uint32_t queue,
                           const struct ip *address, int64_t now)
{
    struct frontier *f = (struct frontier *)e;
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
