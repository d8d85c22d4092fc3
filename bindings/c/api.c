/* SPDX-License-Identifier: MIT */
/* api.c - what the parts of the C library share, and URLs. */
#include "bindings/c/api.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "frontier/url/surt.h"

#define OPTIONS_MOST 4096 /* a size over this was never set */

/* ---- statuses ---- */

enum urlweir_status api_status(enum status st)
{
    static const enum urlweir_status public[STATUS_COUNT_] = {
        [STATUS_OK] = URLWEIR_OK,
        [STATUS_ARG] = URLWEIR_ARG,
        [STATUS_NOMEM] = URLWEIR_NOMEM,
        [STATUS_IO] = URLWEIR_IO,
        [STATUS_FULL] = URLWEIR_FULL,
        [STATUS_FORMAT] = URLWEIR_FORMAT,
        [STATUS_LIMIT] = URLWEIR_LIMIT,
        [STATUS_NOT_FOUND] = URLWEIR_NOT_FOUND,
        [STATUS_EXISTS] = URLWEIR_EXISTS,
        [STATUS_BUSY] = URLWEIR_BUSY,
        [STATUS_DAMAGED] = URLWEIR_DAMAGED,
        [STATUS_VERSION] = URLWEIR_NEWER,
        [STATUS_CLOSED] = URLWEIR_IO,
        [STATUS_AGAIN] = URLWEIR_BUSY,
        [STATUS_REFUSED] = URLWEIR_REFUSED,
        [STATUS_READ_ONLY] = URLWEIR_IO,
    };

    return public[st];
}

const char *urlweir_status_text(int status)
{
    for (int st = 0; st < STATUS_COUNT_; st++)
        if ((int)api_status((enum status)st) == status)
            return status_text((enum status)st);
    return status == URLWEIR_STOPPED ? "stopped by the caller"
                                     : "unknown status";
}

const char *urlweir_version(void)
{
    return URLWEIR_VERSION;
}

/* ---- lines of the log ---- */

static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
static void (*log_now)(void *ctx, int level, const char *line); /* under mtx */
static void *log_ctx;                                           /* likewise */

static void pass_on(enum log_level level, struct bytes line)
{
    pthread_mutex_lock(&mtx);
    if (log_now != NULL) /* a zero byte follows what a buf holds */
        log_now(log_ctx, level == LOG_LEVEL_ERROR ? 0 : 1, line.at);
    pthread_mutex_unlock(&mtx);
}

static void take_log(void)
{
    logger_set_sink(pass_on);
}

void api_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, take_log);
}

void urlweir_set_log(void (*log)(void *ctx, int level, const char *line),
                     void *ctx)
{
    api_begin();
    pthread_mutex_lock(&mtx);
    log_now = log;
    log_ctx = ctx;
    pthread_mutex_unlock(&mtx);
}

/* ---- options ---- */

bool api_take_options(void *to, size_t size, const void *from)
{
    const unsigned char *more = from;
    size_t given;

    memcpy(&given, from, sizeof given);
    if (given < sizeof given || given > OPTIONS_MOST)
        return false;
    for (size_t i = size; i < given; i++)
        if (more[i] != 0)
            return false;
    memset(to, 0, size);
    memcpy(to, from, given < size ? given : size);
    return true;
}

bool api_form_is_known(enum urlweir_form form)
{
    return form == URLWEIR_CANONICAL || form == URLWEIR_WHATWG;
}

/* ---- URLs ---- */

struct urlweir_url *urlweir_url_new(void)
{
    struct urlweir_url *u = xcalloc(1, sizeof *u);

    url_init(&u->url);
    u->reason = URL_EMPTY;
    buf_init(&u->key, SURT_CEILING + 64);
    return u;
}

void urlweir_url_free(struct urlweir_url *u)
{
    if (u == NULL)
        return;
    url_fini(&u->url);
    buf_fini(&u->key);
    free(u);
}

enum urlweir_status urlweir_url_parse(struct urlweir_url *u,
                                      struct urlweir_bytes text,
                                      const struct urlweir_url *base,
                                      enum urlweir_form form)
{
    const struct url *from = base != NULL ? &base->url : NULL;

    if (base == u || (base != NULL && base->reason != URL_OK) ||
        !api_form_is_known(form))
        return URLWEIR_ARG;
    u->form = form;
    u->reason = form == URLWEIR_CANONICAL
                    ? url_canonical(&u->url, api_in(text), from, NULL)
                    : url_parse(&u->url, api_in(text), from, NULL);
    return u->reason == URL_OK ? URLWEIR_OK : URLWEIR_FORMAT;
}

const char *urlweir_url_reason(const struct urlweir_url *u)
{
    return u->reason == URL_OK ? "" : url_reason_text(u->reason);
}

static struct urlweir_bytes part(const struct urlweir_url *u,
                                 struct bytes (*of)(const struct url *u))
{
    return api_out(u->reason == URL_OK ? of(&u->url) : bytes_of("", 0));
}

struct urlweir_bytes urlweir_url_text(const struct urlweir_url *u)
{
    return part(u, url_text);
}

struct urlweir_bytes urlweir_url_host(const struct urlweir_url *u)
{
    return part(u, url_host);
}

struct urlweir_bytes urlweir_url_path_query(const struct urlweir_url *u)
{
    return part(u, url_path_query);
}

struct urlweir_bytes urlweir_url_surt(struct urlweir_url *u)
{
    buf_clear(&u->key);
    if (u->reason == URL_OK && u->form == URLWEIR_CANONICAL)
        surt_of(&u->url, &u->key);
    return api_out(buf_bytes(&u->key));
}
