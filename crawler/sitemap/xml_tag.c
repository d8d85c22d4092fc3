/* SPDX-License-Identifier: MIT */
/* xml_tag.c - one tag of tolerant XML: its extent, name and attributes. */
#include "crawler/sitemap/xml_tag.h"

#include "base/ascii.h"

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

enum xml_tag_kind xml_tag_read(struct bytes in, bool final, struct xml_tag *tag,
                               size_t *length)
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
