/* SPDX-License-Identifier: MIT */
/*
 * redis_connection.c - one connection to a Redis server, through hiredis.
 *
 *   CLOSED --connect, AUTH, SELECT, INFO--> OPEN --error, time-out--> CLOSED
 *
 * hiredis blocks forever on a server that sends an octet a second, and
 * allocates an array as long as the server says. So the reading loop is our
 * own, with a deadline and a ceiling, and so is the allocation of arrays. A
 * write to a closed connection would raise SIGPIPE, which we block during the
 * write.
 */
#include "filter/redis/redis_connection.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

#define FIRST_WAIT (100 * NS_PER_MS)
#define MOST_WAIT  (30 * NS_PER_S)
#define SHA_SIZE   40
#define ARGS_MOST  48

struct redis_connection {
    struct redis_place place;
    int64_t patience;                 /* ns */
    redisContext *c;                  /* NULL: closed */
    redisReplyObjectFunctions makers; /* hiredis's own, except for arrays */
    int64_t wait;     /* ns, before the try after the next failure */
    int64_t next_try; /* clock_mono() */
    char run_id[LINK_RUN_ID_SIZE];
    char sha[LINK_SCRIPTS][SHA_SIZE + 1]; /* "": not loaded */
    bool may_evict, is_logged;
    char error[256];
};

struct redis_connection *redis_connection_new(const struct redis_place *place,
                                              int64_t patience_ms)
{
    struct redis_connection *l = xcalloc(1, sizeof *l);

    l->place = *place;
    l->patience = patience_ms * NS_PER_MS;
    return l;
}

static void close_link(struct redis_connection *l)
{
    if (l->c != NULL)
        redisFree(l->c);
    l->c = NULL;
    memset(l->sha, 0, sizeof l->sha);
}

void redis_connection_free(struct redis_connection *l)
{
    if (l == NULL)
        return;
    close_link(l);
    explicit_bzero(l->place.password, sizeof l->place.password);
    free(l);
}

/* ---- messages and waits ---- */

/* Store a server's text as one line: printable characters only, truncated. */
static void keep_error(struct redis_connection *l, const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len && n + 1 < sizeof l->error; i++) {
        char c = text[i];

        l->error[n++] = c >= ' ' && c <= '~' ? c : ' ';
    }
    l->error[n] = '\0';
}

static void set_error(struct redis_connection *l, const char *text)
{
    keep_error(l, text, strlen(text));
}

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
    wait_longer(l);
}

static enum status lost(struct redis_connection *l, const char *why)
{
    set_error(l, why);
    redis_connection_lose(l);
    return STATUS_CLOSED;
}

bool redis_connection_is_open(const struct redis_connection *l)
{
    return l->c != NULL;
}

bool redis_connection_is_due(const struct redis_connection *l)
{
    return l->c != NULL || clock_mono() >= l->next_try;
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

#if HIREDIS_MAJOR >= 1
typedef size_t array_length;
#else
typedef int array_length;
#endif

/* Make an array no longer than we ever ask for; NULL makes hiredis stop. */
static void *bounded_array(const redisReadTask *task, array_length elements)
{
    redisReply *r, *parent;

    if ((size_t)elements > LINK_ELEMENTS_MOST)
        return NULL;
    r = try_calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->type = task->type;
    r->elements = (size_t)elements;
    if (elements > 0) {
        r->element = try_calloc((size_t)elements, sizeof(redisReply *));
        if (r->element == NULL) {
            free(r);
            return NULL;
        }
    }
    if (task->parent != NULL) {
        parent = task->parent->obj;
        parent->element[task->idx] = r;
    }
    return r;
}

void redis_connection_bound(redisReader *r, redisReplyObjectFunctions *makers)
{
    *makers = *r->fn;
    makers->createArray = bounded_array;
    r->fn = makers;
}

/* Write, and suppress a SIGPIPE that the write itself raises. */
static int write_quietly(redisContext *c, int *done)
{
    static const struct timespec none = {0, 0};
    sigset_t pipe_only, before, pending;
    bool was_pending;
    int got;

    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    got = redisBufferWrite(c, done);
    if (got != REDIS_OK && !was_pending)
        while (sigtimedwait(&pipe_only, NULL, &none) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return got;
}

static enum status flush_out(struct redis_connection *l)
{
    int64_t deadline = clock_mono() + l->place.timeout_ms * NS_PER_MS;
    int done = 0;

    while (!done) {
        if (write_quietly(l->c, &done) != REDIS_OK)
            return lost(l, l->c->errstr);
        if (!done && clock_mono() > deadline)
            return lost(l, "the server does not read what it is sent");
    }
    return STATUS_OK;
}

/* Read the next whole answer. */
static enum status read_answer(struct redis_connection *l, redisReply **out)
{
    int64_t deadline = clock_mono() + l->place.timeout_ms * NS_PER_MS;
    void *reply = NULL;

    for (;;) {
        if (redisGetReplyFromReader(l->c, &reply) != REDIS_OK)
            return lost(l, "the server's answer is not in its protocol, or "
                           "too long");
        if (reply != NULL)
            break;
        if (l->c->reader->len > LINK_ANSWER_MOST)
            return lost(l, "the server's answer is too long");
        if (clock_mono() > deadline)
            return lost(l, "the server's answer takes too long");
        if (redisBufferRead(l->c) != REDIS_OK)
            return lost(l, l->c->err == REDIS_ERR_IO && errno == EAGAIN
                               ? "no answer in time"
                               : l->c->errstr);
    }
    *out = reply;
    return STATUS_OK;
}

/* What an error answer means; the answer is freed. */
static enum status refused(struct redis_connection *l, redisReply *r)
{
    static const struct {
        const char *prefix;
        enum status st;
    } words[] = {
        {"NOSCRIPT", STATUS_AGAIN},
        {"LOADING", STATUS_CLOSED},
        {"BUSY", STATUS_CLOSED},
        {"TRYAGAIN", STATUS_CLOSED},
        {"CLUSTERDOWN", STATUS_CLOSED},
        {"MASTERDOWN", STATUS_CLOSED},
        {"ERR max number of clients", STATUS_CLOSED},
        {"OOM", STATUS_FULL},
        {"READONLY", STATUS_BUSY},
        {"MISCONF", STATUS_BUSY},
        {"NOREPLICAS", STATUS_BUSY},
    };
    struct bytes text = bytes_of(r->str, (size_t)r->len);
    enum status st = STATUS_ARG;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bytes_starts_with(text, words[i].prefix))
            st = words[i].st;
    keep_error(l, text.at, text.len);
    freeReplyObject(r);
    if (st == STATUS_CLOSED)
        redis_connection_lose(l);
    return st;
}

static enum status receive(struct redis_connection *l, redisReply **out)
{
    redisReply *r = NULL;
    enum status st = read_answer(l, &r);

    if (st == STATUS_OK && r->type == REDIS_REPLY_ERROR)
        st = refused(l, r);
    else if (st == STATUS_OK)
        *out = r;
    return st;
}

/* Send one plain command and read its answer. */
static enum status ask(struct redis_connection *l, int argc, const char **argv,
                       redisReply **out)
{
    enum status st;

    if (redisAppendCommandArgv(l->c, argc, argv, NULL) != REDIS_OK)
        return lost(l, "no memory for a command");
    st = flush_out(l);
    return st == STATUS_OK ? receive(l, out) : st;
}

/* ---- connecting ---- */

static enum status send_command(struct redis_connection *l, int argc,
                                const char **argv)
{
    redisReply *r = NULL;
    enum status st = ask(l, argc, argv, &r);

    if (st == STATUS_OK)
        freeReplyObject(r);
    return st;
}

static enum status sign_in(struct redis_connection *l)
{
    const char *auth[3] = {"AUTH", l->place.user, l->place.password};
    char db[16];
    const char *select[2] = {"SELECT", db};
    enum status st = STATUS_OK;

    if (l->place.password[0] != '\0') {
        bool named = l->place.user[0] != '\0';

        if (!named)
            auth[1] = l->place.password;
        st = send_command(l, named ? 3 : 2, auth);
    }
    snprintf(db, sizeof db, "%u", l->place.db);
    if (st == STATUS_OK && l->place.db != 0)
        st = send_command(l, 2, select);
    return st;
}

/* The value behind `name` in INFO's text, up to its line's end. */
static struct bytes info_value(struct bytes info, const char *name)
{
    size_t len = strlen(name);

    while (info.len > len) {
        const char *lf = memchr(info.at, '\n', info.len);
        size_t line = lf != NULL ? (size_t)(lf - info.at) : info.len;

        if (line > len && memcmp(info.at, name, len) == 0)
            return bytes_trim(bytes_of(info.at + len, line - len));
        if (lf == NULL)
            break;
        info = bytes_of(lf + 1, info.len - line - 1);
    }
    return bytes_of("", 0);
}

static void take_info(struct redis_connection *l, struct bytes info)
{
    struct bytes id = info_value(info, "run_id:");
    struct bytes most = info_value(info, "maxmemory:");
    struct bytes policy = info_value(info, "maxmemory_policy:");

    if (id.len == LINK_RUN_ID_SIZE - 1) {
        memcpy(l->run_id, id.at, id.len);
        l->run_id[id.len] = '\0';
    }
    l->may_evict =
        most.len > 0 && !bytes_is(most, "0") && !bytes_is(policy, "noeviction");
    l->is_logged = bytes_is(info_value(info, "aof_enabled:"), "1");
}

static enum status learn(struct redis_connection *l)
{
    const char *info[1] = {"INFO"};
    redisReply *r = NULL;
    struct bytes text;
    bool loading = false;
    enum status st = ask(l, 1, info, &r);

    if (st != STATUS_OK)
        return st;
    l->run_id[0] = '\0';
    if (r->type == REDIS_REPLY_STRING) {
        text = bytes_of(r->str, (size_t)r->len);
        take_info(l, text);
        loading = bytes_is(info_value(text, "loading:"), "1");
    }
    freeReplyObject(r);
    if (l->run_id[0] == '\0')
        return lost(l, "the server does not say its run_id in INFO");
    if (loading) /* while loading, a server answers INFO and nothing else */
        return lost(l, "the server is loading its data");
    return STATUS_OK;
}

static enum status connect_once(struct redis_connection *l)
{
    int64_t ms = l->place.timeout_ms;
    struct timeval limit = {.tv_sec = ms / 1000,
                            .tv_usec = (suseconds_t)(ms % 1000) * 1000};
    enum status st;

    l->c = l->place.is_unix
               ? redisConnectUnixWithTimeout(l->place.path, limit)
               : redisConnectWithTimeout(l->place.host, l->place.port, limit);
    if (l->c == NULL)
        return lost(l, "no memory for a connection");
    if (l->c->err != 0)
        return lost(l, l->c->errstr);
    (void)redisSetTimeout(l->c, limit);
    redis_connection_bound(l->c->reader, &l->makers);
    st = sign_in(l);
    if (st == STATUS_OK)
        st = learn(l);
    if (st != STATUS_OK && l->c != NULL)
        redis_connection_lose(l); /* it refuses us */
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

    while (l->c == NULL) {
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

static enum status load(struct redis_connection *l,
                        const struct redis_script *s)
{
    const char *argv[3] = {"SCRIPT", "LOAD", s->text};
    redisReply *r = NULL;
    enum status st = ask(l, 3, argv, &r);

    if (st != STATUS_OK || r == NULL)
        return st;
    if (r->type != REDIS_REPLY_STRING || r->len != SHA_SIZE)
        st = lost(l, "SCRIPT LOAD is not answered by a digest");
    else
        memcpy(l->sha[s->number], r->str, SHA_SIZE + 1);
    freeReplyObject(r);
    return st;
}

static enum status append(struct redis_connection *l,
                          const struct redis_script *s,
                          const struct bytes *keys, size_t nkeys,
                          const struct bytes *args, size_t nargs)
{
    const char *argv[ARGS_MOST] = {"EVALSHA", l->sha[s->number]};
    size_t len[ARGS_MOST] = {7, SHA_SIZE};
    char count[16];
    size_t n = 3;

    if (nkeys + nargs + 3 > ARGS_MOST)
        return STATUS_ARG;
    snprintf(count, sizeof count, "%zu", nkeys);
    argv[2] = count;
    len[2] = strlen(count);
    for (size_t i = 0; i < nkeys; i++, n++) {
        argv[n] = keys[i].at;
        len[n] = keys[i].len;
    }
    for (size_t i = 0; i < nargs; i++, n++) {
        argv[n] = args[i].at;
        len[n] = args[i].len;
    }
    if (redisAppendCommandArgv(l->c, (int)n, argv, len) != REDIS_OK)
        return lost(l, "no memory for a command");
    return STATUS_OK;
}

enum status redis_connection_send(struct redis_connection *l,
                                  const struct redis_script *s,
                                  const struct bytes *keys, size_t nkeys,
                                  const struct bytes *args, size_t nargs)
{
    enum status st = redis_connection_ready(l);

    if (st == STATUS_OK && l->sha[s->number][0] == '\0')
        return STATUS_AGAIN; /* not loaded yet: run it alone first */
    if (st == STATUS_OK)
        st = append(l, s, keys, nkeys, args, nargs);
    return st == STATUS_OK ? flush_out(l) : st;
}

enum status redis_connection_receive(struct redis_connection *l,
                                     redisReply **out)
{
    enum status st = l->c != NULL ? receive(l, out) : STATUS_CLOSED;

    if (st == STATUS_OK)
        l->wait = 0;
    return st;
}

enum status redis_connection_run(struct redis_connection *l,
                                 const struct redis_script *s,
                                 const struct bytes *keys, size_t nkeys,
                                 const struct bytes *args, size_t nargs,
                                 redisReply **out)
{
    enum status st = redis_connection_ready(l);

    for (int loaded = 0; st == STATUS_OK; loaded++) {
        if (l->sha[s->number][0] == '\0')
            st = load(l, s);
        if (st == STATUS_OK)
            st = append(l, s, keys, nkeys, args, nargs);
        if (st == STATUS_OK)
            st = flush_out(l);
        if (st == STATUS_OK)
            st = receive(l, out);
        if (st != STATUS_AGAIN || loaded > 0)
            break;
        l->sha[s->number][0] = '\0'; /* SCRIPT FLUSH, or a new server */
        st = STATUS_OK;
    }
    if (st == STATUS_OK)
        l->wait = 0;
    return st;
}
