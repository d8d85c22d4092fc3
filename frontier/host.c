/* SPDX-License-Identifier: MIT */
/*
 * host.c - host names: IDNA and registrable domain.
 *
 * Nearly every host on the web is plain ASCII without a Punycode label, for
 * which the URL Standard itself says that domain to ASCII is lower-casing; the
 * rest goes to ICU, whose one handle all threads may use.
 */
#include "frontier/host.h"

#include <libpsl.h>
#include <pthread.h>
#include <string.h>
#include <unicode/uidna.h>

#include "frontier/address.h"
#include "frontier/percent.h"

/* Punycode takes time by the square of its length; the DNS takes 253 octets of
 * it, so that refusing more than this loses no page. */
#define IDNA_CEILING 4096

/* Longer names have no address, so no one asks for what registered them. */
#define HOST_NAME_ROOM 256

static pthread_once_t once = PTHREAD_ONCE_INIT;
static UIDNA *idna;

static void open_idna(void)
{
    UErrorCode e = U_ZERO_ERROR;

    /* CheckBidi, CheckJoiners, not Transitional_Processing; beStrict false
     * leaves out UseSTD3ASCIIRules, CheckHyphens and VerifyDnsLength. */
    idna = uidna_openUTS46(UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ |
                               UIDNA_NONTRANSITIONAL_TO_ASCII |
                               UIDNA_NONTRANSITIONAL_TO_UNICODE,
                           &e);
    if (U_FAILURE(e))
        idna = NULL;
}

/* What ICU reports and the URL Standard does not mind. */
#define PERMITTED                                                              \
    (UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG |                    \
     UIDNA_ERROR_DOMAIN_NAME_TOO_LONG | UIDNA_ERROR_LEADING_HYPHEN |           \
     UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4)

static bool idna_to_ascii(struct bytes domain, struct buf *out)
{
    int32_t room = 255, n = 0;

    pthread_once(&once, open_idna);
    if (idna == NULL || domain.len > IDNA_CEILING)
        return false;
    for (;;) {
        UIDNAInfo info = UIDNA_INFO_INITIALIZER;
        UErrorCode e = U_ZERO_ERROR;
        char *to = buf_room(out, (size_t)room);

        if (to == NULL)
            return false;
        n = uidna_nameToASCII_UTF8(idna, domain.at, (int32_t)domain.len, to,
                                   room, &info, &e);
        if (e == U_BUFFER_OVERFLOW_ERROR && n > room) {
            room = n;
            continue;
        }
        if (U_FAILURE(e) || (info.errors & ~(uint32_t)PERMITTED) != 0)
            return false;
        buf_grew(out, (size_t)n);
        return true;
    }
}

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
