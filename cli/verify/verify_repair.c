/* SPDX-License-Identifier: MIT */
/* verify_repair.c - believes the rows of a store. */
#include "cli/verify/verify_repair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "frontier/seen/reindex.h"
#include "job/exit_code.h"

#define MEMORY ((uint64_t)256 << 20)

static enum status make_runs(struct reader *r)
{
    uint64_t urls;
    enum status st = reindex(r->dir, MEMORY, &urls);

    if (st == STATUS_OK)
        printf("repaired: frontier.runs was made anew from %" PRIu64 " rows\n",
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

int verify_repair(struct reader *r, bool service, bool runs)
{
    struct file_lock *lock = NULL;
    char *path = reader_path(r, "lock");
    enum status st = file_lock_take(&lock, path, "verify", NULL);

    free(path);
    if (st == STATUS_OK && runs)
        st = make_runs(r);
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
