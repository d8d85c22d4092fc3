/* vfs.h - SQLite's files on the simulated disk. */
#ifndef URLWEIR_TESTS_SIM_VFS_H
#define URLWEIR_TESTS_SIM_VFS_H

#include <stdbool.h>

struct disk_locks;

/* A process ends, and another one goes on: its locks are gone. */
void vfs_let_go(void);
/* Did that process begin to share it? NULL: no. */
bool vfs_is_of(const struct disk_locks *, unsigned life);
/* What the processes shared that have ended. NULL is fine. */
void vfs_forget(struct disk_locks *);
/* Makes it the default of SQLite. */
void vfs_register(void);

#endif
