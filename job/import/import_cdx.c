/* SPDX-License-Identifier: MIT */
/*
 * import_cdx.c - indexes of archives: CDX and CDXJ.
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
#include <jansson.h>
#include <string.h>
#include <time.h>

#include "job/import/import_format_impl.h"

#define FIELDS_11 "NbamskrMSVg"
#define FIELDS_9  "NbamskrVg"

/* YYYYMMDDhhmmss, or its beginning from the day on; 0: it is not a date. */
static int64_t date_of(struct bytes text)
{
    int v[6] = {0, 0, 0, 0, 0, 0};
    struct tm tm = {0};
    size_t at = 0;

    if (text.len < 8 || text.len > 14)
        return 0;
    for (size_t i = 0; i < 6; i++)
        for (size_t n = i == 0 ? 4 : 2; n > 0 && at < text.len; n--, at++) {
            if (text.at[at] < '0' || text.at[at] > '9')
                return 0;
            v[i] = v[i] * 10 + (text.at[at] - '0');
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

static enum import_said read_line(struct import_reader *r, struct bytes line,
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

const struct import_format import_cdx = {"cdx", read_line, NULL};
