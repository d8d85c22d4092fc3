/* SPDX-License-Identifier: MIT */
/*
 * hosted_open.c - a hosted crawl made, opened and closed.
 *
 * What a file of the operator says is put onto a crawl that is there only when
 * the file is not as it was the last time (DIR/crawls/NAME/settings-file.yaml
 * is its copy): else what was changed through the service would be undone by
 * each restart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cli/crawl_archive.h"
#include "cli/crawl_block.h"
#include "cli/crawl_files.h"
#include "cli/hosted_impl.h"
#include "cli/seed_sink.h"
#include "cli/settings.h"
#include "config/config.h"
#include "frontier/blocklist.h"
#include "frontier/frontier.h"
#include "frontier/reader.h"

#define FILE_COPY      "settings-file.yaml"
#define LINES_PATIENCE (3 * NS_PER_S)

/* ---- addresses ---- */

void hosted_limit_addresses(struct hosted *h)
{
    uint32_t least = UINT32_MAX;

    for (const struct crawls_member *m = h->members; m != NULL; m = m->next)
        if (m->now.conns_per_ip > 0 && m->now.conns_per_ip < least)
            least = (uint32_t)m->now.conns_per_ip;
    if (h->ip_limit == NULL)
        h->ip_limit = ip_limit_new(least);
    else
        ip_limit_set(h->ip_limit, least);
}

/* ---- a member ---- */

static void enter(struct hosted *h, struct crawls_member *m)
{
    uint64_t memory = 0;

    m->next = h->members;
    h->members = m;
    hosted_limit_addresses(h);
    for (m = h->members; m != NULL; m = m->next)
        memory += m->now.memory_bytes;
    log_info("memory that all crawls may take", "sum=%lluM",
             (unsigned long long)(memory >> 20));
}

static void leave(struct hosted *h, struct crawls_member *m)
{
    struct crawls_member **at = &h->members;

    while (*at != NULL && *at != m)
        at = &(*at)->next;
    if (*at == m)
        *at = m->next;
    hosted_limit_addresses(h);
}

/* Everything but the crawl itself, which has ended or was never begun. */
static void member_free(struct crawls_member *m)
{
    if (m->engine != NULL)
        m->engine->ops->close(m->engine);
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

/* Takes `s`. What nobody said is what suits a crawl among others that nobody
 * waits for. */
static struct crawls_member *member_new(struct hosted *h,
                                        struct crawl_settings *s)
{
    struct crawls_member *m = xcalloc(1, sizeof *m);

    m->host = h;
    m->settings = *s;
    memset(s, 0, sizeof *s);
    if (is_default(&m->settings, "memory") &&
        m->settings.max_body_bytes <= HOSTED_MEMORY / 4)
        m->settings.memory_bytes = HOSTED_MEMORY;
    if (is_default(&m->settings, "give-up"))
        m->settings.give_up_ms = 0;
    option_copy(&crawl_options, &m->now, &m->settings, sizeof m->now);
    return m;
}

static enum status lock(struct crawls_member *m, struct buf *why)
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

static enum status prepare(struct crawls_member *m, struct buf *why)
{
    enum status st;

    m->setup = xcalloc(1, sizeof *m->setup);
    st = crawl_setup_make(m->setup, &m->settings, why);
    if (st != STATUS_OK)
        return STATUS_ARG;
    st = crawl_block_make(&m->setup->blocklist, &m->settings, why);
    if (st != STATUS_OK)
        return STATUS_ARG;
    m->setup->frontier.blocklist = m->setup->blocklist;
    ip_limit_free(m->setup->ip_limit); /* that of all is used instead */
    m->setup->ip_limit = NULL;
    m->setup->crawl.stay = true;
    return STATUS_OK;
}

/* Words for what the store says. */
static enum status store_failed(enum status st, const char *dir,
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
        buf_add_str(why, "it was written by a newer release");
    else
        buf_addf(why, "its store: %s", status_text(st));
    return st;
}

/* ---- running ---- */

static enum status open_lines(struct crawls_member *m, struct buf *why)
{
    int code;

    if (m->settings.jsonl == NULL ||
        jsonl_open(&m->lines, m->settings.output, m->settings.jsonl, &code))
        return STATUS_OK;
    buf_addf(why, "jsonl: %s cannot be used", m->settings.jsonl);
    return STATUS_ARG;
}

/* Those that are left; who reads a pipe and does not is waited for a little. */
static enum status close_lines(struct crawls_member *m)
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

static enum status start(struct crawls_member *m, bool paused, struct buf *why)
{
    struct crawl_setup *c = m->setup;
    enum status st;

    enter(m->host, m);
    c->fetch.ip_limit = m->host->ip_limit;
    c->fetch.digest_key = frontier_digest_key(m->engine);
    c->crawl.paused = paused;
    st = open_lines(m, why);
    if (st == STATUS_OK)
        st = crawl_archive_open(c, &m->settings);
    if (st == STATUS_OK)
        st = crawl_start(&m->crawl, m->engine, &c->crawl);
    if (st == STATUS_OK)
        return STATUS_OK;
    (void)close_lines(m);
    if (crawl_archive_close(c, &m->settings) != STATUS_OK)
        log_warn("the WARC files are mended by the next start", "dir=%s",
                 m->settings.output);
    leave(m->host, m);
    return st;
}

bool hosted_tick(struct crawls_member *m, struct buf *why)
{
    enum status st = m->lines != NULL ? jsonl_status(m->lines) : STATUS_OK;

    if (st == STATUS_OK)
        return false;
    buf_addf(why, "jsonl: %s cannot be written: %s", m->settings.jsonl,
             status_text(st));
    return true;
}

enum status hosted_close(struct crawls_member *m)
{
    enum status st, lines;

    crawl_free(m->crawl);
    m->crawl = NULL;
    st = crawl_archive_close(m->setup, &m->settings);
    lines = close_lines(m);
    leave(m->host, m);
    member_free(m);
    return st != STATUS_OK ? st : lines;
}

/* ---- a new one ---- */

static void remove_files(const char *dir)
{
    static const char *const names[] = {"service", FILE_COPY};

    crawl_remove_files(dir);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        (void)unlink(path);
    }
}

static bool is_there(const char *dir, const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static enum status keep_copy(const char *dir, struct bytes file)
{
    char path[4096];

    if (file.len == 0)
        return STATUS_OK;
    snprintf(path, sizeof path, "%s/" FILE_COPY, dir);
    return file_replace_private(path, file);
}

static enum status put_seeds(struct crawls_member *m)
{
    struct engine *e = m->engine;
    bool changed;
    enum status st = seed_sink_given(e, m->setup, &m->settings);

    if (st == STATUS_OK)
        st = e->ops->turn(e, true, clock_mono(), clock_wall_ms(), NULL);
    fault_point("service-crawl-begun"); /* seeds are stored, but no mark */
    if (st == STATUS_OK)
        st = hosted_note_scope(e, &m->settings, &changed);
    if (st == STATUS_OK)
        st = frontier_store_set_meta(frontier_store_of(e), "seeds_complete",
                                     bytes_of_str("1"));
    return st == STATUS_OK
               ? frontier_checkpoint_now(e, "running", false, clock_mono(),
                                         clock_wall_ms())
               : st;
}

static enum status make_in(struct crawls_member *m, struct bytes file,
                           struct buf *why)
{
    const char *dir = m->settings.output;
    enum status st = prepare(m, why);

    if (st == STATUS_OK && m->settings.jsonl != NULL &&
        !jsonl_may_begin(m->settings.jsonl)) {
        buf_addf(why, "jsonl: %s holds something", m->settings.jsonl);
        st = STATUS_ARG;
    }
    if (st == STATUS_OK)
        st = settings_save(&m->settings);
    if (st == STATUS_OK)
        st = keep_copy(dir, file);
    if (st == STATUS_OK)
        st = frontier_create(&m->engine, dir, &m->setup->frontier, clock_mono(),
                             clock_wall_ms());
    if (st != STATUS_OK)
        return st;
    m->setup->fetch.digest_key = frontier_digest_key(m->engine);
    st = put_seeds(m);
    return st == STATUS_OK ? start(m, false, why) : st;
}

enum status hosted_make(struct hosted *h, const char *name,
                        struct crawl_settings *s, struct bytes file,
                        struct crawls_member **out, struct buf *why)
{
    struct crawls_member *m;
    const char *dir = s->output;
    bool begun = is_there(dir, "frontier.db") || is_there(dir, "manifest");
    bool is_new = !is_there(dir, ".");
    enum status st;

    if (begun && !reader_is_unbegun(dir)) {
        buf_addf(why, "there is a crawl named %s already", name);
        return STATUS_EXISTS;
    }
    st = file_make_dir(dir);
    if (st != STATUS_OK)
        return st;
    m = member_new(h, s);
    dir = m->settings.output;
    st = lock(m, why);
    if (st == STATUS_OK) {
        if (begun)
            remove_files(dir); /* of a creation that was cut short */
        st = make_in(m, file, why);
        if (st != STATUS_OK) {
            store_failed(st, dir, why);
            remove_files(dir);
        }
    }
    if (st == STATUS_OK) {
        *out = m;
        return STATUS_OK;
    }
    if (is_new && file_remove_tree(dir) != STATUS_OK)
        log_warn("what is left of a crawl that could not be made stays",
                 "dir=%s", dir);
    member_free(m);
    return st;
}

/* ---- one that is there ---- */

enum status hosted_load(struct crawl_settings *s, const char *dir,
                        struct buf *why)
{
    struct buf path, text;
    enum status st;

    settings_init(s);
    buf_init(&path, 8192);
    buf_init(&text, CONFIG_CEILING);
    buf_addf(&path, "%s/crawl.yaml", dir);
    st = hosted_read_text(buf_str(&path), &text, why);
    if (st == STATUS_OK)
        st = hosted_read(s, buf_str(&path), buf_bytes(&text), OPTION_FROM_CRAWL,
                         why);
    free(s->output);
    s->output = xstrdup(dir);
    buf_fini(&path);
    buf_fini(&text);
    if (st != STATUS_OK)
        settings_fini(s);
    return st;
}

/* What the file says onto what the crawl has. *seeds: put those of the file. */
static enum status apply_file(struct crawl_settings *s,
                              const struct hosted_file *f, struct buf *text,
                              struct buf *why)
{
    struct crawl_settings before;
    enum status st;

    option_copy(&crawl_options, &before, s, sizeof before);
    st = hosted_read(s, f->path, buf_bytes(text), OPTION_FROM_FILE, why);
    if (st == STATUS_OK && s->queue_key != before.queue_key) {
        buf_addf(why,
                 "%s: queue-key: it is fixed when a crawl starts, and is "
                 "another there",
                 f->path);
        st = STATUS_ARG;
    }
    if (st == STATUS_OK && settings_diff(stderr, &before, s) > 0)
        fprintf(stderr,
                "urlweir serve: crawl %s: has these settings from now "
                "on, as %s is another than before\n",
                f->name, f->path);
    settings_fini(&before);
    return st;
}

/* Is the file another than the last time? Then it is applied, and kept. */
static enum status follow_file(struct crawl_settings *s,
                               const struct hosted_file *f, bool *followed,
                               struct buf *why)
{
    struct buf text, copy;
    char path[4096];
    enum status st;

    *followed = false;
    if (f == NULL)
        return STATUS_OK;
    buf_init(&text, CONFIG_CEILING);
    buf_init(&copy, CONFIG_CEILING);
    snprintf(path, sizeof path, "%s/" FILE_COPY, s->output);
    st = hosted_read_text(f->path, &text, why);
    if (st == STATUS_OK && (file_read(path, &copy) != STATUS_OK ||
                            !bytes_equal(buf_bytes(&text), buf_bytes(&copy)))) {
        st = apply_file(s, f, &text, why);
        if (st == STATUS_OK)
            st = settings_save(s);
        if (st == STATUS_OK)
            st = keep_copy(s->output, buf_bytes(&text));
        *followed = st == STATUS_OK;
    }
    buf_fini(&text);
    buf_fini(&copy);
    return st;
}

static enum status open_in(struct crawls_member *m, bool paused, bool new_seeds,
                           struct buf *why)
{
    const char *dir = m->settings.output;
    enum status st = prepare(m, why);
    bool changed = false;

    if (st == STATUS_OK)
        st = frontier_open(&m->engine, dir, &m->setup->frontier, clock_mono(),
                           clock_wall_ms());
    if (st == STATUS_OK)
        st = hosted_note_scope(m->engine, &m->settings, &changed);
    if (st == STATUS_OK && changed)
        frontier_recheck(m->engine, m->setup->scope);
    if (st == STATUS_OK)
        st = crawl_setup_reopen_scope(m->engine, m->setup->scope, &m->settings);
    /* Those that were there are seen; others came with changed settings. */
    if (st == STATUS_OK)
        st = new_seeds ? seed_sink_given(m->engine, m->setup, &m->settings)
                       : seed_sink_sitemaps(m->engine, m->setup, &m->settings);
    return st == STATUS_OK ? start(m, paused, why) : st;
}

enum status hosted_open(void *ctx, const char *name, const char *dir,
                        bool paused, struct crawls_member **out,
                        struct buf *why)
{
    struct hosted *h = ctx;
    struct crawl_settings s;
    struct crawls_member *m;
    bool followed = false;
    enum status st;

    if (!is_there(dir, "frontier.db") || reader_is_unbegun(dir))
        return STATUS_NOT_FOUND;
    st = hosted_load(&s, dir, why);
    if (st != STATUS_OK)
        return st == STATUS_NOT_FOUND ? STATUS_DAMAGED : st;
    m = member_new(h, &s);
    st = lock(m, why);
    if (st == STATUS_OK)
        st = follow_file(&m->settings, hosted_file_of(h, name), &followed, why);
    if (st == STATUS_OK && followed) {
        settings_fini(&m->now);
        option_copy(&crawl_options, &m->now, &m->settings, sizeof m->now);
    }
    if (st == STATUS_OK)
        st = open_in(m, paused, followed, why);
    if (st == STATUS_OK) {
        *out = m;
        return STATUS_OK;
    }
    store_failed(st, dir, why);
    member_free(m);
    return st == STATUS_NOT_FOUND ? STATUS_DAMAGED : st;
}

void hosted_look(void *ctx, const char *dir, struct crawl_sample *out)
{
    struct engine_stats *s = &out->stats;
    struct frontier_store *store;
    struct reader r;

    (void)ctx;
    if (reader_open(&r, dir) != STATUS_OK)
        return;
    store = r.store;
    s->urls = frontier_store_last_id(store);
    s->queued = frontier_store_pending_all(store);
    s->queues = frontier_store_queue_count(store);
    s->pages = frontier_store_counter(store, "pages");
    s->fetched = frontier_store_counter(store, "fetched");
    s->redirects = frontier_store_counter(store, "redirect");
    s->failed = frontier_store_counter(store, "failed");
    s->denied = frontier_store_counter(store, "denied");
    s->skipped = frontier_store_counter(store, "skipped");
    s->removed = frontier_store_counter(store, "skipped.removed");
    s->links = frontier_store_counter(store, "links");
    s->duplicates = frontier_store_counter(store, "duplicates");
    s->dropped = frontier_store_counter(store, "dropped");
    s->bytes = frontier_store_counter(store, "bytes");
    s->seeds = frontier_store_counter(store, "seeds");
    s->seeds_failed = frontier_store_counter(store, "seeds_failed");
    reader_close(&r);
}
