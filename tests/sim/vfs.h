/* vfs.h - SQLite's files on the simulated disk. */
#ifndef URLWEIR_TESTS_SIM_VFS_H
#define URLWEIR_TESTS_SIM_VFS_H

/* Makes it the default of SQLite. */
void vfs_register(void);

#endif
