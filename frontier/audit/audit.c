/* SPDX-License-Identifier: MIT */
/*
 * audit.c - measured dedupe miss rate against the promised one, of a crawl.
 *
 * One pass over the url rows in order of arrival does everything: it counts the
 * flags that the crawl left in them, looks up each digest in the exact set and
 * in the saved filter, and keeps it for the filters that are asked the same
 * questions in the same order afterwards (audit.c).
 */
#include "frontier/audit/audit.h"

#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/logger.h"
#include "filter/checkpoint.h"
#include "filter/filter.h"
#include "filter/sizing.h"
#include "frontier/outcome.h"
#include "storage/db/schema.h"

/* ---- the steps of an audit's series, while they are counted ---- */

/*
 * Steps end at powers of two from 1,024 on, which is where a crawl notes the
 * state of its filter. One thread.
 */

struct audit_tally {
    struct audit_series *out;
    struct audit_step now; /* the current step */
    uint64_t next;         /* upto at which it ends */
};

#define FIRST_STEP 1024

/* *out is zeroed; its steps are then the caller's. */
static void audit_tally_init(struct audit_tally *t, struct audit_series *out,
                             const char *name)
{
    *out = (struct audit_series){.total = {.first = 1, .fill = -1}};
    snprintf(out->name, sizeof out->name, "%s", name);
    *t = (struct audit_tally){.out = out, .next = FIRST_STEP};
    t->now = (struct audit_step){.first = 1, .fill = -1};
}

/* Counts URL number `upto`. */
static void audit_tally_count(struct audit_tally *t, uint64_t upto,
                              bool false_positive)
{
    t->now.asked++;
    t->now.upto = upto;
    t->now.false_positives += false_positive;
}

/* Has `now` come to its end? Then the caller fills in the filter's state and
 * ends the step. */
static bool audit_tally_is_due(const struct audit_tally *t)
{
    return t->now.upto >= t->next;
}

static void measure(struct audit_step *step)
{
    struct sizing_interval i =
        sizing_wilson(step->false_positives, step->asked, SIZING_Z95);

    step->measured = step->asked > 0
                         ? (double)step->false_positives / (double)step->asked
                         : 0.0;
    step->low = i.low;
    step->high = i.high;
}

static void audit_tally_end_step(struct audit_tally *t)
{
    struct audit_series *out = t->out;
    struct audit_step total = t->now; /* with the filter's state */

    if (t->now.asked == 0)
        return;
    measure(&t->now);
    out->steps = xrealloc(out->steps, (out->count + 1) * sizeof *out->steps);
    out->steps[out->count++] = t->now;
    total.first = out->total.first;
    total.asked += out->total.asked;
    total.false_positives += out->total.false_positives;
    out->total = total;
    t->now = (struct audit_step){.first = total.upto + 1, .fill = -1};
    while (t->next <= total.upto)
        t->next *= 2;
}

/* Ends the last step, if it counted anything, and sums up. */
static void audit_tally_finish(struct audit_tally *t)
{
    audit_tally_end_step(t);
    measure(&t->out->total);
}

/* Stores the state of `f` in a step. Computing a filter's stats takes
 * milliseconds: do it once a step, not more. */
static void audit_step_note(struct audit_step *step, const struct filter *f)
{
    struct filter_stats fs;

    filter_stats(f, &fs);
    step->promised = fs.fpr_promised;
    step->predicted = fs.fpr_predicted;
    step->keys = fs.count;
    step->bits = fs.bits;
    step->fill = fs.fill;
}

/* ---- the URLs of an audit through another filter ---- */

/*
 * Each key is checked and added to a filter in order of arrival: what it calls
 * "maybe seen" is a URL that a crawler with that filter and no exact set would
 * have lost. One thread.
 *
 * Filters are replayed one after the other, not all in one pass: so memory
 * holds the keys and one filter, however many are compared, and filters of a
 * fixed size can be made for the count that the stream turned out to have, as
 * if a user had guessed it right. To show what happens to a user who guessed
 * wrong, a `bloom` for a tenth of that is replayed too.
 */

struct audit_run {
    struct filter *filter;
    struct audit_tally tally;
    int64_t (*now)(void); /* NULL: cost is not measured */
    int64_t added_in;     /* total ns of adding */
};

/* Keys in order of arrival, none twice. */
struct audit_keys {
    uint64_t *at;
    uint64_t count, room;
};

#define BATCH      1024 /* divides every step, so batches end where steps do */
#define QUESTIONS  (256 * BATCH)
#define LEAST_MADE 1024

/* ---- one filter ---- */

/* STATUS_ARG, STATUS_NOMEM: as filter_new; nothing to finish then. */
static enum status audit_run_init(struct audit_run *run,
                                  struct audit_series *out, const char *name,
                                  const struct filter_options *o,
                                  int64_t (*now)(void))
{
    run->now = now;
    run->added_in = 0;
    audit_tally_init(&run->tally, out, name);
    out->kind = filter_kind_named(o->kind)->name;
    out->fpr = o->fpr;
    out->made_for = o->expect;
    return filter_new(&run->filter, o);
}

/* Checks and adds the next keys. A step may end with the last of them, but not
 * before. fresh[i]: the filter called key i certainly new. */
static enum status audit_run_ask(struct audit_run *run, const uint64_t *keys,
                                 size_t n, bool *fresh)
{
    struct audit_tally *t = &run->tally;
    uint64_t before = t->out->total.upto + t->now.asked;
    int64_t began = run->now != NULL ? run->now() : 0;
    enum status st = filter_add_lenient(run->filter, keys, n, fresh);

    run->added_in += run->now != NULL ? run->now() - began : 0;
    if (st != STATUS_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        audit_tally_count(t, before + i + 1, !fresh[i]);
    if (audit_tally_is_due(t)) {
        audit_step_note(&t->now, run->filter);
        audit_tally_end_step(t);
    }
    return STATUS_OK;
}

/* Sums up and frees the filter. */
static void audit_run_finish(struct audit_run *run)
{
    audit_step_note(&run->tally.now, run->filter);
    audit_tally_finish(&run->tally);
    filter_free(run->filter);
    run->filter = NULL;
}

/* ---- the keys ---- */

static enum status audit_keys_add(struct audit_keys *k, uint64_t key)
{
    if (k->count == k->room) {
        uint64_t room = k->room > 0 ? k->room + k->room / 2 : 4096;
        uint64_t *at = try_realloc(k->at, room * sizeof *at);

        if (at == NULL)
            return STATUS_NOMEM;
        k->at = at;
        k->room = room;
    }
    k->at[k->count++] = key;
    return STATUS_OK;
}

static void audit_keys_fini(struct audit_keys *k)
{
    free(k->at);
    *k = (struct audit_keys){0};
}

/* ---- all filters ---- */

/* Everything needed to replay one filter. */
struct replay {
    const struct audit_keys *keys;
    int64_t (*now)(void); /* as in audit_options */
    struct audit_run run;
};

/* SplitMix64 (Steele, Lea, Flood, 2014): keys that were not added. */
static uint64_t other_key(uint64_t n)
{
    uint64_t x = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Nanoseconds to check a new URL, in batches. */
static double check_cost(const struct filter *f, int64_t (*now)(void))
{
    uint64_t keys[BATCH];
    bool maybe[BATCH];
    int64_t all = 0;

    for (uint64_t i = 0; i < QUESTIONS; i += BATCH) {
        int64_t t;

        for (uint64_t j = 0; j < BATCH; j++)
            keys[j] = other_key(i + j);
        t = now();
        filter_check(f, keys, BATCH, maybe);
        all += now() - t;
    }
    return (double)all / QUESTIONS;
}

static enum status replay_keys(struct replay *r)
{
    const struct audit_keys *keys = r->keys;
    struct audit_series *out = r->run.tally.out;
    bool fresh[BATCH];

    for (uint64_t i = 0; i < keys->count; i += BATCH) {
        uint64_t left = keys->count - i;
        enum status st =
            audit_run_ask(&r->run, keys->at + i,
                          left < BATCH ? (size_t)left : BATCH, fresh);

        if (st != STATUS_OK)
            return st;
    }
    if (r->now != NULL && keys->count > 0) {
        out->add_ns = (double)r->run.added_in / (double)keys->count;
        out->check_ns = check_cost(r->run.filter, r->now);
    }
    return STATUS_OK;
}

static enum status replay_one(struct audit *out, struct replay *r,
                              const struct filter_options *o, const char *name)
{
    size_t n = out->what_if_count;
    enum status st;

    out->what_if = xrealloc(out->what_if, (n + 1) * sizeof *out->what_if);
    st = audit_run_init(&r->run, &out->what_if[n], name, o, r->now);
    if (st != STATUS_OK)
        return st;
    out->what_if_count = n + 1;
    st = replay_keys(r);
    audit_run_finish(&r->run);
    return st;
}

/* The capacity that a user would give: the final count if the kind cannot grow,
 * a hundredth if it grows by layers, the least if it grows by itself. */
static uint64_t made_for(const char *kind, uint64_t count)
{
    uint64_t n = count;

    if (strcmp(kind, "scalable") == 0)
        return 1;
    if (strcmp(kind, "stacked") == 0)
        n = count / 100 > LEAST_MADE ? count / 100 : LEAST_MADE;
    return n > 0 ? n : 1;
}

static enum status replay_kind(struct audit *out, struct replay *r,
                               const char *kind, double fpr)
{
    struct filter_options o = {.kind = kind,
                               .expect = made_for(kind, r->keys->count),
                               .fpr = fpr,
                               .keep_nothing = strcmp(kind, "scalable") != 0};
    char name[AUDIT_NAME];
    enum status st;

    snprintf(name, sizeof name, "%s fpr=%g", kind, fpr);
    st = replay_one(out, r, &o, name);
    if (st != STATUS_OK || strcmp(kind, "bloom") != 0)
        return st;
    snprintf(name, sizeof name, "%s fpr=%g for a tenth", kind, fpr);
    o.expect = o.expect >= 10 ? o.expect / 10 : 1;
    return replay_one(out, r, &o, name);
}

/* Does `o` ask for any replay, which needs the keys? */
static bool audit_replay_wanted(const struct audit_options *o)
{
    return o->what_if_count > 0 || o->kind_count > 0;
}

/* Appends to out->what_if one series for each filter and rate of `o`; `fpr` is
 * the rate if `o` has none. One filter is in memory at a time. */
static enum status audit_replay(struct audit *out,
                                const struct audit_keys *keys,
                                const struct audit_options *o, double fpr)
{
    static const char *const usual[] = {"scalable"};
    const char *const *kinds = o->kind_count > 0 ? o->kinds : usual;
    const double *rates = o->what_if_count > 0 ? o->what_if : &fpr;
    size_t kind_count = o->kind_count > 0 ? o->kind_count : 1;
    size_t rate_count = o->what_if_count > 0 ? o->what_if_count : 1;
    struct replay r = {.keys = keys, .now = o->now};
    enum log_level level = logger_level();
    enum status st = STATUS_OK;

    if (!audit_replay_wanted(o))
        return STATUS_OK;
    /* A filter that breaks its promise is a result here, not worth a log
     * line. */
    logger_set_level(LOG_LEVEL_ERROR);
    for (size_t i = 0; i < rate_count; i++)
        for (size_t k = 0; st == STATUS_OK && k < kind_count; k++)
            st = replay_kind(out, &r, kinds[k], rates[i]);
    logger_set_level(level);
    return st;
}

/* ---- reachability ---- */

/* Which URLs can be reached from the seeds without some others. */

struct walk {
    const struct id_bits *without;
    struct id_bits *reached;
    bool grew;
};

static bool follow(void *ctx, const struct link_row *l)
{
    struct walk *w = ctx;

    if (id_bits_has(w->reached, l->from) && !id_bits_has(w->reached, l->to) &&
        !id_bits_has(w->without, l->to) && id_bits_add(w->reached, l->to))
        w->grew = true;
    return true;
}

enum status reachability_without(struct link_store *links,
                                 const struct id_bits *without,
                                 struct id_bits *reached)
{
    struct walk w = {.without = without, .reached = reached, .grew = true};
    enum status st = STATUS_OK;

    while (st == STATUS_OK && w.grew) {
        w.grew = false;
        st = link_store_each(links, follow, &w);
    }
    return st;
}

/* ---- measured dedupe miss rate against the promised one ---- */

#define PASS_BATCH 1024

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
    struct digest digests[PASS_BATCH];
    uint64_t keys[PASS_BATCH], ids[PASS_BATCH], found[PASS_BATCH];
    bool answers[PASS_BATCH];
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
    if (p->n == PASS_BATCH)
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
static enum status pass_replay(struct pass *p)
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
        p->st = pass_replay(p);
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

/* ---- measured dedupe miss rate of a list of URLs ---- */

/*
 * The exact set is a table of digests in memory, 16 bytes each, at most three
 * quarters full. All zeros mean a free slot; a digest is all zeros with a
 * chance of 2^-128.
 */

struct audit_list {
    struct digest_key key;
    const struct audit_options *o;
    double fpr;
    struct audit_run first;     /* a crawl's default filter */
    struct audit_keys replayed; /* keys for the other filters */
    struct audit result;
    struct digest *table; /* the exact set: open addressing */
    uint64_t room, count;
};

enum status audit_list_new(struct audit_list **out, double fpr,
                           const struct audit_options *o)
{
    static const unsigned char seed[DIGEST_SEED_SIZE] = "urlweir audit list";
    struct audit_list *l = xcalloc(1, sizeof *l);
    struct filter_options fo = {.kind = "scalable", .expect = 1, .fpr = fpr};
    enum status st;

    l->o = o;
    l->fpr = fpr;
    digest_key_init(&l->key, seed);
    l->room = 1024;
    l->table = xcalloc(l->room, sizeof *l->table);
    st = audit_run_init(&l->first, &l->result.crawl, "list", &fo, NULL);
    if (st != STATUS_OK) {
        audit_list_free(l);
        return st;
    }
    *out = l;
    return STATUS_OK;
}

static bool is_taken(const struct digest *slot)
{
    return (slot->hi | slot->lo) != 0;
}

static struct digest *slot_of(const struct audit_list *l, struct digest d)
{
    uint64_t i = d.lo & (l->room - 1);

    while (is_taken(&l->table[i]) && !digest_equal(l->table[i], d))
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
    for (uint64_t i = 0; i < old_room; i++) /* zeros into a free slot */
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

    *fresh = !is_taken(slot);
    *lost = false;
    if (!*fresh) {
        l->result.answers.repeats++;
        return STATUS_OK;
    }
    *slot = d;
    if (++l->count * 4 > l->room * 3)
        st = grow(l);
    if (st == STATUS_OK)
        st = audit_run_ask(&l->first, &d.hi, 1, &is_new);
    if (st != STATUS_OK)
        return st;
    *lost = !is_new;
    l->result.answers.fresh += is_new;
    l->result.answers.false_positives += !is_new;
    l->result.exact_count = l->count;
    if (audit_replay_wanted(l->o))
        st = audit_keys_add(&l->replayed, d.hi);
    return st;
}

/* Every key that was added must be called "maybe" now. */
static void check_list(struct audit_list *l)
{
    for (uint64_t i = 0; i < l->room; i++)
        if (is_taken(&l->table[i]) &&
            !filter_check_one(l->first.filter, l->table[i].hi))
            l->result.false_negatives++;
    l->result.filter_checked = true;
    l->result.filter_covers = l->count;
}

enum status audit_list_finish(struct audit_list *l, struct audit *out)
{
    enum status st;

    check_list(l);
    audit_run_finish(&l->first);
    st = audit_replay(&l->result, &l->replayed, l->o, l->fpr);
    if (st != STATUS_OK)
        return st;
    *out = l->result;
    memset(&l->result, 0, sizeof l->result);
    return STATUS_OK;
}

void audit_list_free(struct audit_list *l)
{
    if (l == NULL)
        return;
    audit_keys_fini(&l->replayed);
    filter_free(l->first.filter);
    audit_fini(&l->result);
    free(l->table);
    free(l);
}
