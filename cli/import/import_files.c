/* SPDX-License-Identifier: MIT */
/* import_files.c - reads the files of an import, and tells what they had. */
#include "cli/import/import_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file/line_input.h"
#include "base/format.h"
#include "cli/shards/crawl_dirs.h"
#include "crawler/html/link_kinds.h"
#include "frontier/reader.h"
#include "job/dir_kind.h"
#include "job/exit_code.h"
#include "job/import/import_crawl.h"
#include "job/settings/settings.h"

#define TEXT_MOST 200 /* octets of a refused line that are shown */

struct importing {
    const struct import_files *f;
    struct import_reader *reader;
    struct import_sink *sink;
    const char *file; /* that is read */
    FILE *refused;    /* or NULL */
    uint64_t refused_count;
    struct buf text;
};

/* One in Kafka is found when its settings are read. */
static bool check_crawls(const struct option_list *dirs)
{
    struct buf why;
    bool ok = true;

    buf_init(&why, 4096);
    for (size_t i = 0; ok && i < dirs->count; i++) {
        const char *dir = dirs->item[i];

        ok = crawl_dirs_are_shards(dir) ||
             (dir_kind_fits(dir, DIR_CRAWL, &why) && settings_are_in(dir) &&
              !reader_is_unbegun(dir));
        if (!ok)
            fprintf(stderr, "urlweir import: no crawl in %s\n", dir);
    }
    buf_fini(&why);
    return ok;
}

bool import_files_check(const struct import_files *f)
{
    struct line_input *in;
    bool ok;

    if (import_is_of_crawls(f->format))
        return check_crawls(f->files);
    in = line_input_new((const char *const *)f->files->item, f->files->count);
    ok = line_input_check(in) == STATUS_OK;
    if (!ok)
        fprintf(stderr, "urlweir import: cannot read %s\n",
                line_input_error(in));
    line_input_free(in);
    return ok;
}

/* ---- refused lines ---- */

static void refuse(struct importing *m, uint64_t line, const char *why,
                   struct bytes text)
{
    const bool shown = m->refused_count < IMPORT_SHOWN;

    m->refused_count++;
    if (m->refused_count == IMPORT_SHOWN + 1)
        fprintf(stderr, "urlweir import: more lines are refused; %s\n",
                m->refused != NULL ? "the file of --refused has them all"
                                   : "--refused FILE keeps them all");
    if (!shown && m->refused == NULL)
        return;
    buf_clear(&m->text);
    format_terminal(&m->text, bytes_of_str(m->file));
    if (shown)
        fprintf(stderr, "urlweir import: %s:%" PRIu64 ": %s", buf_str(&m->text),
                line, why);
    if (m->refused != NULL)
        fprintf(m->refused, "%s\t%" PRIu64 "\t%s\t", buf_str(&m->text), line,
                why);
    buf_clear(&m->text);
    if (text.len > TEXT_MOST)
        text.len = TEXT_MOST;
    format_terminal(&m->text, text);
    if (shown && text.len > 0)
        fprintf(stderr, ": '%s'", buf_str(&m->text));
    if (shown)
        fputc('\n', stderr);
    if (m->refused != NULL)
        fprintf(m->refused, "%s\n", buf_str(&m->text));
}

/* ---- lines ---- */

static enum status take(struct importing *m, enum import_said said,
                        const struct import_record *r, struct bytes line)
{
    const char *why = NULL;
    enum status st = STATUS_OK;

    switch (said) {
    case IMPORT_NOTHING:
        break;
    case IMPORT_OTHER:
        import_sink_other(m->sink);
        break;
    case IMPORT_REFUSED:
        refuse(m, import_reader_at(m->reader), import_reader_why(m->reader),
               line);
        break;
    case IMPORT_RECORD:
        st = import_sink_put(m->sink, m->file, r, &why);
        if (why != NULL)
            refuse(m, r->line, why, r->url);
        break;
    }
    return st;
}

static enum status take_line(void *ctx, struct bytes line, bool too_long)
{
    struct importing *m = ctx;
    struct import_record r;

    if (too_long) {
        import_reader_skip(m->reader);
        refuse(m, import_reader_at(m->reader), "the line is too long", line);
        return STATUS_OK;
    }
    return take(m, import_reader_line(m->reader, line, &r), &r, line);
}

/* ---- files ---- */

/* What was read of the file counts, also if it is cut short. */
static enum status end_file(struct importing *m, struct line_input *in,
                            enum status st)
{
    const uint64_t last = import_reader_at(m->reader);
    char why[100];

    if (st == STATUS_FORMAT) {
        snprintf(why, sizeof why,
                 "the %s data is cut short or damaged from here",
                 line_input_packing(in));
        refuse(m, last + 1, why, bytes_of("", 0));
    } else if (st != STATUS_OK) {
        fprintf(stderr, "urlweir import: cannot read %s\n",
                line_input_error(in));
    }
    if (import_reader_end(m->reader) == IMPORT_REFUSED)
        refuse(m, last, import_reader_why(m->reader), bytes_of("", 0));
    return st == STATUS_FORMAT ? STATUS_OK : st;
}

static enum status read_file(struct importing *m, const char *file)
{
    struct line_input *in = line_input_new(&file, 1);
    enum status st;

    m->file = strcmp(file, "-") == 0 ? "stdin" : file;
    st = line_input_each(in, take_line, m);
    if (st == STATUS_OK || line_input_error(in)[0] != '\0')
        st = end_file(m, in, st);
    line_input_free(in);
    return st;
}

static enum status open_refused(struct importing *m)
{
    if (m->f->refused == NULL)
        return STATUS_OK;
    m->refused = fopen(m->f->refused, "we");
    if (m->refused == NULL)
        fprintf(stderr, "urlweir import: cannot write %s: %s\n", m->f->refused,
                strerror(errno));
    return m->refused != NULL ? STATUS_OK : STATUS_IO;
}

static enum status close_refused(struct importing *m)
{
    bool ok = m->refused == NULL || !ferror(m->refused);

    if (m->refused != NULL)
        ok = fclose(m->refused) == 0 && ok;
    if (!ok)
        fprintf(stderr, "urlweir import: cannot write %s\n", m->f->refused);
    return ok ? STATUS_OK : STATUS_IO;
}

/* ---- crawls ---- */

/* Its shard had still to ask the scope. */
static enum status put_on_way(void *ctx, const struct shard_message *m)
{
    const struct import_row found = {.depth = m->depth,
                                     .hops = m->hops,
                                     .kind = m->seed ? LINK_SEED : m->kind,
                                     .seed = m->seed,
                                     .unjudged = !m->seed,
                                     .hint = m->has_hint ? &m->hint : NULL};
    const struct import_record r = {.url = m->url,
                                    .status = OUTCOME_QUEUED,
                                    .row = &found};
    const char *wrong;

    return import_sink_put(ctx, "", &r, &wrong);
}

static int read_crawl(void *ctx, const struct crawl_dir *d)
{
    struct import_sink *sink = ctx;
    struct buf why;
    enum status st;

    buf_init(&why, 4096);
    st = import_crawl(sink, d->path, &why);
    if (st != STATUS_OK)
        fprintf(stderr, "urlweir import: %s\n", buf_str(&why));
    buf_fini(&why);
    if (st == STATUS_OK && d->is_shard)
        st = crawl_dirs_each_on_way(d, put_on_way, sink);
    if (st == STATUS_OK && d->is_shard)
        st = import_sink_flush(sink);
    return st == STATUS_OK ? EXIT_DONE : EXIT_CANNOT; /* it was said */
}

static enum status read_crawls(const struct option_list *dirs,
                               struct import_sink *sink)
{
    int code = EXIT_DONE;

    for (size_t i = 0; code == EXIT_DONE && i < dirs->count; i++)
        code = crawl_dirs_each_still("import", dirs->item[i], read_crawl, sink);
    return code == EXIT_DONE ? STATUS_OK : STATUS_IO;
}

enum status import_files_read(const struct import_files *f, struct engine *e,
                              struct crawl_setup *c,
                              struct import_counts *counts)
{
    struct importing m = {.f = f};
    enum status st, closed;

    if (import_is_of_crawls(f->format)) {
        m.sink = import_sink_new(e, c, import_formats[f->format]);
        st = read_crawls(f->files, m.sink);
        *counts = import_sink_counts(m.sink);
        import_sink_free(m.sink);
        return st;
    }
    st = open_refused(&m);
    m.reader = import_reader_new(f->format, clock_wall_ms());
    m.sink = import_sink_new(e, c, import_formats[f->format]);
    buf_init(&m.text, (size_t)1 << 20);
    for (size_t i = 0; st == STATUS_OK && i < f->files->count; i++)
        st = read_file(&m, f->files->item[i]);
    if (st == STATUS_OK)
        st = import_sink_flush(m.sink);
    closed = close_refused(&m);
    *counts = import_sink_counts(m.sink);
    counts->refused = m.refused_count;
    buf_fini(&m.text);
    import_sink_free(m.sink);
    import_reader_free(m.reader);
    return st == STATUS_OK ? closed : st;
}
