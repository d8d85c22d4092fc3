/* SPDX-License-Identifier: MIT */
/*
 * url_parse.c - the URL Standard's basic URL parser, for http and https.
 *
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
#include "base/ascii.h"
#include "base/octet_block.h"
#include "frontier/url/percent.h"
#include "frontier/url/url.h"
#include "frontier/url/url_authority.h"
#include "frontier/url/url_text.h"
#include "frontier/url/utf8.h"

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
