/* SPDX-License-Identifier: MIT */
/*
 * cluster_verify_urls.c - the URLs of a host: items that can be read, seen, in
 * one place. All URLs that could be the same one are in the queues of one host,
 * so the fingerprints of one host are enough to find repeats.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/cluster_check/cluster_verify_impl.h"
#include "frontier/cluster_store/cluster_item.h"
#include "frontier/url/queue_key.h"
#include "frontier/url/url.h"

#define AT_ONCE 48 /* items: replies are bounded */

static const struct bytes nothing = {"", 0};

/* ---- fingerprints ---- */

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* `text` begins with an octet that counts lost leases. */
static bool read_item(const struct verify *v, const struct verify_host *h,
                      struct bytes text, uint64_t *fp)
{
    struct cluster_item item;
    struct url u;
    struct buf whole;
    bool valid;

    buf_init(&whole, CLUSTER_ITEM_MOST);
    valid = text.len > 1 && cluster_item_read(&item, bytes_skip(text, 1),
                                              h->name, &whole) == STATUS_OK;
    url_init(&u);
    valid = valid && url_parse(&u, item.url, NULL, NULL) == URL_OK &&
            bytes_equal(url_text(&u), item.url) &&
            bytes_equal(queue_key_of(&u), h->name);
    url_fini(&u);
    if (valid)
        *fp = digest_url(&v->s->key, v->crawl, h->name, item.url).hi >> 1;
    buf_fini(&whole);
    return valid;
}

/* Which of `n` fingerprints are not in the seen set? */
static enum status find_unseen(struct verify *v, const uint64_t *fp, size_t n)
{
    char text[AT_ONCE][24], bucket[24];
    struct bytes args[AT_ONCE];
    struct cluster_answer a;
    struct key_list k;
    struct bytes said;
    enum status st;

    if (n == 0)
        return STATUS_OK;
    key_list_init(&k);
    for (size_t i = 0; i < n; i++) {
        int len = snprintf(text[i], sizeof text[i], "%" PRIu64, fp[i]);

        args[i] = bytes_of(text[i], (size_t)len);
        snprintf(bucket, sizeof bucket, "%" PRIx64,
                 cluster_bucket_of(fp[i], v->buckets));
        key_list_add(&k, v->s, v->shard, "s:", bytes_of_str(bucket));
    }
    cluster_answer_init(&a);
    st = cluster_ask(v->s, v->shard, &cluster_script_has, &k, args, n, false,
                     &a);
    said = cluster_answer_text(&a, 0);
    if (st == STATUS_OK && said.len != n)
        st = STATUS_FORMAT;
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        if (said.at[i] == '1')
            continue;
        v->now.found[CLUSTER_UNSEEN]++;
        snprintf(bucket, sizeof bucket, "%" PRIx64,
                 cluster_bucket_of(fp[i], v->buckets));
        if (v->pass == VERIFY_PLACES)
            st = verify_correct(v, "seen", "s:", bytes_of_str(bucket), NULL,
                                nothing, args[i]);
    }
    cluster_answer_fini(&a);
    return st;
}

static void keep(struct verify *v, struct verify_host *h, uint64_t fp)
{
    if (h->count == CLUSTER_VERIFY_URLS_MOST) {
        v->unchecked = true;
        return;
    }
    if (h->count == h->room) {
        h->room = h->room == 0 ? AT_ONCE : 2 * h->room;
        h->fp = xrealloc(h->fp, h->room * sizeof *h->fp);
    }
    h->fp[h->count++] = fp;
}

/* ---- items ---- */

static enum status drop(struct verify *v, const struct verify_host *h,
                        struct bytes item)
{
    return v->pass != VERIFY_PLACES
               ? STATUS_OK
               : verify_correct(v, "drop", "q:", h->name, "d:", h->name, item);
}

/* An item that is a URL: true if it was kept. */
static enum status take(struct verify *v, struct verify_host *h,
                        struct bytes item, uint64_t *fp, size_t *n)
{
    if (!read_item(v, h, item, &fp[*n])) {
        v->now.found[CLUSTER_UNREAD]++;
        return drop(v, h, item);
    }
    keep(v, h, fp[*n]);
    (*n)++;
    return STATUS_OK;
}

static enum status read_page(struct verify *v, const struct verify_host *h,
                             uint64_t from, struct cluster_answer *a)
{
    char text[2][24];
    const struct bytes args[] = {
        bytes_of(text[0], (size_t)snprintf(text[0], 24, "%" PRIu64, from)),
        bytes_of(text[1], (size_t)snprintf(text[1], 24, "%" PRIu64,
                                           from + AT_ONCE - 1))};
    struct key_list k;

    key_list_init(&k);
    key_list_add(&k, v->s, v->shard, "q:", h->name);
    key_list_add(&k, v->s, v->shard, "d:", h->name);
    return cluster_ask(v->s, v->shard, &cluster_script_items, &k, args, 2,
                       false, a);
}

static enum status read_items(struct verify *v, struct verify_host *h)
{
    uint64_t total = h->queued + h->delayed, fp[AT_ONCE];
    struct cluster_answer a;
    enum status st = STATUS_OK;

    cluster_answer_init(&a);
    for (uint64_t from = 0; st == STATUS_OK && from < total; from += AT_ONCE) {
        size_t n = 0;

        st = read_page(v, h, from, &a);
        for (size_t i = 0; st == STATUS_OK && i < a.count && i < AT_ONCE; i++)
            st = take(v, h, cluster_answer_text(&a, i), fp, &n);
        if (st == STATUS_OK)
            st = find_unseen(v, fp, n);
    }
    cluster_answer_fini(&a);
    return st;
}

static enum status read_flight(struct verify *v, struct verify_host *h)
{
    const char *colon = memchr(h->flight.at, ':', h->flight.len);
    struct bytes item =
        colon == NULL
            ? nothing
            : bytes_skip(h->flight, (size_t)(colon + 1 - h->flight.at));
    uint64_t fp;

    if (!read_item(v, h, item, &fp)) {
        v->now.found[CLUSTER_UNREAD]++; /* its worker drops it */
        return STATUS_OK;
    }
    keep(v, h, fp);
    return find_unseen(v, &fp, 1);
}

/* ---- repeats ---- */

/* Sorts, and leaves the fingerprints that are there more than once; how many
 * are too many. */
static size_t leave_repeats(struct verify_host *h)
{
    size_t n = 0, many = 0;

    if (h->count > 0)
        qsort(h->fp, h->count, sizeof *h->fp, by_number);
    for (size_t i = 1; i < h->count; i++) {
        if (h->fp[i] != h->fp[i - 1])
            continue;
        many++;
        if (n == 0 || h->fp[n - 1] != h->fp[i])
            h->fp[n++] = h->fp[i];
    }
    h->count = n;
    return many;
}

/* Takes one of each pair out, the last of the queue; the next repair finds what
 * is there three times. */
static enum status drop_repeats(struct verify *v, struct verify_host *h)
{
    uint64_t total = h->queued + h->delayed, fp;
    struct cluster_answer a;
    enum status st = STATUS_OK;

    cluster_answer_init(&a);
    for (uint64_t from = 0; st == STATUS_OK && h->count > 0 && from < total;
         from += AT_ONCE) {
        st = read_page(v, h, from, &a);
        for (size_t i = 0; st == STATUS_OK && i < a.count; i++) {
            struct bytes item = cluster_answer_text(&a, i);
            uint64_t *at = NULL;

            if (read_item(v, h, item, &fp) && h->count > 0)
                at = bsearch(&fp, h->fp, h->count, sizeof fp, by_number);
            if (at == NULL)
                continue;
            st = drop(v, h, item);
            memmove(at, at + 1,
                    (size_t)(h->fp + h->count - at - 1) * sizeof *at);
            h->count--;
        }
    }
    cluster_answer_fini(&a);
    return st;
}

enum status verify_urls(struct verify *v, struct verify_host *h)
{
    enum status st = read_items(v, h);
    size_t many;

    if (st == STATUS_OK && h->flight.len > 0)
        st = read_flight(v, h);
    many = leave_repeats(h);
    v->now.found[CLUSTER_REPEATED] += many;
    if (st == STATUS_OK && many > 0 && v->pass == VERIFY_PLACES)
        st = drop_repeats(v, h);
    free(h->fp);
    return st;
}
