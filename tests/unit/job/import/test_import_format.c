/* SPDX-License-Identifier: MIT */
/*
 * test_import_format.c - what other crawlers leave, line by line.
 *
 * Files that the tools themselves made are in tests/data/import, and
 * tests/cli/import.sh reads them.
 */
#include "job/import/import_format.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define NOW_MS INT64_C(1800000000000) /* 15 January 2027 */

/* What a format says of the lines of `text`, one word a record. */
static const char *reads(const char *format, const char *text)
{
    static const char *const said[] = {"", "record", "other", "refused"};
    static char out[2000];
    struct import_reader *r;
    struct import_record rec;
    unsigned f = 0;

    while (strcmp(import_formats[f], format) != 0)
        f++;
    r = import_reader_new(f, NOW_MS);
    out[0] = '\0';
    while (*text != '\0') {
        size_t len = strcspn(text, "\n"), at = strlen(out);
        enum import_said s = import_reader_line(r, bytes_of(text, len), &rec);

        if (s == IMPORT_RECORD)
            snprintf(out + at, sizeof out - at, "%llu %.*s %s %u%s\n",
                     (unsigned long long)rec.line, (int)rec.url.len, rec.url.at,
                     outcome_status_name(rec.status), rec.http_status,
                     rec.embedded ? " embedded" : "");
        else if (s != IMPORT_NOTHING)
            snprintf(out + at, sizeof out - at, "%llu %s\n",
                     (unsigned long long)import_reader_at(r), said[s]);
        text += len + (text[len] == '\n');
    }
    if (import_reader_end(r) == IMPORT_REFUSED)
        strcat(out, "end refused\n");
    import_reader_free(r);
    return out;
}

TEST(a_list_has_urls_with_states_and_http_statuses)
{
    ck_assert_str_eq(reads("list", "# a list\n"
                                   "http://a/ \r\n"
                                   "\n"
                                   "http://b/\tdone\n"
                                   "http://c/\tdone\t404\n"
                                   "http://d/\tdone\t301\n"
                                   "http://e/\tfailed\n"
                                   "http://f/\tknown\n"
                                   "http://g/\twaiting\n"
                                   "http://h/\tgone\n"
                                   "http://i/\tdone\t9999\n"
                                   "http://j/#x y"),
                     "2 http://a/ queued 0\n"
                     "4 http://b/ fetched 0\n"
                     "5 http://c/ failed 404\n"
                     "6 http://d/ redirect 301\n"
                     "7 http://e/ failed 0\n"
                     "8 http://f/ skipped 0\n"
                     "9 http://g/ queued 0\n"
                     "10 refused\n"
                     "11 refused\n"
                     "12 http://j/#x y queued 0\n");
}

TEST(cdx_is_read_by_its_header_or_by_its_number_of_fields)
{
    ck_assert_str_eq(
        reads("cdx",
              "a)/ 20260101000000 http://a/ text/html 200 D - - 5 6 f\n"
              "a)/b 20260101000000 http://a/b text/html 302 D - 6 f\n"
              "a)/c 20260101000000 http://a/c text/html\n"
              "a)/d 20260101000000 http://a/d warc/revisit - D - - 5 6 f\n"
              " CDX s a b\n"
              "404 http://a/e 2026\n"
              "404 http://a/e 2026 x\n"
              "\tCDX\ta\ts\n"
              "http://a/f g\t200\n"
              " CDX b s\n"),
        "1 http://a/ fetched 200\n"
        "2 http://a/b redirect 302\n"
        "3 refused\n"
        "4 http://a/d fetched 0\n"
        "6 http://a/e failed 404\n"
        "7 refused\n"
        "9 http://a/f g fetched 200\n"
        "10 refused\n");
}

TEST(cdxj_is_read_whatever_else_its_object_holds)
{
    ck_assert_str_eq(
        reads("cdx",
              "!meta {\"format\": \"CDXJ\"}\n"
              "a)/ 20260101000000 {\"url\": \"http://a/\\u0041\", \"mime\": "
              "\"text/html\", \"status\": \"200\", \"x\": [1]}\n"
              "a)/ 20260101000000 {\"url\": \"http://a/p\", \"status\": "
              "\"200\", \"method\": \"POST\"}\n"
              "a)/ 20260101000000 {\"mime\": \"text/html\"}\n"
              "a)/ 20260101000000 {\"url\": 5}\n"
              "a)/ 20260101000000 {\"url\": \"http://a/\"\n"
              "a)/ 20260101000000 {}\n"),
        "2 http://a/A fetched 200\n"
        "3 other\n"
        "4 refused\n"
        "5 refused\n"
        "6 refused\n"
        "7 refused\n");
}

TEST(a_date_of_cdx_is_utc_and_may_end_after_the_day)
{
    struct import_reader *r = import_reader_new(1, NOW_MS);
    struct import_record rec;
    static const struct {
        const char *line;
        int64_t ms;
    } of[] = {
        {"a 20260102030405 {\"url\": \"http://a/\"}", 1767323045000},
        {"a 20260102 {\"url\": \"http://a/\"}", 1767312000000},
        {"a 2026010x {\"url\": \"http://a/\"}", 0},
        {"a 19691231235959 {\"url\": \"http://a/\"}", 0},
        {"a  {\"url\": \"http://a/\"}", 0},
    };

    ck_assert_str_eq(import_formats[1], "cdx");
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        ck_assert_int_eq(import_reader_line(r, bytes_of_str(of[i].line), &rec),
                         IMPORT_RECORD);
        ck_assert_int_eq(rec.at_ms, of[i].ms);
    }
    import_reader_free(r);
}

TEST(a_nutch_record_is_its_url_and_its_status)
{
    ck_assert_str_eq(reads("nutch-dump", "http://a/\tVersion: 7\n"
                                         "Status: 1 (db_unfetched)\n"
                                         "Fetch time: x\n"
                                         "Metadata: \n"
                                         " \t_pst_=success(1)\n"
                                         "\n"
                                         "http://b/\tVersion: 7\n"
                                         "Status: 5 (db_redir_perm)\n"
                                         "\n"
                                         "http://c/\tVersion: 7\n"
                                         "Status: 33 (fetch_success)\n"
                                         "\n"
                                         "http://d/\tVersion: 7\n"
                                         "http://e/\tVersion: 7\n"
                                         "Status: 3 (db_gone)\n"
                                         "Url,Status code\n"
                                         "http://f/\tVersion: 7\n"),
                     "1 http://a/ queued 0\n"
                     "7 http://b/ redirect 0\n"
                     "11 refused\n"
                     "14 refused\n"
                     "14 http://e/ failed 0\n"
                     "16 refused\n"
                     "end refused\n");
}

TEST(a_recovery_journal_of_either_kind_is_read)
{
    ck_assert_str_eq(reads("heritrix-recover",
                           "F+ http://a/  \n"
                           "F+ dns:a P http://a/\n"
                           "Fe http://a/robots.txt\n"
                           "\n"
                           "Fs http://a/  \n"
                           "Fs http://a/x\n"
                           "Ff http://a/y L http://a/\n"
                           "Fd http://a/z\n"
                           "Fr http://a/z\n"
                           "F+ http://b/i.png LE http://a/\n"
                           "T 2026-01-01T00:00:00Z\n"
                           "E 2026-01-01T00:00:00Z an error\n"
                           "what is this\n"),
                     "1 http://a/ queued 0\n"
                     "2 other\n"
                     "5 http://a/ fetched 0\n"
                     "6 http://a/x fetched 0\n"
                     "7 http://a/y failed 0\n"
                     "8 http://a/z skipped 0\n"
                     "10 http://b/i.png queued 0 embedded\n"
                     "13 refused\n");
}

TEST(a_log_of_wget2_names_what_it_added_and_what_came)
{
    ck_assert_str_eq(
        reads("wget2-log",
              "[1] Downloading 'http://a/robots.txt' ...\n"
              "HTTP response 200 OK [http://a/robots.txt]\n"
              "[0] Downloading 'http://a/it's' ...\n"
              "Adding URL: http://a/b[1]\n"
              "HTTP response 200  [http://a/b[1]]\n"
              "HTTP ERROR response 404 [http://evil/] Not [http://a/c]\n"
              "HTTP response 301 Moved Permanently [http://a/d]\n"
              "HTTP response 200 OK\n"
              "HTTP response 2000 OK [http://a/e]\n"
              "HTTP response \n"
              "[0] Downloading ' ...\n"
              "[0] action=1 pending=0 host=0x0\n"
              "Failed to connect: http://a/f\n"
              "[files] Downloading 'http://a/g' ...\n"
              "Saving 'Adding URL: http://a/h'\n"),
        "1 other\n"
        "2 other\n"
        "3 http://a/it's queued 0\n"
        "4 http://a/b[1] queued 0\n"
        "5 http://a/b[1] fetched 200\n"
        "6 http://a/c failed 404\n"
        "7 http://a/d redirect 301\n"
        "8 refused\n"
        "9 refused\n"
        "10 refused\n"
        "14 http://a/g queued 0\n");
}

TEST(a_list_of_a_urlfrontier_says_from_when_on_a_url_is_due)
{
    ck_assert_str_eq(
        reads("urlfrontier",
              "{\"known\":{\"info\":{\"url\":\"http://a/\"}}}\n"
              "{\"known\":{\"info\":{\"url\":\"http://b/\"},"
              "\"refetchableFromDate\":\"1800000000\"}}\n"
              "{\"known\":{\"info\":{\"url\":\"http://c/\"},"
              "\"refetchableFromDate\":\"1800000001\"}}\n"
              "{\"discovered\":{\"info\":{\"url\":\"http://d/\"}}}\n"
              "{\"known\":{\"info\":{\"url\":\"http://e/\"},"
              "\"refetchableFromDate\":\"soon\"}}\n"
              "{\"known\":{\"info\":{}}}\n"
              "{\"known\":\n"
              "[]\n"
              "\n"
              "http://f/;x;0\n"
              "http://g/;1800000000\n"
              "http://h/;2026-11-24T02:46:15\n"
              "http://i/\n"
              "http://j/;999999999999\n"),
        "1 http://a/ fetched 0\n"
        "2 http://b/ queued 0\n"
        "3 http://c/ fetched 0\n"
        "4 http://d/ queued 0\n"
        "5 refused\n"
        "6 refused\n"
        "7 refused\n"
        "8 refused\n"
        "10 http://f/;x fetched 0\n"
        "11 http://g/ queued 0\n"
        "12 refused\n"
        "13 refused\n"
        "14 refused\n");
}

TEST(an_object_of_a_urlfrontier_may_have_many_lines)
{
    static char long_one[1200000];
    const char *item = "{\n  \"known\": {\n    \"info\": {\n"
                       "      \"url\": \"http://a/\"\n    }\n  }\n}\n";
    size_t at = 0;

    ck_assert_str_eq(reads("urlfrontier", item), "1 http://a/ fetched 0\n");
    snprintf(long_one, sizeof long_one, "{\n\"x\": 1\n%s{\n", item);
    ck_assert_str_eq(reads("urlfrontier", long_one), "3 refused\n"
                                                     "3 http://a/ fetched 0\n"
                                                     "end refused\n");
    at = (size_t)snprintf(long_one, sizeof long_one, "{\n");
    while (at < 1100000)
        at += (size_t)snprintf(long_one + at, sizeof long_one - at, "    \n");
    snprintf(long_one + at, sizeof long_one - at, "}\n%s", item);
    ck_assert_str_eq(reads("urlfrontier", long_one),
                     "220002 refused\n"
                     "220003 http://a/ fetched 0\n");
}
