/* SPDX-License-Identifier: MIT */
/*
 * redis_record.c - the record beside the bits, as a server tells it.
 *
 * Anyone with write access to the server may have written it: every number is
 * bounded, and an impossible geometry is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/redis/redis_impl.h"

/* The value of `name` in a list of fields and values; empty if there is
 * none. */
static struct bytes field(const redisReply *r, const char *name)
{
    for (size_t i = 0; i + 1 < r->elements; i += 2) {
        const redisReply *f = r->element[i], *v = r->element[i + 1];

        if (f->type == REDIS_REPLY_STRING && v->type == REDIS_REPLY_STRING &&
            bytes_is(bytes_of(f->str, (size_t)f->len), name))
            return bytes_of(v->str, (size_t)v->len);
    }
    return bytes_of("", 0);
}

static bool take_number(const redisReply *r, const char *name, uint64_t most,
                        uint64_t *out)
{
    struct bytes b = field(r, name);
    uint64_t n = 0;

    if (b.len == 0 || b.len > 19)
        return false;
    for (size_t i = 0; i < b.len; i++) {
        if (b.at[i] < '0' || b.at[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(b.at[i] - '0');
    }
    *out = n;
    return n <= most;
}

static bool take_rate(const redisReply *r, const char *name, double *out)
{
    struct bytes b = field(r, name);
    char text[32], *end;

    if (b.len == 0 || b.len >= sizeof text)
        return false;
    memcpy(text, b.at, b.len);
    text[b.len] = '\0';
    *out = strtod(text, &end);
    return *end == '\0' && *out >= 1e-9 && *out <= 0.5;
}

static bool take_word(const redisReply *r, const char *name, size_t len,
                      char *out)
{
    struct bytes b = field(r, name);

    if (b.len != len || memchr(b.at, '\0', len) != NULL)
        return false;
    memcpy(out, b.at, len);
    out[len] = '\0';
    return true;
}

static bool take_seed(const redisReply *r, struct redis_record *out)
{
    struct bytes b = field(r, "seed");

    out->has_seed = b.len > 0;
    if (!out->has_seed)
        return true;
    return bytes_from_hex(b, out->seed, DIGEST_SEED_SIZE);
}

static bool take_geometry(const redisReply *r, const char *bits, const char *k,
                          struct redis_geometry *g)
{
    uint64_t n;

    if (!take_number(r, bits, REDIS_MOST_BITS, &g->bits) ||
        !take_number(r, k, REDIS_MOST_K, &n))
        return false;
    g->k = (unsigned)n;
    return redis_geometry_is_valid(g);
}

static bool take_old(const redisReply *r, unsigned i,
                     const struct redis_record *m, struct redis_old *out)
{
    char last[8], count[8], set[8];

    snprintf(last, sizeof last, "last%u", i);
    snprintf(count, sizeof count, "count%u", i);
    snprintf(set, sizeof set, "set%u", i);
    return take_number(r, last, INT64_MAX / 2, &out->last) &&
           take_number(r, count, INT64_MAX / 8, &out->count) &&
           take_number(r, set, m->now.bits, &out->set);
}

static bool take_ages(const redisReply *r, struct redis_record *m)
{
    uint64_t n, olds;

    if (field(r, "ttl").len == 0)
        return true;
    if (!take_number(r, "ttl", INT64_MAX / 2, &m->ttl_ms) ||
        !take_number(r, "generations", FILTER_GENERATIONS_MOST, &n) ||
        !take_number(r, "olds", n, &olds) ||
        !take_number(r, "last", INT64_MAX / 2, &m->last))
        return false;
    m->generations = (unsigned)n;
    for (m->olds = 0; m->olds < olds; m->olds++)
        if (!take_old(r, m->olds + 1, m, &m->old[m->olds]))
            return false;
    return true;
}

enum status redis_record_read(struct redis_record *out, const redisReply *r)
{
    struct redis_record n = {.adds = 0};
    uint64_t version, bytes, generation;
    struct bytes layout, hash;

    if (r->type != REDIS_REPLY_ARRAY || r->elements % 2 != 0)
        return STATUS_FORMAT;
    if (!take_number(r, "v", UINT64_MAX, &version))
        return STATUS_FORMAT;
    if (version != 1)
        return STATUS_VERSION;
    layout = field(r, "layout");
    hash = field(r, "hash");
    n.now.layout = bytes_is(layout, "plain") ? REDIS_PLAIN : REDIS_BLOCKED;
    if ((n.now.layout == REDIS_BLOCKED && !bytes_is(layout, "blocked")) ||
        !redis_hash_named(hash, &n.now.hash) ||
        !take_geometry(r, "bits", "k", &n.now) ||
        !take_number(r, "bytes", REDIS_MOST_BITS, &bytes) ||
        bytes != (n.now.bits + 7) / 8 ||
        !take_word(r, "epoch", REDIS_TOKEN_SIZE - 1, n.epoch) ||
        !take_number(r, "gen", INT64_MAX, &generation) ||
        !take_number(r, "adds", INT64_MAX, &n.adds) ||
        !take_number(r, "count", INT64_MAX, &n.count) ||
        !take_number(r, "set", n.now.bits, &n.set) ||
        !take_number(r, "expect", UINT64_C(1) << 40, &n.expect) ||
        !take_rate(r, "fpr", &n.fpr) || !take_seed(r, &n))
        return STATUS_FORMAT;
    (void)take_word(r, "built", REDIS_TOKEN_SIZE - 1, n.built);
    memcpy(n.generation, field(r, "gen").at, field(r, "gen").len);
    if (field(r, "next_token").len > 0) {
        n.next = n.now;
        if (!take_word(r, "next_token", REDIS_TOKEN_SIZE - 1, n.next_token) ||
            !take_geometry(r, "next_bits", "next_k", &n.next) ||
            !take_number(r, "next_count", INT64_MAX, &n.next_count))
            return STATUS_FORMAT;
    }
    if (!take_ages(r, &n))
        return STATUS_FORMAT;
    *out = n;
    return STATUS_OK;
}
