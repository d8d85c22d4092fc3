/* SPDX-License-Identifier: MIT */
/* cluster_explain.c - `urlweir explain` of a URL of a crawl in a cluster. */
#include "cli/explain/cluster_explain.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/json_fields.h"
#include "cli/command.h"
#include "frontier/cluster_check/cluster_find.h"
#include "job/cluster_crawl/cluster_where.h"
#include "job/cluster_part.h"
#include "job/settings/settings.h"

static json_int_t number(const json_t *o, const char *name)
{
    return json_integer_value(json_object_get(o, name));
}

static void print_state(const json_t *o, const char *state)
{
    const char *host = json_string_value(json_object_get(o, "host"));

    if (strcmp(state, "unseen") == 0)
        fputs(" by this crawl: no page linked to it, or the rules of the crawl "
              "dropped it",
              stdout);
    else if (strcmp(state, "leased") == 0)
        fputs(" by a worker", stdout);
    else if (json_object_get(o, "place") != NULL)
        printf(" in the queue of %s, at place %" JSON_INTEGER_FORMAT
               " of %" JSON_INTEGER_FORMAT,
               host, number(o, "place"), number(o, "host_queued"));
    else if (strcmp(state, "waiting") == 0)
        printf(" for a time of its own, in the queue of %s", host);
    else if (strcmp(state, "seen") == 0)
        printf("; done, or behind the first %d URLs in the queue of %s",
               CLUSTER_FIND_MOST, host);
    else
        fputs("; `urlweir explain DIR URL` of the worker that fetched it says "
              "what became of it",
              stdout);
}

static void print_text(json_t *o)
{
    const char *state = json_string_value(json_object_get(o, "state"));

    printf("%s: %s", json_string_value(json_object_get(o, "url")), state);
    print_state(o, state);
    fputs("\n ", stdout);
    json_object_del(o, "url");
    json_object_del(o, "state");
    json_print_fields(o);
    putchar('\n');
}

int cluster_explain(const char *cluster, const char *url, bool json)
{
    struct cluster_store *store = NULL;
    json_t *o = json_object();
    struct crawl_settings s;
    struct buf why;
    enum status st;
    int code = EXIT_DONE;

    settings_init(&s);
    buf_init(&why, 8192);
    st = cluster_part_look(&store, cluster, &s, &why);
    if (st == STATUS_OK)
        st = cluster_where_gather(o, store, &s, bytes_of_str(url), &why);
    if (st != STATUS_OK)
        code = command_failed("explain", buf_str(&why));
    else if (json)
        json_print(o);
    else
        print_text(o);
    cluster_store_close(store);
    json_decref(o);
    buf_fini(&why);
    settings_fini(&s);
    return st == STATUS_ARG ? EXIT_USAGE : code;
}
