/* SPDX-License-Identifier: MIT */
/* cluster_where.c - where a URL is in a crawl in a cluster, as JSON. */
#include "job/cluster_crawl/cluster_where.h"

#include "base/json_fields.h"
#include "frontier/cluster_check/cluster_find.h"
#include "frontier/cluster_store/cluster_watch.h"
#include "frontier/reader.h"
#include "frontier/url/queue_key.h"
#include "frontier/url/url.h"
#include "job/settings/seeds.h"
#include "job/url_forms.h"

/* ---- the worker that has it ---- */

struct holder {
    const char *name;
    json_t *said;
};

static void look_for_worker(void *ctx, struct bytes name, int64_t heard_ms,
                            struct bytes text)
{
    struct holder *h = ctx;

    (void)heard_ms;
    if (h->said == NULL && bytes_is(name, h->name))
        h->said = json_loadb(text.at, text.len, 0, NULL);
}

/* "host:dir", as `urlweir status` names it. */
static void set_worker(json_t *o, struct cluster_store *store,
                       const struct cluster_found *f)
{
    struct holder h = {.name = f->worker};
    const char *host, *dir;
    struct buf text;

    if (f->worker[0] == '\0')
        return;
    json_set_str(o, "worker", f->worker);
    if (cluster_store_each_worker(store, look_for_worker, &h) == STATUS_OK) {
        host = json_string_value(json_object_get(h.said, "host"));
        dir = json_string_value(json_object_get(h.said, "dir"));
        buf_init(&text, 16384);
        if (host != NULL && dir != NULL)
            buf_addf(&text, "%s:%s", host, dir);
        json_set_text(o, "worker_dir", buf_bytes(&text));
        buf_fini(&text);
    }
    json_decref(h.said);
}

/* ---- the URL ---- */

static void set_found(json_t *o, struct cluster_store *store,
                      const struct cluster_found *f)
{
    static const char *const words[] = {
        [CLUSTER_UNSEEN] = "unseen",   [CLUSTER_LEASED] = "leased",
        [CLUSTER_WAITING] = "waiting", [CLUSTER_DELAYED] = "waiting",
        [CLUSTER_BEHIND] = "seen",     [CLUSTER_DONE] = "done",
    };

    json_set_str(o, "state", words[f->where]);
    json_set_uint(o, "shard", f->shard);
    if (f->where == CLUSTER_WAITING)
        json_set_uint(o, "place", f->place + 1);
    if (f->where == CLUSTER_DELAYED)
        json_set_seconds(o, "due_in_seconds", f->due_ms);
    if (f->where == CLUSTER_LEASED) {
        json_set_seconds(o, "lease_left_seconds", f->lease_ms);
        set_worker(o, store, f);
    }
    json_set_uint(o, "host_queued", f->queue);
    json_object_set_new(o, "host_leased", json_boolean(f->lease_ms >= 0));
    if (f->host_ms >= 0)
        json_set_seconds(o, "host_due_in_seconds", f->host_ms);
}

static enum status find(json_t *o, struct cluster_store *store,
                        const struct url *u, struct buf *why)
{
    struct bytes host = queue_key_of(u), text = url_text(u);
    const struct digest digest = digest_url(cluster_store_digest_key(store),
                                            bytes_of_str(CRAWL_ID), host, text);
    struct cluster_found found;
    enum status st = cluster_store_find(store, host, &digest, text, &found);

    if (st != STATUS_OK) {
        buf_addf(why, "the cluster: %s", status_text(st));
        return st == STATUS_ARG ? STATUS_LIMIT : st;
    }
    json_set_text(o, "url", text);
    json_set_text(o, "host", host);
    set_found(o, store, &found);
    return STATUS_OK;
}

enum status cluster_where_gather(json_t *o, struct cluster_store *store,
                                 const struct crawl_settings *s,
                                 struct bytes text, struct buf *why)
{
    struct url_form *form = NULL;
    enum url_reason reason;
    struct url u;
    enum status st;

    url_init(&u);
    reason = url_canonical(&u, text, NULL, NULL);
    if (reason != URL_OK) {
        buf_addf(why, "not a URL: %s", seeds_explain(reason));
        st = STATUS_ARG;
    } else {
        st = url_forms_make(&form, s, why);
    }
    if (st == STATUS_OK) {
        url_form_apply(form, &u);
        st = find(o, store, &u, why);
    }
    url_form_free(form);
    url_fini(&u);
    return st;
}
