/*
 * redis_address.h - where a Redis server is and how to sign in there.
 *
 *   redis://[[USER]:PASSWORD@][HOST[:PORT]][/PATH][?SETTINGS]
 *   rediss://...                     the same over TLS
 *   redis+unix://[[USER]:PASSWORD@]/PATH[?SETTINGS]
 *
 * User, password and host may hold %XX escapes. What PATH and SETTINGS mean is
 * for the caller to say, with the readers of numbers and times below. Pure, any
 * thread.
 */
#ifndef URLWEIR_BASE_REDIS_REDIS_ADDRESS_H
#define URLWEIR_BASE_REDIS_REDIS_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

struct redis_address {
    bool is_unix, tls;
    char host[256]; /* name or address, without brackets */
    char path[108]; /* of the socket, as struct sockaddr_un takes it */
    uint16_t port;
    char user[128], password[512]; /* empty: none */
    unsigned db;
};

/* What a URL consists of. `path` and `settings` point into the text, without
 * their / and ?. */
struct redis_url_parts {
    struct redis_address at;
    struct bytes path, settings;
};

/* Is it meant as a Redis URL: does it begin with one of its schemes? */
bool redis_address_is_url(const char *text);
/* STATUS_FORMAT: *why is a static phrase on what was expected. */
MUST_CHECK enum status redis_address_read(struct redis_url_parts *out,
                                          const char *text, const char **why);
/* Append scheme and place without user and password: "redis://h:6379". */
void redis_address_show(const struct redis_address *a, struct buf *out);

/* ---- for the rest of a URL ---- */

/* Cut off the part before the first `c`; *in keeps the part after it. */
struct bytes redis_url_cut(struct bytes *in, char c);
/* Undo %XX into `out`; false: too long, a broken escape, or a zero octet. */
bool redis_url_unescape(struct bytes in, char *out, size_t size);
/* Decimal digits only, at most `most`. */
bool redis_url_number(struct bytes in, uint64_t most, uint64_t *out);
/* 90, 90s, 15m, 24h, 7d: at most ten years. */
bool redis_url_duration(struct bytes in, int64_t *ms);

#endif
