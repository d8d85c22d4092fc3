/* SPDX-License-Identifier: MIT */
/* cmd_serve.c - `urlweir serve`: a frontier for other programs. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/kafka/kafka_address.h"
#include "base/listen_address.h"
#include "base/logger.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/control/control_place.h"
#include "cli/control/control_socket.h"
#include "cli/open_crawl.h"
#include "cli/run/serve_crawls.h"
#include "cli/run/serve_settings.h"
#include "cli/run/serve_shards.h"
#include "cli/run/start_watch.h"
#include "cli/run/stuck_end.h"
#include "job/crawl_jobs/confine.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "job/dir_kind.h"
#include "service/filters/filter_shelf.h"
#include "service/http/http_server.h"
#include "service/service.h"

static void set_log_level(const struct serve_settings *s)
{
    if (s->quiet)
        logger_set_level(LOG_LEVEL_ERROR);
    else if (s->verbose)
        logger_set_level(LOG_LEVEL_INFO);
}

/* Those that are waited for: SIGTERM, SIGINT and, unless nohup(1) had it
 * ignored, SIGHUP. */
static sigset_t block_signals(void)
{
    struct sigaction hangup;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return set;
}

/* ---- the directory ---- */

static bool lock_dir(const char *dir, struct file_lock **lock)
{
    char path[4096];
    long holder = 0;
    enum status st = file_make_dir(dir);

    snprintf(path, sizeof path, "%s/lock", dir);
    if (st == STATUS_OK)
        st = file_lock_take(lock, path, "serve", &holder);
    if (st == STATUS_BUSY)
        fprintf(stderr,
                "urlweir serve: %s is in use by process %ld; end it with `kill "
                "%ld`\n",
                dir, holder, holder);
    else if (st != STATUS_OK)
        fprintf(stderr, "urlweir serve: cannot use %s: %s\n", dir,
                st == STATUS_EXISTS ? "it is not a directory"
                                    : status_text(st));
    return st == STATUS_OK && !dir_is_crawl(dir, "serve");
}

/* ---- serving ---- */

static int open_failed(const char *dir, enum status st)
{
    if (st == STATUS_DAMAGED) {
        fprintf(stderr,
                "urlweir serve: the store in %s is damaged; restore the "
                "directory from a copy\n",
                dir);
        return EXIT_DAMAGED;
    }
    if (st == STATUS_VERSION)
        fprintf(stderr,
                "urlweir serve: the store in %s was written by a newer "
                "urlweir; use that release\n",
                dir);
    else if (st == STATUS_BUSY)
        fprintf(stderr,
                "urlweir serve: cannot start: the address is in use; give "
                "another with --listen or --http; port 0 picks a free one\n");
    else if (st == STATUS_FORMAT || st == STATUS_NOT_FOUND || st == STATUS_IO)
        fprintf(stderr, "urlweir serve: cannot start, see above\n");
    else
        fprintf(stderr, "urlweir serve: cannot start: %s\n", status_text(st));
    return EXIT_CANNOT;
}

/* The parts of a running service. */
struct serving {
    const char *dir;
    struct file_lock *lock;
    struct service *service;
    struct served_shards *shards;  /* the service's, too; NULL: no cluster */
    struct serve_crawls *crawls;   /* NULL: in a cluster */
    struct filter_shelf *shelf;    /* NULL: no HTTP */
    struct http_server *http;      /* NULL: none */
    struct control_socket *socket; /* NULL: none */
    bool stuck;                    /* a fetcher does not come back */
};

static void begin_stop(void *ctx)
{
    struct serving *all = ctx;

    if (all->shelf != NULL)
        filter_shelf_stop(all->shelf);
    if (all->http != NULL)
        http_server_stop(all->http);
    if (all->socket != NULL)
        control_socket_stop(all->socket);
    if (all->crawls != NULL)
        serve_crawls_stop(all->crawls);
}

static bool is_over(void *ctx)
{
    struct serving *all = ctx;

    return (all->http == NULL || http_server_is_over(all->http)) &&
           control_socket_is_over(all->socket) &&
           (all->crawls == NULL || serve_crawls_are_over(all->crawls));
}

static enum status open_shelf(struct serving *all,
                              const struct serve_settings *set)
{
    struct buf path;
    enum status st;

    if (!serve_has_http(set) || all->shards != NULL)
        return STATUS_OK;
    buf_init(&path, 8192);
    buf_addf(&path, "%s/filters", all->dir);
    st = filter_shelf_open(&all->shelf, buf_str(&path), set->filter_memory);
    buf_fini(&path);
    return st;
}

static enum status open_http(struct serving *all,
                             const struct serve_settings *set)
{
    struct http_options o = {
        .listen = set->http,
        .auth = service_auth(all->service),
        .tls = {set->tls_cert, set->tls_key, set->client_ca},
        .connections = (unsigned)set->connections,
        .drain_ms = set->drain_ms,
        .frontier = service_frontier(all->service),
        .crawls = all->crawls != NULL ? serve_crawls_of(all->crawls) : NULL,
        .router = service_router(all->service),
        .shelf = all->shelf,
        .grpc = service_grpc(all->service),
        .dir = all->dir,
    };
    enum status st;

    service_on_stop(all->service, begin_stop, is_over, all);
    if (!serve_has_http(set))
        return STATUS_OK;
    st = listen_address_is_loopback(set->http, &o.loopback);
    if (st == STATUS_OK)
        st = http_server_open(&all->http, &o);
    if (st == STATUS_OK)
        service_on_reload(all->service, http_server_reload, all->http);
    return st;
}

/* Prints gRPC's address last, so that a program that waits for it has both. */
static void say_where(const struct serving *all,
                      const struct serve_settings *set)
{
    const char *http =
        all->http != NULL ? http_server_address(all->http) : NULL;
    struct buf note;

    buf_init(&note, 900);
    control_note(&note, "serve", http, set->tls_cert != NULL);
    file_lock_note(all->lock, buf_str(&note));
    buf_fini(&note);
    if (http != NULL)
        fprintf(stderr, "urlweir serve: HTTP on %s\n", http);
    fprintf(stderr, "urlweir serve: listening on %s\n",
            service_address(all->service));
}

/* Crawls have been stopping since begin_stop. Returns the first failure. */
static enum status close_all(struct serving *all, enum status st)
{
    enum status crawls, frontier, filters;

    http_server_close(all->http);
    filters = filter_shelf_close(all->shelf);
    control_socket_close(all->socket);
    router_end_crawls(service_router(all->service));
    crawls = serve_crawls_close(all->crawls, &all->stuck);
    frontier = service_close(all->service);
    if (st == STATUS_OK)
        st = crawls;
    if (st == STATUS_OK)
        st = filters;
    return st == STATUS_OK ? frontier : st;
}

static int ended_stuck(void)
{
    fprintf(stderr,
            "urlweir serve: ended because a fetcher is stuck on the URL named "
            "above; everything is on disk, and the next start marks that URL "
            "failed and goes on\n");
    return EXIT_STUCK;
}

static int run_service(struct serving *all, const struct serve_settings *set,
                       const sigset_t *signals)
{
    enum status st = open_shelf(all, set);

    if (st == STATUS_OK)
        st = open_http(all, set);

    if (st != STATUS_OK) {
        (void)close_all(all, st);
        return open_failed(all->dir, st);
    }
    if (all->shards != NULL &&
        !serve_shards_join(all->shards, set, http_server_address(all->http),
                           all->service)) {
        (void)close_all(all, STATUS_OK);
        return EXIT_CANNOT;
    }
    if (all->shards == NULL)
        all->socket =
            control_socket_open(all->dir, service_router(all->service),
                                serve_crawls_of(all->crawls), set->drain_ms);
    confine_seal();
    say_where(all, set);
    st = close_all(all, service_run(all->service, signals));
    if (st == STATUS_OK)
        return all->stuck ? ended_stuck() : EXIT_DONE;
    if (all->shards != NULL) {
        fprintf(stderr, "urlweir serve: ended because shards cannot be served "
                        "here, see above; others go on with them\n");
        return EXIT_CANNOT;
    }
    fprintf(stderr,
            "urlweir serve: cannot write a checkpoint in %s: %s; what was "
            "acknowledged is on disk\n",
            all->dir, status_text(st));
    return EXIT_CANNOT;
}

/* SIGHUP reads these files again; they may have been replaced by then. */
static bool confine(const struct serve_settings *s, const char *dir, int *code)
{
    const struct confine_choice o = {.sandbox = s->sandbox,
                                     .user = s->user,
                                     .make_dir = true,
                                     .quiet = s->quiet};
    struct confine *c = confine_new("serve", dir);
    bool good;

    confine_listen(c, s->listen);
    confine_listen(c, s->http);
    confine_read_again(c, s->token_file);
    confine_read_again(c, s->tls_cert);
    confine_read_again(c, s->tls_key);
    confine_read_again(c, s->client_ca);
    for (size_t i = 0; i < s->kafka_property.count; i++)
        confine_read(c, kafka_property_file(s->kafka_property.item[i]));
    crawl_job_confine(c, dir, &s->crawl);
    good = confine_apply(c, &o, code);
    confine_free(c);
    return good;
}

/* What must be before any thread: rights, and the lock of the directory. */
static bool open_place(struct serving *all, const struct serve_settings *s,
                       int *code)
{
    if (!dir_kind_check(all->dir, s->cluster != NULL ? DIR_SHARDS : DIR_STORE,
                        "serve"))
        return false;
    if (!confine(s, all->dir, code))
        return false;
    *code = EXIT_CANNOT;
    return lock_dir(all->dir, &all->lock);
}

static bool start_service(struct serving *all, const struct serve_settings *s,
                          int *code)
{
    const struct service_options o = {
        .dir = all->dir,
        .shards = all->shards,
        .listen = s->listen,
        .token_file = s->token_file,
        .tls = {s->tls_cert, s->tls_key, s->client_ca},
        .connections = (unsigned)s->connections,
        .drain_ms = s->drain_ms,
        .memory = s->memory,
        .checkpoint_ms = s->checkpoint_ms,
    };
    enum status st = service_open(&all->service, &o);

    if (st != STATUS_OK)
        *code = open_failed(all->dir, st);
    return st == STATUS_OK;
}

/* Starts service and crawls. False: *code is the exit status. */
static bool start_all(struct serving *all, const struct serve_settings *s,
                      int *code)
{
    if (s->cluster != NULL) {
        *code = EXIT_CANNOT;
        all->shards = serve_shards_open(s, all->dir);
        return all->shards != NULL && start_service(all, s, code);
    }
    if (!start_service(all, s, code))
        return false;
    if (serve_crawls_open(&all->crawls, all->dir, all->service, s, code))
        return true;
    service_close(all->service);
    return false;
}

static int serve(const struct serve_settings *s, const char *dir)
{
    sigset_t signals = block_signals();
    struct serving all = {.dir = dir};
    struct start_watch *start;
    int code = EXIT_CANNOT;
    bool started;

    if (!open_place(&all, s, &code))
        return code;
    start = start_watch_begin("serve");
    started = start_all(&all, s, &code);
    start_watch_end(start);
    if (started)
        code = run_service(&all, s, &signals);
    file_lock_free(all.lock);
    if (all.stuck)
        stuck_end(code);
    return code;
}

int cmd_serve(int argc, char **argv)
{
    struct serve_settings s;
    struct option_list operands = {0};
    int code = EXIT_DONE;

    if (!command_line_parse(&serve_usage, argc, argv, &s, &operands, &code))
        return code;
    set_log_level(&s);
    code = serve_settings_check(&s);
    if (code == EXIT_DONE)
        code = serve(&s, operands.item[0]);
    option_list_free(&operands);
    option_fini(&serve_options, &s);
    return code;
}
