/*
 * checkpointer.h - copies the write-ahead log into the database, on a thread
 * and a connection of its own, so that a commit never waits for it.
 *
 * The checkpoints are PASSIVE: they wait for no reader or writer. The writer is
 * outside the database between two commits, which is enough for the log to
 * start over. Used by db.c alone.
 */
#ifndef URLWEIR_STORAGE_DB_CHECKPOINTER_H
#define URLWEIR_STORAGE_DB_CHECKPOINTER_H

#include <stdint.h>

#include "base/status.h"

struct checkpointer;

MUST_CHECK enum status checkpointer_start(struct checkpointer **out,
                                          const char *path);
/* Waits for a checkpoint in progress. NULL is fine. */
void checkpointer_stop(struct checkpointer *c);
/* Asks for a checkpoint and returns at once. Requests are merged. */
void checkpointer_ask(struct checkpointer *c);
/* As above, and waits until a checkpoint that began after this call is done. Do
 * not call it on a thread that holds a transaction open. */
enum status checkpointer_wait(struct checkpointer *c);
/* The first failure, which is final; STATUS_OK. */
enum status checkpointer_status(struct checkpointer *c);

#endif
