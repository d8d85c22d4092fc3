/*
 * dedupe.h - was this line seen before? For lists larger than memory.
 *
 * A set of digests that only grows, used in batches: the seen check of a crawl
 * (seen.h) without the crawl. It is exact, except that two lines with equal
 * 128-bit digests under a secret seed count as one (base/digest.h says how rare
 * that is).
 *
 * The set is in memory while it fits in its share of `memory`, then in sorted
 * pages on disk with caches in front. Without a directory the pages are in an
 * unnamed file in $TMPDIR, which vanishes when the process ends in any way.
 * With a directory the set is kept for the next run (docs/formats/dedupe.md):
 *
 *   - dedupe_take() answers and remembers; nothing is on disk yet
 *   - the caller writes out the new lines
 *   - dedupe_settle() may commit; so digests on disk were written out before
 *
 * After a crash the set is that of the last commit: lines written out after it
 * will be called new once more, and the set has no line that was never written
 * out.
 *
 * Threads: dedupe_digest() from any; everything else from the owner's thread.
 */
#ifndef URLWEIR_FRONTIER_DEDUPE_DEDUPE_H
#define URLWEIR_FRONTIER_DEDUPE_DEDUPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/file/file.h"
#include "base/status.h"
#include "frontier/seen/seen.h"
#include "frontier/url/url.h"
#include "storage/db/manifest.h"

struct dedupe;

/* Most digests in one dedupe_take(). */
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
    const char *dir; /* directory of the set, made if missing; NULL: none */
    enum dedupe_identity identity;
    uint64_t memory; /* of the whole process; at least DEDUPE_MEMORY_LEAST */
};

/* What an error message needs beside the status. */
struct dedupe_refusal {
    long holder;    /* STATUS_BUSY: the process that uses `dir` */
    char kept[48];  /* STATUS_ARG: identity of the set in `dir`, */
    char asked[48]; /* and the one asked for: "canonical/2", "octets" */
};

/* STATUS_BUSY: another process uses `dir`. STATUS_ARG: it holds a set of the
 * other identity, or of another canonical form. STATUS_DAMAGED and
 * STATUS_VERSION with a log line. */
MUST_CHECK enum status dedupe_open(struct dedupe **out,
                                   const struct dedupe_options *o,
                                   struct dedupe_refusal *why);
struct dedupe_stats {
    uint64_t count;  /* in the set */
    uint64_t before; /* of those, at opening */
    uint64_t disk;   /* octets of its files; 0 while all is in memory */
    uint64_t page_reads, false_positives, filter_bits;
    bool on_disk; /* it no longer fits in memory */
};

/* `clean`: first commit all that was taken, and leave the set so that the next
 * run opens it fast. Otherwise what was not committed is lost. Frees in any
 * case; NULL is fine. *last, if not NULL, gets the final stats. */
MUST_CHECK enum status dedupe_close(struct dedupe *d, bool clean,
                                    struct dedupe_stats *last);

/* The digest that stands for a line; with DEDUPE_CANONICAL *url holds its
 * canonical form afterwards. A reason other than URL_OK: not a URL, and no
 * digest. */
enum url_reason dedupe_digest(const struct dedupe *d, struct bytes line,
                              struct url *url, struct digest *out);

/* fresh[i]: digests[i] was not in the set, nor earlier in the batch. All are in
 * afterwards. After a failure only dedupe_close() that is not clean may be
 * called. */
MUST_CHECK enum status dedupe_take(struct dedupe *d,
                                   const struct digest *digests, size_t n,
                                   bool *fresh);
/* Call it after each dedupe_take(), once the fresh lines are written out. Moves
 * digests to disk when memory is full; commits if `commit`. */
MUST_CHECK enum status dedupe_settle(struct dedupe *d, bool commit);
/* Was anything taken since the last commit of a set that is kept on disk? */
bool dedupe_unsettled(const struct dedupe *d);

/* Checks the set on disk by reading all of it. STATUS_DAMAGED with a log
 * line. */
MUST_CHECK enum status dedupe_verify(struct dedupe *d);

struct dedupe_stats dedupe_stats(struct dedupe *d);

#endif
