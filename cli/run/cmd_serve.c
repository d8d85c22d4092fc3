/* SPDX-License-Identifier: MIT */
/*
 * cmd_serve.c - `urlweir serve`: a frontier for other programs.
 *
 * Safe by default: it listens on loopback, where anyone who can reach the port
 * may use it. Any other address needs tokens, client certificates or
 * --allow-open.
 */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/listen_address.h"
#include "base/logger.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/control/control_place.h"
#include "cli/control/control_socket.h"
#include "cli/open_crawl.h"
#include "cli/run/serve_crawls.h"
#include "cli/run/start_watch.h"
#include "cli/run/stuck_end.h"
#include "job/crawl_jobs/confine.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "job/dir_kind.h"
#include "service/filters/filter_shelf.h"
#include "service/http/http_server.h"
#include "service/service.h"

struct serve_settings {
    char *listen, *http;
    char *token_file, *tls_cert, *tls_key, *client_ca;
    bool allow_open;
    int64_t connections;
    int64_t drain_ms;
    uint64_t memory, filter_memory;
    int64_t checkpoint_ms;
    struct option_list crawl;
    bool quiet, verbose;
    enum sandbox_choice sandbox;
    char *user;
    uint8_t from[17];
};

#define PORT   "Port: who may connect"
#define STORE  "Store"
#define CRAWLS "Crawls of its own"
#define OUTPUT "Output"
#define RIGHTS "Rights: what the process keeps"

#define AT(f)  .at = offsetof(struct serve_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "listen", .letter = 'l', .type = OPTION_TEXT, AT(listen),
     .fallback = "127.0.0.1:7071", .section = PORT, .arg = "HOST:PORT",
     .flags = OPTION_LINE_ONLY,
     .help = "where to serve gRPC; port 0 picks a free port and prints it"},
    {.name = "http", .type = OPTION_TEXT, AT(http),
     .fallback = "127.0.0.1:7072", .section = PORT, .arg = "HOST:PORT",
     .flags = OPTION_LINE_ONLY,
     .help = "where to serve JSON over HTTP and /metrics; `none`: nowhere"},
    {.name = "token-file", .type = OPTION_TEXT, AT(token_file),
     .section = PORT, .arg = "FILE", .flags = OPTION_LINE_ONLY,
     .help = "one `ROLE TOKEN` a line, where ROLE is read, write or admin; "
             "callers must then send one of the tokens; read again on SIGHUP"},
    {.name = "tls-cert", .type = OPTION_TEXT, AT(tls_cert),
     .section = PORT, .arg = "FILE", .flags = OPTION_LINE_ONLY,
     .help = "serve over TLS with this certificate chain (PEM); read again on "
             "SIGHUP"},
    {.name = "tls-key", .type = OPTION_TEXT, AT(tls_key),
     .section = PORT, .arg = "FILE", .flags = OPTION_LINE_ONLY,
     .help = "the key of --tls-cert (PEM)"},
    {.name = "client-ca", .type = OPTION_TEXT, AT(client_ca),
     .section = PORT, .arg = "FILE", .flags = OPTION_LINE_ONLY,
     .help = "require callers to show a certificate of these CAs (PEM); needs "
             "--tls-cert"},
    {.name = "allow-open", .type = OPTION_FLAG, AT(allow_open),
     .fallback = "false", .section = PORT, .flags = OPTION_LINE_ONLY,
     .help = "listen on addresses other than loopback without tokens, so that "
             "anybody can do anything"},
    {.name = "connections", .type = OPTION_COUNT, AT(connections),
     .fallback = "1000", .min = 1, .max = 100000, .section = PORT, .arg = "N",
     .flags = OPTION_LINE_ONLY,
     .help = "most open connections"},
    {.name = "drain", .type = OPTION_TIME, AT(drain_ms), .fallback = "5s",
     .min = 0, .max = 3600e3, .section = PORT, .arg = "TIME",
     .flags = OPTION_LINE_ONLY,
     .help = "how long running calls may take to finish when the service stops"},

    {.name = "memory", .type = OPTION_SIZE, AT(memory), .fallback = "256M",
     .min = 16.0 * 1048576, .max = 9007199254740992.0, .section = STORE,
     .arg = "SIZE", .flags = OPTION_LINE_ONLY,
     .help = "how much of its store the frontier may keep in memory"},
    {.name = "filter-memory", .type = OPTION_SIZE, AT(filter_memory),
     .fallback = "128M", .min = 1048576, .max = 9007199254740992.0,
     .section = STORE, .arg = "SIZE", .flags = OPTION_LINE_ONLY,
     .help = "how much memory the filters of /v1/filters may take"},
    {.name = "checkpoint", .type = OPTION_TIME, AT(checkpoint_ms),
     .fallback = "60s", .min = 100, .max = 86400e3, .section = STORE,
     .arg = "TIME", .flags = OPTION_LINE_ONLY,
     .help = "time between two checkpoints; acknowledged URLs are on disk "
             "without one"},

    {.name = "crawl", .type = OPTION_LIST, AT(crawl), .section = CRAWLS,
     .arg = "FILE.yaml", .flags = OPTION_LINE_ONLY,
     .help = "also run a crawl of its own, as `urlweir crawl -C` does with "
             "this file; it is kept in DIR/crawls under the file's name; can "
             "be repeated"},

    {.name = "quiet", .letter = 'q', .type = OPTION_FLAG, AT(quiet),
     .fallback = "false", .section = OUTPUT, .flags = OPTION_LINE_ONLY,
     .help = "print errors only"},
    {.name = "verbose", .letter = 'v', .type = OPTION_FLAG, AT(verbose),
     .fallback = "false", .section = OUTPUT, .flags = OPTION_LINE_ONLY,
     .help = "also print what is done"},

    {.name = "sandbox", .type = OPTION_CHOICE, AT(sandbox), .fallback = "on",
     .words = sandbox_words, .section = RIGHTS, .flags = OPTION_LINE_ONLY,
     .help = "give up all rights that the service does not need, as far as "
             "the kernel can take them; off keeps them"},
    {.name = "user", .type = OPTION_TEXT, AT(user), .section = RIGHTS,
     .arg = "NAME", .flags = OPTION_LINE_ONLY,
     .help = "the user that root becomes; without it the owner of DIR, if "
             "that user can use all files that are named"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct serve_settings);

const struct usage serve_usage = {
    .name = "serve",
    .synopsis =
        "serve DIR [--listen HOST:PORT] [--http HOST:PORT] [--token-file FILE] "
        "[--crawl FILE.yaml]... [options]",
    .about =
        "Serves a frontier for other crawlers: the URLFrontier API over gRPC, "
        "and JSON over HTTP. Its store is in DIR, which is made if it is "
        "missing. It can run crawls of its own too, each in DIR/crawls/NAME. "
        "SIGTERM ends it; everything that was acknowledged is on disk.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = "a directory",
};

/* ---- what must hold before anything is opened ---- */

/* `option`: the option that gave the address. */
static int check_address(const struct serve_settings *s, const char *option,
                         const char *address)
{
    bool loopback = false;

    if (listen_address_is_loopback(address, &loopback) != STATUS_OK)
        return usage_error(&serve_usage,
                           "%s: '%s' is not a HOST:PORT of this "
                           "machine",
                           option, address);
    if (loopback || s->allow_open || s->token_file != NULL ||
        s->client_ca != NULL)
        return EXIT_DONE;
    return usage_error(&serve_usage,
                       "%s: other machines could use '%s' without any check; "
                       "give --token-file, or --tls-cert with --client-ca, or "
                       "--allow-open",
                       option, address);
}

static bool has_http(const struct serve_settings *s)
{
    return strcmp(s->http, "none") != 0;
}

static int check_settings(const struct serve_settings *s)
{
    if ((s->tls_cert == NULL) != (s->tls_key == NULL))
        return usage_error(&serve_usage,
                           "--tls-cert and --tls-key must be given "
                           "together");
    if (s->client_ca != NULL && s->tls_cert == NULL)
        return usage_error(&serve_usage, "--client-ca needs --tls-cert and "
                                         "--tls-key");
    if (check_address(s, "--listen", s->listen) != EXIT_DONE)
        return EXIT_USAGE;
    return has_http(s) ? check_address(s, "--http", s->http) : EXIT_DONE;
}

static void set_log_level(const struct serve_settings *s)
{
    if (s->quiet)
        logger_set_level(LOG_LEVEL_ERROR);
    else if (s->verbose)
        logger_set_level(LOG_LEVEL_INFO);
}

/* False: SIGHUP is ignored, as nohup(1) asks, and stays ignored. */
static bool block_signals(void)
{
    struct sigaction hangup;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return sigaction(SIGHUP, NULL, &hangup) == 0 &&
           hangup.sa_handler != SIG_IGN;
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
    struct serve_crawls *crawls;
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
    serve_crawls_stop(all->crawls);
}

static bool is_over(void *ctx)
{
    struct serving *all = ctx;

    return (all->http == NULL || http_server_is_over(all->http)) &&
           control_socket_is_over(all->socket) &&
           serve_crawls_are_over(all->crawls);
}

static enum status open_shelf(struct serving *all,
                              const struct serve_settings *set)
{
    struct buf path;
    enum status st;

    if (!has_http(set))
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
        .crawls = serve_crawls_of(all->crawls),
        .router = service_router(all->service),
        .shelf = all->shelf,
        .grpc = service_grpc(all->service),
        .dir = all->dir,
    };
    enum status st;

    service_on_stop(all->service, begin_stop, is_over, all);
    if (!has_http(set))
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
                       bool hangup)
{
    enum status st = open_shelf(all, set);

    if (st == STATUS_OK)
        st = open_http(all, set);

    if (st != STATUS_OK) {
        (void)close_all(all, st);
        return open_failed(all->dir, st);
    }
    all->socket =
        control_socket_open(all->dir, service_router(all->service),
                            serve_crawls_of(all->crawls), set->drain_ms);
    confine_seal();
    say_where(all, set);
    st = close_all(all, service_run(all->service, hangup));
    if (st == STATUS_OK)
        return all->stuck ? ended_stuck() : EXIT_DONE;
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
    crawl_job_confine(c, dir, &s->crawl);
    good = confine_apply(c, &o, code);
    confine_free(c);
    return good;
}

static int serve(const struct serve_settings *s, const char *dir)
{
    const struct service_options o = {
        .dir = dir,
        .listen = s->listen,
        .token_file = s->token_file,
        .tls = {s->tls_cert, s->tls_key, s->client_ca},
        .connections = (unsigned)s->connections,
        .drain_ms = s->drain_ms,
        .memory = s->memory,
        .checkpoint_ms = s->checkpoint_ms,
    };
    bool hangup = block_signals();
    struct serving all = {.dir = dir};
    struct start_watch *start;
    int code = EXIT_CANNOT;
    bool started = false;
    enum status st;

    if (!dir_kind_check(dir, DIR_STORE, "serve") || !confine(s, dir, &code) ||
        !lock_dir(dir, &all.lock))
        return code;
    start = start_watch_begin("serve");
    st = service_open(&all.service, &o);
    if (st != STATUS_OK)
        code = open_failed(dir, st);
    else
        started = serve_crawls_open(&all.crawls, dir, all.service, &s->crawl,
                                    s->drain_ms, s->quiet, &code);
    start_watch_end(start);
    if (started)
        code = run_service(&all, s, hangup);
    else if (st == STATUS_OK)
        service_close(all.service);
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
    code = check_settings(&s);
    if (code == EXIT_DONE)
        code = serve(&s, operands.item[0]);
    option_list_free(&operands);
    option_fini(&table, &s);
    return code;
}
