/* SPDX-License-Identifier: MIT */
/*
 * wide_web.c - hosts and pages as functions of their numbers.
 *
 * Mean and deviation of the log-normal times put 0.2 s and 3 s at two standard
 * deviations; what lies beyond is cut.
 */
#include "bench/support/wide_web.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define ANSWER_LEAST 0.2
#define ANSWER_MOST  3.0
#define PI           3.14159265358979323846

struct wide_host {
    double typical; /* seconds that it takes as a rule */
    uint32_t pages;
};

/* splitmix64 (Steele, Lea and Flood, 2014): the same for the same `x`. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* In (0, 1). */
static double uniform(uint64_t x)
{
    return ((double)(mix(x) >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

enum wide_kind wide_web_kind(uint32_t host)
{
    static const enum wide_kind special[] = {WIDE_SILENT, WIDE_CLOSES,
                                             WIDE_GOES,   WIDE_SLOW,
                                             WIDE_SLOW,   WIDE_SLOW,
                                             WIDE_SLOW,   WIDE_SLOW};
    uint32_t at = host % 100;

    return at < sizeof special / sizeof special[0] ? special[at] : WIDE_STEADY;
}

bool wide_web_lives(uint32_t host)
{
    return wide_web_kind(host) <= WIDE_SLOW;
}

/* Both halves of a hundred have each kind, over two hundreds. */
bool wide_web_is_tls(uint32_t host)
{
    return (host + host / 100) % 2 == 1;
}

/* Seconds that a host takes as a rule, by Box and Muller, 1958. */
static double typical(uint32_t host)
{
    const double mean = (log(ANSWER_LEAST) + log(ANSWER_MOST)) / 2;
    const double deviation = (log(ANSWER_MOST) - log(ANSWER_LEAST)) / 4;
    double u = uniform(2 * (uint64_t)host), v = uniform(2 * (uint64_t)host + 1);
    double t = exp(mean + deviation * sqrt(-2 * log(u)) * cos(2 * PI * v));

    if (wide_web_kind(host) == WIDE_SLOW)
        return 4 + 4 * u;
    return t < ANSWER_LEAST ? ANSWER_LEAST : t > ANSWER_MOST ? ANSWER_MOST : t;
}

int64_t wide_web_answer_ms(const struct wide_web *w, uint32_t host,
                           uint32_t page)
{
    double u = uniform(((uint64_t)host << 32 | page) | UINT64_C(1) << 63);

    return (int64_t)(1000 * w->known[host].typical * (0.9 + 0.2 * u));
}

bool wide_web_is_up(uint32_t host, int64_t ms)
{
    return (ms / 1000 + host / 100) % 15 >= 3;
}

uint32_t wide_web_pages_most(const struct wide_web *w)
{
    double least = 1000 * ANSWER_LEAST * 0.9 + (double)w->delay_ms;

    return (uint32_t)((double)w->seconds * 1000 / least) + 1;
}

static uint32_t count_pages(const struct wide_web *w, uint32_t host)
{
    int64_t ms = wide_web_answer_ms(w, host, WIDE_ROBOTS) +
                 wide_web_answer_ms(w, host, WIDE_SITEMAP) + 2 * w->delay_ms;
    uint32_t pages = 0, most = wide_web_pages_most(w);

    if (wide_web_kind(host) >= WIDE_SILENT)
        return 1; /* the seed, which nobody gets */
    do {
        ms += wide_web_answer_ms(w, host, pages++) + w->delay_ms;
    } while (pages < most && ms <= w->seconds * 1000);
    return pages;
}

uint32_t wide_web_pages(const struct wide_web *w, uint32_t host)
{
    return w->known[host].pages;
}

void wide_web_init(struct wide_web *w)
{
    w->known = xcalloc(w->hosts, sizeof *w->known);
    for (uint32_t h = 0; h < w->hosts; h++) {
        w->known[h].typical = typical(h);
        w->known[h].pages = count_pages(w, h);
    }
}

void wide_web_fini(struct wide_web *w)
{
    free(w->known);
}

uint64_t wide_web_total(const struct wide_web *w)
{
    uint64_t n = 0;

    for (uint32_t h = 0; h < w->hosts; h++)
        n += wide_web_lives(h) ? wide_web_pages(w, h) : 0;
    return n;
}

double wide_web_rate(const struct wide_web *w, bool adaptive)
{
    double rate = 0;

    for (uint32_t h = 0; h < w->hosts; h++) {
        double answer = w->known[h].typical, delay = (double)w->delay_ms / 1000;

        if (adaptive && delay < 2 * answer)
            delay = 2 * answer;
        rate += wide_web_lives(h) ? 1 / (delay + answer) : 0;
    }
    return rate;
}

void wide_web_url(const struct wide_web *w, uint32_t host, uint32_t page,
                  char *out)
{
    bool tls = wide_web_is_tls(host);

    snprintf(out, 64, "%s://127.1.%u.%u:%u/%u", tls ? "https" : "http",
             host / 250, host % 250 + 1,
             (unsigned)(tls ? w->tls_port : w->plain_port), page);
}

bool wide_web_host(const struct wide_web *w, uint32_t address, uint32_t *host)
{
    uint32_t y = address >> 8 & 255, z = address & 255;

    *host = 250 * y + z - 1;
    return address >> 16 == 0x7f01 && z >= 1 && z <= 250 && *host < w->hosts;
}
