/*
 * db_make.h - makes a new database, whole or not at all. For db.c alone.
 */
#ifndef URLWEIR_STORAGE_DB_DB_MAKE_H
#define URLWEIR_STORAGE_DB_DB_MAKE_H

#include "base/status.h"
#include "storage/db/db.h"

/* Fills PATH.new with every table, syncs it and renames it to `path`, which is
 * not there. What an earlier attempt left at PATH.new is removed. */
MUST_CHECK enum status db_make(const char *path, const struct db_kind *kind);
/* The same tables and rows in a scratch database, which is open and empty. */
MUST_CHECK enum status db_fill(sqlite3 *h, const char *path,
                               const struct db_kind *kind);

#endif
