/* SPDX-License-Identifier: MIT */
/* outcome.c - the outcome of a URL: status and reason, as stored and shown. */
#include "frontier/outcome.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const statuses[OUTCOME_STATUS_COUNT_] = {
    [OUTCOME_QUEUED] = "queued",     [OUTCOME_FETCHED] = "fetched",
    [OUTCOME_REDIRECT] = "redirect", [OUTCOME_FAILED] = "failed",
    [OUTCOME_DENIED] = "denied",     [OUTCOME_SKIPPED] = "skipped",
};

static const char *const reasons[REASON_COUNT_] = {
    [REASON_NONE] = "",
    [REASON_TRUNCATED_LENGTH] = "truncated_length",
    [REASON_TRUNCATED_TIME] = "truncated_time",
    [REASON_BAD_ENCODING] = "bad_encoding",
    [REASON_REDIRECT_LIMIT] = "redirect_limit",
    [REASON_REDIRECT_LOOP] = "redirect_loop",
    [REASON_REDIRECT_SCOPE] = "redirect_scope",
    [REASON_REDIRECT_INVALID] = "redirect_invalid",
    [REASON_HTTP] = "http",
    [REASON_DNS] = "dns",
    [REASON_CONNECT] = "connect",
    [REASON_TLS] = "tls",
    [REASON_TIMEOUT] = "timeout",
    [REASON_RESET] = "reset",
    [REASON_PROTOCOL] = "protocol",
    [REASON_ROBOTS] = "robots",
    [REASON_ROBOTS_UNREACHABLE] = "robots_unreachable",
    [REASON_ADDRESS] = "address",
    [REASON_MIME] = "mime",
    [REASON_TRAP] = "trap",
    [REASON_NOINDEX] = "noindex",
    [REASON_SCOPE] = "scope",
    [REASON_DEPTH] = "depth",
    [REASON_EXCLUDE] = "exclude",
    [REASON_INCLUDE] = "include",
    [REASON_URL_LENGTH] = "url_length",
    [REASON_NOFOLLOW] = "nofollow",
    [REASON_KIND] = "kind",
    [REASON_LINK_COUNT] = "link_count",
    [REASON_NO_SITEMAP] = "no_sitemap",
    [REASON_CROSS_HOST] = "cross_host",
    [REASON_NESTED_INDEX] = "nested_index",
    [REASON_BLOCKLIST] = "blocklist",
    [REASON_EXTERNAL] = "external",
    [REASON_REMOVED] = "removed",
    [REASON_STUCK] = "stuck",
    [REASON_PORT] = "port",
    [REASON_SAME_CONTENT] = "same_content",
    [REASON_URL_FORM] = "url_form",
    [REASON_NEAR_DUP] = "near_dup",
    [REASON_UNCHANGED] = "unchanged",
    [REASON_IMPORTED] = "imported",
    [REASON_CHECKED] = "checked",
};

const char *outcome_status_name(enum outcome_status s)
{
    return (unsigned)s < OUTCOME_STATUS_COUNT_ ? statuses[s] : "unknown";
}

const char *outcome_reason_name(enum outcome_reason r)
{
    /* A gap in the table would be NULL; test_outcome checks all of it. */
    return (unsigned)r < REASON_COUNT_ && reasons[r] != NULL ? reasons[r]
                                                             : "unknown";
}

enum outcome_status outcome_status_of(enum outcome_reason r)
{
    switch (r) {
    case REASON_NONE:
    case REASON_TRUNCATED_LENGTH:
    case REASON_TRUNCATED_TIME:
    case REASON_BAD_ENCODING:
    case REASON_LINK_COUNT:
    case REASON_UNCHANGED:
    case REASON_CHECKED:
        return OUTCOME_FETCHED;
    case REASON_REDIRECT_LIMIT:
    case REASON_REDIRECT_LOOP:
    case REASON_REDIRECT_SCOPE:
    case REASON_REDIRECT_INVALID:
        return OUTCOME_REDIRECT;
    case REASON_HTTP:
    case REASON_DNS:
    case REASON_CONNECT:
    case REASON_TLS:
    case REASON_TIMEOUT:
    case REASON_RESET:
    case REASON_PROTOCOL:
    case REASON_STUCK:
        return OUTCOME_FAILED;
    case REASON_ROBOTS:
    case REASON_ROBOTS_UNREACHABLE:
        return OUTCOME_DENIED;
    default:
        return OUTCOME_SKIPPED;
    }
}

bool outcome_is_not_modified(struct outcome o)
{
    return o.http_status == 304 &&
           (o.reason == REASON_UNCHANGED || o.reason == REASON_NOINDEX);
}

bool outcome_asks_for_pause(uint16_t http_status)
{
    return http_status == 429 || http_status == 503;
}

void outcome_reason_text(struct outcome o, char *out, size_t size)
{
    if (o.reason == REASON_HTTP)
        snprintf(out, size, "http_%u", (unsigned)o.http_status);
    else
        snprintf(out, size, "%s", outcome_reason_name(o.reason));
}

bool outcome_reason_drops_only(enum outcome_reason r)
{
    return r == REASON_NOFOLLOW || r == REASON_KIND || r == REASON_CROSS_HOST ||
           r == REASON_NESTED_INDEX || r == REASON_SAME_CONTENT ||
           r == REASON_NEAR_DUP;
}

bool outcome_reason_is(const char *text)
{
    if (strncmp(text, "http_", 5) == 0)
        return strlen(text) == 8 && strspn(text + 5, "0123456789") == 3;
    for (unsigned r = REASON_NONE + 1; r < REASON_COUNT_; r++)
        if (r != REASON_HTTP && reasons[r] != NULL &&
            strcmp(text, reasons[r]) == 0)
            return !outcome_reason_drops_only((enum outcome_reason)r);
    return false;
}

bool outcome_counts_as_page(struct outcome o)
{
    /* A final response to this crawl, good or bad: not a redirect, and not a
     * missing response, nor one whose page was not asked for. */
    return (o.status == OUTCOME_FETCHED && o.reason != REASON_IMPORTED &&
            o.reason != REASON_CHECKED) ||
           (o.status == OUTCOME_FAILED && o.reason == REASON_HTTP);
}

bool outcome_is_error(struct outcome o)
{
    return o.status == OUTCOME_FAILED || o.status == OUTCOME_DENIED ||
           (o.status == OUTCOME_SKIPPED && o.reason != REASON_NO_SITEMAP);
}

bool outcome_fails_seed(struct outcome o)
{
    switch (o.status) {
    case OUTCOME_REDIRECT:
        return o.reason == REASON_REDIRECT_LIMIT ||
               o.reason == REASON_REDIRECT_LOOP;
    case OUTCOME_SKIPPED: /* a wrong guess says nothing about its host, nor does
                             a removal by a person, nor what another crawler
                             knew */
        return o.reason != REASON_NO_SITEMAP && o.reason != REASON_REMOVED &&
               o.reason != REASON_IMPORTED;
    case OUTCOME_FAILED:
    case OUTCOME_DENIED:
        return true;
    default:
        return false;
    }
}
