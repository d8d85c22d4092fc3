/*
 * db_make.h - makes a new database, whole or not at all. For db.c alone.
 */
#ifndef URLWEIR_STORAGE_DB_DB_MAKE_H
#define URLWEIR_STORAGE_DB_DB_MAKE_H

#include "base/status.h"
#include "storage/db/db.h"

/* Fills PATH.new with every table, syncs it and renames it to `path`, which
 * must not exist. Removes what an earlier attempt left at PATH.new. */
MUST_CHECK enum status db_make(const char *path, const struct db_kind *kind);
/* Makes the same tables and rows in `h`, an open and empty scratch database. */
MUST_CHECK enum status db_fill(sqlite3 *h, const char *path,
                               const struct db_kind *kind);

#endif
