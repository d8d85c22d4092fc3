/* SPDX-License-Identifier: MIT */
/*
 * crawl_job_cluster.c - settings of a crawl in a cluster, and what people want
 * of its workers.
 *
 * The settings are in the cluster; a change is refused there unless each worker
 * can carry it out while it runs. A worker saves what it hears in its directory
 * and then puts it in force, as any crawl does with a change.
 */
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "config/config.h"
#include "frontier/cluster/cluster_orders.h"
#include "frontier/cluster_store/cluster_steer.h"
#include "job/cluster_part.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/settings/cluster_settings.h"
#include "job/settings/settings.h"
#include "job/settings/settings_json.h"

#define TRIES 20 /* of a change, while others change settings, too */

/* ---- in a worker ---- */

/* The file in its directory, which the next `resume` begins with. */
static enum status save(const struct crawl_settings *now, struct bytes text,
                        struct buf *why)
{
    struct crawl_settings kept;
    enum status st;

    settings_init(&kept);
    st = settings_load(&kept, now->output, why);
    if (st == STATUS_OK)
        st = cluster_settings_take(text, &kept, why);
    if (st == STATUS_OK)
        st = settings_save(&kept);
    settings_fini(&kept);
    return st;
}

static enum status follow(struct crawl_job *m, struct bytes text,
                          struct buf *why)
{
    struct crawl_settings s;
    struct crawl_setup made;
    unsigned parts = 0;
    enum status st;

    option_copy(&crawl_options, &s, &m->now, sizeof s);
    st = cluster_settings_take(text, &s, why);
    if (st == STATUS_OK)
        st = settings_check(&s, why);
    if (st == STATUS_OK)
        st = crawl_job_what_changed(&m->now, &s, &parts, why);
    if (st == STATUS_OK && parts != 0) {
        st = crawl_setup_make(&made, &s, why);
        if (st == STATUS_OK)
            st = save(&m->now, text, why);
        if (st == STATUS_OK)
            st = crawl_job_apply_running(m, &s, &made, parts);
        crawl_setup_fini(&made);
        if (st == STATUS_OK) {
            settings_fini(&m->now);
            m->now = s;
            return st;
        }
    }
    settings_fini(&s);
    return st;
}

static void follow_settings(struct crawl_job *m, uint64_t version,
                            struct bytes text)
{
    struct buf why;
    enum status st;

    buf_init(&why, 8192);
    st = follow(m, text, &why);
    if (st == STATUS_OK)
        cluster_orders_done(m->setup->orders, version);
    else if (m->refused_version != version)
        log_warn("the settings in the cluster have changed and are not in "
                 "force here; `urlweir resume` begins with them",
                 "version=%llu why=\"%s\"", (unsigned long long)version,
                 why.len > 0 ? buf_str(&why) : status_text(st));
    m->refused_version = st == STATUS_OK ? 0 : version;
    buf_fini(&why);
}

bool crawl_job_heed_cluster(struct crawl_job *m)
{
    struct cluster_order order;
    struct buf text;

    if (m->setup->orders == NULL)
        return false;
    buf_init(&text, CLUSTER_TEXT_MOST);
    cluster_orders_look(m->setup->orders, &order, &text);
    if (order.paused != m->paused_by_cluster) {
        m->paused_by_cluster = order.paused;
        crawl_pause(m->crawl, order.paused);
    }
    if (order.version != 0 && order.version != m->refused_version)
        follow_settings(m, order.version, buf_bytes(&text));
    buf_fini(&text);
    return order.stopped;
}

/* ---- for people ---- */

/* Could each worker carry it out while it runs? */
static enum status may_change(const struct crawl_settings *before,
                              const struct crawl_settings *s, struct buf *why)
{
    struct crawl_setup made;
    unsigned parts;
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < crawl_options.count; i++) {
        const struct option_spec *o = &crawl_options.spec[i];

        if (option_equal(o, before, s))
            continue;
        if (cluster_settings_are_own(o)) {
            buf_addf(why, "%s: each worker has its own; change it there",
                     o->name);
            st = STATUS_ARG;
        } else if (strcmp(o->name, "scope") == 0) {
            buf_addf(why,
                     "scope: what was out of the scope is not known any more, "
                     "so another one could not let it in");
            st = STATUS_BUSY;
        }
    }
    if (st == STATUS_OK)
        st = crawl_job_what_changed(before, s, &parts, why);
    if (st != STATUS_OK)
        return st;
    st = crawl_setup_make(&made, s, why) == STATUS_OK ? STATUS_OK : STATUS_ARG;
    crawl_setup_fini(&made);
    return st;
}

static enum status store(struct cluster_store *to,
                         const struct crawl_settings *s, uint64_t *version)
{
    struct buf text;
    enum status st;

    buf_init(&text, CONFIG_CEILING);
    config_write(&crawl_options, s, false, &text);
    st = buf_failed(&text);
    if (st == STATUS_OK)
        st = cluster_store_set(to, cluster_store_version(to), buf_bytes(&text),
                               version);
    buf_fini(&text);
    return st;
}

static enum status change(struct cluster_store *to,
                          const struct crawl_settings *before, const json_t *in,
                          json_t **out, uint64_t *version, struct buf *why)
{
    struct crawl_settings s;
    json_t *changed;
    enum status st;

    option_copy(&crawl_options, &s, before, sizeof s);
    for (size_t i = 0; i < crawl_options.count; i++)
        s.from[i] = OPTION_FROM_CRAWL; /* the new value outranks it */
    st = crawl_job_apply(&s, in, NULL, why);
    if (st == STATUS_OK)
        st = may_change(before, &s, why);
    if (st == STATUS_OK && (st = store(to, &s, version)) != STATUS_OK &&
        st != STATUS_AGAIN)
        buf_addf(why, "the cluster: %s", status_text(st));
    if (st == STATUS_OK) {
        changed = settings_changed_json(before, &s);
        settings_changed_are_for(changed, "crawl");
        *out = json_pack("{s:I, s:o}", "settings_version", (json_int_t)*version,
                         "changed", changed);
    }
    settings_fini(&s);
    return st;
}

enum status crawl_jobs_set_cluster(const char *url, const json_t *in,
                                   json_t **out, struct buf *why)
{
    enum status st = STATUS_AGAIN;
    uint64_t version;

    for (int i = 0; st == STATUS_AGAIN && i < TRIES; i++) {
        struct cluster_store *to = NULL;
        struct crawl_settings before;

        buf_clear(why);
        settings_init(&before);
        st = cluster_part_look(&to, url, &before, why);
        before.output = xstrdup("."); /* of a worker, which is none here */
        if (st == STATUS_AGAIN) {     /* its seeds are not in */
            settings_fini(&before);
            return STATUS_BUSY;
        }
        if (st == STATUS_OK)
            st = change(to, &before, in, out, &version, why);
        cluster_store_close(to);
        settings_fini(&before);
    }
    if (st == STATUS_AGAIN)
        buf_add_str(why, "others change the settings all the time");
    return st;
}
