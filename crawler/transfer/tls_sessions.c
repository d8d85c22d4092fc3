/* SPDX-License-Identifier: MIT */
/* tls_sessions.c - a bounded map, and a list in order of use. */
#include "crawler/transfer/tls_sessions.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define SESSION_OVERHEAD 160 /* of an entry: map, list, malloc */

struct session {
    struct session *older, *newer;
    struct bytes key, data; /* in `text` */
    char text[];
};

struct tls_sessions {
    pthread_mutex_t mtx;
    uint64_t room;
    /* shared, under mtx */
    struct map *by_key;
    struct session *oldest, *newest;
    uint64_t used;
};

struct tls_sessions *tls_sessions_new(uint64_t bytes)
{
    struct tls_sessions *s = xcalloc(1, sizeof *s);

    pthread_mutex_init(&s->mtx, NULL);
    s->room = bytes;
    s->by_key = map_new();
    return s;
}

static uint64_t size_of(const struct session *one)
{
    return SESSION_OVERHEAD + 2 * one->key.len + one->data.len;
}

/* Takes it out of map and list. */
static void take_out(struct tls_sessions *s, struct session *one)
{
    map_remove(s->by_key, one->key);
    *(one->older != NULL ? &one->older->newer : &s->oldest) = one->newer;
    *(one->newer != NULL ? &one->newer->older : &s->newest) = one->older;
    s->used -= size_of(one);
}

/* It holds keys of the connection. */
static void forget(struct session *one)
{
    OPENSSL_cleanse(one->text, one->key.len + one->data.len);
    free(one);
}

static void forget_oldest(struct tls_sessions *s)
{
    struct session *one = s->oldest;

    assert(one->older == NULL);
    take_out(s, one);
    assert(s->oldest != one);
    forget(one);
}

void tls_sessions_free(struct tls_sessions *s)
{
    if (s == NULL)
        return;
    while (s->oldest != NULL)
        forget_oldest(s);
    map_free(s->by_key, NULL);
    pthread_mutex_destroy(&s->mtx);
    free(s);
}

static struct session *session_of(struct bytes key, struct bytes data)
{
    struct session *one = xcalloc(1, sizeof *one + key.len + data.len);

    memcpy(one->text, key.at, key.len);
    memcpy(one->text + key.len, data.at, data.len);
    one->key = bytes_of(one->text, key.len);
    one->data = bytes_of(one->text + key.len, data.len);
    return one;
}

static void put_in(struct tls_sessions *s, struct session *one)
{
    map_put(s->by_key, one->key, one);
    one->older = s->newest;
    *(s->newest != NULL ? &s->newest->newer : &s->oldest) = one;
    s->newest = one;
    s->used += size_of(one);
}

void tls_sessions_put(struct tls_sessions *s, struct bytes key,
                      struct bytes session)
{
    struct session *one, *old;

    if (session.len == 0 || session.len > TLS_SESSION_MOST)
        return;
    one = session_of(key, session);
    pthread_mutex_lock(&s->mtx);
    old = map_get(s->by_key, key);
    if (old != NULL) {
        take_out(s, old);
        forget(old);
    }
    put_in(s, one);
    while (s->used > s->room && s->oldest != NULL)
        forget_oldest(s);
    pthread_mutex_unlock(&s->mtx);
}

bool tls_sessions_take(struct tls_sessions *s, struct bytes key,
                       struct buf *out)
{
    struct session *one;

    pthread_mutex_lock(&s->mtx);
    one = map_get(s->by_key, key);
    if (one != NULL)
        take_out(s, one);
    pthread_mutex_unlock(&s->mtx);
    if (one == NULL)
        return false;
    buf_add_bytes(out, one->data);
    forget(one);
    return true;
}
