/* SPDX-License-Identifier: MIT */
/*
 * spell.c - one URL in many spellings.
 *
 * A spelling is made in three steps, each with a die of its own: the beginning
 * of the reference (scheme and host, or relative), changes to its path and end,
 * and its form in the markup. Sections are of the URL Standard
 * (https://url.spec.whatwg.org/) and of HTML (https://html.spec.whatwg.org/) as
 * read in 2025.
 */
#include "tests/support/web/spell.h"

#include <ctype.h>
#include <string.h>

#include "tests/support/web/hex.h"

#define REFERENCE_CEILING ((size_t)16 << 10)

/* ---- how it begins ------------------------------------------------------- */

/* A path without its query. */
static struct bytes path_part(struct bytes path)
{
    const char *mark = memchr(path.at, '?', path.len);

    return bytes_of(path.at,
                    mark != NULL ? (size_t)(mark - path.at) : path.len);
}

/* URL Standard 3.5, host parsing: IPv4 numbers in hexadecimal, octal, fewer
 * parts, with a trailing dot, percent-encoded. */
static void add_host(struct buf *out, uint32_t host, uint64_t dice)
{
    uint32_t ip = host_ipv4(host);
    unsigned a = ip >> 24, b = ip >> 16 & 255, c = ip >> 8 & 255, d = ip & 255;

    switch (dice % 16) {
    case 0:
        buf_addf(out, "0x%x.%u.%u.%u", a, b, c, d);
        break;
    case 1:
        buf_addf(out, "%u", (unsigned)ip);
        break;
    case 2:
        buf_addf(out, "0%o.%u.%u.%u", a, b, c, d);
        break;
    case 3:
        buf_addf(out, "%u.%u", a, (unsigned)(ip & 0xffffff));
        break;
    case 4:
        buf_addf(out, "%u.%u.%u.%u.", a, b, c, d);
        break;
    case 5:
        buf_addf(out, "%%31%u.%u.%u.%u", a % 100, b, c, d);
        break;
    case 6:
        buf_addf(out, "0X%X", (unsigned)ip);
        break;
    default:
        buf_addf(out, "%u.%u.%u.%u", a, b, c, d);
    }
}

/* URL Standard 4.4, scheme start to port state. */
static void add_origin(const struct web *w, struct buf *out, uint32_t host,
                       uint64_t dice)
{
    static const char *const SCHEMES[] = {"http://",   "HTTP://",   "hTtp://",
                                          "http:\\\\", "http:////", "//",
                                          "\\\\",      "/\\"};
    static const char *const USERS[] = {"user@", "user:secret@", ":@", "@"};

    buf_add_str(out, dice % 2 != 0 ? "http://" : SCHEMES[(dice >> 1) % 8]);
    if (dice >> 4 & 1 && dice >> 5 & 1)
        buf_add_str(out, USERS[(dice >> 6) % 4]);
    add_host(out, host, dice >> 8);
    buf_addf(out, (dice >> 16) % 8 == 0 ? ":000%u" : ":%u",
             (unsigned)w->spec.port);
}

/* Relative to the base's directory: the rest of the path if the target is below
 * it, else up and down again. */
static void add_relative(struct buf *out, struct bytes base,
                         struct bytes target, uint64_t dice)
{
    struct bytes from = path_part(base);
    size_t dir = from.len, ups = 0;

    while (dir > 0 && from.at[dir - 1] != '/')
        dir--;
    if (target.len > dir && memcmp(target.at, from.at, dir) == 0 &&
        target.at[dir] != '/' && target.at[dir] != '?') {
        if (dice % 2 != 0)
            buf_add_str(out, "./");
        buf_add(out, target.at + dir, target.len - dir);
        return;
    }
    for (size_t i = 0; i < dir; i++)
        ups += from.at[i] == '/';
    if (dice % 4 == 0)
        ups += 3; /* the parent of the root is the root */
    for (size_t i = 1; i < ups; i++)
        buf_add_str(out, dice % 8 == 1 ? "%2e./" : "../");
    if (ups <= 1)
        buf_add_str(out, "./");
    buf_add(out, target.at + 1, target.len - 1);
}

/* ---- the path and its end ------------------------------------------------ */

static bool is_escape(struct bytes s, size_t i)
{
    return (s.at[i] == '%' && i + 2 < s.len) ||
           (i >= 1 && s.at[i - 1] == '%') || (i >= 2 && s.at[i - 2] == '%');
}

/* Some letter, digit or `~` written as an escape (canonical form C3), in small
 * or capital hexadecimal digits; dots stay, they could become segments. */
static void add_escaped(struct buf *out, struct bytes path, uint64_t dice)
{
    size_t from = path.len > 1 ? 1 + dice % (path.len - 1) : path.len;
    bool done = false;

    for (size_t i = 0; i < path.len; i++) {
        unsigned char c = (unsigned char)path.at[i];

        if (!done && i >= from && !is_escape(path, i) &&
            (isalnum(c) || c == '~' || c == '_')) {
            buf_addf(out, dice >> 32 & 1 ? "%%%02x" : "%%%02X", c);
            done = true;
        } else {
            buf_add_char(out, (char)c);
        }
    }
}

/* Necessary escapes, in lower case; or, in the path of a UTF-8 page, the octets
 * themselves. */
static void add_other_escapes(struct buf *out, struct bytes path, bool raw)
{
    size_t end = path_part(path).len;

    for (size_t i = 0; i < path.len; i++) {
        int octet = hex_escape(path, i);

        if (octet >= 0x80 && raw && i < end)
            buf_add_char(out, (char)octet);
        else if (octet >= 0)
            buf_addf(out, "%%%02x", (unsigned)octet);
        else
            buf_add_char(out, path.at[i]);
        i += octet >= 0 ? 2 : 0;
    }
}

static void add_backslashes(struct buf *out, struct bytes path)
{
    size_t end = path_part(path).len;

    for (size_t i = 0; i < path.len; i++)
        buf_add_char(out, i < end && path.at[i] == '/' ? '\\' : path.at[i]);
}

static void add_path(struct buf *out, struct bytes path, uint64_t dice)
{
    static const char *const DOTS[] = {"/.",        "/x/..",      "/%2e",
                                       "/x/%2E%2e", "/x/y/../..", "/../.."};

    switch (dice % 12) {
    case 0:
    case 1:
        add_escaped(out, path, dice >> 8);
        return;
    case 2:
        add_other_escapes(out, path, false);
        return;
    case 3:
        add_other_escapes(out, path, true);
        return;
    case 4:
        add_backslashes(out, path);
        return;
    case 5:
    case 6:
        buf_add_str(out, DOTS[(dice >> 8) % 6]);
        break;
    default:
        break;
    }
    buf_add_bytes(out, path);
}

static void add_end(struct buf *out, struct bytes path, uint64_t dice)
{
    bool query = memchr(path.at, '?', path.len) != NULL;

    if (dice % 8 == 0 && !query)
        buf_add_char(out, '?');
    if (dice % 4 < 2)
        buf_addf(out, "#%s", (dice >> 4) % 4 == 0 ? "" : web_word(dice >> 6));
}

/* White space at the ends is stripped, tab and newline anywhere are dropped
 * (URL Standard 4.4, first steps). */
static void add_space(struct buf *ref, uint64_t dice)
{
    static const char SPACE[] = {'\t', '\n', '\r', '\n'};
    char c = SPACE[dice >> 8 & 3];
    size_t at, len = ref->len;

    if (dice % 8 == 0 && len > 2) {
        at = 1 + (dice >> 16) % (len - 1);
        while (at > 0 && ((unsigned char)ref->at[at] & 0xc0) == 0x80)
            at--; /* not within a character */
        buf_add_char(ref, ' ');
        memmove(ref->at + at + 1, ref->at + at, len - at);
        ref->at[at] = c;
    } else if (dice % 8 == 1) {
        buf_add_str(ref, " \n ");
    }
}

static void make_reference(const struct web *w, const struct spell_base *base,
                           uint32_t to, uint64_t dice, struct buf *ref)
{
    uint32_t host = web_host(w, to);
    struct buf path;
    struct bytes p;
    uint64_t d = web_dice(w, dice, 7);

    buf_init(&path, REFERENCE_CEILING);
    web_path(w, to, &path);
    p = buf_bytes(&path);
    if (host != base->host || d % 4 == 0) {
        add_origin(w, ref, host, d >> 4);
        if (!(p.len == 1 && d >> 3 & 1)) /* "http://host:port" alone */
            add_path(ref, p, d >> 32);
    } else if (d % 4 == 1) {
        add_relative(ref, buf_bytes(&base->path), p, d >> 4);
    } else {
        if (d >> 4 & 1 && d >> 5 & 1)
            buf_add_str(ref, "http:"); /* special relative state */
        add_path(ref, p, d >> 32);
    }
    add_end(ref, p, d >> 40);
    add_space(ref, web_dice(w, dice, 8));
    buf_fini(&path);
}

/* ---- how it stands in the markup ----------------------------------------- */

/* One character as a character reference: HTML 13.5 has the names. */
static bool add_named(struct buf *out, char c)
{
    switch (c) {
    case '/':
        buf_add_str(out, "&sol;");
        return true;
    case '.':
        buf_add_str(out, "&period;");
        return true;
    case ':':
        buf_add_str(out, "&colon;");
        return true;
    case '?':
        buf_add_str(out, "&quest;");
        return true;
    case '\t':
        buf_add_str(out, "&Tab;");
        return true;
    default:
        return false;
    }
}

/* `refs`: how many character references are used; 0: only where necessary. A
 * bare `&` that begins no reference is an ampersand (HTML 13.2.5.73). */
static void add_value(struct buf *out, struct bytes ref, char quote,
                      unsigned refs, uint64_t dice)
{
    for (size_t i = 0; i < ref.len; i++) {
        char c = ref.at[i];
        uint64_t roll = refs == 0 ? 15 : (dice >> (i % 48)) & 15;

        if (c == '&')
            buf_add_str(out, refs == 2 ? "&" : refs == 3 ? "&#38;" : "&amp;");
        else if (c == quote)
            buf_addf(out, "&#%d;", c);
        else if (refs == 1 && roll < 4 && add_named(out, c))
            continue;
        else if (refs == 3 && roll < 3 && c > ' ' && c < 127)
            buf_addf(out, dice >> 60 & 1 ? "&#%d;" : "&#x%x;", c);
        else
            buf_add_char(out, c);
    }
}

static bool fits_unquoted(struct bytes ref)
{
    for (size_t i = 0; i < ref.len; i++)
        if (strchr(" \t\r\n\f\"'<>`", ref.at[i]) != NULL)
            return false;
    return ref.len > 0;
}

static void add_attribute(struct buf *out, const char *name, struct bytes ref,
                          uint64_t dice)
{
    static const char *const BEFORE[] = {" ",      " ", " ",
                                         "\n  ",   "/", " class=\"x\"",
                                         " id=n ", " "};
    static const char *const EQUALS[] = {"=",   "=",  "=", " = ",
                                         "=\n", " =", "=", "="};
    unsigned refs = (unsigned)(dice >> 8) % 6;
    char quote = dice % 3 == 0 ? '\'' : '"';
    const char *before = BEFORE[(dice >> 2) % 8];

    /* A tab after a bare "&copy" would make it a reference. */
    if (refs > 3 || (refs == 2 && !fits_unquoted(ref)))
        refs = 0;
    buf_add_str(out, before);
    if (before[strlen(before) - 1] == '"')
        buf_add_char(out, ' ');
    for (const char *p = name; *p != '\0'; p++)
        buf_add_char(out, dice >> 5 & 1 && dice >> 6 & 1
                              ? (char)toupper((unsigned char)*p)
                              : *p);
    buf_add_str(out, EQUALS[(dice >> 11) % 8]);
    if (dice >> 14 & 1 && dice >> 15 & 1 && fits_unquoted(ref)) {
        add_value(out, ref, '\0', refs, dice >> 16);
        if (dice >> 63) /* else a final slash belongs to the value */
            buf_add_char(out, ' ');
        return;
    }
    buf_add_char(out, quote);
    add_value(out, ref, quote, refs, dice >> 16);
    buf_add_char(out, quote);
    if ((dice >> 16) % 16 == 0) /* of two attributes the first counts */
        buf_addf(out, " %s=\"/decoy/second-attribute\"", name);
}

/* ---- plain --------------------------------------------------------------- */

/* `&` to `&amp;` in what was appended since `from`. */
static void escape_since(struct buf *out, size_t from)
{
    size_t i = from;

    while (i < out->len) {
        const char *amp = memchr(out->at + i, '&', out->len - i);

        if (amp == NULL)
            return;
        i = (size_t)(amp - out->at) + 1;
        buf_add(out, "amp;", 4);
        if (out->failed)
            return;
        memmove(out->at + i + 4, out->at + i, out->len - 4 - i);
        memcpy(out->at + i, "amp;", 4);
        i += 4;
    }
}

void spell_absolute(const struct web *w, uint32_t to, struct buf *out)
{
    size_t from = out->len;

    web_url(w, to, out);
    escape_since(out, from);
}

static void add_plain(const struct web *w, const struct spell_base *base,
                      const char *name, uint32_t to, struct buf *out)
{
    uint32_t host = web_host(w, to);
    size_t from;

    buf_add_char(out, ' ');
    buf_add_str(out, name);
    buf_add(out, "=\"", 2);
    from = out->len;
    if (host != base->host)
        web_origin(w, host, out);
    web_path(w, to, out);
    escape_since(out, from);
    buf_add_char(out, '"');
}

void spell_attribute(const struct web *w, const struct spell_base *base,
                     const char *name, uint32_t to, uint64_t dice,
                     struct buf *out)
{
    struct buf ref;

    if (!web_has(w, PROFILE_VARIANTS)) {
        add_plain(w, base, name, to, out);
        return;
    }
    buf_init(&ref, REFERENCE_CEILING);
    make_reference(w, base, to, dice, &ref);
    add_attribute(out, name, buf_bytes(&ref), web_dice(w, dice, 9));
    buf_fini(&ref);
}
