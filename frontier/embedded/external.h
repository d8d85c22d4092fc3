/*
 * external.h - external leases: URLs of our own crawl that other programs
 * fetch.
 *
 * An external lease takes a URL from the queue and by the schedule that our own
 * fetchers go by: while it lasts the URL's host is busy, and the host's delay
 * runs from the moment at which the lease ends. It ends when the other program
 * reports what became of the URL (external_settle), or at its deadline: then
 * the URL stands in its queue again.
 *
 * A lease is a row of item_lease, so that it survives a restart: until it ends
 * nobody else gets the URL. Nothing is durable, and no URL may be given away,
 * before the engine's next commit.
 *
 * Lists of URLs, as sitemaps are, are not leased: a program that did not read
 * them would lose what they list. robots.txt is for the other program to obey.
 *
 * `e` is an embedded engine of a crawl of our own. `now` is monotonic,
 * `wall_ms` the wall clock, as in engine.h. Frontier thread only. After an
 * error nothing but closing is allowed.
 */
#ifndef URLWEIR_FRONTIER_EMBEDDED_EXTERNAL_H
#define URLWEIR_FRONTIER_EMBEDDED_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "frontier/engine.h"

struct external_leases; /* all of one crawl */
struct external_lease;  /* one of them, with its deadline */

/* ---- granting ---- */

/* A lease is known by a number of so many bits, never 0, drawn with the crawl's
 * secret: it is the same after a restart, and that of no earlier lease. */
#define EXTERNAL_NUMBER_BITS 47

struct external_request {
    bool one_queue;
    struct bytes key;     /* of one_queue */
    uint32_t most_urls;   /* of a queue, never more than its politeness allows;
                             0: as many as that */
    uint32_t most_queues; /* 0: no limit */
    size_t most;          /* in all */
    int64_t length; /* ns; EXTERNAL_LEASE_MOST at most, longer ones are cut */
};
#define EXTERNAL_LEASE_MOST_MS INT64_C(86400000)
#define EXTERNAL_LEASE_MOST    (EXTERNAL_LEASE_MOST_MS * 1000000)

struct external_url {
    struct engine_lease lease; /* its bytes live until it ends */
    uint64_t number;
};

/* Up to a->most URLs of queues that are due. */
MUST_CHECK enum status external_grant(struct engine *e,
                                      const struct external_request *a,
                                      int64_t now, int64_t wall_ms,
                                      struct external_url *out, size_t *n);
/* The URL that is leased under `number`; 0: no such lease, or it has ended. */
uint64_t external_find(struct engine *e, uint64_t number, int64_t now);
/* The lease ends `length` ns from now. STATUS_NOT_FOUND: no such lease. */
MUST_CHECK enum status external_extend(struct engine *e, uint64_t number,
                                       int64_t length, int64_t now,
                                       int64_t wall_ms);

/* ---- what another program reports of a URL ---- */

struct external_report {
    bool final;           /* it was fetched, or is not to be */
    int64_t due_ms;       /* else: back to its queue, due then; wall clock */
    uint16_t http_status; /* 0: not said */
};

enum external_result {
    EXTERNAL_SETTLED,
    EXTERNAL_WAS_DONE, /* and stays so */
    EXTERNAL_OURS      /* one of our fetchers has it; its result will count */
};

/* `id` may be leased or stand in its queue. Tries are not counted. */
MUST_CHECK enum status external_settle(struct engine *e, uint64_t id,
                                       const struct external_report *word,
                                       int64_t now, int64_t wall_ms,
                                       enum external_result *said);
/* Links that another program found: canonical and in scope, and drops that are
 * counted and kept as examples. ids[i]: the row made for items[i]; 0: it was
 * known before, or is on the blocklist. */
MUST_CHECK enum status external_discover(struct engine *e,
                                         const struct engine_item *items,
                                         size_t n,
                                         const struct engine_drop *drops,
                                         size_t drop_count, int64_t now,
                                         int64_t wall_ms, uint64_t *ids);

/* ---- asking ---- */

/* The id of a canonical URL; 0: it was never admitted. */
MUST_CHECK enum status external_identify(struct engine *e, struct bytes key,
                                         struct bytes url, uint64_t *id);

struct external_facts {
    bool done;
    bool leased;     /* to one of our fetchers or another program */
    int64_t ends_in; /* ns; 0: not leased to another program */
    uint64_t number; /* 0: not leased to another program */
    int64_t due_for; /* ns until its time comes, as far as that is its own; 0:
                        when its turn comes */
};
void external_get_facts(struct engine *e, uint64_t id, int64_t now,
                        struct external_facts *out);

/* Of a queue: may be asked again in so many ns, and how long it is kept out of
 * turn. `queue` is one of the store's. */
struct external_queue {
    uint64_t pending; /* URLs not done */
    uint32_t leased;
    int64_t blocked_for; /* ns; 0: not blocked */
    int64_t delay;       /* ns */
    uint32_t limit;      /* most of its URLs done, by a person; 0: none */
};
void external_get_queue(struct engine *e, uint32_t queue, int64_t now,
                        struct external_queue *out);

#endif
