/* SPDX-License-Identifier: MIT */
/*
 * options.c - the one table of the settings of a crawl.
 *
 * The compiler checks a row's type against its field; names of choices are
 * indexed by their enum. Defaults are polite first, and always bounded.
 */
#include "job/settings/options.h"

#include <stddef.h>
#include <string.h>

#include "frontier/url/url.h"

/* ---- words ---- */

static const char *const scope_words[] = {
    [SCOPE_SEED] = "seed",     [SCOPE_HOST] = "host", [SCOPE_DOMAIN] = "domain",
    [SCOPE_PREFIX] = "prefix", [SCOPE_ANY] = "any",   [SCOPE_ANY + 1] = NULL,
};
static const char *const robots_words[] = {
    [ROBOTS_OBEY] = "obey",
    [ROBOTS_REPORT] = "report",
    [ROBOTS_OFF] = "off",
    [ROBOTS_OFF + 1] = NULL,
};
static const char *const queue_key_words[] = {
    [QUEUE_KEY_HOST] = "host",
    [QUEUE_KEY_DOMAIN] = "domain",
    [QUEUE_KEY_IP] = "ip",
    [QUEUE_KEY_IP + 1] = NULL,
};
static const char *const filter_words[] = {
    [FILTER_SCALABLE] = "scalable", [FILTER_STACKED] = "stacked",
    [FILTER_BLOOM] = "bloom",       [FILTER_COUNTING] = "counting",
    [FILTER_CUCKOO] = "cuckoo",     [FILTER_REDIS] = "redis",
    [FILTER_NONE] = "none",         [FILTER_NONE + 1] = NULL,
};
static const char *const noindex_words[] = {
    [NOINDEX_REPORT] = "report",
    [NOINDEX_SKIP] = "skip",
    [NOINDEX_SKIP + 1] = NULL,
};
static const char *const dup_content_words[] = {
    [DUP_CONTENT_REPORT] = "report",
    [DUP_CONTENT_SKIP] = "skip",
    [DUP_CONTENT_SKIP + 1] = NULL,
};
static const char *const traps_words[] = {
    [TRAPS_SKIP] = "skip",
    [TRAPS_REPORT] = "report",
    [TRAPS_OFF] = "off",
    [TRAPS_OFF + 1] = NULL,
};
static const char *const near_dup_words[] = {[NEAR_DUP_REPORT] = "report",
                                             [NEAR_DUP_SKIP] = "skip",
                                             [NEAR_DUP_OFF] = "off",
                                             [NEAR_DUP_OFF + 1] = NULL};
static const char *const changed_by_words[] = {[CHANGED_BY_BODY] = "body",
                                               [CHANGED_BY_TEXT] = "text",
                                               [CHANGED_BY_WORDS] = "words",
                                               NULL};
static const char *const sitemap_words[] = {
    [SITEMAPS_AUTO] = "auto",
    [SITEMAPS_ONLY] = "only",
    [SITEMAPS_OFF] = "off",
    [SITEMAPS_OFF + 1] = NULL,
};
static const char *const assets_words[] = {[ASSETS_OFF] = "off",
                                           [ASSETS_ALL] = "all",
                                           [ASSETS_SAME_SCOPE] = "same-scope",
                                           NULL};
static const char *const order_words[] = {
    [ORDER_BREADTH] = "breadth",
    [ORDER_DEPTH] = "depth",
    [ORDER_BEST] = "best",
    [ORDER_BEST + 1] = NULL,
};
static const char *const budget_words[] = {
    [BUDGET_FIXED] = "fixed",
    [BUDGET_INLINKS] = "inlinks",
    [BUDGET_INLINKS + 1] = NULL,
};
static const char *const record_words[] = {
    [RECORD_NONE] = "none", [RECORD_LINKS] = "links", [RECORD_META] = "meta",
    [RECORD_ALL] = "all",   [RECORD_ALL + 1] = NULL,
};
static const char *const progress_words[] = {
    [PROGRESS_AUTO] = "auto",   [PROGRESS_BAR] = "bar",
    [PROGRESS_JSON] = "json",   [PROGRESS_NONE] = "none",
    [PROGRESS_NONE + 1] = NULL,
};
const char *const sandbox_words[] = {
    [SANDBOX_ON] = "on",
    [SANDBOX_OFF] = "off",
    [SANDBOX_OFF + 1] = NULL,
};

/* Link kinds that can be followed: all but form actions. */
static const char *const kind_words[] = {
    "a",        "area",      "link",         "canonical", "css",
    "sitemap",  "alternate", "feed",         "img",       "srcset",
    "iframe",   "script",    "meta-refresh", "style",     "header",
    "lazy",     "object",    "embed",        "media",     "cite",
    "manifest", "amphtml",   "og",           "resource",  NULL,
};

/* ---- rows ---- */

#define FIELD(f) (((struct crawl_settings *)0)->f)
/* The field's offset; compiles only if its type is `type`. */
#define AT(f, type)                                                            \
    (offsetof(struct crawl_settings, f) +                                      \
     0 * sizeof(char[__builtin_types_compatible_p(__typeof__(FIELD(f)), type)  \
                         ? 1                                                   \
                         : -1]))
#define FLAG(f)     .type = OPTION_FLAG, .at = AT(f, bool), .fallback = "false"
#define COUNT(f)    .type = OPTION_COUNT, .at = AT(f, int64_t)
#define SIZE(f)     .type = OPTION_SIZE, .at = AT(f, uint64_t), .arg = "SIZE"
#define TIME(f)     .type = OPTION_TIME, .at = AT(f, int64_t), .arg = "TIME"
#define FRACTION(f) .type = OPTION_FRACTION, .at = AT(f, double)
#define TEXT(f)     .type = OPTION_TEXT, .at = AT(f, char *)
#define LIST(f)     .type = OPTION_LIST, .at = AT(f, struct option_list)
#define CHOICE(f, enumeration)                                                 \
    .type = OPTION_CHOICE, .at = AT(f, enumeration), .words = f##_words

#define KIB           1024.0
#define MIB           (1024 * KIB)
#define SIZE_CEILING  9007199254740992.0 /* 8 PiB: exact in a double */
#define SECOND        1000.0
#define DAY           (86400 * SECOND)
#define COUNT_CEILING 1e15

#define INPUT         "Seeds and directory"
#define SCOPE         "Scope: which URLs belong to the crawl"
#define ORDER         "Order: which page of a host goes first"
#define REFRESH       "Refresh: when pages are fetched again"
#define LIMITS        "Limits: when to stop, what to hold"
#define POLITENESS    "Politeness: how hosts are asked"
#define FETCH         "Fetch: how a page is asked for"
#define DEDUPE        "Dedupe: what was seen before"
#define OUTPUT        "Output: what is told and kept"
#define RIGHTS        "Rights: what the process keeps"

/* One row per option is easier to read. */
/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "seeds", LIST(seeds), .section = INPUT, .arg = "URL",
     .flags = OPTION_FILE_ONLY | OPTION_ON_START,
     .help = "where to start; on the command line these are the operands"},
    {.name = "input", .letter = 'i', TEXT(input), .section = INPUT,
     .arg = "FILE", .flags = OPTION_ON_START,
     .help = "read seeds from FILE, one a line, # begins a comment; it may be "
             "gzip, zstd or bzip2; - is stdin"},
    {.name = "output", .letter = 'o', TEXT(output), .section = INPUT,
     .arg = "DIR", .flags = OPTION_ON_START | OPTION_OF_RUN,
     .help = "the crawl's directory; it is made if it is missing"},
    {.name = "config", .letter = 'C', TEXT(config), .section = INPUT,
     .arg = "FILE", .flags = OPTION_LINE_ONLY,
     .help = "read options from a YAML file; the command line wins"},
    {.name = "cluster", TEXT(cluster), .section = INPUT, .arg = "URL",
     .flags = OPTION_ON_START | OPTION_OF_WORKER,
     .help = "divide the crawl into shards whose state is in Kafka, so that "
             "`urlweir join` can take part on other machines: "
             "kafka://HOST[:PORT][,...]/NAME"},
    {.name = "shards", COUNT(shards), .fallback = "16", .min = 1,
     .max = SHARDS_MOST, .section = INPUT, .arg = "N",
     .flags = OPTION_ON_START,
     .help = "with --cluster: into how many parts hosts are divided; as many "
             "processes can crawl"},
    {.name = "once", FLAG(once), .section = INPUT,
     .flags = OPTION_LINE_ONLY | OPTION_ON_RESUME,
     .help = "changes made here hold for this run only and are not kept"},
    {.name = "retry", LIST(retry), .section = INPUT, .arg = "REASONS",
     .flags = OPTION_LINE_ONLY | OPTION_ON_RESUME | OPTION_COMMAS,
     .help = "queue URLs again that ended for one of these reasons, such as "
             "http_503,timeout or robots, or all that failed"},

    {.name = "depth", .letter = 'd', COUNT(depth), .fallback = "none",
     .min = 0, .max = 1e9, .bare = "none", .section = SCOPE, .arg = "N",
     .help = "follow at most this many links from a seed; seeds have depth 0"},
    {.name = "scope", CHOICE(scope, enum scope_mode), .fallback = "host",
     .section = SCOPE,
     .help = "where to go: the seeds alone, their hosts, their registrable "
             "domains, below their directories, anywhere"},
    {.name = "include", .letter = 'I', LIST(include), .section = SCOPE,
     .arg = "REGEX",
     .help = "crawl only URLs that match one of these (PCRE2, unanchored)"},
    {.name = "exclude", .letter = 'X', LIST(exclude), .section = SCOPE,
     .arg = "REGEX",
     .help = "skip URLs that match one of these"},
    {.name = "mime", LIST(mime), .section = SCOPE, .arg = "LIST",
     .flags = OPTION_COMMAS,
     .help = "keep only responses of these types, such as text/html or text/"},
    {.name = "max-url-len", COUNT(max_url_length), .fallback = "2048",
     .min = 16, .max = (double)URL_LENGTH_CEILING, .section = SCOPE,
     .arg = "N",
     .help = "longest URL, in octets of its canonical form"},
    {.name = "allow-private", FLAG(allow_private), .section = SCOPE,
     .help = "connect to private, loopback and link-local addresses too"},
    {.name = "allow-net", LIST(allow_net), .section = SCOPE, .arg = "CIDR",
     .flags = OPTION_COMMAS,
     .help = "connect to this network although it is private"},
    {.name = "deny-net", LIST(deny_net), .section = SCOPE, .arg = "CIDR",
     .flags = OPTION_COMMAS,
     .help = "never connect to this network; wins over --allow-net"},
    {.name = "nat64", LIST(nat64), .section = SCOPE, .arg = "PREFIX",
     .flags = OPTION_COMMAS,
     .help = "judge IPv6 addresses of this NAT64 prefix by the IPv4 address in "
             "them"},
    {.name = "allow-port", LIST(allow_port), .section = SCOPE, .arg = "PORT",
     .flags = OPTION_COMMAS,
     .help = "allow this port although browsers block it, such as 25 or 6000"},
    {.name = "follow", LIST(follow),
     .fallback = "a,area,iframe,link,canonical,alternate,meta-refresh,"
                 "sitemap,feed",
     .section = SCOPE, .arg = "KINDS", .flags = OPTION_COMMAS,
     .words = kind_words,
     .help = "kinds of links that are followed"},
    {.name = "ignore", LIST(ignore), .section = SCOPE, .arg = "KINDS",
     .flags = OPTION_COMMAS, .words = kind_words,
     .help = "kinds of links that are not followed, although --follow names "
             "them"},
    {.name = "assets", CHOICE(assets, enum asset_scope), .fallback = "off",
     .flags = OPTION_SWITCH, .section = SCOPE,
     .help = "fetch what pages are shown with too (links of kind img, srcset, "
             "lazy, script, css, style, media, object, embed), from wherever "
             "it is, or if it is in scope"},
    {.name = "check-external", FLAG(check_external), .section = SCOPE,
     .help = "ask whether targets of links out of scope are there, as --check "
             "does, and follow nothing there but redirects; --what broken has "
             "those that are not"},
    {.name = "sitemap", CHOICE(sitemap, enum sitemap_choice),
     .fallback = "auto", .section = SCOPE,
     .help = "read the sitemaps that robots.txt names and /sitemap.xml; crawl "
             "only what sitemaps list; read none"},
    {.name = "sitemap-url", LIST(sitemap_url), .section = SCOPE, .arg = "URL",
     .help = "read this sitemap, sitemap index or feed too"},

    {.name = "order", CHOICE(order, enum order_mode), .fallback = "breadth",
     .section = ORDER,
     .help = "in order of arrival, the deepest first, or those that many pages "
             "link to and your rules favour"},
    {.name = "boost", LIST(boost), .section = ORDER, .arg = "REGEX=N",
     .help = "with --order best, add N to the score of URLs in which REGEX is "
             "found; below 0 later"},
    {.name = "first", LIST(first), .section = ORDER, .arg = "REGEX",
     .help = "with --order best, URLs in which REGEX is found before all "
             "others"},

    {.name = "refresh", TIME(refresh_ms), .fallback = "off", .min = 1,
     .max = 3650 * DAY, .bare = "off", .other = "adaptive",
     .section = REFRESH,
     .help = "fetch each URL again this long after its last fetch, or as often "
             "as it changes; the crawl goes on until it is stopped"},
    {.name = "refresh-min", TIME(refresh_min_ms), .fallback = "1h", .min = 1,
     .max = 3650 * DAY, .section = REFRESH,
     .help = "least time between two fetches of a URL with --refresh "
             "adaptive, or by `urlweir refresh` without --now; also how long a "
             "host that does not respond is left alone"},
    {.name = "refresh-max", TIME(refresh_max_ms), .fallback = "90d", .min = 1,
     .max = 3650 * DAY, .section = REFRESH,
     .help = "most time between two fetches of a URL with --refresh adaptive"},
    {.name = "refresh-share", FRACTION(refresh_share), .fallback = "0.5",
     .min = 0, .max = 1, .section = REFRESH, .arg = "PART",
     .help = "most of a host's requests that are refreshes while it has new "
             "URLs too"},
    {.name = "keep-history", COUNT(keep_history), .fallback = "all", .min = 1,
     .max = 100, .bare = "all", .section = REFRESH, .arg = "N",
     .help = "keep only the last N fetches of each URL, with their links"},
    {.name = "until-idle", FLAG(until_idle), .section = REFRESH,
     .flags = OPTION_OF_RUN,
     .help = "end this run when no URL is due before a later date"},

    {.name = "limit", .letter = 'n', COUNT(limit_pages), .fallback = "none",
     .min = 1, .max = COUNT_CEILING, .bare = "none", .section = LIMITS,
     .arg = "N",
     .help = "stop after N pages; robots files, sitemaps and redirects are not "
             "counted"},
    {.name = "per-host", COUNT(limit_per_host), .fallback = "none", .min = 1,
     .max = COUNT_CEILING, .bare = "none", .section = LIMITS, .arg = "N",
     .help = "most pages of one host; the rest of its URLs waits"},
    {.name = "per-domain", COUNT(limit_per_domain), .fallback = "none",
     .min = 1, .max = COUNT_CEILING, .bare = "none", .section = LIMITS,
     .arg = "N",
     .help = "most pages of one registrable domain, over all its hosts"},
    {.name = "per-host-bytes", SIZE(per_host_bytes), .fallback = "none",
     .min = 1, .max = SIZE_CEILING, .bare = "none", .section = LIMITS,
     .help = "ask a host for no more once this much was received of it"},
    {.name = "budget", CHOICE(budget, enum budget_growth), .fallback = "fixed",
     .section = LIMITS,
     .help = "inlinks: multiply --per-host, --per-domain and --per-host-bytes "
             "by one more than the number of other registrable domains that "
             "link there"},
    {.name = "time", TIME(limit_time_ms), .fallback = "none", .min = 1,
     .max = 36500 * DAY, .bare = "none", .section = LIMITS,
     .flags = OPTION_OF_WORKER,
     .help = "stop after this time"},
    {.name = "quota", SIZE(quota_bytes), .fallback = "none", .min = 1,
     .max = SIZE_CEILING, .bare = "none", .section = LIMITS,
     .help = "stop after receiving this much"},
    {.name = "max-body", SIZE(max_body_bytes), .fallback = "auto",
     .min = MAX_BODY_AUTO + 1, .max = 1024 * MIB, .bare = "auto",
     .section = LIMITS,
     .help = "cut a response at this size, counted after decompression; auto "
             "is 4M, and with --warc 100M or a quarter of --memory"},
    {.name = "max-links", COUNT(max_links), .fallback = "50000", .min = 1,
     .max = COUNT_CEILING, .bare = "none", .section = LIMITS, .arg = "N",
     .help = "take at most this many different links from a page; the rest "
             "are dropped"},
    {.name = "keep-dropped", SIZE(keep_dropped_bytes), .fallback = "256M",
     .min = 0, .max = SIZE_CEILING, .section = LIMITS,
     .flags = OPTION_OF_WORKER,
     .help = "room on disk for dropped links, so that a resume with wider "
             "settings can let them in"},
    {.name = "memory", SIZE(memory_bytes), .fallback = "512M", .min = 96 * MIB,
     .max = SIZE_CEILING, .section = LIMITS,
     .flags = OPTION_OF_WORKER,
     .help = "memory to stay below, whatever the size of the crawl"},
    {.name = "min-disk", SIZE(min_disk_bytes), .fallback = "1G", .min = 0,
     .max = SIZE_CEILING, .section = LIMITS,
     .flags = OPTION_OF_WORKER,
     .help = "stop when less is free on the disk of DIR"},
    {.name = "give-up", TIME(give_up_ms), .fallback = "5m", .min = 1,
     .max = 3650 * DAY, .bare = "none", .section = LIMITS,
     .help = "how long to wait for a host that does not respond; the crawl "
             "also ends when everything that is left would have to wait longer"},

    {.name = "delay", .letter = 'w', TIME(delay_ms), .fallback = "1s",
     .min = 0, .max = DAY, .section = POLITENESS,
     .help = "time from the end of a host's response to the next request"},
    {.name = "random-delay", FLAG(random_delay), .section = POLITENESS,
     .help = "vary the delay at random between half of it and one and a half "
             "times"},
    {.name = "adaptive", .type = OPTION_FLAG, .at = AT(adaptive, bool),
     .fallback = "true", .section = POLITENESS,
     .help = "wait at least twice as long as a host takes to respond; "
             "--no-adaptive and --delay 0 turn that off"},
    {.name = "max-delay", TIME(max_delay_ms), .fallback = "30s", .min = 0,
     .max = DAY, .section = POLITENESS,
     .help = "longest wait that any rule leads to, except Retry-After"},
    {.name = "max-crawl-delay", TIME(max_crawl_delay_ms), .fallback = "5m",
     .min = 0, .max = DAY, .section = POLITENESS,
     .help = "cut a longer Crawl-delay of robots.txt to this"},
    {.name = "conns-per-host", COUNT(conns_per_host), .fallback = "1",
     .min = 1, .max = 1000, .section = POLITENESS, .arg = "N",
     .help = "connections to one host at once"},
    {.name = "conns-per-ip", COUNT(conns_per_ip), .fallback = "8", .min = 0,
     .max = 10000, .section = POLITENESS, .arg = "N",
     .flags = OPTION_OF_WORKER,
     .help = "connections to one address at once; 0 means no limit"},
    {.name = "limit-rate", SIZE(limit_rate_bytes), .fallback = "none",
     .min = 1, .max = SIZE_CEILING, .bare = "none", .section = POLITENESS,
     .flags = OPTION_OF_WORKER,
     .help = "receive at most this much a second in total"},
    {.name = "limit-rate-per-host", SIZE(limit_rate_per_host_bytes),
     .fallback = "none", .min = 1, .max = SIZE_CEILING, .bare = "none",
     .section = POLITENESS,
     .help = "receive at most this much a second from one host; each of its "
             "connections has an equal share"},
    {.name = "robots", CHOICE(robots, enum robots_policy), .fallback = "obey",
     .section = POLITENESS,
     .help = "obey robots.txt, fetch and mark what it denies, or do not fetch "
             "it"},
    {.name = "noindex", CHOICE(noindex, enum noindex_policy),
     .fallback = "report", .section = POLITENESS,
     .help = "pages that ask not to be indexed: fetched and marked, or "
             "skipped"},
    {.name = "queue-key", CHOICE(queue_key, enum queue_key_mode),
     .fallback = "host", .section = POLITENESS, .flags = OPTION_ON_START,
     .help = "what shares a queue, and so is fetched one after the other: the "
             "URLs of a host, of a registrable domain, or of an address"},

    {.name = "concurrency", .letter = 'c', COUNT(concurrency),
     .fallback = "auto", .min = 1, .max = 10000, .bare = "auto",
     .section = FETCH, .arg = "N",
     .flags = OPTION_OF_WORKER,
     .help = "transfers at once in all; auto: one for each host that is due, "
             "within memory, descriptors and cores"},
    {.name = "threads", COUNT(threads), .fallback = "cores", .min = 1,
     .max = 256, .bare = "cores", .section = FETCH, .arg = "N",
     .flags = OPTION_OF_WORKER,
     .help = "threads that fetch and parse"},
    {.name = "tries", .letter = 't', COUNT(tries), .fallback = "3", .min = 1,
     .max = 100, .section = FETCH, .arg = "N",
     .help = "most requests for one URL, if they fail in a way that may pass"},
    {.name = "retry-delay", TIME(retry_delay_ms), .fallback = "1s", .min = 0,
     .max = DAY, .section = FETCH,
     .help = "wait before the second try; it doubles with each try, up to "
             "--max-delay"},
    {.name = "timeout", .letter = 'T', TIME(timeout_ms), .fallback = "20s",
     .min = 1, .max = DAY, .section = FETCH,
     .help = "longest time for a whole response"},
    {.name = "connect-timeout", TIME(connect_timeout_ms), .fallback = "10s",
     .min = 1, .max = DAY, .section = FETCH,
     .help = "longest time for connecting"},
    {.name = "max-redirects", COUNT(max_redirects), .fallback = "5", .min = 0,
     .max = 50, .section = FETCH, .arg = "N",
     .help = "follow at most this many redirects in a row"},
    {.name = "user-agent", .letter = 'U', TEXT(user_agent), .section = FETCH,
     .arg = "TEXT",
     .help = "user agent to send [urlweir/" URLWEIR_VERSION
             " (+CONTACT)]"},
    {.name = "contact", TEXT(contact), .section = FETCH, .arg = "URL",
     .help = "web page or mail address of whoever runs the crawl; it goes "
             "into the user agent"},
    {.name = "header", .letter = 'H', LIST(header), .section = FETCH,
     .arg = "LINE", .flags = OPTION_SECRET | OPTION_OF_WORKER,
     .help = "send this header to the origins of the seeds, as in \"Accept: "
             "text/html\""},
    {.name = "header-host", LIST(header_host), .section = FETCH,
     .arg = "ORIGIN=LINE", .flags = OPTION_SECRET | OPTION_OF_WORKER,
     .help = "send this header to ORIGIN, [https://]HOST[:PORT] or "
             "http://HOST[:PORT]; * is any"},
    {.name = "cookie", .letter = 'b', TEXT(cookie), .section = FETCH,
     .arg = "TEXT", .flags = OPTION_SECRET | OPTION_OF_WORKER,
     .help = "send this Cookie header to the origins of the seeds"},
    {.name = "cookies", TEXT(cookies), .section = FETCH, .arg = "FILE",
     .alone = "/dev/null",
     .flags = OPTION_OF_WORKER,
     .help = "keep the cookies that the seeds' sites set, and start with those "
             "in FILE (curl's format) or with none"},
    {.name = "auth", LIST(auth), .section = FETCH,
     .arg = "ORIGIN=USER:PASSWORD", .flags = OPTION_SECRET | OPTION_OF_WORKER,
     .help = "log in at ORIGIN (HTTP Basic)"},
    {.name = "bearer", LIST(bearer), .section = FETCH, .arg = "ORIGIN=TOKEN",
     .flags = OPTION_SECRET | OPTION_OF_WORKER,
     .help = "send ORIGIN this bearer token"},
    {.name = "netrc", TEXT(netrc), .section = FETCH, .arg = "FILE",
     .flags = OPTION_OF_WORKER,
     .help = "log in at the machines that FILE names, over https or at the "
             "seeds' origins"},
    {.name = "cert", TEXT(cert), .section = FETCH, .arg = "FILE",
     .flags = OPTION_OF_WORKER,
     .help = "client certificate (PEM) for the origins of the seeds"},
    {.name = "key", TEXT(key), .section = FETCH, .arg = "FILE",
     .flags = OPTION_OF_WORKER,
     .help = "the key of --cert, if that file does not hold it"},
    {.name = "cacert", TEXT(cacert), .section = FETCH, .arg = "FILE",
     .flags = OPTION_OF_WORKER,
     .help = "trust the certificate authorities in FILE (PEM) instead of the "
             "system's"},
    {.name = "proxy", .letter = 'x', TEXT(proxy), .section = FETCH,
     .arg = "URL", .flags = OPTION_SECRET | OPTION_OF_WORKER,
     .help = "use this proxy; proxies named in the environment are not used"},
    {.name = "check", FLAG(check), .section = FETCH, .flags = OPTION_ON_START,
     .help = "ask only whether each URL is there: by HEAD, and once more by GET "
             "without its body if that fails; no links are followed but "
             "redirects"},
    {.name = "insecure", FLAG(insecure), .section = FETCH,
     .help = "accept any TLS certificate"},
    {.name = "resolve", LIST(resolve), .section = FETCH,
     .arg = "HOST:PORT:ADDR",
     .help = "connect to ADDR for HOST and PORT, without asking DNS"},

    {.name = "filter", CHOICE(filter, enum filter_choice),
     .fallback = "scalable", .section = DEDUPE,
     .flags = OPTION_OF_WORKER,
     .help = "the filter that says \"certainly new\" before the exact set is "
             "asked"},
    {.name = "fpr", FRACTION(fpr), .fallback = "0.001", .min = 1e-9,
     .max = 0.5, .section = DEDUPE, .arg = "RATE",
     .flags = OPTION_OF_WORKER,
     .help = "false-positive rate of the filter; a false positive costs time, "
             "never a URL"},
    {.name = "expect", COUNT(expect), .fallback = "1000000", .min = 1,
     .max = 1e12, .section = DEDUPE, .arg = "N",
     .flags = OPTION_OF_WORKER,
     .help = "number of URLs to size a filter for that cannot grow: bloom, "
             "counting, redis"},
    {.name = "redis", TEXT(redis), .section = DEDUPE, .arg = "URL",
     .flags = OPTION_SECRET | OPTION_OF_WORKER,
     .help = "where --filter redis keeps its bits: "
             "redis://host:port/db?key=NAME"},
    {.name = "compare-text", FLAG(compare_text), .section = DEDUPE,
     .help = "compare the stored URL too where 128 bits of digest agree"},
    {.name = "dup-content", CHOICE(dup_content, enum dup_content),
     .fallback = "report", .section = DEDUPE,
     .help = "links of a page whose body was seen before: followed, or not"},
    {.name = "traps", CHOICE(traps, enum trap_policy), .fallback = "skip",
     .section = DEDUPE,
     .help = "URLs of endless spaces, told by what their pages bring: skipped, "
             "or counted only, or not looked for"},
    {.name = "trap", LIST(trap), .flags = OPTION_COMMAS, .section = DEDUPE,
     .arg = "RULE=N,...",
     .help = "pages in a row without anything new that make a trap: counter, "
             "repeat, growth, same-body, spiral, order, session, subdomain, "
             "combination; RULE=off: never"},
    {.name = "near-dup", CHOICE(near_dup, enum near_dup),
     .fallback = "report", .section = DEDUPE,
     .help = "pages whose text is nearly that of an earlier one: named, their "
             "links not followed, or not looked for"},
    {.name = "changed-by", CHOICE(changed_by, enum changed_by),
     .fallback = "text", .section = DEDUPE,
     .help = "a page has changed if its body, its visible text, or that text "
             "without numbers and dates is another one"},

    {.name = "block-filter", TEXT(block_filter), .section = DEDUPE,
     .arg = "FILE", .flags = OPTION_SECRET | OPTION_OF_WORKER,
     .help = "skip the URLs in this filter, a file or a Redis URL"},
    {.name = "block-exact", TEXT(block_exact), .section = DEDUPE,
     .arg = "FILE",
     .flags = OPTION_OF_WORKER,
     .help = "of these, skip only those listed in FILE, one a line"},
    {.name = "drop-params", LIST(drop_params), .flags = OPTION_COMMAS,
     .section = DEDUPE, .arg = "NAME,...",
     .help = "leave these parameters out of queries; NAME* is a beginning"},
    {.name = "drop-tracking", FLAG(drop_tracking), .section = DEDUPE,
     .help = "leave out parameters known to follow people and sessions, such "
             "as utm_source and PHPSESSID"},
    {.name = "drop-empty-params", FLAG(drop_empty_params), .section = DEDUPE,
     .help = "leave out parameters whose value is empty (a=)"},
    {.name = "sort-query", FLAG(sort_query), .section = DEDUPE,
     .help = "sort the parameters of queries by name"},
    {.name = "rewrite", TEXT(rewrite), .section = DEDUPE, .arg = "FILE",
     .help = "rewrite URLs by the rules in FILE, each an expression and what "
             "replaces its matches"},

    {.name = "since", TEXT(since), .section = DEDUPE, .arg = "DIR",
     .flags = OPTION_ON_START,
     .help = "ask only for what has changed since this earlier crawl, which "
             "stays where it is; unchanged pages keep the links that its "
             "--record links kept"},

    {.name = "record", CHOICE(record, enum record_choice), .fallback = "none",
     .section = OUTPUT,
     .help = "keep: links, the whole link graph, repeats too, with the texts "
             "of links and those that lead out of scope; meta, what pages say "
             "of themselves, such as description and heading; all, both"},
    {.name = "warc", FLAG(warc), .section = OUTPUT,
     .flags = OPTION_OF_WORKER,
     .help = "record requests and responses in WARC files below DIR/warc"},
    {.name = "warc-size", SIZE(warc_size_bytes), .fallback = "1G",
     .min = KIB, .max = SIZE_CEILING, .section = OUTPUT,
     .flags = OPTION_OF_WORKER,
     .help = "start a new WARC file when one would grow beyond this"},
    {.name = "warc-prefix", TEXT(warc_prefix), .section = OUTPUT,
     .arg = "NAME",
     .flags = OPTION_OF_WORKER,
     .help = "prefix of the names of WARC files [urlweir]"},
    {.name = "cdxj", FLAG(cdxj), .section = OUTPUT,
     .flags = OPTION_OF_WORKER,
     .help = "index the WARC files in DIR/warc/index.cdxj when the crawl "
             "stops"},
    {.name = "jsonl", .letter = 'j', TEXT(jsonl), .section = OUTPUT,
     .arg = "FILE",
     .flags = OPTION_OF_WORKER,
     .help = "write a JSON line for each URL once its result is on disk; - is "
             "stdout, kafka://HOST[:PORT][,...]/TOPIC is a topic, with a "
             "message for each, keyed by host, exactly once"},
    {.name = "kafka-property", LIST(kafka_property), .section = OUTPUT,
     .arg = "NAME=VALUE", .flags = OPTION_SECRET | OPTION_OF_WORKER,
     .help = "how to sign in at the brokers of a kafka:// URL, by librdkafka's "
             "own names, as in security.protocol=SASL_SSL"},
    {.name = "checkpoint", TIME(checkpoint_ms), .fallback = "60s",
     .min = SECOND, .max = DAY, .section = OUTPUT,
     .flags = OPTION_OF_WORKER,
     .help = "time between two checkpoints of the filter"},
    {.name = "quiet", .letter = 'q', FLAG(quiet), .section = OUTPUT,
     .flags = OPTION_OF_RUN,
     .help = "errors only, and no progress unless --progress asks for it"},
    {.name = "verbose", .letter = 'v', FLAG(verbose), .section = OUTPUT,
     .flags = OPTION_OF_RUN | OPTION_TWICE,
     .help = "a line for each URL that is done: status, reason, size, time, "
             "URL; -vv is --decisions"},
    {.name = "decisions", FLAG(decisions), .section = OUTPUT,
     .flags = OPTION_OF_RUN,
     .help = "as --verbose, and say why links are dropped, URLs are tried "
             "again and hosts are left alone"},
    {.name = "progress", CHOICE(progress, enum progress_choice),
     .fallback = "auto", .section = OUTPUT, .flags = OPTION_OF_RUN,
     .help = "on stderr: a bar on a terminal and lines elsewhere, always a "
             "bar, JSON lines, nothing"},
    {.name = "metrics", TEXT(metrics), .section = OUTPUT, .arg = "HOST:PORT",
     .flags = OPTION_OF_RUN,
     .help = "serve /metrics for Prometheus, the dashboard and the crawl's "
             "data over HTTP at this address; port 0 picks a free port and "
             "prints it"},
    {.name = "metrics-open", FLAG(metrics_open), .section = OUTPUT,
     .flags = OPTION_OF_RUN,
     .help = "allow --metrics on addresses other than loopback, where others "
             "can read it"},

    {.name = "sandbox", CHOICE(sandbox, enum sandbox_choice),
     .fallback = "on", .section = RIGHTS, .flags = OPTION_OF_RUN,
     .help = "give up all rights that the crawl does not need, as far as the "
             "kernel can take them; off keeps them"},
    {.name = "user", TEXT(user), .section = RIGHTS, .arg = "NAME",
     .flags = OPTION_OF_RUN,
     .help = "the user that root becomes; without it the owner of DIR, if "
             "that user can use all files that are named"},
};
/* clang-format on */

_Static_assert(sizeof specs / sizeof *specs == CRAWL_OPTIONS,
               "CRAWL_OPTIONS in options.h counts the rows");

const struct option_table crawl_options = {
    .spec = specs,
    .count = CRAWL_OPTIONS,
    .from = offsetof(struct crawl_settings, from),
    .size = sizeof(struct crawl_settings),
};
