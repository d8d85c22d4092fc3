/* SPDX-License-Identifier: MIT */
/* db_runs.c - which pages of the file of runs the database names. */
#include "storage/db/db_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "storage/db/db_row.h"

#define MOST_PAGES (UINT32_C(1) << 24) /* of one run */

static enum status claim_row(struct run_file *f, const char *table,
                             sqlite3_stmt *q)
{
    struct db_row r = db_row(q);
    int64_t key = sqlite3_column_int64(q, 0);
    uint32_t pages = (uint32_t)db_row_count(&r, 1, MOST_PAGES);
    struct run_pages run;
    enum status st = db_row_check(&r, table);

    if (st != STATUS_OK)
        return st;
    if (!run_pages_unpack(&run, db_column(q, 2), pages))
        return db_damaged(table, key, "pages that cannot be");
    st = run_file_claim(f, &run, table, key);
    free(run.at);
    return st;
}

/* Four octets of fences for each of the four blocks of a page. */
static enum status claim_table(struct db *d, const char *table,
                               struct run_file *f)
{
    sqlite3_stmt *q = NULL;
    char sql[128];
    enum status st;

    snprintf(sql, sizeof sql,
             "SELECT part, (length(fences) + 15) / 16, pages FROM %s"
             " WHERE pages IS NOT NULL",
             table);
    st = db_prepare(d, &q, sql);
    while (st == STATUS_OK && (st = db_step(d, q)) == STATUS_OK)
        st = claim_row(f, table, q);
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status db_claim_runs(struct db *d, const char *const *tables,
                          struct run_file *f)
{
    enum status st = STATUS_OK;

    for (; st == STATUS_OK && tables != NULL && *tables != NULL; tables++)
        st = claim_table(d, *tables, f);
    return st;
}

static enum status forget_table(struct db *d, const char *table)
{
    char sql[64];

    snprintf(sql, sizeof sql, "DELETE FROM %s", table);
    return db_exec(d, sql);
}

enum status db_forget_runs(struct db *d, const char *const *tables)
{
    enum status st = db_exec(d, "BEGIN IMMEDIATE");
    char *path;

    for (; st == STATUS_OK && tables != NULL && *tables != NULL; tables++)
        st = forget_table(d, *tables);
    if (st == STATUS_OK)
        st = db_exec(d, "COMMIT");
    if (st != STATUS_OK)
        return st; /* what was begun ends with the connection */
    path = run_file_path(sqlite3_db_filename(db_handle(d), "main"));
    (void)unlink(path); /* pages that nobody names do no harm */
    free(path);
    return STATUS_OK;
}
