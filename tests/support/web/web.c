/* SPDX-License-Identifier: MIT */
/*
 * web.c - ids, kinds and hosts.
 *
 * A path carries its kind's letter and its number, "-p17". To find the thing of
 * a request, each such mark in the target is taken as a guess, and the path of
 * the guessed thing is made and compared: no table is needed, and only the
 * canonical spelling is found.
 */
#include "tests/support/web/web.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PATH_CEILING 4096

static const struct kind_ops *const KINDS[KIND_COUNT_] = {
    [KIND_PAGE] = &kind_page,     [KIND_LEAF] = &kind_leaf,
    [KIND_HIDDEN] = &kind_hidden, [KIND_TWIN] = &kind_twin,
    [KIND_HOP] = &kind_hop,       [KIND_RULE] = &kind_rule,
    [KIND_META] = &kind_meta,     [KIND_ERROR] = &kind_error,
    [KIND_FAULT] = &kind_fault,   [KIND_SLOW] = &kind_slow,
    [KIND_TYPE] = &kind_type,     [KIND_BOMB] = &kind_bomb,
    [KIND_TRAP] = &kind_trap,     [KIND_ASSET] = &kind_asset,
};

static const struct {
    const char *name;
    unsigned bits;
} PROFILES[] = {
    {"plain", 0},
    {"variants", PROFILE_VARIANTS},
    {"redirects", PROFILE_REDIRECTS},
    {"robots", PROFILE_ROBOTS},
    {"errors", PROFILE_ERRORS},
    {"slow", PROFILE_SLOW},
    {"endless", PROFILE_ENDLESS},
    {"bombs", PROFILE_BOMBS},
    {"compress", PROFILE_COMPRESS},
    {"types", PROFILE_TYPES},
    {"trap", PROFILE_TRAP},
};

static const char *const FATES[FATE_COUNT_] = {
    [FATE_FETCH] = "fetch",       [FATE_ERROR] = "error",
    [FATE_REDIRECT] = "redirect", [FATE_TRIES] = "tries",
    [FATE_DENIED] = "denied",     [FATE_UNREACHABLE] = "unreachable",
    [FATE_ASSET] = "asset",
};

static const char *const WORDS[64] = {
    "about",     "account",  "archive", "article",  "autumn",   "balance",
    "bridge",    "calendar", "castle",  "catalog",  "chapter",  "coast",
    "comments",  "contact",  "culture", "details",  "docs",     "events",
    "family",    "forest",   "gallery", "garden",   "guide",    "harbour",
    "health",    "help",     "history", "island",   "journal",  "kitchen",
    "language",  "letters",  "library", "market",   "members",  "memory",
    "museum",    "music",    "nature",  "news",     "notes",    "orchard",
    "papers",    "people",   "places",  "planet",   "products", "projects",
    "questions", "railway",  "recipes", "reports",  "research", "reviews",
    "science",   "season",   "society", "stories",  "summer",   "support",
    "travel",    "valley",   "weather", "workshop",
};

bool profile_parse(const char *names, unsigned *profiles)
{
    const char *end;
    size_t i, len;

    for (; *names != '\0'; names = *end == ',' ? end + 1 : end) {
        end = names + strcspn(names, ",");
        len = (size_t)(end - names);
        for (i = 0; i < sizeof PROFILES / sizeof *PROFILES; i++)
            if (strlen(PROFILES[i].name) == len &&
                memcmp(PROFILES[i].name, names, len) == 0)
                break;
        if (i == sizeof PROFILES / sizeof *PROFILES)
            return false;
        *profiles |= PROFILES[i].bits;
    }
    return true;
}

const char *fate_name(enum fate f)
{
    return FATES[f];
}

void links_init(struct links *l)
{
    *l = (struct links){0};
}

void links_fini(struct links *l)
{
    free(l->at);
    links_init(l);
}

void links_add(struct links *l, struct link link)
{
    if (l->count == l->cap) {
        l->cap = l->cap > 0 ? 2 * l->cap : 64;
        l->at = xrealloc(l->at, l->cap * sizeof *l->at);
    }
    l->at[l->count++] = link;
}

/* ---- hosts --------------------------------------------------------------- */

/* 254 hosts in each 127.0.k.0/24, without .0 and .255. */
uint32_t host_ipv4(uint32_t host)
{
    return UINT32_C(127) << 24 | host / 254 << 8 | (host % 254 + 1);
}

void host_address(uint32_t host, char out[HOST_ADDRESS_SIZE])
{
    uint32_t ip = host_ipv4(host);

    snprintf(out, HOST_ADDRESS_SIZE, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255,
             ip >> 8 & 255, ip & 255);
}

static void buf_add_address(struct buf *out, uint32_t host)
{
    uint32_t ip = host_ipv4(host);

    buf_add_uint(out, ip >> 24);
    for (int shift = 16; shift >= 0; shift -= 8) {
        buf_add_char(out, '.');
        buf_add_uint(out, ip >> shift & 255);
    }
}

/* ---- making it ----------------------------------------------------------- */

static uint32_t clamp(uint32_t n, uint32_t low, uint32_t high)
{
    return n < low ? low : n > high ? high : n;
}

void web_init(struct web *w, const struct spec *s)
{
    uint32_t next = 0, hidden = 0, host;

    *w = (struct web){.spec = *s};
    w->spec.hosts = clamp(s->hosts, 1, 60000);
    w->spec.pages = clamp(s->pages, 1, 100 * 1000 * 1000);
    if (w->spec.hosts > w->spec.pages)
        w->spec.hosts = w->spec.pages;
    w->spec.fanout = clamp(s->fanout, 1, 100);
    w->spec.links = clamp(s->links, 1, 1000);
    w->spec.leaves = clamp(s->leaves, 0, 20);
    w->spec.size = clamp(s->size, 200, 1000 * 1000);
    host = w->spec.hosts;
    w->rules_host = host++;
    for (int k = 0; k < KIND_COUNT_; k++) {
        w->own[k] = host;
        if (k == KIND_FAULT || k == KIND_SLOW || k == KIND_BOMB ||
            k == KIND_TRAP)
            host += KINDS[k]->count(w);
        w->hidden[k] = hidden;
        if (KINDS[k]->hides > 0)
            hidden += KINDS[k]->count(w);
    }
    w->hosts_all = host;
    w->dead_host = host;
    for (int k = 0; k < KIND_COUNT_; k++) {
        w->first[k] = next;
        next += k == KIND_HIDDEN ? hidden : KINDS[k]->count(w);
    }
    w->first[KIND_COUNT_] = next;
}

uint32_t web_count(const struct web *w)
{
    return w->first[KIND_COUNT_];
}

enum kind web_kind(const struct web *w, uint32_t id)
{
    enum kind k = KIND_PAGE;

    assert(id < web_count(w));
    while (id >= w->first[k + 1])
        k++;
    return k;
}

const struct kind_ops *web_ops(enum kind k)
{
    return KINDS[k];
}

uint32_t web_hidden(const struct web *w, enum kind k, uint32_t n)
{
    return web_id(w, KIND_HIDDEN, w->hidden[k] + n);
}

/* ---- asking it ----------------------------------------------------------- */

uint32_t web_host(const struct web *w, uint32_t id)
{
    enum kind k = web_kind(w, id);

    return KINDS[k]->host(w, id - w->first[k]);
}

void web_path(const struct web *w, uint32_t id, struct buf *out)
{
    enum kind k = web_kind(w, id);

    KINDS[k]->path(w, id - w->first[k], out);
}

void web_origin(const struct web *w, uint32_t host, struct buf *out)
{
    buf_add(out, "http://", 7);
    buf_add_address(out, host);
    if (w->spec.port == 80)
        return;
    buf_add_char(out, ':');
    buf_add_uint(out, w->spec.port);
}

void web_url(const struct web *w, uint32_t id, struct buf *out)
{
    web_origin(w, web_host(w, id), out);
    web_path(w, id, out);
}

void web_links(const struct web *w, uint32_t id, struct links *out)
{
    enum kind k = web_kind(w, id);

    out->count = 0;
    KINDS[k]->links(w, id - w->first[k], out);
}

struct expect web_expect(const struct web *w, uint32_t id)
{
    enum kind k = web_kind(w, id);

    return KINDS[k]->expect(w, id - w->first[k]);
}

/* Is the target that of n, or of another thing with the same number? */
static bool is_one_of(const struct web *w, uint32_t host, struct bytes target,
                      enum kind k, uint64_t number, uint32_t *id)
{
    uint32_t kin = w->first[k + 1] - w->first[k];
    struct buf path;
    bool same = false;

    buf_init(&path, PATH_CEILING);
    for (unsigned i = 0; i < KINDS[k]->shares && !same; i++) {
        uint64_t n = number * KINDS[k]->shares + i;

        if (n >= kin || KINDS[k]->host(w, (uint32_t)n) != host)
            continue;
        buf_clear(&path);
        KINDS[k]->path(w, (uint32_t)n, &path);
        same = bytes_equal(buf_bytes(&path), target);
        *id = web_id(w, k, (uint32_t)n);
    }
    buf_fini(&path);
    return same;
}

static bool kind_of_letter(char c, enum kind *k)
{
    for (int i = 0; i < KIND_COUNT_; i++)
        if (KINDS[i]->letter == c) {
            *k = (enum kind)i;
            return true;
        }
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool web_find(const struct web *w, uint32_t host, struct bytes target,
              uint32_t *id)
{
    enum kind k;

    if (target.len == 1 && host < w->spec.hosts) {
        *id = web_id(w, KIND_PAGE, host);
        return true;
    }
    for (size_t i = 1; i + 1 < target.len; i++) {
        uint64_t number = 0;
        size_t at = i + 1;

        if (is_digit(target.at[i]) || !is_digit(target.at[at]) ||
            !kind_of_letter(target.at[i], &k))
            continue;
        for (; at < target.len && is_digit(target.at[at]); at++) {
            if (number > UINT32_MAX)
                break;
            number = number * 10 + (uint64_t)(target.at[at] - '0');
        }
        if (is_one_of(w, host, target, k, number, id))
            return true;
    }
    return false;
}

/* Entry e of a kind is linked from page e * pages / entries and, so that it is
 * found twice, from the page half the web away. */
static void attach(const struct web *w, enum kind k, uint32_t page,
                   struct links *out)
{
    uint64_t pages = w->spec.pages;
    uint64_t entries, e;

    entries = (w->first[k + 1] - w->first[k]) / KINDS[k]->stride;
    for (e = (page * entries + pages - 1) / pages;
         e < entries && e * pages / entries == page; e++)
        links_add(out, (struct link){
                           .to = web_id(w, k, (uint32_t)e * KINDS[k]->stride)});
}

void web_attached(const struct web *w, uint32_t n, struct links *out)
{
    uint32_t across =
        (uint32_t)(((uint64_t)n + w->spec.pages / 2) % w->spec.pages);

    for (int k = 0; k < KIND_COUNT_; k++) {
        if (KINDS[k]->stride == 0 || w->first[k + 1] == w->first[k])
            continue;
        attach(w, (enum kind)k, n, out);
        if (across != n)
            attach(w, (enum kind)k, across, out);
    }
}

/* ---- dice ---------------------------------------------------------------- */

/* The finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014). */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t web_dice(const struct web *w, uint64_t a, uint64_t b)
{
    uint64_t z = w->spec.seed * UINT64_C(0x9e3779b97f4a7c15) + a;

    return mix(mix(z) + b * UINT64_C(0xd1342543de82ef95) + 1);
}

const char *web_word(uint64_t dice)
{
    return WORDS[dice % 64];
}
