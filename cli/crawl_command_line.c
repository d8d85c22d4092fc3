/* SPDX-License-Identifier: MIT */
/*
 * crawl_command_line.c - puts together the settings of `urlweir crawl` and
 * `urlweir resume`: defaults, then the settings in DIR, the file of --config,
 * and the command line.
 */
#include "cli/crawl_command_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "base/format.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/open_crawl.h"
#include "config/config.h"
#include "frontier/url/url.h"
#include "frontier/url/url_text.h"
#include "job/settings/options.h"

const struct usage crawl_usage = {
    .name = "crawl",
    .synopsis = "crawl [SEED...] [-i FILE|-] [-o DIR] [options]",
    .about = "Crawls from the seeds and keeps what it finds in DIR. A "
             "directory that already holds a crawl is refused; `urlweir "
             "resume` continues that crawl. Without -o nothing is kept: the "
             "URLs that were fetched go to stdout, one a line, or with -j - "
             "as JSON.",
    .often = "input output depth scope include exclude limit delay contact "
             "allow-private robots warc jsonl",
    .examples = "urlweir crawl https://example.org/ -o crawl\n"
                "urlweir crawl -i seeds.txt -o many --scope domain --depth 5\n"
                "urlweir crawl https://example.org/ -o archive --warc --assets",
    .table = &crawl_options,
    .without = OPTION_ON_RESUME,
    .because = "it is for `urlweir resume`",
    .most = SIZE_MAX,
    .operand = "a seed",
};

const struct usage resume_usage = {
    .name = "resume",
    .synopsis = "resume DIR [options]\n"
                "resume DIR|URL [--crawl NAME | --all]",
    .about =
        "Continues the crawl in DIR, or one that a service has stopped, with "
        "the settings that it has there. Options given here change the crawl's "
        "settings from now on, for queued URLs too: each change is printed, "
        "and kept in DIR/" SETTINGS_FILE
        ". The last change of a setting holds, whether "
        "it was made here, over HTTP or in that file. A "
        "list replaces the one before; -X '' empties it. "
        "What `urlweir delay`, `block` and `limit` set "
        "for one host holds for that host, whatever the "
        "setting for all hosts. With --once nothing is "
        "kept, and the next resume has the settings of "
        "before.",
    .often = "depth scope include exclude limit delay concurrency "
             "allow-private robots time once",
    .examples = "urlweir resume crawl\n"
                "urlweir resume crawl --depth 5 --limit none\n"
                "urlweir resume crawl -X '/calendar/' --delay 2s",
    .table = &crawl_options,
    .without = OPTION_ON_START,
    .because = "it is fixed when a crawl starts",
    .least = 1,
    .most = 1,
    .operand = "the crawl's directory",
    .too_many = "`urlweir seed DIR URL` adds a seed",
    .assigns = true,
};

/* ---- reading ---- */

bool settings_apply(struct crawl_settings *s, const struct usage *u,
                    const struct command_line *c, int *code)
{
    const char *config = command_line_value(c, u, "config");
    struct buf error;
    bool ok = true;

    buf_init(&error, 4096);
    if (config != NULL && config[0] != '\0')
        ok = config_load(&crawl_options, s, config, OPTION_FROM_FILE, &error) ==
             STATUS_OK;
    if (!ok)
        *code = usage_error(u, "%s", buf_str(&error));
    buf_fini(&error);
    return ok && command_line_apply(c, u, s, code);
}

bool settings_accept(struct crawl_settings *s, const struct usage *u, int *code)
{
    struct buf error;
    bool ok;

    buf_init(&error, 4096);
    ok = settings_check(s, &error) == STATUS_OK;
    if (!ok)
        *code = usage_error(u, "%s", buf_str(&error));
    buf_fini(&error);
    return ok;
}

/* Operands are seeds; they replace those of the file. Settings are text, and so
 * a seed that is not UTF-8 has its octets escaped here already. */
static bool take_seeds(struct crawl_settings *s, const struct command_line *c,
                       int *code)
{
    size_t seeds = settings_index("seeds");
    struct buf error, escaped;
    bool ok = true;

    buf_init(&error, 1000);
    buf_init(&escaped, 3 * URL_LENGTH_CEILING);
    for (size_t i = 0; ok && i < c->operands.count; i++) {
        struct bytes seed = bytes_of_str(c->operands.item[i]);

        if (!bytes_is_utf8(seed)) {
            buf_clear(&escaped);
            percent_encode(&escaped, seed, OCTET_HIGH);
            seed = buf_bytes(&escaped);
        }
        ok = option_set(&crawl_options, seeds, s, seed, OPTION_FROM_LINE,
                        &error) == STATUS_OK;
        if (!ok)
            *code = usage_error(&crawl_usage, "seed %zu: %s", i + 1,
                                buf_str(&error));
    }
    buf_fini(&escaped);
    buf_fini(&error);
    return ok;
}

static bool has_start(const struct crawl_settings *s, int *code)
{
    if (s->output == NULL && s->warc) {
        *code = usage_error(&crawl_usage, "--warc needs -o DIR, the directory "
                                          "for the archive");
        return false;
    }
    if (s->seeds.count == 0 && s->input == NULL && s->sitemap_url.count == 0) {
        *code = usage_error(&crawl_usage,
                            "no seed: give URLs, or -i FILE with one a line");
        return false;
    }
    return true;
}

bool settings_of_crawl(struct crawl_settings *s, int argc, char **argv,
                       int *code)
{
    struct command_line c;
    bool ok;

    if (!command_line_read(&c, &crawl_usage, argc, argv, code))
        return false;
    settings_init(s);
    ok = settings_apply(s, &crawl_usage, &c, code) && take_seeds(s, &c, code) &&
         has_start(s, code) && settings_accept(s, &crawl_usage, code);
    if (!ok)
        settings_fini(s);
    command_line_fini(&c);
    return ok;
}

/* ---- resuming ---- */

/* No settings: either nothing was ever crawled there, or they were lost. */
static int no_settings(const char *dir)
{
    struct buf path, safe;
    uint64_t size;
    int code = EXIT_CANNOT;

    if (dir_is_service(dir, "resume"))
        return code;
    buf_init(&path, 8192);
    buf_init(&safe, 40000);
    format_terminal(&safe, bytes_of_str(dir));
    buf_addf(&path, "%s/frontier.db", dir);
    if (file_size(buf_str(&path), &size) == STATUS_OK) {
        fprintf(stderr,
                "urlweir resume: %s/" SETTINGS_FILE
                " is missing, but nothing of what was crawled; put the "
                "crawl's options into a new file of that name and resume "
                "again. The store has the options of the last run, without "
                "secrets:\n"
                "  sqlite3 -readonly %s/frontier.db \"SELECT value FROM meta "
                "WHERE name = 'settings'\" >%s/" SETTINGS_FILE "\n",
                buf_str(&safe), buf_str(&safe), buf_str(&safe));
        code = EXIT_DAMAGED;
    } else {
        fprintf(stderr, "urlweir resume: no crawl to resume in %s%s\n",
                buf_str(&safe), no_crawl_hint(dir));
    }
    buf_fini(&path);
    buf_fini(&safe);
    return code;
}

/* Reads the settings file in DIR into settings that hold the defaults. */
static bool load_crawl(struct crawl_settings *s, const char *dir, int *code)
{
    struct buf error, safe;
    enum status st;

    buf_init(&error, 4096);
    buf_init(&safe, 16384);
    st = settings_load(s, dir, &error);
    if (st == STATUS_NOT_FOUND) {
        *code = no_settings(dir);
    } else if (st != STATUS_OK) {
        format_terminal(&safe, buf_bytes(&error));
        fprintf(stderr, "urlweir resume: %s%s\n", buf_str(&safe),
                st == STATUS_IO ? "" : "; correct that line and resume again");
        *code = st == STATUS_IO ? EXIT_CANNOT : EXIT_DAMAGED;
    }
    buf_fini(&error);
    buf_fini(&safe);
    return st == STATUS_OK;
}

/* A file of --config may repeat what was fixed at the start, not change it. */
static bool keeps_start(const struct crawl_settings *before,
                        const struct crawl_settings *s, int *code)
{
    const char *fixed = settings_fixed_change(before, s);

    if (fixed != NULL)
        *code = usage_error(&resume_usage,
                            "%s: %s: it is fixed when a crawl starts, and is "
                            "another there",
                            s->config, fixed);
    return fixed == NULL;
}

static bool resume(struct crawl_settings *s, struct crawl_settings *before,
                   const struct command_line *c, int *code)
{
    const char *dir = c->operands.item[0];

    if (!load_crawl(s, dir, code))
        return false;
    option_fini(&crawl_options, before);
    option_copy(&crawl_options, before, s, sizeof *s);
    return settings_apply(s, &resume_usage, c, code) &&
           keeps_start(before, s, code) &&
           settings_accept(s, &resume_usage, code);
}

bool settings_of_resume(struct crawl_settings *s, struct crawl_settings *before,
                        int argc, char **argv, int *code)
{
    struct command_line c;
    bool ok;

    if (!command_line_read(&c, &resume_usage, argc, argv, code))
        return false;
    settings_init(s);
    settings_init(before);
    ok = resume(s, before, &c, code);
    if (!ok) {
        settings_fini(s);
        settings_fini(before);
    }
    command_line_fini(&c);
    return ok;
}

/*
 * Hides the secrets on a command line.
 *
 * The arguments of a process can be read by all users of the machine (ps, and
 * /proc/PID/cmdline) for as long as it runs. Until they are overwritten they
 * can be seen for a moment, so a file is still the better place for them.
 */

static void hide_value(char *arg, const char *value)
{
    char *at = value[0] != '\0' ? strstr(arg, value) : NULL;

    if (at != NULL)
        memset(at, '*', strlen(value));
}

/* Each secret option has the same text in `s` as on the command line. */
static void hide_options(char *arg, const struct crawl_settings *s)
{
    struct buf text;

    buf_init(&text, (size_t)1 << 20);
    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *o = &crawl_options.spec[i];
        size_t items = (o->flags & OPTION_SECRET) != 0 ? option_items(o, s) : 0;

        for (size_t k = 0; k < items; k++) {
            buf_clear(&text);
            option_text(o, s, k, &text);
            hide_value(arg, buf_str(&text));
        }
    }
    buf_fini(&text);
}

void secret_args_hide(int argc, char **argv, const struct crawl_settings *s)
{
    for (int i = 1; i < argc; i++)
        hide_options(argv[i], s);
    command_line_hide_logins(argc, argv);
}
