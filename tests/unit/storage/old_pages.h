/*
 * old_pages.h - moves the pages of an exact set from the file of runs into the
 * table, where formats up to 16 had them, and where SQL can damage them.
 */
#ifndef URLWEIR_TESTS_STORAGE_OLD_PAGES_H
#define URLWEIR_TESTS_STORAGE_OLD_PAGES_H

#include "storage/index/exact_parts.h"
#include "tests/unit/storage/scratch.h"

static inline void old_pages_put(struct db *d, sqlite3_stmt *put,
                                 sqlite3_stmt *part)
{
    int64_t key = sqlite3_column_int64(part, 0);
    uint64_t count = (uint64_t)sqlite3_column_int64(part, 1);
    struct run_pages run;
    unsigned char page[RUN_PAGE];

    if (!run_pages_unpack(&run, db_column(part, 2),
                          (uint32_t)((count + PAGE_ENTRIES - 1) /
                                     PAGE_ENTRIES)))
        ck_abort_msg("part %lld", (long long)key);
    for (uint32_t i = 0; i < run.count; i++, count -= PAGE_ENTRIES) {
        size_t n = count < PAGE_ENTRIES ? count : PAGE_ENTRIES;

        SAME(run_file_read(db_runs(d), &run, i, page), STATUS_OK);
        sqlite3_bind_int64(put, 1,
                           exact_page_id((uint32_t)(key % PARTS),
                                         (uint32_t)(key / PARTS), i));
        sqlite3_bind_blob(put, 2, page, (int)(n * ENTRY_SIZE),
                          SQLITE_TRANSIENT);
        SAME(db_run(d, put), STATUS_OK);
    }
    free(run.at);
}

/* `tables`: "seen", "body", "near". No set is open. */
static inline void old_pages_make(const char *path, const char *tables)
{
    struct db *d = scratch_open(path, DB_WRITE);
    sqlite3_stmt *part = NULL, *put = NULL;
    char sql[160];

    SAME(db_begin(d), STATUS_OK);
    snprintf(sql, sizeof sql,
             "SELECT part, count, pages FROM %spart WHERE count > 0", tables);
    SAME(db_prepare(d, &part, sql), STATUS_OK);
    snprintf(sql, sizeof sql, "INSERT INTO %spage VALUES(?, ?)", tables);
    SAME(db_prepare(d, &put, sql), STATUS_OK);
    while (db_step(d, part) == STATUS_OK)
        old_pages_put(d, put, part);
    sqlite3_finalize(part);
    sqlite3_finalize(put);
    snprintf(sql, sizeof sql, "UPDATE %spart SET pages = NULL", tables);
    SAME(db_exec(d, sql), STATUS_OK);
    SAME(db_commit(d), STATUS_OK);
    db_close(d);
}

#endif
