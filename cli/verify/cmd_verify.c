/* SPDX-License-Identifier: MIT */
/*
 * cmd_verify.c - `urlweir verify`: do store, filter, WARC and manifest agree?
 *
 * Each check prints one line, "ok", "mend" (resume puts it right by itself) or
 * "BAD". With --repair the store, when it is sound in itself, is taken as the
 * truth. A store that is not sound is never repaired, but for its exact set and
 * the indexes of pages, which follow from its rows.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/crawl_command_line.h"
#include "cli/open_crawl.h"
#include "cli/shards/crawl_dirs.h"
#include "filter/checkpoint.h"
#include "frontier/audit/audit.h"
#include "frontier/reader.h"
#include "frontier/seen/seen_store.h"
#include "frontier/served/served.h"
#include "frontier/served/served_reader.h"
#include "job/exit_code.h"
#include "job/settings/settings.h"
#include "service/http/http_text.h"
#include "storage/rows/drop_log.h"
#include "storage/rows/path_log.h"
#include "storage/rows/served_log.h"
#include "storage/warc/warc.h"
#include "storage/warc/warc_reader.h"

/*
 * Does the store agree with itself and its manifest? Each
 * check prints its lines and counts them.
 */

struct verdicts {
    bool service; /* of a service, not of a crawl */
    unsigned bad, mend;
    unsigned records; /* of bad, those about WARC files */
    unsigned derived; /* of bad, those about what follows from other rows */
};

#define ARENA_MOST ((size_t)64 << 20)

/* Prints a line; `word`: "ok", "mend" or "BAD". */
static void verify_says(struct verdicts *v, const char *word, const char *fmt,
                        ...) PRINTF_LIKE(3, 4);

static void verify_says(struct verdicts *v, const char *word, const char *fmt,
                        ...)
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

static void verify_manifest(struct verdicts *v, struct reader *r)
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

static void verify_store(struct verdicts *v, struct reader *r)
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
static void verify_service(struct verdicts *v, struct reader *r)
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

static void verify_links(struct verdicts *v, struct reader *r)
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
static void verify_digests(struct verdicts *v, struct reader *r)
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

/*
 * Are the WARC files of a crawl whole, and do its rows agree?
 *
 * For `urlweir verify`. Reads every record of every file, including those that
 * no row names (requests, metadata, robots.txt). In a file that a crawl is
 * writing, or that a crash left open, reads up to the last record that a row
 * names. One thread.
 *
 * Rows come in the same order as their records, so one walk through a file
 * meets both. A row that is out of order is looked up by itself.
 */

struct warc_verdict {
    uint64_t rows;           /* that name a record */
    uint64_t bad;            /* rows without a whole record of that length */
    uint64_t bad_seq;        /* the first of them */
    uint64_t files, records; /* read, and whole */
    uint64_t damaged;        /* places in files that hold no record */
    char damaged_file[256];  /* the first of them, "warc/NAME.warc.gz" */
    uint64_t damaged_at;
    uint64_t open; /* files still with the suffix .open */
};

#define NAME_SIZE sizeof((struct warc_verdict){0}.damaged_file)

/* A file that was in DIR/warc when the check began. */
struct warc_file {
    char *name; /* as rows name it */
    bool finished, read;
};

struct check {
    const char *dir;
    struct warc_verdict *out;
    struct warc_file *files; /* sorted by name */
    size_t file_count;
    /* the file that is open */
    struct buf name;
    int fd;                 /* -1: none */
    struct warc_file *file; /* of the walk; NULL: only rows are looked up */
    struct warc_walk *walk;
    uint64_t offset, length; /* of the current record of the walk */
    bool ended;
};

/* ---- the list of files ---- */

static int by_name(const void *a, const void *b)
{
    const struct warc_file *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* Skips names that are too long for a row. */
static void add_file(struct check *c, const char *name)
{
    struct bytes s = bytes_of_str(name);
    bool finished = bytes_ends_with(s, ".warc.gz");
    char text[NAME_SIZE];

    if (!finished && !bytes_ends_with(s, ".warc.gz.open"))
        return;
    c->out->open += !finished;
    s.len -= finished ? 0 : strlen(".open");
    if (snprintf(text, sizeof text, "warc/%.*s", (int)s.len, s.at) >=
        (int)sizeof text)
        return;
    c->files = xrealloc(c->files, (c->file_count + 1) * sizeof *c->files);
    c->files[c->file_count++] =
        (struct warc_file){.name = xstrdup(text), .finished = finished};
}

static enum status list_files(struct check *c, const struct reader *r)
{
    char *path = reader_path(r, "warc");
    DIR *d = opendir(path);
    enum status st = STATUS_OK;
    struct dirent *e;

    if (d == NULL && errno != ENOENT)
        st = status_of_errno(errno);
    while (d != NULL && (e = readdir(d)) != NULL)
        add_file(c, e->d_name);
    if (d != NULL)
        closedir(d);
    free(path);
    if (c->file_count > 0)
        qsort(c->files, c->file_count, sizeof *c->files, by_name);
    return st;
}

/* ---- the walk through one of them ---- */

static void tell_damage(struct check *c, const char *name, uint64_t at)
{
    if (c->out->damaged++ > 0)
        return;
    snprintf(c->out->damaged_file, sizeof c->out->damaged_file, "%s", name);
    c->out->damaged_at = at;
}

static void step(struct check *c)
{
    struct warc_found found;
    uint64_t end;
    enum status st = warc_walk_next(c->walk, &found, &end);

    if (found.offset > end || (st != STATUS_OK && st != STATUS_NOT_FOUND))
        tell_damage(c, c->file->name, end);
    c->ended = st != STATUS_OK;
    c->offset = found.offset;
    c->length = found.length;
    c->out->records += st == STATUS_OK;
}

static void begin_walk(struct check *c, struct warc_file *file)
{
    c->file = file;
    c->file->read = true;
    c->walk = warc_walk_new(c->fd);
    c->out->files++;
    step(c);
}

static void close_file(struct check *c)
{
    while (c->file != NULL && c->file->finished && !c->ended)
        step(c);
    warc_walk_free(c->walk);
    if (c->fd >= 0)
        close(c->fd);
    c->file = NULL;
    c->walk = NULL;
    c->fd = -1;
}

static bool open_file(struct check *c, struct bytes name)
{
    struct warc_file key, *file = NULL;

    if (c->fd >= 0 && bytes_equal(name, buf_bytes(&c->name)))
        return true;
    close_file(c);
    c->fd = warc_open_named(c->dir, name);
    if (c->fd < 0)
        return false;
    buf_clear(&c->name);
    buf_add_bytes(&c->name, name);
    key.name = (char *)buf_str(&c->name);
    if (c->file_count > 0)
        file = bsearch(&key, c->files, c->file_count, sizeof key, by_name);
    if (file != NULL && !file->read)
        begin_walk(c, file);
    return true;
}

/* Reads all finished files that no row named. */
static void read_others(struct check *c)
{
    for (size_t i = 0; i < c->file_count; i++) {
        struct warc_file *f = &c->files[i];

        if (f->finished && !f->read && !open_file(c, bytes_of_str(f->name)))
            tell_damage(c, f->name, 0);
    }
    close_file(c);
}

/* ---- rows ---- */

static bool look_up(const struct check *c, const struct fetch_row *row)
{
    struct warc_reader *records = warc_reader_new(c->fd);
    struct warc_found found;
    bool whole;

    warc_reader_seek(records, row->warc_offset);
    whole = warc_reader_next(records, &found) == STATUS_OK &&
            found.length == row->warc_length;
    warc_reader_free(records);
    return whole;
}

static bool is_whole(struct check *c, const struct fetch_row *row)
{
    if (!open_file(c, row->warc_file))
        return false;
    if (c->file == NULL || row->warc_offset < c->offset)
        return look_up(c, row);
    while (!c->ended && c->offset < row->warc_offset)
        step(c);
    return !c->ended && c->offset == row->warc_offset &&
           c->length == row->warc_length;
}

static bool check_row(void *ctx, const struct fetch_row *row)
{
    struct check *c = ctx;

    if (row->warc_file.len == 0)
        return true;
    c->out->rows++;
    if (!is_whole(c, row) && c->out->bad++ == 0)
        c->out->bad_seq = row->seq;
    return true;
}

static enum status verify_warc(struct reader *r, struct warc_verdict *out)
{
    struct check c = {.dir = r->dir, .out = out, .fd = -1};
    enum status st;

    *out = (struct warc_verdict){0};
    buf_init(&c.name, 4096);
    st = list_files(&c, r);
    if (st == STATUS_OK)
        st = page_store_each(r->pages, 0, check_row, &c);
    if (st == STATUS_OK)
        read_others(&c);
    close_file(&c);
    for (size_t i = 0; i < c.file_count; i++)
        free(c.files[i].name);
    free(c.files);
    buf_fini(&c.name);
    return st;
}

/* ---- believes the rows of a store ---- */

#define MEMORY ((uint64_t)256 << 20)

static enum status make_exact_set(struct reader *r)
{
    uint64_t urls;
    enum status st = reindex(r->dir, MEMORY, &urls);

    if (st == STATUS_OK)
        printf("repaired: the exact set was made anew from %" PRIu64 " rows\n",
               urls);
    return st;
}

static enum status write_manifest(struct reader *r)
{
    struct manifest m = r->manifest;
    char *path = reader_path(r, "manifest");
    struct buf id;
    enum status st;

    buf_init(&id, 64);
    if (r->manifest_status != STATUS_OK)
        m = (struct manifest){.generation = 0};
    st = frontier_store_meta(r->store, "store_id", &id);
    m.generation++;
    m.urls = frontier_store_last_id(r->store);
    m.fetches = page_store_last_seq(r->pages);
    m.written_at_ms = clock_wall_ms();
    m.clean = false;
    snprintf(m.store_id, sizeof m.store_id, "%s", buf_str(&id));
    snprintf(m.state, sizeof m.state, "stopped");
    if (st == STATUS_OK)
        st = manifest_save(path, &m);
    buf_fini(&id);
    free(path);
    return st;
}

static enum status remove_filter(struct reader *r)
{
    char *path = reader_path(r, "filter.ckpt");
    bool there = unlink(path) != 0 && access(path, F_OK) == 0;

    free(path);
    return there ? STATUS_IO : STATUS_OK;
}

/* Writes the manifest from the store and removes the filter's file, to be
 * rebuilt; with `exact_set` fills that anew first. Prints what it did.
 * Returns the command's exit status. */
static int verify_repair(struct reader *r, bool service, bool exact_set)
{
    struct file_lock *lock = NULL;
    char *path = reader_path(r, "lock");
    enum status st = file_lock_take(&lock, path, "verify", NULL);

    free(path);
    if (st == STATUS_OK && exact_set)
        st = make_exact_set(r);
    if (st == STATUS_OK)
        st = remove_filter(r);
    if (st == STATUS_OK)
        st = write_manifest(r);
    file_lock_free(lock);
    if (st == STATUS_OK)
        printf("repaired: the manifest was written anew from the store, the "
               "filter will be rebuilt; go on with `urlweir %s %s`\n",
               service ? "serve" : "resume", r->dir);
    else
        fprintf(stderr, "urlweir verify: cannot repair %s: %s\n", r->dir,
                status_text(st));
    return st == STATUS_OK ? EXIT_DONE : EXIT_DAMAGED;
}

struct verify_settings {
    bool repair;
    uint8_t from[1];
};

#define AT(f) .at = offsetof(struct verify_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "repair", .type = OPTION_FLAG, AT(repair), .section = "Repair",
     .help = "accept the store as it is: write the manifest anew and have the "
             "filter and a damaged exact set rebuilt"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct verify_settings);

/* A damaged filter unit costs one segment, which resume rebuilds. */
static void verify_filter_units(struct verdicts *v, struct reader *r)
{
    char *path = reader_path(r, "filter.ckpt");
    struct checkpoint_info info;
    struct filter *f = NULL;

    if (checkpoint_load(&f, path, checkpoint_seed_print(&r->key), NULL, 0,
                        &info) == STATUS_OK &&
        info.damaged > 0)
        verify_says(v, "mend",
                    "filter.ckpt: %" PRIu64 " of %" PRIu64
                    " units damaged; they are rebuilt",
                    info.damaged, info.units);
    filter_free(f);
    free(path);
}

/* Prints nothing for a crawl that records nothing. */
static void verify_records(struct verdicts *v, struct reader *r)
{
    struct warc_verdict w;
    unsigned before = v->bad;

    if (verify_warc(r, &w) != STATUS_OK)
        verify_says(v, "BAD", "warc: the files or their rows cannot be read");
    if (w.bad > 0)
        verify_says(
            v, "BAD",
            "warc: %" PRIu64 " of %" PRIu64
            " rows point at no whole record, the first is fetch %" PRIu64,
            w.bad, w.rows, w.bad_seq);
    if (w.damaged > 0)
        verify_says(v, "BAD",
                    "warc: no whole record at octet %" PRIu64
                    " of %s, one of %" PRIu64 " damaged places",
                    w.damaged_at, w.damaged_file, w.damaged);
    if (v->bad == before && w.files > 0)
        verify_says(v, "ok",
                    "warc: %" PRIu64
                    " rows, each points at a whole record; all %" PRIu64
                    " records of %" PRIu64 " files are whole",
                    w.rows, w.records, w.files);
    v->records = v->bad - before;
    if (w.open > 0 && r->holder == 0)
        verify_says(v, "mend",
                    "warc: a file was not finished; resume does that");
}

/* `unsound`: of v->bad, those about the store's own rows. */
static int conclude(struct reader *r, const struct verdicts *v,
                    unsigned unsound, bool want_repair)
{
    if (v->bad == 0 && v->mend == 0) {
        printf("all agree\n");
        return EXIT_DONE;
    }
    if (v->bad > 0 && v->bad == v->records) {
        printf("damaged: records are missing from the WARC files; the crawl "
               "itself is intact and can be resumed\n");
        return EXIT_DAMAGED;
    }
    if (want_repair && unsound == 0 && r->holder == 0)
        return verify_repair(r, v->service, v->derived > 0);
    if (want_repair)
        fprintf(stderr, "urlweir verify: %s\n",
                r->holder != 0 ? "its process is running; stop it first"
                               : "the store itself is damaged: restore the "
                                 "directory from a copy");
    if (v->bad == 0) {
        printf("%s will repair it\n", v->service ? "serve" : "resume");
        return EXIT_LIMIT;
    }
    printf("damaged%s\n",
           unsound > 0 ? ""
           : v->derived == 0
               ? ": the store is intact; --repair accepts it as it is"
               : ": URLs and fetches are intact; --repair makes the exact set "
                 "anew from them");
    return EXIT_DAMAGED;
}

static int verify_dir(void *ctx, const struct crawl_dir *d)
{
    const struct verify_settings *s = ctx;
    struct verdicts v = {0};
    struct reader r;
    unsigned unsound;
    int code = EXIT_DONE;

    if (!open_crawl(&r, "verify", d->path, &code))
        return code;
    if (d->is_shard)
        printf("shard %" PRIu32 ":\n", d->shard);
    v.service = is_service(&r);
    verify_store(&v, &r);
    if (v.service)
        verify_service(&v, &r);
    verify_links(&v, &r);
    unsound = v.bad - v.derived;
    if (!d->is_shard) /* its files are where it was fetched */
        verify_records(&v, &r);
    verify_manifest(&v, &r);
    verify_digests(&v, &r);
    verify_filter_units(&v, &r);
    code = conclude(&r, &v, unsound, s->repair);
    reader_close(&r);
    return code;
}

static int verify_run(const struct usage *u, void *settings,
                      const struct option_list *operands)
{
    const struct verify_settings *s = settings;

    if (s->repair && crawl_dirs_are_shards(operands->item[0]))
        return usage_error(u, "--repair is for a directory; shards in Kafka "
                              "are read from there again");
    return crawl_dirs_each(u->name, operands->item[0], bytes_of("", 0),
                           verify_dir, settings);
}

const struct usage verify_usage = {
    .name = "verify",
    .synopsis = "verify DIR|kafka://HOST/NAME [--repair]",
    .about = "Checks that store, WARC files, filter file and manifest of a "
             "crawl, or of a service, agree. Exit status: 0 all agree, 3 the "
             "next resume (or serve) will repair it, 6 damaged.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = "a directory of crawl or serve, or the URL of a crawl in Kafka",
    .run = verify_run,
};
