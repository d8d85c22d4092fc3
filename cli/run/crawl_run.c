/* SPDX-License-Identifier: MIT */
/*
 * crawl_run.c - run a crawl to its end: signals, progress, summary, exit.
 *
 * Every thread blocks the signals and only this one waits for them, so no
 * handler ever runs in the middle of anything.
 */
#include "cli/run/crawl_run.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/format.h"
#include "base/listen_address.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/thread/cond.h"
#include "cli/command.h"
#include "cli/control/control_place.h"
#include "cli/control/control_socket.h"
#include "cli/crawl_command_line.h"
#include "cli/open_crawl.h"
#include "cli/report/progress.h"
#include "cli/report/summary.h"
#include "cli/stop_signals.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/reader.h"
#include "job/crawl_credentials.h"
#include "job/crawl_jobs/confine.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "job/crawl_setup.h"
#include "job/exit_code.h"
#include "job/jsonl.h"
#include "job/registry/crawls.h"
#include "job/settings/options.h"
#include "job/settings/settings.h"
#include "service/calls/call.h"
#include "service/calls/call_crawl.h"
#include "service/http/http_server.h"
#include "service/service.h"

/*
 * The address of --metrics: /metrics, the dashboard, and the
 * HTTP API for reading.
 */

enum status metrics_port_open(struct http_server **out, const char *what,
                              const struct crawl_settings *s,
                              struct http_options o)
{
    enum status st = listen_address_is_loopback(s->metrics, &o.loopback);

    o.listen = s->metrics;
    o.drain_ms = METRICS_DRAIN_MS;
    o.dir = s->output;
    o.open_role = AUTH_READ;
    if (st == STATUS_OK)
        st = http_server_open(out, &o);
    if (st != STATUS_OK)
        fprintf(stderr,
                "urlweir %s: --metrics %s cannot be served, as said above; "
                "nothing was fetched\n",
                what, s->metrics);
    else if (!s->quiet)
        fprintf(stderr, "urlweir %s: HTTP on %s\n", what,
                http_server_address(*out));
    return st;
}

#define NOTE_MOST 900

struct crawl_control {
    const char *what;
    struct file_lock *lock; /* NULL: there are no servers */
    struct crawl_jobs *host;
    struct crawls *crawls;
    struct crawl_job *member; /* NULL: none is attached */
    struct control_socket *socket;
    struct http_server *http; /* of --metrics */
};

/* ---- beginning and end ---- */

static void write_note(struct crawl_control *c)
{
    struct buf note;

    if (c->lock == NULL)
        return;
    buf_init(&note, NOTE_MOST);
    control_note(&note, c->what,
                 c->http != NULL ? http_server_address(c->http) : NULL, false);
    file_lock_note(c->lock, buf_str(&note));
    buf_fini(&note);
}

enum status crawl_control_new(struct crawl_control **out, const char *what)
{
    struct crawl_control *c = xcalloc(1, sizeof *c);
    struct crawl_factory factory;
    enum status st;

    c->what = what;
    c->host = crawl_jobs_new(&(struct crawl_jobs_options){.quiet = true});
    factory = crawl_jobs_factory(c->host);
    st = crawls_open(&c->crawls, NULL, &factory);
    if (st == STATUS_OK)
        *out = c;
    else
        crawl_control_close(c);
    return st;
}

bool crawl_control_open(struct crawl_control **out, const char *what,
                        const struct crawl_settings *s, struct file_lock *lock,
                        int *code)
{
    struct crawl_control *c = NULL;
    enum status st = crawl_control_new(&c, what);

    *code = EXIT_CANNOT;
    if (st != STATUS_OK)
        fprintf(stderr, "urlweir %s: cannot start a thread: %s\n", what,
                status_text(st));
    if (st == STATUS_OK && s->metrics != NULL)
        st = metrics_port_open(&c->http, what, s,
                               (struct http_options){.crawls = c->crawls});
    if (st != STATUS_OK) {
        crawl_control_close(c);
        return false;
    }
    c->lock = lock;
    c->socket =
        control_socket_open(s->output, NULL, c->crawls, METRICS_DRAIN_MS);
    confine_seal();
    write_note(c);
    *out = c;
    return true;
}

struct crawls *crawl_control_crawls(const struct crawl_control *c)
{
    return c->crawls;
}

void crawl_control_attach(struct crawl_control *c, struct crawl_setup *setup,
                          const struct crawl_settings *s,
                          struct frontier *frontier, struct crawl *crawl)
{
    c->member = crawl_job_attach(setup, s, frontier, crawl);
    crawls_attach(c->crawls, CRAWL_ID, s->output, c->member);
}

/* Has `urlweir stop` been called for this crawl? The caller then stops it. */
static bool crawl_control_stopped(const struct crawl_control *c)
{
    return crawls_attached_stopped(c->crawls);
}

/* Ends the calls and forgets the crawl; call it before crawl_free. */
static void crawl_control_release(struct crawl_control *c)
{
    if (c->crawls == NULL)
        return;
    control_socket_close(c->socket);
    http_server_close(c->http);
    (void)crawls_close(c->crawls); /* it runs no crawl that could fail */
    crawl_job_release(c->member);
    c->socket = NULL;
    c->http = NULL;
    c->crawls = NULL;
    c->member = NULL;
    write_note(c);
}

void crawl_control_close(struct crawl_control *c)
{
    if (c == NULL)
        return;
    crawl_control_release(c);
    crawl_jobs_free(c->host);
    free(c);
}

/*
 * End a process when one of its fetchers does not come back.
 *
 * exit(3) would run destructors of libraries that the fetcher's thread may be
 * using.
 */

void stuck_end(int code)
{
    fflush(stdout);
    fflush(stderr);
    _exit(code);
}

#define TICK     (50 * NS_PER_MS) /* how long a signal may go unnoticed */
#define PATIENCE (3 * NS_PER_S)   /* for a reader of --jsonl, after a stop */

bool crawl_lock(const char *dir, const char *what, struct file_lock **lock,
                int *code)
{
    char path[4096];
    long holder = 0;
    enum status st;

    *code = EXIT_CANNOT;
    st = strcmp(what, "crawl") == 0 || strcmp(what, "import") == 0
             ? file_make_dir(dir)
             : STATUS_OK;
    if (st != STATUS_OK) {
        fprintf(stderr, "urlweir %s: cannot make the directory %s: %s\n", what,
                dir,
                st == STATUS_EXISTS ? "a file of that name is there"
                                    : status_text(st));
        return false;
    }
    snprintf(path, sizeof path, "%s/lock", dir);
    st = file_lock_take(lock, path, what, &holder);
    if (st == STATUS_BUSY)
        fprintf(stderr,
                "urlweir %s: %s is in use by process %ld; wait for it, or end "
                "it with `urlweir stop %s`\n",
                what, dir, holder, dir);
    else if (st == STATUS_NOT_FOUND)
        fprintf(stderr, "urlweir %s: no crawl in %s\n", what, dir);
    else if (st != STATUS_OK)
        fprintf(stderr, "urlweir %s: cannot lock %s: %s%s\n", what, dir,
                status_text(st),
                st == STATUS_READ_ONLY
                    ? "; copy the directory to where it can be written, and "
                      "give the command for the copy"
                    : "");
    return st == STATUS_OK;
}

int crawl_open_failed(enum status st, const char *dir)
{
    switch (st) {
    case STATUS_DAMAGED:
    case STATUS_FORMAT:
        fprintf(
            stderr,
            "urlweir: the crawl in %s is damaged and was not touched.\n"
            "  `urlweir verify %s` says what is wrong, and whether --repair "
            "can accept what is\n"
            "  left; what is lost is then fetched again. If not, restore the "
            "directory from a copy.\n",
            dir, dir);
        return EXIT_DAMAGED;
    case STATUS_NOT_FOUND:
        fprintf(stderr,
                "urlweir: no crawl in %s: it ended before anything was "
                "stored; give the same `urlweir crawl` command again\n",
                dir);
        return EXIT_CANNOT;
    case STATUS_EXISTS:
        fprintf(stderr,
                "urlweir: %s holds a crawl already; `urlweir resume %s` "
                "continues it\n",
                dir, dir);
        return EXIT_CANNOT;
    case STATUS_VERSION:
        fprintf(stderr,
                "urlweir: the crawl in %s was written by a newer "
                "release; use that one\n",
                dir);
        return EXIT_CANNOT;
    case STATUS_REFUSED:
        fprintf(stderr,
                "urlweir: %s is a shard of a crawl on many machines, and no "
                "crawl by itself: give the command for the directory of its "
                "worker, or the URL of the crawl\n",
                dir);
        return EXIT_CANNOT;
    case STATUS_FULL:
        fprintf(stderr,
                "urlweir: no space left on the disk of %s; free some "
                "and give the command again\n",
                dir);
        return EXIT_LIMIT;
    default:
        fprintf(stderr, "urlweir: cannot open the crawl in %s: %s\n", dir,
                status_text(st));
        return EXIT_CANNOT;
    }
}

/* Waits for a signal, at most TICK. True: one came, and is no echo of that at
 * *last. */
static bool signal_came(int64_t *last)
{
    const struct timespec tick = {.tv_nsec = TICK};
    sigset_t set;

    stop_signals(&set);
    return sigtimedwait(&set, NULL, &tick) >= 0 && stop_signals_is_wish(last);
}

static void wait_for_signal(struct crawl *c, unsigned *stops, int64_t *last)
{
    if (!signal_came(last))
        return;
    crawl_stop(c);
    if (++*stops == 1)
        log_warn("stopping: finishing requests under way",
                 "hint=\"press it again to stop at once\"");
    else
        log_warn("stopping at once", "%s", "");
}

/* ---- `urlweir stop` and `pause` ---- */

static void heed_control(struct crawl *c, const struct crawl_control *control,
                         unsigned *stops)
{
    if (*stops > 0 || !crawl_control_stopped(control))
        return;
    crawl_stop(c);
    *stops = 1;
    log_warn("stopping: finishing requests under way", "by=\"urlweir stop\"");
}

static void say_if_paused(bool paused, bool *was, const char *dir)
{
    if (paused == *was)
        return;
    *was = paused;
    if (paused)
        log_warn("paused", "hint=\"urlweir unpause %s\"", dir);
    else
        log_warn("goes on after a pause", "%s", "");
}

/* ---- the summary ---- */

static int exit_code_of(const struct crawl_result *r,
                        const struct frontier_counts *s)
{
    switch (r->end) {
    case CRAWL_FINISHED:
    case CRAWL_IDLE:
        return s->seeds_failed > 0 ? EXIT_SEEDS : EXIT_DONE;
    case CRAWL_INTERRUPTED:
        return EXIT_INTERRUPTED;
    case CRAWL_BROKEN:
        return EXIT_DAMAGED;
    case CRAWL_STUCK:
        return EXIT_STUCK;
    case CRAWL_RUNNING:
    case CRAWL_LIMIT:
    case CRAWL_TIME:
    case CRAWL_QUOTA:
    case CRAWL_DISK:
    case CRAWL_FULL:
    case CRAWL_GAVE_UP:
    case CRAWL_WITHHELD:
        break;
    }
    return EXIT_LIMIT;
}

static int sum_up(const struct crawl_stats *c, const struct crawl_settings *s,
                  const struct crawl_result *r,
                  const struct frontier_counts *before, int64_t elapsed)
{
    int code = exit_code_of(r, &c->counts);

    if (s->quiet)
        return code;
    summary_print(stderr,
                  &(struct summary){.dir = s->passing ? NULL : s->output,
                                    .end = r->end,
                                    .code = (enum exit_code)code,
                                    .elapsed_ms = elapsed / NS_PER_MS,
                                    .crawl = c,
                                    .before = before,
                                    .waits = r->waits,
                                    .wait_count = r->wait_count,
                                    .longest = &r->longest});
    return code;
}

/* ---- the lines of --jsonl ---- */

/* A crawl that keeps nothing prints its URLs, if nothing else was asked for. */
static bool open_lines(struct jsonl **out, const struct crawl_settings *s,
                       _Atomic uint64_t *upto, int *code)
{
    struct jsonl_options o = jsonl_options_of(s);

    o.upto = upto;
    o.urls = s->passing && s->jsonl == NULL;
    if (o.urls)
        o.path = "-";
    return o.path == NULL || jsonl_open(out, &o, code);
}

/* Stops the crawl if its lines cannot be written. */
static void stop_without_lines(struct jsonl *lines, struct crawl *c,
                               unsigned *stops)
{
    if (lines == NULL || *stops > 0 || jsonl_status(lines) == STATUS_OK)
        return;
    crawl_stop(c);
    *stops = 1;
}

/* Writes the remaining lines. If the reader does not take them, waits for it
 * until a signal comes, or at most PATIENCE if the crawl was `stopped`. */
static enum status end_lines(struct jsonl *lines, bool stopped, int64_t *last)
{
    int64_t until = stopped ? clock_mono() + PATIENCE : INT64_MAX;

    if (lines == NULL)
        return STATUS_OK;
    jsonl_finish(lines);
    while (!jsonl_is_done(lines))
        if (signal_came(last) || clock_mono() >= until)
            jsonl_give_up(lines);
    return jsonl_close(lines);
}

int crawl_run_lines(const struct crawl_settings *s, int code)
{
    const struct jsonl_options o = jsonl_options_of(s);
    struct jsonl *lines = NULL;
    int64_t last = 0;

    if (o.path == NULL)
        return code;
    if (!jsonl_open(&lines, &o, &code))
        return code;
    switch (end_lines(lines, false, &last)) {
    case STATUS_OK:
        return code;
    case STATUS_CLOSED:
        return EXIT_INTERRUPTED;
    case STATUS_FULL:
        return EXIT_LIMIT;
    default:
        return EXIT_CANNOT;
    }
}

/* If the lines could not be written, the crawl has not finished either. */
static void add_lines(struct crawl_result *r, enum status lines)
{
    if (lines == STATUS_OK || r->status != STATUS_OK || r->stuck > 0)
        return;
    r->end = lines == STATUS_FULL ? CRAWL_FULL : CRAWL_INTERRUPTED;
}

struct run {
    struct crawl *crawl;
    const struct crawl_settings *s;
    struct crawl_control *control;
    struct jsonl *lines;
    struct progress *progress;
    int64_t started;
    int64_t signalled; /* by the last signal that counts; 0: none */
    unsigned stops;
    bool paused;
};

/* Watches the crawl until it has ended. */
static void watch(struct run *r, struct crawl_result *result)
{
    while (!crawl_wait(r->crawl, 0, result)) {
        struct crawl_stats look;
        int64_t now;

        wait_for_signal(r->crawl, &r->stops, &r->signalled);
        heed_control(r->crawl, r->control, &r->stops);
        stop_without_lines(r->lines, r->crawl, &r->stops);
        crawl_get_stats(r->crawl, &look);
        say_if_paused(look.paused, &r->paused, r->s->output);
        now = clock_mono();
        progress_update(r->progress, &look, now);
    }
}

int crawl_run(struct crawl_setup *setup, struct frontier *f,
              const struct crawl_settings *s, struct crawl_control *control)
{
    struct crawl_result result = {.end = CRAWL_RUNNING};
    const struct progress_limits limits = {(uint64_t)s->limit_pages,
                                           s->limit_time_ms, s->quota_bytes};
    struct crawl_stats look;
    struct frontier_counts before;
    struct run r = {.s = s, .control = control, .started = clock_mono()};
    enum status st;
    int code;

    if (!open_lines(&r.lines, s, &setup->lines_upto, &code))
        return code;
    frontier_get_counts(f, &before);
    r.progress = progress_new(s->progress, &limits, &before, r.started);
    st = crawl_archive_open(setup, s);
    if (st == STATUS_OK)
        st = crawl_start(&r.crawl, f, &setup->crawl);
    if (st != STATUS_OK) {
        progress_free(r.progress, NULL, r.started);
        if (crawl_archive_close(setup, s) != STATUS_OK)
            log_warn("the next start repairs the WARC files", "dir=%s",
                     s->output);
        (void)end_lines(r.lines, true, &r.signalled);
        return crawl_open_failed(st, s->output);
    }
    crawl_control_attach(control, setup, s, f, r.crawl);
    watch(&r, &result);
    crawl_get_stats(r.crawl, &look);
    crawl_control_release(control);
    crawl_free(r.crawl);
    if (result.stuck == 0)
        crawl_credentials_sync(setup, true);
    st = crawl_archive_close(setup, s);
    if (st != STATUS_OK && result.status == STATUS_OK) {
        result.status = st;
        result.end = st == STATUS_FULL ? CRAWL_FULL : CRAWL_BROKEN;
    }
    progress_free(r.progress, &look, clock_mono());
    add_lines(&result, end_lines(r.lines, r.stops > 0, &r.signalled));
    code = sum_up(&look, s, &result, &before, clock_mono() - r.started);
    if (result.stuck > 0)
        stuck_end(code);
    return code;
}

struct held_crawl {
    struct crawl_control *control;
    struct crawl *crawl; /* NULL: not started */
    /* by held_crawl_open */
    struct crawl_settings s;
    struct crawl_setup setup;
    struct file_lock *lock;
    struct frontier *frontier; /* NULL: not opened here */
};

/* ---- over an open frontier ---- */

static enum status start(struct held_crawl *c, struct crawl_setup *setup,
                         const struct crawl_settings *s, struct frontier *f)
{
    const struct crawl_options o = {.dir = setup->crawl.dir,
                                    .threads = 1,
                                    .concurrency = 1,
                                    .stay = true,
                                    .paused = true,
                                    .fetch = &setup->fetch};
    enum status st = crawl_control_new(&c->control, "hold");

    if (st == STATUS_OK)
        st = crawl_start(&c->crawl, f, &o);
    if (st == STATUS_OK)
        crawl_control_attach(c->control, setup, s, f, c->crawl);
    return st;
}

/* Ends the crawl, which writes its last checkpoint. */
static enum status stop(struct held_crawl *c, uint64_t *left)
{
    struct crawl_result end = {.status = STATUS_OK};
    struct crawl_stats stats = {.active = 0};

    if (c->crawl != NULL) {
        crawl_stop(c->crawl);
        while (!crawl_wait(c->crawl, NS_PER_S, &end))
            ;
        crawl_get_stats(c->crawl, &stats);
    }
    *left = stats.counts.queued;
    crawl_control_close(c->control);
    crawl_free(c->crawl);
    return end.status;
}

static enum status end(struct held_crawl *c, uint64_t *left)
{
    enum status st = stop(c, left);

    if (c->frontier != NULL)
        frontier_close(c->frontier);
    file_lock_free(c->lock);
    crawl_setup_fini(&c->setup);
    settings_fini(&c->s);
    free(c);
    return st;
}

enum status held_crawl_close(struct held_crawl *c, uint64_t *left)
{
    return end(c, left);
}

enum status held_crawl_start(struct held_crawl **out, struct crawl_setup *setup,
                             const struct crawl_settings *s, struct frontier *f)
{
    struct held_crawl *c = xcalloc(1, sizeof *c);
    enum status st = start(c, setup, s, f);
    uint64_t left;

    if (st == STATUS_OK)
        *out = c;
    else
        (void)end(c, &left);
    return st;
}

/* ---- in a directory ---- */

/* Reads the settings of the last run, as a resume that changes nothing does. */
static bool read_settings(struct crawl_settings *s, const char *dir, int *code)
{
    char *where = xstrdup(dir), command[] = "resume", operands[] = "--";
    char *argv[] = {command, operands, where, NULL};
    struct crawl_settings before;
    bool ok = settings_of_resume(s, &before, 3, argv, code);

    if (ok)
        settings_fini(&before);
    free(where);
    return ok;
}

static bool open_frontier(struct held_crawl *c, int *code)
{
    enum status st;

    if (!crawl_block_start(&c->setup, &c->s, code))
        return false;
    st = frontier_open(&c->frontier, c->s.output, &c->setup.frontier,
                       clock_mono(), clock_wall_ms());
    if (st == STATUS_OK)
        st = start(c, &c->setup, &c->s, c->frontier);
    if (st != STATUS_OK)
        *code = crawl_open_failed(st, c->s.output);
    return st == STATUS_OK;
}

bool held_crawl_open(struct held_crawl **out, const char *command,
                     const char *dir, int *code)
{
    struct held_crawl *c = xcalloc(1, sizeof *c);
    uint64_t left;

    *code = EXIT_CANNOT;
    if (!read_settings(&c->s, dir, code)) {
        free(c);
        return false;
    }
    if (crawl_setup_init(&c->setup, &c->s, code) &&
        crawl_lock(dir, command, &c->lock, code) &&
        !crawl_is_unbegun(dir, command) && open_frontier(c, code)) {
        *out = c;
        return true;
    }
    (void)end(c, &left);
    return false;
}

/* ---- calls ---- */

enum status held_crawl_perform(struct held_crawl *c, struct crawls_call *call)
{
    call->crawl = bytes_of_str(CRAWL_ID);
    return crawls_perform(crawl_control_crawls(c->control), call);
}

static void asked(struct frontier_call *call)
{
    latch_open(call->ctx);
}

enum status held_crawl_ask(struct held_crawl *c, struct frontier_call *call)
{
    struct latch done;
    enum status st;

    latch_init(&done);
    /* cppcheck-suppress autoVariables */
    call->ctx = &done; /* lives until it opens, which we wait for */
    call->done = asked;
    st = call_crawl_submit(crawl_control_crawls(c->control),
                           bytes_of_str(CRAWL_ID), call);
    if (st == STATUS_OK) {
        latch_wait(&done);
        st = call->status;
    }
    call->ctx = NULL;
    latch_fini(&done);
    return st;
}

void held_crawl_say_left(const char *command, const char *dir, const char *what,
                         uint64_t left)
{
    struct buf line;

    if (left == 0)
        return;
    buf_init(&line, 65536);
    format_terminal(&line, bytes_of_str(dir));
    fprintf(stderr,
            "urlweir %s: nobody runs that crawl; `urlweir resume %s` fetches "
            "what is %s, %" PRIu64 " URL%s\n",
            command, buf_str(&line), what, left, left == 1 ? "" : "s");
    buf_fini(&line);
}
