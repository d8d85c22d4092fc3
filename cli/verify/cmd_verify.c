/* SPDX-License-Identifier: MIT */
/*
 * cmd_verify.c - `urlweir verify`: do store, filter, WARC and manifest agree?
 *
 * Each check prints one line, "ok", "mend" (resume puts it right by itself) or
 * "BAD". With --repair the store, when it is sound in itself, is taken as the
 * truth. A store that is not sound is never repaired, but for its exact set and
 * the indexes of pages, which follow from its rows.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/open_crawl.h"
#include "cli/shards/crawl_dirs.h"
#include "cli/verify/verify_store.h"
#include "cli/verify/verify_warc.h"
#include "filter/checkpoint.h"
#include "frontier/reader.h"
#include "frontier/seen/reindex.h"
#include "job/exit_code.h"

/* ---- believes the rows of a store ---- */

#define MEMORY ((uint64_t)256 << 20)

static enum status make_exact_set(struct reader *r)
{
    uint64_t urls;
    enum status st = reindex(r->dir, MEMORY, &urls);

    if (st == STATUS_OK)
        printf("repaired: the exact set was made anew from %" PRIu64 " rows\n",
               urls);
    return st;
}

static enum status write_manifest(struct reader *r)
{
    struct manifest m = r->manifest;
    char *path = reader_path(r, "manifest");
    struct buf id;
    enum status st;

    buf_init(&id, 64);
    if (r->manifest_status != STATUS_OK)
        m = (struct manifest){.generation = 0};
    st = frontier_store_meta(r->store, "store_id", &id);
    m.generation++;
    m.urls = frontier_store_last_id(r->store);
    m.fetches = page_store_last_seq(r->pages);
    m.written_at_ms = clock_wall_ms();
    m.clean = false;
    snprintf(m.store_id, sizeof m.store_id, "%s", buf_str(&id));
    snprintf(m.state, sizeof m.state, "stopped");
    if (st == STATUS_OK)
        st = manifest_save(path, &m);
    buf_fini(&id);
    free(path);
    return st;
}

static enum status remove_filter(struct reader *r)
{
    char *path = reader_path(r, "filter.ckpt");
    bool there = unlink(path) != 0 && access(path, F_OK) == 0;

    free(path);
    return there ? STATUS_IO : STATUS_OK;
}

/* Writes the manifest from the store and removes the filter's file, to be
 * rebuilt; with `exact_set` fills that anew first. Prints what it did.
 * Returns the command's exit status. */
static int verify_repair(struct reader *r, bool service, bool exact_set)
{
    struct file_lock *lock = NULL;
    char *path = reader_path(r, "lock");
    enum status st = file_lock_take(&lock, path, "verify", NULL);

    free(path);
    if (st == STATUS_OK && exact_set)
        st = make_exact_set(r);
    if (st == STATUS_OK)
        st = remove_filter(r);
    if (st == STATUS_OK)
        st = write_manifest(r);
    file_lock_free(lock);
    if (st == STATUS_OK)
        printf("repaired: the manifest was written anew from the store, the "
               "filter will be rebuilt; go on with `urlweir %s %s`\n",
               service ? "serve" : "resume", r->dir);
    else
        fprintf(stderr, "urlweir verify: cannot repair %s: %s\n", r->dir,
                status_text(st));
    return st == STATUS_OK ? EXIT_DONE : EXIT_DAMAGED;
}

struct verify_settings {
    bool repair;
    uint8_t from[1];
};

#define AT(f) .at = offsetof(struct verify_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "repair", .type = OPTION_FLAG, AT(repair), .section = "Repair",
     .help = "accept the store as it is: write the manifest anew and have the "
             "filter and a damaged exact set rebuilt"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct verify_settings);

const struct usage verify_usage = {
    .name = "verify",
    .synopsis = "verify DIR|kafka://HOST/NAME [--repair]",
    .about = "Checks that store, WARC files, filter file and manifest of a "
             "crawl, or of a service, agree. Exit status: 0 all agree, 3 the "
             "next resume (or serve) will repair it, 6 damaged.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = "a directory of crawl or serve, or the URL of a crawl in Kafka",
};

/* A damaged filter unit costs one segment, which resume rebuilds. */
static void verify_filter_units(struct verdicts *v, struct reader *r)
{
    char *path = reader_path(r, "filter.ckpt");
    struct checkpoint_info info;
    struct filter *f = NULL;

    if (checkpoint_load(&f, path, checkpoint_seed_print(&r->key), NULL, 0,
                        &info) == STATUS_OK &&
        info.damaged > 0)
        verify_says(v, "mend",
                    "filter.ckpt: %" PRIu64 " of %" PRIu64
                    " units damaged; they are rebuilt",
                    info.damaged, info.units);
    filter_free(f);
    free(path);
}

/* Prints nothing for a crawl that records nothing. */
static void verify_records(struct verdicts *v, struct reader *r)
{
    struct warc_verdict w;
    unsigned before = v->bad;

    if (verify_warc(r, &w) != STATUS_OK)
        verify_says(v, "BAD", "warc: the files or their rows cannot be read");
    if (w.bad > 0)
        verify_says(
            v, "BAD",
            "warc: %" PRIu64 " of %" PRIu64
            " rows point at no whole record, the first is fetch %" PRIu64,
            w.bad, w.rows, w.bad_seq);
    if (w.damaged > 0)
        verify_says(v, "BAD",
                    "warc: no whole record at octet %" PRIu64
                    " of %s, one of %" PRIu64 " damaged places",
                    w.damaged_at, w.damaged_file, w.damaged);
    if (v->bad == before && w.files > 0)
        verify_says(v, "ok",
                    "warc: %" PRIu64
                    " rows, each points at a whole record; all %" PRIu64
                    " records of %" PRIu64 " files are whole",
                    w.rows, w.records, w.files);
    v->records = v->bad - before;
    if (w.open > 0 && r->holder == 0)
        verify_says(v, "mend",
                    "warc: a file was not finished; resume does that");
}

/* `unsound`: of v->bad, those about the store's own rows. */
static int conclude(struct reader *r, const struct verdicts *v,
                    unsigned unsound, bool want_repair)
{
    if (v->bad == 0 && v->mend == 0) {
        printf("all agree\n");
        return EXIT_DONE;
    }
    if (v->bad > 0 && v->bad == v->records) {
        printf("damaged: records are missing from the WARC files; the crawl "
               "itself is intact and can be resumed\n");
        return EXIT_DAMAGED;
    }
    if (want_repair && unsound == 0 && r->holder == 0)
        return verify_repair(r, v->service, v->derived > 0);
    if (want_repair)
        fprintf(stderr, "urlweir verify: %s\n",
                r->holder != 0 ? "its process is running; stop it first"
                               : "the store itself is damaged: restore the "
                                 "directory from a copy");
    if (v->bad == 0) {
        printf("%s will repair it\n", v->service ? "serve" : "resume");
        return EXIT_LIMIT;
    }
    printf("damaged%s\n",
           unsound > 0 ? ""
           : v->derived == 0
               ? ": the store is intact; --repair accepts it as it is"
               : ": URLs and fetches are intact; --repair makes the exact set "
                 "anew from them");
    return EXIT_DAMAGED;
}

static int verify_dir(void *ctx, const struct crawl_dir *d)
{
    const struct verify_settings *s = ctx;
    struct verdicts v = {0};
    struct reader r;
    unsigned unsound;
    int code = EXIT_DONE;

    if (!open_crawl(&r, "verify", d->path, &code))
        return code;
    if (d->is_shard)
        printf("shard %" PRIu32 ":\n", d->shard);
    v.service = is_service(&r);
    verify_store(&v, &r);
    if (v.service)
        verify_service(&v, &r);
    verify_links(&v, &r);
    unsound = v.bad - v.derived;
    if (!d->is_shard) /* its files are where it was fetched */
        verify_records(&v, &r);
    verify_manifest(&v, &r);
    verify_digests(&v, &r);
    verify_filter_units(&v, &r);
    code = conclude(&r, &v, unsound, s->repair);
    reader_close(&r);
    return code;
}

int cmd_verify(int argc, char **argv)
{
    struct verify_settings s;
    struct option_list operands = {0};
    int code = EXIT_DONE;

    if (!command_line_parse(&verify_usage, argc, argv, &s, &operands, &code))
        return code;
    if (s.repair && crawl_dirs_are_shards(operands.item[0]))
        code = usage_error(&verify_usage,
                           "--repair is for a directory; shards in Kafka are "
                           "read from there again");
    else
        code = crawl_dirs_each("verify", operands.item[0], bytes_of("", 0),
                               verify_dir, &s);
    option_list_free(&operands);
    return code;
}
