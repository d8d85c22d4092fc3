/* SPDX-License-Identifier: MIT */
/*
 * permits.c - how many pages and octets each shard may fetch.
 *
 * Why the sum is never more than the limit: let u(k) be what shard k uses at
 * some moment, and c(k) the place of the claim that allows it. From c(k) on all
 * records of k are u(k) or more, since it uses less before it says so. Let m be
 * the shard whose claim is the last. When it was read back, the log up to
 * c(m) had all the other claims, too; the sum there was at most the limit, or
 * m was cut by the difference. So the sum of u(k) is at most the limit.
 *
 * A reader must not miss a record because a later one has replaced it. Hence
 * NAME.control keeps replaced records for longer than a reader can be behind.
 */
#include "cluster/permits.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SHARE 4 /* a block is a part of what is left: one of SHARE a shard */

/* Numbers of records are bounded, so that sums are, too. */
#define NUMBER_MOST ((uint64_t)1 << 50)

static const char *const names[PERMIT_KINDS] = {"pages", "bytes"};

struct part {
    uint64_t claimed[PERMIT_KINDS], used[PERMIT_KINDS];
    bool known; /* what it has used */
};

struct permits {
    uint64_t limit[PERMIT_KINDS];
    struct part *parts;
    uint32_t count;

    /* of the owner */
    uint32_t shard;
    uint64_t by; /* 0: there is none */
    uint64_t usable[PERMIT_KINDS];
    bool pending; /* a claim of ours was not read back yet */
    bool is_ours; /* the last claim for the shard */
};

struct permits *permits_new(uint32_t shards)
{
    struct permits *p = xcalloc(1, sizeof *p);

    p->parts = xcalloc(shards, sizeof *p->parts);
    p->count = shards;
    return p;
}

void permits_free(struct permits *p)
{
    if (p == NULL)
        return;
    free(p->parts);
    free(p);
}

/* ---- what the log says ---- */

static uint64_t more(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A shard has its part, or what it has fetched if that is more: octets are
 * counted when they have come, and a limit may be set late. */
static uint64_t sum(const struct permits *p, enum permit_kind k)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < p->count; i++)
        all += more(p->parts[i].claimed[k], p->parts[i].used[k]);
    return all;
}

void permits_take_limits(struct permits *p, const uint64_t limit[PERMIT_KINDS])
{
    if (memcmp(p->limit, limit, sizeof p->limit) == 0)
        return;
    memcpy(p->limit, limit, sizeof p->limit);
    memset(p->usable, 0, sizeof p->usable);
}

void permits_take_used(struct permits *p, uint32_t shard,
                       const uint64_t used[PERMIT_KINDS])
{
    for (int k = 0; k < PERMIT_KINDS; k++)
        p->parts[shard].used[k] = less(used[k], NUMBER_MOST);
    p->parts[shard].known = true;
}

static uint64_t number_of(const json_t *o, const char *name)
{
    json_int_t n = json_integer_value(json_object_get(o, name));

    return n > 0 ? less((uint64_t)n, NUMBER_MOST) : 0;
}

static bool is_ours(const struct permits *p, uint32_t shard, const json_t *o)
{
    const char *by = json_string_value(json_object_get(o, "by"));

    return p->by != 0 && shard == p->shard && by != NULL &&
           strtoull(by, NULL, 16) == p->by;
}

static void judge_own(struct permits *p)
{
    for (int k = 0; k < PERMIT_KINDS; k++) {
        uint64_t all = sum(p, (enum permit_kind)k),
                 claimed = p->parts[p->shard].claimed[k],
                 over = all > p->limit[k] ? all - p->limit[k] : 0;

        p->usable[k] = claimed > over ? claimed - over : 0;
    }
    p->pending = false;
}

void permits_take_claim(struct permits *p, uint32_t shard, struct bytes value)
{
    json_t *o = json_loadb(value.at, value.len, 0, NULL);

    if (json_is_object(o)) {
        for (int k = 0; k < PERMIT_KINDS; k++)
            p->parts[shard].claimed[k] = number_of(o, names[k]);
        if (shard == p->shard)
            p->is_ours = is_ours(p, shard, o);
        if (is_ours(p, shard, o))
            judge_own(p);
    }
    json_decref(o);
}

bool permits_are_limited(const struct permits *p)
{
    return p->limit[PERMIT_PAGES] > 0 || p->limit[PERMIT_BYTES] > 0;
}

bool permits_are_spent(const struct permits *p, enum permit_kind *which)
{
    for (int k = 0; k < PERMIT_KINDS; k++) {
        uint64_t used = 0;

        for (uint32_t i = 0; i < p->count; i++)
            used += p->parts[i].used[k];
        if (p->limit[k] > 0 && used >= p->limit[k]) {
            *which = (enum permit_kind)k;
            return true;
        }
    }
    return false;
}

/* ---- the owner of a shard ---- */

void permits_own(struct permits *p, uint32_t shard, uint64_t by)
{
    p->shard = shard;
    p->by = by;
}

uint64_t permits_left(const struct permits *p, enum permit_kind kind,
                      uint64_t used)
{
    if (p->limit[kind] == 0)
        return UINT64_MAX;
    return p->usable[kind] > used ? p->usable[kind] - used : 0;
}

/* A shard may have pages before it ever claims: of an import, of a crawl whose
 * limit was set late. */
static bool all_known(const struct permits *p)
{
    bool all = true;

    for (uint32_t i = 0; i < p->count; i++)
        all &= p->parts[i].known;
    return all;
}

/* What the part of kind k should be. Of the part of an owner before nothing may
 * be used, so that as much has to be claimed anew. */
static uint64_t wanted(const struct permits *p, const struct permit_need *n,
                       enum permit_kind k)
{
    uint64_t all = sum(p, k), rest = p->limit[k] > all ? p->limit[k] - all : 0,
             block = more(1, rest / p->count / SHARE),
             left = permits_left(p, k, n->used[k]),
             now = more(p->usable[k], n->used[k]),
             need = k == PERMIT_PAGES ? n->urls
                    : n->urls > 0     ? UINT64_MAX
                                      : 0;

    if (p->limit[k] == 0)
        return p->parts[p->shard].claimed[k];
    if (rest > 0 && need > left && left <= block / 2 && all_known(p))
        return now + less(block, need - left);
    return rest == 0 && n->unused ? n->used[k] : now;
}

bool permits_want(const struct permits *p, const struct permit_need *n)
{
    bool differs = false;

    for (int k = 0; k < PERMIT_KINDS; k++) {
        uint64_t want = wanted(p, n, (enum permit_kind)k);

        differs |= want != p->parts[p->shard].claimed[k] ||
                   (!p->is_ours && p->limit[k] > 0 && want > p->usable[k]);
    }
    return differs && !p->pending;
}

void permits_claim(struct permits *p, const struct permit_need *n,
                   struct buf *key, struct buf *value)
{
    uint64_t want[PERMIT_KINDS];

    for (int k = 0; k < PERMIT_KINDS; k++) {
        want[k] = wanted(p, n, (enum permit_kind)k);
        p->usable[k] = less(p->usable[k], want[k]);
    }
    buf_addf(key, "permit/%" PRIu32, p->shard);
    buf_addf(value,
             "{\"pages\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"by\":\"%016" PRIx64
             "\"}",
             want[PERMIT_PAGES], want[PERMIT_BYTES], p->by);
    p->pending = true;
}
