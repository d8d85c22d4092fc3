/*
 * unsynced.h - files of which a sync failed.
 *
 * After a failed fsync(2) the kernel may have dropped what it could not write,
 * and may have marked the pages it kept as clean: reading them back says
 * nothing about the disk, and the next fsync succeeds. So the error is noted
 * beside the file, and the next one to open it reads it from the disk again.
 */
#ifndef URLWEIR_BASE_FILE_UNSYNCED_H
#define URLWEIR_BASE_FILE_UNSYNCED_H

#include <stdbool.h>

#include "base/status.h"

/* Makes PATH-unsynced; a failing disk may refuse that too. */
void unsynced_note(const char *path);
/* Handles a failed fsync of `path`: logs `what` and errno, and notes it. Never
 * returns STATUS_OK. */
enum status unsynced_failed(const char *what, const char *path);
bool unsynced_is_noted(const char *path);
/* If a failed sync is noted: logs that, writes what the kernel still has of the
 * file as far as possible, and drops its pages, so that the next read comes
 * from the disk. Does the same for PATH with the suffix `log`, unless NULL. It
 * opens and closes the files, so this process must hold no fcntl(2) lock on
 * them. False: nothing is noted. */
bool unsynced_forget_pages(const char *path, const char *log);
/* Removes the note: the file was read back and is sound. */
void unsynced_clear(const char *path);

#endif
