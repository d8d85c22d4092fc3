/*
 * auth.h - bearer tokens and what each may do.
 *
 * A token file has one `ROLE TOKEN` a line; blank lines and lines that begin
 * with # are left out. Roles: `read` asks, `write` also puts, takes and slows
 * down, `admin` also removes and changes what holds for all. Only digests of
 * the tokens are kept, and each is compared in constant time, all of them each
 * time, so that time tells nothing of a token.
 *
 * Any thread may ask while one reloads.
 */
#ifndef URLWEIR_SERVICE_NET_AUTH_H
#define URLWEIR_SERVICE_NET_AUTH_H

#include <stddef.h>

#include "base/bytes.h"
#include "base/status.h"

#define AUTH_TOKEN_SHORT 16  /* octets; shorter ones are warned of */
#define AUTH_TOKEN_MOST  512 /* octets */
#define AUTH_TOKENS_MOST 1024

enum auth_role {
    AUTH_NONE = 0, /* whoever reaches the port */
    AUTH_READ,
    AUTH_WRITE,
    AUTH_ADMIN
};

struct auth;

/* What is wrong is logged with its line. STATUS_FORMAT, STATUS_NOT_FOUND,
 * STATUS_IO. */
MUST_CHECK enum status auth_new(struct auth **out, const char *path);
void auth_free(struct auth *a); /* NULL is fine */
/* Read the file anew; on failure all stays as it was. */
MUST_CHECK enum status auth_reload(struct auth *a);
size_t auth_count(struct auth *a);

/* The role of `token`; AUTH_NONE: it is none of ours. */
enum auth_role auth_role_of(struct auth *a, struct bytes token);
/* The token of an Authorization header: "Bearer TOKEN" (RFC 6750 section 2.1,
 * the scheme in any case); {NULL, 0}: it is none. */
struct bytes auth_bearer(struct bytes header);

const char *auth_role_name(enum auth_role r);

#endif
