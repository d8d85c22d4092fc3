/* SPDX-License-Identifier: MIT */
/*
 * crawls_entry.c - one crawl of the registry: open, close, commands.
 *
 * DIR/crawls/NAME/service holds the last command to a crawl in one word;
 * without the file, the crawl runs. The file does not keep how a crawl ended:
 * one that a limit ended is opened by the next start, and ends again unless the
 * limit was raised. A directory is renamed before it is removed, to a name that
 * no crawl can have, so a crash leaves a whole crawl or none.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "job/registry/crawls_impl.h"

#define GONE ".gone" /* after a dot and the name */

static const char *const words[CRAWLS_TOLD_COUNT_] = {
    [CRAWLS_TOLD_RUN] = "running",
    [CRAWLS_TOLD_PAUSE] = "paused",
    [CRAWLS_TOLD_STOP] = "stopped",
};

/* ---- commands ---- */

enum status crawls_told_save(const struct crawls_entry *e,
                             enum crawls_told told)
{
    struct buf path, word;
    enum status st;

    if (e->attached)
        return STATUS_OK;
    buf_init(&path, 4096);
    buf_init(&word, 64);
    buf_addf(&path, "%s/service", e->dir);
    buf_addf(&word, "%s\n", words[told]);
    st = file_replace_private(buf_str(&path), buf_bytes(&word));
    buf_fini(&path);
    buf_fini(&word);
    return st;
}

enum crawls_told crawls_told_load(const char *dir)
{
    enum crawls_told told = CRAWLS_TOLD_RUN;
    struct buf path, word;

    buf_init(&path, 4096);
    buf_init(&word, 64);
    buf_addf(&path, "%s/service", dir);
    if (file_read(buf_str(&path), &word) == STATUS_OK)
        for (int i = 0; i < CRAWLS_TOLD_COUNT_; i++)
            if (bytes_is(bytes_trim(buf_bytes(&word)), words[i]))
                told = (enum crawls_told)i;
    buf_fini(&path);
    buf_fini(&word);
    return told;
}

/* ---- removal ---- */

enum status crawls_remove(struct crawls *c, const char *name)
{
    struct buf from, to;
    enum status st;

    buf_init(&from, 4096);
    buf_init(&to, 4096);
    buf_addf(&from, "%s/%s", c->dir, name);
    buf_addf(&to, "%s/.%s" GONE, c->dir, name);
    st = file_remove_tree(buf_str(&to)); /* left by a crash */
    if (st == STATUS_OK && rename(buf_str(&from), buf_str(&to)) != 0) {
        st = status_of_errno(errno);
        log_error("cannot rename the crawl's directory", "dir=%s error=\"%s\"",
                  buf_str(&from), strerror(errno));
    }
    if (st == STATUS_OK)
        st = file_sync_parent(buf_str(&to));
    fault_point("service-crawl-gone");
    if (st == STATUS_OK)
        st = file_remove_tree(buf_str(&to));
    buf_fini(&from);
    buf_fini(&to);
    return st;
}

void crawls_remove_rest(struct crawls *c, const char *file)
{
    size_t len = strlen(file), gone = sizeof GONE - 1;
    struct buf path;

    if (file[0] != '.' || len < gone + 2 ||
        strcmp(file + len - gone, GONE) != 0)
        return;
    buf_init(&path, 4096);
    buf_addf(&path, "%s/%s", c->dir, file);
    if (file_remove_tree(buf_str(&path)) != STATUS_OK)
        log_warn("cannot remove what is left of a deleted crawl", "dir=%s",
                 buf_str(&path));
    buf_fini(&path);
}

/* ---- its view ---- */

static bool has_nothing_left(const struct crawl_stats *s)
{
    return s->engine.queued == s->engine.withheld && s->active == 0;
}

static enum crawls_state state_of(const struct crawls_entry *e,
                                  const struct crawl_stats *s)
{
    if (e->stopping || s->draining)
        return CRAWLS_STOPPING;
    if (s->paused)
        return CRAWLS_PAUSED;
    return has_nothing_left(s) ? CRAWLS_WAITING : CRAWLS_RUNNING;
}

void crawls_view_of(struct crawls *c, const struct crawls_entry *e,
                    struct crawls_view *out)
{
    (void)c;
    memset(out, 0, sizeof *out);
    memcpy(out->name, e->name, sizeof out->name);
    memcpy(out->why, e->why, sizeof out->why);
    out->end = e->end;
    out->started_ms = e->started_ms;
    if (e->crawl != NULL) {
        crawl_get_stats(e->crawl, &out->stats);
        out->end = CRAWL_RUNNING;
        out->state = state_of(e, &out->stats);
    } else {
        out->stats = e->stats;
        out->state = e->state;
    }
}

/* A crawl that fetches its pages again works and waits by turns for ever; only
 * the first time that it waits is news, or the log would grow for ever too. */
static bool is_told(const struct crawls_entry *e, const struct crawls_view *v)
{
    return e->tell_known &&
           (v->state == e->tell_state ||
            (v->state == CRAWLS_RUNNING && e->tell_state == CRAWLS_WAITING &&
             v->stats.engine.dated > 0));
}

/* Tells the factory if the state has changed. */
static void notify(struct crawls *c, struct crawls_entry *e)
{
    struct crawls_view v;

    if (c->factory.tell == NULL || e->attached)
        return;
    pthread_mutex_lock(&c->mtx);
    crawls_view_of(c, e, &v);
    pthread_mutex_unlock(&c->mtx);
    if (is_told(e, &v))
        return;
    e->tell_known = true;
    e->tell_state = v.state;
    c->factory.tell(c->factory.ctx, &v);
}

/* ---- opened and closed ---- */

void crawls_entry_opened(struct crawls *c, struct crawls_entry *e,
                         struct crawl_job *m)
{
    pthread_mutex_lock(&c->mtx);
    e->job = m;
    e->crawl = c->factory.crawl(m);
    e->stopping = false;
    e->end = CRAWL_RUNNING;
    e->why[0] = '\0';
    e->started_ms = clock_wall_ms();
    pthread_mutex_unlock(&c->mtx);
    buf_clear(&e->cannot);
    e->tell_known = false;
    notify(c, e);
}

static void crawls_entry_failed(struct crawls *c, struct crawls_entry *e,
                                const char *why)
{
    pthread_mutex_lock(&c->mtx);
    e->state = CRAWLS_FAILED;
    e->end = CRAWL_BROKEN;
    snprintf(e->why, sizeof e->why, "%s", why);
    pthread_mutex_unlock(&c->mtx);
    e->tell_known = false;
    notify(c, e);
}

enum status crawls_entry_open(struct crawls *c, struct crawls_entry *e,
                              struct buf *why)
{
    struct crawl_job *m = NULL;
    enum status st = c->factory.open(c->factory.ctx, e->name, e->dir,
                                     e->told == CRAWLS_TOLD_PAUSE, &m, why);

    if (st == STATUS_OK)
        crawls_entry_opened(c, e, m);
    else if (st != STATUS_NOT_FOUND)
        crawls_entry_failed(c, e,
                            why->len > 0 ? buf_str(why) : status_text(st));
    return st;
}

void crawls_entry_stop(struct crawls *c, struct crawls_entry *e, bool now)
{
    struct crawl *crawl;
    bool first;

    if (e->attached)
        return;
    pthread_mutex_lock(&c->mtx);
    crawl = e->crawl;
    first = !e->stopping;
    e->stopping = crawl != NULL;
    pthread_mutex_unlock(&c->mtx);
    if (crawl == NULL)
        return;
    if (first)
        crawl_stop(crawl);
    if (now)
        crawl_stop(crawl);
}

/* Notes in the entry how the crawl ended. */
static void note_end(struct crawls *c, struct crawls_entry *e,
                     const struct crawl_result *r, enum status closed)
{
    const char *why = NULL;

    if (r->end == CRAWL_BROKEN)
        why = status_text(r->status);
    else if (closed != STATUS_OK)
        why = status_text(closed);
    else if (e->cannot.len > 0 && r->end != CRAWL_STUCK)
        why = buf_str(&e->cannot);
    if (why != NULL && c->stops_done > 0 && c->last_status == STATUS_OK)
        c->last_status = closed != STATUS_OK ? closed : STATUS_IO;
    if (why == NULL && r->end == CRAWL_STUCK)
        why = crawl_end_text(r->end); /* everything is on disk */
    pthread_mutex_lock(&c->mtx);
    e->stopping = false;
    e->end = r->end;
    e->state = why != NULL ? CRAWLS_FAILED : CRAWLS_STOPPED;
    snprintf(e->why, sizeof e->why, "%s", why != NULL ? why : "");
    pthread_mutex_unlock(&c->mtx);
}

static void close_ended(struct crawls *c, struct crawls_entry *e,
                        const struct crawl_result *r)
{
    struct crawl_job *m = e->job;
    enum status st;

    pthread_mutex_lock(&c->mtx);
    crawl_get_stats(e->crawl, &e->stats);
    e->stats.active = 0;
    e->state = CRAWLS_STOPPING;
    e->crawl = NULL;
    while (e->users > 0)
        pthread_cond_wait(&c->used, &c->mtx);
    pthread_mutex_unlock(&c->mtx);
    st = c->factory.close(m);
    pthread_mutex_lock(&c->mtx);
    e->job = NULL;
    pthread_mutex_unlock(&c->mtx);
    note_end(c, e, r, st);
}

void crawls_entry_tend(struct crawls *c, struct crawls_entry *e)
{
    struct crawl_result r;

    if (e->job != NULL && !e->attached) {
        if (e->cannot.len == 0 && c->factory.tick != NULL &&
            c->factory.tick(e->job, &e->cannot))
            crawls_entry_stop(c, e, false);
        if (crawl_wait(e->crawl, 0, &r))
            close_ended(c, e, &r);
    }
    notify(c, e);
}
