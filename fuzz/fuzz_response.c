/* SPDX-License-Identifier: MIT */
/*
 * fuzz_response.c - any octets as the response to a request, through a fetcher:
 * libcurl, head, codings, body, links, records, report.
 *
 * Input: one octet of flags, then the response as it is sent. Flags: 1, the URL
 * is a sitemap, parsed as it arrives; 2, the connection is reset, not closed;
 * the upper four bits, where the response is cut in two.
 *
 * One fetcher thread serves all inputs, so its easy handles have seen earlier
 * responses. Asserts, besides memory safety: each URL ends with exactly one
 * final report, after which the pool of bodies is empty.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/logger.h"
#include "crawler/fetch/fetch.h"
#include "crawler/fetcher.h"
#include "crawler/html/link_values.h"
#include "frontier/url/host.h"

#define WAIT (60 * NS_PER_S)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fetcher *fetcher;
static struct queue *reports;
static struct fetcher_options options;
static struct digest_key key;
static int listener = -1;
static char url_text_of_page[64];

static void start_listener(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int bad;

    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bad = bind(listener, (struct sockaddr *)&a, sizeof a);
    bad |= listen(listener, 16);
    bad |= getsockname(listener, (struct sockaddr *)&a, &len);
    assert(bad == 0);
    snprintf(url_text_of_page, sizeof url_text_of_page,
             "http://127.0.0.1:%u/page", ntohs(a.sin_port));
}

static void start_fetcher(void)
{
    static const unsigned char seed[DIGEST_SEED_SIZE] = {1};
    const struct scope_options so = {.mode = SCOPE_ANY,
                                     .depth = -1,
                                     .max_url_length = 2048};
    const struct guard_options go = {.allow_private = true};
    struct guard *guard = NULL;
    struct buf error;
    enum status st;

    logger_set_level(LOG_LEVEL_ERROR);
    buf_init(&error, 200);
    digest_key_init(&key, seed);
    options = (struct fetcher_options){
        .user_agent = "urlweir/0 (fuzz)",
        .product_token = "urlweir",
        .timeout_ms = 10000,
        .connect_timeout_ms = 10000,
        .max_body = 100000,
        .max_redirects = 5,
        .retry_delay_ms = 100,
        .robots = ROBOTS_OFF,
        .kinds = LINK_SET_FOLLOW | LINK_BIT(LINK_SITEMAP),
        .rules = {.digest_key = &key, .crawl = bytes_of_str("fuzz")},
        .bodies = body_pool_new((uint64_t)4 << 20),
        .warc = true,
    };
    st = guard_new(&guard, &go, &error);
    assert(st == STATUS_OK);
    options.guard = guard;
    st = scope_new(&options.rules.scope, &so, &error);
    assert(st == STATUS_OK);
    st = fetcher_global_init();
    assert(st == STATUS_OK);
    reports = queue_new(1000, 0);
    st = fetcher_start(&fetcher, 0, &options, 4, reports, NULL);
    assert(st == STATUS_OK);
    buf_fini(&error);
}

static void give(bool sitemap)
{
    struct url_lease l = {.id = 1,
                          .depth = 1,
                          .kind = sitemap ? LINK_SITEMAP : LINK_A};
    struct url u;
    enum url_reason reason;

    url_init(&u);
    reason = url_canonical(&u, bytes_of_str(url_text_of_page), NULL, NULL);
    assert(reason == URL_OK);
    l.url = url_text(&u);
    l.key = url_host(&u);
    l.queue = 1;
    fetcher_give(fetcher, assignment_new(&l));
    url_fini(&u);
}

/* Sends everything, or as much as the client reads. */
static void send_all(int fd, const uint8_t *at, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR) /* libFuzzer has a timer */
            continue;
        if (n <= 0)
            return;
        at += n;
        len -= (size_t)n;
    }
}

static void read_request(int fd)
{
    char head[8192];
    size_t len = 0;

    while (len < sizeof head) {
        ssize_t n = recv(fd, head + len, sizeof head - len, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        len += (size_t)n;
        if (memmem(head, len, "\r\n\r\n", 4) != NULL)
            return;
    }
}

/* Returns -1 if a report came instead: the request was sent on the last
 * connection before its end was noticed, or this response ended the URL. */
static int next_connection(void)
{
    struct pollfd p = {.fd = listener, .events = POLLIN};

    while (queue_count(reports) == 0)
        if (poll(&p, 1, 10) > 0)
            return accept(listener, NULL, NULL);
    return -1;
}

/* False: no request came any more. */
static bool respond(uint8_t flags, const uint8_t *at, size_t len)
{
    const struct linger hard = {.l_onoff = 1};
    const struct timeval most = {.tv_sec = 10};
    size_t cut = len * (flags >> 4) / 16;
    int fd = next_connection();

    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    read_request(fd);
    send_all(fd, at, cut);
    send_all(fd, at + cut, len - cut);
    if ((flags & 2) != 0)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(fd);
    return true;
}

/* False: it was a part of a sitemap; the final report is still to come. */
static bool take_report(void)
{
    void *item = NULL;
    struct report *r;
    size_t n = queue_gather(reports, &item, 1, WAIT, 1, 0);
    bool last;

    assert(n == 1); /* every URL ends with a report */
    r = item;
    last = r->kind != REPORT_PART;
    assert(r->id == 1 && r->kind != REPORT_GONE);
    report_free(r);
    return last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    if (listener < 0) {
        start_listener();
        start_fetcher();
    }
    give((data[0] & 1) != 0);
    /* libcurl may try again on a new connection; each is served. */
    do {
        while (respond(data[0], data + 1, size - 1))
            continue;
    } while (!take_report());
    return 0;
}
