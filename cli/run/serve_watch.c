/* SPDX-License-Identifier: MIT */
/* serve_watch.c - serves what is known of a crawl in a cluster. */
#include "cli/run/serve_watch.h"

#include <signal.h>
#include <stdio.h>

#include "base/format.h"
#include "base/listen_address.h"
#include "base/logger.h"
#include "job/cluster_crawl/cluster_desk.h"
#include "job/cluster_part.h"
#include "job/crawl_jobs/confine.h"
#include "job/exit_code.h"
#include "job/settings/settings.h"
#include "service/http/http_server.h"

struct watching {
    const struct serve_settings *s;
    struct auth *auth;
    struct cluster_desk *desk;
    struct http_server *http;
};

static bool confine(const struct serve_settings *s, int *code)
{
    const struct confine_choice o = {.sandbox = s->sandbox,
                                     .user = s->user,
                                     .quiet = s->quiet};
    struct confine *c = confine_new("serve", NULL);
    bool good;

    confine_listen(c, s->http);
    confine_read_again(c, s->token_file);
    confine_read_again(c, s->tls_cert);
    confine_read_again(c, s->tls_key);
    confine_read_again(c, s->client_ca);
    good = confine_apply(c, &o, code);
    confine_free(c);
    return good;
}

/* Is there such a crawl? Later failures are shown on the page. */
static bool find(const char *url, int *code)
{
    struct cluster_store *store = NULL;
    struct crawl_settings s;
    struct buf why, safe;
    enum status st;

    settings_init(&s);
    buf_init(&why, 8192);
    buf_init(&safe, 65536);
    st = cluster_part_look(&store, url, &s, &why);
    if (st != STATUS_OK) {
        format_terminal(&safe, buf_bytes(&why));
        fprintf(stderr, "urlweir serve: %s\n",
                safe.len > 0 ? buf_str(&safe) : status_text(st));
    }
    *code = st == STATUS_ARG ? EXIT_USAGE : EXIT_CANNOT;
    cluster_store_close(store);
    settings_fini(&s);
    buf_fini(&why);
    buf_fini(&safe);
    return st == STATUS_OK;
}

static enum status start(struct watching *w, const char *url)
{
    const struct serve_settings *s = w->s;
    struct http_options o = {.listen = s->http,
                             .tls = {s->tls_cert, s->tls_key, s->client_ca},
                             .connections = (unsigned)s->connections,
                             .drain_ms = s->drain_ms};
    enum status st = listen_address_is_loopback(s->http, &o.loopback);

    if (st == STATUS_OK && s->token_file != NULL)
        st = auth_new(&w->auth, s->token_file);
    if (st == STATUS_OK)
        st = cluster_desk_open(&w->desk, url, true);
    o.auth = w->auth;
    o.cluster = w->desk;
    if (st == STATUS_OK)
        st = http_server_open(&w->http, &o);
    return st;
}

static void reload(struct watching *w)
{
    bool kept = http_server_reload(w->http) != STATUS_OK;

    if (w->auth != NULL)
        kept |= auth_reload(w->auth) != STATUS_OK;
    if (kept)
        log_warn("not everything could be read again; the old values stay",
                 "%s", "");
}

static void wait_for_end(struct watching *w, const sigset_t *signals)
{
    int signal = SIGHUP;

    while (signal == SIGHUP) {
        if (sigwait(signals, &signal) == 0 && signal == SIGHUP)
            reload(w);
    }
}

static int serve(struct watching *w, const char *url, const sigset_t *signals)
{
    enum status st = start(w, url);

    if (st != STATUS_OK) {
        fprintf(stderr, "urlweir serve: cannot serve HTTP on %s: %s\n",
                w->s->http, status_text(st));
        return EXIT_CANNOT;
    }
    confine_seal();
    fprintf(stderr, "urlweir serve: HTTP on %s\n",
            http_server_address(w->http));
    wait_for_end(w, signals);
    return EXIT_DONE;
}

int serve_watch(const struct serve_settings *s, const char *url,
                const sigset_t *signals)
{
    struct watching w = {.s = s};
    int code;

    if (!confine(s, &code) || !find(url, &code))
        return code;
    code = serve(&w, url, signals);
    http_server_close(w.http);
    cluster_desk_close(w.desk);
    auth_free(w.auth);
    return code;
}
