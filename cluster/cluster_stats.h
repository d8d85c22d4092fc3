/*
 * cluster_stats.h - how a crawl on many machines stands: all of it, and each
 * shard.
 *
 * From what each shard says in NAME.control with its commits. `urlweir status`,
 * GET /v1/cluster, the dashboard and /metrics show these figures, from here. A
 * board hands them from the thread that reads the topic to any other one.
 */
#ifndef URLWEIR_CLUSTER_CLUSTER_STATS_H
#define URLWEIR_CLUSTER_CLUSTER_STATS_H

#include <jansson.h>
#include <stdbool.h>

#include "cluster/cluster_control.h"

/* The figures of a shard, and of all as their sum. */
struct shard_figure {
    const char *name;   /* in JSON */
    const char *title;  /* for people */
    const char *metric; /* one that ends in _total only rises */
    const char *help;
    size_t at; /* in struct shard_report, a uint64_t */
};
#define SHARD_FIGURES ((size_t)7)
extern const struct shard_figure shard_figures[SHARD_FIGURES];

uint64_t shard_figure_value(const struct shard_figure *f,
                            const struct shard_report *r);

struct cluster_stats {
    const char *state; /* static; NULL: not known yet */
    struct shard_report all;
    uint32_t count;
    struct shard_report *shards; /* `count` of them */
};

struct shard_report cluster_stats_sum(const struct cluster_control *c);
/* Of the moment up to which `c` has been read. */
void cluster_stats_take(struct cluster_stats *out, struct cluster_control *c);
void cluster_stats_fini(struct cluster_stats *s); /* zeroed is fine */
/* "not begun", "idle" or "running". */
const char *shard_state(const struct shard_report *r);
/* A new reference; `url`: of the crawl, kafka://... */
json_t *cluster_stats_json(const struct cluster_stats *s, const char *url);

/* ---- a board ---- */

struct cluster_board;

/* `url`, and the crawl's `name` in it, are copied. */
struct cluster_board *cluster_board_new(const char *url, const char *name);
void cluster_board_free(struct cluster_board *b); /* NULL is fine */
void cluster_board_show(struct cluster_board *b, struct cluster_control *c);

/* Any thread. */
void cluster_board_read(struct cluster_board *b, struct cluster_stats *out);
const char *cluster_board_name(const struct cluster_board *b);
json_t *cluster_board_json(struct cluster_board *b);

#endif
