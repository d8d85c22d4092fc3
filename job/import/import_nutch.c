/* SPDX-License-Identifier: MIT */
/*
 * import_nutch.c - the text that `nutch readdb CRAWLDB -dump DIR` writes.
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
#include <string.h>

#include "job/import/import_format_impl.h"

/* CrawlDatum.STATUS_DB_*, by their numbers. */
static const struct {
    const char *word;
    enum outcome_status status;
} states[] = {
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
    if (n < 1 || n > sizeof states / sizeof *states)
        return import_refuse(r, NO_STATUS);
    out->url = buf_bytes(&r->text);
    out->status = states[n - 1].status;
    out->word = states[n - 1].word;
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

static enum import_said read_line(struct import_reader *r, struct bytes line,
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

const struct import_format import_nutch = {"nutch-dump", read_line, end_file};
