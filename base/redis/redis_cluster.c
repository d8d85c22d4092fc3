/* SPDX-License-Identifier: MIT */
/*
 * redis_cluster.c - calls: made, sent, repeated, ended.
 *
 *           slot's server ready      reply          replicas have it
 *   TODO ------------------> SENT ----------> UNSAFE --------------> ended
 *    ^                        |   (durable)     |
 *    '---- an error that      |                 |
 *          may pass, or the --'-----------------'
 *          connection ended
 *
 * A whole call is repeated, never a part of it.
 */
#include "base/redis/redis_cluster.h"

#include <openssl/evp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/redis/redis_cluster_impl.h"

#define BODY_MOST  ((size_t)16 << 20) /* of one call; callers stay far below */
#define BODY_HEAD  128 /* octets of a call without keys and arguments */
#define WORD_FRAME 16  /* around one of these */
#define TICK       (5 * NS_PER_MS) /* how late a repeated call may be */
#define DELAY_MOST (1 * NS_PER_S)  /* between two tries */

const char REDIS_RUN_ID[REDIS_RUN_ID_SIZE] =
    "0000000000000000000000000000000000000000";

/* ---- lists ---- */

void redis_calls_push(struct redis_calls *l, struct redis_call *c)
{
    c->next = NULL;
    if (l->first == NULL)
        l->first = c;
    else
        l->last->next = c;
    l->last = c;
    l->count++;
}

struct redis_call *redis_calls_pop(struct redis_calls *l)
{
    struct redis_call *c = l->first;

    if (c != NULL) {
        l->first = c->next;
        l->count--;
    }
    return c;
}

/* ---- life ---- */

static void hash_scripts(struct redis_cluster *c)
{
    unsigned char digest[EVP_MAX_MD_SIZE];

    c->sha = xcalloc(c->o.script_count, sizeof *c->sha);
    for (size_t i = 0; i < c->o.script_count; i++) {
        const char *text = c->o.scripts[i]->text;

        if (EVP_Digest(text, strlen(text), digest, NULL, EVP_sha1(), NULL) != 1)
            mem_out(0);
        for (int j = 0; j < 20; j++)
            snprintf(c->sha[i] + (ptrdiff_t)2 * j, 3, "%02x", digest[j]);
    }
}

struct redis_cluster *redis_cluster_new(const struct redis_cluster_options *o)
{
    struct redis_cluster *c = xcalloc(1, sizeof *c);

    c->o = *o;
    c->o.seeds = NULL;
    hash_scripts(c);
    for (size_t i = 0; i < o->seed_count; i++) {
        struct redis_node *n = redis_node_add(c, &o->seeds[i]);

        if (n != NULL)
            n->is_seed = true;
    }
    return c;
}

static void free_call(struct redis_call *call)
{
    if (call->reply != NULL)
        freeReplyObject(call->reply);
    free(call->body);
    free(call);
}

static void end_calls(struct redis_cluster *c, struct redis_calls *l)
{
    struct redis_call *call;

    while ((call = redis_calls_pop(l)) != NULL)
        if (call->kind == CALL_SCRIPT)
            redis_call_finish(c, call, STATUS_CLOSED, NULL);
        else
            free_call(call);
}

void redis_cluster_free(struct redis_cluster *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->node_count; i++) {
        end_calls(c, &c->nodes[i]->sent);
        end_calls(c, &c->nodes[i]->unsafe);
        redis_node_free(c->nodes[i]);
    }
    end_calls(c, &c->todo); /* also what was called by those that ended */
    free(c->sha);
    free(c);
}

/* ---- calls ---- */

/* Write the command; its run ID, if any, is filled in when it is sent. */
static void write_body(struct redis_cluster *c, struct redis_call *call,
                       const struct redis_call_spec *spec)
{
    char count[24];
    size_t size = BODY_HEAD;
    struct buf b;

    for (size_t i = 0; i < spec->key_count; i++)
        size += spec->keys[i].len + WORD_FRAME;
    for (size_t i = 0; i < spec->arg_count; i++)
        size += spec->args[i].len + WORD_FRAME;
    buf_init(&b, BODY_MOST);
    (void)buf_room(&b, size); /* grows once */
    redis_command_begin(&b, 3 + spec->key_count + spec->arg_count);
    redis_command_word(&b, bytes_of_str("EVALSHA"));
    redis_command_word(&b, bytes_of(c->sha[spec->script->number], 40));
    snprintf(count, sizeof count, "%zu", spec->key_count);
    redis_command_word(&b, bytes_of_str(count));
    for (size_t i = 0; i < spec->key_count; i++)
        redis_command_word(&b, spec->keys[i]);
    for (size_t i = 0; i < spec->arg_count; i++) {
        redis_command_word(&b, spec->args[i]);
        if (spec->args[i].at == REDIS_RUN_ID)
            call->run_id_at = b.len - 42; /* the digits and a line's end */
    }
    call->last = buf_failed(&b) == STATUS_OK ? STATUS_CLOSED : STATUS_LIMIT;
    call->body = buf_take(&b, &call->len);
}

void redis_cluster_call(struct redis_cluster *c,
                        const struct redis_call_spec *spec)
{
    struct redis_call *call = xcalloc(1, sizeof *call);

    call->kind = CALL_SCRIPT;
    call->script = spec->script;
    call->slot = spec->slot;
    call->durable = spec->durable && c->o.replicas > 0;
    call->end = spec->end;
    call->ctx = spec->ctx;
    write_body(c, call, spec);
    call->deadline =
        call->last == STATUS_LIMIT ? 0 : clock_mono() + c->o.call_ns;
    c->pending++;
    c->stats.calls++;
    redis_calls_push(&c->todo, call);
}

void redis_call_finish(struct redis_cluster *c, struct redis_call *call,
                       enum status st, const redisReply *r)
{
    c->pending--;
    call->end(call->ctx, st, r);
    free_call(call);
}

void redis_call_again(struct redis_cluster *c, struct redis_call *call,
                      enum status why, int64_t delay)
{
    if (call->reply != NULL)
        freeReplyObject(call->reply);
    call->reply = NULL;
    call->last = why;
    call->not_before = clock_mono() + delay;
    redis_calls_push(&c->todo, call);
}

void redis_trouble(struct redis_cluster *c, struct bytes text)
{
    redis_error_keep(text, c->stats.trouble, sizeof c->stats.trouble);
}

/* Send what can be sent; what cannot stays, in its order. */
static bool send_todo(struct redis_cluster *c, int64_t now)
{
    struct redis_calls todo = c->todo;
    struct redis_call *call;
    bool sent = false;

    memset(&c->todo, 0, sizeof c->todo);
    while ((call = redis_calls_pop(&todo)) != NULL) {
        struct redis_node *n =
            call->ask != NULL ? call->ask : c->owner[call->slot];

        if (now > call->deadline) {
            redis_call_finish(c, call, call->last, NULL);
            sent = true;
        } else if (n == NULL || !n->ready || now < call->not_before ||
                   n->sent.count >= c->o.window) {
            redis_calls_push(&c->todo, call);
        } else {
            redis_node_send(c, n, call, now);
            sent = true;
        }
    }
    return sent;
}

/* ---- turns ---- */

static bool work(struct redis_cluster *c, int64_t now)
{
    bool busy = send_todo(c, now);

    redis_map_turn(c, now);
    for (size_t i = 0; i < c->node_count; i++)
        busy |= redis_node_turn(c, c->nodes[i], now);
    return busy;
}

static void wait_for_servers(struct redis_cluster *c, int64_t wait)
{
    struct pollfd *p = xcalloc(c->node_count + 1, sizeof *p);
    nfds_t n = 0;

    for (size_t i = 0; i < c->node_count; i++) {
        const struct redis_link *l = c->nodes[i]->link;

        if (l == NULL) {
            if (redis_node_is_wanted(c, c->nodes[i]))
                wait = clock_earlier(wait, TICK); /* for a connection */
            continue;
        }
        p[n].fd = redis_link_fd(l);
        p[n++].events = redis_link_events(l);
    }
    if (c->o.wake_fd > 0) {
        p[n].fd = c->o.wake_fd;
        p[n++].events = POLLIN;
    }
    if (c->todo.count > 0)
        wait = clock_earlier(wait, TICK); /* for a repeat */
    (void)poll(p, n, (int)((wait + NS_PER_MS - 1) / NS_PER_MS));
    free(p);
}

void redis_cluster_turn(struct redis_cluster *c, int64_t wait)
{
    if (work(c, clock_mono()) || wait <= 0)
        return;
    wait_for_servers(c, wait);
    (void)work(c, clock_mono());
}

size_t redis_cluster_pending(const struct redis_cluster *c)
{
    return c->pending;
}

/* ---- start ---- */

/* The first master that is not connected, or has too few replicas. */
static const struct redis_node *missing(const struct redis_cluster *c,
                                        bool *replicas)
{
    *replicas = false;
    for (size_t i = 0; i < c->node_count; i++) {
        const struct redis_node *n = c->nodes[i];

        if (n->is_master && !n->ready)
            return n;
        *replicas =
            n->is_master && redis_link_info(n->link)->replicas < c->o.replicas;
        if (*replicas)
            return n;
    }
    return NULL;
}

static enum status say_missing(const struct redis_cluster *c,
                               const struct redis_node *n, bool replicas,
                               struct buf *error)
{
    if (replicas) {
        redis_address_show(&n->at, error);
        buf_addf(error,
                 " has %u replicas, and durability safe needs %u at each "
                 "master",
                 redis_link_info(n->link)->replicas, c->o.replicas);
        return STATUS_REFUSED;
    }
    if (n != NULL)
        redis_address_show(&n->at, error);
    else
        buf_addf(error, "%u slots have a server", c->slots_owned);
    buf_addf(error, ": %s",
             c->stats.trouble[0] != '\0' ? c->stats.trouble
                                         : "no answer in time");
    return STATUS_CLOSED;
}

enum status redis_cluster_start(struct redis_cluster *c, int64_t patience,
                                struct buf *error)
{
    int64_t end = clock_mono() + patience;
    const struct redis_node *n = NULL;
    bool replicas = false;

    do {
        redis_cluster_turn(c, TICK);
        if (c->fault != STATUS_OK) {
            buf_add_str(error, c->fault_text);
            return c->fault;
        }
        n = missing(c, &replicas);
        if (c->slots_owned == REDIS_SLOTS && n == NULL)
            return STATUS_OK;
    } while (!replicas && clock_mono() < end);
    return say_missing(c, n, replicas, error);
}

/* ---- asking ---- */

void redis_cluster_remap(struct redis_cluster *c)
{
    redis_map_want(c);
}

bool redis_cluster_has_master(const struct redis_cluster *c,
                              struct bytes run_id)
{
    for (size_t i = 0; i < c->node_count; i++) {
        const struct redis_node *n = c->nodes[i];

        if (n->is_master && n->ready &&
            bytes_is(run_id, redis_link_info(n->link)->run_id))
            return true;
    }
    return false;
}

void redis_cluster_get_stats(const struct redis_cluster *c,
                             struct redis_cluster_stats *out)
{
    *out = c->stats;
    out->masters = out->connected = 0;
    for (size_t i = 0; i < c->node_count; i++) {
        out->masters += c->nodes[i]->is_master;
        out->connected += c->nodes[i]->is_master && c->nodes[i]->ready;
    }
}
