/* SPDX-License-Identifier: MIT */
/*
 * diff_print.c - differences as lines of JSON or CSV, and their counts as text.
 */
#include "cli/diff/diff_print.h"

#include <inttypes.h>
#include <string.h>

#include "frontier/outcome.h"

void diff_what_text(unsigned what, const char *between, char *text)
{
    size_t len = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < DIFF_WHATS; i++)
        if ((what >> i & 1) != 0)
            len += (size_t)snprintf(text + len, 64 - len, "%s%s",
                                    len > 0 ? between : "", diff_what_names[i]);
}

static struct bytes some(struct bytes b)
{
    return b.len > 0 ? b : bytes_of(NULL, 0);
}

static void put_hex(struct record *out, const char *name, uint64_t high,
                    uint64_t low, bool both)
{
    char text[40];

    snprintf(text, sizeof text, "%016" PRIx64, high);
    if (both)
        snprintf(text + 16, sizeof text - 16, "%016" PRIx64, low);
    record_text(out, name,
                high != 0 || low != 0 ? bytes_of_str(text) : bytes_of(NULL, 0));
}

static const char *const names[2][10] = {
    {"status_before", "reason_before", "http_status_before",
     "fetched_at_before", "redirect_to_before", "title_before",
     "body_bytes_before", "body_print_before", "text_digest_before", NULL},
    {"status_after", "reason_after", "http_status_after", "fetched_at_after",
     "redirect_to_after", "title_after", "body_bytes_after", "body_print_after",
     "text_digest_after", NULL}};

static void put_state(struct record *out, const struct fetch_row *s, bool there,
                      const char *const *name)
{
    const struct fetch_row none = {0};
    char reason[40] = "";

    s = there ? s : &none;
    outcome_reason_text((struct outcome){s->status, s->reason, s->http_status},
                        reason, sizeof reason);
    record_text(out, name[0],
                there ? bytes_of_str(outcome_status_name(s->status))
                      : bytes_of(NULL, 0));
    record_text(out, name[1], some(bytes_of_str(reason)));
    record_some(out, name[2], s->http_status);
    record_time(out, name[3], s->at_ms);
    record_text(out, name[4], some(s->redirect_url));
    record_text(out, name[5], some(s->title));
    record_some(out, name[6], s->body_bytes);
    put_hex(out, name[7], s->body_print, 0, false);
    put_hex(out, name[8], s->text_digest.hi, s->text_digest.lo, true);
}

enum status diff_print_row(struct record *out, const struct diff_row *row)
{
    const char *by = diff_by_name(row->by);
    bool prints = row->has_before && row->has_after &&
                  row->before.simhash != 0 && row->after.simhash != 0;
    char what[64], distance[8] = "null";
    struct bytes line;
    enum status st;

    diff_what_text(row->what, ",", what);
    if (prints)
        snprintf(distance, sizeof distance, "%d",
                 __builtin_popcountll(row->before.simhash ^
                                      row->after.simhash));
    record_str(out, "kind", diff_kind_names[row->kind]);
    record_text(out, "url", row->url);
    record_text(out, "to", some(row->to));
    record_text(out, "by", some(bytes_of_str(by != NULL ? by : "")));
    record_text(out, "what", some(bytes_of_str(what)));
    put_state(out, &row->before, row->has_before, names[0]);
    put_state(out, &row->after, row->has_after, names[1]);
    record_json(out, "simhash_distance",
                prints || out->format == RECORD_JSONL ? bytes_of_str(distance)
                                                      : bytes_of("", 0));
    record_uint(out, "links_added", row->links_added);
    record_uint(out, "links_removed", row->links_removed);
    record_text(out, "added", some(row->added));
    record_text(out, "removed", some(row->removed));
    st = record_end(out, &line);
    if (st == STATUS_OK && fwrite(line.at, 1, line.len, stdout) < line.len)
        st = STATUS_IO;
    return st;
}

void diff_print_counts(FILE *out, const struct diff_counts *c)
{
    const char *between = " (";

    for (int k = 0; k < DIFF_KINDS; k++) {
        if (k == DIFF_UNFETCHED && c->kinds[k] == 0)
            continue;
        fprintf(out, "%-10s %10" PRIu64, diff_kind_names[k], c->kinds[k]);
        for (int i = 0; k == DIFF_CHANGED && i < DIFF_WHATS; i++) {
            if (c->whats[i] == 0)
                continue;
            fprintf(out, "%s%s %" PRIu64, between, diff_what_names[i],
                    c->whats[i]);
            between = ", ";
        }
        fputs(k == DIFF_CHANGED && between[0] == ',' ? ")\n" : "\n", out);
    }
    fprintf(out, "%-10s %10" PRIu64, "same", c->same);
    if (c->other_body > 0)
        fprintf(out, " (%" PRIu64 " with another body)", c->other_body);
    fputc('\n', out);
}
