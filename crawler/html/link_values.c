/* SPDX-License-Identifier: MIT */
/*
 * link_values.c - srcset, refresh and rel, read octet by octet in the
 * standard's steps, since each has corner cases that a split at commas or
 * semicolons gets wrong (a comma inside a URL, parentheses in a descriptor, a
 * quote that never ends).
 */

#include "crawler/html/link_values.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "crawler/html/html_filter.h"

/*
 * Links of style sheets and style attributes.
 *
 * Reads CSS as its tokenizer does (CSS Syntax Level 3, section 4): comments,
 * strings, escapes and bad urls end where a browser ends them, so text that
 * merely looks like url() is not a link. It finds url() and the strings of
 * @import, src() and image-set().
 *
 * Takes linear time and allocates nothing but `scratch`. One thread at a time.
 *
 * Strings and names are unescaped only where they can be a link or introduce
 * one: url(, src(, image-set( and @import. Everything else is skipped by the
 * same rules, so that text in a comment or a string is not taken for a link.
 */

#define NAME_MOST 32 /* no name we need is longer */

struct css {
    const char *at, *end;
    struct buf *text; /* the string or url last read */
    bool import;      /* behind @import, before its string */
    bool mere_name;   /* in @namespace: its url() is only a name */
    unsigned taking;  /* parentheses open since src( or image-set( */
    void (*visit)(void *ctx, struct bytes url);
    void *ctx;
};

static char peek(const struct css *c, size_t ahead)
{
    return (size_t)(c->end - c->at) > ahead ? c->at[ahead] : '\0';
}

static bool is_newline(char ch)
{
    return ch == '\n' || ch == '\r' || ch == '\f';
}

static bool is_name_octet(char ch)
{
    return ascii_is_alnum(ch) || ch == '-' || ch == '_' ||
           (unsigned char)ch >= 0x80;
}

static void skip_space(struct css *c)
{
    while (c->at < c->end && ascii_is_space(*c->at))
        c->at++;
}

static void found(struct css *c)
{
    if (!c->text->failed && !c->mere_name)
        c->visit(c->ctx, buf_bytes(c->text));
}

/* c->at is at a backslash that begins an escape (section 4.3.7). */
static void read_escape(struct css *c, struct buf *out)
{
    uint32_t u = 0;
    int digits = 0;

    c->at++;
    if (c->at == c->end) {
        buf_add_utf8(out, 0xfffd);
        return;
    }
    if (ascii_hex(*c->at) < 0) {
        buf_add_char(out, *c->at++); /* the rest of a UTF-8 sequence follows */
        return;
    }
    for (; c->at < c->end && digits < 6 && ascii_hex(*c->at) >= 0; digits++)
        u = u << 4 | (uint32_t)ascii_hex(*c->at++);
    if (peek(c, 0) == '\r' && peek(c, 1) == '\n')
        c->at += 2;
    else if (c->at < c->end && ascii_is_space(*c->at))
        c->at++;
    buf_add_utf8(out, u != 0 ? u : 0xfffd);
}

/* c->at is behind the opening quote. False: a newline made it a bad string;
 * c->at is at that newline. */
static bool read_string(struct css *c, char quote)
{
    buf_clear(c->text);
    while (c->at < c->end && *c->at != quote) {
        if (is_newline(*c->at))
            return false;
        if (*c->at != '\\') {
            buf_add_char(c->text, *c->at++);
        } else if (c->end - c->at == 1) {
            c->at++; /* a backslash at the end means nothing */
        } else if (is_newline(c->at[1])) {
            c->at += c->at[1] == '\r' && peek(c, 2) == '\n' ? 3 : 2;
        } else {
            read_escape(c, c->text);
        }
    }
    if (c->at < c->end)
        c->at++;
    return true;
}

/* Section 4.3.14: up to the parenthesis that ends a bad url. */
static void skip_bad_url(struct css *c)
{
    for (; c->at < c->end && *c->at != ')'; c->at++)
        if (*c->at == '\\' && c->end - c->at > 1)
            c->at++;
    if (c->at < c->end)
        c->at++;
}

/* Section 4.3.6: an unquoted url; c->at is behind `url(` and white space. */
static void read_bare_url(struct css *c)
{
    buf_clear(c->text);
    while (c->at < c->end && *c->at != ')') {
        unsigned char ch = (unsigned char)*c->at;

        if (ascii_is_space(*c->at)) {
            skip_space(c);
            if (c->at < c->end && *c->at != ')') {
                skip_bad_url(c);
                return;
            }
        } else if (ch == '"' || ch == '\'' || ch == '(' || ch < 0x20 ||
                   ch == 0x7f || (ch == '\\' && (is_newline(peek(c, 1))))) {
            skip_bad_url(c);
            return;
        } else if (ch == '\\') {
            read_escape(c, c->text);
        } else {
            buf_add_char(c->text, *c->at++);
        }
    }
    if (c->at < c->end)
        c->at++;
    found(c);
}

static void skip_comment(struct css *c)
{
    const char *end = memmem(c->at + 2, (size_t)(c->end - c->at) - 2, "*/", 2);

    c->at = end != NULL ? end + 2 : c->end;
}

/* A name from c->at on, unescaped and lower-cased into `name`; a longer name is
 * skipped and gives "". */
static void read_name(struct css *c, char name[NAME_MOST])
{
    size_t n = 0;

    while (c->at < c->end) {
        char ch = *c->at;

        if (is_name_octet(ch)) {
            c->at++;
        } else if (ch == '\\' && !is_newline(peek(c, 1))) {
            char octets[8];
            struct buf one = {octets, 0, sizeof octets, sizeof octets - 1,
                              false};

            read_escape(c, &one);
            ch = one.len == 1 ? octets[0] : '\x80';
        } else {
            break;
        }
        if (n < NAME_MOST - 1)
            name[n] = ascii_lower(ch);
        n++;
    }
    name[n < NAME_MOST ? n : 0] = '\0';
}

/* url( with a quoted string is a function with that argument. */
static void read_url(struct css *c)
{
    skip_space(c);
    if (peek(c, 0) != '"' && peek(c, 0) != '\'') {
        read_bare_url(c);
        return;
    }
    c->at++;
    if (read_string(c, c->at[-1]))
        found(c);
}

static void read_ident(struct css *c)
{
    char name[NAME_MOST];

    read_name(c, name);
    c->import = false;
    if (peek(c, 0) != '(' || c->at == c->end)
        return;
    c->at++;
    if (strcmp(name, "url") == 0) {
        read_url(c);
    } else if (strcmp(name, "src") == 0 || strcmp(name, "image-set") == 0 ||
               strcmp(name, "-webkit-image-set") == 0) {
        c->taking++;
    } else if (c->taking > 0) {
        c->taking++;
    }
}

static void read_at_word(struct css *c)
{
    char name[NAME_MOST];

    c->at++;
    read_name(c, name);
    c->import = strcmp(name, "import") == 0;
    c->mere_name = strcmp(name, "namespace") == 0;
}

/* One octet that is a token by itself. */
static void read_delimiter(struct css *c)
{
    char ch = *c->at++;

    if (ch == '(' && c->taking > 0)
        c->taking++;
    else if (ch == ')' && c->taking > 0)
        c->taking--;
    else if (ch == ';' || ch == '{' || ch == '}')
        c->mere_name = false;
    if (!ascii_is_space(ch))
        c->import = false;
}

static void read_token(struct css *c)
{
    char name[NAME_MOST], ch = *c->at;

    if (ch == '/' && peek(c, 1) == '*') {
        skip_comment(c);
    } else if (ch == '"' || ch == '\'') {
        c->at++;
        if (read_string(c, ch) && (c->import || c->taking == 1))
            found(c);
        c->import = false;
    } else if (ch == '@') {
        read_at_word(c);
    } else if (ch == '#') {
        c->at++;
        read_name(c, name);
    } else if (is_name_octet(ch) || (ch == '\\' && !is_newline(peek(c, 1)))) {
        read_ident(c);
    } else if (ch == '<' && peek(c, 1) == '!' && peek(c, 2) == '-' &&
               peek(c, 3) == '-') {
        c->at += 4; /* an HTML comment does not hide the sheet */
    } else {
        read_delimiter(c);
    }
}

void css_links(struct bytes css, struct buf *scratch,
               void (*visit)(void *ctx, struct bytes url), void *ctx)
{
    struct css c = {.at = css.at,
                    .end = css.len > 0 ? css.at + css.len : css.at,
                    .text = scratch,
                    .visit = visit,
                    .ctx = ctx};

    while (c.at < c.end)
        read_token(&c);
}

/* ---- the kinds of links, their names and sets ---- */

/*
 * A link type that is not known counts as one that names a document: a page
 * missed costs more than a request too many.
 */

static bool word_next(struct bytes *rest, struct bytes *word);
static bool media_is_feed(struct bytes content_type);

/* `letter` and `context` are the notation of archives: a step of hopsFromSeed,
 * and where on a page such a link is. */
static const struct {
    const char *name;
    char letter;
    const char *context;
} kind_facts[LINK_KIND_COUNT_] = {
    [LINK_A] = {"a", 'L', "a/@href"},
    [LINK_AREA] = {"area", 'L', "area/@href"},
    [LINK_LINK] = {"link", 'L', "link/@href"},
    [LINK_CANONICAL] = {"canonical", 'L', "link/@href"},
    [LINK_CSS] = {"css", 'E', "link/@href"},
    [LINK_SITEMAP] = {"sitemap", 'M', "sitemap"},
    [LINK_ALTERNATE] = {"alternate", 'L', "link/@href"},
    [LINK_FEED] = {"feed", 'L', "link/@href"},
    [LINK_IMG] = {"img", 'E', "img/@src"},
    [LINK_SRCSET] = {"srcset", 'E', "img/@srcset"},
    [LINK_IFRAME] = {"iframe", 'E', "iframe/@src"},
    [LINK_SCRIPT] = {"script", 'E', "script/@src"},
    [LINK_FORM] = {"form", 'S', "form/@action"},
    [LINK_META_REFRESH] = {"meta-refresh", 'R', "meta/@content"},
    [LINK_STYLE] = {"style", 'E', "style"},
    [LINK_HEADER] = {"header", 'L', "header"},
    [LINK_LAZY] = {"lazy", 'E', "img/@data-src"},
    [LINK_OBJECT] = {"object", 'E', "object/@data"},
    [LINK_EMBED] = {"embed", 'E', "embed/@src"},
    [LINK_MEDIA] = {"media", 'E', "media/@src"},
    [LINK_CITE] = {"cite", 'L', "cite"},
    [LINK_MANIFEST] = {"manifest", 'E', "link/@href"},
    [LINK_AMPHTML] = {"amphtml", 'L', "link/@href"},
    [LINK_OG] = {"og", 'L', "meta/@content"},
    [LINK_SEED] = {"seed", 'L', "seed"},
    [LINK_REDIRECT] = {"redirect", 'R', "location"},
    [LINK_SITEMAP_PART] = {"sitemap-part", 'M', "sitemap"},
    [LINK_LISTED] = {"listed", 'M', "sitemap"},
    [LINK_PUT] = {"put", 'L', "put"},
    [LINK_IMPORT] = {"import", 'L', "import"},
    [LINK_RESOURCE] = {"resource", 'E', "link/@href"},
};

const char *link_kind_name(enum link_kind k)
{
    return kind_facts[k].name;
}

char link_kind_letter(enum link_kind kind)
{
    return kind < LINK_KIND_COUNT_ ? kind_facts[kind].letter : 'L';
}

const char *link_kind_context(enum link_kind kind)
{
    return kind < LINK_KIND_COUNT_ ? kind_facts[kind].context : "a/@href";
}

bool link_kind_of_name(struct bytes name, enum link_kind *out)
{
    for (unsigned k = 0; k < LINK_KIND_COUNT_; k++)
        if (bytes_is(name, kind_facts[k].name)) {
            *out = (enum link_kind)k;
            return true;
        }
    return false;
}

/* Link types whose URL is no document to read: a host to connect to, an
 * endpoint to post to, a form of search, the name of a vocabulary or a person.
 * From the HTML standard, section 4.6.7, and the registry that it refers to,
 * https://microformats.org/wiki/existing-rel-values. In lower case; a type that
 * ends in a dot stands for all that begin with it. */
static const char *const no_documents[] = {
    /* the HTML standard */
    "dns-prefetch",
    "preconnect",
    "pingback",
    "search",
    "expect",
    /* interfaces of publishing systems */
    "edituri",
    "wlwmanifest",
    "https://api.w.org/",
    "http://api.w.org/",
    "api.w.org",
    "service",
    "edit",
    "edit-media",
    "webmention",
    "micropub",
    "microsub",
    "hub",
    "unapi-server",
    /* who somebody is, and who vouches for it */
    "me",
    "openid.",
    "openid2.",
    "indieauth-metadata",
    "authorization_endpoint",
    "token_endpoint",
    "monetization",
    /* names of vocabularies */
    "schema.",
    "profile",
    "type",
};

static bool names_no_document(struct bytes word)
{
    char first = ascii_lower(word.at[0]);

    for (size_t i = 0; i < sizeof no_documents / sizeof *no_documents; i++) {
        struct bytes type, part = word;

        if (no_documents[i][0] != first)
            continue; /* as nearly all */
        type = bytes_of_str(no_documents[i]);
        if (type.at[type.len - 1] == '.' && part.len > type.len)
            part.len = type.len;
        if (bytes_equal_nocase(part, type))
            return true;
    }
    return false;
}

/* Without any type it is a link like others. */
static bool rel_names_a_document(struct bytes rel)
{
    struct bytes word;
    bool any = false;

    while (word_next(&rel, &word)) {
        if (!names_no_document(word))
            return true;
        any = true;
    }
    return !any;
}

/* External resource links of the HTML standard that browsers load, but for
 * those that are a kind by themselves. */
static bool rel_names_a_resource(struct bytes rel)
{
    static const char *const types[] = {
        "icon",
        "preload",
        "modulepreload",
        "prefetch",
        "compression-dictionary",
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (words_have(rel, types[i]))
            return true;
    return false;
}

bool link_kind_of_rel(struct bytes rel, struct bytes type, uint32_t kinds,
                      enum link_kind *out)
{
    *out = LINK_LINK;
    if (words_have(rel, "canonical"))
        *out = LINK_CANONICAL;
    else if (words_have(rel, "stylesheet"))
        *out = LINK_CSS;
    else if (words_have(rel, "sitemap"))
        *out = LINK_SITEMAP;
    else if (words_have(rel, "alternate"))
        *out = media_is_feed(type) ? LINK_FEED : LINK_ALTERNATE;
    else if (kinds & LINK_BIT(LINK_MANIFEST) && words_have(rel, "manifest"))
        *out = LINK_MANIFEST;
    else if (kinds & LINK_BIT(LINK_AMPHTML) && words_have(rel, "amphtml"))
        *out = LINK_AMPHTML;
    else if (kinds & LINK_BIT(LINK_RESOURCE) && rel_names_a_resource(rel))
        *out = LINK_RESOURCE;
    else
        return rel_names_a_document(rel);
    return true;
}

/* Search engines read a canonical link there as that of a page, and browsers
 * load what is named so for the page. */
bool link_kind_of_header(const struct header_link *link, uint32_t kinds,
                         enum link_kind *out)
{
    *out = LINK_HEADER;
    if (!link->anchored && words_have(link->rel, "canonical"))
        *out = LINK_CANONICAL;
    else if (!link->anchored && kinds & LINK_BIT(LINK_RESOURCE) &&
             rel_names_a_resource(link->rel))
        *out = LINK_RESOURCE;
    return *out != LINK_HEADER || rel_names_a_document(link->rel);
}

bool link_og_is_url(struct bytes property)
{
    static const char *const names[] = {
        "og:url",
        "og:image",
        "og:image:url",
        "og:video",
        "og:image:secure_url",
        "og:video:url",
        "og:audio",
        "og:video:secure_url",
        "og:audio:url",
        "og:see_also",
        "og:audio:secure_url",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (bytes_equal_nocase(property, bytes_of_str(names[i])))
            return true;
    return false;
}

/* ---- which attributes of a page can hold links of given kinds ---- */

#define OF_LINK                                                                \
    (LINK_BIT(LINK_LINK) | LINK_BIT(LINK_CANONICAL) | LINK_BIT(LINK_CSS) |     \
     LINK_BIT(LINK_SITEMAP) | LINK_BIT(LINK_ALTERNATE) | LINK_BIT(LINK_FEED) | \
     LINK_BIT(LINK_MANIFEST) | LINK_BIT(LINK_AMPHTML) |                        \
     LINK_BIT(LINK_RESOURCE))

/* Elements whose attributes hold links of any of `kinds`, or say more about
 * such a link. */
struct wanted {
    uint32_t kinds;
    enum html_word element;
    uint32_t attrs;
};

static const struct wanted of_html[] = {
    {LINK_BIT(LINK_A), WORD_A, ATTR_HREF | ATTR_REL},
    {LINK_BIT(LINK_AREA), WORD_AREA, ATTR_HREF | ATTR_REL},
    {OF_LINK, WORD_LINK, ATTR_HREF | ATTR_REL | ATTR_TYPE},
    {LINK_BIT(LINK_IMG), WORD_IMG, ATTR_SRC},
    {LINK_BIT(LINK_SRCSET), WORD_IMG, ATTR_SRCSET},
    {LINK_BIT(LINK_SRCSET), WORD_SOURCE, ATTR_SRCSET},
    {LINK_BIT(LINK_IFRAME), WORD_IFRAME, ATTR_SRC},
    {LINK_SET_ALL, WORD_IFRAME, ATTR_SRCDOC}, /* holds links of all kinds */
    {LINK_BIT(LINK_IFRAME), WORD_FRAME, ATTR_SRC},
    {LINK_BIT(LINK_SCRIPT), WORD_SCRIPT, ATTR_SRC},
    {LINK_BIT(LINK_FORM), WORD_FORM, ATTR_ACTION | ATTR_REL},
    {LINK_BIT(LINK_OBJECT), WORD_OBJECT, ATTR_DATA},
    {LINK_BIT(LINK_EMBED), WORD_EMBED, ATTR_SRC},
    {LINK_BIT(LINK_MEDIA), WORD_VIDEO, ATTR_SRC | ATTR_POSTER},
    {LINK_BIT(LINK_MEDIA), WORD_AUDIO, ATTR_SRC},
    {LINK_BIT(LINK_MEDIA), WORD_TRACK, ATTR_SRC},
    {LINK_BIT(LINK_MEDIA), WORD_SOURCE, ATTR_SRC},
    {LINK_BIT(LINK_MEDIA), WORD_LINK, ATTR_IMAGESRCSET},
    {LINK_BIT(LINK_MEDIA), WORD_INPUT, ATTR_SRC},
    {LINK_BIT(LINK_MEDIA), WORD_BODY, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_TABLE, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_COLGROUP, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_COL, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_THEAD, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_TBODY, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_TFOOT, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_TR, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_TD, ATTR_BACKGROUND},
    {LINK_BIT(LINK_MEDIA), WORD_TH, ATTR_BACKGROUND},
    {LINK_BIT(LINK_CITE), WORD_BLOCKQUOTE, ATTR_CITE},
    {LINK_BIT(LINK_CITE), WORD_Q, ATTR_CITE},
    {LINK_BIT(LINK_CITE), WORD_DEL, ATTR_CITE},
    {LINK_BIT(LINK_CITE), WORD_INS, ATTR_CITE},
};

#define ATTR_ANY_HREF (ATTR_HREF | ATTR_XLINK_HREF)

static const struct wanted of_svg[] = {
    {LINK_BIT(LINK_A), WORD_A, ATTR_ANY_HREF | ATTR_REL},
    {LINK_BIT(LINK_SCRIPT), WORD_SCRIPT, ATTR_ANY_HREF},
    {LINK_BIT(LINK_MEDIA), WORD_IMAGE, ATTR_ANY_HREF},
    {LINK_BIT(LINK_MEDIA), WORD_USE, ATTR_ANY_HREF},
    {LINK_BIT(LINK_MEDIA), WORD_FEIMAGE, ATTR_ANY_HREF},
};

static void want_of(uint32_t of[WORD_COUNT_], const struct wanted *rows,
                    size_t n, uint32_t kinds)
{
    for (size_t i = 0; i < n; i++)
        if (kinds & rows[i].kinds)
            of[rows[i].element] |= rows[i].attrs;
}

void link_wants(struct html_wants *out, uint32_t kinds, const char *agent)
{
    memset(out, 0, sizeof *out);
    want_of(out->of, of_html, sizeof of_html / sizeof *of_html, kinds);
    want_of(out->of_svg, of_svg, sizeof of_svg / sizeof *of_svg, kinds);
    if (kinds & LINK_BIT(LINK_LAZY))
        out->of_any |= ATTR_DATA_SRC | ATTR_DATA_SRCSET;
    if (kinds & LINK_BIT(LINK_STYLE))
        out->of_any |= ATTR_STYLE | ATTR_PRESENTATION;
    out->style_text = kinds & LINK_BIT(LINK_STYLE);
    out->og = kinds & LINK_BIT(LINK_OG);
    out->agent = agent;
}

void link_wants_texts(struct html_wants *out)
{
    out->link_texts = true;
    out->of[WORD_IMG] |= ATTR_ALT;
    out->of[WORD_AREA] |= ATTR_ALT;
}

void link_wants_about(struct html_wants *out)
{
    out->about = true;
    out->of[WORD_LINK] |= ATTR_HREF | ATTR_REL | ATTR_HREFLANG;
    out->of[WORD_IMG] |= ATTR_ALT;
}

/* ---- the small grammars of attribute values that hold URLs ---- */

static size_t skip_digits(struct bytes s, size_t i)
{
    while (i < s.len && ascii_is_digit(s.at[i]))
        i++;
    return i;
}

/* ---- srcset -------------------------------------------------------------- */

struct candidate {
    bool width, density, height, error;
};

/* One or more digits and nothing else? *zero: all of them are 0. */
static bool is_whole_number(struct bytes s, bool *zero)
{
    *zero = true;
    for (size_t i = 0; i < s.len; i++)
        *zero = *zero && s.at[i] == '0';
    return s.len > 0 && skip_digits(s, 0) == s.len;
}

/* A valid floating-point number? *below: it is less than zero. */
static bool is_number(struct bytes s, bool *below)
{
    size_t i = s.len > 0 && s.at[0] == '-' ? 1 : 0, begin = i, dot, e;
    bool nonzero = false;

    *below = false;
    i = skip_digits(s, i);
    if (i < s.len && s.at[i] == '.') {
        dot = i;
        i = skip_digits(s, i + 1);
        if (i == dot + 1)
            return false;
    }
    if (i == begin)
        return false;
    for (size_t k = begin; k < i; k++)
        nonzero = nonzero || (s.at[k] != '0' && s.at[k] != '.');
    if (i < s.len && (s.at[i] | 0x20) == 'e') {
        i++;
        if (i < s.len && (s.at[i] == '-' || s.at[i] == '+'))
            i++;
        e = i;
        i = skip_digits(s, i);
        if (i == e)
            return false;
    }
    *below = begin > 0 && nonzero;
    return i == s.len;
}

static void take_descriptor(struct candidate *c, struct bytes d)
{
    struct bytes number;
    bool zero = false, below = false;

    if (d.len == 0)
        return;
    number = bytes_of(d.at, d.len - 1);
    switch (d.at[d.len - 1]) {
    case 'w':
        c->error = c->error || !is_whole_number(number, &zero) || zero ||
                   c->width || c->density;
        c->width = true;
        break;
    case 'x':
        c->error = c->error || !is_number(number, &below) || below ||
                   c->width || c->density || c->height;
        c->density = true;
        break;
    case 'h':
        c->error = c->error || !is_whole_number(number, &zero) || zero ||
                   c->height || c->density;
        c->height = true;
        break;
    default:
        c->error = true;
    }
}

/* Reads descriptors from s[i] on, up to the comma that ends the candidate.
 * Returns where the next one begins. */
static size_t read_descriptors(struct bytes s, size_t i, struct candidate *c)
{
    size_t begin = i;
    bool in_parens = false;

    for (; i < s.len; i++) {
        char ch = s.at[i];

        if (in_parens) {
            in_parens = ch != ')';
        } else if (ch == '(') {
            in_parens = true;
        } else if (ch == ',' || ascii_is_space(ch)) {
            take_descriptor(c, bytes_of(s.at + begin, i - begin));
            begin = i + 1;
            if (ch == ',')
                break;
        }
    }
    if (i == s.len && begin < i)
        take_descriptor(c, bytes_of(s.at + begin, i - begin));
    c->error = c->error || (c->height && !c->width);
    return i < s.len ? i + 1 : i;
}

bool srcset_next(struct bytes *rest, struct bytes *url)
{
    struct bytes s = *rest;
    size_t i = 0, begin;

    for (;;) {
        struct candidate c = {false, false, false, false};

        while (i < s.len && (ascii_is_space(s.at[i]) || s.at[i] == ','))
            i++;
        if (i == s.len)
            return false;
        begin = i;
        while (i < s.len && !ascii_is_space(s.at[i]))
            i++;
        *url = bytes_of(s.at + begin, i - begin);
        if (s.at[i - 1] == ',') {
            while (url->at[url->len - 1] == ',')
                url->len--;
        } else {
            i = read_descriptors(s, i, &c);
        }
        if (!c.error) {
            *rest = bytes_skip(s, i);
            return true;
        }
    }
}

/* ---- meta refresh -------------------------------------------------------- */

/* The index after `url =` if that is at s[i], else i. */
static size_t skip_url_word(struct bytes s, size_t i)
{
    size_t k = i + 3;

    if (s.len - i < 3 ||
        !bytes_equal_nocase(bytes_of(s.at + i, 3), bytes_of_str("url")))
        return i;
    k = bytes_past_space(s, k);
    if (k == s.len || s.at[k] != '=')
        return i;
    return bytes_past_space(s, k + 1);
}

bool refresh_url(struct bytes content, struct bytes *url)
{
    struct bytes s = content;
    size_t i = bytes_past_space(s, 0), begin = i, word;

    i = skip_digits(s, i);
    if (i == begin && (i == s.len || s.at[i] != '.'))
        return false;
    while (i < s.len && (ascii_is_digit(s.at[i]) || s.at[i] == '.'))
        i++;
    if (i == s.len ||
        (s.at[i] != ';' && s.at[i] != ',' && !ascii_is_space(s.at[i])))
        return false;
    i = bytes_past_space(s, i);
    if (i < s.len && (s.at[i] == ';' || s.at[i] == ','))
        i = bytes_past_space(s, i + 1);
    if (i == s.len)
        return false;
    word = skip_url_word(s, i);
    /* If it only begins like the word, it is the URL. */
    if (word == i && (s.at[i] | 0x20) == 'u') {
        *url = bytes_skip(s, i);
        return true;
    }
    i = word;
    if (i < s.len && (s.at[i] == '"' || s.at[i] == '\'')) {
        const char *end;

        *url = bytes_skip(s, i + 1);
        end = memchr(url->at, s.at[i], url->len);
        if (end != NULL)
            url->len = (size_t)(end - url->at);
        return true;
    }
    *url = bytes_skip(s, i);
    return true;
}

/* ---- words --------------------------------------------------------------- */

/* The next word; words are separated by white space. False: no more. */
static bool word_next(struct bytes *rest, struct bytes *word)
{
    struct bytes s = *rest;
    size_t i = bytes_past_space(s, 0), begin = i;

    if (i == s.len)
        return false;
    while (i < s.len && !ascii_is_space(s.at[i]))
        i++;
    *word = bytes_of(s.at + begin, i - begin);
    *rest = bytes_skip(s, i);
    return true;
}

bool words_have(struct bytes words, const char *word)
{
    struct bytes w;

    while (word_next(&words, &w))
        if (bytes_equal_nocase(w, bytes_of_str(word)))
            return true;
    return false;
}

struct bytes media_essence(struct bytes content_type)
{
    const char *end = content_type.len > 0
                          ? memchr(content_type.at, ';', content_type.len)
                          : NULL;

    if (end != NULL)
        content_type.len = (size_t)(end - content_type.at);
    return bytes_trim(content_type);
}

/* Is it rss+xml, atom+xml or feed+json? */
static bool media_is_feed(struct bytes content_type)
{
    struct bytes s = media_essence(content_type);
    const char *slash = s.len > 0 ? memchr(s.at, '/', s.len) : NULL;

    if (slash == NULL)
        return false;
    s = bytes_skip(s, (size_t)(slash - s.at) + 1);
    return bytes_equal_nocase(s, bytes_of_str("rss+xml")) ||
           bytes_equal_nocase(s, bytes_of_str("atom+xml")) ||
           bytes_equal_nocase(s, bytes_of_str("feed+json"));
}

/* ---- the links of an HTTP Link header (RFC 8288 section 3) ---- */

static void skip_spaces(struct bytes *s)
{
    while (s->len > 0 && (s->at[0] == ' ' || s->at[0] == '\t'))
        *s = bytes_skip(*s, 1);
}

/* Cuts the part up to the first of `stops`, or everything. */
static struct bytes until(struct bytes *s, const char *stops)
{
    size_t n = 0;
    struct bytes part;

    while (n < s->len && strchr(stops, s->at[n]) == NULL)
        n++;
    part = bytes_of(s->at, n);
    *s = bytes_skip(*s, n);
    return part;
}

/* The text between the quotes, with escapes left in: no relation type has
 * any. */
static struct bytes quoted(struct bytes *s)
{
    size_t n = 1;
    struct bytes part;

    while (n < s->len && s->at[n] != '"')
        n += s->at[n] == '\\' ? 2 : 1;
    n = n < s->len ? n : s->len;
    part = bytes_of(s->at + 1, n - 1);
    *s = bytes_skip(*s, n < s->len ? n + 1 : n);
    return part;
}

/* Reads one `; name=value`; false: there are no more parameters. */
static bool parameter(struct bytes *s, struct bytes *name, struct bytes *value)
{
    skip_spaces(s);
    if (s->len == 0 || s->at[0] != ';')
        return false;
    *s = bytes_skip(*s, 1);
    *name = bytes_trim(until(s, "=;,"));
    *value = bytes_of("", 0);
    if (s->len == 0 || s->at[0] != '=')
        return true;
    *s = bytes_skip(*s, 1);
    skip_spaces(s);
    if (s->len > 0 && s->at[0] == '"')
        *value = quoted(s);
    else
        *value = bytes_trim(until(s, ";,"));
    return true;
}

bool link_header_next(struct bytes *rest, struct header_link *out)
{
    struct bytes name, value;
    bool rel_found = false;

    (void)until(rest, "<");
    if (rest->len == 0)
        return false;
    *rest = bytes_skip(*rest, 1);
    *out = (struct header_link){.target = bytes_trim(until(rest, ">")),
                                .rel = bytes_of("", 0)};
    if (rest->len == 0)
        return false; /* no closing bracket */
    *rest = bytes_skip(*rest, 1);
    while (parameter(rest, &name, &value)) {
        if (bytes_equal_nocase(name, bytes_of_str("anchor")))
            out->anchored = true;
        if (rel_found || !bytes_equal_nocase(name, bytes_of_str("rel")))
            continue; /* section 3.3: those after the first are ignored */
        out->rel = value;
        rel_found = true;
    }
    return true;
}
