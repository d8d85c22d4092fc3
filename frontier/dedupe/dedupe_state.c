/* SPDX-License-Identifier: MIT */
/*
 * dedupe_state.c - a set of digests that is kept between runs.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/dedupe/dedupe_impl.h"
#include "storage/db/db_row.h"
#include "storage/db/packed.h"

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

enum status dedupe_state_log(struct dedupe *d, const struct digest *fresh,
                             size_t n)
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

enum status dedupe_state_commit(struct dedupe *d)
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

enum status dedupe_state_open(struct dedupe *d, const char *dir,
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

/* The manifest is written while SQLite's log still exists: a crash after
 * db_close() would otherwise leave a manifest that says "running" beside a
 * database without a log. So the log is also kept if the manifest was not
 * written, because writing failed or the set was refused. */
enum status dedupe_state_end(struct dedupe *d, bool clean)
{
    struct dedupe_state *s = d->state;
    enum status st = clean ? leave_little_to_replay(d) : STATUS_OK;
    enum status wrote = STATUS_OK;

    if (s->running && !db_broken(d->db))
        wrote = write_manifest(d, "stopped", clean && st == STATUS_OK);
    s->keep_log = !s->running || wrote != STATUS_OK;
    return st == STATUS_OK ? wrote : st;
}

uint64_t dedupe_state_disk(const struct dedupe_state *s)
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

void dedupe_state_free(struct dedupe *d, uint64_t *disk)
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
