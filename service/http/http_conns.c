/* SPDX-License-Identifier: MIT */
/*
 * http_conns.c - places and deadlines of the HTTP port's connections.
 *
 * All are checked when the earliest deadline may have passed, once a second at
 * most. Under the mutex a descriptor cannot be closed and reused: the library
 * reports the end of a connection before it closes the descriptor.
 */
#include "service/http/http_conns.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

#define LOOK_EVERY NS_PER_S

struct http_conn {
    struct place place; /* first */
    TAILQ_ENTRY(http_conn) all;
    int fd;
    struct http_tls_set *tls;
    int64_t due;        /* 0: none */
    enum place_end why; /* the reason for closing it then */
};

TAILQ_HEAD(http_conn_list, http_conn);

struct http_conns {
    struct http_conns_options options;

    pthread_mutex_t mtx; /* guards what follows */
    struct places places;
    struct http_conn_list all;
    int64_t next; /* the next check */
};

struct http_conns *http_conns_new(const struct http_conns_options *o)
{
    struct http_conns *s = xcalloc(1, sizeof *s);

    s->options = *o;
    pthread_mutex_init(&s->mtx, NULL);
    places_init(&s->places, o->connections, o->address_most);
    TAILQ_INIT(&s->all);
    s->next = INT64_MAX;
    return s;
}

void http_conns_free(struct http_conns *s)
{
    if (s == NULL)
        return;
    pthread_mutex_destroy(&s->mtx);
    free(s);
}

/* ---- deadlines ---- */

/* Under the mutex. True: tell the pump. */
static bool set_due(struct http_conns *s, struct http_conn *c, int64_t in,
                    enum place_end why)
{
    c->due = clock_mono() + in;
    c->why = why;
    if (c->due >= s->next)
        return false;
    s->next = c->due;
    return true;
}

static void due_in(struct http_conns *s, struct http_conn *c, int64_t in,
                   enum place_end why)
{
    bool tell;

    if (c == NULL)
        return;
    pthread_mutex_lock(&s->mtx);
    tell = set_due(s, c, in, why);
    pthread_mutex_unlock(&s->mtx);
    if (tell)
        s->options.nudge(s->options.ctx);
}

void http_conns_asked(struct http_conns *s, struct http_conn *c)
{
    due_in(s, c, s->options.head_ns, PLACE_SLOW);
}

void http_conns_answered(struct http_conns *s, struct http_conn *c)
{
    due_in(s, c, s->options.idle_ns, PLACE_IDLE);
}

/* Known callers have only the library's own time limit from here on. */
void http_conns_read(struct http_conns *s, struct http_conn *c)
{
    if (c == NULL || c->place.is != PLACE_KNOWN)
        due_in(s, c, s->options.idle_ns, PLACE_SLOW);
    else
        http_conns_know(s, c);
}

/* Under the mutex. */
static void shut_down(struct place *gone)
{
    if (gone != NULL)
        shutdown(((struct http_conn *)gone)->fd,
                 SHUT_RDWR); /* `place` is first */
}

void http_conns_know(struct http_conns *s, struct http_conn *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&s->mtx);
    shut_down(places_know(&s->places, &c->place, clock_mono()));
    c->due = 0;
    pthread_mutex_unlock(&s->mtx);
}

void http_conns_use(struct http_conns *s, struct http_conn *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&s->mtx);
    places_use(&s->places, &c->place);
    pthread_mutex_unlock(&s->mtx);
}

void http_conns_rest(struct http_conns *s, struct http_conn *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&s->mtx);
    places_rest(&c->place);
    pthread_mutex_unlock(&s->mtx);
}

int64_t http_conns_check(void *conns)
{
    struct http_conns *s = conns;
    int64_t now = clock_mono(), next = INT64_MAX;
    struct http_conn *c;

    pthread_mutex_lock(&s->mtx);
    if (now < s->next) {
        next = s->next;
        pthread_mutex_unlock(&s->mtx);
        return next;
    }
    for (c = TAILQ_FIRST(&s->all); c != NULL; c = TAILQ_NEXT(c, all)) {
        if (c->due == 0)
            continue;
        if (now >= c->due) {
            c->due = 0;
            places_count(&s->places, c->why);
            shutdown(c->fd, SHUT_RDWR);
        } else if (c->due < next) {
            next = c->due;
        }
    }
    if (next < now + LOOK_EVERY)
        next = now + LOOK_EVERY;
    s->next = next;
    pthread_mutex_unlock(&s->mtx);
    return next;
}

/* ---- coming and going ---- */

struct http_conn *http_conns_begin(struct http_conns *s, int fd,
                                   const struct sockaddr *from,
                                   struct http_tls_set *tls)
{
    struct http_conn *c = xcalloc(1, sizeof *c);

    c->fd = fd;
    c->tls = tls;
    pthread_mutex_lock(&s->mtx);
    shut_down(places_take(&s->places, &c->place, from, clock_mono()));
    TAILQ_INSERT_TAIL(&s->all, c, all);
    pthread_mutex_unlock(&s->mtx);
    due_in(s, c, s->options.head_ns, PLACE_SLOW);
    return c;
}

struct http_tls_set *http_conns_end(struct http_conns *s, struct http_conn *c)
{
    struct http_tls_set *tls = c->tls;

    pthread_mutex_lock(&s->mtx);
    places_leave(&s->places, &c->place);
    TAILQ_REMOVE(&s->all, c, all);
    pthread_mutex_unlock(&s->mtx);
    free(c);
    return tls;
}

uint64_t http_conns_closed(const struct http_conns *s, enum place_end why)
{
    return places_counted(&s->places, why);
}
