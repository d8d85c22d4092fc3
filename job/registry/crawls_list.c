/* SPDX-License-Identifier: MIT */
/*
 * crawls_list.c - the list of crawls by name, and its users.
 *
 * Only the registry's thread changes the list, under the mutex, which other
 * threads hold to read it; so that thread reads it without the mutex.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/registry/crawls_impl.h"

const char *crawls_state_name(enum crawls_state s)
{
    static const char *const names[] = {
        [CRAWLS_RUNNING] = "running", [CRAWLS_PAUSED] = "paused",
        [CRAWLS_WAITING] = "waiting", [CRAWLS_STOPPING] = "stopping",
        [CRAWLS_STOPPED] = "stopped", [CRAWLS_FAILED] = "failed",
    };

    return names[s];
}

bool crawls_name_is_valid(struct bytes name)
{
    if (name.len == 0 || name.len > CRAWLS_NAME_MOST || name.at[0] == '.' ||
        name.at[0] == '-')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char ch = name.at[i];

        if ((ch < 'a' || ch > 'z') && (ch < 'A' || ch > 'Z') &&
            (ch < '0' || ch > '9') && ch != '-' && ch != '_' && ch != '.')
            return false;
    }
    return true;
}

/* ---- the list ---- */

/* The index of `name`, or where it belongs. */
static size_t place_of(const struct crawls *c, struct bytes name)
{
    size_t low = 0, high = c->count;

    while (low < high) {
        size_t mid = (low + high) / 2;
        struct bytes at = bytes_of_str(c->at[mid]->name);
        size_t n = at.len < name.len ? at.len : name.len;
        int order = n > 0 ? memcmp(at.at, name.at, n) : 0;

        if (order < 0 || (order == 0 && at.len < name.len))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

struct crawls_entry *crawls_find(const struct crawls *c, struct bytes name)
{
    size_t i = place_of(c, name);

    return i < c->count && bytes_is(name, c->at[i]->name) ? c->at[i] : NULL;
}

struct crawls_entry *crawls_add(struct crawls *c, const char *name,
                                const char *dir)
{
    struct crawls_entry *e = xcalloc(1, sizeof *e);
    size_t i = place_of(c, bytes_of_str(name));

    snprintf(e->name, sizeof e->name, "%s", name);
    e->dir = xstrdup(dir);
    e->state = CRAWLS_STOPPED;
    e->end = CRAWL_INTERRUPTED;
    buf_init(&e->cannot, sizeof e->why);
    pthread_mutex_lock(&c->mtx);
    c->at = xrealloc(c->at, (c->count + 1) * sizeof(struct crawls_entry *));
    memmove(c->at + i + 1, c->at + i,
            (c->count - i) * sizeof(struct crawls_entry *));
    c->at[i] = e;
    c->count++;
    pthread_mutex_unlock(&c->mtx);
    return e;
}

void crawls_entry_free(struct crawls_entry *e)
{
    buf_fini(&e->cannot);
    free(e->dir);
    free(e);
}

void crawls_drop(struct crawls *c, struct crawls_entry *e)
{
    size_t i = place_of(c, bytes_of_str(e->name));

    pthread_mutex_lock(&c->mtx);
    memmove(c->at + i, c->at + i + 1,
            (c->count - i - 1) * sizeof(struct crawls_entry *));
    c->count--;
    pthread_mutex_unlock(&c->mtx);
    crawls_entry_free(e);
}

/* ---- views ---- */

size_t crawls_each(struct crawls *c, struct crawls_view **out)
{
    size_t n;

    pthread_mutex_lock(&c->mtx);
    n = c->count;
    *out = xcalloc(n, sizeof **out);
    for (size_t i = 0; i < n; i++)
        crawls_view_of(c, c->at[i], &(*out)[i]);
    pthread_mutex_unlock(&c->mtx);
    return n;
}

enum status crawls_find_view(struct crawls *c, struct bytes name,
                             struct crawls_view *out)
{
    const struct crawls_entry *e;

    pthread_mutex_lock(&c->mtx);
    e = crawls_find(c, name);
    if (e != NULL)
        crawls_view_of(c, e, out);
    pthread_mutex_unlock(&c->mtx);
    return e != NULL ? STATUS_OK : STATUS_NOT_FOUND;
}

bool crawls_has(struct crawls *c, struct bytes name)
{
    bool has;

    pthread_mutex_lock(&c->mtx);
    has = crawls_find(c, name) != NULL;
    pthread_mutex_unlock(&c->mtx);
    return has;
}

enum status crawls_use(struct crawls *c, struct bytes name,
                       enum status (*use)(struct crawl *crawl, void *ctx),
                       void *ctx)
{
    struct crawls_entry *e;
    struct crawl *crawl = NULL;
    enum status st = STATUS_NOT_FOUND;

    pthread_mutex_lock(&c->mtx);
    e = crawls_find(c, name);
    if (e != NULL) {
        crawl = e->crawl;
        e->users += crawl != NULL;
        st = STATUS_CLOSED;
    }
    pthread_mutex_unlock(&c->mtx);
    if (crawl == NULL)
        return st;
    st = use(crawl, ctx);
    pthread_mutex_lock(&c->mtx);
    if (--e->users == 0)
        pthread_cond_broadcast(&c->used);
    pthread_mutex_unlock(&c->mtx);
    return st;
}

enum status crawls_report(struct crawls *c, struct bytes name,
                          const struct crawls_report *r, int fd)
{
    const struct crawls_entry *e;
    char *dir = NULL;
    enum status st = STATUS_NOT_FOUND;

    pthread_mutex_lock(&c->mtx);
    e = crawls_find(c, name);
    if (e != NULL)
        dir = xstrdup(e->dir);
    pthread_mutex_unlock(&c->mtx);
    if (dir != NULL)
        st = c->factory.report(c->factory.ctx, dir, r, fd);
    free(dir);
    return st;
}
