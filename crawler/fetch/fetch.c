/* SPDX-License-Identifier: MIT */
/*
 * fetch.c - one transfer: its options, its beginning and its end.
 *
 * Options for all transfers are set once for each handle. If a handle may be
 * used only once, a new one is made for each transfer: that takes 1 to 2 us, as
 * much as curl_easy_duphandle of a prepared one. fetch_body.c has curl's
 * callbacks.
 */

#include "crawler/fetch/fetch.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/mem.h"
#include "crawler/address/guard.h"
#include "crawler/address/resolver.h"
#include "crawler/fetch/coding.h"
#include "crawler/fetch/cookie_jar.h"
#include "crawler/fetch/credentials.h"
#include "crawler/fetch/response.h"
#include "crawler/transfer/in_hand.h"
#include "crawler/transfer/limits.h"
#include "crawler/transfer/multi.h"
#include "frontier/candidate.h"
#include "frontier/frontier.h"

/*
 * A leased URL on its way from the frontier thread to a fetcher.
 *
 * The bytes of a frontier's lease belong to the frontier thread; these are a
 * copy for the fetcher.
 */

/* Copies `s` to *at, with a zero byte after it, and moves *at on. */
static struct bytes put_text(char **at, struct bytes s)
{
    char *to = *at;

    if (s.len > 0)
        memcpy(to, s.at, s.len);
    to[s.len] = '\0';
    *at = to + s.len + 1;
    return bytes_of(to, s.len);
}

struct assignment *assignment_of(const struct url_lease *lease,
                                 const struct found_by *by)
{
    struct found_by none = {{"", 0}, {"", 0}};
    struct assignment *a;
    char *at;

    if (by == NULL)
        by = &none;
    a = xmalloc(sizeof *a + lease->key.len + lease->url.len +
                lease->robots_host.len + lease->last.etag.len +
                lease->last.last_modified.len + lease->last.record.url.len +
                by->via.len + by->path.len + 8);
    at = a->text;
    a->lease = *lease;
    a->lease.key = put_text(&at, lease->key);
    a->lease.url = put_text(&at, lease->url);
    a->lease.robots_host = put_text(&at, lease->robots_host);
    a->lease.last.etag = put_text(&at, lease->last.etag);
    a->lease.last.last_modified = put_text(&at, lease->last.last_modified);
    a->lease.last.record.url = put_text(&at, lease->last.record.url);
    a->found_by.via = put_text(&at, by->via);
    a->found_by.path = put_text(&at, by->path);
    return a;
}

void assignment_free(struct assignment *a)
{
    free(a);
}

/* ---- the meaning of curl's codes for a fetch ---- */

/* How far did it get before the timeout? (CURLINFO_CONNECT_TIME_T is no help in
 * libcurl 7.88: it stays 0 until the TLS handshake is over as well.) */
static enum fetch_end late_end(struct fetch *f)
{
    curl_off_t looked_up = 0, ready = 0;
    CURL *e = f->transfer.easy;

    curl_easy_getinfo(e, CURLINFO_NAMELOOKUP_TIME_T, &looked_up);
    curl_easy_getinfo(e, CURLINFO_PRETRANSFER_TIME_T, &ready);
    if (f->response.complete && f->body_bytes > 0)
        return FETCH_CUT_TIME;
    if (f->response.status != 0 || ready > 0)
        return FETCH_TIMEOUT;
    if (looked_up == 0)
        return FETCH_DNS;
    return f->transfer.connected ? FETCH_TLS : FETCH_CONNECT;
}

static enum fetch_end connect_end(const struct fetch *f)
{
    const struct transfer *t = &f->transfer;

    if (t->crowded)
        return FETCH_CROWDED;
    return t->refused && !t->permitted ? FETCH_ADDRESS : FETCH_CONNECT;
}

/* curl reports a broken chunk as a failed read; only its message differs. */
static enum fetch_end read_end(const struct fetch *f)
{
    return strstr(f->error, "chunk") != NULL ? FETCH_PROTOCOL : FETCH_RESET;
}

static enum fetch_end end_of_code(struct fetch *f, CURLcode code)
{
    switch (code) {
    case CURLE_URL_MALFORMAT: /* curl does not accept the host name */
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return FETCH_DNS;
    case CURLE_COULDNT_CONNECT:
        return connect_end(f);
    case CURLE_OPERATION_TIMEDOUT:
        return late_end(f);
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
        return FETCH_TLS;
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return FETCH_RESET;
    case CURLE_RECV_ERROR:
        return read_end(f);
    case CURLE_ABORTED_BY_CALLBACK:
        return FETCH_STOPPED;
    default:
        return FETCH_PROTOCOL;
    }
}

/* Did all announced octets come, while the coding is incomplete? */
static bool is_cut_short(const struct fetch *f)
{
    return f->page && f->keep && f->coding != NULL &&
           !coding_is_whole(f->coding);
}

/* Of a response that is no page only the head matters: it counts however its
 * body ended. */
enum fetch_end fetch_end_of(struct fetch *f, CURLcode code)
{
    if (f->decided)
        return f->end;
    if (code == CURLE_OK && (is_cut_short(f) || (f->page && f->mislabelled)))
        return FETCH_CUT_ENCODING;
    if (f->response.complete && (code == CURLE_OK || !f->page))
        return FETCH_ANSWERED;
    if (code == CURLE_OK)
        return FETCH_PROTOCOL;
    return end_of_code(f, code);
}

/* If we told curl to stop, that was because of the length. */
enum fetch_cut fetch_cut_of(const struct fetch *f, CURLcode code)
{
    if (f->why != NULL) /* the rest cannot be decoded */
        return FETCH_GONE;
    switch (code) {
    case CURLE_OK:
        return FETCH_WHOLE;
    case CURLE_WRITE_ERROR:
        return FETCH_TOO_LONG;
    case CURLE_OPERATION_TIMEDOUT:
        return FETCH_TOO_LATE;
    default:
        return f->decided && f->end == FETCH_CUT_LENGTH ? FETCH_TOO_LONG
                                                        : FETCH_GONE;
    }
}

bool fetch_is_transient(enum fetch_end end, CURLcode code)
{
    switch (end) {
    case FETCH_DNS:
        return code != CURLE_URL_MALFORMAT;
    case FETCH_TLS:
        return code != CURLE_PEER_FAILED_VERIFICATION &&
               code != CURLE_SSL_CACERT_BADFILE; /* no ca-certificates */
    case FETCH_CONNECT:
    case FETCH_TIMEOUT:
    case FETCH_RESET:
        return true;
    default:
        return false;
    }
}

const char *fetch_words_for(const struct fetch *f, enum fetch_end end,
                            CURLcode code)
{
    if (end == FETCH_ANSWERED && f->unknown_coding)
        return "the content coding is not known; the body is kept as it came";
    if (f->mislabelled && end <= FETCH_CUT_ENCODING)
        return "the body is not in the coding that its head names; it is kept "
               "as it came";
    if (end < FETCH_CUT_ENCODING)
        return "";
    if (end == FETCH_ADDRESS) /* curl only reports that it got no socket */
        return guard_words(GUARD_ADDRESS);
    if (end == FETCH_CUT_ENCODING)
        return f->why != NULL ? f->why : "the content coding ends too early";
    if (code == CURLE_OK)
        return "";
    if (f->why != NULL)
        return f->why;
    if (f->response.received > RESPONSE_MOST)
        return "the head is too large";
    if (f->decided && f->end == FETCH_RESET)
        return "the connection was closed without a response";
    if (f->error[0] != '\0')
        return f->error;
    return curl_easy_strerror(code);
}

#define CONDITION_MOST ((size_t)1024) /* a header line; values are cut at 512 */
#define REQUEST_MOST   ((size_t)256 << 10)
#define READ_MOST      16384L /* octets in one read */
#define READ_LEAST     1024L  /* the least that curl accepts */
#define READS_A_SECOND 16L

/* ---- options ------------------------------------------------------------- */

static void set_identity(struct fetch *f)
{
    const struct fetcher_options *o = f->o;
    CURL *e = f->transfer.easy;

    curl_easy_setopt(e, CURLOPT_USERAGENT, o->user_agent);
    /* The environment must not send requests elsewhere. */
    curl_easy_setopt(e, CURLOPT_PROXY, o->proxy != NULL ? o->proxy : "");
    curl_easy_setopt(e, CURLOPT_NOPROXY, "");
    curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

static bool has_authorities;

static void look_for_authorities(void)
{
    const char *file = curl_version_info(CURLVERSION_NOW)->cainfo;

    has_authorities = file != NULL && access(file, R_OK) == 0;
}

/* Does libcurl have a file of authorities to go by? Looks once, since a fetch
 * should cost no system call that it can do without. */
static bool curl_has_authorities(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, look_for_authorities);
    return has_authorities;
}

static void set_limits(struct fetch *f)
{
    CURL *e = f->transfer.easy;

    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)f->o->connect_timeout_ms);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    /* A name server that does not answer must not block the thread when a
     * transfer is given up. */
    curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
    if (f->o->insecure) {
        curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (f->o->ca != NULL)
        curl_easy_setopt(e, CURLOPT_CAINFO, f->o->ca);
    /* Read once from a file, authorities serve all connections; with a
     * directory beside it, each connection reads all of them again. */
    if (f->o->ca != NULL || curl_has_authorities())
        curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
    /* Never prompt for the password of a key. */
    curl_easy_setopt(e, CURLOPT_KEYPASSWD, "");
}

static void set_exchange(struct fetch *f)
{
    CURL *e = f->transfer.easy;

    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, CODING_ACCEPTED);
    curl_easy_setopt(e, CURLOPT_HTTP_CONTENT_DECODING, 0L); /* we decode */
    curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L); /* send our canonical form */
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, fetch_on_head);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, f);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, fetch_on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, f);
    curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, fetch_on_send);
    curl_easy_setopt(e, CURLOPT_PREREQDATA, f);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, f->error);
    if (f->o->warc) {
        curl_easy_setopt(e, CURLOPT_DEBUGFUNCTION, fetch_on_debug);
        curl_easy_setopt(e, CURLOPT_DEBUGDATA, f);
        curl_easy_setopt(e, CURLOPT_VERBOSE, 1L); /* needed for DEBUGFUNCTION */
    }
}

struct fetch *fetch_new(const struct fetcher_options *o,
                        struct fetcher_counters *counters, struct multi *m)
{
    struct fetch *f = xcalloc(1, sizeof *f);

    f->o = o;
    f->counters = counters;
    f->transfer.multi = m;
    f->once = curl_faults_header_dangles();
    f->tls = (struct tls_resume){.sessions =
                                     o->proxy == NULL ? o->tls_sessions : NULL,
                                 .counts = &counters->connections};
    response_init(&f->response);
    buf_init(&f->body, SIZE_MAX);
    buf_init(&f->raw, FETCH_RAW_MOST);
    buf_init(&f->request, REQUEST_MOST);
    buf_init(&f->lent, SIZE_MAX); /* cookie_jar.c has the limit */
    f->url = curl_url();
    if (f->url != NULL && fetch_has_handle(f))
        return f;
    fetch_free(f);
    return NULL;
}

bool fetch_has_handle(struct fetch *f)
{
    if (f->transfer.easy != NULL)
        return true;
    f->transfer.easy = curl_easy_init();
    if (f->transfer.easy == NULL)
        return false;
    multi_adopt(f->transfer.multi, &f->transfer);
    tls_resume_adopt(f->transfer.easy, &f->tls);
    set_identity(f);
    set_limits(f);
    set_exchange(f);
    return true;
}

void fetch_free(struct fetch *f)
{
    if (f == NULL)
        return;
    curl_easy_cleanup(f->transfer.easy);
    curl_url_cleanup(f->url);
    curl_slist_free_all(f->resolve);
    curl_slist_free_all(f->headers);
    coding_free(f->coding);
    response_fini(&f->response);
    buf_fini(&f->body);
    buf_fini(&f->raw);
    buf_fini(&f->request);
    buf_fini(&f->lent);
    free(f);
}

/* ---- the life of a transfer ---------------------------------------------- */

/* At a low rate, many transfers read a little each rather than one after the
 * other a lot, since a server gives up on a client that reads nothing for long.
 * (CURLOPT_MAX_RECV_SPEED_LARGE does not help: it waits silently, and we would
 * take that for the server's delay.) */
static long read_size(const struct fetcher_options *o)
{
    uint64_t rate = o->rate != NULL ? rate_limit_rate(o->rate) : 0;
    uint64_t each = o->rate != NULL ? rate_limit_each(o->rate) : 0;

    if (each > 0 && (rate == 0 || each < rate))
        rate = each;
    if (rate == 0 || rate >= READ_MOST * READS_A_SECOND)
        return READ_MOST;
    return rate > READ_LEAST * READS_A_SECOND ? (long)rate / READS_A_SECOND
                                              : READ_LEAST;
}

static void reset(struct fetch *f, const struct fetch_order *order, int64_t now,
                  int64_t wall_ms)
{
    f->order = *order;
    f->order.url = NULL; /* curl has a copy; we do not */
    f->transfer.id = order->id;
    f->transfer.pause = order->pause;
    f->transfer.tls = strncmp(order->url, "https:", 6) == 0;
    f->verdict = GUARD_PERMITS;
    f->decided = f->keep = f->streamed = f->sent = false;
    f->page = f->unknown_coding = f->mislabelled = f->past_first = false;
    f->again = bytes_of("", 0);
    f->why = NULL;
    f->taken = 0;
    f->cookies_set = 0;
    f->body_bytes = f->counted = 0;
    f->waits = FETCH_GOES_ON;
    f->held_back = false;
    f->paid_at = INT64_MIN;
    f->offered = f->passed = 0;
    f->has_waited = false;
    f->started = now;
    f->started_wall_ms = wall_ms;
    f->error[0] = '\0';
    buf_clear(&f->request);
}

static bool add_header(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);

    if (longer != NULL)
        *list = longer;
    return longer != NULL;
}

static bool add_condition(struct curl_slist **list, const char *name,
                          struct bytes value)
{
    struct buf line;
    bool ok;

    if (value.len == 0)
        return true;
    buf_init(&line, CONDITION_MOST);
    buf_add_str(&line, name);
    buf_add_bytes(&line, value);
    ok = buf_failed(&line) == STATUS_OK && add_header(list, buf_str(&line));
    buf_fini(&line);
    return ok;
}

/* The list of its origin is shared, so a request with conditions has a copy. */
static bool copy_headers(struct curl_slist **list, const struct curl_slist *of,
                         const struct conditions *c)
{
    bool ok = true;

    for (; ok && of != NULL; of = of->next)
        ok = add_header(list, of->data);
    return ok && add_condition(list, "If-None-Match: ", c->if_none_match) &&
           add_condition(list, "If-Modified-Since: ", c->if_modified_since);
}

static void set_headers(struct fetch *f, struct curl_slist *shared)
{
    struct curl_slist *former = f->headers;

    f->headers = NULL;
    if (f->order.conditions != NULL &&
        !copy_headers(&f->headers, shared, f->order.conditions))
        mem_out(CONDITION_MOST);
    f->order.conditions = NULL;
    curl_easy_setopt(f->transfer.easy, CURLOPT_HTTPHEADER,
                     f->headers != NULL ? f->headers : shared);
    curl_slist_free_all(former);
}

/* Sets the secrets for the origin of this request, and clears those of the one
 * before. libcurl keeps connections with different client certificates
 * apart. */
static void set_credentials(struct fetch *f, struct bytes url)
{
    static const struct credential_set nothing;
    const struct credential_set *set = &nothing;
    CURL *e = f->transfer.easy;

    if (f->o->credentials != NULL)
        set = credentials_for(f->o->credentials,
                              bytes_of(url.at, url_origin_length(url)));
    set_headers(f, set->headers);
    curl_easy_setopt(e, CURLOPT_COOKIE, set->cookie);
    f->tls.client = set->of_seed ? f->o->cert : NULL;
    curl_easy_setopt(e, CURLOPT_SSLCERT, f->tls.client);
    curl_easy_setopt(e, CURLOPT_SSLKEY, set->of_seed ? f->o->key : NULL);
    f->in_jar =
        cookie_jar_lend(f->o->jar, e, url_canonical_host(url), &f->lent);
}

/* Those addresses that a person gave for the host of the URL; a proxy may be
 * named by any. libcurl reads the list anew for each transfer, so a list of
 * thousands must not be given to every one. */
static struct curl_slist *addresses_for(const struct fetcher_options *o,
                                        struct bytes host)
{
    struct curl_slist *list = NULL;

    for (size_t i = 0; i < o->resolve_count; i++) {
        struct curl_slist *longer;

        if (o->proxy == NULL && !resolver_entry_is_for(o->resolve[i], host))
            continue;
        longer = curl_slist_append(list, o->resolve[i]);
        if (longer != NULL)
            list = longer;
    }
    return list;
}

static void set_addresses(struct fetch *f, struct bytes url)
{
    struct curl_slist *former = f->resolve;

    if (f->o->resolve_count == 0)
        return;
    f->resolve = addresses_for(f->o, url_canonical_host(url));
    curl_easy_setopt(f->transfer.easy, CURLOPT_RESOLVE, f->resolve);
    curl_slist_free_all(former);
}

/* From a text alone libcurl 7.88 makes its parts, and from those the text
 * again, character by character: of both it copies what it needs. What it does
 * not take for a URL is left to it to refuse. */
static void set_url(struct fetch *f, const char *url)
{
    CURL *e = f->transfer.easy;
    bool parsed =
        curl_url_set(f->url, CURLUPART_URL, url,
                     CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS) == CURLUE_OK;

    curl_easy_setopt(e, CURLOPT_URL, url);
    curl_easy_setopt(e, CURLOPT_CURLU, parsed ? f->url : NULL);
}

bool fetch_start(struct fetch *f, const struct fetch_order *order, int64_t now,
                 int64_t wall_ms)
{
    assert(!f->transfer.busy && f->reserved == 0);
    reset(f, order, now, wall_ms);
    if (f->o->guard != NULL)
        f->verdict = guard_judge(f->o->guard, bytes_of_str(order->url));
    if (f->verdict != GUARD_PERMITS) {
        f->decided = true;
        f->end = f->verdict == GUARD_PORT ? FETCH_PORT : FETCH_ADDRESS;
        return false;
    }
    set_credentials(f, bytes_of_str(order->url));
    set_addresses(f, bytes_of_str(order->url));
    set_url(f, order->url);
    if (order->want == FETCH_HEAD)
        curl_easy_setopt(f->transfer.easy, CURLOPT_NOBODY, 1L);
    else
        curl_easy_setopt(f->transfer.easy, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(f->transfer.easy, CURLOPT_BUFFERSIZE, read_size(f->o));
    atomic_fetch_add_explicit(&f->counters->requests, 1, memory_order_relaxed);
    multi_start(f->transfer.multi, &f->transfer);
    return true;
}

void fetch_waiters_add(struct fetch_waiters *w, struct fetch *f)
{
    f->is_waiter = true;
    f->next_waiter = NULL;
    if (w->first == NULL)
        w->first = f;
    else
        w->last->next_waiter = f;
    w->last = f;
}

void fetch_wait(struct fetch *f, enum fetch_wait why)
{
    f->waits = why;
    if (f->waiters != NULL && !f->is_waiter)
        fetch_waiters_add(f->waiters, f);
}

bool fetch_may_go_on(struct fetch *f, int64_t now)
{
    switch (f->waits) {
    case FETCH_WAITS_MEMORY:
        return fetch_reserve_more(f);
    case FETCH_WAITS_RATE:
        return fetch_is_within_rate(f, now);
    default:
        return true;
    }
}

bool fetch_go_on(struct fetch *f)
{
    f->has_waited = f->waits == FETCH_WAITS_RATE;
    f->waits = FETCH_GOES_ON;
    /* curl passes on what it kept */
    multi_take_in_hand(&f->transfer, IN_HAND_BODY);
    return curl_easy_pause(f->transfer.easy, CURLPAUSE_CONT) == CURLE_OK;
}

bool fetch_is_stream(const struct fetch *f)
{
    long version = 0;

    curl_easy_getinfo(f->transfer.easy, CURLINFO_HTTP_VERSION, &version);
    return version == CURL_HTTP_VERSION_2_0;
}

bool fetch_share_connection(const struct fetch *a, const struct fetch *b)
{
    char *ip_a = NULL, *ip_b = NULL;
    long port_a = 0, port_b = 0;

    curl_easy_getinfo(a->transfer.easy, CURLINFO_LOCAL_PORT, &port_a);
    curl_easy_getinfo(b->transfer.easy, CURLINFO_LOCAL_PORT, &port_b);
    curl_easy_getinfo(a->transfer.easy, CURLINFO_PRIMARY_IP, &ip_a);
    curl_easy_getinfo(b->transfer.easy, CURLINFO_PRIMARY_IP, &ip_b);
    return port_a > 0 && port_a == port_b && ip_a != NULL && ip_b != NULL &&
           strcmp(ip_a, ip_b) == 0;
}

/* Was the kept part of a streamed body cut? It has a limit of its own. */
static bool kept_short(const struct fetch *f)
{
    return f->streamed && f->keep && f->body_bytes > f->body.len;
}

/* Sets the connections that were opened, and the time until one was ready for
 * the request, with look-up and TLS handshake. A connection whose handshake
 * failed was never ready: it is an error of the host (libcurl 7.88 does not
 * count it, 8.14 does). */
static void note_connections(CURL *e, struct fetch_result *out)
{
    curl_off_t tcp_us = 0, tls_us = 0, ready_us = 0;
    long made = 0;

    out->connect_ns = -1;
    curl_easy_getinfo(e, CURLINFO_NUM_CONNECTS, &made);
    if (made <= 0)
        return;
    curl_easy_getinfo(e, CURLINFO_PRETRANSFER_TIME_T, &ready_us);
    curl_easy_getinfo(e, CURLINFO_CONNECT_TIME_T, &tcp_us);
    curl_easy_getinfo(e, CURLINFO_APPCONNECT_TIME_T, &tls_us);
    if (ready_us == 0)
        return;
    out->connections = (uint32_t)made;
    out->handshake = tls_us > 0;
    out->connect_ns = (tls_us > 0 ? tls_us : tcp_us) * NS_PER_US;
}

/* Its handle has data of an earlier transfer only. */
static void finish_refused(struct fetch *f, int64_t now,
                           struct fetch_result *out)
{
    *out = (struct fetch_result){
        .end = f->end,
        .want = f->order.want,
        .response = &f->response,
        .started = f->started,
        .ended = now,
        .started_wall_ms = f->started_wall_ms,
        .connect_ns = -1,
        .ip = "",
        .error = guard_words(f->verdict),
    };
}

/* Redacts when the whole request has been sent, since only then are fields
 * complete. */
static void redact_request(struct fetch *f)
{
    struct buf clean;

    if (f->o->credentials == NULL || f->request.len == 0)
        return;
    buf_init(&clean, 2 * REQUEST_MOST);
    credentials_redact(f->o->credentials, buf_bytes(&f->request), &clean);
    buf_clear(&f->request);
    buf_add_bytes(&f->request, buf_bytes(&clean));
    buf_fini(&clean);
}

/* What the request carried decides whether a redirect back to it is another
 * request. */
static void note_redirect(const struct fetch *f)
{
    char *url = NULL;

    if (!f->in_jar || f->page || f->response.status < 300 ||
        f->response.status >= 400)
        return;
    curl_easy_getinfo(f->transfer.easy, CURLINFO_EFFECTIVE_URL, &url);
    if (url != NULL)
        cookie_jar_note_redirect(f->o->jar, bytes_of_str(url), &f->lent);
}

void fetch_finish(struct fetch *f, CURLcode code, int64_t now,
                  struct fetch_result *out)
{
    char *ip = NULL;
    curl_off_t first_us = 0;
    long version = 0;

    if (f->verdict != GUARD_PERMITS) {
        finish_refused(f, now, out);
        return;
    }
    fetch_count_wire(f);
    note_redirect(f);
    redact_request(f);
    curl_easy_getinfo(f->transfer.easy, CURLINFO_HTTP_VERSION, &version);
    curl_easy_getinfo(f->transfer.easy, CURLINFO_PRIMARY_IP, &ip);
    curl_easy_getinfo(f->transfer.easy, CURLINFO_STARTTRANSFER_TIME_T,
                      &first_us);
    *out = (struct fetch_result){
        .end = fetch_end_of(f, code),
        .want = f->order.want,
        .response = &f->response,
        .body = buf_bytes(&f->body),
        .cut = kept_short(f) ? FETCH_TOO_LONG : fetch_cut_of(f, code),
        .request = buf_bytes(&f->request),
        .http2 = version == CURL_HTTP_VERSION_2_0,
        .decoded = f->coding != NULL && (f->keep || f->streamed),
        .unknown_coding = f->unknown_coding,
        .mislabelled = f->mislabelled,
        .body_bytes = f->keep && !f->streamed ? f->body.len : f->body_bytes,
        .wire_bytes = f->counted,
        .started = f->started,
        .ended = now,
        .started_wall_ms = f->started_wall_ms,
        .first_byte_ns = first_us * NS_PER_US,
        .ip = ip != NULL ? ip : "",
    };
    note_connections(f->transfer.easy, out);
    out->transient = fetch_is_transient(out->end, code);
    out->error = fetch_words_for(f, out->end, code);
}

void fetch_clear(struct fetch *f)
{
    fetch_give_back(f);
    response_clear(&f->response);
    buf_fini(&f->lent);
    if (f->once || f->cookies_set >= FETCH_COOKIES_MOST) {
        curl_easy_cleanup(f->transfer.easy);
        f->transfer.easy = NULL;
    }
}
