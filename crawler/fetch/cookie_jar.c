/* SPDX-License-Identifier: MIT */
/*
 * cookie_jar.c - the cookies of a crawl, shared by its fetchers.
 *
 * The store is a CURLSH's, under our mutex: handles come and go, some are used
 * once (curl_faults.h), but the store stays. libcurl limits the size of a
 * cookie and the number that a response may set, but not the store: we trim it
 * when it is saved, and at the latest when NOTED_MOST octets of Set-Cookie have
 * come. A cookie is removed by setting it again with a date in the past.
 */
#include "crawler/fetch/cookie_jar.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "frontier/url/host.h"

#define NOTED_MOST ((size_t)4 << 20)
#define FIELDS     7
#define HTTP_ONLY  "#HttpOnly_"
#define GONE       "1" /* expiry of a removed cookie, in the past */

struct cookie_jar {
    pthread_mutex_t store; /* what curl locks */
    CURLSH *share;
    pthread_mutex_t own; /* of the handle */
    CURL *easy;          /* reads and writes the store */
    pthread_rwlock_t lock;
    struct map *sites; /* domains whose hosts use the jar */
    _Atomic bool changed;
    _Atomic size_t noted; /* octets since the last trimming */
};

static char in_map; /* the value of the set of sites */

/* ---- callbacks of curl
 * ----------------------------------------------------- */

static void lock_store(CURL *easy, curl_lock_data data, curl_lock_access access,
                       void *ctx)
{
    struct cookie_jar *j = ctx;

    (void)easy;
    (void)access;
    if (data == CURL_LOCK_DATA_COOKIE)
        pthread_mutex_lock(&j->store);
}

static void unlock_store(CURL *easy, curl_lock_data data, void *ctx)
{
    struct cookie_jar *j = ctx;

    (void)easy;
    if (data == CURL_LOCK_DATA_COOKIE)
        pthread_mutex_unlock(&j->store);
}

/* ---- sites --------------------------------------------------------------- */

static void add_domain(struct cookie_jar *j, struct bytes domain)
{
    pthread_rwlock_wrlock(&j->lock);
    if (domain.len > 0)
        (void)map_put(j->sites, domain, &in_map);
    pthread_rwlock_unlock(&j->lock);
}

void cookie_jar_add_site(struct cookie_jar *j, struct bytes host)
{
    if (host.len > 0)
        add_domain(j, host_registrable(host));
}

/* Does the host, or a domain above it, use the jar? */
static bool takes_part(struct cookie_jar *j, struct bytes host)
{
    bool address = host.len > 0 && host_is_address(host);
    bool found = false;

    pthread_rwlock_rdlock(&j->lock);
    while (!found && host.len > 0) {
        const char *dot = address ? NULL : memchr(host.at, '.', host.len);

        found = map_get(j->sites, host) != NULL;
        host = dot != NULL ? bytes_skip(host, (size_t)(dot - host.at) + 1)
                           : bytes_of("", 0);
    }
    pthread_rwlock_unlock(&j->lock);
    return found;
}

/* Without COOKIEFILE later versions of curl leave their cookie engine off. The
 * list of files is emptied first, since each call adds to it; that also removes
 * the store, so the share is set afterwards. */
bool cookie_jar_attach(struct cookie_jar *j, CURL *easy, struct bytes host)
{
    bool part;

    if (j == NULL)
        return false;
    part = takes_part(j, host);
    curl_easy_setopt(easy, CURLOPT_SHARE, NULL);
    curl_easy_setopt(easy, CURLOPT_COOKIEFILE, NULL);
    if (part) {
        curl_easy_setopt(easy, CURLOPT_SHARE, j->share);
        curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "");
    }
    return part;
}

/* ---- lines --------------------------------------------------------------- */

/* Field `n` of a line, from 0; empty: there are fewer. */
static struct bytes field(struct bytes line, unsigned n)
{
    while (line.len > 0) {
        const char *tab = memchr(line.at, '\t', line.len);
        size_t len = tab != NULL ? (size_t)(tab - line.at) : line.len;

        if (n-- == 0)
            return bytes_of(line.at, len);
        line = bytes_skip(line, tab != NULL ? len + 1 : len);
    }
    return bytes_of("", 0);
}

static struct bytes domain_of(struct bytes line)
{
    struct bytes d = field(line, 0);

    if (bytes_starts_with(d, HTTP_ONLY))
        d = bytes_skip(d, strlen(HTTP_ONLY));
    if (d.len > 0 && d.at[0] == '.')
        d = bytes_skip(d, 1);
    return d;
}

static bool is_cookie(struct bytes line)
{
    size_t tabs = 0;

    for (size_t i = 0; i < line.len; i++)
        tabs += line.at[i] == '\t';
    return tabs >= FIELDS - 2 && tabs <= FIELDS - 1 &&
           domain_of(line).len > 0 && memchr(line.at, '\0', line.len) == NULL;
}

static bool is_comment(struct bytes line)
{
    return line.len == 0 ||
           (line.at[0] == '#' && !bytes_starts_with(line, HTTP_ONLY));
}

static void set_cookie(struct cookie_jar *j, struct bytes line)
{
    char *text = xstrndup(line.at, line.len);

    curl_easy_setopt(j->easy, CURLOPT_COOKIELIST, text);
    free(text);
}

/* ---- bounds -------------------------------------------------------------- */

/* Some releases of curl list a removed cookie until the next one is set. */
static bool is_gone(struct bytes line)
{
    return bytes_is(field(line, 4), GONE);
}

/* Sets the same cookie with an expiry (the fifth field) in the past. */
static void drop_cookie(struct cookie_jar *j, struct bytes line)
{
    struct bytes ends = field(line, 4);
    struct buf gone;

    buf_init(&gone, line.len + 8);
    buf_add(&gone, line.at, (size_t)(ends.at - line.at));
    buf_add_str(&gone, GONE);
    buf_add_bytes(&gone,
                  bytes_skip(line, (size_t)(ends.at - line.at) + ends.len));
    set_cookie(j, buf_bytes(&gone));
    buf_fini(&gone);
}

/* curl lists the cookies of a domain from the oldest to the newest, so counting
 * from the end tells how many newer ones a domain has. */
static void trim(struct cookie_jar *j)
{
    struct curl_slist *list = NULL, **lines;
    struct map *counts = map_new();
    size_t n = 0, kept = 0;

    atomic_store(&j->noted, 0);
    curl_easy_getinfo(j->easy, CURLINFO_COOKIELIST, &list);
    for (struct curl_slist *l = list; l != NULL; l = l->next)
        n++;
    lines = xcalloc(n + 1, sizeof(struct curl_slist *));
    n = 0;
    for (struct curl_slist *l = list; l != NULL; l = l->next)
        lines[n++] = l;
    while (n-- > 0) {
        struct bytes line = bytes_of_str(lines[n]->data);
        uintptr_t of_domain = (uintptr_t)map_get(counts, domain_of(line)) + 1;

        if (is_gone(line))
            continue;
        (void)map_put(counts, domain_of(line), (void *)of_domain);
        if (of_domain > COOKIE_JAR_DOMAIN_MOST || kept == COOKIE_JAR_MOST)
            drop_cookie(j, line);
        else
            kept++;
    }
    map_free(counts, NULL);
    free(lines);
    curl_slist_free_all(list);
}

void cookie_jar_note(struct cookie_jar *j, size_t octets)
{
    atomic_store(&j->changed, true);
    if (atomic_fetch_add(&j->noted, octets) + octets < NOTED_MOST)
        return;
    pthread_mutex_lock(&j->own);
    if (atomic_load(&j->noted) >= NOTED_MOST)
        trim(j);
    pthread_mutex_unlock(&j->own);
}

bool cookie_jar_is_changed(const struct cookie_jar *j)
{
    return atomic_load(&j->changed);
}

/* ---- files --------------------------------------------------------------- */

static enum status read_lines(struct cookie_jar *j, struct bytes text,
                              const char *path, struct buf *error)
{
    for (size_t number = 1; text.len > 0; number++) {
        const char *end = memchr(text.at, '\n', text.len);
        size_t n = end != NULL ? (size_t)(end - text.at) : text.len;
        struct bytes line = bytes_of(text.at, n);

        text = bytes_skip(text, end != NULL ? n + 1 : n);
        if (line.len > 0 && line.at[line.len - 1] == '\r')
            line.len--;
        if (is_comment(line))
            continue;
        if (!is_cookie(line)) {
            buf_addf(error,
                     "%s:%zu: a cookie is a line of seven fields separated by "
                     "tabs",
                     path, number);
            return STATUS_FORMAT;
        }
        set_cookie(j, line);
        add_domain(j, domain_of(line));
    }
    return STATUS_OK;
}

enum status cookie_jar_load(struct cookie_jar *j, const char *path,
                            struct buf *error)
{
    struct buf text;
    enum status st;

    buf_init(&text, COOKIE_JAR_BYTES_MOST);
    st = file_read(path, &text);
    if (st == STATUS_OK)
        st = read_lines(j, buf_bytes(&text), path, error);
    else
        buf_addf(error, "%s: %s", path,
                 st == STATUS_IO      ? "cannot be read"
                 : st == STATUS_LIMIT ? "longer than 8 MiB"
                                      : status_text(st));
    buf_fini(&text);
    return st;
}

enum status cookie_jar_save(struct cookie_jar *j, const char *path)
{
    struct curl_slist *list = NULL;
    enum status st;
    struct buf text;

    buf_init(&text, SIZE_MAX);
    buf_add_str(&text,
                "# Netscape HTTP Cookie File\n"
                "# The cookies of a crawl: urlweir " URLWEIR_VERSION ".\n\n");
    pthread_mutex_lock(&j->own);
    atomic_store(&j->changed, false);
    trim(j);
    curl_easy_getinfo(j->easy, CURLINFO_COOKIELIST, &list);
    pthread_mutex_unlock(&j->own);
    for (const struct curl_slist *l = list; l != NULL; l = l->next) {
        if (is_gone(bytes_of_str(l->data)))
            continue; /* curl drops it when the next cookie is set */
        buf_add_str(&text, l->data);
        buf_add_char(&text, '\n');
    }
    curl_slist_free_all(list);
    st = file_replace_private(path, buf_bytes(&text));
    if (st != STATUS_OK)
        atomic_store(&j->changed, true);
    buf_fini(&text);
    return st;
}

/* ---- life ---------------------------------------------------------------- */

struct cookie_jar *cookie_jar_new(void)
{
    struct cookie_jar *j = xcalloc(1, sizeof *j);

    pthread_mutex_init(&j->store, NULL);
    pthread_mutex_init(&j->own, NULL);
    pthread_rwlock_init(&j->lock, NULL);
    j->sites = map_new();
    j->share = curl_share_init();
    j->easy = curl_easy_init();
    if (j->share == NULL || j->easy == NULL) {
        cookie_jar_free(j);
        return NULL;
    }
    curl_share_setopt(j->share, CURLSHOPT_LOCKFUNC, lock_store);
    curl_share_setopt(j->share, CURLSHOPT_UNLOCKFUNC, unlock_store);
    curl_share_setopt(j->share, CURLSHOPT_USERDATA, j);
    curl_share_setopt(j->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    curl_easy_setopt(j->easy, CURLOPT_SHARE, j->share);
    curl_easy_setopt(j->easy, CURLOPT_COOKIEFILE, "");
    return j;
}

void cookie_jar_free(struct cookie_jar *j)
{
    if (j == NULL)
        return;
    curl_easy_cleanup(j->easy);
    if (j->share != NULL)
        assert(curl_share_cleanup(j->share) == CURLSHE_OK);
    map_free(j->sites, NULL);
    pthread_rwlock_destroy(&j->lock);
    pthread_mutex_destroy(&j->own);
    pthread_mutex_destroy(&j->store);
    free(j);
}
