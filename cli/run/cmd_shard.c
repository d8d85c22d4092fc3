/* SPDX-License-Identifier: MIT */
/*
 * cmd_shard.c - the process of one shard: an ordinary crawl, whose rows are
 * also in Kafka (cluster/shard.h).
 */
#include "cli/run/cmd_shard.h"

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
#include "base/kafka/kafka_address.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/open_crawl.h"
#include "cli/run/crawl_run.h"
#include "cli/stop_signals.h"
#include "cluster/cluster_control.h"
#include "cluster/shard.h"
#include "cluster/shard_rows.h"
#include "frontier/crawl/frontier_open.h"
#include "job/crawl_credentials.h"
#include "job/crawl_jobs/confine.h"
#include "job/crawl_setup.h"
#include "job/exit_code.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

/* ---- the settings of one shard, from those of its worker ---- */

#define MEMORY_LEAST ((uint64_t)96 << 20)

/* pages.jsonl becomes pages-3.jsonl: processes do not share a file, which each
 * continues where its own rows end. */
static void name_lines(struct crawl_settings *s)
{
    const char *name, *end;
    struct buf path;

    if (s->jsonl == NULL || kafka_address_is_url(s->jsonl))
        return;
    name = strrchr(s->jsonl, '/');
    end = strrchr(name != NULL ? name : s->jsonl, '.');
    if (end == NULL)
        end = s->jsonl + strlen(s->jsonl);
    buf_init(&path, 8192);
    buf_addf(&path, "%.*s-%" PRIu32 "%s", (int)(end - s->jsonl), s->jsonl,
             s->shard.number, end);
    free(s->jsonl);
    s->jsonl = xstrdup(buf_str(&path));
    buf_fini(&path);
}

enum status shard_settings_read(struct crawl_settings *s, const char *dir,
                                struct shard_number number,
                                struct kafka_address *where, struct buf *why)
{
    struct buf path;
    enum status st = settings_load(s, dir, why);

    if (st == STATUS_OK)
        st = s->cluster != NULL ? kafka_address_read(where, s->cluster, why)
                                : STATUS_ARG;
    if (st != STATUS_OK)
        return st;
    free(s->cluster);
    s->cluster = NULL;
    s->shard = number;
    name_lines(s);
    s->quiet = true;
    s->progress = PROGRESS_NONE;
    s->memory_bytes /= number.count;
    if (s->memory_bytes < MEMORY_LEAST)
        s->memory_bytes = MEMORY_LEAST;
    buf_init(&path, 4096);
    buf_addf(&path, "%s/shards", dir);
    st = file_make_dir(buf_str(&path));
    buf_addf(&path, "/%" PRIu32, number.number);
    free(s->output);
    s->output = xstrdup(buf_str(&path));
    buf_fini(&path);
    return st;
}

/* ---- what a shard has to know of the earlier crawl of --since ---- */

/* *there: false if the shard had no rows. */
static enum status copy(const struct crawl_settings *s,
                        struct shard_number number, const char *dir,
                        bool *there, struct buf *why)
{
    struct kafka_address at;
    struct kafka_access access;
    struct cluster_control *all = NULL;
    struct buf note;
    enum status st = kafka_address_read(&at, s->since, why);

    buf_init(&note, 4096);
    access = (struct kafka_access){at.brokers,
                                   {s->kafka_property.item,
                                    s->kafka_property.count}};
    if (st == STATUS_OK)
        st = cluster_control_open(&all, &access, at.topic, why);
    if (st == STATUS_OK && cluster_control_shards(all) != number.count)
        st = STATUS_NOT_FOUND; /* another crawl of that name, by now */
    if (st == STATUS_OK)
        st = file_make_dir(s->output);
    if (st == STATUS_OK)
        st = file_make_dir(dir);
    if (st == STATUS_OK)
        st = shard_rows_copy(&access, at.topic, number.number, dir, there,
                             &note, why);
    buf_fini(&note);
    cluster_control_close(all);
    return st;
}

/* A copy that is whole has its name. */
static enum status read_rows(const struct crawl_settings *s,
                             struct shard_number number, const char *dir,
                             bool *there, struct buf *why)
{
    char part[4096];
    int n = snprintf(part, sizeof part, "%s.part", dir);
    enum status st;

    *there = access(dir, F_OK) == 0;
    if (*there)
        return STATUS_OK;
    if (n < 0 || (size_t)n >= sizeof part)
        return STATUS_LIMIT;
    st = file_remove_tree(part);
    if (st == STATUS_OK)
        st = copy(s, number, part, there, why);
    if (st == STATUS_OK && *there)
        st = rename(part, dir) == 0 ? file_sync_parent(dir) : STATUS_IO;
    if (st == STATUS_OK && !*there)
        st = file_remove_tree(part);
    return st;
}

static bool name_dir(char *dir, size_t size, const struct crawl_settings *s)
{
    int n = snprintf(dir, size, "%s/since", s->output);

    return n > 0 && (size_t)n < size;
}

/* Reads the rows, if this directory has not got them yet; s->since names their
 * directory from then on, or is NULL: there are none, or with a warning they
 * cannot be read, so that all pages are asked for in full. */
static void shard_since_read(struct crawl_settings *s,
                             struct shard_number number)
{
    char dir[4000];
    bool there = false;
    struct buf why;
    enum status st;

    if (s->since == NULL)
        return;
    buf_init(&why, 4096);
    st = name_dir(dir, sizeof dir, s) ? read_rows(s, number, dir, &there, &why)
                                      : STATUS_LIMIT;
    if (st != STATUS_OK)
        log_warn("the earlier crawl cannot be read: what is left is asked for "
                 "in full",
                 "since=%s shard=%" PRIu32 " reason=\"%s\"", s->since,
                 number.number, why.len > 0 ? buf_str(&why) : status_text(st));
    buf_fini(&why);
    free(s->since);
    s->since = st == STATUS_OK && there ? xstrdup(dir) : NULL;
}

/* The shard is done and needs them no more. */
static void shard_since_forget(const struct crawl_settings *s)
{
    char dir[4000];

    if (s->since != NULL && name_dir(dir, sizeof dir, s) &&
        file_remove_tree(dir) != STATUS_OK)
        log_warn("the copy of the earlier crawl stays", "path=%s", dir);
}

struct part {
    struct crawl_settings s;
    struct crawl_setup c;
    struct kafka_address where;
    struct shard_number number;
    _Atomic int64_t *owned_until;
    struct shard *shard;
    struct frontier *frontier;
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
    struct frontier *f = p->frontier;
    enum status st = settings_note_first(f, &p->s, p->c.form);

    if (st == STATUS_OK)
        st = frontier_set_meta(f, "seeds_complete", bytes_of_str("1"));
    if (st == STATUS_OK)
        st = frontier_checkpoint_now(f, "running", false, clock_mono(),
                                     clock_wall_ms());
    return st;
}

static enum status begin_again(struct part *p)
{
    struct crawl_settings was;
    bool known;
    enum status st = settings_applied(p->frontier, &p->s, &was, &known);

    if (st != STATUS_OK)
        return st;
    settings_fini(&was);
    if (!known) /* its first process ended before it noted this */
        return begin_new(p);
    return settings_put_in_force(p->frontier, &p->c, &p->s);
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
    st = there ? frontier_open(&p->frontier, p->s.output, &p->c.frontier,
                               clock_mono(), clock_wall_ms())
               : frontier_create(&p->frontier, p->s.output, &p->c.frontier,
                                 clock_wall_ms());
    if (st == STATUS_OK)
        st = there ? begin_again(p) : begin_new(p);
    if (st != STATUS_OK)
        return crawl_open_failed(st, p->s.output);
    shard_attach(p->shard, p->frontier);
    p->c.fetch.rules.digest_key = frontier_get_digest_key(p->frontier);
    if (crawl_control_open(&control, "shard", &p->s, lock, &code))
        code = crawl_run(&p->c, p->frontier, &p->s, control);
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
    if (p->frontier != NULL)
        frontier_close(p->frontier);
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
    struct part p = {.frontier = NULL};
    uint64_t number, count, fd;
    bool ready = false;
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
    if (bytes_number(bytes_of_str(argv[2]), UINT32_MAX, &number) &&
        bytes_number(bytes_of_str(argv[3]), UINT32_MAX, &count) &&
        bytes_number(bytes_of_str(argv[4]), INT_MAX, &fd) && number < count) {
        p.number.number = (uint32_t)number;
        p.number.count = (uint32_t)count;
        ready = bind_to_worker(&p, (int)fd);
    }
    if (ready) {
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
