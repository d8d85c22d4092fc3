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

/*
 * The URLs that the store itself must tell apart.
 *
 * The other numbers of url.kind say in what kind of link a URL was found; the
 * crawler defines them (crawler/html/link_values.h).
 */

/* Put by another program, through the service: it is in no queue of our own
 * fetchers and has no done bit; its state is in the tables of served_log.h. If
 * the URL was removed and put again, `via` is the removed row. */
#define URL_KIND_SERVED 28
/* Kinds are told apart in sets of 32 bits. */
#define URL_KIND_MOST 31

/* Of url.flags: an earlier row has the same URL, which was done then and has
 * come back. Its digest belongs to the latest of these rows. */
#define URL_ROW_AGAIN 128

#endif
