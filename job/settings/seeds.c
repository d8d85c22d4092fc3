/* SPDX-License-Identifier: MIT */
/* seeds.c - reads the URLs that a crawl starts from. */
#include "job/settings/seeds.h"

#include <inttypes.h>
#include <string.h>

#include "base/file/line_input.h"
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

struct list {
    struct seeds *seeds;
    struct line_input *in;
    const char *name;
};

static enum status take_line(void *ctx, struct bytes line, bool too_long)
{
    struct list *l = ctx;
    struct bytes text = line_entry(line);
    char place[512];

    if (text.len == 0 && !too_long)
        return STATUS_OK;
    snprintf(place, sizeof place, "%.480s:%" PRIu64, l->name,
             line_input_number(l->in));
    if (too_long)
        return bad_seed(l->seeds, text, place, "the line is too long", URL_OK);
    return seeds_take(l->seeds, text, place);
}

/* Lines of more than LINE_MOST octets show that it is not a list of URLs, or
 * not all of one. */
static enum status check_lines(const struct list *l)
{
    const struct seeds *s = l->seeds;

    if (line_input_too_long(l->in) == 0 || s->refuse != NULL)
        return STATUS_OK;
    fprintf(s->report,
            "urlweir: cannot read seeds from %s: %" PRIu64
            " of its lines are over 1 "
            "MiB\n",
            l->name, line_input_too_long(l->in));
    return STATUS_IO;
}

static enum status read_list(struct seeds *s, const char *path)
{
    struct list l = {.seeds = s,
                     .in = line_input_new(&path, 1),
                     .name = strcmp(path, "-") == 0 ? "stdin" : path};
    enum status st = line_input_each(l.in, take_line, &l);

    if (line_input_error(l.in)[0] != '\0') {
        fprintf(s->report, "urlweir: cannot read seeds from %s\n",
                line_input_error(l.in));
        st = st == STATUS_FORMAT ? STATUS_IO : st;
    }
    if (st == STATUS_OK)
        st = check_lines(&l);
    line_input_free(l.in);
    return st;
}

enum status seeds_all(struct seeds *s, const struct option_list *operands,
                      const char *input)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < operands->count; i++)
        st = seeds_take(s, bytes_of_str(operands->item[i]), NULL);
    return st == STATUS_OK && input != NULL ? read_list(s, input) : st;
}
