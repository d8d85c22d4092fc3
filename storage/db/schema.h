/*
 * schema.h - the tables and views of frontier.db, all in one place.
 *
 * They are made together when the file is made, so that a file which lacks one
 * is a damaged file and never a fresh one. Described for people in
 * docs/formats/frontier-db.md.
 */
#ifndef URLWEIR_STORAGE_DB_SCHEMA_H
#define URLWEIR_STORAGE_DB_SCHEMA_H

#include "storage/db/db.h"

/* "urlw", at octet 68 of the file: what file(1) and we know it by. */
#define SCHEMA_APPLICATION_ID 0x75726c77

/* db_kind.sql and db_kind.added of frontier.db. */
extern const char *const schema_sql[];
extern const struct db_added schema_added[];

#endif
