/* SPDX-License-Identifier: MIT */
/*
 * cmd_sitemap.c - `urlweir sitemap`: the entries of a sitemap or feed.
 *
 * Prints one row for each entry, in file order: loc, lastmod and priority,
 * separated by tabs. White space inside a value could break a row, so it is
 * printed as a space.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command_line.h"
#include "crawler/sitemap/sitemap.h"
#include "frontier/url/url.h"

struct sitemap_settings {
    char *url;
    uint8_t from[1];
};

static const struct option_spec specs[] = {
    {.name = "url",
     .type = OPTION_TEXT,
     .at = offsetof(struct sitemap_settings, url),
     .section = "Input",
     .arg = "BASE",
     .help = "the file's URL; links of a feed are relative to it"},
};

static const struct option_table table =
    OPTION_TABLE(specs, struct sitemap_settings);

const struct usage sitemap_usage = {
    .name = "sitemap",
    .synopsis = "sitemap --url BASE FILE",
    .about = "Prints loc, lastmod and priority, with tabs between them, of "
             "each entry of the sitemap, sitemap index, URL list or feed in "
             "FILE (XML or text, gzipped or not), in file order. Entries that "
             "are not http(s) URLs are skipped; a broken file is read as far "
             "as possible.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = "a file",
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

static int list_sitemap(const char *file, const struct url *base)
{
    const struct sitemap_options o = {.base = base};
    struct sitemap_parser *p;
    FILE *f = fopen(file, "re");
    enum status st;

    if (f == NULL) {
        fprintf(stderr, "urlweir sitemap: cannot read %s: %s\n", file,
                strerror(errno));
        return EXIT_CANNOT;
    }
    p = sitemap_parser_new(&o, print_entry, NULL);
    st = read_file(p, f);
    sitemap_parser_free(p);
    fclose(f);
    if (st != STATUS_OK)
        fprintf(stderr, "urlweir sitemap: %s: %s\n", file, complaint(st));
    return st == STATUS_IO || st == STATUS_NOMEM ? EXIT_CANNOT : EXIT_DONE;
}

static int command(const struct sitemap_settings *s, const char *file)
{
    struct url base;
    enum url_reason r;
    int code;

    if (s->url == NULL)
        return usage_error(&sitemap_usage, "--url BASE is missing");
    url_init(&base);
    r = url_parse(&base, bytes_of_str(s->url), NULL, NULL);
    if (r == URL_OK)
        code = list_sitemap(file, &base);
    else
        code = usage_error(&sitemap_usage, "--url is not an http(s) URL (%s)",
                           url_reason_text(r));
    url_fini(&base);
    return code;
}

int cmd_sitemap(int argc, char **argv)
{
    struct sitemap_settings s;
    struct option_list operands;
    int code;

    if (!command_line_parse(&sitemap_usage, argc, argv, &s, &operands, &code))
        return code;
    code = command(&s, operands.item[0]);
    option_list_free(&operands);
    option_fini(&table, &s);
    return code;
}
