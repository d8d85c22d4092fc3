/* SPDX-License-Identifier: MIT */
/*
 * settings_check.c - settings that cannot hold together.
 *
 * Of two that contradict each other, the one from the weaker source gives way:
 * a default to a file, a file to the command line. Said by the same source,
 * both are meant, and a person must choose. Nothing makes a crawl less polite
 * by itself: --delay never gives way.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/settings.h"
#include "filter/redis_url.h"
#include "service/service.h"

#define WARC_PREFIX_MOST 64

/* ---- saying no ---- */

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

static enum status no(struct buf *error, const char *option, const char *value,
                      const char *what)
{
    buf_addf(error, "--%s '%s': %s", option, value, what);
    return STATUS_ARG;
}

/* ---- pairs ---- */

/* Was `winner` said by a stronger source than `loser`? */
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

/* `low` may not be above `*high`, which is lifted where it was said less
 * strongly. */
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

static enum status check_counts(struct crawl_settings *s, struct buf *error)
{
    enum status st;

    /* Fewer transfers than a file or the crawl had threads: fewer threads. */
    if (s->threads > s->concurrency && outranks(s, "concurrency", "threads"))
        s->threads = s->concurrency;
    st = lift(s, "threads", s->threads, "concurrency", &s->concurrency,
              "so some threads would never have a transfer", error);
    if (st == STATUS_OK)
        st = lift(s, "conns-per-host", s->conns_per_host, "concurrency",
                  &s->concurrency, "the transfers in all", error);
    if (st == STATUS_OK && s->conns_per_ip != 0)
        st = lift(s, "conns-per-host", s->conns_per_host, "conns-per-ip",
                  &s->conns_per_ip, "which a host's connections share", error);
    return st;
}

static enum status check_memory(const struct crawl_settings *s,
                                struct buf *error)
{
    if (s->max_body_bytes <= s->memory_bytes / 4)
        return STATUS_OK;
    add_option(error, s, "max-body");
    buf_add_str(error, " is more than a quarter of ");
    add_option(error, s, "memory");
    buf_add_str(error, ", and bodies are not all that must fit there");
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

/* A Redis URL that cannot be one is refused now, not when it is needed. */
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
                           "and another filter is asked for");
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
        redis_url_is_one(s->block_filter))
        st = check_redis(s->block_filter, "block-filter", error);
    return st;
}

static enum status check_pairs(struct crawl_settings *s, struct buf *error)
{
    if (s->quiet && s->verbose) {
        buf_add_str(error, "-q and -v: the one asks for less, the other for "
                           "more; give one of them");
        return STATUS_ARG;
    }
    if (s->quiet && s->progress == PROGRESS_AUTO)
        s->progress = PROGRESS_NONE;
    if (s->filter == FILTER_NONE && source(s, "filter") == OPTION_FROM_LINE &&
        source(s, "fpr") == OPTION_FROM_LINE) {
        buf_add_str(error, "--fpr is the rate of a filter, and --filter none "
                           "asks for no filter");
        return STATUS_ARG;
    }
    if (check_filter(s, error) != STATUS_OK)
        return STATUS_ARG;
    if (s->queue_key == QUEUE_KEY_IP && s->proxy != NULL) {
        buf_add_str(error, "--queue-key ip goes by the addresses that hosts "
                           "are asked at, which only the proxy of --proxy "
                           "knows; take host or domain");
        return STATUS_ARG;
    }
    if (s->follow.count > 0 && !s->assets && ignores_all(s)) {
        buf_add_str(error, "--ignore takes away all of --follow; to fetch the "
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
        why = "--sitemap-url names a sitemap, and --sitemap off reads none";
    else if (only && has(&s->ignore, "sitemap"))
        why = "--sitemap only is about sitemaps, and --ignore takes them away";
    else if (given && !only &&
             (!has(&s->follow, "sitemap") || has(&s->ignore, "sitemap")))
        why = "--sitemap-url needs the kind sitemap among those of --follow";
    else if ((only || given) && (s->scope == SCOPE_SEED || s->depth == 0))
        why = "what sitemaps list is one link from a seed: neither --scope "
              "seed nor --depth 0 leaves any of it";
    if (why == NULL)
        return STATUS_OK;
    buf_add_str(error, why);
    return STATUS_ARG;
}

/* What says how WARC files are made, while none are. A --no-warc wins over what
 * the crawl, or a file, said of them. */
static enum status check_warc(const struct crawl_settings *s, struct buf *error)
{
    const char *name = NULL;

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

/* What is served can only be read, but by whom is for a person to say. */
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
    if (service_is_loopback(s->metrics, &loopback) != STATUS_OK)
        return no(error, "metrics", s->metrics,
                  "it takes HOST:PORT of this machine, as in 127.0.0.1:9464");
    if (loopback || s->metrics_open)
        return STATUS_OK;
    return no(error, "metrics", s->metrics,
              "others than this machine could read the crawl there; if they "
              "may, give --metrics-open, else an address such as "
              "127.0.0.1:9464");
}

/* ---- values with a shape ---- */

static bool is_token_char(char c)
{
    return c != '\0' &&
           strchr("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                  c) != NULL;
}

/* Octets of a token (RFC 9110 section 5.6.2) at the front. */
static size_t token_length(const char *s)
{
    size_t n = 0;

    while (is_token_char(s[n]))
        n++;
    return n;
}

static enum status check_header(const char *line, struct buf *error)
{
    static const struct {
        const char *name, *why;
    } ours[] = {
        {"host", "it is the URL's"},
        {"user-agent", "use --user-agent"},
        {"cookie", "use --cookie"},
        {"accept-encoding", "the crawler sets it itself"},
        {"connection", "the crawler sets it itself"},
        {"content-length", "requests have no body"},
        {"transfer-encoding", "requests have no body"},
    };
    size_t n = token_length(line);

    if (n == 0 || line[n] != ':')
        return no(error, "header", line,
                  "a header is `Name: value`, as in \"Accept: text/html\"");
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (bytes_equal_nocase(bytes_of(line, n), bytes_of_str(ours[i].name)))
            return no(error, "header", line, ours[i].why);
    return STATUS_OK;
}

/* In lower case from here on, as answers are compared. */
static enum status check_mime(const char *type, struct buf *error)
{
    size_t n = token_length(type);
    const char *rest = type + n + 1;

    if (n == 0 || type[n] != '/')
        return no(error, "mime", type,
                  "a type is like text/html, all of a family like text/");
    if (strcmp(rest, "*") == 0)
        return no(error, "mime", type, "all of a family is written text/");
    if (rest[token_length(rest)] != '\0')
        return no(error, "mime", type,
                  "a type has no parameters here, only type/subtype");
    for (char *p = (char *)type; *p != '\0'; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p + ('a' - 'A'));
    return STATUS_OK;
}

static enum status check_sitemap_url(const char *text, struct buf *error)
{
    enum url_reason why;
    struct url u;

    url_init(&u);
    why = url_canonical(&u, bytes_of_str(text), NULL, NULL);
    url_fini(&u);
    return why == URL_OK ? STATUS_OK
                         : no(error, "sitemap-url", text,
                              "it takes an http or https URL, as in "
                              "https://example.org/sitemap.xml");
}

/* The guard reads networks in full; here only what cannot be one. */
static enum status check_net(const char *option, const char *net,
                             struct buf *error)
{
    if (net[strspn(net, "0123456789abcdefABCDEF:./")] != '\0')
        return no(error, option, net,
                  "a network is like 10.0.0.0/8 or fd00::/8; names are not "
                  "taken");
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
        return no(error, "resolve", entry,
                  "it takes HOST:PORT:ADDRESS, as in example.org:443:10.0.0.1");
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
        st = no(error, "user-agent", s->user_agent,
                "it must begin with a name of letters, - and _, which is what "
                "robots.txt is asked for");
    buf_fini(&token);
    if (st == STATUS_OK && s->contact != NULL &&
        (strpbrk(s->contact, ":@") == NULL ||
         strpbrk(s->contact, " ()") != NULL))
        st = no(error, "contact", s->contact,
                "it takes a URL or a mail address");
    return st;
}

/* It begins the names of files. */
static enum status check_warc_prefix(const char *prefix, struct buf *error)
{
    size_t n = strspn(prefix, "abcdefghijklmnopqrstuvwxyz0123456789._-"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

    if (n <= WARC_PREFIX_MOST && prefix[n] == '\0' && prefix[0] != '.' &&
        prefix[0] != '-')
        return STATUS_OK;
    return no(error, "warc-prefix", prefix,
              "it takes at most 64 letters, digits, '.', '_' and '-', and "
              "begins with none of '.' and '-'");
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
    return no(error, "proxy", proxy,
              "it takes a URL, as in http://127.0.0.1:3128; schemes are http, "
              "https, socks4, socks4a, socks5, socks5h");
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

static enum status check_shapes(const struct crawl_settings *s,
                                struct buf *error)
{
    const struct {
        const struct option_list *list;
        enum status (*check)(const char *, struct buf *);
    } lists[] = {
        {&s->header, check_header},       {&s->mime, check_mime},
        {&s->allow_net, check_allow_net}, {&s->deny_net, check_deny_net},
        {&s->resolve, check_resolve},     {&s->sitemap_url, check_sitemap_url},
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

enum status settings_check(struct crawl_settings *s, struct buf *error)
{
    enum status st = check_pairs(s, error);

    if (st == STATUS_OK)
        st = check_delays(s, error);
    if (st == STATUS_OK)
        st = check_patience(s, error);
    if (st == STATUS_OK)
        st = check_counts(s, error);
    if (st == STATUS_OK)
        st = check_memory(s, error);
    if (st == STATUS_OK)
        st = check_sitemaps(s, error);
    if (st == STATUS_OK)
        st = check_warc(s, error);
    if (st == STATUS_OK)
        st = check_metrics(s, error);
    if (st == STATUS_OK)
        st = check_shapes(s, error);
    return st;
}
