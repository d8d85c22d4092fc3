/* SPDX-License-Identifier: MIT */
/*
 * kind_fault.c - answers that break HTTP or the connection, and some that only
 * seem to.
 *
 * Each has a host to itself: a crawler may rightly give up on a host that
 * behaves like that, and should not lose other pages. The valid ones lead to a
 * hidden page.
 */
#include <string.h>

#include "tests/support/web/web.h"
#include "tests/support/web/web_page.h"

enum fault {
    FAULT_RESET,             /* reset in the middle of the body */
    FAULT_CLOSE,             /* closed before any octet */
    FAULT_SHORT,             /* Content-Length is more than what comes */
    FAULT_LONG,              /* Content-Length is less than what comes */
    FAULT_GARBAGE,           /* no status line */
    FAULT_HUGE_HEAD,         /* one field of 400 KB */
    FAULT_CHUNK,             /* a chunk size that is no number */
    FAULT_CHUNK_OVER,        /* a chunk size over 64 bits */
    FAULT_CHUNK_CUT,         /* no last chunk */
    FAULT_TWO_SIZES,         /* two Content-Lengths that differ */
    FAULT_NEGATIVE,          /* Content-Length: -1 */
    FAULT_CODING,            /* invalid gzip */
    FAULT_FIELDS,            /* 20,000 header fields */
    FAULT_VALID,             /* what follows is valid */
    FAULT_OLD = FAULT_VALID, /* HTTP/1.0, body until the end */
    FAULT_CONTINUE,          /* 100 and 103 before the answer */
    FAULT_CHUNKED,           /* chunked with extensions and a trailer */
    FAULT_CASE,              /* names in odd case, white space around values */
    FAULT_204,               /* no content */
    FAULT_NO_PHRASE,         /* a status line without its phrase */
    FAULT_COUNT_
};

static uint32_t fault_count(const struct web *w)
{
    return web_has(w, PROFILE_ERRORS) ? FAULT_COUNT_ : 0;
}

static uint32_t fault_host(const struct web *w, uint32_t n)
{
    return w->own[KIND_FAULT] + n;
}

static void fault_path(const struct web *w, uint32_t n, struct buf *out)
{
    buf_addf(out, "/%s-f%u.html", web_word(web_dice(w, n, 70)), (unsigned)n);
}

static void fault_links(const struct web *w, uint32_t n, struct links *out)
{
    if (n >= FAULT_VALID && n != FAULT_204)
        links_add(out, (struct link){.to = web_hidden(w, KIND_FAULT, n)});
}

static void head(struct answer *an, const char *lines)
{
    buf_add_str(&an->head, lines);
    buf_add_str(&an->head, "\r\n");
}

#define OK_HTML "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

/* Header fields that are far too long, or far too many. */
static void answer_huge(struct answer *an, bool many)
{
    buf_add_str(&an->head, OK_HTML "Content-Length: 0\r\n");
    if (many) {
        for (unsigned i = 0; i < 20000; i++)
            buf_addf(&an->head, "X-Field-%u: %u\r\n", i, i);
    } else {
        buf_add_str(&an->head, "X-Long: ");
        for (unsigned i = 0; i < 50000; i++)
            buf_add_str(&an->head, "abcdefgh");
        buf_add_str(&an->head, "\r\n");
    }
    buf_add_str(&an->head, "\r\n");
}

/* RFC 9112 section 7.1, with an extension and a trailer. */
static void chunked(struct buf *body)
{
    struct buf out;
    size_t step;

    buf_init(&out, ANSWER_CEILING);
    for (size_t at = 0; at < body->len; at += step) {
        step = body->len - at < 100 ? body->len - at : 100;
        buf_addf(&out, "%zX;name=\"a;b\"\r\n", step);
        buf_add(&out, body->at + at, step);
        buf_add_str(&out, "\r\n");
    }
    buf_add_str(&out, "0\r\nX-Trailer: yes\r\n\r\n");
    buf_clear(body);
    buf_add_bytes(body, buf_bytes(&out));
    buf_fini(&out);
}

static void answer_valid(const struct web *w, uint32_t n, struct answer *an)
{
    static const struct page_options NONE = {0};

    an->status = 200;
    if (n != FAULT_204)
        page_write(w, web_id(w, KIND_FAULT, n), &NONE, &an->body);
    switch (n) {
    case FAULT_OLD:
        head(an, "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n");
        an->end = END_CLOSE;
        return;
    case FAULT_CONTINUE:
        head(an, "HTTP/1.1 100 Continue\r\n");
        head(an, "HTTP/1.1 103 Early Hints\r\nLink: </decoy/hint>; "
                 "rel=preload\r\n");
        buf_add_str(&an->head, OK_HTML);
        break;
    case FAULT_CHUNKED:
        chunked(&an->body);
        head(an, OK_HTML "Transfer-Encoding: chunked\r\n");
        return;
    case FAULT_CASE:
        buf_add_str(&an->head, "HTTP/1.1 200 Fine, thank you\r\n"
                               "coNTent-tYPe:\ttext/html;charset=UTF-8 \r\n");
        break;
    case FAULT_204:
        an->status = 204;
        head(an, "HTTP/1.1 204 No Content\r\n");
        return;
    default:
        buf_add_str(&an->head, "HTTP/1.1 200\r\nContent-Type: text/html\r\n");
    }
    answer_done(an);
}

static void fault_answer(const struct web *w, uint32_t n,
                         const struct request *rq, struct answer *an)
{
    static const struct page_options BIG = {.size = 20000};
    uint32_t id = web_id(w, KIND_FAULT, n);

    (void)rq;
    if (n >= FAULT_VALID) {
        answer_valid(w, n, an);
        return;
    }
    an->status = 200;
    an->end = END_CLOSE;
    switch ((enum fault)n) {
    case FAULT_RESET:
        an->end = END_RESET;
        page_write(w, id, &BIG, &an->body);
        head(an, OK_HTML "Content-Length: 90000\r\n");
        return;
    case FAULT_CLOSE:
        an->status = 0;
        return;
    case FAULT_SHORT:
        page_write(w, id, &BIG, &an->body);
        head(an, OK_HTML "Content-Length: 90000\r\n");
        return;
    case FAULT_LONG:
        page_write(w, id, &BIG, &an->body);
        head(an, OK_HTML "Content-Length: 100\r\n");
        return;
    case FAULT_GARBAGE:
        an->status = 0;
        head(an, "220 mail.example.invalid ESMTP\r\n");
        return;
    case FAULT_HUGE_HEAD:
    case FAULT_FIELDS:
        answer_huge(an, n == FAULT_FIELDS);
        return;
    case FAULT_CHUNK:
        head(an, OK_HTML "Transfer-Encoding: chunked\r\n");
        buf_add_str(&an->body, "xyz\r\n<p>Not a chunk.</p>\r\n0\r\n\r\n");
        return;
    case FAULT_CHUNK_OVER:
        head(an, OK_HTML "Transfer-Encoding: chunked\r\n");
        buf_add_str(&an->body, "fffffffffffffffffffff\r\n<p>Much.</p>\r\n");
        return;
    case FAULT_CHUNK_CUT:
        head(an, OK_HTML "Transfer-Encoding: chunked\r\n");
        buf_add_str(&an->body, "10\r\n<p>Sixteen</p> \r\n\r\n");
        return;
    case FAULT_TWO_SIZES:
        head(an, OK_HTML "Content-Length: 10\r\nContent-Length: 20\r\n");
        buf_add_str(&an->body, "<p>Ten or twenty?</p>");
        return;
    case FAULT_NEGATIVE:
        head(an, OK_HTML "Content-Length: -1\r\n");
        buf_add_str(&an->body, "<p>Less than nothing.</p>");
        return;
    default:
        head(an, OK_HTML "Content-Encoding: gzip\r\nContent-Length: 18\r\n");
        buf_add_str(&an->body, "This is not gzip.\n");
    }
}

static struct expect fault_expect(const struct web *w, uint32_t n)
{
    if (n >= FAULT_VALID)
        return (struct expect){FATE_FETCH, 200, 1, 1};
    return (struct expect){FATE_TRIES, 0, 1, w->spec.tries};
}

const struct kind_ops kind_fault = {
    .letter = 'f',
    .shares = 1,
    .stride = 1,
    .hides = 1,
    .count = fault_count,
    .host = fault_host,
    .path = fault_path,
    .links = fault_links,
    .answer = fault_answer,
    .expect = fault_expect,
};
