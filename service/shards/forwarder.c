/* SPDX-License-Identifier: MIT */
/*
 * forwarder.c - calls to the processes that own their shards, by libcurl.
 *
 * All requests are one thread's, with libcurl's multi interface, which keeps
 * connections open. New parts come by a list under a mutex; all else is the
 * thread's alone.
 *
 * An owner that stands still does not end its connections. So a request is
 * given up some seconds after NAME.control names another owner, and in any case
 * after a minute. One that hands its shard over answers before that.
 */
#include "service/shards/forwarder.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "service/calls/call.h"
#include "service/net/auth.h"
#include "service/shards/call_wire.h"

#define LOOK_BUSY   (50 * NS_PER_MS) /* at NAME.control, while parts wait */
#define LOOK_IDLE   (500 * NS_PER_MS)
#define PAUSE       (50 * NS_PER_MS) /* after an owner that did not take it */
#define CONNECT_MS  2000L
#define EXCHANGE_MS 60000L
#define LAST_WORDS  (3 * NS_PER_S)    /* of an owner that was replaced */
#define CONNECTIONS 32L               /* to one owner */
#define BODY_MARK   ((size_t)1 << 20) /* a request of so many octets is full */

STAILQ_HEAD(part_list, call_part);
LIST_HEAD(exchange_list, exchange);

/* What waits for one shard. */
struct line {
    struct part_list puts, others;
    bool putting;            /* a request with puts is under way */
    int64_t retry_at;        /* monotonic */
    const char *why;         /* what the last owner said; static */
    atomic_size_t put_count; /* parts, waiting and under way */
};

struct exchange {
    LIST_ENTRY(exchange) others;
    CURL *curl;
    struct curl_slist *headers;
    struct buf url, ask, answer;
    uint32_t shard;
    uint64_t owner;    /* version of its record */
    int64_t vain_from; /* monotonic; 0: it is still the owner */
    bool puts;
    struct call_part *parts[CALL_WIRE_CALLS];
    size_t count;
};

struct forwarder {
    struct forwarder_options o;
    char self[SERVED_ADDRESS_SIZE];
    CURLM *multi;
    pthread_t thread;
    bool started;

    pthread_mutex_t mtx; /* guards these */
    struct part_list come;
    bool stopping, ending;

    /* the thread's */
    struct line *lines; /* by shard */
    uint32_t shards;
    struct exchange_list exchanges, idle;
    struct buf token;
    size_t waiting;
    int64_t look_at;
    struct buf why;
};

static const char no_owner[] =
    "no process of the cluster has this shard at the moment; try again";
static const char stopping_why[] = "the service is stopping";
static const char not_known[] =
    "the process that has the shard did not answer; whether the call was "
    "carried out is not known";
static const char refused_why[] =
    "another process of the cluster refuses our token; all need the same "
    "--token-file";
static const char bad_answer[] =
    "another process of the cluster gave an answer that is not valid";

/* ---- ends of parts ---- */

static void forwarder_uncount(struct forwarder *f, struct call_part *p)
{
    if (p->call.verb == FRONTIER_PUT)
        atomic_fetch_sub(&f->lines[p->shard].put_count, 1);
}

static void end_part(struct forwarder *f, struct call_part *p, const char *why)
{
    answer_begin(&p->call);
    answer_fail(&p->call, STATUS_CLOSED);
    p->call.why = why;
    forwarder_uncount(f, p);
    p->finish(p);
}

/* May it be carried out twice? */
static bool is_harmless(const struct frontier_call *call)
{
    switch (call->verb) {
    case FRONTIER_SETTLE:
    case FRONTIER_PURGE_URLS:
    case FRONTIER_DELETE_QUEUE:
    case FRONTIER_DELETE_CRAWL:
        return false;
    default:
        return true;
    }
}

/* ---- lines ---- */

static void line_add(struct forwarder *f, struct call_part *p)
{
    struct line *l = &f->lines[p->shard];

    if (p->call.verb == FRONTIER_PUT)
        STAILQ_INSERT_TAIL(&l->puts, p, next);
    else
        STAILQ_INSERT_TAIL(&l->others, p, next);
    f->waiting++;
}

/* Back to the front, so that puts stay in order. */
static void line_return(struct forwarder *f, struct call_part *p)
{
    struct line *l = &f->lines[p->shard];

    if (p->call.verb == FRONTIER_PUT)
        STAILQ_INSERT_HEAD(&l->puts, p, next);
    else
        STAILQ_INSERT_HEAD(&l->others, p, next);
    f->waiting++;
}

/* Also tells whether the forwarder stops, and ends. */
static void take_new(struct forwarder *f, bool *stop, bool *end)
{
    struct call_part *p;
    struct part_list come;

    STAILQ_INIT(&come);
    pthread_mutex_lock(&f->mtx);
    STAILQ_CONCAT(&come, &f->come);
    *stop = f->stopping;
    *end = f->ending;
    pthread_mutex_unlock(&f->mtx);
    while ((p = STAILQ_FIRST(&come)) != NULL) {
        STAILQ_REMOVE_HEAD(&come, next);
        line_add(f, p);
    }
}

/* Ends those whose time is over; all of them if `stop`. */
static void give_up(struct forwarder *f, struct line *l, struct part_list *of,
                    int64_t now, bool stop)
{
    struct part_list keep;
    struct call_part *p;

    STAILQ_INIT(&keep);
    while ((p = STAILQ_FIRST(of)) != NULL) {
        STAILQ_REMOVE_HEAD(of, next);
        if (!stop && now < p->give_up) {
            STAILQ_INSERT_TAIL(&keep, p, next);
            continue;
        }
        f->waiting--;
        end_part(f, p,
                 stop             ? stopping_why
                 : l->why != NULL ? l->why
                                  : no_owner);
    }
    STAILQ_CONCAT(of, &keep);
}

/* What this process can do itself after all. */
static void take_here(struct forwarder *f, struct part_list *of)
{
    struct call_part *p;

    while ((p = STAILQ_FIRST(of)) != NULL) {
        STAILQ_REMOVE_HEAD(of, next);
        f->waiting--;
        forwarder_uncount(f, p);
        if (f->o.take(f->o.ctx, p))
            continue;
        if (p->call.verb == FRONTIER_PUT)
            atomic_fetch_add(&f->lines[p->shard].put_count, 1);
        STAILQ_INSERT_HEAD(of, p, next);
        f->waiting++;
        return;
    }
}

/* ---- a request ---- */

static size_t forwarder_take_answer(char *data, size_t size, size_t n,
                                    void *exchange)
{
    struct exchange *x = exchange;

    buf_add(&x->answer, data, size * n);
    return buf_failed(&x->answer) == STATUS_OK ? size * n : 0;
}

static void read_token(struct forwarder *f)
{
    buf_clear(&f->token);
    if (f->o.token_file != NULL &&
        token_file_read(f->o.token_file, &f->token) != STATUS_OK)
        log_warn("the token for other processes of the cluster cannot be read",
                 "path=%s", f->o.token_file);
}

static void set_tls(const struct forwarder *f, CURL *curl)
{
    if (f->o.tls.cert == NULL)
        return;
    curl_easy_setopt(curl, CURLOPT_SSLCERT, f->o.tls.cert);
    curl_easy_setopt(curl, CURLOPT_SSLKEY, f->o.tls.key);
    if (f->o.tls.client_ca != NULL)
        curl_easy_setopt(curl, CURLOPT_CAINFO, f->o.tls.client_ca);
}

static struct exchange *new_exchange(const struct forwarder *f)
{
    struct exchange *x = xcalloc(1, sizeof *x);

    x->curl = curl_easy_init();
    if (x->curl == NULL) {
        free(x);
        return NULL;
    }
    buf_init(&x->url, SERVED_ADDRESS_SIZE + 64);
    buf_init(&x->ask, CALL_WIRE_MOST);
    buf_init(&x->answer, CALL_WIRE_MOST);
    curl_easy_setopt(x->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(x->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(x->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(x->curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(x->curl, CURLOPT_TIMEOUT_MS, EXCHANGE_MS);
    curl_easy_setopt(x->curl, CURLOPT_WRITEFUNCTION, forwarder_take_answer);
    curl_easy_setopt(x->curl, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(x->curl, CURLOPT_PRIVATE, x);
    curl_easy_setopt(x->curl, CURLOPT_USERAGENT, "urlweir/" URLWEIR_VERSION);
    set_tls(f, x->curl);
    return x;
}

static void free_exchange(struct exchange *x)
{
    curl_easy_cleanup(x->curl);
    curl_slist_free_all(x->headers);
    buf_fini(&x->url);
    buf_fini(&x->ask);
    buf_fini(&x->answer);
    free(x);
}

static void forwarder_take_part(struct forwarder *f, struct exchange *x,
                                struct part_list *of)
{
    struct call_part *p = STAILQ_FIRST(of);

    STAILQ_REMOVE_HEAD(of, next);
    f->waiting--;
    buf_add_char(&x->ask, x->count > 0 ? ',' : '[');
    call_wire_ask(&x->ask, &p->call);
    x->parts[x->count++] = p;
}

static void set_headers(struct forwarder *f, struct exchange *x)
{
    char line[AUTH_TOKEN_MOST + 64];

    curl_slist_free_all(x->headers);
    x->headers = curl_slist_append(NULL, "Expect:");
    x->headers =
        curl_slist_append(x->headers, "Content-Type: application/json");
    if (f->token.len > 0) {
        snprintf(line, sizeof line, "Authorization: Bearer %s",
                 buf_str(&f->token));
        x->headers = curl_slist_append(x->headers, line);
        explicit_bzero(line, sizeof line);
    }
    curl_easy_setopt(x->curl, CURLOPT_HTTPHEADER, x->headers);
}

/* Sends what waits first: one call, or puts as far as they fit. */
static bool send_some(struct forwarder *f, uint32_t shard, bool puts,
                      const struct served_owner *owner)
{
    struct line *l = &f->lines[shard];
    struct part_list *of = puts ? &l->puts : &l->others;
    struct exchange *x = LIST_FIRST(&f->idle);

    if (x != NULL)
        LIST_REMOVE(x, others);
    else if ((x = new_exchange(f)) == NULL)
        return false;
    x->shard = shard;
    x->owner = owner->version;
    x->vain_from = 0;
    x->puts = puts;
    x->count = 0;
    buf_clear(&x->ask);
    buf_clear(&x->answer);
    buf_clear(&x->url);
    buf_addf(&x->url, "%s/v1/shards/%" PRIu32, owner->http, shard);
    do
        forwarder_take_part(f, x, of);
    while (puts && !STAILQ_EMPTY(of) && x->count < CALL_WIRE_CALLS &&
           x->ask.len < BODY_MARK);
    buf_add_char(&x->ask, ']');
    set_headers(f, x);
    curl_easy_setopt(x->curl, CURLOPT_URL, buf_str(&x->url));
    curl_easy_setopt(x->curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     (curl_off_t)x->ask.len);
    curl_easy_setopt(x->curl, CURLOPT_POSTFIELDS, buf_str(&x->ask));
    LIST_INSERT_HEAD(&f->exchanges, x, others);
    l->putting |= puts;
    curl_multi_add_handle(f->multi, x->curl);
    return true;
}

/* ---- an answer ---- */

enum outcome { ANSWERED, NOT_TAKEN, PERHAPS, REFUSED, INVALID };

static void settle_part(struct forwarder *f, struct call_part *p,
                        enum outcome how)
{
    /* STATUS_BUSY: not the owner. STATUS_CLOSED: it failed to commit. */
    if (how == ANSWERED && p->call.status == STATUS_BUSY)
        how = NOT_TAKEN;
    else if (how == ANSWERED && p->call.status == STATUS_CLOSED)
        how = PERHAPS;
    if (how == INVALID) {
        end_part(f, p, bad_answer);
    } else if (how == PERHAPS && !is_harmless(&p->call)) {
        end_part(f, p, not_known);
    } else if (how != ANSWERED) {
        line_return(f, p);
    } else {
        forwarder_uncount(f, p);
        p->finish(p);
    }
}

static enum outcome forwarder_outcome_of(struct exchange *x, CURLcode code)
{
    struct frontier_call *calls[CALL_WIRE_CALLS];
    long http = 0;

    if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
        code == CURLE_SSL_CONNECT_ERROR ||
        code == CURLE_PEER_FAILED_VERIFICATION)
        return NOT_TAKEN;
    if (code != CURLE_OK)
        return code == CURLE_WRITE_ERROR ? INVALID : PERHAPS;
    curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &http);
    if (http == 401 || http == 403)
        return REFUSED;
    if (http != 200) /* refused as a whole, as while it stops */
        return NOT_TAKEN;
    for (size_t i = 0; i < x->count; i++)
        calls[i] = &x->parts[i]->call;
    return call_wire_read_answers(buf_bytes(&x->answer), calls, x->count) ==
                   STATUS_OK
               ? ANSWERED
               : INVALID;
}

static void note_trouble(struct forwarder *f, const struct exchange *x,
                         CURLcode code, enum outcome how)
{
    struct line *l = &f->lines[x->shard];

    l->why = how == REFUSED ? refused_why : NULL;
    l->retry_at = clock_mono() + PAUSE;
    f->look_at = 0;
    if (how == REFUSED) {
        log_warn(refused_why, "shard=%" PRIu32, x->shard);
        read_token(f);
    } else if (how == INVALID) {
        log_error(bad_answer, "shard=%" PRIu32 " url=%s", x->shard,
                  buf_str(&x->url));
    } else {
        log_info("another process of the cluster does not answer",
                 "shard=%" PRIu32 " why=\"%s\"", x->shard,
                 curl_easy_strerror(code));
    }
}

static bool any_not_taken(const struct exchange *x)
{
    for (size_t i = 0; i < x->count; i++)
        if (x->parts[i]->call.status == STATUS_BUSY)
            return true;
    return false;
}

static void end_exchange(struct forwarder *f, struct exchange *x, CURLcode code)
{
    struct line *l = &f->lines[x->shard];
    enum outcome how = forwarder_outcome_of(x, code);

    curl_multi_remove_handle(f->multi, x->curl);
    LIST_REMOVE(x, others);
    if (x->puts)
        l->putting = false;
    if (how != ANSWERED) {
        note_trouble(f, x, code, how);
    } else if (any_not_taken(x)) {
        l->retry_at = clock_mono() + PAUSE;
        f->look_at = 0;
    } else {
        l->why = NULL;
    }
    for (size_t i = x->count; i > 0; i--) /* backwards: returned to the front */
        settle_part(f, x->parts[i - 1], how);
    buf_clear(&x->ask);
    if (x->ask.cap > BODY_MARK * 2) {
        buf_fini(&x->ask);
        buf_init(&x->ask, CALL_WIRE_MOST);
    }
    LIST_INSERT_HEAD(&f->idle, x, others);
}

static void take_answers(struct forwarder *f)
{
    const CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(f->multi, &left)) != NULL) {
        struct exchange *x = NULL;

        if (m->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&x);
        end_exchange(f, x, m->data.result);
    }
}

/* Requests to those who have lost their shard, and all at the end. */
static void end_vain(struct forwarder *f, bool stop)
{
    struct exchange *x, *next;
    int64_t now = clock_mono();

    for (x = LIST_FIRST(&f->exchanges); x != NULL; x = next) {
        next = LIST_NEXT(x, others);
        if (x->vain_from == 0 &&
            served_control_owner(f->o.control, x->shard)->version != x->owner)
            x->vain_from = now;
        if (stop || (x->vain_from != 0 && now - x->vain_from > LAST_WORDS))
            end_exchange(f, x, CURLE_ABORTED_BY_CALLBACK);
    }
}

/* ---- turns ---- */

static void forwarder_look(struct forwarder *f, int64_t now)
{
    if (now < f->look_at)
        return;
    f->look_at =
        now +
        (f->waiting > 0 || !LIST_EMPTY(&f->exchanges) ? LOOK_BUSY : LOOK_IDLE);
    if (served_control_poll(f->o.control, &f->why) != STATUS_OK)
        log_warn("the owners of shards cannot be read", "why=\"%s\"",
                 buf_str(&f->why));
}

static void serve_line(struct forwarder *f, uint32_t shard, int64_t now)
{
    struct line *l = &f->lines[shard];
    const struct served_owner *owner =
        served_control_owner(f->o.control, shard);

    if (!l->putting)
        take_here(f, &l->puts);
    take_here(f, &l->others);
    if (owner->http[0] == '\0' || strcmp(owner->http, f->self) == 0 ||
        now < l->retry_at)
        return;
    if (!l->putting && !STAILQ_EMPTY(&l->puts) &&
        !send_some(f, shard, true, owner))
        return;
    while (!STAILQ_EMPTY(&l->others))
        if (!send_some(f, shard, false, owner))
            return;
}

static void serve_lines(struct forwarder *f, bool stop)
{
    int64_t now = clock_mono();

    for (uint32_t i = 0; i < f->shards && f->waiting > 0; i++) {
        struct line *l = &f->lines[i];

        if (STAILQ_EMPTY(&l->puts) && STAILQ_EMPTY(&l->others))
            continue;
        if (!stop)
            serve_line(f, i, now);
        give_up(f, l, &l->puts, now, stop);
        give_up(f, l, &l->others, now, stop);
    }
}

static void *forward(void *arg)
{
    struct forwarder *f = arg;
    bool stop = false, end = false;
    int running;

    while (!end) {
        take_new(f, &stop, &end);
        forwarder_look(f, clock_mono());
        end_vain(f, stop);
        serve_lines(f, stop);
        curl_multi_perform(f->multi, &running);
        take_answers(f);
        if (!end)
            curl_multi_poll(f->multi, NULL, 0, f->waiting > 0 ? 20 : 200, NULL);
    }
    end_vain(f, true);
    serve_lines(f, true);
    return NULL;
}

/* ---- other threads ---- */

void forwarder_add(struct forwarder *f, struct call_part *p)
{
    if (p->call.verb == FRONTIER_PUT)
        atomic_fetch_add(&f->lines[p->shard].put_count, 1);
    pthread_mutex_lock(&f->mtx);
    STAILQ_INSERT_TAIL(&f->come, p, next);
    pthread_mutex_unlock(&f->mtx);
    curl_multi_wakeup(f->multi);
}

void forwarder_again(struct forwarder *f, struct call_part *p, bool perhaps)
{
    if (perhaps && !is_harmless(&p->call)) {
        answer_begin(&p->call);
        answer_fail(&p->call, STATUS_CLOSED);
        p->call.why = not_known;
        p->finish(p);
        return;
    }
    forwarder_add(f, p);
}

bool forwarder_has_puts(struct forwarder *f, uint32_t shard)
{
    return atomic_load(&f->lines[shard].put_count) > 0;
}

/* ---- beginning and end ---- */

void forwarder_set_self(struct forwarder *f, const char *http)
{
    snprintf(f->self, sizeof f->self, "%s", http);
}

enum status forwarder_open(struct forwarder **out,
                           const struct forwarder_options *o)
{
    struct forwarder *f = xcalloc(1, sizeof *f);
    int rc = -1;

    f->o = *o;
    f->shards = served_control_shards(o->control);
    f->lines = xcalloc(f->shards, sizeof *f->lines);
    for (uint32_t i = 0; i < f->shards; i++) {
        STAILQ_INIT(&f->lines[i].puts);
        STAILQ_INIT(&f->lines[i].others);
    }
    STAILQ_INIT(&f->come);
    buf_init(&f->token, AUTH_TOKEN_MOST + 1);
    buf_init(&f->why, 4096);
    pthread_mutex_init(&f->mtx, NULL);
    read_token(f);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK &&
        (f->multi = curl_multi_init()) != NULL) {
        curl_multi_setopt(f->multi, CURLMOPT_MAX_HOST_CONNECTIONS, CONNECTIONS);
        rc = pthread_create(&f->thread, NULL, forward, f);
    }
    f->started = rc == 0;
    if (f->started) {
        *out = f;
        return STATUS_OK;
    }
    log_error("calls to other processes cannot be sent", "%s", "");
    forwarder_close(f);
    return STATUS_NOMEM;
}

void forwarder_stop(struct forwarder *f)
{
    pthread_mutex_lock(&f->mtx);
    f->stopping = true;
    pthread_mutex_unlock(&f->mtx);
    curl_multi_wakeup(f->multi);
}

void forwarder_close(struct forwarder *f)
{
    struct exchange *x;

    if (f == NULL)
        return;
    if (f->started) {
        pthread_mutex_lock(&f->mtx);
        f->stopping = f->ending = true;
        pthread_mutex_unlock(&f->mtx);
        curl_multi_wakeup(f->multi);
        pthread_join(f->thread, NULL);
    }
    while ((x = LIST_FIRST(&f->idle)) != NULL) {
        LIST_REMOVE(x, others);
        free_exchange(x);
    }
    if (f->multi != NULL)
        curl_multi_cleanup(f->multi);
    served_control_close(f->o.control);
    if (f->token.at != NULL)
        explicit_bzero(f->token.at, f->token.cap);
    buf_fini(&f->token);
    buf_fini(&f->why);
    pthread_mutex_destroy(&f->mtx);
    free(f->lines);
    free(f);
}
