/* SPDX-License-Identifier: MIT */
/*
 * inspect.c - what a crawl would make of one thing: `urlweir url`, `robots`,
 * `links` and `sitemap`.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "base/file/line_input.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "crawler/html/link_values.h"
#include "crawler/html/links.h"
#include "crawler/robots/robots.h"
#include "crawler/sitemap/sitemap.h"
#include "frontier/url/surt.h"
#include "frontier/url/url.h"
#include "job/crawl_setup.h"
#include "job/settings/settings.h"

/* ---- what several do ---- */

/* Parses the value of --`option`; prints what is wrong with it. Returns an enum
 * exit_code. */
static int parse_option(const struct usage *u, const char *option,
                        const char *text, struct url *out)
{
    enum url_reason r;

    if (text == NULL)
        return usage_error(u, "--%s is missing", option);
    r = url_parse(out, bytes_of_str(text), NULL, NULL);
    if (r != URL_OK)
        return usage_error(u, "--%s is not an http(s) URL (%s)", option,
                           url_reason_text(r));
    return EXIT_DONE;
}

/* Gives `print` each line of stdin. Returns an enum exit_code. */
static int print_lines(const struct usage *u,
                       enum status (*print)(void *ctx, struct bytes line,
                                            bool too_long),
                       void *ctx)
{
    struct line_input *in = line_input_new(NULL, 0);
    int code = EXIT_DONE;

    if (line_input_each(in, print, ctx) != STATUS_OK) {
        fprintf(stderr, "urlweir %s: cannot read %s\n", u->name,
                line_input_error(in));
        code = EXIT_CANNOT;
    }
    line_input_free(in);
    return code;
}

static enum status print_refusal(enum url_reason r)
{
    printf("!\t%s\n", url_reason_text(r));
    return STATUS_OK;
}

static void print_bytes(struct bytes s)
{
    fwrite(s.at, 1, s.len, stdout);
}

/*
 * `urlweir links`: the links of one file, as a crawl finds them.
 */

#define FILE_CEILING ((size_t)1 << 30)

struct links_settings {
    char *url, *content_type;
    bool all;
    uint8_t from[3];
};

#define AT(f) .at = offsetof(struct links_settings, f)

/* clang-format off */
static const struct option_spec links_specs[] = {
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

static const struct option_table links_table =
    OPTION_TABLE(links_specs, struct links_settings);

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

static int links_run(const struct usage *u, void *settings,
                     const struct option_list *operands)
{
    const struct links_settings *s = settings;
    const char *file = operands->item[0];
    struct buf body;
    struct url base;
    enum status st;
    int code;

    buf_init(&body, FILE_CEILING);
    url_init(&base);
    code = parse_option(u, "url", s->url, &base);
    if (code != EXIT_DONE)
        goto out;
    st = read_input(file, &body);
    if (st == STATUS_OK)
        st = print_links(buf_bytes(&body), file, s, &base);
    if (fflush(stdout) != 0 && st == STATUS_OK)
        st = STATUS_IO;
    if (st != STATUS_OK) {
        fprintf(stderr, "urlweir links: %s: %s\n", file, status_text(st));
        code = EXIT_USAGE;
    }
out:
    url_fini(&base);
    buf_fini(&body);
    return code;
}

const struct usage links_usage = {
    .name = "links",
    .synopsis = "links --url BASE [--content-type TYPE] [--all] FILE",
    .about = "Prints one line for each link of FILE, an HTML page or, with "
             "--content-type text/css, a style sheet: KIND, a tab, the "
             "absolute URL. FILE may be -, which is standard input.",
    .table = &links_table,
    .least = 1,
    .most = 1,
    .operand = "a file",
    .run = links_run,
};

/*
 * `urlweir robots`: may these URLs be fetched?
 *
 * Every line of stdin gives exactly one line of output, in the same order. The
 * rules are those a crawl would follow, read by the same code.
 */

struct robots_settings {
    char *agent;
    bool sitemaps, delay;
    uint8_t from[3];
};

#undef AT
#define AT(f) .at = offsetof(struct robots_settings, f)

/* clang-format off */
static const struct option_spec robots_specs[] = {
    {.name = "agent", .type = OPTION_TEXT, AT(agent), .section = "Input",
     .arg = "NAME",
     .help = "the crawler's name; `Foo/1.0` counts as `Foo`"},
    {.name = "sitemaps", .type = OPTION_FLAG, AT(sitemaps), .section = "Output",
     .help = "also print a line `sitemap`, tab, URL first for each sitemap"},
    {.name = "delay", .type = OPTION_FLAG, AT(delay), .section = "Output",
     .help = "also print a line `delay`, tab, seconds if the group has one"},
};
/* clang-format on */

static const struct option_table robots_table =
    OPTION_TABLE(robots_specs, struct robots_settings);

struct robots_command {
    const struct robots_settings *settings;
    struct robots *rules;
    struct url url;
};

static enum status print_verdict(void *ctx, struct bytes line, bool too_long)
{
    struct robots_command *c = ctx;
    enum url_reason r =
        too_long ? URL_LENGTH : url_parse(&c->url, line, NULL, NULL);

    if (r != URL_OK)
        return print_refusal(r);
    fputs(robots_allows(c->rules, url_path_query(&c->url), NULL) ? "allow\t"
                                                                 : "deny\t",
          stdout);
    print_bytes(line);
    putchar('\n');
    return STATUS_OK;
}

static void print_head(const struct robots_command *c)
{
    double delay = robots_crawl_delay(c->rules);

    for (size_t i = 0;
         c->settings->sitemaps && i < robots_sitemap_count(c->rules); i++) {
        fputs("sitemap\t", stdout);
        print_bytes(robots_sitemap(c->rules, i));
        putchar('\n');
    }
    if (c->settings->delay && delay >= 0)
        printf("delay\t%.12g\n", delay);
}

/* Reads the part of the file that counts. */
static int load(struct robots_command *c, const char *file)
{
    static char body[ROBOTS_READ_MOST + 1]; /* one octet more shows a cut */
    FILE *f = fopen(file, "re");
    size_t n = f != NULL ? fread(body, 1, sizeof body, f) : 0;
    bool failed = f == NULL || ferror(f);

    if (failed)
        fprintf(stderr, "urlweir robots: cannot read %s: %s\n", file,
                strerror(errno));
    if (f != NULL)
        fclose(f);
    if (failed)
        return EXIT_CANNOT;
    c->rules =
        robots_parse(bytes_of(body, n), bytes_of_str(c->settings->agent));
    return EXIT_DONE;
}

static int check_robots(struct robots_command *c, const char *file)
{
    int code = load(c, file);

    if (code != EXIT_DONE)
        return code;
    print_head(c);
    return print_lines(&robots_usage, print_verdict, c);
}

static int robots_run(const struct usage *u, void *settings,
                      const struct option_list *operands)
{
    struct robots_command c = {.settings = settings};
    int code;

    url_init(&c.url);
    if (c.settings->agent == NULL)
        code = usage_error(u, "--agent NAME is missing");
    else
        code = check_robots(&c, operands->item[0]);
    robots_free(c.rules);
    url_fini(&c.url);
    return code;
}

const struct usage robots_usage = {
    .name = "robots",
    .synopsis = "robots --agent NAME FILE [--sitemaps] [--delay] < URLS",
    .about = "Prints `allow` or `deny`, a tab and the line itself for each "
             "line of stdin, as the robots.txt in FILE says (RFC 9309); or "
             "`!`, a tab and the reason why the line is not an http(s) URL.",
    .table = &robots_table,
    .least = 1,
    .most = 1,
    .operand = "a file",
    .run = robots_run,
};

/*
 * `urlweir sitemap`: the entries of a sitemap or feed.
 *
 * Prints one row for each entry, in file order: loc, lastmod and priority,
 * separated by tabs. White space inside a value could break a row, so it is
 * printed as a space.
 */

struct sitemap_settings {
    char *url;
    uint8_t from[1];
};

static const struct option_spec sitemap_specs[] = {
    {.name = "url",
     .type = OPTION_TEXT,
     .at = offsetof(struct sitemap_settings, url),
     .section = "Input",
     .arg = "BASE",
     .help = "the file's URL; links of a feed are relative to it"},
};

static const struct option_table sitemap_table =
    OPTION_TABLE(sitemap_specs, struct sitemap_settings);

static void write_value(struct bytes s)
{
    for (size_t i = 0; i < s.len; i++)
        putchar(strchr("\t\n\r\f\v", s.at[i]) != NULL ? ' ' : s.at[i]);
}

static void print_entry(void *ctx, const struct sitemap_entry *entry)
{
    (void)ctx;
    print_bytes(url_text(entry->url));
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

static int sitemap_run(const struct usage *u, void *settings,
                       const struct option_list *operands)
{
    const struct sitemap_settings *s = settings;
    struct url base;
    int code;

    url_init(&base);
    code = parse_option(u, "url", s->url, &base);
    if (code == EXIT_DONE)
        code = list_sitemap(operands->item[0], &base);
    url_fini(&base);
    return code;
}

const struct usage sitemap_usage = {
    .name = "sitemap",
    .synopsis = "sitemap --url BASE FILE",
    .about = "Prints loc, lastmod and priority, with tabs between them, of "
             "each entry of the sitemap, sitemap index, URL list or feed in "
             "FILE (XML or text, gzipped or not), in file order. Entries that "
             "are not http(s) URLs are skipped; a broken file is read as far "
             "as possible.",
    .table = &sitemap_table,
    .least = 1,
    .most = 1,
    .operand = "a file",
    .run = sitemap_run,
};

/*
 * `urlweir url`: one URL per line in, its canonical form out.
 *
 * Every line of input gives exactly one line of output, so that the two can be
 * pasted side by side. A line ends only at LF; the URL Standard decides about
 * everything else in it, zero bytes included. A byte order mark at the start is
 * no part of the first, and a packed list is unpacked (base/file/line_input.h).
 */

struct url_settings {
    bool whatwg, surt;
    char *base;
    struct crawl_settings crawl; /* only what gives URLs a form is asked for */
    uint8_t from[8];
};

#define CRAWL_ROWS 3 /* from this row on the options are those of a crawl */
#define INPUT      "Input and form"
#define CRAWL      "The form that a crawl with these options gives its URLs"
#undef AT
#define AT(field) .at = offsetof(struct url_settings, field)

/* clang-format off */
static const struct option_spec url_specs[] = {
    {.name = "whatwg", .type = OPTION_FLAG, AT(whatwg), .section = INPUT,
     .help = "print the URL Standard's form instead, with the fragment dropped"},
    {.name = "surt", .type = OPTION_FLAG, AT(surt), .section = INPUT,
     .help = "print the sort-friendly key of the canonical form instead"},
    {.name = "base", .type = OPTION_TEXT, AT(base), .section = INPUT,
     .arg = "URL",
     .help = "what relative lines are relative to"},
    {.name = "drop-params", .type = OPTION_LIST, AT(crawl.drop_params),
     .section = CRAWL, .arg = "NAME,...",
     .flags = OPTION_COMMAS,
     .help = "leave these parameters out of queries; NAME* is a beginning"},
    {.name = "drop-tracking", .type = OPTION_FLAG, AT(crawl.drop_tracking),
     .section = CRAWL,
     .help = "leave out parameters known to follow people and sessions"},
    {.name = "drop-empty-params", .type = OPTION_FLAG,
     AT(crawl.drop_empty_params), .section = CRAWL,
     .help = "leave out parameters whose value is empty (a=)"},
    {.name = "sort-query", .type = OPTION_FLAG, AT(crawl.sort_query),
     .section = CRAWL,
     .help = "sort the parameters of queries by name"},
    {.name = "rewrite", .type = OPTION_TEXT, AT(crawl.rewrite),
     .section = CRAWL, .arg = "FILE",
     .help = "rewrite URLs by the rules in FILE"},
};
/* clang-format on */

#define ROWS (sizeof url_specs / sizeof *url_specs)

static const struct option_table url_table =
    OPTION_TABLE(url_specs, struct url_settings);

struct url_command {
    const struct url_settings *settings;
    struct url base, url;
    struct url_form *own; /* made from the crawl's options; NULL: none given */
    struct buf key;
};

static enum status print_line(void *ctx, struct bytes line, bool too_long)
{
    struct url_command *c = ctx;
    const struct url *base = c->settings->base != NULL ? &c->base : NULL;
    struct bytes text;
    enum url_reason r;

    if (too_long)
        r = URL_LENGTH;
    else if (c->settings->whatwg)
        r = url_parse(&c->url, line, base, NULL);
    else
        r = url_canonical(&c->url, line, base, NULL);
    if (r == URL_OK)
        url_form_apply(c->own, &c->url);
    if (r != URL_OK)
        return print_refusal(r);
    text = url_text(&c->url);
    if (c->settings->surt) {
        buf_clear(&c->key);
        surt_of(&c->url, &c->key);
        text = buf_bytes(&c->key);
    }
    print_bytes(text);
    putchar('\n');
    return STATUS_OK;
}

static bool form_is_asked(const struct url_settings *s)
{
    for (size_t i = CRAWL_ROWS; i < ROWS; i++)
        if (option_given(&url_table, i, s))
            return true;
    return false;
}

static int make_form(struct url_command *c)
{
    struct buf why;
    int failed = EXIT_DONE;

    if (c->settings->whatwg && c->settings->surt)
        return usage_error(&url_usage, "--whatwg and --surt exclude each "
                                       "other");
    if (!form_is_asked(c->settings))
        return EXIT_DONE;
    if (c->settings->whatwg)
        return usage_error(&url_usage, "--whatwg is the form of the URL "
                                       "Standard, without a crawl's options");
    buf_init(&why, 4096);
    if (url_forms_make(&c->own, &c->settings->crawl, &why) != STATUS_OK)
        failed = usage_error(&url_usage, "%s", buf_str(&why));
    buf_fini(&why);
    return failed;
}

static int url_run(const struct usage *u, void *settings,
                   const struct option_list *operands)
{
    struct url_command c = {.settings = settings};
    int code = EXIT_DONE;

    (void)operands;
    url_init(&c.base);
    url_init(&c.url);
    buf_init(&c.key, SURT_CEILING + 64);
    if (c.settings->base != NULL)
        code = parse_option(u, "base", c.settings->base, &c.base);
    if (code == EXIT_DONE)
        code = make_form(&c);
    if (code == EXIT_DONE)
        code = print_lines(u, print_line, &c);
    buf_fini(&c.key);
    url_fini(&c.url);
    url_fini(&c.base);
    url_form_free(c.own);
    return code;
}

const struct usage url_usage = {
    .name = "url",
    .synopsis = "url [--whatwg|--surt] [--base URL] [options] < URLS",
    .about = "Prints the canonical form of each line of stdin, or `!`, a tab "
             "and the reason why it has none: empty, scheme, relative, host, "
             "host_ipv4, host_ipv6, host_idna, port, length.",
    .table = &url_table,
    .most = 0,
    .operand = "nothing else",
    .run = url_run,
};
