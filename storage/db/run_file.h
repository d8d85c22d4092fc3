/*
 * run_file.h - the pages of sorted runs, in a file beside the database.
 *
 * Space is given out by pages of four blocks, and read by blocks: a read of one
 * takes two thirds of a page's CPU.
 *
 * A run is written once, in one piece as far as possible, and never changed: a
 * merge writes another one. Which runs there are, and where their pages lie,
 * rows of the database say (run_pages_pack), so it is the transaction that puts
 * a run in force. A block carries a checksum that is seeded with a number of
 * its run's own, drawn at random: damage, and a block of any other run, are
 * never taken for this run's.
 *
 * It does not know what a run holds, and no rows; exact_set.h does, and db.h
 * tells it of transactions. Used by one thread; a reader in another process
 * opens the file for itself.
 */
#ifndef URLWEIR_STORAGE_DB_RUN_FILE_H
#define URLWEIR_STORAGE_DB_RUN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define RUN_PAGE       4096
#define RUN_BLOCK      1024
#define RUN_BLOCKS     (RUN_PAGE / RUN_BLOCK)
#define RUN_BLOCK_ROOM (RUN_BLOCK - 8) /* octets that a block holds */

struct run_file;

/* Where the pages of a run are. `at` is NULL for a run without pages. */
struct run_pages {
    uint64_t stamp;
    uint32_t count;
    uint32_t *at; /* numbers of pages of the file */
};

/* The file is opened, or made, when it is first needed. `path` NULL: an unnamed
 * one in $SQLITE_TMPDIR or $TMPDIR, which is never synced. */
struct run_file *run_file_new(const char *path, bool writes);
void run_file_free(struct run_file *f); /* NULL is fine */
/* "frontier.runs" for "frontier.db", in the same directory; for free(). */
char *run_file_path(const char *db_path);
/* The file's mode when it is made; 0600 by default. */
void run_file_set_mode(struct run_file *f, unsigned mode);

/* Before anything is written: run_file_measure(), then run_file_claim() for
 * each run that the database names, so that its pages are not taken for free
 * ones, then run_file_claimed(). */
MUST_CHECK enum status run_file_measure(struct run_file *f);
/* STATUS_DAMAGED, logged with `table` and `key`: a page is named twice, or the
 * file ends before it. */
MUST_CHECK enum status run_file_claim(struct run_file *f,
                                      const struct run_pages *r,
                                      const char *table, int64_t key);
void run_file_claimed(struct run_file *f);

/* Writes `len` octets as a run with `each` octets to a block. Afterwards the
 * caller owns out->at. */
MUST_CHECK enum status run_file_write(struct run_file *f, struct run_pages *out,
                                      const unsigned char *octets, size_t len,
                                      size_t each);
/* Reads the whole block, RUN_BLOCK octets. STATUS_DAMAGED, not logged: it is
 * not this run's block, or the file ends before it. */
MUST_CHECK enum status run_file_read(struct run_file *f,
                                     const struct run_pages *r, uint32_t block,
                                     unsigned char *to);
/* Reads the octets that run_file_write was given; `to` has room for another
 * RUN_PAGE octets past them. *block is the one that failed. */
MUST_CHECK enum status run_file_read_all(struct run_file *f,
                                         const struct run_pages *r, size_t each,
                                         unsigned char *to, uint32_t *block);
/* Frees the pages, once the transaction is committed, and r->at. */
void run_file_drop(struct run_file *f, struct run_pages *r);

/* Syncs what was written, if anything was: before the commit. */
MUST_CHECK enum status run_file_sync(struct run_file *f);
/* Returns how many there were since run_file_claimed, which counts as one. */
uint64_t run_file_commit(struct run_file *f);
void run_file_roll_back(struct run_file *f);
/* Pages that the first `commits` commits have dropped may be written again: no
 * reader, and no power cut, can go back to what named them. */
void run_file_reuse(struct run_file *f, uint64_t commits);
/* The first failure to write or sync, which is final; STATUS_OK. */
enum status run_file_failed(const struct run_file *f);

/* As octets: the stamp in 8, and for each series of adjacent pages the first in
 * 4 and their number in 4, big-endian. `to` has room for
 * run_pages_packed_most(). Returns the length. */
size_t run_pages_pack(const struct run_pages *r, unsigned char *to);
size_t run_pages_packed_most(const struct run_pages *r);
/* Returns false if the octets do not name exactly `count` pages. */
bool run_pages_unpack(struct run_pages *out, struct bytes packed,
                      uint32_t count);

/* Octets of the file, for a writer. */
uint64_t run_file_size(const struct run_file *f);
uint64_t run_file_memory(const struct run_file *f);

#endif
