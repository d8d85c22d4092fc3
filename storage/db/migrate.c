/* SPDX-License-Identifier: MIT */
/*
 * migrate.c - databases of an older format.
 *
 * Formats differ in what was added, and db_kind.added lists that. We look at
 * what is in the file, not at its number: while format 1 was the only one,
 * tables and columns were added without a new number, so it has several
 * layouts. A table that is not on the list is never made here: if it is
 * missing, the file is damaged, and an empty table would hide that.
 *
 * Views hold no rows. They are dropped and made again, since they may name new
 * tables or columns.
 */
#include "storage/db/migrate.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/fault.h"

#define SQL_MOST ((size_t)64 << 10)

/* ---- what the file has ---- */

/* Looks in the file itself, not at the temporary views a reader puts before
 * it. */
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

/* What was replaced counts as there when what has replaced it is. */
static enum status is_there(struct db *d, const struct db_added *a, bool *is)
{
    enum status st = STATUS_OK;

    *is = false;
    if (a->until != NULL)
        st = has_table(d, a->until, is);
    if (st != STATUS_OK || *is)
        return st;
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
    if (a->until != NULL)
        return db_exec(d, a->fill);
    if (a->column == NULL) {
        st = db_exec(d, sql_of_table(kind, a->table));
    } else {
        snprintf(sql, sizeof sql, "ALTER TABLE %s ADD COLUMN %s INTEGER",
                 a->table, a->column);
        st = db_exec(d, sql);
    }
    return st == STATUS_OK && a->fill != NULL ? db_exec(d, a->fill) : st;
}

/* Drops all views first: a table cannot be renamed while a view names both it
 * and another table that is missing. */
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

/* Memory is bounded, so SQLite must sort the rows of a large crawl in a file.
 * This pragma cannot be set inside a transaction. */
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

/* Shadows the table with a temporary view that adds the columns it lacks. These
 * are consecutive in the list, from `a` on. */
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

static enum status view_of(struct db *d, const char *table, const char *select)
{
    struct buf sql;
    enum status st;

    buf_init(&sql, SQL_MOST);
    buf_addf(&sql, "CREATE TEMP VIEW %s AS %s", table, select);
    st = buf_failed(&sql);
    if (st == STATUS_OK)
        st = db_exec(d, buf_str(&sql));
    buf_fini(&sql);
    return st;
}

static enum status show_table(struct db *d, const struct db_kind *kind,
                              const struct db_added *a)
{
    if (a->until != NULL)
        return make_temporary(d, a->fill);
    if (a->before != NULL)
        return view_of(d, a->table, a->before);
    return make_temporary(d, sql_of_table(kind, a->table));
}

static enum status show(struct db *d, const struct db_kind *kind,
                        const struct db_added *a)
{
    bool first = a == kind->added || strcmp(a[-1].table, a->table) != 0;
    char select[128];
    bool there, renamed = false;
    enum status st = a->column == NULL ? is_there(d, a, &there)
                                       : has_table(d, a->table, &there);

    if (st == STATUS_OK && !there)
        st = has_old_name(d, a, &renamed);
    if (st != STATUS_OK)
        return st;
    if (renamed) {
        snprintf(select, sizeof select, "SELECT * FROM main.%s", a->was);
        return view_of(d, a->table, select);
    }
    if (a->column == NULL)
        return there ? STATUS_OK : show_table(d, kind, a);
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

/* In one transaction, since a writer may change the file meanwhile. */
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
