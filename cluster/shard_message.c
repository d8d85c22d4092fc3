/* SPDX-License-Identifier: MIT */
/*
 * shard_message.c - a URL on its way from one shard to another, as octets.
 *
 *     octet    version, 1
 *     octet    flags: 1 seed, 2 hint, 4 label
 *     varint   depth, hops, kind
 *     text     URL: a varint, and so many octets
 *     varint   of a hint: priority + 1, lastmod (zigzag),
 *              changefreq
 *     text     of a label: rel, text
 */
#include "cluster/shard_message.h"

#include "storage/db/packed.h"
#include "storage/rows/link_store.h"

#define VERSION 1

enum { FLAG_SEED = 1, FLAG_HINT = 2, FLAG_LABEL = 4 };

static void add_number(struct buf *out, uint64_t v)
{
    unsigned char octets[VARINT_MOST];

    buf_add(out, octets, varint_put(octets, v));
}

static void add_text(struct buf *out, struct bytes text)
{
    add_number(out, text.len);
    buf_add_bytes(out, text);
}

void shard_message_write(struct buf *out, const struct shard_message *m)
{
    int64_t lastmod = m->hint.lastmod_ms;

    buf_add_char(out, VERSION);
    buf_add_char(out, (char)((m->seed ? FLAG_SEED : 0) |
                             (m->has_hint ? FLAG_HINT : 0) |
                             (m->has_label ? FLAG_LABEL : 0)));
    add_number(out, m->depth);
    add_number(out, m->hops);
    add_number(out, m->kind);
    add_text(out, m->url);
    if (m->has_hint) {
        add_number(out, (uint64_t)(m->hint.priority + 1)); /* -1: none */
        add_number(out,
                   (uint64_t)lastmod << 1 ^ (lastmod < 0 ? UINT64_MAX : 0));
        add_number(out, m->hint.changefreq);
    }
    if (m->has_label) {
        add_text(out, m->label.rel);
        add_text(out, m->label.text);
    }
}

struct reader {
    const unsigned char *at, *end; /* at NULL: not valid */
};

static uint64_t read_number(struct reader *r, uint64_t most)
{
    uint64_t v = 0;

    if (r->at != NULL)
        r->at = varint_get(r->at, r->end, &v);
    if (r->at != NULL && v <= most)
        return v;
    r->at = NULL;
    return 0;
}

static struct bytes read_text(struct reader *r, size_t most)
{
    size_t len = (size_t)read_number(r, most);
    struct bytes text = bytes_of("", 0);

    if (r->at == NULL || len > (size_t)(r->end - r->at)) {
        r->at = NULL;
        return text;
    }
    text = bytes_of(r->at, len);
    r->at += len;
    return text;
}

static struct url_hint read_hint(struct reader *r)
{
    struct url_hint h = {.priority = (int16_t)(read_number(r, 1001))};
    uint64_t lastmod = read_number(r, UINT64_MAX);

    h.priority--;
    h.lastmod_ms = (int64_t)(lastmod >> 1 ^ (lastmod & 1 ? UINT64_MAX : 0));
    h.changefreq = (uint8_t)read_number(r, CHANGEFREQ_COUNT_ - 1);
    return h;
}

enum status shard_message_read(struct shard_message *out, struct bytes octets)
{
    const unsigned char *at = (const unsigned char *)octets.at;
    struct reader r = {at + 2, at + octets.len};
    unsigned flags;

    if (octets.len < 2 || octets.len > SHARD_MESSAGE_MOST || at[0] != VERSION)
        return STATUS_FORMAT;
    flags = at[1];
    *out = (struct shard_message){.seed = (flags & FLAG_SEED) != 0,
                                  .has_hint = (flags & FLAG_HINT) != 0,
                                  .has_label = (flags & FLAG_LABEL) != 0};
    out->depth = (uint32_t)read_number(&r, UINT32_MAX / 2);
    out->hops = (uint16_t)read_number(&r, UINT16_MAX);
    out->kind = (uint8_t)read_number(&r, 31);
    out->url = read_text(&r, SHARD_MESSAGE_MOST);
    if (out->has_hint)
        out->hint = read_hint(&r);
    if (out->has_label) {
        out->label.rel = read_text(&r, LINK_TEXT_MOST);
        out->label.text = read_text(&r, LINK_TEXT_MOST);
    }
    return r.at == r.end && flags < 8 ? STATUS_OK : STATUS_FORMAT;
}
