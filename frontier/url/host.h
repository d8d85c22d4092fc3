/*
 * host.h - host names: IDNA, registrable domain, queue key.
 *
 * Any thread. The Public Suffix List is libpsl's built-in one.
 */
#ifndef URLWEIR_FRONTIER_URL_HOST_H
#define URLWEIR_FRONTIER_URL_HOST_H

#include <stdbool.h>
#include <stdint.h>

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

/* ---- IP addresses in the spellings the URL Standard knows ---- */

/*
 * Text to numbers and back, sections 3.5 (host parsing) and 3.6 (host
 * serialising). Nothing here asks a network. Any thread.
 */

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

/* ---- an IP address as a value: read, compared, written ---- */

/*
 * An IPv4 address inside IPv6 (::ffff:0:0/96, RFC 4291 section 2.5.5.2) is that
 * IPv4 address, so an address has one form, however a server was reached.
 * Nothing here asks a network. Any thread.
 */

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

/*
 * The queue of a URL is named by its host (url_host), and politeness groups
 * queues.
 *
 * Every host has its own queue in every mode of politeness: its robots.txt,
 * whether it is dead, and the digests of its URLs concern no other host. The
 * schedule (frontier_impl.h) decides which queues take turns. Scheme and
 * port are not part of the key: http and https of a host are one machine to be
 * polite to.
 */
/* What politeness treats as one: a host, all hosts of a registrable domain, or
 * all hosts of a network address. */
enum queue_key_mode { QUEUE_KEY_HOST, QUEUE_KEY_DOMAIN, QUEUE_KEY_IP };

/* ---- which shard of a crawl on many machines a URL belongs to ---- */

/*
 * All hosts of a registrable domain are in one shard, so that their budgets,
 * traps, sitemaps and places of the scope are known there (Mercator's host
 * splitting, Heydon and Najork 1999, section 4.1). The number is the XXH3 of
 * the domain modulo the number of shards, which never changes.
 *
 * Pure, any thread.
 */

#define SHARDS_MOST 4096

/* One of `count` shards. count 0: the crawl is not divided. */
struct shard_number {
    uint32_t number, count;
};

/* The shard of a host, 0 to count - 1; `host` is canonical. */
uint32_t shard_of_host(struct bytes host, uint32_t count);

static inline bool shard_is_other(struct shard_number s, struct bytes host)
{
    return s.count > 1 && shard_of_host(host, s.count) != s.number;
}

#endif
