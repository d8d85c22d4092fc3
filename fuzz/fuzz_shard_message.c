/* SPDX-License-Identifier: MIT */
/*
 * fuzz_shard_message.c - any octets are a URL for a shard, or are refused. What
 * is taken is written again and means the same.
 */
#include <assert.h>
#include <stdint.h>

#include "cluster/shard_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(const struct shard_message *a, const struct shard_message *b)
{
    return a->seed == b->seed && a->depth == b->depth && a->hops == b->hops &&
           a->kind == b->kind && a->has_hint == b->has_hint &&
           a->has_label == b->has_label && bytes_equal(a->url, b->url) &&
           a->hint.priority == b->hint.priority &&
           a->hint.lastmod_ms == b->hint.lastmod_ms &&
           a->hint.changefreq == b->hint.changefreq &&
           bytes_equal(a->label.rel, b->label.rel) &&
           bytes_equal(a->label.text, b->label.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shard_message m, again;
    struct buf out;

    if (shard_message_read(&m, bytes_of(data, size)) != STATUS_OK)
        return 0;
    buf_init(&out, SHARD_MESSAGE_MOST);
    shard_message_write(&out, &m);
    /* The same in no more octets: a varint may have been longer. */
    assert(buf_failed(&out) == STATUS_OK && out.len <= size);
    assert(shard_message_read(&again, buf_bytes(&out)) == STATUS_OK);
    assert(same(&m, &again));
    buf_fini(&out);
    return 0;
}
