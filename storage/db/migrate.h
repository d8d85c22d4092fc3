/*
 * migrate.h - databases of an older format. For db.c alone.
 *
 * A writer changes the file, in one transaction: after a crash at any moment it
 * has the older format, with all of its rows, or this one. A reader changes
 * nothing and sees the file as if it had this format: tables and columns that
 * it lacks appear empty in the reader's temporary schema, which SQLite searches
 * first.
 */
#ifndef URLWEIR_STORAGE_DB_MIGRATE_H
#define URLWEIR_STORAGE_DB_MIGRATE_H

#include "base/status.h"
#include "storage/db/db.h"

/* `d` is open for writing, with no transaction. */
MUST_CHECK enum status migrate_store(struct db *d, const struct db_kind *kind);
/* `d` is a reader, which may still make temporary tables. */
MUST_CHECK enum status migrate_view(struct db *d, const struct db_kind *kind);

#endif
