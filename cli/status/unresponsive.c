/* SPDX-License-Identifier: MIT */
/* unresponsive.c - read from the store which hosts do not respond. */
#include "cli/status/unresponsive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/format.h"
#include "base/mem.h"

#define PRINTED 8
#define LINE    1024

struct silent_host {
    uint32_t queue;
    uint64_t queued;
    struct queue_state state;
};

struct silent_hosts {
    struct frontier_store *store;
    struct silent_host at[UNRESPONSIVE_MOST];
    size_t count;
};

/* Returns "connect" for "no_response:connect". NULL: the queue waits for
 * another reason, or none. */
static const char *reason_of(const struct queue_state *s, bool *given_up)
{
    const char *colon = strchr(s->reason, ':');
    struct bytes word;

    if (colon == NULL)
        return NULL;
    word = bytes_of(s->reason, (size_t)(colon - s->reason));
    *given_up = bytes_is(word, QUEUE_GIVEN_UP);
    return *given_up || bytes_is(word, QUEUE_SILENT) ? colon + 1 : NULL;
}

/* Keeps the longest queues, sorted. */
static void take(void *ctx, uint32_t queue, const struct queue_state *s)
{
    struct silent_hosts *all = ctx;
    struct silent_host h = {queue, frontier_store_pending(all->store, queue),
                            *s};
    size_t at;
    bool given_up;

    if (h.queued == 0 || reason_of(s, &given_up) == NULL)
        return;
    if (all->count < UNRESPONSIVE_MOST)
        all->count++;
    else if (all->at[all->count - 1].queued >= h.queued)
        return;
    for (at = all->count - 1; at > 0 && all->at[at - 1].queued < h.queued; at--)
        all->at[at] = all->at[at - 1];
    all->at[at] = h;
}

enum status unresponsive_json(struct reader *r, json_t **out)
{
    struct silent_hosts *all = xcalloc(1, sizeof *all);
    enum status st;

    all->store = r->store;
    st = frontier_store_each_queue_state(r->store, take, all);
    *out = json_array();
    for (size_t i = 0; i < all->count; i++) {
        const struct silent_host *h = &all->at[i];
        bool given_up = false;
        const char *reason = reason_of(&h->state, &given_up);
        struct bytes crawl, key;

        frontier_store_queue_name(r->store, h->queue, &crawl, &key);
        json_array_append_new(*out,
                              json_pack("{s:o, s:s, s:b, s:I}", "host",
                                        json_stringn(key.at, key.len), "reason",
                                        reason, "given_up", given_up, "queued",
                                        (json_int_t)h->queued));
    }
    free(all);
    return st;
}

static void print_one(const json_t *o)
{
    const json_t *host = json_object_get(o, "host");
    uint64_t queued =
        (uint64_t)json_integer_value(json_object_get(o, "queued"));
    struct buf b;

    buf_init(&b, LINE);
    format_terminal(&b, bytes_of(json_string_value(host),
                                 json_string_length(host)));
    buf_add_str(&b, " did not respond (");
    format_terminal(&b, bytes_of_str(
                            json_string_value(json_object_get(o, "reason"))));
    buf_add_str(&b, "), ");
    format_count(&b, queued);
    buf_addf(&b, " URL%s queued", queued == 1 ? "" : "s");
    printf("  %s\n", buf_str(&b));
    buf_fini(&b);
}

void unresponsive_print(const json_t *list)
{
    size_t n = json_array_size(list);

    for (size_t i = 0; i < n && i < PRINTED; i++)
        print_one(json_array_get(list, i));
    if (n > PRINTED)
        puts("  and more hosts that did not respond: --json lists them");
}
