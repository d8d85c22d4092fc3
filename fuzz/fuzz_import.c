/* SPDX-License-Identifier: MIT */
/*
 * fuzz_import.c - any octets as what another crawler left: the first octet
 * chooses the format, the lines follow.
 *
 * Asserts, besides memory safety: a record has a URL that lies in its line or
 * in the reader, a line that was read, a state of the six that there are, and
 * an HTTP status that is none or one of three digits; what is refused says why.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "frontier/url/url.h"
#include "job/import/import_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned format_count(void)
{
    unsigned n = 0;

    while (import_formats[n] != NULL)
        n++;
    return n;
}

static void check(struct import_reader *r, enum import_said said,
                  const struct import_record *rec)
{
    struct url u;

    if (said == IMPORT_REFUSED)
        assert(import_reader_why(r)[0] != '\0');
    if (said != IMPORT_RECORD)
        return;
    assert(rec->line >= 1 && rec->line <= import_reader_at(r));
    assert(rec->status < OUTCOME_STATUS_COUNT_);
    assert(rec->status != OUTCOME_DENIED);
    assert(rec->http_status == 0 ||
           (rec->http_status >= 100 && rec->http_status <= 599));
    assert(rec->word[0] != '\0' && rec->at_ms >= 0);
    url_init(&u);
    (void)url_canonical(&u, rec->url, NULL, NULL);
    url_fini(&u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct import_reader *r;
    struct import_record rec;
    struct bytes rest;

    if (size == 0)
        return 0;
    r = import_reader_new(data[0] % format_count(), INT64_C(1800000000000));
    rest = bytes_of(data + 1, size - 1);
    while (rest.len > 0) {
        const char *lf = memchr(rest.at, '\n', rest.len);
        size_t len = lf != NULL ? (size_t)(lf - rest.at) : rest.len;

        check(r, import_reader_line(r, bytes_of(rest.at, len), &rec), &rec);
        rest = bytes_skip(rest, len + (lf != NULL));
    }
    if (import_reader_end(r) == IMPORT_REFUSED)
        assert(import_reader_why(r)[0] != '\0');
    import_reader_free(r);
    return 0;
}
