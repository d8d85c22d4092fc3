/*
 * netrc.h - the logins of a .netrc file.
 *
 * The format is that of ftp(1) and curl: `machine NAME`, or `default`, then
 * `login` and `password`, separated by white space; double quotes around a
 * value, with \ before ", \, n, r and t; `macdef` up to an empty line and
 * `account` are skipped, and # at the beginning of a token begins a comment.
 */
#ifndef URLWEIR_CRAWLER_FETCH_NETRC_H
#define URLWEIR_CRAWLER_FETCH_NETRC_H

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

#define NETRC_MOST ((size_t)1 << 20) /* octets of a file */

/* A machine with a login or a password; `machine` is empty for `default`. The
 * first entry of a machine counts; the caller drops others. */
typedef void (*netrc_visit)(void *ctx, struct bytes machine, struct bytes login,
                            struct bytes password);

/* STATUS_FORMAT: `error` gets "line N: what is wrong", never a value. */
MUST_CHECK enum status netrc_read(struct bytes text, netrc_visit visit,
                                  void *ctx, struct buf *error);

#endif
