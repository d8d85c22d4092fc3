/* SPDX-License-Identifier: MIT */
/* fingerprint_sample.c - how often fingerprints of URLs are alike, measured. */
#include "frontier/audit/fingerprint_sample.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define BITS        63 /* of a fingerprint: Redis's integers have a sign */
#define PAIRS_LEAST 100

struct sampled {
    uint64_t fp, lo;
    unsigned shard;
};

struct fingerprint_sample {
    struct sampled *url;
    size_t count, room;
    unsigned shards;
};

struct fingerprint_sample *fingerprint_sample_new(unsigned shards)
{
    struct fingerprint_sample *c = xcalloc(1, sizeof *c);

    c->shards = shards;
    return c;
}

void fingerprint_sample_free(struct fingerprint_sample *c)
{
    if (c == NULL)
        return;
    free(c->url);
    free(c);
}

bool fingerprint_sample_add(struct fingerprint_sample *c, unsigned shard,
                            struct digest digest)
{
    if (c->count == FINGERPRINT_SAMPLE_MOST || shard >= c->shards)
        return false;
    if (c->count == c->room) {
        c->room = c->room == 0 ? 1024 : 2 * c->room;
        c->url = xrealloc(c->url, c->room * sizeof *c->url);
    }
    c->url[c->count++] =
        (struct sampled){.fp = digest.hi >> 1, .lo = digest.lo, .shard = shard};
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;

    if (x->shard != y->shard)
        return x->shard < y->shard ? -1 : 1;
    if (x->fp != y->fp)
        return x->fp < y->fp ? -1 : 1;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

/* Several workers may have a URL. */
static void leave_each_once(struct fingerprint_sample *c)
{
    size_t n = 0;

    if (c->count > 0)
        qsort(c->url, c->count, sizeof *c->url, by_place);
    for (size_t i = 0; i < c->count; i++)
        if (n == 0 || by_place(&c->url[n - 1], &c->url[i]) != 0)
            c->url[n++] = c->url[i];
    c->count = n;
}

/* Pairs of one shard that share their first `bits`. */
static uint64_t count_pairs(const struct fingerprint_sample *c, unsigned bits)
{
    uint64_t pairs = 0, alike = 0;

    for (size_t i = 1; i < c->count; i++) {
        const struct sampled *x = &c->url[i - 1], *y = &c->url[i];
        bool is = x->shard == y->shard &&
                  x->fp >> (BITS - bits) == y->fp >> (BITS - bits);

        alike = is ? alike + 1 : 0;
        pairs += alike;
    }
    return pairs;
}

void fingerprint_sample_finish(struct fingerprint_sample *c,
                               struct fingerprint_sample_result *out)
{
    uint64_t *seen = xcalloc(c->shards, sizeof *seen);
    double expected;
    unsigned bits = BITS;

    leave_each_once(c);
    for (size_t i = 0; i < c->count; i++)
        seen[c->url[i].shard]++;
    expected = fingerprint_collisions_expected(seen, c->shards);
    for (; bits > 1 && expected < PAIRS_LEAST; bits--)
        expected *= 2;
    *out =
        (struct fingerprint_sample_result){.urls = c->count,
                                           .collisions = count_pairs(c, BITS),
                                           .bits = bits,
                                           .pairs = count_pairs(c, bits),
                                           .expected = expected};
    free(seen);
}

double fingerprint_collisions_expected(const uint64_t *seen, size_t shards)
{
    double sum = 0;

    for (size_t i = 0; i < shards; i++)
        if (seen[i] > 1)
            sum += (double)seen[i] * (double)(seen[i] - 1) / 2;
    return ldexp(sum, -BITS);
}

/* A new URL is of each shard alike, as hosts are spread by their digest. */
double fingerprint_collision_chance(const uint64_t *seen, size_t shards)
{
    double sum = 0;

    for (size_t i = 0; i < shards; i++)
        sum += (double)seen[i];
    return shards == 0 ? 0 : ldexp(sum / (double)shards, -BITS);
}
