/* SPDX-License-Identifier: MIT */
/* http_text.c - text and JSON of the HTTP side. */
#include "service/http/http_text.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/mem.h"
#include "service/net/proto.h"
#include "service/urlfrontier.pb-c.h"
#include "service/urlfrontier/urlfrontier_call.h"

#define TWO_TO_63   9223372036854775808.0
#define LAST_SECOND INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

/* ---- paths and queries ---- */

char *http_decode(struct bytes text, bool form)
{
    char *out = xmalloc(text.len + 1);
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        int c = (unsigned char)text.at[i];

        if (c == '+' && form)
            c = ' ';
        if (c == '%') {
            bool whole = text.len - i > 2;
            int high = whole ? ascii_hex(text.at[i + 1]) : -1;
            int low = whole ? ascii_hex(text.at[i + 2]) : -1;

            c = high < 0 || low < 0 ? 0 : high * 16 + low;
            i += 2;
        }
        if (c == 0) {
            free(out);
            return NULL;
        }
        out[n++] = (char)c;
    }
    out[n] = '\0';
    if (bytes_is_utf8(bytes_of(out, n)))
        return out;
    free(out);
    return NULL;
}

static struct bytes take_until(struct bytes *rest, char end)
{
    const char *at = rest->len > 0 ? memchr(rest->at, end, rest->len) : NULL;
    size_t n = at != NULL ? (size_t)(at - rest->at) : rest->len;
    struct bytes head = bytes_of(rest->at, n);

    n += at != NULL;
    *rest = bytes_of(rest->at + n, rest->len - n);
    return head;
}

json_t *http_query(struct bytes query)
{
    json_t *o = json_object();
    bool fine = true;

    while (fine && query.len > 0) {
        struct bytes pair = take_until(&query, '&');
        struct bytes coded = take_until(&pair, '=');
        char *name = http_decode(coded, true);
        char *value = http_decode(pair, true);

        fine = name != NULL && value != NULL &&
               json_object_get(o, name) == NULL &&
               json_object_set_new(o, name, json_string(value)) == 0;
        free(name);
        free(value);
    }
    if (fine)
        return o;
    json_decref(o);
    return NULL;
}

/* ---- bodies ---- */

/* Returns the integer that equals `v`, or NULL. */
static json_t *integer_of(const json_t *v)
{
    double d = json_real_value(v);
    bool is_whole = d >= -TWO_TO_63 && d < TWO_TO_63 && d == floor(d);

    return json_is_real(v) && is_whole ? json_integer((json_int_t)d) : NULL;
}

/* Replaces what equals an integer by it, within `v`: JSON has one kind of
 * number. The parser bounds the depth. */
static void make_integers(json_t *v)
{
    json_t *one, *whole;
    const char *name;
    void *next;
    size_t i;

    json_object_foreach_safe(v, next, name, one)
    {
        whole = integer_of(one);
        if (whole != NULL)
            json_object_set_new_nocheck(v, name, whole);
        else
            make_integers(one);
    }
    json_array_foreach(v, i, one)
    {
        whole = integer_of(one);
        if (whole != NULL)
            json_array_set_new(v, i, whole);
        else
            make_integers(one);
    }
}

json_t *http_body(struct bytes text, json_error_t *wrong)
{
    json_t *v = json_loadb(text.len > 0 ? text.at : "", text.len,
                           JSON_REJECT_DUPLICATES, wrong);

    make_integers(v);
    return v;
}

/* ---- Host ---- */

static bool is_loopback_number(struct bytes host)
{
    struct in_addr v4;
    char text[INET_ADDRSTRLEN];

    if (host.len >= sizeof text)
        return false;
    memcpy(text, host.at, host.len);
    text[host.len] = '\0';
    return inet_pton(AF_INET, text, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
}

bool http_host_is_local(struct bytes header, struct bytes host)
{
    struct bytes name = bytes_trim(header);
    size_t n = 0;

    if (name.len > 0 && name.at[0] == '[')
        while (n < name.len && name.at[n] != ']')
            n++;
    while (n < name.len && name.at[n] != ':')
        n++;
    for (size_t i = n + 1; i < name.len; i++)
        if (name.at[i] < '0' || name.at[i] > '9')
            return false;
    name.len = n;
    if (name.len == 0)
        return false;
    return bytes_equal_nocase(name, bytes_of_str("localhost")) ||
           bytes_is(name, "[::1]") || is_loopback_number(name) ||
           bytes_equal_nocase(name, host);
}

/* ---- time ---- */

enum status http_time_parse(struct bytes text, uint64_t *seconds)
{
    int64_t ms;

    if (clock_parse_iso(text, &ms) != STATUS_OK || ms < 0)
        return STATUS_FORMAT;
    *seconds = (uint64_t)ms / 1000;
    return STATUS_OK;
}

json_t *http_time_json(int64_t ms)
{
    char text[CLOCK_ISO_SIZE];

    if (ms == 0)
        return json_null();
    clock_iso(text, ms);
    return json_string(text);
}

json_t *http_seconds_json(uint64_t seconds)
{
    if (seconds > (uint64_t)LAST_SECOND)
        seconds = (uint64_t)LAST_SECOND;
    return http_time_json((int64_t)seconds * 1000);
}

/* ---- metadata ---- */

json_t *http_bytes_json(struct bytes b)
{
    return json_stringn(b.len > 0 ? b.at : "", b.len);
}

static struct bytes bytes_of_json(const json_t *j)
{
    return bytes_of(json_string_value(j), json_string_length(j));
}

static enum status take_values(Urlfrontier__StringList *list, json_t *values,
                               struct arena *a)
{
    size_t n = json_array_size(values);

    if (!json_is_array(values))
        return STATUS_FORMAT;
    urlfrontier__string_list__init(list);
    list->values = arena_try(a, (n + 1) * sizeof *list->values);
    if (list->values == NULL)
        return STATUS_LIMIT;
    for (; list->n_values < n; list->n_values++) {
        const json_t *value = json_array_get(values, list->n_values);

        if (!json_is_string(value))
            return STATUS_FORMAT;
        list->values[list->n_values] = proto_data(bytes_of_json(value));
    }
    return STATUS_OK;
}

struct map_entry {
    Urlfrontier__URLInfo__MetadataEntry entry;
    Urlfrontier__StringList list;
};

static enum status take_metadata(Urlfrontier__URLInfo *info, json_t *metadata,
                                 struct arena *a)
{
    size_t n = json_object_size(metadata);
    const char *key;
    json_t *values;
    struct map_entry *at;

    if (!json_is_object(metadata))
        return STATUS_FORMAT;
    at = arena_try(a, (n + 1) * sizeof *at);
    info->metadata =
        arena_try(a, (n + 1) * sizeof(Urlfrontier__URLInfo__MetadataEntry *));
    if (at == NULL || info->metadata == NULL)
        return STATUS_LIMIT;
    json_object_foreach(metadata, key, values)
    {
        enum status st = take_values(&at->list, values, a);

        if (st != STATUS_OK)
            return st;
        urlfrontier__urlinfo__metadata_entry__init(&at->entry);
        at->entry.key = proto_data(bytes_of_str(key));
        at->entry.value = &at->list;
        info->metadata[info->n_metadata++] = &at++->entry;
    }
    return STATUS_OK;
}

enum status http_item_take(struct frontier_item *item, struct bytes url,
                           struct bytes key, struct bytes crawl,
                           json_t *metadata, struct arena *a)
{
    Urlfrontier__URLInfo info = URLFRONTIER__URLINFO__INIT;
    enum status st = STATUS_OK;

    info.url = proto_data(url);
    info.key = proto_data(key);
    info.crawlid = proto_data(crawl);
    if (metadata != NULL)
        st = take_metadata(&info, metadata, a);
    return st == STATUS_OK ? urlfrontier_url_take(item, &info, a) : st;
}

bool http_metadata_reads(struct bytes metadata, struct arena *a)
{
    return proto_unpack(&urlfrontier__urlinfo__descriptor, a, metadata) != NULL;
}

json_t *http_metadata_json(struct bytes metadata, struct arena *a)
{
    json_t *o = json_object();
    const Urlfrontier__URLInfo *info = (const Urlfrontier__URLInfo *)
        proto_unpack(&urlfrontier__urlinfo__descriptor, a, metadata);

    for (size_t i = 0; info != NULL && i < info->n_metadata; i++) {
        const Urlfrontier__URLInfo__MetadataEntry *e = info->metadata[i];
        struct bytes key = proto_bytes(e->key);
        json_t *values = json_array();

        for (size_t j = 0; e->value != NULL && j < e->value->n_values; j++)
            json_array_append_new(values, http_bytes_json(proto_bytes(
                                              e->value->values[j])));
        json_object_setn_new(o, key.len > 0 ? key.at : "", key.len, values);
    }
    return o;
}

/* ---- members ---- */

bool http_lease_read(const json_t *v, uint64_t *out)
{
    return json_is_string(v) && bytes_number(bytes_of_json(v), UINT64_MAX, out);
}

static bool text_read_number(const json_t *v, bool query, uint64_t *out)
{
    if (query)
        return bytes_number(bytes_of_json(v), UINT64_MAX, out);
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return false;
    *out = (uint64_t)json_integer_value(v);
    return true;
}

static bool read_flag(const json_t *v, bool query, bool *out)
{
    if (!query) {
        *out = json_is_true(v);
        return json_is_boolean(v);
    }
    *out = bytes_is(bytes_of_json(v), "true");
    return *out || bytes_is(bytes_of_json(v), "false");
}

/* Reads a member; returns NULL, or what it should have been. */
static const char *read_member(const struct http_member *m, json_t *v,
                               bool query)
{
    uint64_t n;

    switch (m->type) {
    case HTTP_TEXT:
        if (!json_is_string(v))
            return "a string";
        if (json_string_length(v) < m->least)
            return "a string that is not empty";
        *(struct bytes *)m->to = bytes_of_json(v);
        return NULL;
    case HTTP_NUMBER:
        if (!text_read_number(v, query, &n) || n < m->least || n > m->most)
            return "a whole number";
        *(uint64_t *)m->to = n;
        return NULL;
    case HTTP_FRACTION:
        if (!json_is_real(v) || json_real_value(v) <= 0 ||
            json_real_value(v) >= 1)
            return "a number above 0 and below 1";
        *(double *)m->to = json_real_value(v);
        return NULL;
    case HTTP_FLAG:
        return read_flag(v, query, m->to) ? NULL : "true or false";
    case HTTP_TIME:
        *(uint64_t *)m->to = 0;
        if (json_is_null(v))
            return NULL;
        if (json_is_string(v) &&
            http_time_parse(bytes_of_json(v), &n) == STATUS_OK) {
            *(uint64_t *)m->to = n > 0 ? n : 1;
            return NULL;
        }
        return "a time as 2026-01-31T23:59:59Z or with an offset, or null";
    case HTTP_LEASE:
        return http_lease_read(v, m->to) ? NULL : "a lease, as it was given";
    case HTTP_METADATA:
        *(json_t **)m->to = v;
        return json_is_object(v) ? NULL : "an object of arrays of strings";
    case HTTP_ARRAY:
        *(json_t **)m->to = v;
        return json_is_array(v) ? NULL : "an array";
    case HTTP_OBJECT:
        *(json_t **)m->to = v;
        return json_is_object(v) ? NULL : "an object";
    }
    return NULL;
}

static const struct http_member *member_called(const struct http_member *m,
                                               size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(m[i].name, name) == 0)
            return &m[i];
    return NULL;
}

static void say_range(const struct http_member *m, char *why, size_t size)
{
    size_t n = strlen(why);

    if (m->type == HTTP_NUMBER)
        snprintf(why + n, size - n, " from %llu to %llu",
                 (unsigned long long)m->least, (unsigned long long)m->most);
}

bool http_members_read(json_t *object, const struct http_member *m, size_t n,
                       bool query, char *why, size_t why_size)
{
    const char *name;
    json_t *value;

    if (!json_is_object(object)) {
        snprintf(why, why_size, "expected an object");
        return false;
    }
    json_object_foreach(object, name, value)
    {
        const struct http_member *its = member_called(m, n, name);
        const char *wanted = its != NULL ? read_member(its, value, query) : "";

        if (its == NULL) {
            snprintf(why, why_size, "there is no '%.80s'", name);
            return false;
        }
        if (wanted != NULL) {
            snprintf(why, why_size, "'%s' must be %s", name, wanted);
            say_range(its, why, why_size);
            return false;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (m[i].needed && json_object_get(object, m[i].name) == NULL) {
            snprintf(why, why_size, "'%s' is missing", m[i].name);
            return false;
        }
    return true;
}
