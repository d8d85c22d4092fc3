/* SPDX-License-Identifier: MIT */
/*
 * import_urlfrontier.c - what the client of a URLFrontier service lists.
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
#include <jansson.h>
#include <string.h>

#include "job/import/import_format_impl.h"

#define SECONDS_DIGITS 11 /* most, some 3,000 years */

/* False: it is not a number of seconds. */
static bool read_seconds(struct bytes text, int64_t *out)
{
    int64_t n = 0;

    if (text.len == 0 || text.len > SECONDS_DIGITS)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        n = n * 10 + (text.at[i] - '0');
    }
    *out = n;
    return true;
}

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
    int64_t seconds = 0;

    if (url.len == 0)
        return import_refuse(r, "not a URLItem with a URL");
    buf_clear(&r->text);
    buf_add_bytes(&r->text, url);
    out->url = buf_bytes(&r->text);
    if (known == NULL) {
        out->word = "discovered";
        return IMPORT_RECORD;
    }
    if (date != NULL && !read_seconds(text_of(date), &seconds))
        return import_refuse(r, "its refetchableFromDate is not in seconds");
    return take(r, seconds, out);
}

static enum import_said read_json(struct import_reader *r, struct bytes text,
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
    return read_json(r, buf_bytes(&r->object), out);
}

/* ---- lines ---- */

/* "http://a/;1767225600". A URL may have semicolons itself. */
static enum import_said read_listed(struct import_reader *r, struct bytes line,
                                    struct import_record *out)
{
    const char *at = memrchr(line.at, ';', line.len);
    int64_t seconds;

    if (at == NULL ||
        !read_seconds(bytes_skip(line, (size_t)(at - line.at) + 1), &seconds))
        return import_refuse(r, "it has no date in seconds after a URL");
    out->url = bytes_of(line.at, (size_t)(at - line.at));
    return take(r, seconds, out);
}

static enum import_said read_line(struct import_reader *r, struct bytes line,
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
        return read_json(r, line, out);
    return read_listed(r, line, out);
}

static enum import_said end_file(struct import_reader *r)
{
    const bool was_open = r->is_open;

    r->is_open = false;
    return was_open ? import_refuse(r, "its last object is cut short")
                    : IMPORT_NOTHING;
}

const struct import_format import_urlfrontier = {"urlfrontier", read_line,
                                                 end_file};
