/* SPDX-License-Identifier: MIT */
/* crawl_job.c - makes, starts and frees the parts of a crawl job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/engine.h"
#include "frontier/seen/blocklist.h"
#include "job/crawl_archive.h"
#include "job/crawl_block.h"
#include "job/crawl_credentials.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/settings/settings.h"

#define LINES_PATIENCE (3 * NS_PER_S)

/* ---- its directory ---- */

bool crawl_job_has(const char *dir, const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

enum status crawl_job_keep_copy(const char *dir, struct bytes file)
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

void crawl_job_free(struct crawl_job *m)
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

struct crawl_job *crawl_job_new(struct crawl_jobs *h, struct crawl_settings *s)
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

enum status crawl_job_find_room(const struct crawl_job *m, struct buf *why)
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

enum status crawl_job_lock(struct crawl_job *m, struct buf *why)
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

enum status crawl_job_prepare(struct crawl_job *m, struct bytes file,
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

enum status crawl_job_store_failed(enum status st, const char *dir,
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

enum status crawl_job_start(struct crawl_job *m, bool paused, struct buf *why)
{
    struct crawl_setup *c = m->setup;
    enum status st;

    enter(m->host, m);
    c->fetch.ip_limit = m->host->ip_limit;
    c->fetch.rules.digest_key = m->engine->ops->digest_key(m->engine);
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
