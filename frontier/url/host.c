/* SPDX-License-Identifier: MIT */
/*
 * host.c - host names: domain to ASCII and registrable domain.
 *
 * Nearly every host on the web is ASCII, for which the URL Standard itself
 * says that domain to ASCII is lower-casing; only the rest is IDNA.
 */
#include <libpsl.h>
#include <pthread.h>
#include <string.h>
#include <unicode/uidna.h>
#include <xxhash.h>

#include "base/ascii.h"
#include "frontier/url/host.h"
#include "frontier/url/url_text.h"

/* ---- IP addresses in the spellings the URL Standard knows ---- */

/*
 * inet_aton() and inet_pton() come close but differ where it matters: the first
 * takes trailing white space and no number over 32 bits, and the second is
 * stricter about dotted tails in some libraries than in others.
 */

/* Parses one part of an IPv4 address; false if it is not a number. A number
 * that does not fit becomes UINT32_MAX + 1, which every caller refuses. */
static bool parse_number(struct bytes in, uint64_t *out)
{
    unsigned radix = 10;
    uint64_t n = 0;

    if (in.len == 0)
        return false;
    if (in.len > 1 && in.at[0] == '0') {
        radix = (in.at[1] | 0x20) == 'x' ? 16 : 8;
        in = bytes_of(in.at + (radix == 16 ? 2 : 1),
                      in.len - (radix == 16 ? 2 : 1));
    }
    for (size_t i = 0; i < in.len; i++) {
        int digit = ascii_hex(in.at[i]);

        if (digit < 0 || (unsigned)digit >= radix)
            return false;
        n = n * radix + (unsigned)digit;
        if (n > UINT32_MAX)
            n = (uint64_t)UINT32_MAX + 1;
    }
    *out = n;
    return true;
}

static bool all_digits(struct bytes in)
{
    for (size_t i = 0; i < in.len; i++)
        if (in.at[i] < '0' || in.at[i] > '9')
            return false;
    return in.len > 0;
}

/* Cuts the text after the last dot off `in`; false if there is no dot, and all
 * of it is the label. */
static bool cut_last_label(struct bytes *in, struct bytes *label)
{
    const char *dot = memrchr(in->at, '.', in->len);
    size_t from = dot == NULL ? 0 : (size_t)(dot - in->at) + 1;

    *label = bytes_of(in->at + from, in->len - from);
    in->len = dot == NULL ? 0 : from - 1;
    return dot != NULL;
}

bool address_ends_in_number(struct bytes domain)
{
    struct bytes last;
    uint64_t n;
    char c = domain.len > 0 ? domain.at[domain.len - 1] : '\0';

    if (c != '.' && c != 'x' && c != 'X' && ascii_hex(c) < 0)
        return false; /* true of nearly every name: skip the rest */
    if (cut_last_label(&domain, &last) && last.len == 0)
        cut_last_label(&domain, &last);
    if (last.len == 0 || last.at[0] < '0' || last.at[0] > '9')
        return false;
    return all_digits(last) || parse_number(last, &n);
}

bool address_parse_ipv4(struct bytes in, uint32_t *out)
{
    uint64_t parts[4], all = 0;
    size_t n = 0;
    struct bytes label;
    bool more;

    if (in.len > 1 && in.at[in.len - 1] == '.')
        in.len--;
    do { /* from the right, so parts[0] is the last */
        if (n == 4)
            return false;
        more = cut_last_label(&in, &label);
        if (!parse_number(label, &parts[n]))
            return false;
        n++;
    } while (more);
    if (parts[0] >= (uint64_t)1 << (8 * (5 - n)))
        return false;
    for (size_t i = n - 1; i > 0; i--) {
        if (parts[i] > 255)
            return false;
        all = all << 8 | parts[i];
    }
    *out = (uint32_t)(all << (8 * (5 - n)) | parts[0]);
    return true;
}

/* The dotted tail of an IPv6 address: four decimal numbers, no leading zeros,
 * which fill two pieces. */
static bool parse_dotted_tail(struct bytes in, uint16_t out[2])
{
    size_t i = 0;

    for (int part = 0; part < 4; part++) {
        unsigned n = 0;
        size_t from;

        if (part > 0 && (i == in.len || in.at[i++] != '.'))
            return false;
        from = i;
        for (; i < in.len && ascii_is_digit(in.at[i]); i++) {
            if (i > from && n == 0)
                return false;
            n = n * 10 + (unsigned)(in.at[i] - '0');
            if (n > 255)
                return false;
        }
        if (i == from)
            return false;
        out[part / 2] = (uint16_t)(part % 2 == 0 ? n << 8 : out[part / 2] | n);
    }
    return i == in.len;
}

/* One to four hexadecimal digits from *i on. */
static bool parse_piece(struct bytes in, size_t *i, uint16_t *out)
{
    size_t from = *i;
    unsigned n = 0;

    for (; *i < in.len && *i - from < 4; (*i)++) {
        int digit = ascii_hex(in.at[*i]);

        if (digit < 0)
            break;
        n = n << 4 | (unsigned)digit;
    }
    *out = (uint16_t)n;
    return *i > from;
}

/* Parses pieces up to the end of `in` and notes the gap of `::` in *gap.
 * Returns their number, or -1 if there are more than eight or the text is not
 * valid. */
static int parse_pieces(struct bytes in, uint16_t out[8], int *gap)
{
    size_t i = 0;
    int n = 0;

    *gap = -1;
    if (in.len >= 2 && in.at[0] == ':' && in.at[1] == ':') {
        *gap = 0;
        i = 2;
    }
    while (i < in.len) {
        size_t from = i;

        if (n == 8 || !parse_piece(in, &i, &out[n]))
            return -1;
        if (i < in.len && in.at[i] == '.') {
            if (n > 6 ||
                !parse_dotted_tail(bytes_of(in.at + from, in.len - from),
                                   &out[n]))
                return -1;
            return n + 2;
        }
        n++;
        if (i == in.len)
            break;
        if (in.at[i++] != ':' || i == in.len)
            return -1;
        if (in.at[i] == ':') {
            if (*gap >= 0)
                return -1;
            *gap = n;
            i++;
        }
    }
    return n;
}

bool address_parse_ipv6(struct bytes in, uint16_t out[8])
{
    int gap, n = parse_pieces(in, out, &gap);

    if (gap < 0)
        return n == 8;
    if (n < 0 || n > 7) /* the gap replaces one piece at least */
        return false;
    memmove(out + gap + 8 - n, out + gap, (size_t)(n - gap) * sizeof *out);
    memset(out + gap, 0, (size_t)(8 - n) * sizeof *out);
    return true;
}

void address_add_ipv4(struct buf *out, uint32_t address)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        buf_add_uint(out, address >> shift & 255);
        if (shift > 0)
            buf_add_char(out, '.');
    }
}

/* The first longest run of two or more zero pieces; its length is 0 if there is
 * none. */
static int longest_zeros(const uint16_t address[8], int *length)
{
    int best = 0;

    *length = 0;
    for (int i = 0; i < 8; i++) {
        int run = 0;

        while (i + run < 8 && address[i + run] == 0)
            run++;
        if (run > *length && run > 1) {
            best = i;
            *length = run;
        }
        i += run;
    }
    return best;
}

void address_add_ipv6(struct buf *out, const uint16_t address[8])
{
    int zeros, from = longest_zeros(address, &zeros);

    buf_add_char(out, '[');
    for (int i = 0; i < 8; i++) {
        if (zeros > 0 && i == from) {
            buf_add_str(out, "::");
            i += zeros - 1;
            continue;
        }
        if (i > 0 && !(zeros > 0 && i == from + zeros))
            buf_add_char(out, ':');
        buf_addf(out, "%x", (unsigned)address[i]);
    }
    buf_add_char(out, ']');
}

/* ---- an IP address as a value: read, compared, written ---- */

static const unsigned char mapped[12] = {0, 0, 0, 0, 0,    0,
                                         0, 0, 0, 0, 0xff, 0xff};

static bool is_v4(const struct ip *ip)
{
    return memcmp(ip->at, mapped, sizeof mapped) == 0;
}

bool ip_of_octets(struct ip *out, const void *octets, size_t len)
{
    if (len != 4 && len != 16)
        return false;
    memcpy(out->at, mapped, sizeof mapped);
    memcpy(out->at + 16 - len, octets, len);
    return true;
}

bool ip_parse(struct ip *out, struct bytes text)
{
    uint16_t pieces[8];
    uint32_t v4;

    if (text.len == 0)
        return false;
    if (text.len > 2 && text.at[0] == '[' && text.at[text.len - 1] == ']')
        text = bytes_of(text.at + 1, text.len - 2);
    if (address_parse_ipv4(text, &v4)) {
        const unsigned char octets[4] = {(unsigned char)(v4 >> 24),
                                         (unsigned char)(v4 >> 16),
                                         (unsigned char)(v4 >> 8),
                                         (unsigned char)v4};

        return ip_of_octets(out, octets, sizeof octets);
    }
    if (!address_parse_ipv6(text, pieces))
        return false;
    for (size_t i = 0; i < 8; i++) {
        out->at[2 * i] = (unsigned char)(pieces[i] >> 8);
        out->at[2 * i + 1] = (unsigned char)pieces[i];
    }
    return true;
}

bool ip_equal(const struct ip *a, const struct ip *b)
{
    return memcmp(a->at, b->at, sizeof a->at) == 0;
}

bool ip_before(const struct ip *a, const struct ip *b)
{
    if (is_v4(a) != is_v4(b))
        return is_v4(a);
    return memcmp(a->at, b->at, sizeof a->at) < 0;
}

void ip_add(struct buf *out, const struct ip *ip)
{
    uint16_t pieces[8];

    if (is_v4(ip)) {
        const unsigned char *o = ip->at + 12;

        address_add_ipv4(out, (uint32_t)o[0] << 24 | (uint32_t)o[1] << 16 |
                                  (uint32_t)o[2] << 8 | o[3]);
        return;
    }
    for (size_t i = 0; i < 8; i++)
        pieces[i] = (uint16_t)(ip->at[2 * i] << 8 | ip->at[2 * i + 1]);
    address_add_ipv6(out, pieces);
}

/* ---- host names: IDNA, registrable domain, queue key ---- */

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

/* ---- which shard of a crawl on many machines a URL belongs to ---- */

uint32_t shard_of_host(struct bytes host, uint32_t count)
{
    struct bytes domain = host_registrable(host);

    return count < 2 ? 0
                     : (uint32_t)(XXH3_64bits(domain.at, domain.len) % count);
}
