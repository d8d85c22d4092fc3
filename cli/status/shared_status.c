/* SPDX-License-Identifier: MIT */
/*
 * shared_status.c - `urlweir status` of the URLs of `urlweir serve --cluster`.
 *
 * The names are those of a service's directory (service_status.c).
 */
#include "cli/status/shared_status.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "base/format.h"
#include "base/json_fields.h"
#include "cli/command.h"
#include "cli/status/shared_place.h"
#include "job/settings/cluster_settings.h"

static void set_counts(json_t *o, const struct url_counts *n)
{
    json_set_uint(o, "queued", n->active - n->leased);
    json_set_uint(o, "leased", n->leased);
    json_set_uint(o, "completed", n->completed);
    json_set_uint(o, "queue_count", n->queues);
}

static enum status add_crawls(json_t *o, struct shared_hand *h)
{
    json_t *rows = json_array();
    const struct bytes *names;
    size_t n = 0;
    enum status st = shared_crawls(h, &names, &n);

    json_object_set_new(o, "crawls", rows);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        json_t *one = json_object();
        struct url_counts c;

        st = shared_counts(h, names[i], bytes_of("", 0), &c);
        json_set_text(one, "crawl", names[i]);
        set_counts(one, &c);
        json_array_append_new(rows, one);
    }
    return st;
}

static enum status gather(json_t *o, struct shared_hand *h, const char *url)
{
    const struct bytes none = bytes_of("", 0);
    struct url_counts all;
    struct buf shown;
    bool active = true;
    enum status st = shared_counts(h, none, none, &all);

    if (st == STATUS_OK)
        st = shared_active(h, &active);
    if (st != STATUS_OK)
        return st;
    buf_init(&shown, 4096);
    cluster_url_show(url, &shown);
    json_set_text(o, "cluster", buf_bytes(&shown));
    buf_fini(&shown);
    json_set_str(o, "holds", "service");
    json_set_uint(o, "urls", all.active + all.completed);
    set_counts(o, &all);
    json_object_set_new(o, "active", json_boolean(active));
    return add_crawls(o, h);
}

static uint64_t count_in(const json_t *o, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(o, name));
}

static void print_row(const json_t *o, const char *label, const char *name)
{
    struct buf b;

    buf_init(&b, 64);
    format_count(&b, count_in(o, name));
    printf("  %-22s %14s\n", label, buf_str(&b));
    buf_fini(&b);
}

static void print_all(const json_t *o)
{
    json_t *one;
    size_t i;

    printf("%s: URLs of `urlweir serve --cluster`%s\n",
           json_string_value(json_object_get(o, "cluster")),
           json_is_true(json_object_get(o, "active"))
               ? ""
               : ", which hands out nothing");
    print_row(o, "queued", "queued");
    print_row(o, "leased", "leased");
    print_row(o, "completed", "completed");
    print_row(o, "queues", "queue_count");
    json_array_foreach(json_object_get(o, "crawls"), i, one)
    {
        const char *name = json_string_value(json_object_get(one, "crawl"));

        printf("  crawl %s: %" PRIu64 " queued, %" PRIu64 " leased, %" PRIu64
               " completed\n",
               name != NULL ? name : "", count_in(one, "queued"),
               count_in(one, "leased"), count_in(one, "completed"));
    }
}

int shared_status(const char *url, bool json)
{
    struct shared_place p;
    json_t *o = json_object();
    struct buf why;
    enum status st;
    int code = EXIT_DONE;

    buf_init(&why, 8192);
    st = shared_place_open(&p, url, &why);
    if (st == STATUS_OK && (st = gather(o, p.hand, url)) != STATUS_OK)
        buf_addf(&why, "the cluster: %s", status_text(st));
    if (st != STATUS_OK)
        code = command_failed("status", buf_str(&why));
    else if (json)
        json_print(o);
    else
        print_all(o);
    shared_place_close(&p);
    json_decref(o);
    buf_fini(&why);
    return code;
}
