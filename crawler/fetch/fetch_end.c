/* SPDX-License-Identifier: MIT */
/*
 * fetch_end.c - the meaning of curl's codes for a fetch.
 */
#include <string.h>

#include "crawler/address/guard.h"
#include "crawler/fetch/fetch_parts.h"

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
