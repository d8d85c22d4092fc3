/* SPDX-License-Identifier: MIT */
/*
 * fuzz_robots_redirect.c - redirects of a robots.txt and of pages never make a
 * fetcher request a URL that the guard refuses.
 *
 * Runs the tasks of a fetcher without its thread: tasks, robots cache,
 * transfers and guard are the real ones; only multi.c is replaced here, by one
 * without sockets that passes a response on where curl would, so that a run
 * depends only on its input.
 *
 * Input: records with octet 0x1e between them. The first is an octet of flags,
 * then the URL that is leased first. The others are the responses, head and
 * body, in the order of requests; if one is empty, or there are no more, the
 * connection fails. Flags: below.
 *
 * Asserts: the guard, and a second, simpler check, permit each URL that is
 * requested, and each that is recorded; a robots.txt takes six requests at
 * most; each lease ends with one report; no memory of bodies is left.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "crawler/fetch/fetch.h"
#include "crawler/fetch_task.h"
#include "crawler/html/link_values.h"
#include "frontier/url/host.h"

#define SEPARATOR   0x1e
#define LEASES_MOST 24
#define URLS_MOST   8 /* the first one, and targets of redirects */
#define PIECE       16384
#define POOL        ((uint64_t)8 << 20)

enum flag {
    FLAG_PROXY = 1,
    FLAG_PRIVATE = 2, /* --allow-private */
    FLAG_NETS = 4,    /* --allow-net, --deny-net, --nat64, --allow-port */
    FLAG_REPORT = 8,  /* --robots report */
    FLAG_ASTRAY = 16  /* every other lease is for a wrong host */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fetcher_options options;
static struct fetch_task task;
static struct bytes responses; /* not yet delivered */
static uint8_t flags;
static unsigned robots_requests; /* of the current URL */

/* ---- a second check ---------------------------------------------------- */

static bool ends_in(const char *text, const char *tail)
{
    size_t n = strlen(text), m = strlen(tail);

    return n >= m && strcmp(text + n - m, tail) == 0;
}

/* With FLAG_NETS 8.8.8.0/24 is denied, 10.1.0.0/16 allowed. */
static bool is_refused_v4(const unsigned char a[4])
{
    if ((flags & FLAG_NETS) != 0 && a[0] == 8 && a[1] == 8 && a[2] == 8)
        return true;
    if ((flags & FLAG_PRIVATE) != 0 ||
        ((flags & FLAG_NETS) != 0 && a[0] == 10 && a[1] == 1))
        return false;
    return a[0] == 0 || a[0] == 10 || a[0] == 127 ||
           (a[0] == 169 && a[1] == 254) || (a[0] == 192 && a[1] == 168) ||
           (a[0] == 168 && a[1] == 63 && a[2] == 129 && a[3] == 16);
}

/* With FLAG_NETS 2a00:64::/48 is NAT64, too: its IPv4 addresses are in octets
 * 6, 7, 9 and 10. */
static bool is_refused_v6(const unsigned char a[16])
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    static const unsigned char nat64[12] = {0, 0x64, 0xff, 0x9b};
    static const unsigned char own_nat64[6] = {0x2a, 0, 0, 0x64};
    const unsigned char own[4] = {a[6], a[7], a[9], a[10]};

    if (memcmp(a, mapped, sizeof mapped) == 0 ||
        memcmp(a, nat64, sizeof nat64) == 0)
        return is_refused_v4(a + 12);
    if ((flags & FLAG_NETS) != 0 && memcmp(a, own_nat64, sizeof own_nat64) == 0)
        return is_refused_v4(own);
    return (flags & FLAG_PRIVATE) == 0 && (a[0] & 0xe0) != 0x20;
}

static bool is_refused_host(const char *host)
{
    unsigned char a[16];

    if (inet_pton(AF_INET, host, a) == 1)
        return is_refused_v4(a);
    if (inet_pton(AF_INET6, host, a) == 1)
        return is_refused_v6(a);
    if ((flags & FLAG_PRIVATE) != 0)
        return false;
    return strcmp(host, "localhost") == 0 || ends_in(host, ".localhost") ||
           strcmp(host, "metadata.google.internal") == 0 ||
           ((flags & FLAG_PROXY) != 0 &&
            (ends_in(host, ".internal") || strchr(host, '.') == NULL));
}

/* Parses "http://HOST[:PORT]/...", as url.h serialises it, without using
 * url.h. */
static bool is_plainly_refused(const char *url)
{
    char host[256];
    const char *at = strstr(url, "://") + 3;
    size_t n = at[0] == '[' ? strcspn(++at, "]") : strcspn(at, ":/");
    const char *port = at[n] == ']' ? at + n + 1 : at + n;

    if (n >= sizeof host)
        return false;
    memcpy(host, at, n);
    host[n] = '\0';
    if (n > 0 && host[n - 1] == '.')
        host[n - 1] = '\0';
    if (port[0] == ':' &&
        (strncmp(port, ":22/", 4) == 0 ||
         ((flags & FLAG_NETS) == 0 && strncmp(port, ":25/", 4) == 0)))
        return true;
    return is_refused_host(host);
}

static void assert_permitted(const char *url)
{
    assert(guard_judge(options.guard, bytes_of_str(url)) == GUARD_PERMITS);
    assert(!is_plainly_refused(url));
}

/* ---- a multi without sockets --------------------------------------------- */

struct multi {
    struct transfer *begun; /* one at a time */
};

enum status multi_new(struct multi **out, const struct multi_options *o)
{
    (void)o;
    *out = xcalloc(1, sizeof **out);
    return STATUS_OK;
}

void multi_free(struct multi *m)
{
    free(m);
}

void multi_adopt(struct multi *m, struct transfer *t)
{
    t->multi = m;
    t->fd = -1;
}

void multi_start(struct multi *m, struct transfer *t)
{
    char *url = NULL;

    curl_easy_getinfo(t->easy, CURLINFO_EFFECTIVE_URL, &url);
    assert(m->begun == NULL && url != NULL);
    assert_permitted(url);
    if (task.read_robots)
        robots_requests++;
    t->busy = true;
    m->begun = t;
}

void multi_abort(struct multi *m, struct transfer *t)
{
    assert(m->begun == t);
    t->busy = false;
    m->begun = NULL;
}

void multi_take_in_hand(struct transfer *t, enum in_hand_doing doing)
{
    (void)t, (void)doing;
}

void multi_turn(struct multi *m, int64_t until)
{
    (void)m, (void)until;
}

bool multi_is_behind(const struct multi *m)
{
    (void)m;
    return false;
}

void multi_wake(struct multi *m)
{
    (void)m;
}

void tls_resume_adopt(CURL *easy, struct tls_resume *r)
{
    (void)easy, (void)r;
}

bool curl_faults_header_dangles(void)
{
    return false;
}

void curl_faults_log(void)
{
}

static struct bytes next_record(struct bytes *in)
{
    const char *end = in->len > 0 ? memchr(in->at, SEPARATOR, in->len) : NULL;
    size_t n = end != NULL ? (size_t)(end - in->at) : in->len;
    struct bytes record = bytes_of(in->at, n);

    if (end != NULL)
        n++;
    *in = bytes_of(in->at + n, in->len - n);
    return record;
}

/* Passes the octets in memory of their own, so that reading past the end is
 * detected. */
static bool hand_over(struct fetch *f, struct bytes piece,
                      size_t (*callback)(char *, size_t, size_t, void *))
{
    char *copy = xmalloc(piece.len);
    size_t took;

    memcpy(copy, piece.at, piece.len);
    do {
        f->waits = FETCH_GOES_ON;
        took = callback(copy, 1, piece.len, f);
    } while (took == CURL_WRITEFUNC_PAUSE && f->waits == FETCH_WAITS_TURN);
    free(copy);
    return took == piece.len;
}

static CURLcode respond(struct fetch *f, struct bytes r)
{
    char request[] = "GET / HTTP/1.1\r\n\r\n", ip[] = "192.0.2.1";

    if (r.len == 0)
        return CURLE_COULDNT_CONNECT;
    (void)fetch_on_send(f, ip, ip, 80, 1024);
    (void)fetch_on_debug(f->transfer.easy, CURLINFO_HEADER_OUT, request,
                         sizeof request - 1, f);
    while (r.len > 0 && !f->response.complete) {
        const char *lf = memchr(r.at, '\n', r.len);
        size_t n = lf != NULL ? (size_t)(lf - r.at) + 1 : r.len;

        if (!hand_over(f, bytes_of(r.at, n), fetch_on_head))
            return CURLE_WRITE_ERROR;
        r = bytes_of(r.at + n, r.len - n);
    }
    while (r.len > 0) {
        size_t n = r.len < PIECE ? r.len : PIECE;

        if (!hand_over(f, bytes_of(r.at, n), fetch_on_body))
            return CURLE_WRITE_ERROR;
        r = bytes_of(r.at + n, r.len - n);
    }
    return f->response.complete ? CURLE_OK : CURLE_GOT_NOTHING;
}

struct transfer *multi_next_ended(struct multi *m, CURLcode *code)
{
    struct transfer *t = m->begun;

    if (t == NULL)
        return NULL;
    *code = respond((struct fetch *)t, next_record(&responses));
    multi_abort(m, t);
    return t;
}

/* ---- a fetcher without a thread ------------------------------------------ */

struct run {
    struct fetch_task_tools tools;
    struct fetcher_counters counters;
    char *urls[URLS_MOST];
    size_t url_count;
};

static struct guard *make_guard(void)
{
    static const char *const allow[] = {"10.1.0.0/16"},
                             *const deny[] = {"8.8.8.0/24"},
                             *const nat64[] = {"2a00:64::/48"},
                             *const ports[] = {"25"};
    const bool nets = (flags & FLAG_NETS) != 0;
    const struct guard_options o = {
        .allow_private = (flags & FLAG_PRIVATE) != 0,
        .by_proxy = (flags & FLAG_PROXY) != 0,
        .allow = allow,
        .allow_count = nets,
        .deny = deny,
        .deny_count = nets,
        .nat64 = nat64,
        .nat64_count = nets,
        .ports = ports,
        .port_count = nets,
    };
    struct guard *g = NULL;
    struct buf error;
    enum status st;

    buf_init(&error, 200);
    st = guard_new(&g, &o, &error);
    assert(st == STATUS_OK);
    buf_fini(&error);
    return g;
}

/* Once. */
static void make_options(void)
{
    static const unsigned char seed[DIGEST_SEED_SIZE] = {1};
    static struct digest_key key;
    const struct scope_options so = {.mode = SCOPE_ANY,
                                     .depth = -1,
                                     .max_url_length = 2048};
    struct buf error;
    enum status st;

    logger_set_level(LOG_LEVEL_ERROR);
    buf_init(&error, 200);
    digest_key_init(&key, seed);
    options = (struct fetcher_options){
        .user_agent = "urlweir/0 (fuzz)",
        .product_token = "urlweir",
        .timeout_ms = 60000,
        .connect_timeout_ms = 60000,
        .max_body = 100000,
        .max_redirects = 5,
        .retry_delay_ms = 60000,
        .kinds = LINK_SET_FOLLOW | LINK_BIT(LINK_SITEMAP),
        .find_sitemaps = true,
        .rules = {.digest_key = &key, .crawl = bytes_of_str("fuzz")},
        .bodies = body_pool_new(POOL),
        .warc = true,
    };
    st = scope_new(&options.rules.scope, &so, &error);
    assert(st == STATUS_OK);
    st = fetcher_global_init();
    assert(st == STATUS_OK);
    buf_fini(&error);
}

static void run_init(struct run *r)
{
    const struct robots_cache_options ro = {.agent = options.product_token,
                                            .memory = (size_t)1 << 20,
                                            .retry_delay_ms =
                                                options.retry_delay_ms};
    enum status st;

    options.guard = make_guard();
    options.proxy = (flags & FLAG_PROXY) != 0 ? "http://192.0.2.9:3128" : NULL;
    options.robots = (flags & FLAG_REPORT) != 0 ? ROBOTS_REPORT : ROBOTS_OBEY;
    *r = (struct run){.tools = {.o = &options,
                                .reporter = reporter_new(&options),
                                .recorder = warc_recorder_new(&options),
                                .robots = robots_cache_new(&ro),
                                .reports = queue_new(1000, 0),
                                .hops = map_new()}};
    st = fetch_set_new(&r->tools.fetches, &options, &r->counters, NULL);
    assert(st == STATUS_OK);
    fetch_task_init(&task);
}

static void run_fini(struct run *r)
{
    fetch_task_fini(&task);
    fetch_set_free(r->tools.fetches);
    reporter_free(r->tools.reporter);
    warc_recorder_free(r->tools.recorder);
    robots_cache_free(r->tools.robots);
    assert(queue_count(r->tools.reports) == 0);
    queue_free(r->tools.reports);
    map_free(r->tools.hops, robots_hop_free);
    for (size_t i = 0; i < r->url_count; i++)
        free(r->urls[i]);
    guard_free((struct guard *)options.guard);
    assert(body_pool_used(options.bodies) == 0);
}

/* Adds a URL to lease, if it is valid. */
static void add_url(struct run *r, struct bytes text)
{
    struct url u;

    url_init(&u);
    if (r->url_count < URLS_MOST &&
        url_canonical(&u, text, NULL, NULL) == URL_OK)
        r->urls[r->url_count++] = xstrndup(u.text.at, u.text.len);
    url_fini(&u);
}

static struct assignment *assignment_for(const char *url, struct bytes visit)
{
    struct url_lease l = {.id = 1, .depth = 1, .kind = LINK_A};
    struct assignment *a;
    struct url u;
    enum url_reason reason;

    url_init(&u);
    reason = url_parse(&u, bytes_of_str(url), NULL, NULL);
    assert(reason == URL_OK);
    l.url = url_text(&u);
    l.key = url_host(&u);
    l.robots_host = visit;
    a = assignment_new(&l);
    url_fini(&u);
    return a;
}

/* Carries out one lease up to its report. */
static struct report *carry_out(struct run *r, struct assignment *a)
{
    struct fetch_result result;
    struct fetch *f;
    enum fetch_task_state state;
    void *report = NULL;
    size_t n;

    fetch_task_set(&task, a);
    state = fetch_task_begin(&r->tools, &task, clock_mono());
    while (state == FETCH_TASK_BUSY) {
        fetch_set_turn(r->tools.fetches, INT64_MAX);
        f = fetch_set_next_ended(r->tools.fetches, clock_mono(), &result);
        assert(f != NULL && f->ctx == &task);
        state = fetch_task_on_ended(&r->tools, &task, &result);
        fetch_set_recycle(r->tools.fetches, f);
    }
    if (state == FETCH_TASK_WAITS)
        (void)fetch_task_release(&r->tools, &task);
    n = queue_gather(r->tools.reports, &report, 1, 0, 1, 0);
    assert(n == 1 && queue_count(r->tools.reports) == 0);
    return report;
}

/* True: it was the final report on its URL. */
static bool judge(struct run *r, struct report *report)
{
    const struct url_done *done = &report->done;

    assert(report->id == 1);
    if (report->warc != NULL)
        assert_permitted(report->warc->uri);
    if (report->robots_warc != NULL)
        assert_permitted(report->robots_warc->uri);
    if (report->kind == REPORT_RELEASE)
        return report->not_before > clock_mono();
    assert(report->kind == REPORT_DONE);
    if (done->outcome.status == OUTCOME_REDIRECT && done->outlink_count > 0)
        add_url(r, done->outlinks[0].url);
    return true;
}

/* Leases one URL until it is done, as the frontier would. */
static void crawl_url(struct run *r, const char *url)
{
    struct buf visit;
    bool done = false;

    buf_init(&visit, URL_LENGTH_CEILING);
    robots_requests = 0;
    for (unsigned i = 0; i < LEASES_MOST && !done; i++) {
        bool astray = (flags & FLAG_ASTRAY) != 0 && i % 2 == 1;
        struct report *report =
            carry_out(r, assignment_for(url, astray ? bytes_of("", 0)
                                                    : buf_bytes(&visit)));

        done = judge(r, report);
        buf_clear(&visit);
        buf_add_bytes(&visit, report->done.host.robots_host);
        report_free(report);
    }
    assert(robots_requests <= 1 + ROBOTS_HOPS_MOST);
    buf_fini(&visit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run r;
    struct bytes first;

    if (size < 1)
        return 0;
    if (options.bodies == NULL)
        make_options();
    flags = data[0];
    responses = bytes_of(data + 1, size - 1);
    first = next_record(&responses);
    run_init(&r);
    add_url(&r, first);
    for (size_t i = 0; i < r.url_count; i++)
        crawl_url(&r, r.urls[i]);
    run_fini(&r);
    return 0;
}
