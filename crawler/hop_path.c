/* SPDX-License-Identifier: MIT */
/*
 * hop_path.c - how a URL was found.
 *
 * The path of a page is the path of the page it was found on, plus one letter.
 * A page is leased after the page that links to it, whose path is usually still
 * in the cache: a table by id, where newer paths replace older ones. A missing
 * path is found by walking back row by row, at most WALK_MOST rows; beyond them
 * the row's depth gives the number of steps.
 */
#include "crawler/hop_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/url/url.h"

#define SLOTS     4096 /* a power of two */
#define WALK_MOST 256
#define PATH_SIZE (HOP_LETTERS_MOST + 16)

struct path {
    uint64_t id; /* 0: free */
    uint32_t over, count;
    char letters[HOP_LETTERS_MOST]; /* the last ones */
};

struct hop_path {
    struct frontier *frontier;
    struct path *slots;
    struct buf via, text;
    char path[PATH_SIZE];
};

struct hop_path *hop_path_new(struct frontier *f)
{
    struct hop_path *t = xcalloc(1, sizeof *t);

    t->frontier = f;
    t->slots = xcalloc(SLOTS, sizeof *t->slots);
    buf_init(&t->via, URL_LENGTH_CEILING + 64);
    buf_init(&t->text, URL_LENGTH_CEILING + 64);
    return t;
}

void hop_path_free(struct hop_path *t)
{
    if (t == NULL)
        return;
    buf_fini(&t->via);
    buf_fini(&t->text);
    free(t->slots);
    free(t);
}

/* ---- paths ---- */

static struct path *slot_of(struct hop_path *t, uint64_t id)
{
    return &t->slots[id & (SLOTS - 1)];
}

static void step(struct path *p, char letter)
{
    if (p->count < HOP_LETTERS_MOST) {
        p->letters[p->count++] = letter;
        return;
    }
    memmove(p->letters, p->letters + 1, HOP_LETTERS_MOST - 1);
    p->letters[HOP_LETTERS_MOST - 1] = letter;
    p->over++;
}

/* A step of the walk: a URL whose path is unknown. */
struct unknown {
    uint64_t id;
    char letter;
};

/* Sets *path to the path of the page `id`. */
static enum status path_of_page(struct hop_path *t, uint64_t id,
                                struct path *path)
{
    struct unknown walk[WALK_MOST];
    struct url_row row = {.id = 0};
    size_t n = 0;
    enum status st = STATUS_OK;

    *path = (struct path){.id = id};
    while (id != 0 && slot_of(t, id)->id != id && n < WALK_MOST) {
        buf_clear(&t->text);
        st = frontier_url(t->frontier, id, &row, &t->text);
        if (st != STATUS_OK)
            return st;
        walk[n++] =
            (struct unknown){id, link_kind_letter((enum link_kind)row.kind)};
        id = row.via;
    }
    if (id != 0 && slot_of(t, id)->id == id)
        *path = *slot_of(t, id);
    else if (id != 0) /* the walk was cut */
        path->over = row.depth > 0 ? row.depth - 1 : 0;
    for (bool at_seed = id == 0; n-- > 0; at_seed = false) {
        if (!at_seed)
            step(path, walk[n].letter);
        path->id = walk[n].id;
        *slot_of(t, path->id) = *path;
    }
    return STATUS_OK;
}

static struct bytes path_text(struct hop_path *t, const struct path *p)
{
    int n = 0;

    if (p->over > 0)
        n = snprintf(t->path, sizeof t->path, "%u+", p->over);
    memcpy(t->path + n, p->letters, p->count);
    return bytes_of(t->path, (size_t)n + p->count);
}

enum status hop_path_of(struct hop_path *t, const struct url_lease *l,
                        struct found_by *out)
{
    struct url_row via;
    struct path path;
    enum status st;

    *out = (struct found_by){{"", 0}, {"", 0}};
    if (l->via == 0)
        return STATUS_OK;
    st = path_of_page(t, l->via, &path);
    buf_clear(&t->via);
    if (st == STATUS_OK)
        st = frontier_url(t->frontier, l->via, &via, &t->via);
    if (st != STATUS_OK)
        return st;
    step(&path, link_kind_letter((enum link_kind)l->kind));
    *slot_of(t, l->id) = path;
    slot_of(t, l->id)->id = l->id;
    *out = (struct found_by){via.url, path_text(t, &path)};
    return STATUS_OK;
}
