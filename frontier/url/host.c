/* SPDX-License-Identifier: MIT */
/*
 * host.c - host names: domain to ASCII and registrable domain.
 *
 * Nearly every host on the web is ASCII, for which the URL Standard itself
 * says that domain to ASCII is lower-casing; only the rest is IDNA.
 */
#include "frontier/url/host.h"

#include <libpsl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unicode/uidna.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "frontier/url/address.h"
#include "frontier/url/percent.h"
#include "frontier/url/utf8.h"

/*
 * Domain names that are not ASCII.
 *
 * Unicode's UTS #46 by way of ICU, with the parameters that the URL Standard
 * gives it. Any thread: the one handle is opened at the first use.
 *
 * ICU rather than libidn2: of the web platform's 87 tests for domain to ASCII,
 * ICU 72 passes 80 and libidn2 2.3 passes 70. ICU 72 fails on code points whose
 * mapping has changed since Unicode 15.0; they are few, and are mapped here
 * before ICU sees them, so that a host is the same with any installed ICU.
 * What is newer than the installed ICU and maps to nothing older is not
 * allowed: whether a letter is valid, may begin a label, goes from right to
 * left and composes with others would take ICU's tables of a later version. A
 * name in ASCII (xn--...) is not checked, and so reaches such hosts too.
 */

/* Punycode takes quadratic time. The DNS allows 253 octets, so refusing more
 * than this loses no page. */
#define IDNA_CEILING 4096

/* Errors that ICU reports but the URL Standard permits: CheckHyphens and
 * VerifyDnsLength are false. */
#define PERMITTED                                                              \
    (UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG |                    \
     UIDNA_ERROR_DOMAIN_NAME_TOO_LONG | UIDNA_ERROR_LEADING_HYPHEN |           \
     UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4)

/* Code points whose mapping in UTS #46 has changed since Unicode 15.0, or that
 * are newer and map to older ones (to Unicode 18.0); `first` maps to `to`. */
static const struct remap {
    uint32_t first, last, to; /* 0: ignored */
} remaps[] = {
    {0x4c0, 0x4c0, 0x4cf},      /* palochka */
    {0x558, 0x558, 0x567},      /* three Armenian letters */
    {0x58b, 0x58b, 0x56b},      /* the same */
    {0x58c, 0x58c, 0x575},      /* the same */
    {0x10a0, 0x10c5, 0x2d00},   /* Georgian capital letters */
    {0x115f, 0x1160, 0},        /* Hangul fillers */
    {0x17b4, 0x17b5, 0},        /* Khmer inherent vowels */
    {0x180e, 0x180e, 0},        /* Mongolian vowel separator */
    {0x1e9e, 0x1e9e, 0xdf},     /* capital sharp s */
    {0x2061, 0x2063, 0},        /* invisible operators */
    {0x206a, 0x206f, 0},        /* deprecated formatting */
    {0x209d, 0x209d, 'w'},      /* subscript letters */
    {0x209e, 0x209f, 'y'},      /* the same */
    {0x2132, 0x2132, 0x214e},   /* turned capital F */
    {0x2183, 0x2183, 0x2184},   /* reversed one hundred */
    {0x3164, 0x3164, 0},        /* Hangul filler */
    {0xa7cb, 0xa7cb, 0x264},    /* capital rams horn */
    {0xa7dc, 0xa7dc, 0x19b},    /* capital lambda with stroke */
    {0xa7dd, 0xa7dd, 0x277},    /* capital closed omega */
    {0xa7e2, 0xa7e2, 0x27c},    /* capital r with long leg */
    {0xa7f1, 0xa7f1, 's'},      /* modifier capital s */
    {0xffa0, 0xffa0, 0},        /* Hangul filler, half width */
    {0x1ccd6, 0x1ccef, 'a'},    /* outlined letters */
    {0x1ccf0, 0x1ccf9, '0'},    /* outlined digits */
    {0x1d173, 0x1d17a, 0},      /* musical formatting */
    {0x2f868, 0x2f868, 0x36fc}, /* five corrected ideographs */
    {0x2f874, 0x2f874, 0x5f53}, {0x2f91f, 0x2f91f, 0x243ab},
    {0x2f95f, 0x2f95f, 0x7aee}, {0x2f9bf, 0x2f9bf, 0x45d7},
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static UIDNA *idna;

static void open_idna(void)
{
    UErrorCode e = U_ZERO_ERROR;

    /* CheckBidi and CheckJoiners are true, Transitional_Processing and
     * UseSTD3ASCIIRules are false. */
    idna = uidna_openUTS46(UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ |
                               UIDNA_NONTRANSITIONAL_TO_ASCII |
                               UIDNA_NONTRANSITIONAL_TO_UNICODE,
                           &e);
    if (U_FAILURE(e))
        idna = NULL;
}

static void add_remapped(struct buf *out, uint32_t c)
{
    for (size_t i = 0; i < sizeof remaps / sizeof *remaps; i++) {
        const struct remap *r = &remaps[i];

        if (c >= r->first && c <= r->last) {
            if (r->to != 0)
                buf_add_utf8(out, r->to + (c - r->first));
            return;
        }
    }
    buf_add_utf8(out, c);
}

static bool name_to_ascii(struct bytes name, struct buf *out)
{
    int32_t room = 255, n;
    UIDNAInfo info;
    UErrorCode e;
    char *to;

    do {
        info = (UIDNAInfo)UIDNA_INFO_INITIALIZER;
        e = U_ZERO_ERROR;
        to = buf_room(out, (size_t)room);
        if (to == NULL)
            return false;
        n = uidna_nameToASCII_UTF8(idna, name.at, (int32_t)name.len, to, room,
                                   &info, &e);
        if (e == U_BUFFER_OVERFLOW_ERROR)
            room = n;
    } while (e == U_BUFFER_OVERFLOW_ERROR);
    if (U_FAILURE(e) || (info.errors & ~(uint32_t)PERMITTED) != 0)
        return false;
    buf_grew(out, (size_t)n);
    return true;
}

/* Appends the ASCII form of well-formed UTF-8 `domain`. The caller checks for
 * code points that a URL's host may not have. False: not allowed, or longer
 * than any DNS name can be (4 KiB). */
static bool idna_to_ascii(struct bytes domain, struct buf *out)
{
    const char *at = domain.at, *end = domain.at + domain.len;
    struct buf name;
    bool ok;

    pthread_once(&once, open_idna);
    if (idna == NULL || domain.len > IDNA_CEILING)
        return false;
    buf_init(&name, 2 * IDNA_CEILING); /* the mapping shortens */
    while (at < end)
        add_remapped(&name, utf8_next(&at, end));
    ok = name_to_ascii(buf_bytes(&name), out);
    buf_fini(&name);
    return ok;
}

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

const char *host_suffixes(void)
{
    const char *sum = psl_builtin_sha1sum();

    return sum != NULL ? sum : "";
}
