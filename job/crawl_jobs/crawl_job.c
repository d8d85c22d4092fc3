/* SPDX-License-Identifier: MIT */
/* crawl_job.c - makes, starts and frees the parts of a crawl job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/format.h"
#include "base/logger.h"
#include "base/mem.h"
#include "config/config.h"
#include "crawler/crawl_stats.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/frontier.h"
#include "frontier/reader.h"
#include "frontier/seen/blocklist.h"
#include "job/crawl_credentials.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/crawl_setup.h"
#include "job/dir_kind.h"
#include "job/seed_sink.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

static bool crawl_job_has_own_proxy(const struct crawl_settings *s,
                                    struct bytes file);

#define LINES_PATIENCE (3 * NS_PER_S)

/* ---- its directory ---- */

static bool crawl_job_has(const char *dir, const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static enum status crawl_job_keep_copy(const char *dir, struct bytes file)
{
    char path[4096];

    if (file.len == 0)
        return STATUS_OK;
    snprintf(path, sizeof path, "%s/" CRAWL_JOB_FILE_COPY, dir);
    return file_replace_private(path, file);
}

/* ---- addresses ---- */

static void crawl_job_limit_addresses(struct crawl_jobs *h)
{
    uint32_t least = UINT32_MAX;

    for (const struct crawl_job *m = h->jobs; m != NULL; m = m->next)
        if (m->now.conns_per_ip > 0 && m->now.conns_per_ip < least)
            least = (uint32_t)m->now.conns_per_ip;
    if (h->ip_limit == NULL)
        h->ip_limit = ip_limit_new(least);
    else
        ip_limit_set(h->ip_limit, least);
}

/* ---- a job ---- */

static void enter(struct crawl_jobs *h, struct crawl_job *m)
{
    uint64_t memory = 0;

    m->next = h->jobs;
    h->jobs = m;
    crawl_job_limit_addresses(h);
    for (m = h->jobs; m != NULL; m = m->next)
        memory += m->now.memory_bytes;
    log_info("memory that all crawls may take", "sum=%lluM",
             (unsigned long long)(memory >> 20));
}

static void leave(struct crawl_jobs *h, struct crawl_job *m)
{
    struct crawl_job **at = &h->jobs;

    while (*at != NULL && *at != m)
        at = &(*at)->next;
    if (*at == m)
        *at = m->next;
    crawl_job_limit_addresses(h);
}

/* Frees everything but the crawl, which has ended or never started. */
static void crawl_job_free(struct crawl_job *m)
{
    if (m->frontier != NULL)
        frontier_close(m->frontier);
    if (m->setup != NULL)
        crawl_setup_fini(m->setup);
    free(m->setup);
    file_lock_free(m->lock);
    settings_fini(&m->settings);
    settings_fini(&m->now);
    free(m);
}

static bool is_default(const struct crawl_settings *s, const char *name)
{
    size_t i = option_find(&crawl_options, bytes_of_str(name));

    return option_source(&crawl_options, i, s) == OPTION_FROM_DEFAULT;
}

/* Takes `s`. If nobody set them, the memory limit is CRAWL_JOB_MEMORY and
 * give-up is off. */
static struct crawl_job *crawl_job_new(struct crawl_jobs *h,
                                       struct crawl_settings *s)
{
    struct crawl_job *m = xcalloc(1, sizeof *m);

    m->host = h;
    m->settings = *s;
    memset(s, 0, sizeof *s);
    if (is_default(&m->settings, "memory") &&
        m->settings.max_body_bytes <= CRAWL_JOB_MEMORY / 4)
        m->settings.memory_bytes = CRAWL_JOB_MEMORY;
    if (is_default(&m->settings, "give-up"))
        m->settings.give_up_ms = 0;
    option_copy(&crawl_options, &m->now, &m->settings, sizeof m->now);
    return m;
}

/* Says what all would have with `m`, and what they may. */
static enum status no_room(struct buf *why, const char *what,
                           const char *option, const char *needed,
                           const char *most)
{
    buf_addf(
        why,
        "with it all crawls would have %s %s, and they may have %s (`serve "
        "--%s`); stop or delete another, or give it less",
        needed, what, most, option);
    return STATUS_BUSY;
}

static enum status crawl_job_find_room(const struct crawl_job *m,
                                       struct buf *why)
{
    const struct crawl_jobs *h = m->host;
    uint64_t memory = m->settings.memory_bytes;
    unsigned threads = crawl_setup_threads(&m->settings);
    struct buf needed, most;
    enum status st = STATUS_OK;

    if (!atomic_load(&h->limited))
        return STATUS_OK;
    for (const struct crawl_job *at = h->jobs; at != NULL; at = at->next) {
        memory += at->now.memory_bytes;
        threads += crawl_setup_threads(&at->now);
    }
    buf_init(&needed, 64);
    buf_init(&most, 64);
    if (h->o.memory > 0 && memory > h->o.memory) {
        format_size(&needed, memory);
        format_size(&most, h->o.memory);
        st = no_room(why, "of memory", "crawl-memory", buf_str(&needed),
                     buf_str(&most));
    } else if (threads > h->o.threads) {
        buf_add_uint(&needed, threads);
        buf_add_uint(&most, h->o.threads);
        st = no_room(why, "threads", "crawl-threads", buf_str(&needed),
                     buf_str(&most));
    }
    buf_fini(&most);
    buf_fini(&needed);
    return st;
}

/* STATUS_BUSY: with it all open crawls would have more than they may; see
 * `why`. */
static enum status crawl_job_lock(struct crawl_job *m, struct buf *why)
{
    char path[4096];
    long holder = 0;
    enum status st;

    snprintf(path, sizeof path, "%s/lock", m->settings.output);
    st = file_lock_take(&m->lock, path, "serve", &holder);
    if (st == STATUS_BUSY)
        buf_addf(why, "%s is in use by process %ld", m->settings.output,
                 holder);
    return st;
}

/* Makes its setup from its settings. `file` is the operator's file, or empty if
 * it has not changed. */
static enum status crawl_job_prepare(struct crawl_job *m, struct bytes file,
                                     struct buf *why)
{
    enum status st;

    m->setup = xcalloc(1, sizeof *m->setup);
    st = crawl_setup_make(m->setup, &m->settings, why);
    if (st != STATUS_OK)
        return STATUS_ARG;
    st = crawl_block_make(&m->setup->blocklist, &m->settings, why);
    if (st == STATUS_OK)
        st = crawl_credentials_make(m->setup, &m->settings, why);
    if (st != STATUS_OK)
        return STATUS_ARG;
    m->setup->frontier.blocklist = m->setup->blocklist;
    ip_limit_free(m->setup->ip_limit); /* the shared one is used instead */
    m->setup->ip_limit = NULL;
    m->setup->fetch.guards_proxy = !crawl_job_has_own_proxy(&m->settings, file);
    m->setup->crawl.stay = true;
    return STATUS_OK;
}

/* Explains a status of the store in `why`, unless that has a text. Returns
 * `st`. */
static enum status crawl_job_store_failed(enum status st, const char *dir,
                                          struct buf *why)
{
    if (why->len > 0)
        return st;
    if (st == STATUS_DAMAGED || st == STATUS_FORMAT)
        buf_addf(why,
                 "it is damaged and was not touched; `urlweir verify %s` says "
                 "what is wrong",
                 dir);
    else if (st == STATUS_VERSION)
        buf_add_str(why, "it was written by another release");
    else
        buf_addf(why, "its store: %s", status_text(st));
    return st;
}

/* ---- running ---- */

static enum status open_lines(struct crawl_job *m, struct buf *why)
{
    struct jsonl_options o = jsonl_options_of(&m->settings);
    int code;

    o.upto = &m->setup->lines_upto;
    if (o.path == NULL || jsonl_open(&m->lines, &o, &code))
        return STATUS_OK;
    buf_addf(why, "jsonl: %s cannot be used", o.path);
    return STATUS_ARG;
}

/* Writes the lines that are left; waits a little for the reader of a pipe. */
static enum status close_lines(struct crawl_job *m)
{
    int64_t until = clock_mono() + LINES_PATIENCE;
    struct jsonl *lines = m->lines;

    m->lines = NULL;
    if (lines == NULL)
        return STATUS_OK;
    jsonl_finish(lines);
    while (!jsonl_is_done(lines)) {
        usleep(10000);
        if (clock_mono() >= until)
            jsonl_give_up(lines);
    }
    return jsonl_close(lines);
}

static enum status crawl_job_start(struct crawl_job *m, bool paused,
                                   struct buf *why)
{
    struct crawl_setup *c = m->setup;
    enum status st;

    enter(m->host, m);
    c->fetch.ip_limit = m->host->ip_limit;
    c->fetch.rules.digest_key = frontier_get_digest_key(m->frontier);
    c->crawl.paused = paused;
    st = open_lines(m, why);
    if (st == STATUS_OK)
        st = crawl_archive_open(c, &m->settings);
    if (st == STATUS_OK)
        st = crawl_start(&m->crawl, m->frontier, &c->crawl);
    if (st == STATUS_OK)
        return STATUS_OK;
    (void)close_lines(m);
    if (crawl_archive_close(c, &m->settings) != STATUS_OK)
        log_warn("the WARC files are mended by the next start", "dir=%s",
                 m->settings.output);
    leave(m->host, m);
    return st;
}

static void note_stuck(struct crawl_jobs *h)
{
    if (!h->stuck && h->o.on_stuck != NULL)
        h->o.on_stuck(h->o.ctx);
    h->stuck = true;
}

bool crawl_job_tick(struct crawl_job *m, struct buf *why)
{
    enum status st = m->lines != NULL ? jsonl_status(m->lines) : STATUS_OK;
    struct crawl_stats look;

    crawl_get_stats(m->crawl, &look);
    if (look.stuck > 0) {
        buf_add_str(why, crawl_end_text(CRAWL_STUCK));
        note_stuck(m->host);
        return true;
    }
    if (st == STATUS_OK)
        return false;
    buf_addf(why, "jsonl: %s cannot be written: %s", m->settings.jsonl,
             status_text(st));
    return true;
}

enum status crawl_job_close(struct crawl_job *m)
{
    struct crawl_result end = {.stuck = 0};
    enum status st, lines;

    (void)crawl_wait(m->crawl, 0, &end); /* it has ended */
    crawl_free(m->crawl);
    m->crawl = NULL;
    if (end.stuck == 0)
        crawl_credentials_sync(m->setup, true);
    st = crawl_archive_close(m->setup, &m->settings);
    lines = close_lines(m);
    leave(m->host, m);
    if (end.stuck > 0)
        note_stuck(m->host); /* keep what its fetcher may use */
    else
        crawl_job_free(m);
    return st != STATUS_OK ? st : lines;
}

/*
 * Applies changes in the operator's file.
 *
 * DIR/crawls/NAME/urlweir-given.yaml is a copy of the file that was applied
 * last. Settings that differ from that copy are applied; all others stay, since
 * they may have been changed through the service meanwhile.
 */

/* Does `now` set option `i` to something that `then` does not? */
static bool is_said_anew(size_t i, const struct crawl_settings *now,
                         const struct crawl_settings *then)
{
    return option_given(&crawl_options, i, now) &&
           !(option_given(&crawl_options, i, then) &&
             option_equal(&crawl_options.spec[i], now, then));
}

/* One that cannot be read counts as empty. */
static void read_copy(struct crawl_settings *s, struct bytes copy)
{
    struct buf error;

    settings_init(s);
    buf_init(&error, 4096);
    if (config_read(&crawl_options, s, copy, CRAWL_JOB_FILE_COPY,
                    OPTION_FROM_FILE, &error) != STATUS_OK) {
        settings_fini(s);
        settings_init(s);
    }
    buf_fini(&error);
}

static void take(struct crawl_settings *s, const struct crawl_settings *now,
                 const struct buf *copy)
{
    struct crawl_settings then;

    read_copy(&then, buf_bytes(copy));
    for (size_t i = 0; i < crawl_options.count; i++)
        if (is_said_anew(i, now, &then))
            option_assign(&crawl_options, i, s, now, OPTION_FROM_FILE);
    settings_fini(&then);
}

static enum status check(struct crawl_settings *s, const char *path,
                         const struct crawl_settings *before, struct buf *why)
{
    struct buf error;
    enum status st;

    if (s->queue_key != before->queue_key) {
        buf_addf(why,
                 "%s: queue-key: it is fixed when a crawl starts, and is "
                 "another there",
                 path);
        return STATUS_ARG;
    }
    buf_init(&error, 4096);
    st = settings_check(s, &error);
    if (st != STATUS_OK)
        buf_addf(why, "%s: %s", path, buf_str(&error));
    buf_fini(&error);
    return st;
}

/* Applies what is new in the file to the crawl's settings. */
static enum status apply(struct crawl_settings *s,
                         const struct crawl_job_file *f, const struct buf *text,
                         const struct buf *copy, struct buf *why)
{
    struct crawl_settings before, now;
    enum status st;

    option_copy(&crawl_options, &before, s, sizeof before);
    settings_init(&now);
    st = crawl_job_read(&now, f->path, buf_bytes(text), OPTION_FROM_FILE, why);
    if (st == STATUS_OK) {
        take(s, &now, copy);
        st = check(s, f->path, &before, why);
    }
    if (st == STATUS_OK && settings_diff(stderr, &before, s) > 0)
        fprintf(stderr,
                "urlweir serve: crawl %s: has these settings from now on, "
                "because %s has changed\n",
                f->name, f->path);
    settings_fini(&before);
    settings_fini(&now);
    return st;
}

static enum status read_kept(const char *dir, struct buf *copy)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/" CRAWL_JOB_FILE_COPY, dir);
    return file_read(path, copy);
}

/* Is the proxy that of the operator's file, `file` or, if that is empty, its
 * copy? Then it is none that a client named. */
static bool crawl_job_has_own_proxy(const struct crawl_settings *s,
                                    struct bytes file)
{
    struct crawl_settings given;
    struct buf copy;
    bool own;

    if (s->proxy == NULL)
        return false;
    buf_init(&copy, CONFIG_CEILING);
    if (file.len == 0 && read_kept(s->output, &copy) == STATUS_OK)
        file = buf_bytes(&copy);
    read_copy(&given, file);
    own = given.proxy != NULL && strcmp(given.proxy, s->proxy) == 0;
    settings_fini(&given);
    buf_fini(&copy);
    return own;
}

/* Applies what is new in the operator's file to the settings of the crawl, and
 * saves them. `text` gets the file, or is empty if the file has not changed;
 * the caller keeps it as a copy when everything is done. `f` may be NULL. */
static enum status crawl_job_follow(struct crawl_settings *s,
                                    const struct crawl_job_file *f,
                                    struct buf *text, struct buf *why)
{
    struct buf copy;
    enum status st;

    if (f == NULL)
        return STATUS_OK;
    buf_init(&copy, CONFIG_CEILING);
    st = crawl_job_read_text(f->path, text, why);
    if (st == STATUS_OK && read_kept(s->output, &copy) == STATUS_OK &&
        bytes_equal(buf_bytes(text), buf_bytes(&copy))) {
        buf_clear(text);
    } else if (st == STATUS_OK) {
        st = apply(s, f, text, &copy, why);
        if (st == STATUS_OK)
            st = settings_save(s);
    }
    buf_fini(&copy);
    return st;
}

/*
 * Creates a crawl job.
 *
 * Its seeds are stored before its mark: after a crash in between there is no
 * mark, and the next creation starts again.
 */

static void remove_files(const char *dir)
{
    static const char *const names[] = {"service", CRAWL_JOB_FILE_COPY};

    crawl_remove_files(dir);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        (void)unlink(path);
    }
}

static enum status put_seeds(struct crawl_job *m)
{
    struct frontier *e = m->frontier;
    enum status st = seed_sink_given(e, m->setup, &m->settings);

    if (st == STATUS_OK)
        st = frontier_turn(e, true, clock_mono(), clock_wall_ms(), NULL);
    if (st == STATUS_OK)
        st = crawl_credentials_keep_logins(m->setup, &m->settings);
    settings_fini(&m->now);
    option_copy(&crawl_options, &m->now, &m->settings, sizeof m->now);
    fault_point("service-crawl-begun"); /* seeds are stored, but no mark */
    if (st == STATUS_OK)
        st = settings_note_first(e, &m->settings, m->setup->form);
    if (st == STATUS_OK)
        st = frontier_set_meta(e, "seeds_complete", bytes_of_str("1"));
    return st == STATUS_OK
               ? frontier_checkpoint_now(e, "running", false, clock_mono(),
                                         clock_wall_ms())
               : st;
}

static enum status make_in(struct crawl_job *m, struct bytes file,
                           struct buf *why)
{
    const char *dir = m->settings.output;
    const struct jsonl_options lines = jsonl_options_of(&m->settings);
    enum status st = crawl_job_prepare(m, file, why);

    if (st == STATUS_OK && !jsonl_may_begin(&lines)) {
        buf_addf(why, "jsonl: %s %s", lines.path,
                 kafka_address_is_url(lines.path) ? "cannot be used"
                                                  : "is not empty");
        st = STATUS_ARG;
    }
    if (st == STATUS_OK)
        st = settings_save(&m->settings);
    if (st == STATUS_OK)
        st = crawl_job_keep_copy(dir, file);
    if (st == STATUS_OK)
        st = frontier_create(&m->frontier, dir, &m->setup->frontier,
                             clock_wall_ms());
    if (st != STATUS_OK)
        return st;
    m->setup->fetch.rules.digest_key = frontier_get_digest_key(m->frontier);
    st = put_seeds(m);
    if (st == STATUS_NOT_FOUND && m->settings.input != NULL)
        buf_addf(why, "input: %s cannot be read", m->settings.input);
    return st == STATUS_OK ? crawl_job_start(m, false, why) : st;
}

enum status crawl_job_make(struct crawl_jobs *h, const char *name,
                           struct crawl_settings *s, struct bytes file,
                           struct crawl_job **out, struct buf *why)
{
    struct crawl_job *m;
    const char *dir = s->output;
    bool begun =
        crawl_job_has(dir, "frontier.db") || crawl_job_has(dir, "manifest");
    bool is_new = !crawl_job_has(dir, ".");
    enum status st;

    if (begun && !reader_is_unbegun(dir)) {
        buf_addf(why, "a crawl named %s exists already", name);
        return STATUS_EXISTS;
    }
    if (!dir_kind_fits(dir, DIR_CRAWL, why))
        return STATUS_EXISTS;
    st = file_make_dir(dir);
    if (st != STATUS_OK)
        return st;
    m = crawl_job_new(h, s);
    dir = m->settings.output;
    st = crawl_job_find_room(m, why);
    if (st == STATUS_OK)
        st = crawl_job_lock(m, why);
    if (st == STATUS_OK) {
        if (begun)
            remove_files(dir); /* of an interrupted creation */
        st = make_in(m, file, why);
        if (st != STATUS_OK) {
            crawl_job_store_failed(st, dir, why);
            remove_files(dir);
        }
    }
    if (st == STATUS_OK) {
        *out = m;
        return STATUS_OK;
    }
    if (is_new && file_remove_tree(dir) != STATUS_OK)
        log_warn("cannot remove what is left of a crawl that could not be made",
                 "dir=%s", dir);
    crawl_job_free(m);
    return st;
}

/* ---- opens an existing crawl job, or reads its stats ---- */

enum status crawl_job_load(struct crawl_settings *s, const char *dir,
                           struct buf *why)
{
    struct buf path, text;
    enum status st;

    settings_init(s);
    buf_init(&path, 8192);
    buf_init(&text, CONFIG_CEILING);
    settings_path(dir, &path);
    st = crawl_job_read_text(buf_str(&path), &text, why);
    if (st == STATUS_OK)
        st = settings_load_secrets(s, dir, why);
    if (st == STATUS_OK)
        st = crawl_job_read(s, buf_str(&path), buf_bytes(&text),
                            OPTION_FROM_CRAWL, why);
    free(s->output);
    s->output = xstrdup(dir);
    buf_fini(&path);
    buf_fini(&text);
    if (st != STATUS_OK)
        settings_fini(s);
    return st;
}

/* The user may have edited the file. */
static enum status check_fixed(struct crawl_job *m, struct buf *why)
{
    const char *fixed = NULL;
    struct crawl_settings was;
    bool known;
    enum status st = settings_applied(m->frontier, &m->settings, &was, &known);

    if (st != STATUS_OK)
        return st;
    fixed = settings_fixed_change(&was, &m->settings);
    settings_fini(&was);
    if (fixed == NULL)
        return STATUS_OK;
    buf_addf(why,
             "%s/" SETTINGS_FILE ": %s: it is fixed when a crawl starts, and "
             "is another there",
             m->settings.output, fixed);
    return STATUS_ARG;
}

/* Puts seeds. `file` is the operator's file if it has changed: its new seeds
 * are on disk before it counts as read. */
static enum status open_put_seeds(struct crawl_job *m, const struct buf *file)
{
    struct frontier *e = m->frontier;
    enum status st;

    /* Old seeds are seen already; new ones come from changed settings. */
    if (file->len == 0)
        return seed_sink_sitemaps(e, m->setup, &m->settings);
    st = seed_sink_given(e, m->setup, &m->settings);
    if (st == STATUS_OK)
        st = frontier_turn(e, true, clock_mono(), clock_wall_ms(), NULL);
    fault_point("service-file-applied");
    return st == STATUS_OK
               ? crawl_job_keep_copy(m->settings.output, buf_bytes(file))
               : st;
}

static enum status open_in(struct crawl_job *m, bool paused,
                           const struct buf *file, struct buf *why)
{
    const char *dir = m->settings.output;
    enum status st = crawl_job_prepare(m, buf_bytes(file), why);

    if (st == STATUS_OK)
        st = frontier_open(&m->frontier, dir, &m->setup->frontier, clock_mono(),
                           clock_wall_ms());
    if (st == STATUS_OK && file->len == 0)
        st = check_fixed(m, why);
    if (st == STATUS_OK)
        st = settings_put_in_force(m->frontier, m->setup, &m->settings);
    if (st == STATUS_OK)
        st = open_put_seeds(m, file);
    return st == STATUS_OK ? crawl_job_start(m, paused, why) : st;
}

enum status crawl_job_open(void *ctx, const char *name, const char *dir,
                           bool paused, struct crawl_job **out, struct buf *why)
{
    struct crawl_jobs *h = ctx;
    struct crawl_settings s;
    struct crawl_job *m;
    struct buf file;
    enum status st;

    if (!crawl_job_has(dir, "frontier.db") || reader_is_unbegun(dir))
        return STATUS_NOT_FOUND;
    st = crawl_job_load(&s, dir, why);
    if (st != STATUS_OK)
        return st == STATUS_NOT_FOUND ? STATUS_DAMAGED : st;
    m = crawl_job_new(h, &s);
    buf_init(&file, CONFIG_CEILING);
    st = crawl_job_lock(m, why);
    if (st == STATUS_OK)
        st = crawl_job_follow(&m->settings, crawl_job_file_of(h, name), &file,
                              why);
    if (st == STATUS_OK && file.len > 0) {
        settings_fini(&m->now);
        option_copy(&crawl_options, &m->now, &m->settings, sizeof m->now);
    }
    if (st == STATUS_OK)
        st = crawl_job_find_room(m, why);
    if (st == STATUS_OK)
        st = open_in(m, paused, &file, why);
    buf_fini(&file);
    if (st == STATUS_OK) {
        *out = m;
        return STATUS_OK;
    }
    crawl_job_store_failed(st, dir, why);
    crawl_job_free(m);
    return st == STATUS_NOT_FOUND ? STATUS_DAMAGED : st;
}

void crawl_job_read_stats(void *ctx, const char *dir, struct crawl_stats *out)
{
    struct reader r;

    (void)ctx;
    if (reader_open(&r, dir) != STATUS_OK)
        return;
    crawl_stats_of_store(r.store, out);
    reader_close(&r);
}
