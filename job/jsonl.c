/* SPDX-License-Identifier: MIT */
/*
 * jsonl.c - --jsonl: a line for each URL, when its outcome is durable.
 *
 *     open: mend the file's tail ──► after = seq of its last line
 *     thread: rows with seq > after ──► lines ──► write; none: wait a moment
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

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "crawler/html/link_kinds.h"
#include "crawler/url_columns.h"
#include "frontier/outcome.h"
#include "job/exit_code.h"
#include "job/jsonl_tail.h"
#include "storage/outcome_rows.h"

#define BATCH      512                /* rows per read */
#define LINES_MOST ((size_t)64 << 20) /* of their lines */
#define LOOK_MS    100
#define WAIT_MS    100 /* for a reader, between checks of `ending` */

enum ending { GOES_ON, FINISHES, GIVES_UP };

struct jsonl {
    int fd;
    bool is_file;     /* not a pipe or terminal */
    bool is_terminal; /* where progress may be shown, too */
    bool urls;        /* no more of a row than its URL */
    char *name;       /* for messages */
    struct outcome_rows *rows;
    pthread_t thread;
    _Atomic uint64_t *upto; /* whose owner keeps later rows; NULL: nobody */
    /* its thread */
    uint64_t after;
    struct record line;
    struct buf lines;
    /* shared, under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t changed;
    enum ending ending;
    enum status status;
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
    size_t most = j->is_file || left->len < PIPE_BUF ? left->len : PIPE_BUF;
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
    return STATUS_OK;
}

static enum status write_lines(struct jsonl *j)
{
    struct bytes left = buf_bytes(&j->lines);
    enum status st = buf_failed(&j->lines);

    if (j->is_terminal && left.len > 0)
        logger_step_aside(true);
    while (st == STATUS_OK && left.len > 0)
        st = write_some(j, &left);
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

/* ---- the thread ---------------------------------------------------------- */

static void wait_a_moment(struct jsonl *j)
{
    int64_t until = clock_mono() + LOOK_MS * NS_PER_MS;

    pthread_mutex_lock(&j->mtx);
    if (j->ending == GOES_ON)
        (void)cond_wait_until(&j->changed, &j->mtx, until);
    pthread_mutex_unlock(&j->mtx);
}

static void tell_upto(struct jsonl *j)
{
    if (j->upto != NULL)
        atomic_store(j->upto, j->after);
}

static void *follow(void *arg)
{
    struct jsonl *j = arg;
    enum status st = STATUS_OK;

    for (;;) {
        /* Checked before the read, so that it sees all rows before the end. */
        enum ending ending = ending_of(j);
        unsigned seen = 0;

        if (ending == GIVES_UP)
            break;
        st = outcome_rows_each(j->rows, j->after, BATCH, take_row, j, &seen);
        if (st == STATUS_OK)
            st = write_lines(j);
        if (st == STATUS_OK)
            tell_upto(j);
        if (st != STATUS_OK || (seen == 0 && ending == FINISHES))
            break;
        if (seen == 0)
            wait_a_moment(j);
    }
    pthread_mutex_lock(&j->mtx);
    j->status = st == STATUS_AGAIN ? STATUS_OK : st;
    j->done = true;
    pthread_mutex_unlock(&j->mtx);
    return NULL;
}

/* ---- opening ------------------------------------------------------------- */

static bool is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

bool jsonl_may_begin(const char *path)
{
    struct stat s;

    if (is_stdout(path) || stat(path, &s) != 0 || !S_ISREG(s.st_mode) ||
        s.st_size == 0)
        return true;
    fprintf(stderr,
            "urlweir crawl: --jsonl: %s is not empty; choose another file, or "
            "remove it\n",
            path);
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
    outcome_rows_close(j->rows);
    pthread_mutex_destroy(&j->mtx);
    pthread_cond_destroy(&j->changed);
    record_fini(&j->line);
    buf_fini(&j->lines);
    free(j->name);
    free(j);
}

static struct jsonl *jsonl_new(const char *path)
{
    struct jsonl *j = xcalloc(1, sizeof *j);

    j->fd = -1;
    j->name = xstrdup(is_stdout(path) ? "standard output" : path);
    record_init(&j->line, RECORD_JSONL);
    buf_init(&j->lines, LINES_MOST);
    pthread_mutex_init(&j->mtx, NULL);
    cond_init(&j->changed);
    return j;
}

bool jsonl_open(struct jsonl **out, const char *dir, const char *path,
                bool urls, _Atomic uint64_t *upto, int *code)
{
    struct jsonl *j = jsonl_new(path);
    struct buf db;
    enum status st;

    j->urls = urls;
    buf_init(&db, PATH_MAX);
    buf_addf(&db, "%s/frontier.db", dir);
    st = outcome_rows_open(&j->rows, buf_str(&db));
    buf_fini(&db);
    if (st == STATUS_OK)
        st = open_output(j, path);
    j->upto = upto;
    if (st == STATUS_OK)
        tell_upto(j);
    if (st == STATUS_OK && pthread_create(&j->thread, NULL, follow, j) != 0)
        st = STATUS_NOMEM;
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
    pthread_cond_signal(&j->changed);
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
