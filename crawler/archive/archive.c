/* SPDX-License-Identifier: MIT */
/*
 * archive.c - appends records to WARC files.
 *
 * The first page with a body stores it; later ones refer to its URL and time,
 * by which readers find it (WARC/1.1 section 6.7.2). If the first page was
 * fetched without --warc, it has no record, and the body is stored again.
 */

#include "crawler/archive/archive.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/status.h"
#include "crawler/fetch/fetch.h"
#include "crawler/html/link_values.h"
#include "frontier/frontier.h"
#include "frontier/url/url.h"
#include "storage/warc/warc.h"
#include "storage/warc/warc_record.h"

/*
 * The WARC records of one response, made where it was fetched.
 *
 * A response becomes a response record or a revisit record; its request and a
 * metadata record follow, and both name it.
 *
 * libcurl removes chunking and content encodings from the body, so the recorded
 * head is corrected to match: Transfer-Encoding is dropped, Content-Encoding is
 * dropped if the body was decoded, and Content-Length is the real one.
 * WARC-X-As-Received in the record has the changed fields as they came over the
 * wire. HTTP/2 responses are written as HTTP/1.1, with WARC-Protocol: h2. Line
 * ends are CRLF throughout. The request is what curl sent, without
 * Proxy-Authorization.
 *
 * Compression, at gzip's level 1, happens on the fetcher's thread; the frontier
 * thread only appends, or replaces the response by a small revisit record if
 * its body was recorded before.
 *
 * A response becomes a response record; a 304, which has no body, becomes a
 * revisit with the profile server-not-modified. The request and metadata
 * records follow it and name it (WARC-Concurrent-To), so one offset finds all
 * three.
 */

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

/* NULL: the response has no whole head, or there is no memory, which is logged.
 * `info_id` may be NULL. */
static struct warc_capture *warc_capture_of(struct warc_maker *m,
                                            const char *info_id,
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

/* Counts its memory in `pool` until it is freed. */
static void warc_capture_count(struct warc_capture *c, struct body_pool *pool)
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

/* Changes the warcinfo record it names, since that file was finished
 * meanwhile. */
static enum status warc_capture_move(struct warc_capture *c,
                                     struct warc_maker *m, const char *info_id)
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

/* ---- how a URL was found ---- */

/*
 * The path of a page is the path of the page it was found on, plus one letter.
 * A page is leased after the page that links to it, whose path is usually still
 * in the cache: a table by id, where newer paths replace older ones. A missing
 * path is found by walking back row by row, at most WALK_MOST rows; beyond them
 * the row's depth gives the number of steps.
 */

#define SLOTS     4096 /* a power of two */
#define WALK_MOST 256
#define PATH_SIZE (HOP_LETTERS_MOST + 16)

struct path {
    uint64_t id; /* 0: free */
    uint32_t over, count;
    char letters[HOP_LETTERS_MOST]; /* the last ones */
};

struct hop_path {
    struct frontier *frontier;
    struct path *slots;
    struct buf via, text;
    char path[PATH_SIZE];
};

struct hop_path *hop_path_new(struct frontier *f)
{
    struct hop_path *t = xcalloc(1, sizeof *t);

    t->frontier = f;
    t->slots = xcalloc(SLOTS, sizeof *t->slots);
    buf_init(&t->via, URL_LENGTH_CEILING + 64);
    buf_init(&t->text, URL_LENGTH_CEILING + 64);
    return t;
}

void hop_path_free(struct hop_path *t)
{
    if (t == NULL)
        return;
    buf_fini(&t->via);
    buf_fini(&t->text);
    free(t->slots);
    free(t);
}

/* ---- paths ---- */

static struct path *slot_of(struct hop_path *t, uint64_t id)
{
    return &t->slots[id & (SLOTS - 1)];
}

static void step(struct path *p, char letter)
{
    if (p->count < HOP_LETTERS_MOST) {
        p->letters[p->count++] = letter;
        return;
    }
    memmove(p->letters, p->letters + 1, HOP_LETTERS_MOST - 1);
    p->letters[HOP_LETTERS_MOST - 1] = letter;
    p->over++;
}

/* A step of the walk: a URL whose path is unknown. */
struct unknown {
    uint64_t id;
    char letter;
};

/* Sets *path to the path of the page `id`. */
static enum status path_of_page(struct hop_path *t, uint64_t id,
                                struct path *path)
{
    struct unknown walk[WALK_MOST];
    struct url_row row = {.id = 0};
    size_t n = 0;
    enum status st = STATUS_OK;

    *path = (struct path){.id = id};
    while (id != 0 && slot_of(t, id)->id != id && n < WALK_MOST) {
        buf_clear(&t->text);
        st = frontier_url(t->frontier, id, &row, &t->text);
        if (st != STATUS_OK)
            return st;
        walk[n++] =
            (struct unknown){id, link_kind_letter((enum link_kind)row.kind)};
        id = row.via;
    }
    if (id != 0 && slot_of(t, id)->id == id)
        *path = *slot_of(t, id);
    else if (id != 0) /* the walk was cut */
        path->over = row.depth > 0 ? row.depth - 1 : 0;
    for (bool at_seed = id == 0; n-- > 0; at_seed = false) {
        if (!at_seed)
            step(path, walk[n].letter);
        path->id = walk[n].id;
        *slot_of(t, path->id) = *path;
    }
    return STATUS_OK;
}

static struct bytes path_text(struct hop_path *t, const struct path *p)
{
    int n = 0;

    if (p->over > 0)
        n = snprintf(t->path, sizeof t->path, "%u+", p->over);
    memcpy(t->path + n, p->letters, p->count);
    return bytes_of(t->path, (size_t)n + p->count);
}

enum status hop_path_of(struct hop_path *t, const struct url_lease *l,
                        struct found_by *out)
{
    struct url_row via;
    struct path path;
    enum status st;

    *out = (struct found_by){{"", 0}, {"", 0}};
    if (l->via == 0)
        return STATUS_OK;
    st = path_of_page(t, l->via, &path);
    buf_clear(&t->via);
    if (st == STATUS_OK)
        st = frontier_url(t->frontier, l->via, &via, &t->via);
    if (st != STATUS_OK)
        return st;
    step(&path, link_kind_letter((enum link_kind)l->kind));
    *slot_of(t, l->id) = path;
    slot_of(t, l->id)->id = l->id;
    *out = (struct found_by){via.url, path_text(t, &path)};
    return STATUS_OK;
}

#define URL_ROOM ((size_t)128 << 10)
/* Extra room to rename the warcinfo record: random digits compress
 * differently. */
#define MOVE_ROOM 512

struct archive {
    struct warc *warc;
    struct warc_maker *maker;
    struct buf text; /* a URL read from the store */
    pthread_mutex_t mtx;
    char info_id[WARC_ID_SIZE]; /* under mtx; only the frontier thread writes it
                                 */
};

static void tell_info_id(struct archive *a)
{
    pthread_mutex_lock(&a->mtx);
    memcpy(a->info_id, warc_info_id(a->warc), sizeof a->info_id);
    pthread_mutex_unlock(&a->mtx);
}

/* The id of the warcinfo record in the current file. Any thread. */
static void archive_info_id(struct archive *a, char out[WARC_ID_SIZE])
{
    pthread_mutex_lock(&a->mtx);
    memcpy(out, a->info_id, sizeof a->info_id);
    pthread_mutex_unlock(&a->mtx);
}

enum status archive_open(struct archive **out, const struct warc_options *o)
{
    struct archive *a = xcalloc(1, sizeof *a);
    enum status st = warc_open(&a->warc, o);

    if (st != STATUS_OK) {
        free(a);
        return st;
    }
    a->maker = warc_maker_new();
    buf_init(&a->text, URL_ROOM);
    pthread_mutex_init(&a->mtx, NULL);
    tell_info_id(a);
    *out = a;
    return STATUS_OK;
}

enum status archive_close(struct archive *a)
{
    enum status st;

    if (a == NULL)
        return STATUS_OK;
    st = warc_close(a->warc);
    warc_maker_free(a->maker);
    buf_fini(&a->text);
    pthread_mutex_destroy(&a->mtx);
    free(a);
    return st;
}

/* If the first page has no record (a run without --warc), there is nothing to
 * refer to; and if it was requested later than this one, though it arrived
 * first, this is not a revisit of it. */
static enum status refer_to_first(struct archive *a, struct frontier *f,
                                  struct warc_capture *page,
                                  const struct fetch_row *repeat)
{
    struct first_body first;
    struct url_row row;
    enum status st = frontier_first_body(f, repeat->body_digest, &first);

    if (st != STATUS_OK || !first.recorded || first.at_ms > page->date_ms)
        return st;
    buf_clear(&a->text);
    st = frontier_url(f, first.url, &row, &a->text);
    if (st != STATUS_OK)
        return st;
    return warc_capture_revisit(page, a->maker, row.url, first.at_ms);
}

/* Records that name another file's warcinfo record were made before that file
 * ended. */
static enum status append(struct archive *a, struct warc_capture *c,
                          int64_t wall_ms, struct bytes *file, uint64_t *offset)
{
    const char *now = warc_info_id(a->warc);
    enum status st =
        warc_make_room(a->warc, c->members.len + MOVE_ROOM, wall_ms);

    if (st == STATUS_OK && c->info_id[0] != '\0' &&
        strcmp(c->info_id, now) != 0) {
        tell_info_id(a);
        st = warc_capture_move(c, a->maker, now);
    }
    if (st == STATUS_OK)
        st =
            warc_append(a->warc, buf_bytes(&c->members), wall_ms, file, offset);
    return st;
}

static enum status add_page(struct archive *a, struct frontier *f,
                            struct warc_capture *page, struct fetch_row *row,
                            int64_t wall_ms)
{
    enum status st = STATUS_OK;

    if (page->may_repeat)
        st = refer_to_first(a, f, page, row);
    if (st == STATUS_OK)
        st = append(a, page, wall_ms, &row->warc_file, &row->warc_offset);
    if (st == STATUS_OK)
        row->warc_length = page->first_length;
    return st;
}

enum status archive_add(struct archive *a, struct frontier *f,
                        struct warc_capture *page, struct warc_capture *robots,
                        struct fetch_row *row, int64_t wall_ms)
{
    struct bytes file;
    uint64_t offset;
    enum status st = STATUS_OK;

    if (robots != NULL)
        st = append(a, robots, wall_ms, &file, &offset);
    if (st == STATUS_OK && page != NULL)
        st = add_page(a, f, page, row, wall_ms);
    return st;
}

enum status archive_sync(void *archive)
{
    struct archive *a = archive;

    return warc_sync(a->warc);
}

/* ---- makes the records of what one fetcher fetched ---- */

/*
 * A record names the warcinfo record of its file, but which file that is
 * becomes certain only when it is appended. So we use the current file's, and
 * the archive corrects the few records that come after a new file was begun.
 */

#define PATH_MOST ((size_t)HOP_LETTERS_MOST + 32)

struct warc_recorder {
    const struct fetcher_options *o;
    struct warc_maker *maker;
};

struct warc_recorder *warc_recorder_new(const struct fetcher_options *o)
{
    struct warc_recorder *w = xcalloc(1, sizeof *w);

    w->o = o;
    w->maker = warc_maker_new();
    return w;
}

void warc_recorder_free(struct warc_recorder *w)
{
    if (w == NULL)
        return;
    warc_maker_free(w->maker);
    free(w);
}

/* Its body is not what its head says. */
static struct bytes note_on(const struct fetch_result *result)
{
    return result->mislabelled || result->unknown_coding
               ? bytes_of_str(result->error)
               : bytes_of("", 0);
}

static struct warc_capture *capture(struct warc_recorder *w,
                                    const struct warc_facts *facts,
                                    const struct fetch_result *result)
{
    char info_id[WARC_ID_SIZE] = "";
    struct warc_capture *c;

    if (w->o->archive != NULL)
        archive_info_id(w->o->archive, info_id);
    c = warc_capture_of(w->maker, info_id, facts, result);
    if (c != NULL)
        warc_capture_count(c, w->o->bodies);
    return c;
}

/* The body is recorded, perhaps in the files of an earlier crawl. Without
 * memory for the smaller record, the whole one stays. */
static void refer_to_last(struct warc_recorder *w, struct warc_capture *c,
                          const struct record_name *to)
{
    if (warc_capture_revisit(c, w->maker, to->url, to->at_ms) == STATUS_OK)
        c->may_repeat = false;
}

struct warc_capture *warc_recorder_page(struct warc_recorder *w,
                                        const struct assignment *a,
                                        const struct url_done *done,
                                        const struct fetch_result *result)
{
    const bool unchanged = done->outcome.reason == REASON_UNCHANGED ||
                           outcome_is_not_modified(done->outcome);
    const struct record_name none = {{"", 0}, 0};
    const struct warc_facts facts = {.url = a->lease.url,
                                     .same = unchanged ? a->lease.last.record
                                                       : none,
                                     .by = a->found_by,
                                     .charset = done->row.charset,
                                     .note = note_on(result),
                                     .outlinks = done->outlinks,
                                     .outlink_count = done->outlink_count};

    struct warc_capture *c;

    if (w == NULL || result->want != FETCH_BODY) /* a check has no body */
        return NULL;
    c = capture(w, &facts, result);
    if (c != NULL && facts.same.url.len > 0 && c->may_repeat)
        refer_to_last(w, c, &facts.same);
    return c;
}

struct warc_capture *warc_recorder_robots(struct warc_recorder *w,
                                          const struct assignment *a,
                                          struct bytes url, unsigned hop,
                                          const struct fetch_result *result)
{
    struct warc_facts facts = {.url = url,
                               .by = {.via = a->lease.url},
                               .note = note_on(result)};
    struct warc_capture *c;
    struct buf path;

    if (w == NULL)
        return NULL;
    buf_init(&path, PATH_MOST);
    buf_add_bytes(&path, a->found_by.path);
    buf_add_char(&path, 'P');
    while (hop-- > 0)
        buf_add_char(&path, 'R');
    facts.by.path = buf_bytes(&path);
    c = capture(w, &facts, result);
    if (c != NULL)
        c->may_repeat = false; /* the store has no row for its body */
    buf_fini(&path);
    return c;
}
