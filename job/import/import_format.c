/* SPDX-License-Identifier: MIT */
/* import_format.c - the table of formats, and what they share. */
#include "job/import/import_format.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "frontier/url/url.h"

#define IMPORT_CDX_FIELDS 32 /* most letters of a CDX header that are read */

struct import_reader {
    const struct import_format *format;
    uint64_t line;
    const char *why;
    struct buf
        text;     /* the URL of the record, if the line has it not as it is */
    bool is_open; /* a record of several lines has begun */
    /* urlfrontier */
    struct buf object;  /* what there is of such a record */
    uint64_t opened_at; /* its first line */
    int64_t now_ms;
    /* cdx: what the header says */
    char fields[IMPORT_CDX_FIELDS + 1];
    char delimiter;
};

struct import_format {
    const char *name;
    enum import_said (*line)(struct import_reader *r, struct bytes line,
                             struct import_record *out);
    /* The file has ended; NULL: a record never spans lines. */
    enum import_said (*end)(struct import_reader *r);
};

extern const struct import_format import_list, import_cdx, import_nutch,
    import_heritrix, import_wget2, import_urlfrontier;

static struct bytes import_cut(struct bytes *rest, char c);
static bool import_http_status(struct bytes text, uint16_t *out);
static enum outcome_status import_status_of(uint16_t http_status);

static inline enum import_said import_refuse(struct import_reader *r,
                                             const char *why)
{
    r->why = why;
    return IMPORT_REFUSED;
}

/*
 * A list of URLs, each with its state.
 *
 *     URL                          it waits
 *     URL TAB STATE                waiting, done, failed or known
 *     URL TAB STATE TAB STATUS     done or failed, with this HTTP status
 *
 * Blank lines are skipped, and lines that begin with #. White space around a
 * field does not count.
 */

static const struct {
    const char *word;
    enum outcome_status status;
} states[] = {
    {"waiting", OUTCOME_QUEUED},
    {"done", OUTCOME_FETCHED},
    {"failed", OUTCOME_FAILED},
    {"known", OUTCOME_SKIPPED},
};

static bool find_state(struct bytes word, struct import_record *out)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (bytes_is(word, states[i].word)) {
            out->status = states[i].status;
            out->word = states[i].word;
            return true;
        }
    return false;
}

static enum import_said read_line(struct import_reader *r, struct bytes line,
                                  struct import_record *out)
{
    struct bytes rest = bytes_trim(line), state, http;

    if (rest.len == 0 || rest.at[0] == '#')
        return IMPORT_NOTHING;
    out->url = bytes_trim(import_cut(&rest, '\t'));
    state = bytes_trim(import_cut(&rest, '\t'));
    http = bytes_trim(rest);
    if (state.len == 0)
        state = bytes_of_str("waiting");
    if (!find_state(state, out))
        return import_refuse(r,
                             "its state is not waiting, done, failed or known");
    if (http.len == 0)
        return IMPORT_RECORD;
    if (!import_http_status(http, &out->http_status))
        return import_refuse(r, "its HTTP status is not 100 to 599");
    if (out->status == OUTCOME_FETCHED)
        out->status = import_status_of(out->http_status);
    return IMPORT_RECORD;
}

const struct import_format import_list = {"list", read_line, NULL};

/*
 * Indexes of archives: CDX and CDXJ.
 *
 * CDX is a line of fields for each capture. Its first line, " CDX N b a m s k r
 * M S V g", names them by letters and shows the delimiter; without it, the
 * fields are those of 11 or of 9 as the tools write them (CDX 2015 of the
 * IIPC):
 *
 *     N massaged URL  b date  a original URL  m media type  s HTTP status
 *     k digest  r redirect  M meta tags  S compressed length  V offset  g file
 *
 * CDXJ is the massaged URL, the date, and an object of JSON with `url`,
 * `status`, `mime`. pywb writes the method of a request that is no GET beside
 * them; such a capture is none of the page.
 *
 * A capture means that the URL was fetched. A revisit record has no status, or
 * that of the response that it repeats.
 */

#define FIELDS_11 "NbamskrMSVg"
#define FIELDS_9  "NbamskrVg"

/* YYYYMMDDhhmmss, or its beginning from the day on; 0: it is not a date. */
static int64_t date_of(struct bytes text)
{
    int v[6] = {0, 0, 0, 0, 0, 0};
    struct tm tm = {0};

    if (text.len < 8 || text.len > 14)
        return 0;
    for (size_t i = 0; i < 6 && text.len > 0; i++) {
        size_t digits = i == 0 ? 4 : 2;
        uint64_t n;

        if (!bytes_take_number(&text, digits < text.len ? digits : text.len,
                               &n))
            return 0;
        v[i] = (int)n;
    }
    tm.tm_year = v[0] - 1900;
    tm.tm_mon = v[1] - 1;
    tm.tm_mday = v[2];
    tm.tm_hour = v[3];
    tm.tm_min = v[4];
    tm.tm_sec = v[5];
    return v[0] < 1970 ? 0 : (int64_t)timegm(&tm) * 1000;
}

static enum import_said take_capture(struct import_reader *r, struct bytes url,
                                     struct bytes date, struct bytes status,
                                     struct import_record *out)
{
    if (url.len == 0)
        return import_refuse(r, "it has no URL");
    if (!bytes_is(status, "-") && status.len > 0 &&
        !import_http_status(status, &out->http_status))
        return import_refuse(r, "its HTTP status is not 100 to 599");
    out->url = url;
    out->at_ms = date_of(date);
    out->status = import_status_of(out->http_status);
    out->word = "captured";
    return IMPORT_RECORD;
}

/* ---- CDXJ ---- */

static struct bytes member(const json_t *o, const char *name)
{
    const json_t *v = json_object_get(o, name);

    return bytes_of(json_string_value(v), json_string_length(v));
}

static enum import_said read_json(struct import_reader *r, struct bytes date,
                                  struct bytes text, struct import_record *out)
{
    json_t *o = json_loadb(text.at, text.len, 0, NULL);
    struct bytes url = member(o, "url"), method = member(o, "method");
    enum import_said said;

    if (!json_is_object(o)) {
        json_decref(o);
        return import_refuse(r, "its third field is not an object of JSON");
    }
    buf_clear(&r->text);
    buf_add_bytes(&r->text, url);
    said = take_capture(r, buf_bytes(&r->text), date, member(o, "status"), out);
    if (said == IMPORT_RECORD && method.len > 0 && !bytes_is(method, "GET"))
        said = IMPORT_OTHER;
    json_decref(o);
    return said;
}

/* ---- CDX ---- */

/* " CDX N b a ..." */
static enum import_said take_header(struct import_reader *r, struct bytes line)
{
    size_t n = 0;

    r->delimiter = line.at[0];
    for (size_t i = strlen(" CDX") + 1; i < line.len && n < IMPORT_CDX_FIELDS;
         i += 2)
        r->fields[n++] = line.at[i];
    r->fields[n] = '\0';
    if (strchr(r->fields, 'a') == NULL) {
        r->fields[0] = '\0';
        return import_refuse(r, "its header names no original URL (a)");
    }
    return IMPORT_NOTHING;
}

static size_t count_fields(struct bytes line, char delimiter)
{
    size_t n = 1;

    for (size_t i = 0; i < line.len; i++)
        n += line.at[i] == delimiter;
    return n;
}

static enum import_said read_fields(struct import_reader *r, struct bytes line,
                                    struct import_record *out)
{
    const char delimiter = r->fields[0] != '\0' ? r->delimiter : ' ';
    const char *letter = r->fields;
    struct bytes url = {0}, date = {0}, status = {0};
    size_t n = count_fields(line, delimiter);

    if (letter[0] == '\0')
        letter = n == strlen(FIELDS_9) ? FIELDS_9 : FIELDS_11;
    if (n != strlen(letter))
        return import_refuse(r, "it has not as many fields as CDX has");
    for (; *letter != '\0'; letter++) {
        struct bytes field = import_cut(&line, delimiter);

        if (*letter == 'a')
            url = field;
        else if (*letter == 'b')
            date = field;
        else if (*letter == 's')
            status = field;
    }
    return take_capture(r, url, date, status, out);
}

static enum import_said cdx_read_line(struct import_reader *r,
                                      struct bytes line,
                                      struct import_record *out)
{
    struct bytes rest = line, date;

    if (line.len == 0)
        return IMPORT_NOTHING;
    if (line.len > 5 && memcmp(line.at + 1, "CDX", 3) == 0 &&
        line.at[0] == line.at[4])
        return take_header(r, line);
    if (bytes_starts_with(line, "!meta")) /* pywb's and OutbackCDX's heads */
        return IMPORT_NOTHING;
    (void)import_cut(&rest, ' ');
    date = import_cut(&rest, ' ');
    if (rest.len > 0 && rest.at[0] == '{')
        return read_json(r, date, rest, out);
    return read_fields(r, line, out);
}

const struct import_format import_cdx = {"cdx", cdx_read_line, NULL};

/*
 * The recovery journal of Heritrix.
 *
 * org.archive.crawler.frontier.FrontierJournal appends a line for each event of
 * its frontier. Heritrix escapes blanks in URLs.
 *
 *     F+ URL HOPS VIA   queued            Fe URL   given to a worker
 *     Fs URL HOPS VIA   succeeded         Fr URL   queued again
 *     Ff URL HOPS VIA   failed            Fi URL   counted as known
 *     Fd URL            disregarded (robots.txt, scope)
 *     T ..., E ...      time stamps, serious errors
 *
 * Releases before 3 write HOPS and VIA with F+ alone, and an empty line before
 * each. HOPS is the hop path from the seed: E is a part of a page, P what must
 * be fetched first (robots.txt, DNS), which is no page of the crawl.
 */

static const struct {
    const char *tag;
    enum outcome_status status;
} events[] = {
    {"F+", OUTCOME_QUEUED},  {"Fs", OUTCOME_FETCHED}, {"Ff", OUTCOME_FAILED},
    {"Fd", OUTCOME_SKIPPED}, {"Fi", OUTCOME_SKIPPED},
};

static bool find_event(struct bytes tag, struct import_record *out)
{
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (bytes_is(tag, events[i].tag)) {
            out->status = events[i].status;
            out->word = events[i].tag;
            return true;
        }
    return false;
}

/* Fe and Fr are about a URL that was queued before. */
static bool says_nothing(struct bytes tag)
{
    return bytes_is(tag, "Fe") || bytes_is(tag, "Fr") || bytes_is(tag, "T") ||
           bytes_is(tag, "E");
}

static enum import_said heritrix_read_line(struct import_reader *r,
                                           struct bytes line,
                                           struct import_record *out)
{
    struct bytes rest = line, tag = import_cut(&rest, ' '), hops;
    char last;

    if (line.len == 0 || says_nothing(tag))
        return IMPORT_NOTHING;
    if (!find_event(tag, out))
        return import_refuse(r, "not a line of a recovery journal");
    out->url = import_cut(&rest, ' ');
    hops = import_cut(&rest, ' ');
    last = hops.len > 0 ? hops.at[hops.len - 1] : '\0';
    out->embedded = last == 'E' || last == 'X';
    if (last == 'P')
        return IMPORT_OTHER;
    return IMPORT_RECORD;
}

const struct import_format import_heritrix = {"heritrix-recover",
                                              heritrix_read_line, NULL};

/*
 * The text that `nutch readdb CRAWLDB -dump DIR` writes.
 *
 * A record begins with its URL, TAB and its version; lines with the fields of
 * org.apache.nutch.crawl.CrawlDatum follow, then those of its metadata, each
 * after white space, and a blank line:
 *
 *     http://a.example/ TAB Version: 7
 *     Status: 2 (db_fetched)
 *     Fetch time: Wed Jan 01 00:00:00 UTC 2025
 *     ...
 *     Metadata:
 *      TAB _pst_=success(1), lastModified=0
 *
 * The status completes what we want of a record. Times are of Java's
 * Date.toString with the names of time zones, which are ambiguous, and the
 * fetch time is that of the next fetch: they are not read.
 */

/* CrawlDatum.STATUS_DB_*, by their numbers. */
static const struct {
    const char *word;
    enum outcome_status status;
} nutch_states[] = {
    {"db_unfetched", OUTCOME_QUEUED},    {"db_fetched", OUTCOME_FETCHED},
    {"db_gone", OUTCOME_FAILED},         {"db_redir_temp", OUTCOME_REDIRECT},
    {"db_redir_perm", OUTCOME_REDIRECT}, {"db_notmodified", OUTCOME_FETCHED},
    {"db_duplicate", OUTCOME_FETCHED},   {"db_orphan", OUTCOME_SKIPPED},
};

static const char *const other_fields[] = {
    "Fetch time:",     "Modified time:", "Retries since fetch:",
    "Retry interval:", "Score:",         "Signature:",
    "Metadata:"};

#define STATUS_FIELD "Status: "
#define NO_STATUS    "its record has no status of a CrawlDb"

static enum import_said take_status(struct import_reader *r, struct bytes line,
                                    struct import_record *out)
{
    struct bytes rest = bytes_skip(line, strlen(STATUS_FIELD));
    struct bytes number = import_cut(&rest, ' ');
    size_t n = number.len == 1 ? (size_t)(number.at[0] - '0') : 0;

    r->is_open = false;
    if (n < 1 || n > sizeof nutch_states / sizeof *nutch_states)
        return import_refuse(r, NO_STATUS);
    out->url = buf_bytes(&r->text);
    out->status = nutch_states[n - 1].status;
    out->word = nutch_states[n - 1].word;
    out->line--; /* the one with the URL */
    return IMPORT_RECORD;
}

/* Begins a record if this is its first line. */
static bool opens(struct import_reader *r, struct bytes line)
{
    struct bytes rest = line, url = import_cut(&rest, '\t');

    if (url.len == 0 || !bytes_starts_with(rest, "Version: "))
        return false;
    buf_clear(&r->text);
    buf_add_bytes(&r->text, url);
    return true;
}

static bool is_field(struct bytes line)
{
    if (line.at[0] == ' ' || line.at[0] == '\t') /* metadata */
        return true;
    for (size_t i = 0; i < sizeof other_fields / sizeof *other_fields; i++)
        if (bytes_starts_with(line, other_fields[i]))
            return true;
    return false;
}

static enum import_said nutch_read_line(struct import_reader *r,
                                        struct bytes line,
                                        struct import_record *out)
{
    const bool was_open = r->is_open;

    if (was_open && bytes_starts_with(line, STATUS_FIELD))
        return take_status(r, line, out);
    r->is_open = opens(r, line);
    if (was_open)
        return import_refuse(r, NO_STATUS);
    if (r->is_open || line.len == 0 || is_field(line))
        return IMPORT_NOTHING;
    return import_refuse(r, "not a line of a CrawlDb dump in text form");
}

static enum import_said end_file(struct import_reader *r)
{
    const bool was_open = r->is_open;

    r->is_open = false;
    return was_open ? import_refuse(r, NO_STATUS) : IMPORT_NOTHING;
}

const struct import_format import_nutch = {"nutch-dump", nutch_read_line,
                                           end_file};

/*
 * What the client of a URLFrontier service lists.
 *
 * DumpURLs writes a URLItem a line, in the JSON of its messages (Protocol
 * Buffers, "ProtoJSON": 64-bit numbers are texts, and 0 is left out). ListURLs
 * -j writes the same on several lines, from "{" to "}", each alone on its line,
 * and ListURLs a URL and its date in seconds since 1970.
 *
 *     {"known":{"info":{"url":"http://a/",...},"refetchableFromDate":"1767225600"}}
 *     {"discovered":{"info":{"url":"http://a/",...}}}
 *     http://a/;1767225600
 *
 * A service does not say whether a URL was ever fetched, only from when on it
 * gives it out: 0 is never again, so it is done; a date to come is that of a
 * URL that was fetched, since one that was not is due from when it was found;
 * what is due waits.
 */

#define SECONDS_MOST UINT64_C(99999999999) /* some 3,000 years */

static enum import_said take(const struct import_reader *r, int64_t seconds,
                             struct import_record *out)
{
    out->word = "due";
    if (seconds == 0 || seconds > r->now_ms / 1000) {
        out->status = OUTCOME_FETCHED;
        out->word = seconds == 0 ? "completed" : "due later";
    }
    return IMPORT_RECORD;
}

static struct bytes text_of(const json_t *v)
{
    return bytes_of(json_string_value(v), json_string_length(v));
}

static enum import_said read_item(struct import_reader *r, const json_t *item,
                                  struct import_record *out)
{
    const json_t *known = json_object_get(item, "known");
    const json_t *found = json_object_get(item, "discovered");
    const json_t *info = json_object_get(known != NULL ? known : found, "info");
    const json_t *date = json_object_get(known, "refetchableFromDate");
    struct bytes url = text_of(json_object_get(info, "url"));
    uint64_t seconds = 0;

    if (url.len == 0)
        return import_refuse(r, "not a URLItem with a URL");
    buf_clear(&r->text);
    buf_add_bytes(&r->text, url);
    out->url = buf_bytes(&r->text);
    if (known == NULL) {
        out->word = "discovered";
        return IMPORT_RECORD;
    }
    if (date != NULL && !bytes_number(text_of(date), SECONDS_MOST, &seconds))
        return import_refuse(r, "its refetchableFromDate is not in seconds");
    return take(r, (int64_t)seconds, out);
}

static enum import_said urlfrontier_read_json(struct import_reader *r,
                                              struct bytes text,
                                              struct import_record *out)
{
    json_t *item = json_loadb(text.at, text.len, 0, NULL);
    enum import_said said = import_refuse(r, "not a URLItem in JSON");

    if (item != NULL)
        said = read_item(r, item, out);
    json_decref(item);
    return said;
}

/* ---- an object of several lines ---- */

static void open_object(struct import_reader *r)
{
    r->is_open = true;
    r->opened_at = r->line;
    buf_clear(&r->object);
}

/* Takes a line of the object that is open, to its last. */
static enum import_said go_on(struct import_reader *r, struct bytes line,
                              struct import_record *out)
{
    buf_add_bytes(&r->object, line);
    buf_add(&r->object, "\n", 1);
    if (!bytes_is(line, "}"))
        return IMPORT_NOTHING;
    r->is_open = false;
    out->line = r->opened_at;
    if (buf_failed(&r->object) != STATUS_OK)
        return import_refuse(r, "the object that ends here is too long");
    return urlfrontier_read_json(r, buf_bytes(&r->object), out);
}

/* ---- lines ---- */

/* "http://a/;1767225600". A URL may have semicolons itself. */
static enum import_said read_listed(struct import_reader *r, struct bytes line,
                                    struct import_record *out)
{
    const char *at = memrchr(line.at, ';', line.len);
    uint64_t seconds;

    if (at == NULL ||
        !bytes_number(bytes_skip(line, (size_t)(at - line.at) + 1),
                      SECONDS_MOST, &seconds))
        return import_refuse(r, "it has no date in seconds after a URL");
    out->url = bytes_of(line.at, (size_t)(at - line.at));
    return take(r, (int64_t)seconds, out);
}

static enum import_said urlfrontier_read_line(struct import_reader *r,
                                              struct bytes line,
                                              struct import_record *out)
{
    const bool was_open = r->is_open;

    if (bytes_is(line, "{"))
        open_object(r);
    if (r->is_open) {
        enum import_said said = go_on(r, line, out);

        return was_open && r->opened_at == r->line
                   ? import_refuse(r, "the object before it is cut short")
                   : said;
    }
    if (line.len == 0)
        return IMPORT_NOTHING;
    if (line.at[0] == '{')
        return urlfrontier_read_json(r, line, out);
    return read_listed(r, line, out);
}

static enum import_said urlfrontier_end_file(struct import_reader *r)
{
    const bool was_open = r->is_open;

    r->is_open = false;
    return was_open ? import_refuse(r, "its last object is cut short")
                    : IMPORT_NOTHING;
}

const struct import_format import_urlfrontier = {"urlfrontier",
                                                 urlfrontier_read_line,
                                                 urlfrontier_end_file};

/*
 * The log of GNU Wget2, `wget2 -o FILE` or with -d.
 *
 *     Adding URL: URL                        found, and wanted
 *     [0] Downloading 'URL' ...              asked for
 *     HTTP response 200 OK [URL]             done
 *     HTTP ERROR response 404 Not Found [URL]
 *
 * A URL without a response waits: it was not asked for, or its connection
 * failed. The table of --stats-site is not read instead: Wget2 writes it when
 * it ends, and has nothing in it that waits. The reason phrase is what a server
 * sent, so the URL of a response is what stands after its last space; Wget2
 * escapes those of URLs.
 */

#define ADDING      "Adding URL: "
#define DOWNLOADING " Downloading '"
#define DOTS        "' ..."
#define RESPONSE    "HTTP response "
#define ERROR       "HTTP ERROR response "

/* Wget2 asks for robots.txt by itself. */
static enum import_said wget2_take(struct import_record *out, struct bytes url,
                                   const char *word)
{
    out->url = url;
    out->word = word;
    return bytes_ends_with(url, "/robots.txt") ? IMPORT_OTHER : IMPORT_RECORD;
}

/* "200 OK [URL]" */
static enum import_said take_response(struct import_reader *r,
                                      struct bytes rest,
                                      struct import_record *out)
{
    struct bytes status = import_cut(&rest, ' '), url = rest;

    while (url.len > 0 && memchr(url.at, ' ', url.len) != NULL)
        (void)import_cut(&url, ' ');
    if (!import_http_status(status, &out->http_status) || url.len < 3 ||
        url.at[0] != '[' || url.at[url.len - 1] != ']')
        return import_refuse(r, "a response without an HTTP status or a URL");
    out->status = import_status_of(out->http_status);
    return wget2_take(out, bytes_of(url.at + 1, url.len - 2), "response");
}

static enum import_said wget2_read_line(struct import_reader *r,
                                        struct bytes line,
                                        struct import_record *out)
{
    struct bytes rest = line;

    if (bytes_starts_with(line, RESPONSE))
        return take_response(r, bytes_skip(line, strlen(RESPONSE)), out);
    if (bytes_starts_with(line, ERROR))
        return take_response(r, bytes_skip(line, strlen(ERROR)), out);
    if (bytes_starts_with(line, ADDING))
        return wget2_take(out, bytes_skip(line, strlen(ADDING)), "added");
    if (line.len == 0 || line.at[0] != '[')
        return IMPORT_NOTHING;
    (void)import_cut(&rest, ']');
    if (!bytes_starts_with(rest, DOWNLOADING) || !bytes_ends_with(rest, DOTS))
        return IMPORT_NOTHING;
    rest = bytes_skip(rest, strlen(DOWNLOADING));
    if (rest.len < strlen(DOTS))
        return IMPORT_NOTHING;
    rest.len -= strlen(DOTS);
    return wget2_take(out, rest, "begun");
}

const struct import_format import_wget2 = {"wget2-log", wget2_read_line, NULL};

#define OBJECT_MOST ((size_t)1 << 20) /* octets of a record of several lines */

static const struct import_format *const formats[] = {
    &import_list,  &import_cdx,         &import_nutch, &import_heritrix,
    &import_wget2, &import_urlfrontier, NULL};
const char *const import_formats[] = {"list",       "cdx",
                                      "nutch-dump", "heritrix-recover",
                                      "wget2-log",  "urlfrontier",
                                      "urlweir",    NULL};

bool import_is_of_crawls(unsigned format)
{
    return formats[format] == NULL;
}

struct import_reader *import_reader_new(unsigned format, int64_t now_ms)
{
    struct import_reader *r = xcalloc(1, sizeof *r);

    r->format = formats[format];
    r->why = "";
    r->now_ms = now_ms;
    buf_init(&r->text, URL_LENGTH_CEILING + 1);
    buf_init(&r->object, OBJECT_MOST);
    return r;
}

void import_reader_free(struct import_reader *r)
{
    if (r == NULL)
        return;
    buf_fini(&r->object);
    buf_fini(&r->text);
    free(r);
}

enum import_said import_reader_line(struct import_reader *r, struct bytes line,
                                    struct import_record *out)
{
    r->line++;
    if (line.len > 0 && line.at[line.len - 1] == '\r')
        line.len--;
    *out = (struct import_record){.line = r->line, .word = ""};
    return r->format->line(r, line, out);
}

void import_reader_skip(struct import_reader *r)
{
    r->line++;
}

enum import_said import_reader_end(struct import_reader *r)
{
    enum import_said said =
        r->format->end != NULL ? r->format->end(r) : IMPORT_NOTHING;

    r->line = 0;
    r->fields[0] = '\0';
    return said;
}

const char *import_reader_why(const struct import_reader *r)
{
    return r->why;
}

uint64_t import_reader_at(const struct import_reader *r)
{
    return r->line;
}

/* ---- shared ---- */

/* Splits off what precedes the first `c`, or all of it; *rest is what follows.
 */
static struct bytes import_cut(struct bytes *rest, char c)
{
    const char *at = rest->len > 0 ? memchr(rest->at, c, rest->len) : NULL;
    struct bytes head = *rest;

    if (at == NULL) {
        *rest = bytes_of(head.at, 0);
        return head;
    }
    head.len = (size_t)(at - head.at);
    *rest = bytes_skip(*rest, head.len + 1);
    return head;
}

/* False: it is not a number of three digits from 100 to 599. */
static bool import_http_status(struct bytes text, uint16_t *out)
{
    uint64_t n;

    if (text.len != 3 || !bytes_number(text, 599, &n) || n < 100)
        return false;
    *out = (uint16_t)n;
    return true;
}

/* The status of a URL whose response had this HTTP status; 0: not told. */
static enum outcome_status import_status_of(uint16_t http_status)
{
    if (http_status >= 400)
        return OUTCOME_FAILED;
    if (http_status >= 300 && http_status != 304)
        return OUTCOME_REDIRECT;
    return OUTCOME_FETCHED;
}
