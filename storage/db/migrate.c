/* SPDX-License-Identifier: MIT */
/*
 * migrate.c - databases of an older format.
 *
 * Formats differ in what was added, and db_kind.added lists that. What is in
 * the file decides, not its number: while format 1 was the only one, tables and
 * columns came and the number stayed, so there are several layouts under it.
 * A table that is not on the list is never made here: it is missing because the
 * file is damaged, and an empty one in its place would hide that.
 *
 * Views hold no rows. They are made anew, since what they name may be new.
 */
#include "storage/db/migrate.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/fault.h"

#define SQL_MOST ((size_t)64 << 10)

/* ---- what is there ---- */

/* The file's own, whatever a reader has put before it. */
static enum status has_table(struct db *d, const char *table, bool *has)
{
    char sql[128];
    int64_t n = 0;
    enum status st;

    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM main.sqlite_master WHERE name = '%s'",
             table);
    st = db_number(d, sql, &n);
    *has = n > 0;
    return st;
}

static enum status has_column(struct db *d, const struct db_added *a, bool *has)
{
    char sql[128];
    int64_t n = 0;
    enum status st;

    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM pragma_table_info('%s', 'main')"
             " WHERE name = '%s'",
             a->table, a->column);
    st = db_number(d, sql, &n);
    *has = n > 0;
    return st;
}

static enum status is_there(struct db *d, const struct db_added *a, bool *is)
{
    return a->column == NULL ? has_table(d, a->table, is)
                             : has_column(d, a, is);
}

/* ---- SQL that makes something: CREATE, TABLE or VIEW, its name ---- */

static const char *behind_create(const char *sql)
{
    return sql + strlen("CREATE ");
}

static bool makes_view(const char *sql)
{
    return strncmp(behind_create(sql), "VIEW ", 5) == 0;
}

static struct bytes made(const char *sql)
{
    const char *name = strchr(behind_create(sql), ' ') + 1;

    return bytes_of(name, strcspn(name, "( "));
}

static const char *sql_of_table(const struct db_kind *kind, const char *table)
{
    size_t i = 0;

    while (!bytes_is(made(kind->sql[i]), table))
        i++;
    return kind->sql[i];
}

static enum status make_temporary(struct db *d, const char *sql)
{
    struct buf text;
    enum status st;

    buf_init(&text, SQL_MOST);
    buf_addf(&text, "CREATE TEMP %s", behind_create(sql));
    st = buf_failed(&text);
    if (st == STATUS_OK)
        st = db_exec(d, buf_str(&text));
    buf_fini(&text);
    return st;
}

static enum status has_old_name(struct db *d, const struct db_added *a,
                                bool *has)
{
    *has = false;
    return a->was != NULL ? has_table(d, a->was, has) : STATUS_OK;
}

/* ---- a writer ---- */

static enum status add(struct db *d, const struct db_kind *kind,
                       const struct db_added *a)
{
    char sql[128];
    bool renamed;
    enum status st = has_old_name(d, a, &renamed);

    if (st != STATUS_OK)
        return st;
    if (renamed) {
        snprintf(sql, sizeof sql, "ALTER TABLE %s RENAME TO %s", a->was,
                 a->table);
        return db_exec(d, sql);
    }
    if (a->column == NULL)
        return db_exec(d, sql_of_table(kind, a->table));
    snprintf(sql, sizeof sql, "ALTER TABLE %s ADD COLUMN %s INTEGER", a->table,
             a->column);
    st = db_exec(d, sql);
    return st == STATUS_OK && a->fill != NULL ? db_exec(d, a->fill) : st;
}

/* All of them go first: a table that a view names cannot be renamed where that
 * view names another one that is missing. */
static enum status drop_views(struct db *d)
{
    sqlite3_stmt *q = NULL;
    struct buf sql;
    enum status st =
        db_prepare(d, &q,
                   "SELECT 'DROP VIEW \"' || replace(name, '\"', '\"\"')"
                   " || '\"' FROM main.sqlite_master"
                   " WHERE type = 'view'");

    buf_init(&sql, SQL_MOST);
    while (st == STATUS_OK && (st = db_step(d, q)) == STATUS_OK) {
        buf_add_bytes(&sql, db_column(q, 0));
        buf_add_str(&sql, ";");
    }
    sqlite3_finalize(q);
    if (st == STATUS_NOT_FOUND)
        st = buf_failed(&sql);
    if (st == STATUS_OK)
        st = db_exec(d, buf_str(&sql));
    buf_fini(&sql);
    return st;
}

static enum status change_all(struct db *d, const struct db_kind *kind)
{
    char sql[96];
    enum status st = drop_views(d);
    bool there;

    for (const struct db_added *a = kind->added;
         st == STATUS_OK && a->table != NULL; a++) {
        st = is_there(d, a, &there);
        if (st == STATUS_OK && !there)
            st = add(d, kind, a);
        if (st != STATUS_OK)
            return st;
        fault_point("migrate-added");
    }
    for (size_t i = 0; st == STATUS_OK && kind->sql[i] != NULL; i++) {
        if (makes_view(kind->sql[i]))
            st = db_exec(d, kind->sql[i]);
    }
    if (st != STATUS_OK)
        return st;
    fault_point("migrate-views");
    snprintf(sql, sizeof sql,
             "UPDATE meta SET value = %d WHERE name = 'format'", kind->format);
    return db_exec(d, sql);
}

/* Sorting all rows of a large crawl goes to a file, as its memory is bounded;
 * where, cannot be changed inside a transaction. */
enum status migrate_store(struct db *d, const struct db_kind *kind)
{
    enum status st = db_exec(d, "PRAGMA temp_store = FILE");

    if (st == STATUS_OK)
        st = db_begin(d);
    if (st == STATUS_OK)
        st = change_all(d, kind);
    if (st == STATUS_OK)
        st = db_commit(d);
    if (st != STATUS_OK) {
        db_rollback(d);
        return st;
    }
    return db_exec(d, "PRAGMA temp_store = MEMORY");
}

/* ---- a reader ---- */

/* Before the table a view of it with the columns it lacks, from `a` on; they
 * stand together in the list. */
static enum status widen(struct db *d, const struct db_added *a)
{
    const char *table = a->table;
    struct buf sql;
    bool there = false, any = false;
    enum status st = STATUS_OK;

    buf_init(&sql, SQL_MOST);
    buf_addf(&sql, "CREATE TEMP VIEW %s AS SELECT *", table);
    for (; st == STATUS_OK && a->table != NULL && strcmp(a->table, table) == 0;
         a++) {
        st = has_column(d, a, &there);
        if (st == STATUS_OK && !there)
            buf_addf(&sql, ", %s AS %s", a->before, a->column);
        any = any || !there;
    }
    buf_addf(&sql, " FROM main.%s", table);
    if (st == STATUS_OK)
        st = buf_failed(&sql);
    if (st == STATUS_OK && any)
        st = db_exec(d, buf_str(&sql));
    buf_fini(&sql);
    return st;
}

static enum status show(struct db *d, const struct db_kind *kind,
                        const struct db_added *a)
{
    bool first = a == kind->added || strcmp(a[-1].table, a->table) != 0;
    char sql[128];
    bool there, renamed = false;
    enum status st = has_table(d, a->table, &there);

    if (st == STATUS_OK && !there)
        st = has_old_name(d, a, &renamed);
    if (st != STATUS_OK)
        return st;
    if (renamed) {
        snprintf(sql, sizeof sql,
                 "CREATE TEMP VIEW %s AS SELECT * FROM main.%s", a->table,
                 a->was);
        return db_exec(d, sql);
    }
    if (a->column == NULL)
        return there ? STATUS_OK
                     : make_temporary(d, sql_of_table(kind, a->table));
    return there && first ? widen(d, a) : STATUS_OK;
}

static enum status show_all(struct db *d, const struct db_kind *kind)
{
    enum status st = STATUS_OK;

    for (const struct db_added *a = kind->added;
         st == STATUS_OK && a->table != NULL; a++)
        st = show(d, kind, a);
    for (size_t i = 0; st == STATUS_OK && kind->sql[i] != NULL; i++) {
        if (makes_view(kind->sql[i]))
            st = make_temporary(d, kind->sql[i]);
    }
    return st;
}

/* In one moment of the file: a writer may come to it, and change it. */
enum status migrate_view(struct db *d, const struct db_kind *kind)
{
    enum status st = db_begin(d);

    if (st == STATUS_OK)
        st = show_all(d, kind);
    if (st == STATUS_OK)
        return db_commit(d);
    db_rollback(d);
    return st;
}
