/* SPDX-License-Identifier: MIT */
/*
 * cmd_crawl.c - `urlweir crawl`: a new crawl in a directory.
 *
 * Nothing is fetched before every seed is stored: a crash while seeds are
 * being read leaves a crawl without its mark "seeds_complete", which the same
 * command starts over and `resume` refuses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/crawl_block.h"
#include "cli/crawl_run.h"
#include "cli/crawl_setup.h"
#include "cli/seeds.h"
#include "cli/settings.h"
#include "crawler/links.h"
#include "frontier/frontier.h"
#include "frontier/queue_key.h"
#include "frontier/reader.h"
#include "frontier/url_params.h"

#define SEED_BATCH 256

struct seed_sink {
    struct engine *engine;
    struct scope *scope;
    enum queue_key_mode key_mode;
    const struct option_list *drop; /* --drop-params */
    uint64_t fresh;
    size_t n;
    struct engine_item items[SEED_BATCH];
    char *urls[SEED_BATCH];
};

static enum status put_batch(struct seed_sink *k)
{
    enum engine_answer answers[SEED_BATCH];
    int64_t wall = clock_wall_ms();
    enum status st = k->engine->ops->put(k->engine, bytes_of_str(CRAWL_ID), 0,
                                         k->items, k->n, wall, answers);

    for (size_t i = 0; i < k->n; i++) {
        k->fresh += st == STATUS_OK && answers[i] == ENGINE_NEW;
        free(k->urls[i]);
    }
    k->n = 0;
    /* Large lists are committed on the way; the mark comes at the end. */
    if (st == STATUS_OK)
        st = k->engine->ops->turn(k->engine, false, clock_mono(), wall, NULL);
    return st;
}

static enum status take_canonical(struct seed_sink *k, const struct url *u)
{
    struct bytes text = url_text(u), key = queue_key_of(k->key_mode, u);
    struct bytes crawl = bytes_of_str(CRAWL_ID);
    char *copy = xstrndup(text.at, text.len);

    scope_add_seed(k->scope, u);
    k->urls[k->n] = copy;
    k->items[k->n] = (struct engine_item){
        .url = bytes_of(copy, text.len),
        .key = bytes_of(copy + (key.at - text.at), key.len),
        .digest = digest_url(frontier_digest_key(k->engine), crawl, key, text),
        .kind = LINK_SEED,
        .seed = true};
    return ++k->n == SEED_BATCH ? put_batch(k) : STATUS_OK;
}

static enum status take_seed(void *ctx, const struct url *u)
{
    struct seed_sink *k = ctx;
    struct url own; /* u is only lent */
    enum status st = STATUS_OK;

    if (k->drop->count == 0)
        return take_canonical(k, u);
    url_init(&own);
    if (url_parse(&own, url_text(u), NULL, NULL) == URL_OK) {
        url_drop_params(&own, k->drop->item, k->drop->count);
        st = take_canonical(k, &own);
    }
    url_fini(&own);
    return st;
}

static enum status read_seeds(struct engine *e, struct crawl_setup *c,
                              const struct crawl_settings *s, int *code)
{
    struct seed_sink *k = xcalloc(1, sizeof *k);
    struct seeds seeds = {.report = stderr, .visit = take_seed, .ctx = k};
    enum status st;

    k->engine = e;
    k->scope = c->scope;
    k->key_mode = s->queue_key;
    k->drop = &s->drop_params;
    crawl_unblock_signals(); /* a pipe may have no end */
    st = seeds_all(&seeds, &s->seeds, s->input);
    crawl_block_signals();
    if (st == STATUS_OK && k->n > 0)
        st = put_batch(k);
    for (size_t i = 0; i < k->n; i++)
        free(k->urls[i]);
    free(k);
    *code = EXIT_CANNOT;
    if (st == STATUS_NOT_FOUND || st == STATUS_IO)
        return st;
    if (st == STATUS_OK && seeds.good == 0) {
        fprintf(stderr, "urlweir crawl: no valid seed: give URLs such as "
                        "https://example.org/ as arguments, or -i FILE\n");
        return STATUS_NOT_FOUND;
    }
    fault_point("seeds-read");
    if (st == STATUS_OK)
        st = frontier_store_set_meta(frontier_store_of(e), "seeds_complete",
                                     bytes_of_str("1"));
    if (st == STATUS_OK)
        st = frontier_checkpoint_now(e, "running", false, clock_mono(),
                                     clock_wall_ms());
    if (st != STATUS_OK)
        fprintf(stderr, "urlweir crawl: cannot store the seeds: %s\n",
                status_text(st));
    return st;
}

static void remove_files(const char *dir)
{
    static const char *const names[] = {"manifest",        "frontier.db",
                                        "frontier.db-wal", "frontier.db-shm",
                                        "filter.ckpt",     "crawl.yaml",
                                        "block-exact"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        (void)unlink(path);
    }
}

/* A crawl that has not stored all of its seeds has fetched nothing and is
 * started over. */
static bool may_start_in(const char *dir)
{
    static const char *const names[] = {"frontier.db", "manifest"};
    bool there = false;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        there |= access(path, F_OK) == 0;
    }
    if (there && reader_is_unbegun(dir)) {
        fprintf(stderr,
                "urlweir crawl: the crawl in %s had not stored all of "
                "its seeds and is started over\n",
                dir);
        remove_files(dir);
        return true;
    }
    if (there)
        fprintf(stderr,
                "urlweir crawl: %s holds a crawl already; go on with `urlweir "
                "resume %s`, or choose another directory\n",
                dir, dir);
    return !there;
}

static int crawl_in(const struct crawl_settings *s, struct crawl_setup *c)
{
    struct engine *e = NULL;
    int code = EXIT_CANNOT;
    enum status st;

    if (!may_start_in(s->output))
        return EXIT_CANNOT;
    if (!crawl_block_start(c, s, &code))
        return code;
    st = settings_save(s);
    if (st == STATUS_OK)
        st = frontier_create(&e, s->output, &c->frontier, clock_mono(),
                             clock_wall_ms());
    if (st != STATUS_OK)
        return crawl_open_failed(st, s->output);
    c->fetch.digest_key = frontier_digest_key(e);
    st = read_seeds(e, c, s, &code);
    if (st == STATUS_OK)
        code = crawl_run(c, e, s);
    e->ops->close(e);
    if (st != STATUS_OK)
        remove_files(s->output); /* nothing was fetched */
    return code;
}

int cmd_crawl(int argc, char **argv)
{
    struct crawl_settings s;
    struct crawl_setup c;
    struct file_lock *lock = NULL;
    int code = EXIT_DONE;

    if (!settings_of_crawl(&s, argc, argv, &code))
        return code;
    crawl_block_signals();
    if (crawl_setup_init(&c, &s, &code) &&
        crawl_lock(s.output, "crawl", &lock, &code))
        code = crawl_in(&s, &c);
    file_lock_free(lock);
    crawl_setup_fini(&c);
    settings_fini(&s);
    return code;
}
