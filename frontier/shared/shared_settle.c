/* SPDX-License-Identifier: MIT */
/*
 * shared_settle.c - ends leases, and shows one URL.
 *
 * A lease names its shard, and the shard knows its URL. The script that ends it
 * has to declare the URL's queue, so a look comes first.
 */
#include "frontier/shared/shared_impl.h"

#define LEASE_BITS 44
#define LEASE_MASK ((UINT64_C(1) << LEASE_BITS) - 1)

/* Place and ID of the URL of a lease go into one->text. */
static enum status whose(struct shared_hand *h, uint64_t lease,
                         struct shared_one *one)
{
    struct shared_round *r = shared_round_new(h, shared_take_one, one);
    struct shared_call *c =
        shared_call_new(r, (unsigned)(lease >> LEASE_BITS), SHARED_WHOSE, 0);

    shared_call_key(c, "t", bytes_of("", 0));
    shared_call_number(c, (int64_t)(lease & LEASE_MASK));
    (void)shared_round_run(r, INT64_MAX);
    return one->st;
}

static enum status settle(struct shared_hand *h, uint64_t lease,
                          struct bytes place, enum url_settle how,
                          int64_t due_ms, const struct bytes *metadata)
{
    struct shared_one one = {.st = STATUS_CLOSED};
    struct bytes crawl, key;
    struct shared_round *r;
    struct shared_call *c;

    if (place.len < SHARED_PLACE_SIZE ||
        !shared_id_read(bytes_skip(place, SHARED_PLACE_SIZE), &crawl, &key))
        return STATUS_DAMAGED;
    buf_init(&one.text, 4096);
    r = shared_round_new(h, shared_take_one, &one);
    c = shared_call_new(r, (unsigned)(lease >> LEASE_BITS), SHARED_SETTLE, 0);
    shared_call_changes(c, true);
    (void)shared_call_queue(c, crawl, key);
    shared_call_number(c, (int64_t)(lease & LEASE_MASK));
    shared_call_arg(c,
                    bytes_of(place.at + SHARED_PLACE_SIZE - SHARED_DIGEST_SIZE,
                             SHARED_DIGEST_SIZE));
    shared_call_arg(c,
                    bytes_of_str(how == URL_SETTLE_EXTEND ? "extend" : "date"));
    shared_call_number(c, due_ms);
    shared_call_arg(c, bytes_of_str(metadata == NULL ? "keep" : "new"));
    shared_call_arg(c, metadata != NULL ? *metadata : bytes_of("", 0));
    (void)shared_round_run(r, INT64_MAX);
    buf_fini(&one.text);
    return one.st == STATUS_OK && one.number == 0 ? STATUS_NOT_FOUND : one.st;
}

enum status shared_settle(struct shared_hand *h, uint64_t lease,
                          enum url_settle how, int64_t due_ms,
                          const struct bytes *metadata)
{
    struct shared_one one = {.st = STATUS_CLOSED};
    enum status st;

    if (lease >> LEASE_BITS >= h->s->shards)
        return STATUS_NOT_FOUND;
    buf_init(&one.text, SHARED_ID_MOST + SHARED_PLACE_SIZE);
    st = whose(h, lease, &one);
    if (st == STATUS_OK)
        st = settle(h, lease, buf_bytes(&one.text), how, due_ms, metadata);
    buf_fini(&one.text);
    return st;
}

/* ---- one URL ---- */

struct find_state {
    enum status st;
    unsigned shard;
    struct bytes crawl, key;
    struct url_facts *facts;
    url_visit visit;
    void *ctx;
};

static enum url_state state_of(int64_t due_ms, uint64_t lease)
{
    return due_ms == 0  ? URL_STATE_COMPLETED
           : lease != 0 ? URL_STATE_LEASED
                        : URL_STATE_QUEUED;
}

static void show(struct find_state *f, const redisReply *r)
{
    uint64_t lease = (uint64_t)r->element[4]->integer;
    const struct url_view view = {
        .crawl = f->crawl,
        .key = f->key,
        .url = shared_text(r, 0),
        .metadata = shared_text(r, 1),
        .due_ms = r->element[2]->integer,
        .created_ms = r->element[3]->integer,
        .lease = lease != 0 ? (uint64_t)f->shard << LEASE_BITS | lease : 0};

    *f->facts = (struct url_facts){.state = state_of(view.due_ms, lease),
                                   .due_ms = view.due_ms,
                                   .created_ms = view.created_ms,
                                   .leased_until_ms = r->element[5]->integer,
                                   .blocked_until_ms = r->element[6]->integer,
                                   .served_ms = r->element[7]->integer,
                                   .delay_ms = r->element[8]->integer,
                                   .limit = (uint32_t)r->element[9]->integer};
    (void)f->visit(f->ctx, &view);
}

static void find_came(void *ctx, size_t index, enum status st,
                      const redisReply *r)
{
    struct find_state *f = ctx;

    (void)index;
    if (st == STATUS_OK && r->type != REDIS_REPLY_ARRAY)
        st = STATUS_FORMAT;
    if (st == STATUS_OK && r->elements == 0)
        st = STATUS_NOT_FOUND;
    if (st == STATUS_OK && (!shared_is_text(r, 0) || !shared_is_text(r, 1)))
        st = STATUS_FORMAT;
    for (size_t i = 2; st == STATUS_OK && i < 10; i++)
        if (!shared_is_number(r, i))
            st = STATUS_FORMAT;
    f->st = st;
    if (st == STATUS_OK)
        show(f, r);
}

enum status shared_find(struct shared_hand *h, struct bytes crawl,
                        struct bytes key, struct bytes url,
                        struct url_facts *facts, url_visit visit, void *ctx)
{
    struct find_state f = {.st = STATUS_CLOSED,
                           .shard = shared_shard_of(h->s, crawl, key),
                           .crawl = crawl,
                           .key = key,
                           .facts = facts,
                           .visit = visit,
                           .ctx = ctx};
    struct shared_round *r = shared_round_new(h, find_came, &f);
    struct shared_call *c = shared_call_new(r, f.shard, SHARED_FIND, 0);
    char digest[SHARED_DIGEST_SIZE];
    struct buf id;

    buf_init(&id, SHARED_ID_MOST);
    shared_id_write(&id, crawl, key);
    shared_digest(h->s, crawl, key, url, digest);
    shared_call_key(c, "m", bytes_of("", 0));
    shared_call_key(c, "q", bytes_of("", 0));
    shared_call_key(c, "u:", buf_bytes(&id));
    shared_call_key(c, "h:", buf_bytes(&id));
    shared_call_copy(c, buf_bytes(&id));
    shared_call_copy(c, bytes_of(digest, sizeof digest));
    (void)shared_round_run(r, INT64_MAX);
    buf_fini(&id);
    return f.st;
}
