/*
 * token_file.h - the token that a caller sends, from a file.
 *
 * The file has one token, or is one of auth.h with a `ROLE TOKEN` a line, of
 * which the first of the highest role is taken. Any thread.
 */
#ifndef URLWEIR_SERVICE_NET_TOKEN_FILE_H
#define URLWEIR_SERVICE_NET_TOKEN_FILE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/status.h"

/* Appends the token to `token`, which is empty. STATUS_FORMAT: there is no valid
 * one; statuses of file_read. */
MUST_CHECK enum status token_file_read(const char *path, struct buf *token);
/* Printable ASCII without spaces, and not too long? */
bool token_is_valid(const struct buf *token);
/* Overwrites and frees. */
void token_forget(struct buf *secret);

#endif
