/* SPDX-License-Identifier: MIT */
/*
 * cluster_verify_hosts.c - hosts and their URLs.
 *
 * Hosts are read from what is due, leased, in flight and ever acknowledged. One
 * that is in none of these has but its queue, which only a search of all keys
 * finds (verify_sweep()).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/cluster_check/cluster_verify_impl.h"

#define AT_ONCE     48 /* hosts: replies are bounded */
#define ADRIFT_MOST 65536
#define FACTS       6 /* of a host, as `inspect` gives them */

static const struct bytes nothing = {"", 0};

/* ---- a host ---- */

static enum status settle(struct verify *v, const struct verify_host *h)
{
    struct cluster_answer a;
    struct key_list k;
    enum status st;

    if (v->pass != VERIFY_PLACES)
        return STATUS_OK;
    key_list_init(&k);
    for (const char *kind = "rlth"; *kind != '\0'; kind++) {
        const char one[2] = {*kind, '\0'};

        key_list_add(&k, v->s, v->shard, one, nothing);
    }
    key_list_add(&k, v->s, v->shard, "q:", h->name);
    key_list_add(&k, v->s, v->shard, "d:", h->name);
    cluster_answer_init(&a);
    st = cluster_ask(v->s, v->shard, &cluster_script_settle, &k, &h->name, 1,
                     true, &a);
    cluster_answer_fini(&a);
    return st;
}

static bool find_wrong_state(struct verify *v, const struct verify_host *h)
{
    bool waits = h->queued + h->delayed > 0, flies = h->flight.len > 0;
    const bool is[] = {
        [CLUSTER_ADRIFT] = waits && !h->due && !h->leased && !flies,
        [CLUSTER_IDLE] = h->due && !h->leased && !waits,
        [CLUSTER_IN_BOTH] = h->due && h->leased,
        [CLUSTER_ENDLESS] = flies && !h->leased,
        [CLUSTER_EMPTY] = h->leased && !flies,
    };
    bool wrong = false;

    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        v->now.found[i] += is[i];
        wrong |= is[i];
    }
    return wrong;
}

static enum status check_host(struct verify *v, struct verify_host *h)
{
    uint64_t places = h->queued + h->delayed + (h->flight.len > 0);
    bool wrong = find_wrong_state(v, h);
    enum status st = verify_urls(v, h);

    v->places += places;
    v->now.waiting += h->queued + h->delayed;
    v->now.leased += h->flight.len > 0;
    return st == STATUS_OK && wrong ? settle(v, h) : st;
}

/* ---- all hosts ---- */

static enum status inspect(struct verify *v, const struct bytes *hosts,
                           size_t n, struct cluster_answer *a)
{
    struct key_list k;
    enum status st;

    key_list_init(&k);
    for (const char *kind = "rlth"; *kind != '\0'; kind++) {
        const char one[2] = {*kind, '\0'};

        key_list_add(&k, v->s, v->shard, one, nothing);
    }
    for (size_t i = 0; i < n; i++) {
        key_list_add(&k, v->s, v->shard, "q:", hosts[i]);
        key_list_add(&k, v->s, v->shard, "d:", hosts[i]);
    }
    st = cluster_ask(v->s, v->shard, &cluster_script_inspect, &k, hosts, n,
                     false, a);
    return st == STATUS_OK && a->count != n * FACTS ? STATUS_FORMAT : st;
}

static struct verify_host host_of(struct bytes name,
                                  const struct cluster_answer *a, size_t i)
{
    return (struct verify_host){
        .name = name,
        .due = cluster_answer_number(a, i * FACTS) != 0,
        .leased = cluster_answer_number(a, i * FACTS + 1) != 0,
        .known = cluster_answer_number(a, i * FACTS + 2) != 0,
        .queued = (uint64_t)cluster_answer_number(a, i * FACTS + 3),
        .delayed = (uint64_t)cluster_answer_number(a, i * FACTS + 4),
        .flight = cluster_answer_text(a, i * FACTS + 5)};
}

static enum status check_some(struct verify *v, const struct bytes *hosts,
                              size_t n)
{
    struct cluster_answer a;
    enum status st;

    cluster_answer_init(&a);
    st = inspect(v, hosts, n, &a);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        struct verify_host h = host_of(hosts[i], &a, i);

        st = check_host(v, &h);
    }
    cluster_answer_fini(&a);
    return st;
}

/* Hosts that key `which` of r, l, t and h has, and none before it. */
static enum status check_listed(struct verify *v, int which,
                                struct cluster_answer *a)
{
    char number[12], count[12], cursor[24] = "0";
    struct bytes args[3] = {
        bytes_of(number, (size_t)snprintf(number, sizeof number, "%d", which)),
        bytes_of_str(cursor),
        bytes_of(count, (size_t)snprintf(count, sizeof count, "%d", AT_ONCE))};
    enum status st = STATUS_OK;

    do {
        struct bytes hosts[AT_ONCE];
        struct key_list k;
        size_t n = 0;

        key_list_init(&k);
        for (const char *kind = "rlth"; *kind != '\0'; kind++) {
            const char one[2] = {*kind, '\0'};

            key_list_add(&k, v->s, v->shard, one, nothing);
        }
        args[1] = bytes_of_str(cursor);
        st = cluster_ask(v->s, v->shard, &cluster_script_hosts, &k, args, 3,
                         false, a);
        snprintf(cursor, sizeof cursor, "%.*s",
                 (int)cluster_answer_text(a, 0).len,
                 cluster_answer_text(a, 0).at);
        for (size_t i = 1; st == STATUS_OK && i < a->count; i++) {
            hosts[n++] = cluster_answer_text(a, i);
            if (n < AT_ONCE && i + 1 < a->count)
                continue;
            st = check_some(v, hosts, n);
            n = 0;
        }
    } while (st == STATUS_OK && strcmp(cursor, "0") != 0 && cursor[0] != '\0');
    return st;
}

/* ---- queues of no host ---- */

/* The shard and the host of a key of a queue. */
static bool read_key(const struct verify *v, const char *key, unsigned *shard,
                     struct bytes *host)
{
    size_t len = strlen(v->s->name);
    char *end = NULL;

    if (key[0] != '{' || strncmp(key + 1, v->s->name, len) != 0 ||
        key[len + 1] != ':')
        return false;
    *shard = (unsigned)strtoul(key + len + 2, &end, 16);
    if (end[0] != '}' || (end[1] != 'q' && end[1] != 'd') || end[2] != ':' ||
        *shard >= v->s->shard_count)
        return false;
    *host = bytes_of_str(end + 3);
    return host->len > 0 && host->len <= CLUSTER_HOST_MOST;
}

static bool is_adrift(const struct verify_host *h, const char *key)
{
    bool of_delayed = strstr(key, "}d:") != NULL;

    return !h->due && !h->leased && !h->known && h->flight.len == 0 &&
           h->queued + h->delayed > 0 && !(of_delayed && h->queued > 0);
}

static enum status keep_if_adrift(struct verify *v, struct bytes text)
{
    char *key = xstrndup(text.at, text.len);
    struct cluster_answer a;
    struct bytes host;
    enum status st = STATUS_OK;
    bool keep_it = false;

    if (read_key(v, key, &v->shard, &host) && v->adrift_count < ADRIFT_MOST) {
        cluster_answer_init(&a);
        st = inspect(v, &host, 1, &a);
        if (st == STATUS_OK) {
            struct verify_host h = host_of(host, &a, 0);

            keep_it = is_adrift(&h, key);
        }
        cluster_answer_fini(&a);
    }
    if (!keep_it) {
        free(key);
        return st;
    }
    v->adrift = xrealloc(v->adrift, (v->adrift_count + 1) * sizeof *v->adrift);
    v->adrift[v->adrift_count++] = key;
    return st;
}

static enum status check_adrift(struct verify *v)
{
    struct cluster_answer a;
    enum status st = STATUS_OK;

    cluster_answer_init(&a);
    for (size_t i = 0; st == STATUS_OK && i < v->adrift_count; i++) {
        struct bytes host;
        struct verify_host h;
        unsigned shard;

        if (!read_key(v, v->adrift[i], &shard, &host) || shard != v->shard)
            continue;
        st = inspect(v, &host, 1, &a);
        if (st != STATUS_OK)
            break;
        h = host_of(host, &a, 0);
        if (is_adrift(&h, v->adrift[i]))
            st = check_host(v, &h);
    }
    cluster_answer_fini(&a);
    return st;
}

enum status verify_hosts(struct verify *v)
{
    struct cluster_answer a;
    enum status st = STATUS_OK;

    cluster_answer_init(&a);
    for (int which = 1; st == STATUS_OK && which <= 4; which++)
        st = check_listed(v, which, &a);
    cluster_answer_fini(&a);
    return st == STATUS_OK ? check_adrift(v) : st;
}

/* ---- all keys of the servers ---- */

/* One call of `sweep` at the server of a shard; *cursor is where to go on. */
static enum status sweep_some(struct verify *v, unsigned shard, char cursor[24],
                              struct cluster_answer *a)
{
    struct bytes args[3] = {bytes_of(REDIS_RUN_ID, REDIS_RUN_ID_SIZE - 1),
                            bytes_of_str(cursor)};
    char pattern[CLUSTER_NAME_MOST + 16];
    struct key_list k;
    enum status st;

    args[2] = bytes_of(pattern, (size_t)snprintf(pattern, sizeof pattern,
                                                 "{%s:*}[qd]:*", v->s->name));
    key_list_init(&k);
    key_list_add(&k, v->s, shard, "m", nothing);
    st = cluster_ask(v->s, shard, &cluster_script_sweep, &k, args, 3, false, a);
    if (st == STATUS_OK && a->count < 2)
        st = STATUS_FORMAT;
    snprintf(cursor, 24, "%.*s", (int)cluster_answer_text(a, 1).len,
             cluster_answer_text(a, 1).at);
    return st;
}

struct servers {
    char run_id[256][REDIS_RUN_ID_SIZE];
    size_t count;
};

/* True: its keys have not been searched yet. */
static bool is_new(struct servers *known, struct bytes run_id)
{
    char text[REDIS_RUN_ID_SIZE];

    snprintf(text, sizeof text, "%.*s", (int)run_id.len, run_id.at);
    for (size_t i = 0; i < known->count; i++)
        if (strcmp(known->run_id[i], text) == 0)
            return false;
    if (known->count == sizeof known->run_id / sizeof *known->run_id)
        return false;
    memcpy(known->run_id[known->count++], text, sizeof text);
    return true;
}

enum status verify_sweep(struct verify *v)
{
    struct servers *known = xcalloc(1, sizeof *known);
    struct cluster_answer a;
    enum status st = STATUS_OK;

    cluster_answer_init(&a);
    for (unsigned i = 0; st == STATUS_OK && i < v->s->shard_count; i++) {
        char cursor[24] = "0";

        st = sweep_some(v, i, cursor, &a);
        if (st != STATUS_OK || !is_new(known, cluster_answer_text(&a, 0)))
            continue;
        for (;;) {
            for (size_t k = 2; st == STATUS_OK && k < a.count; k++)
                st = keep_if_adrift(v, cluster_answer_text(&a, k));
            if (st != STATUS_OK || strcmp(cursor, "0") == 0 ||
                cursor[0] == '\0')
                break;
            st = sweep_some(v, i, cursor, &a);
        }
    }
    cluster_answer_fini(&a);
    free(known);
    return st;
}
