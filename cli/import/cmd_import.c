/* SPDX-License-Identifier: MIT */
/*
 * cmd_import.c - `urlweir import`: takes over the state of another crawler.
 *
 * Makes a crawl that has fetched nothing, as `urlweir crawl` does, and marks it
 * as complete when all records are stored. An import that was cut off has no
 * such mark: it is started over by the same command, and `resume` refuses it.
 * So an import that was killed and repeated ends like one that was not.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/file/line_input.h"
#include "base/format.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/run/cmd_crawl.h"
#include "cli/run/cmd_shard.h"
#include "cli/run/crawl_run.h"
#include "cli/shards/crawl_dirs.h"
#include "cluster/cluster_control.h"
#include "cluster/shard_rows.h"
#include "config/config.h"
#include "config/option.h"
#include "crawler/html/link_values.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/reader.h"
#include "job/crawl_setup.h"
#include "job/dir_kind.h"
#include "job/exit_code.h"
#include "job/import/import_sink.h"
#include "job/seed_sink.h"
#include "job/settings/options.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

#define IMPORT_SHOWN 20

struct import_files {
    const struct option_list *files; /* "-" is stdin */
    unsigned format;                 /* index into import_formats */
    const char *refused;             /* a file for refused lines, or NULL */
};

/* ---- reads the files of an import, and tells what they had ---- */

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

/* Can all files be opened? If not, the reason was printed on stderr. Call it
 * before the crawl is made. */
static bool import_files_check(const struct import_files *f)
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

/* Reads them into the crawl. STATUS_IO: a file could not be read or written,
 * and the reason was printed on stderr; other errors are the frontier's. */
static enum status import_files_read(const struct import_files *f,
                                     struct frontier *e, struct crawl_setup *c,
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

/* ---- an import into a crawl on many machines ---- */

struct shards_importing {
    struct crawl_settings *s;
    const struct import_files *files;
    struct import_counts *counts;
    struct kafka_address where;
    struct kafka_access access;
    struct buf why;
};

static int cannot(struct shards_importing *m, enum status st)
{
    fprintf(stderr, "urlweir import: %s\n",
            m->why.len > 0 ? buf_str(&m->why) : status_text(st));
    return EXIT_CANNOT;
}

/* Nothing is sent to other shards: each reads all of the input. */
static void leave_out(void *ctx, const struct url_item *item, uint64_t via)
{
    (void)ctx;
    (void)item;
    (void)via;
}

/* What concerns lines is the same for each shard. */
static void add_counts(struct import_counts *to, const struct import_counts *of)
{
    to->waiting += of->waiting;
    to->done += of->done;
    to->known += of->known;
    to->failed += of->failed;
    to->repeated += of->repeated;
    to->dropped += of->dropped;
    to->other = of->other;
    to->refused = of->refused;
}

static enum status is_whole(struct frontier *e, bool *whole)
{
    struct buf mark;
    enum status st;

    buf_init(&mark, 16);
    st = frontier_meta(e, "seeds_complete", &mark);
    *whole = st == STATUS_OK;
    buf_fini(&mark);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status fill(struct shards_importing *m, struct frontier *e,
                        struct crawl_setup *c, const struct crawl_settings *s)
{
    struct import_counts counts = {0};
    bool whole = false;
    enum status st = is_whole(e, &whole);

    if (st == STATUS_OK && !whole)
        st = import_files_read(m->files, e, c, &counts);
    fault_point("import-shard");
    if (st == STATUS_OK && !whole)
        st = settings_note_first(e, s, c->form);
    if (st == STATUS_OK && !whole)
        st = frontier_set_meta(e, "seeds_complete", bytes_of_str("1"));
    if (st == STATUS_OK)
        st = frontier_checkpoint_now(e, "stopped", true, clock_mono(),
                                     clock_wall_ms());
    add_counts(m->counts, &counts);
    return st;
}

static int import_shard(struct shards_importing *m, struct shard_rows *rows,
                        struct crawl_setup *c, struct crawl_settings *s)
{
    struct frontier *e = NULL;
    struct buf note;
    bool there = false;
    int code = EXIT_CANNOT;
    enum status st;

    buf_init(&note, 4096);
    st = shard_rows_restore(rows, s->output, &there, &note, &m->why);
    buf_fini(&note);
    if (st != STATUS_OK)
        return cannot(m, st);
    if (!there)
        crawl_remove_files(s->output);
    st = settings_save(s);
    if (st != STATUS_OK)
        return cannot(m, st);
    if (!crawl_block_start(c, s, &code))
        return code;
    c->frontier.shard = s->shard;
    c->frontier.send = leave_out;
    c->frontier.store.follower = shard_rows_follower(rows);
    st = there ? frontier_open(&e, s->output, &c->frontier, clock_mono(),
                               clock_wall_ms())
               : frontier_create(&e, s->output, &c->frontier, clock_wall_ms());
    if (st == STATUS_OK)
        st = fill(m, e, c, s);
    if (e != NULL)
        frontier_close(e);
    return st == STATUS_OK ? EXIT_DONE : crawl_open_failed(st, s->output);
}

static int import_one(struct shards_importing *m, struct shard_number number)
{
    const struct shard_rows_options o = {.access = m->access,
                                         .name = m->where.topic,
                                         .number = number};
    struct crawl_settings s;
    struct crawl_setup c = {.guard = NULL};
    struct kafka_address where;
    struct shard_rows *rows = NULL;
    struct file_lock *lock = NULL;
    int code = EXIT_CANNOT;
    enum status st;

    settings_init(&s);
    st = shard_settings_read(&s, m->s->output, number, &where, &m->why);
    if (st != STATUS_OK) {
        code = cannot(m, st);
    } else if (crawl_setup_init(&c, &s, &code) &&
               crawl_lock(s.output, "import", &lock, &code)) {
        st = shard_rows_open(&rows, &o, &m->why);
        code = st == STATUS_OK ? import_shard(m, rows, &c, &s) : cannot(m, st);
        shard_rows_close(rows);
        file_lock_free(lock);
    }
    crawl_setup_fini(&c);
    settings_fini(&s);
    return code;
}

/* Is that name free? */
static int prepare(struct shards_importing *m)
{
    enum status st = cluster_make_topics(&m->access, m->where.topic,
                                         (uint32_t)m->s->shards, &m->why);

    if (st == STATUS_OK)
        st = cluster_make_may(&m->access, m->where.topic, &m->why);
    if (st == STATUS_EXISTS) {
        buf_clear(&m->why);
        buf_addf(&m->why, "crawl %s is there already", m->where.topic);
    }
    if (st == STATUS_OK)
        st = settings_save(m->s);
    return st == STATUS_OK ? EXIT_DONE : cannot(m, st);
}

static int import_all(struct shards_importing *m)
{
    const uint32_t count = (uint32_t)m->s->shards;
    int code = prepare(m);
    enum status st;

    for (uint32_t n = 0; code == EXIT_DONE && n < count; n++)
        code = import_one(m, (struct shard_number){n, count});
    if (code != EXIT_DONE)
        return code;
    st = cluster_make(&m->access, m->where.topic, m->s, count, &m->why);
    if (st != STATUS_OK)
        return cannot(m, st);
    return m->counts->refused > 0 ? EXIT_SEEDS : EXIT_DONE;
}

/* Returns the exit status; what went wrong was said. */
static int import_shards(struct crawl_settings *s,
                         const struct import_files *files,
                         struct import_counts *counts)
{
    struct shards_importing m = {.s = s, .files = files, .counts = counts};
    struct file_lock *lock = NULL;
    int code = EXIT_CANNOT;
    enum status st;

    buf_init(&m.why, 4096);
    st = kafka_address_read(&m.where, s->cluster, &m.why);
    m.access = (struct kafka_access){m.where.brokers,
                                     {s->kafka_property.item,
                                      s->kafka_property.count}};
    if (st != STATUS_OK)
        code = cannot(&m, st);
    else if (crawl_lock(s->output, "import", &lock, &code))
        code = import_all(&m);
    file_lock_free(lock);
    buf_fini(&m.why);
    return code;
}

struct import_settings {
    int format;
    char *output, *config, *refused, *cluster;
    int64_t shards;
    struct option_list kafka_property;
    bool json;
    uint8_t from[8];
};
#define AT(field) .at = offsetof(struct import_settings, field)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "from", .type = OPTION_CHOICE, AT(format), .words = import_formats,
     .section = "Input", .arg = "FORMAT",
     .help = "what the files are; see urlweir(1)"},
    {.name = "output", .letter = 'o', .type = OPTION_TEXT, AT(output),
     .section = "Output", .arg = "DIR",
     .help = "the crawl's directory; it is made if it is missing"},
    {.name = "config", .letter = 'C', .type = OPTION_TEXT, AT(config),
     .section = "Output", .arg = "FILE",
     .help = "the settings of the crawl, a YAML file as for `urlweir crawl`; "
             "its seeds are put first"},
    {.name = "cluster", .type = OPTION_TEXT, AT(cluster), .section = "Output",
     .arg = "URL",
     .help = "make a crawl on many machines, kafka://HOST[:PORT][,...]/NAME; "
             "DIR is a worker's then"},
    {.name = "shards", .type = OPTION_COUNT, AT(shards), .fallback = "16",
     .min = 1, .max = 4096, .section = "Output", .arg = "N",
     .help = "with --cluster: into how many parts hosts are divided"},
    {.name = "kafka-property", .type = OPTION_LIST, AT(kafka_property),
     .section = "Output", .arg = "NAME=VALUE",
     .help = "with --cluster: how to sign in, see urlweir(1)"},
    {.name = "refused", .type = OPTION_TEXT, AT(refused), .section = "Output",
     .arg = "FILE",
     .help = "write each line that is refused: file, line, reason, text"},
    {.name = "json", .type = OPTION_FLAG, AT(json), .section = "Output",
     .help = "print the counts as one JSON object"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct import_settings);

/* ---- what was imported ---- */

static void print_counts(const struct import_counts *c, bool json)
{
    const struct {
        const char *name, *text;
        uint64_t n;
    } rows[] = {
        {"waiting", "wait to be fetched", c->waiting},
        {"done", "are done", c->done},
        {"failed", "of these failed", c->failed},
        {"known", "are known, and not to be fetched", c->known},
        {"repeated", "records of URLs that were there", c->repeated},
        {"dropped", "were dropped by the crawl's own rules", c->dropped},
        {"other", "records of no http(s) page", c->other},
        {"refused", "lines were refused", c->refused},
    };
    const size_t n = sizeof rows / sizeof *rows;

    for (size_t i = 0; i < n; i++)
        if (json)
            printf("%s\"%s\":%" PRIu64 "%s", i == 0 ? "{" : "", rows[i].name,
                   rows[i].n, i + 1 < n ? "," : "}\n");
        else
            printf("%10" PRIu64 "  %s\n", rows[i].n, rows[i].text);
}

/* ---- the crawl ---- */

/* Those of the first crawl. Its seeds are among its URLs. */
static enum status settings_of_first(struct crawl_settings *s, const char *dir,
                                     struct buf *error)
{
    enum status st = crawl_dirs_settings(dir, s, error);

    if (st == STATUS_OK && settings_are_in(dir))
        st = settings_load_secrets(s, dir, error);
    free(s->cluster);
    s->cluster = NULL;
    s->shard = (struct shard_number){0, 0};
    option_list_free(&s->seeds);
    free(s->input);
    s->input = NULL;
    return st;
}

static void take_cluster(struct crawl_settings *s, struct import_settings *o)
{
    if (o->cluster == NULL)
        return;
    free(s->cluster);
    s->cluster = xstrdup(o->cluster);
    s->shards = o->shards;
    option_list_free(&s->kafka_property);
    s->kafka_property = o->kafka_property;
    o->kafka_property = (struct option_list){0};
}

/* The settings of the new crawl: defaults or those of the crawl that is moved,
 * and those of --config. */
static bool settings_of_import(struct crawl_settings *s,
                               struct import_settings *o, const char *first,
                               int *code)
{
    struct buf error;
    enum status st = STATUS_OK;

    settings_init(s);
    buf_init(&error, (size_t)64 << 10);
    if (import_is_of_crawls((unsigned)o->format))
        st = settings_of_first(s, first, &error);
    if (st != STATUS_OK) {
        *code = command_failed("import", buf_str(&error));
        buf_fini(&error);
        return false;
    }
    if (o->config != NULL)
        st =
            config_load(&crawl_options, s, o->config, OPTION_FROM_FILE, &error);
    take_cluster(s, o);
    free(s->output);
    s->output = xstrdup(o->output);
    if (st == STATUS_OK)
        st = settings_check(s, &error);
    if (st != STATUS_OK)
        *code = usage_error(&import_usage, "%s", buf_str(&error));
    buf_fini(&error);
    return st == STATUS_OK;
}

/* Nothing of it counts before the mark "seeds_complete" is on disk. */
static enum status import_fill(struct frontier *e, struct crawl_setup *c,
                               const struct crawl_settings *s,
                               const struct import_files *files,
                               struct import_counts *counts)
{
    enum status st = seed_sink_given(e, c, s);

    if (st == STATUS_OK)
        st = import_files_read(files, e, c, counts);
    fault_point("import-read");
    if (st == STATUS_OK)
        st = settings_note_first(e, s, c->form);
    if (st == STATUS_OK)
        st = frontier_set_meta(e, "seeds_complete", bytes_of_str("1"));
    if (st == STATUS_OK)
        st = frontier_checkpoint_now(e,
                                     counts->waiting > 0 ? "stopped"
                                                         : "finished",
                                     true, clock_mono(), clock_wall_ms());
    return st;
}

/* Makes the crawl; its files are removed again if anything fails. */
static int import_into(struct crawl_settings *s, struct crawl_setup *c,
                       const struct import_files *files,
                       struct import_counts *counts)
{
    struct frontier *e = NULL;
    int code = EXIT_CANNOT;
    enum status st;

    if (!crawl_begin_may(s->output, "import"))
        return EXIT_CANNOT;
    st = settings_save(s); /* marks DIR as a crawl's */
    if (st == STATUS_OK && !crawl_block_start(c, s, &code)) {
        crawl_remove_files(s->output);
        return code;
    }
    if (st == STATUS_OK)
        st = frontier_create(&e, s->output, &c->frontier, clock_wall_ms());
    if (st != STATUS_OK)
        return crawl_open_failed(st, s->output);
    st = import_fill(e, c, s, files, counts);
    frontier_close(e);
    if (st == STATUS_OK)
        return counts->refused > 0 ? EXIT_SEEDS : EXIT_DONE;
    crawl_remove_files(s->output);
    return st == STATUS_IO ? EXIT_CANNOT : crawl_open_failed(st, s->output);
}

static int import(struct crawl_settings *s, const struct import_files *files,
                  bool json)
{
    struct import_counts counts = {0};
    struct crawl_setup c;
    struct file_lock *lock = NULL;
    int code = EXIT_DONE;

    if (s->cluster != NULL) {
        code = import_shards(s, files, &counts);
    } else {
        if (crawl_setup_init(&c, s, &code) &&
            crawl_lock(s->output, "import", &lock, &code))
            code = import_into(s, &c, files, &counts);
        file_lock_free(lock);
        crawl_setup_fini(&c);
    }
    if (code == EXIT_DONE || code == EXIT_SEEDS) {
        print_counts(&counts, json);
        held_crawl_say_left("import", s->output, "queued", counts.waiting);
    }
    return code;
}

static int import_run(const struct usage *u, void *settings,
                      const struct option_list *operands)
{
    struct import_settings *o = settings;
    const struct import_files files = {operands, (unsigned)o->format,
                                       o->refused};
    struct crawl_settings s;
    int code = EXIT_CANNOT;

    if (!option_given(&table, 0, o))
        return usage_error(u, "--from FORMAT is missing");
    if (o->output == NULL)
        return usage_error(u, "-o DIR is missing");
    if (!import_files_check(&files) ||
        !dir_kind_check(o->output, DIR_CRAWL, "import"))
        return EXIT_CANNOT;
    if (settings_of_import(&s, o, operands->item[0], &code))
        code = import(&s, &files, o->json);
    settings_fini(&s);
    return code;
}

const struct usage import_usage = {
    .name = "import",
    .synopsis = "import --from FORMAT FILE... -o DIR [-C FILE] [options]",
    .about =
        "Makes a crawl of what another crawler knew: URLs that it had done are "
        "not fetched, URLs that waited there wait here, for `urlweir resume "
        "DIR`. Prints how many there are of each. Lines that cannot be read "
        "are refused, and named on stderr; then the exit status is 5. FILE may "
        "be gzip, zstd or bzip2; - is stdin. With --from urlweir each FILE is "
        "the directory of a crawl, or a crawl in Kafka by its URL or the "
        "directory of a worker: so crawls are joined, and "
        "moved between one machine and many.",
    .table = &table,
    .least = 1,
    .most = SIZE_MAX,
    .operand = "a file of the other crawler",
    .run = import_run,
};
