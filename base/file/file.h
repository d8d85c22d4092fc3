/*
 * file.h - replace a file whole or not at all; read one; lock a directory; note
 * that a sync failed.
 *
 * A reader of a path written here sees the old content or the new, never a
 * mixture, also after a power cut: the writer fills a sibling file, commit
 * syncs it, renames it over the path and syncs the directory.
 */
#ifndef URLWEIR_BASE_FILE_FILE_H
#define URLWEIR_BASE_FILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"

struct file_writer;

/* Logs that a call on this path failed, and why by errno. Its status, never
 * STATUS_OK. */
enum status file_failed(const char *what, const char *path);

/* Starts PATH.tmp; the file at `path` is untouched until commit, and the new
 * one gets its mode. */
MUST_CHECK enum status file_writer_open(struct file_writer **out,
                                        const char *path);
/* As above, for a file that only its owner may read. */
MUST_CHECK enum status file_writer_open_private(struct file_writer **out,
                                                const char *path);
/* After a failure every later call fails too. STATUS_FULL: the disk is full. */
MUST_CHECK enum status file_writer_write(struct file_writer *w,
                                         const void *bytes, size_t len);
MUST_CHECK enum status file_writer_commit(struct file_writer *w);
/* Removes a file that was not committed, and frees. NULL is fine. */
void file_writer_close(struct file_writer *w);

/* Reads a whole file, up to the ceiling of `out`. STATUS_NOT_FOUND,
 * STATUS_LIMIT; other failures are logged. */
MUST_CHECK enum status file_read(const char *path, struct buf *out);
/* file_writer_* in one call. */
MUST_CHECK enum status file_replace(const char *path, struct bytes content);
/* As file_replace, but only the owner may read the file. */
MUST_CHECK enum status file_replace_private(const char *path,
                                            struct bytes content);

/* Makes a directory and its missing parents; it may exist already. A power cut
 * does not take them away. */
MUST_CHECK enum status file_make_dir(const char *path);
/* Removes a directory and all in it, without following symbolic links. It may
 * be missing.
 */
MUST_CHECK enum status file_remove_tree(const char *path);
/* Sync the directory entry of `path`, so that a new name survives. */
MUST_CHECK enum status file_sync_parent(const char *path);
/* Free bytes for this user on the file system that holds `path`. */
MUST_CHECK enum status file_disk_free(const char *path, uint64_t *free_bytes);
/* Size in bytes; STATUS_NOT_FOUND. */
MUST_CHECK enum status file_size(const char *path, uint64_t *size);

/* An exclusive lock that the kernel drops when its holder dies. */
struct file_lock;
/* Locks the file `path`, made if missing, and writes our process id and `note`,
 * one line, into it. Its directory is locked too, so that removing the file
 * does not get around the lock; a directory can have only one lock.
 * STATUS_BUSY: *holder, if not NULL, is the process that has it, which may be
 * this one. */
MUST_CHECK enum status file_lock_take(struct file_lock **out, const char *path,
                                      const char *note, long *holder);
/* Replaces the note. */
void file_lock_note(struct file_lock *l, const char *note);
/* Releases the lock and empties the file, but does not remove it. NULL is
 * fine. */
void file_lock_free(struct file_lock *l);
/* The process that holds the lock `path`, 0 if none does; the holder may ask,
 * too. Other code in the holder's process must not open that file: closing any
 * descriptor of it ends the lock, see fcntl(2). */
MUST_CHECK enum status file_lock_holder(const char *path, long *holder);

/* ---- files of which a sync failed ----
 *
 * After a failed fsync(2) the kernel may have dropped what it could not write,
 * and may have marked the pages it kept as clean: reading them back says
 * nothing about the disk, and the next fsync succeeds. So the error is noted
 * beside the file, and the next one to open it reads it from the disk again.
 */

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
