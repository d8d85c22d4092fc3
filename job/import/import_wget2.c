/* SPDX-License-Identifier: MIT */
/*
 * import_wget2.c - the log of GNU Wget2, `wget2 -o FILE` or with -d.
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
#include <string.h>

#include "job/import/import_format_impl.h"

#define ADDING      "Adding URL: "
#define DOWNLOADING " Downloading '"
#define DOTS        "' ..."
#define RESPONSE    "HTTP response "
#define ERROR       "HTTP ERROR response "

/* Wget2 asks for robots.txt by itself. */
static enum import_said take(struct import_record *out, struct bytes url,
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
    return take(out, bytes_of(url.at + 1, url.len - 2), "response");
}

static enum import_said read_line(struct import_reader *r, struct bytes line,
                                  struct import_record *out)
{
    struct bytes rest = line;

    if (bytes_starts_with(line, RESPONSE))
        return take_response(r, bytes_skip(line, strlen(RESPONSE)), out);
    if (bytes_starts_with(line, ERROR))
        return take_response(r, bytes_skip(line, strlen(ERROR)), out);
    if (bytes_starts_with(line, ADDING))
        return take(out, bytes_skip(line, strlen(ADDING)), "added");
    if (line.len == 0 || line.at[0] != '[')
        return IMPORT_NOTHING;
    (void)import_cut(&rest, ']');
    if (!bytes_starts_with(rest, DOWNLOADING) || !bytes_ends_with(rest, DOTS))
        return IMPORT_NOTHING;
    rest = bytes_skip(rest, strlen(DOWNLOADING));
    if (rest.len < strlen(DOTS))
        return IMPORT_NOTHING;
    rest.len -= strlen(DOTS);
    return take(out, rest, "begun");
}

const struct import_format import_wget2 = {"wget2-log", read_line, NULL};
