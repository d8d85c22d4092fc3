/* SPDX-License-Identifier: MIT */
/*
 * url.c - the URL Standard's basic URL parser, for http and https.
 *
 * The Standard's state machine reads one code point after another. For the two
 * schemes taken here its states follow each other in a fixed order and each
 * ends at an octet that can be looked for: so this parser cuts the text into
 * scheme, authority, path and query and treats each part as a run of octets,
 * which makes the common URL a few table scans and copies. Each function names
 * the states that it stands for (section 4.4). What is not here: opaque paths,
 * hosts that may be empty, drive letters of file URLs; no result can have them.
 *
 * The serialised URL is built directly; the path in it is always `/` and a
 * segment, repeated, so that "shorten a path" is a cut at its last slash.
 */
#include "frontier/url.h"

#include "frontier/percent.h"
#include "frontier/url_host.h"
#include "frontier/utf8.h"

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

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* `in` without its first `n` octets. */
static struct bytes skip(struct bytes in, size_t n)
{
    return bytes_of(in.at + n, in.len - n);
}

static size_t find(struct bytes in, char c)
{
    const char *at = memchr(in.at, c, in.len);

    return at == NULL ? in.len : (size_t)(at - in.at);
}

static uint16_t default_port(bool https)
{
    return https ? 443 : 80;
}

/* ---- query ----------------------------------------------------------------
 */

/* "Percent-encode after encoding". Every encoding a page may be in leaves
 * ASCII as it is, so that only other queries pay for the conversion. */
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
    percent_encode_octets(&u->text, buf_bytes(&octets), OCTET_QUERY);
    buf_fini(&octets);
    buf_fini(&clean);
}

/* Query state. `in` is empty or begins with the question mark. */
static void add_query(struct url *u, struct bytes in,
                      const struct url_encoder *encoder)
{
    unsigned classes = octet_classes_of(in);

    u->query_at = u->text.len;
    if (!(classes & OCTET_QUERY))
        buf_add_bytes(&u->text, in);
    else if (encoder != NULL && classes & OCTET_HIGH)
        add_query_encoded(u, in, encoder);
    else
        percent_encode(&u->text, in, OCTET_QUERY);
}

/* ---- path -----------------------------------------------------------------
 */

/* Takes a dot, or %2e, off the front of `in`. */
static bool take_dot(struct bytes *in)
{
    size_t n = 0;

    if (in->len >= 1 && in->at[0] == '.')
        n = 1;
    else if (in->len >= 3 && in->at[0] == '%' && in->at[1] == '2' &&
             (in->at[2] | 0x20) == 'e')
        n = 3;
    *in = skip(*in, n);
    return n > 0;
}

/* How many dots the segment consists of, 0 where it is not "." or "..". */
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

/* Nothing in it to change, and no segment that begins with a dot. */
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

static size_t segment_length(struct bytes in)
{
    size_t n = 0;

    while (n < in.len && !is_slash(in.at[n]))
        n++;
    return n;
}

/* Path state. `in` stands behind the slash that begins the path and holds no
 * query; what u holds of a path already is gone on with. */
static void add_path(struct url *u, struct bytes in)
{
    bool more;

    if (path_is_plain(in)) {
        buf_add_char(&u->text, '/');
        buf_add_bytes(&u->text, in);
        return;
    }
    do {
        struct bytes segment = bytes_of(in.at, segment_length(in));
        int dots = segment_dots(segment);

        more = segment.len < in.len;
        in = skip(in, segment.len + (more ? 1 : 0));
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
    size_t mark = find(in, '?');

    add_path(u, bytes_of(in.at, mark));
    add_query(u, skip(in, mark), encoder);
    return URL_OK;
}

/* ---- authority ------------------------------------------------------------
 */

/* User name and password, as they stand before the last @. */
static void add_userinfo(struct url *u, struct bytes in)
{
    size_t colon = find(in, ':');
    struct bytes password = skip(in, colon < in.len ? colon + 1 : colon);

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

    u->port = default_port(u->https);
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
    if (port != default_port(u->https)) {
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
    reason = add_port(u, skip(in, n < in.len ? n + 1 : n));
    u->path_at = u->text.len;
    return reason;
}

/* Where the authority ends; *at_sign: behind its last @, else 0. */
static size_t authority_length(struct bytes in, size_t *host_at)
{
    size_t i;

    *host_at = 0;
    for (i = 0; i < in.len; i++) {
        if (is_slash(in.at[i]) || in.at[i] == '?')
            break;
        if (in.at[i] == '@')
            *host_at = i + 1;
    }
    return i;
}

/* Special authority ignore slashes state and what follows it. */
static enum url_reason parse_authority(struct url *u, bool https,
                                       struct bytes in,
                                       const struct url_encoder *encoder)
{
    size_t n, host_at;
    enum url_reason reason;

    while (in.len > 0 && is_slash(in.at[0]))
        in = skip(in, 1);
    n = authority_length(in, &host_at);
    u->https = https;
    buf_add_str(&u->text, https ? "https://" : "http://");
    u->userinfo_at = u->text.len;
    if (host_at > 0)
        add_userinfo(u, bytes_of(in.at, host_at - 1));
    reason = add_host(u, bytes_of(in.at + host_at, n - host_at));
    if (reason != URL_OK)
        return reason;
    in = skip(in, n);
    if (in.len > 0 && is_slash(in.at[0])) /* path start state */
        in = skip(in, 1);
    return add_path_and_query(u, in, encoder);
}

/* ---- relative -------------------------------------------------------------
 */

/* The first `n` octets of the base's text, which reach its path at least. */
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
    if (in.len > 1 && is_slash(in.at[0]) && is_slash(in.at[1]))
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
    if (is_slash(in.at[0])) {
        copy_base(u, base, base->path_at);
        return add_path_and_query(u, skip(in, 1), encoder);
    }
    copy_base(u, base, base->query_at);
    shorten_path(u);
    return add_path_and_query(u, in, encoder);
}

/* ---- scheme ---------------------------------------------------------------
 */

/* Scheme start state and scheme state: how long the scheme before a colon is,
 * or 0 where `in` has none. */
static size_t scheme_length(struct bytes in)
{
    size_t i;

    for (i = 0; i < in.len && in.at[i] != ':'; i++) {
        char c = in.at[i];
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        bool later = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';

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
    in = skip(in, scheme.len + 1);
    if (base != NULL && base->https == https)
        return parse_relative(u, in, base, encoder);
    return parse_authority(u, https, in, encoder);
}

/* ---- the whole ------------------------------------------------------------
 */

static struct bytes trim_c0_and_space(struct bytes in)
{
    while (in.len > 0 && (unsigned char)in.at[0] <= ' ')
        in = skip(in, 1);
    while (in.len > 0 && (unsigned char)in.at[in.len - 1] <= ' ')
        in.len--;
    return in;
}

static bool is_tab_or_newline(char c)
{
    return c == '\t' || c == '\n' || c == '\r';
}

static bool has_tab_or_newline(struct bytes in)
{
    for (size_t i = 0; i < in.len; i++)
        if (is_tab_or_newline(in.at[i]))
            return true;
    return false;
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
    in.len = find(in, '#');
    if (has_tab_or_newline(in))
        reason = parse_with_newlines(out, in, base, query_encoder);
    else
        reason = parse_clean(out, in, base, query_encoder);
    return buf_failed(&out->text) == STATUS_OK ? reason : URL_LENGTH;
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
