/* SPDX-License-Identifier: MIT */
/*
 * redis_url.c - where a Bloom filter in Redis is, and how it is laid out.
 */
#include "filter/redis/redis_url.h"

#include "base/bytes.h"

static const char *const hash_names[REDIS_HASHES_] = {"double", "salted",
                                                      "double32"};

const char *redis_hash_name(enum redis_hash h)
{
    return hash_names[h];
}

bool redis_hash_named(struct bytes name, enum redis_hash *out)
{
    for (int h = 0; h < REDIS_HASHES_; h++)
        if (bytes_is(name, hash_names[h])) {
            *out = (enum redis_hash)h;
            return true;
        }
    return false;
}

static enum status wrong(struct buf *error, const char *why)
{
    buf_addf(error,
             "a Redis URL is "
             "redis://[user:password@][host[:port]][/db][?key=NAME&...], "
             "rediss:// for TLS, or redis+unix:///path?...; %s",
             why);
    return STATUS_FORMAT;
}

static enum status take_setting(struct redis_place *p, struct bytes name,
                                struct bytes value, struct buf *error)
{
    uint64_t n;

    if (bytes_is(name, "key")) {
        if (value.len == 0 || !redis_url_unescape(value, p->key, sizeof p->key))
            return wrong(error, "key= is empty, longer than 255 octets or has "
                                "a broken %XX");
    } else if (bytes_is(name, "layout")) {
        if (!bytes_is(value, "blocked") && !bytes_is(value, "plain"))
            return wrong(error, "layout= is blocked or plain");
        p->layout = bytes_is(value, "plain") ? REDIS_PLAIN : REDIS_BLOCKED;
        p->layout_given = true;
    } else if (bytes_is(name, "hash")) {
        if (!redis_hash_named(value, &p->hash))
            return wrong(error, "hash= is double, double32 or salted");
        p->hash_given = true;
    } else if (bytes_is(name, "bits")) {
        if (!redis_url_number(value, REDIS_MOST_BITS, &p->bits) || p->bits == 0)
            return wrong(error, "bits= is a number up to 4294967296: a Redis "
                                "string ends at offset 2^32-1");
    } else if (bytes_is(name, "k")) {
        if (!redis_url_number(value, REDIS_MOST_K, &n) || n == 0)
            return wrong(error, "k= is a number from 1 to 64");
        p->k = (unsigned)n;
    } else if (bytes_is(name, "db")) {
        if (!redis_url_number(value, 65535, &n))
            return wrong(error, "a database is a number");
        p->at.db = (unsigned)n;
    } else if (bytes_is(name, "ttl")) {
        if (!redis_url_duration(value, &p->ttl_ms))
            return wrong(error, "ttl= is a time such as 90s, 15m, 24h or 7d");
    } else if (bytes_is(name, "timeout")) {
        if (!redis_url_duration(value, &p->timeout_ms) ||
            p->timeout_ms > 3600 * 1000)
            return wrong(error, "timeout= is a time such as 2s, an hour at "
                                "most");
    } else if (bytes_is(name, "retry")) {
        /* The server remembers answers for ten minutes; retries take twice this
         * time at most. */
        if (!redis_url_duration(value, &p->retry_ms) ||
            p->retry_ms > 3 * 60 * 1000)
            return wrong(error, "retry= is a time such as 30s, 3m at most");
    } else {
        return wrong(error, "settings are key, db, layout, bits, k, hash, ttl, "
                            "timeout and retry");
    }
    return STATUS_OK;
}

static enum status take_settings(struct redis_place *p, struct bytes query,
                                 struct buf *error)
{
    enum status st = STATUS_OK;

    while (st == STATUS_OK && query.len > 0) {
        struct bytes value = redis_url_cut(&query, '&'), name;

        if (value.len == 0)
            continue;
        name = redis_url_cut(&value, '=');
        st = take_setting(p, name, value, error);
    }
    return st;
}

/* Check settings against each other. */
static enum status check(const struct redis_place *p, struct buf *error)
{
    if (p->layout == REDIS_BLOCKED && p->hash != REDIS_DOUBLE)
        return wrong(error, "hash= belongs to layout=plain");
    if (p->layout == REDIS_BLOCKED &&
        (p->k % 4 != 0 || p->k > 24 || p->bits % 512 != 0))
        return wrong(error, "with layout=blocked k is a multiple of 4, at "
                            "most 24, and bits is a multiple of 512");
    return STATUS_OK;
}

enum status redis_url_parse(struct redis_place *out, const char *text,
                            struct buf *error)
{
    struct redis_place p = {.key = "urlweir:filter",
                            .timeout_ms = 2000,
                            .retry_ms = 5000};
    struct redis_url_parts parts;
    const char *why;
    enum status st = redis_address_read(&parts, text, &why);
    uint64_t n;

    if (st != STATUS_OK)
        return wrong(error, why);
    p.at = parts.at;
    if (parts.path.len > 0) {
        if (!redis_url_number(parts.path, 65535, &n))
            return wrong(error, "after the host comes the number of a "
                                "database");
        p.at.db = (unsigned)n;
    }
    st = take_settings(&p, parts.settings, error);
    if (st == STATUS_OK)
        st = check(&p, error);
    if (st == STATUS_OK)
        *out = p;
    return st;
}

void redis_url_show(const struct redis_place *p, struct buf *out)
{
    redis_address_show(&p->at, out);
    buf_addf(out, p->at.is_unix ? "?db=%u&key=%s" : "/%u?key=%s", p->at.db,
             p->key);
}
