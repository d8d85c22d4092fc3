/*
 * hand_fed.h - a transfer without a connection: the test passes it heads and
 * pieces of bodies as curl would. Header only.
 */
#ifndef URLWEIR_TESTS_CRAWLER_FETCH_HAND_FED_H
#define URLWEIR_TESTS_CRAWLER_FETCH_HAND_FED_H

#include <string.h>

#include "crawler/fetch/fetch.h"
#include "crawler/fetcher.h"
#include "crawler/transfer/limits.h"
#include "tests/unit/unit.h"

#define MEBIBYTE ((uint64_t)1 << 20)

struct hand_fed {
    struct fetcher_options o;
    struct fetcher_counters counters;
    struct multi *multi;
    struct fetch *fetch;
};

/* Returns what curl is told: the line's length, or something else. */
static inline size_t pass_line(struct hand_fed *h, const char *line)
{
    static char text[20000];
    size_t len = strlen(line);

    ck_assert_uint_lt(len, sizeof text);
    memcpy(text, line, len + 1);
    return fetch_on_head(text, 1, len, h->fetch);
}

static inline void feed_head(struct hand_fed *h, const char *line)
{
    ck_assert_uint_eq(pass_line(h, line), strlen(line));
}

static inline size_t feed_body(struct hand_fed *h, const char *at, size_t len)
{
    return fetch_on_body((char *)(uintptr_t)at, 1, len, h->fetch);
}

/* A transfer that waits for its head; `pool` is the memory of all bodies. */
static inline void hand_fed_init(struct hand_fed *h, uint64_t pool)
{
    static const struct multi_options mo = {.guard = NULL};

    memset(h, 0, sizeof *h);
    h->o.user_agent = "test";
    h->o.bodies = body_pool_new(pool);
    ck_ok(fetcher_global_init());
    ck_ok(multi_new(&h->multi, &mo));
    h->fetch = fetch_new(&h->o, &h->counters, h->multi);
    ck_assert_ptr_nonnull(h->fetch);
    h->fetch->transfer.busy = true;
    h->fetch->order.body_most = 1024 * MEBIBYTE;
    h->fetch->paid_at = INT64_MIN;
}

/* Begins another response on the same transfer. */
static inline void hand_fed_again(struct hand_fed *h)
{
    struct fetch *f = h->fetch;

    fetch_give_back(f);
    response_clear(&f->response);
    f->decided = f->keep = f->streamed = f->sent = f->past_first = false;
    f->page = f->unknown_coding = f->mislabelled = false;
    f->end = FETCH_ANSWERED;
    f->why = NULL;
    f->taken = 0;
    f->body_bytes = f->counted = f->offered = f->passed = 0;
    f->has_waited = false;
    f->waits = FETCH_GOES_ON;
}

static inline void hand_fed_fini(struct hand_fed *h)
{
    h->fetch->transfer.busy = false;
    fetch_clear(h->fetch);
    ck_assert_uint_eq(body_pool_used(h->o.bodies), 0);
    fetch_free(h->fetch);
    multi_free(h->multi);
    body_pool_free(h->o.bodies);
}

#endif
