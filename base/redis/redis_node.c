/* SPDX-License-Identifier: MIT */
/*
 * redis_node.c - one server of a cluster: connecting, its replies, WAIT.
 *
 * WAIT blocks the commands behind it on its connection, so there is one at a
 * time, which covers all durable calls sent before it; those sent meanwhile
 * have the next. It counts replicas that have all that *this connection* wrote,
 * so a durable script has to write something each time it runs: else a repeat
 * that finds its work done would wait for nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/redis/redis_cluster_impl.h"

#define NODE_TIMEOUT   "cluster-node-timeout"
#define FIRST_BACK_OFF (50 * NS_PER_MS)
#define MOST_BACK_OFF  (2 * NS_PER_S)
#define FIRST_DELAY    (10 * NS_PER_MS) /* before a call is tried again */
#define MOST_DELAY     (1 * NS_PER_S)

struct redis_node *redis_node_add(struct redis_cluster *c,
                                  const struct redis_address *at)
{
    struct redis_node *n;

    for (size_t i = 0; i < c->node_count; i++) {
        n = c->nodes[i];
        if (strcmp(n->at.host, at->host) == 0 && n->at.port == at->port &&
            strcmp(n->at.path, at->path) == 0)
            return n;
    }
    if (c->node_count == REDIS_NODES_MOST)
        return NULL;
    n = xcalloc(1, sizeof *n);
    n->at = *at;
    c->nodes[c->node_count++] = n;
    return n;
}

void redis_node_free(struct redis_node *n)
{
    redis_link_free(n->link);
    explicit_bzero(n->at.password, sizeof n->at.password);
    free(n);
}

/* ---- sending ---- */

void redis_node_ask(struct redis_node *n, enum call_kind kind,
                    const struct bytes *words, size_t count, int64_t now)
{
    struct redis_call *call = xcalloc(1, sizeof *call);

    call->kind = kind;
    call->sent = now;
    call->mark = n->durable_sent;
    redis_link_send(n->link, words, count);
    redis_calls_push(&n->sent, call);
}

void redis_node_send(struct redis_cluster *c, struct redis_node *n,
                     struct redis_call *call, int64_t now)
{
    static const struct bytes asking = {"ASKING", 6};

    if (call->ask != NULL)
        redis_node_ask(n, CALL_ASKING, &asking, 1, now);
    call->ask = NULL;
    if (call->run_id_at > 0)
        memcpy(call->body + call->run_id_at, redis_link_info(n->link)->run_id,
               REDIS_RUN_ID_SIZE - 1);
    if (call->durable) {
        n->durable++;
        n->durable_sent++;
    }
    call->mark = n->durable_sent;
    call->sent = now;
    c->stats.repeats += call->tries++ > 0;
    redis_link_send_written(n->link, bytes_of(call->body, call->len));
    redis_calls_push(&n->sent, call);
}

static void send_load(struct redis_cluster *c, struct redis_node *n,
                      const struct redis_script *s, int64_t now)
{
    const struct bytes words[3] = {bytes_of_str("SCRIPT"), bytes_of_str("LOAD"),
                                   bytes_of_str(s->text)};

    (void)c;
    redis_node_ask(n, CALL_LOAD, words, 3, now);
}

static void send_wait(struct redis_cluster *c, struct redis_node *n,
                      int64_t now)
{
    char replicas[16], ms[24];
    struct bytes words[3] = {bytes_of_str("WAIT")};

    snprintf(replicas, sizeof replicas, "%u", c->o.replicas);
    snprintf(ms, sizeof ms, "%lld", (long long)c->o.replica_ms);
    words[1] = bytes_of_str(replicas);
    words[2] = bytes_of_str(ms);
    redis_node_ask(n, CALL_WAIT, words, 3, now);
    n->waiting = true;
}

/* ---- losing ---- */

/* Everything under way is tried again; commands of our own end. */
static void give_back(struct redis_cluster *c, struct redis_calls *l)
{
    struct redis_call *call;

    while ((call = redis_calls_pop(l)) != NULL) {
        if (call->kind == CALL_SCRIPT) {
            redis_call_again(c, call, STATUS_CLOSED, 0);
        } else {
            if (call->kind == CALL_MAP)
                c->mapping = false;
            free(call);
        }
    }
}

void redis_node_lose(struct redis_cluster *c, struct redis_node *n,
                     const char *why, int64_t now)
{
    char text[700];
    struct buf where;

    buf_init(&where, 400);
    redis_address_show(&n->at, &where);
    snprintf(text, sizeof text, "%s: %s", buf_str(&where), why);
    buf_fini(&where);
    redis_trouble(c, bytes_of_str(text));
    redis_link_free(n->link);
    n->link = NULL;
    n->ready = n->waiting = false;
    n->durable = 0;
    give_back(c, &n->sent);
    give_back(c, &n->unsafe);
    n->back_off = n->back_off == 0
                      ? FIRST_BACK_OFF
                      : clock_earlier(2 * n->back_off, MOST_BACK_OFF);
    n->next_try = now + n->back_off;
    c->stats.lost++;
    redis_map_want(c);
}

static void refuse(struct redis_cluster *c, struct redis_node *n,
                   enum status st, const char *why, int64_t now)
{
    redis_node_lose(c, n, why, now);
    n->refused = true;
    c->fault = st;
    snprintf(c->fault_text, sizeof c->fault_text, "%s", c->stats.trouble);
}

/* ---- replies ---- */

static int64_t delay_of(const struct redis_call *call)
{
    unsigned doublings = call->tries < 8 ? call->tries : 8;

    return clock_earlier(FIRST_DELAY << doublings, MOST_DELAY);
}

/* Another server has the slot, or the key already. */
static void follow(struct redis_cluster *c, struct redis_node *n,
                   struct redis_call *call, struct bytes text)
{
    struct redis_spot spot;
    struct redis_node *to = NULL;
    uint16_t slot;
    bool ask;

    if (redis_redirect_read(text, &ask, &slot, &spot) == STATUS_OK &&
        slot == call->slot)
        to = redis_map_node(c, n, &spot);
    if (to != NULL && ask) {
        c->stats.ask++;
        call->ask = to;
    } else {
        c->stats.moved++;
        if (to != NULL)
            redis_map_moved(c, slot, to);
        else
            redis_map_want(c);
    }
    /* Two servers that send us to each other must not keep us busy. */
    redis_call_again(c, call, STATUS_NOT_FOUND,
                     call->tries < 3 && to != NULL ? 0 : delay_of(call));
}

static void count_error(struct redis_cluster *c, struct bytes text)
{
    if (bytes_starts_with(text, "TRYAGAIN"))
        c->stats.again++;
    else if (bytes_starts_with(text, "LOADING"))
        c->stats.loading++;
    else
        c->stats.down++;
}

static void take_error(struct redis_cluster *c, struct redis_node *n,
                       struct redis_call *call, const redisReply *r,
                       int64_t now)
{
    struct bytes text = bytes_of(r->str, (size_t)r->len);
    enum status st = redis_error_status(text);

    redis_trouble(c, text);
    switch (st) {
    case STATUS_NOT_FOUND:
        follow(c, n, call, text);
        return;
    case STATUS_AGAIN:
        c->stats.noscript++;
        send_load(c, n, call->script, now);
        redis_call_again(c, call, st, call->tries < 3 ? 0 : delay_of(call));
        return;
    case STATUS_CLOSED:
        count_error(c, text);
        break;
    case STATUS_FULL:
        c->stats.full++;
        redis_memory_refused(n, now);
        break;
    case STATUS_BUSY:
        c->stats.readonly++;
        break;
    default:
        redis_call_finish(c, call, STATUS_ARG, NULL);
        return;
    }
    if (st != STATUS_FULL)
        redis_map_want(c);
    redis_call_again(c, call, st, delay_of(call));
}

static void take_script(struct redis_cluster *c, struct redis_node *n,
                        struct redis_call *call, redisReply *r, int64_t now)
{
    bool failed = r->type == REDIS_REPLY_ERROR;

    if (!failed && call->durable) {
        call->reply = r;
        redis_calls_push(&n->unsafe, call);
        return;
    }
    n->durable -= call->durable;
    if (failed) {
        take_error(c, n, call, r, now);
    } else {
        redis_call_finish(c, call, STATUS_OK, r);
    }
    freeReplyObject(r);
}

/* The durable calls that this WAIT covers are done, or too few replicas have
 * them, and the next WAIT covers them again. */
static void take_wait(struct redis_cluster *c, struct redis_node *n,
                      const struct redis_call *wait, const redisReply *r,
                      int64_t now)
{
    bool enough = r->type == REDIS_REPLY_INTEGER &&
                  r->integer >= (long long)c->o.replicas;
    struct redis_calls unsafe = n->unsafe;
    struct redis_call *call;

    n->waiting = false;
    if (!enough) {
        c->stats.short_waits++;
        redis_trouble(c, bytes_of_str("too few replicas have what was "
                                      "written"));
    }
    memset(&n->unsafe, 0, sizeof n->unsafe);
    while ((call = redis_calls_pop(&unsafe)) != NULL) {
        bool late = now > call->deadline;

        if (call->mark > wait->mark || (!enough && !late)) {
            redis_calls_push(&n->unsafe, call);
            continue;
        }
        n->durable--;
        redis_call_finish(c, call, enough ? STATUS_OK : STATUS_BUSY,
                          enough ? call->reply : NULL);
    }
}

static void take_setting(struct redis_cluster *c, const char *name,
                         const char *value)
{
    uint64_t n = strtoull(value, NULL, 10);

    if (strcmp(name, NODE_TIMEOUT) == 0) {
        if (n <= INT32_MAX && (int64_t)n > c->stats.node_timeout_ms)
            c->stats.node_timeout_ms = (int64_t)n;
    } else if (!c->told_setting && n < c->o.setting_least) {
        c->told_setting = true;
        log_warn("a setting of the Redis server is too low",
                 "name=%s value=%s "
                 "wanted=%llu",
                 c->o.setting, value, (unsigned long long)c->o.setting_least);
    }
}

/* CONFIG may be forbidden; then there is nothing to go by. */
static void take_settings(struct redis_cluster *c, const redisReply *r)
{
    for (size_t i = 0; r->type == REDIS_REPLY_ARRAY && i + 1 < r->elements;
         i += 2)
        if (r->element[i]->type == REDIS_REPLY_STRING &&
            r->element[i + 1]->type == REDIS_REPLY_STRING)
            take_setting(c, r->element[i]->str, r->element[i + 1]->str);
}

static void take_memory(struct redis_node *n, const redisReply *r, int64_t now)
{
    struct redis_info info;

    if (r->type != REDIS_REPLY_STRING)
        return;
    redis_info_read(&info, bytes_of(r->str, (size_t)r->len));
    redis_memory_take(n, &info, now);
}

static void take_reply(struct redis_cluster *c, struct redis_node *n,
                       redisReply *r, int64_t now)
{
    struct redis_call *call = redis_calls_pop(&n->sent);

    if (call->kind == CALL_SCRIPT) {
        take_script(c, n, call, r, now);
        return;
    }
    if (call->kind == CALL_WAIT)
        take_wait(c, n, call, r, now);
    else if (call->kind == CALL_MAP)
        redis_map_take(c, n, r, now);
    else if (call->kind == CALL_SETTINGS)
        take_settings(c, r);
    else if (call->kind == CALL_MEMORY)
        take_memory(n, r, now);
    else if (r->type == REDIS_REPLY_ERROR) /* LOAD, ASKING */
        redis_trouble(c, bytes_of(r->str, (size_t)r->len));
    freeReplyObject(r);
    free(call);
}

/* ---- turns ---- */

static void become_ready(struct redis_cluster *c, struct redis_node *n,
                         int64_t now)
{
    const struct redis_info *info = redis_link_info(n->link);
    const struct bytes settings[4] = {
        bytes_of_str("CONFIG"), bytes_of_str("GET"), bytes_of_str(NODE_TIMEOUT),
        bytes_of_str(c->o.setting != NULL ? c->o.setting : NODE_TIMEOUT)};

    if (info->may_evict) {
        refuse(c, n, STATUS_REFUSED,
               "this server evicts keys when its memory is full; set "
               "maxmemory-policy noeviction",
               now);
        return;
    }
    n->ready = true;
    for (size_t i = 0; i < c->o.script_count; i++)
        send_load(c, n, c->o.scripts[i], now);
    redis_node_ask(n, CALL_SETTINGS, settings, 4, now);
    if (!info->is_cluster && info->is_replica)
        refuse(c, n, STATUS_REFUSED, "this server is a replica", now);
    else if (!info->is_cluster)
        redis_map_single(c, n);
    if (!n->refused)
        redis_memory_take(n, info, now);
}

bool redis_node_is_wanted(const struct redis_cluster *c,
                          const struct redis_node *n)
{
    bool lacking = c->slots_owned < REDIS_SLOTS;

    for (size_t i = 0; !lacking && i < c->node_count; i++)
        lacking = c->nodes[i]->is_master && !c->nodes[i]->ready;
    if (n->is_master || (n->is_seed && lacking))
        return true;
    for (const struct redis_call *call = c->todo.first; call != NULL;
         call = call->next)
        if (call->ask == n)
            return true;
    return false;
}

static bool is_late(const struct redis_cluster *c, const struct redis_node *n,
                    int64_t now)
{
    int64_t most = c->o.answer_ns;

    if (n->sent.first == NULL)
        return false;
    if (n->waiting) /* it holds up all that came behind it */
        most += c->o.replica_ms * NS_PER_MS;
    return now - n->sent.first->sent > most;
}

static bool take_replies(struct redis_cluster *c, struct redis_node *n,
                         int64_t now)
{
    redisReply *r = NULL;
    bool some = false;
    enum status st = STATUS_OK;

    while (n->link != NULL && n->sent.first != NULL &&
           (st = redis_link_next(n->link, &r)) == STATUS_OK) {
        /* The clock of those behind starts when their turn comes. */
        take_reply(c, n, r, now);
        if (n->sent.first != NULL && n->sent.first->sent < now)
            n->sent.first->sent = now;
        n->back_off = 0;
        some = true;
    }
    if (n->link != NULL && st != STATUS_OK && st != STATUS_AGAIN)
        redis_node_lose(c, n, redis_link_error(n->link), now);
    return some;
}

static bool connect_node(struct redis_cluster *c, struct redis_node *n,
                         int64_t now)
{
    if (n->refused || now < n->next_try || !redis_node_is_wanted(c, n))
        return false;
    n->link = redis_link_new(&n->at);
    n->next_try = now + c->o.answer_ns; /* until then it must be ready */
    return true;
}

bool redis_node_turn(struct redis_cluster *c, struct redis_node *n, int64_t now)
{
    struct redis_link *l = n->link;
    enum status st;
    bool busy;

    if (l == NULL) /* the first turn of the link comes with the next */
        return connect_node(c, n, now);
    if (n->ready && n->durable > 0 && !n->waiting)
        send_wait(c, n, now);
    if (n->ready && n->is_master)
        redis_memory_turn(n, now);
    st = redis_link_turn(l);
    busy = n->ready && take_replies(c, n, now); /* also the last ones */
    if (n->link != l)                           /* lost on the way */
        return true;
    if (st != STATUS_OK && st != STATUS_CLOSED && !n->ready) {
        refuse(c, n, st, redis_link_error(n->link), now);
    } else if (st != STATUS_OK) {
        redis_node_lose(c, n, redis_link_error(n->link), now);
    } else if (!n->ready && redis_link_is_ready(n->link)) {
        become_ready(c, n, now);
        busy = true;
    } else if (n->ready ? is_late(c, n, now) : now > n->next_try) {
        c->stats.timeouts++;
        redis_node_lose(c, n, "no answer in time", now);
        busy = true;
    }
    return busy;
}
