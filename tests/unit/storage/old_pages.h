/*
 * old_pages.h - moves the pages of an exact set from the file of runs into the
 * table, where formats up to 16 had them, and where SQL can damage them.
 */
#ifndef URLWEIR_TESTS_STORAGE_OLD_PAGES_H
#define URLWEIR_TESTS_STORAGE_OLD_PAGES_H

#include "storage/index/exact_parts.h"
#include "tests/unit/storage/scratch.h"

static inline void old_pages_put(struct db *d, sqlite3_stmt *put,
                                 sqlite3_stmt *change, sqlite3_stmt *part)
{
    int64_t key = sqlite3_column_int64(part, 0);
    uint64_t count = (uint64_t)sqlite3_column_int64(part, 1);
    const uint64_t page = (uint64_t)BLOCK_ENTRIES * RUN_BLOCKS;
    unsigned char *all = malloc(count * ENTRY_SIZE + RUN_PAGE);
    unsigned char *to = all, *fences = malloc(count + ROW_FENCE_SIZE);
    struct run_pages run;
    uint32_t failed = 0, rows = 0;

    if (all == NULL || fences == NULL ||
        !run_pages_unpack(&run, db_column(part, 2),
                          (uint32_t)((count + page - 1) / page)))
        ck_abort_msg("part %lld", (long long)key);
    SAME(run_file_read_all(db_runs(d), &run, (size_t)BLOCK_ENTRIES * ENTRY_SIZE,
                           all, &failed),
         STATUS_OK);
    for (; count > 0; rows++) {
        size_t n = count < ROW_ENTRIES ? count : ROW_ENTRIES;

        memcpy(fences + (size_t)rows * ROW_FENCE_SIZE, to, ROW_FENCE_SIZE);
        sqlite3_bind_int64(put, 1,
                           exact_block_id((uint32_t)(key % PARTS),
                                          (uint32_t)(key / PARTS), rows));
        sqlite3_bind_blob(put, 2, to, (int)(n * ENTRY_SIZE), SQLITE_TRANSIENT);
        SAME(db_run(d, put), STATUS_OK);
        to += n * ENTRY_SIZE;
        count -= n;
    }
    sqlite3_bind_blob(change, 1, fences, (int)(rows * ROW_FENCE_SIZE),
                      SQLITE_TRANSIENT);
    sqlite3_bind_int64(change, 2, key);
    SAME(db_run(d, change), STATUS_OK);
    free(run.at);
    free(fences);
    free(all);
}

/* `tables`: "seen", "body", "near". No set is open. */
static inline void old_pages_make(const char *path, const char *tables)
{
    struct db *d = scratch_open(path, DB_WRITE);
    sqlite3_stmt *part = NULL, *put = NULL, *change = NULL;
    char sql[160];

    SAME(db_begin(d), STATUS_OK);
    snprintf(sql, sizeof sql,
             "SELECT part, count, pages FROM %spart WHERE count > 0", tables);
    SAME(db_prepare(d, &part, sql), STATUS_OK);
    snprintf(sql, sizeof sql, "INSERT INTO %spage VALUES(?, ?)", tables);
    SAME(db_prepare(d, &put, sql), STATUS_OK);
    snprintf(sql, sizeof sql,
             "UPDATE %spart SET fences = ?, pages = NULL WHERE part = ?",
             tables);
    SAME(db_prepare(d, &change, sql), STATUS_OK);
    while (db_step(d, part) == STATUS_OK)
        old_pages_put(d, put, change, part);
    sqlite3_finalize(part);
    sqlite3_finalize(put);
    sqlite3_finalize(change);
    SAME(db_commit(d), STATUS_OK);
    db_close(d);
}

#endif
