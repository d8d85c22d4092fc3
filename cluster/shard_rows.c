/* SPDX-License-Identifier: MIT */
/*
 * shard_rows.c - the rows of one shard, in its directory and in Kafka.
 *
 *     commit   rows, what the owner adds ──► one Kafka transaction; then SQLite
 *
 * If the process ends between the two commits, the database lacks what Kafka
 * has, and the next start reads it from NAME.state. What that start reads again
 * of rows that it has does no harm, so the offset it begins at is written only
 * now and then: the end of the topic before a commit, when all rows that are
 * there are in the database.
 */
#include "cluster/shard_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/kafka/kafka.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cluster/cluster_topics.h"
#include "frontier/seen/seen_store.h"
#include "storage/db/changelog.h"
#include "storage/db/manifest.h"

#define PATIENCE       ((KAFKA_TRANSACTION_MS - 5000) * NS_PER_MS)
#define NOTE_EVERY     (5 * NS_PER_S) /* where the rows here end in the topic */
#define ASK_MS         1000           /* brokers for it */
#define INIT_MS        90000 /* longer than a transaction left open lives */
#define RESTORE_STEP   10000 /* rows of a transaction */
#define RESTORE_MEMORY ((uint64_t)256 << 20)

/* What is a row of table meta, under this name. */
#define META_NOTE   SEEN_STORE_FOLLOWED /* the owner's text */
#define META_OFFSET "state_offset"      /* rows of NAME.state before are here */

struct shard_rows {
    struct shard_rows_options o;
    struct buf state; /* name of the topic */
    struct kafka_producer *producer;
    struct db_follower follower;
    bool begun; /* a transaction with Kafka */
    bool whole; /* Kafka has no row yet: the first commit sends all */
    int64_t noted_at;

    /* the database, while it is open */
    struct db *db;
    struct changelog *log;
    sqlite3_stmt *set_meta;
    struct buf why;
};

/* Says why nothing more can be done for the shard. */
static enum status note_trouble(const struct shard_rows *r, enum status st)
{
    if (st == STATUS_BUSY)
        log_error("another process has taken this shard over", "shard=%" PRIu32,
                  r->o.number.number);
    else
        log_error("rows cannot be stored in Kafka",
                  "shard=%" PRIu32 " why=\"%s\"", r->o.number.number,
                  buf_str(&r->why));
    return STATUS_CLOSED;
}

/* ---- the commit ---- */

enum status shard_rows_send(struct shard_rows *r, const struct buf *topic,
                            uint32_t partition, struct bytes key,
                            struct bytes value)
{
    enum status st = STATUS_OK;

    if (!r->begun)
        st = kafka_producer_begin(r->producer, &r->why);
    r->begun |= st == STATUS_OK;
    if (st == STATUS_OK)
        st = kafka_producer_send(r->producer, buf_str(topic), (int)partition,
                                 key, value, &r->why);
    return st;
}

static enum status send_row(void *ctx, struct bytes key, struct bytes row)
{
    struct shard_rows *r = ctx;

    return shard_rows_send(r, &r->state, r->o.number.number, key, row);
}

static enum status commit_kafka(struct shard_rows *r)
{
    int64_t until = clock_mono() + PATIENCE;
    bool said = false;
    enum status st;

    while ((st = kafka_producer_commit(r->producer, 2000, &r->why)) ==
               STATUS_AGAIN &&
           clock_mono() < until) {
        if (!said)
            log_warn("the shard stands still until the brokers answer",
                     "why=\"%s\"", buf_str(&r->why));
        said = true;
    }
    r->begun = false;
    if (st == STATUS_OK && said)
        log_warn("the brokers answer again", "%s", "");
    return st;
}

enum status shard_rows_say(struct shard_rows *r, const struct buf *topic,
                           uint32_t partition, struct bytes key,
                           struct bytes value, struct buf *why)
{
    enum status st = shard_rows_send(r, topic, partition, key, value);

    if (st == STATUS_OK)
        st = commit_kafka(r);
    if (st != STATUS_OK)
        buf_add_bytes(why, buf_bytes(&r->why));
    return st;
}

bool shard_rows_has_sent(const struct shard_rows *r)
{
    return r->begun;
}

void shard_rows_trim(struct shard_rows *r, const struct buf *topic,
                     int64_t offset)
{
    kafka_producer_trim(r->producer, buf_str(topic), (int)r->o.number.number,
                        offset);
}

static enum status set_meta(struct shard_rows *r, const char *name,
                            const char *text)
{
    sqlite3_bind_text(r->set_meta, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(r->set_meta, 2, text, -1, SQLITE_TRANSIENT);
    return db_run(r->db, r->set_meta);
}

enum status shard_rows_note(struct shard_rows *r, const char *text)
{
    return set_meta(r, META_NOTE, text);
}

/* Nobody else sends rows of this shard, and ours of this transaction are not on
 * their way yet. */
static enum status note_end_of_rows(struct shard_rows *r)
{
    int64_t now = clock_mono(), end;
    char text[32];

    if (r->whole || now - r->noted_at < NOTE_EVERY ||
        kafka_producer_find_end(r->producer, buf_str(&r->state),
                                (int)r->o.number.number, ASK_MS, &end,
                                &r->why) != STATUS_OK)
        return STATUS_OK; /* the next time */
    r->noted_at = now;
    snprintf(text, sizeof text, "%" PRId64, end);
    return set_meta(r, META_OFFSET, text);
}

static enum status before_commit(void *ctx)
{
    struct shard_rows *r = ctx;
    enum status st = r->o.before != NULL ? r->o.before(r->o.ctx) : STATUS_OK;

    if (st == STATUS_OK)
        st = note_end_of_rows(r);
    if (st == STATUS_OK && r->whole)
        st = changelog_each(r->log, send_row, r);
    if (st == STATUS_OK && !r->whole)
        st = changelog_take(r->log, send_row, r);
    if (st == STATUS_OK && r->o.after != NULL)
        st = r->o.after(r->o.ctx);
    if (st == STATUS_OK && r->begun)
        st = commit_kafka(r);
    if (st != STATUS_OK)
        return note_trouble(r, st);
    if (r->whole)
        changelog_follow(r->log);
    r->whole = false;
    return STATUS_OK;
}

static enum status opened(void *ctx, struct db *d)
{
    struct shard_rows *r = ctx;
    enum status st = changelog_open(&r->log, d);

    r->db = d;
    if (st == STATUS_OK)
        st = db_prepare(d, &r->set_meta,
                        "INSERT OR REPLACE INTO meta VALUES(?1, ?2)");
    if (st == STATUS_OK && !r->whole)
        changelog_follow(r->log);
    return st;
}

static void closing(void *ctx)
{
    struct shard_rows *r = ctx;

    sqlite3_finalize(r->set_meta);
    changelog_close(r->log);
    r->set_meta = NULL;
    r->log = NULL;
    r->db = NULL;
}

/* ---- opening ---- */

enum status shard_rows_open(struct shard_rows **out,
                            const struct shard_rows_options *o, struct buf *why)
{
    struct shard_rows *r = xcalloc(1, sizeof *r);
    struct buf id;
    enum status st;

    r->o = *o;
    r->follower = (struct db_follower){r, opened, before_commit, closing};
    buf_init(&r->state, 512);
    buf_init(&r->why, 4096);
    buf_init(&id, 512);
    cluster_topic(&r->state, o->name, "state");
    buf_addf(&id, "%s.%" PRIu32, o->name, o->number.number);
    st = kafka_producer_open(&r->producer, &o->access, buf_str(&id), why);
    if (st == STATUS_OK)
        st = kafka_producer_init(r->producer, INIT_MS, why);
    buf_fini(&id);
    if (st == STATUS_OK)
        *out = r;
    else
        shard_rows_close(r);
    return st;
}

void shard_rows_close(struct shard_rows *r)
{
    if (r == NULL)
        return;
    kafka_producer_close(r->producer);
    buf_fini(&r->state);
    buf_fini(&r->why);
    free(r);
}

const struct db_follower *shard_rows_follower(struct shard_rows *r)
{
    return &r->follower;
}

/* ---- restoring ---- */

struct restore {
    struct shard_rows *of;
    const char *dir;
    struct buf path, manifest, *note;
    struct db *d;
    struct changelog *log;
    bool had; /* the directory has rows of its own */
    uint64_t rows;
};

static enum status read_meta(struct db *d, const char *name, struct buf *out)
{
    sqlite3_stmt *q = NULL;
    enum status st =
        db_prepare(d, &q, "SELECT value FROM meta WHERE name = ?1");

    if (st != STATUS_OK)
        return st;
    sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
    st = db_step(d, q);
    if (st == STATUS_OK)
        buf_add_bytes(out, db_column(q, 0));
    sqlite3_finalize(q);
    return st;
}

static enum status open_own(struct restore *r)
{
    const struct db_options o = {.cache_bytes = (uint64_t)64 << 20,
                                 .checkpoint_bytes = (uint64_t)16 << 20,
                                 .sync_normal = true};
    enum status st =
        db_open(&r->d, buf_str(&r->path), r->had ? DB_WRITE : DB_CREATE, &o);

    if (st == STATUS_OK)
        st = changelog_open(&r->log, r->d);
    return st == STATUS_OK ? db_begin(r->d) : st;
}

static enum status take_row(void *ctx, const struct kafka_message *m)
{
    struct restore *r = ctx;
    enum status st = STATUS_OK;

    if (r->d == NULL)
        st = open_own(r);
    if (st == STATUS_OK)
        st = changelog_put(r->log, m->key, m->value);
    if (st == STATUS_OK && ++r->rows % RESTORE_STEP == 0) {
        st = db_commit(r->d);
        if (st == STATUS_OK)
            st = db_begin(r->d);
    }
    return st;
}

/* After a clean stop a store knows that none of its hosts was asked since. Not
 * so if another process has had the shard. */
static enum status note_others(struct restore *r)
{
    struct manifest m;
    enum status st = manifest_load(buf_str(&r->manifest), &m);

    if (st != STATUS_OK || !m.clean)
        return st == STATUS_NOT_FOUND ? STATUS_OK : st;
    m.clean = false;
    return manifest_save(buf_str(&r->manifest), &m);
}

static enum status write_manifest(struct restore *r)
{
    struct manifest m = {.generation = 1,
                         .written_at_ms = clock_wall_ms(),
                         .state = "stopped"};
    int64_t urls = 0, fetches = 0;
    struct buf id;
    enum status st;

    buf_init(&id, 64);
    st = read_meta(r->d, "store_id", &id);
    if (st == STATUS_OK)
        st = db_number(r->d, "SELECT ifnull(max(id), 0) FROM url", &urls);
    if (st == STATUS_OK)
        st = db_number(r->d, "SELECT ifnull(max(seq), 0) FROM fetch", &fetches);
    m.urls = (uint64_t)urls;
    m.fetches = (uint64_t)fetches;
    snprintf(m.store_id, sizeof m.store_id, "%s", buf_str(&id));
    if (st == STATUS_OK)
        st = manifest_save(buf_str(&r->manifest), &m);
    buf_fini(&id);
    return st;
}

static enum status note_offset(struct restore *r, int64_t offset)
{
    char text[32];
    sqlite3_stmt *q = NULL;
    enum status st =
        db_prepare(r->d, &q,
                   "INSERT OR REPLACE INTO meta VALUES('" META_OFFSET "', ?1)");

    snprintf(text, sizeof text, "%" PRId64, offset);
    if (st == STATUS_OK) {
        sqlite3_bind_text(q, 1, text, -1, SQLITE_STATIC);
        st = db_run(r->d, q);
    }
    sqlite3_finalize(q);
    return st;
}

static enum status end_restore(struct restore *r, int64_t offset)
{
    enum status st = note_offset(r, offset);

    if (st == STATUS_OK) {
        st = read_meta(r->d, META_NOTE, r->note);
        st = st == STATUS_NOT_FOUND ? STATUS_OK : st;
    }
    if (st == STATUS_OK && r->rows > 0)
        st = note_others(r);
    if (st == STATUS_OK)
        st = db_commit(r->d);
    if (st == STATUS_OK && !r->had)
        st = write_manifest(r);
    return st;
}

/* A clock that is corrected by less is no reason to read a shard anew. */
#define CORRECTED_MS (INT64_C(3600) * 1000)

/* May Kafka have forgotten what was deleted since? One from the future says that
 * the clock was set back, by nobody knows how much. */
static bool is_old(const struct manifest *m)
{
    int64_t age = clock_wall_ms() - m->written_at_ms;

    return age < -CORRECTED_MS ||
           age >= strtoll(CLUSTER_DELETIONS_MS, NULL, 10) / 2;
}

/* A store has a manifest once its first rows are in Kafka, or all that Kafka had
 * are in it. What was left of one by a kill before that is of no use, nor is one
 * that is old. Whoever opens a store with a bad manifest says what is wrong. */
static bool has_store(struct restore *r)
{
    static const char *const parts[] = {"-wal", "-shm", ""};
    uint64_t size;
    struct manifest m;
    struct buf part;

    if (file_size(buf_str(&r->path), &size) == STATUS_OK &&
        file_size(buf_str(&r->manifest), &size) == STATUS_OK) {
        if (manifest_load(buf_str(&r->manifest), &m) != STATUS_OK ||
            !is_old(&m))
            return true;
        log_info("the rows of a shard are old, or from the future, and read "
                 "anew from Kafka",
                 "dir=%s", r->dir);
        (void)unlink(buf_str(&r->manifest));
    }
    buf_init(&part, 4096);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        buf_clear(&part);
        buf_addf(&part, "%s%s", buf_str(&r->path), parts[i]);
        (void)unlink(buf_str(&part));
    }
    buf_fini(&part);
    return false;
}

/* Where the rows of the directory end in NAME.state. */
static enum status own_offset(struct restore *r, int64_t *offset)
{
    const struct db_options o = {.cache_bytes = (uint64_t)1 << 20};
    struct buf text;
    enum status st = db_open(&r->d, buf_str(&r->path), DB_READ, &o);

    buf_init(&text, 64);
    if (st == STATUS_OK)
        st = read_meta(r->d, META_OFFSET, &text);
    if (st == STATUS_OK)
        *offset = strtoll(buf_str(&text), NULL, 10);
    buf_fini(&text);
    db_close(r->d);
    r->d = NULL;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status restore(struct restore *r, struct buf *why)
{
    const struct shard_rows *of = r->of;
    struct kafka_reader *in = NULL;
    int64_t offset = KAFKA_BEGINNING;
    uint64_t urls;
    enum status st = r->had ? own_offset(r, &offset) : STATUS_OK;

    if (st == STATUS_OK)
        st = kafka_reader_open(&in, &of->o.access, buf_str(&of->state),
                               (int)of->o.number.number, offset, why);
    if (st == STATUS_OK)
        st = kafka_reader_read_all(in, KAFKA_END_COMMITTED, INIT_MS, take_row,
                                   r, why);
    if (st == STATUS_OK && r->d == NULL && r->had)
        st = open_own(r);
    if (st == STATUS_OK && r->d != NULL)
        st = end_restore(r, kafka_reader_offset(in));
    changelog_close(r->log);
    db_close(r->d);
    kafka_reader_close(in);
    if (st == STATUS_OK && r->rows > 0 && !r->had)
        st = reindex(r->dir, RESTORE_MEMORY, &urls);
    return st;
}

enum status shard_rows_restore(struct shard_rows *r, const char *dir,
                               bool *there, struct buf *note, struct buf *why)
{
    struct restore x = {.of = r, .dir = dir, .note = note};
    enum status st;

    buf_init(&x.path, 4096);
    buf_addf(&x.path, "%s/frontier.db", dir);
    buf_init(&x.manifest, 4096);
    buf_addf(&x.manifest, "%s/manifest", dir);
    x.had = has_store(&x);
    st = restore(&x, why);
    *there = x.had || x.rows > 0;
    r->whole = !*there;
    buf_fini(&x.path);
    buf_fini(&x.manifest);
    if (st == STATUS_OK && x.rows > 0)
        log_info("rows were read from Kafka", "shard=%" PRIu32 " rows=%" PRIu64,
                 r->o.number.number, x.rows);
    return st;
}

enum status shard_rows_copy(const struct kafka_access *a, const char *name,
                            uint32_t shard, const char *dir, bool *there,
                            struct buf *note, struct buf *why)
{
    struct shard_rows r = {.o = {.access = *a, .number = {shard, 0}}};
    enum status st;

    buf_init(&r.state, 512);
    cluster_topic(&r.state, name, "state");
    st = shard_rows_restore(&r, dir, there, note, why);
    buf_fini(&r.state);
    return st;
}
