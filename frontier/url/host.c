/* SPDX-License-Identifier: MIT */
/*
 * host.c - host names: domain to ASCII and registrable domain.
 *
 * Nearly every host on the web is ASCII, for which the URL Standard itself
 * says that domain to ASCII is lower-casing; only the rest is IDNA.
 */
#include "frontier/url/host.h"

#include <libpsl.h>
#include <string.h>

#include "frontier/url/address.h"
#include "frontier/url/idna.h"
#include "frontier/url/percent.h"

/* Longer names have no address, so their registrable domain does not matter. */
#define HOST_NAME_ROOM 256

static void add_lower(struct buf *out, struct bytes in)
{
    char *to = buf_room(out, in.len);

    if (to == NULL)
        return;
    for (size_t i = 0; i < in.len; i++)
        to[i] = octet_class(in.at[i]) & OCTET_UPPER ? (char)(in.at[i] | 0x20)
                                                    : in.at[i];
    buf_grew(out, in.len);
}

bool host_to_ascii(struct bytes domain, struct buf *out)
{
    size_t from = out->len;
    unsigned classes = octet_classes_of(domain);

    if (!(classes & OCTET_HIGH))
        add_lower(out, domain);
    else if (!idna_to_ascii(domain, out))
        return false;
    else
        classes =
            octet_classes_of(bytes_of(buf_str(out) + from, out->len - from));
    return out->len > from && !(classes & OCTET_DOMAIN);
}

bool host_is_address(struct bytes host)
{
    return host.len > 0 && (host.at[0] == '[' || address_ends_in_number(host));
}

struct bytes host_registrable(struct bytes host)
{
    char name[HOST_NAME_ROOM];
    const char *at;

    if (host.len >= sizeof name || host_is_address(host))
        return host;
    memcpy(name, host.at, host.len);
    name[host.len] = '\0';
    at = psl_registrable_domain(psl_builtin(), name);
    if (at == NULL)
        return host;
    return bytes_of(host.at + (at - name), host.len - (size_t)(at - name));
}
