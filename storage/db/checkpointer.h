/*
 * checkpointer.h - copies the write-ahead log into the database, on a thread
 * and a connection of its own, so that a commit never waits for it.
 *
 * PASSIVE checkpoints: they wait for nobody. The writer is outside the
 * database between two commits, which is enough for the log to start over.
 * Used by db.c alone.
 */
#ifndef URLWEIR_STORAGE_DB_CHECKPOINTER_H
#define URLWEIR_STORAGE_DB_CHECKPOINTER_H

#include "base/status.h"

struct checkpointer;

MUST_CHECK enum status checkpointer_start(struct checkpointer **out,
                                          const char *path);
/* Waits for a checkpoint in progress. NULL is fine. */
void checkpointer_stop(struct checkpointer *c);
/* Returns at once; one request stands for any number. */
void checkpointer_ask(struct checkpointer *c);
/* As above, and waits until a checkpoint that began after this call is done.
 * Any thread but the one that holds a transaction open. */
enum status checkpointer_wait(struct checkpointer *c);
/* The first failure, which is final; STATUS_OK. */
enum status checkpointer_status(struct checkpointer *c);

#endif
