/* SPDX-License-Identifier: MIT */
/* cmd_links.c - `urlweir links`: the links of one file, as a crawl finds them.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "crawler/html/link_values.h"
#include "crawler/html/links.h"

#define FILE_CEILING ((size_t)1 << 30)

struct links_settings {
    char *url, *content_type;
    bool all;
    uint8_t from[3];
};

#define AT(f) .at = offsetof(struct links_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "url", .type = OPTION_TEXT, AT(url), .section = "Input",
     .arg = "BASE",
     .help = "where the file comes from; links are relative to it"},
    {.name = "content-type", .type = OPTION_TEXT, AT(content_type),
     .section = "Input", .arg = "TYPE",
     .help = "the response's Content-Type header: its charset counts before "
             "the page's own, and a type of XML makes a page be read as XML"},
    {.name = "all", .type = OPTION_FLAG, AT(all), .section = "Output",
     .help = "also print the kinds style, lazy, object, embed, media, cite, "
             "manifest, amphtml and og"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct links_settings);

const struct usage links_usage = {
    .name = "links",
    .synopsis = "links --url BASE [--content-type TYPE] [--all] FILE",
    .about = "Prints one line for each link of FILE, an HTML page or, with "
             "--content-type text/css, a style sheet: KIND, a tab, the "
             "absolute URL. FILE may be -, which is standard input.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = "a file",
};

static enum status read_input(const char *path, struct buf *out)
{
    size_t n;

    if (strcmp(path, "-") != 0)
        return file_read(path, out);
    do {
        char *room = buf_room(out, 65536);

        if (room == NULL)
            return STATUS_LIMIT;
        n = fread(room, 1, 65536, stdin);
        buf_grew(out, n);
    } while (n > 0);
    return ferror(stdin) ? STATUS_IO : STATUS_OK;
}

static void print_link(void *ctx, const struct found_link *link)
{
    (void)ctx;
    printf("%s\t%s\n", link_kind_name(link->kind), buf_str(&link->url->text));
}

static enum status print_links(struct bytes body, const char *file,
                               const struct links_settings *s,
                               const struct url *base)
{
    struct link_parser *p = link_parser_new(NULL);
    struct link_options o = {
        .kinds = s->all ? LINK_SET_ALL : LINK_SET_BASIC,
        .content_type = bytes_of_str(s->content_type),
        .page_url = base,
    };
    struct page_info info;
    enum status st;

    if (bytes_equal_nocase(media_essence(o.content_type),
                           bytes_of_str("text/css")))
        st = link_parser_css(p, body, &o, print_link, NULL, &info);
    else
        st = link_parser_html(p, body, &o, print_link, NULL, &info);
    if (info.broken_line > 0)
        fprintf(stderr,
                "urlweir links: %s: not well-formed XML from line %" PRIu64
                " on, which was read as HTML\n",
                file, info.broken_line);
    link_parser_free(p);
    return st;
}

static int list_links(const struct links_settings *s, const char *file)
{
    struct buf body;
    struct url base;
    enum url_reason reason;
    enum status st;
    int code = EXIT_USAGE;

    buf_init(&body, FILE_CEILING);
    url_init(&base);
    reason = url_parse(&base, bytes_of_str(s->url), NULL, NULL);
    if (reason != URL_OK) {
        usage_error(&links_usage, "--url is not an http or https URL (%s)",
                    url_reason_text(reason));
        goto out;
    }
    st = read_input(file, &body);
    if (st == STATUS_OK)
        st = print_links(buf_bytes(&body), file, s, &base);
    if (fflush(stdout) != 0 && st == STATUS_OK)
        st = STATUS_IO;
    if (st == STATUS_OK)
        code = EXIT_DONE;
    else
        fprintf(stderr, "urlweir links: %s: %s\n", file, status_text(st));
out:
    url_fini(&base);
    buf_fini(&body);
    return code;
}

int cmd_links(int argc, char **argv)
{
    struct links_settings s;
    struct option_list operands;
    int code;

    if (!command_line_parse(&links_usage, argc, argv, &s, &operands, &code))
        return code;
    if (s.url == NULL)
        code = usage_error(&links_usage, "--url is missing");
    else
        code = list_links(&s, operands.item[0]);
    option_list_free(&operands);
    option_fini(&table, &s);
    return code;
}
