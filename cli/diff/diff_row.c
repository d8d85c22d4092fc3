/* SPDX-License-Identifier: MIT */
/*
 * diff_row.c - one difference between two crawls, and its form as a line.
 *
 *   state   10 numbers in hexadecimal, redirect, title: a space between two
 *   row     URL, state before, state after, target, numbers, links added, links
 *           removed: a tab between two; an absent state is empty
 *
 * Texts are escaped as in URLs: % and two digits for %, space, controls.
 */
#include "cli/diff/diff_row.h"

#include <string.h>

#include "base/ascii.h"

const char *const diff_kind_names[DIFF_KINDS] = {[DIFF_NEW] = "new",
                                                 [DIFF_GONE] = "gone",
                                                 [DIFF_CHANGED] = "changed",
                                                 [DIFF_MOVED] = "moved",
                                                 [DIFF_UNFETCHED] =
                                                     "unfetched"};
const char *const diff_what_names[DIFF_WHATS] = {"status", "redirect", "title",
                                                 "body",   "text",     "links"};

const char *diff_by_name(enum diff_by by)
{
    static const char *const names[] = {NULL, "redirect", "body", "text"};

    return names[by];
}

/* ---- writing ---- */

static void put_number(struct buf *out, uint64_t n)
{
    buf_addf(out, "%llx ", (unsigned long long)n);
}

static void put_text(struct buf *out, struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];

        if (c <= ' ' || c == '%' || c == 0x7f)
            buf_addf(out, "%%%02x", c);
        else
            buf_add_char(out, (char)c);
    }
}

void diff_state_put(struct buf *out, const struct fetch_row *s)
{
    const uint64_t numbers[] = {s->status,         s->reason,
                                s->http_status,    (uint64_t)s->at_ms,
                                s->body_bytes,     s->body_print,
                                s->text_digest.hi, s->text_digest.lo,
                                s->flags,          s->simhash};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_number(out, numbers[i]);
    put_text(out, s->redirect_url);
    buf_add_char(out, ' ');
    put_text(out, s->title);
}

void diff_row_put(struct buf *out, const struct diff_row *r)
{
    buf_add_bytes(out, r->url);
    buf_add_char(out, '\t');
    if (r->has_before)
        diff_state_put(out, &r->before);
    buf_add_char(out, '\t');
    if (r->has_after)
        diff_state_put(out, &r->after);
    buf_add_char(out, '\t');
    buf_add_bytes(out, r->to);
    buf_add_char(out, '\t');
    put_number(out, r->kind);
    put_number(out, r->by);
    put_number(out, r->what);
    put_number(out, r->links_added);
    put_number(out, r->links_removed);
    buf_add_char(out, '\t');
    buf_add_bytes(out, r->added);
    buf_add_char(out, '\t');
    buf_add_bytes(out, r->removed);
}

/* ---- reading ---- */

static struct bytes until(struct bytes *line, char end)
{
    const char *at = memchr(line->at, end, line->len);
    size_t len = at != NULL ? (size_t)(at - line->at) : line->len;
    struct bytes field = bytes_of(line->at, len);
    size_t used = at != NULL ? len + 1 : len;

    *line = bytes_of(line->at + used, line->len - used);
    return field;
}

struct bytes diff_field(struct bytes *line)
{
    return until(line, '\t');
}

static uint64_t get_number(struct bytes *line)
{
    struct bytes field = until(line, ' ');
    uint64_t n = 0;

    for (size_t i = 0; i < field.len; i++) {
        int digit = ascii_hex(field.at[i]);

        n = n << 4 | (digit >= 0 ? (unsigned)digit : 0);
    }
    return n;
}

static void get_text(struct buf *out, struct bytes field)
{
    for (size_t i = 0; i < field.len; i++) {
        if (field.at[i] == '%' && i + 2 < field.len) {
            unsigned high = (unsigned)ascii_hex(field.at[i + 1]);
            unsigned low = (unsigned)ascii_hex(field.at[i + 2]);

            buf_add_char(out, (char)(high << 4 | low));
            i += 2;
        } else {
            buf_add_char(out, field.at[i]);
        }
    }
}

enum status diff_state_get(struct fetch_row *out, struct bytes line,
                           struct buf *text)
{
    size_t begin = text->len, middle;

    *out = (struct fetch_row){0};
    out->status = (uint8_t)get_number(&line);
    out->reason = (uint8_t)get_number(&line);
    out->http_status = (uint16_t)get_number(&line);
    out->at_ms = (int64_t)get_number(&line);
    out->body_bytes = get_number(&line);
    out->body_print = get_number(&line);
    out->text_digest.hi = get_number(&line);
    out->text_digest.lo = get_number(&line);
    out->flags = (uint8_t)get_number(&line);
    out->simhash = get_number(&line);
    get_text(text, until(&line, ' '));
    middle = text->len;
    get_text(text, line);
    if (buf_failed(text) != STATUS_OK)
        return STATUS_FORMAT;

    out->redirect_url = bytes_of(text->at + begin, middle - begin);
    out->title = bytes_of(text->at + middle, text->len - middle);
    return STATUS_OK;
}

/* `text` has room for all of the line first, and does not move any more. */
enum status diff_row_get(struct diff_row *out, struct bytes line,
                         struct buf *text)
{
    struct bytes field;
    enum status st;

    buf_clear(text);
    st = buf_room(text, line.len + 1) != NULL ? STATUS_OK : STATUS_NOMEM;
    *out = (struct diff_row){.url = diff_field(&line)};
    field = diff_field(&line);
    out->has_before = field.len > 0;
    if (st == STATUS_OK && out->has_before)
        st = diff_state_get(&out->before, field, text);
    field = diff_field(&line);
    out->has_after = field.len > 0;
    if (st == STATUS_OK && out->has_after)
        st = diff_state_get(&out->after, field, text);
    out->to = diff_field(&line);
    field = diff_field(&line);
    out->kind = (enum diff_kind)(get_number(&field) % DIFF_KINDS);
    out->by = (enum diff_by)(get_number(&field) & 3);
    out->what = (unsigned)get_number(&field);
    out->links_added = get_number(&field);
    out->links_removed = get_number(&field);
    out->added = diff_field(&line);
    out->removed = diff_field(&line);
    return st;
}
