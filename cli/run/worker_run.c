/* SPDX-License-Identifier: MIT */
/* worker_run.c - a worker of a crawl in a cluster, from its start to its end.
 */
#include "cli/run/worker_run.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/format.h"
#include "cli/command.h"
#include "cli/open_crawl.h"
#include "cli/run/crawl_begin.h"
#include "cli/run/crawl_run.h"
#include "frontier/embedded/frontier.h"
#include "job/cluster_part.h"
#include "job/crawl_credentials.h"
#include "job/crawl_files.h"
#include "job/jsonl.h"
#include "job/settings/cluster_settings.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

/* What all steps need. */
struct worker {
    const char *command;
    enum worker_start how;
    struct crawl_settings *s;
    struct crawl_setup *c;
    struct cluster_store *store;
    struct engine *engine;
};

static bool open_cluster(struct worker *w)
{
    struct buf why;
    enum status st;

    buf_init(&why, 8192);
    st = w->how == WORKER_CREATE ? cluster_part_create(&w->store, w->s, &why)
                                 : cluster_part_open(&w->store, w->s, &why);
    if (st == STATUS_EXISTS)
        buf_add_str(&why, "; `urlweir join` takes part in it");
    if (st != STATUS_OK)
        (void)command_failed(w->command, buf_str(&why));
    buf_fini(&why);
    return st == STATUS_OK;
}

/* The name may be that of another crawl by now. */
static bool is_same_crawl(struct worker *w)
{
    struct buf seed;
    bool same;

    buf_init(&seed, 4096);
    same = w->engine->ops->meta(w->engine, "digest_seed", &seed) == STATUS_OK &&
           bytes_equal(buf_bytes(&seed), bytes_of(cluster_store_seed(w->store),
                                                  DIGEST_SEED_SIZE));
    if (!same) {
        buf_clear(&seed);
        buf_addf(&seed,
                 "%s took part in another crawl of that name, which is not in "
                 "the cluster any more; `urlweir join` begins with a new "
                 "directory",
                 w->s->output);
        (void)command_failed(w->command, buf_str(&seed));
    }
    buf_fini(&seed);
    return same;
}

/* For `urlweir status DIR`. */
static enum status note_crawl(struct worker *w)
{
    struct buf where;
    enum status st;

    buf_init(&where, 4096);
    cluster_url_show(w->s->cluster, &where);
    st = w->engine->ops->set_meta(w->engine, CLUSTER_META, buf_bytes(&where));
    buf_fini(&where);
    return st;
}

/* Opens the directory, and the engine around it. */
static int open_engine(struct worker *w)
{
    struct crawl_setup *c = w->c;
    enum status st;

    c->frontier.store.digest_seed = cluster_store_seed(w->store);
    if (w->how == WORKER_RESUME)
        st = frontier_open(&w->engine, w->s->output, &c->frontier, clock_mono(),
                           clock_wall_ms());
    else
        st = frontier_create(&w->engine, w->s->output, &c->frontier,
                             clock_wall_ms());
    if (st != STATUS_OK)
        return crawl_open_failed(st, w->s->output);
    if (!is_same_crawl(w))
        return EXIT_CANNOT;
    st = cluster_part_engine(&w->engine, w->store, c, w->s);
    w->store = NULL; /* the engine's, or closed */
    if (st == STATUS_CLOSED)
        fprintf(stderr, "urlweir %s: the cluster does not respond\n",
                w->command);
    if (st != STATUS_OK)
        return st == STATUS_CLOSED ? EXIT_CANNOT
                                   : crawl_open_failed(st, w->s->output);
    c->fetch.rules.digest_key = w->engine->ops->digest_key(w->engine);
    st = note_crawl(w);
    return st == STATUS_OK ? EXIT_DONE : crawl_open_failed(st, w->s->output);
}

/* Nothing is fetched before all seeds are in the cluster. */
static enum status put_seeds(struct worker *w, struct cluster_store *store,
                             int *code)
{
    enum status st = crawl_begin_seeds(w->engine, w->c, w->s, code);

    if (st != STATUS_OK)
        return st;
    st = cluster_store_begin(store);
    if (st != STATUS_OK)
        fprintf(stderr, "urlweir crawl: the cluster: %s\n", status_text(st));
    *code = EXIT_CANNOT;
    return st;
}

/* A directory without seeds of its own is as good as one that has them all. */
static enum status begin_without_seeds(struct worker *w, int *code)
{
    struct engine *e = w->engine;
    enum status st = settings_note_first(e, w->s, w->c->form);

    if (st == STATUS_OK)
        st = e->ops->set_meta(e, "seeds_complete", bytes_of_str("1"));
    if (st == STATUS_OK)
        st = e->ops->checkpoint_now(e, "running", false, clock_mono(),
                                    clock_wall_ms());
    if (st != STATUS_OK)
        *code = crawl_open_failed(st, w->s->output);
    return st;
}

static enum status begin(struct worker *w, struct cluster_store *store,
                         int *code)
{
    /* What waits in the cluster may have been found under other settings. */
    if (cluster_store_version(store) > 1)
        w->engine->ops->recheck(w->engine, w->c->scope);
    if (w->how == WORKER_CREATE)
        return put_seeds(w, store, code);
    if (w->how == WORKER_JOIN)
        return begin_without_seeds(w, code);
    return w->engine->ops->rejudge(w->engine, 0, clock_mono());
}

static void tell(const struct worker *w)
{
    struct buf where, safe;

    if (w->s->quiet)
        return;
    buf_init(&where, 1024);
    buf_init(&safe, 8192);
    cluster_url_show(w->s->cluster, &where);
    format_terminal(&safe, buf_bytes(&where));
    fprintf(stderr,
            "urlweir %s: a worker of the crawl %s; on other machines: "
            "`urlweir join %s -o DIR`\n",
            w->command, buf_str(&safe), buf_str(&safe));
    buf_fini(&where);
    buf_fini(&safe);
}

static int work(struct worker *w, struct crawl_control *control)
{
    struct cluster_store *store = w->store;
    int code = open_engine(w);
    enum status st;

    if (code == EXIT_DONE) {
        st = begin(w, store, &code);
        if (st == STATUS_OK) {
            tell(w);
            return crawl_run(w->c, w->engine, w->s, control);
        }
    }
    if (w->how != WORKER_RESUME) {
        if (w->engine != NULL)
            w->engine->ops->close(w->engine);
        w->engine = NULL;
        crawl_remove_files(w->s->output); /* nothing was fetched */
    }
    return code;
}

/* A new directory is marked as a crawl's. */
static bool prepare(const struct worker *w, int *code)
{
    const struct jsonl_options lines = jsonl_options_of(w->s);
    enum status st;

    *code = EXIT_CANNOT;
    if (w->how == WORKER_RESUME)
        return !crawl_is_unbegun(w->s->output, w->command) &&
               crawl_credentials_start(w->c, w->s, code);
    if (!crawl_begin_may(w->s->output, "crawl") || !jsonl_may_begin(&lines))
        return false;
    st = settings_save(w->s);
    if (st != STATUS_OK)
        *code = crawl_open_failed(st, w->s->output);
    return st == STATUS_OK && crawl_credentials_start(w->c, w->s, code);
}

int worker_run(const char *command, enum worker_start how,
               struct crawl_settings *s, struct crawl_setup *c,
               struct file_lock *lock)
{
    struct worker w = {command, how, s, c, NULL, NULL};
    struct crawl_control *control = NULL;
    int code;

    if (!prepare(&w, &code))
        return code;
    if (open_cluster(&w) &&
        crawl_control_open(&control, command, s, lock, &code))
        code = work(&w, control);
    else if (how != WORKER_RESUME)
        crawl_remove_files(s->output);
    crawl_control_close(control);
    cluster_store_close(w.store);
    if (w.engine != NULL)
        w.engine->ops->close(w.engine);
    return code;
}
