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

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "crawler/archive/warc_head.h"

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
