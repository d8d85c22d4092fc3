/*
 * lent.h - URLs of our own crawl that other programs fetch.
 *
 * A URL is lent from the queue and by the schedule that our own fetchers go by:
 * while it is out its host is busy, and the host's delay runs from the moment
 * at which it comes back. It comes back when the borrower says what became of
 * it (lent_say), or when its hold is over: then it stands in its queue again.
 *
 * A hold is a row of item_lease, so that it survives a restart: until it is
 * over nobody else gets the URL. Nothing is durable, and no URL may be given
 * away, before the engine's next commit.
 *
 * Lists of URLs, as sitemaps are, are not lent: a program that did not read
 * them would lose what they list. robots.txt is the borrower's to obey.
 *
 * `e` is an embedded engine of a crawl of our own. `now` is monotonic,
 * `wall_ms` the wall clock, as in engine.h. Frontier thread only. After an
 * error nothing but closing is allowed.
 */
#ifndef URLWEIR_FRONTIER_EMBEDDED_LENT_H
#define URLWEIR_FRONTIER_EMBEDDED_LENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "frontier/engine.h"

struct lent;      /* all that is out */
struct lent_hold; /* one of them, until when */

/* ---- lending ---- */

/* A hold is known by a number of so many bits, never 0, drawn with the crawl's
 * secret: it is the same after a restart, and that of no earlier hold. */
#define LENT_NUMBER_BITS 47

struct lent_ask {
    bool one_queue;
    struct bytes key;     /* of one_queue */
    uint32_t most_urls;   /* of a queue, never more than its politeness allows;
                             0: as many as that */
    uint32_t most_queues; /* 0: no limit */
    size_t most;          /* in all */
    int64_t hold;         /* ns; LENT_HOLD_MOST at most, longer ones are cut */
};
#define LENT_HOLD_MOST_MS INT64_C(86400000)
#define LENT_HOLD_MOST    (LENT_HOLD_MOST_MS * 1000000)

struct lent_url {
    struct engine_lease lease; /* its bytes live until the hold ends */
    uint64_t number;
};

/* Up to a->most URLs of queues that are due. */
MUST_CHECK enum status lent_lease(struct engine *e, const struct lent_ask *a,
                                  int64_t now, int64_t wall_ms,
                                  struct lent_url *out, size_t *n);
/* The URL that is held under `number`; 0: none, or its hold is over. */
uint64_t lent_find(struct engine *e, uint64_t number, int64_t now);
/* Held `hold` ns from now on. STATUS_NOT_FOUND: no such hold. */
MUST_CHECK enum status lent_extend(struct engine *e, uint64_t number,
                                   int64_t hold, int64_t now, int64_t wall_ms);

/* ---- what another program says of a URL ---- */

struct lent_word {
    bool final;           /* it was fetched, or is not to be */
    int64_t due_ms;       /* else: back to its queue, due then; wall clock */
    uint16_t http_status; /* 0: not said */
};

enum lent_said {
    LENT_TAKEN,
    LENT_WAS_DONE, /* and stays as it is */
    LENT_OURS      /* one of our fetchers has it, whose word will count */
};

/* Whether it is lent or stands in its queue. Tries are not counted. */
MUST_CHECK enum status lent_say(struct engine *e, uint64_t id,
                                const struct lent_word *word, int64_t now,
                                int64_t wall_ms, enum lent_said *said);
/* Links that another program found: canonical and in scope, and drops that are
 * counted and kept as examples. ids[i]: the row made for items[i]; 0: it was
 * known before, or is on the blocklist. */
MUST_CHECK enum status lent_discover(struct engine *e,
                                     const struct engine_item *items, size_t n,
                                     const struct engine_drop *drops,
                                     size_t drop_count, int64_t now,
                                     int64_t wall_ms, uint64_t *ids);

/* ---- asking ---- */

/* The id of a canonical URL; 0: it was never admitted. */
MUST_CHECK enum status lent_identify(struct engine *e, struct bytes key,
                                     struct bytes url, uint64_t *id);

struct lent_facts {
    bool done;
    bool out;         /* with one of our fetchers, or lent */
    int64_t held_for; /* ns; 0: not lent */
    uint64_t number;  /* 0: not lent */
    int64_t due_for;  /* ns until its time comes, as far as that is its own; 0:
                         when its turn comes */
};
void lent_look(struct engine *e, uint64_t id, int64_t now,
               struct lent_facts *out);

/* Of a queue: may be asked again in so many ns, and how long it is kept out of
 * turn. `queue` is one of the store's. */
struct lent_queue {
    uint64_t pending; /* URLs not done */
    uint32_t out;
    int64_t blocked_for; /* ns; 0: not blocked */
    int64_t delay;       /* ns */
    uint32_t limit;      /* most of its URLs done, by a person; 0: none */
};
void lent_look_queue(struct engine *e, uint32_t queue, int64_t now,
                     struct lent_queue *out);

#endif
