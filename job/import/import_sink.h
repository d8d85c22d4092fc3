/*
 * import_sink.h - puts what another crawler knew into a new crawl.
 *
 * Every record goes one way: its URL is parsed and brought to the crawl's form
 * (frontier/candidate.h), a waiting one is asked of the scope, and the frontier
 * admits and settles it (frontier_import), in batches.
 *
 * A waiting URL counts as a seed does: it has depth 0, and opens the scope
 * around it. A part of a page does not, nor what is done or known, since an
 * archive holds images of hosts that nobody wanted to crawl. --include,
 * --exclude and --max-url-len hold for what waits; what they keep out is a
 * kept drop.
 *
 * One thread, which owns the frontier.
 */
#ifndef URLWEIR_JOB_IMPORT_IMPORT_SINK_H
#define URLWEIR_JOB_IMPORT_IMPORT_SINK_H

#include "base/status.h"
#include "job/crawl_setup.h"
#include "job/import/import_format.h"
#include "job/settings/options.h"

struct import_counts {
    uint64_t waiting;     /* URLs of the crawl that are not done */
    uint64_t done, known; /* URLs that have become so */
    uint64_t failed;      /* those of `done` that failed */
    uint64_t repeated;    /* records of URLs that were here */
    uint64_t dropped;     /* waiting ones, by rules of this crawl */
    uint64_t other;       /* records of no http(s) page */
    uint64_t refused;     /* lines */
};

struct import_sink;

/* `format`: its name, for explanations. */
struct import_sink *import_sink_new(struct frontier *f, struct crawl_setup *c,
                                    const char *format);
void import_sink_free(struct import_sink *k); /* NULL is fine */

/* Takes a record of `file`; all are borrowed during the call. *why, static:
 * its URL is refused; else NULL. Other errors are the frontier's. */
MUST_CHECK enum status import_sink_put(struct import_sink *k, const char *file,
                                       const struct import_record *record,
                                       const char **why);
/* What a person has set for a host, whose URLs were put before. */
struct import_host {
    struct bytes key;
    int64_t delay_ms;         /* -1: none */
    int64_t blocked_until_ms; /* wall clock; 0: not blocked */
    uint32_t most;            /* of its URLs; 0: no limit */
    uint64_t done;            /* by then */
};
/* Counts a record of something else. */
void import_sink_other(struct import_sink *k);
/* Puts the last batch. */
MUST_CHECK enum status import_sink_flush(struct import_sink *k);
/* All but `refused`, which the caller counts. */
struct import_counts import_sink_counts(const struct import_sink *k);

/* ---- reads what a crawl of ours knows, for another one ----
 *
 * Every URL comes as it is: found at its depth and by its kind, waiting or with
 * its last outcome and the facts of that fetch; then the links that a setting
 * keeps out for now, and what a person has set for hosts. What is not told: the
 * fetches before the last, the link graph, and where WARC files are.
 *
 * The crawl is read as it is on disk, and nothing of it is changed; one that
 * runs is refused, since it would go on.
 */

/* Puts the crawl of `dir` into the sink. *why says what is wrong with it; other
 * errors are the frontier's. */
MUST_CHECK enum status import_crawl(struct import_sink *k, const char *dir,
                                    struct buf *why);

#endif
