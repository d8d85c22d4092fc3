/* SPDX-License-Identifier: MIT */
/* serve_shards.c - the cluster of `urlweir serve --cluster`. */
#include "cli/run/serve_shards.h"

#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/kafka/kafka_address.h"
#include "cli/command.h"

#define WHY_MOST 4096

static bool failed(enum status st, const struct buf *why)
{
    struct buf safe;

    if (st == STATUS_OK)
        return false;
    buf_init(&safe, 4 * WHY_MOST);
    format_terminal(&safe, why->len > 0 ? buf_bytes(why)
                                        : bytes_of_str(status_text(st)));
    fprintf(stderr, "urlweir serve: --cluster: %s\n", buf_str(&safe));
    buf_fini(&safe);
    return true;
}

/* ---- what must hold before anything is opened ---- */

/* The name of the option that was given; NULL: none was. */
static const char *given(const struct serve_settings *s,
                         const char *const *names)
{
    for (; *names != NULL; names++)
        if (option_given(&serve_options,
                         option_find(&serve_options, bytes_of_str(*names)), s))
            return *names;
    return NULL;
}

static int check_without(const struct serve_settings *s)
{
    static const char *const of_cluster[] = {"shards", "kafka-property", NULL};
    const char *name = given(s, of_cluster);

    return name == NULL
               ? EXIT_DONE
               : usage_error(&serve_usage, "--%s needs --cluster", name);
}

/* Others reach this process by the address it listens on. */
static bool is_for_any(const char *address)
{
    return strncmp(address, "0.0.0.0:", 8) == 0 ||
           strncmp(address, "[::]:", 5) == 0 || address[0] == ':';
}

int serve_shards_check(const struct serve_settings *s)
{
    static const char *const of_one[] = {"crawl", "crawl-memory",
                                         "crawl-threads", "filter-memory",
                                         NULL};
    const struct kafka_properties p = {s->kafka_property.item,
                                       s->kafka_property.count};
    struct kafka_address where;
    const char *name;
    struct buf why;
    enum status st;

    if (s->cluster == NULL)
        return check_without(s);
    buf_init(&why, WHY_MOST);
    st = kafka_address_read(&where, s->cluster, &why);
    if (st == STATUS_OK)
        st = kafka_properties_check(&p, &why);
    (void)failed(st, &why);
    buf_fini(&why);
    if (st != STATUS_OK)
        return EXIT_USAGE;
    name = given(s, of_one);
    if (name != NULL)
        return usage_error(&serve_usage,
                           "--%s: with --cluster there are no crawls and no "
                           "filters of the service's own",
                           name);
    if (strcmp(s->http, "none") == 0)
        return usage_error(&serve_usage,
                           "--http none: with --cluster other processes ask "
                           "this one by HTTP");
    return is_for_any(s->http)
               ? usage_error(&serve_usage,
                             "--http %s: with --cluster it has to be the "
                             "address by which other processes reach this one",
                             s->http)
               : EXIT_DONE;
}

/* ---- starting ---- */

struct served_shards *serve_shards_open(const struct serve_settings *s,
                                        const char *dir)
{
    static struct kafka_address where; /* outlives the service */
    struct served_shards_options o = {.dir = dir,
                                      .shards = (uint32_t)s->shards,
                                      .token_file = s->token_file,
                                      .tls = {s->tls_cert, s->tls_key,
                                              s->client_ca},
                                      .memory = s->memory,
                                      .checkpoint_ms = s->checkpoint_ms};
    static const char *const number[] = {"shards", NULL};
    struct served_shards *out = NULL;
    struct buf why;
    enum status st;

    buf_init(&why, WHY_MOST);
    o.shards_given = given(s, number) != NULL;
    st = kafka_address_read(&where, s->cluster, &why);
    o.access = (struct kafka_access){where.brokers,
                                     {s->kafka_property.item,
                                      s->kafka_property.count}};
    o.name = where.topic;
    if (st == STATUS_OK)
        st = served_shards_open(&out, &o, &why);
    (void)failed(st, &why);
    buf_fini(&why);
    return st == STATUS_OK ? out : NULL;
}

static void end_service(void *service)
{
    service_end(service);
}

bool serve_shards_join(struct served_shards *shards,
                       const struct serve_settings *s, const char *http,
                       struct service *service)
{
    struct buf url, why;
    enum status st;

    buf_init(&url, WHY_MOST);
    buf_init(&why, WHY_MOST);
    buf_addf(&url, "%s://%s", s->tls_cert != NULL ? "https" : "http", http);
    st = served_shards_join(shards, buf_str(&url), service_address(service),
                            end_service, service, &why);
    (void)failed(st, &why);
    buf_fini(&url);
    buf_fini(&why);
    return st == STATUS_OK;
}
