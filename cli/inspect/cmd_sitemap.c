/* SPDX-License-Identifier: MIT */
/*
 * cmd_sitemap.c - `urlweir sitemap`: the entries of a sitemap or feed.
 *
 * Prints one row for each entry, in file order: loc, lastmod and priority,
 * separated by tabs. White space inside a value could break a row, so it is
 * printed as a space.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/suggest.h"
#include "crawler/sitemap/sitemap.h"
#include "frontier/url/url.h"

static const char usage[] =
    "usage: urlweir sitemap --url BASE FILE\n"
    "\n"
    "Prints loc, lastmod and priority, with tabs between them, of each entry\n"
    "of the sitemap, sitemap index, URL list or feed in FILE (XML or text,\n"
    "gzipped or not), in file order. Entries that are not http(s) URLs are\n"
    "skipped; a broken file is read as far as possible.\n"
    "\n"
    "  --url BASE  the file's URL; links of a feed are relative\n"
    "              to it\n"
    "  --help      print this\n";

struct sitemap_command {
    const char *file;
    struct url base;
    bool has_base;
};

static void write_value(struct bytes s)
{
    for (size_t i = 0; i < s.len; i++)
        putchar(strchr("\t\n\r\f\v", s.at[i]) != NULL ? ' ' : s.at[i]);
}

static void print_entry(void *ctx, const struct sitemap_entry *entry)
{
    struct bytes loc = url_text(entry->url);

    (void)ctx;
    fwrite(loc.at, 1, loc.len, stdout);
    putchar('\t');
    write_value(entry->lastmod);
    putchar('\t');
    write_value(entry->priority);
    putchar('\n');
}

static int take_url(struct sitemap_command *c, const char *text)
{
    enum url_reason r;

    if (text == NULL)
        return command_usage_error("sitemap", "--url needs a URL");
    r = url_parse(&c->base, bytes_of_str(text), NULL, NULL);
    if (r != URL_OK)
        return command_usage_error("sitemap",
                                   "--url is not an http(s) URL "
                                   "(%s)",
                                   url_reason_text(r));
    c->has_base = true;
    return EXIT_DONE;
}

static int take_word(struct sitemap_command *c, const char *word)
{
    static const char *const known[] = {"--url", "--help", NULL};
    const char *meant;

    if (word[0] != '-') {
        if (c->file != NULL)
            return command_usage_error("sitemap",
                                       "one FILE only; '%s' is one "
                                       "too many",
                                       word);
        c->file = word;
        return EXIT_DONE;
    }
    meant = suggest_nearest(word, known);
    if (meant == NULL)
        return command_usage_error("sitemap", "no option '%s'", word);
    return command_usage_error("sitemap", "no option '%s'; did you mean '%s'?",
                               word, meant);
}

static int take_options(struct sitemap_command *c, int argc, char **argv)
{
    int failed = EXIT_DONE;

    for (int i = 1; i < argc && failed == EXIT_DONE; i++) {
        if (strncmp(argv[i], "--url=", 6) == 0)
            failed = take_url(c, argv[i] + 6);
        else if (strcmp(argv[i], "--url") == 0)
            failed = take_url(c, i + 1 < argc ? argv[++i] : NULL);
        else
            failed = take_word(c, argv[i]);
    }
    if (failed == EXIT_DONE && !c->has_base)
        failed = command_usage_error("sitemap", "--url BASE is missing");
    if (failed == EXIT_DONE && c->file == NULL)
        failed = command_usage_error("sitemap", "FILE is missing");
    return failed;
}

/* Says why the file, or the rest of it, could not be read. */
static const char *complaint(enum status st)
{
    if (st == STATUS_FORMAT)
        return "the gzip stream is damaged or cut short";
    if (st == STATUS_LIMIT)
        return "larger than a sitemap may be; the rest was not read";
    return status_text(st);
}

static enum status read_file(struct sitemap_parser *p, FILE *f)
{
    static char chunk[1 << 16];
    enum status st = STATUS_OK;
    size_t n;

    while (st == STATUS_OK && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
        st = sitemap_parser_push(p, bytes_of(chunk, n));
    if (ferror(f))
        return STATUS_IO;
    return sitemap_parser_finish(p);
}

static int list_sitemap(struct sitemap_command *c)
{
    const struct sitemap_options o = {.base = &c->base};
    struct sitemap_parser *p;
    FILE *f = fopen(c->file, "re");
    enum status st;

    if (f == NULL) {
        fprintf(stderr, "urlweir sitemap: cannot read %s: %s\n", c->file,
                strerror(errno));
        return EXIT_CANNOT;
    }
    p = sitemap_parser_new(&o, print_entry, NULL);
    st = read_file(p, f);
    sitemap_parser_free(p);
    fclose(f);
    if (st != STATUS_OK)
        fprintf(stderr, "urlweir sitemap: %s: %s\n", c->file, complaint(st));
    return st == STATUS_IO || st == STATUS_NOMEM ? EXIT_CANNOT : EXIT_DONE;
}

int cmd_sitemap(int argc, char **argv)
{
    struct sitemap_command c = {0};
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return EXIT_DONE;
        }
    url_init(&c.base);
    status = take_options(&c, argc, argv);
    if (status == EXIT_DONE)
        status = list_sitemap(&c);
    url_fini(&c.base);
    return status;
}
