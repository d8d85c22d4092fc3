/* SPDX-License-Identifier: MIT */
/*
 * url_authority.c - user, host and port of a URL, to their serialised form.
 *
 * The Standard starts again at each @ in the authority; the effect is that
 * everything before the last @ is user name and password.
 */
#include "frontier/url/url_authority.h"

#include "frontier/url/address.h"
#include "frontier/url/host.h"
#include "frontier/url/percent.h"
#include "frontier/url/url_text.h"
#include "frontier/url/utf8.h"

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

/* An IPv4 address is first treated as a domain, since it may be written in
 * full-width digits. */
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

/* Octets that are not UTF-8 are replaced before %XX is decoded, since they were
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

/* ---- the authority around it ------------------------------------------ */

/* User name and password: `in` is the text before the last @. */
static void add_userinfo(struct url *u, struct bytes in)
{
    size_t colon = url_find(in, ':');
    struct bytes password = bytes_skip(in, colon < in.len ? colon + 1 : colon);

    percent_encode(&u->text, bytes_of(in.at, colon), OCTET_USERINFO);
    if (password.len > 0) {
        buf_add_char(&u->text, ':');
        percent_encode(&u->text, password, OCTET_USERINFO);
    }
    if (colon > 0 || password.len > 0)
        buf_add_char(&u->text, '@');
}

/* Port state. `in` is what follows the colon. */
static enum url_reason add_port(struct url *u, struct bytes in)
{
    uint32_t port = 0;

    u->port = url_default_port(u->https);
    if (in.len == 0)
        return URL_OK;
    for (size_t i = 0; i < in.len; i++) {
        if (in.at[i] < '0' || in.at[i] > '9')
            return URL_PORT;
        port = port * 10 + (uint32_t)(in.at[i] - '0');
        if (port > UINT16_MAX)
            return URL_PORT;
    }
    u->port = (uint16_t)port;
    if (port != url_default_port(u->https)) {
        buf_add_char(&u->text, ':');
        buf_add_uint(&u->text, port);
    }
    return URL_OK;
}

/* The colon before the port; one inside brackets is part of the host. */
static size_t host_length(struct bytes in)
{
    bool brackets = false;

    for (size_t i = 0; i < in.len; i++) {
        if (in.at[i] == '[')
            brackets = true;
        else if (in.at[i] == ']')
            brackets = false;
        else if (in.at[i] == ':' && !brackets)
            return i;
    }
    return in.len;
}

/* Host state and port state. */
static enum url_reason add_host(struct url *u, struct bytes in)
{
    size_t n = host_length(in);
    enum url_reason reason;

    u->host_at = u->text.len;
    reason = url_host_parse(&u->text, bytes_of(in.at, n));
    if (reason != URL_OK)
        return reason;
    u->host_len = u->text.len - u->host_at;
    reason = add_port(u, bytes_skip(in, n < in.len ? n + 1 : n));
    u->path_at = u->text.len;
    return reason;
}

/* The length of the authority; *host_at: offset after its last @, else 0. */
static size_t authority_length(struct bytes in, size_t *host_at)
{
    size_t i;

    *host_at = 0;
    for (i = 0; i < in.len; i++) {
        if (url_is_slash(in.at[i]) || in.at[i] == '?')
            break;
        if (in.at[i] == '@')
            *host_at = i + 1;
    }
    return i;
}

/* Recognises the common authority in one scan: returns its length if it is
 * nothing but a domain that is serialised as it is, otherwise 0. */
static size_t plain_authority_length(struct bytes in)
{
    size_t n = 0;

    while (n < in.len &&
           !(octet_class(in.at[n]) & (OCTET_DOMAIN | OCTET_HIGH | OCTET_UPPER)))
        n++;
    if (n < in.len && !url_is_slash(in.at[n]) && in.at[n] != '?')
        return 0;
    return address_ends_in_number(bytes_of(in.at, n)) ? 0 : n;
}

static void add_plain_host(struct url *u, struct bytes host)
{
    u->host_at = u->text.len;
    u->host_len = host.len;
    u->port = url_default_port(u->https);
    buf_add_bytes(&u->text, host);
    u->path_at = u->text.len;
}

enum url_reason url_add_authority(struct url *u, struct bytes *in)
{
    size_t host_at, n = plain_authority_length(*in);
    struct bytes authority;

    u->userinfo_at = u->text.len;
    if (n > 0) {
        add_plain_host(u, bytes_of(in->at, n));
        *in = bytes_skip(*in, n);
        return URL_OK;
    }
    n = authority_length(*in, &host_at);
    authority = bytes_of(in->at, n);
    *in = bytes_skip(*in, n);
    if (host_at > 0)
        add_userinfo(u, bytes_of(authority.at, host_at - 1));
    return add_host(u, bytes_skip(authority, host_at));
}
