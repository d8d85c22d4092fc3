/*
 * wide_server.h - the hosts of wide_web.h, as a child of a benchmark.
 *
 * One thread over epoll listens on all of 127.0.0.0/8, with HTTP/1.1 on one
 * port and with TLS on another; a connection belongs to the host whose address
 * it came to. It keeps connections for ever and notes what it saw in memory
 * that the benchmark reads. The certificate is nobody's: clients must not check
 * it.
 */
#ifndef URLWEIR_BENCH_WIDE_SERVER_H
#define URLWEIR_BENCH_WIDE_SERVER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "bench/support/wide_web.h"

/* What the server saw. Times are by clock_mono. */
struct wide_log {
    int64_t first, last_page; /* first request, last page of a live host */
    uint64_t connections, connections_tls;
    uint64_t requests; /* to hosts that live */
    uint64_t early;    /* sooner after a response than the delay */
    uint64_t strays;   /* for what no page links to */
    uint32_t by_second[WIDE_SECONDS_MOST]; /* of `requests`, from `first` on */
    unsigned char served[];                /* responses to each page */
};

struct wide_server {
    struct wide_web web;
    struct wide_log *log;
    pid_t pid;
};

/* `web` tells hosts, seconds and delay; the ports are set here. Failures are
 * printed on stderr. The caller calls wide_server_stop in any case. */
MUST_CHECK enum status wide_server_start(struct wide_server *s,
                                         const struct wide_web *web);
/* Ends the child; the log stays. */
void wide_server_stop(struct wide_server *s);
void wide_server_free(struct wide_server *s);

/* How often a page was served. */
unsigned wide_server_served(const struct wide_server *s, uint32_t host,
                            uint32_t page);

#endif
