/*
 * permits.h - how many pages and octets each shard may fetch, so that all
 * shards together keep within --limit and --quota.
 *
 * A shard fetches only within its part, which it claims in NAME.control:
 *
 *   permit/N     JSON, for shard N: pages, bytes, by (whose claim it is)
 *
 * The record goes with any commit of the shard, and says how much it wants to
 * have fetched in all. It counts once its owner has read it back: at that place
 * of the log the parts of all shards, as they stand there, add up to the limit
 * at most; if they exceed it, the latest claim is cut by what is too much. So
 * of two claims for the last page the earlier one gets it, and no shard has to
 * ask another one.
 *
 * Nothing is claimed before each shard has said what it has fetched. A claim
 * raises a shard's part by a block, which is small when little is left;
 * what a shard does not use it gives back when nothing is left for others. An
 * owner that has just come uses nothing of the part of the one before, and
 * claims anew: the rows say what was fetched.
 *
 * Pure: it reads no clock and sends nothing. One thread at a time.
 */
#ifndef URLWEIR_CLUSTER_PERMITS_H
#define URLWEIR_CLUSTER_PERMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

enum permit_kind { PERMIT_PAGES, PERMIT_BYTES, PERMIT_KINDS };

struct permits;

struct permits *permits_new(uint32_t shards);
void permits_free(struct permits *p); /* NULL is fine */

/* ---- what the log says, in its order ---- */

/* The limits of the crawl; 0: none. Others than before end all claims. */
void permits_take_limits(struct permits *p, const uint64_t limit[PERMIT_KINDS]);
/* What a shard has fetched. */
void permits_take_used(struct permits *p, uint32_t shard,
                       const uint64_t used[PERMIT_KINDS]);
/* A record permit/N; one that is not valid counts for nothing. */
void permits_take_claim(struct permits *p, uint32_t shard, struct bytes value);

bool permits_are_limited(const struct permits *p);
/* Has all been fetched that may be? *which: the limit that is reached. */
bool permits_are_spent(const struct permits *p, enum permit_kind *which);

/* ---- the owner of a shard ---- */

/* `by` is a number that no other owner has. */
void permits_own(struct permits *p, uint32_t shard, uint64_t by);

struct permit_need {
    uint64_t used[PERMIT_KINDS]; /* with what is under way */
    uint64_t urls; /* that could be fetched now or soon, besides */
    bool unused;   /* what is left has not been of use for a while */
};

/* How much more may be fetched. */
uint64_t permits_left(const struct permits *p, enum permit_kind kind,
                      uint64_t used);
/* Has the shard's part to become another? */
bool permits_want(const struct permits *p, const struct permit_need *n);
/* The key and the value of the record that says so, which is committed or the
 * shard is lost. */
void permits_claim(struct permits *p, const struct permit_need *n,
                   struct buf *key, struct buf *value);

#endif
