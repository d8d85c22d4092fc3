/* SPDX-License-Identifier: MIT */
/* seeds.c - reads the URLs that a crawl starts from. */
#include "job/settings/seeds.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/line_input.h"
#include "base/format.h"
#include "frontier/url/url_text.h"
#include "job/settings/settings.h"

/* ---- user names and passwords in given URLs ---- */

#define LOGIN_MOST ((size_t)64 << 10)

static bool has_control(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.at[i] < 0x20 || text.at[i] == 0x7f)
            return true;
    return false;
}

/* "user:password@" from the parser; the colon may be missing. */
static struct bytes userinfo_of(const struct url *u)
{
    struct bytes whole = url_text(u);
    size_t n = u->host_at - u->userinfo_at;

    return bytes_of(whole.at + u->userinfo_at, n > 0 ? n - 1 : 0);
}

static void add_origin(const struct url *u, struct buf *out)
{
    struct url plain;

    url_init(&plain);
    if (url_canonical(&plain, url_text(u), NULL, NULL) == URL_OK)
        buf_add_bytes(out, url_origin(&plain));
    url_fini(&plain);
}

/* Appends "ORIGIN=USER:PASSWORD", in the form of --auth, for a parsed URL that
 * is not canonical yet. STATUS_NOT_FOUND: the URL has no login. STATUS_FORMAT:
 * the login has a control character. */
static enum status seed_login_of(const struct url *u, struct buf *out)
{
    struct bytes userinfo = userinfo_of(u);
    size_t start;

    if (u->host_at == u->userinfo_at)
        return STATUS_NOT_FOUND;
    add_origin(u, out);
    buf_add_char(out, '=');
    start = out->len;
    percent_decode(out, userinfo);
    if (memchr(userinfo.at, ':', userinfo.len) == NULL)
        buf_add_char(out, ':');
    return has_control(bytes_skip(buf_bytes(out), start)) ? STATUS_FORMAT
                                                          : STATUS_OK;
}

/* "joe@", "mailto:joe@": without slashes this is not a login. */
static bool is_mail(struct bytes before)
{
    return bytes_starts_with(before, "mailto:") ||
           (before.len > 0 && memchr(before.at, ':', before.len) == NULL);
}

void seed_login_hide(struct bytes text, struct buf *out)
{
    size_t start = 0, at = 0, end;

    for (size_t i = 0; i + 1 < text.len && start == 0; i++)
        if (strchr("/\\", text.at[i]) != NULL && text.at[i] != '\0' &&
            strchr("/\\", text.at[i + 1]) != NULL && text.at[i + 1] != '\0')
            start = i + 2;
    for (end = start; end < text.len; end++) {
        if (strchr("/\\?#", text.at[end]) != NULL && text.at[end] != '\0')
            break;
        if (text.at[end] == '@')
            at = end + 1;
    }
    if (start == 0 && is_mail(bytes_of(text.at, at)))
        at = 0;
    if (at == 0) {
        buf_add_bytes(out, text);
        return;
    }
    buf_add(out, text.at, start);
    buf_add_str(out, "***@");
    buf_add_bytes(out, bytes_skip(text, at));
}

/* ---- settings ------------------------------------------------------------ */

void seed_login_add(struct crawl_settings *s, struct bytes login)
{
    size_t auth = settings_index("auth");

    for (size_t i = 0; i < s->auth.count; i++)
        if (bytes_is(login, s->auth.item[i]))
            return;
    option_list_add(&s->auth, login);
    if (s->from[auth] == OPTION_FROM_DEFAULT)
        s->from[auth] = OPTION_FROM_CRAWL;
}

static void take_off(const char **item, const struct url *u)
{
    struct bytes whole = url_text(u);
    char *old = (char *)*item;
    struct buf text;

    assert(old != NULL);
    buf_init(&text, whole.len + 1);
    buf_add(&text, whole.at, u->userinfo_at);
    buf_add_bytes(&text, bytes_skip(whole, u->host_at));
    *item = buf_take(&text, NULL);
    explicit_bzero(old, strlen(old));
    free(old);
}

static enum status take(struct crawl_settings *s, const char **item,
                        struct buf *error)
{
    enum status st = STATUS_NOT_FOUND;
    struct buf login;
    struct url u;

    url_init(&u);
    buf_init(&login, LOGIN_MOST);
    if (url_parse(&u, bytes_of_str(*item), NULL, NULL) == URL_OK)
        st = seed_login_of(&u, &login);
    if (st == STATUS_OK) {
        seed_login_add(s, buf_bytes(&login));
        take_off(item, &u);
    } else if (st == STATUS_FORMAT) {
        buf_add_str(error, "the user name or password in a URL holds a control "
                           "character");
    }
    buf_fini(&login);
    url_fini(&u);
    return st == STATUS_FORMAT ? STATUS_ARG : STATUS_OK;
}

enum status seed_login_settings(struct crawl_settings *s, struct buf *error)
{
    struct option_list *const lists[2] = {&s->seeds, &s->sitemap_url};
    enum status st = STATUS_OK;

    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; st == STATUS_OK && i < lists[k]->count; i++)
            st = take(s, &lists[k]->item[i], error);
    return st;
}

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
