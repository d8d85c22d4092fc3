/* SPDX-License-Identifier: MIT */
/*
 * warc_capture.c - the WARC records of one response.
 *
 * A response becomes a response record; a 304, which has no body, becomes a
 * revisit with the profile server-not-modified. The request and metadata
 * records follow it and name it (WARC-Concurrent-To), so one offset finds all
 * three.
 */
#include "crawler/archive/warc_capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "crawler/html/link_values.h"

/* ---- HTTP heads in the form for WARC records ---- */

/*
 * Content-Length is written in place of the first one, or at the end; repeats
 * are dropped (by RFC 9110 section 8.6 they are equal). If nothing has to
 * change, the lines are written as they came.
 */

#define CHANGED_LINE_MOST ((size_t)200) /* of a line in `changed` */

/* RFC 9110 section 15, and 429 and 451 of their own RFCs; HTTP/2 has no
 * phrases. Other statuses are written without one. */
static const struct {
    uint16_t status;
    const char *phrase;
} phrases[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {206, "Partial Content"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {410, "Gone"},
    {414, "URI Too Long"},
    {429, "Too Many Requests"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
};

/* The next line of *left without its end. False: none is left. */
static bool next_line(struct bytes *left, struct bytes *line)
{
    const char *end;

    if (left->len == 0)
        return false;
    end = memchr(left->at, '\n', left->len);
    *line =
        bytes_of(left->at, end != NULL ? (size_t)(end - left->at) : left->len);
    left->at += line->len + (end != NULL);
    left->len -= line->len + (end != NULL);
    if (line->len > 0 && line->at[line->len - 1] == '\r')
        line->len--;
    return true;
}

static bool is_field(struct bytes line, const char *name)
{
    size_t n = strlen(name);

    return line.len > n && line.at[n] == ':' &&
           bytes_equal_nocase(bytes_of(line.at, n), bytes_of_str(name));
}

static struct bytes value_of(struct bytes line)
{
    const char *colon = memchr(line.at, ':', line.len);
    size_t at = (size_t)(colon - line.at) + 1;

    return bytes_trim(bytes_of(line.at + at, line.len - at));
}

static void add_line(struct buf *out, struct bytes line)
{
    buf_add_bytes(out, line);
    buf_add_str(out, "\r\n");
}

static void note_changed(struct buf *changed, struct bytes line)
{
    size_t n = line.len < CHANGED_LINE_MOST ? line.len : CHANGED_LINE_MOST;

    if (changed->len > 0)
        buf_add_str(changed, "; ");
    buf_add(changed, line.at, n);
}

/* "HTTP/2 200 " becomes "HTTP/1.1 200 OK". */
static void add_status_line(struct buf *out, struct bytes line)
{
    struct bytes code;

    if (!bytes_starts_with(line, "HTTP/2 ") || line.len < 10) {
        add_line(out, line);
        return;
    }
    code = bytes_of(line.at + 7, 3);
    buf_add_str(out, "HTTP/1.1 ");
    buf_add_bytes(out, code);
    buf_add_char(out, ' ');
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        if (phrases[i].status == (code.at[0] - '0') * 100 +
                                     (code.at[1] - '0') * 10 + code.at[2] - '0')
            buf_add_str(out, phrases[i].phrase);
    }
    buf_add_str(out, "\r\n");
}

struct correction {
    const struct warc_body *body;
    struct buf *out, *changed;
    bool length_written;
};

static void add_length(struct correction *c)
{
    if (!c->length_written)
        buf_addf(c->out, "Content-Length: %llu\r\n",
                 (unsigned long long)c->body->length);
    c->length_written = true;
}

static bool is_number(struct bytes text, uint64_t n)
{
    struct buf number;
    bool same;

    buf_init(&number, 32);
    buf_add_uint(&number, n);
    same = bytes_equal(text, buf_bytes(&number));
    buf_fini(&number);
    return same;
}

static void correct_length(struct correction *c, struct bytes line)
{
    if (c->body->none && !is_number(value_of(line), 0)) {
        note_changed(c->changed, line); /* readers would wait for that body */
    } else if (!c->length_written &&
               is_number(value_of(line), c->body->length)) {
        add_line(c->out, line);
        c->length_written = true;
    } else {
        note_changed(c->changed, line);
        add_length(c);
    }
}

static void correct(struct correction *c, struct bytes line)
{
    if (is_field(line, "transfer-encoding"))
        note_changed(c->changed, line);
    else if (c->body->decoded && is_field(line, "content-encoding"))
        note_changed(c->changed, line);
    else if (is_field(line, "content-length"))
        correct_length(c, line);
    else
        add_line(c->out, line);
}

void warc_response_head(struct bytes raw, const struct warc_body *body,
                        struct buf *out, struct buf *changed)
{
    struct correction c = {.body = body, .out = out, .changed = changed};
    struct bytes line;

    if (next_line(&raw, &line))
        add_status_line(out, line);
    while (next_line(&raw, &line) && line.len > 0)
        correct(&c, line);
    if (!body->none)
        add_length(&c);
    buf_add_str(out, "\r\n");
}

/* "GET / HTTP/2" becomes "GET / HTTP/1.1". */
static void add_request_line(struct buf *out, struct bytes line)
{
    if (line.len > 7 &&
        bytes_is(bytes_of(line.at + line.len - 7, 7), " HTTP/2")) {
        line.len--;
        buf_add_bytes(out, line);
        buf_add_str(out, "1.1\r\n");
    } else {
        add_line(out, line);
    }
}

void warc_request_head(struct bytes raw, struct buf *out)
{
    struct bytes line;

    if (next_line(&raw, &line))
        add_request_line(out, line);
    while (next_line(&raw, &line) && line.len > 0) {
        if (!is_field(line, "proxy-authorization"))
            add_line(out, line);
    }
    buf_add_str(out, "\r\n");
}

/* ---- the metadata record of a response ---- */

/*
 * URLs are canonical, so none holds a line end or a space. A seed has neither
 * via nor steps: its hopsFromSeed is present but empty.
 */

static void add_field(struct buf *out, const char *name, struct bytes value)
{
    buf_add_str(out, name);
    buf_add_str(out, ": ");
    buf_add_bytes(out, value);
    buf_add_str(out, "\r\n");
}

static char *put(char *to, struct bytes b)
{
    memcpy(to, b.at, b.len);
    return to + b.len;
}

/* A page has dozens of them, so each is one addition to `out`. */
static void add_outlink(struct buf *out, const struct url_item *item)
{
    enum link_kind kind = (enum link_kind)item->kind;
    const char letter[] = {' ', link_kind_letter(kind), ' '};
    struct bytes place = bytes_of_str(link_kind_context(kind));
    size_t len = 9 + item->url.len + sizeof letter + place.len + 2;
    char *to = buf_room(out, len);

    if (to == NULL)
        return;
    to = put(to, bytes_of("outlink: ", 9));
    to = put(to, item->url);
    to = put(to, bytes_of(letter, sizeof letter));
    to = put(to, place);
    (void)put(to, bytes_of("\r\n", 2));
    buf_grew(out, len);
}

/* Room for all at once, so that they are not copied as the text grows. */
static void reserve(const struct warc_facts *facts, struct buf *out)
{
    size_t len = 512 + facts->by.via.len + facts->by.path.len;

    for (size_t i = 0; i < facts->outlink_count; i++)
        len += 32 + facts->outlinks[i].url.len;
    if (len <= out->ceiling - out->len)
        (void)buf_room(out, len);
}

bool warc_metadata(const struct warc_facts *facts, int64_t fetch_ms,
                   struct buf *out)
{
    bool whole = true;

    reserve(facts, out);
    if (facts->by.via.len > 0)
        add_field(out, "via", facts->by.via);
    add_field(out, "hopsFromSeed", facts->by.path);
    buf_add_str(out, "fetchTimeMs: ");
    buf_add_uint(out, fetch_ms > 0 ? (uint64_t)fetch_ms : 0);
    buf_add_str(out, "\r\n");
    if (facts->charset.len > 0)
        add_field(out, "charsetForLinkExtraction", facts->charset);
    if (facts->note.len > 0)
        add_field(out, "fetchNote", facts->note);
    for (size_t i = 0; i < facts->outlink_count && whole; i++) {
        size_t before = out->len;

        add_outlink(out, &facts->outlinks[i]);
        whole = buf_failed(out) == STATUS_OK;
        if (!whole)
            buf_truncate(out, before);
    }
    return whole;
}

/* ---- warc capture ---- */

#define RESPONSE_TYPE "application/http;msgtype=response"
#define REQUEST_TYPE  "application/http;msgtype=request"
#define CHANGED_MOST  ((size_t)4 << 10)
#define METADATA_TYPE "application/warc-fields"
#define HEAD_ROOM     ((size_t)64 << 10) /* for record heads and gzip headers */
#define MEMBERS_LEAST ((size_t)3 << 10)  /* room from the start */

static bool is_recordable(const struct fetch_result *r)
{
    if (!r->response->complete)
        return false;
    switch (r->end) {
    case FETCH_ANSWERED:
    case FETCH_CUT_LENGTH:
    case FETCH_CUT_TIME:
    case FETCH_CUT_ENCODING:
    case FETCH_TIMEOUT:
    case FETCH_RESET:
        return true;
    default:
        return false;
    }
}

/* ISO 28500:2017 section 5.13. */
static const char *truncation(const struct fetch_result *r)
{
    if (r->end == FETCH_CUT_ENCODING && !r->mislabelled)
        return "unspecified";
    switch (r->cut) {
    case FETCH_TOO_LONG:
        return "length";
    case FETCH_TOO_LATE:
        return "time";
    case FETCH_GONE:
        return "disconnect";
    case FETCH_WHOLE:
        break;
    }
    return NULL;
}

/* The fields that response and revisit have in common. */
static struct warc_record record_of(const struct warc_capture *c)
{
    return (struct warc_record){
        .id = c->id,
        .date_ms = c->date_ms,
        .uri = bytes_of_str(c->uri),
        .ip = bytes_of_str(c->ip),
        .warcinfo_id = c->info_id,
        .payload_digest = c->payload_digest,
        .protocol = c->protocol,
        .as_received = bytes_of_str(c->as_received),
        .content_type = RESPONSE_TYPE,
        .block = buf_bytes(&c->head),
    };
}

static enum status add_answer(struct warc_capture *c, struct warc_maker *m,
                              const struct warc_facts *facts,
                              const struct fetch_result *result)
{
    struct warc_record r = record_of(c);
    enum status st;

    r.type = "response";
    r.truncated = truncation(result);
    r.block_more = result->body;
    if (result->response->status == 304) {
        r.type = "revisit";
        r.profile = WARC_NOT_MODIFIED;
        r.refers_to_uri = facts->same.url;
        r.refers_to_date_ms = facts->same.at_ms;
        r.payload_digest = NULL;
        r.block_more = bytes_of("", 0);
    }
    st = warc_maker_add(m, &r, &c->members);
    c->first_length = c->members.len;
    return st;
}

static enum status add_request(struct warc_capture *c, struct warc_maker *m,
                               struct bytes raw)
{
    struct warc_record r = {.type = "request",
                            .date_ms = c->date_ms,
                            .uri = bytes_of_str(c->uri),
                            .ip = bytes_of_str(c->ip),
                            .warcinfo_id = c->info_id,
                            .concurrent_to = c->id,
                            .protocol = c->protocol,
                            .content_type = REQUEST_TYPE};
    char id[WARC_ID_SIZE];
    struct buf head;
    enum status st = STATUS_OK;

    if (raw.len == 0)
        return STATUS_OK;
    buf_init(&head, raw.len * 2 + 64);
    warc_request_head(raw, &head);
    warc_new_id(id);
    r.id = id;
    r.block = buf_bytes(&head);
    st = warc_maker_add(m, &r, &c->members);
    buf_fini(&head);
    return st;
}

static enum status add_metadata(struct warc_capture *c, struct warc_maker *m,
                                const struct warc_facts *facts,
                                const struct fetch_result *result)
{
    struct warc_record r = {.type = "metadata",
                            .date_ms = c->date_ms,
                            .uri = bytes_of_str(c->uri),
                            .warcinfo_id = c->info_id,
                            .concurrent_to = c->id,
                            .content_type = METADATA_TYPE};
    char id[WARC_ID_SIZE];
    struct buf block;
    enum status st;

    buf_init(&block, WARC_METADATA_MOST);
    if (!warc_metadata(facts, (result->ended - result->started) / NS_PER_MS,
                       &block))
        r.truncated = "length";
    warc_new_id(id);
    r.id = id;
    r.block = buf_bytes(&block);
    st = warc_maker_add(m, &r, &c->members);
    buf_fini(&block);
    return st;
}

static struct warc_capture *capture_new(const char *info_id, struct bytes url,
                                        const struct fetch_result *result)
{
    struct warc_capture *c = xcalloc(1, sizeof *c);
    const struct response *a = result->response;
    struct warc_body body = {.length = result->body.len,
                             .none = a->status == 204 || a->status == 304,
                             .decoded = result->decoded || result->mislabelled};
    struct buf changed;

    /* the worst case is stored blocks: five octets in 16 KB (deflateBound) */
    buf_init(&c->members, (result->body.len + 3 * RESPONSE_MOST) * 9 / 8 +
                              result->request.len * 2 + 2 * HEAD_ROOM +
                              WARC_METADATA_MOST);
    (void)buf_room(&c->members, result->body.len / 2 + MEMBERS_LEAST);
    buf_init(&c->head, a->raw.len * 2 + 256);
    buf_init(&changed, CHANGED_MOST);
    warc_response_head(buf_bytes(&a->raw), &body, &c->head, &changed);
    c->date_ms = result->started_wall_ms;
    c->uri = xstrndup(url.at, url.len);
    c->ip = xstrdup(result->ip);
    c->as_received = xstrdup(buf_str(&changed));
    c->protocol = result->http2 ? "h2" : NULL;
    c->may_repeat = result->end == FETCH_ANSWERED &&
                    result->cut == FETCH_WHOLE && result->body.len > 0 &&
                    !body.none;
    if (info_id != NULL)
        snprintf(c->info_id, sizeof c->info_id, "%s", info_id);
    buf_fini(&changed);
    return c;
}

struct warc_capture *warc_capture_of(struct warc_maker *m, const char *info_id,
                                     const struct warc_facts *facts,
                                     const struct fetch_result *result)
{
    struct warc_capture *c;
    enum status st;

    if (!is_recordable(result))
        return NULL;
    c = capture_new(info_id, facts->url, result);
    warc_new_id(c->id);
    warc_digest(m, result->body, bytes_of("", 0), c->payload_digest);
    st = add_answer(c, m, facts, result);
    if (st == STATUS_OK)
        st = add_request(c, m, result->request);
    if (st == STATUS_OK)
        st = add_metadata(c, m, facts, result);
    if (st == STATUS_OK) {
        buf_fit(&c->members);
        return c;
    }
    log_warn("a response could not be recorded", "url=%s error=\"%s\"", c->uri,
             status_text(st));
    warc_capture_free(c);
    return NULL;
}

void warc_capture_free(struct warc_capture *c)
{
    if (c == NULL)
        return;
    if (c->pool != NULL)
        body_pool_give(c->pool, c, c->held);
    buf_fini(&c->members);
    buf_fini(&c->head);
    free(c->uri);
    free(c->ip);
    free(c->as_received);
    free(c);
}

/* Replaces the capture's members by `members`, unless making them failed. */
static enum status replace(struct warc_capture *c, struct buf *members,
                           size_t first_length, enum status st)
{
    if (st != STATUS_OK) {
        buf_fini(members);
        return st;
    }
    buf_fini(&c->members);
    c->members = *members;
    c->first_length = first_length;
    return STATUS_OK;
}

void warc_capture_count(struct warc_capture *c, struct body_pool *pool)
{
    c->held = sizeof *c + c->members.cap + c->head.cap;
    c->pool = pool;
    body_pool_hold(pool, c->held);
}

enum status warc_capture_revisit(struct warc_capture *c, struct warc_maker *m,
                                 struct bytes uri, int64_t date_ms)
{
    struct warc_record r = record_of(c);
    struct buf members;
    size_t first;
    enum status st;

    r.type = "revisit";
    r.profile = WARC_SAME_PAYLOAD;
    r.refers_to_uri = uri;
    r.refers_to_date_ms = date_ms;
    r.truncated = "length"; /* the block has only the head */
    buf_init(&members, c->members.ceiling);
    st = warc_maker_add(m, &r, &members);
    first = members.len;
    buf_add(&members, c->members.at + c->first_length,
            c->members.len - c->first_length);
    if (st == STATUS_OK)
        st = buf_failed(&members);
    return replace(c, &members, first, st);
}

enum status warc_capture_move(struct warc_capture *c, struct warc_maker *m,
                              const char *info_id)
{
    struct bytes first = bytes_of(c->members.at, c->first_length);
    struct bytes rest = bytes_of(c->members.at + c->first_length,
                                 c->members.len - c->first_length);
    struct buf members;
    size_t length;
    enum status st;

    buf_init(&members, c->members.ceiling);
    st = warc_maker_move(m, first, c->info_id, info_id, &members);
    length = members.len;
    if (st == STATUS_OK)
        st = warc_maker_move(m, rest, c->info_id, info_id, &members);
    if (st == STATUS_OK)
        snprintf(c->info_id, sizeof c->info_id, "%s", info_id);
    return replace(c, &members, length, st);
}
