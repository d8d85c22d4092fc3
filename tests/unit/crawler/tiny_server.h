/* SPDX-License-Identifier: MIT */
/*
 * tiny_server.h - a web server with a few routes, inside the test's process.
 *
 * A route holds the raw octets of a response and what happens to the connection
 * afterwards, so each test shows what went over the wire.
 */
#ifndef URLWEIR_TESTS_CRAWLER_TINY_SERVER_H
#define URLWEIR_TESTS_CRAWLER_TINY_SERVER_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/unit.h"

enum after { KEEP, CLOSE, RESET, STALL };

struct route {
    const char *path;
    const char *response;
    size_t len; /* 0: strlen(response) */
    enum after after;
    int delay_ms; /* before the response */
    atomic_uint asked;
    unsigned repeat; /* sends its last `repeat_len` octets so often again */
    size_t repeat_len;
    bool held; /* no response before tiny_let_go */
};

struct tiny_client;
struct tiny_server {
    struct route *routes;
    size_t count;
    int fd;
    unsigned short port;
    pthread_t thread;
    pthread_mutex_t mtx;
    pthread_cond_t changed; /* a request came, or a route was released */
    const char *greeting;   /* sent instead of HTTP; then all is read */
    char head[4096];        /* of the last request */
    atomic_uint connections, open_most, requests;
    struct tiny_client *clients; /* includes closed ones */
    struct tiny_copy *copies;    /* of responses that were set later */
};

/* Threads may still read it when the test has the next one. */
struct tiny_copy {
    struct tiny_copy *next;
    char text[];
};

struct tiny_client {
    struct tiny_server *server;
    struct tiny_client *next;
    pthread_t thread;
    int fd;
    bool gone;
};

static struct route *tiny_route(struct tiny_server *s, const char *head)
{
    const char *path = strchr(head, ' ');

    for (size_t i = 0; path != NULL && i < s->count; i++) {
        size_t len = strlen(s->routes[i].path);

        if (strncmp(path + 1, s->routes[i].path, len) == 0 &&
            path[1 + len] == ' ')
            return &s->routes[i];
    }
    return NULL;
}

static bool tiny_write(int fd, const char *at, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

/* Reads one request's head; false: the client has closed. */
static bool tiny_read(int fd, char *head, size_t size)
{
    size_t len = 0;

    while (len < size - 1) {
        ssize_t n = recv(fd, head + len, 1, 0);

        if (n <= 0)
            return false;
        head[++len] = '\0';
        if (len >= 4 && strcmp(head + len - 4, "\r\n\r\n") == 0)
            return true;
    }
    return false;
}

/* Returns true if the connection stays open. */
static bool tiny_serve(int fd, struct route *r)
{
    static const char missing[] = "HTTP/1.1 404 Not Found\r\n"
                                  "Content-Length: 0\r\n\r\n";
    struct linger hard = {.l_onoff = 1};
    char rest[16];
    size_t len;

    if (r == NULL)
        return tiny_write(fd, missing, sizeof missing - 1);
    len = r->len > 0 ? r->len : strlen(r->response);
    if (r->delay_ms > 0)
        usleep((useconds_t)r->delay_ms * 1000);
    if (!tiny_write(fd, r->response, len))
        return false;
    for (unsigned i = 0; i < r->repeat; i++) {
        if (!tiny_write(fd, r->response + len - r->repeat_len, r->repeat_len))
            return false;
    }
    if (r->after == RESET) {
        usleep(50 * 1000); /* lets the response arrive first */
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    }
    if (r->after == STALL)
        (void)tiny_read(fd, rest, sizeof rest); /* until the client closes */
    return r->after == KEEP;
}

/* Returns a copy of the requested route, once it may be answered. */
static struct route tiny_find(struct tiny_server *s, const char *head)
{
    struct route found = {0}, *r;

    pthread_mutex_lock(&s->mtx);
    memcpy(s->head, head, sizeof s->head);
    s->requests++;
    r = tiny_route(s, head);
    if (r != NULL) {
        r->asked++;
        pthread_cond_broadcast(&s->changed);
        while (r->held)
            pthread_cond_wait(&s->changed, &s->mtx);
        found = *r;
    }
    pthread_mutex_unlock(&s->mtx);
    return found;
}

static void *tiny_talk(void *arg)
{
    struct tiny_client *c = arg;
    struct tiny_server *s = c->server;
    char head[sizeof s->head];
    bool go_on = s->greeting == NULL;

    if (!go_on && tiny_write(c->fd, s->greeting, strlen(s->greeting)))
        while (recv(c->fd, head, sizeof head, 0) > 0)
            continue;
    while (go_on && tiny_read(c->fd, head, sizeof head)) {
        struct route r = tiny_find(s, head);

        go_on = tiny_serve(c->fd, r.path != NULL ? &r : NULL);
    }
    pthread_mutex_lock(&s->mtx);
    c->gone = true;
    close(c->fd);
    pthread_mutex_unlock(&s->mtx);
    return NULL;
}

static bool tiny_is_open(int fd)
{
    char octet;
    ssize_t n = recv(fd, &octet, 1, MSG_PEEK | MSG_DONTWAIT);

    return n > 0 || (n < 0 && errno == EAGAIN);
}

/* Counts the clients that have not hung up, including hang-ups that our threads
 * have not noticed yet. */
static unsigned tiny_count_open(struct tiny_server *s)
{
    unsigned n = 0;

    for (struct tiny_client *c = s->clients; c != NULL; c = c->next)
        n += !c->gone && tiny_is_open(c->fd);
    return n;
}

static void *tiny_accept(void *arg)
{
    struct tiny_server *s = arg;
    int fd;

    while ((fd = accept(s->fd, NULL, NULL)) >= 0) {
        struct tiny_client *c = calloc(1, sizeof *c);
        unsigned open;

        pthread_mutex_lock(&s->mtx);
        c->server = s;
        c->fd = fd;
        c->next = s->clients;
        s->clients = c;
        s->connections++;
        open = tiny_count_open(s);
        if (open > s->open_most)
            s->open_most = open;
        ck_assert_int_eq(pthread_create(&c->thread, NULL, tiny_talk, c), 0);
        pthread_mutex_unlock(&s->mtx);
    }
    return NULL;
}

/* Sets the response of `r` from now on, to a copy. */
static inline void tiny_answer(struct tiny_server *s, struct route *r,
                               const char *response)
{
    size_t size = strlen(response) + 1;
    struct tiny_copy *copy = malloc(sizeof *copy + size);

    ck_assert_ptr_nonnull(copy);
    memcpy(copy->text, response, size);
    copy->next = s->copies;
    s->copies = copy;
    pthread_mutex_lock(&s->mtx);
    r->response = copy->text;
    pthread_mutex_unlock(&s->mtx);
}

/* Waits for `times` requests for `r`, so a test knows without a clock what is
 * in flight. */
static inline void tiny_wait_asked(struct tiny_server *s, const struct route *r,
                                   unsigned times)
{
    pthread_mutex_lock(&s->mtx);
    while (r->asked < times)
        pthread_cond_wait(&s->changed, &s->mtx);
    pthread_mutex_unlock(&s->mtx);
}

/* Releases a held route: it answers now and from now on. */
static inline void tiny_let_go(struct tiny_server *s, struct route *r)
{
    pthread_mutex_lock(&s->mtx);
    r->held = false;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mtx);
}

/* Listens on 127.0.0.1 and a free port. */
static void tiny_start(struct tiny_server *s, struct route *routes,
                       size_t count)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;

    memset(s, 0, sizeof *s);
    s->routes = routes;
    s->count = count;
    pthread_mutex_init(&s->mtx, NULL);
    pthread_cond_init(&s->changed, NULL);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(s->fd, (struct sockaddr *)&a, sizeof a), 0);
    ck_assert_int_eq(listen(s->fd, 64), 0);
    ck_assert_int_eq(getsockname(s->fd, (struct sockaddr *)&a, &len), 0);
    s->port = ntohs(a.sin_port);
    ck_assert_int_eq(pthread_create(&s->thread, NULL, tiny_accept, s), 0);
}

static void tiny_stop(struct tiny_server *s)
{
    struct tiny_client *c;

    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
    pthread_mutex_lock(&s->mtx);
    for (c = s->clients; c != NULL; c = c->next) {
        if (!c->gone)
            shutdown(c->fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&s->mtx);
    while ((c = s->clients) != NULL) {
        pthread_join(c->thread, NULL);
        s->clients = c->next;
        free(c);
    }
    while (s->copies != NULL) {
        struct tiny_copy *copy = s->copies;

        s->copies = copy->next;
        free(copy);
    }
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->mtx);
}

#endif
