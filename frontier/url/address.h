/*
 * address.h - IP addresses in the spellings the URL Standard knows.
 *
 * Text to numbers and back, sections 3.5 (host parsing) and 3.6 (host
 * serialising). Nothing here asks a network. Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_ADDRESS_H
#define URLWEIR_FRONTIER_URL_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/* Does an ASCII domain end in a label that looks like a number? Then it is an
 * IPv4 address, or not a host at all. */
bool address_ends_in_number(struct bytes domain);

/* One to four parts, each decimal, octal (0...) or hexadecimal (0x...); the
 * last fills the remaining octets. False: not an address. */
bool address_parse_ipv4(struct bytes in, uint32_t *out);

/* Without the brackets. False: not an address. */
bool address_parse_ipv6(struct bytes in, uint16_t out[8]);

/* 192.0.2.1 */
void address_add_ipv4(struct buf *out, uint32_t address);
/* [2001:db8::1], the longest run of zeros left out (RFC 5952, 4.2). */
void address_add_ipv6(struct buf *out, const uint16_t address[8]);

#endif
