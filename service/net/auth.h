/*
 * auth.h - bearer tokens and their roles.
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

#endif
