/* SPDX-License-Identifier: MIT */
/* cluster_stats.c - how a crawl on many machines stands. */
#include "cluster/cluster_stats.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crawler/crawl.h"

#define AT(field) offsetof(struct shard_report, field)

/* clang-format off */
const struct shard_figure shard_figures[SHARD_FIGURES] = {
    {"pages", "pages", "pages_total", "Pages fetched.", AT(pages)},
    {"urls", "URLs", "urls_total", "URLs admitted.", AT(urls)},
    {"queued", "queued", "queued_urls", "URLs that are not done.", AT(queued)},
    {"failed", "failed", "failed_urls", "URLs that failed.", AT(failed)},
    {"bytes", "octets", "received_bytes_total", "Octets received.", AT(bytes)},
    {"sent", "sent to others", "sent_urls_total",
     "URLs sent to other shards.", AT(sent)},
    {"received", "received", "received_urls_total",
     "URLs received from other shards, and seeds.", AT(received)},
};
/* clang-format on */

uint64_t shard_figure_value(const struct shard_figure *f,
                            const struct shard_report *r)
{
    return *(const uint64_t *)((const char *)r + f->at);
}

static const char *state_of(struct cluster_control *c)
{
    enum permit_kind which;

    if (permits_are_spent(cluster_control_permits(c), &which))
        return crawl_end_text(which == PERMIT_PAGES ? CRAWL_LIMIT
                                                    : CRAWL_QUOTA);
    return cluster_control_is_over(c)     ? "finished"
           : cluster_control_is_paused(c) ? "paused"
                                          : "not finished";
}

struct shard_report cluster_stats_sum(const struct cluster_control *c)
{
    struct shard_report all = {.known = true};

    for (uint32_t n = 0; n < cluster_control_shards(c); n++) {
        const struct shard_report *r = cluster_control_report(c, n);

        for (size_t i = 0; i < SHARD_FIGURES; i++)
            *(uint64_t *)((char *)&all + shard_figures[i].at) +=
                shard_figure_value(&shard_figures[i], r);
        all.seeds_failed += r->seeds_failed;
        all.given_up |= r->given_up;
    }
    return all;
}

void cluster_stats_take(struct cluster_stats *out, struct cluster_control *c)
{
    *out = (struct cluster_stats){.state = state_of(c),
                                  .all = cluster_stats_sum(c),
                                  .count = cluster_control_shards(c)};
    out->shards = xcalloc(out->count, sizeof *out->shards);
    for (uint32_t n = 0; n < out->count; n++)
        out->shards[n] = *cluster_control_report(c, n);
}

void cluster_stats_fini(struct cluster_stats *s)
{
    free(s->shards);
    *s = (struct cluster_stats){.state = NULL};
}

const char *shard_state(const struct shard_report *r)
{
    return !r->known ? "not begun" : r->idle ? "idle" : "running";
}

static json_t *report_json(const struct shard_report *r)
{
    json_t *o = json_object();

    for (size_t i = 0; i < SHARD_FIGURES; i++)
        json_object_set_new(
            o, shard_figures[i].name,
            json_integer((json_int_t)shard_figure_value(&shard_figures[i], r)));
    return o;
}

json_t *cluster_stats_json(const struct cluster_stats *s, const char *url)
{
    json_t *o = report_json(&s->all), *list = json_array();

    for (uint32_t n = 0; n < s->count; n++) {
        const struct shard_report *r = &s->shards[n];
        json_t *one = report_json(r);

        json_object_set_new(one, "shard", json_integer(n));
        json_object_set_new(one, "state", json_string(shard_state(r)));
        json_object_set_new(one, "worker",
                            r->worker[0] != '\0' ? json_string(r->worker)
                                                 : json_null());
        json_array_append_new(list, one);
    }
    json_object_set_new(o, "cluster", json_string(url));
    json_object_set_new(o, "state", json_string(s->state));
    json_object_set_new(o, "shards", list);
    return o;
}

/* ---- a board ---- */

struct cluster_board {
    char *url, *name;
    pthread_mutex_t mtx;
    struct cluster_stats stats; /* under it */
};

struct cluster_board *cluster_board_new(const char *url, const char *name)
{
    struct cluster_board *b = xcalloc(1, sizeof *b);

    b->url = xstrdup(url);
    b->name = xstrdup(name);
    b->stats.state = "not finished";
    pthread_mutex_init(&b->mtx, NULL);
    return b;
}

void cluster_board_free(struct cluster_board *b)
{
    if (b == NULL)
        return;
    cluster_stats_fini(&b->stats);
    pthread_mutex_destroy(&b->mtx);
    free(b->url);
    free(b->name);
    free(b);
}

void cluster_board_show(struct cluster_board *b, struct cluster_control *c)
{
    struct cluster_stats now, was;

    cluster_stats_take(&now, c);
    pthread_mutex_lock(&b->mtx);
    was = b->stats;
    b->stats = now;
    pthread_mutex_unlock(&b->mtx);
    cluster_stats_fini(&was);
}

void cluster_board_read(struct cluster_board *b, struct cluster_stats *out)
{
    pthread_mutex_lock(&b->mtx);
    *out = b->stats;
    out->shards = xcalloc(out->count + 1, sizeof *out->shards);
    if (out->count > 0)
        memcpy(out->shards, b->stats.shards, out->count * sizeof *out->shards);
    pthread_mutex_unlock(&b->mtx);
}

const char *cluster_board_name(const struct cluster_board *b)
{
    return b->name;
}

json_t *cluster_board_json(struct cluster_board *b)
{
    struct cluster_stats s;
    json_t *o;

    cluster_board_read(b, &s);
    o = cluster_stats_json(&s, b->url);
    cluster_stats_fini(&s);
    return o;
}
