/* SPDX-License-Identifier: MIT */
/*
 * audit_list.c - measured dedupe miss rate of a list of URLs.
 *
 * The exact set is a table of digests in memory, 16 bytes each, at most three
 * quarters full. All zeros mean a free slot; a digest is all zeros with a
 * chance of 2^-128.
 */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "filter/filter.h"
#include "frontier/audit/audit.h"
#include "frontier/audit/audit_replay.h"

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
