/* SPDX-License-Identifier: MIT */
/*
 * redis_rebuild.c - another size for a shared filter while other clients go on.
 *
 *   begin   new bits, a token, generation + 1: clients notice
 *   fill    keys from before the beginning, into the new bits alone
 *   swap    RENAME over the old bits, generation + 1
 *
 * A key added before `begin` must be given by the client that rebuilds; a key
 * added later is set in both by the client that adds it. The token identifies a
 * rebuild: when a second one begins, the next step of the first is refused. A
 * rebuild that is given no keys for an hour is dropped by the server.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "filter/redis/redis_impl.h"

enum status redis_bloom_rebuild(struct redis_bloom *b, uint64_t expect,
                                double fpr)
{
    struct redis_geometry g = {.layout = b->record.now.layout,
                               .hash = b->record.now.hash};
    char token[REDIS_TOKEN_SIZE], bits[24], bytes[24], k[12], want[24],
        rate[32];
    enum status st;

    if (b->record.epoch[0] == '\0' || b->record.generations > 0)
        return STATUS_ARG;
    st = redis_geometry_fit(&g, expect, fpr);
    if (st != STATUS_OK)
        return st;
    redis_token(token);
    snprintf(bits, sizeof bits, "%" PRIu64, g.bits);
    snprintf(bytes, sizeof bytes, "%" PRIu64, (g.bits + 7) / 8);
    snprintf(k, sizeof k, "%u", g.k);
    snprintf(want, sizeof want, "%" PRIu64, expect);
    snprintf(rate, sizeof rate, "%.9g", fpr);
    const char *const args[] = {
        b->record.epoch, token, bits,       "next_bytes", bytes, "next_k", k,
        "next_expect",   want,  "next_fpr", rate};
    struct bytes list[sizeof args / sizeof *args];

    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        list[i] = bytes_of_str(args[i]);
    st = redis_step_with_room(b, &redis_script_begin, g.bits, 4, list,
                              sizeof args / sizeof *args);
    if (st == STATUS_OK)
        memcpy(b->token, token, sizeof token);
    return st;
}

enum status redis_bloom_refill(struct redis_bloom *b, struct redis_keys keys,
                               size_t n)
{
    const struct redis_geometry *g = &b->record.next;
    enum status st = STATUS_OK;
    char k[12];

    if (b->token[0] == '\0' || g->k == 0 ||
        (keys.digest == NULL && g->layout == REDIS_BLOCKED))
        return STATUS_ARG;
    snprintf(k, sizeof k, "%u", g->k);
    for (size_t at = 0; st == STATUS_OK && at < n; at += REDIS_BATCH) {
        size_t m = n - at < REDIS_BATCH ? n - at : REDIS_BATCH;
        redisReply *r = NULL;

        buf_clear(&b->packed);
        redis_bits_pack(g, keys, at, m, &b->packed);
        struct bytes args[4] = {bytes_of_str(b->record.epoch),
                                bytes_of_str(b->token), bytes_of_str(k),
                                buf_bytes(&b->packed)};
        st = redis_call(b, &redis_script_fill, 3, args, 4, &r);
        if (st == STATUS_OK)
            freeReplyObject(r);
    }
    return st;
}

/* If the answer to a swap was lost, the repeated swap answers GONE. */
static enum status end(struct redis_bloom *b, const struct redis_script *s,
                       const char *allow)
{
    struct bytes args[3] = {bytes_of_str(b->record.epoch),
                            bytes_of_str(b->token), bytes_of_str(allow)};
    enum status st =
        b->token[0] != '\0' ? redis_step(b, s, 3, args, 3) : STATUS_ARG;

    if (st == STATUS_NOT_FOUND && redis_reload(b) == STATUS_OK &&
        strcmp(b->record.built, b->token) == 0)
        st = STATUS_OK;
    if (st == STATUS_OK || st == STATUS_NOT_FOUND)
        b->token[0] = '\0';
    return st;
}

enum status redis_bloom_swap(struct redis_bloom *b, bool allow_smaller)
{
    enum status st = end(b, &redis_script_swap, allow_smaller ? "1" : "0");

    if (st == STATUS_REFUSED) { /* with the counts of this moment */
        enum status read = redis_reload(b);

        if (read != STATUS_OK)
            st = read;
    }
    return st;
}

enum status redis_bloom_abort(struct redis_bloom *b)
{
    return end(b, &redis_script_abort, "");
}
