/*
 * db_runs.h - which pages of the file of runs the database names. For db.c
 * alone.
 */
#ifndef URLWEIR_STORAGE_DB_DB_RUNS_H
#define URLWEIR_STORAGE_DB_DB_RUNS_H

#include "storage/db/db.h"
#include "storage/db/run_file.h"

/* Claims the pages of all runs in these tables (db_kind.runs; NULL: none).
 * STATUS_DAMAGED. */
MUST_CHECK enum status db_claim_runs(struct db *d, const char *const *tables,
                                     struct run_file *f);

/* Removes the rows that name runs, and then the file. */
MUST_CHECK enum status db_forget_runs(struct db *d, const char *const *tables);

#endif
