/* SPDX-License-Identifier: MIT */
/*
 * dedupe.c - was this line seen before? For lists larger than memory.
 *
 *   IN_MEMORY --its share is full: merge all into pages--> ON_DISK
 *
 * In memory there are only the exact set's delta (a hash table) and a small hot
 * cache: a filter in front of it would cost more than it saves. Once there are
 * pages, memory is divided again between delta, page cache and hot cache. The
 * filter comes last, when as many pages have been read as the set has: building
 * it reads them all, which then at most doubles the cost, and a short run over
 * a large stored set never pays for it. A filter file, as a crawl has, would
 * have to be written and read whole in each run.
 */
#include <assert.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "filter/filter.h"
#include "frontier/dedupe/dedupe.h"
#include "storage/db/db_row.h"
#include "storage/db/packed.h"

/* Where the set is; it only moves from memory to disk. */
enum dedupe_phase {
    DEDUPE_IN_MEMORY, /* every digest in the exact set's delta, no pages */
    DEDUPE_ON_DISK    /* pages, with caches and perhaps a filter before them */
};

/* How `memory` is shared out, in octets, or in digests of the delta. */
struct dedupe_shares {
    uint64_t sqlite;
    uint64_t hot[2], pages[2], delta[2]; /* by phase */
    uint64_t filter;
};

/* A set that is kept: files, lock, and what the next commit writes. */
struct dedupe_state {
    char *dir;
    struct file_lock *lock;
    struct manifest manifest;
    sqlite3_stmt *put_batch, *put_meta;
    uint64_t committed;  /* count at the last commit */
    uint64_t dropped;    /* log rows up to this digest are deleted */
    int64_t manifest_at; /* monotonic; when it was last written */
    bool running;        /* the manifest says "running" */
    bool keep_log;
    unsigned char row[DEDUPE_BATCH * sizeof(struct digest)];
};

struct dedupe {
    enum dedupe_identity identity;
    enum dedupe_phase phase;
    struct dedupe_shares shares;
    struct digest_key key;
    unsigned char seed[DIGEST_SEED_SIZE];
    struct db *db;
    struct exact_set *exact;
    struct filter *filter; /* NULL until it pays (filter_pays) */
    struct seen *seen;
    struct dedupe_state *state; /* NULL: a scratch database */
    uint64_t count, before;
    struct digest sum;          /* of all digests, each half modulo 2^64 */
    uint64_t unstepped;         /* fresh digests since exact_set_step */
    uint64_t page_reads_before; /* by exact sets closed since */
    bool in_txn;
    enum seen_answer answers[DEDUPE_BATCH];
    struct digest fresh[DEDUPE_BATCH];
};

static inline void dedupe_sum_add(struct digest *sum, struct digest d)
{
    sum->hi += d.hi;
    sum->lo += d.lo;
}

/* ---- dedupe.c ---- */

/* ---- dedupe.c ---- */

/*
 * A set of digests that is kept between runs.
 *
 *   DIR/dedupe.db        table meta, the exact set's seenpart and seenpage, and
 *                        batch: digests in order of arrival, from the first one
 *                        that some part of the exact set has not in its pages
 *   DIR/dedupe.manifest  what the database must hold at least
 *   DIR/dedupe.lock      names the process that uses it
 *
 * Opening checks everything it can: a database behind its manifest, a gap in
 * the rows of digests, or a log (WAL) that is missing after a crash are damage.
 * Taking them for a smaller set would print lines again.
 */
#define FORMAT         1
#define DIGEST_SIZE    16
#define MANIFEST_EVERY (10 * NS_PER_S)
/* After a clean end at most this many digests need to be replayed, or an eighth
 * of the set, whichever is more. */
#define REPLAY_MOST UINT64_C(500000)

static const char *const schema[] = {
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE batch(first INTEGER PRIMARY KEY, digests BLOB);"
    "CREATE TABLE seenpart(part INTEGER PRIMARY KEY, upto INTEGER,"
    " count INTEGER, fences BLOB);"
    "CREATE TABLE seenpage(id INTEGER PRIMARY KEY, entries BLOB);",
    NULL};

static const struct db_kind kind = {
    .what = "set of urlweir dedupe",
    .application_id = DEDUPE_APPLICATION_ID,
    .format = FORMAT,
    .sql = schema,
};

static char *path_in(const struct dedupe_state *s, const char *name)
{
    size_t size = strlen(s->dir) + strlen(name) + 2;
    char *path = xmalloc(size);

    snprintf(path, size, "%s/%s", s->dir, name);
    return path;
}

static bool is_there(const struct dedupe_state *s, const char *name)
{
    char *path = path_in(s, name);
    uint64_t size;
    bool there = file_size(path, &size) == STATUS_OK;

    free(path);
    return there;
}

static enum status damaged(const struct dedupe_state *s, const char *why)
{
    log_error("the set is damaged", "dir=%s reason=\"%s\"", s->dir, why);
    return STATUS_DAMAGED;
}

/* ---- rows of meta ---- */

static enum status put_meta(struct dedupe_state *s, struct db *db,
                            const char *name, const void *octets, size_t len)
{
    assert(s != NULL); /* a set that is in memory alone has no rows */
    sqlite3_bind_text(s->put_meta, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_blob(s->put_meta, 2, octets, (int)len, SQLITE_STATIC);
    return db_run(db, s->put_meta);
}

static enum status get_meta(struct db *db, const char *name, char *to,
                            size_t size, size_t *len)
{
    sqlite3_stmt *q = NULL;
    enum status st =
        db_prepare(db, &q, "SELECT value FROM meta WHERE name = ?");

    if (st == STATUS_OK)
        sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
    if (st == STATUS_OK)
        st = db_step(db, q);
    if (st == STATUS_OK) {
        struct bytes v = db_column(q, 0);

        if (v.len <= size) {
            if (v.len > 0)
                memcpy(to, v.at, v.len);
            *len = v.len;
        } else {
            st = STATUS_DAMAGED;
        }
    }
    sqlite3_finalize(q);
    return st;
}

/* Reads a value of exactly `size` octets. */
static enum status get_meta_whole(struct dedupe *d, const char *name, void *to,
                                  size_t size)
{
    size_t len = 0;
    enum status st = get_meta(d->db, name, to, size, &len);

    if (st == STATUS_NOT_FOUND || st == STATUS_DAMAGED ||
        (st == STATUS_OK && len != size)) {
        log_error("the set is damaged", "dir=%s table=meta name=%s",
                  d->state->dir, name);
        st = STATUS_DAMAGED;
    }
    return st;
}

/* Writes count and sum as `standing`: 8 octets and 16, big-endian. */
static enum status put_standing(struct dedupe *d)
{
    unsigned char v[24];

    packed_put(v, d->count, 8);
    packed_put(v + 8, d->sum.hi, 8);
    packed_put(v + 16, d->sum.lo, 8);
    return put_meta(d->state, d->db, "standing", v, sizeof v);
}

static enum status get_standing(struct dedupe *d)
{
    unsigned char v[24];
    enum status st = get_meta_whole(d, "standing", v, sizeof v);

    if (st != STATUS_OK)
        return st;
    d->count = packed_get(v, 8);
    if (d->count > DB_ID_MOST)
        return damaged(d->state, "it holds more digests than it can");
    d->sum = (struct digest){packed_get(v + 8, 8), packed_get(v + 16, 8)};
    d->state->committed = d->count;
    return STATUS_OK;
}

/* ---- identity ---- */

static void identity_text(char out[48], enum dedupe_identity identity)
{
    if (identity == DEDUPE_OCTETS)
        snprintf(out, 48, "octets");
    else
        snprintf(out, 48, "canonical/%d", URL_CANONICAL_FORM);
}

static enum status check_identity(struct dedupe *d, struct dedupe_refusal *why)
{
    size_t len = 0;
    enum status st;

    identity_text(why->asked, d->identity);
    st = get_meta(d->db, "identity", why->kept, sizeof why->kept - 1, &len);
    if (st == STATUS_NOT_FOUND || st == STATUS_DAMAGED)
        return damaged(d->state, "it does not say how lines are told apart");
    if (st != STATUS_OK)
        return st;
    why->kept[len] = '\0';
    return strcmp(why->kept, why->asked) == 0 ? STATUS_OK : STATUS_ARG;
}

/* ---- the manifest ---- */

static enum status write_manifest(struct dedupe *d, const char *word,
                                  bool clean)
{
    struct dedupe_state *s = d->state;
    char *path = path_in(s, "dedupe.manifest");
    enum status st;

    s->manifest.urls = s->committed;
    s->manifest.clean = clean;
    s->manifest.written_at_ms = clock_wall_ms();
    snprintf(s->manifest.state, sizeof s->manifest.state, "%s", word);
    st = manifest_save(path, &s->manifest);
    s->manifest_at = clock_mono();
    free(path);
    return st;
}

/* Checks files before the database is opened, since opening creates a log. */
static enum status check_files(struct dedupe_state *s, bool *fresh)
{
    char *path = path_in(s, "dedupe.manifest");
    enum status st = manifest_load(path, &s->manifest);
    bool db = is_there(s, "dedupe.db"), wal = is_there(s, "dedupe.db-wal");

    free(path);
    *fresh = !db;
    if (st == STATUS_NOT_FOUND) /* new, or a crash interrupted its making */
        return STATUS_OK;
    if (st == STATUS_FORMAT || st == STATUS_DAMAGED)
        return damaged(s, "dedupe.manifest cannot be read");
    if (st != STATUS_OK)
        return st;
    if (!db)
        return damaged(s, "dedupe.db is missing");
    if (strcmp(s->manifest.state, "running") == 0 && !wal)
        return damaged(s, "dedupe.db-wal is missing after a crash");
    return STATUS_OK;
}

static enum status check_manifest(struct dedupe *d)
{
    struct dedupe_state *s = d->state;
    char id[sizeof s->manifest.store_id] = "";
    enum status st = get_meta_whole(d, "store_id", id, sizeof id - 1);

    if (st != STATUS_OK)
        return st;
    if (s->manifest.generation == 0) { /* new set */
        if (d->count > 0)
            return damaged(s, "dedupe.manifest is missing");
        memcpy(s->manifest.store_id, id, sizeof id);
    } else if (strcmp(id, s->manifest.store_id) != 0) {
        return damaged(s, "dedupe.db is not the one of dedupe.manifest");
    } else if (d->count < s->manifest.urls) {
        return damaged(s, "dedupe.db is behind dedupe.manifest");
    }
    s->manifest.generation++;
    return STATUS_OK;
}

/* ---- the rows that a crash is recovered from ---- */

/* Inside a transaction: writes the row that recovery after a crash reads. */
static enum status dedupe_state_log(struct dedupe *d,
                                    const struct digest *fresh, size_t n)
{
    struct dedupe_state *s = d->state;
    enum status st = STATUS_OK;

    if (!d->in_txn)
        st = db_begin(d->db);
    if (st != STATUS_OK)
        return st;
    d->in_txn = true;
    for (size_t i = 0; i < n; i++) {
        packed_put(s->row + i * DIGEST_SIZE, fresh[i].hi, 8);
        packed_put(s->row + i * DIGEST_SIZE + 8, fresh[i].lo, 8);
    }
    sqlite3_bind_int64(s->put_batch, 1, (int64_t)d->count + 1);
    sqlite3_bind_blob(s->put_batch, 2, s->row, (int)(n * DIGEST_SIZE),
                      SQLITE_STATIC);
    return db_run(d->db, s->put_batch);
}

/* Deletes rows whose digests are all in pages, when there are many. */
static enum status drop_rows(struct dedupe *d, bool all)
{
    struct dedupe_state *s = d->state;
    uint64_t upto = exact_set_upto(d->exact);
    char sql[128];

    if (upto == s->dropped || (!all && upto - s->dropped < d->count / 16))
        return STATUS_OK;
    s->dropped = upto;
    snprintf(sql, sizeof sql,
             "DELETE FROM batch WHERE first - 1 + length(digests) / %d <= %llu",
             DIGEST_SIZE, (unsigned long long)upto);
    return db_exec(d->db, sql);
}

/* Ends the transaction. */
static enum status dedupe_state_commit(struct dedupe *d)
{
    struct dedupe_state *s = d->state;
    enum status st = put_standing(d);

    if (st == STATUS_OK)
        st = drop_rows(d, false);
    if (st == STATUS_OK)
        st = db_commit(d->db);
    if (st != STATUS_OK)
        return st;
    d->in_txn = false;
    s->committed = d->count;
    if (clock_mono() - s->manifest_at > MANIFEST_EVERY)
        st = write_manifest(d, "running", false);
    return st;
}

/* ---- opening ---- */

/* Reads the row with digest number `id` into state->row. STATUS_NOT_FOUND:
 * there is none. */
static enum status read_row(struct dedupe *d, sqlite3_stmt *q, uint64_t id,
                            uint64_t *first, size_t *n)
{
    struct dedupe_state *s = d->state;
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)id);
    st = db_step(d->db, q);
    if (st == STATUS_OK) {
        struct bytes v = db_column(q, 1);
        struct db_row r = db_row(q);

        *first = (uint64_t)db_row_number(&r, 0, 1, (int64_t)DB_ID_MOST);
        *n = v.len / DIGEST_SIZE;
        if (db_row_check(&r, "batch") != STATUS_OK)
            st = damaged(s, "a row of batch has a number out of bounds");
        else if (*n == 0 || v.len % DIGEST_SIZE != 0 || v.len > sizeof s->row)
            st = damaged(s, "a row of batch has a wrong length");
        else if (*first + *n <= id)
            st = STATUS_NOT_FOUND;
        else
            memcpy(s->row, v.at, v.len);
    }
    sqlite3_reset(q);
    return st;
}

static void add_row(struct dedupe *d, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned char *at = d->state->row + i * DIGEST_SIZE;
        struct digest digest = {packed_get(at, 8), packed_get(at + 8, 8)};

        exact_set_add(d->exact, digest, first + i);
    }
    d->unstepped += n;
}

static enum status dedupe_step(struct dedupe *d);

static enum status replay_row(struct dedupe *d, uint64_t first, size_t n)
{
    enum status st;

    add_row(d, first, n);
    if (d->phase == DEDUPE_IN_MEMORY)
        return STATUS_OK;
    st = db_begin(d->db);
    if (st == STATUS_OK)
        st = dedupe_step(d);
    return st == STATUS_OK ? db_commit(d->db) : st;
}

/* Replays from the first digest that some part lacks to the last, and checks
 * that there is no gap. */
static enum status replay(struct dedupe *d)
{
    uint64_t next = exact_set_upto(d->exact) + 1;
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(d->db, &q,
                                "SELECT first, digests FROM batch"
                                " WHERE first <= ? ORDER BY first DESC"
                                " LIMIT 1");

    while (st == STATUS_OK && next <= d->count) {
        uint64_t first = 0;
        size_t n = 0;

        st = read_row(d, q, next, &first, &n);
        if (st == STATUS_NOT_FOUND)
            st = damaged(d->state, "digests are missing from batch");
        if (st == STATUS_OK)
            st = replay_row(d, first, n);
        next = first + n;
    }
    if (st == STATUS_OK && next != d->count + 1)
        st = damaged(d->state, "batch does not end where the set does");
    if (st == STATUS_OK && exact_set_stats(d->exact).count != d->count)
        st = damaged(d->state, "pages and rows do not make up the set");
    sqlite3_finalize(q);
    return st;
}

/* A set with pages, or with more rows than fit in memory, is on disk
 * already. */
static enum status choose_phase(struct dedupe *d)
{
    int64_t pages = 0;
    enum status st =
        db_number(d->db,
                  "SELECT EXISTS(SELECT 1 FROM seenpart WHERE count > 0)",
                  &pages);

    if (pages > 0 || d->count > d->shares.delta[DEDUPE_IN_MEMORY])
        d->phase = DEDUPE_ON_DISK;
    return st;
}

static enum status prepare(struct dedupe *d)
{
    enum status st = db_prepare(d->db, &d->state->put_batch,
                                "INSERT INTO batch VALUES(?, ?)");

    if (st == STATUS_OK)
        st = db_prepare(d->db, &d->state->put_meta,
                        "INSERT OR REPLACE INTO meta VALUES(?, ?)");
    return st;
}

static enum status make_facts(struct dedupe *d)
{
    char identity[48];
    enum status st = STATUS_OK;

    if (getrandom(d->seed, sizeof d->seed, 0) != (ssize_t)sizeof d->seed)
        return STATUS_IO;
    identity_text(identity, d->identity);
    st = put_meta(d->state, d->db, "identity", identity, strlen(identity));
    if (st == STATUS_OK)
        st = put_meta(d->state, d->db, "digest_seed", d->seed, sizeof d->seed);
    return st == STATUS_OK ? put_standing(d) : st;
}

/* A commit that changes nothing, so that the log file exists from now on. */
static enum status begin_run(struct dedupe *d, bool fresh)
{
    enum status st = db_begin(d->db);

    if (st == STATUS_OK)
        st = fresh ? make_facts(d) : put_standing(d);
    if (st == STATUS_OK)
        st = db_commit(d->db);
    if (st == STATUS_OK)
        st = write_manifest(d, "running", false);
    d->state->running = st == STATUS_OK;
    return st;
}

static enum status read_facts(struct dedupe *d, struct dedupe_refusal *why)
{
    enum status st = check_identity(d, why);

    if (st == STATUS_OK)
        st = get_meta_whole(d, "digest_seed", d->seed, sizeof d->seed);
    return st == STATUS_OK ? get_standing(d) : st;
}

/* Was it made but, because of a crash, not filled? */
static bool has_no_facts(struct dedupe *d)
{
    int64_t facts = 0;

    return d->state->manifest.generation == 0 &&
           db_number(d->db,
                     "SELECT count(*) FROM meta WHERE name IN"
                     " ('identity', 'digest_seed', 'standing')",
                     &facts) == STATUS_OK &&
           facts == 0;
}

static enum status open_db(struct dedupe *d, bool *fresh)
{
    struct db_options o = {.cache_bytes = d->shares.sqlite, .kind = &kind};
    char *path = path_in(d->state, "dedupe.db");
    enum status st = db_open(&d->db, path, *fresh ? DB_CREATE : DB_WRITE, &o);

    free(path);
    if (st == STATUS_OK)
        st = prepare(d);
    if (st == STATUS_OK && !*fresh)
        *fresh = has_no_facts(d);
    return st;
}

static enum status lock(struct dedupe_state *s, struct dedupe_refusal *why)
{
    char *path = path_in(s, "dedupe.lock");
    enum status st = file_make_dir(s->dir);

    if (st == STATUS_OK)
        st = file_lock_take(&s->lock, path, "urlweir dedupe", &why->holder);
    free(path);
    return st;
}

static enum status dedupe_start_phase(struct dedupe *d);

/* Opens or makes the set in `dir`; sets d->db, d->exact, d->seen and
 * d->state. */
static enum status dedupe_state_open(struct dedupe *d, const char *dir,
                                     struct dedupe_refusal *why)
{
    struct dedupe_state *s = xcalloc(1, sizeof *s);
    bool fresh = false;
    enum status st;

    d->state = s;
    s->dir = xstrdup(dir);
    st = lock(s, why);
    if (st == STATUS_OK)
        st = check_files(s, &fresh);
    if (st == STATUS_OK)
        st = open_db(d, &fresh);
    if (st == STATUS_OK && !fresh)
        st = read_facts(d, why);
    if (st == STATUS_OK)
        st = check_manifest(d);
    if (st == STATUS_OK)
        st = choose_phase(d);
    if (st == STATUS_OK)
        st = dedupe_start_phase(d);
    if (st == STATUS_OK)
        st = exact_set_check_upto(d->exact, d->count);
    if (st == STATUS_OK)
        st = replay(d);
    if (st == STATUS_OK)
        st = begin_run(d, fresh);
    digest_key_init(&d->key, d->seed);
    return st;
}

/* ---- the end ---- */

static enum status dedupe_merge_all(struct dedupe *d);

static enum status leave_little_to_replay(struct dedupe *d)
{
    uint64_t waiting = exact_set_stats(d->exact).delta;
    enum status st = d->in_txn ? dedupe_state_commit(d) : STATUS_OK;

    if (st == STATUS_OK && waiting > REPLAY_MOST && waiting > d->count / 8)
        st = dedupe_merge_all(d);
    if (st == STATUS_OK)
        st = db_begin(d->db);
    if (st == STATUS_OK)
        st = drop_rows(d, true);
    return st == STATUS_OK ? db_commit(d->db) : st;
}

/* Ends a run, while all is still open. `clean`: commits, and leaves little to
 * replay.
 *
 * The manifest is written while SQLite's log still exists: a crash after
 * db_close() would otherwise leave a manifest that says "running" beside a
 * database without a log. So the log is also kept if the manifest was not
 * written, because writing failed or the set was refused. */
static enum status dedupe_state_end(struct dedupe *d, bool clean)
{
    struct dedupe_state *s = d->state;
    enum status st = clean ? leave_little_to_replay(d) : STATUS_OK;
    enum status wrote = STATUS_OK;

    if (s->running && !db_broken(d->db))
        wrote = write_manifest(d, "stopped", clean && st == STATUS_OK);
    s->keep_log = !s->running || wrote != STATUS_OK;
    return st == STATUS_OK ? wrote : st;
}

static uint64_t dedupe_state_disk(const struct dedupe_state *s)
{
    static const char *const names[] = {"dedupe.db", "dedupe.db-wal"};
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = path_in(s, names[i]);
        uint64_t size = 0;

        if (file_size(path, &size) == STATUS_OK)
            sum += size;
        free(path);
    }
    return sum;
}

/* Closes d->db and releases the directory. *disk, if not NULL, gets the size of
 * its files. */
static void dedupe_state_free(struct dedupe *d, uint64_t *disk)
{
    struct dedupe_state *s = d->state;

    sqlite3_finalize(s->put_batch);
    sqlite3_finalize(s->put_meta);
    if (s->keep_log)
        db_close_as_is(d->db);
    else
        db_close(d->db);
    if (disk != NULL)
        *disk = dedupe_state_disk(s);
    file_lock_free(s->lock);
    free(s->dir);
    free(s);
}

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/* Batches under way (cli/dedupe/cmd_dedupe.c), output, and what is touched of
 * program and libraries from here on. What they take before is measured, since
 * the libraries of one distribution need some MiB more than those of another.
 */
#define WORK (7 * MIB)
/* What a database in a directory takes beside its cache: pages of a
 * transaction that are written to the WAL, and the index of the WAL. */
#define WORK_OF_STATE (2 * MIB)
/* Below this the set could not work; a program that is larger than planned (as
 * a library's may be) takes more than `memory`. */
#define SHARED_LEAST (8 * MIB)
/* Octets of a digest in the delta when its arrays have just grown: 20 for the
 * entry times 1.5, 4 for the slot divided by 0.75 and times 2. */
#define DELTA_COST  UINT64_C(41)
#define MERGE_STEPS 16 /* commits that a full merge is spread over */
#define FPR         0.001
/* Below this many pages a filter is not worth building. */
#define PAGES_LEAST  512
#define PAGE_DIGESTS 202

/* ---- memory ---- */

static uint64_t within(uint64_t v, uint64_t least, uint64_t most)
{
    return v < least ? least : v > most ? most : v;
}

static struct dedupe_shares share_out(uint64_t memory, bool state)
{
    uint64_t work = WORK + (state ? WORK_OF_STATE : 0);
    uint64_t elsewhere =
        within(mem_resident() + work, 0, memory - SHARED_LEAST);
    uint64_t part = (memory - elsewhere) / 32;
    struct dedupe_shares s = {
        .sqlite = within(2 * part, MIB, 64 * MIB),
        .hot = {within(part, 256 * KIB, 8 * MIB),
                within(2 * part, 256 * KIB, 64 * MIB)},
        .pages = {0, 9 * part},
        .delta = {25 * part / DELTA_COST, 6 * part / DELTA_COST},
        .filter = 9 * part,
    };

    return s;
}

/* Opens exact set and seen check for the phase d->phase. */
static enum status dedupe_start_phase(struct dedupe *d)
{
    struct exact_set_options o = {.one_run = true,
                                  .block_cache_bytes =
                                      d->shares.pages[d->phase],
                                  .delta_most = d->shares.delta[d->phase] / 2};
    enum status st = exact_set_open(&d->exact, d->db, &o);

    if (st == STATUS_OK)
        st = seen_new(&d->seen, NULL, d->exact, d->shares.hot[d->phase]);
    return st;
}

static void end_phase(struct dedupe *d)
{
    if (d->exact != NULL)
        d->page_reads_before += exact_set_stats(d->exact).block_reads;
    seen_free(d->seen);
    d->seen = NULL;
    exact_set_close(d->exact);
    d->exact = NULL;
}

/* ---- from memory to disk ---- */

/* Outside a transaction: merges all of the delta into pages, in several
 * commits. */
static enum status dedupe_merge_all(struct dedupe *d)
{
    enum status st = STATUS_OK;

    for (int i = 0; i < MERGE_STEPS && st == STATUS_OK; i++) {
        st = db_begin(d->db);
        if (st == STATUS_OK)
            st = exact_set_merge(d->exact, EXACT_SET_PARTS / MERGE_STEPS);
        if (st == STATUS_OK)
            st = db_commit(d->db);
    }
    return st;
}

/* Opens the exact set anew, since its delta would keep the memory it had. */
static enum status move_to_disk(struct dedupe *d)
{
    enum status st = dedupe_merge_all(d);

    if (st != STATUS_OK)
        return st;
    log_info("the set has outgrown memory", "digests=%llu",
             (unsigned long long)d->count);
    end_phase(d);
    malloc_trim(0);
    d->phase = DEDUPE_ON_DISK;
    return dedupe_start_phase(d);
}

/* Inside a transaction: merge a little if the delta has grown so large. */
static enum status dedupe_step(struct dedupe *d)
{
    uint64_t fresh = d->unstepped;

    d->unstepped = 0;
    if (d->phase == DEDUPE_IN_MEMORY ||
        exact_set_stats(d->exact).delta < d->shares.delta[d->phase] / 2)
        return STATUS_OK;
    return exact_set_step(d->exact, fresh);
}

/* ---- the filter ---- */

/* Passes the keys of a range, some at a time, to the filter that is built. */
struct key_feed {
    void (*visit)(void *to, const uint64_t *keys, size_t n);
    void *to;
    uint64_t keys[512];
    size_t n;
    struct digest sum;
};

static void feed_flush(struct key_feed *f)
{
    if (f->n > 0)
        f->visit(f->to, f->keys, f->n);
    f->n = 0;
}

static void feed_digest(void *ctx, struct digest digest, uint64_t id)
{
    struct key_feed *f = ctx;

    (void)id;
    dedupe_sum_add(&f->sum, digest);
    f->keys[f->n++] = digest.hi;
    if (f->n == sizeof f->keys / sizeof *f->keys)
        feed_flush(f);
}

static enum status keys_of(void *ctx, uint64_t first, uint64_t last,
                           void (*visit)(void *to, const uint64_t *keys,
                                         size_t n),
                           void *to)
{
    struct dedupe *d = ctx;
    struct key_feed f = {.visit = visit, .to = to};
    enum status st = exact_set_each(d->exact, first, last, feed_digest, &f);

    if (st == STATUS_OK)
        feed_flush(&f);
    return st;
}

static enum status check_sum(const struct dedupe *d, struct digest sum)
{
    if (digest_equal(sum, d->sum))
        return STATUS_OK;
    log_error("the set is damaged",
              "reason=\"the digests do not add up to their sum\"");
    return STATUS_DAMAGED;
}

struct filling {
    struct filter *filter;
    enum status st;
};

static void fill(void *to, const uint64_t *keys, size_t n)
{
    struct filling *f = to;

    if (f->st == STATUS_OK)
        f->st = filter_add_lenient(f->filter, keys, n, NULL);
}

static enum status build_filter(struct dedupe *d)
{
    struct filter_options o = {.kind = "scalable",
                               .expect = d->count + d->count / 8 + 1,
                               .fpr = FPR,
                               .most_bytes = d->shares.filter,
                               .source = {keys_of, d}};
    struct filling filling = {0};
    struct key_feed feed = {.visit = fill, .to = &filling};
    enum status st = filter_new(&d->filter, &o);

    if (st != STATUS_OK)
        return st;
    filling.filter = d->filter;
    st = exact_set_each(d->exact, 0, UINT64_MAX, feed_digest, &feed);
    feed_flush(&feed);
    if (st == STATUS_OK)
        st = filling.st;
    if (st == STATUS_OK)
        st = check_sum(d, feed.sum);
    if (st == STATUS_OK)
        seen_use_filter(d->seen, d->filter);
    return st;
}

/* Have as many pages been read as building the filter would read? */
static bool filter_pays(const struct dedupe *d)
{
    return d->filter == NULL && d->phase == DEDUPE_ON_DISK &&
           exact_set_stats(d->exact).block_reads >
               PAGES_LEAST + d->count / PAGE_DIGESTS;
}

/* ---- asking ---- */

enum url_reason dedupe_digest(const struct dedupe *d, struct bytes line,
                              struct url *url, struct digest *out)
{
    if (d->identity == DEDUPE_CANONICAL) {
        enum url_reason r = url_canonical(url, line, NULL, NULL);

        if (r != URL_OK)
            return r;
        line = url_text(url);
    }
    *out = digest_bytes(&d->key, line);
    return URL_OK;
}

enum status dedupe_take(struct dedupe *d, const struct digest *digests,
                        size_t n, bool *fresh)
{
    size_t news = 0;
    enum status st;

    assert(n <= DEDUPE_BATCH);
    st = seen_check(d->seen, digests, n, d->answers);
    if (st != STATUS_OK)
        return st;
    for (size_t i = 0; i < n; i++) {
        fresh[i] = d->answers[i] != SEEN_BEFORE;
        if (!fresh[i])
            continue;
        d->fresh[news++] = digests[i];
        dedupe_sum_add(&d->sum, digests[i]);
    }
    if (news > 0 && d->state != NULL)
        st = dedupe_state_log(d, d->fresh, news);
    if (st == STATUS_OK)
        st = seen_admit(d->seen, d->fresh, news, d->count + 1);
    d->count += news;
    d->unstepped += news;
    return st;
}

/* The commits of a scratch database have no meaning; only merges matter. */
static enum status step_scratch(struct dedupe *d)
{
    enum status st;

    if (d->unstepped == 0)
        return STATUS_OK;
    st = db_begin(d->db);
    if (st == STATUS_OK)
        st = dedupe_step(d);
    return st == STATUS_OK ? db_commit(d->db) : st;
}

enum status dedupe_settle(struct dedupe *d, bool commit)
{
    bool full = d->phase == DEDUPE_IN_MEMORY &&
                d->count > d->shares.delta[DEDUPE_IN_MEMORY];
    enum status st = STATUS_OK;

    if (d->state == NULL)
        st = d->phase == DEDUPE_ON_DISK ? step_scratch(d) : STATUS_OK;
    else if (d->in_txn)
        st = dedupe_step(d);
    if (st == STATUS_OK && d->in_txn && (commit || full))
        st = dedupe_state_commit(d);
    if (st == STATUS_OK && full)
        st = move_to_disk(d);
    if (st == STATUS_OK && filter_pays(d))
        st = build_filter(d);
    return st;
}

bool dedupe_unsettled(const struct dedupe *d)
{
    return d->in_txn;
}

/* ---- opening and closing ---- */

static enum status open_scratch(struct dedupe *d)
{
    struct db_options o = {.cache_bytes = d->shares.sqlite};
    enum status st = db_open(&d->db, "(scratch)", DB_SCRATCH, &o);

    if (st == STATUS_OK &&
        getrandom(d->seed, sizeof d->seed, 0) != (ssize_t)sizeof d->seed)
        st = STATUS_IO;
    digest_key_init(&d->key, d->seed);
    return st == STATUS_OK ? dedupe_start_phase(d) : st;
}

enum status dedupe_open(struct dedupe **out, const struct dedupe_options *o,
                        struct dedupe_refusal *why)
{
    struct dedupe *d;
    enum status st;

    if (o->memory < DEDUPE_MEMORY_LEAST)
        return STATUS_LIMIT;
    d = xcalloc(1, sizeof *d);
    d->identity = o->identity;
    d->shares = share_out(o->memory, o->dir != NULL);
    st = o->dir != NULL ? dedupe_state_open(d, o->dir, why) : open_scratch(d);
    if (st != STATUS_OK) {
        (void)!dedupe_close(d, false, NULL);
        return st;
    }
    d->before = d->count;
    *out = d;
    return STATUS_OK;
}

/* ---- checking and counting ---- */

static void add_to_sum(void *ctx, struct digest digest, uint64_t id)
{
    (void)id;
    dedupe_sum_add(ctx, digest);
}

enum status dedupe_verify(struct dedupe *d)
{
    struct digest sum = {0};
    enum status st = db_verify(d->db);

    if (st == STATUS_OK)
        st = exact_set_verify_upto(d->exact, d->count);
    if (st == STATUS_OK)
        st = exact_set_each(d->exact, 0, UINT64_MAX, add_to_sum, &sum);
    return st == STATUS_OK ? check_sum(d, sum) : st;
}

static uint64_t disk_used(struct dedupe *d)
{
    int64_t pages = 0;

    if (d->state != NULL)
        return dedupe_state_disk(d->state);
    if (d->phase == DEDUPE_IN_MEMORY ||
        db_number(d->db, "PRAGMA page_count", &pages) != STATUS_OK)
        return 0;
    return (uint64_t)pages * 4096;
}

struct dedupe_stats dedupe_stats(struct dedupe *d)
{
    struct dedupe_stats s = {
        .count = d->count,
        .before = d->before,
        .disk = disk_used(d),
        .page_reads =
            d->page_reads_before + exact_set_stats(d->exact).block_reads,
        .false_positives = seen_counts(d->seen).false_positives,
        .on_disk = d->phase == DEDUPE_ON_DISK,
    };

    if (d->filter != NULL) {
        struct filter_stats f;

        filter_stats(d->filter, &f);
        s.filter_bits = f.bits;
    }
    return s;
}

enum status dedupe_close(struct dedupe *d, bool clean,
                         struct dedupe_stats *last)
{
    enum status st = STATUS_OK;

    if (d == NULL)
        return STATUS_OK;
    if (d->state != NULL && d->db != NULL)
        st = dedupe_state_end(d, clean);
    if (last != NULL)
        *last = dedupe_stats(d);
    end_phase(d);
    filter_free(d->filter);
    if (d->state != NULL)
        dedupe_state_free(d, last != NULL ? &last->disk : NULL);
    else
        db_close(d->db);
    free(d);
    return st;
}
