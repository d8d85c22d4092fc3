/* SPDX-License-Identifier: MIT */
/*
 * cmd_import.c - `urlweir import`: takes over the state of another crawler.
 *
 * Makes a crawl that has fetched nothing, as `urlweir crawl` does, and marks it
 * as complete when all records are stored. An import that was cut off has no
 * such mark: it is started over by the same command, and `resume` refuses it.
 * So an import that was killed and repeated ends like one that was not.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/import/import_files.h"
#include "cli/import/import_shards.h"
#include "cli/run/crawl_begin.h"
#include "cli/run/crawl_run.h"
#include "cli/run/held_crawl.h"
#include "cli/shards/crawl_dirs.h"
#include "config/config.h"
#include "frontier/embedded/frontier.h"
#include "job/crawl_block.h"
#include "job/crawl_files.h"
#include "job/dir_kind.h"
#include "job/seed_sink.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

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
};

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
static enum status fill(struct engine *e, struct crawl_setup *c,
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
        st = e->ops->set_meta(e, "seeds_complete", bytes_of_str("1"));
    if (st == STATUS_OK)
        st =
            e->ops->checkpoint_now(e,
                                   counts->waiting > 0 ? "stopped" : "finished",
                                   true, clock_mono(), clock_wall_ms());
    return st;
}

/* Makes the crawl; its files are removed again if anything fails. */
static int import_into(struct crawl_settings *s, struct crawl_setup *c,
                       const struct import_files *files,
                       struct import_counts *counts)
{
    struct engine *e = NULL;
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
    st = fill(e, c, s, files, counts);
    e->ops->close(e);
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

static int check_and_import(struct import_settings *o,
                            const struct option_list *operands)
{
    const struct import_files files = {operands, (unsigned)o->format,
                                       o->refused};
    struct crawl_settings s;
    int code = EXIT_CANNOT;

    if (!option_given(&table, 0, o))
        return usage_error(&import_usage, "--from FORMAT is missing");
    if (o->output == NULL)
        return usage_error(&import_usage, "-o DIR is missing");
    if (!import_files_check(&files) ||
        !dir_kind_check(o->output, DIR_CRAWL, "import"))
        return EXIT_CANNOT;
    if (settings_of_import(&s, o, operands->item[0], &code))
        code = import(&s, &files, o->json);
    settings_fini(&s);
    return code;
}

int cmd_import(int argc, char **argv)
{
    struct import_settings o;
    struct option_list operands = {0};
    int code = EXIT_DONE;

    if (!command_line_parse(&import_usage, argc, argv, &o, &operands, &code))
        return code;
    code = check_and_import(&o, &operands);
    option_list_free(&operands);
    option_fini(&table, &o);
    return code;
}
