/* SPDX-License-Identifier: MIT */
/*
 * places.c - limits the connections of a port.
 *
 * The strangers of one address are counted by a scan over all strangers: there
 * are some hundreds at most, and a new connection costs more than the scan.
 */
#include "service/net/places.h"

#include <netinet/in.h>
#include <string.h>

#include "base/clock.h"
#include "base/logger.h"

#define ADDRESS_LEAST 16
#define WARN_EVERY    (60 * NS_PER_S)

void places_init(struct places *p, unsigned most, unsigned address_most)
{
    *p = (struct places){.most = most, .kind_most = most - most / 4};
    p->address_most = most / 8 > ADDRESS_LEAST ? most / 8 : ADDRESS_LEAST;
    if (address_most > 0)
        p->address_most = address_most;
    TAILQ_INIT(&p->strangers);
    TAILQ_INIT(&p->known);
}

/* ---- addresses ---- */

static void read_v4(struct place *place, const uint8_t octets[4])
{
    memset(place->from + 10, 0xff, 2); /* IPv4-mapped (RFC 4291 2.5.5.2) */
    memcpy(place->from + 12, octets, 4);
    place->shared = octets[0] == 127;
}

static void read_v6(struct place *place, const struct in6_addr *a)
{
    if (IN6_IS_ADDR_V4MAPPED(a))
        read_v4(place, a->s6_addr + 12);
    else
        memcpy(place->from, a->s6_addr, 8);
    place->shared = place->shared || IN6_IS_ADDR_LOOPBACK(a);
}

static void read_address(struct place *place, const struct sockaddr *from)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (from != NULL && from->sa_family == AF_INET) {
        memcpy(&v4, from, sizeof v4);
        read_v4(place, (const uint8_t *)&v4.sin_addr);
    } else if (from != NULL && from->sa_family == AF_INET6) {
        memcpy(&v6, from, sizeof v6);
        read_v6(place, &v6.sin6_addr);
    } else {
        place->shared = true;
    }
}

/* The oldest stranger from that address, if the address is at its limit. */
static struct place *one_too_many(const struct places *p,
                                  const struct place *place)
{
    struct place *oldest = NULL;
    unsigned n = 0;

    if (place->shared)
        return NULL;
    for (struct place *at = TAILQ_FIRST(&p->strangers); at != NULL;
         at = TAILQ_NEXT(at, link)) {
        if (at->shared || memcmp(at->from, place->from, sizeof at->from) != 0)
            continue;
        if (oldest == NULL)
            oldest = at;
        n++;
    }
    return n >= p->address_most ? oldest : NULL;
}

/* ---- places ---- */

static void warn(struct places *p, int64_t now, enum place_end why)
{
    places_count(p, why);
    if (p->warned != 0 && now - p->warned < WARN_EVERY)
        return;
    p->warned = now;
    log_warn("too many connections, some are closed",
             "why=%s connections=%u most=%u without_token=%u",
             place_end_name(why), p->count, p->most, p->stranger_count);
}

/* NULL: none but `except` is known. */
static struct place *oldest_known(const struct places *p,
                                  const struct place *except)
{
    struct place *oldest = NULL;

    for (struct place *at = TAILQ_FIRST(&p->known); at != NULL;
         at = TAILQ_NEXT(at, link)) {
        if (at == except)
            continue;
        if (!at->busy)
            return at;
        if (oldest == NULL)
            oldest = at;
    }
    return oldest;
}

/* With fewer than four places all may be known, and the next caller still finds
 * one. */
static struct place *one_for_another(struct places *p, int64_t now)
{
    struct place *out = TAILQ_FIRST(&p->strangers);

    if (p->count < p->most && p->stranger_count < p->kind_most)
        return NULL;
    warn(p, now, out != NULL ? PLACE_CROWDED : PLACE_FULL);
    return out != NULL ? out : oldest_known(p, NULL);
}

struct place *places_take(struct places *p, struct place *place,
                          const struct sockaddr *from, int64_t now)
{
    struct place *out;

    read_address(place, from);
    out = one_too_many(p, place);
    if (out != NULL)
        warn(p, now, PLACE_ADDRESS);
    else
        out = one_for_another(p, now);
    if (out != NULL)
        places_leave(p, out);
    place->is = PLACE_STRANGER;
    TAILQ_INSERT_TAIL(&p->strangers, place, link);
    p->stranger_count++;
    p->count++;
    return out;
}

struct place *places_know(struct places *p, struct place *place, int64_t now)
{
    struct place *out = NULL;

    if (place->is != PLACE_STRANGER)
        return NULL;
    TAILQ_REMOVE(&p->strangers, place, link);
    p->stranger_count--;
    place->is = PLACE_KNOWN;
    TAILQ_INSERT_TAIL(&p->known, place, link);
    if (p->count - p->stranger_count > p->kind_most) {
        out = oldest_known(p, place);
        warn(p, now, PLACE_FULL);
    }
    if (out != NULL)
        places_leave(p, out);
    return out;
}

void places_use(struct places *p, struct place *place)
{
    place->busy = true;
    if (place->is != PLACE_KNOWN)
        return;
    TAILQ_REMOVE(&p->known, place, link);
    TAILQ_INSERT_TAIL(&p->known, place, link);
}

void places_rest(struct place *place)
{
    place->busy = false;
}

void places_leave(struct places *p, struct place *place)
{
    if (place->is == PLACE_NONE)
        return;
    if (place->is == PLACE_STRANGER) {
        TAILQ_REMOVE(&p->strangers, place, link);
        p->stranger_count--;
    } else {
        TAILQ_REMOVE(&p->known, place, link);
    }
    place->is = PLACE_NONE;
    p->count--;
}

/* ---- counts ---- */

void places_count(struct places *p, enum place_end why)
{
    atomic_fetch_add_explicit(&p->ended[why], 1, memory_order_relaxed);
}

uint64_t places_counted(const struct places *p, enum place_end why)
{
    return atomic_load_explicit(&p->ended[why], memory_order_relaxed);
}

const char *place_end_name(enum place_end why)
{
    static const char *const names[PLACE_ENDS_] = {
        [PLACE_FULL] = "full",       [PLACE_CROWDED] = "crowded",
        [PLACE_ADDRESS] = "address", [PLACE_SLOW] = "slow",
        [PLACE_IDLE] = "idle",       [PLACE_SILENT] = "silent",
        [PLACE_FLOOD] = "flood",
    };

    return names[why];
}
