/* SPDX-License-Identifier: MIT */
/* link_said.c - what is said of the links of one page, packed. */
#include "storage/rows/link_said.h"

#include "storage/db/packed.h"

void link_said_put(struct buf *out, const struct link_said *said)
{
    packed_put_count(out, said->rel.len);
    packed_put_count(out, said->text.len);
    packed_put_count(out, said->dropped.len);
    if (said->dropped.len > 0)
        buf_add_char(out, (char)said->reason);
    buf_add_bytes(out, said->rel);
    buf_add_bytes(out, said->text);
    buf_add_bytes(out, said->dropped);
}

bool link_said_get(struct bytes *rest, struct link_said *out)
{
    uint64_t rel = 0, text = 0, dropped = 0;

    *out = (struct link_said){.reason = 0};
    if (!packed_take_count(rest, LINK_TEXT_MOST, &rel) ||
        !packed_take_count(rest, LINK_TEXT_MOST, &text) ||
        !packed_take_count(rest, LINK_DROPPED_MOST, &dropped) ||
        rest->len < rel + text + dropped + (dropped > 0))
        return false;
    if (dropped > 0)
        out->reason = (uint8_t)packed_take(rest, 1).at[0];
    out->rel = packed_take(rest, rel);
    out->text = packed_take(rest, text);
    out->dropped = packed_take(rest, dropped);
    return true;
}
