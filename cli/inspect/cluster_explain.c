/* SPDX-License-Identifier: MIT */
/* cluster_explain.c - `urlweir explain` of a URL of a crawl in a cluster. */
#include "cli/inspect/cluster_explain.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/json_fields.h"
#include "cli/command.h"
#include "frontier/cluster/cluster_watch.h"
#include "frontier/cluster_check/cluster_find.h"
#include "frontier/reader.h"
#include "frontier/url/queue_key.h"
#include "frontier/url/url.h"
#include "frontier/url/url_form.h"
#include "job/cluster_part.h"
#include "job/crawl_setup.h"
#include "job/settings/seeds.h"
#include "job/settings/settings.h"

static const char *const words[] = {
    [CLUSTER_UNSEEN] = "unseen",   [CLUSTER_LEASED] = "leased",
    [CLUSTER_WAITING] = "waiting", [CLUSTER_DELAYED] = "waiting",
    [CLUSTER_BEHIND] = "seen",     [CLUSTER_DONE] = "done",
};

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

/* ---- asking ---- */

static void set_found(json_t *o, struct cluster_store *store,
                      const struct cluster_found *f)
{
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

static void print_found(json_t *o, const struct cluster_found *f)
{
    const char *url = json_string_value(json_object_get(o, "url")),
               *host = json_string_value(json_object_get(o, "host"));

    printf("%s: %s", url, words[f->where]);
    switch (f->where) {
    case CLUSTER_UNSEEN:
        fputs(" by this crawl: no page linked to it, or the rules of the crawl "
              "dropped it",
              stdout);
        break;
    case CLUSTER_LEASED:
        fputs(" by a worker", stdout);
        break;
    case CLUSTER_WAITING:
        printf(" in the queue of %s, at place %" PRIu64 " of %" PRIu64, host,
               f->place + 1, f->queue);
        break;
    case CLUSTER_DELAYED:
        printf(" for a time of its own, in the queue of %s", host);
        break;
    case CLUSTER_BEHIND:
        printf("; done, or behind the first %d URLs in the queue of %s",
               CLUSTER_FIND_MOST, host);
        break;
    case CLUSTER_DONE:
        fputs("; `urlweir explain DIR URL` of the worker that fetched it says "
              "what became of it",
              stdout);
        break;
    }
    fputs("\n ", stdout);
    json_object_del(o, "url");
    json_object_del(o, "state");
    json_print_fields(o);
    putchar('\n');
}

static enum status look(struct cluster_store *store, const struct url *u,
                        bool json)
{
    struct bytes host = queue_key_of(u), text = url_text(u);
    const struct digest digest = digest_url(cluster_store_digest_key(store),
                                            bytes_of_str(CRAWL_ID), host, text);
    struct cluster_found found;
    enum status st = cluster_store_find(store, host, &digest, text, &found);
    json_t *o = json_object();

    if (st == STATUS_OK) {
        json_set_text(o, "url", text);
        json_set_text(o, "host", host);
        set_found(o, store, &found);
        if (json) {
            json_dumpf(o, stdout, JSON_INDENT(2));
            putchar('\n');
        } else {
            print_found(o, &found);
        }
    }
    json_decref(o);
    return st;
}

/* The URL in the form that the crawl gives its URLs. */
static int explain(struct cluster_store *store, const struct crawl_setup *c,
                   const char *text, bool json)
{
    enum url_reason why;
    enum status st;
    struct url u;
    int code = EXIT_DONE;

    url_init(&u);
    why = url_canonical(&u, bytes_of_str(text), NULL, NULL);
    if (why != URL_OK) {
        fprintf(stderr, "urlweir explain: not a URL: %s\n", seeds_explain(why));
        code = EXIT_USAGE;
    } else {
        url_form_apply(c->form, &u);
        st = look(store, &u, json);
        code = st == STATUS_OK ? EXIT_DONE
                               : command_failed("explain", status_text(st));
    }
    url_fini(&u);
    return code;
}

int cluster_explain(const char *cluster, const char *url, bool json)
{
    struct cluster_store *store = NULL;
    struct crawl_settings s;
    struct crawl_setup c;
    struct buf why;
    int code = EXIT_CANNOT;
    enum status st;

    settings_init(&s);
    buf_init(&why, 8192);
    st = cluster_part_look(&store, cluster, &s, &why);
    if (st != STATUS_OK) {
        code = command_failed("explain", buf_str(&why));
        code = st == STATUS_ARG ? EXIT_USAGE : code;
    } else {
        if (crawl_setup_make(&c, &s, &why) == STATUS_OK)
            code = explain(store, &c, url, json);
        else
            code = command_failed("explain", buf_str(&why));
        crawl_setup_fini(&c);
    }
    cluster_store_close(store);
    buf_fini(&why);
    settings_fini(&s);
    return code;
}
