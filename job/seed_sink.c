/* SPDX-License-Identifier: MIT */
/*
 * seed_sink.c - puts the URLs that the user gives into the frontier.
 *
 * A guessed sitemap follows the first seed of its host: so the first request
 * that --limit counts is a seed's, and the sitemap is read while the host's
 * queue is short. Seeds of one host are often adjacent, so we remember one
 * origin; the seen check handles the others.
 */
#include "job/seed_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crawler/html/link_values.h"
#include "crawler/sitemap_stream.h"
#include "frontier/frontier.h"
#include "frontier/reader.h"
#include "job/crawl_credentials.h"
#include "job/settings/seeds.h"

#define BATCH 256

struct seed_sink {
    struct frontier *frontier;
    struct crawl_setup *setup;
    struct candidate_rules rules;
    const struct crawl_settings *s;
    bool guesses;      /* guess sitemaps */
    struct buf origin; /* of the last guess */
    struct seed *asks; /* that get answers, or NULL */
    size_t n;
    struct url_item items[BATCH];
    char *urls[BATCH];
    struct seed *askers[BATCH];
};

static struct seed_sink *sink_new(struct frontier *f, struct crawl_setup *c,
                                  const struct crawl_settings *s)
{
    struct seed_sink *k = xcalloc(1, sizeof *k);

    k->frontier = f;
    k->setup = c;
    k->rules = c->fetch.rules;
    k->rules.digest_key = frontier_get_digest_key(f);
    k->s = s;
    k->guesses = c->fetch.find_sitemaps;
    buf_init(&k->origin, URL_LENGTH_CEILING);
    return k;
}

static void sink_free(struct seed_sink *k)
{
    for (size_t i = 0; i < k->n; i++)
        free(k->urls[i]);
    buf_fini(&k->origin);
    free(k);
}

/* ---- putting ------------------------------------------------------------- */

static enum status put_batch(struct seed_sink *k)
{
    enum put_answer answers[BATCH];
    int64_t wall = clock_wall_ms();
    enum status st =
        frontier_put(k->frontier, 0, k->items, k->n, wall, answers);

    for (size_t i = 0; i < k->n; i++) {
        if (st == STATUS_OK && k->askers[i] != NULL)
            k->askers[i]->fresh = answers[i] == PUT_NEW;
        free(k->urls[i]);
    }
    k->n = 0;
    /* Large lists are committed in between; the mark follows at the end. */
    if (st == STATUS_OK)
        st = frontier_turn(k->frontier, false, clock_mono(), wall, NULL);
    return st;
}

static enum status put(struct seed_sink *k, const struct url *u,
                       struct url_item like)
{
    candidate_identify(&k->rules, u, &like);
    k->urls[k->n] = xstrndup(like.url.at, like.url.len);
    candidate_moved(&like, k->urls[k->n]);
    k->askers[k->n] = like.seed ? k->asks : NULL;
    k->items[k->n] = like;
    return ++k->n == BATCH ? put_batch(k) : STATUS_OK;
}

/* Keeps what the settings do not want for now. */
static enum status drop(struct seed_sink *k, const struct url *u,
                        struct url_item like, enum outcome_reason why)
{
    const struct url_drop d = {.reason = why,
                               .host = url_host(u),
                               .url = url_text(u),
                               .whole = true,
                               .is_guess = like.kind == LINK_SITEMAP,
                               .kind = like.kind,
                               .depth = like.depth};

    return external_discover(k->frontier, NULL, 0, &d, 1, clock_mono(),
                             clock_wall_ms(), NULL);
}

/* ---- sitemaps ------------------------------------------------------------ */

static enum status put_guess(struct seed_sink *k, const struct url *seed)
{
    /* With --sitemap only it replaces the seed, which is not fetched: the
     * target of its redirect is in scope, and it fails like a seed. */
    bool stands_in = k->s->sitemap == SITEMAPS_ONLY;
    const struct url_item like = {.depth = stands_in ? 0 : 1,
                                  .kind = LINK_SITEMAP,
                                  .seed = stands_in};
    enum status st = STATUS_OK;
    enum outcome_reason no = REASON_KIND;
    struct buf text;
    struct url u;

    if (bytes_equal(url_origin(seed), buf_bytes(&k->origin)))
        return STATUS_OK;
    buf_clear(&k->origin);
    buf_add_bytes(&k->origin, url_origin(seed));
    url_init(&u);
    buf_init(&text, URL_LENGTH_CEILING);
    buf_add_bytes(&text, url_origin(seed));
    buf_add_str(&text, SITEMAP_GUESS);
    if (candidate_read(&k->rules, &u, buf_bytes(&text), NULL) == URL_OK) {
        if (k->guesses)
            no = scope_check_kind(k->rules.scope, &u, like.depth, like.kind)
                     .reason;
        st = no == REASON_NONE ? put(k, &u, like) : drop(k, &u, like, no);
    }
    buf_fini(&text);
    url_fini(&u);
    return st;
}

static enum status put_sitemap(void *ctx, struct url *u)
{
    struct seed_sink *k = ctx;

    candidate_form(&k->rules, u);
    crawl_credentials_add_seed(k->setup, u);
    return put(k, u,
               (struct url_item){.depth = 1,
                                 .kind = LINK_SITEMAP,
                                 .seed = true});
}

static enum status put_sitemaps(struct seed_sink *k)
{
    struct seeds all = {.report = stderr, .visit = put_sitemap, .ctx = k};

    return seeds_all(&all, &k->s->sitemap_url, NULL);
}

/* ---- seeds --------------------------------------------------------------- */

static enum status put_seed(void *ctx, struct url *u)
{
    const struct url_item seed = {.kind = LINK_SEED, .seed = true};
    struct seed_sink *k = ctx;
    enum status st;

    candidate_form(&k->rules, u);
    scope_add_seed(k->rules.scope, u);
    crawl_credentials_add_seed(k->setup, u);
    if (k->s->sitemap == SITEMAPS_ONLY)
        st = drop(k, u, seed, REASON_KIND);
    else
        st = put(k, u, seed);
    return st == STATUS_OK && !k->s->check ? put_guess(k, u) : st;
}

static void take_login(void *ctx, struct bytes login)
{
    struct seed_sink *k = ctx;

    crawl_credentials_add_login(k->setup, login);
}

static enum status put_all(struct seed_sink *k, bool *none)
{
    struct seeds seeds = {.report = stderr,
                          .visit = put_seed,
                          .login = take_login,
                          .ctx = k};
    enum status st = put_sitemaps(k);

    if (st == STATUS_OK)
        st = seeds_all(&seeds, &k->s->seeds, k->s->input);
    *none = seeds.good == 0 && k->s->sitemap_url.count == 0;
    return st;
}

static enum status sink_all(struct frontier *f, struct crawl_setup *c,
                            const struct crawl_settings *s, bool *none)
{
    struct seed_sink *k = sink_new(f, c, s);
    enum status st;

    crawl_setup_open_sitemaps(c->scope, s);
    st = put_all(k, none);
    if (st == STATUS_OK && k->n > 0)
        st = put_batch(k);
    sink_free(k);
    return st;
}

enum status seed_sink_all(struct frontier *f, struct crawl_setup *c,
                          const struct crawl_settings *s)
{
    bool none = false;
    enum status st = sink_all(f, c, s, &none);

    if (st != STATUS_OK || !none)
        return st;
    fprintf(stderr, "urlweir crawl: no valid seed: give URLs such as "
                    "https://example.org/ as arguments, or -i FILE\n");
    return STATUS_NOT_FOUND;
}

enum status seed_sink_given(struct frontier *f, struct crawl_setup *c,
                            const struct crawl_settings *s)
{
    bool none;

    return sink_all(f, c, s, &none);
}

enum status seed_sink_more(struct frontier *f, struct crawl_setup *c,
                           const struct crawl_settings *s, struct seed *seeds,
                           size_t n)
{
    struct seed_sink *k = sink_new(f, c, s);
    enum status st = STATUS_OK;
    struct url u;

    url_init(&u);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        enum url_reason why = URL_OK;

        k->asks = &seeds[i];
        seeds[i].why = NULL;
        why = url_parse(&u, seeds[i].text, NULL, NULL);
        if (why != URL_OK)
            seeds[i].why = seeds_explain(why);
        else if (u.userinfo_at != u.host_at)
            seeds[i].why = seeds_no_login;
        if (seeds[i].why == NULL)
            st = put_seed(k, &u);
    }
    url_fini(&u);
    if (st == STATUS_OK && k->n > 0)
        st = put_batch(k);
    sink_free(k);
    return st;
}

enum status seed_sink_sitemaps(struct frontier *f, struct crawl_setup *c,
                               const struct crawl_settings *s)
{
    struct seed_sink *k = sink_new(f, c, s);
    enum status st = put_sitemaps(k);

    if (st == STATUS_OK && k->n > 0)
        st = put_batch(k);
    sink_free(k);
    return st;
}
