/* SPDX-License-Identifier: MIT */
/*
 * fetch.c - one transfer.
 *
 * Options that hold for all transfers are set once a handle, since curl_easy_
 * reset and setting them anew costs more than a small page. Bodies are counted
 * after decompression: CURLOPT_MAXFILESIZE knows only what the wire carries,
 * which a few kilobytes of gzip make into gigabytes.
 *
 * Pausing: a write callback may answer CURL_WRITEFUNC_PAUSE, and curl keeps
 * the piece for later. But curl's decoders cannot stop inside a piece of the
 * wire, and would go on filling curl's own memory, so a body with content
 * encoding is taken on credit, up to CREDIT_MOST, and paused when the turn is
 * over; one that would need more is given up and asked for later.
 */
#include "crawler/fetch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crawler/mime.h"

#define RESERVE_LEAST ((uint64_t)32 << 10)
#define CREDIT_MOST   ((uint64_t)1 << 20)
#define BODY_KEPT     ((size_t)64 << 10)   /* memory kept between transfers */
#define DRAIN_MOST    ((uint64_t)64 << 10) /* read to keep a connection */
#define DNS_CACHE_S   300L
#define REQUEST_MOST  ((size_t)256 << 10)

/* ---- memory of the body -------------------------------------------------- */

/* In steps that double, so that most pages ask the pool once. */
static bool reserve(struct fetch *f, uint64_t bytes)
{
    uint64_t want = f->reserved * 2;

    if (bytes <= f->reserved)
        return true;
    if (want < RESERVE_LEAST)
        want = RESERVE_LEAST;
    if (want > f->order.body_most)
        want = f->order.body_most;
    if (want < bytes)
        want = bytes;
    if (!body_pool_take(f->o->bodies, f, want - f->reserved))
        return false;
    f->reserved = want;
    return true;
}

static void give_back(struct fetch *f)
{
    body_pool_give(f->o->bodies, f, f->reserved);
    f->reserved = 0;
    if (f->body.cap > BODY_KEPT)
        buf_fini(&f->body);
    buf_clear(&f->body);
}

/* ---- what curl calls ----------------------------------------------------- */

static struct fetch *fetch_of(void *p)
{
    struct fetch *f = p;

    assert(f != NULL && f->transfer.busy);
    return f;
}

/* How the fetch ends, whatever curl will say; 0 makes curl give up. */
static size_t decide(struct fetch *f, enum fetch_end end)
{
    f->decided = true;
    f->end = end;
    return 0;
}

static uint64_t wire_bytes(struct fetch *f)
{
    curl_off_t body = 0;

    curl_easy_getinfo(f->transfer.easy, CURLINFO_SIZE_DOWNLOAD_T, &body);
    return f->answer.received + (body > 0 ? (uint64_t)body : 0);
}

static void count_wire(struct fetch *f)
{
    uint64_t n = wire_bytes(f);

    if (n <= f->counted)
        return;
    atomic_fetch_add_explicit(&f->counters->wire_bytes, n - f->counted,
                              memory_order_relaxed);
    f->counted = n;
}

/* A short body is cheaper read than a connection is made. */
static bool is_short(const struct answer *a)
{
    struct bytes v = answer_get(a, ANSWER_CONTENT_LENGTH);
    uint64_t n = 0;

    if (v.len == 0 || v.len > 9)
        return false;
    for (size_t i = 0; i < v.len; i++) {
        if (v.at[i] < '0' || v.at[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(v.at[i] - '0');
    }
    return n <= DRAIN_MOST;
}

static bool wanted_mime(const struct fetch *f)
{
    char text[MIME_SIZE];
    struct bytes type =
        mime_essence(answer_get(&f->answer, ANSWER_CONTENT_TYPE), text);

    return !f->order.filter_mime || type.len == 0 ||
           mime_accepted(type, f->o->mime, f->o->mime_count);
}

/* The head is whole: is the body wanted? */
static size_t on_head_complete(struct fetch *f, size_t n)
{
    const struct answer *a = &f->answer;
    struct bytes coding = answer_get(a, ANSWER_CONTENT_ENCODING);

    bool success = a->status >= 200 && a->status < 300;

    f->keep = success || f->order.keep_all;
    f->encoded =
        coding.len > 0 && !bytes_equal_nocase(coding, bytes_of_str("identity"));
    if (success && !wanted_mime(f)) {
        f->keep = false;
        (void)decide(f, FETCH_MIME);
        return is_short(a) ? n : 0;
    }
    return n;
}

static size_t on_head(char *at, size_t size, size_t count, void *ctx)
{
    struct fetch *f = fetch_of(ctx);
    size_t n = size * count;
    bool was_complete = f->answer.complete;

    if (!answer_line(&f->answer, bytes_of(at, n)))
        return decide(f, FETCH_PROTOCOL);
    if (f->answer.complete && !was_complete)
        return on_head_complete(f, n);
    return n;
}

/* A body that is not kept: an error page, or a type not wanted. */
static size_t pass_over(struct fetch *f, size_t n)
{
    if (f->body_bytes <= DRAIN_MOST)
        return n;
    return f->decided ? 0 : decide(f, FETCH_ANSWERED);
}

static size_t on_body(char *at, size_t size, size_t count, void *ctx)
{
    struct fetch *f = fetch_of(ctx);
    uint64_t room = f->order.body_most - f->body.len;
    size_t n = size * count, take = n < room ? n : (size_t)room;

    if (f->keep && !reserve(f, f->body.len + take)) {
        f->waits |= FETCH_WAITS_MEMORY;
        if (!f->encoded)
            return CURL_WRITEFUNC_PAUSE;
        if (f->body.len + take > f->reserved + CREDIT_MOST)
            return decide(f, FETCH_STARVED);
    }
    f->body_bytes += n;
    count_wire(f);
    if (!f->keep)
        return pass_over(f, n);
    buf_add(&f->body, at, take);
    if (buf_failed(&f->body) != STATUS_OK)
        return decide(f, FETCH_STARVED);
    return take == n ? n : decide(f, FETCH_CUT_LENGTH);
}

/* Called when a request is about to go out on a connection. curl sends one
 * again by itself when a kept connection turns out dead before an octet of the
 * answer has come (CURLOPT_PREREQFUNCTION; lib/transfer.c, Curl_retry_request).
 * The server may have had the first one, so a second would be a request that
 * no delay was kept for. It is another try: the frontier's to order. */
static int on_send(void *ctx, char *ip, char *local_ip, int port,
                   int local_port)
{
    struct fetch *f = fetch_of(ctx);

    (void)ip, (void)local_ip, (void)port, (void)local_port;
    if (!f->sent) {
        f->sent = true;
        return CURL_PREREQFUNC_OK;
    }
    (void)decide(f, FETCH_RESET);
    return CURL_PREREQFUNC_ABORT;
}

/* The request as curl sends it, for those who record it. Before it may come
 * one to a proxy (CONNECT), so a whole head is followed by another. */
static int on_debug(CURL *easy, curl_infotype type, char *at, size_t size,
                    void *ctx)
{
    struct fetch *f = ctx;
    struct buf *r = &f->request;

    (void)easy;
    if (type != CURLINFO_HEADER_OUT)
        return 0;
    if (r->len >= 4 && memcmp(r->at + r->len - 4, "\r\n\r\n", 4) == 0)
        buf_clear(r);
    buf_add(r, at, size);
    return 0;
}

/* ---- options ------------------------------------------------------------- */

static struct curl_slist *list_of(const char *const *texts, size_t count)
{
    struct curl_slist *list = NULL;

    for (size_t i = 0; i < count; i++) {
        struct curl_slist *longer = curl_slist_append(list, texts[i]);

        if (longer != NULL)
            list = longer;
    }
    return list;
}

static void set_identity(struct fetch *f)
{
    const struct fetcher_options *o = f->o;
    CURL *e = f->transfer.easy;

    curl_easy_setopt(e, CURLOPT_USERAGENT, o->user_agent);
    f->headers = list_of(o->headers, o->header_count);
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, f->headers);
    if (o->cookie != NULL)
        curl_easy_setopt(e, CURLOPT_COOKIE, o->cookie);
    /* The environment must not send requests elsewhere. */
    curl_easy_setopt(e, CURLOPT_PROXY, o->proxy != NULL ? o->proxy : "");
    curl_easy_setopt(e, CURLOPT_NOPROXY, "");
    curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    f->resolve = list_of(o->resolve, o->resolve_count);
    curl_easy_setopt(e, CURLOPT_RESOLVE, f->resolve);
}

static void set_limits(struct fetch *f)
{
    CURL *e = f->transfer.easy;

    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)f->o->connect_timeout_ms);
    /* The set keeps the sum to the limit; this keeps one transfer from
     * reading far over it in one turn. */
    curl_easy_setopt(e, CURLOPT_MAX_RECV_SPEED_LARGE,
                     (curl_off_t)f->o->limit_rate);
    curl_easy_setopt(e, CURLOPT_DNS_CACHE_TIMEOUT, DNS_CACHE_S);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    /* A name server that does not answer must not hold the thread when a
     * transfer is given up. */
    curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
    if (f->o->insecure) {
        curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void set_exchange(struct fetch *f)
{
    CURL *e = f->transfer.easy;

    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, ""); /* all curl can decode */
    curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);      /* our form is the form */
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_head);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, f);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, f);
    curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, on_send);
    curl_easy_setopt(e, CURLOPT_PREREQDATA, f);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, f->error);
    if (f->o->warc) {
        curl_easy_setopt(e, CURLOPT_DEBUGFUNCTION, on_debug);
        curl_easy_setopt(e, CURLOPT_DEBUGDATA, f);
        curl_easy_setopt(e, CURLOPT_VERBOSE, 1L); /* calls on_debug */
    }
}

struct fetch *fetch_new(const struct fetcher_options *o,
                        struct fetcher_counters *counters, struct multi *m)
{
    struct fetch *f = xcalloc(1, sizeof *f);

    f->o = o;
    f->counters = counters;
    answer_init(&f->answer);
    buf_init(&f->body, SIZE_MAX);
    buf_init(&f->request, REQUEST_MOST);
    f->transfer.easy = curl_easy_init();
    if (f->transfer.easy == NULL) {
        fetch_free(f);
        return NULL;
    }
    multi_adopt(m, &f->transfer);
    set_identity(f);
    set_limits(f);
    set_exchange(f);
    return f;
}

void fetch_free(struct fetch *f)
{
    if (f == NULL)
        return;
    curl_easy_cleanup(f->transfer.easy);
    curl_slist_free_all(f->headers);
    curl_slist_free_all(f->resolve);
    answer_fini(&f->answer);
    buf_fini(&f->body);
    buf_fini(&f->request);
    free(f);
}

/* ---- the life of a transfer ---------------------------------------------- */

void fetch_start(struct fetch *f, const struct fetch_order *order, int64_t now,
                 int64_t wall_ms)
{
    assert(!f->transfer.busy && f->reserved == 0);
    f->order = *order;
    f->decided = f->keep = f->encoded = f->sent = false;
    f->body_bytes = f->counted = 0;
    f->waits = 0;
    f->started = now;
    f->started_wall_ms = wall_ms;
    f->error[0] = '\0';
    buf_clear(&f->request);
    curl_easy_setopt(f->transfer.easy, CURLOPT_URL, order->url);
    f->order.url = NULL; /* curl has a copy, we have none */
    atomic_fetch_add_explicit(&f->counters->requests, 1, memory_order_relaxed);
    multi_start(f->transfer.multi, &f->transfer);
}

bool fetch_wait(struct fetch *f, unsigned wish, bool on)
{
    f->waits = on ? f->waits | wish : f->waits & ~wish;
    return curl_easy_pause(f->transfer.easy,
                           f->waits != 0 ? CURLPAUSE_RECV : CURLPAUSE_CONT) ==
           CURLE_OK;
}

bool fetch_memory_came(struct fetch *f)
{
    uint64_t want = f->body.len + RESERVE_LEAST;

    if (want > f->order.body_most)
        want = f->order.body_most;
    return reserve(f, want);
}

/* How far it came before its time ran out. (CURLINFO_CONNECT_TIME_T is no help
 * in libcurl 7.88: it stays 0 until the TLS handshake is over as well.) */
static enum fetch_end late_end(struct fetch *f)
{
    curl_off_t looked_up = 0, ready = 0;
    CURL *e = f->transfer.easy;

    curl_easy_getinfo(e, CURLINFO_NAMELOOKUP_TIME_T, &looked_up);
    curl_easy_getinfo(e, CURLINFO_PRETRANSFER_TIME_T, &ready);
    if (f->answer.complete && f->body_bytes > 0)
        return FETCH_CUT_TIME;
    if (f->answer.status != 0 || ready > 0)
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

/* curl reports a broken chunk as a failed read; only its words differ. */
static enum fetch_end read_end(const struct fetch *f)
{
    return strstr(f->error, "chunk") != NULL ? FETCH_PROTOCOL : FETCH_RESET;
}

static enum fetch_end end_of_code(struct fetch *f, CURLcode code)
{
    switch (code) {
    case CURLE_URL_MALFORMAT: /* a host that is no host name to curl */
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
    case CURLE_BAD_CONTENT_ENCODING:
        return FETCH_CUT_ENCODING;
    case CURLE_ABORTED_BY_CALLBACK:
        return FETCH_STOPPED;
    default:
        return FETCH_PROTOCOL;
    }
}

/* Of an answer that is no success its head is all that matters: it counts
 * however its body ended. */
static enum fetch_end end_of(struct fetch *f, CURLcode code)
{
    if (f->decided)
        return f->end;
    if (f->answer.complete && (code == CURLE_OK || f->answer.status >= 300))
        return FETCH_ANSWERED;
    if (code == CURLE_OK)
        return FETCH_PROTOCOL;
    return end_of_code(f, code);
}

/* Where curl was told to stop, that was for the length. */
static enum fetch_cut cut_of(const struct fetch *f, CURLcode code)
{
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

static bool is_transient(enum fetch_end end, CURLcode code)
{
    switch (end) {
    case FETCH_DNS:
        return code != CURLE_URL_MALFORMAT;
    case FETCH_TLS:
        return code != CURLE_PEER_FAILED_VERIFICATION &&
               code != CURLE_SSL_CACERT_BADFILE; /* no ca-certificates here */
    case FETCH_CONNECT:
    case FETCH_TIMEOUT:
    case FETCH_RESET:
        return true;
    default:
        return false;
    }
}

static const char *words_for(const struct fetch *f, CURLcode code)
{
    if (f->answer.received > ANSWER_MOST)
        return "the head is too large";
    if (f->decided && f->end == FETCH_RESET)
        return "the connection was closed without an answer";
    if (f->error[0] != '\0')
        return f->error;
    return curl_easy_strerror(code);
}

void fetch_finish(struct fetch *f, CURLcode code, int64_t now,
                  struct fetch_result *out)
{
    char *ip = NULL;
    curl_off_t first_us = 0;
    long version = 0;

    count_wire(f);
    curl_easy_getinfo(f->transfer.easy, CURLINFO_HTTP_VERSION, &version);
    curl_easy_getinfo(f->transfer.easy, CURLINFO_PRIMARY_IP, &ip);
    curl_easy_getinfo(f->transfer.easy, CURLINFO_STARTTRANSFER_TIME_T,
                      &first_us);
    *out = (struct fetch_result){
        .end = end_of(f, code),
        .answer = &f->answer,
        .body = buf_bytes(&f->body),
        .cut = cut_of(f, code),
        .request = buf_bytes(&f->request),
        .http2 = version == CURL_HTTP_VERSION_2_0,
        .decoded = f->encoded && f->keep,
        .body_bytes = f->keep ? f->body.len : f->body_bytes,
        .wire_bytes = f->counted,
        .started = f->started,
        .ended = now,
        .started_wall_ms = f->started_wall_ms,
        .first_byte_ms = (uint32_t)(first_us / 1000),
        .ip = ip != NULL ? ip : "",
        .error = "",
    };
    out->transient = is_transient(out->end, code);
    if (code != CURLE_OK && out->end >= FETCH_CUT_ENCODING)
        out->error = words_for(f, code);
}

void fetch_clear(struct fetch *f)
{
    give_back(f);
    answer_clear(&f->answer);
}
