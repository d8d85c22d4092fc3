/* SPDX-License-Identifier: MIT */
/*
 * settings_check.c - checks settings that contradict each other.
 *
 * Of two such settings, the one from the weaker source gives way: a default to
 * a file, a file to the command line. If both are from the same source, the
 * user must choose. No rule makes a crawl less polite: --delay never gives way.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/format.h"
#include "base/kafka/kafka_address.h"
#include "base/listen_address.h"
#include "crawler/address/guard.h"
#include "crawler/fetch/credentials.h"
#include "filter/redis/redis_place.h"
#include "frontier/crawl/refresh_rule.h"
#include "frontier/outcome.h"
#include "job/settings/seeds.h"
#include "job/settings/settings.h"

/* ---- the value of each option ---- */

#define WARC_PREFIX_MOST 64

/* Puts such a text into `error`; returns STATUS_ARG. */
static enum status settings_refuse(struct buf *error, const char *option,
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
    struct bytes rest = bytes_of_str(host_end != NULL ? host_end + 1 : "");
    uint64_t port;

    if (host_end == NULL || host_end == entry ||
        !bytes_take_number(&rest, 0, &port) || port < 1 || port > UINT16_MAX ||
        rest.len < 2 || rest.at[0] != ':' || strchr("+-", entry[0]) != NULL)
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

static enum status check_retry(const char *reason, struct buf *error)
{
    if (strcmp(reason, "all") == 0 || outcome_reason_is(reason))
        return STATUS_OK;
    return settings_refuse(error, "retry", reason,
                           "no URL ends for this reason; `urlweir status` "
                           "shows those of a crawl, such as http_503, timeout "
                           "or robots");
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

/* STATUS_ARG: `error` says what is wrong: "--OPTION 'VALUE': WHAT". */
static enum status settings_check_values(const struct crawl_settings *s,
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
        {&s->retry, check_retry},
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

/* ---- errors ---- */

static enum option_source source(const struct crawl_settings *s,
                                 const char *name)
{
    size_t i = option_find(&crawl_options, bytes_of_str(name));

    assert(i < crawl_options.count);
    return option_source(&crawl_options, i, s);
}

static void add_option(struct buf *out, const struct crawl_settings *s,
                       const char *name)
{
    size_t i = option_find(&crawl_options, bytes_of_str(name));

    assert(i < crawl_options.count);
    buf_addf(out, "--%s ", name);
    option_show(&crawl_options.spec[i], s, out);
}

/* "--LOW 60s is above --HIGH 30s, REASON" */
static enum status above(struct buf *error, const struct crawl_settings *s,
                         const char *low, const char *high, const char *reason)
{
    add_option(error, s, low);
    buf_add_str(error, " is above ");
    add_option(error, s, high);
    buf_addf(error, ", %s", reason);
    return STATUS_ARG;
}

/* ---- options together ---- */

/* Does `winner` come from a stronger source than `loser`? */
static bool outranks(const struct crawl_settings *s, const char *winner,
                     const char *loser)
{
    return source(s, winner) > source(s, loser);
}

static enum status check_delays(struct crawl_settings *s, struct buf *error)
{
    if (s->delay_ms > s->max_delay_ms) {
        if (!outranks(s, "delay", "max-delay"))
            return above(error, s, "delay", "max-delay",
                         "the most a delay may grow to; raise --max-delay or "
                         "lower --delay");
        s->max_delay_ms = s->delay_ms;
    }
    if (s->retry_delay_ms > s->max_delay_ms) {
        if (outranks(s, "retry-delay", "max-delay"))
            s->max_delay_ms = s->retry_delay_ms;
        else if (outranks(s, "max-delay", "retry-delay"))
            s->retry_delay_ms = s->max_delay_ms;
        else
            return above(error, s, "retry-delay", "max-delay",
                         "the most a delay may grow to");
    }
    if (s->random_delay && s->delay_ms == 0) {
        buf_add_str(error, "--random-delay varies --delay, which is 0: give a "
                           "delay, as in --delay 1s");
        return STATUS_ARG;
    }
    return STATUS_OK;
}

static enum status check_refresh(struct crawl_settings *s, struct buf *error)
{
    if (s->refresh_ms != REFRESH_ADAPTIVE ||
        s->refresh_min_ms <= s->refresh_max_ms)
        return STATUS_OK;
    if (outranks(s, "refresh-min", "refresh-max"))
        s->refresh_max_ms = s->refresh_min_ms;
    else if (outranks(s, "refresh-max", "refresh-min"))
        s->refresh_min_ms = s->refresh_max_ms;
    else
        return above(error, s, "refresh-min", "refresh-max",
                     "the most time between two fetches of a URL");
    return STATUS_OK;
}

static enum status check_patience(struct crawl_settings *s, struct buf *error)
{
    if (s->connect_timeout_ms > s->timeout_ms) {
        if (!outranks(s, "timeout", "connect-timeout"))
            return above(error, s, "connect-timeout", "timeout",
                         "which holds for the whole answer");
        s->connect_timeout_ms = s->timeout_ms;
    }
    if (s->give_up_ms != 0 && s->delay_ms >= s->give_up_ms) {
        if (!outranks(s, "delay", "give-up"))
            return above(error, s, "delay", "give-up",
                         "so the crawl would end while a host's delay runs; "
                         "raise --give-up");
        s->give_up_ms = 2 * s->delay_ms;
    }
    return STATUS_OK;
}

/* `low` may not be above `*high`, which is raised if its source is weaker. */
static enum status lift(struct crawl_settings *s, const char *low_name,
                        int64_t low, const char *high_name, int64_t *high,
                        const char *reason, struct buf *error)
{
    if (low <= *high)
        return STATUS_OK;
    if (!outranks(s, low_name, high_name))
        return above(error, s, low_name, high_name, reason);
    *high = low;
    return STATUS_OK;
}

static enum status check_concurrency(struct crawl_settings *s,
                                     struct buf *error)
{
    enum status st;

    /* Fewer transfers than threads from a weaker source: fewer threads. */
    if (s->threads > s->concurrency && outranks(s, "concurrency", "threads"))
        s->threads = s->concurrency;
    st = lift(s, "threads", s->threads, "concurrency", &s->concurrency,
              "so some threads would never have a transfer", error);
    if (st == STATUS_OK)
        st = lift(s, "conns-per-host", s->conns_per_host, "concurrency",
                  &s->concurrency, "the transfers in all", error);
    return st;
}

static enum status check_counts(struct crawl_settings *s, struct buf *error)
{
    enum status st = STATUS_OK;

    if (s->concurrency != 0) /* auto has room for either */
        st = check_concurrency(s, error);
    if (st == STATUS_OK && s->conns_per_ip != 0)
        st = lift(s, "conns-per-host", s->conns_per_host, "conns-per-ip",
                  &s->conns_per_ip, "which a host's connections share", error);
    return st;
}

static enum status check_memory(const struct crawl_settings *s,
                                struct buf *error)
{
    uint64_t least = memory_plan_least(settings_max_body(s));

    if (least <= s->memory_bytes)
        return STATUS_OK;
    add_option(error, s, "max-body");
    buf_add_str(error, " is more than a quarter of ");
    add_option(error, s, "memory");
    buf_add_str(error, ", and memory must hold more than bodies; ");
    format_size(error, least);
    buf_add_str(error, " would do");
    return STATUS_ARG;
}

static bool has(const struct option_list *l, const char *word)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->item[i], word) == 0)
            return true;
    return false;
}

static bool ignores_all(const struct crawl_settings *s)
{
    for (size_t i = 0; i < s->follow.count; i++)
        if (!has(&s->ignore, s->follow.item[i]))
            return false;
    return true;
}

static bool cannot_grow(enum filter_choice filter)
{
    return filter == FILTER_BLOOM || filter == FILTER_COUNTING ||
           filter == FILTER_REDIS;
}

/* Refuses a bad Redis URL now, not when it is first needed. */
static enum status check_redis(const char *url, const char *option,
                               struct buf *error)
{
    struct redis_place place;
    struct buf why;
    enum status st;

    buf_init(&why, 2048);
    st = redis_url_parse(&place, url, &why);
    if (st != STATUS_OK)
        buf_addf(error, "--%s: %s", option, buf_str(&why));
    buf_fini(&why);
    return st == STATUS_OK ? STATUS_OK : STATUS_ARG;
}

static enum status check_filter(const struct crawl_settings *s,
                                struct buf *error)
{
    enum status st = STATUS_OK;

    if (s->filter == FILTER_REDIS && s->redis == NULL)
        buf_add_str(error, "--filter redis needs --redis "
                           "redis://host:port/db?key=NAME");
    else if (s->filter != FILTER_REDIS && s->redis != NULL &&
             source(s, "redis") == OPTION_FROM_LINE)
        buf_add_str(error, "--redis is where --filter redis keeps its bits, "
                           "but another filter was chosen");
    else if (source(s, "expect") == OPTION_FROM_LINE && !cannot_grow(s->filter))
        buf_add_str(error, "--expect is the capacity of a filter that cannot "
                           "grow: bloom, counting or redis");
    else if (s->block_exact != NULL && s->block_filter == NULL)
        buf_add_str(error, "--block-exact is the second check of "
                           "--block-filter, which is missing");
    if (error->len > 0)
        return STATUS_ARG;
    if (s->filter == FILTER_REDIS)
        st = check_redis(s->redis, "redis", error);
    if (st == STATUS_OK && s->block_filter != NULL &&
        redis_address_is_url(s->block_filter))
        st = check_redis(s->block_filter, "block-filter", error);
    return st;
}

static enum status check_kafka(const struct crawl_settings *s,
                               struct buf *error)
{
    const struct kafka_properties p = {s->kafka_property.item,
                                       s->kafka_property.count};
    bool used = s->jsonl != NULL && kafka_address_is_url(s->jsonl);
    struct kafka_address a;
    struct buf why;

    buf_init(&why, 1024);
    if (used && kafka_address_read(&a, s->jsonl, &why) != STATUS_OK)
        buf_addf(error, "--jsonl '%s': %s", s->jsonl, buf_str(&why));
    else if (kafka_properties_check(&p, &why) != STATUS_OK)
        buf_addf(error, "--kafka-property %s", buf_str(&why));
    buf_fini(&why);
    return error->len > 0 ? STATUS_ARG : STATUS_OK;
}

static enum status check_pairs(struct crawl_settings *s, struct buf *error)
{
    if (s->quiet && (s->verbose || s->decisions)) {
        buf_add_str(error, "-q and -v contradict each other; give one of them");
        return STATUS_ARG;
    }
    if (s->quiet && s->progress == PROGRESS_AUTO)
        s->progress = PROGRESS_NONE;
    if (s->filter == FILTER_NONE && source(s, "filter") == OPTION_FROM_LINE &&
        source(s, "fpr") == OPTION_FROM_LINE) {
        buf_add_str(error, "--fpr is the rate of a filter, but --filter none "
                           "asks for no filter");
        return STATUS_ARG;
    }
    if (s->order != ORDER_BEST && (source(s, "boost") == OPTION_FROM_LINE ||
                                   source(s, "first") == OPTION_FROM_LINE)) {
        buf_add_str(error, "--boost and --first are rules of --order best");
        return STATUS_ARG;
    }
    if (source(s, "budget") == OPTION_FROM_LINE &&
        s->budget == BUDGET_INLINKS && s->limit_per_host == 0 &&
        s->limit_per_domain == 0 && s->per_host_bytes == 0) {
        buf_add_str(error, "--budget inlinks multiplies --per-host, "
                           "--per-domain and --per-host-bytes; give one of "
                           "them");
        return STATUS_ARG;
    }
    if (check_filter(s, error) != STATUS_OK ||
        check_kafka(s, error) != STATUS_OK)
        return STATUS_ARG;
    if (s->queue_key == QUEUE_KEY_IP && s->proxy != NULL) {
        buf_add_str(error, "--queue-key ip needs the hosts' addresses, and "
                           "with --proxy only the proxy knows them; use host "
                           "or domain");
        return STATUS_ARG;
    }
    if (s->key != NULL && s->cert == NULL) {
        buf_add_str(error, "--key is the key of the certificate of --cert, "
                           "which is missing");
        return STATUS_ARG;
    }
    if (s->follow.count > 0 && s->assets == ASSETS_OFF && ignores_all(s)) {
        buf_add_str(error, "--ignore leaves nothing of --follow; to fetch the "
                           "seeds alone use --depth 0");
        return STATUS_ARG;
    }
    return STATUS_OK;
}

static enum status check_sitemaps(const struct crawl_settings *s,
                                  struct buf *error)
{
    bool only = s->sitemap == SITEMAPS_ONLY, given = s->sitemap_url.count > 0;
    const char *why = NULL;

    if (given && s->sitemap == SITEMAPS_OFF)
        why = "--sitemap-url names a sitemap, but --sitemap off reads none";
    else if (only && has(&s->ignore, "sitemap"))
        why = "--sitemap only reads sitemaps, but --ignore leaves them out";
    else if (given && !only &&
             (!has(&s->follow, "sitemap") || has(&s->ignore, "sitemap")))
        why = "--sitemap-url needs the kind sitemap among those of --follow";
    else if ((only || given) && (s->scope == SCOPE_SEED || s->depth == 0))
        why = "URLs from sitemaps are one link from a seed; --scope seed and "
              "--depth 0 leave none of them";
    if (why == NULL)
        return STATUS_OK;
    buf_add_str(error, why);
    return STATUS_ARG;
}

/* Refuses --check-external where it has nothing to say. A part of a page on
 * another host is fetched for --assets, and could not be if it was checked for
 * a link before. */
static enum status check_external(const struct crawl_settings *s,
                                  struct buf *error)
{
    const char *why = NULL;

    if (!s->check_external)
        return STATUS_OK;
    if (s->check)
        why = "--check follows no links; --check-external asks for those that "
              "a crawl leaves out";
    else if (s->scope == SCOPE_ANY)
        why = "--check-external is about links out of scope, and --scope any "
              "leaves none out";
    else if (s->assets == ASSETS_ALL)
        why = "--assets fetches what --check-external would only check; with "
              "--assets same-scope both hold";
    if (why == NULL)
        return STATUS_OK;
    buf_add_str(error, why);
    return STATUS_ARG;
}

/* Refuses options about WARC files without --warc, and that one where no bodies
 * come. A --no-warc overrides those
 * of the crawl or a file. */
static enum status check_warc(const struct crawl_settings *s, struct buf *error)
{
    const char *name = NULL;

    if (s->warc && s->check) {
        buf_add_str(error, "--check fetches no pages that --warc could keep");
        return STATUS_ARG;
    }
    if (s->warc)
        return STATUS_OK;
    if (s->cdxj && !outranks(s, "warc", "cdxj"))
        name = "cdxj";
    else if (s->warc_prefix != NULL && !outranks(s, "warc", "warc-prefix"))
        name = "warc-prefix";
    else if (source(s, "warc-size") == OPTION_FROM_LINE)
        name = "warc-size";
    if (name == NULL)
        return STATUS_OK;
    buf_addf(error, "--%s is about WARC files; give --warc as well", name);
    return STATUS_ARG;
}

/* Metrics are read-only, but the user must decide who may read them. */
static enum status check_metrics(const struct crawl_settings *s,
                                 struct buf *error)
{
    bool loopback = false;

    if (s->metrics == NULL) {
        if (!s->metrics_open || source(s, "metrics-open") != OPTION_FROM_LINE)
            return STATUS_OK;
        buf_add_str(error, "--metrics-open says who may read what --metrics "
                           "HOST:PORT serves, which is missing");
        return STATUS_ARG;
    }
    if (listen_address_is_loopback(s->metrics, &loopback) != STATUS_OK)
        return settings_refuse(
            error, "metrics", s->metrics,
            "it takes HOST:PORT of this machine, such as 127.0.0.1:9464");
    if (loopback || s->metrics_open)
        return STATUS_OK;
    return settings_refuse(
        error, "metrics", s->metrics,
        "other machines could read the crawl there; if they may, give "
        "--metrics-open, else an address such as 127.0.0.1:9464");
}

/* A resume may start in another directory. A path that is wrong stays as it is,
 * for the message. */
static void make_since_absolute(struct crawl_settings *s)
{
    char *path = s->since != NULL ? realpath(s->since, NULL) : NULL;

    if (path == NULL)
        return;
    free(s->since);
    s->since = path;
}

enum status settings_check(struct crawl_settings *s, struct buf *error)
{
    enum status st = seed_login_settings(s, error);

    make_since_absolute(s);
    if (st == STATUS_OK)
        st = check_pairs(s, error);
    if (st == STATUS_OK)
        st = check_delays(s, error);
    if (st == STATUS_OK)
        st = check_patience(s, error);
    if (st == STATUS_OK)
        st = check_refresh(s, error);
    if (st == STATUS_OK)
        st = check_counts(s, error);
    if (st == STATUS_OK)
        st = check_memory(s, error);
    if (st == STATUS_OK)
        st = check_sitemaps(s, error);
    if (st == STATUS_OK)
        st = check_warc(s, error);
    if (st == STATUS_OK)
        st = check_external(s, error);
    if (st == STATUS_OK)
        st = check_metrics(s, error);
    if (st == STATUS_OK)
        st = settings_check_values(s, error);
    if (st == STATUS_OK)
        st = cluster_settings_check(s, error);
    return st;
}
