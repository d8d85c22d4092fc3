/* SPDX-License-Identifier: MIT */
/* link_said.c - what is said of the links of one page, packed. */
#include "storage/rows/link_said.h"

#include "storage/db/packed.h"

static void put_length(struct buf *out, size_t n)
{
    unsigned char room[VARINT_MOST];

    buf_add(out, room, varint_put(room, n));
}

void link_said_put(struct buf *out, const struct link_said *said)
{
    put_length(out, said->rel.len);
    put_length(out, said->text.len);
    put_length(out, said->dropped.len);
    if (said->dropped.len > 0)
        buf_add_char(out, (char)said->reason);
    buf_add_bytes(out, said->rel);
    buf_add_bytes(out, said->text);
    buf_add_bytes(out, said->dropped);
}

static bool get_length(struct bytes *rest, size_t most, size_t *n)
{
    const unsigned char *at = (const unsigned char *)rest->at;
    const unsigned char *next;
    uint64_t value = 0;

    if (rest->len == 0)
        return false;
    next = varint_get(at, at + rest->len, &value);
    if (next == NULL || value > most)
        return false;
    *n = (size_t)value;
    *rest = bytes_of((const char *)next, rest->len - (size_t)(next - at));
    return true;
}

static struct bytes take(struct bytes *rest, size_t n)
{
    struct bytes text = bytes_of(n > 0 ? rest->at : NULL, n);

    *rest = bytes_of(rest->at + n, rest->len - n);
    return text;
}

bool link_said_get(struct bytes *rest, struct link_said *out)
{
    size_t rel = 0, text = 0, dropped = 0;

    *out = (struct link_said){.reason = 0};
    if (!get_length(rest, LINK_TEXT_MOST, &rel) ||
        !get_length(rest, LINK_TEXT_MOST, &text) ||
        !get_length(rest, LINK_DROPPED_MOST, &dropped) ||
        rest->len < rel + text + dropped + (dropped > 0))
        return false;
    if (dropped > 0)
        out->reason = (uint8_t)take(rest, 1).at[0];
    out->rel = take(rest, rel);
    out->text = take(rest, text);
    out->dropped = take(rest, dropped);
    return true;
}
