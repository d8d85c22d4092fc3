/*
 * disk.h - the disk of a simulation: files below /sim.
 *
 * Of every file two contents are kept: what its readers see, and what a power
 * cut leaves at least, with the list of the writes in between. The same goes
 * for names: a file that was made, renamed or removed has its new name for sure
 * only once the directory was synced. So the code above must sync all that
 * POSIX has it sync, also where most file systems would forgive it.
 *
 * The disk is in memory that outlives a process (world.h). Nobody waits for it
 * but by scheduler.h.
 *
 * Functions return 0 or a negative errno.
 */
#ifndef URLWEIR_TESTS_SIM_DISK_H
#define URLWEIR_TESTS_SIM_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/sim/dice.h"

#define DISK_ROOT "/sim"
#define DISK_TMP  "/sim/tmp" /* is there from the beginning */

struct inode;

struct disk_name {
    char *name;
    struct inode *of;
};

struct disk_names {
    struct disk_name *at;
    size_t count, room;
};

struct disk_octets {
    char *at;
    size_t len, room;
};

struct disk_write;

struct inode {
    uint64_t number;
    unsigned mode;
    bool is_dir;
    unsigned names; /* that it has */
    unsigned refs;  /* names of any kind, and changes of names */
    unsigned opens; /* by the process that runs */
    int64_t changed_ms;
    struct disk_octets now;     /* what readers see */
    struct disk_octets durable; /* what is on the platter */
    struct disk_write *first, *last;
    size_t unsynced;           /* octets of these writes */
    bool mapped;               /* written to without a call */
    struct disk_names entries; /* of a directory */
    struct disk_names durable_entries;
    unsigned flock_life, lock_life; /* who has locked it; 0: nobody */
    struct disk_locks *locks;       /* of SQLite, see vfs.c */
    struct inode *next;
};

struct disk_op;

struct disk {
    struct inode *root, *all;
    uint64_t next_number;
    struct disk_op *first, *last; /* changes of names, not synced */
    int64_t room;                 /* octets left for more content */
    /* faults of the life that runs */
    uint64_t ops;     /* so far in this life */
    uint64_t fail_at; /* the operation that fails with EIO; 0: none */
    uint64_t full_from, full_to; /* operations between which nothing grows */
    uint64_t failed, refused;    /* how many did */
};

void disk_begin(void);

/* ---- names ---- */

/* `parent` and `name` (with room for 256 octets) of a path below DISK_ROOT, and
 * in *out the inode, NULL if there is none. -ENOENT, -ENOTDIR: its directory is
 * not there. */
int disk_find(const char *path, struct inode **parent, char name[256],
              struct inode **out);
int disk_make(struct inode *parent, const char *name, bool is_dir,
              unsigned mode, struct inode **out);
int disk_remove(struct inode *parent, const char *name);
int disk_rename(struct inode *from, const char *old, struct inode *to,
                const char *new);
int disk_sync_dir(struct inode *);

/* A descriptor of it is opened, and closed. */
void disk_open(struct inode *);
void disk_close(struct inode *);

/* ---- content ---- */

ssize_t disk_read(struct inode *, uint64_t at, void *to, size_t len);
ssize_t disk_write(struct inode *, uint64_t at, const void *from, size_t len);
int disk_truncate(struct inode *, uint64_t len);
int disk_sync(struct inode *);
/* The content in one piece, for a mapping of it. */
void *disk_map(struct inode *, size_t len);
/* What was not synced because a sync failed is read no more. */
void disk_drop_cache(struct inode *);

/* Counts an operation, which may fail (-EIO) or kill. */
int disk_step(const char *what);

/* ---- what befalls it, between two lives ---- */

/* The process has ended: its locks are gone. */
void disk_process_ended(void);
/* The same of one of several. */
void disk_life_ended(unsigned life);
/* Of what was not synced any part is lost. */
void disk_power_cut(struct dice *);

#endif
