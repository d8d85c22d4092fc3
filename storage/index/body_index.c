/* SPDX-License-Identifier: MIT */
/* body_index.c - maps the digest of a body to the first fetch that had it. */
#include "storage/index/body_index.h"

#include <stdlib.h>

#include "base/mem.h"
#include "storage/index/exact_set.h"

#define DELTA_MOST UINT64_C(262144) /* a page has one body and many links */

struct body_index {
    struct exact_set *set;
    struct exact_set_rows rows;
    uint64_t added; /* since the last step */
    /* What the set said last, for a body that is looked up and then added. */
    bool asked;
    struct digest body;
    uint64_t old;
};

static bool has_row(void *ctx, uint64_t seq)
{
    const struct body_index *x = ctx;

    return x->rows.has == NULL || x->rows.has(x->rows.ctx, seq);
}

enum status body_index_open(struct body_index **out, struct db *d,
                            uint64_t memory, const struct exact_set_rows *rows)
{
    struct body_index *x = xcalloc(1, sizeof *x);
    const struct exact_set_options o = {.tables = "body",
                                        .rows = {has_row, x},
                                        .block_cache_bytes = memory,
                                        .delta_most = DELTA_MOST};
    enum status st = exact_set_open(&x->set, d, &o);

    if (rows != NULL)
        x->rows = *rows;
    if (st == STATUS_OK)
        *out = x;
    else
        free(x);
    return st;
}

void body_index_close(struct body_index *x)
{
    if (x == NULL)
        return;
    exact_set_close(x->set);
    free(x);
}

enum status body_index_check_upto(const struct body_index *x, uint64_t last)
{
    return exact_set_check_upto(x->set, last);
}

uint64_t body_index_upto(const struct body_index *x)
{
    return exact_set_upto(x->set);
}

static enum status ask(struct body_index *x, struct digest d, uint64_t *old)
{
    enum status st = STATUS_OK;

    if (!x->asked || !digest_equal(x->body, d)) {
        x->asked = false;
        st = exact_set_find(x->set, &d, 1, &x->old);
        x->body = d;
        x->asked = st == STATUS_OK;
    }
    *old = x->old;
    return st;
}

enum status body_index_find(struct body_index *x, struct digest d,
                            uint64_t *seq)
{
    enum status st = ask(x, d, seq);

    if (st == STATUS_OK && *seq != 0 && !has_row(x, *seq))
        *seq = 0;
    return st;
}

/* A row that is gone may still have its entry. */
enum status body_index_add(struct body_index *x, struct digest d, uint64_t seq)
{
    uint64_t old = 0;
    enum status st = STATUS_OK;

    /* When rows are replayed, half of them are, and to find one reads a page.
     */
    if (!exact_set_has_row(x->set, d, seq))
        st = ask(x, d, &old);
    if (st != STATUS_OK)
        return st;
    if (old != 0 && old < seq)
        exact_set_replace(x->set, d, seq);
    else
        exact_set_add(x->set, d, seq);
    x->asked = false;
    x->added++;
    return STATUS_OK;
}

/* In a crawl older than the index, the first replay may meet the same body
 * twice, but there are no runs yet. Whatever is in a run was looked up before
 * it was added. */
enum status body_index_replay(struct body_index *x, struct digest d,
                              uint64_t seq, bool removed)
{
    if (removed || !exact_set_has_run(x->set, d))
        return body_index_add(x, d, seq);
    exact_set_add(x->set, d, seq);
    x->added++;
    return STATUS_OK;
}

enum status body_index_step(struct body_index *x)
{
    enum status st = exact_set_step(x->set, x->added);

    x->added = 0;
    x->asked = false;
    return st;
}

uint64_t body_index_count(const struct body_index *x)
{
    return exact_set_stats(x->set).count;
}

uint64_t body_index_memory(const struct body_index *x)
{
    return exact_set_stats(x->set).memory;
}

enum status body_index_verify(struct body_index *x)
{
    return exact_set_verify(x->set);
}
