/*
 * ip.h - an IP address as a value: read, compared, written.
 *
 * An IPv4 address inside IPv6 (::ffff:0:0/96, RFC 4291 section 2.5.5.2) is that
 * IPv4 address, so an address has one form, however a server was reached.
 * Nothing here asks a network. Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_IP_H
#define URLWEIR_FRONTIER_URL_IP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"

struct ip {
    unsigned char at[16]; /* IPv4 as ::ffff:a.b.c.d */
};

/* From 4 or 16 octets, as in socket addresses. False: another length. */
bool ip_of_octets(struct ip *out, const void *octets, size_t len);
/* From text: 192.0.2.1, 2001:db8::1, [2001:db8::1]. False: not an address. */
bool ip_parse(struct ip *out, struct bytes text);

bool ip_equal(const struct ip *a, const struct ip *b);
/* IPv4 before IPv6, then by number. */
bool ip_before(const struct ip *a, const struct ip *b);

/* As the host of a URL: 192.0.2.1, [2001:db8::1]; at most IP_TEXT octets. */
#define IP_TEXT 48
void ip_add(struct buf *out, const struct ip *ip);

#endif
