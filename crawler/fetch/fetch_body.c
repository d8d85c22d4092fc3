/* SPDX-License-Identifier: MIT */
/*
 * fetch_body.c - curl's callbacks during a transfer.
 *
 * Bodies are decoded here and counted after that: CURLOPT_MAXFILESIZE sees only
 * wire octets, and a few kilobytes of gzip can become gigabytes. Octets are
 * decoded as memory allows. When the pool is empty, or the rate limit is
 * exceeded, the write callback returns CURL_WRITEFUNC_PAUSE; curl later passes
 * the same piece again, perhaps with more after it, and we skip the octets read
 * before (f->taken).
 *
 * Transfers are not paused anywhere else. If curl_easy_pause stops a transfer
 * before its head has come, curl may read on anyway, and then curl 7.88 passes
 * all lines of the head as one, which we cannot parse: short bodies were lost
 * and long ones lost their links.
 */
#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "crawler/fetch/fetch.h"
#include "crawler/fetch/response.h"

#define RESERVE_LEAST ((uint64_t)32 << 10)
#define BODY_KEPT     ((size_t)64 << 10)   /* buffer kept between transfers */
#define DRAIN_MOST    ((uint64_t)64 << 10) /* read to keep a connection */
#define PIECE         ((size_t)16 << 10)   /* octets decoded at a time */
#define CODINGS_MOST  ((size_t)4096)       /* octets of Content-Encoding */
#define TURN_MOST     ((size_t)1 << 20)    /* octets decoded in one call */

/* ---- memory of the body -------------------------------------------------- */

/* Reserves memory for `bytes` octets of the body, in steps that double. False:
 * the pool is empty. */
static bool fetch_reserve(struct fetch *f, uint64_t bytes)
{
    uint64_t want = f->reserved * 2;
    uint64_t most =
        f->order.body_most + (f->streamed ? f->order.take_memory : 0);

    if (bytes <= f->reserved)
        return true;
    if (want < RESERVE_LEAST)
        want = RESERVE_LEAST;
    if (want > most)
        want = most;
    if (want < bytes)
        want = bytes;
    if (!body_pool_take(f->o->bodies, f, want - f->reserved))
        return false;
    f->reserved = want;
    return true;
}

/* Memory of the transfer once `more` octets of its body are kept. */
static uint64_t memory_for(const struct fetch *f, uint64_t more)
{
    uint64_t kept = f->keep ? f->body.len + more : 0;

    return kept + (f->streamed ? f->order.take_memory : 0);
}

bool fetch_reserve_more(struct fetch *f)
{
    uint64_t more = f->order.body_most - f->body.len;

    return fetch_reserve(f,
                         memory_for(f, more < RESERVE_LEAST ? more
                                                            : RESERVE_LEAST));
}

static void drop_coding(struct fetch *f)
{
    coding_free(f->coding);
    f->coding = NULL;
    if (f->decoding > 0)
        body_pool_give(f->o->bodies, f, f->decoding);
    f->decoding = 0;
}

void fetch_give_back(struct fetch *f)
{
    drop_coding(f);
    body_pool_give(f->o->bodies, f, f->reserved);
    f->reserved = 0;
    buf_fini(&f->raw);
    f->again = bytes_of("", 0);
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

/* Sets how the fetch ends, whatever curl reports; returns 0, which makes curl
 * stop. */
static size_t decide(struct fetch *f, enum fetch_end end)
{
    f->decided = true;
    f->end = end;
    return 0;
}

static uint64_t wire_bytes(struct fetch *f)
{
    curl_off_t body = 0;
    uint64_t n;

    /* libcurl 7 counts a piece before it is offered, libcurl 8 after that. */
    curl_easy_getinfo(f->transfer.easy, CURLINFO_SIZE_DOWNLOAD_T, &body);
    n = body > 0 ? (uint64_t)body : 0;
    return f->response.received + (n > f->offered ? n : f->offered);
}

void fetch_count_wire(struct fetch *f)
{
    uint64_t n = wire_bytes(f);

    if (n <= f->counted)
        return;
    atomic_fetch_add_explicit(&f->counters->wire_bytes, n - f->counted,
                              memory_order_relaxed);
    if (f->o->rate != NULL)
        f->paid_at = clock_later(rate_limit_spend(f->o->rate, n - f->counted,
                                                  clock_mono()),
                                 rate_limit_each_at(f->o->rate, n, f->started));
    f->counted = n;
}

/* Has its turn come, or, if the rate was raised since, everyone's? */
bool fetch_is_within_rate(const struct fetch *f, int64_t now)
{
    return f->paid_at <= now ||
           (rate_limit_level_at(f->o->rate) <= now &&
            rate_limit_each_at(f->o->rate, f->counted, f->started) <= now);
}

/* Reading a short body is cheaper than making a new connection. */
static bool is_short(const struct response *a)
{
    uint64_t n;

    return bytes_number(response_get(a, RESPONSE_CONTENT_LENGTH), DRAIN_MOST,
                        &n);
}

static bool wanted_mime(const struct fetch *f)
{
    char text[MIME_SIZE];
    struct bytes type =
        mime_essence(response_get(&f->response, RESPONSE_CONTENT_TYPE), text);

    return !f->order.filter_mime || type.len == 0 ||
           mime_accepted(type, f->o->mime, f->o->mime_count);
}

static bool is_html(const struct response *a)
{
    char text[MIME_SIZE];

    return mime_is_html(
        mime_essence(response_get(a, RESPONSE_CONTENT_TYPE), text));
}

static void add_codings(void *ctx, struct bytes value)
{
    buf_add_bytes(ctx, value);
    buf_add_char(ctx, ',');
}

static bool take_for_coding(void *ctx, size_t octets)
{
    struct fetch *f = ctx;

    if (!body_pool_take(f->o->bodies, f, octets))
        return false;
    f->decoding += octets;
    return true;
}

/* Makes the decoders of the body. False: there are too many codings. */
static bool make_coding(struct fetch *f)
{
    const struct coding_memory memory = {take_for_coding, f};
    struct buf codings;
    enum status st;

    buf_init(&codings, CODINGS_MOST);
    response_each(&f->response, RESPONSE_CONTENT_ENCODING, add_codings,
                  &codings);
    st = buf_failed(&codings);
    if (st == STATUS_OK)
        st = coding_new(&f->coding, buf_bytes(&codings), &memory,
                        &f->unknown_coding);
    buf_fini(&codings);
    return st == STATUS_OK;
}

static void note_coding(void *ctx, struct bytes value)
{
    bool *unasked = ctx;

    while (value.len > 0) {
        struct bytes name = coding_next_name(&value);

        *unasked |= name.len > 0 &&
                    !bytes_equal_nocase(name, bytes_of_str("chunked")) &&
                    !bytes_equal_nocase(name, bytes_of_str("identity"));
    }
}

/* Is there a transfer coding we did not ask for? libcurl before 8.1 would
 * decode it, and others stacked on it, outside all our limits. */
static bool has_transfer_coding(const struct response *a)
{
    bool unasked = false;

    response_each(a, RESPONSE_TRANSFER_ENCODING, note_coding, &unasked);
    return unasked;
}

/* Ends a fetch whose body is not wanted as `end`; reads a short body anyway. */
static size_t do_without(struct fetch *f, enum fetch_end end, size_t n)
{
    f->keep = f->streamed = false;
    (void)decide(f, end);
    return is_short(&f->response) ? n : 0;
}

static bool is_page(const struct fetch *f)
{
    const struct response *a = &f->response;
    char *url = NULL;

    if (a->status < 300)
        return a->status >= 200;
    if (a->status >= 400 || a->status == 304)
        return false;
    curl_easy_getinfo(f->transfer.easy, CURLINFO_EFFECTIVE_URL, &url);
    return url == NULL || !response_redirects(a, bytes_of_str(url));
}

/* The head is whole: is the body wanted? */
static size_t on_head_complete(struct fetch *f, size_t n)
{
    const struct response *a = &f->response;

    f->keep = f->streamed = false;
    f->page = is_page(f);
    if (response_has_two_lengths(a)) {
        f->why = "two different Content-Lengths";
        return decide(f, FETCH_PROTOCOL);
    }
    if (f->order.want != FETCH_BODY)
        return f->order.want == FETCH_HEAD ? n
                                           : do_without(f, FETCH_ANSWERED, n);
    f->streamed = f->page && f->order.take != NULL;
    if (has_transfer_coding(a)) {
        f->why = "a transfer coding that was not requested";
        return decide(f, f->page ? FETCH_PROTOCOL : FETCH_ANSWERED);
    }
    f->keep = f->order.keep_all || (f->page && (!f->streamed || is_html(a)));
    if (f->page && !wanted_mime(f))
        return do_without(f, FETCH_MIME, n);
    if (make_coding(f))
        return n;
    f->why = "too many content codings";
    return do_without(f, f->page ? FETCH_CUT_ENCODING : FETCH_ANSWERED, n);
}

static void count_cookie(struct fetch *f, struct bytes line)
{
    static const char name[] = "set-cookie:";

    if (f->in_jar && line.len > sizeof name &&
        bytes_equal_nocase(bytes_of(line.at, sizeof name - 1),
                           bytes_of_str(name)))
        f->cookies_set++;
}

size_t fetch_on_head(char *at, size_t size, size_t count, void *ctx)
{
    struct fetch *f = fetch_of(ctx);
    size_t n = size * count;
    bool was_complete = f->response.complete;

    multi_take_in_hand(&f->transfer, IN_HAND_HEAD);
    count_cookie(f, bytes_of(at, n));
    if (!response_line(&f->response, bytes_of(at, n)))
        return decide(f, FETCH_PROTOCOL);
    if (!f->response.complete || was_complete)
        return n;
    /* By now libcurl has accepted the cookies or refused them. */
    if (f->cookies_set > 0)
        cookie_jar_take(f->o->jar, f->transfer.easy, &f->lent);
    return on_head_complete(f, n);
}

/* Discards a body that is not kept: an error page, or an unwanted type. */
static size_t pass_over(struct fetch *f, size_t n)
{
    if (f->body_bytes <= DRAIN_MOST)
        return n;
    return f->decided ? 0 : decide(f, FETCH_ANSWERED);
}

/* How many octets of the body may be decoded now; 0: there is no memory. We
 * decode one more than may be kept, to find out whether there are more. */
static size_t room_for_piece(struct fetch *f)
{
    uint64_t left = f->order.body_most - f->body.len;
    uint64_t want = left < PIECE ? left : PIECE, held = memory_for(f, 0);

    if (!f->keep || (f->streamed && left == 0))
        return fetch_reserve(f, held) ? PIECE : 0;
    if (left == 0)
        return 1;
    if (f->reserved > held && f->reserved - held < want)
        want = f->reserved - held;
    return fetch_reserve(f, held + want) ? (size_t)want : 0;
}

/* Takes the next octets of the body, at most `room`, off the front of *in;
 * none: *in is empty. They are in *in itself or in `scratch`. */
static enum status next_piece(struct fetch *f, struct bytes *in, size_t room,
                              char scratch[PIECE], struct bytes *out)
{
    size_t got = in->len < room ? in->len : room;
    enum status st = STATUS_OK;

    if (f->coding == NULL) {
        *out = bytes_of(in->at, got);
        *in = bytes_of(in->at + got, in->len - got);
    } else {
        st = coding_read(f->coding, in, scratch, room, &got);
        *out = bytes_of(scratch, got);
    }
    return st;
}

static bool keep_piece(struct fetch *f, struct bytes piece)
{
    buf_add_bytes(&f->body, piece);
    return buf_failed(&f->body) == STATUS_OK || decide(f, FETCH_STARVED) != 0;
}

/* Passes a piece of a streamed body on; less of it may be kept. */
static bool hand_on(struct fetch *f, struct bytes piece)
{
    uint64_t left = f->order.body_most - f->body.len;
    size_t kept = piece.len < left ? piece.len : (size_t)left;

    if (f->keep && !keep_piece(f, bytes_of(piece.at, kept)))
        return false;
    return piece.len == 0 ||
           f->order.take(f->order.take_ctx, &f->response, piece) ||
           decide(f, FETCH_CUT_LENGTH) != 0;
}

/* False: no more pieces are wanted, and the end of the fetch is decided. */
static bool take_piece(struct fetch *f, struct bytes piece)
{
    f->body_bytes += piece.len;
    if (f->streamed)
        return hand_on(f, piece);
    if (!f->keep)
        return pass_over(f, 1) != 0;
    if (f->body.len == f->order.body_most && piece.len > 0)
        return decide(f, FETCH_CUT_LENGTH) != 0;
    return keep_piece(f, piece);
}

/* Decoders found no memory. Before they have any output they can start over,
 * since curl passes its first piece again. */
static size_t starved(struct fetch *f)
{
    if (f->past_first || f->body_bytes > 0)
        return decide(f, FETCH_STARVED);
    drop_coding(f);
    if (!make_coding(f))
        return decide(f, FETCH_STARVED);
    f->taken = 0;
    fetch_wait(f, FETCH_WAITS_MEMORY);
    return CURL_WRITEFUNC_PAUSE;
}

/* Is the body not in the coding that its head names, rather than damaged? Then
 * it is read once more, as it came. */
static bool is_mislabelled(struct fetch *f, struct bytes piece)
{
    char head[CODING_SIGNATURE_MOST];
    size_t n = 0;

    for (; n < f->raw.len && n < sizeof head; n++)
        head[n] = f->raw.at[n];
    for (size_t i = 0; i < piece.len && n < sizeof head; i++)
        head[n++] = piece.at[i];
    if (f->body_bytes > 0 || buf_failed(&f->raw) != STATUS_OK ||
        coding_has_signature(f->coding, bytes_of(head, n)))
        return false;
    drop_coding(f);
    f->mislabelled = true;
    f->again = buf_bytes(&f->raw);
    f->taken = 0;
    return true;
}

/* The decoders have read all of a piece: keeps it as long as they have not
 * written anything. */
static void keep_raw(struct fetch *f, struct bytes piece)
{
    if (f->coding != NULL && f->body_bytes == 0)
        buf_add_bytes(&f->raw, piece);
}

static size_t undecodable(struct fetch *f, enum status st)
{
    if (st == STATUS_NOMEM)
        return starved(f);
    f->why = "the content coding is damaged";
    if (f->decided)
        return 0;
    return decide(f, f->page ? FETCH_CUT_ENCODING : FETCH_ANSWERED);
}

size_t fetch_on_body(char *at, size_t size, size_t count, void *ctx)
{
    struct fetch *f = fetch_of(ctx);
    size_t n = size * count, room, decoded = 0;
    struct bytes in = bytes_of(at + f->taken, n - f->taken), piece;
    char scratch[PIECE];
    enum status st;
    bool once_more;

    multi_take_in_hand(&f->transfer, IN_HAND_BODY);
    f->offered = f->passed + n;
    fetch_count_wire(f);
    /* libcurl 8 reads on while a transfer is paused: a piece that had to wait
     * for that too, again and again, would never be taken. */
    if (!f->has_waited && f->paid_at != INT64_MIN &&
        !fetch_is_within_rate(f, clock_mono())) {
        fetch_wait(f, FETCH_WAITS_RATE);
        return CURL_WRITEFUNC_PAUSE;
    }
    do {
        room = room_for_piece(f);
        if (room == 0 || decoded >= TURN_MOST) {
            f->taken = n - in.len;
            fetch_wait(f, room == 0 ? FETCH_WAITS_MEMORY : FETCH_WAITS_TURN);
            return CURL_WRITEFUNC_PAUSE;
        }
        st = next_piece(f, f->again.len > 0 ? &f->again : &in, room, scratch,
                        &piece);
        if (!take_piece(f, piece))
            return 0;
        once_more = st == STATUS_FORMAT && is_mislabelled(f, bytes_of(at, n));
        if (once_more)
            in = bytes_of(at, n);
        else if (st != STATUS_OK)
            return undecodable(f, st);
        decoded += piece.len;
    } while (piece.len > 0 || once_more);
    keep_raw(f, bytes_of(at, n));
    f->taken = 0;
    f->passed += n;
    f->has_waited = false;
    f->past_first = true;
    return n;
}

/* Called when a request is about to go out on a connection. curl sends one
 * again by itself when a kept connection turns out dead before an octet of the
 * response has come (CURLOPT_PREREQFUNCTION; lib/transfer.c,
 * Curl_retry_request). The server may have received the first one, so a second
 * would be a request without the delay. That is a retry, which the frontier
 * must decide on. */
int fetch_on_send(void *ctx, char *ip, char *local_ip, int port, int local_port)
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

/* Collects the request as curl sends it, for records. A request to a proxy
 * (CONNECT) may come first, so one whole head may follow another. */
int fetch_on_debug(CURL *easy, curl_infotype type, char *at, size_t size,
                   void *ctx)
{
    struct fetch *f = ctx;
    struct buf *r = &f->request;

    (void)easy;
    if (type != CURLINFO_HEADER_OUT)
        return 0;
    if (bytes_ends_with(buf_bytes(r), "\r\n\r\n"))
        buf_clear(r);
    buf_add(r, at, size);
    return 0;
}
