/*
 * multi_parts.h - the inside of a multi, for its two files only.
 *
 *   multi.c              epoll, transfers, the turn
 *   multi_connections.c  connections opened, kept and given up
 */
#ifndef URLWEIR_CRAWLER_TRANSFER_MULTI_PARTS_H
#define URLWEIR_CRAWLER_TRANSFER_MULTI_PARTS_H

#include <assert.h>

#include "base/heap.h"
#include "crawler/transfer/multi.h"

#define TRANSFER_MAGIC UINT32_C(0x7472616e) /* "tran" */
#define MULTI_MAGIC    UINT32_C(0x6d756c74) /* "mult" */

struct socket {
    struct heap_item idle; /* by how soon it is needed, last first */
    uint32_t armed;        /* epoll events in the set; 0: not in it */
    uint32_t wanted;       /* epoll events curl waits for; 0: idle */
    int fd;
    bool ours;    /* from open_socket, not closed yet */
    bool counted; /* counts for the limit per address */
    bool tls;
    bool closing; /* shut down by us while idle; not counted as open */
    unsigned char address[16];
    unsigned char address_len;
    struct transfer *user; /* the transfer that used it last */
};

struct multi {
    uint32_t magic;
    CURLM *curl;
    CURLSH *empty; /* shares connections that are never made; may be NULL */
    struct multi_options o;
    int epoll, wakeup;
    bool behind;        /* more sockets were ready than a turn handles */
    bool prunes_always; /* each transfer looks through the DNS answers */
    int64_t dns_pruned; /* when a transfer began that forgets DNS answers */
    int64_t timer;      /* when curl wants to be called; INT64_MAX: never */
    struct socket **sockets; /* by descriptor; NULL: never used */
    size_t socket_count;
    struct connection_counts unread; /* if nobody wants the counts */
    struct heap idle;                /* connections that may be closed */
    uint64_t doomed;                 /* connections that end with their use */
    uint64_t kept_most;              /* of the others; without a budget 0 */
};

static inline struct multi *multi_of(void *p)
{
    struct multi *m = p;

    assert(m != NULL && m->magic == MULTI_MAGIC);
    return m;
}

static inline struct transfer *transfer_of(void *p)
{
    struct transfer *t = p;

    assert(t != NULL && t->magic == TRANSFER_MAGIC);
    return t;
}

/* ---- multi_connections.c ---- */

/* What is known of a descriptor; it stays at its address. */
struct socket *multi_socket(struct multi *m, int fd);

/* CURLOPT_OPENSOCKETFUNCTION; its data is the transfer. */
curl_socket_t multi_open_socket(void *ctx, curlsocktype purpose,
                                struct curl_sockaddr *a);
/* CURLOPT_CLOSESOCKETFUNCTION; its data is the multi. The kernel takes the
 * descriptor out of the epoll set. */
int multi_close_socket(void *ctx, curl_socket_t fd);
/* The transfer has ended; its connection, if it is still there, waits. */
void multi_let_rest(struct multi *m, struct transfer *t);
/* Closes idle connections when the budget has shrunk. */
void multi_keep_to_budget(struct multi *m);
/* Closes idle connections to addresses with wishes. */
void multi_yield_idle(struct multi *m);

#endif
