/* SPDX-License-Identifier: MIT */
/*
 * url_columns.c - the columns of a URL's row: one table.
 *
 * Views differ only in which columns they show and in their order, since
 * programs read CSV by position.
 */
#include "crawler/url_columns.h"

#include <stdio.h>

#include "crawler/html/link_values.h"
#include "frontier/outcome.h"
#include "storage/rows/page_store.h"

#define AT(x)    offsetof(struct url_record, x)
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- values of members ---- */

static void set_text(struct record_value *out, struct bytes text)
{
    column_text(out, text, text.len > 0);
}

static void get_http_status(const void *member, struct record_value *out)
{
    uint16_t n = *(const uint16_t *)member;

    column_number(out, RECORD_UINT, n != 0, n);
}

static void get_seconds(const void *member, struct record_value *out)
{
    column_number(out, RECORD_SECONDS, true, *(const uint32_t *)member);
}

static void get_first_byte(const void *member, struct record_value *out)
{
    const struct fetch_row *f = member;

    column_number(out, RECORD_SECONDS, f->http_status != 0, f->first_byte_ms);
}

static void get_status(const void *member, struct record_value *out)
{
    const struct fetch_row *f = member;

    set_text(out, bytes_of_str(outcome_status_name(f->status)));
}

static void get_reason(const void *member, struct record_value *out)
{
    const struct fetch_row *f = member;
    struct outcome o = {f->status, f->reason, f->http_status};

    outcome_reason_text(o, out->room, sizeof out->room);
    set_text(out, bytes_of_str(out->room));
}

static void get_met_at(const void *member, struct record_value *out)
{
    bool robots = (*(const uint16_t *)member & FETCH_ROW_AT_ROBOTS) != 0;

    set_text(out, bytes_of_str(robots ? "robots" : ""));
}

static void get_noindex(const void *member, struct record_value *out)
{
    column_number(out, RECORD_FLAG, true,
                  *(const uint16_t *)member & FETCH_ROW_NOINDEX);
}

static void get_unknown_coding(const void *member, struct record_value *out)
{
    column_number(out, RECORD_FLAG, true,
                  *(const uint16_t *)member & FETCH_ROW_UNKNOWN_CODING);
}

static void get_not_well_formed(const void *member, struct record_value *out)
{
    column_number(out, RECORD_FLAG, true,
                  *(const uint16_t *)member & FETCH_ROW_NOT_WELL_FORMED);
}

static void get_no_numbers(const void *member, struct record_value *out)
{
    column_number(out, RECORD_FLAG, true,
                  *(const uint16_t *)member & FETCH_ROW_NO_NUMBERS);
}

static void get_digest(const void *member, struct record_value *out)
{
    const struct digest *d = member;

    out->room[0] = '\0';
    if ((d->hi | d->lo) != 0)
        snprintf(out->room, sizeof out->room, "%016llx%016llx",
                 (unsigned long long)d->hi, (unsigned long long)d->lo);
    set_text(out, bytes_of_str(out->room));
}

/* 64 bits */
static void get_print(const void *member, struct record_value *out)
{
    uint64_t print = *(const uint64_t *)member;

    out->room[0] = '\0';
    if (print != 0)
        snprintf(out->room, sizeof out->room, "%016llx",
                 (unsigned long long)print);
    set_text(out, bytes_of_str(out->room));
}

static void get_kind(const void *member, struct record_value *out)
{
    set_text(out, bytes_of_str(link_kind_name(*(const uint8_t *)member)));
}

static void get_seed(const void *member, struct record_value *out)
{
    column_number(out, RECORD_FLAG, true,
                  *(const uint8_t *)member & URL_ROW_SEED);
}

static void get_false_positive(const void *member, struct record_value *out)
{
    column_number(out, RECORD_FLAG, true,
                  *(const uint8_t *)member & URL_ROW_FALSE_POSITIVE);
}

static void get_priority(const void *member, struct record_value *out)
{
    int16_t n = *(const int16_t *)member;

    column_number(out, RECORD_THOUSANDTHS, n >= 0, (uint64_t)n);
}

static void get_lastmod(const void *member, struct record_value *out)
{
    int64_t ms = *(const int64_t *)member;

    column_time(out, ms, ms != HINT_NO_LASTMOD);
}

static void get_changefreq(const void *member, struct record_value *out)
{
    set_text(out, bytes_of_str(changefreq_name(*(const uint8_t *)member)));
}

static void get_in_links(const void *member, struct record_value *out)
{
    int64_t n = *(const int64_t *)member;

    column_number(out, RECORD_UINT, n >= 0, (uint64_t)n);
}

/* `meta` is valid, or empty. */
static struct page_meta unpacked(const void *member)
{
    const struct bytes *packed = member;
    struct page_meta meta = {.is_html = false};

    if (packed->len > 0)
        (void)page_meta_get(*packed, &meta);
    return meta;
}

static void get_description(const void *member, struct record_value *out)
{
    set_text(out, unpacked(member).description);
}

static void get_h1(const void *member, struct record_value *out)
{
    set_text(out, unpacked(member).h1);
}

static void get_robots(const void *member, struct record_value *out)
{
    set_text(out, unpacked(member).robots);
}

static void get_canonical(const void *member, struct record_value *out)
{
    set_text(out, unpacked(member).canonical);
}

static void get_hreflang(const void *member, struct record_value *out)
{
    struct page_meta meta = unpacked(member);

    column_number(out, RECORD_UINT, meta.is_html, meta.hreflang);
}

static void get_words(const void *member, struct record_value *out)
{
    struct page_meta meta = unpacked(member);

    column_number(out, RECORD_UINT, meta.is_html, meta.words);
}

/* ---- the table ---- */

/* clang-format off */
enum {
    SEQ, URL, STATUS, REASON, MET_AT, HTTP_STATUS, DEPTH, KIND, SEED, FALSE_POSITIVE,
    FOUND_AT, ID, VIA, VIA_ID, REDIRECTS_BEFORE, QUEUE, PRIORITY, LASTMOD,
    CHANGEFREQ, REDIRECT_TO, MIME, CHARSET, UNKNOWN_CODING, NOT_WELL_FORMED, TITLE, LANG, NOINDEX,
    BODY_BYTES, WIRE_BYTES, BODY_DIGEST, SAME_AS, SIMHASH, NEAR_DUP_OF,
    TEXT_DIGEST, NO_NUMBERS, BODY_PRINT, LINKS, TRIES, FINAL, FETCHED_AT, ELAPSED, FIRST_BYTE,
    IP, ETAG, LAST_MODIFIED, DETAIL, WARC_FILE, WARC_OFFSET, WARC_LENGTH,
    IN_LINKS, DESCRIPTION, H1, CANONICAL, ROBOTS, HREFLANG, WORDS
};
_Static_assert(WORDS + 1 == URL_COLUMNS, "each column has its line");

const struct column url_columns[URL_COLUMNS] = {
    [SEQ] = {"seq", "number",
     "number of its row in the store; it rises from line to line. Rows of "
     "repeated tries have numbers too, so some numbers are missing",
     column_get_uint64, AT(fetch.seq)},
    [URL] = {"url", "URL", "canonical", column_get_text, AT(url.url)},
    [STATUS] = {"status", "text",
     "`queued`, `fetched`, `redirect`, `failed`, `denied` or `skipped`",
     get_status, AT(fetch)},
    [REASON] = {"reason", "text", "[why](export.md)",
     get_reason, AT(fetch)},
    [MET_AT] = {"met_at", "text",
     "`robots`: the reason was met at the robots.txt of its origin, and the URL "
     "itself was not asked for", get_met_at, AT(fetch.flags)},
    [HTTP_STATUS] = {"http_status", "number", "of the last response",
     get_http_status, AT(fetch.http_status)},
    [DEPTH] = {"depth", "links", "from a seed", column_get_uint32,
     AT(url.depth)},
    [KIND] = {"kind", "text",
     "how the page it was first found on linked to it: `seed`, `a`, "
     "`redirect` ...",
     get_kind, AT(url.kind)},
    [SEED] = {"seed", "flag", "a person gave it",
     get_seed, AT(url.flags)},
    [FALSE_POSITIVE] = {"false_positive", "flag",
     "the filter said \"maybe seen\" although it was new",
     get_false_positive, AT(url.flags)},
    [FOUND_AT] = {"found_at", "time", "when it was admitted",
     column_get_time, AT(url.found_at_ms)},
    [ID] = {"id", "number", "number in order of arrival",
     column_get_uint64, AT(url.id)},
    [VIA] = {"via", "URL", "URL of the page it was first found on",
     column_get_text, AT(via)},
    [VIA_ID] = {"via_id", "number", "the `id` of that page",
     column_get_some, AT(url.via)},
    [REDIRECTS_BEFORE] = {"redirects_before", "redirects",
     "redirects on the way since the last real link; for what a style sheet out of scope names, such steps too", column_get_uint16, AT(url.hops)},
    [QUEUE] = {"queue", "text", "key of its queue: usually the host",
     column_get_text, AT(queue)},
    [PRIORITY] = {"priority", "fraction", "as a sitemap says it",
     get_priority, AT(hint.priority)},
    [LASTMOD] = {"lastmod", "time", "as a sitemap or a feed says it",
     get_lastmod, AT(hint.lastmod_ms)},
    [CHANGEFREQ] = {"changefreq", "text", "as a sitemap says it",
     get_changefreq, AT(hint.changefreq)},
    [REDIRECT_TO] = {"redirect_to", "URL", "where a redirect leads to, whether it was followed or not",
     column_get_text, AT(redirect_to)},
    [MIME] = {"mime", "text", "content type, without parameters",
     column_get_text, AT(fetch.mime)},
    [CHARSET] = {"charset", "text",
     "the encoding that was used to read the page",
     column_get_text, AT(fetch.charset)},
    [UNKNOWN_CODING] = {"unknown_coding", "flag",
     "its Content-Encoding names a coding that is not known, or not its own, "
     "and the body was read as it came", get_unknown_coding, AT(fetch.flags)},
    [NOT_WELL_FORMED] = {"not_well_formed", "flag",
     "it is XML by its type, and was read as HTML from where it is not well "
     "formed", get_not_well_formed, AT(fetch.flags)},
    [TITLE] = {"title", "text", "title of the page, at most 512 octets",
     column_get_text, AT(fetch.title)},
    [LANG] = {"lang", "text", "of its `html` element, else Content-Language",
     column_get_text, AT(fetch.lang)},
    [NOINDEX] = {"noindex", "flag",
     "robots meta or X-Robots-Tag asks search engines not to index it",
     get_noindex, AT(fetch.flags)},
    [BODY_BYTES] = {"body_bytes", "octets", "of the decoded body",
     column_get_uint64, AT(fetch.body_bytes)},
    [WIRE_BYTES] = {"wire_bytes", "octets", "octets received, heads included",
     column_get_uint64, AT(fetch.wire_bytes)},
    [BODY_DIGEST] = {"body_digest", "text",
     "128 bits under a secret of the crawl: equal for equal bodies of this "
     "crawl. The SHA-1 of a body is in its WARC record",
     get_digest, AT(fetch.body_digest)},
    [SAME_AS] = {"same_as", "URL",
     "`url` of the first page with the same body, if this is not the first",
     column_get_text, AT(same_as)},
    [SIMHASH] = {"simhash", "text",
     "64 bits: near for pages whose visible text is nearly the same; without it, "
     "the text is too short, no page, or `--near-dup off`",
     get_print, AT(fetch.simhash)},
    [NEAR_DUP_OF] = {"near_dup_of", "URL",
     "of the first page whose `simhash` differs in at most 3 bits, if its body is "
     "another", column_get_text, AT(near_dup_of)},
    [TEXT_DIGEST] = {"text_digest", "text",
     "128 bits: equal in every crawl for pages whose visible text is equal but "
     "for white space; of what is no HTML, for equal bodies",
     get_digest, AT(fetch.text_digest)},
    [NO_NUMBERS] = {"no_numbers", "flag",
     "`text_digest` leaves out numbers and dates (`--changed-by words`)",
     get_no_numbers, AT(fetch.flags)},
    [BODY_PRINT] = {"body_print", "text",
     "64 bits: equal in every crawl for equal bodies",
     get_print, AT(fetch.body_print)},
    [LINKS] = {"links", "links", "found on it",
     column_get_uint32, AT(fetch.links)},
    [TRIES] = {"tries", "tries", "tries so far",
     column_get_uint8, AT(fetch.tries)},
    [FINAL] = {"final", "flag", "no further try follows",
     column_get_flag, AT(fetch.final)},
    [FETCHED_AT] = {"fetched_at", "time", "when the request was sent",
     column_get_time, AT(fetch.at_ms)},
    [ELAPSED] = {"elapsed", "seconds",
     "from the request until the end of the response",
     get_seconds, AT(fetch.elapsed_ms)},
    [FIRST_BYTE] = {"first_byte", "seconds",
     "from the request until the first octet of the response",
     get_first_byte, AT(fetch)},
    [IP] = {"ip", "text", "address that responded",
     column_get_text, AT(fetch.ip)},
    [ETAG] = {"etag", "text", "as received", column_get_text, AT(fetch.etag)},
    [LAST_MODIFIED] = {"last_modified", "text", "as received",
     column_get_text, AT(fetch.last_modified)},
    [DETAIL] = {"detail", "text", "robots.txt line or error text",
     column_get_text, AT(fetch.detail)},
    [WARC_FILE] = {"warc_file", "text", "file that holds its record, with "
                                        "`--warc`",
     column_get_text, AT(fetch.warc_file)},
    [WARC_OFFSET] = {"warc_offset", "octets", "offset of the record in that "
                                              "file",
     column_get_some, AT(fetch.warc_offset)},
    [WARC_LENGTH] = {"warc_length", "octets", "length of the record there",
     column_get_some, AT(fetch.warc_length)},
    [IN_LINKS] = {"in_links", "pages",
     "other pages that link to it, not by redirects, as far as links were "
     "recorded (`--record links`)", get_in_links, AT(in_links)},
    [DESCRIPTION] = {"description", "text",
     "of the first meta description with text, at most 512 octets "
     "(`--record meta`)", get_description, AT(fetch.meta)},
    [H1] = {"h1", "text",
     "the first `h1` with text, at most 512 octets (`--record meta`)",
     get_h1, AT(fetch.meta)},
    [CANONICAL] = {"canonical", "URL",
     "what the page names as such, in the form of `url` (`--record meta`)",
     get_canonical, AT(fetch.meta)},
    [ROBOTS] = {"robots", "text",
     "directives as the page has them: those of X-Robots-Tag, then those of meta "
     "robots, at most 256 octets (`--record meta`)", get_robots, AT(fetch.meta)},
    [HREFLANG] = {"hreflang", "links",
     "`link` elements that name a version in another language "
     "(`--record meta`)", get_hreflang, AT(fetch.meta)},
    [WORDS] = {"words", "words",
     "of the visible text, the title left out; white space and tags divide them "
     "(`--record meta`)", get_words, AT(fetch.meta)},
};

static const uint8_t urls[] = {
    URL, STATUS, REASON, HTTP_STATUS, DEPTH, KIND, SEED, FALSE_POSITIVE,
    FOUND_AT, ID, VIA_ID, PRIORITY, LASTMOD, CHANGEFREQ, REDIRECT_TO, MET_AT,
    NOINDEX,
};
static const uint8_t pages[] = {
    URL, STATUS, REASON, HTTP_STATUS, MIME, CHARSET, TITLE, LANG, BODY_BYTES,
    WIRE_BYTES, BODY_DIGEST, LINKS, DEPTH, TRIES, FETCHED_AT, ELAPSED, IP, ETAG,
    LAST_MODIFIED, VIA, FIRST_BYTE, SAME_AS, NOINDEX, UNKNOWN_CODING, NOT_WELL_FORMED,
    SIMHASH, NEAR_DUP_OF,
    TEXT_DIGEST, NO_NUMBERS, BODY_PRINT, IN_LINKS, DESCRIPTION, H1, CANONICAL,
    ROBOTS, HREFLANG, WORDS,
};
static const uint8_t errors[] = {
    URL, STATUS, REASON, HTTP_STATUS, DETAIL, DEPTH, TRIES, FETCHED_AT, VIA,
    MET_AT,
};
static const uint8_t lines[] = {
    SEQ, URL, STATUS, REASON, HTTP_STATUS, DEPTH, KIND, VIA, REDIRECT_TO, MIME,
    CHARSET, TITLE, LANG, BODY_BYTES, WIRE_BYTES, BODY_DIGEST, SAME_AS, LINKS,
    TRIES, FETCHED_AT, ELAPSED, FIRST_BYTE, IP, ETAG, LAST_MODIFIED, DETAIL,
    WARC_FILE, WARC_OFFSET, WARC_LENGTH, MET_AT, NOINDEX, UNKNOWN_CODING,
    NOT_WELL_FORMED, SIMHASH, NEAR_DUP_OF, TEXT_DIGEST, NO_NUMBERS, BODY_PRINT, DESCRIPTION, H1,
    CANONICAL, ROBOTS, HREFLANG, WORDS,
};
static const uint8_t fetches[] = {
    SEQ, URL, FETCHED_AT, STATUS, REASON, HTTP_STATUS, TRIES, FINAL, REDIRECT_TO,
    MIME, CHARSET, TITLE, LANG, BODY_BYTES, WIRE_BYTES, BODY_DIGEST, SAME_AS,
    LINKS, ELAPSED, FIRST_BYTE, IP, ETAG, LAST_MODIFIED, DETAIL, WARC_FILE,
    WARC_OFFSET, WARC_LENGTH, MET_AT, NOINDEX, UNKNOWN_CODING,
    NOT_WELL_FORMED, SIMHASH,
    NEAR_DUP_OF, TEXT_DIGEST, NO_NUMBERS, BODY_PRINT, DESCRIPTION, H1, CANONICAL,
    ROBOTS, HREFLANG, WORDS,
};
static const uint8_t explained[] = {
    ID, FOUND_AT, KIND, DEPTH, REDIRECTS_BEFORE, QUEUE, FALSE_POSITIVE, STATUS,
    VIA, PRIORITY, LASTMOD, CHANGEFREQ,
};
static const uint8_t history[] = {
    FETCHED_AT, STATUS, REASON, TRIES, FINAL, HTTP_STATUS, DETAIL, MIME, IP,
    BODY_BYTES, LINKS, REDIRECT_TO, SAME_AS, MET_AT, NOINDEX, UNKNOWN_CODING,
    NOT_WELL_FORMED, SIMHASH, NEAR_DUP_OF, TEXT_DIGEST, NO_NUMBERS, BODY_PRINT,
};
static const uint8_t recent[] = {
    FETCHED_AT, URL, STATUS, REASON, HTTP_STATUS, ELAPSED, WIRE_BYTES, TITLE,
};
/* clang-format on */

const struct column_view row_views[ROW_VIEWS] = {
    [ROW_VIEW_URLS] = {"urls", url_columns, urls, COUNT(urls)},
    [ROW_VIEW_PAGES] = {"pages", url_columns, pages, COUNT(pages)},
    [ROW_VIEW_ERRORS] = {"errors", url_columns, errors, COUNT(errors)},
    [ROW_VIEW_LINES] = {"jsonl", url_columns, lines, COUNT(lines)},
    [ROW_VIEW_EXPLAIN] = {"explain", url_columns, explained, COUNT(explained)},
    [ROW_VIEW_HISTORY] = {"history", url_columns, history, COUNT(history)},
    [ROW_VIEW_FETCHES] = {"fetches", url_columns, fetches, COUNT(fetches)},
    [ROW_VIEW_RECENT] = {"recent", url_columns, recent, COUNT(recent)},
};
