/* SPDX-License-Identifier: MIT */
/* cluster_desk_calls.c - what the desk's calls do to a crawl in a cluster. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "frontier/cluster_store/cluster_steer.h"
#include "job/cluster_crawl/cluster_desk_impl.h"
#include "job/cluster_crawl/cluster_where.h"
#include "job/cluster_part.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "job/settings/settings.h"
#include "job/settings/settings_json.h"

#define STOP_PATIENCE (50 * NS_PER_S) /* clients wait for a minute */

/* ---- one host ---- */

static bool read_setting(const json_t *in, enum cluster_host_setting *what)
{
    static const char *const names[] = {[CLUSTER_HOST_BLOCK] = "block",
                                        [CLUSTER_HOST_DELAY] = "delay",
                                        [CLUSTER_HOST_LIMIT] = "limit"};
    const char *name = json_string_value(json_object_get(in, "what"));

    for (size_t i = 0; name != NULL && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            *what = (enum cluster_host_setting)i;
            return true;
        }
    return false;
}

static enum status set_host(struct cluster_store *store, const json_t *in,
                            const struct crawl_settings *s)
{
    const json_t *key = json_object_get(in, "key");
    enum cluster_host_setting what;

    if (!json_is_string(key) || !read_setting(in, &what))
        return STATUS_ARG;
    return cluster_store_set_host(
        store, bytes_of(json_string_value(key), json_string_length(key)), what,
        json_integer_value(json_object_get(in, "value")), s->delay_ms);
}

/* ---- with an open crawl ---- */

static enum status where(struct crawls_call *call, struct cluster_store *store,
                         const struct crawl_settings *s, struct buf *why)
{
    const json_t *url = json_object_get(call->in, "url");
    enum status st;

    if (!json_is_string(url))
        return STATUS_ARG;
    call->out = json_object();
    st = cluster_where_gather(call->out, store, s,
                              bytes_of(json_string_value(url),
                                       json_string_length(url)),
                              why);
    return st;
}

static enum status with_store(struct crawls_call *call,
                              struct cluster_store *store,
                              const struct crawl_settings *s, struct buf *why)
{
    switch (call->verb) {
    case CRAWLS_PAUSE:
    case CRAWLS_UNPAUSE:
        return cluster_store_pause(store, call->verb == CRAWLS_PAUSE);
    case CRAWLS_STOP:
        return cluster_store_stop(store);
    case CRAWLS_HOST:
        return set_host(store, call->in, s);
    case CRAWLS_WHERE:
        return where(call, store, s, why);
    default:
        call->out = json_pack("{s:o}", "settings", settings_json(s));
        return STATUS_OK;
    }
}

static enum status open_and_do(const struct cluster_desk *d,
                               struct crawls_call *call, struct buf *why)
{
    struct cluster_store *store = NULL;
    struct crawl_settings s;
    enum status st;

    settings_init(&s);
    st = cluster_part_look(&store, d->url, &s, why);
    if (st == STATUS_OK)
        st = with_store(call, store, &s, why);
    cluster_store_close(store);
    settings_fini(&s);
    return st;
}

/* ---- all ---- */

static enum status carry_out(const struct cluster_desk *d,
                             struct crawls_call *call, struct buf *why)
{
    if (!bytes_is(call->crawl, d->name)) {
        buf_add_str(why, "there is no such crawl");
        return STATUS_NOT_FOUND;
    }
    switch (call->verb) {
    case CRAWLS_PAUSE:
    case CRAWLS_UNPAUSE:
    case CRAWLS_STOP:
    case CRAWLS_HOST:
    case CRAWLS_SETTINGS:
    case CRAWLS_WHERE:
        return open_and_do(d, call, why);
    case CRAWLS_SEED:
        return crawl_jobs_seed_cluster(d->url, call->in, &call->out, why);
    case CRAWLS_SET_SETTINGS:
        return crawl_jobs_set_cluster(d->url, call->in, &call->out, why);
    default:
        buf_add_str(why, "that is for a crawl in a directory; of one in a "
                         "cluster, ask a worker");
        return STATUS_BUSY;
    }
}

bool cluster_desk_carry_out(struct cluster_desk *d, struct crawls_call *call)
{
    struct buf why;

    buf_init(&why, sizeof call->why);
    call->status = carry_out(d, call, &why);
    if (call->status != STATUS_OK)
        snprintf(call->why, sizeof call->why, "%s",
                 why.len > 0 ? buf_str(&why) : status_text(call->status));
    buf_fini(&why);
    if (call->verb != CRAWLS_STOP || call->status != STATUS_OK)
        return true;
    call->next = d->stopping;
    d->stopping = call;
    d->stop_by = clock_mono() + STOP_PATIENCE;
    return false;
}
