/* SPDX-License-Identifier: MIT */
/*
 * vfs.c - SQLite's files on the simulated disk.
 *
 * What connections of a file share (locks, the index of the log) is kept with
 * the file, and ends with the processes that share it. A thread may be interrupted wherever SQLite calls us, so SQLite's own mutexes
 * are the scheduler's too.
 */
#include "tests/sim/vfs.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/disk.h"
#include "tests/sim/life.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/world.h"

#define SHM_PAGES 64
#define SHM_LOCKS 8

struct disk_locks {
    unsigned life;                         /* the process that made this */
    unsigned shared;                       /* connections with SHARED */
    uint64_t reserved, pending, exclusive; /* their numbers, 0: none */
    unsigned shm_users;
    void *shm[SHM_PAGES];
    size_t shm_size;
    int shm_lock[SHM_LOCKS]; /* -1: exclusive; else readers */
};

struct vfs_file {
    sqlite3_file base;
    uint64_t number; /* no other's, in any process */
    struct vfs_file *next;
    struct inode *inode;
    struct inode *dir; /* whose entry of this file is not synced; else NULL */
    int level;
    bool has_shm;
    unsigned exclusive_shm, shared_shm; /* bits: locks that it has */
    char *remove;                       /* on close */
};

static struct vfs_file *file_of(sqlite3_file *f)
{
    return (struct vfs_file *)(void *)f;
}

static struct vfs_file *opened; /* by this process */

static struct disk_locks *locks_of(struct vfs_file *f)
{
    if (f->inode->locks == NULL) {
        f->inode->locks = world_get(sizeof *f->inode->locks);
        f->inode->locks->life = life_number();
    }
    return f->inode->locks;
}

/* ---- content ---- */

static int vfs_read(sqlite3_file *p, void *to, int len, sqlite3_int64 at)
{
    ssize_t n = disk_read(file_of(p)->inode, (uint64_t)at, to, (size_t)len);

    if (n < 0)
        return SQLITE_IOERR_READ;
    if (n == len)
        return SQLITE_OK;
    memset((char *)to + n, 0, (size_t)(len - n));
    return SQLITE_IOERR_SHORT_READ;
}

static int vfs_write(sqlite3_file *p, const void *from, int len,
                     sqlite3_int64 at)
{
    ssize_t n = disk_write(file_of(p)->inode, (uint64_t)at, from, (size_t)len);

    return n == len       ? SQLITE_OK
           : n == -ENOSPC ? SQLITE_FULL
                          : SQLITE_IOERR_WRITE;
}

static int vfs_truncate(sqlite3_file *p, sqlite3_int64 len)
{
    return disk_truncate(file_of(p)->inode, (uint64_t)len) == 0
               ? SQLITE_OK
               : SQLITE_IOERR_TRUNCATE;
}

/* As SQLite's own does, the first sync of a journal or a log syncs the
 * directory too. */
static int vfs_sync(sqlite3_file *p, int flags)
{
    struct vfs_file *f = file_of(p);

    (void)flags;
    scheduler_sleep(1000000 * (int64_t)(life_random() % 8));
    if (disk_sync(f->inode) != 0)
        return SQLITE_IOERR_FSYNC;
    if (f->dir != NULL && disk_sync_dir(f->dir) != 0)
        return SQLITE_IOERR_DIR_FSYNC;
    f->dir = NULL;
    return SQLITE_OK;
}

static int vfs_size(sqlite3_file *p, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)file_of(p)->inode->now.len;
    return SQLITE_OK;
}

/* ---- locks ---- */

static int vfs_lock(sqlite3_file *p, int level)
{
    struct vfs_file *f = file_of(p);
    struct disk_locks *l = locks_of(f);

    if (level <= f->level)
        return SQLITE_OK;
    if (level == SQLITE_LOCK_SHARED) {
        if ((l->pending != 0 && l->pending != f->number) || l->exclusive != 0)
            return SQLITE_BUSY;
        l->shared++;
    } else if (level == SQLITE_LOCK_RESERVED) {
        if (l->reserved != 0)
            return SQLITE_BUSY;
        l->reserved = f->number;
    } else {
        if ((l->pending != 0 && l->pending != f->number) ||
            (l->reserved != 0 && l->reserved != f->number))
            return SQLITE_BUSY;
        l->pending = f->number;
        if (l->shared > 1)
            return SQLITE_BUSY;
        l->exclusive = f->number;
    }
    f->level = level;
    return SQLITE_OK;
}

static int vfs_unlock(sqlite3_file *p, int level)
{
    struct vfs_file *f = file_of(p);
    struct disk_locks *l = locks_of(f);

    if (l->reserved == f->number)
        l->reserved = 0;
    if (l->pending == f->number)
        l->pending = 0;
    if (l->exclusive == f->number)
        l->exclusive = 0;
    if (level == SQLITE_LOCK_NONE && f->level >= SQLITE_LOCK_SHARED)
        l->shared--;
    f->level = level;
    return SQLITE_OK;
}

static int vfs_check_reserved(sqlite3_file *p, int *out)
{
    *out = locks_of(file_of(p))->reserved != 0;
    return SQLITE_OK;
}

/* ---- the index of the log ---- */

static int vfs_shm_map(sqlite3_file *p, int page, int size, int extend,
                       void volatile **out)
{
    struct vfs_file *f = file_of(p);
    struct disk_locks *l = locks_of(f);

    if (page >= SHM_PAGES)
        world_fault("the log's index is larger than expected");
    if (!f->has_shm)
        l->shm_users++;
    f->has_shm = true;
    if (l->shm[page] == NULL && extend)
        l->shm[page] = world_get((size_t)size);
    l->shm_size = (size_t)size;
    *out = l->shm[page];
    return SQLITE_OK;
}

static int vfs_shm_lock(sqlite3_file *p, int from, int n, int flags)
{
    struct vfs_file *f = file_of(p);
    struct disk_locks *l = locks_of(f);
    bool exclusive = flags & SQLITE_SHM_EXCLUSIVE;

    life_step("lock of the log");
    scheduler_pass();
    for (int i = from; i < from + n; i++) {
        unsigned bit = 1u << i;
        bool mine = exclusive ? f->exclusive_shm & bit : f->shared_shm & bit;

        if (flags & SQLITE_SHM_UNLOCK) {
            if (mine)
                l->shm_lock[i] = exclusive ? 0 : l->shm_lock[i] - 1;
            if (exclusive)
                f->exclusive_shm &= ~bit;
            else
                f->shared_shm &= ~bit;
        } else if (!mine &&
                   (l->shm_lock[i] < 0 || (exclusive && l->shm_lock[i] > 0))) {
            return SQLITE_BUSY;
        }
    }
    for (int i = from; !(flags & SQLITE_SHM_UNLOCK) && i < from + n; i++) {
        unsigned bit = 1u << i;

        if (exclusive) {
            l->shm_lock[i] = -1;
            f->exclusive_shm |= bit;
        } else if (!(f->shared_shm & bit)) {
            l->shm_lock[i]++;
            f->shared_shm |= bit;
        }
    }
    return SQLITE_OK;
}

static void vfs_shm_barrier(sqlite3_file *p)
{
    (void)p;
}

static int vfs_shm_unmap(sqlite3_file *p, int remove)
{
    struct vfs_file *f = file_of(p);
    struct disk_locks *l = locks_of(f);

    (void)remove;
    if (!f->has_shm)
        return SQLITE_OK;
    f->has_shm = false;
    if (--l->shm_users == 0)
        for (int i = 0; i < SHM_PAGES; i++) {
            world_put(l->shm[i], l->shm_size);
            l->shm[i] = NULL;
        }
    return SQLITE_OK;
}

/* ---- the rest of a file ---- */

static int remove_file(const char *path)
{
    struct inode *parent, *i;
    char name[256];

    if (disk_find(path, &parent, name, &i) != 0 || i == NULL)
        return SQLITE_IOERR_DELETE_NOENT;
    return disk_remove(parent, name) == 0 ? SQLITE_OK : SQLITE_IOERR_DELETE;
}

static int vfs_close(sqlite3_file *p)
{
    struct vfs_file *f = file_of(p);

    (void)vfs_shm_unmap(p, 0);
    (void)vfs_unlock(p, SQLITE_LOCK_NONE);
    if (f->remove != NULL)
        (void)remove_file(f->remove);
    free(f->remove);
    disk_close(f->inode);
    for (struct vfs_file **at = &opened; *at != NULL; at = &(*at)->next)
        if (*at == f) {
            *at = f->next;
            break;
        }
    return SQLITE_OK;
}

static int vfs_control(sqlite3_file *p, int what, void *arg)
{
    (void)p, (void)what, (void)arg;
    return SQLITE_NOTFOUND;
}

static int vfs_sector(sqlite3_file *p)
{
    (void)p;
    return 512;
}

static int vfs_traits(sqlite3_file *p)
{
    (void)p;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = vfs_close,
    .xRead = vfs_read,
    .xWrite = vfs_write,
    .xTruncate = vfs_truncate,
    .xSync = vfs_sync,
    .xFileSize = vfs_size,
    .xLock = vfs_lock,
    .xUnlock = vfs_unlock,
    .xCheckReservedLock = vfs_check_reserved,
    .xFileControl = vfs_control,
    .xSectorSize = vfs_sector,
    .xDeviceCharacteristics = vfs_traits,
    .xShmMap = vfs_shm_map,
    .xShmLock = vfs_shm_lock,
    .xShmBarrier = vfs_shm_barrier,
    .xShmUnmap = vfs_shm_unmap,
};

/* ---- the file system ---- */

static int vfs_open(sqlite3_vfs *v, const char *path, sqlite3_file *p,
                    int flags, int *out_flags)
{
    struct vfs_file *f = file_of(p);
    struct inode *parent, *i;
    char name[256], temporary[64];
    bool unnamed = path == NULL;

    (void)v;
    memset(f, 0, sizeof *f);
    if (unnamed) {
        snprintf(temporary, sizeof temporary, DISK_ROOT "/temporary-%llx",
                 (unsigned long long)life_random());
        path = temporary;
    }
    if (disk_find(path, &parent, name, &i) != 0)
        return SQLITE_CANTOPEN;
    if (i == NULL && !(flags & SQLITE_OPEN_CREATE))
        return SQLITE_CANTOPEN;
    if (i != NULL && (flags & SQLITE_OPEN_EXCLUSIVE))
        return SQLITE_CANTOPEN;
    if (disk_step("open") != 0)
        return SQLITE_CANTOPEN;
    if (i == NULL) {
        int err = disk_make(parent, name, false, 0644, &i);

        if (err != 0)
            return err == -ENOSPC ? SQLITE_FULL : SQLITE_CANTOPEN;
        if (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL |
                     SQLITE_OPEN_SUPER_JOURNAL))
            f->dir = parent;
    }
    if (flags & SQLITE_OPEN_DELETEONCLOSE)
        f->remove = strdup(path);
    f->inode = i;
    f->number = ++world->disk->next_number;
    f->next = opened;
    opened = f;
    disk_open(i);
    f->base.pMethods = &methods;
    if (out_flags != NULL)
        *out_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *v, const char *path, int sync)
{
    struct inode *parent, *i;
    char name[256];
    int rc = remove_file(path);

    (void)v;
    if (rc == SQLITE_OK && sync && disk_find(path, &parent, name, &i) == 0 &&
        disk_sync_dir(parent) != 0)
        rc = SQLITE_IOERR_DIR_FSYNC;
    return rc;
}

static int vfs_access(sqlite3_vfs *v, const char *path, int flags, int *out)
{
    struct inode *parent, *i;
    char name[256];

    (void)v, (void)flags;
    *out = disk_find(path, &parent, name, &i) == 0 && i != NULL &&
           (flags != SQLITE_ACCESS_EXISTS || i->now.len > 0);
    return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *v, const char *path, int room, char *out)
{
    (void)v;
    snprintf(out, (size_t)room, "%s%s", path[0] == '/' ? "" : DISK_ROOT "/",
             path);
    return SQLITE_OK;
}

static int vfs_randomness(sqlite3_vfs *v, int len, char *out)
{
    (void)v;
    for (int i = 0; i < len; i++)
        out[i] = (char)life_random();
    return len;
}

static int vfs_sleep(sqlite3_vfs *v, int us)
{
    (void)v;
    scheduler_sleep((int64_t)us * 1000);
    return us;
}

static int vfs_time(sqlite3_vfs *v, sqlite3_int64 *out)
{
    (void)v; /* in ms since noon of November 24th, 4714 BC */
    *out = INT64_C(210866760000000) + scheduler_wall() / 1000000;
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *v, int len, char *text)
{
    (void)v, (void)len, (void)text;
    return 0;
}

static sqlite3_vfs vfs = {
    .iVersion = 2,
    .szOsFile = sizeof(struct vfs_file),
    .mxPathname = 512,
    .zName = "sim",
    .xOpen = vfs_open,
    .xDelete = vfs_delete,
    .xAccess = vfs_access,
    .xFullPathname = vfs_full_path,
    .xRandomness = vfs_randomness,
    .xSleep = vfs_sleep,
    .xGetLastError = vfs_last_error,
    .xCurrentTimeInt64 = vfs_time,
};

/* ---- mutexes of SQLite ---- */

#define STATIC_MUTEXES 16

struct sqlite3_mutex {
    unsigned owner, depth, waiting;
    bool recursive;
};

static int mutex_init(void)
{
    return SQLITE_OK;
}

static sqlite3_mutex *mutex_new(int id)
{
    static struct sqlite3_mutex fixed[STATIC_MUTEXES];
    struct sqlite3_mutex *m;

    if (id != SQLITE_MUTEX_FAST && id != SQLITE_MUTEX_RECURSIVE)
        return &fixed[id];
    m = calloc(1, sizeof *m);
    m->recursive = id == SQLITE_MUTEX_RECURSIVE;
    return m;
}

static void mutex_free(sqlite3_mutex *m)
{
    free(m);
}

static int mutex_try(sqlite3_mutex *m)
{
    if (m->owner != 0 && m->owner != scheduler_self())
        return SQLITE_BUSY;
    m->owner = scheduler_self();
    m->depth++;
    return SQLITE_OK;
}

static void mutex_enter(sqlite3_mutex *m)
{
    while (mutex_try(m) != SQLITE_OK) {
        m->waiting++;
        (void)scheduler_wait(m, SCHEDULER_NEVER);
        m->waiting--;
    }
}

static void mutex_leave(sqlite3_mutex *m)
{
    if (--m->depth > 0)
        return;
    m->owner = 0;
    if (m->waiting > 0)
        scheduler_wake(m, true);
}

static void file_let_go(struct vfs_file *f)
{
    struct disk_locks *l = f->inode->locks;

    for (int i = 0; l != NULL && i < SHM_LOCKS; i++)
        if (f->exclusive_shm & 1u << i)
            l->shm_lock[i] = 0;
        else if (f->shared_shm & 1u << i)
            l->shm_lock[i]--;
    if (l != NULL && f->has_shm)
        l->shm_users--;
    (void)vfs_unlock(&f->base, SQLITE_LOCK_NONE);
}

void vfs_let_go(void)
{
    for (struct vfs_file *f = opened; f != NULL; f = f->next)
        file_let_go(f);
}

bool vfs_is_of(const struct disk_locks *l, unsigned life)
{
    return l != NULL && l->life == life;
}

void vfs_forget(struct disk_locks *l)
{
    for (int i = 0; l != NULL && i < SHM_PAGES; i++)
        world_put(l->shm[i], l->shm_size);
    world_put(l, sizeof *l);
}

void vfs_register(void)
{
    static const sqlite3_mutex_methods mutexes = {
        .xMutexInit = mutex_init,
        .xMutexEnd = mutex_init,
        .xMutexAlloc = mutex_new,
        .xMutexFree = mutex_free,
        .xMutexEnter = mutex_enter,
        .xMutexTry = mutex_try,
        .xMutexLeave = mutex_leave,
    };

    if (sqlite3_config(SQLITE_CONFIG_MUTEX, &mutexes) != SQLITE_OK ||
        sqlite3_vfs_register(&vfs, 1) != SQLITE_OK)
        world_fault("SQLite does not take our files");
}
