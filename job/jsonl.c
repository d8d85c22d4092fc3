/* SPDX-License-Identifier: MIT */
/*
 * jsonl.c - --jsonl: a line for each URL, in a file or a topic of Kafka, when its
 * outcome is durable.
 *
 *     open: mend the file's tail, or ask the topic ──► after = seq of its
 *           last line
 *     thread: rows with seq > after ──► lines ──► write, or a transaction;
 *             none: wait a moment
 *
 * Rows are read, and the read transaction ends, before anything is written: a
 * long read transaction keeps SQLite from reusing its log. Formatting from the
 * store takes some microseconds more per page than from the report; in
 * exchange, the same code makes all lines, before and after a crash.
 */
#include "job/jsonl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/kafka/kafka.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/thread/cond.h"
#include "crawler/html/link_values.h"
#include "crawler/url_columns.h"
#include "frontier/outcome.h"
#include "frontier/url/url.h"
#include "job/exit_code.h"
#include "job/jsonl_tail.h"
#include "storage/outcome_rows.h"

struct line_topic;

/* ---- the lines of --jsonl as messages of a Kafka topic ----
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

static void line_topic_close(struct line_topic *t);

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

/* Are the brokers there, and do the topics, made if missing, fit? */
static enum status line_topic_check(const char *url,
                                    const struct kafka_properties *p,
                                    int timeout_ms, struct buf *why)
{
    struct line_topic t;
    enum status st = set_place(&t, url, p, why);

    return st == STATUS_OK ? ensure_topics(&t, timeout_ms, why) : st;
}

/* Connects to nothing yet, and copies what it is given. STATUS_REFUSED: not a Kafka URL. */
static enum status line_topic_open(struct line_topic **out, const char *url,
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

/* NULL is fine */
static void line_topic_close(struct line_topic *t)
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

/* Ends what an earlier process left open, and sets `last` to the line that was
 * committed last, empty if there is none. Also the way on after STATUS_CLOSED.
 * STATUS_BUSY: it is a line that this line_topic has not sent. */
static enum status line_topic_connect(struct line_topic *t, int timeout_ms,
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

/* Adds a line, without a line end, to the transaction. */
static enum status line_topic_add(struct line_topic *t, struct bytes host,
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

/* Commits what was added. STATUS_AGAIN: not known yet, call it again. */
static enum status line_topic_commit(struct line_topic *t, int timeout_ms,
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

#define BATCH      512                /* rows per read */
#define LINES_MOST ((size_t)64 << 20) /* of their lines */
#define LOOK_MS    100
#define WAIT_MS    100 /* for a reader, between checks of `ending` */

/* A transaction costs brokers and us some milliseconds, so it takes what half a
 * second brings. */
#define TOPIC_BATCH   4096 /* rows */
#define TOPIC_LOOK_MS 500
#define STEP_MS       500  /* of a commit, between checks of `ending` */
#define CONNECT_MS    3000 /* the same of each step to it */
#define START_WAIT    (10 * NS_PER_S) /* for brokers, before we go on without */
#define SAY_AFTER     (5 * NS_PER_S)  /* that brokers are away */

enum ending { GOES_ON, FINISHES, GIVES_UP };

struct jsonl {
    int fd;                   /* -1: to `topic` */
    struct line_topic *topic; /* or NULL */
    bool is_file;             /* not a pipe or terminal */
    uint64_t unsynced;        /* octets of a file */
    bool is_terminal;         /* where progress may be shown, too */
    bool urls;                /* no more of a row than its URL */
    char *name;               /* for messages */
    struct outcome_rows *rows;
    pthread_t thread;
    _Atomic uint64_t *upto; /* whose owner keeps later rows; NULL: nobody */
    /* its thread */
    uint64_t after;
    struct record line;
    struct buf lines;
    struct { /* all of a topic */
        bool connected;
        enum status add; /* of the transaction's lines */
        size_t octets;   /* of them */
        int64_t away;    /* since when it has not taken lines; 0: it does */
        bool said;
        uint64_t before; /* rows that were there before this process */
        struct buf why;
    } t;
    /* shared, under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t changed;
    enum ending ending;
    enum status status;
    bool opened; /* we know where to go on */
    bool done;
};

/* ---- a line -------------------------------------------------------------- */

static void add_url(struct jsonl *j, const struct url_record *row)
{
    if (row->fetch.status != OUTCOME_FETCHED || link_is_sitemap(row->url.kind))
        return;
    buf_add_bytes(&j->lines, row->url.url);
    buf_add_char(&j->lines, '\n');
}

/* The rows after one that does not fit, or fails, are read again. */
static void send_row(void *ctx, const struct url_record *row)
{
    struct jsonl *j = ctx;
    struct bytes line;

    if (j->t.add != STATUS_OK || j->t.octets > LINES_MOST)
        return;
    if (column_view_write(&row_views[ROW_VIEW_LINES], row, &j->line, &line) ==
        STATUS_OK) {
        line.len--; /* its end */
        j->t.octets += line.len;
        j->t.add = line_topic_add(j->topic, url_canonical_host(row->url.url),
                                  line, &j->t.why);
    }
    if (j->t.add == STATUS_OK)
        j->after = row->fetch.seq;
}

static void take_row(void *ctx, const struct url_record *row)
{
    struct jsonl *j = ctx;
    struct bytes line;

    if (j->urls)
        add_url(j, row);
    else if (column_view_write(&row_views[ROW_VIEW_LINES], row, &j->line,
                               &line) == STATUS_OK)
        buf_add_bytes(&j->lines, line);
    j->after = row->fetch.seq;
}

/* ---- writing ------------------------------------------------------------- */

static enum ending ending_of(struct jsonl *j)
{
    enum ending e;

    pthread_mutex_lock(&j->mtx);
    e = j->ending;
    pthread_mutex_unlock(&j->mtx);
    return e;
}

/* Writes no more octets at once than a pipe takes without blocking after poll
 * called it writable, so that a stopped reader cannot block us. */
static enum status write_some(struct jsonl *j, struct bytes *left)
{
    struct pollfd p = {.fd = j->fd, .events = POLLOUT};
    size_t room = j->is_file ? (size_t)JSONL_SYNC_EVERY : PIPE_BUF;
    size_t most = left->len < room ? left->len : room;
    ssize_t n;

    if (!j->is_file && poll(&p, 1, WAIT_MS) == 0)
        return ending_of(j) == GIVES_UP ? STATUS_AGAIN : STATUS_OK;
    n = write(j->fd, left->at, most);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return STATUS_OK;
    if (n < 0)
        return errno == EPIPE ? STATUS_CLOSED : status_of_errno(errno);
    left->at += n;
    left->len -= (size_t)n;
    j->unsynced += (uint64_t)n;
    return STATUS_OK;
}

/* So that a power cut takes no more of a file than jsonl_tail() looks at. */
static enum status sync_some(struct jsonl *j)
{
    if (!j->is_file || j->unsynced < JSONL_SYNC_EVERY)
        return STATUS_OK;
    j->unsynced = 0;
    return fdatasync(j->fd) == 0 ? STATUS_OK : status_of_errno(errno);
}

static enum status write_lines(struct jsonl *j)
{
    struct bytes left = buf_bytes(&j->lines);
    enum status st = buf_failed(&j->lines);

    if (j->is_terminal && left.len > 0)
        logger_step_aside(true);
    while (st == STATUS_OK && left.len > 0) {
        st = write_some(j, &left);
        if (st == STATUS_OK)
            st = sync_some(j);
    }
    if (j->is_terminal && j->lines.len > 0)
        logger_step_aside(false);
    if (st == STATUS_CLOSED)
        log_warn("the reader of the lines has gone", "to=%s", j->name);
    else if (st == STATUS_AGAIN)
        log_warn("cannot write lines", "to=%s octets=%zu", j->name, left.len);
    else if (st != STATUS_OK)
        log_error("cannot write lines", "to=%s error=\"%s\"", j->name,
                  status_text(st));
    buf_clear(&j->lines);
    return st;
}

static void wait_a_moment(struct jsonl *j, int ms)
{
    int64_t until = clock_mono() + ms * NS_PER_MS;

    pthread_mutex_lock(&j->mtx);
    while (j->ending == GOES_ON && cond_wait_until(&j->changed, &j->mtx, until))
        continue;
    pthread_mutex_unlock(&j->mtx);
}

static void tell_upto(struct jsonl *j)
{
    if (j->upto != NULL)
        atomic_store(j->upto, j->after);
}

/* ---- a topic -------------------------------------------------------------- */

static void note_opened(struct jsonl *j)
{
    pthread_mutex_lock(&j->mtx);
    j->opened = true;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->mtx);
}

/* Says once that lines wait, and once that they do no longer. */
static void note_topic(struct jsonl *j, enum status st)
{
    int64_t now = clock_mono();

    if (st == STATUS_OK) {
        if (j->t.said)
            log_warn("the brokers take lines again", "to=%s", j->name);
        j->t.said = false;
        j->t.away = 0;
    } else if (j->t.away == 0) {
        j->t.away = now;
    } else if (!j->t.said && now - j->t.away >= SAY_AFTER) {
        log_warn("the brokers take no lines; they wait in the store",
                 "to=%s error=\"%s\"", j->name, buf_str(&j->t.why));
        j->t.said = true;
    }
}

static enum status go_on_topic(struct jsonl *j, struct bytes line);

/* Finds out where to go on, also after a transaction that failed. STATUS_AGAIN:
 * not yet. */
static enum status connect_topic(struct jsonl *j)
{
    struct buf last;
    enum status st;

    buf_init(&last, KAFKA_MESSAGE_MOST);
    st = line_topic_connect(j->topic, CONNECT_MS, &last, &j->t.why);
    if (st == STATUS_CLOSED || (st == STATUS_REFUSED && j->opened))
        st = STATUS_AGAIN; /* it has worked before */
    note_topic(j, st);
    if (st == STATUS_OK)
        st = go_on_topic(j, buf_bytes(&last));
    buf_fini(&last);
    if (st == STATUS_OK) {
        j->t.connected = true;
        tell_upto(j);
        note_opened(j);
    }
    return st;
}

/* Commits the lines of send_row(). */
static enum status commit_topic(struct jsonl *j)
{
    enum status st = j->t.add;

    while (st == STATUS_OK || st == STATUS_AGAIN) {
        st = line_topic_commit(j->topic, STEP_MS, &j->t.why);
        note_topic(j, st);
        if (st == STATUS_OK || ending_of(j) == GIVES_UP)
            break;
    }
    j->t.connected = st == STATUS_OK;
    j->t.octets = 0;
    j->t.add = STATUS_OK;
    if (st == STATUS_CLOSED)
        log_info("a transaction of lines failed; it is sent again",
                 "to=%s error=\"%s\"", j->name, buf_str(&j->t.why));
    return st;
}

static enum status follow_topic(struct jsonl *j)
{
    for (;;) {
        enum ending ending = ending_of(j);
        enum status st;
        unsigned seen = 0;

        if (ending == GIVES_UP)
            return STATUS_AGAIN;
        if (!j->t.connected) {
            st = connect_topic(j);
            if (st != STATUS_OK && st != STATUS_AGAIN)
                return st;
            if (st == STATUS_AGAIN)
                wait_a_moment(j, LOOK_MS);
            continue;
        }
        st = outcome_rows_each(j->rows, j->after, TOPIC_BATCH, send_row, j,
                               &seen);
        if (st == STATUS_OK && seen > 0)
            st = commit_topic(j);
        if (st == STATUS_OK)
            tell_upto(j);
        else if (st != STATUS_CLOSED)
            return st;
        if (st == STATUS_OK && seen == 0 && ending == FINISHES)
            return STATUS_OK;
        if (seen < TOPIC_BATCH)
            wait_a_moment(j, TOPIC_LOOK_MS);
    }
}

/* ---- the thread ---------------------------------------------------------- */

static enum status follow_rows(struct jsonl *j)
{
    for (;;) {
        /* Checked before the read, so that it sees all rows before the end. */
        enum ending ending = ending_of(j);
        unsigned seen = 0;
        enum status st;

        if (ending == GIVES_UP)
            return STATUS_OK;
        st = outcome_rows_each(j->rows, j->after, BATCH, take_row, j, &seen);
        if (st == STATUS_OK)
            st = write_lines(j);
        if (st == STATUS_OK)
            tell_upto(j);
        if (st != STATUS_OK || (seen == 0 && ending == FINISHES))
            return st;
        if (seen == 0)
            wait_a_moment(j, LOOK_MS);
    }
}

static void *follow(void *arg)
{
    struct jsonl *j = arg;
    enum status st = j->topic != NULL ? follow_topic(j) : follow_rows(j);

    if (st == STATUS_BUSY || st == STATUS_REFUSED)
        log_error("cannot send lines", "to=%s error=\"%s\"", j->name,
                  buf_str(&j->t.why));
    pthread_mutex_lock(&j->mtx);
    j->status = st == STATUS_AGAIN ? STATUS_OK : st;
    j->done = true;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->mtx);
    return NULL;
}

/* ---- opening ------------------------------------------------------------- */

static bool is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

struct jsonl_options jsonl_options_of(const struct crawl_settings *s)
{
    return (struct jsonl_options){
        .dir = s->output,
        .path = s->jsonl,
        .kafka = {s->kafka_property.item, s->kafka_property.count},
    };
}

static bool topic_may_begin(const struct jsonl_options *o)
{
    struct buf why;
    enum status st;

    buf_init(&why, 4096);
    st = line_topic_check(o->path, &o->kafka, (int)(START_WAIT / NS_PER_MS),
                          &why);
    if (st != STATUS_OK)
        fprintf(stderr, "urlweir: --jsonl: %s: %s\n", o->path, buf_str(&why));
    buf_fini(&why);
    return st == STATUS_OK;
}

bool jsonl_may_begin(const struct jsonl_options *o)
{
    struct stat s;

    if (o->path == NULL)
        return true;
    if (kafka_address_is_url(o->path))
        return topic_may_begin(o);
    if (is_stdout(o->path) || stat(o->path, &s) != 0 || !S_ISREG(s.st_mode) ||
        s.st_size == 0)
        return true;
    fprintf(stderr,
            "urlweir crawl: --jsonl: %s is not empty; choose another file, or "
            "remove it\n",
            o->path);
    return false;
}

struct expected {
    struct jsonl *j;
    enum status st;
};

/* A run without lines may have removed the row of the last one. */
static bool is_removed(struct expected *x, uint64_t seq)
{
    bool maybe = false;

    x->st = outcome_rows_thinned(x->j->rows, seq, &maybe);
    if (maybe)
        log_warn("fetches after the last line may have been removed; there are "
                 "no lines for them",
                 "to=%s seq=%" PRIu64 " option=keep-history", x->j->name, seq);
    return maybe;
}

/* Comparing the start of a line is enough: a later release may add fields. */
static bool is_row(void *ctx, uint64_t seq, struct bytes line)
{
    struct expected *x = ctx;
    struct jsonl *j = x->j;
    struct bytes want;
    unsigned seen;
    const char *comma;
    bool same = false;

    buf_clear(&j->lines);
    x->st = outcome_rows_each(j->rows, seq - 1, 1, take_row, j, &seen);
    want = buf_bytes(&j->lines);
    comma =
        want.len > 0 ? memmem(want.at, want.len, "\", \"status\": ", 12) : NULL;
    if (x->st == STATUS_OK && seen == 1 && j->after == seq && comma != NULL) {
        want.len = (size_t)(comma - want.at) + 12;
        same = line.len >= want.len && memcmp(line.at, want.at, want.len) == 0;
    }
    buf_clear(&j->lines);
    if (!same && x->st == STATUS_OK && j->after != seq)
        same = is_removed(x, seq);
    return same;
}

static enum status go_on(struct jsonl *j)
{
    struct expected x = {.j = j, .st = STATUS_OK};
    uint64_t last = 0, keep = 0, seq = 0;
    enum status st = outcome_rows_last(j->rows, &last);

    if (st == STATUS_OK)
        st = jsonl_tail(j->fd, last, is_row, &x, &keep, &seq);
    if (x.st != STATUS_OK)
        st = x.st;
    if (st == STATUS_OK && ftruncate(j->fd, (off_t)keep) != 0)
        st = status_of_errno(errno);
    j->after = seq;
    if (st == STATUS_FORMAT)
        fprintf(stderr,
                "urlweir: --jsonl: %s is not a file of this crawl's lines "
                "(octet %" PRIu64 "); choose another file, or remove it\n",
                j->name, keep);
    else if (st != STATUS_OK)
        fprintf(stderr, "urlweir: --jsonl: %s: %s\n", j->name, status_text(st));
    return st;
}

/* `line` is the last one of the topic; lines that the store has lost since
 * cannot be taken back from there. Until the topic was reached once none of
 * this process's rows has a line, however many there are by now: what is there
 * beyond the rows before it was sent for others. */
static enum status go_on_topic(struct jsonl *j, struct bytes line)
{
    struct expected x = {.j = j, .st = STATUS_OK};
    uint64_t last = j->t.before, seq = 0;
    enum status st = j->opened ? outcome_rows_last(j->rows, &last) : STATUS_OK;
    bool ours = line.len == 0 || (jsonl_line_seq(line, &seq) &&
                                  (seq > last || is_row(&x, seq, line)));

    j->after = seq < last ? seq : last;
    if (st != STATUS_OK || x.st != STATUS_OK)
        return st != STATUS_OK ? st : x.st;
    if (!ours) {
        buf_clear(&j->t.why);
        buf_add_str(&j->t.why,
                    "the last line there is not one of this crawl's rows; "
                    "choose another topic");
        return STATUS_REFUSED;
    }
    if (seq > last)
        log_warn("the topic has lines of rows that the store has lost",
                 "to=%s lines=%" PRIu64 " rows=%" PRIu64, j->name, seq, last);
    return STATUS_OK;
}

static enum status open_output(struct jsonl *j, const char *path)
{
    struct stat s;

    if (is_stdout(path)) {
        j->fd = STDOUT_FILENO;
        j->is_terminal = isatty(j->fd) && isatty(STDERR_FILENO);
        return outcome_rows_last(j->rows, &j->after);
    }
    j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (j->fd < 0 && errno == EINVAL) /* a pipe, maybe */
        j->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (j->fd < 0 || fstat(j->fd, &s) != 0) {
        fprintf(stderr, "urlweir: --jsonl: cannot open %s: %s\n", path,
                strerror(errno));
        return STATUS_IO;
    }
    j->is_file = S_ISREG(s.st_mode);
    return j->is_file ? go_on(j) : outcome_rows_last(j->rows, &j->after);
}

static void jsonl_free(struct jsonl *j)
{
    if (j->fd > STDOUT_FILENO)
        close(j->fd);
    line_topic_close(j->topic);
    outcome_rows_close(j->rows);
    pthread_mutex_destroy(&j->mtx);
    pthread_cond_destroy(&j->changed);
    record_fini(&j->line);
    buf_fini(&j->lines);
    buf_fini(&j->t.why);
    free(j->name);
    free(j);
}

static struct jsonl *jsonl_new(const struct jsonl_options *o)
{
    struct jsonl *j = xcalloc(1, sizeof *j);

    j->fd = -1;
    j->urls = o->urls;
    j->upto = o->upto;
    j->name = xstrdup(is_stdout(o->path) ? "standard output" : o->path);
    record_init(&j->line, RECORD_JSONL);
    buf_init(&j->lines, LINES_MOST);
    buf_init(&j->t.why, 4096);
    pthread_mutex_init(&j->mtx, NULL);
    cond_init(&j->changed);
    return j;
}

static enum status open_topic(struct jsonl *j, const struct jsonl_options *o)
{
    struct buf id;
    enum status st;

    buf_init(&id, 64);
    st = outcome_rows_store_id(j->rows, &id);
    if (st == STATUS_OK)
        st = outcome_rows_last(j->rows, &j->t.before);
    if (st == STATUS_OK)
        st = line_topic_open(&j->topic, o->path, &o->kafka, buf_str(&id),
                             &j->t.why);
    if (st != STATUS_OK)
        fprintf(stderr, "urlweir: --jsonl: %s: %s\n", j->name,
                j->t.why.len > 0 ? buf_str(&j->t.why) : status_text(st));
    buf_fini(&id);
    return st;
}

/* Waits for the thread to find out where to go on in a topic. Brokers that do
 * not answer in time are waited for while the crawl goes on. */
static enum status wait_until_opened(struct jsonl *j)
{
    int64_t until = clock_mono() + START_WAIT;
    enum status st;

    pthread_mutex_lock(&j->mtx);
    while (!j->opened && !j->done &&
           cond_wait_until(&j->changed, &j->mtx, until))
        continue;
    st = j->status;
    pthread_mutex_unlock(&j->mtx);
    if (st != STATUS_OK)
        pthread_join(j->thread, NULL);
    return st;
}

bool jsonl_open(struct jsonl **out, const struct jsonl_options *o, int *code)
{
    struct jsonl *j = jsonl_new(o);
    struct buf db;
    enum status st;

    buf_init(&db, PATH_MAX);
    buf_addf(&db, "%s/frontier.db", o->dir);
    st = outcome_rows_open(&j->rows, buf_str(&db));
    buf_fini(&db);
    if (st == STATUS_OK)
        st = kafka_address_is_url(o->path) ? open_topic(j, o)
                                           : open_output(j, o->path);
    if (st == STATUS_OK)
        tell_upto(j);
    if (st == STATUS_OK && pthread_create(&j->thread, NULL, follow, j) != 0)
        st = STATUS_NOMEM;
    if (st == STATUS_OK && j->topic != NULL)
        st = wait_until_opened(j);
    if (st != STATUS_OK) {
        jsonl_free(j);
        *code = EXIT_CANNOT;
        return false;
    }
    *out = j;
    return true;
}

/* ---- what the main thread asks ------------------------------------------- */

enum status jsonl_status(struct jsonl *j)
{
    enum status st;

    pthread_mutex_lock(&j->mtx);
    st = j->status;
    pthread_mutex_unlock(&j->mtx);
    return st;
}

static void end(struct jsonl *j, enum ending ending)
{
    pthread_mutex_lock(&j->mtx);
    j->ending = ending;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->mtx);
}

void jsonl_finish(struct jsonl *j)
{
    end(j, FINISHES);
}

void jsonl_give_up(struct jsonl *j)
{
    end(j, GIVES_UP);
}

bool jsonl_is_done(struct jsonl *j)
{
    bool done;

    pthread_mutex_lock(&j->mtx);
    done = j->done;
    pthread_mutex_unlock(&j->mtx);
    return done;
}

enum status jsonl_close(struct jsonl *j)
{
    enum status st;

    if (j == NULL)
        return STATUS_OK;
    pthread_join(j->thread, NULL);
    st = j->status;
    if (j->is_file && fdatasync(j->fd) != 0 && st == STATUS_OK) {
        st = status_of_errno(errno);
        log_error("cannot sync lines", "to=%s error=\"%s\"", j->name,
                  status_text(st));
    }
    jsonl_free(j);
    return st;
}
