/* SPDX-License-Identifier: MIT */
/*
 * filter_shelf_files.c - images of filters, and reading them back.
 *
 * An image says which log record it has last (`covers`), so a record that is in
 * an image already is not applied twice. A record of a filter that is gone, or
 * was made anew since, is passed over for the same reason.
 */
#include "service/filters/filter_shelf_impl.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "filter/checkpoint.h"

#define SUFFIX ".filter"

static void path_of(const struct filter_shelf *s, const char *name,
                    struct buf *path)
{
    buf_init(path, 8192);
    buf_addf(path, "%s/%s" SUFFIX, s->dir, name);
}

enum status shelf_save(struct filter_shelf *s, struct shelf_filter *f)
{
    struct buf path;
    enum status st;

    path_of(s, f->name, &path);
    f->id.covers = s->number;
    st = checkpoint_save(buf_str(&path), f->filter, &f->id);
    if (st != STATUS_OK)
        log_error("cannot save a filter", "path=%s error=\"%s\"",
                  buf_str(&path), status_text(st));
    buf_fini(&path);
    f->dirty = st != STATUS_OK;
    return st;
}

enum status shelf_remove_file(struct filter_shelf *s, const char *name)
{
    struct buf path;
    enum status st = STATUS_OK;

    path_of(s, name, &path);
    if (unlink(buf_str(&path)) != 0 && errno != ENOENT)
        st = status_of_errno(errno);
    if (st == STATUS_OK)
        st = file_sync_parent(buf_str(&path));
    buf_fini(&path);
    return st;
}

/* ---- checkpoints ---- */

struct saving {
    struct filter_shelf *shelf;
    enum status st;
};

static bool save_dirty(void *ctx, struct bytes name, void *value)
{
    struct saving *a = ctx;
    struct shelf_filter *f = value;

    (void)name;
    if (f->dirty)
        a->st = shelf_save(a->shelf, f);
    return a->st == STATUS_OK;
}

enum status shelf_checkpoint(struct filter_shelf *s)
{
    struct saving a = {s, STATUS_OK};

    map_each(s->filters, save_dirty, &a);
    fault_point("filter-shelf-saved");
    return a.st == STATUS_OK ? filter_log_clear(s->log) : a.st;
}

void shelf_log(struct filter_shelf *s, struct shelf_filter *f,
               enum filter_log_op op, const uint64_t *keys, size_t n)
{
    const struct filter_log_record r = {.number = ++s->number,
                                        .op = op,
                                        .name = bytes_of_str(f->name),
                                        .keys = keys,
                                        .n = n};

    f->dirty = true;
    filter_log_append(s->log, &r);
}

/* ---- reading back ---- */

enum status shelf_read(struct filter_shelf *s, const char *path,
                       struct shelf_filter *f)
{
    struct checkpoint_info info;
    enum status st = seeded_load(&f->filter, path, s->memory, &info, &f->key);

    if (st != STATUS_OK)
        return st == STATUS_REFUSED ? STATUS_FORMAT : st; /* of a crawl */
    f->id = info.id;
    f->id.keys = CHECKPOINT_KEYS_UNKNOWN; /* callers add what they want */
    /* Keys that are replayed count from now on. */
    return filter_age(f->filter, clock_wall_ms() / 1000);
}

/* A file that was put here has none of the log's records: those of its name are
 * of an older filter. Once it is saved it says so itself. */
static enum status adopt(struct filter_shelf *s, struct shelf_filter *f)
{
    if (s->log != NULL)
        return shelf_save(s, f);
    f->id.covers = UINT64_MAX; /* until shelf_load() has read the log */
    f->dirty = true;
    return STATUS_OK;
}

enum status shelf_load_one(struct filter_shelf *s, struct bytes name)
{
    struct shelf_filter *f;
    struct stat sb;
    struct buf path;
    enum status st = STATUS_NOT_FOUND;

    if (!filter_shelf_name_is_valid(name))
        return STATUS_NOT_FOUND;
    f = xcalloc(1, sizeof *f);
    memcpy(f->name, name.at, name.len);
    path_of(s, f->name, &path);
    if (stat(buf_str(&path), &sb) == 0)
        st = shelf_read(s, buf_str(&path), f);
    buf_fini(&path);
    if (st != STATUS_OK) {
        if (st != STATUS_NOT_FOUND)
            log_error("a filter cannot be read and is left out",
                      "name=%s error=\"%s\"", f->name, status_text(st));
        shelf_filter_free(f);
        return st;
    }
    if (f->id.generation == 0) { /* `urlweir filter` made it */
        f->id.generation = (uint64_t)sb.st_mtime;
        st = adopt(s, f);
        if (st != STATUS_OK) {
            shelf_filter_free(f);
            return st;
        }
    } else if (f->id.covers > s->number) {
        s->number = f->id.covers;
    }
    shelf_measure(f);
    s->own.bytes += f->bytes;
    map_put(s->filters, name, f);
    return STATUS_OK;
}

static enum status load_all(struct filter_shelf *s)
{
    DIR *d = opendir(s->dir);
    enum status st = STATUS_OK;
    struct dirent *e;

    if (d == NULL)
        return status_of_errno(errno);
    while (st == STATUS_OK && (e = readdir(d)) != NULL) {
        struct bytes name = bytes_of_str(e->d_name);

        if (bytes_starts_with(name, SHELF_UPLOAD)) /* left by a kill */
            (void)unlinkat(dirfd(d), e->d_name, 0);
        if (name.len <= strlen(SUFFIX) ||
            strcmp(e->d_name + name.len - strlen(SUFFIX), SUFFIX) != 0)
            continue;
        name.len -= strlen(SUFFIX);
        if (shelf_load_one(s, name) == STATUS_NOMEM)
            st = STATUS_NOMEM;
    }
    closedir(d);
    return st;
}

static void replay(void *ctx, const struct filter_log_record *r)
{
    struct filter_shelf *s = ctx;
    struct shelf_filter *f = map_get(s->filters, r->name);
    enum status st;

    if (f == NULL || r->number <= f->id.covers)
        return;
    f->dirty = true;
    st = r->op == FILTER_LOG_ADDED
             ? filter_add_lenient(f->filter, r->keys, r->n, NULL)
             : filter_remove(f->filter, r->keys, r->n, NULL);
    if (st != STATUS_OK)
        log_error("a record of a filter cannot be applied",
                  "name=%s error=\"%s\"", f->name, status_text(st));
}

static bool doubt(void *ctx, struct bytes name, void *value)
{
    struct shelf_filter *f = value;

    (void)ctx;
    (void)name;
    f->id.generation = SHELF_UNBUILT;
    f->dirty = true;
    return true;
}

enum status shelf_load(struct filter_shelf *s)
{
    struct buf path;
    uint64_t number = 0;
    enum status st = file_make_dir(s->dir);

    if (st == STATUS_OK)
        st = load_all(s);
    if (st != STATUS_OK)
        return st;
    buf_init(&path, 8192);
    buf_addf(&path, "%s/filters.log", s->dir);
    st = filter_log_open(&s->log, buf_str(&path), replay, s, &number);
    buf_fini(&path);
    if (st == STATUS_DAMAGED) {
        log_error("keys of filters are lost; each answers `maybe` to every key "
                  "until it is built again",
                  "filters=%zu", map_count(s->filters));
        map_each(s->filters, doubt, NULL);
        st = STATUS_OK;
    }
    if (number > s->number)
        s->number = number;
    return st == STATUS_OK ? shelf_checkpoint(s) : st;
}
