/*
 * unsynced.h - files of which a sync failed.
 *
 * After fsync(2) has failed the kernel may have dropped what it could not write
 * and may call the pages that it kept clean: to read them back says nothing of
 * the disk, and the next fsync says that all is well. So the error is noted
 * beside the file, and whoever opens it next has it read anew from the disk.
 */
#ifndef URLWEIR_BASE_UNSYNCED_H
#define URLWEIR_BASE_UNSYNCED_H

#include <stdbool.h>

#include "base/status.h"

/* Makes PATH-unsynced; a disk that fails may refuse that too. */
void unsynced_note(const char *path);
/* As the error of an fsync of `path`: logs `what` and errno, notes it. Never
 * STATUS_OK. */
enum status unsynced_failed(const char *what, const char *path);
bool unsynced_is_noted(const char *path);
/* Where it is noted: says so in a log line, writes what the system still has of
 * the file, as far as that goes, and drops its pages, so that what is read next
 * comes from the disk; of the file PATH and `log` put together too, unless
 * NULL. Opens and closes them: nobody in this process may hold an fcntl(2) lock
 * on them. False: it is not noted. */
bool unsynced_forget_pages(const char *path, const char *log);
/* It was read back and is sound. */
void unsynced_clear(const char *path);

#endif
