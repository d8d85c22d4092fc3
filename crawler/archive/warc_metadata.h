/*
 * warc_metadata.h - the metadata record of a response.
 *
 * The fields of WARC/1.1 section 6.6 (via, hopsFromSeed, fetchTimeMs), and
 * those that archives write beside them: charsetForLinkExtraction, and for each
 * link that is in scope, once,
 *
 *     outlink: URL LETTER CONTEXT
 *
 * LETTER and CONTEXT are those of link_kinds.h. Pure, any thread.
 */
#ifndef URLWEIR_CRAWLER_ARCHIVE_WARC_METADATA_H
#define URLWEIR_CRAWLER_ARCHIVE_WARC_METADATA_H

#include "base/buf.h"
#include "crawler/fetch/assignment.h"
#include "frontier/engine.h"

#define WARC_METADATA_MOST ((size_t)1 << 20) /* of a block */

/* What is known about a response besides the response itself. Bytes are
 * borrowed. */
struct warc_facts {
    struct bytes url; /* that was requested */
    struct found_by by;
    struct record_name same; /* the record that a page without a change refers
                                to; url empty: none */
    struct bytes charset;    /* used to read its links, or empty */
    struct bytes note;       /* what is odd about its body, or empty */
    const struct engine_item *outlinks;
    size_t outlink_count;
};

/* Appends the block. False: there was no room for every link. */
bool warc_metadata(const struct warc_facts *facts, int64_t fetch_ms,
                   struct buf *out);

#endif
