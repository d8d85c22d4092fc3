/*
 * tls_site.h - many hosts behind TLS, served by nginx, for a benchmark.
 *
 * One nginx with one worker listens on all of 127.0.0.0/8, so that each host is
 * an address of its own, 127.1.x.y; with HTTP/1.1 on one port, with HTTP/2 on
 * another. Each host has the same pages, /0, /1 and so on, of some 2 KB with
 * links to the next fourteen; the host's name makes their bodies different.
 * Connections are kept for ten minutes. The certificate is nobody's: clients
 * must not check it.
 */
#ifndef URLWEIR_BENCH_TLS_SITE_H
#define URLWEIR_BENCH_TLS_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TLS_HOSTS_MOST 50000
#define TLS_PAGES_MOST 1000

enum tls_protocol { TLS_HTTP1, TLS_HTTP2, TLS_PROTOCOLS };

struct tls_site {
    char dir[32];
    uint16_t ports[TLS_PROTOCOLS];
    pid_t pid;
};

bool tls_site_installed(void);
/* False: it did not start, and stderr says why. Either way the caller calls
 * tls_site_stop. */
bool tls_site_start(struct tls_site *s, size_t hosts, size_t pages);
void tls_site_stop(struct tls_site *s);

/* Page `page` of host `host`, both from 0; `out` has room for 64 octets. */
void tls_site_url(const struct tls_site *s, enum tls_protocol p, size_t host,
                  size_t page, char *out);

#endif
