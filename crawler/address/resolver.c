/* SPDX-License-Identifier: MIT */
/*
 * resolver.c - lookups in threads of their own.
 *
 * getaddrinfo cannot be cancelled. So a question is shared by the asker and the
 * thread that works on it, and the last of them frees it; the threads are
 * detached and refer only to the shared part, not to the resolver.
 */
#include "crawler/address/resolver.h"

#include <assert.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define HOST_MOST 253 /* octets of a name, RFC 1035 section 3.1 */

struct question {
    struct question *next;       /* in the work list */
    struct question *next_asked; /* in the order they were asked */
    struct resolver_answer answer;
    int64_t expires;
    bool taken;    /* a thread works, or worked, on it */
    bool answered; /* no thread works on it any more */
    bool dropped;  /* its answer is not wanted any more */
    char host[HOST_MOST + 1];
};

/* Shared by the threads and the resolver; the last one frees it. */
struct shared {
    pthread_mutex_t mtx;
    pthread_cond_t work_cond;
    struct queue *woken; /* NULL: the resolver was freed */
    struct question *work, **work_end;
    size_t waiting; /* in the work list */
    unsigned holders, idle;
};

struct resolver {
    struct resolver_options o;
    struct shared *shared;
    struct question *asked, **asked_end;
    size_t count;
    unsigned threads;
};

/* ---- answers without a look-up ---- */

/* Keeps the smaller of the address found so far and `ip`. */
static void offer(struct resolver_answer *a, const struct ip *ip)
{
    if (!a->found || ip_before(ip, &a->ip))
        a->ip = *ip;
    a->found = true;
}

/* "ADDR,ADDR"; curl complains about texts that are not addresses. */
static void offer_list(struct resolver_answer *a, const char *list)
{
    struct ip ip;

    for (;;) {
        size_t len = strcspn(list, ",");

        if (ip_parse(&ip, bytes_of(list, len)))
            offer(a, &ip);
        if (list[len] == '\0')
            return;
        list += len + 1;
    }
}

/* Is the entry HOST:PORT:LIST for this host by name? */
static bool names(const char *entry, struct bytes host)
{
    return strncasecmp(entry, host.at, host.len) == 0 && entry[host.len] == ':';
}

bool resolver_entry_is_for(const char *entry, struct bytes host)
{
    return names(entry, host) || names(entry, bytes_of_str("*"));
}

/* Applies the entry HOST:PORT:LIST, if it is for this host. */
static void offer_entry(struct resolver_answer *a, const char *entry,
                        struct bytes host)
{
    const char *list =
        names(entry, host) ? strchr(entry + host.len + 1, ':') : NULL;

    if (list != NULL)
        offer_list(a, list + 1);
}

static bool is_localhost(struct bytes host)
{
    static const char tail[] = ".localhost";
    size_t n = sizeof tail - 1;

    return bytes_is(host, tail + 1) ||
           (host.len > n &&
            bytes_is(bytes_of(host.at + host.len - n, n), tail));
}

static bool answer_unasked(const struct resolver *r, struct bytes host,
                           struct resolver_answer *a)
{
    static const unsigned char loopback[4] = {127, 0, 0, 1};

    for (size_t i = 0; i < r->o.own_count; i++)
        offer_entry(a, r->o.own[i], host);
    for (size_t i = 0; !a->found && i < r->o.own_count; i++)
        offer_entry(a, r->o.own[i], bytes_of_str("*"));
    if (!a->found && is_localhost(host))
        a->found = ip_of_octets(&a->ip, loopback, sizeof loopback);
    return a->found || host.len > HOST_MOST;
}

/* ---- lookups ---- */

static void look_up(struct question *q, struct resolver_answer *out)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    struct ip ip;

    if (getaddrinfo(q->host, NULL, &hints, &list) != 0)
        return;
    for (const struct addrinfo *a = list; a != NULL; a = a->ai_next) {
        const void *at = a->ai_addr;

        if (a->ai_family == AF_INET &&
            ip_of_octets(&ip, &((const struct sockaddr_in *)at)->sin_addr, 4))
            offer(out, &ip);
        if (a->ai_family == AF_INET6 &&
            ip_of_octets(&ip, &((const struct sockaddr_in6 *)at)->sin6_addr,
                         16))
            offer(out, &ip);
    }
    freeaddrinfo(list);
}

static void release(struct shared *s)
{
    bool last = --s->holders == 0;

    pthread_mutex_unlock(&s->mtx);
    if (!last)
        return;
    pthread_cond_destroy(&s->work_cond);
    pthread_mutex_destroy(&s->mtx);
    free(s);
}

/* Under mtx. NULL: the resolver was freed. */
static struct question *next_work(struct shared *s)
{
    struct question *q;

    s->idle++;
    while (s->work == NULL && s->woken != NULL)
        pthread_cond_wait(&s->work_cond, &s->mtx);
    s->idle--;
    q = s->woken != NULL ? s->work : NULL;
    if (q == NULL)
        return NULL;
    s->work = q->next;
    if (s->work == NULL)
        s->work_end = &s->work;
    s->waiting--;
    q->taken = true;
    return q;
}

static void *resolver_thread(void *arg)
{
    struct shared *s = arg;
    struct question *q;

    pthread_mutex_lock(&s->mtx);
    while ((q = next_work(s)) != NULL) {
        struct resolver_answer found = q->answer;

        pthread_mutex_unlock(&s->mtx);
        look_up(q, &found);
        pthread_mutex_lock(&s->mtx);
        if (q->dropped) {
            free(q);
            continue;
        }
        q->answer = found;
        q->answered = true;
        if (s->woken != NULL)
            queue_wake(s->woken);
    }
    release(s);
    return NULL;
}

/* Adds a thread, under mtx, with signals blocked. False: it failed. */
static bool add_thread(struct shared *s)
{
    sigset_t all, before;
    pthread_attr_t attr;
    pthread_t thread;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    err = pthread_create(&thread, &attr, resolver_thread, s);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    s->holders += err == 0;
    return err == 0;
}

/* ---- called by the asker ---- */

struct resolver *resolver_new(const struct resolver_options *o,
                              struct queue *woken)
{
    struct resolver *r = xcalloc(1, sizeof *r);
    struct shared *s = xcalloc(1, sizeof *s);

    assert(o->threads > 0 && o->most > 0);
    pthread_mutex_init(&s->mtx, NULL);
    pthread_cond_init(&s->work_cond, NULL);
    s->woken = woken;
    s->work_end = &s->work;
    s->holders = 1;
    r->o = *o;
    r->shared = s;
    r->asked_end = &r->asked;
    return r;
}

/* Drops a question whose answer is not wanted any more. Under mtx; it must not
 * be in the work list. */
static void drop(struct question *q)
{
    q->dropped = true;
    if (q->answered || !q->taken)
        free(q); /* else its thread frees it */
}

void resolver_free(struct resolver *r)
{
    struct shared *s;

    if (r == NULL)
        return;
    s = r->shared;
    pthread_mutex_lock(&s->mtx);
    s->woken = NULL;
    s->work = NULL;
    for (struct question *q = r->asked, *next; q != NULL; q = next) {
        next = q->next_asked;
        drop(q);
    }
    pthread_cond_broadcast(&s->work_cond);
    release(s);
    free(r);
}

bool resolver_has_room(const struct resolver *r)
{
    return r->count < r->o.most;
}

static void give_work(struct resolver *r, struct question *q)
{
    struct shared *s = r->shared;

    pthread_mutex_lock(&s->mtx);
    *s->work_end = q;
    s->work_end = &q->next;
    s->waiting++;
    /* An idle thread may have been woken for another question already. */
    if (s->waiting > s->idle && r->threads < r->o.threads && add_thread(s))
        r->threads++;
    pthread_cond_signal(&s->work_cond);
    pthread_mutex_unlock(&s->mtx);
}

void resolver_ask(struct resolver *r, uint32_t queue, struct bytes host,
                  int64_t now)
{
    struct question *q = xcalloc(1, sizeof *q);

    assert(resolver_has_room(r));
    q->answer.queue = queue;
    q->expires = now + r->o.timeout;
    *r->asked_end = q;
    r->asked_end = &q->next_asked;
    r->count++;
    q->answered = answer_unasked(r, host, &q->answer);
    if (q->answered)
        return;
    memcpy(q->host, host.at, host.len);
    give_work(r, q);
}

/* The question has expired; removes it from the work list, if no thread has
 * taken it. */
static void leave_work(struct shared *s, const struct question *q)
{
    struct question **at = &s->work;

    while (*at != NULL && *at != q)
        at = &(*at)->next;
    if (*at == NULL)
        return;
    *at = q->next;
    if (*at == NULL)
        s->work_end = at;
    s->waiting--;
}

/* Questions may end in any order; older ones are checked first. */
bool resolver_take(struct resolver *r, int64_t now, struct resolver_answer *out)
{
    struct question **at = &r->asked, *q;

    pthread_mutex_lock(&r->shared->mtx);
    while (*at != NULL && !(*at)->answered && (*at)->expires > now)
        at = &(*at)->next_asked;
    q = *at;
    if (q != NULL) {
        *at = q->next_asked;
        if (*at == NULL)
            r->asked_end = at;
        r->count--;
        *out = q->answer;
        leave_work(r->shared, q);
        drop(q);
    }
    pthread_mutex_unlock(&r->shared->mtx);
    return q != NULL;
}
