/* SPDX-License-Identifier: MIT */
/*
 * call_wire.c - calls and their answers as JSON.
 *
 * Most of what goes by here are puts, so an item is an array, not an object,
 * and JSON is written without a tree of values. Metadata is the octets of a
 * protobuf message (frontier_item), and goes as base64 (RFC 4648 section 4).
 * Numbers of 64 bits are JSON's of 64 bits with a sign, as two's complement.
 */
#include "service/shards/call_wire.h"

#include <inttypes.h>
#include <string.h>

#include "service/calls/call.h"

#define URLS_MOST (2 * ANSWER_PART_URLS)
#define NUMBERS   8 /* of a call, or of the facts about a URL */

/* ---- writing ---- */

static void add_text(struct buf *out, struct bytes s)
{
    size_t from = 0;

    buf_add_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];

        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        buf_add(out, s.at + from, i - from);
        if (c >= 0x20) {
            buf_add_char(out, '\\');
            buf_add_char(out, (char)c);
        } else {
            buf_addf(out, "\\u%04x", c);
        }
        from = i + 1;
    }
    buf_add(out, s.at + from, s.len - from);
    buf_add_char(out, '"');
}

static void add_base64(struct buf *out, struct bytes s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *at = (const unsigned char *)s.at;
    char *to = buf_room(out, (s.len + 2) / 3 * 4 + 2);
    size_t n = 0;

    if (to == NULL)
        return;
    to[n++] = '"';
    for (size_t i = 0; i < s.len; i += 3) {
        unsigned two = i + 1 < s.len ? at[i + 1] : 0;
        unsigned three = i + 2 < s.len ? at[i + 2] : 0;

        to[n++] = digits[at[i] >> 2];
        to[n++] = digits[(at[i] & 3U) << 4 | two >> 4];
        to[n++] = i + 1 < s.len ? digits[(two & 15) << 2 | three >> 6] : '=';
        to[n++] = i + 2 < s.len ? digits[three & 63] : '=';
    }
    to[n++] = '"';
    buf_grew(out, n);
}

static void add_number(struct buf *out, uint64_t n)
{
    if (n > INT64_MAX) {
        buf_add_char(out, '-');
        n = -n;
    }
    buf_add_uint(out, n);
}

static void add_numbers(struct buf *out, const char *name, const uint64_t *n,
                        size_t count)
{
    buf_addf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        add_number(out, n[i]);
    }
    buf_add_char(out, ']');
}

static void add_named(struct buf *out, const char *name, struct bytes text)
{
    buf_addf(out, ",\"%s\":", name);
    add_text(out, text);
}

static void add_cursor(struct buf *out, const struct frontier_call *call)
{
    const uint64_t n[] = {call->cursor.place, call->cursor.done,
                          call->cursor.turn, call->cursor.queue};

    add_numbers(out, "cursor", n, 4);
}

static void add_items(struct buf *out, const struct frontier_put *put)
{
    buf_add_str(out, ",\"items\":[");
    for (size_t i = 0; i < put->n; i++) {
        const struct frontier_item *item = &put->items[i];

        buf_add_str(out, i > 0 ? ",[" : "[");
        buf_add_uint(out, item->kind);
        buf_add_char(out, ',');
        add_text(out, item->crawl);
        buf_add_char(out, ',');
        add_text(out, item->key);
        buf_add_char(out, ',');
        add_text(out, item->url);
        buf_add_char(out, ',');
        add_number(out, item->refetch_s);
        buf_add_char(out, ',');
        add_base64(out, item->metadata);
        buf_add_char(out, ']');
    }
    buf_add_char(out, ']');
}

/* What the call asks for, as numbers; returns how many. */
static size_t numbers_of(const struct frontier_call *call, uint64_t n[NUMBERS])
{
    const struct frontier_get *g = &call->in.get;
    const struct frontier_list *l = &call->in.list;
    const struct frontier_list_queues *q = &call->in.queues;
    const struct frontier_setting *s = &call->in.setting;
    const struct frontier_settle *t = &call->in.settle;
    size_t c = 0;

    switch (call->verb) {
    case FRONTIER_GET:
        n[c++] = g->any_crawl;
        n[c++] = g->max_urls_per_queue;
        n[c++] = g->max_queues;
        n[c++] = g->delay_requestable_s;
        break;
    case FRONTIER_LIST_URLS:
    case FRONTIER_COUNT_URLS:
        n[c++] = l->start;
        n[c++] = l->size;
        n[c++] = l->filtered;
        n[c++] = l->ignore_case;
        break;
    case FRONTIER_PURGE_URLS:
        n[c++] = call->in.days;
        break;
    case FRONTIER_LIST_QUEUES:
        n[c++] = q->start;
        n[c++] = q->size;
        n[c++] = q->include_inactive;
        break;
    case FRONTIER_BLOCK_QUEUE:
    case FRONTIER_SET_DELAY:
    case FRONTIER_SET_LIMIT:
        n[c++] = s->value;
        n[c++] = s->ms;
        n[c++] = s->standard;
        break;
    case FRONTIER_SET_ACTIVE:
        n[c++] = call->in.active;
        break;
    case FRONTIER_SET_LOG_LEVEL:
        n[c++] = call->in.log_level;
        break;
    case FRONTIER_SETTLE:
        n[c++] = t->lease;
        n[c++] = t->how;
        n[c++] = t->refetch_s;
        n[c++] = t->keep_metadata;
        n[c++] = t->seconds;
        break;
    default:
        break;
    }
    return c;
}

void call_wire_ask(struct buf *out, const struct frontier_call *call)
{
    uint64_t n[NUMBERS];
    size_t count = numbers_of(call, n);

    buf_addf(out, "{\"verb\":\"%s\"", frontier_verb_name(call->verb));
    if (call->verb == FRONTIER_PUT) {
        add_items(out, &call->in.put);
    } else {
        add_named(out, "crawl", call->in.crawl);
        add_named(out, "key", call->in.key);
        add_numbers(out, "n", n, count);
        add_cursor(out, call);
    }
    if (call->verb == FRONTIER_URL_STATUS)
        add_named(out, "text", call->in.url);
    if (call->verb == FRONTIER_LIST_URLS || call->verb == FRONTIER_COUNT_URLS)
        add_named(out, "text", call->in.list.filter);
    if (call->verb == FRONTIER_SETTLE) {
        buf_add_str(out, ",\"metadata\":");
        add_base64(out, call->in.settle.metadata);
    }
    buf_add_char(out, '}');
}

/* ---- reading ---- */

/* All that may fail while one object is read; the first failure counts. */
struct reading {
    struct arena *a;
    enum status st;
};

static void wrong(struct reading *r, enum status st)
{
    if (r->st == STATUS_OK)
        r->st = st;
}

static struct bytes text_of(struct reading *r, const json_t *v)
{
    if (!json_is_string(v)) {
        wrong(r, STATUS_FORMAT);
        return bytes_of_str("");
    }
    return bytes_of(json_string_value(v), json_string_length(v));
}

static uint64_t number_of(struct reading *r, const json_t *v, uint64_t most)
{
    uint64_t n = (uint64_t)json_integer_value(v);

    if (!json_is_integer(v) || n > most)
        wrong(r, STATUS_FORMAT);
    return n;
}

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The octets of base64 text; `at` has room for three quarters of it. */
static bool decode(struct bytes text, char *at, size_t *len)
{
    size_t pad = 0, n = 0;

    if (text.len % 4 != 0)
        return false;
    while (pad < 2 && pad < text.len && text.at[text.len - 1 - pad] == '=')
        pad++;
    for (size_t i = 0; i < text.len; i += 4) {
        uint32_t v = 0;
        size_t digits = i + 4 == text.len ? 4 - pad : 4;

        for (size_t k = 0; k < 4; k++) {
            int d = k < digits ? digit_of(text.at[i + k]) : 0;

            if (d < 0)
                return false;
            v = v << 6 | (uint32_t)d;
        }
        for (size_t k = 1; k < digits; k++)
            at[n++] = (char)(v >> (24 - 8 * k) & 0xff);
    }
    *len = n;
    return true;
}

static struct bytes octets_of(struct reading *r, const json_t *v)
{
    struct bytes text = text_of(r, v);
    size_t len = 0;
    char *at;

    if (text.len == 0)
        return (struct bytes){NULL, 0};
    at = arena_try(r->a, text.len);
    if (at == NULL)
        wrong(r, STATUS_LIMIT);
    else if (!decode(text, at, &len))
        wrong(r, STATUS_FORMAT);
    return bytes_of(at, len);
}

/* The member as exactly `count` numbers. */
static void numbers_in(struct reading *r, const json_t *object,
                       const char *name, uint64_t *n, size_t count)
{
    const json_t *array = json_object_get(object, name);

    if (json_array_size(array) != count)
        wrong(r, STATUS_FORMAT);
    for (size_t i = 0; r->st == STATUS_OK && i < count; i++)
        n[i] = number_of(r, json_array_get(array, i), UINT64_MAX);
}

static void cursor_in(struct reading *r, const json_t *object,
                      struct frontier_call *call)
{
    uint64_t n[4] = {0};

    numbers_in(r, object, "cursor", n, 4);
    if (n[3] > UINT32_MAX)
        wrong(r, STATUS_FORMAT);
    call->cursor.place = n[0];
    call->cursor.done = n[1];
    call->cursor.turn = n[2];
    call->cursor.queue = (uint32_t)n[3];
}

json_t *call_wire_asks(struct bytes body)
{
    json_t *v =
        json_loadb(body.len > 0 ? body.at : "", body.len, JSON_ALLOW_NUL, NULL);
    size_t n = json_array_size(v);

    if (n > 0 && n <= CALL_WIRE_CALLS)
        return v;
    json_decref(v);
    return NULL;
}

size_t call_wire_items(const json_t *asks)
{
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(asks); i++)
        n += json_array_size(json_object_get(json_array_get(asks, i), "items"));
    return n;
}

static void item_in(struct reading *r, const json_t *v,
                    struct frontier_item *item)
{
    if (json_array_size(v) != 6) {
        wrong(r, STATUS_FORMAT);
        return;
    }
    *item = (struct frontier_item){
        .kind = (enum frontier_item_kind)number_of(r, json_array_get(v, 0),
                                                   FRONTIER_ITEM_KNOWN),
        .crawl = text_of(r, json_array_get(v, 1)),
        .key = text_of(r, json_array_get(v, 2)),
        .url = text_of(r, json_array_get(v, 3)),
        .refetch_s = number_of(r, json_array_get(v, 4), UINT64_MAX),
        .metadata = octets_of(r, json_array_get(v, 5)),
        .ack = FRONTIER_ACK_FAIL};
    if (item->crawl.len + item->key.len + item->url.len + item->metadata.len >
        CALL_WIRE_ITEM_MOST)
        wrong(r, STATUS_FORMAT);
}

static void put_in(struct reading *r, const json_t *ask,
                   struct frontier_call *call, struct frontier_item **items)
{
    const json_t *array = json_object_get(ask, "items");
    size_t n = json_array_size(array);

    if (n == 0 || n > FRONTIER_PUT_MOST) {
        wrong(r, STATUS_FORMAT);
        return;
    }
    for (size_t i = 0; r->st == STATUS_OK && i < n; i++)
        item_in(r, json_array_get(array, i), *items + i);
    call->in.put = (struct frontier_put){*items, n};
    *items += n;
}

/* A number that has to fit. */
static uint32_t small(struct reading *r, uint64_t n, uint32_t most)
{
    if (n > most)
        wrong(r, STATUS_FORMAT);
    return (uint32_t)n;
}

static void take_numbers(struct reading *r, struct frontier_call *call,
                         const uint64_t *n)
{
    switch (call->verb) {
    case FRONTIER_GET:
        call->in.get =
            (struct frontier_get){n[0] != 0, small(r, n[1], UINT32_MAX),
                                  small(r, n[2], UINT32_MAX),
                                  small(r, n[3], UINT32_MAX)};
        break;
    case FRONTIER_LIST_URLS:
    case FRONTIER_COUNT_URLS:
        call->in.list =
            (struct frontier_list){.start = small(r, n[0], UINT32_MAX),
                                   .size = small(r, n[1], UINT32_MAX),
                                   .filtered = n[2] != 0,
                                   .ignore_case = n[3] != 0};
        break;
    case FRONTIER_PURGE_URLS:
        call->in.days = small(r, n[0], UINT32_MAX);
        break;
    case FRONTIER_LIST_QUEUES:
        call->in.queues =
            (struct frontier_list_queues){small(r, n[0], UINT32_MAX),
                                          small(r, n[1], UINT32_MAX),
                                          n[2] != 0};
        break;
    case FRONTIER_BLOCK_QUEUE:
    case FRONTIER_SET_DELAY:
    case FRONTIER_SET_LIMIT:
        call->in.setting =
            (struct frontier_setting){n[0], (uint16_t)small(r, n[1], 999),
                                      n[2] != 0};
        break;
    case FRONTIER_SET_ACTIVE:
        call->in.active = n[0] != 0;
        break;
    case FRONTIER_SET_LOG_LEVEL:
        call->in.log_level = small(r, n[0], UINT32_MAX);
        break;
    case FRONTIER_SETTLE:
        call->in.settle = (struct frontier_settle){
            .lease = n[0],
            .how = (enum url_settle)small(r, n[1], URL_SETTLE_EXTEND),
            .refetch_s = n[2],
            .keep_metadata = n[3] != 0,
            .seconds = small(r, n[4], UINT32_MAX)};
        break;
    default:
        break;
    }
}

static bool verb_of(const json_t *ask, enum frontier_verb *verb)
{
    const char *name = json_string_value(json_object_get(ask, "verb"));

    for (unsigned v = 0; name != NULL && v < FRONTIER_VERBS_; v++)
        if (strcmp(name, frontier_verb_name((enum frontier_verb)v)) == 0) {
            *verb = (enum frontier_verb)v;
            return true;
        }
    return false;
}

enum status call_wire_read_ask(const json_t *ask, struct frontier_call *call,
                               struct frontier_item **items, struct arena *a)
{
    struct reading r = {.a = a};
    const json_t *text = json_object_get(ask, "text");
    uint64_t n[NUMBERS] = {0};

    if (!verb_of(ask, &call->verb))
        return STATUS_FORMAT;
    if (call->verb == FRONTIER_PUT) {
        put_in(&r, ask, call, items);
        return r.st;
    }
    call->in.crawl = text_of(&r, json_object_get(ask, "crawl"));
    call->in.key = text_of(&r, json_object_get(ask, "key"));
    numbers_in(&r, ask, "n", n, numbers_of(call, (uint64_t[NUMBERS]){0}));
    cursor_in(&r, ask, call);
    if (r.st == STATUS_OK)
        take_numbers(&r, call, n);
    if (call->verb == FRONTIER_URL_STATUS)
        call->in.url = text_of(&r, text);
    if (call->verb == FRONTIER_LIST_URLS || call->verb == FRONTIER_COUNT_URLS)
        call->in.list.filter = text_of(&r, text);
    if (call->verb == FRONTIER_SETTLE)
        call->in.settle.metadata =
            octets_of(&r, json_object_get(ask, "metadata"));
    if (call->verb == FRONTIER_SETTLE &&
        call->in.settle.metadata.len > CALL_WIRE_ITEM_MOST)
        wrong(&r, STATUS_FORMAT);
    return r.st;
}

/* ---- answers ---- */

static const char *const status_names[] = {
    [STATUS_OK] = "ok",          [STATUS_NOT_FOUND] = "not_found",
    [STATUS_ARG] = "arg",        [STATUS_LIMIT] = "limit",
    [STATUS_BUSY] = "elsewhere", [STATUS_CLOSED] = "closed",
};
#define STATUS_NAMES (sizeof status_names / sizeof *status_names)

static const char *name_of(enum status st)
{
    return (size_t)st < STATUS_NAMES && status_names[st] != NULL
               ? status_names[st]
               : status_names[STATUS_CLOSED];
}

static void add_acks(struct buf *out, const struct frontier_put *put)
{
    static const char letters[] = {'o', 's', 'f'};

    buf_add_str(out, ",\"acks\":\"");
    for (size_t i = 0; i < put->n; i++)
        buf_add_char(out, letters[put->items[i].ack]);
    buf_add_char(out, '"');
}

static void add_url(struct buf *out, const struct frontier_url *u)
{
    buf_add_char(out, '[');
    add_text(out, u->crawl);
    buf_add_char(out, ',');
    add_text(out, u->key);
    buf_add_char(out, ',');
    add_text(out, u->url);
    buf_add_char(out, ',');
    add_base64(out, u->metadata);
    buf_add_char(out, ',');
    add_number(out, u->refetch_s);
    buf_add_char(out, ',');
    add_number(out, u->created_s);
    buf_add_char(out, ',');
    add_number(out, u->lease);
    buf_add_char(out, ']');
}

static void add_urls(struct buf *out, const struct frontier_call *call)
{
    buf_add_str(out, ",\"urls\":[");
    for (size_t i = 0; i < call->url_count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        add_url(out, &call->urls[i]);
    }
    buf_add_str(out, "],\"names\":[");
    for (size_t i = 0; i < call->name_count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        add_text(out, call->names[i]);
    }
    buf_add_char(out, ']');
}

static void add_rest(struct buf *out, const struct frontier_call *call)
{
    const struct url_counts *c = &call->counts;
    const struct url_facts *f = &call->facts;
    const uint64_t numbers[] = {call->number, call->flag, call->more};
    const uint64_t counts[] = {c->active, c->leased, c->completed, c->queues,
                               c->active_queues};
    const uint64_t facts[NUMBERS] = {f->state,
                                     (uint64_t)f->due_ms,
                                     (uint64_t)f->created_ms,
                                     (uint64_t)f->leased_until_ms,
                                     (uint64_t)f->blocked_until_ms,
                                     (uint64_t)f->served_ms,
                                     (uint64_t)f->delay_ms,
                                     f->limit};

    add_named(out, "crawl", call->crawl_id);
    add_urls(out, call);
    add_numbers(out, "n", numbers, 3);
    add_cursor(out, call);
    if (call->verb == FRONTIER_STATS)
        add_numbers(out, "counts", counts, 5);
    if (call->verb == FRONTIER_URL_STATUS)
        add_numbers(out, "facts", facts, NUMBERS);
}

void call_wire_answer(struct buf *out, const struct frontier_call *call)
{
    buf_addf(out, "{\"status\":\"%s\"", name_of(call->status));
    if (call->verb == FRONTIER_PUT)
        add_acks(out, &call->in.put);
    else if (call->status == STATUS_OK)
        add_rest(out, call);
    buf_add_char(out, '}');
}

static enum status status_in(const json_t *answer, enum status *st)
{
    const char *name = json_string_value(json_object_get(answer, "status"));

    for (size_t i = 0; name != NULL && i < STATUS_NAMES; i++)
        if (status_names[i] != NULL && strcmp(name, status_names[i]) == 0) {
            *st = (enum status)i;
            return STATUS_OK;
        }
    return STATUS_FORMAT;
}

static void acks_in(struct reading *r, const json_t *answer,
                    struct frontier_call *call)
{
    struct bytes acks = text_of(r, json_object_get(answer, "acks"));

    if (acks.len != call->in.put.n) {
        wrong(r, STATUS_FORMAT);
        return;
    }
    for (size_t i = 0; i < acks.len; i++) {
        char c = acks.at[i];

        if (c != 'o' && c != 's' && c != 'f')
            wrong(r, STATUS_FORMAT);
        call->in.put.items[i].ack = c == 'o'   ? FRONTIER_ACK_OK
                                    : c == 's' ? FRONTIER_ACK_SKIPPED
                                               : FRONTIER_ACK_FAIL;
    }
}

static void url_in(struct reading *r, const json_t *v,
                   struct frontier_call *call)
{
    struct frontier_url *u = &call->urls[call->url_count++];

    if (json_array_size(v) != 7) {
        wrong(r, STATUS_FORMAT);
        return;
    }
    *u = (struct frontier_url){
        .crawl = answer_keep(call, text_of(r, json_array_get(v, 0))),
        .key = answer_keep(call, text_of(r, json_array_get(v, 1))),
        .url = answer_keep(call, text_of(r, json_array_get(v, 2))),
        .metadata = octets_of(r, json_array_get(v, 3)),
        .refetch_s = number_of(r, json_array_get(v, 4), UINT64_MAX),
        .created_s = number_of(r, json_array_get(v, 5), UINT64_MAX),
        .lease = number_of(r, json_array_get(v, 6), UINT64_MAX)};
}

static void lists_in(struct reading *r, const json_t *answer,
                     struct frontier_call *call)
{
    const json_t *urls = json_object_get(answer, "urls");
    const json_t *names = json_object_get(answer, "names");
    size_t n = json_array_size(urls), m = json_array_size(names);

    if (!json_is_array(urls) || !json_is_array(names) || n > URLS_MOST) {
        wrong(r, STATUS_FORMAT);
        return;
    }
    call->urls = answer_room(call, n + 1, sizeof *call->urls);
    call->names = answer_room(call, m + 1, sizeof *call->names);
    for (size_t i = 0; call->status == STATUS_OK && i < n; i++)
        url_in(r, json_array_get(urls, i), call);
    for (size_t i = 0; call->status == STATUS_OK && i < m; i++)
        answer_name(call, text_of(r, json_array_get(names, i)));
}

static void facts_in(struct reading *r, const json_t *answer,
                     struct url_facts *f)
{
    uint64_t n[NUMBERS] = {0};

    numbers_in(r, answer, "facts", n, NUMBERS);
    *f = (struct url_facts){.state = (enum url_state)small(r, n[0],
                                                           URL_STATE_COMPLETED),
                            .due_ms = (int64_t)n[1],
                            .created_ms = (int64_t)n[2],
                            .leased_until_ms = (int64_t)n[3],
                            .blocked_until_ms = (int64_t)n[4],
                            .served_ms = (int64_t)n[5],
                            .delay_ms = (int64_t)n[6],
                            .limit = small(r, n[7], UINT32_MAX)};
}

static void rest_in(struct reading *r, const json_t *answer,
                    struct frontier_call *call)
{
    uint64_t n[3] = {0}, c[5] = {0};

    call->crawl_id =
        answer_keep(call, text_of(r, json_object_get(answer, "crawl")));
    lists_in(r, answer, call);
    numbers_in(r, answer, "n", n, 3);
    call->number = n[0];
    call->flag = n[1] != 0;
    call->more = n[2] != 0;
    cursor_in(r, answer, call);
    if (call->verb == FRONTIER_STATS) {
        numbers_in(r, answer, "counts", c, 5);
        call->counts = (struct url_counts){c[0], c[1], c[2], c[3], c[4]};
    }
    if (call->verb == FRONTIER_URL_STATUS)
        facts_in(r, answer, &call->facts);
    /* Only these have a URL each, and only these have parts. */
    if ((call->verb == FRONTIER_URL_STATUS && call->url_count != 1) ||
        (call->more && call->verb != FRONTIER_GET &&
         call->verb != FRONTIER_LIST_URLS))
        wrong(r, STATUS_FORMAT);
}

static enum status answer_in(const json_t *answer, struct frontier_call *call)
{
    struct reading r = {.a = NULL};
    enum status st = STATUS_OK;

    answer_begin(call);
    r.a = call->memory;
    r.st = status_in(answer, &st);
    if (r.st == STATUS_OK && call->verb == FRONTIER_PUT)
        acks_in(&r, answer, call);
    else if (r.st == STATUS_OK && st == STATUS_OK)
        rest_in(&r, answer, call);
    if (r.st == STATUS_LIMIT)
        call->status = STATUS_LIMIT;
    if (call->status == STATUS_OK)
        call->status = st;
    return r.st == STATUS_FORMAT ? STATUS_FORMAT : STATUS_OK;
}

enum status call_wire_read_answers(struct bytes body,
                                   struct frontier_call *const *calls, size_t n)
{
    json_t *v =
        json_loadb(body.len > 0 ? body.at : "", body.len, JSON_ALLOW_NUL, NULL);
    enum status st = json_array_size(v) == n ? STATUS_OK : STATUS_FORMAT;

    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = answer_in(json_array_get(v, i), calls[i]);
    json_decref(v);
    return st;
}
