/* SPDX-License-Identifier: MIT */
/*
 * bare_loop.c - a curl multi loop over known URLs as a child of a benchmark.
 *
 * It uses curl_multi_perform and curl_multi_poll, as libcurl's examples do.
 * Transfers wait outside the multi handle until they are due: its cost grows
 * with the handles in it.
 */
#include "bench/support/bare_loop.h"

#include <curl/curl.h>
#include <libxml/HTMLparser.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define AT_ONCE 64

struct slot {
    CURL *easy;
    struct loop *loop;
    htmlParserCtxtPtr parser;
    size_t url; /* the index of the URL under way */
};

struct loop {
    const struct bare_loop *what;
    CURLM *multi;
    struct slot slots[AT_ONCE];
    struct slot *idle[AT_ONCE];
    size_t idle_count, next, done, failed;
    uint64_t links, connections;
    int64_t *due; /* of each host; NULL: no delay */
};

/* ---- the body ---- */

static void count_links(void *ctx, const xmlChar *name, const xmlChar **atts)
{
    struct slot *s = ctx;

    (void)name;
    for (size_t i = 0; atts != NULL && atts[i] != NULL; i += 2) {
        if (strcmp((const char *)atts[i], "href") == 0 ||
            strcmp((const char *)atts[i], "src") == 0)
            s->loop->links++;
    }
}

static size_t take_body(char *at, size_t size, size_t n, void *ctx)
{
    static htmlSAXHandler sax = {.startElement = count_links};
    struct slot *s = ctx;

    if (!s->loop->what->parse)
        return size * n;
    if (s->parser == NULL) {
        s->parser = htmlCreatePushParserCtxt(&sax, s, NULL, 0, NULL,
                                             XML_CHAR_ENCODING_UTF8);
        htmlCtxtUseOptions(s->parser, HTML_PARSE_NOERROR |
                                          HTML_PARSE_NOWARNING |
                                          HTML_PARSE_NONET);
    }
    htmlParseChunk(s->parser, at, (int)(size * n), 0);
    return size * n;
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
    if (s->parser != NULL) {
        htmlParseChunk(s->parser, "", 0, 1);
        htmlFreeParserCtxt(s->parser);
        s->parser = NULL;
    }
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
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, verify);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2 * verify);
    return e;
}

/* ---- the loop ---- */

static void poll_until_due(struct loop *l)
{
    int64_t wait = INT64_MAX;

    if (l->idle_count > 0 && l->next < l->what->count)
        wait = next_wait(l);
    if (wait > NS_PER_S)
        wait = NS_PER_S;
    if (wait > 0)
        curl_multi_poll(l->multi, NULL, 0,
                        (int)((wait + NS_PER_MS - 1) / NS_PER_MS), NULL);
}

static void init(struct loop *l, const struct bare_loop *b)
{
    *l = (struct loop){.what = b, .multi = curl_multi_init()};
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
    }
}

static void run(struct loop *l)
{
    int running, left;

    begin_due(l);
    while (l->done < l->what->count) {
        CURLMsg *msg;

        curl_multi_perform(l->multi, &running);
        while ((msg = curl_multi_info_read(l->multi, &left)) != NULL)
            finish(l, msg);
        begin_due(l);
        if (l->done < l->what->count)
            poll_until_due(l);
    }
}

static void fini(struct loop *l)
{
    for (size_t i = 0; i < AT_ONCE; i++)
        curl_easy_cleanup(l->slots[i].easy);
    curl_multi_cleanup(l->multi);
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
