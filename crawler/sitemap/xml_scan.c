/* SPDX-License-Identifier: MIT */
/*
 * xml_scan.c - reads XML in pieces, and goes on where it is broken.
 *
 * Why not libxml2: its recovery drops what S5 of our rules keeps (`a&b` becomes
 * `ab`, reading ends after the root element and at an octet that is not UTF-8).
 * We would need a tolerant reader besides it anyway, and one reader is simpler
 * than two.
 *
 * Bytes of an incomplete token wait in `pending`; each push is appended there
 * and read as far as possible. Comments, CDATA sections and processing
 * instructions can be long, so they are states of their own, and only their
 * last octets wait.
 */

#include "crawler/sitemap/xml_scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/ascii.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/mem.h"
#include "crawler/html/xhtml.h"

/*
 * Character and entity references in tolerant XML.
 *
 * Character references, the five predefined entities, and internal entities
 * that the document's own DTD declares, within bounds. Nothing is ever loaded:
 * an external entity has no text. One thread at a time.
 *
 * Anything that is not a reference is text: `&`, `&b=c`, `&nbsp;` stay as they
 * are, since sitemaps are full of unescaped ampersands.
 *
 * XML 1.0 section 4.4: character references in an entity's value are replaced
 * when it is declared, entity references when it is used. Here a value is text,
 * never markup: tags in an entity's value are plain text.
 *
 * The bound on output is for the whole document, so ten nested entities of ten
 * references each ("billion laughs"), and one used ten thousand times, both
 * stop at a megabyte. Octets that an expansion reads count like those it
 * writes, so the work is bounded too.
 */

#define XML_ENTITY_COUNT_MOST  256

#define XML_ENTITY_VALUE_MOST  ((size_t)4096) /* octets declared */

#define XML_ENTITY_DEPTH_MOST  8 /* entities in entities */

#define XML_ENTITY_OUTPUT_MOST ((size_t)1 << 20) /* a document's expansions */

struct xml_entities;

/* Longest reference that is recognised, from `&` to `;`. */
#define XML_REFERENCE_MOST ((size_t)66)

struct entity {
    struct bytes value; /* points behind the struct; NULL: external */
};

struct xml_entities {
    struct map *named;
    size_t left; /* octets that expansions may still write */
};

static struct xml_entities *xml_entities_new(void)
{
    struct xml_entities *e = xcalloc(1, sizeof *e);

    e->named = map_new();
    e->left = XML_ENTITY_OUTPUT_MOST;
    return e;
}

static void xml_entities_free(struct xml_entities *e)
{
    if (e == NULL)
        return;
    map_free(e->named, free);
    free(e);
}

static bool is_name_char(char c)
{
    return ascii_is_alnum(c) || c == '_' || c == ':' || c == '-' || c == '.' ||
           (unsigned char)c >= 0x80;
}

/* ---- references -----------------------------------------------------------*/

/* Finds the reference at the start of `s`, without `&` and `;`. */
static bool is_reference(struct bytes s, struct bytes *inside)
{
    size_t most = s.len < XML_REFERENCE_MOST ? s.len : XML_REFERENCE_MOST;
    const char *end = memchr(s.at, ';', most);

    if (end == NULL || end - s.at < 2)
        return false;
    *inside = bytes_of(s.at + 1, (size_t)(end - s.at) - 1);
    for (size_t i = inside->at[0] == '#'; i < inside->len; i++)
        if (!is_name_char(inside->at[i]))
            return false;
    return true;
}

/* Parses `#38` or `#x26`; false: it is neither. */
static bool character(struct bytes s, uint32_t *out)
{
    uint32_t value = 0;
    int base = 10;

    if (s.len < 2 || s.at[0] != '#')
        return false;
    s = bytes_skip(s, 1);
    if (s.at[0] == 'x' || s.at[0] == 'X') {
        base = 16;
        s = bytes_skip(s, 1);
    }
    for (size_t i = 0; i < s.len; i++) {
        int digit = ascii_hex(s.at[i]);

        if (digit < 0 || digit >= base)
            return false;
        if (value < 0x110000)
            value = value * (uint32_t)base + (uint32_t)digit;
    }
    *out = value != 0 ? value : 0xfffd;
    return s.len > 0;
}

static char predefined(struct bytes name)
{
    static const struct {
        const char *name;
        char is;
    } five[] = {
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};

    for (size_t i = 0; i < sizeof five / sizeof *five; i++)
        if (bytes_is(name, five[i].name))
            return five[i].is;
    return '\0';
}

static bool decode(struct xml_entities *e, struct bytes text, struct buf *out,
                   unsigned depth);

static bool expand(struct xml_entities *e, const struct entity *entity,
                   struct buf *out, unsigned depth)
{
    size_t before = out->len, cost;

    if (entity->value.at == NULL || depth >= XML_ENTITY_DEPTH_MOST ||
        e->left == 0 || !decode(e, entity->value, out, depth + 1))
        return false;
    cost = entity->value.len + (out->len - before);
    if (cost >= e->left) {
        e->left = 0;
        return false;
    }
    e->left -= cost + 1;
    return true;
}

/* Decodes one reference. False: it is a reference, but its text cannot be
 * known. */
static bool decode_reference(struct xml_entities *e, struct bytes whole,
                             struct bytes inside, struct buf *out,
                             unsigned depth)
{
    const struct entity *entity;
    char one = predefined(inside);
    uint32_t u;

    if (one != '\0') {
        buf_add_char(out, one);
    } else if (character(inside, &u)) {
        buf_add_utf8(out, u);
    } else {
        entity = map_get(e->named, inside);
        if (entity != NULL)
            return expand(e, entity, out, depth);
        buf_add_bytes(out, whole);
    }
    return true;
}

/* A text inside an entity is known in full or not at all; a text in the
 * document keeps the known parts. */
static bool decode(struct xml_entities *e, struct bytes text, struct buf *out,
                   unsigned depth)
{
    bool known = true;

    while (text.len > 0 && (known || depth == 0)) {
        const char *amp = memchr(text.at, '&', text.len);
        size_t n = amp != NULL ? (size_t)(amp - text.at) : text.len, before;
        struct bytes inside;

        buf_add(out, text.at, n);
        text = bytes_skip(text, n);
        if (text.len == 0)
            break;
        before = out->len;
        n = 1;
        if (!is_reference(text, &inside)) {
            buf_add_char(out, '&');
        } else {
            n = inside.len + 2;
            if (!decode_reference(e, bytes_of(text.at, n), inside, out,
                                  depth)) {
                buf_truncate(out, before);
                known = false;
            }
        }
        text = bytes_skip(text, n);
    }
    return known;
}

/* Appends `text` with its references replaced. False: it is not known in full,
 * since it has an external entity, or one that would pass a bound; that
 * reference is left out. */
static bool xml_entities_decode(struct xml_entities *e, struct bytes text,
                                struct buf *out)
{
    return decode(e, text, out, 0);
}

/* ---- declarations ---------------------------------------------------------*/

static struct bytes cut_entity_name(struct bytes *s)
{
    struct bytes name = bytes_of(s->at, 0);

    while (name.len < s->len && is_name_char(s->at[name.len]))
        name.len++;
    *s = bytes_skip(*s, name.len);
    return name;
}

/* Cuts a quoted literal off the start of *s; false: there is none. */
static bool cut_literal(struct bytes *s, struct bytes *inside)
{
    const char *end;

    if (s->len < 2 || (s->at[0] != '"' && s->at[0] != '\''))
        return false;
    end = memchr(s->at + 1, s->at[0], s->len - 1);
    if (end == NULL)
        return false;
    *inside = bytes_of(s->at + 1, (size_t)(end - s->at) - 1);
    *s = bytes_skip(*s, inside->len + 2);
    return true;
}

/* Appends the value with only its character references replaced. */
static void declared_value(struct bytes literal, struct buf *out)
{
    while (literal.len > 0) {
        struct bytes inside;
        uint32_t u;

        if (literal.at[0] == '&' && is_reference(literal, &inside) &&
            character(inside, &u)) {
            buf_add_utf8(out, u);
            literal = bytes_skip(literal, inside.len + 2);
        } else {
            buf_add_char(out, literal.at[0]);
            literal = bytes_skip(literal, 1);
        }
    }
}

/* The first declaration of a name counts (XML 1.0 section 4.2). */
static void declare(struct xml_entities *e, struct bytes name,
                    const struct bytes *literal)
{
    struct entity *entity;
    struct buf value;

    if (name.len == 0 || map_count(e->named) >= XML_ENTITY_COUNT_MOST ||
        map_get(e->named, name) != NULL)
        return;
    buf_init(&value, XML_ENTITY_VALUE_MOST);
    if (literal != NULL)
        declared_value(*literal, &value);
    entity = xmalloc(sizeof *entity + value.len);
    entity->value = bytes_of(NULL, 0); /* external, or too long */
    if (literal != NULL && buf_failed(&value) == STATUS_OK) {
        entity->value = bytes_of(entity + 1, value.len);
        if (value.len > 0)
            memcpy(entity + 1, value.at, value.len);
    }
    map_put(e->named, name, entity);
    buf_fini(&value);
}

/* `s` is after `<!ENTITY`: S Name S (literal | SYSTEM ... | PUBLIC ...).
 * Parameter entities (`% Name`) have no name here and are skipped. */
static void read_entity(struct xml_entities *e, struct bytes s)
{
    struct bytes name, literal, rest = bytes_skip_space(s);

    if (rest.len == s.len)
        return;
    name = cut_entity_name(&rest);
    rest = bytes_skip_space(rest);
    declare(e, name, cut_literal(&rest, &literal) ? &literal : NULL);
}

/* Reads the general entities in a DOCTYPE declaration. */
static void xml_entities_declare(struct xml_entities *e, struct bytes doctype)
{
    static const char comment[] = "<!--", entity[] = "<!ENTITY";

    while (doctype.len > 0) {
        const char *lt = memchr(doctype.at, '<', doctype.len);
        const char *end;

        if (lt == NULL)
            return;
        doctype = bytes_skip(doctype, (size_t)(lt - doctype.at));
        if (bytes_starts_with(doctype, comment)) {
            end = memmem(doctype.at, doctype.len, "-->", 3);
            if (end == NULL)
                return;
            doctype = bytes_skip(doctype, (size_t)(end - doctype.at));
        } else if (bytes_starts_with(doctype, entity)) {
            read_entity(e, bytes_skip(doctype, sizeof entity - 1));
        }
        doctype = bytes_skip(doctype, 1);
    }
}

#define XML_ATTRS_MOST 32

#define XML_TAG_MOST   ((size_t)1 << 18)

/*
 * One tag of tolerant XML: its extent, name and attributes.
 *
 * No state and no allocation; everything is borrowed from the input.
 */

struct xml_tag {
    struct bytes name;                     /* as written */
    bool empty;                            /* <name/> */
    struct xml_attr attrs[XML_ATTRS_MOST]; /* references not replaced yet */
    size_t attr_count;
};

enum xml_tag_kind {
    XML_TAG_START,
    XML_TAG_END,  /* </name>: attributes do not count */
    XML_TAG_NONE, /* the `<` begins no tag */
    XML_TAG_MORE  /* its end has not come yet; never if `final` */
};

/* May this octet begin a name? Every octet over 0x7f counts as a letter. */
static bool begins_name(char c)
{
    return ascii_is_letter(c) || c == '_' || c == ':' ||
           (unsigned char)c >= 0x80;
}

/* Does this octet end a name? */
static bool ends_name(char c)
{
    return ascii_is_space(c) || c == '/' || c == '>' || c == '=' || c == '<' ||
           c == '"' || c == '\'';
}

/* ---- extent ---------------------------------------------------------------*/

/* The length of the tag in `in`, with its `>` if it has one; 0: not complete
 * yet. */
static size_t tag_length(struct bytes in, bool final)
{
    size_t first_gt = 0; /* after the first `>`, in quotes or not */
    char quote = '\0';

    for (size_t i = 1; i < in.len; i++) {
        char c = in.at[i];

        if (c == '<')
            return first_gt > 0 ? first_gt : i;
        if (c == '>' && first_gt == 0)
            first_gt = i + 1;
        if (c == '>' && quote == '\0')
            return i + 1;
        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if ((c == '"' || c == '\'') &&
                 (in.at[i - 1] == '=' || ascii_is_space(in.at[i - 1])))
            quote = c;
    }
    if (!final)
        return 0;
    return first_gt > 0 ? first_gt : in.len;
}

/* ---- content --------------------------------------------------------------*/

static struct bytes cut_name(struct bytes *s)
{
    struct bytes name = bytes_of(s->at, 0);

    while (name.len < s->len && !ends_name(s->at[name.len]))
        name.len++;
    *s = bytes_skip(*s, name.len);
    return name;
}

/* Cuts a value: quoted, or up to white space. */
static struct bytes cut_value(struct bytes *s)
{
    struct bytes value = bytes_of(s->at, 0);
    const char *end;

    if (s->len > 0 && (s->at[0] == '"' || s->at[0] == '\'')) {
        end = memchr(s->at + 1, s->at[0], s->len - 1);
        value = bytes_skip(*s, 1);
        if (end != NULL)
            value.len = (size_t)(end - value.at);
        *s = bytes_skip(*s, value.len + 1 + (end != NULL));
        return value;
    }
    while (value.len < s->len && !ascii_is_space(s->at[value.len]))
        value.len++;
    *s = bytes_skip(*s, value.len);
    return value;
}

static void read_attrs(struct bytes s, struct xml_tag *tag)
{
    tag->attr_count = 0;
    for (;;) {
        struct xml_attr a = {.value = bytes_of(NULL, 0)};

        s = bytes_skip_space(s);
        if (s.len == 0)
            return;
        a.name = cut_name(&s);
        s = bytes_skip_space(s);
        if (s.len > 0 && s.at[0] == '=') {
            s = bytes_skip_space(bytes_skip(s, 1));
            a.value = cut_value(&s);
        } else if (a.name.len == 0) {
            s = bytes_skip(s, 1); /* skip a stray octet */
        }
        if (a.name.len > 0 && tag->attr_count < XML_ATTRS_MOST)
            tag->attrs[tag->attr_count++] = a;
    }
}

/* Reads the tag at the start of `in`, which is a `<`. *length: its octets. A
 * tag ends at a `>` outside quotes. A `<` inside a tag means that a quote was
 * left open: then the tag ends at its first `>`, or before the `<`. `final`:
 * the same applies to the end of the input. */
static enum xml_tag_kind xml_tag_read(struct bytes in, bool final,
                                      struct xml_tag *tag, size_t *length)
{
    bool end_tag = in.len > 1 && in.at[1] == '/';
    struct bytes inside = bytes_skip(in, (size_t)1 + end_tag);

    if (inside.len == 0)
        return final ? XML_TAG_NONE : XML_TAG_MORE;
    if (!begins_name(inside.at[0]))
        return XML_TAG_NONE;
    *length = tag_length(in, final);
    if (*length == 0)
        return XML_TAG_MORE;
    inside.len = *length - 1 - end_tag;
    if (inside.at[inside.len - 1] == '>')
        inside.len--;
    tag->name = cut_name(&inside);
    if (end_tag)
        return XML_TAG_END;
    tag->empty = inside.len > 0 && inside.at[inside.len - 1] == '/';
    if (tag->empty)
        inside.len--;
    read_attrs(inside, tag);
    return XML_TAG_START;
}

/*
 * Which namespace a prefix stands for, element by element.
 *
 * Namespaces in XML 1.0. An undeclared prefix has no namespace. Declarations
 * past XML_BINDINGS_MOST in force, and those longer than XML_NS_MOST octets,
 * are ignored. One thread at a time.
 */

enum { XML_BINDINGS_MOST = 64 };
#define XML_NS_MOST ((size_t)1024)

struct xml_namespaces { /* all zero to begin with */
    struct {
        char *prefix, *ns;
        size_t depth; /* of the element that declares it */
    } bindings[XML_BINDINGS_MOST];
    size_t count;
};

/* Records an attribute of the element at `depth`, if it is xmlns or xmlns:p. */
static void xml_namespaces_bind(struct xml_namespaces *n,
                                const struct xml_attr *a, size_t depth)
{
    static const char xmlns[] = "xmlns";
    struct bytes prefix;

    if (!bytes_starts_with(a->name, xmlns) || n->count == XML_BINDINGS_MOST ||
        a->name.len + a->value.len > XML_NS_MOST)
        return;
    prefix = bytes_skip(a->name, sizeof xmlns - 1);
    if (prefix.len > 0 && prefix.at[0] != ':')
        return;
    if (prefix.len > 0)
        prefix = bytes_skip(prefix, 1);
    n->bindings[n->count].prefix = xstrndup(prefix.at, prefix.len);
    n->bindings[n->count].ns = xstrndup(a->value.at, a->value.len);
    n->bindings[n->count].depth = depth;
    n->count++;
}

/* Forgets what elements at `depth` and deeper declared; 0: everything. */
static void xml_namespaces_forget(struct xml_namespaces *n, size_t depth)
{
    while (n->count > 0 && n->bindings[n->count - 1].depth >= depth) {
        n->count--;
        free(n->bindings[n->count].prefix);
        free(n->bindings[n->count].ns);
    }
}

static struct bytes namespace_of(const struct xml_namespaces *n,
                                 struct bytes prefix)
{
    for (size_t i = n->count; i > 0; i--)
        if (bytes_is(prefix, n->bindings[i - 1].prefix))
            return bytes_of_str(n->bindings[i - 1].ns);
    return bytes_of(NULL, 0);
}

/* An element's name as written, with its namespace in force; borrowed from
 * `written`, and from `n` until that element is forgotten. */
static struct xml_name xml_namespaces_resolve(const struct xml_namespaces *n,
                                              struct bytes written)
{
    struct xml_name name = {.local = written};
    const char *colon = memchr(written.at, ':', written.len);

    if (colon != NULL) {
        name.prefix = bytes_of(written.at, (size_t)(colon - written.at));
        name.local = bytes_skip(written, name.prefix.len + 1);
    }
    name.ns = namespace_of(n, name.prefix);
    return name;
}

/* Most text in one callback; also the most that a push adds to `pending` at
 * once. */
#define PIECE_MOST ((size_t)1 << 16)

enum state { CONTENT, COMMENT, CDATA, INSTRUCTION, DECLARATION };

struct element {
    size_t name_at, name_len; /* in xml_scan.names, as written */
};

#define NAMES_MOST ((size_t)1 << 18) /* of all open elements */

struct xml_scan {
    struct xml_handler h;
    enum state state;
    struct buf pending;
    struct buf decoded;  /* of text with references */
    struct arena *arena; /* of one tag's attributes */
    struct xml_entities *entities;
    struct element open[XML_DEPTH_MOST];
    struct buf names;
    size_t depth, too_deep; /* open elements; open ones past the bounds */
    struct xml_namespaces namespaces;
};

struct xml_scan *xml_scan_new(const struct xml_handler *h)
{
    struct xml_scan *s = xcalloc(1, sizeof *s);

    s->h = *h;
    buf_init(&s->pending, XML_TAG_MOST + PIECE_MOST);
    buf_init(&s->decoded, PIECE_MOST + 2 * XML_ENTITY_OUTPUT_MOST);
    buf_init(&s->names, NAMES_MOST);
    s->arena = arena_new(4 * XML_TAG_MOST + XML_ENTITY_OUTPUT_MOST);
    s->entities = xml_entities_new();
    return s;
}

void xml_scan_free(struct xml_scan *s)
{
    if (s == NULL)
        return;
    xml_namespaces_forget(&s->namespaces, 0);
    buf_fini(&s->pending);
    buf_fini(&s->decoded);
    buf_fini(&s->names);
    arena_free(s->arena);
    xml_entities_free(s->entities);
    free(s);
}

/* ---- text -----------------------------------------------------------------*/

static void literal_text(struct xml_scan *s, struct bytes text)
{
    if (text.len > 0 && s->too_deep == 0)
        s->h.text(s->h.ctx, text, false);
}

static void text_with_references(struct xml_scan *s, struct bytes text)
{
    bool known;

    if (text.len == 0 || memchr(text.at, '&', text.len) == NULL) {
        literal_text(s, text);
        return;
    }
    buf_clear(&s->decoded);
    known = xml_entities_decode(s->entities, text, &s->decoded);
    if (s->too_deep == 0)
        s->h.text(s->h.ctx, buf_bytes(&s->decoded),
                  !known || buf_failed(&s->decoded) != STATUS_OK);
}

/* How much of `text`, the end of the input so far, can be passed on: not a
 * reference that has only begun. */
static size_t whole_text(struct bytes text)
{
    const char *amp = text.len > 0 ? memrchr(text.at, '&', text.len) : NULL;
    size_t from_amp;

    if (amp == NULL)
        return text.len;
    from_amp = text.len - (size_t)(amp - text.at);
    if (from_amp >= XML_REFERENCE_MOST || memchr(amp, ';', from_amp) != NULL)
        return text.len;
    return text.len - from_amp;
}

/* ---- elements -------------------------------------------------------------*/

static struct bytes name_of(const struct xml_scan *s, size_t depth)
{
    const struct element *e = &s->open[depth - 1];

    return bytes_of(s->names.at + e->name_at, e->name_len);
}

static void close_element(struct xml_scan *s, bool closed)
{
    size_t depth = s->depth--;

    s->names.len = s->open[depth - 1].name_at;
    xml_namespaces_forget(&s->namespaces, depth);
    s->h.end(s->h.ctx, depth, closed);
}

/* While elements past the bounds are open, an end tag closes one of them,
 * unless an element within the bounds has its name: then those past the bounds
 * were most likely never closed. */
static void end_tag(struct xml_scan *s, struct bytes name)
{
    size_t depth = s->depth;

    while (depth > 0 && !bytes_equal(name_of(s, depth), name))
        depth--;
    if (depth == 0) {
        s->too_deep -= s->too_deep > 0;
        return;
    }
    s->too_deep = 0;
    while (s->depth >= depth)
        close_element(s, true);
}

/* Replaces the references in attribute values; those whose text cannot be
 * known become empty. */
static void decode_attrs(struct xml_scan *s, struct xml_tag *tag)
{
    for (size_t i = 0; i < tag->attr_count; i++) {
        struct bytes *v = &tag->attrs[i].value;
        char *copy = NULL;

        if (v->len == 0 || memchr(v->at, '&', v->len) == NULL)
            continue;
        buf_clear(&s->decoded);
        if (xml_entities_decode(s->entities, *v, &s->decoded) &&
            buf_failed(&s->decoded) == STATUS_OK)
            copy = arena_try_copy(s->arena, s->decoded.at, s->decoded.len);
        *v = copy != NULL ? bytes_of(copy, s->decoded.len) : bytes_of(NULL, 0);
    }
}

static void start_tag(struct xml_scan *s, struct xml_tag *tag)
{
    struct xml_name name;

    if (s->too_deep > 0 || s->depth == XML_DEPTH_MOST ||
        s->names.len + tag->name.len > NAMES_MOST) {
        s->too_deep += !tag->empty;
        return;
    }
    arena_reset(s->arena);
    decode_attrs(s, tag);
    for (size_t i = 0; i < tag->attr_count; i++)
        xml_namespaces_bind(&s->namespaces, &tag->attrs[i], s->depth + 1);
    s->open[s->depth] =
        (struct element){.name_at = s->names.len, .name_len = tag->name.len};
    buf_add_bytes(&s->names, tag->name);
    s->depth++;
    name = xml_namespaces_resolve(&s->namespaces, tag->name);
    s->h.start(s->h.ctx, &name, tag->attrs, tag->attr_count, s->depth);
    if (tag->empty)
        close_element(s, true);
}

/* ---- tokens ---------------------------------------------------------------*/

static const struct {
    const char *opens;
    enum state state;
} long_tokens[] = {{"<!--", COMMENT},
                   {"<![CDATA[", CDATA},
                   {"<?", INSTRUCTION},
                   {"<!", DECLARATION}};

/* At a `<`: does one of long_tokens begin here? *length: octets of its opening;
 * 0 if the input ends too early to tell. */
static bool opens_long_token(struct bytes in, enum state *state, size_t *length)
{
    for (size_t i = 0; i < sizeof long_tokens / sizeof *long_tokens; i++) {
        const char *opens = long_tokens[i].opens;
        size_t n = strlen(opens);

        if (in.len < n && memcmp(in.at, opens, in.len) == 0) {
            *length = 0;
            return true;
        }
        if (bytes_starts_with(in, opens)) {
            *state = long_tokens[i].state;
            *length = n;
            return true;
        }
    }
    return false;
}

/* The functions below read one token or a part of one at the start of `in`, and
 * return how many octets they read: 0 if they need more input. `final`: this is
 * the end of the input. */

static size_t read_markup(struct xml_scan *s, struct bytes in, bool final)
{
    struct xml_tag tag;
    size_t n = 0;

    if (opens_long_token(in, &s->state, &n)) {
        if (n == 0 && final)
            literal_text(s, in);
        return n == 0 && final ? in.len : n;
    }
    switch (xml_tag_read(in, final || in.len >= XML_TAG_MOST, &tag, &n)) {
    case XML_TAG_START:
        start_tag(s, &tag);
        return n;
    case XML_TAG_END:
        end_tag(s, tag.name);
        return n;
    case XML_TAG_NONE:
        literal_text(s, bytes_of(in.at, 1));
        return 1;
    case XML_TAG_MORE:
        break;
    }
    return 0;
}

static size_t read_content(struct xml_scan *s, struct bytes in, bool final)
{
    const char *lt = memchr(in.at, '<', in.len);
    size_t n = lt != NULL ? (size_t)(lt - in.at) : in.len;

    if (n == 0)
        return read_markup(s, in, final);
    if (lt == NULL && !final)
        n = whole_text(in);
    if (n > PIECE_MOST)
        n = whole_text(bytes_of(in.at, PIECE_MOST));
    text_with_references(s, bytes_of(in.at, n));
    return n;
}

/* Reads up to `close`; what comes before it is text only in a CDATA section. */
static size_t read_until(struct xml_scan *s, struct bytes in, bool final,
                         const char *close)
{
    size_t len = strlen(close), n;
    const char *end = memmem(in.at, in.len, close, len);

    if (end != NULL)
        n = (size_t)(end - in.at);
    else if (final)
        n = in.len;
    else
        n = in.len < len ? 0 : in.len - (len - 1);
    if (s->state == CDATA)
        literal_text(s, bytes_of(in.at, n));
    if (end == NULL)
        return n;
    s->state = CONTENT;
    return n + len;
}

/* `<!DOCTYPE ...>` and other declarations; `in` is after the `<!`. */
static size_t read_declaration(struct xml_scan *s, struct bytes in, bool final)
{
    size_t n = xml_declaration_length(in);

    if (n == 0 && !final && in.len < XML_TAG_MOST)
        return 0;
    s->state = CONTENT;
    if (n == 0) { /* it has no proper end: end at the first `>` */
        const char *gt = memchr(in.at, '>', in.len);

        return gt != NULL ? (size_t)(gt - in.at) + 1 : in.len;
    }
    if (in.len >= 7 &&
        bytes_equal_nocase(bytes_of(in.at, 7), bytes_of_str("DOCTYPE")))
        xml_entities_declare(s->entities, bytes_of(in.at, n));
    return n;
}

static size_t step(struct xml_scan *s, struct bytes in, bool final)
{
    switch (s->state) {
    case CONTENT:
        return read_content(s, in, final);
    case COMMENT:
        return read_until(s, in, final, "-->");
    case CDATA:
        return read_until(s, in, final, "]]>");
    case INSTRUCTION:
        return read_until(s, in, final, "?>");
    case DECLARATION:
        return read_declaration(s, in, final);
    }
    return in.len;
}

/* Reads `in` as far as possible; returns the octets read. */
static size_t scan(struct xml_scan *s, struct bytes in, bool final)
{
    size_t taken = 0, n = 1;

    while (taken < in.len && n > 0) {
        n = step(s, bytes_skip(in, taken), final);
        taken += n;
    }
    return taken;
}

static void push_piece(struct xml_scan *s, struct bytes in)
{
    size_t taken;

    if (s->pending.len == 0) {
        taken = scan(s, in, false);
        buf_add_bytes(&s->pending, bytes_skip(in, taken));
        return;
    }
    buf_add_bytes(&s->pending, in);
    taken = scan(s, buf_bytes(&s->pending), false);
    s->pending.len -= taken;
    memmove(s->pending.at, s->pending.at + taken, s->pending.len);
}

void xml_scan_push(struct xml_scan *s, struct bytes in)
{
    while (in.len > 0) {
        size_t n = in.len < PIECE_MOST ? in.len : PIECE_MOST;

        push_piece(s, bytes_of(in.at, n));
        in = bytes_skip(in, n);
    }
}

void xml_scan_finish(struct xml_scan *s)
{
    struct bytes rest = buf_bytes(&s->pending);

    if (rest.len > 0)
        scan(s, rest, true);
    buf_clear(&s->pending);
    s->too_deep = 0;
    while (s->depth > 0)
        close_element(s, false);
}

struct bytes xml_attr_value(const struct xml_attr *attrs, size_t n,
                            const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (bytes_is(attrs[i].name, name))
            return bytes_trim(attrs[i].value);
    return bytes_of(NULL, 0);
}
