/* SPDX-License-Identifier: MIT */
/* url.c - a URL: parsed, its canonical form, its parts. */
#include "frontier/url/url.h"

#include "base/ascii.h"
#include "base/octet_block.h"
#include "frontier/url/host.h"
#include "frontier/url/url_text.h"

/* ---- user, host and port of a URL, to their serialised form ---- */

/*
 * The URL Standard's host parser (3.5) for special schemes: an IPv6 address in
 * brackets, an IPv4 address in any spelling, or a domain; and the states of its
 * URL parser (4.4) that lead there.
 *
 * The Standard starts again at each @ in the authority; the effect is that
 * everything before the last @ is user name and password.
 */

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

/* Append the serialised host that `in` stands for. On any reason but URL_OK
 * `out` may have got a part of it. */
static enum url_reason url_host_parse(struct buf *out, struct bytes in)
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

/* Append the authority at the front of *in to u, which holds its scheme and two
 * slashes, and note the offsets of its parts; *in loses what was read. */
static enum url_reason url_add_authority(struct url *u, struct bytes *in)
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

/* ---- the URL Standard's basic URL parser, for http and https ---- */

/*
 * The Standard's state machine reads one code point after another. For the two
 * schemes we accept, its states follow each other in a fixed order, and each
 * ends at an octet that can be searched for. So this parser cuts the text into
 * scheme, authority, path and query and treats each part as a run of octets:
 * the common URL takes a few table scans and copies. Each function names the
 * states that it implements (section 4.4). Opaque paths, empty hosts and drive
 * letters of file URLs are left out, since no http or https URL can have them.
 *
 * The serialised URL is built directly; its path is always `/` and a segment,
 * repeated, so to "shorten a path" means to cut it at the last slash.
 */

/* ---- query ------------------------------------------------------------ */

/* "Percent-encode after encoding". Every encoding that a page may have keeps
 * ASCII, so only queries with other octets need conversion. */
static void add_query_encoded(struct url *u, struct bytes query,
                              const struct url_encoder *encoder)
{
    struct buf clean, octets;

    buf_init(&clean, 3 * URL_LENGTH_CEILING);
    buf_init(&octets, 16 * URL_LENGTH_CEILING);
    utf8_add_clean(&clean, query);
    encoder->encode(encoder->ctx, buf_bytes(&clean), &octets);
    if (buf_failed(&clean) != STATUS_OK || buf_failed(&octets) != STATUS_OK)
        u->text.failed = true;
    percent_encode(&u->text, buf_bytes(&octets), OCTET_QUERY);
    buf_fini(&octets);
    buf_fini(&clean);
}

/* Query state. `in` is empty or begins with the question mark. */
static void add_query(struct url *u, struct bytes in,
                      const struct url_encoder *encoder)
{
    unsigned classes;

    u->query_at = u->text.len;
    if (in.len == 0)
        return;
    classes = octet_classes_of(in);
    if (!(classes & OCTET_QUERY))
        buf_add_bytes(&u->text, in);
    else if (encoder != NULL && classes & OCTET_HIGH)
        add_query_encoded(u, in, encoder);
    else
        percent_encode(&u->text, in, OCTET_QUERY);
}

/* ---- path ------------------------------------------------------------- */

/* Takes a dot, or %2e, off the front of `in`. */
static bool take_dot(struct bytes *in)
{
    size_t n = 0;

    if (in->len >= 1 && in->at[0] == '.')
        n = 1;
    else if (in->len >= 3 && in->at[0] == '%' && in->at[1] == '2' &&
             (in->at[2] | 0x20) == 'e')
        n = 3;
    *in = bytes_skip(*in, n);
    return n > 0;
}

/* The number of dots if the segment is "." or "..", else 0. */
static int segment_dots(struct bytes segment)
{
    int dots = 0;

    while (dots < 3 && take_dot(&segment))
        dots++;
    return segment.len == 0 && dots < 3 ? dots : 0;
}

static void shorten_path(struct url *u)
{
    struct bytes path =
        bytes_of(buf_str(&u->text) + u->path_at, u->text.len - u->path_at);
    const char *slash = memrchr(path.at, '/', path.len);

    if (slash != NULL)
        buf_truncate(&u->text, u->path_at + (size_t)(slash - path.at));
}

/* True if nothing in the path needs changing and no segment begins with a
 * dot. */
static bool path_is_plain(struct bytes in)
{
    unsigned classes = 0, dots = 0;
    char before = '/';

    for (size_t i = 0; i < in.len; i++) {
        classes |= octet_class(in.at[i]);
        dots |= before == '/' && in.at[i] == '.';
        before = in.at[i];
    }
    return !(classes & (OCTET_PATH | OCTET_MARK)) && dots == 0;
}

/* The same for most paths, 16 octets at a time: true if they have only letters,
 * digits and slashes, and - . _ where these need no care. */
static bool path_is_simple(struct bytes in)
{
    unsigned before = 1; /* a slash */

    for (size_t i = 0; i < in.len; i += 16) {
        const char *at = in.at + i;
        unsigned n = in.len - i < 16 ? (unsigned)(in.len - i) : 16;
        const struct octet_bits b = octet_bits(at, n);
        unsigned slashes = octet_equal(at, n, '/');
        unsigned dots = octet_equal(at, n, '.');
        unsigned simple = (unsigned)(b.digits | b.letters) | slashes | dots |
                          octet_equal(at, n, '-') | octet_equal(at, n, '_');

        if (simple != octet_below(n) || (dots & (slashes << 1 | before)) != 0)
            return false;
        before = slashes >> 15;
    }
    return true;
}

static size_t segment_length(struct bytes in)
{
    size_t n = 0;

    while (n < in.len && !url_is_slash(in.at[n]))
        n++;
    return n;
}

/* Path state. `in` begins after the first slash of the path and has no query.
 * If u has part of a path already, this continues it. */
static void add_path(struct url *u, struct bytes in)
{
    bool more;

    if (path_is_simple(in) || path_is_plain(in)) {
        char *to = buf_room(&u->text, in.len + 1);

        if (to == NULL)
            return;
        *to = '/';
        if (in.len > 0)
            memcpy(to + 1, in.at, in.len);
        buf_grew(&u->text, in.len + 1);
        return;
    }
    do {
        struct bytes segment = bytes_of(in.at, segment_length(in));
        int dots = segment_dots(segment);

        more = segment.len < in.len;
        in = bytes_skip(in, segment.len + (more ? 1 : 0));
        if (dots == 2)
            shorten_path(u);
        if (dots == 0 || !more)
            buf_add_char(&u->text, '/');
        if (dots == 0)
            percent_encode(&u->text, segment, OCTET_PATH);
    } while (more);
}

static enum url_reason add_path_and_query(struct url *u, struct bytes in,
                                          const struct url_encoder *encoder)
{
    size_t mark = url_find(in, '?');

    add_path(u, bytes_of(in.at, mark));
    add_query(u, bytes_skip(in, mark), encoder);
    return URL_OK;
}

/* Special authority ignore slashes state and what follows it. */
static enum url_reason parse_authority(struct url *u, bool https,
                                       struct bytes in,
                                       const struct url_encoder *encoder)
{
    enum url_reason reason;

    while (in.len > 0 && url_is_slash(in.at[0]))
        in = bytes_skip(in, 1);
    u->https = https;
    if (https)
        buf_add(&u->text, "https://", 8);
    else
        buf_add(&u->text, "http://", 7);
    reason = url_add_authority(u, &in);
    if (reason != URL_OK)
        return reason;
    if (in.len > 0 && url_is_slash(in.at[0])) /* path start state */
        in = bytes_skip(in, 1);
    return add_path_and_query(u, in, encoder);
}

/* ---- relative --------------------------------------------------------- */

/* Copies the first `n` octets of the base's text, which reach its path at
 * least. */
static void copy_base(struct url *u, const struct url *base, size_t n)
{
    u->https = base->https;
    u->port = base->port;
    u->userinfo_at = base->userinfo_at;
    u->host_at = base->host_at;
    u->host_len = base->host_len;
    u->path_at = base->path_at;
    u->query_at = base->query_at;
    buf_add(&u->text, base->text.at, n);
}

/* Relative state and relative slash state. */
static enum url_reason parse_relative(struct url *u, struct bytes in,
                                      const struct url *base,
                                      const struct url_encoder *encoder)
{
    if (in.len > 1 && url_is_slash(in.at[0]) && url_is_slash(in.at[1]))
        return parse_authority(u, base->https, in, encoder);
    if (in.len == 0) {
        copy_base(u, base, base->text.len);
        return URL_OK;
    }
    if (in.at[0] == '?') {
        copy_base(u, base, base->query_at);
        add_query(u, in, encoder);
        return URL_OK;
    }
    if (url_is_slash(in.at[0])) {
        copy_base(u, base, base->path_at);
        return add_path_and_query(u, bytes_skip(in, 1), encoder);
    }
    copy_base(u, base, base->query_at);
    shorten_path(u);
    return add_path_and_query(u, in, encoder);
}

/* ---- scheme ----------------------------------------------------------- */

/* Scheme start state and scheme state: the length of the scheme before a colon,
 * or 0 if `in` has none. */
static size_t scheme_length(struct bytes in)
{
    size_t i;

    for (i = 0; i < in.len && in.at[i] != ':'; i++) {
        char c = in.at[i];
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        bool later = ascii_is_digit(c) || c == '+' || c == '-' || c == '.';

        if (!letter && (i == 0 || !later))
            return 0;
    }
    return i < in.len ? i : 0;
}

static enum url_reason parse_clean(struct url *u, struct bytes in,
                                   const struct url *base,
                                   const struct url_encoder *encoder)
{
    struct bytes scheme = bytes_of(in.at, scheme_length(in));
    bool https;

    if (scheme.len == 0) {
        if (base == NULL)
            return in.len == 0 ? URL_EMPTY : URL_RELATIVE;
        return parse_relative(u, in, base, encoder);
    }
    https = bytes_equal_nocase(scheme, bytes_of_str("https"));
    if (!https && !bytes_equal_nocase(scheme, bytes_of_str("http")))
        return URL_SCHEME;
    in = bytes_skip(in, scheme.len + 1);
    if (base != NULL && base->https == https)
        return parse_relative(u, in, base, encoder);
    return parse_authority(u, https, in, encoder);
}

/* ---- the whole -------------------------------------------------------- */

static struct bytes trim_c0_and_space(struct bytes in)
{
    while (in.len > 0 && (unsigned char)in.at[0] <= ' ')
        in = bytes_skip(in, 1);
    while (in.len > 0 && (unsigned char)in.at[in.len - 1] <= ' ')
        in.len--;
    return in;
}

static bool is_tab_or_newline(char c)
{
    return c == '\t' || c == '\n' || c == '\r';
}

/* Most URLs have no octet below space. Eight octets are tested at once:
 * subtracting 0x20 from each borrows into the top bit of one that is less,
 * unless that bit was set before. */
static bool has_control(struct bytes in)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t word, found = 0;
    size_t i = 0;

    for (; in.len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, in.at + i, sizeof word);
        found |= (word - ones * ' ') & ~word & tops;
    }
    for (; i < in.len; i++)
        found |= (unsigned char)in.at[i] < ' ';
    return found != 0;
}

static enum url_reason parse_with_newlines(struct url *u, struct bytes in,
                                           const struct url *base,
                                           const struct url_encoder *encoder)
{
    struct buf clean;
    enum url_reason reason = URL_LENGTH;

    buf_init(&clean, in.len);
    for (size_t i = 0; i < in.len; i++)
        if (!is_tab_or_newline(in.at[i]))
            buf_add_char(&clean, in.at[i]);
    if (buf_failed(&clean) == STATUS_OK)
        reason = parse_clean(u, buf_bytes(&clean), base, encoder);
    buf_fini(&clean);
    return reason;
}

enum url_reason url_parse(struct url *out, struct bytes in,
                          const struct url *base,
                          const struct url_encoder *query_encoder)
{
    enum url_reason reason;

    buf_clear(&out->text);
    in = in.len > 0 ? trim_c0_and_space(in) : bytes_of_str("");
    in.len = url_find(in, '#');
    if (has_control(in)) /* perhaps a tab or newline */
        reason = parse_with_newlines(out, in, base, query_encoder);
    else
        reason = parse_clean(out, in, base, query_encoder);
    return buf_failed(&out->text) == STATUS_OK ? reason : URL_LENGTH;
}

/* ---- one spelling for the URLs that are surely one resource ---- */

/*
 * RFC 3986, 6.2.2 and 6.2.3 allow all of this; whatever a server may treat as
 * different (case, empty segments, parameter order) is left alone. Applying it
 * twice changes nothing, because each step leaves nothing for an earlier one to
 * do: decoding looks again at what it wrote, dot segments are removed after
 * decoding, and the host is parsed again after its trailing dots are removed.
 */

/* Replaces `len` octets at `at` by `with`, and moves what follows. The caller
 * adjusts offsets after `at`. False: over the ceiling. */
static bool replace(struct url *u, size_t at, size_t len, struct bytes with)
{
    struct buf *text = &u->text;
    size_t tail = text->len - at - len;

    if (with.len > len && text->len - len > text->ceiling - with.len)
        return false;
    if (with.len > len && buf_room(text, with.len - len) == NULL)
        return false;
    memmove(text->at + at + with.len, text->at + at + len, tail);
    if (with.len > 0)
        memcpy(text->at + at, with.at, with.len);
    text->len = at + with.len + tail;
    text->at[text->len] = '\0';
    return true;
}

/* C2. */
static void drop_userinfo(struct url *u)
{
    size_t n = u->host_at - u->userinfo_at;

    if (n == 0)
        return;
    replace(u, u->userinfo_at, n, bytes_of_str(""));
    u->host_at -= n;
    u->path_at -= n;
    u->query_at -= n;
}

/* C4. The rest may now be an IPv4 address ("0x7f.1.." was not), or not parse at
 * all ("foo.0x4.."), so it goes through the host parser. */
static void drop_trailing_dots(struct url *u)
{
    struct bytes host = url_host(u);
    struct buf parsed;
    size_t old = host.len;

    if (host.at[host.len - 1] != '.')
        return;
    while (host.len > 0 && host.at[host.len - 1] == '.')
        host.len--;
    buf_init(&parsed, URL_LENGTH_CEILING);
    if (url_host_parse(&parsed, host) == URL_OK &&
        replace(u, u->host_at, old, buf_bytes(&parsed))) {
        u->host_len = parsed.len;
        u->path_at = u->path_at - old + parsed.len;
        u->query_at = u->query_at - old + parsed.len;
    }
    buf_fini(&parsed);
}

/* Applies C3 to an escape that ends at `end`, and returns the new end. A
 * decoded digit may complete another escape, so it looks again. */
static size_t settle_escape(char *at, size_t from, size_t end)
{
    while (end - from >= 3 && at[end - 3] == '%') {
        int high = ascii_hex(at[end - 2]), low = ascii_hex(at[end - 1]);
        char octet;

        if (high < 0 || low < 0)
            break;
        octet = (char)(high << 4 | low);
        if (!(octet_class(octet) & OCTET_UNRESERVED)) {
            at[end - 2] = "0123456789ABCDEF"[high];
            at[end - 1] = "0123456789ABCDEF"[low];
            break;
        }
        end -= 2;
        at[end - 1] = octet;
    }
    return end;
}

/* C3, over [from, to) in place; returns the new end. */
static size_t settle_escapes(char *at, size_t from, size_t to)
{
    const char *first = memchr(at + from, '%', to - from);
    size_t end;

    if (first == NULL)
        return to;
    end = (size_t)(first - at);
    for (size_t i = end; i < to; i++) {
        at[end++] = at[i];
        end = settle_escape(at, from, end);
    }
    return end;
}

/* C6, on a path that holds no escaped dots any more; returns the new end. */
static size_t remove_dots(char *at, size_t from, size_t to)
{
    size_t end = from, i = from;

    while (i < to) { /* at a slash */
        size_t next = i + 1, n;
        bool last;

        while (next < to && at[next] != '/')
            next++;
        n = next - i - 1;
        last = next == to;
        if (n == 1 && at[i + 1] == '.') {
            if (last)
                at[end++] = '/';
        } else if (n == 2 && at[i + 1] == '.' && at[i + 2] == '.') {
            while (end > from && at[--end] != '/')
                ;
            if (last)
                at[end++] = '/';
        } else {
            memmove(at + end, at + i, n + 1);
            end += n + 1;
        }
        i = next;
    }
    return end;
}

/* C3, C5 and C6. */
static void settle_path_and_query(struct url *u)
{
    char *at = u->text.at;
    size_t query_at = u->query_at, query_len = u->text.len - query_at;
    size_t end = settle_escapes(at, u->path_at, query_at);

    if (end < query_at)
        end = remove_dots(at, u->path_at, end);
    memmove(at + end, at + query_at, query_len);
    u->query_at = end;
    end = settle_escapes(at, end, end + query_len);
    if (end == u->query_at + 1)
        end = u->query_at;
    buf_truncate(&u->text, end);
}

void url_canonicalise(struct url *u)
{
    drop_userinfo(u);
    drop_trailing_dots(u);
    settle_path_and_query(u);
}

enum url_reason url_canonical(struct url *out, struct bytes in,
                              const struct url *base,
                              const struct url_encoder *query_encoder)
{
    enum url_reason reason = url_parse(out, in, base, query_encoder);

    if (reason == URL_OK)
        url_canonicalise(out);
    return reason;
}

/* ---- parse and canonicalise http and https URLs ---- */

const char *url_reason_text(enum url_reason r)
{
    static const char *const texts[URL_REASON_COUNT_] = {
        [URL_OK] = "ok",
        [URL_EMPTY] = "empty",
        [URL_SCHEME] = "scheme",
        [URL_RELATIVE] = "relative",
        [URL_HOST] = "host",
        [URL_HOST_IPV4] = "host_ipv4",
        [URL_HOST_IPV6] = "host_ipv6",
        [URL_HOST_IDNA] = "host_idna",
        [URL_PORT] = "port",
        [URL_LENGTH] = "length",
    };

    return (unsigned)r < URL_REASON_COUNT_ ? texts[r] : "unknown";
}

void url_init(struct url *u)
{
    *u = (struct url){.port = 80};
    buf_init(&u->text, URL_LENGTH_CEILING);
}

void url_fini(struct url *u)
{
    buf_fini(&u->text);
    url_init(u);
}

struct bytes url_text(const struct url *u)
{
    return buf_bytes(&u->text);
}

struct bytes url_host(const struct url *u)
{
    return bytes_of(u->text.at + u->host_at, u->host_len);
}

struct bytes url_origin(const struct url *u)
{
    return bytes_of(u->text.at, u->path_at);
}

struct bytes url_path_query(const struct url *u)
{
    return bytes_of(u->text.at + u->path_at, u->text.len - u->path_at);
}

struct bytes url_path(const struct url *u)
{
    return bytes_of(u->text.at + u->path_at, u->query_at - u->path_at);
}

size_t url_origin_length(struct bytes canonical)
{
    size_t at = 0;

    if (bytes_starts_with(canonical, "http://"))
        at = 7;
    else if (bytes_starts_with(canonical, "https://"))
        at = 8;
    else
        return 0;
    for (size_t i = at; i < canonical.len; i++)
        if (canonical.at[i] == '/')
            return i > at ? i : 0;
    return 0;
}

struct bytes url_canonical_host(struct bytes canonical)
{
    struct bytes host = bytes_of("", 0);
    const char *slash;

    if (bytes_starts_with(canonical, "http://"))
        host = bytes_skip(canonical, 7);
    else if (bytes_starts_with(canonical, "https://"))
        host = bytes_skip(canonical, 8);
    slash = host.len > 0 ? memchr(host.at, '/', host.len) : NULL;
    if (slash != NULL)
        host.len = (size_t)(slash - host.at);
    for (size_t i = host.len; i > 0 && host.at[i - 1] != ']'; i--)
        if (host.at[i - 1] == ':')
            host.len = i - 1;
    return host;
}

static bool on_default_port(const struct url *u)
{
    return u->port == (u->https ? 443 : 80);
}

bool url_same_site(const struct url *a, const struct url *b)
{
    bool usual = on_default_port(a);

    return bytes_equal(url_host(a), url_host(b)) &&
           usual == on_default_port(b) && (usual || a->port == b->port);
}
