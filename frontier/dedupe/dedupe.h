/*
 * dedupe.h - was this line seen before? For lists larger than memory.
 *
 * A set of digests that only grows, asked and filled in batches: the crawl's
 * own seen check (seen.h) without a crawl around it. Exact, save that two lines
 * whose 128-bit digests under a secret seed are equal count as one
 * (base/digest.h says how seldom that is).
 *
 * The set stands in memory while it fits in its share of `memory`, then in
 * sorted pages on disk with caches before them. Without a directory those pages
 * are a file without a name in $TMPDIR, gone with the process however it ends.
 * With one the set is kept for the next run (docs/formats/dedupe.md):
 *
 *   - dedupe_take() answers and remembers; nothing of it is on disk yet
 *   - the caller writes out what was new
 *   - dedupe_settle() may commit: so what is on disk was written out before
 *
 * After a crash the set is that of some commit: what was written out behind it
 * will be called new once more, and nothing that was never written out is in.
 *
 * Threads: dedupe_digest() from any; all else is the owner's.
 */
#ifndef URLWEIR_FRONTIER_DEDUPE_DEDUPE_H
#define URLWEIR_FRONTIER_DEDUPE_DEDUPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/status.h"
#include "frontier/url/url.h"

struct dedupe;

/* Digests that one dedupe_take() may be given. */
#define DEDUPE_BATCH 8192
/* Least and default `memory`. */
#define DEDUPE_MEMORY_LEAST   (UINT64_C(32) << 20)
#define DEDUPE_MEMORY_DEFAULT (UINT64_C(512) << 20)
/* "urld": octets 68 to 71 of DIR/dedupe.db. */
#define DEDUPE_APPLICATION_ID 0x75726c64

/* What makes two lines the same. */
enum dedupe_identity {
    DEDUPE_CANONICAL, /* one canonical URL, as url.h makes it */
    DEDUPE_OCTETS     /* the same octets */
};

struct dedupe_options {
    const char *dir; /* where the set is kept, made when missing; NULL: not */
    enum dedupe_identity identity;
    uint64_t memory; /* of the whole process; at least DEDUPE_MEMORY_LEAST */
};

/* What an error message needs beside the status. */
struct dedupe_refusal {
    long holder;    /* STATUS_BUSY: the process that uses `dir` */
    char kept[48];  /* STATUS_ARG: how lines are told apart there, */
    char asked[48]; /* and how they were to be: "canonical/1", "octets" */
};

/* STATUS_BUSY: another process uses `dir`. STATUS_ARG: it holds a set of the
 * other identity, or of another canonical form. STATUS_DAMAGED and
 * STATUS_VERSION with a log line. */
MUST_CHECK enum status dedupe_open(struct dedupe **out,
                                   const struct dedupe_options *o,
                                   struct dedupe_refusal *why);
struct dedupe_stats {
    uint64_t count;  /* in the set */
    uint64_t before; /* of them when it was opened */
    uint64_t disk;   /* octets of its files; 0 while all is in memory */
    uint64_t page_reads, false_positives, filter_bits;
    bool on_disk; /* it no longer fits in memory */
};

/* `clean`: first commit all that was taken, and leave the set so that the next
 * run opens it fast. Otherwise what was not committed is lost. Frees in any
 * case; NULL is fine. *last, where not NULL: as it was left. */
MUST_CHECK enum status dedupe_close(struct dedupe *d, bool clean,
                                    struct dedupe_stats *last);

/* The digest that stands for a line; with DEDUPE_CANONICAL *url holds its
 * canonical form afterwards. A reason other than URL_OK: no URL, no digest. */
enum url_reason dedupe_digest(const struct dedupe *d, struct bytes line,
                              struct url *url, struct digest *out);

/* fresh[i]: digests[i] was not in the set, nor earlier in the batch. All are in
 * afterwards. After a failure only dedupe_close() that is not clean may be
 * called. */
MUST_CHECK enum status dedupe_take(struct dedupe *d,
                                   const struct digest *digests, size_t n,
                                   bool *fresh);
/* To be called after each dedupe_take(), once the fresh lines are written out.
 * Moves what memory no longer holds to disk; commits if `commit`. */
MUST_CHECK enum status dedupe_settle(struct dedupe *d, bool commit);
/* Something was taken since the last commit, and is kept on disk. */
bool dedupe_unsettled(const struct dedupe *d);

/* Does the set on disk hold what it must? Reads all of it. STATUS_DAMAGED with
 * a log line. */
MUST_CHECK enum status dedupe_verify(struct dedupe *d);

struct dedupe_stats dedupe_stats(struct dedupe *d);

#endif
