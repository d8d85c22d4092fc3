/*
 * outcome.h - the outcome of a URL: status and reason, as stored and shown.
 *
 * The numbers are stored, so new ones are only appended. Most reasons go with
 * one status only.
 */
#ifndef URLWEIR_FRONTIER_OUTCOME_H
#define URLWEIR_FRONTIER_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum outcome_status {
    OUTCOME_QUEUED = 0,
    OUTCOME_FETCHED,
    OUTCOME_REDIRECT,
    OUTCOME_FAILED,
    OUTCOME_DENIED,
    OUTCOME_SKIPPED,
    OUTCOME_STATUS_COUNT_
};

enum outcome_reason {
    REASON_NONE = 0,
    /* fetched */
    REASON_TRUNCATED_LENGTH,
    REASON_TRUNCATED_TIME,
    REASON_BAD_ENCODING,
    /* redirect */
    REASON_REDIRECT_LIMIT,
    REASON_REDIRECT_LOOP,
    REASON_REDIRECT_SCOPE,
    REASON_REDIRECT_INVALID, /* rules for URLs make none of its target */
    /* failed */
    REASON_HTTP, /* shown as http_404 */
    REASON_DNS,
    REASON_CONNECT,
    REASON_TLS,
    REASON_TIMEOUT,
    REASON_RESET,
    REASON_PROTOCOL,
    /* denied */
    REASON_ROBOTS,
    REASON_ROBOTS_UNREACHABLE,
    /* skipped: after admission */
    REASON_ADDRESS,
    REASON_MIME,
    REASON_TRAP,    /* also a drop: of a family that brings nothing new, see
                    trap_table.h */
    REASON_CHECKED, /* fetched: it is there, which is all that was asked */
    REASON_NOINDEX,
    REASON_SCOPE, /* scope was narrowed by resume */
    /* drops before admission */
    REASON_DEPTH,
    REASON_EXCLUDE,
    REASON_INCLUDE,
    REASON_URL_LENGTH,
    REASON_NOFOLLOW,
    REASON_KIND,
    REASON_LINK_COUNT,   /* past the limit of links of a page */
    REASON_NO_SITEMAP,   /* skipped: no sitemap at the guessed URL */
    REASON_CROSS_HOST,   /* on another host than its sitemap, whose robots.txt
                            does not name the sitemap */
    REASON_NESTED_INDEX, /* in a sitemap index too deep in others */
    REASON_BLOCKLIST,    /* also skipped, if a resume added the list */
    REASON_EXTERNAL, /* fetched or redirect: reported by another program, see
                        external.h */
    REASON_REMOVED, /* skipped: a person removed it from its queue, removal.h */
    REASON_STUCK,   /* failed: the process ended or hung while it read the
                       response (frontier_blame) */
    REASON_PORT,    /* skipped: a port that browsers block */
    REASON_SAME_CONTENT, /* a link of a page whose body was seen before, with
                            --dup-content skip */
    REASON_URL_FORM, /* skipped: the rules for URLs (url_form.h) gave it another
                        form, under which it was queued instead */
    REASON_NEAR_DUP, /* a link of a page whose text is nearly that of an earlier
                        one, with --near-dup skip */
    REASON_UNCHANGED, /* fetched: its server said so (304), or the body has the
                         digest of its last whole response */
    REASON_IMPORTED, /* fetched, redirect, failed or skipped: so another crawler
                        had it, whose state was imported (frontier_calls.h) */
    REASON_COUNT_
};

struct outcome {
    enum outcome_status status;
    enum outcome_reason reason;
    uint16_t http_status; /* 0: no answer */
};

/* "fetched"; static. */
const char *outcome_status_name(enum outcome_status s);
/* "robots", "" for REASON_NONE; static. REASON_HTTP is "http". */
const char *outcome_reason_name(enum outcome_reason r);
/* The status that goes with a reason, except of REASON_EXTERNAL and
 * REASON_IMPORTED, which go with several. */
enum outcome_status outcome_status_of(enum outcome_reason r);
/* The reason as shown: "http_404", "timeout", "". `size` >= 24. */
void outcome_reason_text(struct outcome o, char *out, size_t size);
/* Does its server say, by a 304 to our conditions, that it is what it was? */
bool outcome_is_not_modified(struct outcome o);
/* Does a response with this status ask for a pause, though it need not say for
 * how long (RFC 9110 section 15.6.4, RFC 6585 section 4)? */
bool outcome_asks_for_pause(uint16_t http_status);
/* Does it count for --limit? docs/formats/export.md has the table. */
bool outcome_counts_as_page(struct outcome o);
/* Was the URL failed, denied or skipped? Not if it was a sitemap that was only
 * guessed at. */
bool outcome_is_error(struct outcome o);
/* Do only links end with it, before they are admitted? */
bool outcome_reason_drops_only(enum outcome_reason r);
/* Is it a text of outcome_reason_text, "timeout" or "http_503", that a URL can
 * end with? */
bool outcome_reason_is(const char *text);
/* Has a seed with this outcome failed (exit status 5)? */
bool outcome_fails_seed(struct outcome o);

#endif
