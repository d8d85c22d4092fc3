/* SPDX-License-Identifier: MIT */
/*
 * cluster_hints.c - hosts of our part that are known to be due.
 *
 * An acknowledgement says when its host is due again, and a put which hosts it
 * made. These are claimed without a look at their shard. Whether they still are
 * due is for the claim to see, so a hint may be wrong or missing: then the host
 * is found by the next look.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/cluster_store/cluster_impl.h"

#define HINTS_MOST 64              /* of a shard */
#define HINT_LATE  (10 * NS_PER_S) /* those due later are looked for */

struct cluster_hint {
    struct cluster_hint *next;
    int64_t due;
    size_t len;
    char host[];
};

static void find_first(struct cluster_shard *x)
{
    x->hint_due = INT64_MAX;
    for (const struct cluster_hint *h = x->hints; h != NULL; h = h->next)
        x->hint_due = clock_earlier(x->hint_due, h->due);
}

static void remove_at(struct cluster_shard *x, struct cluster_hint **at)
{
    struct cluster_hint *h = *at;

    *at = h->next;
    x->hint_count--;
    free(h);
}

void cluster_hint_add(struct cluster_store *s, unsigned shard,
                      struct bytes host, int64_t due)
{
    struct cluster_shard *x = &s->shards[shard];
    struct cluster_hint *h;

    if (!cluster_is_own(s, shard) || x->hint_count >= HINTS_MOST ||
        due > clock_mono() + HINT_LATE) {
        cluster_look_at(s, shard, due);
        return;
    }
    h = xmalloc(sizeof *h + host.len);
    h->due = due;
    h->len = host.len;
    memcpy(h->host, host.at, host.len);
    h->next = x->hints;
    x->hints = h;
    x->hint_count++;
    x->hint_due = clock_earlier(x->hint_due, due);
}

void cluster_hint_remove(struct cluster_store *s, unsigned shard,
                         struct bytes host)
{
    struct cluster_shard *x = &s->shards[shard];

    for (struct cluster_hint **at = &x->hints; *at != NULL; at = &(*at)->next)
        if (bytes_equal(bytes_of((*at)->host, (*at)->len), host)) {
            remove_at(x, at);
            break;
        }
    find_first(x);
}

size_t cluster_hints_take(struct cluster_store *s, unsigned shard, int64_t now,
                          struct buf *text, struct bytes *hosts, size_t most)
{
    struct cluster_shard *x = &s->shards[shard];
    size_t n = 0, at = 0;

    for (struct cluster_hint **h = &x->hints; *h != NULL && n < most;) {
        if ((*h)->due > now) {
            h = &(*h)->next;
            continue;
        }
        buf_add(text, (*h)->host, (*h)->len);
        hosts[n++].len = (*h)->len;
        remove_at(x, h);
    }
    for (size_t i = 0; i < n; i++) { /* the text has its place now */
        hosts[i].at = text->at + at;
        at += hosts[i].len;
    }
    find_first(x);
    return n;
}

void cluster_hints_free(struct cluster_store *s)
{
    for (unsigned i = 0; i < s->shard_count; i++)
        while (s->shards[i].hints != NULL)
            remove_at(&s->shards[i], &s->shards[i].hints);
}
