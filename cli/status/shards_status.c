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
#include "base/json_fields.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/control/control_place.h"
#include "cluster/cluster_control.h"
#include "crawler/crawl.h"
#include "job/settings/settings.h"

static const struct {
    const char *name, *title;
    size_t at;
} fields[] = {
    {"pages", "pages", offsetof(struct shard_report, pages)},
    {"urls", "URLs", offsetof(struct shard_report, urls)},
    {"queued", "queued", offsetof(struct shard_report, queued)},
    {"failed", "failed", offsetof(struct shard_report, failed)},
    {"bytes", "octets", offsetof(struct shard_report, bytes)},
    {"sent", "sent to others", offsetof(struct shard_report, sent)},
    {"received", "received", offsetof(struct shard_report, received)},
};
#define FIELDS (sizeof fields / sizeof *fields)

static uint64_t value_of(const struct shard_report *r, size_t i)
{
    return *(const uint64_t *)((const char *)r + fields[i].at);
}

static json_t *report_json(const struct shard_report *r)
{
    json_t *o = json_object();

    for (size_t i = 0; i < FIELDS; i++)
        json_object_set_new(o, fields[i].name,
                            json_integer((json_int_t)value_of(r, i)));
    return o;
}

static struct shard_report sum(const struct cluster_control *c)
{
    struct shard_report all = {.known = true};

    for (uint32_t n = 0; n < cluster_control_shards(c); n++) {
        const struct shard_report *r = cluster_control_report(c, n);

        for (size_t i = 0; i < FIELDS; i++)
            *(uint64_t *)((char *)&all + fields[i].at) += value_of(r, i);
    }
    return all;
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

static void print_json(struct cluster_control *c, const char *url)
{
    struct shard_report all = sum(c);
    json_t *o = report_json(&all), *list = json_array();

    for (uint32_t n = 0; n < cluster_control_shards(c); n++) {
        const struct shard_report *r = cluster_control_report(c, n);
        json_t *one = report_json(r);

        json_object_set_new(one, "shard", json_integer(n));
        json_object_set_new(one, "idle", json_boolean(r->idle));
        json_array_append_new(list, one);
    }
    json_object_set_new(o, "cluster", json_string(url));
    json_object_set_new(o, "state", json_string(state_of(c)));
    json_object_set_new(o, "shards", list);
    json_print(o);
    json_decref(o);
}

static void print_text(struct cluster_control *c, const char *url)
{
    struct shard_report all = sum(c);

    printf("%s: %s\n", url, state_of(c));
    for (size_t i = 0; i < FIELDS; i++) {
        struct buf b;

        buf_init(&b, 64);
        format_count(&b, value_of(&all, i));
        printf("  %-22s %14s\n", fields[i].title, buf_str(&b));
        buf_fini(&b);
    }
    printf("  %-8s %12s %12s %12s %12s %12s\n", "shard", "pages", "URLs",
           "queued", "sent", "received");
    for (uint32_t n = 0; n < cluster_control_shards(c); n++) {
        const struct shard_report *r = cluster_control_report(c, n);

        printf("  %-8" PRIu32 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64
               " %12" PRIu64 " %12" PRIu64 "  %s\n",
               n, r->pages, r->urls, r->queued, r->sent, r->received,
               !r->known ? "not begun"
               : r->idle ? "idle"
                         : "");
    }
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
    else if (json)
        print_json(c, url);
    else
        print_text(c, url);
    cluster_control_close(c);
    buf_fini(&why);
    settings_fini(&s);
    return code;
}
