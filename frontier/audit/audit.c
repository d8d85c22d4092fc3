/* SPDX-License-Identifier: MIT */
/*
 * audit.c - measured dedupe miss rate against the promised one, of a crawl.
 *
 * One pass over the url rows in order of arrival does everything: it counts the
 * flags that the crawl left in them, looks up each digest in the exact set and
 * in the saved filter, and keeps it for the filters that are asked the same
 * questions in the same order afterwards (audit_replay.c).
 */
#include "frontier/audit/audit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "filter/checkpoint.h"
#include "filter/filter.h"
#include "frontier/audit/audit_replay.h"
#include "frontier/audit/audit_tally.h"
#include "frontier/audit/reachability.h"
#include "frontier/outcome.h"
#include "storage/db/url_kind.h"

#define BATCH 1024

struct pass {
    struct audit *out;
    struct reader *r;
    const struct audit_options *o;
    struct filter *image; /* filter.ckpt, or NULL */
    struct audit_tally crawl;
    const struct filter_step *steps; /* as the crawl noted them */
    size_t step_count, step_at;
    struct audit_keys replayed; /* what the other filters will be asked */
    struct id_bits lost;        /* called "maybe seen" when they were new */
    struct id_bits through;     /* those, and URLs first found through them */
    struct id_bits reached;     /* reachable from the seeds without lost URLs */
    uint64_t moved;             /* how many those are */
    enum status st;
    /* the batch */
    struct digest digests[BATCH];
    uint64_t keys[BATCH], ids[BATCH], found[BATCH];
    bool answers[BATCH];
    size_t n;
};

static void check_exact(struct pass *p)
{
    p->st = exact_set_find(p->r->exact, p->digests, p->n, p->found);
    for (size_t i = 0; p->st == STATUS_OK && i < p->n; i++) {
        p->moved += p->found[i] > p->ids[i];
        p->out->missing += p->found[i] < p->ids[i];
    }
}

static void check_image(struct pass *p)
{
    if (p->image == NULL)
        return;
    filter_check(p->image, p->keys, p->n, p->answers);
    for (size_t i = 0; i < p->n; i++)
        p->out->false_negatives +=
            p->ids[i] <= p->out->filter_covers && !p->answers[i];
}

static void flush(struct pass *p)
{
    if (p->st == STATUS_OK && p->n > 0)
        check_exact(p);
    if (p->st == STATUS_OK)
        check_image(p);
    if (audit_replay_wanted(p->o))
        for (size_t i = 0; p->st == STATUS_OK && i < p->n; i++)
            p->st = audit_keys_add(&p->replayed, p->keys[i]);
    p->n = 0;
}

/* Takes the crawl's note on its filter that is nearest to the end of this
 * step. */
static void take_note(struct pass *p, struct audit_step *step)
{
    while (p->step_at + 1 < p->step_count &&
           p->steps[p->step_at].upto < step->upto)
        p->step_at++;
    if (p->step_at < p->step_count) {
        const struct filter_step *note = &p->steps[p->step_at];

        step->promised = note->promised;
        step->predicted = note->predicted;
        step->keys = note->keys;
        step->bits = note->bits;
    }
}

static void count_row(struct pass *p, const struct url_row *row)
{
    struct audit_tally *t = &p->crawl;
    bool lost = (row->flags & URL_ROW_FALSE_POSITIVE) != 0;

    p->out->replaced += (row->kind == URL_KIND_SERVED && row->via != 0) ||
                        (row->flags & URL_ROW_AGAIN) != 0;
    audit_tally_count(t, row->id, lost);
    if (lost)
        id_bits_add(&p->lost, row->id);
    else if (row->via == 0 || id_bits_has(&p->reached, row->via))
        id_bits_add(&p->reached, row->id);
    if (lost || id_bits_has(&p->through, row->via))
        id_bits_add(&p->through, row->id);
    if (lost && p->o->lost != NULL)
        p->o->lost(p->o->ctx, row);
    if (audit_tally_is_due(t)) {
        take_note(p, &t->now);
        audit_tally_end_step(t);
    }
}

static void visit_row(void *ctx, const struct url_row *row)
{
    struct pass *p = ctx;

    if (p->st != STATUS_OK)
        return;
    count_row(p, row);
    p->digests[p->n] = reader_digest(p->r, row);
    p->keys[p->n] = p->digests[p->n].hi;
    p->ids[p->n++] = row->id;
    if (p->n == BATCH)
        flush(p);
}

static bool visit_fetch(void *ctx, const struct fetch_row *row)
{
    struct pass *p = ctx;

    if (reader_is_newest(p->r, row) && row->status == OUTCOME_FETCHED) {
        p->out->fetched++;
        p->out->found_through_lost += id_bits_has(&p->through, row->url);
        p->out->only_through_lost += !id_bits_has(&p->reached, row->url);
    }
    return true;
}

struct step_list {
    struct filter_step *at;
    size_t count;
};

static void add_step(void *ctx, const struct filter_step *step)
{
    struct step_list *l = ctx;

    l->at = xrealloc(l->at, (l->count + 1) * sizeof *l->at);
    l->at[l->count++] = *step;
}

static void load_image(struct pass *p)
{
    char *path = reader_path(p->r, "filter.ckpt");
    struct checkpoint_info info;
    uint64_t print = checkpoint_seed_print(&p->r->key);

    if (checkpoint_load(&p->image, path, print, NULL, 0, &info) == STATUS_OK) {
        p->out->filter_checked = true;
        p->out->filter_covers = info.id.covers;
    }
    free(path);
}

/* The crawl made no note at the end of the last step; if the filter file covers
 * everything, its filter gives the state. */
static void finish_crawl_series(struct pass *p)
{
    struct audit_step *now = &p->crawl.now;

    if (p->image != NULL)
        audit_step_note(now, p->image);
    else
        take_note(p, now);
    audit_tally_finish(&p->crawl);
}

static enum status pass_init(struct pass *p, uint64_t last)
{
    enum status st = id_bits_init(&p->lost, last);

    audit_tally_init(&p->crawl, &p->out->crawl, "crawl");
    if (st == STATUS_OK)
        st = id_bits_init(&p->through, last);
    if (st == STATUS_OK)
        st = id_bits_init(&p->reached, last);
    return st;
}

static void pass_fini(struct pass *p)
{
    audit_keys_fini(&p->replayed);
    filter_free(p->image);
    id_bits_fini(&p->lost);
    id_bits_fini(&p->through);
    id_bits_fini(&p->reached);
    free(p);
}

/* Counts outcomes of the URLs, and the pages found through lost ones. */
static enum status count_pages(struct pass *p)
{
    enum status st = reader_find_newest(p->r);

    p->out->links_recorded =
        link_store_recorded(p->r->links) == LINK_RECORD_ALL;
    if (st == STATUS_OK && p->out->links_recorded)
        st = reachability_without(p->r->links, &p->lost, &p->reached);
    if (st == STATUS_OK)
        st = page_store_each(p->r->pages, 0, visit_fetch, p);
    if (!p->out->links_recorded)
        p->out->only_through_lost = 0;
    return st;
}

static void count_answers(struct pass *p)
{
    struct frontier_store *s = p->r->store;
    uint64_t maybe = frontier_store_counter(s, "filter_maybe");
    uint64_t wrong = frontier_store_counter(s, "false_positives");

    p->out->answers = (struct audit_answers){
        .repeats = frontier_store_counter(s, "answered_in_batch") +
                   frontier_store_counter(s, "answered_hot"),
        .fresh = frontier_store_counter(s, "filter_new"),
        .known = maybe > wrong ? maybe - wrong : 0,
        .false_positives = wrong};
}

/* Replays the other filters. A crawl without a filter promised no rate. */
static enum status replay(struct pass *p)
{
    double promised = p->out->crawl.total.promised;

    filter_free(p->image); /* makes room for the others */
    p->image = NULL;
    return audit_replay(p->out, &p->replayed, p->o,
                        promised > 0 ? promised : 0.001);
}

enum status audit_crawl(struct audit *out, struct reader *r,
                        const struct audit_options *o)
{
    uint64_t last = frontier_store_last_id(r->store);
    struct pass *p = xcalloc(1, sizeof *p);
    struct step_list steps = {0};
    enum status st;

    *out = (struct audit){.exact_count = exact_set_stats(r->exact).count};
    p->out = out;
    p->r = r;
    p->o = o;
    p->st = pass_init(p, last);
    if (p->st == STATUS_OK)
        p->st = frontier_store_each_step(r->store, add_step, &steps);
    p->steps = steps.at;
    p->step_count = steps.count;
    load_image(p);
    if (p->st == STATUS_OK && last > 0) {
        st = frontier_store_each(r->store, 1, last, visit_row, p);
        if (p->st == STATUS_OK)
            p->st = st;
    }
    flush(p);
    if (p->moved != out->replaced) /* an entry has the id of a wrong row */
        out->missing += p->moved + out->replaced;
    if (p->st == STATUS_OK)
        p->st = count_pages(p);
    finish_crawl_series(p);
    count_answers(p);
    if (p->st == STATUS_OK)
        p->st = replay(p);
    free(steps.at);
    st = p->st;
    pass_fini(p);
    if (st != STATUS_OK)
        audit_fini(out);
    return st;
}

void audit_fini(struct audit *a)
{
    free(a->crawl.steps);
    for (size_t i = 0; i < a->what_if_count; i++)
        free(a->what_if[i].steps);
    free(a->what_if);
    *a = (struct audit){0};
}
