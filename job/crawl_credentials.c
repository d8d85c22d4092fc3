/* SPDX-License-Identifier: MIT */
/* crawl_credentials.c - gives the secrets in settings and files to the
 * fetchers.
 */
#include "job/crawl_credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/format.h"
#include "base/logger.h"
#include "base/process/sandbox.h"
#include "crawler/fetch/credentials.h"
#include "job/exit_code.h"
#include "job/settings/seeds.h"
#include "job/settings/settings.h"

#define SAVE_INTERVAL (5 * NS_PER_S)
#define PEM_MOST      ((size_t)16 << 20)

/* ---- files --------------------------------------------------------------- */

static void warn_if_open(const char *path)
{
    struct stat sb;

    if (stat(path, &sb) == 0 && S_ISREG(sb.st_mode) && (sb.st_mode & 077) != 0)
        log_warn("a file of secrets can be read by other users",
                 "file=%s hint=\"chmod 600\"", path);
}

static enum status read_file(const char *option, const char *path, size_t most,
                             struct buf *text, struct buf *why)
{
    enum status st;

    buf_init(text, most);
    st = file_read(path, text);
    if (st != STATUS_OK)
        buf_addf(why, "--%s: %s: %s", option, path,
                 st == STATUS_IO      ? "cannot be read"
                 : st == STATUS_LIMIT ? "too long"
                                      : status_text(st));
    return st;
}

/* Better an error now than a failure at each host. */
static enum status check_pem(const char *option, const char *path,
                             const char *holds, struct buf *why)
{
    enum status st = STATUS_OK;
    struct buf text;

    if (path == NULL)
        return STATUS_OK;
    st = read_file(option, path, PEM_MOST, &text, why);
    if (st == STATUS_OK && strstr(buf_str(&text), holds) == NULL) {
        buf_addf(why,
                 "--%s: %s: it holds no \"%s\", so it is not a PEM file of "
                 "that kind",
                 option, path, holds);
        st = STATUS_ARG;
    }
    buf_fini(&text);
    return st;
}

static enum status check_tls(const struct crawl_settings *s, struct buf *why)
{
    const char *key = s->key != NULL ? s->key : s->cert;
    enum status st =
        check_pem("cert", s->cert, "-----BEGIN CERTIFICATE-----", why);

    if (st == STATUS_OK)
        st = check_pem(s->key != NULL ? "key" : "cert", key, "PRIVATE KEY-----",
                       why);
    if (st == STATUS_OK && key != NULL)
        warn_if_open(key);
    if (st == STATUS_OK)
        st = check_pem("cacert", s->cacert, "-----BEGIN ", why);
    return st;
}

/* ---- cookies ------------------------------------------------------------- */

/* Reads the crawl's own jar first, then the file of --cookies if that option is
 * given for this run, as the file is then newer. */
static enum status make_jar(struct crawl_setup *c,
                            const struct crawl_settings *s, struct buf *why)
{
    bool given = option_given(&crawl_options, settings_index("cookies"), s);
    enum status st = STATUS_NOT_FOUND;
    struct buf path;

    if (s->cookies == NULL)
        return STATUS_OK;
    c->jar = cookie_jar_new();
    if (c->jar == NULL)
        return STATUS_NOMEM;
    buf_init(&path, 8192);
    buf_addf(&path, "%s/" CRAWL_COOKIES, s->output);
    if (access(buf_str(&path), F_OK) == 0)
        st = cookie_jar_load(c->jar, buf_str(&path), why);
    if (st == STATUS_NOT_FOUND || (st == STATUS_OK && given)) {
        st = cookie_jar_load(c->jar, s->cookies, why);
        warn_if_open(s->cookies);
        c->jar_is_new = true;
    }
    c->jar_path = buf_take(&path, NULL);
    return st;
}

void crawl_credentials_sync(struct crawl_setup *c, bool last)
{
    int64_t now = clock_mono();

    if (c->jar == NULL || (!c->jar_is_new && !cookie_jar_is_changed(c->jar)) ||
        (!last && now < c->jar_saved + SAVE_INTERVAL))
        return;
    c->jar_saved = now;
    c->jar_is_new = cookie_jar_save(c->jar, c->jar_path) != STATUS_OK;
}

/* ---- seeds --------------------------------------------------------------- */

void crawl_credentials_add_seed(struct crawl_setup *c, const struct url *seed)
{
    if (c->credentials != NULL)
        credentials_add_seed(c->credentials, seed);
    if (c->jar != NULL)
        cookie_jar_add_site(c->jar, url_host(seed));
}

void crawl_credentials_add_login(struct crawl_setup *c, struct bytes login)
{
    option_list_add(&c->logins, login);
}

enum status crawl_credentials_keep_logins(struct crawl_setup *c,
                                          struct crawl_settings *s)
{
    enum status st = STATUS_OK;
    struct buf why;

    if (c->logins.count == 0)
        return STATUS_OK;
    secret_held();
    buf_init(&why, 1024);
    for (size_t i = 0; st == STATUS_OK && i < c->logins.count; i++) {
        seed_login_add(s, bytes_of_str(c->logins.item[i]));
        if (c->credentials != NULL)
            st = credentials_add_basic(c->credentials, c->logins.item[i], &why);
    }
    buf_fini(&why);
    option_list_free(&c->logins);
    return st == STATUS_OK ? settings_save(s) : st;
}

static void add_seeds(struct crawl_setup *c, const struct option_list *seeds)
{
    struct url u;

    url_init(&u);
    for (size_t i = 0; i < seeds->count; i++)
        if (url_canonical(&u, bytes_of_str(seeds->item[i]), NULL, NULL) ==
            URL_OK)
            crawl_credentials_add_seed(c, &u);
    url_fini(&u);
}

/* ---- all of it ----------------------------------------------------------- */

static enum status make_credentials(struct crawl_setup *c,
                                    const struct crawl_settings *s,
                                    struct buf *why)
{
    struct credentials_options o = {.headers = s->header.item,
                                    .header_count = s->header.count,
                                    .cookie = s->cookie,
                                    .bound = s->header_host.item,
                                    .bound_count = s->header_host.count,
                                    .basic = s->auth.item,
                                    .basic_count = s->auth.count,
                                    .bearer = s->bearer.item,
                                    .bearer_count = s->bearer.count,
                                    .cert = s->cert != NULL};
    enum status st = STATUS_OK;
    struct buf netrc;

    buf_init(&netrc, NETRC_MOST);
    if (s->netrc != NULL) {
        st = read_file("netrc", s->netrc, NETRC_MOST, &netrc, why);
        warn_if_open(s->netrc);
        o.netrc = buf_bytes(&netrc);
    }
    if (st == STATUS_OK) {
        st = credentials_new(&c->credentials, &o, why);
        if (st != STATUS_OK && s->netrc != NULL)
            buf_addf(why, " (%s)", s->netrc);
    }
    if (netrc.len > 0)
        explicit_bzero(netrc.at, netrc.len);
    buf_fini(&netrc);
    return st;
}

enum status crawl_credentials_make(struct crawl_setup *c,
                                   const struct crawl_settings *s,
                                   struct buf *why)
{
    enum status st = check_tls(s, why);

    if (settings_has_secrets(s) || s->netrc != NULL || s->cookies != NULL ||
        s->cert != NULL)
        secret_held();
    if (st == STATUS_OK)
        st = make_credentials(c, s, why);
    if (st == STATUS_OK)
        st = make_jar(c, s, why);
    if (st != STATUS_OK)
        return st;
    add_seeds(c, &s->seeds);
    add_seeds(c, &s->sitemap_url);
    c->fetch.credentials = c->credentials;
    c->fetch.jar = c->jar;
    return STATUS_OK;
}

bool crawl_credentials_start(struct crawl_setup *c,
                             const struct crawl_settings *s, int *code)
{
    struct buf why, safe;
    enum status st;

    buf_init(&why, 16384);
    buf_init(&safe, 65536);
    st = crawl_credentials_make(c, s, &why);
    if (st != STATUS_OK) {
        format_terminal(&safe, buf_bytes(&why));
        fprintf(stderr, "urlweir: %s\n", buf_str(&safe));
        *code =
            st == STATUS_ARG || st == STATUS_FORMAT ? EXIT_USAGE : EXIT_CANNOT;
    }
    buf_fini(&why);
    buf_fini(&safe);
    return st == STATUS_OK;
}

void crawl_credentials_end(struct crawl_setup *c)
{
    credentials_free(c->credentials);
    cookie_jar_free(c->jar);
    free(c->jar_path);
    option_list_free(&c->logins);
}
