/* SPDX-License-Identifier: MIT */
/* import_format.c - the table of formats, and what they share. */
#include "job/import/import_format.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/url/url.h"
#include "job/import/import_format_impl.h"

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

struct bytes import_cut(struct bytes *rest, char c)
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

bool import_http_status(struct bytes text, uint16_t *out)
{
    unsigned n = 0;

    if (text.len != 3)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        n = n * 10 + (unsigned)(text.at[i] - '0');
    }
    *out = (uint16_t)n;
    return n >= 100 && n <= 599;
}

enum outcome_status import_status_of(uint16_t http_status)
{
    if (http_status >= 400)
        return OUTCOME_FAILED;
    if (http_status >= 300 && http_status != 304)
        return OUTCOME_REDIRECT;
    return OUTCOME_FETCHED;
}
