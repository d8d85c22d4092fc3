/* SPDX-License-Identifier: MIT */
/*
 * xml_entities.c - character and entity references in tolerant XML.
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
#include "crawler/sitemap/xml_entities.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/map.h"
#include "base/mem.h"

struct entity {
    struct bytes value; /* points behind the struct; NULL: external */
};

struct xml_entities {
    struct map *named;
    size_t left; /* octets that expansions may still write */
};

struct xml_entities *xml_entities_new(void)
{
    struct xml_entities *e = xcalloc(1, sizeof *e);

    e->named = map_new();
    e->left = XML_ENTITY_OUTPUT_MOST;
    return e;
}

void xml_entities_free(struct xml_entities *e)
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

bool xml_entities_decode(struct xml_entities *e, struct bytes text,
                         struct buf *out)
{
    return decode(e, text, out, 0);
}

/* ---- declarations ---------------------------------------------------------*/

static struct bytes cut_name(struct bytes *s)
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
    name = cut_name(&rest);
    rest = bytes_skip_space(rest);
    declare(e, name, cut_literal(&rest, &literal) ? &literal : NULL);
}

void xml_entities_declare(struct xml_entities *e, struct bytes doctype)
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
