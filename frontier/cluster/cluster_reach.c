/* SPDX-License-Identifier: MIT */
/* cluster_reach.c - what workers tell each other of a host. */
#include "frontier/cluster/cluster_reach.h"

#include "base/clock.h"
#include "storage/db/packed.h"

#define ANSWERED    1
#define GIVEN_UP    2
#define SILENT_MOST (INT64_C(1000) * 24 * 3600 * 1000) /* ms */

void cluster_reach_write(const struct external_reach *r, struct buf *out)
{
    unsigned char text[2 + 2 * VARINT_MOST];
    size_t n = 0;

    text[n++] = (unsigned char)((r->answered ? ANSWERED : 0) |
                                (r->given_up ? GIVEN_UP : 0));
    if (r->failures > 0) {
        text[n++] = (unsigned char)r->reason;
        n += varint_put(text + n, r->failures);
        n += varint_put(text + n, (uint64_t)(r->silent_for / NS_PER_MS));
    }
    buf_add(out, (const char *)text, n);
}

static bool read_failures(struct external_reach *r, const unsigned char *at,
                          const unsigned char *end)
{
    uint64_t failures = 0, silent = 0;

    if (*at >= REASON_COUNT_)
        return false;
    r->reason = *at;
    at = varint_get(at + 1, end, &failures);
    if (at != NULL)
        at = varint_get(at, end, &silent);
    if (at != end || failures < 1 || failures > UINT32_MAX / 2 ||
        silent > SILENT_MOST)
        return false;
    r->failures = (uint32_t)failures;
    r->silent_for = (int64_t)silent * NS_PER_MS;
    return true;
}

bool cluster_reach_read(struct external_reach *out, struct bytes text)
{
    const unsigned char *at = (const unsigned char *)text.at;
    struct external_reach r = {.answered = false};

    *out = r;
    if (text.len == 0)
        return true;
    r.answered = (at[0] & ANSWERED) != 0;
    r.given_up = (at[0] & GIVEN_UP) != 0;
    if (text.len > 1 && !read_failures(&r, at + 1, at + text.len))
        return false;
    *out = r;
    return true;
}
