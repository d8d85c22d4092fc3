/*
 * changelog.h - the rows of a database as keyed records, out and in.
 *
 * SQLite tells which rows a transaction changes. Before the commit each changed row is handed out as a
 * record: its key is the table and the primary key, its value the whole row, or
 * nothing if the row was deleted. The last record of every key together is the
 * content of the database, so the records may stand in a compacted log, and
 * putting one in twice does no harm.
 *
 * The tables of db_kind.derived are left out: they are made from the others. A
 * database that was filled from records has to be opened with
 * db_options.forget_derived.
 *
 * The octets of key and value are described in docs/formats/changelog.md.
 * Owned by the thread that writes the database.
 */
#ifndef URLWEIR_STORAGE_DB_CHANGELOG_H
#define URLWEIR_STORAGE_DB_CHANGELOG_H

#include "base/bytes.h"
#include "base/status.h"
#include "storage/db/db.h"

#define CHANGELOG_KEY_MOST ((size_t)64 << 10)
#define CHANGELOG_ROW_MOST ((size_t)32 << 20) /* longer than any row of ours */

struct changelog;

/* `d` is open for writing, and outlives the changelog. */
MUST_CHECK enum status changelog_open(struct changelog **out, struct db *d);
void changelog_close(struct changelog *l); /* NULL is fine */

/* Receives a record. row.at is NULL if the row was deleted. What it returns
 * other than STATUS_OK ends the visit. */
typedef enum status (*changelog_visit)(void *ctx, struct bytes key,
                                       struct bytes row);

/* Begins to note changes. Call it outside of a transaction. */
void changelog_follow(struct changelog *l);
/* Inside a transaction, before its commit: visits each row that was changed
 * since the last call once, and forgets the changes. */
MUST_CHECK enum status changelog_take(struct changelog *l,
                                      changelog_visit visit, void *ctx);
/* Visits all rows. */
MUST_CHECK enum status changelog_each(struct changelog *l,
                                      changelog_visit visit, void *ctx);

/* Puts a record in, inside a transaction; an empty row deletes. STATUS_FORMAT:
 * it is not a record of this schema, and nothing was changed. */
MUST_CHECK enum status changelog_put(struct changelog *l, struct bytes key,
                                     struct bytes row);

#endif
