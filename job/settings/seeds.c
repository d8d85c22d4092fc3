/* SPDX-License-Identifier: MIT */
/* seeds.c - reads the URLs that a crawl starts from. */
#include "job/settings/seeds.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/format.h"
#include "job/settings/seed_login.h"

#define SHOWN_MOST 200 /* octets of a bad seed that are shown */

/* ---- messages about bad seeds ---- */

/* Does this look like a host: a dot inside, localhost, or a port? */
static bool looks_like_host(const struct url *u)
{
    struct bytes host = url_host(u);
    bool port = u->port != (u->https ? 443 : 80);

    return port || bytes_is(host, "localhost") || host.at[0] == '[' ||
           (host.len > 2 && memchr(host.at + 1, '.', host.len - 2) != NULL);
}

/* Suggests an https URL for "example.org", "//example.org/" or
 * "example.org:8080/x", but not for a text with @, which is a mail address. */
static void add_meant(struct buf *out, struct bytes text, enum url_reason why)
{
    struct buf with_scheme;
    struct url u;

    if ((why != URL_RELATIVE && why != URL_SCHEME) ||
        (text.len > 0 && memchr(text.at, '@', text.len) != NULL))
        return;
    while (text.len > 0 && text.at[0] == '/')
        text = bytes_of(text.at + 1, text.len - 1);
    buf_init(&with_scheme, SEED_CEILING + 16);
    url_init(&u);
    buf_add_str(&with_scheme, "https://");
    buf_add_bytes(&with_scheme, text);
    if (url_canonical(&u, buf_bytes(&with_scheme), NULL, NULL) == URL_OK &&
        looks_like_host(&u)) {
        buf_add_str(out, "; did you mean ");
        format_terminal(out, url_text(&u));
        buf_add_char(out, '?');
    }
    buf_fini(&with_scheme);
    url_fini(&u);
}

const char *seeds_explain(enum url_reason why)
{
    switch (why) {
    case URL_RELATIVE:
        return "no http:// or https:// before it";
    case URL_SCHEME:
        return "only http and https are crawled";
    case URL_EMPTY:
        return "it is empty";
    case URL_LENGTH:
        return "too long";
    case URL_PORT:
        return "its port is not a number up to 65535";
    default:
        return "its host is neither a name nor an address";
    }
}

const char seeds_no_login[] =
    "it holds a user name or password; give them with `urlweir resume --auth "
    "ORIGIN=USER:PASSWORD`, and the seed without them";

/* Passes a bad seed to the caller's `refuse`. */
static enum status refuse(struct seeds *s, struct bytes text, const char *what,
                          enum url_reason why)
{
    struct buf line;
    enum status st;

    buf_init(&line, SIZE_MAX);
    buf_add_str(&line, what);
    add_meant(&line, text, why);
    st = s->refuse(s->ctx, text, buf_str(&line));
    buf_fini(&line);
    return st;
}

static enum status report_bad(struct seeds *s, struct bytes text,
                              const char *place, const char *what,
                              enum url_reason why)
{
    struct buf line;
    size_t shown = text.len < SHOWN_MOST ? text.len : SHOWN_MOST;

    if (s->bad == SEEDS_REPORTED + 1)
        fprintf(s->report, "urlweir: there are more bad seeds; only their "
                           "number is kept\n");
    if (s->bad > SEEDS_REPORTED)
        return STATUS_OK;
    buf_init(&line, SIZE_MAX);
    if (place != NULL) {
        format_terminal(&line, bytes_of_str(place));
        buf_add_str(&line, ": ");
    }
    buf_add_str(&line, "bad seed '");
    format_terminal(&line, bytes_of(text.at, shown));
    buf_addf(&line, "%s': %s", shown < text.len ? "..." : "", what);
    add_meant(&line, text, why);
    fprintf(s->report, "urlweir: %s\n", buf_str(&line));
    buf_fini(&line);
    return STATUS_OK;
}

static enum status bad_seed(struct seeds *s, struct bytes text,
                            const char *place, const char *what,
                            enum url_reason why)
{
    struct buf shown;
    enum status st;

    s->bad++;
    buf_init(&shown, text.len + 8);
    seed_login_hide(text, &shown);
    st = s->refuse != NULL ? refuse(s, buf_bytes(&shown), what, why)
                           : report_bad(s, buf_bytes(&shown), place, what, why);
    buf_fini(&shown);
    return st;
}

/* NULL: the URL has no login, or it was taken. */
static const char *take_login(struct seeds *s, const struct url *u)
{
    const char *wrong = NULL;
    struct buf login;
    enum status st;

    buf_init(&login, 2 * SEED_CEILING);
    st = seed_login_of(u, &login);
    if (st == STATUS_FORMAT)
        wrong = "its user name or password holds a control character";
    else if (st == STATUS_OK && s->login == NULL)
        wrong = seeds_no_login;
    else if (st == STATUS_OK)
        s->login(s->ctx, buf_bytes(&login));
    buf_fini(&login);
    return wrong;
}

enum status seeds_take(struct seeds *s, struct bytes text, const char *place)
{
    const char *wrong = NULL;
    enum url_reason why;
    struct url u;
    enum status st;

    url_init(&u);
    why = url_parse(&u, text, NULL, NULL);
    wrong = why != URL_OK ? seeds_explain(why) : take_login(s, &u);
    if (wrong != NULL) {
        st = bad_seed(s, text, place, wrong, why);
    } else {
        url_canonicalise(&u);
        s->good++;
        st = s->visit(s->ctx, &u);
    }
    url_fini(&u);
    return st;
}

/* ---- files ---- */

/* Removes a comment and surrounding white space. */
static struct bytes strip(struct bytes line)
{
    bool space = true;

    for (size_t i = 0; i < line.len; i++) {
        if (line.at[i] == '#' && space) {
            line.len = i;
            break;
        }
        space = line.at[i] == ' ' || line.at[i] == '\t';
    }
    return bytes_trim(line);
}

/* Reads a line without its LF; false at the end. Drops the rest of a line over
 * the limit; then buf_failed(line) is true. */
static bool read_line(gzFile in, struct buf *line)
{
    int c = gzgetc(in);

    buf_clear(line);
    if (c == -1)
        return false;
    for (; c != -1 && c != '\n'; c = gzgetc(in))
        buf_add_char(line, (char)c);
    return true;
}

static enum status take_line(struct seeds *s, struct bytes line, bool too_long,
                             const char *name, uint64_t number)
{
    struct bytes text = line;
    char place[512];

    if (number == 1 && bytes_starts_with(text, "\xef\xbb\xbf"))
        text = bytes_of(text.at + 3, text.len - 3);
    text = strip(text);
    if (text.len == 0 && !too_long)
        return STATUS_OK;
    snprintf(place, sizeof place, "%.480s:%" PRIu64, name, number);
    if (too_long)
        return bad_seed(s, text, place, "the line is too long", URL_OK);
    return seeds_take(s, text, place);
}

/* Why the file could not be read to its end, NULL: it was. */
static const char *read_error(gzFile in)
{
    int code = Z_OK;
    const char *text = gzerror(in, &code);

    if (code == Z_ERRNO)
        return strerror(errno);
    if (code == Z_BUF_ERROR)
        return "its gzip data end too early";
    return code == Z_OK || code == Z_STREAM_END ? NULL : text;
}

enum status seeds_read(struct seeds *s, int fd, const char *name)
{
    int copy = dup(fd);
    gzFile in = copy >= 0 ? gzdopen(copy, "r") : NULL;
    enum status st = STATUS_OK;
    uint64_t number = 0;
    const char *why;
    struct buf line;

    if (in == NULL) {
        if (copy >= 0)
            close(copy);
        return STATUS_NOMEM;
    }
    buf_init(&line, SEED_CEILING);
    while (st == STATUS_OK && read_line(in, &line)) {
        number++;
        st = take_line(s, bytes_of(buf_str(&line), line.len),
                       buf_failed(&line) != STATUS_OK, name, number);
    }
    why = st == STATUS_OK ? read_error(in) : NULL;
    if (why != NULL) {
        fprintf(s->report, "urlweir: cannot read %s: %s\n", name, why);
        st = STATUS_IO;
    }
    gzclose(in);
    buf_fini(&line);
    return st;
}

static enum status read_file(struct seeds *s, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum status st;

    if (fd < 0) {
        st = status_of_errno(errno);
        fprintf(s->report, "urlweir: cannot read seeds from %s: %s\n", path,
                strerror(errno));
        return st;
    }
    st = seeds_read(s, fd, path);
    close(fd);
    return st;
}

enum status seeds_all(struct seeds *s, const struct option_list *operands,
                      const char *input)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < operands->count; i++)
        st = seeds_take(s, bytes_of_str(operands->item[i]), NULL);
    if (st != STATUS_OK || input == NULL)
        return st;
    if (strcmp(input, "-") == 0)
        return seeds_read(s, STDIN_FILENO, "stdin");
    return read_file(s, input);
}
