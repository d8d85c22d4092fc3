/*
 * schema.h - the tables and views of frontier.db, all in one place.
 *
 * They are all made when the file is made, so a file that lacks one is damaged,
 * never new. docs/formats/frontier-db.md describes them for people.
 */
#ifndef URLWEIR_STORAGE_DB_SCHEMA_H
#define URLWEIR_STORAGE_DB_SCHEMA_H

#include "storage/db/db.h"

/* "urlw", at octet 68 of the file, where file(1) and we recognise it. */
#define SCHEMA_APPLICATION_ID 0x75726c77

/* db_kind.sql and db_kind.derived of frontier.db. */
extern const char *const schema_sql[];
extern const char *const schema_derived[];

#endif
