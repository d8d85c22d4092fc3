/* SPDX-License-Identifier: MIT */
/*
 * kind_slow.c - answers that take their time (profile slow), or never end
 * (profile endless). Each has a host to itself.
 */
#include <string.h>

#include "base/clock.h"
#include "tests/support/web/web.h"
#include "tests/support/web/web_page.h"

enum slow {
    SLOW_LATE,    /* the whole answer after slow_ms */
    SLOW_DRIP,    /* 64 octets every 20 ms */
    SLOW_OCTETS,  /* octet by octet, one a millisecond */
    SLOW_ENDLESS, /* what follows never ends */
    SLOW_BODY = SLOW_ENDLESS,
    SLOW_HEAD,   /* header fields without end */
    SLOW_SILENT, /* nothing at all */
    SLOW_STALL,  /* half a page, then nothing */
    SLOW_CHUNKS, /* chunks without end */
    SLOW_COUNT_
};

static uint32_t slow_first(const struct web *w)
{
    return web_has(w, PROFILE_SLOW) ? 0 : SLOW_ENDLESS;
}

static uint32_t slow_count(const struct web *w)
{
    return (web_has(w, PROFILE_SLOW) ? SLOW_ENDLESS : 0U) +
           (web_has(w, PROFILE_ENDLESS) ? SLOW_COUNT_ - SLOW_ENDLESS : 0U);
}

static enum slow slow_of(const struct web *w, uint32_t n)
{
    return (enum slow)(slow_first(w) + n);
}

static uint32_t slow_host(const struct web *w, uint32_t n)
{
    return w->own[KIND_SLOW] + n;
}

static void slow_path(const struct web *w, uint32_t n, struct buf *out)
{
    buf_addf(out, "/%s/slow-s%u.html", web_word(web_dice(w, n, 80)),
             (unsigned)n);
}

static void slow_links(const struct web *w, uint32_t n, struct links *out)
{
    if (slow_of(w, n) < SLOW_ENDLESS)
        links_add(out, (struct link){.to = web_hidden(w, KIND_SLOW, n)});
}

#define OK_HTML "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

static void answer_endless(enum slow s, struct answer *an)
{
    const char *head = OK_HTML "\r\n", *again = NULL;

    an->status = 200;
    an->end = END_ENDLESS;
    switch (s) {
    case SLOW_HEAD:
        head = OK_HTML;
        again = "X-Endless: field follows field follows field\r\n";
        break;
    case SLOW_SILENT:
        an->status = 0;
        an->end = END_SILENT;
        return;
    case SLOW_STALL:
        an->end = END_SILENT;
        head = OK_HTML "Content-Length: 20000\r\n\r\n";
        again = "<!DOCTYPE html><p>Half a page";
        break;
    case SLOW_CHUNKS:
        head = OK_HTML "Transfer-Encoding: chunked\r\n\r\n";
        again = "1c\r\n<p>And another paragraph</p>\r\n";
        break;
    default:
        again = "<p>And another paragraph, and another.</p>\n";
    }
    buf_add_str(&an->head, head);
    do
        buf_add_str(&an->body, again);
    while (an->end == END_ENDLESS && an->body.len < 16384);
}

static void slow_answer(const struct web *w, uint32_t n,
                        const struct request *rq, struct answer *an)
{
    enum slow s = slow_of(w, n);

    if (s >= SLOW_ENDLESS) {
        answer_endless(s, an);
        return;
    }
    answer_page(w, web_id(w, KIND_SLOW, n), rq, an);
    if (s == SLOW_LATE) {
        an->delay_ns = (int64_t)w->spec.slow_ms * NS_PER_MS;
        return;
    }
    an->drip = s == SLOW_DRIP ? 64 : 1;
    an->drip_ns = s == SLOW_DRIP ? 20 * NS_PER_MS : NS_PER_MS;
}

static struct expect slow_expect(const struct web *w, uint32_t n)
{
    if (slow_of(w, n) < SLOW_ENDLESS)
        return (struct expect){FATE_FETCH, 200, 1, 1};
    return (struct expect){FATE_TRIES, 0, 1, w->spec.tries};
}

const struct kind_ops kind_slow = {
    .letter = 's',
    .shares = 1,
    .stride = 1,
    .hides = 1,
    .count = slow_count,
    .host = slow_host,
    .path = slow_path,
    .links = slow_links,
    .answer = slow_answer,
    .expect = slow_expect,
};
