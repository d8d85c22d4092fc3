/*
 * http_rig.h - an HTTP server over a frontier and, on request, a registry with
 * one crawl that cannot be opened, whose reports the test writes. Its client is
 * libcurl, or a socket to which a test writes raw octets. Header only.
 */
#ifndef URLWEIR_TESTS_SERVICE_HTTP_HTTP_RIG_H
#define URLWEIR_TESTS_SERVICE_HTTP_HTTP_RIG_H

#include <arpa/inet.h>
#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "service/http/http_server.h"
#include "tests/unit/service/service_rig.h"
#include "tests/unit/unit.h"

struct http_rig {
    struct service_rig frontier;
    struct crawls *crawls;
    struct http_server *server;
    char crawl_dir[128];
};

struct http_reply {
    long status; /* 0: none came */
    long curl;   /* CURLcode */
    struct buf text, head;
    json_t *json;
};

static inline size_t http_rig_take(char *data, size_t size, size_t n, void *to)
{
    buf_add(to, data, size * n);
    return size * n;
}

/* `body` NULL: none; `method` NULL: GET, or POST if there is a body. */
static inline CURL *http_rig_request(struct http_rig *r, struct http_reply *a,
                                     const char *method, const char *path,
                                     const char *body)
{
    static struct curl_slist *json;
    CURL *c = curl_easy_init();
    char url[600];

    if (json == NULL)
        json = curl_slist_append(NULL, "Content-Type: application/json");
    *a = (struct http_reply){0};
    buf_init(&a->text, (size_t)1 << 26);
    buf_init(&a->head, (size_t)1 << 16);
    snprintf(url, sizeof url, "http://%s%s", http_server_address(r->server),
             path);
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_PROXY, "");
    curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(c, CURLOPT_TIMEOUT, 120L);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, http_rig_take);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &a->text);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, http_rig_take);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, &a->head);
    curl_easy_setopt(c, CURLOPT_PRIVATE, a);
    if (body != NULL) {
        curl_easy_setopt(c, CURLOPT_COPYPOSTFIELDS, body);
        curl_easy_setopt(c, CURLOPT_HTTPHEADER, json);
    }
    if (method != NULL)
        curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method);
    return c;
}

/* Ends a completed request, whose reply is now final. */
static inline void http_rig_answered(CURL *c)
{
    struct http_reply *a = NULL;

    curl_easy_getinfo(c, CURLINFO_PRIVATE, &a);
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &a->status);
    a->json = json_loads(buf_str(&a->text), 0, NULL);
    curl_easy_cleanup(c);
}

static inline struct http_reply http_rig_ask(struct http_rig *r,
                                             const char *method,
                                             const char *path, const char *body)
{
    struct http_reply a;
    CURL *c = http_rig_request(r, &a, method, path, body);

    a.curl = curl_easy_perform(c);
    http_rig_answered(c);
    return a;
}

static inline void http_reply_fini(struct http_reply *a)
{
    json_decref(a->json);
    buf_fini(&a->text);
    buf_fini(&a->head);
}

/* Checks that the response has this status and contains `text`. */
static inline void http_rig_says(struct http_rig *r, const char *method,
                                 const char *path, const char *body,
                                 long status, const char *text)
{
    struct http_reply a = http_rig_ask(r, method, path, body);

    ck_assert_msg(a.status == status && strstr(buf_str(&a.text), text) != NULL,
                  "%s: %ld %s", path, a.status, buf_str(&a.text));
    if (status >= 400)
        ck_assert_msg(strstr(buf_str(&a.head),
                             "Content-Type: application/problem+json") != NULL,
                      "%s: %s", path, buf_str(&a.head));
    http_reply_fini(&a);
}

/* Connects a socket for raw octets. */
static inline int http_rig_dial(struct http_rig *r)
{
    const char *address = http_server_address(r->server);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval wait = {.tv_sec = 60};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_port = htons((uint16_t)atoi(strchr(address, ':') + 1));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static inline void http_rig_send(int fd, const char *text)
{
    ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL),
                     (ssize_t)strlen(text));
}

static inline void http_rig_get(int fd, const char *path)
{
    char text[300];

    snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
             path);
    http_rig_send(fd, text);
}

static inline void http_rig_post(int fd, const char *path, const char *body)
{
    char text[300];

    snprintf(text, sizeof text,
             "POST %s HTTP/1.1\r\nHost: localhost\r\n"
             "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
             path, strlen(body), body);
    http_rig_send(fd, text);
}

static inline enum status http_rig_cannot_open(void *ctx, const char *name,
                                               const char *dir, bool paused,
                                               struct crawl_job **out,
                                               struct buf *why)
{
    (void)ctx;
    (void)name;
    (void)dir;
    (void)paused;
    (void)out;
    buf_add_str(why, "a test's crawl cannot be opened");
    return STATUS_DAMAGED;
}

/* Makes a registry with the crawl "one"; it asks `factory` for everything
 * except opening it. */
static inline struct crawls *http_rig_crawls(
    struct http_rig *r, const struct crawl_factory *factory)
{
    struct crawl_factory all = *factory;
    struct crawls *c = NULL;
    char one[sizeof r->crawl_dir + 4];

    all.open = http_rig_cannot_open;
    snprintf(r->crawl_dir, sizeof r->crawl_dir, "%s/crawls",
             r->frontier.at.dir);
    snprintf(one, sizeof one, "%s/one", r->crawl_dir);
    ck_ok(file_make_dir(one));
    ck_ok(crawls_open(&c, r->crawl_dir, &all));
    return c;
}

/* `factory` NULL: no registry. */
static inline void http_rig_make(struct http_rig *r,
                                 const struct crawl_factory *factory)
{
    struct http_options o = {.listen = "127.0.0.1:0",
                             .loopback = true,
                             .drain_ms = 1000};

    scratch_quiet();
    *r = (struct http_rig){0};
    service_make(&r->frontier);
    if (factory != NULL)
        r->crawls = http_rig_crawls(r, factory);
    o.frontier = r->frontier.s;
    o.crawls = r->crawls;
    ck_ok(http_server_open(&r->server, &o));
}

static inline void http_rig_remove(const char *dir)
{
    char command[300];

    snprintf(command, sizeof command, "rm -r '%s'", dir);
    ck_assert_int_eq(system(command), 0);
}

static inline void http_rig_fini(struct http_rig *r)
{
    http_server_close(r->server);
    if (r->crawls != NULL) {
        ck_ok(crawls_close(r->crawls));
        http_rig_remove(r->crawl_dir);
    }
    service_fini(&r->frontier);
}

#endif
