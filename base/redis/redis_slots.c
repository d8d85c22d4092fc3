/* SPDX-License-Identifier: MIT */
/*
 * redis_slots.c - which server of a Redis Cluster has which slot.
 *
 * The CRC is computed here: asking a server for each of a thousand tags
 * (CLUSTER KEYSLOT) would be a state of its own for sixteen lines less.
 */
#include "base/redis/redis_slots.h"

#include <string.h>

/* CRC-16/XMODEM: polynomial 0x1021, from 0, not reflected. */
uint16_t redis_slot_of(struct bytes tag)
{
    uint32_t crc = 0;

    for (size_t i = 0; i < tag.len; i++) {
        crc ^= (uint32_t)(unsigned char)tag.at[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
        crc &= 0xffff;
    }
    return (uint16_t)(crc % REDIS_SLOTS);
}

static bool is_host(struct bytes host)
{
    for (size_t i = 0; i < host.len; i++)
        if (host.at[i] <= ' ' || host.at[i] > '~')
            return false;
    return host.len < 256;
}

enum status redis_slots_read(const redisReply *r, size_t i,
                             struct redis_slot_range *out)
{
    const redisReply *range, *node;

    if (r->type != REDIS_REPLY_ARRAY || i >= r->elements)
        return STATUS_FORMAT;
    range = r->element[i];
    if (range->type != REDIS_REPLY_ARRAY || range->elements < 3 ||
        range->element[0]->type != REDIS_REPLY_INTEGER ||
        range->element[1]->type != REDIS_REPLY_INTEGER)
        return STATUS_FORMAT;
    node = range->element[2];
    if (node->type != REDIS_REPLY_ARRAY || node->elements < 2 ||
        (node->element[0]->type != REDIS_REPLY_STRING &&
         node->element[0]->type != REDIS_REPLY_NIL) ||
        node->element[1]->type != REDIS_REPLY_INTEGER)
        return STATUS_FORMAT;
    if (range->element[0]->integer < 0 ||
        range->element[1]->integer >= REDIS_SLOTS ||
        range->element[0]->integer > range->element[1]->integer ||
        node->element[1]->integer < 1 || node->element[1]->integer > 65535)
        return STATUS_FORMAT;
    out->first = (uint16_t)range->element[0]->integer;
    out->last = (uint16_t)range->element[1]->integer;
    out->spot.host =
        node->element[0]->type == REDIS_REPLY_NIL
            ? bytes_of("", 0)
            : bytes_of(node->element[0]->str, (size_t)node->element[0]->len);
    out->spot.port = (uint16_t)node->element[1]->integer;
    return is_host(out->spot.host) ? STATUS_OK : STATUS_FORMAT;
}

/* Read decimal digits at the start of *in, and skip them. */
static bool take_number(struct bytes *in, uint32_t most, uint16_t *out)
{
    uint32_t n = 0;
    size_t i = 0;

    while (i < in->len && i < 6 && in->at[i] >= '0' && in->at[i] <= '9')
        n = n * 10 + (uint32_t)(in->at[i++] - '0');
    if (i == 0 || n > most)
        return false;
    *in = bytes_skip(*in, i);
    *out = (uint16_t)n;
    return true;
}

enum status redis_redirect_read(struct bytes text, bool *ask, uint16_t *slot,
                                struct redis_spot *out)
{
    size_t colon;

    *ask = bytes_starts_with(text, "ASK ");
    if (!*ask && !bytes_starts_with(text, "MOVED "))
        return STATUS_FORMAT;
    text = bytes_skip(text, *ask ? 4 : 6);
    if (!take_number(&text, REDIS_SLOTS - 1, slot) || text.len == 0 ||
        text.at[0] != ' ')
        return STATUS_FORMAT;
    text = bytes_skip(text, 1);
    for (colon = text.len; colon > 0 && text.at[colon - 1] != ':'; colon--)
        ;
    if (colon == 0)
        return STATUS_FORMAT;
    out->host = bytes_of(text.at, colon - 1);
    text = bytes_skip(text, colon); /* an IPv6 address has colons, too */
    if (!take_number(&text, 65535, &out->port) || text.len != 0 ||
        out->port == 0 || !is_host(out->host))
        return STATUS_FORMAT;
    return STATUS_OK;
}
