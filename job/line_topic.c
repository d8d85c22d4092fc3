/* SPDX-License-Identifier: MIT */
/*
 * line_topic.c - the lines of --jsonl as messages of a Kafka topic.
 *
 *     connect: init (ends an open transaction) ── topics fit? ── read back the
 *              │                                                 last line
 *              ▼
 *     add, add, ... ── commit: last line to TOPIC.urlweir ── commit
 *
 * Offsets of a consumer group could say how far TOPIC has come as well, and
 * need no second topic; but brokers forget them a week after the last commit,
 * and a crawl may stand still for longer. The ends of TOPIC itself cannot:
 * other crawls write there too, and its retention removes what is old.
 */
#include "job/line_topic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/kafka/kafka_reader.h"
#include "base/mem.h"

#define STATE_SUFFIX ".urlweir"
#define ID_MOST      64

struct line_topic {
    struct kafka_address at;
    struct kafka_access access;
    char state[KAFKA_TOPIC_MOST + sizeof STATE_SUFFIX];
    char store_id[ID_MOST];
    char **property; /* our copies */
    struct kafka_producer *producer;
    bool is_new;       /* the producer, whose init has not come through */
    bool begun, ended; /* the transaction; its last line is among it */
    bool was_connected;
    struct buf last,
        sent; /* of the last commit; of the one that is under way */
};

static enum status set_place(struct line_topic *t, const char *url,
                             const struct kafka_properties *p, struct buf *why)
{
    buf_clear(why);
    if (kafka_address_read(&t->at, url, why) != STATUS_OK)
        return STATUS_REFUSED;
    t->access = (struct kafka_access){t->at.brokers, *p};
    snprintf(t->state, sizeof t->state, "%s" STATE_SUFFIX, t->at.topic);
    return STATUS_OK;
}

/* Small segments, since the newest one is never compacted. */
static enum status ensure_topics(const struct line_topic *t, int timeout_ms,
                                 struct buf *why)
{
    static const char *const small[] = {"segment.bytes", "16777216", NULL};
    const struct kafka_topic lines = {.name = t->at.topic};
    const struct kafka_topic state = {.name = t->state,
                                      .compacted = true,
                                      .partitions = 1,
                                      .config = small};
    enum status st = kafka_topic_ensure(&t->access, &lines, timeout_ms, why);

    return st == STATUS_OK
               ? kafka_topic_ensure(&t->access, &state, timeout_ms, why)
               : st;
}

enum status line_topic_check(const char *url, const struct kafka_properties *p,
                             int timeout_ms, struct buf *why)
{
    struct line_topic t;
    enum status st = set_place(&t, url, p, why);

    return st == STATUS_OK ? ensure_topics(&t, timeout_ms, why) : st;
}

enum status line_topic_open(struct line_topic **out, const char *url,
                            const struct kafka_properties *p,
                            const char *store_id, struct buf *why)
{
    struct line_topic *t = xcalloc(1, sizeof *t);
    enum status st = set_place(t, url, p, why);

    t->property = xcalloc(p->count + 1, sizeof *t->property);
    for (size_t i = 0; i < p->count; i++)
        t->property[i] = xstrdup(p->item[i]);
    t->access.properties.item = (const char *const *)t->property;
    snprintf(t->store_id, sizeof t->store_id, "%s", store_id);
    buf_init(&t->last, KAFKA_MESSAGE_MOST);
    buf_init(&t->sent, KAFKA_MESSAGE_MOST);
    if (st == STATUS_OK)
        *out = t;
    else
        line_topic_close(t);
    return st;
}

void line_topic_close(struct line_topic *t)
{
    if (t == NULL)
        return;
    kafka_producer_close(t->producer);
    buf_fini(&t->last);
    buf_fini(&t->sent);
    for (size_t i = 0; t->property[i] != NULL; i++)
        free(t->property[i]);
    free(t->property);
    free(t);
}

/* ---- connecting ---- */

struct finding {
    struct bytes key;
    struct buf *last;
};

static enum status take_last(void *ctx, const struct kafka_message *m)
{
    struct finding *f = ctx;

    if (bytes_equal(m->key, f->key)) {
        buf_clear(f->last);
        buf_add_bytes(f->last, m->value);
    }
    return STATUS_OK;
}

/* Another crawl may have a transaction open there. */
static enum status find_last(const struct line_topic *t, int timeout_ms,
                             struct buf *last, struct buf *why)
{
    struct finding f = {.key = bytes_of_str(t->store_id), .last = last};
    struct kafka_reader *r = NULL;
    enum status st =
        kafka_reader_open(&r, &t->access, t->state, 0, KAFKA_BEGINNING, why);

    if (st == STATUS_OK)
        st = kafka_reader_read_all(r, KAFKA_END_HIGH, timeout_ms, take_last, &f,
                                   why);
    kafka_reader_close(r);
    return st;
}

/* The commit that was under way has come through, or it has not. */
static bool is_known(const struct line_topic *t, struct bytes last)
{
    return !t->was_connected || bytes_equal(last, buf_bytes(&t->last)) ||
           bytes_equal(last, buf_bytes(&t->sent));
}

static enum status read_back(struct line_topic *t, int timeout_ms,
                             struct buf *last, struct buf *why)
{
    enum status st;

    buf_clear(last);
    st = find_last(t, timeout_ms, last, why);
    if (st != STATUS_OK)
        return st;
    if (!is_known(t, buf_bytes(last))) {
        buf_clear(why);
        buf_add_str(why, "another process has sent lines of this crawl");
        return STATUS_BUSY;
    }
    buf_clear(&t->last);
    buf_add_bytes(&t->last, buf_bytes(last));
    t->was_connected = true;
    return STATUS_OK;
}

enum status line_topic_connect(struct line_topic *t, int timeout_ms,
                               struct buf *last, struct buf *why)
{
    char id[ID_MOST + 16];
    enum status st;

    snprintf(id, sizeof id, "urlweir-%s", t->store_id);
    t->begun = t->ended = false;
    st = ensure_topics(t, timeout_ms, why);
    if (st == STATUS_OK && !t->is_new) {
        kafka_producer_close(t->producer);
        t->producer = NULL;
        st = kafka_producer_open(&t->producer, &t->access, id, why);
        t->is_new = st == STATUS_OK;
    }
    if (st == STATUS_OK)
        st = kafka_producer_init(t->producer, timeout_ms, why);
    t->is_new &= st == STATUS_AGAIN;
    return st == STATUS_OK ? read_back(t, timeout_ms, last, why) : st;
}

/* ---- sending ---- */

enum status line_topic_add(struct line_topic *t, struct bytes host,
                           struct bytes line, struct buf *why)
{
    enum status st =
        t->begun ? STATUS_OK : kafka_producer_begin(t->producer, why);

    if (st == STATUS_OK) {
        t->begun = true;
        buf_clear(&t->sent);
        buf_add_bytes(&t->sent, line);
        st = kafka_producer_send(t->producer, t->at.topic, -1, host, line, why);
    }
    if (st == STATUS_REFUSED)
        buf_addf(why, " (a line of %zu octets for topic %s)", line.len,
                 t->at.topic);
    return st;
}

enum status line_topic_commit(struct line_topic *t, int timeout_ms,
                              struct buf *why)
{
    enum status st = STATUS_OK;

    if (!t->begun)
        return STATUS_OK;
    if (!t->ended)
        st = kafka_producer_send(t->producer, t->state, 0,
                                 bytes_of_str(t->store_id), buf_bytes(&t->sent),
                                 why);
    t->ended = st == STATUS_OK;
    if (st == STATUS_OK)
        st = kafka_producer_commit(t->producer, timeout_ms, why);
    if (st == STATUS_OK) {
        buf_clear(&t->last);
        buf_add_bytes(&t->last, buf_bytes(&t->sent));
        t->begun = t->ended = false;
    }
    return st;
}
