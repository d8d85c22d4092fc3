/* SPDX-License-Identifier: MIT */
/*
 * past_crawl.c - an earlier crawl, which a new one knows.
 *
 * It is read where it is rather than imported: an import would copy rows of
 * every URL before the first request, and sort them, for what are two look-ups
 * a page. The price: OLD must stay where it is until NEW is finished. Without
 * it, NEW goes on as a crawl that knows nothing.
 */
#include "frontier/past_crawl.h"

#include <stdlib.h>

#include "base/mem.h"
#include "frontier/reader.h"
#include "frontier/recorded.h"

#define TEXT_MOST ((size_t)16 << 20)

struct past_crawl {
    struct reader r;
    struct revisit_store *revisits;
    unsigned char seed[DIGEST_SEED_SIZE];
    bool links_fit;
    uint64_t other_seq; /* fetches up to this one had another identity */
    struct buf text;
};

/* ---- opening ---- */

static enum status read_seed(struct past_crawl *p)
{
    struct buf seed;
    enum status st;

    buf_init(&seed, DIGEST_SEED_SIZE);
    st = frontier_store_meta(p->r.store, "digest_seed", &seed);
    if (st == STATUS_OK && seed.len == sizeof p->seed)
        memcpy(p->seed, seed.at, sizeof p->seed);
    else
        st = STATUS_DAMAGED;
    buf_fini(&seed);
    return st;
}

static enum status check(struct past_crawl *p, const char *dir, struct buf *why)
{
    if (p->r.holder != 0) {
        buf_addf(why, "%s is being crawled now, by process %ld", dir,
                 p->r.holder);
        return STATUS_AGAIN;
    }
    return STATUS_OK;
}

enum status past_crawl_open(struct past_crawl **out, const char *dir,
                            uint64_t memory, struct buf *why)
{
    struct past_crawl *p = xcalloc(1, sizeof *p);
    enum status st = reader_open_within(&p->r, dir, memory);

    buf_init(&p->text, TEXT_MOST);
    if (st == STATUS_OK)
        st = check(p, dir, why);
    if (st == STATUS_OK)
        st = page_store_watch_last(p->r.pages, 0);
    if (st == STATUS_OK)
        st = revisit_store_open(&p->revisits, p->r.db);
    if (st == STATUS_OK)
        st = read_seed(p);
    p->links_fit = true;
    if (st == STATUS_OK) {
        *out = p;
        return STATUS_OK;
    }
    if (why->len == 0)
        buf_addf(why, "%s: %s", dir,
                 st == STATUS_NOT_FOUND ? "no crawl there" : status_text(st));
    past_crawl_close(p);
    return st;
}

void past_crawl_close(struct past_crawl *p)
{
    if (p == NULL)
        return;
    revisit_store_close(p->revisits);
    reader_close(&p->r);
    buf_fini(&p->text);
    free(p);
}

/* ---- the crawl as a whole ---- */

uint64_t past_crawl_urls(const struct past_crawl *p)
{
    return frontier_store_last_id(p->r.store);
}

const unsigned char *past_crawl_seed(const struct past_crawl *p)
{
    return p->seed;
}

enum status past_crawl_meta(struct past_crawl *p, const char *name,
                            struct buf *out)
{
    return frontier_store_meta(p->r.store, name, out);
}

bool past_crawl_has_links(const struct past_crawl *p)
{
    return link_store_recorded(p->r.links) != LINK_RECORD_NONE;
}

void past_crawl_set_links(struct past_crawl *p, bool may_use)
{
    p->links_fit = may_use;
}

/* As frontier_open_last does for the crawl's own fetches. */
enum status past_crawl_set_identity(struct past_crawl *p, struct bytes identity)
{
    int64_t seq = 0;
    enum status st = frontier_store_meta_time(p->r.store, "identity_seq", &seq);

    if (st == STATUS_OK)
        st = frontier_store_meta(p->r.store, "identity", &p->text);
    p->other_seq =
        st == STATUS_OK && !bytes_equal(buf_bytes(&p->text), identity)
            ? UINT64_MAX
            : (uint64_t)seq;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

bool past_crawl_is_of_another(const struct past_crawl *p)
{
    return p->other_seq == UINT64_MAX;
}

/* ---- its URLs ---- */

enum status past_crawl_find(struct past_crawl *p, struct digest digest,
                            struct bytes url, struct url_row *row)
{
    uint64_t id = 0;
    enum status st = exact_set_find(p->r.exact, &digest, 1, &id);

    if (st == STATUS_OK && id != 0)
        st = frontier_store_get(p->r.store, id, row, &p->text);
    if (st != STATUS_OK || id == 0 || !bytes_equal(row->url, url))
        row->id = 0;
    return st;
}

enum status past_crawl_url(struct past_crawl *p, uint64_t id, struct buf *text)
{
    int64_t found_at_ms;

    buf_clear(text);
    return frontier_store_get_url(p->r.store, id, text, &found_at_ms);
}

enum status past_crawl_root(struct past_crawl *p, struct digest digest,
                            struct bytes url)
{
    struct url_row row;
    enum status st = past_crawl_find(p, digest, url, &row);

    if (st == STATUS_OK && (row.id == 0 || row.depth != 0))
        p->links_fit = false;
    return st;
}

enum status past_crawl_last(struct past_crawl *p, uint64_t id,
                            void (*visit)(void *ctx,
                                          const struct fetch_row *row),
                            void *ctx)
{
    return page_store_last(p->r.pages, id, visit, ctx);
}

enum status past_crawl_may_ask(struct past_crawl *p,
                               const struct fetch_row *row, bool *may)
{
    struct link_range rows = {.partial = false};
    enum status st = STATUS_OK;

    *may = row->seq > p->other_seq &&
           (row->links == 0 ||
            (p->links_fit && (row->flags & FETCH_ROW_LIST) == 0));
    if (*may && row->links > 0)
        st = link_store_page(p->r.links, row->seq, &rows);
    if (st == STATUS_NOT_FOUND || (st == STATUS_OK && rows.partial))
        *may = false;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status past_crawl_record(struct past_crawl *p, const struct fetch_row *row,
                              struct record_name *out, struct buf *text)
{
    const struct recorded r = {p->r.store, p->r.pages, p->revisits};

    return recorded_find(&r, row, out, text);
}

enum status past_crawl_links(struct past_crawl *p, uint64_t seq,
                             void (*visit)(void *ctx,
                                           const struct link_row *row),
                             void *ctx)
{
    struct link_range rows;
    enum status st = link_store_page(p->r.links, seq, &rows);

    if (st == STATUS_NOT_FOUND || (st == STATUS_OK && rows.partial))
        return STATUS_OK;
    return st == STATUS_OK ? link_store_each_in(p->r.links, &rows, visit, ctx)
                           : st;
}
