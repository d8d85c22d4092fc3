/* SPDX-License-Identifier: MIT */
/*
 * shards_status.c - `urlweir status` of a crawl whose shards are in Kafka.
 *
 * What each shard has done stands in NAME.control as of its last commit, so no
 * worker is asked and none has to run.
 */
#include "cli/status/shards_status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "base/record.h"
#include "cli/command.h"
#include "cli/control/control_place.h"
#include "cluster/cluster_stats.h"
#include "job/settings/settings.h"

static void print_text(const struct cluster_stats *s, const char *url)
{
    struct buf b;

    buf_init(&b, 4096);
    printf("%s: %s\n", url, s->state);
    for (size_t i = 0; i < SHARD_FIGURES; i++) {
        buf_clear(&b);
        format_count(&b, shard_figure_value(&shard_figures[i], &s->all));
        printf("  %-22s %14s\n", shard_figures[i].title, buf_str(&b));
    }
    printf("  %-8s %12s %12s %12s %12s %12s  %-9s  %s\n", "shard", "pages",
           "URLs", "queued", "sent", "received", "state", "worker");
    for (uint32_t n = 0; n < s->count; n++) {
        const struct shard_report *r = &s->shards[n];

        buf_clear(&b);
        format_terminal(&b, bytes_of_str(r->worker));
        printf("  %-8" PRIu32 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64
               " %12" PRIu64 " %12" PRIu64 "  %-9s  %s\n",
               n, r->pages, r->urls, r->queued, r->sent, r->received,
               shard_state(r), buf_str(&b));
    }
    buf_fini(&b);
}

static void print(struct cluster_control *c, const char *url, bool json)
{
    struct cluster_stats s;
    json_t *o = NULL;

    cluster_stats_take(&s, c);
    if (json)
        o = cluster_stats_json(&s, url);
    if (json)
        json_print(o);
    else
        print_text(&s, url);
    json_decref(o);
    cluster_stats_fini(&s);
}

char *shards_status_place(const char *where)
{
    struct control_place p;
    struct buf why;
    char *url = NULL;

    buf_init(&why, (size_t)128 << 10);
    if (control_place_find(&p, where, &why) == STATUS_OK) {
        if (p.kafka != NULL)
            url = xstrdup(p.kafka);
        control_place_fini(&p);
    }
    buf_fini(&why);
    return url;
}

int shards_status(const char *where, const char *url, bool json)
{
    struct cluster_control *c = NULL;
    struct kafka_address at;
    struct crawl_settings s;
    struct kafka_access access;
    struct buf why;
    enum status st;
    int code = EXIT_DONE;

    settings_init(&s);
    buf_init(&why, (size_t)64 << 10);
    st = kafka_address_read(&at, url, &why);
    if (st == STATUS_OK && strcmp(where, url) != 0)
        st = settings_load(&s, where, &why);
    access =
        (struct kafka_access){at.brokers,
                              {s.kafka_property.item, s.kafka_property.count}};
    if (st == STATUS_OK)
        st = cluster_control_open(&c, &access, at.topic, &why);
    if (st == STATUS_NOT_FOUND)
        buf_addf(&why, "there is no crawl %s", at.topic);
    if (st != STATUS_OK)
        code = command_failed("status",
                              why.len > 0 ? buf_str(&why) : status_text(st));
    else
        print(c, url, json);
    cluster_control_close(c);
    buf_fini(&why);
    settings_fini(&s);
    return code;
}
