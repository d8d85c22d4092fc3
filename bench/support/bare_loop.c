/* SPDX-License-Identifier: MIT */
/*
 * bare_loop.c - a curl multi loop over known URLs as a child of a benchmark.
 *
 * libcurl says which sockets it waits for, and epoll says which of them are
 * ready (curl_multi_socket_action), so a turn costs what happened, not what
 * waits. Transfers wait outside the multi handle until they are due. A body is
 * gathered and parsed whole: libxml2's push parser takes twice the time.
 */
#include "bench/support/bare_loop.h"

#include <curl/curl.h>
#include <libxml/HTMLparser.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define AT_ONCE 64
#define EVENTS  64

struct slot {
    CURL *easy;
    struct loop *loop;
    char *body;
    size_t len, cap;
    size_t url; /* the index of the URL under way */
};

struct loop {
    const struct bare_loop *what;
    CURLM *multi;
    int epoll;
    int64_t timer; /* when libcurl wants its turn; INT64_MAX: never */
    htmlParserCtxtPtr parser;
    struct slot slots[AT_ONCE];
    struct slot *idle[AT_ONCE];
    size_t idle_count, next, done, failed;
    uint64_t links, connections;
    int64_t *due; /* of each host; NULL: no delay */
};

/* ---- the body ---- */

static void count_links(void *ctx, const xmlChar *name, const xmlChar **atts)
{
    struct loop *l = ctx;

    (void)name;
    for (size_t i = 0; atts != NULL && atts[i] != NULL; i += 2) {
        if (strcmp((const char *)atts[i], "href") == 0 ||
            strcmp((const char *)atts[i], "src") == 0)
            l->links++;
    }
}

static size_t take_body(char *at, size_t size, size_t n, void *ctx)
{
    struct slot *s = ctx;
    size_t len = size * n;

    if (!s->loop->what->parse)
        return len;
    if (s->len + len > s->cap) {
        s->cap = 2 * (s->len + len);
        s->body = xrealloc(s->body, s->cap);
    }
    memcpy(s->body + s->len, at, len);
    s->len += len;
    return len;
}

static void parse(struct loop *l, const struct slot *s)
{
    xmlFreeDoc(htmlCtxtReadMemory(l->parser, s->body, (int)s->len, NULL,
                                  "UTF-8",
                                  HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING |
                                      HTML_PARSE_NONET));
}

static htmlParserCtxtPtr new_parser(struct loop *l)
{
    htmlParserCtxtPtr p = htmlNewParserCtxt();

    memset(p->sax, 0, sizeof *p->sax);
    p->sax->startElement = count_links;
    p->userData = l;
    return p;
}

/* ---- transfers ---- */

/* How long the next URL has to wait, in ns; not above 0: it is due. INT64_MAX:
 * it waits for a response of its host. */
static int64_t next_wait(const struct loop *l)
{
    int64_t due;

    if (l->due == NULL)
        return 0;
    due = l->due[l->next % l->what->hosts];
    return due == INT64_MAX ? INT64_MAX : due - clock_mono();
}

static void begin_due(struct loop *l)
{
    while (l->idle_count > 0 && l->next < l->what->count && next_wait(l) <= 0) {
        struct slot *s = l->idle[--l->idle_count];

        s->url = l->next++;
        if (l->due != NULL)
            l->due[s->url % l->what->hosts] = INT64_MAX;
        curl_easy_setopt(s->easy, CURLOPT_URL, l->what->urls[s->url]);
        curl_multi_add_handle(l->multi, s->easy);
    }
}

static void finish(struct loop *l, CURLMsg *msg)
{
    struct slot *s = NULL;
    long opened = 0;

    curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&s);
    curl_easy_getinfo(s->easy, CURLINFO_NUM_CONNECTS, &opened);
    l->connections += (uint64_t)opened;
    l->done++;
    l->failed += msg->data.result != CURLE_OK;
    if (s->len > 0)
        parse(l, s);
    s->len = 0;
    if (l->due != NULL)
        l->due[s->url % l->what->hosts] = clock_mono() + l->what->delay_ns;
    curl_multi_remove_handle(l->multi, s->easy);
    l->idle[l->idle_count++] = s;
}

static CURL *new_easy(struct slot *s)
{
    CURL *e = curl_easy_init();
    long verify = s->loop->what->insecure ? 0 : 1;

    curl_easy_setopt(e, CURLOPT_PRIVATE, s);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, s);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_PROXY, "");
    curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, 20000L);
    curl_easy_setopt(e, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, verify);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2 * verify);
    return e;
}

/* ---- the loop ---- */

static int watch(CURL *easy, curl_socket_t fd, int what, void *ctx, void *known)
{
    struct loop *l = ctx;
    struct epoll_event e = {.events =
                                (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) |
                                (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0),
                            .data.fd = fd};

    (void)easy;
    if (what == CURL_POLL_REMOVE)
        epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
    else if (known != NULL)
        epoll_ctl(l->epoll, EPOLL_CTL_MOD, fd, &e);
    else if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) == 0)
        curl_multi_assign(l->multi, fd, l);
    return 0;
}

static int set_timer(CURLM *multi, long ms, void *ctx)
{
    struct loop *l = ctx;

    (void)multi;
    l->timer = ms < 0 ? INT64_MAX : clock_mono() + ms * NS_PER_MS;
    return 0;
}

/* Until a socket is ready, the timer is over or a URL is due; in ms. */
static int how_long(const struct loop *l)
{
    int64_t wait = l->timer == INT64_MAX ? NS_PER_S : l->timer - clock_mono();

    if (l->idle_count > 0 && l->next < l->what->count && next_wait(l) < wait)
        wait = next_wait(l);
    if (wait > NS_PER_S)
        wait = NS_PER_S;
    return wait > 0 ? (int)((wait + NS_PER_MS - 1) / NS_PER_MS) : 0;
}

static void turn(struct loop *l)
{
    struct epoll_event ready[EVENTS];
    int n = epoll_wait(l->epoll, ready, EVENTS, how_long(l)), running;

    for (int i = 0; i < n; i++) {
        uint32_t e = ready[i].events;

        curl_multi_socket_action(l->multi, ready[i].data.fd,
                                 (e & EPOLLIN ? CURL_CSELECT_IN : 0) |
                                     (e & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                                     (e & (EPOLLERR | EPOLLHUP)
                                          ? CURL_CSELECT_ERR
                                          : 0),
                                 &running);
    }
    if (l->timer <= clock_mono()) {
        l->timer = INT64_MAX;
        curl_multi_socket_action(l->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
}

static void init(struct loop *l, const struct bare_loop *b)
{
    *l = (struct loop){.what = b,
                       .multi = curl_multi_init(),
                       .epoll = epoll_create1(EPOLL_CLOEXEC),
                       .timer = INT64_MAX};
    l->parser = new_parser(l);
    curl_multi_setopt(l->multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(l->multi, CURLMOPT_SOCKETDATA, l);
    curl_multi_setopt(l->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(l->multi, CURLMOPT_TIMERDATA, l);
    for (; l->idle_count < AT_ONCE; l->idle_count++) {
        struct slot *s = &l->slots[l->idle_count];

        s->loop = l;
        s->easy = new_easy(s);
        l->idle[l->idle_count] = s;
    }
    if (b->delay_ns > 0) {
        l->due = xcalloc(b->hosts, sizeof *l->due);
        curl_multi_setopt(l->multi, CURLMOPT_MAXCONNECTS,
                          (long)(b->hosts + AT_ONCE));
    } /* else as many as libcurl likes: it walks over all of them each time */
}

static void run(struct loop *l)
{
    int left;

    begin_due(l);
    while (l->done < l->what->count) {
        CURLMsg *msg;

        turn(l);
        while ((msg = curl_multi_info_read(l->multi, &left)) != NULL)
            finish(l, msg);
        begin_due(l);
    }
}

static void fini(struct loop *l)
{
    for (size_t i = 0; i < AT_ONCE; i++) {
        curl_easy_cleanup(l->slots[i].easy);
        free(l->slots[i].body);
    }
    curl_multi_cleanup(l->multi);
    htmlFreeParserCtxt(l->parser);
    close(l->epoll);
    free(l->due);
}

struct crawl_cost bare_loop_measure(const struct bare_loop *b,
                                    uint64_t *connections)
{
    uint64_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int64_t begun = clock_mono();
    struct crawl_cost c;
    pid_t pid;

    if (shared == MAP_FAILED)
        return (struct crawl_cost){.status = -1};
    pid = fork();
    if (pid == 0) {
        struct loop l;

        init(&l, b);
        run(&l);
        fini(&l);
        *shared = l.connections;
        _exit(l.failed == 0 ? 0 : 1);
    }
    c = crawl_cost_of(pid, begun);
    if (connections != NULL)
        *connections = *shared;
    munmap(shared, sizeof *shared);
    return c;
}
