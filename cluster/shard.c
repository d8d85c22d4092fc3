/* SPDX-License-Identifier: MIT */
/*
 * shard.c - one shard of a crawl on many machines.
 *
 *     turn     URLs of NAME.urls ──► engine ──► URLs of others ──► outbox
 *     commit   rows, outbox, report ──► one Kafka transaction; then SQLite
 *
 * If the process ends between the two commits, the database lacks what Kafka
 * has, and the next start reads it from NAME.state. What that start reads again
 * of rows that it has does no harm, so the offset it begins at is written only
 * now and then.
 *
 * Between shards a URL is sent as often as it is found, but for those that this
 * process remembers to have sent: a table that forgets.
 */
#include "cluster/shard.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/kafka/kafka_reader.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cluster/cluster_control.h"
#include "cluster/shard_message.h"
#include "frontier/candidate.h"
#include "frontier/seen/reindex.h"
#include "job/seed_sink.h"
#include "storage/db/changelog.h"
#include "storage/db/manifest.h"

#define OUTBOX_MOST    ((size_t)512 << 20) /* octets of a commit's URLs */
#define TAKEN_MOST     1000                /* messages of a turn */
#define BATCH          256
#define SENT           ((size_t)1 << 16) /* digests remembered */
#define LOOK_EVERY     (500 * NS_PER_MS) /* at the other shards, when idle */
#define PATIENCE       ((KAFKA_TRANSACTION_MS - 5000) * NS_PER_MS)
#define INIT_MS        90000 /* longer than a transaction left open lives */
#define RESTORE_STEP   10000 /* rows of a transaction */
#define RESTORE_MEMORY ((uint64_t)256 << 20)

/* What is a row of table meta, under this name. */
#define META_PLACE  "shard"        /* JSON: next offset of urls, counts */
#define META_OFFSET "state_offset" /* rows of NAME.state before are here */

struct outgoing {
    uint32_t shard;
    size_t at, len;
};

struct shard {
    struct shard_options o;
    struct buf state, urls, control; /* names of the topics */
    struct kafka_producer *producer;
    struct kafka_reader *inbox;
    struct cluster_control *all;
    struct engine *engine;
    const struct engine_ops *own; /* of the engine, */
    struct engine_ops ops;        /* and with ours in between */
    struct db_follower follower;

    /* the database, while it is open */
    struct db *db;
    struct changelog *log;
    sqlite3_stmt *set_meta;

    /* the transaction that is open */
    struct outgoing *outgoing;
    size_t outgoing_count, outgoing_cap;
    struct buf outbox;
    bool begun; /* with Kafka, too */

    int64_t offset; /* the next of NAME.urls */
    struct shard_report report;
    struct buf told; /* the record that was sent last */
    bool told_idle;  /* what it says */
    bool place_changed, taking, over, whole;
    int64_t looked_at;
    uint64_t sent_digests[SENT];
    struct buf why;
};

static struct shard *shard_of(struct engine *e)
{
    return e->around;
}

/* Brokers that are away for a while are said once. */
static enum status note_trouble(struct shard *s, enum status st,
                                const char *what)
{
    if (st == STATUS_BUSY)
        log_error("another process has taken this shard over", "shard=%" PRIu32,
                  s->o.number.number);
    else
        log_error(what, "shard=%" PRIu32 " why=\"%s\"", s->o.number.number,
                  buf_str(&s->why));
    return STATUS_CLOSED;
}

/* ---- to others ---- */

static bool was_sent(struct shard *s, const struct engine_item *item)
{
    uint64_t digest =
        XXH3_64bits_withSeed(item->url.at, item->url.len,
                             (uint64_t)item->depth << 16 |
                                 (uint64_t)item->hops << 5 | item->kind);
    uint64_t *slot = &s->sent_digests[digest % SENT];
    bool was = *slot == digest;

    *slot = digest;
    /* The number of links to a URL matters, or what is said of it. */
    return was && item->hint == NULL && s->o.settings->order != ORDER_BEST;
}

static void send_item(void *ctx, const struct engine_item *item, uint64_t via)
{
    struct shard *s = ctx;
    const struct shard_message m = {
        .url = item->url,
        .depth = item->depth,
        .hops = item->hops,
        .kind = item->kind,
        .has_hint = item->hint != NULL,
        .has_label = item->label != NULL,
        .hint = item->hint != NULL
                    ? *item->hint
                    : (struct url_hint){.priority = HINT_NO_PRIORITY},
        .label = item->label != NULL ? *item->label
                                     : (struct link_label){.rel = {"", 0}}};
    struct outgoing *to;

    (void)via;
    if (was_sent(s, item))
        return;
    if (s->outgoing_count == s->outgoing_cap) {
        s->outgoing_cap = s->outgoing_cap > 0 ? s->outgoing_cap * 2 : 256;
        s->outgoing =
            xrealloc(s->outgoing, s->outgoing_cap * sizeof *s->outgoing);
    }
    to = &s->outgoing[s->outgoing_count++];
    to->shard = shard_of_host(item->key, s->o.number.count);
    to->at = s->outbox.len;
    shard_message_write(&s->outbox, &m);
    to->len = s->outbox.len - to->at;
    s->report.sent++;
    s->place_changed = true;
}

/* ---- the commit ---- */

static enum status send_message(struct shard *s, const struct buf *topic,
                                uint32_t partition, struct bytes key,
                                struct bytes value)
{
    enum status st = STATUS_OK;

    if (!s->begun)
        st = kafka_producer_begin(s->producer, &s->why);
    s->begun |= st == STATUS_OK;
    if (st == STATUS_OK)
        st = kafka_producer_send(s->producer, buf_str(topic), (int)partition,
                                 key, value, &s->why);
    /* librdkafka's queue is full: its thread empties it. */
    for (int waited = 0; st == STATUS_AGAIN && waited < 60000; waited += 5) {
        const struct timespec moment = {.tv_nsec = 5 * NS_PER_MS};

        nanosleep(&moment, NULL);
        st = kafka_producer_send(s->producer, buf_str(topic), (int)partition,
                                 key, value, &s->why);
    }
    return st;
}

static enum status send_row(void *ctx, struct bytes key, struct bytes row)
{
    struct shard *s = ctx;

    return send_message(s, &s->state, s->o.number.number, key, row);
}

static enum status write_place(struct shard *s)
{
    char text[256];

    if (!s->place_changed)
        return STATUS_OK;
    snprintf(text, sizeof text,
             "{\"offset\":%" PRId64 ",\"sent\":%" PRIu64
             ",\"received\":%" PRIu64 "}",
             s->offset, s->report.sent, s->report.received);
    sqlite3_bind_text(s->set_meta, 1, META_PLACE, -1, SQLITE_STATIC);
    sqlite3_bind_text(s->set_meta, 2, text, -1, SQLITE_STATIC);
    s->place_changed = false;
    return db_run(s->db, s->set_meta);
}

static enum status send_outbox(struct shard *s)
{
    enum status st = buf_failed(&s->outbox);

    for (size_t i = 0; st == STATUS_OK && i < s->outgoing_count; i++)
        st = send_message(s, &s->urls, s->outgoing[i].shard, bytes_of("", 0),
                          bytes_of(s->outbox.at + s->outgoing[i].at,
                                   s->outgoing[i].len));
    return st;
}

static enum status send_report(struct shard *s)
{
    struct buf key, value;
    enum status st = STATUS_OK;

    buf_init(&key, 64);
    buf_init(&value, 1024);
    shard_report_write(&key, &value, s->o.number.number, &s->report);
    if (!bytes_equal(buf_bytes(&value), buf_bytes(&s->told)))
        st =
            send_message(s, &s->control, 0, buf_bytes(&key), buf_bytes(&value));
    buf_clear(&s->told);
    buf_add_bytes(&s->told, buf_bytes(&value));
    s->told_idle = s->report.idle;
    buf_fini(&key);
    buf_fini(&value);
    return st;
}

static enum status commit_kafka(struct shard *s)
{
    int64_t until = clock_mono() + PATIENCE;
    bool said = false;
    enum status st;

    while ((st = kafka_producer_commit(s->producer, 2000, &s->why)) ==
               STATUS_AGAIN &&
           clock_mono() < until) {
        if (!said)
            log_warn("the crawl stands still until the brokers answer",
                     "why=\"%s\"", buf_str(&s->why));
        said = true;
    }
    s->begun = false;
    if (st == STATUS_OK && said)
        log_warn("the brokers answer again", "%s", "");
    return st;
}

static enum status before_commit(void *ctx)
{
    struct shard *s = ctx;
    enum status st = write_place(s);

    if (st == STATUS_OK && s->whole)
        st = changelog_each(s->log, send_row, s);
    if (st == STATUS_OK && !s->whole)
        st = changelog_take(s->log, send_row, s);
    if (st == STATUS_OK)
        st = send_outbox(s);
    if (st == STATUS_OK && (s->begun || s->report.idle != s->told_idle))
        st = send_report(s);
    if (st == STATUS_OK && s->begun)
        st = commit_kafka(s);
    if (st != STATUS_OK)
        return note_trouble(s, st, "rows cannot be stored in Kafka");
    if (s->whole)
        st = changelog_follow(s->log);
    s->whole = false;
    s->outgoing_count = 0;
    buf_clear(&s->outbox);
    return st;
}

static enum status opened(void *ctx, struct db *d)
{
    struct shard *s = ctx;
    enum status st = changelog_open(&s->log, d);

    s->db = d;
    if (st == STATUS_OK)
        st = db_prepare(d, &s->set_meta,
                        "INSERT OR REPLACE INTO meta VALUES(?1, ?2)");
    return st == STATUS_OK && !s->whole ? changelog_follow(s->log) : st;
}

static void closing(void *ctx)
{
    struct shard *s = ctx;

    sqlite3_finalize(s->set_meta);
    changelog_close(s->log);
    s->set_meta = NULL;
    s->log = NULL;
    s->db = NULL;
}

/* ---- from others ---- */

struct intake {
    struct shard *s;
    struct candidate_rules rules;
    struct engine_item items[BATCH];
    struct engine_drop drops[BATCH];
    struct url_hint hints[BATCH];
    struct link_label labels[BATCH];
    size_t items_n, drops_n;
    char *texts[BATCH]; /* of items, then of drops */
    size_t texts_n;
};

static enum status put_intake(struct intake *k, int64_t now, int64_t wall_ms)
{
    uint64_t ids[BATCH];
    struct engine *e = k->s->engine;
    enum status st =
        k->items_n + k->drops_n > 0
            ? k->s->own->external_discover(e, k->items, k->items_n, k->drops,
                                           k->drops_n, now, wall_ms, ids)
            : STATUS_OK;

    for (size_t i = 0; i < k->texts_n; i++)
        free(k->texts[i]);
    k->items_n = k->drops_n = k->texts_n = 0;
    return st;
}

/* A copy of what the message and the URL refer to. */
static char *keep_texts(const struct url *u, const struct shard_message *m)
{
    struct bytes text = url_text(u);
    char *at = xmalloc(text.len + m->label.rel.len + m->label.text.len + 1);

    memcpy(at, text.at, text.len);
    if (m->label.rel.len > 0)
        memcpy(at + text.len, m->label.rel.at, m->label.rel.len);
    if (m->label.text.len > 0)
        memcpy(at + text.len + m->label.rel.len, m->label.text.at,
               m->label.text.len);
    return at;
}

static void add_link(struct intake *k, const struct url *u,
                     const struct shard_message *m)
{
    size_t n = k->texts_n;
    char *text = keep_texts(u, m), *labels = text + url_text(u).len;
    struct engine_item item = {.depth = m->depth,
                               .hops = m->hops,
                               .kind = m->kind,
                               .hint = m->has_hint ? &k->hints[n] : NULL,
                               .label = m->has_label ? &k->labels[n] : NULL};
    enum outcome_reason no;
    struct bytes host = url_host(u);

    k->hints[n] = m->hint;
    k->labels[n] = (struct link_label){bytes_of(labels, m->label.rel.len),
                                       bytes_of(labels + m->label.rel.len,
                                                m->label.text.len)};
    k->texts[k->texts_n++] = text;
    if (m->depth == 0) /* the target of a seed's redirect */
        scope_add_seed(k->rules.scope, u);
    no = candidate_take(&k->rules, u, &item);
    if (no == REASON_NONE) {
        candidate_moved(&item, text);
        k->items[k->items_n++] = item;
        return;
    }
    k->drops[k->drops_n++] =
        (struct engine_drop){.reason = no,
                             .host = bytes_of(text + (host.at - url_text(u).at),
                                              host.len),
                             .url = bytes_of(text, url_text(u).len),
                             .whole = true,
                             .kind = m->kind,
                             .hops = m->hops,
                             .depth = m->depth,
                             .label = item.label};
}

static enum status take_seed(struct shard *s, struct bytes text)
{
    struct seed seed = {.text = text};
    enum status st =
        seed_sink_more(s->engine, s->o.setup, s->o.settings, &seed, 1);

    if (seed.why != NULL)
        log_warn("a seed cannot be used", "url=\"%.*s\" why=\"%s\"",
                 (int)text.len, text.at, seed.why);
    return st;
}

static enum status take_message(struct intake *k, const struct kafka_message *m)
{
    struct shard_message in;
    enum status st = STATUS_OK;
    struct url u;

    k->s->report.received++;
    k->s->place_changed = true;
    if (shard_message_read(&in, m->value) != STATUS_OK) {
        log_error("a message from another shard is not valid",
                  "offset=%" PRId64, m->offset);
        return STATUS_OK;
    }
    if (in.seed)
        return take_seed(k->s, in.url);
    url_init(&u);
    if (candidate_read(&k->rules, &u, in.url, NULL) == URL_OK &&
        !shard_is_other(k->s->o.number, url_host(&u)))
        add_link(k, &u, &in);
    url_fini(&u);
    return st;
}

/* Takes in what others have sent; *n: how much. */
static enum status take_in(struct shard *s, int64_t now, int64_t wall_ms,
                           size_t *n)
{
    struct intake *k = xcalloc(1, sizeof *k);
    enum status st = STATUS_OK;
    struct kafka_message m;

    k->s = s;
    k->rules = s->o.setup->fetch.rules;
    k->rules.digest_key = s->own->digest_key(s->engine);
    for (*n = 0; st == STATUS_OK && *n < TAKEN_MOST; ++*n) {
        enum status got = kafka_reader_next(s->inbox, 0, &m, &s->why);

        if (got == STATUS_NOT_FOUND)
            break;
        if (got != STATUS_OK) {
            st = note_trouble(s, got, "URLs of other shards cannot be read");
            break;
        }
        st = take_message(k, &m);
        if (st == STATUS_OK && k->texts_n == BATCH)
            st = put_intake(k, now, wall_ms);
    }
    if (st == STATUS_OK)
        st = put_intake(k, now, wall_ms);
    s->offset = kafka_reader_offset(s->inbox);
    free(k);
    return st;
}

/* ---- turns ---- */

static void count(struct shard *s, size_t taken)
{
    struct engine_stats e;

    s->own->stats(s->engine, &e);
    s->report.known = true;
    s->report.idle =
        taken == 0 && kafka_reader_is_at_end(s->inbox) && !e.rejudging &&
        e.leased == 0 && e.queued == e.withheld + e.given_up && e.due == 0 &&
        !e.retrying &&
        (e.dated == 0 || e.dates_given_up || s->o.settings->until_idle);
    s->report.urls = e.urls;
    s->report.queued = e.queued;
    s->report.pages = e.pages;
    s->report.failed = e.failed;
    s->report.bytes = e.bytes;
    s->report.seeds_failed = e.seeds_failed;
}

/* Whether the shard is idle has to be said, though no row changes: a
 * transaction without URLs is opened for it. */
static enum status say_if_idle(struct shard *s, int64_t now, int64_t wall_ms)
{
    if (s->report.idle == s->told_idle)
        return STATUS_OK;
    s->place_changed = true;
    return s->own->external_discover(s->engine, NULL, 0, NULL, 0, now, wall_ms,
                                     NULL);
}

static void look_at_all(struct shard *s, int64_t now)
{
    if (s->over || !s->report.idle || now - s->looked_at < LOOK_EVERY)
        return;
    s->looked_at = now;
    if (cluster_control_poll(s->all, &s->why) == STATUS_OK)
        s->over = cluster_control_is_over(s->all);
}

static enum status shard_turn(struct engine *e, bool force, int64_t now,
                              int64_t wall_ms, uint64_t *durable)
{
    struct shard *s = shard_of(e);
    enum status st = STATUS_OK;
    size_t taken = 0;

    if (s->taking) /* a seed is being put */
        return STATUS_OK;
    s->taking = true;
    st = take_in(s, now, wall_ms, &taken);
    s->taking = false;
    if (st == STATUS_OK)
        count(s, taken);
    if (st == STATUS_OK)
        st = say_if_idle(s, now, wall_ms);
    if (st == STATUS_OK)
        st = s->own->turn(e, force, now, wall_ms, durable);
    look_at_all(s, now);
    return st;
}

/* A process that was stopped for a while may have lost its shard. */
static enum status shard_lease(struct engine *e, size_t most, int64_t now,
                               int64_t wall_ms, struct engine_lease *out,
                               size_t *n)
{
    struct shard *s = shard_of(e);

    *n = 0;
    if (s->o.owned_until != NULL &&
        clock_boot() >= atomic_load(s->o.owned_until))
        return STATUS_OK;
    return s->own->lease(e, most, now, wall_ms, out, n);
}

static void shard_stats(struct engine *e, struct engine_stats *out)
{
    struct shard *s = shard_of(e);

    s->own->stats(e, out);
    out->rejudging |= !s->over;
}

void shard_attach(struct shard *s, struct engine *e)
{
    s->engine = e;
    s->own = e->ops;
    s->ops = *e->ops;
    s->ops.turn = shard_turn;
    s->ops.lease = shard_lease;
    s->ops.stats = shard_stats;
    e->around = s;
    e->ops = &s->ops;
}

void shard_fit(struct shard *s, struct frontier_options *o)
{
    o->shard = s->o.number;
    o->send = send_item;
    o->send_ctx = s;
    o->store.follower = &s->follower;
}

bool shard_is_paused(const struct shard *s)
{
    return cluster_control_is_paused(s->all);
}

/* ---- opening ---- */

enum status shard_open(struct shard **out, const struct shard_options *o,
                       struct buf *why)
{
    struct shard *s = xcalloc(1, sizeof *s);
    struct buf id;
    enum status st;

    s->o = *o;
    s->follower = (struct db_follower){s, opened, before_commit, closing};
    buf_init(&s->state, 512);
    buf_init(&s->urls, 512);
    buf_init(&s->control, 512);
    buf_init(&s->outbox, OUTBOX_MOST);
    buf_init(&s->told, 1024);
    buf_init(&s->why, 4096);
    buf_init(&id, 512);
    cluster_topic(&s->state, o->name, "state");
    cluster_topic(&s->urls, o->name, "urls");
    cluster_topic(&s->control, o->name, "control");
    buf_addf(&id, "%s.%" PRIu32, o->name, o->number.number);
    st = kafka_producer_open(&s->producer, &o->access, buf_str(&id), why);
    if (st == STATUS_OK)
        st = kafka_producer_init(s->producer, INIT_MS, why);
    if (st == STATUS_OK)
        st = cluster_control_open(&s->all, &o->access, o->name, why);
    buf_fini(&id);
    if (st == STATUS_OK)
        *out = s;
    else
        shard_close(s);
    return st;
}

void shard_close(struct shard *s)
{
    if (s == NULL)
        return;
    kafka_producer_close(s->producer);
    kafka_reader_close(s->inbox);
    cluster_control_close(s->all);
    buf_fini(&s->state);
    buf_fini(&s->urls);
    buf_fini(&s->control);
    buf_fini(&s->outbox);
    buf_fini(&s->told);
    buf_fini(&s->why);
    free(s->outgoing);
    free(s);
}

/* ---- restoring ---- */

struct restore {
    struct shard *s;
    const char *dir;
    struct buf path;
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

static enum status take_row(struct restore *r, const struct kafka_message *m)
{
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

static enum status read_rows(struct restore *r, struct kafka_reader *in,
                             struct buf *why)
{
    struct kafka_message m;
    enum status st;

    for (int waited = 0; !kafka_reader_is_at_end(in);) {
        st = kafka_reader_next(in, 100, &m, why);
        if (st == STATUS_OK)
            st = take_row(r, &m);
        else if (st == STATUS_NOT_FOUND && (waited += 100) < INIT_MS)
            st = STATUS_OK;
        if (st != STATUS_OK)
            return st;
    }
    return STATUS_OK;
}

static enum status write_manifest(struct restore *r)
{
    struct manifest m = {.generation = 1,
                         .written_at_ms = clock_wall_ms(),
                         .state = "stopped"};
    int64_t urls = 0, fetches = 0;
    struct buf id, path;
    enum status st;

    buf_init(&id, 64);
    buf_init(&path, 4096);
    buf_addf(&path, "%s/manifest", r->dir);
    st = read_meta(r->d, "store_id", &id);
    if (st == STATUS_OK)
        st = db_number(r->d, "SELECT ifnull(max(id), 0) FROM url", &urls);
    if (st == STATUS_OK)
        st = db_number(r->d, "SELECT ifnull(max(seq), 0) FROM fetch", &fetches);
    m.urls = (uint64_t)urls;
    m.fetches = (uint64_t)fetches;
    snprintf(m.store_id, sizeof m.store_id, "%s", buf_str(&id));
    if (st == STATUS_OK)
        st = manifest_save(buf_str(&path), &m);
    buf_fini(&id);
    buf_fini(&path);
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

/* What the rows say of the shard itself. */
static enum status read_place(struct restore *r)
{
    struct shard *s = r->s;
    struct buf text;
    json_t *o;
    enum status st;

    buf_init(&text, 4096);
    st = read_meta(r->d, META_PLACE, &text);
    o = json_loadb(buf_str(&text), text.len, 0, NULL);
    s->offset = json_integer_value(json_object_get(o, "offset"));
    s->report.sent = (uint64_t)json_integer_value(json_object_get(o, "sent"));
    s->report.received =
        (uint64_t)json_integer_value(json_object_get(o, "received"));
    json_decref(o);
    buf_fini(&text);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status end_restore(struct restore *r, int64_t offset)
{
    enum status st = note_offset(r, offset);

    if (st == STATUS_OK)
        st = read_place(r);
    if (st == STATUS_OK)
        st = db_commit(r->d);
    if (st == STATUS_OK && !r->had)
        st = write_manifest(r);
    return st;
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
    *offset = strtoll(buf_str(&text), NULL, 10);
    buf_fini(&text);
    db_close(r->d);
    r->d = NULL;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status restore(struct restore *r, struct buf *why)
{
    struct shard *s = r->s;
    struct kafka_reader *in = NULL;
    int64_t offset = 0;
    uint64_t urls;
    enum status st = r->had ? own_offset(r, &offset) : STATUS_OK;

    if (st == STATUS_OK)
        st = kafka_reader_open(&in, &s->o.access, buf_str(&s->state),
                               (int)s->o.number.number, offset, why);
    if (st == STATUS_OK)
        st = read_rows(r, in, why);
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

enum status shard_restore(struct shard *s, const char *dir, bool *there,
                          struct buf *why)
{
    struct restore r = {.s = s, .dir = dir};
    uint64_t size;
    enum status st;

    buf_init(&r.path, 4096);
    buf_addf(&r.path, "%s/frontier.db", dir);
    r.had = file_size(buf_str(&r.path), &size) == STATUS_OK;
    st = restore(&r, why);
    *there = r.had || r.rows > 0;
    s->whole = !*there;
    buf_fini(&r.path);
    if (st == STATUS_OK && r.rows > 0)
        log_info("rows were read from Kafka", "shard=%" PRIu32 " rows=%" PRIu64,
                 s->o.number.number, r.rows);
    if (st == STATUS_OK)
        st = kafka_reader_open(&s->inbox, &s->o.access, buf_str(&s->urls),
                               (int)s->o.number.number, s->offset, why);
    return st;
}
