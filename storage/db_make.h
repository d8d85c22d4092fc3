/*
 * db_make.h - makes a new frontier.db, whole or not at all. For db.c alone.
 */
#ifndef URLWEIR_STORAGE_DB_MAKE_H
#define URLWEIR_STORAGE_DB_MAKE_H

#include "base/status.h"

/* Fills PATH.new with every table, syncs it and renames it to `path`, which is
 * not there. What an earlier attempt left at PATH.new is removed. */
MUST_CHECK enum status db_make(const char *path);

#endif
