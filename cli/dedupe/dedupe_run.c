/* SPDX-License-Identifier: MIT */
/*
 * dedupe_run.c - runs `urlweir dedupe`, once its options are parsed.
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
#include "cli/dedupe/dedupe_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/format.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cli/dedupe/dedupe_pipe.h"
#include "cli/dedupe/dedupe_report.h"
#include "cli/stop_signals.h"
#include "frontier/dedupe/dedupe.h"
#include "job/dir_kind.h"

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

enum exit_code dedupe_run(const struct dedupe_command *c)
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
