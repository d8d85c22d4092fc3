/* SPDX-License-Identifier: MIT */
/*
 * shard.c - one shard of a crawl on many machines.
 *
 *     turn     URLs of NAME.urls ──► frontier ──► URLs of others ──► outbox
 *     commit   rows (shard_rows.h), outbox, report ──► one Kafka transaction
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
#include <sys/random.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/kafka/kafka.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cluster/cluster_control.h"
#include "cluster/cluster_topics.h"
#include "cluster/permits.h"
#include "cluster/shard_message.h"
#include "cluster/shard_rows.h"
#include "frontier/candidate.h"
#include "job/seed_sink.h"

#define OUTBOX_MOST ((size_t)512 << 20) /* octets of a commit's URLs */
#define TAKEN_MOST  1000                /* messages of a turn */
#define ANSWER_MS   30000               /* of brokers */
#define BATCH       256
#define SENT        ((size_t)1 << 16) /* digests remembered */
#define LOOK_EVERY  (500 * NS_PER_MS) /* at the other shards, when idle */
#define TRIM_EVERY  (30 * NS_PER_S)   /* what was read is deleted */
#define TRIM_IDLE   (1 * NS_PER_S)
#define SOON        (1 * NS_PER_S)   /* a permit is kept for a URL due then */
#define REST        (20 * NS_PER_MS) /* while nothing may be leased */

/* A commit of Kafka costs some milliseconds, whatever is in it. So a fast web
 * fills it: these pages may be fetched again after a kill, but none that is
 * older than the frontier's commit_interval. */
#define COMMIT_LEAST 256

struct outgoing {
    uint32_t shard;
    size_t at, len;
};

struct shard {
    struct shard_options o;
    struct buf urls, control; /* names of the topics */
    struct shard_rows *rows;
    struct kafka_reader *inbox;
    struct cluster_control *all;
    struct frontier *frontier;
    struct frontier_around around; /* what the frontier asks */

    /* the transaction that is open */
    struct outgoing *outgoing;
    size_t outgoing_count, outgoing_cap;
    struct buf outbox;

    int64_t offset;      /* the next of NAME.urls */
    int64_t noted, safe; /* the same in a commit; in one that is done */
    int64_t trimmed;     /* messages before are deleted */
    int64_t trimmed_at;
    struct shard_report report;
    struct buf told; /* the record that was sent last */
    bool told_idle;  /* what it says */
    bool place_changed, taking, over;
    int64_t looked_at;
    struct permits *permits; /* of `all` */
    struct permit_need need;
    bool soon;           /* a URL is due soon */
    bool may_be_limited; /* limits were set after the start */
    int64_t needed_at;   /* the last time that URLs were due soon */
    uint64_t sent_digests[SENT];
    struct buf why;
};

/* ---- to others ---- */

static bool was_sent(struct shard *s, const struct url_item *item)
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

static void send_item(void *ctx, const struct url_item *item, uint64_t via)
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

/* How far NAME.urls was read, and counts: a row like others. */
static enum status write_place(void *ctx)
{
    struct shard *s = ctx;
    char text[256];

    s->safe = s->noted; /* the commit before is done */
    if (!s->place_changed)
        return STATUS_OK;
    snprintf(text, sizeof text,
             "{\"offset\":%" PRId64 ",\"sent\":%" PRIu64
             ",\"received\":%" PRIu64 "}",
             s->offset, s->report.sent, s->report.received);
    s->place_changed = false;
    s->noted = s->offset;
    return shard_rows_note(s->rows, text);
}

static enum status send_outbox(struct shard *s)
{
    enum status st = buf_failed(&s->outbox);

    for (size_t i = 0; st == STATUS_OK && i < s->outgoing_count; i++)
        st = shard_rows_send(s->rows, &s->urls, s->outgoing[i].shard,
                             bytes_of("", 0),
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
        st = shard_rows_send(s->rows, &s->control, 0, buf_bytes(&key),
                             buf_bytes(&value));
    buf_clear(&s->told);
    buf_add_bytes(&s->told, buf_bytes(&value));
    s->told_idle = s->report.idle;
    buf_fini(&key);
    buf_fini(&value);
    return st;
}

/* What the shard has fetched, is fetching, and could fetch. */
static void count_need(struct shard *s)
{
    struct frontier_counts e;
    uint64_t waits;

    frontier_get_own_counts(s->frontier, &e);
    waits = e.leased + e.withheld + e.given_up + e.blocked;
    s->need.used[PERMIT_PAGES] = e.pages + e.leased;
    s->need.used[PERMIT_BYTES] = e.bytes;
    s->need.urls =
        s->soon ? e.due + (e.queued > waits ? e.queued - waits : 0) : 0;
}

static enum status send_claim(struct shard *s)
{
    struct buf key, value;
    enum status st;

    if (s->permits == NULL || s->frontier == NULL)
        return STATUS_OK;
    count_need(s);
    if (!permits_want(s->permits, &s->need))
        return STATUS_OK;
    buf_init(&key, 64);
    buf_init(&value, 1024);
    permits_claim(s->permits, &s->need, &key, &value);
    st = shard_rows_send(s->rows, &s->control, 0, buf_bytes(&key),
                         buf_bytes(&value));
    buf_fini(&key);
    buf_fini(&value);
    return st;
}

static enum status send_all(void *ctx)
{
    struct shard *s = ctx;
    enum status st = send_outbox(s);

    if (st == STATUS_OK)
        st = send_claim(s);
    if (st == STATUS_OK &&
        s->report.known && /* not while the crawl is being opened */
        (shard_rows_has_sent(s->rows) || s->report.idle != s->told_idle ||
         s->told.len == 0))
        st = send_report(s);
    s->outgoing_count = 0;
    buf_clear(&s->outbox);
    return st;
}

/* ---- from others ---- */

struct intake {
    struct shard *s;
    struct candidate_rules rules;
    struct url_item items[BATCH];
    struct url_drop drops[BATCH];
    struct url_hint hints[BATCH];
    struct link_label labels[BATCH];
    size_t items_n, drops_n;
    char *texts[BATCH]; /* of items, then of drops */
    size_t texts_n;
};

static enum status put_intake(struct intake *k, int64_t now, int64_t wall_ms)
{
    uint64_t ids[BATCH];
    struct frontier *e = k->s->frontier;
    enum status st = k->items_n + k->drops_n > 0
                         ? external_discover(e, k->items, k->items_n, k->drops,
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
    struct url_item item = {.depth = m->depth,
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
        (struct url_drop){.reason = no,
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
        seed_sink_more(s->frontier, s->o.setup, s->o.settings, &seed, 1);

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
    k->rules.digest_key = frontier_get_digest_key(s->frontier);
    for (*n = 0; st == STATUS_OK && *n < TAKEN_MOST; ++*n) {
        enum status got = kafka_reader_next(s->inbox, 0, &m, &s->why);

        if (got == STATUS_NOT_FOUND)
            break;
        if (got != STATUS_OK) {
            log_error("URLs of other shards cannot be read",
                      "shard=%" PRIu32 " why=\"%s\"", s->o.number.number,
                      buf_str(&s->why));
            st = STATUS_CLOSED;
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
    struct frontier_counts e;

    frontier_get_own_counts(s->frontier, &e);
    s->report.known = true;
    s->report.idle =
        taken == 0 && kafka_reader_is_at_end(s->inbox) && !e.rejudging &&
        e.leased == 0 && e.queued == e.withheld + e.given_up && e.due == 0 &&
        !e.retrying &&
        (e.dated == 0 || e.dates_given_up || s->o.settings->until_idle);
    s->report.given_up = e.queued > 0 || e.dates_given_up || e.due_given_up;
    s->report.urls = e.urls;
    s->report.queued = e.queued;
    s->report.pages = e.pages;
    s->report.failed = e.failed;
    s->report.bytes = e.bytes;
    s->report.seeds_failed = e.seeds_failed;
}

/* Whether the shard is idle, and what it wants to fetch, has to be said though
 * no row changes: a transaction without URLs is opened for it. */
static enum status say_what_is_new(struct shard *s, int64_t now,
                                   int64_t wall_ms)
{
    /* Others may wait to hear of it at all. */
    bool idle = s->report.idle != s->told_idle || s->told.len == 0;

    if (!idle && !permits_want(s->permits, &s->need))
        return STATUS_OK;
    s->place_changed |= idle;
    return external_discover(s->frontier, NULL, 0, NULL, 0, now, wall_ms, NULL);
}

/* What others sent and every later restore has as rows can go. */
static void trim_urls(struct shard *s, int64_t now)
{
    int64_t every = s->report.idle ? TRIM_IDLE : TRIM_EVERY;

    if (s->safe <= s->trimmed || now - s->trimmed_at < every)
        return;
    shard_rows_trim(s->rows, &s->urls, s->safe);
    s->trimmed = s->safe;
    s->trimmed_at = now;
}

/* At the log, with limits in each turn: claims count when they are read back. */
static void look_at_all(struct shard *s, int64_t now)
{
    bool limited = permits_are_limited(s->permits) || s->may_be_limited;

    if (s->over ||
        (!limited && (!s->report.idle || now - s->looked_at < LOOK_EVERY)))
        return;
    s->looked_at = now;
    if (cluster_control_poll(s->all, &s->why) == STATUS_OK && s->report.idle)
        s->over = cluster_control_is_over(s->all);
}

static void note_need(struct shard *s, int64_t now)
{
    int64_t due = frontier_own_due(s->frontier, now, NULL);

    /* INT64_MAX: maybe a queue is drained without requests, by leasing. */
    s->soon = due <= now + SOON || due == INT64_MAX;
    count_need(s);
    if (s->need.urls > 0)
        s->needed_at = now;
    s->need.unused = now - s->needed_at > SOON;
}

static enum status before_turn(void *ctx, int64_t now, int64_t wall_ms)
{
    struct shard *s = ctx;
    enum status st = STATUS_OK;
    size_t taken = 0;

    if (s->taking) /* a seed is being put */
        return STATUS_AGAIN;
    s->taking = true;
    st = take_in(s, now, wall_ms, &taken);
    s->taking = false;
    if (st == STATUS_OK)
        count(s, taken);
    look_at_all(s, now);
    trim_urls(s, now);
    note_need(s, now);
    return st == STATUS_OK ? say_what_is_new(s, now, wall_ms) : st;
}

/* A process that was stopped for a while may have lost its shard. */
static bool is_owned(const struct shard *s)
{
    return s->o.owned_until == NULL ||
           clock_boot() < atomic_load(s->o.owned_until);
}

/* How many pages may be begun within --limit and --quota. */
static uint64_t room(struct shard *s)
{
    if (!permits_are_limited(s->permits))
        return UINT64_MAX;
    count_need(s);
    return permits_left(s->permits, PERMIT_BYTES, s->need.used[PERMIT_BYTES]) >
                   0
               ? permits_left(s->permits, PERMIT_PAGES,
                              s->need.used[PERMIT_PAGES])
               : 0;
}

static size_t may_lease(void *ctx, size_t most)
{
    struct shard *s = ctx;
    uint64_t left = is_owned(s) ? room(s) : 0;

    return most < left ? most : (size_t)left;
}

/* What is due may not be leased yet: the frontier thread does not turn in
 * vain. */
static int64_t later_due(void *ctx, int64_t due, int64_t now)
{
    struct shard *s = ctx;

    return due < now + REST && (!is_owned(s) || room(s) == 0) ? now + REST
                                                              : due;
}

static void limits_set(void *ctx)
{
    struct shard *s = ctx;

    s->may_be_limited = true;
}

static void change_counts(void *ctx, struct frontier_counts *out)
{
    struct shard *s = ctx;
    enum permit_kind which;

    if (permits_are_spent(s->permits,
                          &which)) /* its limit keeps what is left */
        out->withheld = out->queued - out->given_up;
    else
        out->rejudging |= !s->over;
}

void shard_attach(struct shard *s, struct frontier *f)
{
    s->frontier = f;
    s->around = (struct frontier_around){
        .ctx = s,
        .before_turn = before_turn,
        .may_lease = may_lease,
        .due = later_due,
        .limits_set = limits_set,
        .counts = change_counts,
    };
    frontier_set_around(f, &s->around);
}

void shard_fit(struct shard *s, struct frontier_options *o)
{
    o->shard = s->o.number;
    o->taken_at = clock_mono();
    o->commit_least = COMMIT_LEAST;
    if (o->in_flight < (size_t)2 * COMMIT_LEAST)
        o->in_flight = (size_t)2 * COMMIT_LEAST;
    o->send = send_item;
    o->send_ctx = s;
    o->store.follower = shard_rows_follower(s->rows);
}

bool shard_is_paused(const struct shard *s)
{
    return cluster_control_is_paused(s->all);
}

/* ---- opening ---- */

static enum status own_permits(struct shard *s)
{
    uint64_t by = 0;

    while (by == 0)
        if (getrandom(&by, sizeof by, 0) != sizeof by)
            return STATUS_IO;
    s->permits = cluster_control_permits(s->all);
    permits_own(s->permits, s->o.number.number, by);
    return STATUS_OK;
}

enum status shard_open(struct shard **out, const struct shard_options *o,
                       struct buf *why)
{
    struct shard *s = xcalloc(1, sizeof *s);
    const struct shard_rows_options rows = {.access = o->access,
                                            .name = o->name,
                                            .number = o->number,
                                            .before = write_place,
                                            .after = send_all,
                                            .ctx = s};
    enum status st;

    s->o = *o;
    snprintf(s->report.worker, sizeof s->report.worker, "%s", o->worker);
    buf_init(&s->urls, 512);
    buf_init(&s->control, 512);
    buf_init(&s->outbox, OUTBOX_MOST);
    buf_init(&s->told, 1024);
    buf_init(&s->why, 4096);
    cluster_topic(&s->urls, o->name, "urls");
    cluster_topic(&s->control, o->name, "control");
    st = shard_rows_open(&s->rows, &rows, why);
    if (st == STATUS_OK)
        st = cluster_control_open(&s->all, &o->access, o->name, why);
    if (st == STATUS_OK)
        st = cluster_check_suffixes(s->all, why);
    if (st == STATUS_OK)
        st = own_permits(s);
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
    shard_rows_close(s->rows);
    kafka_reader_close(s->inbox);
    cluster_control_close(s->all);
    buf_fini(&s->urls);
    buf_fini(&s->control);
    buf_fini(&s->outbox);
    buf_fini(&s->told);
    buf_fini(&s->why);
    free(s->outgoing);
    free(s);
}

/* What the rows say of the shard itself: how far NAME.urls was read. */
static int64_t read_place(const struct buf *text, struct shard_report *r)
{
    json_t *o = json_loadb(buf_str(text), text->len, 0, NULL);
    int64_t offset = json_integer_value(json_object_get(o, "offset"));

    r->sent = (uint64_t)json_integer_value(json_object_get(o, "sent"));
    r->received = (uint64_t)json_integer_value(json_object_get(o, "received"));
    json_decref(o);
    return offset;
}

enum status shard_restore(struct shard *s, const char *dir, bool *there,
                          struct buf *why)
{
    struct buf place;
    enum status st;

    buf_init(&place, 4096);
    st = shard_rows_restore(s->rows, dir, there, &place, why);
    s->offset = read_place(&place, &s->report);
    buf_fini(&place);
    if (st == STATUS_OK)
        st = kafka_reader_open(&s->inbox, &s->o.access, buf_str(&s->urls),
                               (int)s->o.number.number, s->offset, why);
    return st;
}

/* ---- by others ---- */

struct on_way {
    enum status (*visit)(void *ctx, const struct shard_message *m);
    void *ctx;
};

static enum status visit_on_way(void *ctx, const struct kafka_message *m)
{
    struct on_way *w = ctx;
    struct shard_message in;

    return shard_message_read(&in, m->value) == STATUS_OK
               ? w->visit(w->ctx, &in)
               : STATUS_OK; /* its shard says so */
}

enum status shard_each_on_way(
    const struct kafka_access *a, const char *name, uint32_t shard,
    const struct buf *note,
    enum status (*visit)(void *ctx, const struct shard_message *m), void *ctx,
    struct buf *why)
{
    struct on_way w = {visit, ctx};
    struct kafka_reader *in = NULL;
    struct shard_report counts;
    struct buf urls;
    enum status st;

    buf_init(&urls, 512);
    cluster_topic(&urls, name, "urls");
    st = kafka_reader_open(&in, a, buf_str(&urls), (int)shard,
                           read_place(note, &counts), why);
    if (st == STATUS_OK)
        st = kafka_reader_read_all(in, KAFKA_END_COMMITTED, ANSWER_MS,
                                   visit_on_way, &w, why);
    kafka_reader_close(in);
    buf_fini(&urls);
    return st;
}
