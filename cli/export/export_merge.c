/* SPDX-License-Identifier: MIT */
/* export_merge.c - the directories of the workers of one crawl, as if one. */
#include "cli/export/export_merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/open_crawl.h"
#include "frontier/outcome.h"
#include "job/exit_code.h"

struct part {
    struct reader r;
    uint64_t last;
    unsigned char *done; /* a bit for each id */
};

struct merge {
    struct part *part;
    size_t count;
};

bool merge_is_of_others(unsigned status, unsigned reason)
{
    return status == OUTCOME_QUEUED ||
           (status == OUTCOME_SKIPPED && reason == REASON_REMOVED);
}

static bool note_done(void *ctx, const struct fetch_row *f)
{
    struct part *p = ctx;

    if (f->final && f->url <= p->last &&
        !merge_is_of_others(f->status, f->reason))
        p->done[f->url / 8] |= (unsigned char)(1U << f->url % 8);
    return true;
}

/* Workers of one crawl have the digest seed of the cluster. */
static bool same_crawl(const struct reader *a, const struct reader *b)
{
    const struct bytes text = bytes_of_str("one crawl");
    const struct digest x = digest_bytes(&a->key, text),
                        y = digest_bytes(&b->key, text);

    return x.hi == y.hi && x.lo == y.lo;
}

static bool load(struct merge *m, struct part *p, int *code)
{
    enum status st = STATUS_NOMEM;

    if (is_service(&p->r) || !same_crawl(&p->r, &m->part[0].r)) {
        fprintf(stderr,
                "urlweir export: %s is not the directory of a worker of the "
                "same crawl as %s\n",
                p->r.dir, m->part[0].r.dir);
        *code = EXIT_USAGE;
        return false;
    }
    p->last = frontier_store_last_id(p->r.store);
    p->done = try_calloc(p->last / 8 + 1, 1);
    if (p->done != NULL)
        st = page_store_each(p->r.pages, 0, note_done, p);
    if (st == STATUS_OK)
        return true;
    fprintf(stderr, "urlweir export: cannot read %s: %s\n", p->r.dir,
            status_text(st));
    *code = st == STATUS_DAMAGED ? EXIT_DAMAGED : EXIT_CANNOT;
    return false;
}

struct merge *merge_open(const struct option_list *dirs, int *code)
{
    struct merge *m = xcalloc(1, sizeof *m);

    m->part = xcalloc(dirs->count, sizeof *m->part);
    for (size_t i = 0; i < dirs->count; i++) {
        if (!open_crawl(&m->part[i].r, "export", dirs->item[i], code))
            break;
        m->count++;
        if (!load(m, &m->part[i], code))
            break;
        if (i + 1 == dirs->count)
            return m;
    }
    merge_close(m);
    return NULL;
}

void merge_close(struct merge *m)
{
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->count; i++) {
        reader_close(&m->part[i].r);
        free(m->part[i].done);
    }
    free(m->part);
    free(m);
}

size_t merge_count(const struct merge *m)
{
    return m->count;
}

struct reader *merge_reader(struct merge *m, size_t i)
{
    return &m->part[i].r;
}

enum status merge_is_again(struct merge *m, size_t i, const struct url_row *row,
                           bool *is)
{
    const struct digest d = reader_digest(&m->part[i].r, row);
    enum status st = STATUS_OK;

    *is = false;
    for (size_t k = 0; st == STATUS_OK && k < i && !*is; k++) {
        const struct part *p = &m->part[k];
        uint64_t id = 0;

        st = exact_set_find(p->r.exact, &d, 1, &id);
        *is = st == STATUS_OK && id != 0 && id <= p->last &&
              ((unsigned)p->done[id / 8] >> id % 8 & 1U) != 0;
    }
    return st;
}
