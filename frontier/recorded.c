/* SPDX-License-Identifier: MIT */
/* recorded.c - the WARC record that holds the body of a fetch. */
#include "frontier/recorded.h"

/* The fetch `seq` of URL `url` has a record: what that refers to, or itself. */
static enum status name_record(const struct recorded *r, uint64_t seq,
                               uint64_t url, int64_t at_ms,
                               struct record_name *out, struct buf *text)
{
    struct url_row row;
    enum status st = revisit_store_get(r->revisits, seq, out, text);

    if (st != STATUS_NOT_FOUND)
        return st;
    st = frontier_store_get(r->store, url, &row, text);
    if (st == STATUS_OK)
        *out = (struct record_name){row.url, at_ms};
    return st;
}

/* As archive.c does: a row refers to the first one with its body if that is
 * recorded and was not requested later. */
enum status recorded_find(const struct recorded *r, const struct fetch_row *row,
                          struct record_name *out, struct buf *text)
{
    struct first_body first = {.seq = 0};
    enum status st = STATUS_OK;

    *out = (struct record_name){{"", 0}, 0};
    if (row->warc_file.len == 0)
        return STATUS_OK;
    if (row->same_as != 0)
        st = page_store_brief(r->pages, row->same_as, &first);
    if (st != STATUS_OK)
        return st;
    if (first.recorded && first.at_ms <= row->at_ms)
        return name_record(r, first.seq, first.url, first.at_ms, out, text);
    return name_record(r, row->seq, row->url, row->at_ms, out, text);
}
