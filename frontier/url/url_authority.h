/*
 * url_authority.h - user, host and port of a URL, to their serialised form.
 *
 * The URL Standard's host parser (3.5) for special schemes: an IPv6 address in
 * brackets, an IPv4 address in any spelling, or a domain; and the states of its
 * URL parser (4.4) that lead there. Private to url_parse.c and url_canonical.c.
 * Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_URL_AUTHORITY_H
#define URLWEIR_FRONTIER_URL_URL_AUTHORITY_H

#include "base/buf.h"
#include "base/bytes.h"
#include "frontier/url/url.h"

/* Append the serialised host that `in` stands for. On any reason but URL_OK
 * `out` may have got a part of it. */
enum url_reason url_host_parse(struct buf *out, struct bytes in);

/* Append the authority at the front of *in to u, which holds its scheme and two
 * slashes, and note the offsets of its parts; *in loses what was read. */
enum url_reason url_add_authority(struct url *u, struct bytes *in);

#endif
