/* SPDX-License-Identifier: MIT */
/*
 * url_host.c - the host of a URL, from its spelling to its serialised form.
 */
#include "frontier/url_host.h"

#include "frontier/address.h"
#include "frontier/host.h"
#include "frontier/percent.h"
#include "frontier/utf8.h"

/* `in` begins with a bracket. */
static enum url_reason parse_ipv6(struct buf *out, struct bytes in)
{
    uint16_t address[8];

    if (in.len < 2 || in.at[in.len - 1] != ']' ||
        !address_parse_ipv6(bytes_of(in.at + 1, in.len - 2), address))
        return URL_HOST_IPV6;
    address_add_ipv6(out, address);
    return URL_OK;
}

/* An IPv4 address is first a domain like any other: what it is spelled with
 * may be full-width digits. */
static enum url_reason parse_domain(struct buf *out, struct bytes domain)
{
    size_t from = out->len;
    uint32_t address;

    if (!host_to_ascii(domain, out))
        return octet_classes_of(domain) & OCTET_HIGH ? URL_HOST_IDNA : URL_HOST;
    domain = bytes_of(buf_str(out) + from, out->len - from);
    if (!address_ends_in_number(domain))
        return URL_OK;
    if (!address_parse_ipv4(domain, &address))
        return URL_HOST_IPV4;
    buf_truncate(out, from);
    address_add_ipv4(out, address);
    return URL_OK;
}

/* Octets that are no UTF-8 are replaced before %XX are decoded, for they were
 * U+FFFD already when the URL was text; and again after it. */
static enum url_reason parse_escaped(struct buf *out, struct bytes in)
{
    struct buf text, domain;
    enum url_reason reason;

    buf_init(&text, 3 * URL_LENGTH_CEILING);
    buf_init(&domain, 3 * URL_LENGTH_CEILING);
    utf8_add_clean(&domain, in);
    percent_decode(&text, buf_bytes(&domain));
    buf_clear(&domain);
    utf8_add_clean(&domain, buf_bytes(&text));
    if (buf_failed(&text) != STATUS_OK || buf_failed(&domain) != STATUS_OK)
        reason = URL_LENGTH;
    else
        reason = parse_domain(out, buf_bytes(&domain));
    buf_fini(&domain);
    buf_fini(&text);
    return reason;
}

enum url_reason url_host_parse(struct buf *out, struct bytes in)
{
    if (in.len == 0)
        return URL_HOST;
    if (in.at[0] == '[')
        return parse_ipv6(out, in);
    if (octet_classes_of(in) & (OCTET_HIGH | OCTET_MARK))
        return parse_escaped(out, in);
    return parse_domain(out, in);
}
