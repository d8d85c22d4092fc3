/*
 * sqlite_error.h - our status for an SQLite result code. For storage/ only.
 */
#ifndef URLWEIR_STORAGE_DB_SQLITE_ERROR_H
#define URLWEIR_STORAGE_DB_SQLITE_ERROR_H

#include <sqlite3.h>

#include "base/status.h"

/* Logs SQLite's text with the path, and maps `rc`, which is an error:
 * STATUS_FULL, STATUS_DAMAGED, STATUS_BUSY or STATUS_IO. Memory that ran out
 * ends the process (mem_out). */
enum status sqlite_error(sqlite3 *h, int rc, const char *path);

#endif
