/* SPDX-License-Identifier: MIT */
/*
 * cmd_shard.c - the process of one shard: an ordinary crawl, whose rows are
 * also in Kafka (cluster/shard.h).
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/open_crawl.h"
#include "cli/run/crawl_run.h"
#include "cli/run/shard_settings.h"
#include "cli/run/shard_since.h"
#include "cli/stop_signals.h"
#include "cluster/cluster_control.h"
#include "cluster/shard.h"
#include "frontier/embedded/frontier.h"
#include "job/crawl_block.h"
#include "job/crawl_credentials.h"
#include "job/crawl_files.h"
#include "job/crawl_jobs/confine.h"
#include "job/crawl_setup.h"
#include "job/exit_code.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

struct part {
    struct crawl_settings s;
    struct crawl_setup c;
    struct kafka_address where;
    struct shard_number number;
    _Atomic int64_t *owned_until;
    struct shard *shard;
    struct engine *engine;
    char worker[SHARD_WORKER_SIZE]; /* "HOST:DIR"; empty: too long */
    struct buf why;
};

static int cannot(struct part *p, enum status st)
{
    fprintf(stderr, "urlweir: shard %" PRIu32 ": %s\n", p->number.number,
            p->why.len > 0 ? buf_str(&p->why) : status_text(st));
    return EXIT_CANNOT;
}

/* What a new crawl notes once its seeds are stored: here they come from
 * Kafka. */
static enum status begin_new(struct part *p)
{
    struct engine *e = p->engine;
    enum status st = settings_note_first(e, &p->s, p->c.form);

    if (st == STATUS_OK)
        st = e->ops->set_meta(e, "seeds_complete", bytes_of_str("1"));
    if (st == STATUS_OK)
        st = e->ops->checkpoint_now(e, "running", false, clock_mono(),
                                    clock_wall_ms());
    return st;
}

static enum status begin_again(struct part *p)
{
    struct crawl_settings was;
    bool known;
    enum status st = settings_applied(p->engine, &p->s, &was, &known);

    if (st != STATUS_OK)
        return st;
    settings_fini(&was);
    if (!known) /* its first process ended before it noted this */
        return begin_new(p);
    return settings_put_in_force(p->engine, &p->c, &p->s);
}

static int crawl_shard(struct part *p, struct file_lock *lock)
{
    struct crawl_control *control = NULL;
    bool there = false;
    int code = EXIT_CANNOT;
    enum status st = shard_restore(p->shard, p->s.output, &there, &p->why);

    if (st != STATUS_OK)
        return cannot(p, st);
    if (!there)
        crawl_remove_files(p->s.output);
    st = settings_save(&p->s);
    if (st != STATUS_OK)
        return cannot(p, st);
    shard_fit(p->shard, &p->c.frontier);
    p->c.crawl.paused = shard_is_paused(p->shard);
    p->c.fetch.may_ask_until = p->owned_until;
    st = there ? frontier_open(&p->engine, p->s.output, &p->c.frontier,
                               clock_mono(), clock_wall_ms())
               : frontier_create(&p->engine, p->s.output, &p->c.frontier,
                                 clock_wall_ms());
    if (st == STATUS_OK)
        st = there ? begin_again(p) : begin_new(p);
    if (st != STATUS_OK)
        return crawl_open_failed(st, p->s.output);
    shard_attach(p->shard, p->engine);
    p->c.fetch.rules.digest_key = p->engine->ops->digest_key(p->engine);
    if (crawl_control_open(&control, "shard", &p->s, lock, &code))
        code = crawl_run(&p->c, p->engine, &p->s, control);
    crawl_control_close(control);
    return code;
}

static int run(struct part *p)
{
    const struct shard_options o = {.access = {p->where.brokers,
                                               {p->s.kafka_property.item,
                                                p->s.kafka_property.count}},
                                    .name = p->where.topic,
                                    .worker = p->worker,
                                    .number = p->number,
                                    .setup = &p->c,
                                    .settings = &p->s,
                                    .owned_until = p->owned_until};
    struct file_lock *lock = NULL;
    int code = EXIT_CANNOT;
    enum status st;

    if (!crawl_setup_init(&p->c, &p->s, &code) ||
        !confine_crawl("shard", &p->s, &code) ||
        !crawl_lock(p->s.output, "crawl", &lock, &code))
        return code;
    st = shard_open(&p->shard, &o, &p->why);
    if (st != STATUS_OK)
        code = cannot(p, st);
    else if (crawl_block_start(&p->c, &p->s, &code) &&
             crawl_credentials_start(&p->c, &p->s, &code))
        code = crawl_shard(p, lock);
    if (p->engine != NULL)
        p->engine->ops->close(p->engine);
    shard_close(p->shard);
    file_lock_free(lock);
    return code;
}

/* A worker that is killed takes its shards with it. */
static bool bind_to_worker(struct part *p, int fd)
{
    void *at = mmap(NULL, sizeof *p->owned_until, PROT_READ, MAP_SHARED, fd, 0);

    p->owned_until = at;
    close(fd);
    return at != MAP_FAILED && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
           getppid() != 1;
}

/* NAME=VALUE each. */
static enum status take_run_options(struct part *p, char **options)
{
    enum status st = STATUS_OK;

    for (; st == STATUS_OK && *options != NULL; options++) {
        size_t n = strcspn(*options, "="),
               i = option_find(&crawl_options, bytes_of(*options, n));

        st = i < crawl_options.count && (*options)[n] == '='
                 ? option_set(&crawl_options, i, &p->s,
                              bytes_of_str(*options + n + 1), OPTION_FROM_LINE,
                              &p->why)
                 : STATUS_ARG;
    }
    return st;
}

static void name_worker(struct part *p, const char *dir)
{
    char host[128] = "", *path = realpath(dir, NULL);
    int n = -1;

    if (gethostname(host, sizeof host - 1) == 0 && path != NULL)
        n = snprintf(p->worker, sizeof p->worker, "%s:%s", host, path);
    if (n < 0 || (size_t)n >= sizeof p->worker)
        p->worker[0] = '\0';
    free(path);
}

int cmd_shard(int argc, char **argv)
{
    struct part p = {.engine = NULL};
    int code = EXIT_USAGE;
    enum status st;

    if (argc < 5) {
        fprintf(stderr, "urlweir shard: a worker of a cluster starts it\n");
        return EXIT_USAGE;
    }
    stop_signals_block();
    settings_init(&p.s);
    buf_init(&p.why, 4096);
    name_worker(&p, argv[1]);
    p.number.number = (uint32_t)strtoul(argv[2], NULL, 10);
    p.number.count = (uint32_t)strtoul(argv[3], NULL, 10);
    if (p.number.number < p.number.count &&
        bind_to_worker(&p, (int)strtol(argv[4], NULL, 10))) {
        st = shard_settings_read(&p.s, argv[1], p.number, &p.where, &p.why);
        if (st == STATUS_OK)
            st = take_run_options(&p, argv + 5);
        if (st == STATUS_OK)
            shard_since_read(&p.s, p.number);
        code = st == STATUS_OK ? run(&p) : cannot(&p, st);
        crawl_setup_fini(&p.c);
        if (code == EXIT_DONE)
            shard_since_forget(&p.s);
    }
    buf_fini(&p.why);
    settings_fini(&p.s);
    return code;
}
