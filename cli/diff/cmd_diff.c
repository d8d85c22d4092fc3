/* SPDX-License-Identifier: MIT */
/*
 * cmd_diff.c - `urlweir diff`: what is new, gone, changed and moved.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "base/record.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/diff/diff_join.h"
#include "cli/open_crawl.h"
#include "cli/report/plot.h"
#include "cli/shards/crawl_dirs.h"
#include "crawler/sitemap_stream.h"
#include "frontier/outcome.h"

/*
 * Differences as lines of JSON or CSV, and their counts as text.
 */

/*
 * Differences as one HTML page: counts by host and path, and the
 * first rows. Memory is bounded: the page lists DIFF_HTML_ROWS of each.
 */

#define DIFF_HTML_ROWS 1000
struct diff_html;

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

/* One row on stdout, as docs/formats/diff.md says. STATUS_LIMIT: it is too
 * long; STATUS_IO. */
static enum status diff_print_row(struct record *out,
                                  const struct diff_row *row)
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

static void diff_print_counts(FILE *out, const struct diff_counts *c)
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

static struct diff_html *diff_html_new(void)
{
    struct diff_html *h = xcalloc(1, sizeof *h);

    buf_init(&h->hosts.rows, TABLE_MOST);
    buf_init(&h->hosts.name, TEXT_MOST);
    buf_init(&h->paths.rows, TABLE_MOST);
    buf_init(&h->paths.name, TEXT_MOST);
    buf_init(&h->list, LIST_MOST);
    return h;
}

/* NULL is fine */
static void diff_html_free(struct diff_html *h)
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

/* Rows come in order of their URLs. */
static void diff_html_add(struct diff_html *h, const struct diff_row *row)
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

/* Writes the page; `before` and `after` name the sides. */
static enum status diff_html_write(struct diff_html *h, const char *path,
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

enum diff_format { DIFF_FORMAT_TEXT, DIFF_FORMAT_JSONL, DIFF_FORMAT_CSV };

struct diff_settings {
    char *since, *until;
    enum changed_by changed_by;
    uint64_t memory;
    char *temp, *html;
    enum diff_format format;
    bool exit_code;
    uint8_t from[8];
};

static const char *const changed_words[] = {
    [CHANGED_BY_BODY] = "body", [CHANGED_BY_TEXT] = "text", NULL};
static const char *const formats[] = {"text", "jsonl", "csv", NULL};

#define AT(f) .at = offsetof(struct diff_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "from", .type = OPTION_TEXT, AT(since), .section = "What",
     .arg = "MOMENT",
     .help = "of one crawl: as it was then, such as 2026-12-24T18:00:00Z"},
    {.name = "to", .type = OPTION_TEXT, AT(until), .section = "What",
     .arg = "MOMENT",
     .help = "and as it was then; without it, as it is"},
    {.name = "changed-by", .type = OPTION_CHOICE, AT(changed_by),
     .fallback = "text", .words = changed_words, .section = "What",
     .arg = "WHAT",
     .help = "a page has changed if its body or its visible text is another "
             "one; texts are compared as the crawls took them (--changed-by "
             "words of crawl)"},
    {.name = "memory", .type = OPTION_SIZE, AT(memory), .fallback = "256M",
     .min = 1 << 20, .max = 1e15, .section = "What", .arg = "SIZE",
     .help = "memory to sort in; the rest is sorted on disk"},
    {.name = "temp", .type = OPTION_TEXT, AT(temp), .fallback = "/var/tmp",
     .section = "What", .arg = "DIR",
     .help = "where to sort on disk"},
    {.name = "format", .type = OPTION_CHOICE, AT(format), .fallback = "text",
     .words = formats, .section = "Output", .arg = "FORMAT",
     .help = "counts, or each difference as a JSON object a line or as CSV "
             "with a header line"},
    {.name = "html", .type = OPTION_TEXT, AT(html), .section = "Output",
     .arg = "FILE",
     .help = "write one page with counts by host and path"},
    {.name = "exit-code", .type = OPTION_FLAG, AT(exit_code),
     .section = "Output",
     .help = "exit with 1 if they differ"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct diff_settings);

struct diff_run {
    const struct diff_settings *s;
    const char *sides[2]; /* the same one, of one crawl */
    bool unfinished[2];
    int64_t moments[2]; /* of one crawl; 0: as it is */
    struct line_sort *lines;
    int side; /* that is being read */
    struct record out;
    struct diff_html *html;
    struct diff_counts counts;
};

static enum status take_row(void *ctx, const struct diff_row *row)
{
    struct diff_run *d = ctx;

    if (d->html != NULL)
        diff_html_add(d->html, row);
    return d->s->format != DIFF_FORMAT_TEXT ? diff_print_row(&d->out, row)
                                            : STATUS_OK;
}

static bool is_one(const struct diff_run *d)
{
    return d->sides[0] == d->sides[1];
}

static bool has_finished(const struct crawl_dir *d, const struct reader *r)
{
    return d->is_shard ? !d->unfinished
                       : strcmp(crawl_state(r), "finished") == 0;
}

/* Said once: a page that is missing there may still come. */
static void note_unfinished(struct diff_run *d, const struct crawl_dir *dir,
                            const struct reader *r)
{
    if (is_one(d) || d->unfinished[d->side] || has_finished(dir, r))
        return;
    d->unfinished[d->side] = true;
    fprintf(stderr,
            "urlweir diff: the crawl in %s is %s: what it has not fetched yet "
            "counts as unfetched\n",
            d->sides[d->side], dir->is_shard ? "unfinished" : crawl_state(r));
}

static enum status read_side(struct diff_run *d, struct reader *r, int i)
{
    const struct diff_side side = {.r = r,
                                   .name = i == 0 ? '0' : '1',
                                   .until = d->moments[i]};

    return diff_side_read(&side, d->lines);
}

/* Of one crawl, both moments. */
static int read_dir(void *ctx, const struct crawl_dir *dir)
{
    struct diff_run *d = ctx;
    struct reader r;
    int code = EXIT_DONE;
    enum status st;

    if (!open_crawl(&r, "diff", dir->path, &code))
        return code;
    note_unfinished(d, dir, &r);
    st = read_side(d, &r, d->side);
    if (st == STATUS_OK && is_one(d))
        st = read_side(d, &r, 1);
    if (st != STATUS_OK)
        code = cannot_read("diff", dir->path, st);
    reader_close(&r);
    return code;
}

static int read_sides(struct diff_run *d)
{
    int code = EXIT_DONE;

    for (d->side = 0; code == EXIT_DONE && d->side < (is_one(d) ? 1 : 2);
         d->side++)
        code = crawl_dirs_each("diff", d->sides[d->side], bytes_of("", 0),
                               read_dir, d);
    return code;
}

static int compare(struct diff_run *d)
{
    struct diff_join_options o = {
        .dir = d->s->temp,
        .memory = (size_t)d->s->memory / 2,
        .changed_by = d->s->changed_by,
    };
    int code;
    enum status st;

    d->lines = line_sort_new(o.dir, (size_t)d->s->memory / 3);
    code = read_sides(d);
    o.before_unfinished = d->unfinished[0];
    o.after_unfinished = d->unfinished[1];
    if (code == EXIT_DONE) {
        st = diff_join(d->lines, &o, &d->counts, take_row, d);
        if (st != STATUS_OK)
            code = cannot_read("diff", o.dir, st);
    }
    line_sort_free(d->lines);
    return code;
}

/* Returns the exit status of what was found. */
static int finish(struct diff_run *d)
{
    const uint64_t *k = d->counts.kinds;
    enum status st = STATUS_OK;

    if (d->s->format == DIFF_FORMAT_TEXT)
        diff_print_counts(stdout, &d->counts);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "urlweir diff: cannot write the output\n");
        return EXIT_CANNOT;
    }
    if (d->html != NULL)
        st = diff_html_write(d->html, d->s->html,
                             is_one(d) ? d->s->since : d->sides[0],
                             is_one(d) && d->s->until != NULL ? d->s->until
                                                              : d->sides[1],
                             &d->counts);
    if (st != STATUS_OK) {
        fprintf(stderr, "urlweir diff: cannot write %s: %s\n", d->s->html,
                status_text(st));
        return EXIT_CANNOT;
    }
    return d->s->exit_code && k[DIFF_NEW] + k[DIFF_GONE] + k[DIFF_CHANGED] +
                                      k[DIFF_MOVED] >
                                  0
               ? 1
               : EXIT_DONE;
}

static int run_diff(struct diff_run *d)
{
    int code;

    record_init(&d->out,
                d->s->format == DIFF_FORMAT_CSV ? RECORD_CSV : RECORD_JSONL);
    if (d->s->html != NULL)
        d->html = diff_html_new();
    code = compare(d);
    if (code == EXIT_DONE)
        code = finish(d);
    diff_html_free(d->html);
    record_fini(&d->out);
    return code;
}

/* False: that is no moment, and the user was told. */
static bool read_moment(const char *name, const char *text, int64_t *ms)
{
    *ms = text != NULL ? sitemap_date_ms(bytes_of_str(text)) : 0;
    if (*ms > 0 || text == NULL)
        return true;
    (void)command_usage_error("diff",
                              "--%s '%s' is not a moment, such as "
                              "2026-12-24T18:00:00Z",
                              name, text);
    return false;
}

static bool read_moments(struct diff_run *d, size_t directories)
{
    const struct diff_settings *s = d->s;

    if (directories == 1 && s->since == NULL)
        (void)command_usage_error("diff", "give two directories, or --from");
    else if (directories == 2 && (s->since != NULL || s->until != NULL))
        (void)command_usage_error("diff",
                                  "--from and --to are of one directory");
    else
        return read_moment("from", s->since, &d->moments[0]) &&
               read_moment("to", s->until, &d->moments[1]);
    return false;
}

static int diff_run(const struct usage *u, void *settings,
                    const struct option_list *operands)
{
    struct diff_run d = {.s = settings};

    (void)u;
    d.sides[0] = operands->item[0];
    d.sides[1] = operands->item[operands->count - 1];
    return read_moments(&d, operands->count) ? run_diff(&d) : EXIT_USAGE;
}

const struct usage diff_usage = {
    .name = "diff",
    .synopsis = "diff OLD NEW [--format text|jsonl|csv] [--html FILE] "
                "[--exit-code]\n"
                "diff DIR --from MOMENT [--to MOMENT] [options]",
    .about = "Compares two crawls, or a crawl that fetches its pages again "
             "with itself at another moment, URL by URL: pages that are new, "
             "gone, changed or moved to another URL. Either may be running or "
             "unfinished; what it has not fetched yet is no difference. The "
             "fields are described in docs/formats/diff.md.",
    .table = &table,
    .least = 1,
    .most = 2,
    .operand = "a directory of crawl, or the URL of a crawl in Kafka",
    .run = diff_run,
};
