/* SPDX-License-Identifier: MIT */
/*
 * reader.c - a crawl's directory opened for reading.
 *
 * The newest digests are not in the exact set's pages yet; they are replayed
 * from the url rows, as the crawl itself does after a crash.
 */
#include "frontier/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/seen/seen_store.h"

#define MIB           ((uint64_t)1 << 20)
#define READER_MEMORY (112 * MIB)

char *reader_path(const struct reader *r, const char *name)
{
    size_t size = strlen(r->dir) + strlen(name) + 2;
    char *path = xmalloc(size);

    snprintf(path, size, "%s/%s", r->dir, name);
    return path;
}

struct digest reader_digest(struct reader *r, const struct url_row *row)
{
    return row_digest(&r->key, r->store, row);
}

/* The manifest is the last file that is made. */
static bool reader_may_be_new(const struct reader *r)
{
    return r->holder != 0 && r->manifest_status == STATUS_NOT_FOUND;
}

static void replay(void *ctx, const struct url_row *row)
{
    struct reader *r = ctx;

    row_to_exact_set(r->exact, reader_digest(r, row), row->id,
                     row_replaces(row));
}

/* Its maker has put the empty store in place, and not committed to it yet. */
static enum status check_made(struct reader *r)
{
    struct buf seed;
    enum status st = STATUS_OK;

    buf_init(&seed, DIGEST_SEED_SIZE);
    if (reader_may_be_new(r))
        st = frontier_store_meta(r->store, "digest_seed", &seed);
    buf_fini(&seed);
    return st == STATUS_NOT_FOUND ? STATUS_BUSY : st;
}

static enum status open_parts(struct reader *r, uint64_t memory)
{
    struct db_options dbo = {.cache_bytes = memory / 7};
    struct exact_set_options eo = {.block_cache_bytes = memory / 7 * 2};
    struct frontier_store_options so = {.memory_bytes = memory / 7 * 4};
    char *path = reader_path(r, "frontier.db");
    enum status st = db_open(&r->db, path, DB_READ, &dbo);

    free(path);
    if (st == STATUS_OK)
        st = db_begin(r->db); /* one snapshot for everything after this */
    if (st == STATUS_OK)
        st = exact_set_open(&r->exact, r->db, &eo);
    if (st == STATUS_OK)
        st = page_store_open(&r->pages, r->db);
    if (st == STATUS_OK)
        st = link_store_open(&r->links, r->db);
    if (st == STATUS_OK)
        st = frontier_store_open(&r->store, r->db, &so, 0, NULL, NULL);
    if (st == STATUS_OK)
        st = exact_set_check_upto(r->exact, frontier_store_last_id(r->store));
    if (st == STATUS_OK)
        st = check_made(r);
    if (st == STATUS_OK)
        st = row_digest_read_key(&r->key, r->store, r->dir);
    if (st == STATUS_OK)
        st = frontier_store_each(r->store, exact_set_upto(r->exact) + 1,
                                 frontier_store_last_id(r->store), replay, r);
    return st;
}

enum status reader_open(struct reader *r, const char *dir)
{
    return reader_open_within(r, dir, READER_MEMORY);
}

enum status reader_open_within(struct reader *r, const char *dir,
                               uint64_t memory)
{
    char *manifest, *lock;
    enum status st;

    *r = (struct reader){.dir = xstrdup(dir)};
    manifest = reader_path(r, "manifest");
    lock = reader_path(r, "lock");
    r->manifest_status = manifest_load(manifest, &r->manifest);
    if (file_lock_holder(lock, &r->holder) != STATUS_OK)
        r->holder = 0;
    free(manifest);
    free(lock);
    st = open_parts(r, memory);
    if (st == STATUS_NOT_FOUND && r->manifest_status == STATUS_OK) {
        log_error("the store is missing", "dir=%s", dir);
        st = STATUS_DAMAGED;
    }
    if (st == STATUS_NOT_FOUND && reader_may_be_new(r))
        st = STATUS_BUSY;
    if (st != STATUS_OK)
        reader_close(r);
    return st;
}

/* If the mark is missing because an older copy was restored, the store is
 * damaged; we recognise that by the manifest. */
static bool manifest_is_empty(const struct reader *r)
{
    char *path = reader_path(r, "manifest");
    struct manifest m;
    enum status st = manifest_load(path, &m);

    free(path);
    return st == STATUS_NOT_FOUND ||
           (st == STATUS_OK && m.urls == 0 && m.fetches == 0);
}

bool reader_is_unbegun(const char *dir)
{
    struct db_options o = {.cache_bytes = 1 * MIB};
    struct reader r = {.dir = xstrdup(dir)};
    char *path = reader_path(&r, "frontier.db");
    int64_t marks = 1;

    if (access(path, F_OK) == 0 && manifest_is_empty(&r) &&
        db_open(&r.db, path, DB_READ, &o) == STATUS_OK &&
        db_number(r.db,
                  "SELECT (SELECT count(*) FROM meta WHERE name ="
                  " 'seeds_complete') + EXISTS(SELECT 1 FROM fetch)",
                  &marks) != STATUS_OK)
        marks = 1;
    free(path);
    reader_close(&r);
    return marks == 0;
}

void reader_close(struct reader *r)
{
    exact_set_close(r->exact);
    page_store_close(r->pages);
    link_store_close(r->links);
    frontier_store_close(r->store);
    if (r->db != NULL)
        db_rollback(r->db);
    db_close(r->db);
    free(r->newest);
    free(r->dir);
    *r = (struct reader){.dir = NULL};
}

/* The id in the queue of that key. If the digest belongs to another URL, tries
 * the next salt, as admission did. */
static enum status find_under(struct reader *r, struct bytes key,
                              struct bytes url, struct buf *text, uint64_t *id)
{
    struct url_row row = {.id = 0};
    enum status st = STATUS_OK;

    for (uint8_t salt = 0; st == STATUS_OK && salt <= URL_ROW_SALT_MOST;
         salt++) {
        struct digest d =
            digest_url_salted(&r->key, bytes_of_str(CRAWL_ID), key, url, salt);

        st = exact_set_find(r->exact, &d, 1, id);
        if (st == STATUS_OK && *id != 0)
            st = frontier_store_get(r->store, *id, &row, text);
        if (st != STATUS_OK || *id == 0 || bytes_equal(row.url, url))
            return st;
        *id = 0;
    }
    return st;
}

enum status reader_find(struct reader *r, const struct url *u, uint64_t *id)
{
    struct buf text;
    enum status st;

    *id = 0;
    buf_init(&text, URL_LENGTH_CEILING + 64);
    st = find_under(r, url_host(u), url_text(u), &text, id);
    buf_fini(&text);
    return st;
}

enum status reader_is_replaced(struct reader *r, const struct url_row *row,
                               bool *is)
{
    uint64_t id = row->id;
    enum status st = STATUS_OK;

    if (frontier_store_counter(r->store, "readmitted") > 0) {
        struct digest d = reader_digest(r, row);

        st = exact_set_find(r->exact, &d, 1, &id);
    }
    *is = id != row->id;
    return st;
}

/* ---- what URLs are now ---- */

#define FINALS 1024 /* read at a time */

struct finding {
    struct reader *r;
    unsigned char *met; /* a bit for each URL */
    uint64_t last, below;
    size_t n;
    enum status st;
};

static bool has_bit(const unsigned char *bits, uint64_t n)
{
    return (bits[n / 8] >> n % 8 & 1U) != 0;
}

static void set_bit(unsigned char *bits, uint64_t n)
{
    bits[n / 8] |= (unsigned char)(1U << n % 8);
}

static void meet_replaced(void *ctx, const struct url_row *row)
{
    struct finding *f = ctx;
    bool is = false;

    if (f->st == STATUS_OK)
        f->st = reader_is_replaced(f->r, row, &is);
    if (is)
        set_bit(f->met, row->id);
}

/* The last one comes first. */
static void meet_final(void *ctx, const struct final_fetch *row)
{
    struct finding *f = ctx;

    f->n++;
    f->below = row->seq;
    if (row->url > f->last || has_bit(f->met, row->url))
        return;
    set_bit(f->met, row->url);
    set_bit(f->r->newest, row->seq);
}

static enum status find_newest(struct finding *f)
{
    struct reader *r = f->r;
    enum status st = STATUS_OK;

    if (frontier_store_counter(r->store, "readmitted") > 0 && f->last > 0)
        st = frontier_store_each(r->store, 1, f->last, meet_replaced, f);
    if (st == STATUS_OK)
        st = f->st;
    do {
        f->n = 0;
        if (st == STATUS_OK)
            st = page_store_finals_before(r->pages, f->below, FINALS,
                                          meet_final, f);
    } while (st == STATUS_OK && f->n == FINALS);
    return st;
}

static bool is_of_now(void *ctx, uint64_t seq)
{
    const struct reader *r = ctx;

    return seq <= page_store_last_seq(r->pages) && has_bit(r->newest, seq);
}

enum status reader_find_newest(struct reader *r)
{
    const uint64_t seq = page_store_last_seq(r->pages);
    struct finding f = {.r = r,
                        .last = frontier_store_last_id(r->store),
                        .below = seq + 1};
    enum status st;

    if (r->newest != NULL ||
        (frontier_store_counter(r->store, "refreshed") == 0 &&
         frontier_store_counter(r->store, "readmitted") == 0))
        return STATUS_OK;
    r->newest = try_calloc(seq / 8 + 1, 1);
    f.met = try_calloc(f.last / 8 + 1, 1);
    st = r->newest != NULL && f.met != NULL ? find_newest(&f) : STATUS_NOMEM;
    free(f.met);
    return st == STATUS_OK ? link_store_leave_out(r->links, is_of_now, r) : st;
}

bool reader_is_newest(const struct reader *r, const struct fetch_row *row)
{
    return row->final && (r->newest == NULL || has_bit(r->newest, row->seq));
}

struct bytes reader_url(struct reader *r, uint64_t id, struct buf *text)
{
    struct url_row row;

    return id != 0 && frontier_store_get(r->store, id, &row, text) == STATUS_OK
               ? row.url
               : bytes_of(NULL, 0);
}

void reader_same_page(struct reader *r, struct url_record *f, struct buf *text)
{
    bool same = f->fetch.same_as != 0;
    uint64_t seq = same ? f->fetch.same_as : f->fetch.near_dup_of;
    uint64_t id = seq != 0 ? page_store_url_of(r->pages, seq) : 0;

    if (id != f->fetch.url)
        *(same ? &f->same_as : &f->near_dup_of) = reader_url(r, id, text);
}
