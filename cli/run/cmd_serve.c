/* SPDX-License-Identifier: MIT */
/* cmd_serve.c - `urlweir serve`: a frontier for other programs. */
#include "cli/run/cmd_serve.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/format.h"
#include "base/kafka/kafka_address.h"
#include "base/listen_address.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/control/control_place.h"
#include "cli/control/control_socket.h"
#include "cli/open_crawl.h"
#include "cli/run/crawl_run.h"
#include "cli/run/serve_settings.h"
#include "cli/run/start_watch.h"
#include "crawler/fetcher.h"
#include "job/crawl_jobs/confine.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "job/dir_kind.h"
#include "job/exit_code.h"
#include "service/filters/filter_shelf.h"
#include "service/http/http_server.h"
#include "service/service.h"

static enum status serve_crawls_close(struct serve_crawls *s, bool *stuck);

/* ---- the crawls of `urlweir serve` ---- */

struct serve_crawls {
    struct crawl_jobs *jobs;
    struct crawls *crawls;
};

/* Escapes the text: a file, or its name, may contain any bytes. */
static void log_reason(const struct buf *why)
{
    struct buf safe;

    buf_init(&safe, SIZE_MAX);
    format_terminal(&safe, buf_bytes(why));
    fprintf(stderr, "urlweir serve: --crawl: %s\n", buf_str(&safe));
    buf_fini(&safe);
}

static enum status add_files(struct serve_crawls *s,
                             const struct option_list *files, struct buf *why)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < files->count; i++)
        st = crawl_jobs_add_file(s->jobs, files->item[i], why);
    return st;
}

/* A crawl would hide what other programs have put under its name. */
static bool is_taken(void *router, struct bytes name)
{
    return router_is_served(router, name);
}

static enum status open_crawls(struct serve_crawls *s, const char *dir,
                               struct router *router, struct buf *why)
{
    struct crawl_factory factory = crawl_jobs_factory(s->jobs);
    struct buf path;
    enum status st;

    buf_init(&path, 4096);
    buf_addf(&path, "%s/crawls", dir);
    st = crawls_open(&s->crawls, buf_str(&path), &factory);
    buf_fini(&path);
    if (st != STATUS_OK)
        return st;
    crawls_mind_names(s->crawls, is_taken, router);
    router_set_crawls(router, s->crawls);
    return crawl_jobs_start_files(s->jobs, s->crawls, why);
}

/* Ends the service when a fetcher is stuck, so that a supervisor restarts it;
 * running on, it would keep whatever that fetcher holds. */
static void end_service(void *service)
{
    service_end(service);
}

static bool serve_crawls_open(struct serve_crawls **out, const char *dir,
                              struct service *service,
                              const struct serve_settings *set, int *code)
{
    const struct crawl_jobs_options o = {
        .dir = dir,
        .quiet = set->quiet,
        .memory = set->crawl_memory,
        .threads = (unsigned)set->crawl_threads,
        .patience = set->drain_ms > 0 ? set->drain_ms * NS_PER_MS : 1,
        .on_stuck = end_service,
        .ctx = service};
    struct serve_crawls *s = xcalloc(1, sizeof *s);
    struct buf why;
    bool stuck;
    enum status st = fetcher_global_init();

    *code = EXIT_CANNOT;
    buf_init(&why, 16384);
    s->jobs = crawl_jobs_new(&o);
    if (st == STATUS_OK) {
        st = add_files(s, &set->crawl, &why);
        if (st != STATUS_OK)
            *code = EXIT_USAGE;
    }
    if (st == STATUS_OK)
        st = open_crawls(s, dir, service_router(service), &why);
    if (why.len > 0)
        log_reason(&why);
    buf_fini(&why);
    if (st == STATUS_OK) {
        *out = s;
        return true;
    }
    (void)serve_crawls_close(s, &stuck);
    return false;
}

/* Opens all crawls and makes them known to the service's router. If a fetcher
 * of a crawl does not come back, the service ends. False: the reason was
 * printed, and *code is the exit status. */
static struct crawls *serve_crawls_of(struct serve_crawls *s)
{
    return s->crawls;
}

/* Begins to stop the crawls; any thread may call this. */
static void serve_crawls_stop(struct serve_crawls *s)
{
    crawls_stop(s->crawls);
}

/* After serve_crawls_stop: has every crawl stopped or failed? */
static bool serve_crawls_are_over(struct serve_crawls *s)
{
    struct crawls_view *views = NULL;
    size_t n = crawls_each(s->crawls, &views), over = 0;

    for (size_t i = 0; i < n; i++)
        over +=
            views[i].state == CRAWLS_STOPPED || views[i].state == CRAWLS_FAILED;
    free(views);
    return over == n;
}

/* Waits until the crawls have stopped, for visits under way at most as long as
 * the drain. *stuck: a fetcher has not come back, see stuck_end. NULL is
 * fine. */
static enum status serve_crawls_close(struct serve_crawls *s, bool *stuck)
{
    enum status st;

    *stuck = false;
    if (s == NULL)
        return STATUS_OK;
    st = crawls_close(s->crawls);
    *stuck = crawl_jobs_are_stuck(s->jobs);
    crawl_jobs_free(s->jobs);
    free(s);
    return st;
}

/* ---- the cluster of `urlweir serve --cluster` ---- */

#define WHY_MOST 4096

static bool failed(enum status st, const struct buf *why)
{
    struct buf safe;

    if (st == STATUS_OK)
        return false;
    buf_init(&safe, 4 * WHY_MOST);
    format_terminal(&safe, why->len > 0 ? buf_bytes(why)
                                        : bytes_of_str(status_text(st)));
    fprintf(stderr, "urlweir serve: --cluster: %s\n", buf_str(&safe));
    buf_fini(&safe);
    return true;
}

/* ---- what must hold before anything is opened ---- */

/* The name of the option that was given; NULL: none was. */
static const char *given(const struct serve_settings *s,
                         const char *const *names)
{
    for (; *names != NULL; names++)
        if (option_given(&serve_options,
                         option_find(&serve_options, bytes_of_str(*names)), s))
            return *names;
    return NULL;
}

static int check_without(const struct serve_settings *s)
{
    static const char *const of_cluster[] = {"shards", "kafka-property", NULL};
    const char *name = given(s, of_cluster);

    return name == NULL
               ? EXIT_DONE
               : usage_error(&serve_usage, "--%s needs --cluster", name);
}

/* Others reach this process by the address it listens on. */
static bool is_for_any(const char *address)
{
    return strncmp(address, "0.0.0.0:", 8) == 0 ||
           strncmp(address, "[::]:", 5) == 0 || address[0] == ':';
}

int serve_shards_check(const struct serve_settings *s)
{
    static const char *const of_one[] = {"crawl", "crawl-memory",
                                         "crawl-threads", "filter-memory",
                                         NULL};
    const struct kafka_properties p = {s->kafka_property.item,
                                       s->kafka_property.count};
    struct kafka_address where;
    const char *name;
    struct buf why;
    enum status st;

    if (s->cluster == NULL)
        return check_without(s);
    buf_init(&why, WHY_MOST);
    st = kafka_address_read(&where, s->cluster, &why);
    if (st == STATUS_OK)
        st = kafka_properties_check(&p, &why);
    (void)failed(st, &why);
    buf_fini(&why);
    if (st != STATUS_OK)
        return EXIT_USAGE;
    name = given(s, of_one);
    if (name != NULL)
        return usage_error(&serve_usage,
                           "--%s: with --cluster there are no crawls and no "
                           "filters of the service's own",
                           name);
    if (strcmp(s->http, "none") == 0)
        return usage_error(&serve_usage,
                           "--http none: with --cluster other processes ask "
                           "this one by HTTP");
    return is_for_any(s->http)
               ? usage_error(&serve_usage,
                             "--http %s: with --cluster it has to be the "
                             "address by which other processes reach this one",
                             s->http)
               : EXIT_DONE;
}

/* ---- starting ---- */

/* Finds the service in the cluster, or makes it. NULL: the reason was printed.
 */
static struct served_shards *serve_shards_open(const struct serve_settings *s,
                                               const char *dir)
{
    static struct kafka_address where; /* outlives the service */
    struct served_shards_options o = {.dir = dir,
                                      .shards = (uint32_t)s->shards,
                                      .token_file = s->token_file,
                                      .tls = {s->tls_cert, s->tls_key,
                                              s->client_ca},
                                      .memory = s->memory,
                                      .checkpoint_ms = s->checkpoint_ms};
    static const char *const number[] = {"shards", NULL};
    struct served_shards *out = NULL;
    struct buf why;
    enum status st;

    buf_init(&why, WHY_MOST);
    o.shards_given = given(s, number) != NULL;
    st = kafka_address_read(&where, s->cluster, &why);
    o.access = (struct kafka_access){where.brokers,
                                     {s->kafka_property.item,
                                      s->kafka_property.count}};
    o.name = where.topic;
    if (st == STATUS_OK)
        st = served_shards_open(&out, &o, &why);
    (void)failed(st, &why);
    buf_fini(&why);
    return st == STATUS_OK ? out : NULL;
}

static void shards_end_service(void *service)
{
    service_end(service);
}

/* Takes shards, and lets others ask at the HTTP address HOST:PORT. False: the
 * reason was printed. */
static bool serve_shards_join(struct served_shards *shards,
                              const struct serve_settings *s, const char *http,
                              struct service *service)
{
    struct buf url, why;
    enum status st;

    buf_init(&url, WHY_MOST);
    buf_init(&why, WHY_MOST);
    buf_addf(&url, "%s://%s", s->tls_cert != NULL ? "https" : "http", http);
    st = served_shards_join(shards, buf_str(&url), service_address(service),
                            shards_end_service, service, &why);
    (void)failed(st, &why);
    buf_fini(&url);
    buf_fini(&why);
    return st == STATUS_OK;
}

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
