/*
 * wide_web.h - thousands of hosts as they are on the web, for a benchmark.
 *
 * Most hosts take 0.2 to 3 s to respond, by a log-normal distribution; 5 % are
 * slow (4 to 8 s), 2 % are dead (half of them close each connection, half say
 * nothing) and 1 % come and go: three seconds in fifteen they close connections
 * and cut off requests. Half of the hosts are behind TLS. All is a function of
 * the numbers of host and page, so that what a crawl did can be compared with
 * what it should have done.
 *
 * A host has as many pages as it can serve in `seconds` to a crawler that waits
 * for `delay` between a response and the next request, so that an ideal crawl
 * is busy with all of them to its end. Page N links to the next fourteen.
 */
#ifndef URLWEIR_BENCH_WIDE_WEB_H
#define URLWEIR_BENCH_WIDE_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIDE_HOSTS_MOST   50000
#define WIDE_SECONDS_MOST 600
#define WIDE_LINKS        14

/* What else a crawler asks a host for, as pages. */
#define WIDE_ROBOTS  UINT32_MAX
#define WIDE_SITEMAP (UINT32_MAX - 1)

enum wide_kind {
    WIDE_STEADY,
    WIDE_SLOW,
    WIDE_GOES, /* it comes and goes */
    WIDE_SILENT,
    WIDE_CLOSES
};

struct wide_web {
    uint32_t hosts;
    int64_t seconds, delay_ms;
    uint16_t plain_port, tls_port;
    struct wide_host *known; /* by wide_web_init */
};

/* Sets `known` from the rest; the ports may change later. */
void wide_web_init(struct wide_web *w);
void wide_web_fini(struct wide_web *w);

enum wide_kind wide_web_kind(uint32_t host);
/* Does it respond to every request? */
bool wide_web_lives(uint32_t host);
bool wide_web_is_tls(uint32_t host);
/* Milliseconds until it responds. */
int64_t wide_web_answer_ms(const struct wide_web *w, uint32_t host,
                           uint32_t page);
/* Does a host that comes and goes respond at `ms` after the start? */
bool wide_web_is_up(uint32_t host, int64_t ms);
uint32_t wide_web_pages(const struct wide_web *w, uint32_t host);
/* No host has more pages. */
uint32_t wide_web_pages_most(const struct wide_web *w);

/* An ideal crawl: pages of all hosts that live, and requests a second. With
 * `adaptive` it waits for at least twice the time that a host takes. */
uint64_t wide_web_total(const struct wide_web *w);
double wide_web_rate(const struct wide_web *w, bool adaptive);

/* `out` has room for 64 octets. */
void wide_web_url(const struct wide_web *w, uint32_t host, uint32_t page,
                  char *out);
/* The host of an address, 127.x.y.z in host order; false: there is none. */
bool wide_web_host(const struct wide_web *w, uint32_t address, uint32_t *host);

#endif
