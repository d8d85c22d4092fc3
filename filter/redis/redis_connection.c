/* SPDX-License-Identifier: MIT */
/*
 * redis_connection.c - a Redis server that runs scripts for a caller who waits.
 *
 *   CLOSED --connect, sign in--> OPEN --error, time-out--> CLOSED
 *
 * A node of a Redis Cluster that lacks a key names the one that has it (MOVED,
 * or ASK while a slot moves; the cluster specification, "MOVED Redirection").
 * We go there and stay. If the connection is lost, we begin again where the URL
 * says, as the node we were sent to may be gone for good.
 *
 * A server that sends an octet a second must not hold its caller for ever: each
 * wait has a deadline for the whole answer.
 */
#include "filter/redis/redis_connection.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "filter/redis/redis_link.h"

#define FIRST_WAIT (100 * NS_PER_MS)
#define MOST_WAIT  (30 * NS_PER_S)
#define SHA_SIZE   40
#define ARGS_MOST  48

struct redis_connection {
    struct redis_place place;  /* its host and port are those of now */
    struct redis_address home; /* the address in the URL */
    bool asking;               /* the next script must follow ASKING */
    int64_t patience;          /* ns */
    struct redis_link *link;   /* NULL: closed */
    int64_t wait;              /* ns, before the try after the next failure */
    int64_t next_try;          /* clock_mono() */
    char run_id[REDIS_RUN_ID_SIZE];
    char sha[LINK_SCRIPTS][SHA_SIZE + 1]; /* "": not loaded */
    bool may_evict, is_logged;
    char error[256];
};

struct redis_connection *redis_connection_new(const struct redis_place *place,
                                              int64_t patience_ms)
{
    struct redis_connection *l = xcalloc(1, sizeof *l);

    l->place = *place;
    l->home = place->at;
    l->patience = patience_ms * NS_PER_MS;
    return l;
}

static void close_link(struct redis_connection *l)
{
    redis_link_free(l->link);
    l->link = NULL;
    memset(l->sha, 0, sizeof l->sha);
}

void redis_connection_free(struct redis_connection *l)
{
    if (l == NULL)
        return;
    close_link(l);
    explicit_bzero(l->place.at.password, sizeof l->place.at.password);
    explicit_bzero(l->home.password, sizeof l->home.password);
    free(l);
}

/* ---- messages and waits ---- */

static void wait_longer(struct redis_connection *l)
{
    uint32_t random = 0;
    int64_t half;

    if (l->wait == 0)
        l->wait = FIRST_WAIT;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
        random = UINT32_C(1) << 31;
    half = l->wait / 2;
    l->next_try =
        clock_mono() + half + (int64_t)((double)half * random / UINT32_MAX);
    l->wait = l->wait * 2 < MOST_WAIT ? l->wait * 2 : MOST_WAIT;
}

void redis_connection_lose(struct redis_connection *l)
{
    close_link(l);
    l->place.at = l->home;
    l->asking = false;
    wait_longer(l);
}

static enum status lost(struct redis_connection *l, const char *why)
{
    redis_error_keep(bytes_of_str(why), l->error, sizeof l->error);
    redis_connection_lose(l);
    return STATUS_CLOSED;
}

bool redis_connection_is_open(const struct redis_connection *l)
{
    return l->link != NULL;
}

bool redis_connection_is_due(const struct redis_connection *l)
{
    return l->link != NULL || clock_mono() >= l->next_try;
}

const char *redis_connection_run_id(const struct redis_connection *l)
{
    return l->run_id;
}

const char *redis_connection_error(const struct redis_connection *l)
{
    return l->error;
}

bool redis_connection_may_evict(const struct redis_connection *l)
{
    return l->may_evict;
}

bool redis_connection_is_logged(const struct redis_connection *l)
{
    return l->is_logged;
}

/* ---- octets out and in ---- */

/* Let the connection do its work until something comes, at most until
 * `deadline`. */
static enum status connection_work(struct redis_connection *l, int64_t deadline)
{
    struct pollfd p = {.fd = redis_link_fd(l->link),
                       .events = redis_link_events(l->link)};
    int64_t left = deadline - clock_mono();
    enum status st;

    if (left <= 0)
        return lost(l, "no answer in time");
    if (p.fd >= 0)
        (void)poll(&p, 1, (int)(left / NS_PER_MS) + 1);
    st = redis_link_turn(l->link);
    if (st != STATUS_OK)
        snprintf(l->error, sizeof l->error, "%s", redis_link_error(l->link));
    return st;
}

static int64_t answer_deadline(const struct redis_connection *l)
{
    return clock_mono() + l->place.timeout_ms * NS_PER_MS;
}

/* Read the next whole answer. What came before a connection ended counts. */
static enum status read_answer(struct redis_connection *l, redisReply **out)
{
    int64_t deadline = answer_deadline(l);
    enum status st = redis_link_next(l->link, out), end = STATUS_OK;

    while (st == STATUS_AGAIN && end == STATUS_OK) {
        end = connection_work(l, deadline);
        if (l->link == NULL)
            return end;
        st = redis_link_next(l->link, out);
    }
    if (st == STATUS_OK)
        return STATUS_OK;
    return lost(l, redis_link_error(l->link));
}

/* Go to the node that a redirection names. STATUS_AGAIN: repeat the call. */
static enum status connection_follow(struct redis_connection *l,
                                     struct bytes text)
{
    struct redis_spot spot;
    bool ask;

    if (redis_redirect_read(text, &ask, &spot) != STATUS_OK ||
        spot.host.len >= sizeof l->place.at.host || l->place.at.is_unix)
        return STATUS_ARG;
    close_link(l);
    if (spot.host.len > 0)
        snprintf(l->place.at.host, sizeof l->place.at.host, "%.*s",
                 (int)spot.host.len, spot.host.at);
    l->place.at.port = spot.port;
    l->asking = ask;
    return STATUS_AGAIN;
}

static enum status receive(struct redis_connection *l, redisReply **out)
{
    redisReply *r = NULL;
    enum status st = read_answer(l, &r);
    struct bytes text;

    if (st != STATUS_OK || r->type != REDIS_REPLY_ERROR) {
        *out = r;
        return st;
    }
    text = bytes_of(r->str, (size_t)r->len);
    st = redis_error_status(text);
    redis_error_keep(text, l->error, sizeof l->error);
    if (st == STATUS_NOT_FOUND)
        st = connection_follow(l, text);
    else if (bytes_starts_with(text, "CROSSSLOT"))
        snprintf(l->error, sizeof l->error,
                 "in a Redis Cluster the keys of a filter are together only if "
                 "its name has a tag: key={%.64s}",
                 l->place.key);
    freeReplyObject(r);
    if (st == STATUS_CLOSED)
        redis_connection_lose(l);
    return st;
}

/* ---- connecting ---- */

static void learn(struct redis_connection *l)
{
    const struct redis_info *info = redis_link_info(l->link);

    memcpy(l->run_id, info->run_id, sizeof l->run_id);
    l->may_evict = info->may_evict;
    l->is_logged = info->is_logged;
}

static enum status connect_once(struct redis_connection *l)
{
    int64_t deadline = answer_deadline(l);
    enum status st = STATUS_OK;

    l->link = redis_link_new(&l->place.at);
    while (st == STATUS_OK && !redis_link_is_ready(l->link)) {
        st = connection_work(l, deadline);
        if (l->link == NULL)
            return st;
    }
    if (st == STATUS_OK)
        learn(l);
    else
        redis_connection_lose(l);
    return st;
}

static void sleep_until(int64_t when)
{
    int64_t left = when - clock_mono();
    struct timespec t = {.tv_sec = left / NS_PER_S, .tv_nsec = left % NS_PER_S};

    if (left > 0)
        (void)nanosleep(&t, NULL);
}

int64_t redis_connection_patience(const struct redis_connection *l)
{
    return l->patience;
}

enum status redis_connection_ready(struct redis_connection *l)
{
    int64_t deadline = clock_mono() + l->patience;
    enum status st = STATUS_CLOSED;

    while (l->link == NULL) {
        if (!redis_connection_is_due(l)) {
            if (l->next_try > deadline)
                return STATUS_CLOSED;
            sleep_until(l->next_try);
        }
        st = connect_once(l);
        if (st != STATUS_CLOSED)
            return st;
    }
    return STATUS_OK;
}

/* ---- scripts ---- */

static enum status connection_load(struct redis_connection *l,
                                   const struct redis_script *s)
{
    const struct bytes words[3] = {bytes_of_str("SCRIPT"), bytes_of_str("LOAD"),
                                   bytes_of_str(s->text)};
    redisReply *r = NULL;
    enum status st;

    redis_link_send(l->link, words, 3);
    st = receive(l, &r);
    if (st != STATUS_OK || r == NULL)
        return st;
    if (r->type != REDIS_REPLY_STRING || r->len != SHA_SIZE)
        st = lost(l, "SCRIPT LOAD is not answered by a digest");
    else
        memcpy(l->sha[s->number], r->str, SHA_SIZE + 1);
    freeReplyObject(r);
    return st;
}

static enum status connection_append(struct redis_connection *l,
                                     const struct redis_script *s,
                                     const struct bytes *keys, size_t nkeys,
                                     const struct bytes *args, size_t nargs)
{
    struct bytes words[ARGS_MOST] = {bytes_of_str("EVALSHA"),
                                     bytes_of(l->sha[s->number], SHA_SIZE)};
    char count[16];

    if (nkeys + nargs + 3 > ARGS_MOST)
        return STATUS_ARG;
    snprintf(count, sizeof count, "%zu", nkeys);
    words[2] = bytes_of_str(count);
    if (nkeys > 0)
        memcpy(words + 3, keys, nkeys * sizeof *keys);
    if (nargs > 0)
        memcpy(words + 3 + nkeys, args, nargs * sizeof *args);
    redis_link_send(l->link, words, 3 + nkeys + nargs);
    return STATUS_OK;
}

/* What does not go out now does so while the answer is waited for. */
static enum status flush_out(struct redis_connection *l)
{
    enum status st = redis_link_turn(l->link);

    return st == STATUS_OK ? STATUS_OK : lost(l, redis_link_error(l->link));
}

enum status redis_connection_send(struct redis_connection *l,
                                  const struct redis_script *s,
                                  const struct bytes *keys, size_t nkeys,
                                  const struct bytes *args, size_t nargs)
{
    enum status st = redis_connection_ready(l);

    if (st == STATUS_OK && (l->sha[s->number][0] == '\0' || l->asking))
        return STATUS_AGAIN; /* not loaded yet: run it alone first */
    if (st == STATUS_OK)
        st = connection_append(l, s, keys, nkeys, args, nargs);
    return st == STATUS_OK ? flush_out(l) : st;
}

enum status redis_connection_receive(struct redis_connection *l,
                                     redisReply **out)
{
    enum status st = l->link != NULL ? receive(l, out) : STATUS_CLOSED;

    if (st == STATUS_OK)
        l->wait = 0;
    return st;
}

static enum status say_asking(struct redis_connection *l)
{
    const struct bytes word = bytes_of_str("ASKING");
    redisReply *r = NULL;
    enum status st;

    l->asking = false;
    redis_link_send(l->link, &word, 1);
    st = receive(l, &r);
    freeReplyObject(r);
    return st;
}

enum status redis_connection_run(struct redis_connection *l,
                                 const struct redis_script *s,
                                 const struct bytes *keys, size_t nkeys,
                                 const struct bytes *args, size_t nargs,
                                 redisReply **out)
{
    enum status st = STATUS_AGAIN;

    /* Once more after SCRIPT FLUSH or a redirection, or after both. */
    for (int i = 0; st == STATUS_AGAIN && i < 3; i++) {
        st = redis_connection_ready(l);
        if (st == STATUS_OK && l->sha[s->number][0] == '\0')
            st = connection_load(l, s);
        if (st == STATUS_OK && l->asking)
            st = say_asking(l);
        if (st == STATUS_OK)
            st = connection_append(l, s, keys, nkeys, args, nargs);
        if (st == STATUS_OK)
            st = receive(l, out);
        if (st == STATUS_AGAIN)
            l->sha[s->number][0] = '\0';
    }
    if (st == STATUS_OK)
        l->wait = 0;
    return st;
}
