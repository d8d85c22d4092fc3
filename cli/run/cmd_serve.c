/* SPDX-License-Identifier: MIT */
/* cmd_serve.c - `urlweir serve`: a frontier for other programs. */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
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
#include "config/option.h"
#include "crawler/fetcher.h"
#include "job/crawl_jobs/confine.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "job/dir_kind.h"
#include "job/exit_code.h"
#include "job/registry/crawls.h"
#include "job/settings/options.h"
#include "service/filters/filter_shelf.h"
#include "service/http/http_server.h"
#include "service/service.h"
#include "service/shards/served_shards.h"

/*
 * The options of `urlweir serve`.
 *
 * Main thread.
 *
 * Safe by default: it listens on loopback, where anyone who can reach the port
 * may use it. Any other address needs tokens, client certificates or
 * --allow-open.
 */

struct serve_settings {
    char *listen, *http;
    char *token_file, *tls_cert, *tls_key, *client_ca;
    bool allow_open;
    int64_t connections;
    int64_t drain_ms;
    uint64_t memory, filter_memory;
    int64_t checkpoint_ms;
    struct option_list crawl;
    uint64_t crawl_memory;
    int64_t crawl_threads;
    bool quiet, verbose;
    enum sandbox_choice sandbox;
    char *user, *cluster;
    int64_t shards;
    struct option_list kafka_property;
    uint8_t from[22];
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
     .help = "where to serve gRPC; port 0 picks a free port and prints it"},
    {.name = "http", .type = OPTION_TEXT, AT(http),
     .fallback = "127.0.0.1:7072", .section = PORT, .arg = "HOST:PORT",
     .help = "where to serve JSON over HTTP and /metrics; `none`: nowhere"},
    {.name = "token-file", .type = OPTION_TEXT, AT(token_file),
     .section = PORT, .arg = "FILE",
     .help = "one `ROLE TOKEN` a line, where ROLE is read, write or admin; "
             "callers must then send one of the tokens; read again on SIGHUP"},
    {.name = "tls-cert", .type = OPTION_TEXT, AT(tls_cert),
     .section = PORT, .arg = "FILE",
     .help = "serve over TLS with this certificate chain (PEM); read again on "
             "SIGHUP"},
    {.name = "tls-key", .type = OPTION_TEXT, AT(tls_key),
     .section = PORT, .arg = "FILE",
     .help = "the key of --tls-cert (PEM)"},
    {.name = "client-ca", .type = OPTION_TEXT, AT(client_ca),
     .section = PORT, .arg = "FILE",
     .help = "require callers to show a certificate of these CAs (PEM); needs "
             "--tls-cert"},
    {.name = "allow-open", .type = OPTION_FLAG, AT(allow_open),
     .fallback = "false", .section = PORT,
     .help = "listen on addresses other than loopback without tokens, so that "
             "anybody can do anything"},
    {.name = "connections", .type = OPTION_COUNT, AT(connections),
     .fallback = "1000", .min = 1, .max = 100000, .section = PORT, .arg = "N",
     .help = "most open connections"},
    {.name = "drain", .type = OPTION_TIME, AT(drain_ms), .fallback = "5s",
     .min = 0, .max = 3600e3, .section = PORT, .arg = "TIME",
     .help = "how long running calls may take to finish when the service stops"},

    {.name = "cluster", .type = OPTION_TEXT, AT(cluster),
     .section = STORE, .arg = "URL",
     .help = "share the URLs with other processes that name the same "
             "kafka://HOST[:PORT][,...]/NAME; DIR has a copy of some shards"},
    {.name = "shards", .type = OPTION_COUNT, AT(shards), .fallback = "16",
     .min = 1, .max = 4096, .section = STORE, .arg = "N",
     .help = "of a new service in a cluster: into how many shards its URLs are "
             "divided, which cannot be changed"},
    {.name = "kafka-property", .type = OPTION_LIST, AT(kafka_property),
     .section = STORE, .arg = "NAME=VALUE",
     .help = "how to sign in at the brokers of --cluster, by librdkafka's "
             "names; can be repeated"},
    {.name = "memory", .type = OPTION_SIZE, AT(memory), .fallback = "256M",
     .min = 16.0 * 1048576, .max = 9007199254740992.0, .section = STORE,
     .arg = "SIZE",
     .help = "how much of its store the frontier may keep in memory"},
    {.name = "filter-memory", .type = OPTION_SIZE, AT(filter_memory),
     .fallback = "128M", .min = 1048576, .max = 9007199254740992.0,
     .section = STORE, .arg = "SIZE",
     .help = "how much memory the filters of /v1/filters may take"},
    {.name = "checkpoint", .type = OPTION_TIME, AT(checkpoint_ms),
     .fallback = "60s", .min = 100, .max = 86400e3, .section = STORE,
     .arg = "TIME",
     .help = "time between two checkpoints; acknowledged URLs are on disk "
             "without one"},

    {.name = "crawl", .type = OPTION_LIST, AT(crawl), .section = CRAWLS,
     .arg = "FILE.yaml",
     .help = "also run a crawl of its own, as `urlweir crawl -C` does with "
             "this file; it is kept in DIR/crawls under the file's name; can "
             "be repeated"},

    {.name = "crawl-memory", .type = OPTION_SIZE, AT(crawl_memory),
     .fallback = "machine", .min = 1, .max = 9007199254740992.0,
     .bare = "machine", .section = CRAWLS, .arg = "SIZE",
     .help = "how much the `memory` of all its crawls may be together for a "
             "client to make or resume another; machine: what this one has"},
    {.name = "crawl-threads", .type = OPTION_COUNT, AT(crawl_threads),
     .fallback = "auto", .min = 1, .max = 100000, .bare = "auto",
     .section = CRAWLS, .arg = "N",
     .help = "the same of their `threads`; auto: 64 a core"},

    {.name = "quiet", .letter = 'q', .type = OPTION_FLAG, AT(quiet),
     .fallback = "false", .section = OUTPUT,
     .help = "print errors only"},
    {.name = "verbose", .letter = 'v', .type = OPTION_FLAG, AT(verbose),
     .fallback = "false", .section = OUTPUT,
     .help = "also print what is done"},

    {.name = "sandbox", .type = OPTION_CHOICE, AT(sandbox), .fallback = "on",
     .words = sandbox_words, .section = RIGHTS,
     .help = "give up all rights that the service does not need, as far as "
             "the kernel can take them; off keeps them"},
    {.name = "user", .type = OPTION_TEXT, AT(user), .section = RIGHTS,
     .arg = "NAME",
     .help = "the user that root becomes; without it the owner of DIR, if "
             "that user can use all files that are named"},
};
/* clang-format on */

static const struct option_table serve_options =
    OPTION_TABLE(specs, struct serve_settings);

/*
 * SIGINT and SIGTERM end a service that is still starting.
 *
 * A start reads stores, rebuilds filters and stores the seeds of crawls, which
 * can take minutes, or waits for a pipe that nobody writes to. Nothing has been
 * acknowledged to anyone yet, so the signal ends the process at once, as a
 * crash would: the next start finds everything that was committed.
 *
 * A thread polls a signalfd(2), and an eventfd(2) that start_watch_end writes
 * to. It checks the eventfd first, so that it never takes a signal that is
 * meant for the running service.
 */

struct start_watch;

enum { OVER, SIGNALS, FDS };

struct start_watch {
    const char *command;
    struct pollfd fds[FDS];
    pthread_t thread;
};

static void end_by(int signo)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, signo);
    signal(signo, SIG_DFL);
    raise(signo);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void *watch(void *ctx)
{
    struct start_watch *w = ctx;
    struct signalfd_siginfo info;

    while (poll(w->fds, FDS, -1) < 0 && errno == EINTR)
        ;
    if (w->fds[OVER].revents != 0 ||
        read(w->fds[SIGNALS].fd, &info, sizeof info) != (ssize_t)sizeof info)
        return NULL;
    fprintf(stderr,
            "urlweir %s: ended while it was starting; everything on disk is "
            "kept; start it again\n",
            w->command);
    end_by((int)info.ssi_signo);
    return NULL;
}

static void release(struct start_watch *w)
{
    for (int i = 0; i < FDS; i++)
        if (w->fds[i].fd >= 0)
            close(w->fds[i].fd);
    free(w);
}

/* Call this with both signals blocked; they stay blocked. NULL: the watch could
 * not be made, and the signals take effect when the start is over. */
static struct start_watch *start_watch_begin(const char *command)
{
    struct start_watch *w = xcalloc(1, sizeof *w);
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    w->command = command;
    w->fds[OVER].fd = eventfd(0, EFD_CLOEXEC);
    w->fds[SIGNALS].fd = signalfd(-1, &set, SFD_CLOEXEC);
    for (int i = 0; i < FDS; i++)
        w->fds[i].events = POLLIN;
    if (w->fds[OVER].fd < 0 || w->fds[SIGNALS].fd < 0 ||
        pthread_create(&w->thread, NULL, watch, w) != 0) {
        release(w);
        return NULL;
    }
    return w;
}

/* From here on the caller handles the signals. NULL is fine. */
static void start_watch_end(struct start_watch *w)
{
    const uint64_t one = 1;

    if (w == NULL)
        return;
    while (write(w->fds[OVER].fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
    pthread_join(w->thread, NULL);
    release(w);
}

struct serve_crawls;
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

static int serve_shards_check(const struct serve_settings *s)
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

static bool serve_has_http(const struct serve_settings *s)
{
    return strcmp(s->http, "none") != 0;
}

/* EXIT_USAGE: the reason was printed. */
static int serve_settings_check(const struct serve_settings *s)
{
    if (serve_shards_check(s) != EXIT_DONE)
        return EXIT_USAGE;
    if ((s->tls_cert == NULL) != (s->tls_key == NULL))
        return usage_error(&serve_usage,
                           "--tls-cert and --tls-key must be given "
                           "together");
    if (s->client_ca != NULL && s->tls_cert == NULL)
        return usage_error(&serve_usage, "--client-ca needs --tls-cert and "
                                         "--tls-key");
    if (check_address(s, "--listen", s->listen) != EXIT_DONE)
        return EXIT_USAGE;
    return serve_has_http(s) ? check_address(s, "--http", s->http) : EXIT_DONE;
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

static int serve_run(const struct usage *u, void *settings,
                     const struct option_list *operands)
{
    const struct serve_settings *s = settings;
    int code;

    (void)u;
    set_log_level(s);
    code = serve_settings_check(s);
    return code == EXIT_DONE ? serve(s, operands->item[0]) : code;
}

const struct usage serve_usage = {
    .name = "serve",
    .synopsis =
        "serve DIR [--cluster URL] [--listen HOST:PORT] [--http HOST:PORT] "
        "[--token-file FILE] [--crawl FILE.yaml]... [options]",
    .about =
        "Serves a frontier for other crawlers: the URLFrontier API over gRPC, "
        "and JSON over HTTP. Its store is in DIR, which is made if it is "
        "missing. It can run crawls of its own too, each in DIR/crawls/NAME. "
        "SIGTERM ends it; everything that was acknowledged is on disk.",
    .table = &serve_options,
    .least = 1,
    .most = 1,
    .operand = "a directory",
    .run = serve_run,
};
