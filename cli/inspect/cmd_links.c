/* SPDX-License-Identifier: MIT */
/* cmd_links.c - `urlweir links`: the links of one file, as a crawl finds them.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "cli/command.h"
#include "crawler/html/link_values.h"
#include "crawler/html/links.h"

#define FILE_CEILING ((size_t)1 << 30)

struct arguments {
    const char *url, *content_type, *file;
    bool all, help;
};

static void help(void)
{
    puts("usage: urlweir links --url BASE [--content-type TYPE] [--all] FILE\n"
         "\n"
         "Prints one line for each link of FILE, an HTML page or, with\n"
         "--content-type text/css, a style sheet: KIND, a tab, the absolute\n"
         "URL. FILE may be -, which is standard input.\n"
         "\n"
         "      --url BASE           where the file comes from; links are\n"
         "                           relative to it\n"
         "      --content-type TYPE  the response's Content-Type header; its\n"
         "                           charset counts before the page's own\n"
         "      --all                also print the kinds style, lazy,\n"
         "                           object, embed, media, cite, manifest,\n"
         "                           amphtml and og");
}

/* False: a message was printed. */
static bool read_arguments(int argc, char **argv, struct arguments *a)
{
    static const struct option options[] = {
        {"url", required_argument, NULL, 'u'},
        {"content-type", required_argument, NULL, 't'},
        {"all", no_argument, NULL, 'a'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (c) {
        case 'u':
            a->url = optarg;
            break;
        case 't':
            a->content_type = optarg;
            break;
        case 'a':
            a->all = true;
            break;
        case 'h':
            a->help = true;
            return true;
        default:
            command_usage_error("links", "bad option '%s'", argv[optind - 1]);
            return false;
        }
    }
    if (a->url == NULL || argc - optind != 1) {
        command_usage_error("links", a->url == NULL ? "--url is missing"
                                                    : "needs one FILE");
        return false;
    }
    a->file = argv[optind];
    return true;
}

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

static enum status print_links(struct bytes body, const struct arguments *a,
                               const struct url *base)
{
    struct link_parser *p = link_parser_new(NULL);
    struct link_options o = {
        .kinds = a->all ? LINK_SET_ALL : LINK_SET_BASIC,
        .content_type = bytes_of_str(a->content_type),
        .page_url = base,
    };
    struct page_info info;
    enum status st;

    if (bytes_equal_nocase(media_essence(o.content_type),
                           bytes_of_str("text/css")))
        st = link_parser_css(p, body, &o, print_link, NULL, &info);
    else
        st = link_parser_html(p, body, &o, print_link, NULL, &info);
    link_parser_free(p);
    return st;
}

int cmd_links(int argc, char **argv)
{
    struct arguments a = {0};
    struct buf body;
    struct url base;
    enum url_reason reason;
    enum status st;
    int code = EXIT_USAGE;

    if (!read_arguments(argc, argv, &a))
        return EXIT_USAGE;
    if (a.help) {
        help();
        return EXIT_DONE;
    }
    buf_init(&body, FILE_CEILING);
    url_init(&base);
    reason = url_parse(&base, bytes_of_str(a.url), NULL, NULL);
    if (reason != URL_OK) {
        command_usage_error("links", "--url is not an http or https URL (%s)",
                            url_reason_text(reason));
        goto out;
    }
    st = read_input(a.file, &body);
    if (st == STATUS_OK)
        st = print_links(buf_bytes(&body), &a, &base);
    if (fflush(stdout) != 0 && st == STATUS_OK)
        st = STATUS_IO;
    if (st == STATUS_OK)
        code = EXIT_DONE;
    else
        fprintf(stderr, "urlweir links: %s: %s\n", a.file, status_text(st));
out:
    url_fini(&base);
    buf_fini(&body);
    return code;
}
