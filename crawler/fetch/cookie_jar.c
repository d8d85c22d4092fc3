/* SPDX-License-Identifier: MIT */
/*
 * cookie_jar.c - the cookies of a crawl, for all of its fetchers.
 *
 * libcurl can share a store of cookies between handles, but not between
 * threads (CURLSHOPT_SHARE: "It is not supported"): the share's own count of
 * users needs a lock too, and libcurl 8.12 to 8.15 read cookies after they have
 * let go of every lock there is. So no handle ever refers to the jar. Before a
 * request its handle gets copies of the cookies that may belong in it, and
 * libcurl chooses among them; after a response has set some, what has changed
 * in the handle is changed in the jar. A cookie that another fetcher has
 * changed meanwhile is left alone.
 *
 * libcurl limits the size of a cookie and the number that a response may set.
 * The number in the jar is our limit.
 */
#include "crawler/fetch/cookie_jar.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "frontier/url/host.h"
#include "frontier/url/url.h"

#define FIELDS          7
#define HTTP_ONLY       "#HttpOnly_"
#define REDIRECTED_MOST 4096
/* Of a request; libcurl sends 8 KiB of them at most. */
#define LENT_MOST ((size_t)64 << 10)

enum { DOMAIN, TAIL, PATH, SECURE, EXPIRES, NAME, VALUE };

struct cookie {
    char *line;          /* as libcurl lists it */
    struct bytes domain; /* in `line` */
};

struct cookie_jar {
    _Atomic bool changed;
    pthread_mutex_t mtx;
    /* shared, under mtx */
    struct map *sites;    /* domains whose hosts use the jar */
    struct cookie *first; /* from the oldest to the newest */
    size_t count;
    struct map *redirected; /* URLs that were; values of `sum` */
};

static char in_map; /* the value of sets */

/* ---- sites --------------------------------------------------------------- */

static void add_domain(struct cookie_jar *j, struct bytes domain)
{
    pthread_mutex_lock(&j->mtx);
    if (domain.len > 0)
        (void)map_put(j->sites, domain, &in_map);
    pthread_mutex_unlock(&j->mtx);
}

void cookie_jar_add_site(struct cookie_jar *j, struct bytes host)
{
    if (host.len > 0)
        add_domain(j, host_registrable(host));
}

/* Does the host, or a domain above it, use the jar? */
static bool takes_part(const struct cookie_jar *j, struct bytes host)
{
    bool address = host.len > 0 && host_is_address(host);
    bool found = false;

    while (!found && host.len > 0) {
        const char *dot = address ? NULL : memchr(host.at, '.', host.len);

        found = map_get(j->sites, host) != NULL;
        host = dot != NULL ? bytes_skip(host, (size_t)(dot - host.at) + 1)
                           : bytes_of("", 0);
    }
    return found;
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
    struct bytes d = field(line, DOMAIN);

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

/* A session's cookie has 0 there. */
static bool is_expired(struct bytes line)
{
    int64_t expires = strtoll(field(line, EXPIRES).at, NULL, 10);

    return expires != 0 && expires <= (int64_t)time(NULL);
}

/* ---- the cookies, under the lock ----------------------------------------- */

static bool is_same(const struct cookie *c, struct bytes line)
{
    struct bytes own = bytes_of_str(c->line);

    return bytes_equal_nocase(c->domain, domain_of(line)) &&
           bytes_equal(field(own, TAIL), field(line, TAIL)) &&
           bytes_equal(field(own, PATH), field(line, PATH)) &&
           bytes_equal(field(own, NAME), field(line, NAME));
}

static void write_cookie(struct cookie *c, struct bytes line)
{
    free(c->line);
    c->line = xstrndup(line.at, line.len);
    c->domain = domain_of(bytes_of_str(c->line));
}

static void drop_cookie(struct cookie_jar *j, size_t i)
{
    free(j->first[i].line);
    j->count--;
    memmove(j->first + i, j->first + i + 1,
            (j->count - i) * sizeof(struct cookie));
    j->changed = true;
}

static void make_room(struct cookie_jar *j, struct bytes domain)
{
    size_t oldest = j->count, of_domain = 0;

    for (size_t i = j->count; i-- > 0;) {
        if (!bytes_equal_nocase(j->first[i].domain, domain))
            continue;
        oldest = i;
        of_domain++;
    }
    if (of_domain == COOKIE_JAR_DOMAIN_MOST)
        drop_cookie(j, oldest);
    else if (j->count == COOKIE_JAR_MOST)
        drop_cookie(j, 0);
}

/* A site removes a cookie by setting it again with a date in the past. */
static void put_cookie(struct cookie_jar *j, struct bytes line)
{
    size_t i = 0;

    while (i < j->count && !is_same(&j->first[i], line))
        i++;
    if (is_expired(line)) {
        if (i < j->count)
            drop_cookie(j, i);
        return;
    }
    if (i == j->count) {
        make_room(j, domain_of(line));
        i = j->count++;
        j->first[i].line = NULL;
    }
    write_cookie(&j->first[i], line);
    j->changed = true;
}

/* Visitor of the lines that a handle has no longer. */
static bool drop_line(void *ctx, struct bytes line, void *value)
{
    struct cookie_jar *j = ctx;
    size_t i = 0;

    (void)value;
    while (i < j->count && !bytes_equal(bytes_of_str(j->first[i].line), line))
        i++;
    if (i < j->count)
        drop_cookie(j, i);
    return true;
}

/* Is `host` the domain, or below it? */
static bool is_within(struct bytes host, struct bytes domain)
{
    size_t above = host.len - domain.len;

    return domain.len <= host.len &&
           bytes_equal_nocase(bytes_skip(host, above), domain) &&
           (above == 0 || host.at[above - 1] == '.');
}

/* Adds the cookies that may go to `host`, each with its zero octet, the newest
 * if they are too many. libcurl looks at path, date and the rest. */
static void list_cookies(const struct cookie_jar *j, struct bytes host,
                         struct buf *out)
{
    size_t i = j->count, room = LENT_MOST;

    for (; i > 0; i--) {
        size_t len = strlen(j->first[i - 1].line) + 1;

        if (!is_within(host, j->first[i - 1].domain))
            continue;
        if (len > room)
            break;
        room -= len;
    }
    for (; i < j->count; i++)
        if (is_within(host, j->first[i].domain))
            buf_add(out, j->first[i].line, strlen(j->first[i].line) + 1);
}

/* ---- requests and responses ---------------------------------------------- */

/* Without COOKIEFILE later versions of curl leave their cookie engine off. The
 * list of files is emptied first, since each call adds to it; that also removes
 * the cookies of the request before. */
bool cookie_jar_lend(struct cookie_jar *j, CURL *easy, struct bytes host,
                     struct buf *lent)
{
    bool part;

    buf_clear(lent);
    if (j == NULL)
        return false;
    curl_easy_setopt(easy, CURLOPT_COOKIEFILE, NULL);
    pthread_mutex_lock(&j->mtx);
    part = takes_part(j, host);
    if (part)
        list_cookies(j, host, lent);
    pthread_mutex_unlock(&j->mtx);
    if (!part)
        return false;
    curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "");
    for (size_t at = 0; at < lent->len; at += strlen(lent->at + at) + 1)
        curl_easy_setopt(easy, CURLOPT_COOKIELIST, lent->at + at);
    return true;
}

void cookie_jar_take(struct cookie_jar *j, CURL *easy, const struct buf *lent)
{
    struct map *gone = map_new();
    struct curl_slist *list = NULL;

    for (size_t at = 0; at < lent->len; at += strlen(lent->at + at) + 1)
        (void)map_put(gone, bytes_of_str(lent->at + at), &in_map);
    curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &list);
    pthread_mutex_lock(&j->mtx);
    for (const struct curl_slist *l = list; l != NULL; l = l->next)
        if (map_remove(gone, bytes_of_str(l->data)) == NULL)
            put_cookie(j, bytes_of_str(l->data));
    map_each(gone, drop_line, j);
    pthread_mutex_unlock(&j->mtx);
    curl_slist_free_all(list);
    map_free(gone, NULL);
}

bool cookie_jar_is_changed(const struct cookie_jar *j)
{
    return atomic_load(&j->changed);
}

/* ---- redirects ----------------------------------------------------------- */

/* RFC 6265 section 5.1.4. */
static bool path_matches(struct bytes path, struct bytes of)
{
    if (of.len > path.len || !bytes_equal(bytes_of(path.at, of.len), of))
        return false;
    return of.len == path.len || of.len == 0 || of.at[of.len - 1] == '/' ||
           path.at[of.len] == '/';
}

/* Does the cookie go with a request for `u`? */
static bool goes_with(struct bytes line, const struct url *u)
{
    struct bytes host = url_host(u), domain = domain_of(line);

    return (bytes_equal_nocase(host, domain) ||
            (bytes_is(field(line, TAIL), "TRUE") && is_within(host, domain))) &&
           path_matches(url_path(u), field(line, PATH)) &&
           (u->https || !bytes_is(field(line, SECURE), "TRUE")) &&
           !is_expired(line);
}

/* FNV-1a. */
static uint64_t hash_of(struct bytes s)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.at[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* Tells sets of cookies apart that go with a request for `url`, by their names
 * and values and in any order. 1: there are none. */
static uintptr_t sum(struct bytes cookies, struct bytes url)
{
    uint64_t h = 0;
    struct url u;

    url_init(&u);
    if (url_parse(&u, url, NULL, NULL) == URL_OK)
        while (cookies.len > 0) {
            struct bytes line = bytes_of_str(cookies.at);
            struct bytes name = field(line, NAME);

            if (goes_with(line, &u))
                h += hash_of(
                    bytes_of(name.at, (size_t)(line.at + line.len - name.at)));
            cookies = bytes_skip(cookies, line.len + 1);
        }
    url_fini(&u);
    return (uintptr_t)h | 1;
}

void cookie_jar_note_redirect(struct cookie_jar *j, struct bytes url,
                              const struct buf *lent)
{
    uintptr_t sent = sum(bytes_of(lent->at, lent->len), url);

    pthread_mutex_lock(&j->mtx);
    if (map_count(j->redirected) >= REDIRECTED_MOST) {
        map_free(j->redirected, NULL);
        j->redirected = map_new();
    }
    (void)map_put(j->redirected, url, (void *)sent);
    pthread_mutex_unlock(&j->mtx);
}

bool cookie_jar_asks_anew(struct cookie_jar *j, struct bytes url)
{
    uintptr_t sent, now = 1;
    struct buf cookies;

    if (j == NULL)
        return false;
    buf_init(&cookies, SIZE_MAX);
    pthread_mutex_lock(&j->mtx);
    sent = (uintptr_t)map_get(j->redirected, url);
    if (takes_part(j, url_canonical_host(url)))
        list_cookies(j, url_canonical_host(url), &cookies);
    pthread_mutex_unlock(&j->mtx);
    now = sum(buf_bytes(&cookies), url);
    buf_fini(&cookies);
    return now != (sent != 0 ? sent : 1);
}

/* ---- files --------------------------------------------------------------- */

static void set_cookie(CURL *easy, struct bytes line)
{
    char *text = xstrndup(line.at, line.len);

    curl_easy_setopt(easy, CURLOPT_COOKIELIST, text);
    free(text);
}

static enum status read_lines(struct cookie_jar *j, CURL *easy,
                              struct bytes text, const char *path,
                              struct buf *error)
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
        set_cookie(easy, line);
        add_domain(j, domain_of(line));
    }
    return STATUS_OK;
}

/* The lines go through libcurl, so that the jar has them as it lists them. */
static enum status read_file(struct cookie_jar *j, struct bytes text,
                             const char *path, struct buf *error)
{
    const struct buf nothing = {.len = 0};
    CURL *easy = curl_easy_init();
    enum status st = STATUS_NOMEM;

    if (easy == NULL)
        return st;
    curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "");
    st = read_lines(j, easy, text, path, error);
    if (st == STATUS_OK)
        cookie_jar_take(j, easy, &nothing);
    curl_easy_cleanup(easy);
    return st;
}

enum status cookie_jar_load(struct cookie_jar *j, const char *path,
                            struct buf *error)
{
    struct buf text;
    enum status st;

    buf_init(&text, COOKIE_JAR_BYTES_MOST);
    st = file_read(path, &text);
    if (st == STATUS_OK)
        st = read_file(j, buf_bytes(&text), path, error);
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
    enum status st;
    struct buf text;

    buf_init(&text, SIZE_MAX);
    buf_add_str(&text,
                "# Netscape HTTP Cookie File\n"
                "# The cookies of a crawl: urlweir " URLWEIR_VERSION ".\n\n");
    pthread_mutex_lock(&j->mtx);
    for (size_t i = j->count; i-- > 0;)
        if (is_expired(bytes_of_str(j->first[i].line)))
            drop_cookie(j, i);
    for (size_t i = 0; i < j->count; i++) {
        buf_add_str(&text, j->first[i].line);
        buf_add_char(&text, '\n');
    }
    atomic_store(&j->changed, false);
    pthread_mutex_unlock(&j->mtx);
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

    pthread_mutex_init(&j->mtx, NULL);
    j->sites = map_new();
    j->redirected = map_new();
    j->first = xcalloc(COOKIE_JAR_MOST, sizeof *j->first);
    return j;
}

void cookie_jar_free(struct cookie_jar *j)
{
    if (j == NULL)
        return;
    for (size_t i = 0; i < j->count; i++)
        free(j->first[i].line);
    free(j->first);
    map_free(j->sites, NULL);
    map_free(j->redirected, NULL);
    pthread_mutex_destroy(&j->mtx);
    free(j);
}
