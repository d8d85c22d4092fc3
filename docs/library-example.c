/*
 * library-example.c - each part of liburlweir in one function.
 *
 *     cc -o example library-example.c $(pkg-config --cflags --libs urlweir)
 *
 *     example url < URLS                canonical form and SURT
 *     example robots AGENT FILE < URLS  allow or deny
 *     example links URL < PAGE          kind and URL of each link
 *     example sitemap URL < FILE        URL, lastmod, priority of each entry
 *     example filter FILE < KEYS        new or maybe; FILE remembers
 *     example dedupe DIR < URLS         each URL not seen before; DIR remembers
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <urlweir.h>

static struct urlweir_bytes bytes_of(const char *s)
{
    return (struct urlweir_bytes){s, strlen(s)};
}

static void print(struct urlweir_bytes b, char after)
{
    fwrite(b.at, 1, b.len, stdout);
    putchar(after);
}

static void say(void *ctx, int level, const char *line)
{
    (void)ctx;
    (void)level;
    fprintf(stderr, "%s\n", line);
}

/* Ends the program if `status` is a failure. */
static void need(enum urlweir_status status, const char *what)
{
    if (status == URLWEIR_OK)
        return;
    fprintf(stderr, "example: %s: %s\n", what, urlweir_status_text(status));
    exit(2);
}

/* The next line of stdin without its LF, valid until the next call. */
static int next_line(struct urlweir_bytes *out)
{
    static char *line;
    static size_t room;
    ssize_t n = getline(&line, &room, stdin);

    if (n <= 0)
        return 0;
    *out = (struct urlweir_bytes){line, (size_t)n - (line[n - 1] == '\n')};
    return 1;
}

/* A whole file; the caller frees out->at. */
static void read_all(FILE *f, struct urlweir_bytes *out)
{
    char *at = malloc(1 << 20);
    size_t size = 1 << 20, len = 0, n;

    while (f != NULL && at != NULL &&
           (n = fread(at + len, 1, size - len, f)) > 0)
        if ((len += n) == size)
            at = realloc(at, size *= 2);
    if (f == NULL || at == NULL || ferror(f))
        need(URLWEIR_IO, "cannot read");
    *out = (struct urlweir_bytes){at, len};
}

static struct urlweir_url *url_of(const char *text)
{
    struct urlweir_url *u = urlweir_url_new();

    need(urlweir_url_parse(u, bytes_of(text), NULL, URLWEIR_WHATWG), text);
    return u;
}

/* ---- url ---- */

static void urls(void)
{
    struct urlweir_url *u = urlweir_url_new();
    struct urlweir_bytes line;

    while (next_line(&line)) {
        if (urlweir_url_parse(u, line, NULL, URLWEIR_CANONICAL) != URLWEIR_OK) {
            printf("!\t%s\n", urlweir_url_reason(u));
            continue;
        }
        print(urlweir_url_text(u), '\t');
        print(urlweir_url_surt(u), '\n');
    }
    urlweir_url_free(u);
}

/* ---- robots ---- */

static void robots(const char *agent, const char *file)
{
    struct urlweir_bytes body, line;
    struct urlweir_robots *r;
    struct urlweir_url *u = urlweir_url_new();

    FILE *f = fopen(file, "r");
    read_all(f, &body);
    fclose(f);
    r = urlweir_robots_new(body, bytes_of(agent));
    free((char *)body.at);
    while (next_line(&line)) {
        if (urlweir_url_parse(u, line, NULL, URLWEIR_WHATWG) != URLWEIR_OK) {
            printf("!\t%s\n", urlweir_url_reason(u));
            continue;
        }
        fputs(urlweir_robots_allows(r, u, NULL) ? "allow\t" : "deny\t", stdout);
        print(line, '\n');
    }
    urlweir_url_free(u);
    urlweir_robots_free(r);
}

/* ---- links ---- */

static int print_link(void *ctx, const struct urlweir_link *link)
{
    (void)ctx;
    printf("%s\t%s\n", link->kind, link->url.at);
    return 0; /* go on */
}

static void links(const char *from)
{
    struct urlweir_links_options o = {.size = sizeof o, .form = URLWEIR_WHATWG};
    struct urlweir_links *l = urlweir_links_new(bytes_of(""));
    struct urlweir_url *page = url_of(from);
    struct urlweir_bytes body;

    read_all(stdin, &body);
    need(urlweir_links_read(l, body, page, &o, print_link, NULL), from);
    free((char *)body.at);
    urlweir_url_free(page);
    urlweir_links_free(l);
}

/* ---- sitemap ---- */

static int print_entry(void *ctx, const struct urlweir_entry *e)
{
    (void)ctx;
    print(e->url, '\t');
    print(e->lastmod, '\t');
    print(e->priority, '\n');
    return 0;
}

static void sitemap(const char *from)
{
    struct urlweir_sitemap_options o = {.size = sizeof o,
                                        .form = URLWEIR_WHATWG};
    struct urlweir_url *url = url_of(from);
    struct urlweir_sitemap *s = NULL;
    char piece[4096];
    size_t n;

    need(urlweir_sitemap_new(&s, url, &o, print_entry, NULL), from);
    while ((n = fread(piece, 1, sizeof piece, stdin)) > 0)
        need(urlweir_sitemap_push(s, (struct urlweir_bytes){piece, n}), from);
    need(urlweir_sitemap_finish(s), from);
    urlweir_sitemap_free(s);
    urlweir_url_free(url);
}

/* ---- filter ---- */

static void filter(const char *file)
{
    struct urlweir_filter_options o = {.size = sizeof o, .capacity = 100000};
    struct urlweir_filter *f = NULL;
    struct urlweir_bytes line;
    enum urlweir_status st = urlweir_filter_open(&f, file, 0);

    if (st == URLWEIR_NOT_FOUND)
        st = urlweir_filter_new(&f, &o);
    need(st, file);
    while (next_line(&line)) {
        unsigned char fresh;

        need(urlweir_filter_add(f, &line, 1, &fresh), file);
        fputs(fresh ? "new\t" : "maybe\t", stdout);
        print(line, '\n');
    }
    need(urlweir_filter_save(f, file), file);
    urlweir_filter_free(f);
}

/* ---- dedupe ---- */

static void dedupe(const char *dir)
{
    struct urlweir_dedupe_options o = {.size = sizeof o, .dir = dir};
    struct urlweir_dedupe *d = NULL;
    struct urlweir_bytes line;

    need(urlweir_dedupe_open(&d, &o), dir);
    while (next_line(&line)) { /* thousands at a time would be faster */
        unsigned char seen;

        need(urlweir_dedupe_take(d, &line, 1, &seen), dir);
        if (seen == URLWEIR_NEW)
            print(line, '\n');
    }
    if (fflush(stdout) != 0) /* the lines first, then the set */
        need(URLWEIR_IO, "cannot write");
    need(urlweir_dedupe_close(d, 1), dir);
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";

    urlweir_set_log(say, NULL);
    if (argc == 2 && strcmp(part, "url") == 0)
        urls();
    else if (argc == 4 && strcmp(part, "robots") == 0)
        robots(argv[2], argv[3]);
    else if (argc == 3 && strcmp(part, "links") == 0)
        links(argv[2]);
    else if (argc == 3 && strcmp(part, "sitemap") == 0)
        sitemap(argv[2]);
    else if (argc == 3 && strcmp(part, "filter") == 0)
        filter(argv[2]);
    else if (argc == 3 && strcmp(part, "dedupe") == 0)
        dedupe(argv[2]);
    else
        return 1;
    return 0;
}
