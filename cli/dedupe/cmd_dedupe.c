/* SPDX-License-Identifier: MIT */
/* cmd_dedupe.c - `urlweir dedupe`: prints each line whose URL is new. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/file/line_input.h"
#include "base/format.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/dedupe/dedupe_report.h"
#include "cli/stop_signals.h"
#include "frontier/dedupe/dedupe.h"
#include "frontier/url/url.h"
#include "job/dir_kind.h"

/*
 * Batches of lines, read and digested by threads, in order.
 *
 * Parsing a URL costs as much as everything else done for a line, so several
 * threads do it: each locks the input to cut a batch off it, then parses that
 * batch while others read on. The ring between them and the owner is bounded:
 * the faster side waits.
 *
 * The owner is one thread; dedupe_pipe_stop() may be called from any.
 *
 * A ring of slots, numbered as the input is read: batch number n is in slot n
 * modulo SLOTS. The states of a slot:
 *
 *     FREE --a thread fills it, holding `input`--> WORK --parsed--> READY
 *       ^---------------------- released by the owner ---------------'
 *
 * The mutex `input` lets one thread at a time read and take a number; `mtx`
 * guards the states. A thread holds `input` while it waits for a slot, so the
 * others wait for it, and batches are read in order of their numbers.
 */

struct dedupe_pipe;
struct dedupe_batch {
    struct line_batch in;
    bool valid[LINE_BATCH_LINES];            /* has a digest */
    struct digest digests[LINE_BATCH_LINES]; /* of valid lines, in order */
    size_t digest_count;
    /* Canonical forms of valid lines, in order, each with its LF, if asked for;
     * text_end has the end of each in `text`. */
    struct buf text;
    size_t text_end[LINE_BATCH_LINES];
};

struct dedupe_pipe_options {
    unsigned threads; /* at least 1 */
    bool with_text;   /* keep canonical forms */
};

#define SLOTS        6
#define THREADS_MOST 4
/* Room for the canonical text of a batch: percent-encoding makes at most three
 * octets of one, and a line may be long. */
#define TEXT_MOST (4 * (LINE_MOST + LINE_BATCH_BYTES))
/* A buffer larger than this, after a batch of long lines, is freed. */
#define TEXT_KEPT (2 * LINE_BATCH_BYTES)

enum slot_state { SLOT_FREE, SLOT_WORK, SLOT_READY };

struct slot {
    enum slot_state state;
    struct dedupe_batch batch;
};

struct dedupe_pipe {
    struct line_input *in;
    const struct dedupe *set;
    bool with_text;
    pthread_t threads[THREADS_MOST];
    unsigned started;
    /* under input */
    pthread_mutex_t input;
    uint64_t filled; /* batches numbered so far */
    /* under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t ready, freed;
    uint64_t next; /* the owner's next batch */
    uint64_t last; /* number of batches, once `ended` */
    bool ended, leaving;
    enum status status;
    struct slot slots[SLOTS];
};

/* ---- the threads ---- */

static void digest_line(const struct dedupe_pipe *p, struct dedupe_batch *b,
                        size_t i, struct url *url)
{
    const struct line *l = &b->in.lines[i];
    struct digest *to = &b->digests[b->digest_count];

    b->valid[i] = l->kind == LINE_WHOLE &&
                  dedupe_digest(p->set, bytes_of(b->in.text + l->at, l->len),
                                url, to) == URL_OK;
    if (!b->valid[i])
        return;
    if (p->with_text) {
        buf_add_bytes(&b->text, url_text(url));
        buf_add_char(&b->text, '\n');
        b->text_end[b->digest_count] = b->text.len;
    }
    b->digest_count++;
}

static void digest_batch(const struct dedupe_pipe *p, struct dedupe_batch *b,
                         struct url *url)
{
    b->digest_count = 0;
    if (b->text.cap > TEXT_KEPT)
        buf_fini(&b->text);
    buf_clear(&b->text);
    for (size_t i = 0; i < b->in.count; i++)
        digest_line(p, b, i, url);
}

/* Waits for the slot of the next number; NULL: the pipe is being freed. */
static struct slot *wait_for_slot(struct dedupe_pipe *p)
{
    struct slot *s = &p->slots[p->filled % SLOTS];
    bool leaving;

    pthread_mutex_lock(&p->mtx);
    while (s->state != SLOT_FREE && !p->leaving && !p->ended)
        pthread_cond_wait(&p->freed, &p->mtx);
    leaving = p->leaving || p->ended;
    if (!leaving)
        s->state = SLOT_WORK;
    pthread_mutex_unlock(&p->mtx);
    return leaving ? NULL : s;
}

static void end_input(struct dedupe_pipe *p, struct slot *s, enum status st)
{
    pthread_mutex_lock(&p->mtx);
    s->state = SLOT_FREE;
    p->ended = true;
    p->last = p->filled;
    p->status = st == STATUS_CLOSED ? STATUS_OK : st;
    pthread_cond_broadcast(&p->ready);
    pthread_cond_broadcast(&p->freed);
    pthread_mutex_unlock(&p->mtx);
}

/* Cuts a batch off the input, not parsed yet; NULL: there is no more. */
static struct slot *take_input(struct dedupe_pipe *p)
{
    struct slot *s;
    enum status st;

    pthread_mutex_lock(&p->input);
    s = wait_for_slot(p);
    if (s != NULL) {
        st = line_input_fill(p->in, &s->batch.in);
        if (st == STATUS_OK) {
            p->filled++;
        } else {
            end_input(p, s, st);
            s = NULL;
        }
    }
    pthread_mutex_unlock(&p->input);
    return s;
}

static void *work(void *arg)
{
    struct dedupe_pipe *p = arg;
    struct slot *s;
    struct url url;

    url_init(&url);
    while ((s = take_input(p)) != NULL) {
        digest_batch(p, &s->batch, &url);
        pthread_mutex_lock(&p->mtx);
        s->state = SLOT_READY;
        pthread_cond_signal(&p->ready);
        pthread_mutex_unlock(&p->mtx);
    }
    url_fini(&url);
    return NULL;
}

/* ---- the owner ---- */

static void init_waiting(struct dedupe_pipe *p)
{
    pthread_mutex_init(&p->input, NULL);
    pthread_mutex_init(&p->mtx, NULL);
    cond_init(&p->ready);
    pthread_cond_init(&p->freed, NULL);
}

static void join(struct dedupe_pipe *p)
{
    pthread_mutex_lock(&p->mtx);
    p->leaving = true;
    pthread_cond_broadcast(&p->freed);
    pthread_mutex_unlock(&p->mtx);
    line_input_stop(p->in);
    for (unsigned i = 0; i < p->started; i++)
        pthread_join(p->threads[i], NULL);
}

/* Stops, waits for the threads, frees. NULL is fine. */
static void dedupe_pipe_free(struct dedupe_pipe *p)
{
    if (p == NULL)
        return;
    join(p);
    for (int i = 0; i < SLOTS; i++) {
        line_batch_fini(&p->slots[i].batch.in);
        buf_fini(&p->slots[i].batch.text);
    }
    pthread_cond_destroy(&p->ready);
    pthread_cond_destroy(&p->freed);
    pthread_mutex_destroy(&p->mtx);
    pthread_mutex_destroy(&p->input);
    free(p);
}

/* Starts reading. `in` and `set` are borrowed and outlive the pipe; of `set`
 * only dedupe_digest() is used. STATUS_LIMIT: no thread could be started. */
static enum status dedupe_pipe_start(struct dedupe_pipe **out,
                                     struct line_input *in,
                                     const struct dedupe *set,
                                     const struct dedupe_pipe_options *o)
{
    struct dedupe_pipe *p = xcalloc(1, sizeof *p);
    unsigned n = o->threads < THREADS_MOST ? o->threads : THREADS_MOST;

    p->in = in;
    p->set = set;
    p->with_text = o->with_text;
    init_waiting(p);
    for (int i = 0; i < SLOTS; i++) {
        line_batch_init(&p->slots[i].batch.in);
        buf_init(&p->slots[i].batch.text, TEXT_MOST);
    }
    while (p->started < n &&
           pthread_create(&p->threads[p->started], NULL, work, p) == 0)
        p->started++;
    if (p->started == 0) {
        dedupe_pipe_free(p);
        return STATUS_LIMIT;
    }
    *out = p;
    return STATUS_OK;
}

static bool all_done(const struct dedupe_pipe *p)
{
    return p->ended && p->next == p->last;
}

/* The next batch in the order of the input; NULL: none came within
 * `timeout_ns`, or, if *ended, none will. Valid until it is released. */
static struct dedupe_batch *dedupe_pipe_next(struct dedupe_pipe *p,
                                             int64_t timeout_ns, bool *ended)
{
    struct slot *s = &p->slots[p->next % SLOTS];
    int64_t until = clock_mono() + timeout_ns;
    bool ready, late = false;

    pthread_mutex_lock(&p->mtx);
    while (s->state != SLOT_READY && !all_done(p) && !late)
        late = !cond_wait_until(&p->ready, &p->mtx, until);
    ready = s->state == SLOT_READY;
    *ended = all_done(p);
    pthread_mutex_unlock(&p->mtx);
    return ready ? &s->batch : NULL;
}

static void dedupe_pipe_release(struct dedupe_pipe *p)
{
    pthread_mutex_lock(&p->mtx);
    p->slots[p->next % SLOTS].state = SLOT_FREE;
    p->next++;
    pthread_cond_signal(&p->freed);
    pthread_mutex_unlock(&p->mtx);
}

/* At the end: STATUS_OK, or the failure of line_input_fill(). */
static enum status dedupe_pipe_status(const struct dedupe_pipe *p)
{
    return p->status;
}

/*
 * Runs `urlweir dedupe`, once its options are parsed: from the
 * first line to the summary, with signals and errors.
 *
 * Each turn of the loop takes the next batch from the pipe, asks the set which
 * of its lines are new, writes those out and lets the set settle. Lines are
 * written out, and synced if stdout is a file, before the set commits them, so
 * after a crash lines may be repeated but are never lost.
 *
 * Signals are blocked everywhere and handled by a thread of their own: the
 * first stops reading, the second ends the process at once, which does not harm
 * a stored set.
 */

struct dedupe_command {
    const char *const *files;
    size_t file_count;
    const char *dir; /* NULL: the set is not stored */
    uint64_t memory;
    unsigned threads;
    bool raw;
    bool canonical;    /* print canonical forms */
    bool keep_invalid; /* print lines that are not a URL */
    bool verify;
    bool json, quiet;
};

#define COMMIT_EVERY NS_PER_S
#define COMMIT_FRESH UINT64_C(2000000) /* 32 MiB of log */
#define TURN         (100 * NS_PER_MS) /* longest wait for a batch */
#define OUT_BYTES    ((size_t)512 << 10)

enum failure { FAIL_NONE, FAIL_INPUT, FAIL_OUTPUT, FAIL_READER_GONE, FAIL_SET };

struct run {
    const struct dedupe_command *c;
    struct line_input *in;
    struct dedupe *set;
    struct dedupe_pipe *pipe;
    struct dedupe_report *report; /* NULL: quiet */
    struct dedupe_progress progress;
    int64_t start, committed_at;
    uint64_t fresh; /* since the last commit */
    bool sync_out;  /* stdout is a file and the set is stored */
    bool fresh_of[DEDUPE_BATCH];
    struct {
        char *at;
        size_t len;
    } out;
    enum failure failure;
    enum status status; /* of FAIL_SET */
    int error;          /* errno of FAIL_OUTPUT */
    pthread_t watcher;
    atomic_bool interrupted;
};

_Static_assert(LINE_BATCH_LINES <= DEDUPE_BATCH, "one batch, one question");

/* ---- signals ---- */

static void *watch(void *arg)
{
    struct run *r = arg;
    int64_t last = 0;
    sigset_t set;
    int which;

    stop_signals(&set);
    for (;;) {
        if (sigwait(&set, &which) != 0)
            return NULL;
        if (!stop_signals_is_wish(&last))
            continue;
        if (atomic_exchange(&r->interrupted, true))
            _exit(EXIT_INTERRUPTED);
        line_input_stop(r->in);
    }
}

/* Runs before any other thread is started, since they inherit the blocked
 * signals. */
static bool start_watching(struct run *r)
{
    stop_signals_block();
    return pthread_create(&r->watcher, NULL, watch, r) == 0;
}

static void stop_watching(struct run *r)
{
    pthread_cancel(r->watcher);
    pthread_join(r->watcher, NULL);
}

/* ---- output ---- */

static bool write_all(struct run *r, const char *at, size_t len)
{
    while (len > 0 && r->failure == FAIL_NONE) {
        ssize_t n = write(STDOUT_FILENO, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            r->error = errno;
            r->failure = errno == EPIPE ? FAIL_READER_GONE : FAIL_OUTPUT;
            break;
        }
        at += n;
        len -= (size_t)n;
    }
    return r->failure == FAIL_NONE;
}

static bool flush(struct run *r)
{
    size_t len = r->out.len;

    r->out.len = 0;
    return write_all(r, r->out.at, len);
}

static void put(struct run *r, struct bytes text)
{
    if (r->out.len + text.len > OUT_BYTES)
        flush(r);
    if (text.len > OUT_BYTES) {
        write_all(r, text.at, text.len);
        return;
    }
    memcpy(r->out.at + r->out.len, text.at, text.len);
    r->out.len += text.len;
}

/* Syncs the output before a commit records it. */
static bool sync_output(struct run *r)
{
    if (r->sync_out && fdatasync(STDOUT_FILENO) != 0) {
        r->error = errno;
        r->failure = FAIL_OUTPUT;
    }
    return r->failure == FAIL_NONE;
}

/* A killed run may have left half a line at the end of the file we append to:
 * end that line first. */
static void end_torn_line(struct run *r)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    struct stat s;
    off_t at;
    char last;
    int fd;

    if (flags < 0 || fstat(STDOUT_FILENO, &s) != 0 || !S_ISREG(s.st_mode))
        return;
    r->sync_out = true;
    at =
        (flags & O_APPEND) != 0 ? s.st_size : lseek(STDOUT_FILENO, 0, SEEK_CUR);
    if (at <= 0 || at > s.st_size)
        return;
    fd = open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (pread(fd, &last, 1, at - 1) == 1 && last != '\n')
        write_all(r, "\n", 1);
    close(fd);
}

/* ---- one batch ---- */

/* Line i as it was read, with its LF if it has one. */
static struct bytes line_text(const struct line_batch *b, size_t i)
{
    size_t end = i + 1 < b->count ? b->lines[i + 1].at : b->len;

    return bytes_of(b->text + b->lines[i].at, end - b->lines[i].at);
}

static struct bytes canonical_text(const struct dedupe_batch *b, size_t k)
{
    size_t from = k > 0 ? b->text_end[k - 1] : 0;

    return bytes_of(b->text.at + from, b->text_end[k] - from);
}

static void put_invalid(struct run *r, const struct dedupe_batch *b, size_t i)
{
    bool counts = b->in.lines[i].kind != LINE_LONG_MORE;

    r->progress.lines += counts;
    r->progress.invalid += counts;
    if (r->c->keep_invalid)
        put(r, line_text(&b->in, i));
}

static void put_lines(struct run *r, const struct dedupe_batch *b)
{
    size_t k = 0; /* index among valid lines */

    for (size_t i = 0; i < b->in.count; i++) {
        if (!b->valid[i]) {
            put_invalid(r, b, i);
            continue;
        }
        r->progress.lines++;
        if (r->fresh_of[k]) {
            r->fresh++;
            r->progress.unique++;
            put(r,
                r->c->canonical ? canonical_text(b, k) : line_text(&b->in, i));
        } else {
            r->progress.duplicates++;
        }
        k++;
    }
    r->progress.bytes = b->in.read;
}

static bool set_failed(struct run *r, enum status st)
{
    if (st != STATUS_OK && r->failure == FAIL_NONE) {
        r->failure = FAIL_SET;
        r->status = st;
    }
    return st != STATUS_OK;
}

static void take_batch(struct run *r, const struct dedupe_batch *b)
{
    enum status st =
        buf_failed(&b->text) == STATUS_OK ? STATUS_OK : STATUS_NOMEM;

    if (st == STATUS_OK)
        st = dedupe_take(r->set, b->digests, b->digest_count, r->fresh_of);
    if (set_failed(r, st))
        return;
    put_lines(r, b);
    if (flush(r))
        fault_point("dedupe-written");
}

/* ---- the loop ---- */

static void settle(struct run *r, int64_t now)
{
    bool commit =
        dedupe_unsettled(r->set) &&
        (now - r->committed_at >= COMMIT_EVERY || r->fresh >= COMMIT_FRESH);

    if (commit && !sync_output(r))
        return;
    if (set_failed(r, dedupe_settle(r->set, commit)) || !commit)
        return;
    r->committed_at = now;
    r->fresh = 0;
}

static void report(struct run *r, int64_t now)
{
    r->progress.elapsed_ms = (now - r->start) / NS_PER_MS;
    if (r->report != NULL)
        dedupe_report_update(r->report, &r->progress, now);
}

static void loop(struct run *r)
{
    bool ended = false;

    while (r->failure == FAIL_NONE) {
        struct dedupe_batch *b = dedupe_pipe_next(r->pipe, TURN, &ended);
        int64_t now = clock_mono();

        if (b == NULL && ended)
            break;
        if (b != NULL) {
            take_batch(r, b);
            dedupe_pipe_release(r->pipe);
        }
        if (r->failure == FAIL_NONE)
            settle(r, now);
        report(r, now);
    }
    if (r->failure == FAIL_NONE && dedupe_pipe_status(r->pipe) != STATUS_OK)
        r->failure = FAIL_INPUT;
}

static void run_pipe(struct run *r)
{
    struct dedupe_pipe_options o = {.threads = r->c->threads,
                                    .with_text = r->c->canonical};

    if (set_failed(r, dedupe_pipe_start(&r->pipe, r->in, r->set, &o)))
        return;
    loop(r);
    /* Lines read before the input failed have been written out. */
    if (r->failure == FAIL_NONE || r->failure == FAIL_INPUT) {
        enum failure before = r->failure;

        r->failure = FAIL_NONE;
        if (sync_output(r))
            r->failure = before;
    }
    dedupe_pipe_free(r->pipe);
}

/* ---- errors ---- */

static enum exit_code say_refusal(const struct dedupe_command *c,
                                  enum status st,
                                  const struct dedupe_refusal *why)
{
    struct buf dir;
    enum exit_code code = EXIT_CANNOT;

    buf_init(&dir, 1 << 16);
    format_terminal(&dir, bytes_of_str(c->dir != NULL ? c->dir : "$TMPDIR"));
    fprintf(stderr, "urlweir dedupe: ");
    switch (st) {
    case STATUS_BUSY:
        fprintf(stderr, "%s is in use by process %ld\n", buf_str(&dir),
                why->holder);
        break;
    case STATUS_ARG:
        fprintf(stderr,
                "the set in %s compares lines by %s, and %s was asked for; "
                "%s\n",
                buf_str(&dir), why->kept, why->asked,
                strcmp(why->kept, "octets") == 0    ? "give --raw"
                : strcmp(why->asked, "octets") == 0 ? "leave --raw out"
                                                    : "start a new set");
        break;
    case STATUS_DAMAGED:
        fprintf(stderr,
                "the set in %s is damaged: put back a copy of the directory, "
                "or remove it, and every line counts as new again\n",
                buf_str(&dir));
        code = EXIT_DAMAGED;
        break;
    case STATUS_VERSION:
        fprintf(stderr, "the set in %s was written by another release\n",
                buf_str(&dir));
        break;
    default:
        fprintf(stderr, "cannot keep the set in %s: %s\n", buf_str(&dir),
                st == STATUS_EXISTS ? "it is not a directory"
                                    : status_text(st));
    }
    buf_fini(&dir);
    return code;
}

/* A line that is too long is not compared. With --invalid keep it has been
 * printed; without, nobody has seen it. */
static enum exit_code say_too_long(const struct run *r)
{
    const uint64_t n = line_input_too_long(r->in);

    if (n == 0 || r->c->keep_invalid)
        return EXIT_DONE;
    fprintf(stderr,
            "urlweir dedupe: %" PRIu64 " line%s over 1 MiB %s left out; "
            "--invalid keep prints such lines\n",
            n, n == 1 ? "" : "s", n == 1 ? "was" : "were");
    return EXIT_CANNOT;
}

static enum exit_code say_failure(const struct run *r)
{
    static const struct dedupe_refusal none;

    switch (r->failure) {
    case FAIL_INPUT:
        fprintf(stderr, "urlweir dedupe: cannot read %s\n",
                line_input_error(r->in));
        return EXIT_CANNOT;
    case FAIL_OUTPUT:
        fprintf(stderr, "urlweir dedupe: cannot write to stdout: %s\n",
                strerror(r->error));
        return EXIT_CANNOT;
    case FAIL_SET:
        return say_refusal(r->c, r->status, &none);
    default:
        return r->interrupted ? EXIT_INTERRUPTED : say_too_long(r);
    }
}

/* Ends by SIGPIPE, ignored until now, as filters do when nobody reads their
 * output. */
static void die_of_sigpipe(void)
{
    sigset_t set;

    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(SIGPIPE);
}

static void say_summary(const struct run *r, const struct dedupe_stats *stats)
{
    struct dedupe_summary s = {.all = r->progress,
                               .known = stats->count,
                               .known_before = stats->before,
                               .memory = dedupe_peak_memory(),
                               .disk = stats->disk,
                               .dir = r->c->dir,
                               .interrupted = r->interrupted};
    struct buf b;

    buf_init(&b, 1 << 16);
    if (!r->c->json)
        dedupe_summary_text(&b, &s);
    else if (dedupe_summary_json(&b, &s) != STATUS_OK)
        buf_clear(&b);
    fwrite(buf_str(&b), 1, b.len, stderr);
    buf_fini(&b);
}

/* ---- from start to end ---- */

static enum status open_set(struct run *r, struct dedupe_refusal *why)
{
    struct dedupe_options o = {.dir = r->c->dir,
                               .identity =
                                   r->c->raw ? DEDUPE_OCTETS : DEDUPE_CANONICAL,
                               .memory = r->c->memory};
    enum status st = dedupe_open(&r->set, &o, why);

    if (st == STATUS_OK && r->c->verify)
        st = dedupe_verify(r->set);
    return st;
}

static enum exit_code run_with_set(struct run *r)
{
    struct dedupe_stats stats;
    enum status st;

    if (!r->c->quiet && !r->c->json)
        r->report = dedupe_report_new(r->start);
    if (r->c->dir != NULL)
        end_torn_line(r);
    run_pipe(r);
    dedupe_report_free(r->report);
    st = dedupe_close(r->set,
                      r->failure == FAIL_NONE || r->failure == FAIL_INPUT,
                      &stats);
    r->set = NULL;
    if (r->failure == FAIL_NONE || r->failure == FAIL_INPUT)
        set_failed(r, st);
    r->progress.elapsed_ms = (clock_mono() - r->start) / NS_PER_MS;
    if (r->failure == FAIL_NONE && close(STDOUT_FILENO) != 0) {
        r->error = errno;
        r->failure = FAIL_OUTPUT;
    }
    if (!r->c->quiet && r->failure == FAIL_NONE)
        say_summary(r, &stats);
    return say_failure(r);
}

static enum exit_code open_and_run(struct run *r)
{
    struct dedupe_refusal why = {0};
    enum status st;

    if (line_input_check(r->in) != STATUS_OK) {
        r->failure = FAIL_INPUT;
        return say_failure(r);
    }
    if (r->c->dir != NULL && !dir_kind_check(r->c->dir, DIR_SET, "dedupe"))
        return EXIT_CANNOT;
    st = open_set(r, &why);
    if (st == STATUS_OK)
        return run_with_set(r);
    (void)!dedupe_close(r->set, false, NULL);
    return say_refusal(r->c, st, &why);
}

/* Prints errors on stderr. Ends the process by SIGPIPE, as other filters do,
 * when nobody reads its output. */
static enum exit_code dedupe_run(const struct dedupe_command *c)
{
    struct run *r = xcalloc(1, sizeof *r);
    enum exit_code code;
    bool reader_gone;

    /* That a filter has reached its share of memory is not worth a log line
     * here. */
    logger_set_level(LOG_LEVEL_ERROR);
    r->c = c;
    r->start = r->committed_at = clock_mono();
    r->out.at = xmalloc(OUT_BYTES);
    r->in = line_input_new(c->files, c->file_count);
    line_input_refuse(r->in, STDOUT_FILENO);
    if (c->raw)
        line_input_take_octets(r->in);
    r->progress.size = line_input_size(r->in);
    if (start_watching(r)) {
        code = open_and_run(r);
        stop_watching(r);
    } else {
        fprintf(stderr, "urlweir dedupe: cannot start a thread\n");
        code = EXIT_CANNOT;
    }
    reader_gone = r->failure == FAIL_READER_GONE;
    line_input_free(r->in);
    free(r->out.at);
    free(r);
    if (reader_gone)
        die_of_sigpipe();
    return code;
}

enum invalid_choice { INVALID_DROP, INVALID_KEEP };

struct dedupe_settings {
    bool raw, canonical;
    enum invalid_choice invalid;
    char *state;
    uint64_t memory;
    int64_t threads;
    bool verify;
    bool json, quiet;
    uint8_t from[9];
};

static const char *const invalid_words[] = {"drop", "keep", NULL};

#define FIELD(name) offsetof(struct dedupe_settings, name)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "raw", .type = OPTION_FLAG, .at = FIELD(raw), .section = "Lines",
     .help = "compare lines by their bytes, whether they are URLs or not"},
    {.name = "canonical", .type = OPTION_FLAG, .at = FIELD(canonical),
     .section = "Lines",
     .help = "print the canonical form instead of the line itself"},
    {.name = "invalid", .type = OPTION_CHOICE, .at = FIELD(invalid),
     .fallback = "drop", .words = invalid_words, .section = "Lines",
     .help = "what to do with lines that are not http or https URLs, or are "
             "longer than 1 MiB; keep prints each of them"},
    {.name = "state", .type = OPTION_TEXT, .at = FIELD(state), .section = "Set",
     .arg = "DIR",
     .help = "keep the set in DIR; a later run prints only what no run has "
             "printed"},
    {.name = "memory", .type = OPTION_SIZE, .at = FIELD(memory),
     .fallback = "512M", .min = (double)DEDUPE_MEMORY_LEAST, .max = 1e15,
     .section = "Set", .arg = "SIZE",
     .help = "memory to stay below; what does not fit goes to DIR, or to an "
             "unnamed file in $TMPDIR"},
    {.name = "verify", .type = OPTION_FLAG, .at = FIELD(verify),
     .section = "Set",
     .help = "first read all of the set in DIR and check it"},
    {.name = "threads", .type = OPTION_COUNT, .at = FIELD(threads),
     .fallback = "cores", .bare = "cores", .min = 1, .max = 256,
     .section = "Set", .arg = "N",
     .help = "threads that read and parse; more than 4 bring nothing"},
    {.name = "json", .type = OPTION_FLAG, .at = FIELD(json),
     .section = "Output",
     .help = "the summary on stderr as one JSON object, and no progress "
             "(docs/formats/dedupe.md)"},
    {.name = "quiet", .letter = 'q', .type = OPTION_FLAG, .at = FIELD(quiet),
     .section = "Output",
     .help = "errors only: no progress, no summary"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct dedupe_settings);

static unsigned threads_of(const struct dedupe_settings *s)
{
    long n = s->threads > 0 ? (long)s->threads : sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 ? (unsigned)n : 1;
}

#define ROOM_FOR_HUGE_PAGES (UINT64_C(128) << 20)

/* The kernel may use huge pages unasked, for the heap too; then some MiB more
 * are resident than were ever written. If little memory is allowed, we disable
 * them; with so little memory they would save no time either. */
static void keep_within(uint64_t memory)
{
    if (memory < ROOM_FOR_HUGE_PAGES)
        (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

static int dedupe_command_run(const struct usage *u, void *settings,
                              const struct option_list *files)
{
    const struct dedupe_settings *s = settings;
    const struct dedupe_command c = {
        .files = files->item,
        .file_count = files->count,
        .dir = s->state,
        .memory = s->memory,
        .threads = threads_of(s),
        .raw = s->raw,
        .canonical = s->canonical,
        .keep_invalid = s->invalid == INVALID_KEEP,
        .verify = s->verify,
        .json = s->json,
        .quiet = s->quiet,
    };

    if (s->raw && s->canonical)
        return usage_error(u, "--raw and --canonical contradict each "
                              "other: --raw compares bytes, which have "
                              "no canonical form");
    if (s->verify && s->state == NULL)
        return usage_error(u, "--verify is about the set of --state DIR");
    keep_within(c.memory);
    return (int)dedupe_run(&c);
}

const struct usage dedupe_usage = {
    .name = "dedupe",
    .synopsis = "dedupe [FILE...] [options]",
    .about = "Prints each line of the files, or of stdin, whose canonical URL "
             "has not been seen before, unchanged and in order. Exact, also "
             "for lists larger than memory. Files may be gzip, zstd or "
             "bzip2; `-` is stdin.",
    .table = &table,
    .least = 0,
    .most = SIZE_MAX,
    .operand = "a file",
    .run = dedupe_command_run,
};
