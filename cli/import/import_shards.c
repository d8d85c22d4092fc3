/* SPDX-License-Identifier: MIT */
/* import_shards.c - an import into a crawl on many machines. */
#include "cli/import/import_shards.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "cli/command.h"
#include "cli/run/crawl_run.h"
#include "cli/run/shard_settings.h"
#include "cluster/cluster_control.h"
#include "cluster/cluster_make.h"
#include "cluster/shard_rows.h"
#include "frontier/embedded/frontier.h"
#include "job/crawl_block.h"
#include "job/crawl_files.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

struct importing {
    struct crawl_settings *s;
    const struct import_files *files;
    struct import_counts *counts;
    struct kafka_address where;
    struct kafka_access access;
    struct buf why;
};

static int cannot(struct importing *m, enum status st)
{
    fprintf(stderr, "urlweir import: %s\n",
            m->why.len > 0 ? buf_str(&m->why) : status_text(st));
    return EXIT_CANNOT;
}

/* Nothing is sent to other shards: each reads all of the input. */
static void leave_out(void *ctx, const struct engine_item *item, uint64_t via)
{
    (void)ctx;
    (void)item;
    (void)via;
}

/* What concerns lines is the same for each shard. */
static void add_counts(struct import_counts *to, const struct import_counts *of)
{
    to->waiting += of->waiting;
    to->done += of->done;
    to->known += of->known;
    to->failed += of->failed;
    to->repeated += of->repeated;
    to->dropped += of->dropped;
    to->other = of->other;
    to->refused = of->refused;
}

static enum status is_whole(struct engine *e, bool *whole)
{
    struct buf mark;
    enum status st;

    buf_init(&mark, 16);
    st = e->ops->meta(e, "seeds_complete", &mark);
    *whole = st == STATUS_OK;
    buf_fini(&mark);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status fill(struct importing *m, struct engine *e,
                        struct crawl_setup *c, const struct crawl_settings *s)
{
    struct import_counts counts = {0};
    bool whole = false;
    enum status st = is_whole(e, &whole);

    if (st == STATUS_OK && !whole)
        st = import_files_read(m->files, e, c, &counts);
    fault_point("import-shard");
    if (st == STATUS_OK && !whole)
        st = settings_note_first(e, s, c->form);
    if (st == STATUS_OK && !whole)
        st = e->ops->set_meta(e, "seeds_complete", bytes_of_str("1"));
    if (st == STATUS_OK)
        st = e->ops->checkpoint_now(e, "stopped", true, clock_mono(),
                                    clock_wall_ms());
    add_counts(m->counts, &counts);
    return st;
}

static int import_shard(struct importing *m, struct shard_rows *rows,
                        struct crawl_setup *c, struct crawl_settings *s)
{
    struct engine *e = NULL;
    struct buf note;
    bool there = false;
    int code = EXIT_CANNOT;
    enum status st;

    buf_init(&note, 4096);
    st = shard_rows_restore(rows, s->output, &there, &note, &m->why);
    buf_fini(&note);
    if (st != STATUS_OK)
        return cannot(m, st);
    if (!there)
        crawl_remove_files(s->output);
    st = settings_save(s);
    if (st != STATUS_OK)
        return cannot(m, st);
    if (!crawl_block_start(c, s, &code))
        return code;
    c->frontier.shard = s->shard;
    c->frontier.send = leave_out;
    c->frontier.store.follower = shard_rows_follower(rows);
    st = there ? frontier_open(&e, s->output, &c->frontier, clock_mono(),
                               clock_wall_ms())
               : frontier_create(&e, s->output, &c->frontier, clock_wall_ms());
    if (st == STATUS_OK)
        st = fill(m, e, c, s);
    if (e != NULL)
        e->ops->close(e);
    return st == STATUS_OK ? EXIT_DONE : crawl_open_failed(st, s->output);
}

static int import_one(struct importing *m, struct shard_number number)
{
    const struct shard_rows_options o = {.access = m->access,
                                         .name = m->where.topic,
                                         .number = number};
    struct crawl_settings s;
    struct crawl_setup c = {.guard = NULL};
    struct kafka_address where;
    struct shard_rows *rows = NULL;
    struct file_lock *lock = NULL;
    int code = EXIT_CANNOT;
    enum status st;

    settings_init(&s);
    st = shard_settings_read(&s, m->s->output, number, &where, &m->why);
    if (st != STATUS_OK) {
        code = cannot(m, st);
    } else if (crawl_setup_init(&c, &s, &code) &&
               crawl_lock(s.output, "import", &lock, &code)) {
        st = shard_rows_open(&rows, &o, &m->why);
        code = st == STATUS_OK ? import_shard(m, rows, &c, &s) : cannot(m, st);
        shard_rows_close(rows);
        file_lock_free(lock);
    }
    crawl_setup_fini(&c);
    settings_fini(&s);
    return code;
}

/* Is that name free? */
static int prepare(struct importing *m)
{
    enum status st = cluster_make_topics(&m->access, m->where.topic,
                                         (uint32_t)m->s->shards, &m->why);

    if (st == STATUS_OK)
        st = cluster_make_may(&m->access, m->where.topic, &m->why);
    if (st == STATUS_EXISTS) {
        buf_clear(&m->why);
        buf_addf(&m->why, "crawl %s is there already", m->where.topic);
    }
    if (st == STATUS_OK)
        st = settings_save(m->s);
    return st == STATUS_OK ? EXIT_DONE : cannot(m, st);
}

static int import_all(struct importing *m)
{
    const uint32_t count = (uint32_t)m->s->shards;
    int code = prepare(m);
    enum status st;

    for (uint32_t n = 0; code == EXIT_DONE && n < count; n++)
        code = import_one(m, (struct shard_number){n, count});
    if (code != EXIT_DONE)
        return code;
    st = cluster_make(&m->access, m->where.topic, m->s, count, &m->why);
    if (st != STATUS_OK)
        return cannot(m, st);
    return m->counts->refused > 0 ? EXIT_SEEDS : EXIT_DONE;
}

int import_shards(struct crawl_settings *s, const struct import_files *files,
                  struct import_counts *counts)
{
    struct importing m = {.s = s, .files = files, .counts = counts};
    struct file_lock *lock = NULL;
    int code = EXIT_CANNOT;
    enum status st;

    buf_init(&m.why, 4096);
    st = kafka_address_read(&m.where, s->cluster, &m.why);
    m.access = (struct kafka_access){m.where.brokers,
                                     {s->kafka_property.item,
                                      s->kafka_property.count}};
    if (st != STATUS_OK)
        code = cannot(&m, st);
    else if (crawl_lock(s->output, "import", &lock, &code))
        code = import_all(&m);
    file_lock_free(lock);
    buf_fini(&m.why);
    return code;
}
