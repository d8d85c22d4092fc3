/* SPDX-License-Identifier: MIT */
/* tag_values.c - attributes of one tag of the markup, as libxml2 hands them
 * out.
 */
#include "crawler/html/tag_values.h"

#include "crawler/html/html_markup.h"
#include "crawler/html/html_words.h"

static struct bytes *value_place(struct tag_values *v, enum html_word w)
{
    switch (w) {
    case WORD_HREF:
        return &v->href;
    case WORD_SRC:
        return &v->src;
    case WORD_SRCSET:
        return &v->srcset;
    case WORD_ACTION:
        return &v->action;
    case WORD_DATA:
        return &v->data;
    case WORD_CITE:
        return &v->cite;
    case WORD_CONTENT:
        return &v->content;
    case WORD_HTTP_EQUIV:
        return &v->http_equiv;
    case WORD_NAME:
        return &v->name;
    case WORD_PROPERTY:
        return &v->property;
    case WORD_REL:
        return &v->rel;
    case WORD_TYPE:
        return &v->type;
    case WORD_STYLE:
        return &v->style;
    case WORD_DATA_SRC:
        return &v->data_src;
    case WORD_DATA_SRCSET:
        return &v->data_srcset;
    case WORD_POSTER:
        return &v->poster;
    case WORD_ALT:
        return &v->alt;
    case WORD_HREFLANG:
        return &v->hreflang;
    case WORD_BACKGROUND:
        return &v->background;
    case WORD_IMAGESRCSET:
        return &v->imagesrcset;
    case WORD_SRCDOC:
        return &v->srcdoc;
    default:
        return NULL;
    }
}

/* libxml2 gives each attribute as five pointers: local name, prefix, namespace,
 * where the value begins, where it ends. The value stands in libxml2's input.
 */
#define ATT_PARTS 5

static struct bytes raw_value(const xmlChar *const *att)
{
    return bytes_of(att[3], (size_t)(att[4] - att[3]));
}

/* `room` must not move. */
static struct bytes decoded_value(struct buf *room, struct bytes raw)
{
    size_t at = room->len;

    if (!html_markup_is_coded(raw))
        return raw;
    html_markup_read(room, raw);
    return bytes_of(room->at + at, room->len - at);
}

struct tag_values tag_values_of(struct buf *room, const xmlChar *const *atts,
                                int count)
{
    struct tag_values v = {0};
    size_t total = 0;

    for (int i = 0; i < count; i++)
        total += raw_value(atts + i * ATT_PARTS).len;
    buf_clear(room);
    if (buf_room(room, total) == NULL)
        return v;
    for (int i = 0; i < count; i++, atts += ATT_PARTS) {
        struct bytes name = bytes_of_str((const char *)atts[0]);
        struct bytes *place = value_place(&v, html_word_of(name));

        if (place != NULL)
            *place = decoded_value(room, raw_value(atts));
    }
    return v;
}
