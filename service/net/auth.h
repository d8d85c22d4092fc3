/*
 * auth.h - bearer tokens and their roles, and the token that a caller sends.
 *
 * A token file has one `ROLE TOKEN` a line; blank lines and lines that begin
 * with # are skipped. Roles: `read` may query; `write` may also put URLs, lease
 * them and slow a crawl down; `admin` may also remove URLs and change settings
 * for everyone. Only digests of the tokens are kept. Each comparison takes
 * constant time and all are compared each time, so that timing reveals nothing
 * about a token.
 *
 * Threads: any may ask while one reloads.
 */
#ifndef URLWEIR_SERVICE_NET_AUTH_H
#define URLWEIR_SERVICE_NET_AUTH_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

#define AUTH_TOKEN_SHORT 16  /* octets; we warn of shorter ones */
#define AUTH_TOKEN_MOST  512 /* octets */
#define AUTH_TOKENS_MOST 1024

enum auth_role {
    AUTH_NONE = 0, /* anyone who reaches the port */
    AUTH_READ,
    AUTH_WRITE,
    AUTH_ADMIN
};

struct auth;

/* Errors are logged with their line number. STATUS_FORMAT, STATUS_NOT_FOUND,
 * STATUS_IO. */
MUST_CHECK enum status auth_new(struct auth **out, const char *path);
void auth_free(struct auth *a); /* NULL is fine */
/* Read the file again; on failure nothing changes. */
MUST_CHECK enum status auth_reload(struct auth *a);

/* The role of `token`; AUTH_NONE: the token is unknown. */
enum auth_role auth_role_of(struct auth *a, struct bytes token);
/* The token of an Authorization header: "Bearer TOKEN" (RFC 6750 section 2.1,
 * case of the scheme ignored); {NULL, 0}: the header has none. */
struct bytes auth_bearer(struct bytes header);

const char *auth_role_name(enum auth_role r);

/* ---- the token that a caller sends, from a file ----
 *
 * The file has one token, or is one of auth.h with a `ROLE TOKEN` a line, of
 * which the first of the highest role is taken. Any thread.
 */

/* Appends the token to `token`, which is empty. STATUS_FORMAT: there is no valid
 * one; statuses of file_read. */
MUST_CHECK enum status token_file_read(const char *path, struct buf *token);
/* Printable ASCII without spaces, and not too long? */
bool token_is_valid(const struct buf *token);
/* Overwrites and frees. */
void token_forget(struct buf *secret);

#endif
