/* SPDX-License-Identifier: MIT */
/*
 * crawl_control.c - the registry of one attached crawl, and its two servers.
 */
#include "cli/run/crawl_control.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/control/control_place.h"
#include "cli/control/control_socket.h"
#include "cli/run/metrics_port.h"
#include "frontier/reader.h"
#include "job/crawl_jobs/confine.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "job/exit_code.h"
#include "job/registry/crawls.h"
#include "service/service.h"

#define NOTE_MOST 900

struct crawl_control {
    const char *what;
    struct file_lock *lock; /* NULL: there are no servers */
    struct crawl_jobs *host;
    struct crawls *crawls;
    struct crawl_job *member; /* NULL: none is attached */
    struct control_socket *socket;
    struct http_server *http; /* of --metrics */
};

/* ---- beginning and end ---- */

static void write_note(struct crawl_control *c)
{
    struct buf note;

    if (c->lock == NULL)
        return;
    buf_init(&note, NOTE_MOST);
    control_note(&note, c->what,
                 c->http != NULL ? http_server_address(c->http) : NULL, false);
    file_lock_note(c->lock, buf_str(&note));
    buf_fini(&note);
}

enum status crawl_control_new(struct crawl_control **out, const char *what)
{
    struct crawl_control *c = xcalloc(1, sizeof *c);
    struct crawl_factory factory;
    enum status st;

    c->what = what;
    c->host = crawl_jobs_new(&(struct crawl_jobs_options){.quiet = true});
    factory = crawl_jobs_factory(c->host);
    st = crawls_open(&c->crawls, NULL, &factory);
    if (st == STATUS_OK)
        *out = c;
    else
        crawl_control_close(c);
    return st;
}

bool crawl_control_open(struct crawl_control **out, const char *what,
                        const struct crawl_settings *s, struct file_lock *lock,
                        int *code)
{
    struct crawl_control *c = NULL;
    enum status st = crawl_control_new(&c, what);

    *code = EXIT_CANNOT;
    if (st != STATUS_OK)
        fprintf(stderr, "urlweir %s: cannot start a thread: %s\n", what,
                status_text(st));
    if (st == STATUS_OK && s->metrics != NULL)
        st = metrics_port_open(&c->http, what, s,
                               (struct http_options){.crawls = c->crawls});
    if (st != STATUS_OK) {
        crawl_control_close(c);
        return false;
    }
    c->lock = lock;
    c->socket =
        control_socket_open(s->output, NULL, c->crawls, METRICS_DRAIN_MS);
    confine_seal();
    write_note(c);
    *out = c;
    return true;
}

struct crawls *crawl_control_crawls(const struct crawl_control *c)
{
    return c->crawls;
}

void crawl_control_attach(struct crawl_control *c, struct crawl_setup *setup,
                          const struct crawl_settings *s,
                          struct frontier *frontier, struct crawl *crawl)
{
    c->member = crawl_job_attach(setup, s, frontier, crawl);
    crawls_attach(c->crawls, CRAWL_ID, s->output, c->member);
}

bool crawl_control_stopped(const struct crawl_control *c)
{
    return crawls_attached_stopped(c->crawls);
}

void crawl_control_release(struct crawl_control *c)
{
    if (c->crawls == NULL)
        return;
    control_socket_close(c->socket);
    http_server_close(c->http);
    (void)crawls_close(c->crawls); /* it runs no crawl that could fail */
    crawl_job_release(c->member);
    c->socket = NULL;
    c->http = NULL;
    c->crawls = NULL;
    c->member = NULL;
    write_note(c);
}

void crawl_control_close(struct crawl_control *c)
{
    if (c == NULL)
        return;
    crawl_control_release(c);
    crawl_jobs_free(c->host);
    free(c);
}
