/* SPDX-License-Identifier: MIT */
/* Server-sent events over real sockets, to as many watchers as are allowed. */
/* Promise (The service): 200 clients watch events at once, one more ends the
 * oldest stream; a client that does not read misses samples and costs one. */
#include <poll.h>

#include "service/http/http_request.h"
#include "tests/unit/service/http/http_rig.h"

static struct http_rig rig;

static void set_up(void)
{
    const struct crawl_factory factory = {0};

    http_rig_make(&rig, &factory);
}

static void tear_down(void)
{
    http_rig_fini(&rig);
}

/* How long to wait for what is certain to come, even on a slow machine. */
#define PATIENCE (60 * NS_PER_S)

/* ---- a watcher ---- */

struct watcher {
    int fd;
    struct buf got;
    bool over;
};

static struct watcher watch(void)
{
    struct watcher w = {.fd = http_rig_dial(&rig)};

    buf_init(&w.got, (size_t)1 << 20);
    http_rig_get(w.fd, "/v1/events");
    return w;
}

static unsigned samples_in(const struct watcher *w)
{
    unsigned n = 0;

    for (const char *at = buf_str(&w->got);
         (at = strstr(at, "event: stats\n")) != NULL; at++)
        n++;
    return n;
}

static void read_some(struct watcher *w)
{
    char block[8192];
    ssize_t n = recv(w->fd, block, sizeof block, MSG_DONTWAIT);

    if (n > 0)
        buf_add(&w->got, block, (size_t)n);
    w->over |= n == 0;
}

/* Reads all of them until each has `wanted` samples; returns the seconds
 * taken. */
static double until_samples(struct watcher *w, size_t n, unsigned wanted)
{
    int64_t begin = clock_mono();
    size_t done = 0;

    while (done < n) {
        ck_assert_int_lt(clock_mono() - begin, PATIENCE);
        usleep(n > 1 ? 50000 : 5000); /* keeps our share of the work small */
        done = 0;
        for (size_t i = 0; i < n; i++) {
            read_some(&w[i]);
            done += samples_in(&w[i]) >= wanted;
        }
    }
    return (double)(clock_mono() - begin) / (double)NS_PER_S;
}

static void leave(struct watcher *w)
{
    close(w->fd);
    buf_fini(&w->got);
}

/* ---- what watchers receive ---- */

/* The chunks' lengths (RFC 9112 section 7.1) are hexadecimal lines. */
static json_t *event_of(struct watcher *w, const char *id)
{
    const char *at = strstr(buf_str(&w->got), id), *end;
    json_t *j;

    ck_assert_ptr_nonnull(at);
    at = strstr(at, "\ndata: ");
    ck_assert_ptr_nonnull(at);
    at += strlen("\ndata: ");
    end = strstr(at, "\n\n");
    ck_assert_ptr_nonnull(end);
    j = json_loadb(at, (size_t)(end - at), JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(j);
    return j;
}

FIXTURE(set_up, tear_down);

/* The first event comes at once, the second at the server's next full
 * second. */
TEST(a_watcher_is_told_each_second_what_there_is)
{
    int64_t begun = clock_mono();
    struct watcher w = watch();
    unsigned n = 3;
    json_t *j, *crawl;

    until_samples(&w, 1, n);
    ck_assert_int_ge(clock_mono() - begun, NS_PER_S);
    while (until_samples(&w, 1, ++n) > 1.5)
        ck_assert_int_lt(clock_mono() - begun, PATIENCE);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&w.got), "Content-Type: text/event-stream\r\n"));
    ck_assert_ptr_nonnull(strstr(buf_str(&w.got), "retry: 2000\n"));
    ck_assert_ptr_nonnull(strstr(buf_str(&w.got), "\r\n: ")); /* at once */
    j = event_of(&w, "event: stats\nid: ");
    ck_assert(json_is_string(json_object_get(j, "at")));
    ck_assert_int_eq(json_integer_value(
                         json_object_get(json_object_get(j, "frontier"),
                                         "size")),
                     0);
    ck_assert(json_is_integer(
        json_object_get(json_object_get(j, "process"), "memory_bytes")));
    crawl = json_array_get(json_object_get(j, "crawls"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(crawl, "name")), "one");
    ck_assert_str_eq(json_string_value(json_object_get(crawl, "state")),
                     "failed");
    json_decref(j);
    leave(&w);
}

/* Returns false if refused. */
static bool is_let_watch(void)
{
    struct watcher w = watch();
    int64_t until = clock_mono() + PATIENCE;
    bool let;

    while (strstr(buf_str(&w.got), "\r\n") == NULL) {
        ck_assert_int_lt(clock_mono(), until);
        usleep(1000);
        read_some(&w);
    }
    let = strstr(buf_str(&w.got), " 200 OK\r\n") != NULL;
    if (let)
        until_samples(&w, 1, 1);
    leave(&w);
    return let;
}

/* Reads until the stream ends. */
static void is_ended(struct watcher *w)
{
    int64_t until = clock_mono() + PATIENCE;

    while (strstr(buf_str(&w->got), "\r\n0\r\n\r\n") == NULL) {
        ck_assert_int_lt(clock_mono(), until);
        usleep(1000);
        read_some(w);
    }
}

TEST(two_hundred_watch_and_one_more_ends_the_oldest)
{
    static struct watcher w[HTTP_WATCHERS_MOST];
    int64_t cpu;
    double took;

    for (size_t i = 0; i < HTTP_WATCHERS_MOST; i++)
        w[i] = watch();
    until_samples(w, HTTP_WATCHERS_MOST, 1);
    cpu = clock_cpu();
    took = until_samples(w, HTTP_WATCHERS_MOST, 3);
    cpu = clock_cpu() - cpu;
    ck_assert_double_lt((double)cpu / NS_PER_S, took); /* none is ever busy */
    ck_assert(is_let_watch());
    is_ended(&w[0]);
    http_rig_says(&rig, NULL, "/v1/stats", NULL, 200, "size");
    for (size_t i = 0; i < HTTP_WATCHERS_MOST; i++)
        leave(&w[i]);
    ck_assert(is_let_watch());
}

/* Checks that the numbers of its samples rise: none came twice. */
static bool each_is_newer(const struct watcher *w)
{
    static const char mark[] = "event: stats\nid: ";
    unsigned long id, last = 0;

    for (const char *at = buf_str(&w->got);
         (at = strstr(at, mark)) != NULL && strstr(at, "\ndata:") != NULL;
         last = id) {
        at += sizeof mark - 1;
        id = strtoul(at, NULL, 10);
        if (id <= last)
            return false;
    }
    return true;
}

/* Its socket takes a few samples; the server does not keep later ones for
 * it. */
TEST(one_that_does_not_read_misses_samples_and_holds_no_other_up)
{
    struct watcher slow = {.fd = http_rig_dial(&rig)}, quick = watch();
    const int small = 2048;
    unsigned slow_has;

    buf_init(&slow.got, (size_t)1 << 20);
    setsockopt(slow.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    http_rig_get(slow.fd, "/v1/events");
    until_samples(&quick, 1, 5);
    for (int i = 0; i < 100; i++) {
        usleep(1000);
        read_some(&slow);
    }
    slow_has = samples_in(&slow);
    until_samples(&slow, 1, slow_has + 2); /* and goes on with the newest */
    ck_assert(each_is_newer(&slow));
    leave(&slow);
    leave(&quick);
}

/* The stop does not wait for the stream as it would for a request. */
TEST(a_stop_ends_the_stream_in_good_order)
{
    const struct http_options o = {.listen = "127.0.0.1:0",
                                   .loopback = true,
                                   .drain_ms = 100000,
                                   .frontier = rig.frontier.s};
    struct watcher w;
    int64_t begin;

    http_server_close(rig.server);
    ck_ok(http_server_open(&rig.server, &o));
    w = watch();
    until_samples(&w, 1, 1);
    begin = clock_mono();
    http_server_stop(rig.server);
    http_server_close(rig.server);
    rig.server = NULL;
    while (!w.over) {
        ck_assert_int_lt(clock_mono() - begin, PATIENCE);
        usleep(1000);
        read_some(&w);
    }
    /* the last chunk */
    ck_assert_ptr_nonnull(strstr(buf_str(&w.got), "\r\n0\r\n\r\n"));
    leave(&w);
}
