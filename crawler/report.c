/* SPDX-License-Identifier: MIT */
/*
 * report.c - the message of a fetcher to the frontier thread.
 */
#include "crawler/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crawler/archive/archive.h"
#include "crawler/fetch/response.h"
#include "crawler/robots/robots.h"
#include "storage/rows/link_store.h"

struct report *report_new(enum report_kind kind, uint64_t id)
{
    struct report *out = xcalloc(1, sizeof *out);

    out->kind = kind;
    out->id = out->done.id = id;
    out->done.host.retry_after_ms = -1;
    return out;
}

void report_free(struct report *r)
{
    if (r == NULL)
        return;
    arena_free(r->arena);
    warc_capture_free(r->warc);
    warc_capture_free(r->robots_warc);
    free(r);
}

struct arena *report_arena(struct report *r)
{
    if (r->arena == NULL)
        r->arena = arena_new(REPORT_MOST + REPORT_SLACK);
    return r->arena;
}

struct bytes report_keep(struct report *r, struct bytes s, size_t most)
{
    size_t len = s.len < most ? s.len : most;
    char *at;

    if (len == 0)
        return bytes_of("", 0);
    at = arena_try_copy(report_arena(r), s.at, len);
    return at != NULL ? bytes_of(at, len) : bytes_of("", 0);
}

void report_set_outcome(struct url_done *done, enum outcome_status status,
                        enum outcome_reason reason)
{
    done->outcome.status = status;
    done->outcome.reason = reason;
    done->row.status = (uint8_t)status;
    done->row.reason = (uint8_t)reason;
}

void report_set_request(struct report *r, const struct fetch_result *result)
{
    struct host_news *host = &r->done.host;

    host->ended = result->ended;
    host->connections = result->connections;
    host->handshake = result->handshake;
}

void report_set_delay(struct report *r, const struct response *a,
                      int64_t wall_ms)
{
    struct host_news *host = &r->done.host;
    struct bytes said = response_get(a, RESPONSE_RETRY_AFTER);

    host->slow_down = outcome_asks_for_pause(a->status);
    if (a->status != 429 && a->status < 500)
        return;
    host->retry_after_ms = http_retry_after_ms(said, wall_ms);
    host->slow_down |= said.len > 0 && host->retry_after_ms < 0;
}

struct report *report_of(const struct url_lease *l, enum outcome_status status,
                         enum outcome_reason reason, struct bytes detail,
                         int64_t wall_ms)
{
    struct report *out = report_new(REPORT_DONE, l->id);

    report_set_outcome(&out->done, status, reason);
    out->done.row.at_ms = wall_ms;
    out->done.row.detail = report_keep(out, detail, ROW_TEXT_MOST);
    return out;
}

struct report *report_release(const struct url_lease *l, int64_t not_before)
{
    struct report *out = report_new(REPORT_RELEASE, l->id);

    out->not_before = not_before;
    return out;
}

struct report *report_part(const struct url_lease *l, struct arena *arena)
{
    struct report *out = report_new(REPORT_PART, l->id);

    out->done.partial = true;
    out->arena = arena;
    return out;
}

size_t report_octets(const struct report *r)
{
    return r->arena != NULL ? arena_used(r->arena) : 0;
}

struct report *report_gone(void)
{
    return report_new(REPORT_GONE, 0);
}

void report_set_robots(struct report *r, const struct robots_row *row)
{
    struct bytes origin = report_keep(r, row->origin, SIZE_MAX);
    struct bytes body = report_keep(r, row->body, ROBOTS_READ_MOST);
    struct robots_row *copy = arena_try(r->arena, sizeof *copy);

    if (copy == NULL || origin.len != row->origin.len ||
        body.len != row->body.len)
        return; /* it is only fetched again after a restart */
    *copy = *row;
    copy->origin = origin;
    copy->body = body;
    r->done.host.robots = copy;
}

void report_set_robots_host(struct report *r, struct bytes key)
{
    r->done.host.robots_host = report_keep(r, key, SIZE_MAX);
}

enum outcome_reason report_failure_reason(enum fetch_end end)
{
    switch (end) {
    case FETCH_DNS:
        return REASON_DNS;
    case FETCH_CONNECT:
        return REASON_CONNECT;
    case FETCH_TLS:
        return REASON_TLS;
    case FETCH_TIMEOUT:
        return REASON_TIMEOUT;
    case FETCH_RESET:
        return REASON_RESET;
    case FETCH_PROTOCOL:
        return REASON_PROTOCOL;
    default:
        return REASON_NONE;
    }
}

bool report_is_unreachable(enum fetch_end end)
{
    return end == FETCH_DNS || end == FETCH_CONNECT || end == FETCH_TLS;
}

/* ---- what one response revealed ---- */

/*
 * Links to admit, and links dropped.
 *
 * The arrays grow outside the arena, so that old copies do not fill it, and are
 * kept between pages unless a page made them large.
 */

_Static_assert(ANCHOR_TEXT_MOST <= LINK_TEXT_MOST, "the store takes them");

#define KEPT_COUNT ((size_t)4096) /* room kept between pages */

void outlinks_fini(struct outlinks *f)
{
    free(f->items);
    free(f->drops);
}

static void trim(struct outlinks *f)
{
    if (f->item_cap > KEPT_COUNT) {
        free(f->items);
        f->items = NULL;
        f->item_cap = 0;
    }
    if (f->drop_cap > KEPT_COUNT) {
        free(f->drops);
        f->drops = NULL;
        f->drop_cap = 0;
    }
}

void outlinks_begin(struct outlinks *f, const struct url_lease *lease,
                    struct arena *arena, size_t most)
{
    trim(f);
    f->lease = lease;
    f->arena = arena;
    f->most = most;
    f->full = f->cut = false;
    f->over = 0;
    f->item_count = f->drop_count = 0;
}

/* ---- room ---------------------------------------------------------------- */

/* Is there room for `len` octets and one more entry in both arrays? */
static bool has_room(const struct outlinks *f, size_t len)
{
    size_t arrays = (f->item_count + 1) * sizeof *f->items +
                    (f->drop_count + 1) * sizeof *f->drops;

    return !f->full && len <= f->most &&
           arena_used(f->arena) + arrays <= f->most - len;
}

static struct url_drop *new_drop(struct outlinks *f)
{
    if (f->drop_count == f->drop_cap) {
        f->drop_cap = f->drop_cap > 0 ? f->drop_cap * 2 : 64;
        f->drops = xrealloc(f->drops, f->drop_cap * sizeof *f->drops);
    }
    return &f->drops[f->drop_count++];
}

static struct url_item *new_item(struct outlinks *f)
{
    if (f->item_count == f->item_cap) {
        f->item_cap = f->item_cap > 0 ? f->item_cap * 2 : 64;
        f->items = xrealloc(f->items, f->item_cap * sizeof *f->items);
    }
    return &f->items[f->item_count++];
}

/* ---- adding -------------------------------------------------------------- */

void outlinks_overflow(struct outlinks *f)
{
    if (f->full) {
        f->over++;
        return;
    }
    f->full = true;
    *new_drop(f) = (struct url_drop){.reason = REASON_LINK_COUNT,
                                     .host = f->lease->key,
                                     .url = f->lease->url};
}

/* The octets that a copy of the label needs in the arena. */
static size_t label_size(const struct link_label *l)
{
    return l != NULL ? sizeof *l + l->rel.len + l->text.len : 0;
}

static struct bytes copied(char **at, struct bytes text)
{
    char *to = *at;

    if (text.len > 0)
        memcpy(to, text.at, text.len);
    *at += text.len;
    return bytes_of(to, text.len);
}

/* A copy, or NULL if there is no label, or no room. */
static const struct link_label *keep_label(struct outlinks *f,
                                           const struct link_label *l)
{
    struct link_label *to = l != NULL ? arena_try(f->arena, sizeof *to) : NULL;
    char *at =
        to != NULL ? arena_try(f->arena, l->rel.len + l->text.len) : NULL;

    if (at == NULL)
        return NULL;
    to->rel = copied(&at, l->rel);
    to->text = copied(&at, l->text);
    return to;
}

void outlinks_drop(struct outlinks *f, enum outcome_reason reason,
                   const struct url *u, const struct url_item *like,
                   size_t place)
{
    struct bytes text = url_text(u), host = url_host(u);
    const struct link_label *label = like != NULL ? like->label : NULL;
    char *at = has_room(f, text.len + label_size(label))
                   ? arena_try_copy(f->arena, text.at, text.len)
                   : NULL;

    if (at == NULL) {
        outlinks_overflow(f);
        return;
    }
    f->cut |= place > 0;
    *new_drop(f) = (struct url_drop){
        .reason = reason,
        .host = bytes_of(at + (host.at - text.at), host.len),
        .url = bytes_of(at, text.len),
        .whole = like != NULL,
        .kind = like != NULL ? like->kind : 0,
        .hops = like != NULL ? like->hops : 0,
        .depth = like != NULL ? like->depth : 0,
        .place = place < UINT32_MAX ? (uint32_t)place : UINT32_MAX,
        .label = keep_label(f, label),
    };
}

void outlinks_add(struct outlinks *f, const struct url_item *like)
{
    struct bytes text = like->url;
    size_t extra = like->hint != NULL ? sizeof *like->hint : 0;
    bool room = has_room(f, text.len + extra + label_size(like->label));
    char *at = room ? arena_try_copy(f->arena, text.at, text.len) : NULL;
    struct url_hint *hint =
        room && extra > 0 ? arena_try(f->arena, extra) : NULL;
    struct url_item *item;

    if (at == NULL) {
        outlinks_overflow(f);
        return;
    }
    if (hint != NULL)
        *hint = *like->hint;
    item = new_item(f);
    *item = *like;
    candidate_moved(item, at);
    item->hint = hint;
    item->label = keep_label(f, like->label);
}

/* What was dropped for its URL must not come back when a setting lets it in. A
 * drop that names the page is none of its links. */
static void forbid_drops(struct outlinks *f, enum outcome_reason reason)
{
    for (size_t i = 0; i < f->drop_count; i++) {
        struct url_drop *d = &f->drops[i];

        if (!d->whole)
            continue;
        d->reason = reason;
        d->whole = false;
        d->place = 0;
    }
}

/* Drops all items, and those for good that were dropped for another reason. */
void outlinks_forbid(struct outlinks *f, enum outcome_reason reason)
{
    forbid_drops(f, reason);
    for (size_t i = 0; i < f->item_count; i++)
        *new_drop(f) = (struct url_drop){.reason = reason,
                                         .host = f->items[i].key,
                                         .url = f->items[i].url,
                                         .kind = f->items[i].kind,
                                         .label = f->items[i].label};
    f->item_count = 0;
}

/* ---- order --------------------------------------------------------------- */

struct ranked {
    struct url_item item;
    size_t at;
};

struct order {
    int (*compare)(const struct url_item *a, const struct url_item *b);
};

static int compare_ranked(const void *x, const void *y, void *ctx)
{
    const struct ranked *a = x, *b = y;
    int c = ((const struct order *)ctx)->compare(&a->item, &b->item);

    return c != 0 ? c : (a->at > b->at) - (a->at < b->at);
}

void outlinks_sort(struct outlinks *f, int (*compare)(const struct url_item *a,
                                                      const struct url_item *b))
{
    struct order order = {compare};
    struct ranked *list = xmalloc((f->item_count + 1) * sizeof *list);

    for (size_t i = 0; i < f->item_count; i++)
        list[i] = (struct ranked){f->items[i], i};
    qsort_r(list, f->item_count, sizeof *list, compare_ranked, &order);
    for (size_t i = 0; i < f->item_count; i++)
        f->items[i] = list[i].item;
    free(list);
}

void outlinks_append(struct outlinks *to, const struct outlinks *from)
{
    for (size_t i = 0; i < from->item_count; i++)
        *new_item(to) = from->items[i];
    for (size_t i = 0; i < from->drop_count; i++)
        *new_drop(to) = from->drops[i];
    to->full |= from->full;
    to->over += from->over;
}

/* ---- handing over -------------------------------------------------------- */

static const void *in_arena(struct outlinks *f, const void *at, size_t size)
{
    void *to = size > 0 ? arena_try(f->arena, size) : NULL;

    if (to != NULL)
        memcpy(to, at, size);
    return to;
}

void outlinks_hand_over(struct outlinks *f, struct url_done *done)
{
    done->outlinks = in_arena(f, f->items, f->item_count * sizeof *f->items);
    done->outlink_count = done->outlinks != NULL ? f->item_count : 0;
    done->drops = in_arena(f, f->drops, f->drop_count * sizeof *f->drops);
    done->drop_count = done->drops != NULL ? f->drop_count : 0;
    done->over = f->over;
}
