/* SPDX-License-Identifier: MIT */
/* verify_store.c - does the store agree with itself and its manifest? */
#include "cli/verify/verify_store.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/logger.h"
#include "cli/crawl_command_line.h"
#include "frontier/audit/audit.h"
#include "frontier/served/served.h"
#include "frontier/served/served_reader.h"
#include "job/settings/settings.h"
#include "service/http/http_text.h"
#include "storage/rows/drop_log.h"
#include "storage/rows/path_log.h"
#include "storage/rows/served_log.h"

#define ARENA_MOST ((size_t)64 << 20)

void verify_says(struct verdicts *v, const char *word, const char *fmt, ...)
{
    va_list ap;

    v->bad += strcmp(word, "BAD") == 0;
    v->mend += strcmp(word, "mend") == 0;
    printf("%-5s", word);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
}

static void bad_derived(struct verdicts *v, const char *says)
{
    verify_says(v, "BAD", "%s", says);
    v->derived++;
}

/* Does a process run the crawl that has not made its first checkpoint yet? */
static bool has_just_begun(const struct reader *r)
{
    return r->manifest_status == STATUS_NOT_FOUND && r->holder > 0 &&
           page_store_last_seq(r->pages) == 0;
}

void verify_manifest(struct verdicts *v, struct reader *r)
{
    const struct manifest *m = &r->manifest;
    uint64_t urls = frontier_store_last_id(r->store);
    uint64_t fetches = page_store_last_seq(r->pages);
    struct buf id;

    if (has_just_begun(r)) {
        verify_says(v, "ok",
                    "manifest: not written yet, the crawl has just "
                    "begun");
        return;
    }
    if (r->manifest_status != STATUS_OK) {
        verify_says(v, "BAD", "manifest: %s",
                    r->manifest_status == STATUS_NOT_FOUND
                        ? "missing"
                        : status_text(r->manifest_status));
        return;
    }
    buf_init(&id, 64);
    if (frontier_store_meta(r->store, "store_id", &id) != STATUS_OK ||
        !bytes_is(buf_bytes(&id), m->store_id))
        verify_says(v, "BAD", "manifest: of another crawl's store");
    else if (urls < m->urls || fetches < m->fetches)
        verify_says(v, "BAD",
                    "manifest: says %" PRIu64 " URLs and %" PRIu64
                    " fetches, the store has only %" PRIu64 " and %" PRIu64,
                    m->urls, m->fetches, urls, fetches);
    else
        verify_says(v, "ok",
                    "manifest: generation %" PRIu64 ", %" PRIu64
                    " URLs, %" PRIu64 " fetches; the store has %" PRIu64
                    " and %" PRIu64,
                    m->generation, m->urls, m->fetches, urls, fetches);
    buf_fini(&id);
}

static void verify_bodies(struct verdicts *v, struct reader *r)
{
    uint64_t bodies = 0;
    enum status st = page_store_verify_bodies(r->pages, &bodies);

    if (st != STATUS_OK)
        bad_derived(v, "bodies: their index does not agree with the fetches");
    else if (!v->service)
        verify_says(v, "ok",
                    "bodies: %" PRIu64 " distinct ones, each known again",
                    bodies);
}

static void verify_last(struct verdicts *v, struct reader *r)
{
    enum status st =
        page_store_verify_last(r->pages, frontier_store_last_id(r->store));

    if (st != STATUS_OK)
        verify_says(v, "BAD",
                    "last whole fetches: their index does not agree with the"
                    " fetches");
    else
        verify_says(v, "ok", "last whole fetches: each URL has its own");
}

static void verify_near(struct verdicts *v, struct reader *r)
{
    uint64_t prints = 0;
    enum status st = page_store_verify_near(r->pages, &prints);

    if (st != STATUS_OK)
        bad_derived(
            v, "fingerprints: their index does not agree with the fetches");
    else if (!v->service)
        verify_says(v, "ok",
                    "fingerprints: %" PRIu64 " of texts, each found again",
                    prints);
}

static enum status read_drops(struct reader *r, uint64_t *count)
{
    struct drop_log *l = NULL;
    enum status st = drop_log_open(&l, r->db);

    if (st == STATUS_OK)
        st = drop_log_verify(l);
    if (st == STATUS_OK)
        *count = drop_log_count(l);
    drop_log_close(l);
    return st;
}

static void visit_path(void *ctx, uint64_t from, enum path_step step,
                       uint64_t to)
{
    uint64_t *most = ctx;

    (void)step;
    *most = from > *most ? from : *most;
    *most = to > *most ? to : *most;
}

/* Checks that no path names a URL that does not exist. */
static enum status read_paths(struct reader *r)
{
    struct path_log *l = NULL;
    uint64_t at = 0, most = 0;
    enum status st = path_log_open(&l, r->db);

    while (st == STATUS_OK)
        st = path_log_each(l, &at, 1000, visit_path, &most);
    path_log_close(l);
    if (st != STATUS_NOT_FOUND)
        return st;
    return most <= frontier_store_last_id(r->store) ? STATUS_OK
                                                    : STATUS_DAMAGED;
}

static void verify_drops(struct verdicts *v, struct reader *r)
{
    uint64_t count = 0;

    if (v->service)
        return;
    if (read_drops(r, &count) == STATUS_OK && read_paths(r) == STATUS_OK)
        verify_says(v, "ok", "drops: %" PRIu64 " kept, and the paths to URLs",
                    count);
    else
        verify_says(v, "BAD", "drops: what is kept of them cannot be read");
}

void verify_store(struct verdicts *v, struct reader *r)
{
    uint64_t put = 0;

    if (db_verify(r->db) == STATUS_OK)
        verify_says(v, "ok", "frontier.db: SQLite finds no damage");
    else
        verify_says(v, "BAD", "frontier.db: SQLite finds damage");
    if (served_log_verify(r->db, &put) != STATUS_OK)
        verify_says(v, "BAD",
                    "put URLs: updates, leases and rows do not agree");
    else if (put > 0)
        verify_says(v, "ok",
                    "put URLs: %" PRIu64
                    ", each update and lease is of one of them",
                    put);
    if (frontier_store_verify(r->store) != STATUS_OK)
        verify_says(v, "BAD",
                    "queues: rows, queues and done marks do not agree");
    else if (!v->service) /* a service queues in tables of its own, see below */
        verify_says(v, "ok",
                    "queues: %" PRIu64 " URLs queued, each once; %" PRIu64
                    " done",
                    frontier_store_pending_all(r->store),
                    frontier_store_last_id(r->store) - put -
                        frontier_store_pending_all(r->store));
    verify_drops(v, r);
    if (exact_set_verify(r->exact) == STATUS_OK)
        verify_says(v, "ok", "exact set: %" PRIu64 " digests in order",
                    exact_set_stats(r->exact).count);
    else
        bad_derived(v, "exact set: rows do not agree with their index");
    verify_bodies(v, r);
    verify_near(v, r);
    verify_last(v, r);
}

/* False: the latest metadata of some URL cannot be read; that was logged. */
static bool metadata_reads(struct reader *r, const struct served_reader *served)
{
    struct arena *arena = arena_new(ARENA_MOST);
    struct buf metadata;
    uint64_t id = 1, last = frontier_store_last_id(r->store);
    bool good = true;

    buf_init(&metadata, SERVED_BYTES_MOST);
    for (; good && id <= last; id++) {
        buf_clear(&metadata);
        arena_reset(arena);
        good = served_reader_metadata(served, id, &metadata) == STATUS_OK &&
               http_metadata_reads(buf_bytes(&metadata), arena);
        if (!good)
            log_error("metadata cannot be read", "url=%" PRIu64, id);
    }
    buf_fini(&metadata);
    arena_free(arena);
    return good;
}

/* Checks what a service keeps of its URLs; prints nothing for a crawl. */
void verify_service(struct verdicts *v, struct reader *r)
{
    struct served_reader *served = NULL;
    const struct served_reader_facts *f;

    if (served_reader_open(&served, r, clock_wall_ms()) != STATUS_OK ||
        served_reader_verify(served) != STATUS_OK ||
        !metadata_reads(r, served)) {
        verify_says(v, "BAD",
                    "service: rows, dates, queues or metadata of its URLs do "
                    "not agree");
    } else {
        f = served_reader_facts(served);
        verify_says(v, "ok",
                    "service: %" PRIu64 " URLs queued, %" PRIu64
                    " leased, %" PRIu64 " completed, %" PRIu64
                    " removed, in %" PRIu64 " queues",
                    f->urls.queued, f->urls.leased, f->urls.completed,
                    f->urls.removed, f->queues);
    }
    served_reader_close(served);
}

void verify_links(struct verdicts *v, struct reader *r)
{
    uint64_t count = 0;

    if (link_store_verify(r->links, frontier_store_last_id(r->store), &count) !=
        STATUS_OK)
        verify_says(v, "BAD", "links: a row names no URL");
    else if (link_store_recorded(r->links) != LINK_RECORD_NONE)
        verify_says(v, "ok",
                    "links: %" PRIu64 " recorded, each between two URLs",
                    count);
}

/* Returns "none" or "redis" if the crawl has no filter file because it runs
 * with that --filter; else NULL. */
static const char *goes_without_file(struct reader *r)
{
    char *argv[] = {(char *)"resume", r->dir, NULL};
    char *path = reader_path(r, "filter.ckpt");
    struct crawl_settings s, before;
    int code;
    const char *without = NULL;

    if (access(path, F_OK) != 0 &&
        settings_of_resume(&s, &before, 2, argv, &code)) {
        without = s.filter == FILTER_NONE    ? "none"
                  : s.filter == FILTER_REDIS ? "redis"
                                             : NULL;
        settings_fini(&s);
        settings_fini(&before);
    }
    free(path);
    return without;
}

/* Checks every row against the exact set and the filter file. */
void verify_digests(struct verdicts *v, struct reader *r)
{
    struct audit_options o = {.what_if = NULL};
    struct audit a;
    uint64_t urls = frontier_store_last_id(r->store);
    const char *without;

    if (audit_crawl(&a, r, &o) != STATUS_OK) {
        verify_says(v, "BAD", "digests: the rows cannot be read");
        return;
    }
    if (a.missing > 0 || a.exact_count != urls - a.replaced) {
        verify_says(v, "BAD",
                    "exact set: %" PRIu64 " of %" PRIu64
                    " URLs missing or under another id; it holds %" PRIu64,
                    a.missing, urls, a.exact_count);
        v->derived++;
    } else {
        verify_says(v, "ok", "exact set: holds every one of %" PRIu64 " URLs",
                    urls - a.replaced);
    }
    without = a.filter_checked || v->service ? NULL : goes_without_file(r);
    if (without != NULL)
        verify_says(v, "ok", "filter.ckpt: none, as --filter %s asks", without);
    else if (!a.filter_checked && has_just_begun(r))
        verify_says(v, "ok", "filter.ckpt: not written yet");
    else if (!a.filter_checked)
        verify_says(v, "mend",
                    "filter.ckpt: missing or unusable; it is rebuilt");
    else if (a.filter_covers > urls && r->holder > 0)
        verify_says(
            v, "ok",
            "filter.ckpt: written by a checkpoint after this check began");
    else if (a.filter_covers > urls)
        verify_says(v, "mend",
                    "filter.ckpt: runs ahead of the store; it is rebuilt");
    else if (a.false_negatives > 0)
        verify_says(v, "BAD", "filter.ckpt: %" PRIu64 " false negatives",
                    a.false_negatives);
    else
        verify_says(v, "ok",
                    "filter.ckpt: covers %" PRIu64
                    " URLs, no false negative; %" PRIu64
                    " newer ones are replayed",
                    a.filter_covers, urls - a.filter_covers);
    audit_fini(&a);
}
