/* SPDX-License-Identifier: MIT */
/*
 * disk.c - files with what is durable of them.
 *
 * A power cut keeps of each file what was synced and, of the writes after that,
 * a prefix or any subset, the last of them perhaps only in part; of the changes
 * of names in a directory it keeps a prefix, as file systems with a log do. A
 * sync that fails throws away what it was to write, as Linux does: readers see
 * it until the cache is dropped, the disk never does.
 */
#include "tests/sim/disk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/life.h"
#include "tests/sim/vfs.h"
#include "tests/sim/world.h"

#define CAPACITY      (INT64_C(64) << 30)
#define UNSYNCED_MOST ((size_t)4 << 20)

/* More than UNSYNCED_MOST octets of a file are written back, oldest first. */
struct disk_write {
    struct disk_write *next;
    uint64_t at;
    size_t len;
    bool truncates; /* to `at` octets */
    char *octets;
};

/* `from` loses the name `old`, then `to` gets `new` for `of`. */
struct disk_op {
    struct disk_op *next;
    struct inode *from, *to, *of;
    char *old, *new;
};

static struct inode *inode_new(bool is_dir, unsigned mode)
{
    struct inode *i = world_get(sizeof *i);

    i->number = ++world->disk->next_number;
    i->is_dir = is_dir;
    i->mode = mode;
    i->changed_ms = world->wall_ns / 1000000;
    i->next = world->disk->all;
    world->disk->all = i;
    return i;
}

int disk_step(const char *what)
{
    struct disk *d = world->disk;

    d->ops++;
    life_step(what);
    if (d->fail_at != 0 && d->ops == d->fail_at) {
        d->failed++;
        TELL("disk: %s fails", what);
        return -EIO;
    }
    return 0;
}

static bool is_full(int64_t more)
{
    struct disk *d = world->disk;

    if ((d->ops < d->full_from || d->ops >= d->full_to) && more <= d->room)
        return false;
    if (d->refused++ == 0)
        TELL("disk: full");
    return true;
}

/* ---- octets ---- */

#define LARGE         ((size_t)16 << 10)
#define ROOM_OF_LARGE ((size_t)1 << 20)

static void reserve(struct disk_octets *o, size_t room)
{
    /* What is large grows on, and each move costs page faults. */
    size_t size = room > LARGE ? ROOM_OF_LARGE : 256;
    char *at;

    if (room <= o->room)
        return;
    while (size < room)
        size *= 2;
    at = world_room(size);
    if (o->len > 0)
        memcpy(at, o->at, o->len);
    world_put(o->at, o->room);
    o->at = at;
    o->room = size;
}

static void set_length(struct disk_octets *o, size_t len)
{
    reserve(o, len);
    if (len > o->len)
        memset(o->at + o->len, 0, len - o->len);
    o->len = len;
}

static void put(struct disk_octets *o, uint64_t at, const void *from,
                size_t len)
{
    if (at > o->len)
        set_length(o, (size_t)at);
    if (at + len > o->len) {
        reserve(o, (size_t)at + len);
        o->len = (size_t)at + len;
    }
    if (len > 0)
        memcpy(o->at + at, from, len);
}

static void copy_octets(struct disk_octets *to, const struct disk_octets *from)
{
    to->len = 0;
    put(to, 0, from->at, from->len);
}

/* ---- writes that are not synced ---- */

static void apply(struct disk_octets *o, const struct disk_write *w, size_t len)
{
    if (w->truncates)
        set_length(o, (size_t)w->at);
    else
        put(o, w->at, w->octets, len);
}

static struct disk_write *take_first(struct inode *i)
{
    struct disk_write *w = i->first;

    i->first = w->next;
    if (i->first == NULL)
        i->last = NULL;
    i->unsynced -= w->len;
    return w;
}

static void write_free(struct disk_write *w)
{
    world_put(w->octets, w->len);
    world_put(w, sizeof *w);
}

static void make_durable(struct inode *i, size_t unsynced_most)
{
    while (i->first != NULL &&
           (unsynced_most == 0 || i->unsynced > unsynced_most)) {
        struct disk_write *w = take_first(i);

        apply(&i->durable, w, w->len);
        write_free(w);
    }
}

static void note_write(struct inode *i, uint64_t at, const void *from,
                       size_t len, bool truncates)
{
    struct disk_write *w = world_get(sizeof *w);

    w->at = at;
    w->len = len;
    w->truncates = truncates;
    if (len > 0) {
        w->octets = world_room(len);
        memcpy(w->octets, from, len);
    }
    if (i->last != NULL)
        i->last->next = w;
    else
        i->first = w;
    i->last = w;
    i->unsynced += len;
    i->changed_ms = world->wall_ns / 1000000;
    make_durable(i, UNSYNCED_MOST);
}

ssize_t disk_read(struct inode *i, uint64_t at, void *to, size_t len)
{
    int err = disk_step("read");

    if (err < 0)
        return err;
    if (at >= i->now.len)
        return 0;
    if (len > i->now.len - at)
        len = i->now.len - (size_t)at;
    memcpy(to, i->now.at + at, len);
    return (ssize_t)len;
}

ssize_t disk_write(struct inode *i, uint64_t at, const void *from, size_t len)
{
    int64_t more = at + len > i->now.len ? (int64_t)(at + len - i->now.len) : 0;
    int err = disk_step("write");

    if (err < 0)
        return err;
    if (more > 0 && is_full(more))
        return -ENOSPC;
    world->disk->room -= more;
    put(&i->now, at, from, len);
    note_write(i, at, from, len, false);
    return (ssize_t)len;
}

int disk_truncate(struct inode *i, uint64_t len)
{
    int64_t more = (int64_t)len - (int64_t)i->now.len;
    int err = disk_step("truncate");

    if (err < 0)
        return err;
    if (more > 0 && is_full(more))
        return -ENOSPC;
    if (more == 0)
        return 0;
    world->disk->room -= more;
    set_length(&i->now, (size_t)len);
    note_write(i, len, NULL, 0, true);
    return 0;
}

int disk_sync(struct inode *i)
{
    int err = disk_step("sync");

    if (err < 0) {
        while (i->first != NULL)
            write_free(take_first(i));
        return err;
    }
    if (i->mapped)
        copy_octets(&i->durable, &i->now);
    make_durable(i, 0);
    return 0;
}

void *disk_map(struct inode *i, size_t len)
{
    reserve(&i->now, len);
    i->mapped = true;
    return i->now.at;
}

void disk_drop_cache(struct inode *i)
{
    if (i->first == NULL && !i->mapped)
        copy_octets(&i->now, &i->durable);
}

/* ---- files that nothing leads to ---- */

static void free_if_lost(struct inode *i)
{
    struct inode **at = &world->disk->all;

    if (i->refs > 0 || i->opens > 0 || i == world->disk->root)
        return;
    while (*at != i)
        at = &(*at)->next;
    *at = i->next;
    while (i->first != NULL)
        write_free(take_first(i));
    world_put(i->now.at, i->now.room);
    world_put(i->durable.at, i->durable.room);
    world_put(i->entries.at, i->entries.room * sizeof(struct disk_name));
    world_put(i->durable_entries.at,
              i->durable_entries.room * sizeof(struct disk_name));
    world_put(i, sizeof *i);
}

static void let_go(struct inode *i)
{
    i->refs--;
    free_if_lost(i);
}

void disk_open(struct inode *i)
{
    i->opens++;
}

void disk_close(struct inode *i)
{
    i->opens--;
    free_if_lost(i);
}

/* ---- names ---- */

static struct disk_name *name_in(const struct disk_names *n, const char *name)
{
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->at[i].name, name) == 0)
            return &n->at[i];
    return NULL;
}

static void name_set(struct disk_names *n, const char *name, struct inode *of)
{
    struct disk_name *is = name_in(n, name);

    of->refs++;
    if (is != NULL) {
        struct inode *was = is->of;

        is->of = of;
        let_go(was);
        return;
    }
    if (n->count == n->room) {
        size_t room = n->room > 0 ? 2 * n->room : 8;

        n->at = world_grow(n->at, n->count * sizeof *n->at,
                           n->room * sizeof *n->at, room * sizeof *n->at);
        n->room = room;
    }
    n->at[n->count++] = (struct disk_name){world_strdup(name), of};
}

static void name_drop(struct disk_names *n, const char *name)
{
    struct disk_name *is = name_in(n, name);
    struct inode *was = is != NULL ? is->of : NULL;

    if (was == NULL)
        return;
    world_put(is->name, strlen(is->name) + 1);
    *is = n->at[--n->count];
    let_go(was);
}

static void op_note(struct inode *from, const char *old, struct inode *to,
                    const char *new, struct inode *of)
{
    struct disk *d = world->disk;
    struct disk_op *op = world_get(sizeof *op);

    *op = (struct disk_op){.from = from, .to = to, .of = of};
    op->old = old != NULL ? world_strdup(old) : NULL;
    op->new = new != NULL ? world_strdup(new) : NULL;
    if (of != NULL)
        of->refs++;
    if (d->last != NULL)
        d->last->next = op;
    else
        d->first = op;
    d->last = op;
}

static void op_apply(const struct disk_op *op)
{
    if (op->old != NULL)
        name_drop(&op->from->durable_entries, op->old);
    if (op->new != NULL)
        name_set(&op->to->durable_entries, op->new, op->of);
}

static void op_free(struct disk_op *op)
{
    if (op->old != NULL)
        world_put(op->old, strlen(op->old) + 1);
    if (op->new != NULL)
        world_put(op->new, strlen(op->new) + 1);
    if (op->of != NULL)
        let_go(op->of);
    world_put(op, sizeof *op);
}

int disk_find(const char *path, struct inode **parent, char name[256],
              struct inode **out)
{
    struct inode *at = world->disk->root;
    const char *p = path + strlen(DISK_ROOT);

    *parent = NULL;
    *out = at;
    snprintf(name, 256, ".");
    for (;;) {
        size_t len;
        struct disk_name *is;

        p += strspn(p, "/");
        len = strcspn(p, "/");
        if (len == 0)
            return 0;
        if (at == NULL)
            return -ENOENT;
        if (!at->is_dir)
            return -ENOTDIR;
        if (len > 255)
            return -ENAMETOOLONG;
        *parent = at;
        memcpy(name, p, len);
        name[len] = '\0';
        p += len;
        if (strcmp(name, ".") == 0)
            continue;
        if (strcmp(name, "..") == 0)
            world_fault("no path with .. is expected: %s", path);
        is = name_in(&at->entries, name);
        *out = at = is != NULL ? is->of : NULL;
    }
}

int disk_make(struct inode *parent, const char *name, bool is_dir,
              unsigned mode, struct inode **out)
{
    int err = disk_step(is_dir ? "mkdir" : "create");

    if (err < 0)
        return err;
    if (is_full(0))
        return -ENOSPC;
    *out = inode_new(is_dir, mode);
    (*out)->names = 1;
    name_set(&parent->entries, name, *out);
    op_note(NULL, NULL, parent, name, *out);
    return 0;
}

static void lose_name(struct inode *i)
{
    if (--i->names == 0)
        world->disk->room += (int64_t)i->now.len;
}

int disk_remove(struct inode *parent, const char *name)
{
    struct disk_name *is;
    int err = disk_step("remove");

    if (err < 0)
        return err;
    is = name_in(&parent->entries, name);
    if (is->of->is_dir && is->of->entries.count > 0)
        return -ENOTEMPTY;
    lose_name(is->of);
    op_note(parent, name, NULL, NULL, NULL);
    name_drop(&parent->entries, name);
    return 0;
}

int disk_rename(struct inode *from, const char *old, struct inode *to,
                const char *new)
{
    struct disk_name *is, *was;
    struct inode *of;
    int err = disk_step("rename");

    if (err < 0)
        return err;
    is = name_in(&from->entries, old);
    was = name_in(&to->entries, new);
    of = is->of;
    if (was != NULL && was->of == of)
        return 0;
    if (was != NULL)
        lose_name(was->of);
    op_note(from, old, to, new, of);
    name_drop(&from->entries, old);
    name_set(&to->entries, new, of);
    return 0;
}

int disk_sync_dir(struct inode *dir)
{
    struct disk *d = world->disk;
    struct disk_op **at = &d->first;
    int err = disk_step("sync of a directory");

    if (err < 0)
        return err;
    d->last = NULL;
    while (*at != NULL) {
        struct disk_op *op = *at;

        if (op->from == dir || op->to == dir) {
            op_apply(op);
            *at = op->next;
            op_free(op);
        } else {
            d->last = op;
            at = &op->next;
        }
    }
    return 0;
}

/* ---- the beginning ---- */

void disk_begin(void)
{
    struct inode *tmp;

    world->disk = world_get(sizeof *world->disk);
    world->disk->root = inode_new(true, 0755);
    world->disk->room = CAPACITY;
    tmp = inode_new(true, 0777);
    name_set(&world->disk->root->entries, strrchr(DISK_TMP, '/') + 1, tmp);
    name_set(&world->disk->root->durable_entries, strrchr(DISK_TMP, '/') + 1,
             tmp);
}

/* ---- between two lives ---- */

void disk_process_ended(void)
{
    for (struct inode *i = world->disk->all, *next; i != NULL; i = next) {
        next = i->next;
        i->flock_life = i->lock_life = 0;
        vfs_forget(i->locks);
        i->locks = NULL;
        i->opens = 0;
        free_if_lost(i);
    }
}

void disk_life_ended(unsigned life)
{
    for (struct inode *i = world->disk->all; i != NULL; i = i->next) {
        if (i->flock_life == life)
            i->flock_life = 0;
        if (i->lock_life == life)
            i->lock_life = 0;
        if (vfs_is_of(i->locks, life)) {
            vfs_forget(i->locks);
            i->locks = NULL;
        }
    }
}

/* Writes a part of what was not synced to the platter. */
static void settle_file(struct inode *i, struct dice *dice)
{
    unsigned how = dice_below(dice, 4), count = 0, keep;

    if (i->mapped && dice_chance(dice, 50))
        copy_octets(&i->durable, &i->now);
    i->mapped = false;
    for (const struct disk_write *w = i->first; w != NULL; w = w->next)
        count++;
    keep = how == 0 ? 0 : how == 1 ? count : dice_below(dice, count + 1);
    for (unsigned n = 0; i->first != NULL; n++) {
        struct disk_write *w = take_first(i);

        if (how == 3 ? dice_chance(dice, 60) : n < keep)
            apply(&i->durable, w, w->len);
        else if (how == 2 && n == keep && w->len > 512)
            apply(&i->durable, w,
                  512 * (size_t)dice_below(dice, (unsigned)(w->len / 512)));
        write_free(w);
    }
    copy_octets(&i->now, &i->durable);
}

/* Keeps the first changes of names. */
static void settle_names(struct dice *dice)
{
    struct disk *d = world->disk;
    unsigned count = 0, keep;

    for (struct disk_op *op = d->first; op != NULL; op = op->next)
        count++;
    keep = dice_below(dice, count + 1);
    while (d->first != NULL) {
        struct disk_op *op = d->first;

        if (keep > 0) {
            op_apply(op);
            keep--;
        }
        d->first = op->next;
        op_free(op);
    }
    d->last = NULL;
}

static void restore_entries(struct inode *i)
{
    while (i->entries.count > 0)
        name_drop(&i->entries, i->entries.at[0].name);
    for (size_t n = 0; n < i->durable_entries.count; n++)
        name_set(&i->entries, i->durable_entries.at[n].name,
                 i->durable_entries.at[n].of);
}

void disk_power_cut(struct dice *dice)
{
    struct disk *d = world->disk;

    for (struct inode *i = d->all; i != NULL; i = i->next)
        i->opens = 1; /* none may go while we walk over them */
    settle_names(dice);
    d->room = CAPACITY;
    for (struct inode *i = d->all; i != NULL; i = i->next)
        i->names = 0;
    for (struct inode *i = d->all; i != NULL; i = i->next) {
        if (i->is_dir)
            restore_entries(i);
        else
            settle_file(i, dice);
        for (size_t n = 0; i->is_dir && n < i->entries.count; n++)
            i->entries.at[n].of->names++;
    }
    for (struct inode *i = d->all; i != NULL; i = i->next)
        if (i->names > 0)
            d->room -= (int64_t)i->now.len;
    disk_process_ended();
}
