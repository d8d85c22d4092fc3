/* SPDX-License-Identifier: MIT */
/*
 * audit.c - measured dedupe miss rate against the promised one.
 *
 * One pass over the url rows in order of arrival does everything: the flags
 * that the crawl left in them are counted, each digest is looked up in the
 * exact set and in the saved filter, and the what-if filters are asked the same
 * questions in the same order. Steps end at powers of two from 1,024 on, which
 * is where the crawl noted the state of its filter.
 */
#include "frontier/audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "filter/checkpoint.h"
#include "filter/filter.h"
#include "filter/sizing.h"
#include "frontier/outcome.h"
#include "frontier/reach.h"
#include "storage/url_kind.h"

#define FIRST_STEP 1024
#define BATCH      1024 /* divides every step, so batches end where steps do */

/* ---- a series of steps in the making ---- */

struct series {
    struct audit_series *out;
    struct audit_step now; /* the step that is being counted */
    uint64_t next;         /* upto at which it ends */
};

static void series_init(struct series *s, struct audit_series *out,
                        const char *name)
{
    *s = (struct series){.out = out, .next = FIRST_STEP};
    s->now.first = 1;
    s->out->total.first = 1;
    snprintf(out->name, sizeof out->name, "%s", name);
}

static void measure(struct audit_step *step)
{
    struct sizing_interval i =
        sizing_wilson(step->false_positives, step->asked, 1.959964);

    step->measured = step->asked > 0
                         ? (double)step->false_positives / (double)step->asked
                         : 0.0;
    step->low = i.low;
    step->high = i.high;
}

static void series_end_step(struct series *s)
{
    struct audit_series *out = s->out;
    uint64_t upto = s->now.upto;

    if (s->now.asked == 0)
        return;
    measure(&s->now);
    out->steps = xrealloc(out->steps, (out->count + 1) * sizeof *out->steps);
    out->steps[out->count++] = s->now;
    out->total.upto = upto;
    out->total.asked += s->now.asked;
    out->total.false_positives += s->now.false_positives;
    out->total.promised = s->now.promised;
    out->total.predicted = s->now.predicted;
    out->total.keys = s->now.keys;
    out->total.bits = s->now.bits;
    s->now = (struct audit_step){.first = upto + 1};
    while (s->next <= upto)
        s->next *= 2;
}

static void series_finish(struct series *s)
{
    series_end_step(s);
    measure(&s->out->total);
}

static void note_filter(struct audit_step *step, const struct filter *f)
{
    struct filter_stats fs;

    filter_stats(f, &fs);
    step->promised = fs.fpr_promised;
    step->predicted = fs.fpr_predicted;
    step->keys = fs.count;
    step->bits = fs.bits;
}

/* ---- what-if: another filter, asked the same questions ---- */

struct what_if {
    struct filter *filter;
    struct series series;
};

static enum status what_if_init(struct what_if *w, struct audit_series *out,
                                double fpr)
{
    struct filter_options o = {.kind = "scalable", .expect = 1, .fpr = fpr};
    char name[48];

    snprintf(name, sizeof name, "%s fpr=%g", o.kind, fpr);
    series_init(&w->series, out, name);
    return filter_new(&w->filter, &o);
}

/* Keys of ids that follow what was asked before; a step ends with them or does
 * not end inside. */
static enum status what_if_ask(struct what_if *w, const uint64_t *keys,
                               size_t n, bool *fresh)
{
    struct series *s = &w->series;
    enum status st = filter_add(w->filter, keys, n, fresh);

    if (st != STATUS_OK && st != STATUS_LIMIT)
        return st;
    for (size_t i = 0; i < n; i++)
        s->now.false_positives += !fresh[i];
    s->now.asked += n;
    s->now.upto = s->out->total.upto + s->now.asked;
    if (s->now.upto >= s->next) {
        note_filter(&s->now, w->filter);
        series_end_step(s);
    }
    return STATUS_OK;
}

/* A filter tells its rate part by part, in milliseconds: once a step. */
static void what_if_finish(struct what_if *w)
{
    note_filter(&w->series.now, w->filter);
    series_finish(&w->series);
    filter_free(w->filter);
    w->filter = NULL;
}

static enum status what_ifs_init(struct audit *out, struct what_if **list,
                                 const struct audit_options *o)
{
    enum status st = STATUS_OK;

    *list = xcalloc(o->what_if_count, sizeof **list);
    out->what_if = xcalloc(o->what_if_count, sizeof *out->what_if);
    for (size_t i = 0; st == STATUS_OK && i < o->what_if_count; i++) {
        st = what_if_init(&(*list)[i], &out->what_if[i], o->what_if[i]);
        out->what_if_count += st == STATUS_OK;
    }
    return st;
}

static void what_ifs_finish(struct what_if *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        what_if_finish(&list[i]);
    free(list);
}

/* ---- a crawl's directory ---- */

struct pass {
    struct audit *out;
    struct reader *r;
    const struct audit_options *o;
    struct filter *image; /* filter.ckpt, or NULL */
    struct series crawl;
    const struct filter_step *steps; /* as the crawl noted them */
    size_t step_count, step_at;
    struct what_if *what_ifs;
    struct id_bits lost;    /* called "maybe seen" when they were new */
    struct id_bits through; /* those, and what was first found through them */
    struct id_bits reached; /* from the seeds, without those that are lost */
    uint64_t moved;         /* rows whose digest is another's */
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
    for (size_t i = 0; p->st == STATUS_OK && i < p->out->what_if_count; i++)
        p->st = what_if_ask(&p->what_ifs[i], p->keys, p->n, p->answers);
    p->n = 0;
}

/* What the crawl noted about its filter nearest to the end of this step. */
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
    struct series *s = &p->crawl;
    bool lost = (row->flags & URL_ROW_FALSE_POSITIVE) != 0;

    p->out->replaced += row->kind == URL_KIND_PUT && row->via != 0;
    s->now.asked++;
    s->now.upto = row->id;
    s->now.false_positives += lost;
    if (lost)
        id_bits_add(&p->lost, row->id);
    else if (row->via == 0)
        id_bits_add(&p->reached, row->id);
    if (lost || id_bits_has(&p->through, row->via))
        id_bits_add(&p->through, row->id);
    if (lost && p->o->lost != NULL)
        p->o->lost(p->o->ctx, row);
    if (row->id >= s->next) {
        take_note(p, &s->now);
        series_end_step(s);
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

    if (row->final && row->status == OUTCOME_FETCHED) {
        p->out->pages++;
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

/* The last step's end is not where the crawl made a note; the file, when it
 * covers everything, says how the filter stands. */
static void finish_crawl_series(struct pass *p)
{
    struct audit_step *now = &p->crawl.now;

    if (p->image != NULL)
        note_filter(now, p->image);
    else
        take_note(p, now);
    series_finish(&p->crawl);
}

static enum status pass_init(struct pass *p, uint64_t last)
{
    enum status st = what_ifs_init(p->out, &p->what_ifs, p->o);

    series_init(&p->crawl, &p->out->crawl, "crawl");
    if (st == STATUS_OK)
        st = id_bits_init(&p->lost, last);
    if (st == STATUS_OK)
        st = id_bits_init(&p->through, last);
    if (st == STATUS_OK)
        st = id_bits_init(&p->reached, last);
    return st;
}

static void pass_fini(struct pass *p)
{
    what_ifs_finish(p->what_ifs, p->out->what_if_count);
    filter_free(p->image);
    id_bits_fini(&p->lost);
    id_bits_fini(&p->through);
    id_bits_fini(&p->reached);
    free(p);
}

/* What became of the URLs, and by which ways they were found. */
static enum status count_pages(struct pass *p)
{
    enum status st = STATUS_OK;

    p->out->links_recorded =
        link_store_recorded(p->r->links) == LINK_RECORD_ALL;
    if (p->out->links_recorded)
        st = reach_without(p->r->links, &p->lost, &p->reached);
    if (st == STATUS_OK)
        st = page_store_each(p->r->pages, 0, visit_fetch, p);
    if (!p->out->links_recorded)
        p->out->only_through_lost = 0;
    return st;
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
    if (p->moved != out->replaced) /* an entry went to a row it is not of */
        out->missing += p->moved + out->replaced;
    if (p->st == STATUS_OK)
        p->st = count_pages(p);
    finish_crawl_series(p);
    free(steps.at);
    st = p->st;
    pass_fini(p);
    if (st != STATUS_OK)
        audit_fini(out);
    return st;
}

/* ---- a list of URLs ---- */

struct audit_list {
    struct digest_key key;
    struct what_if first; /* the rate to promise */
    struct what_if *what_ifs;
    struct audit result;
    struct digest *table; /* the exact set: open addressing */
    uint64_t room, count;
};

enum status audit_list_new(struct audit_list **out, double fpr,
                           const struct audit_options *o)
{
    static const unsigned char seed[DIGEST_SEED_SIZE] = "urlweir audit list";
    struct audit_list *l = xcalloc(1, sizeof *l);
    enum status st;

    digest_key_init(&l->key, seed);
    l->room = 1024;
    l->table = xcalloc(l->room, sizeof *l->table);
    st = what_ifs_init(&l->result, &l->what_ifs, o);
    if (st == STATUS_OK)
        st = what_if_init(&l->first, &l->result.crawl, fpr);
    if (st != STATUS_OK) {
        audit_list_free(l);
        return st;
    }
    snprintf(l->result.crawl.name, sizeof l->result.crawl.name, "list");
    *out = l;
    return STATUS_OK;
}

static struct digest *slot_of(const struct audit_list *l, struct digest d)
{
    uint64_t i = d.lo & (l->room - 1);

    while ((l->table[i].hi | l->table[i].lo) != 0 &&
           !digest_equal(l->table[i], d))
        i = (i + 1) & (l->room - 1);
    return &l->table[i];
}

static enum status grow(struct audit_list *l)
{
    struct digest *old = l->table;
    uint64_t old_room = l->room;
    struct digest *table = try_calloc(old_room * 2, sizeof *table);

    if (table == NULL)
        return STATUS_NOMEM;
    l->table = table;
    l->room *= 2;
    for (uint64_t i = 0; i < old_room; i++)
        if ((old[i].hi | old[i].lo) != 0)
            *slot_of(l, old[i]) = old[i];
    free(old);
    return STATUS_OK;
}

enum status audit_list_add(struct audit_list *l, struct bytes url, bool *fresh,
                           bool *lost)
{
    struct digest d = digest_bytes(&l->key, url);
    struct digest *slot = slot_of(l, d);
    enum status st = STATUS_OK;
    bool is_new;

    *fresh = (slot->hi | slot->lo) == 0;
    *lost = false;
    if (!*fresh)
        return STATUS_OK;
    *slot = d;
    if (++l->count * 4 > l->room * 3)
        st = grow(l);
    if (st == STATUS_OK)
        st = what_if_ask(&l->first, &d.hi, 1, &is_new);
    if (st != STATUS_OK)
        return st;
    *lost = !is_new;
    l->result.exact_count = l->count;
    for (size_t i = 0; st == STATUS_OK && i < l->result.what_if_count; i++)
        st = what_if_ask(&l->what_ifs[i], &d.hi, 1, &is_new);
    return st;
}

/* Every key that was added must be called "maybe" now. */
static void check_list(struct audit_list *l)
{
    for (uint64_t i = 0; i < l->room; i++)
        if ((l->table[i].hi | l->table[i].lo) != 0 &&
            !filter_check_one(l->first.filter, l->table[i].hi))
            l->result.false_negatives++;
    l->result.filter_checked = true;
    l->result.filter_covers = l->count;
}

void audit_list_finish(struct audit_list *l, struct audit *out)
{
    check_list(l);
    what_if_finish(&l->first);
    what_ifs_finish(l->what_ifs, l->result.what_if_count);
    l->what_ifs = NULL;
    *out = l->result;
    memset(&l->result, 0, sizeof l->result);
}

void audit_list_free(struct audit_list *l)
{
    if (l == NULL)
        return;
    for (size_t i = 0; l->what_ifs != NULL && i < l->result.what_if_count; i++)
        filter_free(l->what_ifs[i].filter);
    free(l->what_ifs);
    filter_free(l->first.filter);
    audit_fini(&l->result);
    free(l->table);
    free(l);
}

void audit_fini(struct audit *a)
{
    free(a->crawl.steps);
    for (size_t i = 0; i < a->what_if_count; i++)
        free(a->what_if[i].steps);
    free(a->what_if);
    *a = (struct audit){0};
}
