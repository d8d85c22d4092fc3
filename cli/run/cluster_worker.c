/* SPDX-License-Identifier: MIT */
/*
 * cluster_worker.c - a worker of a crawl on many machines.
 *
 * The worker is a member of the crawl's consumer group and starts a process for
 * each shard that the group gives it. A shard is an ordinary crawl, in
 * DIR/shards/N: a process for each keeps them as they are on one machine, and a
 * page that brings one down leaves the others alone.
 *
 * Until when this worker owns its shards for sure stands in memory that it
 * shares with these processes: the moment of its last sign of life in the
 * group, plus the time after which the group gives up on it, less a margin. A
 * worker that was stopped for longer sends no request when it goes on.
 */
#include "cli/run/cluster_worker.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/format.h"
#include "base/kafka/kafka.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/control/control_place.h"
#include "cli/crawl_command_line.h"
#include "cli/run/crawl_run.h"
#include "cli/stop_signals.h"
#include "cluster/cluster_control.h"
#include "cluster/cluster_stats.h"
#include "cluster/cluster_steer.h"
#include "cluster/cluster_topics.h"
#include "cluster/permits.h"
#include "crawler/crawl.h"
#include "frontier/reader.h"
#include "job/dir_kind.h"
#include "job/exit_code.h"
#include "job/settings/settings.h"

#define MARGIN     (2 * NS_PER_S)
#define TICK_MS    100
#define TELL_EVERY (5 * NS_PER_S)
#define SHOW_EVERY (500 * NS_PER_MS) /* by --metrics */
#define PATIENCE   (20 * NS_PER_S)   /* with a shard that is asked to stop */
#define AGAIN      (2 * NS_PER_S) /* until a shard that died is started again */
#define DEATHS     5              /* in a row, until that is no use */
#define OWNED_FD   3              /* of a shard's process */
#define ANSWER_MS  30000          /* of a shard's process, for a command */
#define RUN_MOST   16             /* options of a run */
#define READY      (10 * NS_PER_S) /* until it takes commands */

struct own_shard {
    pid_t pid;        /* 0: no process */
    bool ours, ended; /* it has finished, and needs no process */
    unsigned deaths;
    int64_t start_at; /* monotonic */
    int64_t rouse_at; /* the same, if it has finished; 0: not now */
};

struct worker {
    const char *command;
    struct crawl_settings *s;
    struct kafka_access access;
    char name[KAFKA_TOPIC_MOST + 1];
    struct cluster_control *all;
    struct own_shard *shards;
    uint32_t count;
    int owned_fd;
    _Atomic int64_t *owned_until;
    struct option_list run;      /* NAME=VALUE for the shards */
    uint64_t settings_version;   /* of the file in DIR */
    struct cluster_board *board; /* of --metrics, or NULL */
    struct http_server *http;
    int64_t shown_at;
    _Atomic bool asked_to_stop; /* by a command */
    _Atomic bool *has, *wanted; /* by shard, for the thread of commands: this
                                   worker has it; it is to run */
    bool stopping;
    int code; /* of a shard that cannot go on, or EXIT_DONE */
    struct buf why;
};

static bool failed(struct worker *w, enum status st, const char *what)
{
    if (st == STATUS_OK)
        return false;
    fprintf(stderr, "urlweir %s: %s: %s\n", w->command, what,
            w->why.len > 0 ? buf_str(&w->why) : status_text(st));
    return true;
}

/* ---- processes ---- */

/* Options of this run, which are not kept in DIR; what is shown and where the
 * results go is the worker's own. */
static void list_run_options(struct worker *w)
{
    static const char *const own[] = {"output", "quiet", "progress", "metrics",
                                      "metrics-open"};
    struct buf text;

    buf_init(&text, 8192);
    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *o = &crawl_options.spec[i];
        bool passed = (o->flags & OPTION_OF_RUN) != 0 &&
                      option_given(&crawl_options, i, w->s);

        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            passed &= strcmp(o->name, own[k]) != 0;
        if (!passed)
            continue;
        buf_clear(&text);
        buf_addf(&text, "%s=", o->name);
        option_text(o, w->s, 0, &text);
        option_list_add(&w->run, buf_bytes(&text));
    }
    buf_fini(&text);
}

static void start(struct worker *w, uint32_t n)
{
    char number[16], count[16], fd[16];
    const char *argv[6 + RUN_MOST + 1] = {"urlweir", "shard", w->s->output,
                                          number,    count,   fd};
    posix_spawn_file_actions_t files;
    struct own_shard *o = &w->shards[n];
    int rc;

    snprintf(number, sizeof number, "%" PRIu32, n);
    snprintf(count, sizeof count, "%" PRIu32, w->count);
    snprintf(fd, sizeof fd, "%d", OWNED_FD);
    for (size_t i = 0; i < w->run.count && i < RUN_MOST; i++)
        argv[6 + i] = w->run.item[i];
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, w->owned_fd, OWNED_FD);
    rc = posix_spawn(&o->pid, "/proc/self/exe", &files, NULL,
                     (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (rc == 0)
        return;
    log_error("the process of a shard cannot be started",
              "shard=%" PRIu32 " error=\"%s\"", n, strerror(rc));
    o->pid = 0;
    o->start_at = clock_mono() + AGAIN;
}

static void note_end(struct worker *w, uint32_t n, int status)
{
    struct own_shard *o = &w->shards[n];
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

    o->pid = 0;
    o->ended = code == EXIT_DONE || code == EXIT_SEEDS;
    if (o->ended || !o->ours || w->stopping)
        return;
    o->deaths++;
    o->start_at = clock_mono() + AGAIN;
    log_warn("the process of a shard has ended", "shard=%" PRIu32 " status=%d",
             n, code);
    if (code == EXIT_LIMIT || code == EXIT_DAMAGED || o->deaths >= DEATHS) {
        w->code = code > 0 ? code : EXIT_DAMAGED;
        w->stopping = true;
    }
}

static void reap(struct worker *w)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (uint32_t n = 0; n < w->count; n++)
            if (w->shards[n].pid == pid)
                note_end(w, n, status);
}

/* A shard that has finished runs again if it is to perform a command, or if the
 * crawl is not over after all: a person has sent a seed. */
static void rouse(struct worker *w, uint32_t n, bool over, int64_t now)
{
    struct own_shard *o = &w->shards[n];
    bool wanted = atomic_exchange(&w->wanted[n], false);

    if (!o->ended || !o->ours || (over && !wanted)) {
        o->rouse_at = 0;
        return;
    }
    if (o->rouse_at == 0)
        o->rouse_at = now + (wanted ? 0 : AGAIN);
    if (now >= o->rouse_at)
        o->ended = false;
}

static void start_due(struct worker *w)
{
    bool over = cluster_control_is_over(w->all);
    int64_t now = clock_mono();

    for (uint32_t n = 0; n < w->count; n++) {
        struct own_shard *o = &w->shards[n];

        rouse(w, n, over, now);
        if (o->ours && !o->ended && o->pid == 0 && !w->stopping &&
            now >= o->start_at)
            start(w, n);
    }
}

static void wait_moment(void)
{
    const struct timespec t = {.tv_nsec = 20 * NS_PER_MS};

    nanosleep(&t, NULL);
}

static bool some_run(const struct worker *w, uint32_t first, uint32_t end)
{
    bool some = false;

    for (uint32_t n = first; n < end; n++)
        some |= w->shards[n].pid > 0;
    return some;
}

/* Stops the processes of the shards from `first` to before `end`, and waits for
 * their ends: at first they finish what they have begun, then they leave it. */
static void stop_shards(struct worker *w, uint32_t first, uint32_t end,
                        bool at_once)
{
    int64_t since = clock_mono();
    int asked = 0;

    while (some_run(w, first, end)) {
        int64_t passed = clock_mono() - since;
        int wanted = at_once || passed > PATIENCE ? 3
                     : passed > PATIENCE / 4      ? 2
                                                  : 1;

        for (uint32_t n = first; asked < wanted && n < end; n++)
            if (w->shards[n].pid > 0)
                kill(w->shards[n].pid, wanted == 3 ? SIGKILL : SIGTERM);
        asked = wanted;
        wait_moment();
        reap(w);
    }
}

/* ---- commands (cluster_steer.h), on a thread of their own ---- */

static bool has_shard(void *ctx, uint32_t n)
{
    const struct worker *w = ctx;

    return atomic_load(&w->has[n]);
}

/* A process that has just begun takes no commands yet, or has no crawl yet, as
 * it reads rows. */
static enum status reach_once(struct control_client **out, const char *dir,
                              struct buf *why)
{
    const struct control_options o = {.timeout_ms = ANSWER_MS};
    struct control_client *c = NULL;
    json_t *crawl = NULL;
    enum status st = control_client_open(&c, dir, &o, why);

    if (st == STATUS_OK)
        st = control_client_ask(c, "GET", "/v1/crawls/" CRAWL_ID, NULL, &crawl,
                                why);
    json_decref(crawl);
    if (st == STATUS_OK)
        *out = c;
    else
        control_client_free(c);
    return st;
}

static enum status reach(struct control_client **out, const char *dir,
                         struct buf *why)
{
    int64_t until = clock_mono() + READY;
    enum status st;

    while ((st = reach_once(out, dir, why)) == STATUS_BUSY ||
           st == STATUS_NOT_FOUND) {
        if (clock_mono() >= until)
            break;
        buf_clear(why);
        wait_moment();
    }
    /* It is not a host that it does not know. */
    return st == STATUS_NOT_FOUND ? STATUS_AGAIN : st;
}

static enum status perform(void *ctx, uint32_t n, const char *method,
                           const char *path, json_t *body, json_t **out,
                           struct buf *why)
{
    const struct worker *w = ctx;
    struct control_client *c = NULL;
    struct buf dir;
    enum status st;

    atomic_store(&w->wanted[n], true); /* it may have finished */
    buf_init(&dir, 8192);
    buf_addf(&dir, "%s/shards/%" PRIu32, w->s->output, n);
    st = reach(&c, buf_str(&dir), why);
    if (st == STATUS_OK)
        st = control_client_ask(c, method, path, body, out, why);
    control_client_free(c);
    buf_fini(&dir);
    return st;
}

static void asked_to_stop(void *ctx)
{
    struct worker *w = ctx;

    atomic_store(&w->asked_to_stop, true);
}

/* ---- the group ---- */

static void gained(void *ctx, int partition)
{
    struct worker *w = ctx;

    if (partition < 0 || (uint32_t)partition >= w->count)
        return;
    w->shards[partition].ours = true;
    atomic_store(&w->has[partition], true);
    w->shards[partition].start_at = 0;
    log_info("this worker has a shard", "shard=%d", partition);
}

static void gives_up(void *ctx, int partition, bool lost)
{
    struct worker *w = ctx;

    if (partition < 0 || (uint32_t)partition >= w->count)
        return;
    if (lost)
        atomic_store(w->owned_until, 0);
    w->shards[partition].ours = false;
    atomic_store(&w->has[partition], false);
    stop_shards(w, (uint32_t)partition, (uint32_t)partition + 1, lost);
    log_info("this worker gives a shard up", "shard=%d", partition);
}

/* ---- the person ---- */

static uint32_t count_ours(const struct worker *w)
{
    uint32_t ours = 0;

    for (uint32_t n = 0; n < w->count; n++)
        ours += w->shards[n].ours;
    return ours;
}

static void tell(const struct worker *w, const char *what)
{
    struct shard_report all = cluster_stats_sum(w->all);

    if (w->s->quiet)
        return;
    fprintf(stderr,
            "urlweir %s: %s: %" PRIu64 " pages, %" PRIu64
            " URLs queued, %" PRIu64 " failed, %s; %" PRIu32 " of %" PRIu32
            " shards here\n",
            w->command, what, all.pages, all.queued, all.failed,
            SIZE(all.bytes), count_ours(w), w->count);
}

static bool signal_came(int64_t *last)
{
    const struct timespec none = {0};
    sigset_t set;

    stop_signals(&set);
    return sigtimedwait(&set, NULL, &none) >= 0 && stop_signals_is_wish(last);
}

/* ---- the worker ---- */

static bool all_ended(const struct worker *w)
{
    return cluster_control_is_over(w->all) && !some_run(w, 0, w->count);
}

static void heed_group(struct worker *w, struct kafka_member *m)
{
    enum status st = kafka_member_poll(m, TICK_MS, &w->why);

    if (st == STATUS_OK)
        atomic_store(w->owned_until,
                     clock_boot() + KAFKA_SESSION_MS * NS_PER_MS - MARGIN);
    else if (st != STATUS_AGAIN && failed(w, st, "Kafka")) {
        w->code = EXIT_CANNOT;
        w->stopping = true;
    }
}

/* What cannot be read now is read the next time. */
static void look(struct worker *w)
{
    if (cluster_control_poll(w->all, &w->why) != STATUS_OK)
        log_warn("the state of the crawl cannot be read", "why=\"%s\"",
                 buf_str(&w->why));
    if (w->board != NULL && clock_mono() - w->shown_at >= SHOW_EVERY) {
        w->shown_at = clock_mono();
        cluster_board_show(w->board, w->all);
    }
}

/* What `urlweir set` has changed for all is read by processes that begin. */
static void keep_settings(struct worker *w)
{
    if (cluster_control_version(w->all) == w->settings_version)
        return;
    w->settings_version = cluster_control_version(w->all);
    buf_clear(&w->why);
    if (cluster_settings_take(cluster_control_settings(w->all), w->s,
                              &w->why) != STATUS_OK ||
        settings_save(w->s) != STATUS_OK)
        log_warn("changed settings cannot be kept", "dir=%s why=\"%s\"",
                 w->s->output, buf_str(&w->why));
}

/* Has the crawl fetched all that it may? */
static bool is_spent(struct worker *w, enum permit_kind *which)
{
    return permits_are_spent(cluster_control_permits(w->all), which);
}

static int watch(struct worker *w, struct kafka_member *m)
{
    int64_t last = 0, told = clock_mono();
    struct shard_report all;
    enum permit_kind which;

    while (!w->stopping && !all_ended(w) && !is_spent(w, &which)) {
        heed_group(w, m);
        reap(w);
        start_due(w);
        look(w);
        if (signal_came(&last) || atomic_load(&w->asked_to_stop)) {
            w->code = EXIT_INTERRUPTED;
            w->stopping = true;
        }
        keep_settings(w);
        if (clock_mono() - told >= TELL_EVERY) {
            told = clock_mono();
            tell(w, "so far");
        }
    }
    stop_shards(w, 0, w->count, false);
    look(w);
    if ((!w->stopping || w->code == EXIT_LIMIT) && is_spent(w, &which)) {
        tell(w,
             crawl_end_text(which == PERMIT_PAGES ? CRAWL_LIMIT : CRAWL_QUOTA));
        return EXIT_LIMIT;
    }
    if (w->stopping) {
        tell(w, "stopped");
        return w->code;
    }
    tell(w, "finished");
    all = cluster_stats_sum(w->all);
    return all.given_up           ? EXIT_LIMIT
           : all.seeds_failed > 0 ? EXIT_SEEDS
                                  : EXIT_DONE;
}

static bool share_memory(struct worker *w)
{
    void *at;

    w->owned_fd = memfd_create("urlweir-owned", MFD_CLOEXEC);
    if (w->owned_fd < 0 || ftruncate(w->owned_fd, sizeof *w->owned_until) != 0)
        return false;
    at = mmap(NULL, sizeof *w->owned_until, PROT_READ | PROT_WRITE, MAP_SHARED,
              w->owned_fd, 0);
    w->owned_until = at;
    return at != MAP_FAILED;
}

/* All of the crawl, whichever shards are here. */
static bool serve_metrics(struct worker *w)
{
    if (w->s->metrics == NULL)
        return true;
    w->board = cluster_board_new(w->s->cluster, w->name);
    cluster_board_show(w->board, w->all);
    return metrics_port_open(&w->http, w->command, w->s,
                             (struct http_options){.cluster = w->board}) ==
           STATUS_OK;
}

static int work(struct worker *w)
{
    const struct kafka_owner owner = {w, gained, gives_up};
    const struct cluster_performer performer = {w, has_shard, perform,
                                                asked_to_stop};
    struct cluster_steering *steering = NULL;
    struct kafka_member *m = NULL;
    struct buf urls;
    int code = EXIT_CANNOT;

    w->count = cluster_control_shards(w->all);
    w->shards = xcalloc(w->count, sizeof *w->shards);
    w->has = xcalloc(w->count, sizeof *w->has);
    w->wanted = xcalloc(w->count, sizeof *w->wanted);
    w->settings_version = cluster_control_version(w->all);
    buf_init(&urls, 512);
    cluster_topic(&urls, w->name, "urls");
    if (serve_metrics(w) && share_memory(w) &&
        !failed(w,
                cluster_steering_start(&steering, &w->access, w->name, w->count,
                                       &performer, &w->why),
                "Kafka") &&
        !failed(w,
                kafka_member_open(&m, &w->access, buf_str(&urls),
                                  buf_str(&urls), &owner, &w->why),
                "Kafka"))
        code = watch(w, m);
    kafka_member_close(m);
    cluster_steering_end(steering);
    http_server_close(w->http);
    cluster_board_free(w->board);
    buf_fini(&urls);
    free(w->has);
    free(w->wanted);
    free(w->shards);
    return code;
}

static bool take_settings(struct worker *w)
{
    buf_clear(&w->why);
    return !failed(w,
                   cluster_settings_take(cluster_control_settings(w->all), w->s,
                                         &w->why),
                   "the settings in the cluster") &&
           !failed(w, settings_check(w->s, &w->why), "settings");
}

/* Kafka does not store secrets. */
static bool has_what_it_needs(struct worker *w)
{
    struct buf lacking;
    bool ok;

    buf_init(&lacking, 4096);
    cluster_settings_lack(w->s, cluster_control_kept(w->all), &lacking);
    ok = lacking.len == 0;
    if (!ok)
        fprintf(
            stderr,
            "urlweir %s: the crawl was made with %sand this worker has not "
            "been given it; each worker needs it on its command line, once\n",
            w->command, buf_str(&lacking));
    buf_fini(&lacking);
    return ok;
}

static bool create(struct worker *w)
{
    enum status st = cluster_make(&w->access, w->name, w->s,
                                  (uint32_t)w->s->shards, &w->why);

    if (st == STATUS_EXISTS)
        fprintf(stderr,
                "urlweir %s: crawl %s is there already; `urlweir join` takes "
                "part in it\n",
                w->command, w->name);
    return st != STATUS_EXISTS && !failed(w, st, "the crawl cannot be made");
}

static int begin(struct worker *w, enum cluster_start how)
{
    struct kafka_address where;
    struct file_lock *lock = NULL;
    int code = EXIT_CANNOT;
    enum status st = kafka_address_read(&where, w->s->cluster, &w->why);

    if (failed(w, st, "--cluster"))
        return EXIT_USAGE;
    w->access = (struct kafka_access){where.brokers,
                                      {w->s->kafka_property.item,
                                       w->s->kafka_property.count}};
    snprintf(w->name, sizeof w->name, "%s", where.topic);
    if (!crawl_lock(w->s->output, how == CLUSTER_RESUME ? "resume" : "crawl",
                    &lock, &code))
        return code;
    if (how != CLUSTER_CREATE || create(w)) {
        st = cluster_control_open(&w->all, &w->access, w->name, &w->why);
        if (st == STATUS_NOT_FOUND)
            fprintf(stderr, "urlweir %s: there is no crawl %s\n", w->command,
                    w->name);
        else if (!failed(w, st, "Kafka") &&
                 !failed(w, cluster_check_suffixes(w->all, &w->why),
                         "this worker") &&
                 !failed(w,
                         cluster_check_topics(w->all, &w->access, w->name,
                                              &w->why),
                         "Kafka") &&
                 take_settings(w))
            code = !has_what_it_needs(w)                        ? EXIT_USAGE
                   : failed(w, settings_save(w->s), "settings") ? EXIT_CANNOT
                                                                : work(w);
    }
    cluster_control_close(w->all);
    file_lock_free(lock);
    return code;
}

int cluster_worker_run(const char *command, enum cluster_start how,
                       struct crawl_settings *s)
{
    struct worker w = {.command = command, .s = s, .code = EXIT_DONE};
    int code;

    buf_init(&w.why, 4096);
    list_run_options(&w);
    code = begin(&w, how);
    option_list_free(&w.run);
    buf_fini(&w.why);
    return code;
}

/*
 * `urlweir join`: take part in a crawl of a cluster.
 *
 * The settings of the crawl are in the cluster; those of the worker are given
 * here.
 */

const struct usage join_usage = {
    .name = "join",
    .synopsis = "join kafka://HOST[:PORT][,...]/NAME -o DIR [options]",
    .about = "Takes part in crawl NAME, which `urlweir crawl --cluster` made, "
             "and keeps in DIR what this worker fetches. The settings of the "
             "crawl are in the cluster; options here are those of a worker: "
             "memory, concurrency, output. `urlweir resume DIR` takes part "
             "again after a stop.",
    .table = &crawl_options,
    .without = OPTION_ON_RESUME | OPTION_FILE_ONLY,
    .because = "it is not a worker's",
    .least = 1,
    .most = 1,
    .operand = "the URL of the cluster and the crawl",
};

static bool check(struct crawl_settings *s, int *code)
{
    const char *foreign = cluster_settings_foreign(s);
    struct buf error;
    bool ok = false;

    buf_init(&error, 4096);
    if (foreign != NULL)
        *code = usage_error(&join_usage,
                            "--%s is a setting of the crawl, and is in the "
                            "cluster",
                            foreign);
    else if (s->output == NULL)
        *code = usage_error(&join_usage,
                            "-o DIR is missing, where this worker keeps what "
                            "it fetches");
    else if (cluster_settings_check(s, &error) != STATUS_OK)
        *code = usage_error(&join_usage, "%s", buf_str(&error));
    else
        ok = true;
    buf_fini(&error);
    return ok;
}

static bool read_settings(struct crawl_settings *s,
                          const struct command_line *c, int *code)
{
    bool ok = settings_apply(s, &join_usage, c, code);

    if (ok) {
        free(s->cluster);
        s->cluster = xstrdup(c->operands.item[0]);
        ok = check(s, code);
    }
    return ok && settings_accept(s, &join_usage, code);
}

int cmd_join(int argc, char **argv)
{
    struct command_line c;
    struct crawl_settings s;
    int code = EXIT_DONE;

    if (!command_line_read(&c, &join_usage, argc, argv, &code))
        return code;
    settings_init(&s);
    stop_signals_block();
    if (read_settings(&s, &c, &code) &&
        dir_kind_check(s.output, DIR_CRAWL, "join")) {
        secret_args_hide(argc, argv, &s);
        code = cluster_worker_run("join", CLUSTER_JOIN, &s);
    }
    command_line_fini(&c);
    settings_fini(&s);
    return code;
}
