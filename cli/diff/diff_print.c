/* SPDX-License-Identifier: MIT */
/*
 * diff_print.c - differences as lines of JSON or CSV, and their counts as text.
 */
#include "cli/diff/diff_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "cli/report/page.h"
#include "frontier/outcome.h"

/* "status, title": what has changed; `text` has 64 octets. */
static void diff_what_text(unsigned what, const char *between, char *text)
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

/*
 * Differences as one HTML page.
 *
 * Rows come in order of their URLs, so those of one host, and those of one path
 * on it, are neighbours: one count of each is open at a time.
 */

#define TABLE_MOST ((size_t)4 << 20)
#define LIST_MOST  ((size_t)16 << 20)
#define TEXT_MOST  ((size_t)300) /* octets shown of a URL or title */

/* A table of counts, one row for each run of URLs with one beginning. */
struct tally {
    struct buf rows, name;
    uint64_t kinds[DIFF_KINDS];
    unsigned listed;
    bool left_out;
};

struct diff_html {
    struct tally hosts, paths;
    struct buf list;
    unsigned listed;
    bool left_out;
};

struct diff_html *diff_html_new(void)
{
    struct diff_html *h = xcalloc(1, sizeof *h);

    buf_init(&h->hosts.rows, TABLE_MOST);
    buf_init(&h->hosts.name, TEXT_MOST);
    buf_init(&h->paths.rows, TABLE_MOST);
    buf_init(&h->paths.name, TEXT_MOST);
    buf_init(&h->list, LIST_MOST);
    return h;
}

void diff_html_free(struct diff_html *h)
{
    if (h == NULL)
        return;
    buf_fini(&h->hosts.rows);
    buf_fini(&h->hosts.name);
    buf_fini(&h->paths.rows);
    buf_fini(&h->paths.name);
    buf_fini(&h->list);
    free(h);
}

static struct bytes cut(struct bytes s)
{
    return bytes_of(s.at, s.len < TEXT_MOST ? s.len : TEXT_MOST);
}

static void add_cell(struct buf *out, struct bytes text)
{
    buf_add_str(out, "<td>");
    page_bytes(out, cut(text));
    if (text.len > TEXT_MOST)
        buf_add_str(out, "\u2026");
    buf_add_str(out, "</td>");
}

/* ---- counts ---- */

static void end_run(struct tally *t)
{
    if (t->name.len > 0 && t->listed < DIFF_HTML_ROWS) {
        t->listed++;
        buf_add_str(&t->rows, "<tr>");
        add_cell(&t->rows, buf_bytes(&t->name));
        for (int k = 0; k < DIFF_KINDS; k++) {
            buf_add_str(&t->rows, "<td>");
            buf_add_uint(&t->rows, t->kinds[k]);
            buf_add_str(&t->rows, "</td>");
        }
        buf_add_str(&t->rows, "</tr>\n");
    } else if (t->name.len > 0) {
        t->left_out = true;
    }
    buf_clear(&t->name);
    memset(t->kinds, 0, sizeof t->kinds);
}

static void tally_add(struct tally *t, struct bytes name, enum diff_kind kind)
{
    name = cut(name);
    if (!bytes_equal(name, buf_bytes(&t->name))) {
        end_run(t);
        buf_add_bytes(&t->name, name);
    }
    t->kinds[kind]++;
}

/* The URL up to the slash that begins its path, or that ends the first segment
 * of it. */
static struct bytes beginning(struct bytes url, unsigned slashes)
{
    for (size_t i = 0; i < url.len; i++)
        if (url.at[i] == '/' && slashes-- == 1)
            return bytes_of(url.at, i + 1);
    return slashes > 1 ? url : beginning(url, 3);
}

/* ---- rows ---- */

static void add_row(struct diff_html *h, const struct diff_row *row)
{
    struct buf *out = &h->list;
    char what[64];

    diff_what_text(row->what, ", ", what);
    if (row->kind == DIFF_MOVED)
        buf_add_str(out, "<tr><td>moved, by ");
    else
        buf_add_str(out, "<tr><td>");
    page_text(out, row->kind == DIFF_MOVED ? diff_by_name(row->by)
                                           : diff_kind_names[row->kind]);
    buf_add_str(out, "</td>");
    add_cell(out, row->url);
    add_cell(out, row->kind == DIFF_MOVED ? row->to : bytes_of_str(what));
    add_cell(out, row->has_after ? row->after.title : row->before.title);
    buf_add_str(out, "</tr>\n");
}

void diff_html_add(struct diff_html *h, const struct diff_row *row)
{
    tally_add(&h->hosts, beginning(row->url, 3), row->kind);
    tally_add(&h->paths, beginning(row->url, 4), row->kind);
    if (h->listed < DIFF_HTML_ROWS) {
        h->listed++;
        add_row(h, row);
    } else {
        h->left_out = true;
    }
}

/* ---- the page ---- */

static void add_table(struct buf *out, const char *title,
                      const char *const *heads, const struct buf *rows,
                      bool left_out)
{
    buf_add_str(out, "<h2>");
    page_text(out, title);
    buf_add_str(out, "</h2>\n<table>\n<thead><tr>");
    for (; *heads != NULL; heads++) {
        buf_add_str(out, "<th>");
        page_text(out, *heads);
        buf_add_str(out, "</th>");
    }
    buf_add_str(out, "</tr></thead>\n<tbody>\n");
    buf_add_bytes(out, buf_bytes(rows));
    buf_add_str(out, "</tbody></table>\n");
    if (left_out)
        buf_add_str(out, "<p>There are more.</p>\n");
}

enum status diff_html_write(struct diff_html *h, const char *path,
                            const char *before, const char *after,
                            const struct diff_counts *c)
{
    static const char *const counts[] = {"URLs under", "new",   "gone",
                                         "changed",    "moved", "unfetched",
                                         NULL};
    static const char *const rows[] = {"kind", "URL", "what, or where to",
                                       "title", NULL};
    struct buf out;
    enum status st;

    end_run(&h->hosts);
    end_run(&h->paths);
    buf_init(&out, 2 * TABLE_MOST + LIST_MOST + 65536);
    page_begin(&out, "Differences");
    buf_add_str(&out, "<p class=\"lead\">From ");
    page_text(&out, before);
    buf_add_str(&out, " to ");
    page_text(&out, after);
    buf_add_str(&out, "</p>\n<dl class=\"figures\">\n");
    for (int k = 0; k < DIFF_KINDS; k++)
        page_figure(&out, diff_kind_names[k], (double)c->kinds[k]);
    page_figure(&out, "same", (double)c->same);
    buf_add_str(&out, "</dl>\n");
    add_table(&out, "By host", counts, &h->hosts.rows, h->hosts.left_out);
    add_table(&out, "By path", counts, &h->paths.rows, h->paths.left_out);
    add_table(&out, "Pages", rows, &h->list, h->left_out);
    page_end(&out);
    st = buf_failed(&out);
    if (st == STATUS_OK)
        st = file_replace(path, buf_bytes(&out));
    buf_fini(&out);
    return st;
}
