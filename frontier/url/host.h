/*
 * host.h - host names: IDNA, registrable domain, queue key.
 *
 * Any thread. The Public Suffix List is libpsl's built-in one.
 */
#ifndef URLWEIR_FRONTIER_URL_HOST_H
#define URLWEIR_FRONTIER_URL_HOST_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"

/* Domain to ASCII (UTS #46 as the URL Standard calls it, beStrict false):
 * appends the ASCII form of UTF-8 `domain`. False: not allowed. */
bool host_to_ascii(struct bytes domain, struct buf *out);

/* A dotted IPv4 address or a bracketed IPv6 one, as url.h serialises them. */
bool host_is_address(struct bytes host);

/* The registrable domain: example.co.uk of a.b.example.co.uk; the host itself
 * if it is an address or a public suffix. Borrowed from `host`, which is
 * canonical. */
struct bytes host_registrable(struct bytes host);
/* Which list that goes by: the SHA-1 of its file, in hexadecimal. */
const char *host_suffixes(void);

#endif
