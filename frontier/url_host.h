/*
 * url_host.h - the host of a URL, from its spelling to its serialised form.
 *
 * The URL Standard's host parser (3.5) for special schemes: an IPv6 address in
 * brackets, an IPv4 address in any spelling, or a domain. Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_HOST_H
#define URLWEIR_FRONTIER_URL_HOST_H

#include "base/buf.h"
#include "base/bytes.h"
#include "frontier/url.h"

/* Append what `in` is as a host. On any reason but URL_OK `out` may have grown
 * by a part of it. */
enum url_reason url_host_parse(struct buf *out, struct bytes in);

#endif
