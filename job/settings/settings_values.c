/* SPDX-License-Identifier: MIT */
/* settings_values.c - checks the value of each option. */
#include "job/settings/settings_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "crawler/address/guard.h"
#include "crawler/fetch/credentials.h"

#define WARC_PREFIX_MOST 64

enum status settings_refuse(struct buf *error, const char *option,
                            const char *value, const char *what)
{
    buf_addf(error, "--%s '%s': %s", option, value, what);
    return STATUS_ARG;
}

static bool is_token_char(char c)
{
    return c != '\0' &&
           strchr("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                  c) != NULL;
}

/* The length of the token (RFC 9110 section 5.6.2) at the start. */
static size_t token_length(const char *s)
{
    size_t n = 0;

    while (is_token_char(s[n]))
        n++;
    return n;
}

/* Shows only the name of a header: the rest may be a secret. */
static enum status refuse_name(struct buf *error, const char *option,
                               struct bytes name, const char *why)
{
    buf_addf(error, "--%s '%.*s': %s", option, (int)name.len, name.at, why);
    return STATUS_ARG;
}

static enum status check_line(const char *option, const char *line,
                              bool cookie_too, struct buf *error)
{
    static const struct {
        const char *name, *why;
    } ours[] = {
        {"host", "the URL decides it"},
        {"user-agent", "use --user-agent"},
        {"cookie", "use --cookie"},
        {"accept-encoding", "the crawler sets it itself"},
        {"connection", "the crawler sets it itself"},
        {"content-length", "requests have no body"},
        {"transfer-encoding", "requests have no body"},
    };
    size_t n = token_length(line);

    if (n == 0 || line[n] != ':') {
        buf_addf(error,
                 "--%s: a header is `Name: value`, such as \"Accept: "
                 "text/html\"",
                 option);
        return STATUS_ARG;
    }
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (bytes_equal_nocase(bytes_of(line, n), bytes_of_str(ours[i].name)) &&
            !(cookie_too && strcmp(ours[i].name, "cookie") == 0))
            return refuse_name(error, option, bytes_of(line, n), ours[i].why);
    return STATUS_OK;
}

static enum status check_header(const char *line, struct buf *error)
{
    return check_line("header", line, false, error);
}

/* Checks "ORIGIN=REST", including REST. */
static enum status check_bound(const char *option, const char *text,
                               const char *rest_is, const char **rest,
                               struct buf *error)
{
    struct buf origin;
    bool good;

    buf_init(&origin, 8192);
    good = credentials_split(text, &origin, rest) &&
           (strcmp(option, "header-host") == 0 ||
            !bytes_is(buf_bytes(&origin), "*"));
    buf_fini(&origin);
    if (good)
        return STATUS_OK;
    buf_addf(error,
             "--%s: it takes ORIGIN=%s, where ORIGIN is [https://]HOST[:PORT] "
             "or http://HOST[:PORT]",
             option, rest_is);
    return STATUS_ARG;
}

static enum status check_header_host(const char *text, struct buf *error)
{
    const char *line;
    enum status st =
        check_bound("header-host", text, "Name: value", &line, error);

    return st == STATUS_OK
               ? check_line("header-host", line, text[0] != '*', error)
               : st;
}

static enum status check_auth(const char *text, struct buf *error)
{
    const char *login;
    enum status st = check_bound("auth", text, "USER:PASSWORD", &login, error);

    if (st == STATUS_OK && strchr(login, ':') == NULL) {
        buf_add_str(error, "--auth: after ORIGIN= it takes USER:PASSWORD, and "
                           "there is no colon");
        st = STATUS_ARG;
    }
    return st;
}

static enum status check_bearer(const char *text, struct buf *error)
{
    const char *token;

    return check_bound("bearer", text, "TOKEN", &token, error);
}

/* Checks a type, "text/html", or a family of types, "text/". */
static enum status check_mime(const char *type, struct buf *error)
{
    size_t n = token_length(type);
    const char *rest = type + n + 1;

    if (n == 0 || type[n] != '/')
        return settings_refuse(
            error, "mime", type,
            "it takes a type, such as text/html, or a family, such as text/");
    if (strcmp(rest, "*") == 0)
        return settings_refuse(error, "mime", type,
                               "a family is written text/");
    if (rest[token_length(rest)] != '\0')
        return settings_refuse(error, "mime", type,
                               "it takes type/subtype without parameters");
    for (char *p = (char *)type; *p != '\0'; p++)
        *p = ascii_lower(*p);
    return STATUS_OK;
}

static enum status check_sitemap_url(const char *text, struct buf *error)
{
    enum url_reason why;
    struct url u;

    url_init(&u);
    why = url_canonical(&u, bytes_of_str(text), NULL, NULL);
    url_fini(&u);
    return why == URL_OK
               ? STATUS_OK
               : settings_refuse(error, "sitemap-url", text,
                                 "it takes an http or https URL, such as "
                                 "https://example.org/sitemap.xml");
}

/* Refuses texts that cannot be a network; the guard parses them fully. */
static enum status check_net(const char *option, const char *net,
                             struct buf *error)
{
    if (net[strspn(net, "0123456789abcdefABCDEF:./")] != '\0')
        return settings_refuse(
            error, option, net,
            "it takes a network, such as 10.0.0.0/8 or fd00::/8, not a name");
    return STATUS_OK;
}

static enum status check_allow_net(const char *net, struct buf *error)
{
    return check_net("allow-net", net, error);
}

static enum status check_deny_net(const char *net, struct buf *error)
{
    return check_net("deny-net", net, error);
}

static enum status check_nat64(const char *net, struct buf *error)
{
    return check_net("nat64", net, error);
}

static enum status check_allow_port(const char *port, struct buf *error)
{
    uint16_t n;

    if (guard_port_parse(port, &n))
        return STATUS_OK;
    return settings_refuse(error, "allow-port", port,
                           "it takes a port from 1 to 65535");
}

/* HOST:PORT:ADDRESS; the host may be an IPv6 address in brackets. */
static enum status check_resolve(const char *entry, struct buf *error)
{
    const char *host_end =
        strchr(entry[0] == '['
                   ? strchr(entry, ']') != NULL ? strchr(entry, ']') : entry
                   : entry,
               ':');
    const char *port = host_end != NULL ? host_end + 1 : "";
    size_t digits = strspn(port, "0123456789");

    if (host_end == NULL || host_end == entry || digits == 0 || digits > 5 ||
        atoi(port) < 1 || atoi(port) > 65535 || port[digits] != ':' ||
        port[digits + 1] == '\0' || strchr("+-", entry[0]) != NULL)
        return settings_refuse(
            error, "resolve", entry,
            "it takes HOST:PORT:ADDRESS, such as example.org:443:10.0.0.1");
    return STATUS_OK;
}

static enum status check_agent(const struct crawl_settings *s,
                               struct buf *error)
{
    struct buf token;
    enum status st = STATUS_OK;

    buf_init(&token, 4096);
    settings_product_token(s, &token);
    if (token.len == 0)
        st = settings_refuse(
            error, "user-agent", s->user_agent,
            "it must begin with a name of letters, - and _, which is the name "
            "that robots.txt goes by");
    buf_fini(&token);
    if (st == STATUS_OK && s->contact != NULL &&
        (strpbrk(s->contact, ":@") == NULL ||
         strpbrk(s->contact, " ()") != NULL))
        st = settings_refuse(error, "contact", s->contact,
                             "it takes a URL or a mail address");
    return st;
}

/* Checks the prefix of file names. */
static enum status check_warc_prefix(const char *prefix, struct buf *error)
{
    size_t n = strspn(prefix, "abcdefghijklmnopqrstuvwxyz0123456789._-"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

    if (n <= WARC_PREFIX_MOST && prefix[n] == '\0' && prefix[0] != '.' &&
        prefix[0] != '-')
        return STATUS_OK;
    return settings_refuse(
        error, "warc-prefix", prefix,
        "it takes at most 64 letters, digits, '.', '_' and '-', and does not "
        "begin with '.' or '-'");
}

static enum status check_proxy(const char *proxy, struct buf *error)
{
    static const char *const schemes[] = {"http",    "https",  "socks4",
                                          "socks4a", "socks5", "socks5h"};
    const char *end = strstr(proxy, "://");

    for (size_t i = 0; end != NULL && i < sizeof schemes / sizeof *schemes; i++)
        if (bytes_is(bytes_of(proxy, (size_t)(end - proxy)), schemes[i]) &&
            end[3] != '\0' && strchr(proxy, ' ') == NULL)
            return STATUS_OK;
    return settings_refuse(
        error, "proxy", proxy,
        "it takes a URL, such as http://127.0.0.1:3128; schemes are http, "
        "https, socks4, socks4a, socks5, socks5h");
}

static enum status check_trap(const char *text, struct buf *error)
{
    enum trap_rule rule;
    uint32_t threshold;

    if (settings_trap(text, &rule, &threshold))
        return STATUS_OK;
    return settings_refuse(error, "trap", text,
                           "it takes RULE=N, a number of pages from 1 to "
                           "1000000, or RULE=off; docs/traps.md lists the "
                           "rules");
}

static enum status check_each(const struct option_list *l,
                              enum status (*check)(const char *, struct buf *),
                              struct buf *error)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < l->count; i++)
        st = check(l->item[i], error);
    return st;
}

enum status settings_check_values(const struct crawl_settings *s,
                                  struct buf *error)
{
    const struct {
        const struct option_list *list;
        enum status (*check)(const char *, struct buf *);
    } lists[] = {
        {&s->header, check_header},
        {&s->mime, check_mime},
        {&s->auth, check_auth},
        {&s->bearer, check_bearer},
        {&s->header_host, check_header_host},
        {&s->allow_net, check_allow_net},
        {&s->deny_net, check_deny_net},
        {&s->nat64, check_nat64},
        {&s->allow_port, check_allow_port},
        {&s->resolve, check_resolve},
        {&s->sitemap_url, check_sitemap_url},
        {&s->trap, check_trap},
    };
    enum status st = check_agent(s, error);

    for (size_t i = 0; st == STATUS_OK && i < sizeof lists / sizeof *lists; i++)
        st = check_each(lists[i].list, lists[i].check, error);
    if (st == STATUS_OK && s->proxy != NULL)
        st = check_proxy(s->proxy, error);
    if (st == STATUS_OK && s->warc_prefix != NULL)
        st = check_warc_prefix(s->warc_prefix, error);
    return st;
}
