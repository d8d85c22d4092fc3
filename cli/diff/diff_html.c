/* SPDX-License-Identifier: MIT */
/*
 * diff_html.c - differences as one HTML page.
 *
 * Rows come in order of their URLs, so those of one host, and those of one path
 * on it, are neighbours: one count of each is open at a time.
 */
#include "cli/diff/diff_html.h"

#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "cli/diff/diff_print.h"
#include "cli/report/page.h"

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
